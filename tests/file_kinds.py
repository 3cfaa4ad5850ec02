"""Edge files of many kinds, as people publish them: their contents, and what reading them gives."""

from __future__ import annotations

import io
import json
import tarfile
import zipfile
from dataclasses import dataclass
from typing import TYPE_CHECKING

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow
from pyarrow import feather

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TRIANGLE = [[1, 2], [2, 3], [3, 1]]
LETTERS = [["a", "b"], ["b", "c"], ["c", "a"]]
FRAME = pd.DataFrame(TRIANGLE, columns=["src", "dst"])
GRAPH = nx.Graph([("a", "b"), ("b", "c"), ("a", "c")])
GRAPH.add_node("alone")
ENDS = [["a", "b"], ["a", "c"], ["b", "c"]]  # its edges as NetworkX writes them
NUMBERS = [[0, 1], [0, 2], [1, 2]]


@dataclass(frozen=True)
class Kind:
    """A kind of file.

    Attributes
    ----------
    name : str
        The name of the file.
    content : str, bytes or callable
        What is in it, or what writes it to a path.
    answer : list or str
        Its edges, or a pattern of the error.
    told : tuple of str
        Patterns that are among the guesses.
    isolated : list
        The vertices that it names without an edge.
    """

    name: str
    content: str | bytes | Callable[[Path], object]
    answer: list | str
    told: tuple[str, ...] = ()
    isolated: tuple = ()

    def write(self, folder: Path) -> Path:
        path = folder / self.name
        if callable(self.content):
            self.content(path)
        else:
            text = self.content
            path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path


def text(content, answer, *told, name="edges.txt"):
    return Kind(name, content, answer, told)


def by_networkx(write):
    """A file of `GRAPH` with one vertex alone, as NetworkX writes it."""

    def save(path):
        with path.open("wb") as file:
            write(GRAPH, file)

    return save


def zipped(**members):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name.replace("_", ".")), content)  # of one date
    return file.getvalue()


def tarred(**members):
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:bz2") as archive:
        for name, content in members.items():
            entry = tarfile.TarInfo(f"folder/{name.replace('_', '.')}")
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return file.getvalue()


def zstandard(content):
    return pyarrow.compress(content, "zstd", asbytes=True)


def parts(**files):
    """A folder of parts, and files that are none."""

    def save(path):
        path.mkdir()
        (path / "_SUCCESS").write_text("")
        (path / ".part-0.csv.crc").write_bytes(b"crc\0")
        for name, content in files.items():
            if isinstance(content, pd.DataFrame):
                content.to_parquet(path / f"{name}.parquet", index=False)
            else:
                (path / f"{name}.csv").write_text(content)

    return save


def sparse(kind):
    def save(path):
        from scipy.sparse import coo_array, save_npz

        ends = np.array(NUMBERS).T
        matrix = coo_array((np.ones(3), (ends[0], ends[1])), shape=(5, 5))
        save_npz(path, matrix.asformat(kind))

    return save


GML = 'graph [\n node [ id 0 label "a" ]\n node [ id 1 label "b" ]\n node [ id 2 ]\n'
GSPAN = "t # 0\nv 0 1\nv 1 1\nv 2 1\ne 0 1 1\ne 1 2 1\ne 2 0 1\n"
MATRIX = "0 1 1\n1 0 1\n1 1 0\n"
HASHTAGS = "#a #b\n#b #c\n#c #a\n"
ROW_NAMES = '"from" "to"\n"1" "a" "b"\n"2" "b" "c"\n"3" "c" "a"\n'
PAJEK = '*Vertices 4\n1 "a"\n2 "b"\n3 "c"\n4 "alone"\n*Edges\n1 2\n1 3 5\n2 3\n'
ADDRESSES = [["0xa1", "0xb2"], ["0xb2", "0xc3"], ["0xc3", "0xa1"]]
LDBC = "creationDate|Person1Id|Person2Id\n" + "".join(
    f"2010-01-0{u}T15:10:31.499+0000|{u}|{v}\n" for u, v in TRIANGLE
)
ARROW = "arrow.*source[= ]1.*destination[= ]3"
SIF = "looks like .*SIF.*format[= ]'sif'"
OTHER_FIRST = "2 and 3 hold more.*source[= ]2.*destination[= ]3, or .*source[= ]1.*destination[= ]2"
DENSE = "%%MatrixMarket matrix array real {}\n3 3\n{}\n"
DOT = "graph g {\n  a -- b;\n  b -- c;\n}\n"

