"""Edge files of every shape: what is read, what is guessed, and which line is blamed."""

import bz2
import gzip
import lzma
import os
import struct
import subprocess
import sys
import threading
import tracemalloc
import zipfile

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from needs import need_module

from rapids_tc.errors import CapacityError, ColumnNotFoundError, RapidsTCError
from rapids_tc.files import EdgeFile, EdgeFileError, read_edges, source
from rapids_tc.files.source import Source

TRIANGLE = [[1, 2], [2, 3], [3, 1]]


@pytest.fixture
def read(tmp_path):
    """Write a file and read its edges."""

    def write_and_read(content, name="edges.txt", **options) -> EdgeFile:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_edges(path, **options)

    return write_and_read


def rows(file: EdgeFile) -> list[list]:
    assert file.frame.columns.tolist() == ["src", "dst"]
    assert isinstance(file.frame.index, pd.RangeIndex) and file.frame.index.start == 0
    return file.frame.to_numpy().tolist()


@pytest.mark.parametrize(
    "text",
    [
        "1,2\n2,3\n3,1\n",
        "1\t2\n2\t3\n3\t1",
        "1 2\n2 3\n3 1\n",
        "1;2\n2;3\n3;1\n",
        "1|2\n2|3\n3|1\n",
        "  1   2\n2\t 3  \n 3 1\n",
        "1, 2\n2, 3\n3 ,1\n",
        "1,2\r\n2,3\r\n3,1\r\n",
        "1,2\r2,3\r3,1\r",
        "1 2\r2 3\r3 1",
        "\ufeff1,2\n2,3\n3,1\n",
        "\n1,2\n\n  \n2,3\n\n3,1\n\n",
        "1 2 0.5\n2 3 0.25\n3 1 1\n",
        "1 2 {'weight': 1, 'x': 2}\n2 3 {}\n3 1 {'a': \"b,c\"}\n",
        "1,2,x\n2,3\n3,1,y,z\n",
        '"1","2"\n"2","3"\n"3","1"\n',
        "# a\n# b\n1 2\n2 3\n3 1\n",
        "% a\n1 2\n# b\n2 3\n  % c\n3 1\n#",
        "# a\r1 2\r# b\r2 3\r3 1\r",
        "src,dst\n1,2\n2,3\n3,1\n",
        "FromNodeId\tToNodeId\n1\t2\n2\t3\n3\t1\n",
        "# src dst\nsrc dst\n1 2\n2 3\n3 1\n",
        ",a,b\n0,1,2\n1,2,3\n2,3,1\n",
        "weight,source,target\n9,1,2\n9,2,3\n9,3,1\n",
        "W,U,V\n9,1,2\n9,2,3\n9,3,1\n",
        "u,v,Src,Dst\n1,2,9,9\n2,3,9,9\n3,1,9,9\n",
        "Source,Target,Type\n1,2,Undirected\n2,3,Undirected\n3,1,Undirected\n",
        "3 3\n1 2\n2 3\n3 1\n",
        "3 3 3\n1 2\n2 3\n3 1\n",
        "3 3\n1,2\n2,3\n3,1\n",
        "id,from,to\n7,1,2\n8,2,3\n9,3,1\n",
        "name,from,to\nx,1,2\ny,2,3\nz,3,1\n",
        "3 3\r\n1\t2\r\n2\t3\r\n3\t1\r\n",
        "3,3,u,graph\n1,2\n2,3\n3,1\n",
    ],
)
@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress])
def test_text(read, text, pack):
    file = read(pack(text.encode()))
    assert rows(file) == TRIANGLE
    assert (file.format, len(file.isolated)) == ("text", 0)
    assert file.frame.dtypes.tolist() == [np.int64, np.int64]


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        ("1 2\n2 1\n", {}, [[1, 2], [2, 1]]),
        ("2 1\n1 2\n", {"header": False}, [[2, 1], [1, 2]]),
        ("7 8\n1 2\n", {"header": True}, [[1, 2]]),
        ("a b\nc d\n", {"header": True}, [["c", "d"]]),
        ("src,dst\n1,2\n", {"header": False, "ids": "string"}, [["src", "dst"], ["1", "2"]]),
        ("1:2\n3:4\n", {"separator": ":"}, [[1, 2], [3, 4]]),
        ("1\t2\n", {"separator": "\\t"}, [[1, 2]]),
        ("a b\tc\n", {"separator": "tab"}, [["a b", "c"]]),
        ("a b\tc\n", {"separator": "blanks"}, [["a", "b"]]),
        ("1,2 3\n", {"separator": " ", "ids": "string"}, [["1,2", "3"]]),
        ("1 2\n//x\n3 4\n", {"comment": "/"}, [[1, 2], [3, 4]]),
        ("#1 2\n3 4\n", {"comment": "", "ids": "string"}, [["#1", "2"], ["3", "4"]]),
        ("1 2\n", {"ids": "string"}, [["1", "2"]]),
        ("007 1\n", {"ids": "integer"}, [[7, 1]]),
        ("9,1,2\n9,3,4\n", {"source": 2, "destination": 3}, [[1, 2], [3, 4]]),
        ("9,1,2\n9,3,4\n", {"source": "3", "destination": "2"}, [[2, 1], [4, 3]]),
        ("w,b,a\n9,1,2\n", {"source": "a", "destination": "b"}, [[2, 1]]),
        ("w,b,a\n9,1,2\n", {"source": "a", "destination": 1}, [[2, 9]]),
    ],
)
def test_every_guess_can_be_overridden(read, text, options, expected):
    assert rows(read(text, **options)) == expected


TWICE = "src,dst,src\n1,2,8\n2,3,9\n"


def test_two_columns_of_one_name_are_an_error(read):
    match = r"^edges\.txt: 2 columns are called 'src': rename them, or choose .* by their numbers"
    by_name, mixed = {"source": "src", "destination": "dst"}, {"source": 2, "destination": "src"}
    for options in ({}, by_name, mixed):
        with pytest.raises(EdgeFileError, match=match):
            read(TWICE, **options)
    assert rows(read(TWICE, source=3, destination=2)) == [[8, 2], [9, 3]]
    with pytest.raises(ValueError, match="'Src' and 'SRC' differ in upper and lower case only"):
        read("Src,SRC,dst\n1,2,8\n2,3,9\n")


