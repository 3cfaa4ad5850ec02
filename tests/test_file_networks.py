"""What edge files say of their edges: directions, and values by name; and what is no network."""

import io
import json
import re

import networkx as nx
import numpy as np
import pytest
from click.testing import CliRunner
from file_kinds import TRIANGLE, zipped

from rapids_tc.cli import main
from rapids_tc.errors import ColumnNotFoundError
from rapids_tc.files import EdgeFileError, read_edges

pytestmark = pytest.mark.cpu_only

ONE_WAY = [(1, 2), (2, 3), (3, 4), (2, 1), (5, 3)]
NEITHER = [(1, 3), (4, 1), (2, 5)]


def xml(root, head, edge, *, default):
    """A file of one-way edges and of others, each of the kind that is not the default said."""

    def write(one_way, neither):
        said = {"directed": (one_way, neither), "undirected": (neither, one_way)}
        plain, odd = said[default]
        other = {"directed": "undirected", "undirected": "directed"}[default]
        nodes = "".join(f'<node id="{node}"/>' for node in range(1, 7))
        edges = [edge(u, v, None) for u, v in plain] + [edge(u, v, other) for u, v in odd]
        body = f"<nodes>{nodes}</nodes><edges>{''.join(edges)}</edges>"
        body = body if root == "gexf" else nodes + "".join(edges)
        return f"<{root}><graph {head}='{default}'>{body}</graph></{root}>"

    return write


def gexf_edge(u, v, said):
    return f"<edge source='{u}' target='{v}'{f' type={said!r}' if said else ''}/>"


def graphml_edge(u, v, said):
    flag = f" directed='{str(said == 'directed').lower()}'" if said else ""
    return f"<edge source='{u}' target='{v}'{flag}/>"


def graphology(one_way, neither):
    edges = [{"source": u, "target": v, "undirected": False} for u, v in one_way]
    edges += [{"source": u, "target": v, "undirected": True} for u, v in neither]
    return json.dumps({"nodes": [{"key": node} for node in range(1, 7)], "edges": edges})


def node_link(one_way, neither):
    graph = (nx.DiGraph if one_way else nx.Graph)(one_way or neither)
    graph.add_nodes_from(range(1, 7))
    return json.dumps(nx.node_link_data(graph))


def lines(edges):
    return "".join(f"{u} {v}\n" for u, v in edges)


def pajek(one_way, neither):
    return f"*Vertices 6\n*Arcs\n{lines(one_way)}*Edges\n{lines(neither)}"


def gephi(one_way, neither):
    kinds = [(one_way, "Directed"), (neither[:1], "mutual"), (neither[1:], "Undirected")]
    rows = [f"{u},{v},{kind},1\n" for edges, kind in kinds for u, v in edges]
    return "Source,Target,Type,Weight\n" + "".join(rows)


def matrix_market(one_way, neither):
    kind = "general" if one_way else "symmetric"
    edges = one_way or neither
    head = f"%%MatrixMarket matrix coordinate pattern {kind}\n6 6 {len(edges)}\n"
    return head + lines(sorted(edges) if one_way else [sorted(e)[::-1] for e in edges])


def dense(one_way, neither):
    from scipy.io import mmwrite

    matrix = np.zeros((6, 6), int)
    for u, v in [*one_way, *neither, *((v, u) for u, v in neither)]:
        matrix[u - 1, v - 1] = 1
    file = io.BytesIO()
    mmwrite(file, matrix)
    return file.getvalue().decode()


def dimacs(one_way, neither):
    kind, letter = ("sp", "a") if one_way else ("edge", "e")
    edges = one_way or neither
    return f"p {kind} 6 {len(edges)}\n" + "".join(f"{letter} {u} {v} 1\n" for u, v in edges)


def gml(one_way, neither):
    graph = (nx.DiGraph if one_way else nx.Graph)(one_way or neither)
    graph.add_nodes_from(range(1, 7))
    return "\n".join(nx.generate_gml(graph))


def metis(one_way, neither):
    near = nx.Graph(neither)
    rows = [" ".join(map(str, near.adj.get(v, ()))) for v in range(1, 7)]
    return f"6 {len(neither)}\n" + "\n".join(rows) + "\n"


