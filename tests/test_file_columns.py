"""Columns of a file beside its ids: kept as they stand there, in commands too."""

import gzip
import io

import pandas as pd
import pytest
from click.testing import CliRunner

import rapids_tc as tc
from rapids_tc.cli import main
from rapids_tc.files import EdgeFileError, read_edges

pytestmark = pytest.mark.cpu_only

ROWS = [
    ("1", "ann", "bob", "1.50", "2024-01-01", "+"),
    ("2", "bob", "cem", "2", "2024-01-01", "+"),
    ("3", "cem", "ann", "007", "2024-01-01", "-"),
    ("4", "cem", "dan", "", "2024-01-02", "NA"),
]
NAMES = ["id", "Payer", "payee", "amount", "day", "mark"]
IDS = {"source": "Payer", "destination": "payee"}
WHOLE = pd.DataFrame(ROWS, columns=NAMES)
ENDS = ("--source", "Payer", "--destination", "payee", "--quiet")


def text_of(separator=",", names=NAMES, opening="", end="\n"):
    lines = [*([separator.join(names)] if names else []), *map(separator.join, ROWS)]
    return opening + end.join(lines) + end


@pytest.fixture
def payments(tmp_path):
    path = tmp_path / "payments.csv"
    path.write_text(text_of())
    return path


TEXTS = {
    "commas": text_of(),
    "semicolons": text_of(";"),
    "tabs": text_of("\t"),
    "carriage returns": text_of(end="\r\n"),
    "comments": text_of(opening="# made by hand\n"),
    "an empty line": text_of().replace("3,cem", "\n3,cem"),
    "quotes": text_of().replace("ann", '"ann"').replace("+", '"+"'),
}


@pytest.mark.parametrize("name", TEXTS)
def test_all_columns_of_a_text(tmp_path, name):
    path = tmp_path / "file"
    path.write_bytes(TEXTS[name].encode())
    file = read_edges(path, columns="all", **IDS)
    assert file.ids == ("Payer", "payee")
    assert file.frame.to_dict("list") == WHOLE.to_dict("list")
    assert tc.count(file.frame, **IDS) == 1


def test_some_columns_in_the_order_of_the_file(payments):
    file = read_edges(payments, columns=["mark", "id"], **IDS)
    assert [*file.frame.columns] == ["id", "Payer", "payee", "mark"]
    assert [*read_edges(payments, columns=[5], **IDS).frame.columns] == ["Payer", "payee", "day"]
    assert [*read_edges(payments, columns=["5"], **IDS).frame.columns] == ["Payer", "payee", "day"]
    plain = read_edges(payments, **IDS)
    assert ([*plain.frame.columns], plain.ids) == (["src", "dst"], ("src", "dst"))


def test_columns_without_names_are_numbered(tmp_path):
    path = tmp_path / "edges.txt"
    path.write_text("1 2 007 x\n2 3 8 y\n3 1 9\n")
    file = read_edges(path, columns="all")
    assert file.ids == ("src", "dst") and file.frame.to_dict("list") == {
        "src": [1, 2, 3], "dst": [2, 3, 1], "3": ["007", "8", "9"], "4": ["x", "y", ""],
    }  # fmt: skip


def test_a_line_of_sizes_is_no_row(tmp_path):
    path = tmp_path / "edges.txt"
    path.write_text("3 3 3\n1 2 7\n2 3 8\n3 1 9\n")
    plain, file = read_edges(path), read_edges(path, columns="all")
    assert file.frame[["src", "dst"]].equals(plain.frame)
    assert file.frame["3"].tolist() == ["7", "8", "9"]


@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
def test_columns_of_files_of_columns_keep_their_types(tmp_path, suffix):
    frame = WHOLE.assign(day=pd.to_datetime(WHOLE["day"]), amount=[1.5, 2, 7, None])
    path = tmp_path / f"file{suffix}"
    frame.to_parquet(path) if suffix == ".parquet" else frame.to_feather(path)
    file = read_edges(path, columns="all", **IDS)
    assert file.ids == ("Payer", "payee")
    pd.testing.assert_frame_equal(file.frame, frame)
    some = read_edges(path, columns=["amount"], **IDS).frame
    assert [*some.columns] == ["Payer", "payee", "amount"]


