"""The frame of methods, and what a method of the wrong kind is told before any work."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import rapids_tc as tc
from rapids_tc import datasets, testing
from rapids_tc.kernels import catalogue

PUBLISHED = {
    *("polak", "green", "bisson", "tricore", "fox", "hu", "h-index", "trust", "grouptc", "radix"),
    "vertex-elimination",
}
EDGES = (
    *(tc.edge_triangles, tc.vertex_triangles, tc.clustering, tc.average_clustering),
    tc.similarity,
)
NO_EDGES = pd.DataFrame({"src": [True], "dst": [False]})  # an IdTypeError where they are read

# Count stages on an H200 in one run, milliseconds: vertices, edges, entries of the longest row,
# bitmap, polak, the better of grouptc and green if they were run, short-rows, and the layout. No
# other method was the best of any graph of benchmarks/STUDY.md by a tenth.
MEASURED = [
    ("rmat:12", 3_358, 48_364, 77, 0.239, 0.104, 0.195, 0.204, 0.89),
    ("rmat:14", 12_598, 212_946, 139, 0.234, 0.191, 0.204, 0.239, 0.77),
    ("rmat:16", 46_879, 909_611, 247, 0.213, 0.341, 0.37, 1.414, 0.88),
    ("rmat:17", 90_219, 1_863_990, 325, 0.298, 0.631, 0.691, 4.306, 0.83),
    ("rmat:18", 173_716, 3_804_964, 411, 0.437, 1.341, 1.411, 14.022, 0.83),
    ("rmat:19", 335_290, 7_739_789, 527, 0.686, 3.099, 3.602, 33.456, 1.14),
    ("rmat:20", 646_059, 15_699_539, 662, 0.865, 7.366, None, 54.925, 2.44),
    ("theory:25-81-256-B1k", 547_924, 2_132_284, 257, 0.207, 0.266, 0.416, 2.131, 0.83),
    ("theory:3-4-5-9-16-25-B1k", 530_400, 11_080_030, 680, 0.517, 3.037, None, 31.435, 1.7),
    ("theory:4-5-9-16-25-B2k", 132_600, 1_582_861, 250, 0.177, 0.236, 0.262, 1.474, 0.48),
    ("grid:50", 125_000, 367_500, 3, 0.159, 0.118, 0.126, 0.121, 0.53),
    ("grid:100", 1_000_000, 2_970_000, 3, 0.223, 0.21, 0.245, 0.102, 0.65),
    ("grid:200", 8_000_000, 23_880_000, 3, 0.416, 0.85, None, 0.163, 3.31),
    ("mesh:700", 490_000, 1_467_201, 3, 0.154, 0.132, 0.16, 0.11, 0.5),
    ("mesh:2800", 7_840_000, 23_508_801, 3, 0.483, 0.803, None, 0.173, 3.32),
    ("road:700", 476_011, 659_787, 4, 0.134, 0.113, 0.125, 0.104, 0.55),
    ("road:2800", 7_622_427, 10_577_260, 5, 0.351, 0.412, None, 0.175, 2.14),
    ("uniform:18:4e6", 262_144, 3_999_747, 28, 0.213, 0.309, 0.363, 0.426, 0.68),
    ("uniform:22:8e6", 4_101_667, 7_999_997, 6, 0.239, 0.339, 0.362, 0.192, 1.43),
    ("uniform:22:16e6", 4_192_157, 15_999_980, 10, 0.382, 0.69, None, 0.458, 2.32),
    ("uniform:22:32e6", 4_194_304, 31_999_923, 16, 0.785, 1.632, None, 2.372, 3.94),
    ("uniform:22:64e6", 4_194_304, 63_999_741, 29, 2.081, 4.929, None, 5.498, 7.05),
    ("wheel:1e6", 1_000_001, 2_000_000, 3, 0.154, 0.152, 0.14, 0.1, 0.6),
    ("clique:1000", 1_000, 499_500, 999, 0.242, 0.467, 1.544, 3.378, 0.53),
    ("clique:3000", 3_000, 4_498_500, 2_999, 3.126, 25.399, 30.729, 27.984, 0.89),
    ("PP-Pathways_ppi", 21_538, 338_636, 141, 0.221, 0.192, 0.206, 0.307, 0.83),
    ("as-caida20071105", 26_475, 53_381, 35, 0.234, 0.149, 0.132, 0.142, 0.75),
    ("ca-AstroPh", 18_771, 198_050, 65, 0.242, 0.166, 0.178, 0.2, 0.89),
    ("cit-HepTh", 27_769, 352_285, 75, 0.257, 0.187, 0.196, 0.217, 0.87),
    ("cnr-2000", 325_557, 2_738_969, 85, 0.335, 0.282, 0.348, 0.463, 0.88),
    ("debian12-deps", 58_040, 248_270, 42, 0.229, 0.168, 0.151, 0.174, 0.72),
    ("ego-Twitter", 81_306, 1_342_296, 129, 0.283, 0.256, 0.34, 0.616, 0.65),
    ("email-Enron", 36_692, 183_831, 70, 0.224, 0.183, 0.158, 0.185, 0.77),
    ("fb-Cornell5", 18_660, 790_777, 137, 0.233, 0.254, 0.286, 0.357, 0.71),
    ("musae-github", 37_700, 289_003, 109, 0.191, 0.149, 0.151, 0.196, 0.78),
    ("p2p-Gnutella31", 62_586, 147_892, 14, 0.238, 0.154, 0.157, 0.15, 0.79),
    ("soc-Slashdot0902", 82_168, 504_230, 103, 0.23, 0.187, 0.201, 0.37, 0.83),
    ("uk-2007-05@100000", 100_000, 2_779_575, 141, 0.418, 0.446, 0.487, 0.665, 0.81),
    ("wordnet30-gloss-cooc", 53_742, 3_102_690, 404, 0.573, 1.237, 1.992, 4.373, 0.83),
]  # fmt: skip
COLUMNS = "graph, n, m, longest, bitmap, polak, others, short, layout"


@pytest.mark.parametrize(COLUMNS, MEASURED)
def test_auto_is_about_the_fastest(graph, n, m, longest, bitmap, polak, others, short, layout):
    csr = SimpleNamespace(n=n, m=m, longest_row=longest)
    times = {"bitmap": bitmap, "polak": polak, "short-rows": short}
    best = min(filter(None, (bitmap, polak, others, short)))
    assert times[catalogue.fastest(csr)] <= 1.15 * best + 0.02  # as a launch from Python varies
    assert catalogue.fastest(csr, bare=True) == "short-rows"
    if catalogue.needs_no_layout("auto", csr):
        assert short <= layout + best
    else:
        assert layout + times[catalogue.fastest(csr)] <= 2 * short + 0.02


def test_every_published_method_is_there():
    frame = tc.methods()
    assert set(frame["name"]) == PUBLISHED | {"bitmap", "short-rows"}
    assert list(frame) == [
        *("name", "aliases", "paper", "iterator", "intersection", "granularity", "returns")
    ]
    assert all(isinstance(text, str) for text in frame.to_numpy().ravel())
    assert (frame.drop(columns="aliases") != "").all(axis=None)
    assert frame["returns"].str.startswith("total").all()


def test_names_and_aliases_are_each_one_method():
    frame = tc.methods()
    names = [*frame["name"], *(a for text in frame["aliases"] if text for a in text.split(", "))]
    assert len(names) == len(set(names)) and "auto" not in names


@pytest.mark.parametrize("name", [*tc.methods()["name"], "binary_search", "hash", "auto"])
def test_a_name_counts(name):
    edges = datasets.karate()
    with testing.host_engine():
        assert tc.count(edges, method=name) == 45
        assert tc.transitivity(edges, method=name) == pytest.approx(135 / 528)


@pytest.mark.parametrize("function", [*EDGES, tc.count, tc.transitivity, tc.triad_counts])
def test_a_name_that_is_none_is_told_all_names(function):
    with pytest.raises(ValueError, match="method='nonsense' is not known") as caught:
        function(NO_EDGES, method="nonsense")
    assert all(name in str(caught.value) for name in ("auto", "bitmap", "hash"))


@pytest.mark.parametrize("function", EDGES)
@pytest.mark.parametrize("name", sorted({*PUBLISHED, "short-rows"} - {"tricore", "trust"}))
def test_who_gives_totals_alone_is_told_who_counts_edges(function, name):
    with pytest.raises(ValueError, match=f"method='{name}' gives no counts of edges") as caught:
        function(NO_EDGES, method=name)
    assert "bitmap, tricore, binary_search, trust, hash" in str(caught.value)


def test_who_gives_edge_counts_is_asked():
    edges = datasets.karate()
    with testing.host_engine():
        counts = [tc.edge_triangles(edges, method=name) for name in ("auto", "hash", "tricore")]
    assert all((np.asarray(count) == np.asarray(counts[0])).all() for count in counts)