def graph6(one_way, neither):
    graph = nx.empty_graph(range(1, 7), create_using=nx.DiGraph if one_way else nx.Graph)
    graph.add_edges_from(one_way or neither)
    if not one_way:
        return nx.to_graph6_bytes(graph, nodes=sorted(graph)).decode()
    bits = nx.to_numpy_array(graph, nodelist=range(1, 7), dtype=int).ravel()
    sixes = bits.reshape(6, 6) @ (1 << np.arange(5, -1, -1))
    return ">>digraph6<<&" + "".join(chr(63 + code) for code in [6, *sixes]) + "\n"


def spelled(write):
    """The same XML, with words and flags as some programs write them."""
    words = {
        "'directed'": "'Directed'",
        "'undirected'": "'UNDIRECTED'",
        "'true'": "'1'",
        "'false'": "'0'",
    }

    def changed(one_way, neither):
        return re.sub(r"'[a-z]+'", lambda word: words[word[0]], write(one_way, neither))

    return changed


# By name: how the file is called, what writes it, and the edges that it may have.
BOTH, EITHER = ("one way", "neither", "both"), ("one way", "neither")
DIRECTED = {
    "GEXF, directed": (
        "g.gexf", xml("gexf", "defaultedgetype", gexf_edge, default="directed"), BOTH,
    ),
    "GEXF": ("g.gexf", xml("gexf", "defaultedgetype", gexf_edge, default="undirected"), BOTH),
    "GraphML": ("g.xml", xml("graphml", "edgedefault", graphml_edge, default="undirected"), BOTH),
    "GraphML, directed": (
        "g.xml", xml("graphml", "edgedefault", graphml_edge, default="directed"), BOTH,
    ),
    "GEXF in capitals": (
        "g.gexf", spelled(xml("gexf", "defaultedgetype", gexf_edge, default="directed")), BOTH,
    ),
    "GraphML of 0 and 1": (
        "g.xml", spelled(xml("graphml", "edgedefault", graphml_edge, default="directed")), BOTH,
    ),
    "graphology": ("g.json", graphology, BOTH),
    "Pajek": ("g.net", pajek, BOTH),
    "Gephi": ("g.csv", gephi, BOTH),
    "node-link JSON": ("g.json", node_link, EITHER),
    "GML": ("g.gml", gml, EITHER),
    "MatrixMarket": ("g.mtx", matrix_market, EITHER),
    "DIMACS": ("g.col", dimacs, EITHER),
    "graph6": ("g.g6", graph6, EITHER),
    "dense MatrixMarket": ("g.mtx", dense, BOTH),
    "METIS": ("g.graph", metis, ("neither",)),
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "case"), [(name, case) for name, (*_, cases) in DIRECTED.items() for case in cases]
)
def test_edges_without_a_direction_go_both_ways(tmp_path, name, case):
    called, write, _ = DIRECTED[name]
    one_way = ONE_WAY if case != "neither" else []
    neither = NEITHER if case != "one way" else []
    (tmp_path / called).write_text(write(one_way, neither))
    right = nx.DiGraph([*one_way, *neither, *((v, u) for u, v in neither)])
    plain = read_edges(tmp_path / called)
    file = read_edges(tmp_path / called, directed=True)
    ids = [*file.frame.to_numpy().astype(str).tolist()]
    shift = int(name == "graph6")  # numbers from 0
    assert sorted(ids) == sorted([str(u - shift), str(v - shift)] for u, v in right.edges)
    there = name in ("METIS", "dense MatrixMarket")
    if there or not neither:
        assert plain.directed is True and not any("direction" in g for g in plain.guesses)
    else:
        told = "3 of 8 edges" if one_way else "edges"
        assert f"{told} have no direction: directed=True reads each both ways" in plain.guesses
        assert f"{told} have no direction: each is read both ways" in file.guesses
        expected = [False] * 3 + [True] * 5 if one_way else [False]
        assert sorted(np.ravel(plain.directed).tolist()) == expected
        assert len(plain.frame) == len(one_way) + len(neither)
    right.add_nodes_from(range(1, 7) if len(file.isolated) else ())
    done = CliRunner().invoke(main, ["triads", str(tmp_path / called), "--directed", "--quiet"])
    counts = {line.split(",")[0]: int(line.split(",")[1]) for line in done.stdout.split()[1:]}
    assert counts == nx.triadic_census(right)


def test_a_file_that_says_no_direction_is_read_from_source_to_destination(tmp_path):
    (tmp_path / "edges").write_text("1 2\n2 3\n")
    file = read_edges(tmp_path / "edges", directed=True)
    assert file.directed is None and file.guesses[-1] == "each row leads from 'src' to 'dst'"
    assert len(file.frame) == 2 and read_edges(tmp_path / "edges").guesses == file.guesses[:-1]
    with pytest.raises(ValueError, match="directed must be True or False, not 1"):
        read_edges(tmp_path / "edges", directed=1)


