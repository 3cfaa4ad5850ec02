"""Edge files of many kinds: each is read rightly, or refused with what to do; none is misread."""

import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from file_kinds import KINDS, TRIANGLE, parts, zipped
from hypothesis import given, settings
from hypothesis import strategies as st
from needs import need_module

from rapids_tc.cli import main
from rapids_tc.errors import ColumnNotFoundError, KernelError
from rapids_tc.files import FORMATS, EdgeFileError, read_edges

pytestmark = pytest.mark.cpu_only


@pytest.mark.parametrize("name", KINDS)
def test_kind(tmp_path, name):
    kind = KINDS[name]
    path = kind.write(tmp_path)
    if isinstance(kind.answer, str):
        with pytest.raises((EdgeFileError, ColumnNotFoundError), match=kind.answer):
            read_edges(path)
        done = CliRunner().invoke(main, ["count", str(path)])
        assert (done.exit_code, done.stdout) == (2, "")
        assert re.search(kind.answer, done.stderr)
    else:
        file = read_edges(path)
        assert file.frame.to_numpy().tolist() == kind.answer
        assert file.frame.columns.tolist() == ["src", "dst"]
        assert sorted(file.isolated.tolist()) == [*kind.isolated]
        for words in kind.told:
            assert any(re.search(words, guess) for guess in file.guesses), file.guesses


TEXT = [name for name, kind in KINDS.items() if kind.name == "edges.txt"]


@pytest.mark.parametrize(
    "name", [n for n in TEXT if isinstance(KINDS[n].answer, list) and KINDS[n].answer]
)
def test_the_first_edge_is_told(tmp_path, name):
    first = "first edge: {} to {}".format(*KINDS[name].answer[0])
    assert first == read_edges(KINDS[name].write(tmp_path)).guesses[-1]
    assert (
        f"guessed: {first}\n"
        in CliRunner().invoke(main, ["count", str(tmp_path / "edges.txt")]).stderr
    )


@pytest.mark.parametrize("name", TEXT)
def test_pandas_reads_them_as_pyarrow_does(tmp_path, monkeypatch, name):
    monkeypatch.setattr("rapids_tc.files.lines.find_spec", lambda name: None)
    if name != "UTF-16":
        test_kind(tmp_path, name)


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        (KINDS["arrows"].content, {"source": 1, "destination": 3}, TRIANGLE),
        ("1 pp 2\n2 pp 3\n3 pp 1\n", {"source": 1, "destination": 3}, TRIANGLE),
        ("a pp b\nb pp c\n", {"format": "sif"}, [["a", "b"], ["b", "c"]]),
        ("a b c\nb c a\n", {"source": 1, "destination": 2}, [["a", "b"], ["b", "c"]]),
        ("#a #b\n#b #c\n", {"comment": ""}, [["#a", "#b"], ["#b", "#c"]]),
        ("who,whom,n\na,b,1\n", {"source": "whom", "destination": "who"}, [["b", "a"]]),
        ("x y z\na b c\n", {"source": "x", "destination": "z"}, [["a", "c"]]),
        ("0 1 1\n1 0 1\n1 1 0\n", {"format": "text"}, [[0, 1], [1, 0], [1, 1]]),
        ("1 2 3 4\n", {"format": "text"}, [[1, 2]]),
        ("7 1 2\n8 2 3\n9 3 1\n", {"source": 2, "destination": 3}, TRIANGLE),
        ("7 1 2\n8 2 3\n9 3 1\n", {"source": 1, "destination": 2}, [[7, 1], [8, 2], [9, 3]]),
    ],
)
def test_what_a_refusal_says_works(tmp_path, text, options, expected):
    (tmp_path / "edges").write_text(text)
    assert read_edges(tmp_path / "edges", **options).frame.to_numpy().tolist() == expected