def test_a_name_that_is_twice_elsewhere_is_no_error(read):
    assert rows(read("src,dst,w,w\n1,2,8,8\n2,3,9,9\n")) == [[1, 2], [2, 3]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a b\nb c\n", [["a", "b"], ["b", "c"]]),
        ("007\t7\n7\t007\n", [["007", "7"], ["7", "007"]]),
        ("NA,nan\nnull,NA\n", [["NA", "nan"], ["null", "NA"]]),
        ("source,target\nana,bo\n", [["ana", "bo"]]),
        ("u1 5\nu2 6\n", [["u1", "5"], ["u2", "6"]]),
        ("# x\nC# F#\n#note\nF# D\n", [["C#", "F#"], ["F#", "D"]]),
        ("cat #dog\n#dog %fox\n", [["cat", "#dog"], ["#dog", "%fox"]]),
        ('"a, b","c"\nd,"e"\n', [["a, b", "c"], ["d", "e"]]),
        ("a, b\nb, c\n", [["a", "b"], ["b", "c"]]),
        ("a , b \n\tb, c\n", [["a", "b"], ["b", "c"]]),
        ("a |b\nb | c \n", [["a", "b"], ["b", "c"]]),
        ("\u0663 \u0664\n\u0664 \u0665\n", [["\u0663", "\u0664"], ["\u0664", "\u0665"]]),
        ("a\u00a0x b\nb c\n", [["a\u00a0x", "b"], ["b", "c"]]),
        ("e 1 2\na 1 2\nb 3 4\n", [["e", "1"], ["a", "1"], ["b", "3"]]),
        ("a b  c\n", [["a", "b"]]),
        ("a b\nb  c\n d e\n", [["a", "b"], ["b", "c"], ["d", "e"]]),
        ("a|b|x\nb|c|y\n", [["a", "b"], ["b", "c"]]),
        ("é,ü\nü,\u732b\n", [["é", "ü"], ["ü", "\u732b"]]),
        ("it's o\"k\nx y\n", [["it's", 'o"k'], ["x", "y"]]),
        ("1.5 2.5\n2.5 3.5\n", [["1.5", "2.5"], ["2.5", "3.5"]]),
    ],
)
@pytest.mark.parametrize("arrow", [True, False])
def test_ids_that_are_text(read, monkeypatch, text, expected, arrow):
    if not arrow:
        monkeypatch.setattr("rapids_tc.files.lines.find_spec", lambda name: None)
    file = read(text)
    assert rows(file) == expected
    assert "ids are text" in file.guesses


IDS = st.integers(-(2**63), 2**63 - 1) | st.integers(0, 9)


@settings(deadline=None)
@given(
    edges=st.lists(st.tuples(IDS, IDS), min_size=1, max_size=30),
    separator=st.sampled_from([",", ", ", "\t", " ", "   ", " \t", ";", "|"]),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
    more=st.sampled_from(["", "1.5", "{}", "# x"]),
    between=st.sampled_from(["", "# c", "%", "  "]),
    pack=st.sampled_from([bytes, gzip.compress, lzma.compress]),
    block=st.sampled_from([1, 3, 16, 1000]),
)
def test_what_is_written_is_read(
    tmp_path_factory, edges, separator, end, more, between, pack, block
):
    lines = []
    for u, v in edges:
        lines += [f"{u}{separator}{v}" + (separator + more if more else ""), between]
    path = tmp_path_factory.mktemp("written") / "edges"
    path.write_bytes(pack(end.join(lines).encode()))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rapids_tc.files.source._BLOCK", block)
        assert rows(read_edges(path, header=False)) == [list(edge) for edge in edges]


@settings(deadline=None)
@given(
    lines=st.lists(st.text("ab #%\t,\"'é1", max_size=8), min_size=1, max_size=6),
    separator=st.sampled_from([None, ",", "\t", " "]),
)
def test_both_parsers_of_text_agree(tmp_path_factory, lines, separator):
    path = tmp_path_factory.mktemp("text") / "edges"
    path.write_text("\n".join(lines))

    def outcome() -> object:
        try:
            return rows(read_edges(path, ids="string", separator=separator))
        except EdgeFileError as error:
            return str(error)

    arrow = outcome()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rapids_tc.files.lines.find_spec", lambda name: None)
        assert outcome() == arrow


def test_guesses_are_sentences_and_given_options_are_no_guesses(read):
    text = "# c\nu,v,w\n1,2,5\n2,3,5\n"
    assert read(text).guesses == [
        "text separated by commas",
        "the first line 'u,v,w' names the columns",
        "ids in columns 'u' and 'v' of 3, ignored: 'w'",
        "ids are integers",
        "comment lines left out: 1",
        "first edge: 1 to 2",
    ]
    assert read(text, columns="all").guesses[2] == "ids in columns 'u' and 'v' of 3"
    wide = text.replace("v,w", "v,w,x").replace("5\n", "5,6\n")
    for kept in ("x", 4):
        assert read(wide, columns=[kept]).guesses[2].endswith("'v' of 4, ignored: 'w'")
    given = {"separator": ",", "header": True, "ids": "integer", "comment": "#"}
    assert read(text, source="u", destination="v", **given).guesses == []


@pytest.mark.parametrize("header", ["4 3", "4 4 3"])
def test_size_line_must_fit(read, header):
    body = "0 1\n1 2\n3 0\n"
    assert len(rows(read(f"{header}\n{body}"))) == 3
    assert any("gives sizes" in guess for guess in read(f"{header}\n{body}").guesses)
    assert len(rows(read(f"{header}\n{body}2 3\n"))) == 5  # another number of lines: an edge
    assert len(rows(read(f"{header}\n9 1\n1 2\n3 0\n"))) == 4  # an id past n
    both_ways = "".join(f"{u} {v}\n{v} {u}\n" for u, v in [(0, 1), (1, 2), (3, 0)])
    assert len(rows(read(f"{header}\n{both_ways}"))) == 6