def test_directions_of_parts(tmp_path):
    for name, section in {"a": "Edges", "b": "Arcs", "c": "Edges"}.items():
        (tmp_path / f"{name}.net").write_text(f"*Vertices 3\n*{section}\n1 2\n3 3\n")
    file = read_edges(tmp_path / "*.net")
    assert file.directed.tolist() == [False, False, True, True, False, False]
    assert read_edges(tmp_path / "[ac].net").directed is False
    file = read_edges(tmp_path / "*.net", directed=True)
    assert file.frame.to_numpy().tolist() == [[1, 2], [3, 3]] * 3 + [[2, 1]] * 2  # loops once


@pytest.mark.parametrize("other", ["2", "-2"])
def test_large_ids_in_one_column_stay_exact_in_both_directions(tmp_path, other):
    large = 2**64 - 1
    (tmp_path / "g.csv").write_text(f"Source,Target,Type\n{large},{other},Undirected\n")
    if other == "-2":
        with pytest.raises(
            EdgeFileError, match=r"g.csv: negative ids beside ids of 2.*ids='string' takes"
        ):
            read_edges(tmp_path / "g.csv", directed=True)
        frame = read_edges(tmp_path / "g.csv", directed=True, ids="string").frame
        assert frame.to_numpy().tolist() == [[str(large), other], [other, str(large)]]
    else:
        frame = read_edges(tmp_path / "g.csv", directed=True).frame
        assert frame.to_numpy().tolist() == [[large, 2], [2, large]]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "latin-1"])
def test_encodings_of_xml(tmp_path, encoding):
    text = f"<?xml version='1.0' encoding='{encoding.upper()}'?>" + GRAPHML.format(
        "<node id='é'/><node id='b'/><edge source='é' target='b'/>"
    )
    (tmp_path / "g").write_bytes(text.encode(encoding))
    assert read_edges(tmp_path / "g").frame.to_numpy().tolist() == [["é", "b"]]


def test_values_of_both_directions(tmp_path):
    (tmp_path / "g.net").write_text("*Vertices 3\n*Edges\n1 2 5\n*Arcs\n2 3 6\n")
    file = read_edges(tmp_path / "g.net", directed=True, columns=["weight"])
    assert file.frame.to_numpy().tolist() == [[1, 2, 5], [2, 3, 6], [2, 1, 5]]
    (tmp_path / "g.mtx").write_text(
        "%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 5\n"
    )
    assert len(read_edges(tmp_path / "g.mtx", directed=True).frame) == 2
    with pytest.raises(EdgeFileError, match="another value in the other direction: save it as gen"):
        read_edges(tmp_path / "g.mtx", directed=True, columns="all")


@pytest.mark.parametrize("kind", ["Directed", "both"])
def test_a_column_of_types_that_are_no_directions(tmp_path, kind):
    rows = f"1,2,{kind}\n" * 9000 + "2,3,friend\n"
    (tmp_path / "g.csv").write_text(f"src,dst,type\n{rows}")
    if kind == "both":
        assert read_edges(tmp_path / "g.csv").directed is None
    else:
        with pytest.raises(EdgeFileError, match="'type' has 'friend' beside Directed and Undirec"):
            read_edges(tmp_path / "g.csv")


GRAPHML = "<graphml><graph>{}</graph></graphml>"
WEIGHTED = nx.Graph()
WEIGHTED.add_weighted_edges_from([("a", "b", 1.5), ("b", "c", 2.0), ("a", "c", 4.0)])
CYTOSCAPE = json.dumps({"elements": nx.cytoscape_data(WEIGHTED)["elements"]})
VALUED = {
    "GraphML": ("g.graphml", "\n".join(nx.generate_graphml(WEIGHTED))),
    "GEXF": ("g.gexf", "\n".join(nx.generate_gexf(WEIGHTED))),
    "GML": ("g.gml", "\n".join(nx.generate_gml(WEIGHTED))),
    "JSON": ("g.json", json.dumps(nx.node_link_data(WEIGHTED))),
    "Cytoscape.js": ("g.cyjs", CYTOSCAPE),
    "Pajek": ("g.net", "\n".join(nx.generate_pajek(WEIGHTED))),
    "MatrixMarket": (
        "g.mtx", "%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n2 1 1.5\n3 2 2\n3 1 4\n",
    ),
    "dense": ("g.mtx", "%%MatrixMarket matrix array real symmetric\n3 3\n0\n1.5\n4\n0\n2\n0\n"),
    "DIMACS": ("g.gr", "p sp 3 3\na 1 2 1.5\na 2 3 2\na 3 1 4\n"),
    "METIS": ("g.graph", "3 3 1\n2 3 3 8\n1 3 3 4\n1 8 2 4\n"),  # doubled: integers alone
}  # fmt: skip