@pytest.mark.parametrize(
    "text",
    [
        "1 2 1\n2 3 1\n3 1 1\n",  # as many columns as lines, and no matrix
        "1 2 3\n2 3 1\n3 1 2\n",
        "1 2 2\n2 3 3\n3 1 1\n",  # weights that are ids too
        "1 2 friend\n2 3 friend\n3 1 foe\n",
        "1 2 -\n2 3 -\n3 1 -\n",
        "1,2,a b,5\n2,3,c d,6\n3,1,e,7\n",
        "1 2 3,4\n2 3 4,5\n3 1 5,6\n",
    ],
)
def test_edges_are_not_taken_for_something_else(tmp_path, text):
    (tmp_path / "edges").write_text(text)
    assert read_edges(tmp_path / "edges").frame.to_numpy().tolist() == TRIANGLE


@pytest.mark.parametrize(
    "text",
    [
        "ann bo 3\nbo cy 2\ncy ann 3\n",  # bipartite names with weights
        "ann bo mail\nbo cy phone\ncy ann mail\n",
        "v1 v2\nv3 v4\nv5 v6\n",  # no names of two columns
        "from_x to_x\nto_x to_y\nfrom_x to_y\n",
        "ann bo NA\nbo cy 5\ncy ann 6\n",
        "ann it1 5\nbo it2 3\ncy it1 1\n",
    ],
)
def test_no_edge_of_names_is_lost(tmp_path, text):
    (tmp_path / "edges").write_text(text)
    expected = [line.split()[:2] for line in text.splitlines()]
    assert read_edges(tmp_path / "edges").frame.to_numpy().tolist() == expected


VALUES = {
    "numbers": ["1", "2.5", "-3e2"],
    "some are missing": ["1", "", "3"],
    "days": ["2026-01-01", "2026-01-02", "2026-01-03"],
    "days of Germany": ["1.2.2026", "13.2.2026", "28.2.2026"],
    "months": ["Jan 2026", "13-Feb-26", "May 1st"],
    "times": ["2026-01-01 10:00", "2026-01-01T10:00:00.5+02:00", "20260101T10Z"],
    "hours": ["10:00", "11:30 am", "12:00 UTC"],
    "money": ["$5.00", "EUR 6.10", "7,00 €"],
    "decimal commas": ["2,50", "2,00", "1.003,00"],
    "shares": ["5 %", "10%", "0,5 %"],
    "lengths": ["5km", "3 h", "100 ms"],
    "truth": ["true", "FALSE", "true"],
    "yes and no": ["yes", "no", "yes"],
    "signs": ["+", "-", "+"],
}


@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("separator", ["\t", ";"])
def test_a_word_above_values_of_any_kind_names_the_columns(tmp_path, kind, separator):
    """The ids are text, and the names of their columns unknown."""
    ends = [("a", "b"), ("b", "c"), ("c", "a")]
    rows = [(*end, value) for end, value in zip(ends, VALUES[kind], strict=True)]
    body = "\n".join(map(separator.join, rows))
    (tmp_path / "edges").write_text(f"payer{separator}payee{separator}what\n{body}\n")
    with pytest.raises(ColumnNotFoundError, match="columns: 'payer', 'payee', 'what'"):
        read_edges(tmp_path / "edges")
    chosen = read_edges(tmp_path / "edges", source="payer", destination="payee").frame
    assert chosen.to_numpy().tolist() == [list(end) for end in ends]
    (tmp_path / "edges").write_text(f"{body}\n")  # and no value is taken for a name
    assert read_edges(tmp_path / "edges").frame.to_numpy().tolist() == [list(end) for end in ends]