@pytest.mark.parametrize(
    "text",
    ["3 2\n2 1\n1 3\n", "3\t2\n2\t1\n1\t3\n", "3,2,x\n2,1\n1,3\n", "5 4\n1 2\n1 3\n1 4\n1 5\n"],
)
def test_sizes_that_may_be_an_edge_are_refused(read, text):
    """A tree of five vertices has no triangle; with an edge 5, 4 it has one."""
    with pytest.raises(EdgeFileError, match=r"may be an edge, or say that .* header=False or head"):
        read(text)
    lines = text.count("\n")
    assert len(rows(read(text, header=False))) == lines
    assert len(rows(read(text, header=True))) == lines - 1


def test_sizes_above_words(read):
    file = read("5 3\na b\nb c\nc a\n")
    assert rows(file) == [["a", "b"], ["b", "c"], ["c", "a"]]
    assert "left out, as they have no edge and no name: 2 of 5 vertices" in file.guesses
    for edge in ("5 2", "2 3"):  # another number of lines, or of words
        assert len(rows(read(f"{edge}\na b\nb c\nc a\n"))) == 4
    assert len(rows(read("2 1\na b\nb a\n"))) == 2  # both ways


@pytest.mark.parametrize(
    "text",
    [
        "3 1\n1 2\n2 3\n",
        "3,2\n2,1\n1,3\n",
        "4,2\n2,1\n1,3\n",
        "3,2,x\n2,1,x\n1,3,x\n",
        "3 2 {}\n2 1 {}\n1 3 {}\n",
        "3 1 2\n1 2 2\n2 3 2\n",
    ],
)
def test_an_edge_is_not_taken_for_a_size_line(read, text):
    assert len(rows(read(text))) == 3


def test_ids_beside_a_float_keep_every_digit(read):
    text = "9007199254740992,1\n1,2\n9007199254740993,2\n{},1\n"
    assert rows(read(text.format(5)))[2] == [9007199254740993, 2]
    for odd in ("5.0", "1e3", "inf", "nan", "", "True"):
        with pytest.raises(EdgeFileError, match=r"^edges\.txt, line 4: "):
            read(text.format(odd))


@pytest.mark.parametrize("more", ["9223372036854775808", "1e19", "5.0"])
def test_pieces_of_many_types(read, monkeypatch, more):
    monkeypatch.setattr("rapids_tc.files.lines._PIECE", 2)
    text = f"1 2\n9007199254740993 4\n5 6\n{more} 7\n8 9\n"
    if more.isdigit():
        frame = read(text).frame
        assert frame["src"].tolist() == [1, 9007199254740993, 5, 2**63, 8]
        text += "-1 3\n"
    with pytest.raises(EdgeFileError, match="negative" if more.isdigit() else "line 4: "):
        read(text)


@pytest.mark.parametrize(
    ("text", "dtypes"),
    [
        ("-5 7\n7 -9223372036854775808\n", ("int64", "int64")),
        ("1 9223372036854775807\n1 2\n", ("int64", "int64")),
        ("1 18446744073709551615\n9223372036854775808 2\n", ("uint64", "uint64")),
        ("-1 18446744073709551615\n1 2\n", ("int64", "uint64")),
        ("1 2\n" * 200_000 + "1 18446744073709551614\n", ("int64", "uint64")),
    ],
)
def test_large_ids_are_exact(read, text, dtypes):
    frame = read(text).frame
    assert tuple(map(str, frame.dtypes)) == dtypes
    last = [int(field) for field in text.splitlines()[-1].split()]
    assert [int(value) for value in frame.iloc[-1].tolist()] == last or (
        [int(frame["src"].iloc[-1]), int(frame["dst"].iloc[-1])] == last
    )


@pytest.mark.parametrize("text", ["", "\n\n"])
def test_no_edges(read, text):
    file = read(text)
    assert file.frame.shape == (0, 2)
    assert file.guesses == ["an empty file"]