def test_parts_keep_their_columns(tmp_path):
    for part in (0, 1):
        WHOLE.iloc[2 * part : 2 * part + 2].to_csv(tmp_path / f"{part}.csv", index=False)
    file = read_edges(tmp_path, columns="all", **IDS)
    assert file.ids == ("Payer", "payee")
    assert file.frame.to_dict("list") == WHOLE.to_dict("list")


def test_other_libraries(payments):
    frame = read_edges(payments, columns="all", library="polars", **IDS).frame
    assert frame.columns == NAMES and frame["amount"].to_list() == [*WHOLE["amount"]]


def test_columns_that_are_not_there(payments, tmp_path):
    with pytest.raises(tc.ColumnNotFoundError, match="no column 'weight'; columns: 'id', 'Payer'"):
        read_edges(payments, columns=["weight"], **IDS)
    with pytest.raises(ValueError, match='a list of columns, or "all"'):
        read_edges(payments, columns="amount", **IDS)
    path = tmp_path / "g.graph"
    path.write_text("3 3\n2 3\n1 3\n1 2\n")
    assert [*read_edges(path, columns="all").frame.columns] == ["src", "dst"]
    with pytest.raises(tc.ColumnNotFoundError, match="no column 'weight'; columns: 'src', 'dst'"):
        read_edges(path, columns=["weight"])


def test_an_error_of_the_ids_names_the_line_as_before(tmp_path):
    path = tmp_path / "bad.csv"
    path.write_text("1,2,x\n2,3,y\n3,z,w\n")
    with pytest.raises(EdgeFileError, match="line 3"):
        read_edges(path, columns="all")


def hive(folder, suffix, frame):
    """Write a frame with the keys day and hour in the names of folders."""
    for number, ((day, hour), part) in enumerate(frame.groupby(["day", "hour"])):
        place = folder / f"day={day}" / f"hour={hour}"
        place.mkdir(parents=True)
        part = part.drop(columns=["day", "hour"])
        if suffix == "csv":
            part.to_csv(place / f"{number}.csv", index=False)
        else:
            part.to_parquet(place / f"{number}.parquet", index=False)
    return folder


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_keys_of_folders_are_columns(tmp_path, suffix):
    days = ["2026-01-01", "2026-01-01", "2026-01-01", "a%2Fb"]
    frame = pd.DataFrame(
        {"u": [1, 2, 3, 1], "v": [2, 3, 1, 4], "w": 7, "day": days, "hour": ["07", "7", "07", "7"]}
    )
    path = hive(tmp_path / "edges", suffix, frame)
    expected = frame.replace("a%2Fb", "a/b").astype(str).sort_values(["day", "hour"])
    expected = expected.to_dict("list")
    kept = read_edges(path, columns="all")
    assert kept.ids == ("u", "v") and kept.frame.astype(str).to_dict("list") == expected
    for columns in (["hour"], ["hour", "w"]):
        found = read_edges(path, columns=columns).frame.astype(str).to_dict("list")
        assert found == {name: expected[name] for name in ("u", "v", *sorted(columns)[::-1])}
    assert [*read_edges(path).frame.columns] == ["src", "dst"]
    inside = read_edges(path / "day=2026-01-01" / "*" / f"*.{suffix}", columns=["day"]).frame
    assert set(inside["day"]) == {"2026-01-01"}
    done = run("count", path, "--by", "day", "-q").to_dict("list")
    assert done == {"day": ["2026-01-01", "a/b"], "triangles": ["1", "0"]}


def test_keys_of_folders_that_clash_or_are_missing(tmp_path):
    frame = pd.DataFrame({"src": [1], "dst": [2], "hour": [5], "day": ["mo"]})
    path = hive(tmp_path / "edges", "csv", frame)
    part = path / "day=mo" / "hour=5" / "0.csv"
    part.write_text("src,dst,day\n1,2,tu\n")
    with pytest.raises(EdgeFileError, match="'day' is a column and a key of the folder"):
        read_edges(path, columns="all")
    assert read_edges(path, columns=["hour"]).frame["hour"].tolist() == ["5"]
    (path / "day=__HIVE_DEFAULT_PARTITION__").mkdir()
    (path / "day=__HIVE_DEFAULT_PARTITION__" / "0.csv").write_text("src,dst\n3,4\n")
    with pytest.raises(EdgeFileError, match="not all folders have the keys day, hour"):
        read_edges(path, columns=["day"])
    assert len(read_edges(path).frame) == 2
    part.rename(path / "day=mo" / "0.csv").write_text("src,dst\n1,2\n")
    assert read_edges(path, columns=["day"]).frame["day"].tolist() in ([None, "mo"], ["mo", None])