@pytest.mark.parametrize("name", VALUED)
def test_weights_of_formats(tmp_path, name):
    """Clustering does not depend on the unit of weights."""
    called, content = VALUED[name]
    (tmp_path / called).write_text(content)
    right = sorted(nx.clustering(WEIGHTED, weight="weight").values())
    done = CliRunner().invoke(
        main, ["clustering", str(tmp_path / called), "--weight", "weight", "--quiet"]
    )
    found = sorted(float(line.split(",")[1]) for line in done.stdout.split()[1:])
    assert found == pytest.approx(right), done.stderr
    with pytest.raises(ColumnNotFoundError, match=r"no column 'cost'; columns: 'src', 'dst'.*'w"):
        read_edges(tmp_path / called, columns=["cost"])
    numbered = name in ("MatrixMarket", "dense", "Pajek")
    for number, words in {2: "column 2 has ids", 3: ""}.items():
        done = CliRunner().invoke(
            main, ["clustering", str(tmp_path / called), "--weight", str(number), "--quiet"]
        )
        words = words if numbered else f"no column '{number}'.* it has 'src', 'dst'.*'weight'"
        assert done.exit_code == (2 if words else 0) and re.search(words, done.stderr)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("g.col", "p edge 3 3\ne 1 2\ne 2 3\ne 3 1\n"),
        ("g.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 3\n1 2\n2 3\n3 1\n"),
        ("g.net", "*Vertices 3\n*Arcs\n1 2\n2 3\n3 1\n"),
        ("g.graph", "3 3\n2 3\n1 3\n1 2\n"),
        ("g.g6", "Bw\n"),
    ],
)
def test_formats_without_values_have_rows_in_answers(tmp_path, name, content):
    (tmp_path / name).write_text(content)
    done = CliRunner().invoke(main, ["edge", str(tmp_path / name), "--quiet"])
    rows = done.stdout.split()
    assert rows[0] == "src,dst,triangles" and {row[-2:] for row in rows[1:]} == {",1"}, done.stderr


def test_arrays_beside_the_ids(tmp_path):
    from scipy.sparse import coo_array, save_npz

    src, dst, time = np.array([0, 1, 2]), np.array([1, 2, 0]), np.array([7, 8, 9])
    np.savez(tmp_path / "a.npz", src=src, dst=dst, time=time, about=np.zeros(5))
    frame = read_edges(tmp_path / "a.npz", columns="all").frame
    assert [*frame.columns] == ["src", "dst", "time"] and frame["time"].tolist() == [7, 8, 9]
    for kind in ("csr", "csc", "coo"):
        matrix = coo_array((time, (src, dst)), shape=(4, 4)).asformat(kind)
        save_npz(tmp_path / "m.npz", matrix)
        file = read_edges(tmp_path / "m.npz", columns=["weight"])
        assert sorted(file.frame.to_numpy().tolist()) == [[0, 1, 7], [1, 2, 8], [2, 0, 9]]
        assert file.directed is True and file.isolated.tolist() == [3]


def test_values_that_are_called_as_ids_are(tmp_path):
    links = [{"source": u, "target": v, "src": "x", "dst": None} for u, v in TRIANGLE]
    data = {"nodes": [{"id": node} for node in (1, 2, 3)], "links": links}
    (tmp_path / "g.json").write_text(json.dumps(data))
    file = read_edges(tmp_path / "g.json", columns="all")
    assert file.ids == ("src_", "dst_")
    assert file.frame[[*file.ids]].to_numpy().tolist() == TRIANGLE
    assert file.frame["src"].tolist() == ["x"] * 3 and file.frame["dst"].isna().all()