@pytest.mark.parametrize("text", ["# nothing\n", "%\r%\r", "#a #b\n#b #c\n"])
def test_comments_alone_are_an_error_that_names_the_option(read, text):
    with pytest.raises(EdgeFileError, match="nothing but comment lines; comment='' reads"):
        read(text)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("1 2\n2\n3 1\n", 2, "two ids separated by blanks"),
        ("1\t2\n\t\n5\t\n", 3, "an id is empty"),
        ("1,2\n2,3\n3\n", 3, "two ids separated by commas"),
        ("a,b\nb,c\nc\n", 3, "two ids separated by commas"),
        ("New York\tBonn\nBonn\tLa Paz\nLa Paz Bonn\n", 3, "two ids separated by tabs"),
        ("1\t2\n2\t3\n3\n", 3, "two ids separated by tabs"),
        ("a\nb\nc\n", 1, "two ids separated by blanks"),
        ("1 2.0\n", 1, "'2.0' is not an integer: leave out '.0', as ids=string"),
        ("1 2.0\n2 3.0\n3 1.5\n", 1, "'2.0' is not an integer"),
        ("1 2\n3 " + "4" * 5000 + "\n", 2, "64 bits"),
        ("1 2\n3\f4\n", 2, "two ids separated by blanks"),
        ("\f\n1 2\n2 3\n", 1, "two ids"),
        ("1 2\n\f\n3 4\n", 2, "two ids separated by blanks"),
        ("1 2\n3 4\n5 \u0663\n", 3, "is not an integer"),
        ("1 2\n1 1e19\n", 2, "'1e19' is not an integer"),
        ("1,2\n2,x\n", 2, "'x' is not an integer"),
        ("# c\n\n1,2\n# c\n2,1.5\n", 5, "'1.5' is not an integer"),
        ("1,2\r2,3\r3,-\r", 3, "'-'"),
        ("1,2\r\n2,3\r\n,4\r\n", 3, "empty"),
        ("oops\n1 2\n2 3\n", 1, "two ids"),
        ("a 2\n1 2\n2 3\n", 1, "'a' is not an integer"),
        ("1 99999999999999999999\n1 2\n", 1, "64 bits"),
        ("1 2\n3 -9223372036854775809\n1 2\n", 2, "64 bits"),
        ("a,b\nb,\n", 2, "empty"),
        ("a b\nb c\nc\n", 3, "two ids"),
        ("1 2\n" * 300_000 + "3 x\n", 300_001, "'x'"),
        ("a b\n" * 300_000 + "c\n", 300_001, "two ids"),
        ("src,dst\n1,2\n\n1,y\n", 4, "'y'"),
        ("1 2\n3 " + "4" * 500 + "\n", 2, "…"),
        (b"a b\n\xff\xfe c\n", 2, "UTF-8"),
    ],
)
def test_wrong_line(read, text, line, words):
    with pytest.raises(EdgeFileError, match=rf"^edges\.txt, line {line}: ") as caught:
        read(text)
    assert words in str(caught.value)
    assert len(str(caught.value)) < 250
    assert isinstance(caught.value, RapidsTCError) and isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (bytes(range(256)), "binary"),
        ('1,2\n3,4,"x\n5,6\n', "inside string"),
        ("1 2 3\n2 1 4 5\n3 1\n4 2 1 7 8\n", "METIS|metis"),
        ("\n".join(" ".join("01"[i == j] for j in range(12)) for i in range(12)), "adjacency"),
        ("x" * 100_000, "edge list"),
        ("1 " * 50_000, "edge list"),
        ("-1 2\n1 2\n18446744073709551615 2\n", "negative"),
        (gzip.compress(b"1 2\n" * 1000, mtime=0)[:-12], "damaged"),
        (lzma.compress(b"1 2\n" * 1000)[:-12], "damaged"),
        (bz2.compress(b"1 2\n" * 1000)[:-12], "damaged"),
        (gzip.compress(b"a b\n" * 1000, mtime=0)[:-12], "damaged"),
        (b"BZh9" + b"x" * 100, "damaged"),
        ('{"edges": [[1, 2]]}\n', "looks like JSON"),
        ("[[1, 2],\n[2, 3],\n[3, 1]]\n", "looks like JSON"),
        ("<html>\n1 2\n2 3\n", "looks like HTML"),
        ("e 1 2\ne 2 3\n", "looks like DIMACS"),
    ],
    # Named: packed bytes hold the time, and differ between the workers of a run.
    ids=[
        "bytes", "open quote", "metis", "matrix", "one word", "one line", "minus beside 2**64",
        "gzip", "xz", "bz2", "gzip of text", "broken bz2", "object", "array", "html",
        "edges only",
    ],
)  # fmt: skip
def test_no_edge_list(read, content, words):
    with pytest.raises(EdgeFileError, match=f"^edges.txt: .*({words})"):
        read(content)


def test_a_named_format_is_not_questioned(read):
    assert rows(read("1 2 3\n2 1 4 5\n3 1\n", format="text")) == [[1, 2], [2, 1], [3, 1]]


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"separator": ""}, ValueError, "one character"),
        ({"separator": "\n"}, ValueError, r"no end of a line, not '\\n'"),
        ({"separator": "\r"}, ValueError, r"no end of a line, not '\\r'"),
        ({"header": 0}, ValueError, "True, False or None"),
        ({"source": 1, "destination": "1"}, ValueError, "both column 1"),
        ({"source": 1, "destination": 4}, ColumnNotFoundError, "1 to 3"),
        ({"source": 0, "destination": 1}, ColumnNotFoundError, "1 to 3"),
        (
            {"source": "a", "destination": "d", "header": True},
            ColumnNotFoundError,
            "'a', 'b', 'c'",
        ),
        ({"header": True}, ColumnNotFoundError, "name source= and dest.*: 'a', 'b', 'c'"),
        ({"format": "metis", "separator": ","}, ValueError, "separator"),
        ({"format": "npz", "source": 1, "destination": 2}, ValueError, "source, destination"),
    ],
)
def test_wrong_options(read, options, error, words):
    text = "a,b,c\n1,2,3\n" if options.get("header") else "1,2,3\n4,5,6\n"
    with pytest.raises(error, match=words):
        read(text, **options)


def test_what_looks_like_another_format_can_be_named_text(read):
    assert rows(read("<a> <b>\n<b> <c>\n", format="text")) == [["<a>", "<b>"], ["<b>", "<c>"]]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress])
@pytest.mark.parametrize("good", [True, False])
def test_a_pipe_is_read(tmp_path, pack, good):
    os.mkfifo(tmp_path / "pipe")
    content = pack(b"1 2\n2 3\n3 " + (b"1\n" if good else b"x\n"))
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(content,))
    writer.start()
    done: list[float] = []
    if good:
        assert rows(read_edges(tmp_path / "pipe", tick=done.append)) == TRIANGLE
        assert max(done) <= 1
    else:
        with pytest.raises(EdgeFileError, match=r"^pipe, line 3: 'x'"):
            read_edges(tmp_path / "pipe")
    writer.join()


def test_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_edges(tmp_path / "none.txt")


MATRIX = "%%MatrixMarket matrix coordinate pattern symmetric\n% c\n\n"