def test_a_first_line_that_may_be_a_header_or_an_edge_is_refused(tmp_path):
    lines = [f"p{n},p{n + 1},{'friend' if n % 2 else 'foe'}" for n in range(20)]
    (tmp_path / "edges").write_text("\n".join(["who,whom,kind", *lines]))
    with pytest.raises(EdgeFileError, match=r"'who,whom,kind' may name .*header=True or header=F"):
        read_edges(tmp_path / "edges")
    assert len(read_edges(tmp_path / "edges", header=False).frame) == 21
    done = CliRunner().invoke(main, ["count", str(tmp_path / "edges")])
    assert "which, --header or --no-header" in done.stderr
    typed = ["--header", "--source", "who", "--destination", "whom", "--json"]
    done = CliRunner().invoke(main, ["count", str(tmp_path / "edges"), *typed])
    assert '"edges": 20' in done.stdout
    (tmp_path / "edges").write_text("\n".join(lines))
    assert len(read_edges(tmp_path / "edges").frame) == 20


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("*Vertex x\n1 30\n2 31\n*Tie y\n1 2 1\n2 1 1\n", {}),
        ("*Vertex x\n1 30\n2 31\n*Tie y\n1 2 1\n2 1 1\n", {"ids": "string"}),
        ('{"src": 1, "dst": 2}\n{"src": 2, "dst": 3}\n', {"format": "text"}),
        ("[1, 2]\n[2, 3]\n", {"format": "text"}),
    ],
)
def test_no_advice_leads_to_an_answer_of_the_wrong_things(tmp_path, text, options):
    (tmp_path / "edges").write_text(text)
    with pytest.raises(EdgeFileError) as told:
        read_edges(tmp_path / "edges", **options)
    assert "format text" not in str(told.value)


def test_the_column_of_a_comment_is_kept_by_its_name(tmp_path):
    (tmp_path / "signs").write_text("# trust\n# FromNodeId\tToNodeId\tSign\n0\t1\t-1\n1\t0\t1\n")
    frame = read_edges(tmp_path / "signs", columns=["Sign"]).frame
    assert frame.to_dict("list") == {"FromNodeId": [0, 1], "ToNodeId": [1, 0], "Sign": ["-1", "1"]}


NAMES = st.text("abcAB_é1", min_size=1, max_size=4).map(lambda text: f"n{text}")


@settings(deadline=None, max_examples=50)
@given(
    edges=st.lists(st.tuples(NAMES, NAMES), min_size=1, max_size=12),
    separator=st.sampled_from(["\t", ";", "|", ",", " "]),
    inside=st.sampled_from(["", " ", ", ", ",", "; "]),
    quotes=st.booleans(),
)
def test_names_with_separators_inside_are_whole(tmp_path_factory, edges, separator, inside, quotes):
    """Between tabs whatever is in them; in quotes between anything."""
    quotes = quotes or (separator != "\t" and bool(inside.strip(" ") or separator == " "))
    ends = [[f"{u}{inside}{u}", f"{v}{inside}{v}"] for u, v in edges]
    mark = '"' if quotes else ""
    lines = [separator.join(f"{mark}{end}{mark}" for end in pair) for pair in ends]
    path = tmp_path_factory.mktemp("names") / "edges"
    path.write_text("\n".join(lines) + "\n")
    file = read_edges(path, header=False)
    assert file.frame.to_numpy().tolist() == ends


IDS = {
    "words": st.sampled_from(["ann", "bo", "cy", "dee", "eve"]),
    "numbers": st.integers(20, 99).map(str),
    "codes": st.integers(0, 2**64).map("0x{:x}".format),
    "vertices": st.integers(1, 30).map("v{}".format),
    "addresses": st.integers(0, 255).map("10.0.0.{}".format),
    "links": st.integers(0, 9).map("http://x.org/?id={}".format),
    "full names": st.integers(0, 30).map("Ann {}, MD".format),
}
MORE = {
    "": st.just(""),
    "weight": st.integers(100, 109).map(str),
    "share": st.floats(0, 1).map("{:.3f}".format),
    "kind": st.sampled_from(["is-friend", "is-foe"]),
    "day": st.integers(10, 28).map("2020-01-{}".format),
    "sign": st.sampled_from("+-"),
    "attributes": st.integers(0, 9).map("{{'weight': {}}}".format),
}