KINDS = {
    # Separators
    "KONECT, blank then tabs": text(
        "% sym weighted\n1 2\t1\t1138206644\n2 3\t1\t1138206650\n3 1\t1\t1138206699\n",
        TRIANGLE, "blanks", "columns 1 and 2 of 4", "first edge: 1 to 2", name="out.konect",
    ),
    "KONECT, tab then blanks": text("1\t2 1 113\n2\t3 1 114\n3\t1 1 115\n", TRIANGLE, "blanks"),
    "tabs at the ends of lines": text("1\t2\t\n2\t3\t\n3\t1\t\n", TRIANGLE, "tabs"),
    "blanks, and a tab at the end": text("a b\t\nb c\t\nc a\t\n", LETTERS, "blanks"),
    "names with commas between tabs": text(
        "Smith, J\tDoe, A\nDoe, A\tRoe, B\nRoe, B\tSmith, J\n",
        [["Smith, J", "Doe, A"], ["Doe, A", "Roe, B"], ["Roe, B", "Smith, J"]], "tabs",
    ),
    "dates with commas between semicolons": text(
        "from;to;day\na;b;Jan 1, 2020\nb;c;Jan 2, 2020\nc;a;Feb 1, 2020\n", LETTERS, "semicolons",
    ),
    "dates with commas between tabs, no header": text(
        "1\t2\tJan 1, 2020\n2\t3\tJan 2, 2020\n3\t1\tFeb 1, 2020\n", TRIANGLE, "tabs"
    ),
    "decimal commas between semicolons": text("a;b;0,5\nb;c;0,25\nc;a;1,5\n", LETTERS, "semicol"),
    "decimal commas between blanks": text("1 2 0,5\n2 3 0,25\n3 1 1,5\n", TRIANGLE, "blanks"),
    "decimal commas between blanks, names": text("a b 0,5\nb c 0,2\nc a 1,5\n", LETTERS, "blanks"),
    "names in quotes between blanks": text(
        '"Ann Lee" Bo\nBo "Cy Ray"\n"Cy Ray" "Ann Lee"\n',
        [["Ann Lee", "Bo"], ["Bo", "Cy Ray"], ["Cy Ray", "Ann Lee"]], "blanks",
    ),
    # Tables of R
    "write.table of R": text(
        ROW_NAMES.replace('"', ""), LETTERS, "names the columns", "columns 'from' and 'to'"
    ),
    "write.table of R, in quotes": text(ROW_NAMES, LETTERS, "columns 'from' and 'to'"),
    "write.table of R, numbers under other names": text(
        '"V1" "V2" "w"\n"1" 1 2 9\n"2" 2 3 9\n"3" 3 1 9\n', TRIANGLE, "columns 'V1' and 'V2' of 4"
    ),
    # Second columns that are no ids
    "SIF": Kind("g.sif", "a pp b\nb pp c\nc pp a\nalone\n", LETTERS, (), ("alone",)),
    "SIF of several targets": Kind("g.sif", "a\tpp\tb\tc d\n", [["a", "b"], ["a", "c d"]]),
    "SIF that is not called so": text("a pp b\nb pp c\nc pd a\n", SIF),
    "arrows": text("1 -> 2\n2 -> 3\n3 -> 1\n", ARROW),
    "dashes between names": text("a -- b\nb -- c\nc -- a\n", ARROW),
    "triples of names": text(
        "ann\tknows\tbo\nbo\tlikes\tcy\ncy\tknows\tann\n", "looks like .*triples.*destination[= ]3"
    ),
    "RDF": text("<x:a> <x:p> <x:b> .\n<x:b> <x:p> <x:c> .\n", "looks like RDF.*not read"),
    "LDBC, a date before the ids": text(
        LDBC, TRIANGLE, "names the columns", "columns 'Person1Id' and 'Person2Id' of 3"
    ),
    "adjacency lists of names": text("a b c\nb c\nc a d e\n", "looks like adjacency lists"),
    "adjacency lists of equal length": text("a b c\nb c a\nc a b\n", "adjacency lists"),
    "adjacency lists of numbers": text("1 2 3\n2 3\n3 1\n", "2 to 3 numbers.*not look like"),
    "adjacency lists with colons": text("0: 1 2\n1: 2 0\n2: 0 1\n", "looks like adjacency lists"),
    "a small matrix": text(MATRIX, "3 lines of 3 columns look like an adjacency matrix"),
    "a small matrix of weights": text(MATRIX.replace("1", "7"), "like an adjacency matrix"),
    "a small matrix with names": text(",a,b\na,0,1\nb,1,0\n", "like an adjacency matrix"),
    "a list of edges in one line": text("1 2 2 3 3 1\n", "1 line of 6 fields"),
    "pairs in one line": text("1,2 2,3 3,1\n", "1 line of .* fields"),
    "printed tuples": text("(1, 2)\n(2, 3)\n(3, 1)\n", "looks like printed tuples"),
    "gSpan": text(GSPAN, "looks like gSpan, which is not read"),
    # Headers of unknown words
    "STRING": text(
        "protein1 protein2 combined_score\na b 900\nb c 800\nc a 700\n",
        LETTERS, "names the columns", "columns 'protein1' and 'protein2' of 3",
    ),
    "Neo4j": text(":START_ID,:END_ID\na,b\nb,c\nc,a\n", LETTERS, "names the columns"),
    "Neo4j, typed": text(
        "p:START_ID(P),since:int,:END_ID(P)\na,5,b\nb,6,c\nc,7,a\n", LETTERS, "'p:START_ID.P.'"
    ),
    "blockchain addresses": text(
        "from_address,to_address\n0xa1,0xb2\n0xb2,0xc3\n0xc3,0xa1\n", ADDRESSES, "names the col"
    ),
    "words above a number": text("who,whom,n\na,b,1\nb,c,2\nc,a,3\n", "(source=|--source) and"),
    # Comment marks
    "hashtags": text(HASHTAGS, "nothing but comment lines; (--comment |comment=)''"),
    "hashtags among other ids": text(
        "#a b\nb #c\n#c d\nd b\n", [["b", "#c"], ["d", "b"]], "left out: 2.* ids begin with '#'"
    ),
    "SNAP": text("# Nodes: 3 Edges: 3\n# From To\n1\t2\n2\t3\n3\t1\n", TRIANGLE, "left out: 2$"),
    # First columns that are no ids
    "a time before the ids": text("40\t11\t12\n40\t14\t15\n60\t12\t13\n80\t13\t11\n", OTHER_FIRST),
    "a layer before the ids": text("1 1 2 1\n1 2 3 1\n2 3 1 1\n2 1 4 1\n", OTHER_FIRST),
    "layers in any order": text("2 3 1\n1 1 2\n1 2 3\n2 1 4\n", OTHER_FIRST),
    "row numbers before the ids": text("0,11,12\n1,12,13\n2,13,11\n3,13,14\n", OTHER_FIRST),
    "a day before the ids": text("2026-01-01 1 2\n2026-01-02 2 3\n2026-01-02 3 1\n", OTHER_FIRST),
    "a word before the ids": text("x,1,2\ny,2,3\nx,3,1\n", OTHER_FIRST),
    # Names of columns in a comment
    "names in a comment": text(
        "#id\tfrom\tto\n7\t1\t2\n8\t2\t3\n9\t3\t1\n", TRIANGLE, "comment.* 'id', 'from', 'to'"
    ),
    "the last comment names the columns": text(
        "% a b c\n# when source target\n9 1 2\n9 2 3\n9 3 1\n", TRIANGLE, "columns 'source' and"
    ),
    "names in a comment, unknown": text(
        "#Interaction ID\tGene A\tGene B\n901\t11\t12\n902\t12\t13\n", "columns: 'Interaction ID', "
    ),
    "a sentence in a comment": text("# a small triangle\n1 2 5\n2 3 5\n3 1 5\n", TRIANGLE),
    "names in a comment above text": text(
        "#kind,source,target\nx,a,b\nx,b,c\ny,c,a\n", LETTERS, "columns 'source' and 'target'"
    ),
    # Several tables, or none
    "GDF": text("nodedef>name VARCHAR\na\nb\nedgedef>node1 VARCHAR,node2 VARCHAR\na,b\n", "GDF"),
    "VNA": text("*Node data\nID age\n1 30\n2 31\n*Tie data\nFROM TO w\n1 2 1\n2 1 1\n", "like VNA"),
    "SQL": text("-- dump\nSET a = 1;\nINSERT INTO e VALUES (1,2);\n", "looks like SQL, which"),
    "TGF": text("1 One\n2 Two\n#\n1 2\n2 1\n", "looks like TGF"),
    "records of several kinds": text("E\t1\nU\t30\tann\nV\t1\t3\t5\tbo\n", "2 to 5 fields"),
    "a second table below": text("src,dst\na,b\nb,c\n\nid,label,age\na,Ann,5\n", "2 to 3 fields"),
    "the header again": text("src,dst\na,b\nb,c\nsrc,dst\nc,a\n", "header 'src,dst' comes again"),
    "a name, a colon and commas": text("a: b, c\nb: a, c\nc: a, b\n", "adjacency lists, which are"),
    "a matrix of two modes": text("0 1 1\n1 0 1\n", "2 lines of 3 columns look like"),
    "0 and 1 that are not symmetric": text("0 1 1\n0 0 1\n1 0 0\n", "3 lines of 3 col.* like"),
    "two modes with names": text(",e1,e2\nann,1,0\nbob,0,1\ncy,1,1\n", "like an adjacency matrix"),
    "lines of JSON": text('{"src": 1, "dst": 2}\n{"src": 2, "dst": 3}\n', "looks like JSON"),
    "date and time between blanks": text(
        "who whom at\na b 2026-01-01 10:00\nb c 2026-01-01 11:00\n", "'at' stands above a date and"
    ),
    # Formats
    "GraphML": Kind("g.graphml", by_networkx(nx.write_graphml), ENDS, ("graphml",), ("alone",)),
    "GML": Kind("g.gml", by_networkx(nx.write_gml), ENDS, ("format gml",), ("alone",)),
    "GML without labels": Kind(
        "g.gml",
        "graph [\n node [ id 1 ] node [ id 2 ] node [ id 3 ] node [ id 4 ]\n"
        " edge [ source 1 target 2 ] edge [ source 2 target 3 ] edge [ source 1 target 3 ]\n]\n",
        [[1, 2], [1, 3], [2, 3]], ("format gml",), (4,),
    ),
    "Pajek": Kind("g.net", PAJEK, ENDS, ("format pajek",), ("alone",)),
    "Pajek without labels": Kind(
        "g.net", "*vertices 4\n*arcs\n1 2\n2 3 1.5\n*edges 1\n3 1\n", TRIANGLE,
        ("format pajek", "numbers of vertices"), (4,),
    ),
    "Pajek's lists": Kind(
        "g.net", "*Vertices 3\n1 a\n2 a\n3 c\n*Arcslist\n1 2 3\n2 3\n", [[1, 2], [1, 3], [2, 3]],
        ("labels are missing or repeat",),
    ),
    "Pajek's matrix": Kind("g.net", "*Vertices 2\n*Matrix\n0 1\n1 0\n", "Matrix is not read"),
    "GEXF": Kind("g.gexf", by_networkx(nx.write_gexf), ENDS, ("format gexf",), ("alone",)),
    "graph6": Kind("g.g6", nx.to_graph6_bytes(nx.path_graph(3)), [[0, 1], [1, 2]], ("graph6",)),
    "sparse6": Kind(
        "g", nx.to_sparse6_bytes(nx.Graph([(0, 1), (1, 2)])), [[0, 1], [1, 2]], ("sparse6",)
    ),
    "several graphs": Kind("g.g6", "Bw\nBw\n", "2 graphs: .*one"),
    "node-link JSON": Kind(
        "g.json", json.dumps(nx.node_link_data(GRAPH, edges="links")), ENDS, ("format json",),
        ("alone",),
    ),
    "node-link JSON of newer NetworkX": Kind(
        "g.json", json.dumps(nx.node_link_data(GRAPH)), ENDS, ("format json",), ("alone",)
    ),
    "DIMACS, colouring": Kind(
        "g.col", "c x\np edge 4 3\ne 1 2\ne 2 3\ne 3 1\n", TRIANGLE, ("format dimacs",), (4,)
    ),
    "DIMACS, paths": Kind("g.gr", "c x\np sp 3 3\na 1 2 9\na 2 3 9\na 3 1 9\n", TRIANGLE),
    "sparse matrix of SciPy, CSR": Kind("g.npz", sparse("csr"), NUMBERS, ("npz",), (3, 4)),
    "sparse matrix of SciPy, CSC": Kind("g.npz", sparse("csc"), NUMBERS, ("npz",), (3, 4)),
    "sparse matrix of SciPy, COO": Kind("g.npz", sparse("coo"), NUMBERS, ("npz",), (3, 4)),
    "sparse matrix of SciPy, DIA": Kind("g.npz", sparse("dia"), "sparse matrices, csr"),
    "dense MatrixMarket": Kind(
        "g.mtx", DENSE.format("general", "0 1 1 0 0 1 0 0 0".replace(" ", "\n")),
        [[1, 3], [2, 1], [3, 1], [3, 2]][1:], ("format matrixmarket",),
    ),
    "dense symmetric MatrixMarket": Kind(
        "g.mtx", DENSE.format("symmetric", "0\n1\n0\n0\n0\n0"), [[1, 2], [2, 1]],
        ("format matrixmarket",), (3,),
    ),
    "MatrixMarket with one %": Kind(
        "g.txt", "%MatrixMarket matrix coordinate pattern symmetric\n5 5 3\n1 2\n2 3\n3 1\n",
        TRIANGLE, ("format matrixmarket",), (4, 5),
    ),
    "Feather": Kind("g.feather", lambda path: feather.write_feather(FRAME, path), TRIANGLE,
        ("format arrow",)),
    ".npy": Kind("g.npy", lambda path: np.save(path, TRIANGLE), TRIANGLE, ("format npy",)),
    ".npy of two rows": Kind("g.npy", lambda path: np.save(path, np.array(TRIANGLE).T), TRIANGLE,
        ("format npy", "2 rows")),
    ".npy of a matrix": Kind("g.npy", lambda path: np.save(path, np.eye(4)), "adjacency matrix"),
    "a folder of Parquet": Kind("g", parts(a=FRAME[:2], b=FRAME[2:]), TRIANGLE, ("2 parts",)),
    "a folder of CSV": Kind(
        "g", parts(a="src,dst\n1,2\n2,3\n", b="src,dst\n3,1\n", c="src,dst\n"), TRIANGLE,
        ("3 parts", "commas"),
    ),
    "zip": Kind("g.zip", zipped(edges_csv=b"1,2\n2,3\n3,1\n"), TRIANGLE, ("edges.csv of the",)),
    "zip of several": Kind("g.zip", zipped(a_csv=b"1,2\n", b_csv=b"3,4\n"), "2 files.*a.csv"),
    "tar of KONECT": Kind(
        "g.tar.bz2", tarred(README_a=b"text", meta_a=b"name: a", out_a=b"% sym\n1 2\n2 3\n3 1\n"),
        TRIANGLE, ("folder/out.a of the",),
    ),
    "zstd": Kind("g.csv.zst", zstandard(b"1,2\n2,3\n3,1\n"), TRIANGLE, ("commas",)),
    "UTF-16": text("a,b\nb,c\nc,a\n".encode("utf-16"), LETTERS, "UTF-16"),
    "METIS that is not symmetric": Kind("g.graph", "3 3\n2 3\n3 1\n1 3\n", "line 3.*line 4"),
    # Text of formats that are not read
    "DOT": text(DOT, "looks like DOT, which is not read", name="g.dot"),
    "DL": text("dl n=3\nformat = edgelist1\ndata:\n1 2\n2 3\n", "looks like DL of UCINET"),
    "LGL": text("# a\nb 1\nc 2\n# b\nc 1\n", "looks like LGL"),
    "LEDA": text("LEDA.GRAPH\nstring\nint\n-1\n3\n|{a}|\n", "looks like LEDA"),
    "WebGraph": text("graphclass=it.unimi.dsi.webgraph.BVGraph\nnodes=3\narcs=3\n", "WebGraph"),
    "PBBS": text("AdjacencyGraph\n3\n3\n0\n1\n2\n1\n2\n0\n", "looks like PBBS"),
    # Nothing
    "a header alone": text("src,dst\n", [], "no edge below it"),
}  # fmt: skip