@pytest.mark.parametrize(
    "text",
    [
        f"{MATRIX}5 5 3\n2 1\n3 2\n3 1\n",
        "%%MatrixMarket matrix coordinate real general\n5 5 3\n2 1 .5\n3 2 1e-3\n3 1 -7\n",
        "%%MatrixMarket matrix coordinate integer general\r\n5 5 3\r\n2 1 5\r\n3 2 0\r\n3 1 1\r\n",
        "%%matrixmarket MATRIX Coordinate complex hermitian\n 5\t5 3 \n2 1 0 1\n 3 2 0 1\n3\t1 0\n",
        "%%MatrixMarket matrix coordinate pattern symmetric\n%5 5 3\n2 1\n3 2\n3 1\n",
    ],
)
def test_matrix_market(read, text):
    file = read(text, name="whatever.txt")
    assert rows(file) == [[2, 1], [3, 2], [3, 1]]
    assert (file.format, file.isolated.tolist()) == ("matrixmarket", [4, 5])
    assert file.guesses[0] == "format matrixmarket"
    assert file.directed is ("general" in text)
    assert len(file.guesses) == 1 + ("%5 5 3" in text) + (not file.directed)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("%%MatrixMarket matrix array real general\n2 3\n1\n2\n3\n4\n5\n6\n", "no adjacency"),
        ("%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n", "m.mtx: "),
        ("%%MatrixMarket matrix array real general\n2 2 1\n1\n2\n3\n", "size line"),
        ("%%MatrixMarket vector coordinate real general\n2 2 1\n", "line 1: .*coordinate"),
        ("%%MatrixMarket\n", "line 1: .*coordinate"),
        (f"{MATRIX}5 4 1\n2 1\n", "no adjacency matrix"),
        (f"{MATRIX}5 5 2\n2 1\n", "says 2 entries, the file has 1"),
        (f"{MATRIX}5 5 1\n2 1\n3 1\n", "says 1 entries, the file has 2"),
        (f"{MATRIX}5 5 2\n2 1\n6 1\n", "line 6: ids run from 1 to 5: '6 1'"),
        (f"{MATRIX}5 5 2\n2 1\n1 0\n", "line 6: ids run from 1 to 5"),
        (f"{MATRIX}5 5 2\n2 1\n1 x\n", "line 6: 'x' is not an integer"),
        (f"{MATRIX}5 5 2\n2 1\n1\n", "line 6: expected two ids"),
        (MATRIX, "size line"),
        (f"{MATRIX}2 1\n", "size line"),
        (f"{MATRIX}333\n", "size line"),
        ("%%MatrixMarket matrix array real general\n33\n", "size line"),
        (f"{MATRIX}a b c\n", "size line"),
    ],
)
def test_broken_matrix_market(read, text, words):
    with pytest.raises(EdgeFileError, match=words):
        read(text, name="m.mtx")


def test_more_vertices_than_a_graph_holds(read, tmp_path):
    for n in (2**32, 10**12, 10**17):
        with pytest.raises(CapacityError, match=rf"^m\.mtx: {n:,} vertices"):
            read(f"{MATRIX}{n} {n} 1\n2 1\n", name="m.mtx")
    np.savez(tmp_path / "g.npz", src=[1], dst=[2], n=10**12)
    with pytest.raises(CapacityError, match=r"^g\.npz: "):
        read_edges(tmp_path / "g.npz")
    with pytest.raises(EdgeFileError, match=r"^m\.mtx: expected a size line"):
        read(f"{MATRIX}{'9' * 5000} 5 1\n2 1\n", name="m.mtx")


def test_empty_matrix(read):
    file = read(f"{MATRIX}3 3 0\n")
    assert (rows(file), file.isolated.tolist()) == ([], [1, 2, 3])


# A triangle 1-2-3, vertex 4 alone, 5-6; all formats of weights say the same.
METIS = {
    "": ["2 3", "1 3", "2 1", "", "6", "5"],
    " 0": ["2 3 ", " 1 3", "2\t1", "  ", "6", "5"],
    " 1": ["2 9 3 9", "1 9 3 9", "2 9 1 9", "", "6 9", "5 9"],
    " 10": ["9 2 3", "9 1 3", "9 2 1", "9", "9 6", "9 5"],
    " 011": ["9 2 8 3 8", "9 1 8 3 8", "9 2 8 1 8", "9", "9 6 8", "9 5 8"],
    " 100": ["9 2 3", "9 1 3", "9 2 1", "9", "9 6", "9 5"],
    " 010 2": ["9 7 2 3", "9 7 1 3", "9 7 2 1", "9 7", "9 7 6", "9 7 5"],
    " 111 2": [
        "0 9 7 2 1 3 1",
        "0 9 7 1 1 3 1",
        "0 9 7 2 1 1 1",
        "0 9 7",
        "0 9 7 6 1",
        "0 9 7 5 1",
    ],
}
EDGES = [[1, 2], [1, 3], [2, 1], [2, 3], [3, 1], [3, 2], [5, 6], [6, 5]]


@pytest.mark.parametrize("form", METIS)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("last", [True, False])
def test_metis(read, form, end, last):
    lines = ["% comment", f"6 4{form}", "%", *METIS[form]]
    lines.insert(6, "% between")
    file = read(end.join(lines) + end * last, name="g.graph")
    assert sorted(rows(file)) == EDGES
    assert (file.format, file.isolated.tolist()) == ("metis", [4])
    assert file.guesses == ["format metis"]


def test_metis_by_name_or_by_option(read):
    text = "6 4\n" + "\n".join(METIS[""])
    for name in ("g.metis", "g.GRAPH", "g.graph.xz", "g.metis.graph"):
        assert read(text, name=name).format == "metis"
    assert read(text, name="g.txt", format="metis").guesses == []
    assert read("1 2\n", name="g.graph", format="text").format == "text"


def test_metis_in_small_blocks(read, monkeypatch):
    monkeypatch.setattr("rapids_tc.files.source._BLOCK", 3)
    for end in ("\n", "\r\n", "\r"):
        file = read(end.join(["% c", "6 4", *METIS[""]]), name="g.graph")
        assert sorted(rows(file)) == EDGES


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("block", [1, 2, 5, 8])
def test_text_in_small_blocks(read, monkeypatch, end, block):
    monkeypatch.setattr("rapids_tc.files.source._BLOCK", block)
    file = read(end.join(["# c", "3 3", "1\t2", "#%", "2\t3", "3\t1"]))
    assert rows(file) == TRIANGLE
    with pytest.raises(EdgeFileError, match="line 5"):
        read(end.join(["# c", "", "1 2", "#%", "2 x"]))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "the first line must be"),
        ("6\n", "the first line must be"),
        ("6 4 2\n", "the first line must be"),
        ("6 4 1 1 1\n", "the first line must be"),
        ("% c\n3 3\n2 3\n1 3\n", "says 3 vertices, 2 lines follow"),
        ("% c\n2 1\n2\n% c\n1\n3\n", "line 6: a line more than the 2 vertices"),
        ("% c\n2 1\n3\n% c\n1\n", "line 3: ids run from 1 to 2, not 3"),
        ("% c\n2 1\n2\n% c\n0\n", "line 5: ids run from 1 to 2, not 0"),
        ("2 1\n2\n99999999999999999999\n", "line 3: ids run"),
        ("2 1\n2\nx\n", "line 3: 'x' is not an integer"),
        ("2 1\n2\n1.5\n", "line 3: '1.5' is not an integer"),
        ("2 1 1\n2 5\n1\n", "line 3: a number is missing"),
        ("2 1 10\n5 2\n\n", "line 3: a number is missing"),
        ("3 2\n2\n1 3\n2 1\n", "says 2 edges.* 5 ends instead of 4"),
    ],
)
def test_broken_metis(read, text, words):
    with pytest.raises(EdgeFileError, match=words):
        read(text, name="g.graph")