def test_a_vertex_without_an_edge_is_in_no_group(tmp_path):
    (tmp_path / "g.sif").write_text("a pp b\nb pd c\nc pp a\nalone\n")
    done = CliRunner().invoke(main, ["count", str(tmp_path / "g.sif"), "--by", "relation"])
    assert done.stdout.split() == ["relation,triangles", "pd,0", "pp,0"]
    assert "vertices without an edge are in no group, left out: 1" in done.stderr


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("g.json", '{"nodes": [{"id": 1}, {"id": 2}], "links": [{"source": 1, "target": "2"}]}',
         "edge 1 of 1 ends at '2', which is no vertex of the file; vertices are such as 1, 2"),
        ("g.json", '{"nodes": [{"name": "a"}], "links": [{"source": "a", "target": "a"}]}',
         "edge 1 of 1 ends at 'a', .* such as 0"),
        ("g.json", '{"nodes": [{"id": 1}, {"name": "b"}], "links": []}', "node 2 has no 'id', wh"),
        ("g.json", '{"nodes": [{"id": 1}, {"id": "1"}], "links": []}',
         "'1' is the id of two vertices, of one as text and of the other as a number: write both"),
        ("g.json", '{"nodes": [{"id": 1}], "links": [{"source": {"id": 1}, "target": 1}]}', "no v"),
        ("g.json", '{"nodes": [], "links": [{"from": 1}]}', "link 1 has no source or no target"),
        ("g.json", '{"nodes": {"a": {}}, "links": []}', "JSON of another kind: .*is read, as Net"),
        ("g.json", '{"nodes": [1], "links": []}', "JSON of another kind"),
        ("g.graphml", GRAPHML.format("<node id='a'/><edge source='a' target='b'/>"),
         "edge 1 of 1 ends at 'b', which is no vertex"),
        ("g.graphml", GRAPHML.format("<edge source='a'/>"), "edge 1 has no source"),
        ("g.graphml", GRAPHML.format("</graph><graph>"), "several graphs: save ea"),
        ("g.graphml", GRAPHML.format("<hyperedge/>"), "hyperedges are not read"),
        ("g.gexf", "<gexf><edge source='a' target='b' weight='x'/></gexf>",
         "weight of an edge is 'x', and no number"),
        ("g.gexf", "<gexf><graph>", "no XML that can be read, the file may be cut short"),
        ("g.gml", "graph [ node [ id 1 ", "this GML cannot be read by NetworkX.*save the"),
        ("g.gml", "graph [ node [ label 1 ] ]", "this GML cannot be read by NetworkX.*save"),
        ("g.json", '{"nodes": [{"id": 1}], "links": 5}', "JSON of another kind"),
        ("g.json", '{"elements": 5, "nodes": []}', "JSON of another kind"),
        ("g.json", '{"elements": {"nodes": [5], "edges": []}, "nodes": 1}', "JSON of another kind"),
        ("g.clu", "*Vertices 3\n1\n2\n1\n", "no edges: a partition or a vector of Pajek"),
        ("g.s6", ":", "this sparse6 cannot be read by NetworkX, which says"),
    ],
)  # fmt: skip
def test_a_broken_network_is_told(tmp_path, name, content, words):
    (tmp_path / name).write_text(content)
    with pytest.raises(EdgeFileError, match=f"{name}: .*{words}"):
        read_edges(tmp_path / name)


# Sizes, and files of other programs ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "isolated", "told"),
    [
        ("5 4\n1 2\n2 3\n3 1\n3 4\n", [5], "vertices are numbered 1 to 5, without an edge: 1"),
        ("5 4\n0 1\n1 2\n2 0\n2 3\n", [4], "vertices are numbered 0 to 4, without an edge: 1"),
        ("5 5 4\n1 2\n2 3\n3 1\n3 5\n", [4], "vertices are numbered 1 to 5, without an edge: 1"),
        ("6 3\n1,2\n2,3\n3,1\n", [4, 5, 6], "vertices are numbered 1 to 6, without an edge: 3"),
        ("3 9 3\n1,2\n2,3\n3,1\n", [], "gives sizes"),  # of two sets of vertices
        (
            "4 3\nann,bo\nbo,cy\ncy,ann\n",
            [],
            "left out, as they have no edge and no name: 1 of 4 vertices",
        ),
    ],
)
def test_a_line_of_sizes_says_how_many_vertices_there_are(tmp_path, text, isolated, told):
    (tmp_path / "edges").write_text(text)
    file = read_edges(tmp_path / "edges")
    assert file.isolated.tolist() == isolated
    assert any(told in guess for guess in file.guesses), file.guesses
    assert len(file.frame) == len(text.splitlines()) - 1
    done = CliRunner().invoke(main, ["count", "--json", str(tmp_path / "edges")])
    seen = {*file.frame["src"], *file.frame["dst"]}
    assert json.loads(done.stdout)["vertices"] == len(isolated) + len(seen)


