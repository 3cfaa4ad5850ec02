"""Tables on a GPU by Arrow's device interface: cuDF reads them; here a stand-in for it."""

import sys
from types import SimpleNamespace

import pandas as pd
import pyarrow as pa
import pytest
from graphs import ROWS, TRIANGLES, small

import rapids_tc as tc
from rapids_tc.frames import backend as module
from rapids_tc.frames.device_stream import is_on_device, read_device_array


class OnDevice:
    """What has the device interface alone, around a pylibcudf table or a batch of PyArrow."""

    def __init__(self, table, names=None):
        self.table, self.names = table, names

    def __arrow_c_device_array__(self, requested_schema=None, **keywords):
        if self.names is None:
            return self.table.__arrow_c_device_array__(requested_schema)
        from pylibcudf.interop import ColumnMetadata

        return (
            self.table._to_schema([ColumnMetadata(name) for name in self.names]),
            self.table._to_device_array(),
        )


BATCH = pa.RecordBatch.from_pandas(small())


@pytest.mark.cpu_only
def test_the_interface_is_recognized():
    assert is_on_device(OnDevice(BATCH))
    for other in (BATCH, pa.table(small()), OnDevice, object(), pa.array([1])):
        assert not is_on_device(other)


@pytest.mark.cpu_only
def test_names_come_from_the_schema_and_the_table_from_pylibcudf(monkeypatch):
    def made(table, metadata):
        return table, metadata

    table = SimpleNamespace(from_arrow=lambda edges: ("table of", edges))
    monkeypatch.setitem(sys.modules, "pylibcudf", SimpleNamespace(Table=table))
    frame = SimpleNamespace(from_pylibcudf=made)
    monkeypatch.setitem(sys.modules, "cudf", SimpleNamespace(DataFrame=frame))
    edges = OnDevice(BATCH)
    assert read_device_array(edges) == (
        ("table of", edges),
        {"columns": ["src", "dst"], "index": None},
    )
    edges = OnDevice(BATCH.rename_columns(["", "b"]))
    assert read_device_array(edges)[1]["columns"] == ["0", "b"]


@pytest.mark.cpu_only
def test_without_cudf_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "cudf", None)
    with pytest.raises(tc.KernelError, match=r"pip install 'rapids_tc\[cu13\]'"):
        tc.count(OnDevice(BATCH))


@pytest.mark.cpu_only
def test_its_frames_are_cudfs(monkeypatch):
    monkeypatch.setattr(module, "gpu_libraries", lambda: None)
    monkeypatch.setattr(module, "read_device_array", lambda edges: "frame")
    adapter, frame = module._recognize(OnDevice(BATCH), once=False)
    assert isinstance(adapter, module.CudfAdapter) and frame == "frame"


@pytest.mark.card_only
def test_a_table_of_pylibcudf_is_counted_where_it_lies():
    import cudf

    frame = cudf.from_pandas(small().assign(w=[*"abcdef"]))
    table, _ = frame.to_pylibcudf()
    edges = OnDevice(table, [*frame.columns])
    for _ in range(2):
        wide = tc.annotate(edges, "triangles")
        assert isinstance(wide, cudf.DataFrame)
        pd.testing.assert_frame_equal(
            wide.to_pandas(), frame.to_pandas().assign(triangles=TRIANGLES)
        )
    assert tc.count(edges) == tc.count(edges, engine="cpu") == tc.Graph(edges).count() == 1
    ends = cudf.DataFrame(ROWS, columns=["src", "dst"])
    assert tc.count(ends.to_pylibcudf()[0]) == 1  # a table without names has two columns