# Commands -----------------------------------------------------------------------------------------


def run(*arguments, **options):
    done = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert done.exit_code == 0, done.output
    return pd.read_csv(io.StringIO(done.stdout), dtype=str, keep_default_na=False)


def test_rows_come_back_as_they_are_in_the_file(payments):
    for command, name, values in [
        ("edge", "triangles", ["1", "1", "1", "0"]),
        ("truss", "trussness", ["3", "3", "3", "2"]),
        ("annotate", "triangles", ["1", "1", "1", "0"]),
    ]:
        words = ["triangles"] if command == "annotate" else []
        found = run(command, payments, *words, *ENDS)
        assert found.to_dict("list") == {**WHOLE.to_dict("list"), name: values}
    found = run("k-truss", payments, "--k", 3, *ENDS)
    assert found.to_dict("list") == WHOLE[:3].to_dict("list")


def test_compressed_and_numbered(payments, tmp_path):
    packed = tmp_path / "packed.csv.gz"
    packed.write_bytes(gzip.compress(payments.read_bytes()))
    found = run("edge", packed, "--source", 2, "--destination", 3, "-q")
    assert [*found.columns] == [*NAMES, "triangles"]


def test_groups_weights_times_and_signs(payments):
    assert run("count", payments, "--by", "day", *ENDS).to_dict("list") == {
        "day": ["2024-01-01", "2024-01-02"], "triangles": ["1", "0"],
    }  # fmt: skip
    assert run("count", payments, "--by", 5, *ENDS).equals(
        run("count", payments, "--by", "day", *ENDS)
    )
    payments.write_text(text_of().replace(",,", ",4,").replace("NA", "+"))
    weighted = WHOLE.assign(amount=[1.5, 2, 7, 4])
    expected = tc.clustering(weighted, weight="amount", **IDS)["clustering"]
    found = run("clustering", payments, "--weight", "amount", *ENDS)["clustering"]
    assert found.astype(float).tolist() == pytest.approx(expected.tolist(), rel=1e-12)
    found = run("triangles-over-time", payments, "--time", "day", "--window", "2D", "--step", "1D",
                *ENDS)  # fmt: skip
    times = WHOLE.assign(day=pd.to_datetime(WHOLE["day"]))
    expected = tc.triangles_over_time(times, time="day", window="2D", step="1D", **IDS)
    assert found["triangles"].astype(int).tolist() == expected["triangles"].tolist()
    found = run("triangles-by-type", payments, "--edge-type", "mark", *ENDS)
    assert found["triangles"].tolist() == ["1"]
    payments.write_text(text_of().replace(",+", ",1").replace(",-", ",-1").replace("NA", "1"))
    assert run("balance", payments, "--sign", "mark", *ENDS).shape[0] > 0


def test_groups_are_integers_if_they_are_written_so(tmp_path):
    path = tmp_path / "groups.csv"
    path.write_text("src,dst,g,h\n1,2,10,007\n1,2,9,7\n")
    assert run("count", path, "--by", "g", "-q")["g"].tolist() == ["9", "10"]
    assert run("count", path, "--by", "h", "-q")["h"].tolist() == ["007", "7"]


def test_a_column_of_the_file_is_not_overwritten(payments):
    payments.write_text(text_of().replace("amount", "triangles"))
    for words in (["edge", payments], ["annotate", payments, "triangles"]):
        done = CliRunner().invoke(main, [*map(str, words), *ENDS])
        assert done.exit_code == 2 and "the file has a column 'triangles' already" in done.stderr
    payments.write_text(text_of().replace("amount", "cliques"))
    done = CliRunner().invoke(main, ["edge-cliques", str(payments), *ENDS])
    assert done.exit_code == 2 and "the file has a column 'cliques' already" in done.stderr


def test_a_column_that_the_file_lacks(payments):
    done = CliRunner().invoke(main, ["clustering", str(payments), "--weight", "kg", *ENDS])
    assert done.exit_code == 2 and "no column 'kg'; columns: 'id', 'Payer'" in done.stderr