# What files claim ---------------------------------------------------------------------------------

MOST = 2**32 - 1


@pytest.fixture
def little(monkeypatch):
    """A machine with a megabyte to spare."""
    monkeypatch.setattr(source, "host_free", lambda: 10**6)


def npy(shape, dtype="<i8", values=b"", version=1):
    """An array as NumPy writes it, whatever its header says."""
    header = f"{{'descr': {dtype!r}, 'fortran_order': False, 'shape': {shape}}}\n".encode()
    size = struct.pack("<H" if version == 1 else "<I", len(header))
    return b"\x93NUMPY" + bytes([version, 0]) + size + header + values


def npz(path, **members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)


TWO = npy("(2,)", values=bytes(16))


def test_claims_are_checked_before_anything_is_made(read, tmp_path, monkeypatch):
    """With the memory of a machine of 16 GiB, whatever the one has that tests this."""
    monkeypatch.setattr(source, "host_free", lambda: 2**34)
    tracemalloc.start()
    try:
        with pytest.raises(CapacityError, match=r"^m\.mtx: .*4,294,967,295 vertices.* are free"):
            read(f"{MATRIX}{MOST} {MOST} 1\n2 1\n", name="m.mtx")
        for integer in (np.int64, np.uint32):
            np.savez(tmp_path / "g.npz", src=[1], dst=[2], n=integer(MOST))
            with pytest.raises(CapacityError, match=r"^g\.npz: .*4,294,967,295 vertices.*free"):
                read_edges(tmp_path / "g.npz")
        assert tracemalloc.get_traced_memory()[1] < 10**8
    finally:
        tracemalloc.stop()


def test_claims_that_fit_are_served(read, tmp_path, little):
    n = 10**5
    assert len(read(f"{MATRIX}{n} {n} 1\n2 1\n", name="m.mtx").isolated) == n - 2
    np.savez(tmp_path / "g.npz", src=[1], dst=[2], n=n)
    assert len(read_edges(tmp_path / "g.npz").isolated) == n - 2


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("name", ["src", "dst", "n"])
def test_arrays_larger_than_memory(tmp_path, little, save, name):
    """Also those that are true, and a thousandth as long in the file."""
    arrays = {"src": [1], "dst": [2], "n": 3, name: np.zeros(10**6, np.int64)}
    save(tmp_path / "g.npz", **arrays)
    with pytest.raises(CapacityError, match=r"^g\.npz: .*8,000,\d\d\d bytes of arrays.* are free"):
        read_edges(tmp_path / "g.npz")


@pytest.mark.parametrize(
    ("src", "words"),
    [
        (npy("(1000000000000,)"), "src says 8,000,000,000,000 bytes of values, the file has 0"),
        (npy(f"({2**63},)"), "src says"),
        (npy("(-1,)"), "src says"),
        (npy(f"({2**40}, {2**40})"), "src says"),
        (npy("(3,)", values=bytes(16)), "src says 24 bytes of values, the file has 16"),
        (npy("(1,)", values=bytes(16)), "src says 8 bytes"),
        (npy("(nan,)"), ""),
        (npy("(2.0,)"), ""),
        (npy("(2,)", dtype="|O", values=bytes(16)), "src is an array of objects"),
        (npy("(2,)", dtype="what", values=bytes(16)), ""),
        (npy("(2,)" + " " * 20_000, values=bytes(16), version=2), "Header info length"),
        (npy("(2,)", values=bytes(16), version=9), ""),
        (b"\x93NUMPY\x01\x00\xff\xff{}", ""),
        (b"\x93NUMPY\x02\x00\xff\xff\xff\xff{}", ""),
        (b"not an array", ""),
        (b"", ""),
    ],
)
def test_arrays_that_are_not_what_they_claim(tmp_path, src, words):
    npz(tmp_path / "g.npz", src=src, dst=TWO)
    with pytest.raises(EdgeFileError, match=rf"^g\.npz: {words}") as caught:
        read_edges(tmp_path / "g.npz")
    assert "pickle" not in str(caught.value)


@pytest.mark.parametrize(
    ("n", "words"),
    [(-5, "is -5"), (np.nan, "integers"), (2.5, "integers"), (True, "integers"), ("5", "integers")],
)
@pytest.mark.parametrize("rows", [0, 2])
def test_numbers_of_vertices_that_are_none(tmp_path, n, words, rows):
    ids = np.arange(rows)
    np.savez(tmp_path / "g.npz", src=ids, dst=ids, n=n)
    with pytest.raises(EdgeFileError, match=rf"^g\.npz: .*{words}"):
        read_edges(tmp_path / "g.npz")
    np.savez(tmp_path / "g.npz", src=ids, dst=ids, n=np.uint64(2**64 - 1))
    with pytest.raises(CapacityError, match=r"^g\.npz: 18,446,744,073,709,551,615 vertices"):
        read_edges(tmp_path / "g.npz")


@pytest.mark.parametrize("sizes", ["-5 -5 1", "nan nan 1", "5 5 -1", "1e9 1e9 1", "5. 5. 1"])
def test_matrix_market_sizes_that_are_no_numbers(read, sizes):
    with pytest.raises(EdgeFileError, match=r"^m\.mtx: expected a size line"):
        read(f"{MATRIX}{sizes}\n2 1\n", name="m.mtx")