@settings(deadline=None, max_examples=100)
@given(
    data=st.data(),
    kind=st.sampled_from(sorted(IDS)),
    more=st.sampled_from(sorted(MORE)),
    separator=st.sampled_from(["\t", " ", ",", ";"]),
    header=st.sampled_from([None, ["src", "dst"], ["from", "to"], ["node1", "node2"]]),
)
def test_edge_lists_are_read_whole(tmp_path_factory, data, kind, more, separator, header):
    """Whatever ids they have, and whatever stands behind these: no edge more, and none less."""
    separator = {"full names": "\t"}.get(kind, " " if more == "attributes" else separator)
    edges = data.draw(st.lists(st.tuples(IDS[kind], IDS[kind]), min_size=3, max_size=12))
    lines = [[*edge, data.draw(MORE[more])][: 2 + bool(more)] for edge in edges]
    lines = [[*header, *[more] * bool(more)], *lines] if header else lines
    path = tmp_path_factory.mktemp("lists") / "edges"
    path.write_text("\n".join(map(separator.join, lines)))
    frame = read_edges(path).frame.astype(str)
    assert frame.to_numpy().tolist() == [list(edge) for edge in edges]


def test_repeated_edges_and_loops_of_networks_stay(tmp_path):
    nodes = "".join(f" node [ id {n} label {n} ]\n" for n in (1, 2))
    edges = "".join(f" edge [ source {u} target {v} ]\n" for u, v in [(1, 2), (1, 2), (2, 2)])
    (tmp_path / "g.gml").write_text(f"graph [\n{nodes}{edges}]\n")
    assert read_edges(tmp_path / "g.gml").frame.astype(int).to_numpy().tolist() == [
        [1, 2],
        [1, 2],
        [2, 2],
    ]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("g.graphml", "<?xml version='1.0'?><graphml><graph>"),
        ("g.gexf", "<gexf><graph></gexf>"),
        ("g.gml", "graph [ node [ id 1 "),
        ("g.g6", "\x01\x02"),
        ("g.s6", ":"),
        ("g.json", '{"nodes": [{"id": 1}]'),
        ("g.json", '{"nodes": {"a": {}}, "links": []}'),
        ("g.json", '{"nodes": [{"id": 1}], "links": [{"to": 1}]}'),
        ("g.net", "*Vertices 2\n*Edges\n1 3\n"),
        ("g.net", "*Vertices 2\n*Edges\n1\n"),
        ("g.col", "p edge 2 1\ne 1 3\n"),
        ("g.col", "p edge 2 5\ne 1 2\n"),
        ("g.sif", "a pp\n"),
        ("g.feather", "ARROW1\0\0 damaged"),
        ("g.npy", "\x93NUMPY"),
        ("g.zip", "PK\x03\x04 damaged"),
        ("g.zst", "(\xb5/\xfd damaged"),
    ],
)
def test_broken_files_of_formats(tmp_path, name, content):
    (tmp_path / name).write_bytes(content.encode("latin-1"))
    with pytest.raises(EdgeFileError, match=f"^{name}"):
        read_edges(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "module", "words"),
    [
        ("GML", "networkx", r"rapids_tc\[networkx\]"),
        ("dense MatrixMarket", "scipy.io", "pip install scipy"),
        ("Feather", "pyarrow", r"rapids_tc\[arrow\]"),
        ("zstd", "pyarrow", r"rapids_tc\[arrow\]"),
    ],
)
def test_a_library_that_is_not_there_is_named(tmp_path, monkeypatch, name, module, words):
    path = KINDS[name].write(tmp_path)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(EdgeFileError, match=words):
        read_edges(path)


def test_the_page_has_a_row_for_every_format():
    page = (Path(__file__).parents[1] / "docs/howto/files.md").read_text()
    rows = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \|", page, re.M)
    assert sorted(name for row in rows for name in re.findall(r"\w+", row)) == sorted(FORMATS)


# Parts --------------------------------------------------------------------------------------------