@pytest.mark.parametrize("text", ["4 3\n0 1\n1 2\n0 4\n", "3 3\n1,2\n2,4\n4,1\n"])
def test_sizes_that_ids_contradict_are_refused_with_both_readings(tmp_path, text):
    (tmp_path / "edges").write_text(text)
    with pytest.raises(EdgeFileError, match="header=True leaves the line out, header=False takes"):
        read_edges(tmp_path / "edges")
    assert len(read_edges(tmp_path / "edges", header=True).frame) == 3
    if "," not in text:
        assert len(read_edges(tmp_path / "edges", header=False).frame) == 4


def test_a_number_of_more_vertices_than_a_graph_holds_is_an_id(tmp_path):
    (tmp_path / "edges").write_text("9000000000 1\n5 6\n")
    assert len(read_edges(tmp_path / "edges").frame) == 2


def test_a_number_alone_in_the_first_line(tmp_path):
    (tmp_path / "edges").write_text("3\n1 2\n2 3\n3 1\n")
    with pytest.raises(EdgeFileError, match="is 3 alone: if edges follow, header=True leaves it o"):
        read_edges(tmp_path / "edges")
    assert read_edges(tmp_path / "edges", header=True).frame.to_numpy().tolist() == TRIANGLE


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("separator", [";", ",", "\t"])
def test_the_separator_that_excel_writes(tmp_path, separator, end):
    rows = [["Source", "Target", "Price"], *[[str(u), str(v), "1,5"] for u, v in TRIANGLE]]
    rows = [[cell.replace(",", "") if separator == "," else cell for cell in row] for row in rows]
    lines = [f"sep={separator}", *map(separator.join, rows)]
    (tmp_path / "edges.csv").write_bytes("".join(line + end for line in lines).encode())
    file = read_edges(tmp_path / "edges.csv", columns="all")
    assert file.frame[[*file.ids]].to_numpy().tolist() == TRIANGLE
    (tmp_path / "edges.csv").write_bytes("".join(line + end for line in [*lines, "x"]).encode())
    with pytest.raises(EdgeFileError, match="line 6: expected two ids"):
        read_edges(tmp_path / "edges.csv")


@pytest.mark.parametrize(
    ("start", "words"),
    [
        (b"SQLite format 3\0", "database of SQLite: give the frame of pandas.read_sql"),
        (b"\x80\x04\x95", "pickle: give the frame of pandas.read_pickle"),
        (b"\xff\xff\xff\xff\x78", "stream of Arrow: give the table of pyarrow.ipc.open_stream"),
        (b"ORC\x08\0", "ORC"),
        (b"Obj\x01", "Avro"),
        (b"MATLAB 5.0 MAT-file", "Matlab"),
        (b"\x89HDF\r\n\x1a\n", "HDF5"),
        (b"RDX3\nX\n\0\0\0", "of R: write.csv"),
        (b"\xd0\xcf\x11\xe0", "old Excel"),
        (b"%PDF-1.7\n", "PDF"),
        (b"7z\xbc\xaf\x27", "7-Zip: unpack"),
        (b"Rar!", "RAR: unpack"),
        (b"\x04\x22M\x18", "LZ4: decompress"),
        (b"\xff\x06\0\0sNaPpY", "Snappy"),
        (
            zipped(xl_workbook=b"").replace(b"xl.workbook", b"xl/workbook"),
            "workbook of Excel or Lib",
        ),
        (zipped(content_xml=b"", mimetype=b""), "workbook of Excel or LibreOffice: save"),
        (b"\x01\0", "binary data, and no format that is read: text"),
    ],
)
def test_files_of_known_programs_are_named(tmp_path, start, words):
    (tmp_path / "file").write_bytes(start)
    with pytest.raises(EdgeFileError, match=f"^file: .*{words}"):
        read_edges(tmp_path / "file")


def test_ids_may_begin_as_the_files_of_programs_do(tmp_path):
    (tmp_path / "edges").write_text("ORC,Obj\nObj,Rar\nRar,ORC\n")
    assert len(read_edges(tmp_path / "edges").frame) == 3


@pytest.mark.parametrize("name", ["q.graph", "q.txt"])
def test_labeled_graphs_are_named(tmp_path, name):
    (tmp_path / name).write_text("t 3 3\nv 0 1 2\nv 1 1 2\nv 2 1 2\ne 0 1\ne 1 2\ne 0 2\n")
    with pytest.raises(EdgeFileError, match="looks like a labeled graph of lines t, v and e"):
        read_edges(tmp_path / name)