def test_matrix_market_with_fewer_entries_than_it_says(read):
    with pytest.raises(EdgeFileError, match=r"says 999,999,999,999,999,999 entries, the file has"):
        read(f"{MATRIX}5 5 {'9' * 18}\n2 1\n", name="m.mtx")


@pytest.mark.parametrize("huge", [2**31, 2**32, 2**63 - 1, 2**63, 2**64, 10**30])
@pytest.mark.parametrize(
    "header", ["{} 1", "-{} 1", "2 {}", "2 -{}", "2 1 {}", "2 1 010 {}", "2 1 111 {}", "{0} {0}"]
)
def test_metis_headers_that_claim_much(read, header, huge):
    with pytest.raises(EdgeFileError, match=r"^g\.graph"):
        read(f"{header.format(huge)}\n2\n1\n", name="g.graph")


@pytest.mark.parametrize("header", ["nan 1", "2 inf", "2 1e3", "2.0 1", "-2 1", "2 -1", "2 1 -1"])
def test_metis_headers_that_are_no_numbers(read, header):
    with pytest.raises(EdgeFileError, match=r"^g\.graph"):
        read(f"{header}\n2\n1\n", name="g.graph")


def test_parquet_that_holds_more_than_memory(tmp_path, little):
    """A column of one value takes next to nothing in the file."""
    need_module("pyarrow")
    for ids in (np.zeros(10**6, np.int64), np.zeros(10**6, np.int8), ["x"] * 10**6):
        frame = pd.DataFrame({"src": ids, "dst": ids})
        frame.to_parquet(tmp_path / "g.parquet")
        assert (tmp_path / "g.parquet").stat().st_size < 10**5
        with pytest.raises(CapacityError, match=r"^g\.parquet: .*1,000,000 rows.* are free"):
            read_edges(tmp_path / "g.parquet")


MILLION = 10**6


@pytest.mark.parametrize("name", ["g.txt", "g.mtx"])
def test_a_first_line_that_unpacks_to_much_is_not_held(read, name):
    """A hundred kilobytes of gzip that are a hundred megabytes, and no line."""
    begin = MATRIX if name == "g.mtx" else ""
    packed = gzip.compress(begin.encode() + b"1" * (100 * MILLION))
    tracemalloc.start()
    try:
        with pytest.raises(EdgeFileError, match=r"^g\....: a line of more than 16,777,216 bytes"):
            read(packed, name=name)
        assert tracemalloc.get_traced_memory()[1] < 60 * MILLION
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("name", "line", "times"),
    [("g.txt", b"1 2\n", MILLION), ("g.txt", b"a b\n", MILLION), ("g.graph", b"2 1\n", 1)],
)
def test_a_later_line_that_unpacks_to_more_than_memory(read, little, name, line, times):
    packed = gzip.compress(line * times + b"1" * (30 * MILLION))
    words = (
        r"a line of 1\d,\d{3},\d{3} bytes or more takes [\d,]+ bytes to read; 1,000,000 are free$"
    )
    with pytest.raises(CapacityError, match=f"^{name}: {words}"):
        read(packed, name=name)