def test_a_pattern_is_its_parts(tmp_path, monkeypatch):
    parts(a="1,2\n", b="2,3\n", c="3,1\n")(tmp_path / "g")
    assert read_edges(tmp_path / "g" / "[ab].csv").frame.to_numpy().tolist() == TRIANGLE[:2]
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(main, ["count", "--json", "g/*.csv"])
    assert '"triangles": 1' in done.stdout and "guessed: 3 parts, from a.csv on" in done.stderr
    with pytest.raises(FileNotFoundError):
        read_edges(tmp_path / "g" / "*.none")
    (tmp_path / "g[1].csv").write_text("7,8\n")
    assert read_edges(tmp_path / "g[1].csv").frame.to_numpy().tolist() == [[7, 8]]


def test_parts_agree_on_ids(tmp_path):
    parts(a="1,2\n2,3\n", b="x,1\n")(tmp_path / "g")
    frame = read_edges(tmp_path / "g").frame
    assert frame.to_numpy().tolist() == [["1", "2"], ["2", "3"], ["x", "1"]]


def test_parts_that_are_told_apart(tmp_path):
    parts(a="1,2,5\n2,3,5\n", b="3 1\n")(tmp_path / "g")
    guesses = read_edges(tmp_path / "g").guesses
    assert "text separated by commas" in guesses and "text separated by blanks" in guesses


@pytest.mark.parametrize(
    ("contents", "words"),
    [
        ({}, "a folder without files"),
        ({"a": "#\n", "b": "# none\n"}, "2 parts, and no edge in any"),
        ({"a": "1,2\n", "b": pd.DataFrame({"src": [1], "dst": [2]})}, "several formats: parq"),
        ({"a": "1,2\n2,3\n", "b": "3,4\n5\n"}, "^b.csv, line 2: "),
    ],
)
def test_parts_that_are_no_whole(tmp_path, contents, words):
    parts(**contents)(tmp_path / "g")
    with pytest.raises(EdgeFileError, match=words):
        read_edges(tmp_path / "g")


def test_a_delta_table_is_no_folder_of_parts(tmp_path):
    parts(a=pd.DataFrame({"src": [1], "dst": [2]}))(tmp_path / "g")
    (tmp_path / "g" / "_delta_log").mkdir()
    with pytest.raises(EdgeFileError, match="Delta table"):
        read_edges(tmp_path / "g")


def test_a_vertex_without_an_edge_in_one_part_may_have_one_in_another(tmp_path):
    for name, edges in {"a.net": "1 2", "b.net": "2 3", "c.net": "2 1"}.items():
        (tmp_path / name).write_text(f"*Vertices 4\n*Edges\n{edges}\n")
    assert read_edges(tmp_path / "*.net").isolated.tolist() == [4]


def test_progress_of_parts(tmp_path):
    parts(a="1,2\n", b="2,3\n")(tmp_path / "g")
    done = []
    read_edges(tmp_path / "g", tick=done.append)
    assert 0.5 < max(done) <= 1 and min(done) <= 0.5


# Streams and libraries ----------------------------------------------------------------------------


@pytest.mark.parametrize("content", [b"1 2\n2 3\n3 1\n", zipped(a_txt=b"1 2\n2 3\n3 1\n")])
def test_stdin(content):
    done = CliRunner().invoke(main, ["count", "--json", "-"], input=content)
    assert '"triangles": 1' in done.stdout
    done = CliRunner().invoke(main, ["count", "--json", "-"], input=b"1 2\n2\n")
    assert done.exit_code == 2 and "error: stdin, line 2: " in done.stderr


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_library(tmp_path, library):
    need_module(library)
    (tmp_path / "edges").write_text("1 2\n2 3\n3 1\n")
    frame = read_edges(tmp_path / "edges", library=library).frame
    assert type(frame).__module__.split(".")[0] == library
    assert (
        pd.DataFrame({name: np.asarray(frame[name]) for name in ("src", "dst")}).values.tolist()
        == TRIANGLE
    )


def test_library_that_is_not_there(tmp_path, monkeypatch):
    (tmp_path / "edges").write_text("1 2\n")
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(KernelError, match="'polars' is not installed"):
        read_edges(tmp_path / "edges", library="polars")
    with pytest.raises(ValueError, match="library must be one of pandas"):
        read_edges(tmp_path / "edges", library="dask")