def payments_of(tmp_path, values, separator=";"):
    """A triangle whose edges have these values, in a column `x`."""
    ends = ["1 2", "2 3", "3 1"]
    rows = [[*end.split(), value] for end, value in zip(ends, values, strict=True)]
    path = tmp_path / "values.csv"
    path.write_text("\n".join(map(separator.join, [["src", "dst", "x"], *rows])) + "\n")
    return path


@pytest.mark.parametrize(
    ("values", "numbers"),
    [
        (["0,5", "2", "1,25"], [0.5, 2, 1.25]),
        (["1.234,5", "12.345.678,0", "1"], [1234.5, 12345678, 1]),
        (["1,234.5", "1,000,000", "3"], [1234.5, 1e6, 3]),
        (["1e3", " 2", ".5"], [1000, 2, 0.5]),
    ],
)
def test_numbers_in_the_notation_of_a_country_are_weights(tmp_path, values, numbers):
    path = payments_of(tmp_path, values)
    frame = pd.DataFrame({"src": [1, 2, 3], "dst": [2, 3, 1], "x": numbers})
    expected = tc.clustering(frame, weight="x")["clustering"]
    found = run("clustering", path, "--weight", "x", "-q")["clustering"]
    assert found.astype(float).tolist() == pytest.approx(expected.tolist(), rel=1e-12)


TIMES = {
    "offsets that differ": ["2026-03-29T01:59+01:00", "2026-03-29T03:00:00+02:00",
                            "2026-03-29T01:00Z"],
    "blanks": ["2026-03-29 01:00", "2026-03-29 01:00:30", "2026-03-29 01:01:00.000000001"],
    "days": ["2026-03-29", "20260329", "2026-03"],
    "numbers": ["0.5", "1", "2"],
    "decimal commas": ["0,5", "1,0", "2,25"],
}  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "within", "count"),
    [
        ("offsets that differ", "1min", 1), ("offsets that differ", "59s", 0),
        ("blanks", "61s", 1), ("blanks", "60s", 0),
        ("days", "28D", 1), ("days", "27D", 0),
        ("numbers", "1.5", 1), ("numbers", "1", 0),
        ("decimal commas", "1.75", 1), ("decimal commas", "1.5", 0),
    ],
)  # fmt: skip
def test_times_that_the_page_promises(tmp_path, kind, within, count):
    path = payments_of(tmp_path, TIMES[kind])
    done = CliRunner().invoke(main, ["count", str(path), "--time", "x", "--within", within, "-q"])
    assert done.stdout == f"{count}\n", done.stderr


@pytest.mark.parametrize(
    ("option", "values", "words"),
    [
        ("--time", ["2026-02-12", "13/02/2026", "2026-02-14"], "'13/02/2026' is no time of ISO"),
        ("--time", ["2026-02-12", "today", "2026-02-14"], "'today' is no time of ISO 8601, such"),
        ("--time", ["2026-02-12", "", "2026-02-14"], "'' is no time of ISO 8601"),
        ("--time", ["1", "2", "x7"], "'x7' is no time of ISO 8601"),
        ("--time", ["1", "2", "2026-02-12"], "'1' is no time of ISO 8601"),
        ("--time", ["2026-02-12T10:00Z", "2026-02-12T10:00", "2026-02-12T11:00Z"],
         "'2026-02-12T10:00' has no offset from UTC, and '2026-02-12T10:00Z' has one"),
        ("--sign", ["1", "minus", "-1"], "--sign 'x': 'minus' is no number"),
        ("--weight", ["1", "5 kg", "2"], "--weight 'x': '5 kg' is no number"),
        ("--weight", ["1", "1,234", "2"], "'1,234' may be 1.234 or 1234"),
    ],
)  # fmt: skip
def test_the_value_that_cannot_be_read_is_named(tmp_path, option, values, words):
    path = payments_of(tmp_path, values)
    command = {"--time": "count", "--sign": "balance", "--weight": "clustering"}[option]
    more = ["--within", "5"] if option == "--time" else []
    done = CliRunner().invoke(main, [command, str(path), option, "x", *more, "-q"])
    assert done.exit_code == 2 and words in done.stderr


def test_types_are_integers_if_they_are_written_so(tmp_path):
    path = payments_of(tmp_path, ["07", "7", "7.0"])
    assert "7.0" in run("triangles-by-type", path, "--edge-type", "x", "-q").to_string()
    assert "07" in run("triangles-by-type", path, "--edge-type", "x", "-q").to_string()