@pytest.mark.parametrize(
    ("name", "lines", "words"),
    [
        ("g.txt", b"1 2\n" * 4, "4,194,304 lines or more take 67,108,864 bytes to read"),
        ("g.txt", b"a b\n" * 4, r"1\d,[\d,]+ bytes of text or more take 1\d,[\d,]+ bytes to read"),
        ("g.txt", b"a  b\na b\n" * 2, "4,194,304 lines or more take 67,108,864 bytes to read"),
        ("g.graph", b"1 1\n" * 4, r"2,[\d,]+ numbers or more take [\d,]+ bytes to read"),
    ],
)
def test_lines_that_unpack_to_more_than_memory(read, little, name, lines, words):
    """A gigabyte of such lines is a megabyte of gzip."""
    with pytest.raises(CapacityError, match=f"^{name}: {words}; 1,000,000 are free$"):
        read(gzip.compress(lines * (MILLION * 5 // 4)), name=name)


FLIPPED = """
import sys
from collections import Counter
from rapids_tc.errors import RapidsTCError
from rapids_tc.files import read_edges
path, told = sys.argv[1], Counter()
whole = open(path, "rb").read()
for at in range(len(whole)):
    flipped = bytearray(whole)
    flipped[at] ^= (1, 255)[at % 2]
    with open(path, "wb") as file:
        file.write(flipped)
    try:
        read_edges(path, format=sys.argv[2])
    except RapidsTCError:
        told["foreseen"] += 1
    except Exception as error:
        told[repr(error)] += 1
del told["foreseen"]
print(dict(told))
"""


@pytest.mark.parametrize("kind", ["npz", "parquet"])
def test_whatever_byte_is_wrong_the_error_is_one_of_ours(tmp_path, kind):
    """In a process of its own, as readers of damaged files may crash."""
    frame = pd.DataFrame({"src": [1, 2, 3], "dst": [2, 3, 1]})
    path = tmp_path / f"g.{kind}"
    if kind == "npz":
        np.savez_compressed(path, **frame, n=5)
    else:
        need_module("pyarrow")
        frame.to_parquet(path, index=False)
    command = [sys.executable, "-c", FLIPPED, str(path), kind]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.stdout, done.returncode) == ("{}\n", 0), done.stderr[-2000:]


# Fields of any length -----------------------------------------------------------------------------

LONG = "a" * 140_000  # the csv module reads 131,072 characters


@pytest.mark.parametrize("more", [LONG, f'"{LONG}"', f'"{LONG[:9]},{LONG}"', f'"{LONG}""{LONG}"'])
@pytest.mark.parametrize("separator", [",", ";"])
def test_long_fields_are_read(read, more, separator):
    text = f"src,dst,c\n1,2,x\n2,3,{more}\n3,1,y\n".replace(",", separator)
    assert rows(read(text)) == TRIANGLE


@pytest.mark.parametrize("more", [LONG, f'"{LONG}"', f'"{LONG[:9]},{LONG}"', f'"{LONG}""{LONG}"'])
@pytest.mark.parametrize("columns", ["c,src,dst", "src,c,dst", "src,dst,c"])
def test_long_fields_hide_no_line_that_is_wrong(read, more, columns):
    def line(src, dst, c):
        return columns.replace("src", src).replace("dst", dst).replace("c", c)

    lines = [columns, line("1", "2", "x"), line("2", "3", more), line("3", "!", "y")]
    with pytest.raises(EdgeFileError, match=r"^edges\.txt, line 4: '!' is not an integer"):
        read("\n".join(lines))


@pytest.mark.parametrize("wrong", [LONG, f'"{LONG}"', f'"{LONG},{LONG}"'])
def test_ids_that_are_long_are_named_by_their_line(read, wrong):
    with pytest.raises(EdgeFileError, match=r"^edges\.txt, line 3: 'a+…' is not an integer"):
        read(f"1,2\n2,3\n{wrong},3\n")


def test_metis_without_edges(read):
    file = read("3 0\n\n\n\n", name="g.graph")
    assert (rows(file), file.isolated.tolist()) == ([], [1, 2, 3])
    assert read("0 0\n", name="g.graph").frame.empty


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("dtype", ["uint32", "int64"])
def test_npz(tmp_path, save, dtype):
    save(tmp_path / "g.bin.npz", src=np.array([0, 1], dtype), dst=np.array([1, 2], dtype), n=5)
    file = read_edges(tmp_path / "g.bin.npz")
    assert rows(file) == [[0, 1], [1, 2]]
    assert file.frame.dtypes.tolist() == [dtype, dtype]
    assert (file.format, file.isolated.tolist()) == ("npz", [3, 4])


def test_npz_without_n(tmp_path):
    np.savez(tmp_path / "g.npz", src=[5, -6], dst=[6, 7])
    assert len(read_edges(tmp_path / "g.npz").isolated) == 0


@pytest.mark.parametrize("content", [b"", b"1,2\n", b"\x93NUMPY\x01\x00", b"\x80\x04N."])
def test_what_is_no_npz_is_not_to_be_unpickled(tmp_path, content):
    (tmp_path / "g.csv").write_bytes(content)
    with pytest.raises(EdgeFileError, match=r"no \.npz file") as caught:
        read_edges(tmp_path / "g.csv", format="npz")
    assert "pickle" not in str(caught.value)


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"src": [[1]], "dst": [[1]]}, "shapes"),
        ({"src": [1], "dst": [5], "n": 5}, "0 to n - 1 = 4"),
        ({"src": [-1], "dst": [4], "n": 5}, "0 to n - 1 = 4"),
    ],
)
def test_broken_npz(tmp_path, arrays, words):
    np.savez(tmp_path / "g.npz", **arrays)
    with pytest.raises(EdgeFileError, match=f"^g.npz: .*{words}"):
        read_edges(tmp_path / "g.npz")


def test_npz_cut_short(tmp_path):
    np.savez(tmp_path / "g.npz", src=np.arange(1000), dst=np.arange(1000))
    content = (tmp_path / "g.npz").read_bytes()
    (tmp_path / "g.npz").write_bytes(content[:-300])
    with pytest.raises(EdgeFileError, match=r"^g.npz: "):
        read_edges(tmp_path / "g.npz")


def test_parquet(tmp_path):
    need_module("pyarrow")
    frame = pd.DataFrame({"w": [1.0, 2.0], "dst": [2, 3], "src": [1, 2]}, index=[7, 8])
    frame.to_parquet(tmp_path / "g")
    file = read_edges(tmp_path / "g")
    assert (rows(file), file.format) == ([[1, 2], [2, 3]], "parquet")
    assert rows(read_edges(tmp_path / "g", source="dst", destination=1)) == [[2, 1], [3, 2]]
    frame[["w", "dst"]].to_parquet(tmp_path / "two", index=False)
    assert rows(read_edges(tmp_path / "two")) == [[1, 2], [2, 3]]
    frame.rename(columns={"src": "a"}).to_parquet(tmp_path / "three", index=False)
    with pytest.raises(EdgeFileError, match=r"name source= and destination=.*'w', 'dst', 'a'"):
        read_edges(tmp_path / "three")
    with pytest.raises(ColumnNotFoundError, match="'b'"):
        read_edges(tmp_path / "three", source="a", destination="b")
    (tmp_path / "bad").write_bytes((tmp_path / "g").read_bytes()[:-20])
    with pytest.raises(EdgeFileError, match=r"^bad: "):
        read_edges(tmp_path / "bad")


def test_progress(tmp_path):
    (tmp_path / "g.txt.xz").write_bytes(lzma.compress(b"1 2\n" * 1_000_000))
    done: list[float] = []
    read_edges(tmp_path / "g.txt.xz", tick=done.append)
    assert len(done) > 2 and min(done) >= 0 and max(done) == 1.0


def test_blocks_are_whole_lines(tmp_path):
    (tmp_path / "g").write_bytes(b"12\r\n34\r5\n\n6")
    assert b"".join(Source(tmp_path / "g").blocks("")) == b"12\n34\n5\n\n6"


def test_import_is_light():
    code = "import sys, rapids_tc.files; print({'pandas', 'pyarrow'} & set(sys.modules) or 'light')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "light"


def test_an_array_of_two_rows_and_two_columns_has_an_edge_a_row(tmp_path):
    np.save(tmp_path / "a.npy", [[1, 2], [3, 4]])
    file = read_edges(tmp_path / "a.npy")
    assert [*file.frame.itertuples(index=False, name=None)] == [(1, 2), (3, 4)]


@pytest.mark.parametrize("matrix", ["0 1 1\n0 0 1\n0 0 0\n", "0 1 1\n1 0 1\n1 1 0\n"])
def test_a_small_table_of_0_and_1_is_a_matrix(tmp_path, matrix):
    (tmp_path / "a.txt").write_text(matrix)
    with pytest.raises(EdgeFileError, match="look like an adjacency matrix"):
        read_edges(tmp_path / "a.txt")
