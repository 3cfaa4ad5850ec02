"""Columns of rows as of their time, of rows that lie apart: slab by slab of time."""

from functools import cache
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import reference
from dask_support import from_parts, together, worked_on_here
from hypothesis import given, settings
from hypothesis import strategies as st

import rapids_tc as tc
from rapids_tc import _parallel
from rapids_tc.engines.as_of import COLUMNS
from rapids_tc.plan import slabs
from rapids_tc.plan.block_layout import BlockLayout, use_layout
from rapids_tc.plan.record import Needs, Result, Work

IDS = {"source": "src", "destination": "dst"}
ROWS = 300


def frame_of(rows=ROWS, vertices=16, times=40, seed=0):
    """Rows with hubs, loops, repeats in both directions, and several at each time, in no order."""
    rng = np.random.default_rng(seed)
    ends = np.minimum(*rng.integers(0, vertices, (2, 2, rows)))
    return pd.DataFrame({"src": ends[0], "dst": ends[1], "t": rng.integers(0, times, rows)})


def right(frame, within=None, columns=COLUMNS):
    """The columns of a frame by their definition."""
    rows = list(frame[["src", "dst", "t"]].itertuples(index=False, name=None))
    return pd.DataFrame(reference.as_of(rows, columns, within=within), frame.index)


FRAME = frame_of()
RIGHT = {within: right(FRAME, within) for within in (None, 0, 3, 12)}


@pytest.fixture(autouse=True)
def of_two_threads():
    """Tables of threads are part of what a slab takes."""
    token = _parallel.thread_limit.set(2)
    yield
    _parallel.thread_limit.reset(token)


@pytest.fixture
def cut(monkeypatch):
    """How many slabs each call was cut in."""
    counts, cut = [], slabs.SlabPlan.cut

    def noted(self, *args):
        counts.append(len(found := cut(self, *args)))
        return found

    monkeypatch.setattr(slabs.SlabPlan, "cut", noted)
    return counts


def parts_of(backend, frame, cuts):
    """A Dask frame of partitions that end so, worked on in this process."""
    bounds = pairwise([0, *sorted(cuts), len(frame)])
    return from_parts([backend.from_pandas(frame.iloc[a:b]) for a, b in bounds])


def assert_columns(backend, frame, expected, within, **options):
    """What is added to rows is right, however many slabs they are cut in."""
    wide = together(backend, tc.annotate(frame, *COLUMNS, time="t", within=within, **options))
    pd.testing.assert_frame_equal(wide[list(COLUMNS)], expected.astype("int64"))


@pytest.mark.parametrize("within", RIGHT)
@pytest.mark.parametrize("count", [2, 40])
def test_slabs_of_a_frame(backend, cut, count, within):
    with use_layout(BlockLayout(count)):
        edges = backend.frame(FRAME)
        wide = tc.annotate(edges, *COLUMNS, time="t", within=within)
        pd.testing.assert_frame_equal(
            backend.to_pandas(wide)[list(COLUMNS)], RIGHT[within].astype("int64")
        )
    assert cut == [count]


@pytest.mark.parametrize("within", RIGHT)
def test_slabs_of_partitions(backend, cut, within):
    """Batches have partitions that do not follow one another, and some of these are empty."""
    cuts = [0, 20, 20, 21, 90, 140, 190, 191, 240, 260, ROWS]
    with worked_on_here():
        edges = parts_of(backend, FRAME, cuts)
        for count in (1, 9):
            with use_layout(BlockLayout(count)):
                assert_columns(backend, edges, RIGHT[within], within)
    assert cut == [1, 9]


@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_any_rows_in_any_parts(backend, data):
    row = st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 8))
    rows = data.draw(st.lists(row, max_size=40))
    frame = pd.DataFrame(rows, columns=["src", "dst", "t"]).astype("int64")
    cuts = data.draw(st.lists(st.integers(0, len(rows)), max_size=9))
    within = data.draw(st.sampled_from([None, 0, 1, 4]))
    with worked_on_here(), use_layout(BlockLayout(data.draw(st.integers(1, 9)))):
        edges = parts_of(backend, frame, cuts)
        assert_columns(backend, edges, right(frame, within), within, **IDS)


def named(frame):
    """Groups, ids of text in two columns, and times of a zone, across a change of the clock."""
    hour = pd.Timestamp("2024-03-30 22:00", tz="Europe/Berlin") + pd.to_timedelta(frame["t"], "h")
    parts = {"t": hour, "day": frame.index % 2}
    for end in ("src", "dst"):
        parts |= {f"{end}_a": "x" + (frame[end] // 4).astype(str), f"{end}_b": frame[end] % 4}
    return pd.DataFrame(parts)


@pytest.mark.parametrize("kept", [False, True])
def test_groups_text_and_zones(backend, kept):
    frame, within = named(FRAME), pd.Timedelta("6h")
    of_groups = [right(part, 6) for _, part in FRAME.groupby(FRAME.index % 2)]
    expected, ids = pd.concat(of_groups).sort_index(), {"source": ["src_a", "src_b"]}
    ids |= {"destination": ["dst_a", "dst_b"], "by": "day"}
    with use_layout(BlockLayout(4)):
        if not kept:
            wide = tc.annotate(backend.frame(frame), *COLUMNS, time="t", within=within, **ids)
            found = backend.to_pandas(wide)[list(COLUMNS)]
            pd.testing.assert_frame_equal(found, expected.astype("int64"))
        with worked_on_here():
            edges = parts_of(backend, frame, [50, 51, 130])
            if kept:
                edges, ids = tc.Graph(edges, **ids), {}
            assert_columns(backend, edges, expected, within, **ids)


LARGER, NAMES = frame_of(1200, 90, 10**6), ("u_out", "v_in_distinct", "cycles_closed")
LIMITED = {"time": "t", "within": 10**4, "memory_limit": "60kB"}


@cache
def of_larger():
    """The columns of more rows than the limit takes."""
    return right(LARGER, LIMITED["within"], NAMES).astype("int64")


def test_a_limit_cuts_slabs_that_fit(backend, cut):
    edges = backend.frame(LARGER)
    found = backend.to_pandas(tc.annotate(edges, *NAMES, **LIMITED))
    pd.testing.assert_frame_equal(found[list(NAMES)], of_larger())
    assert 2 < cut[0] < 20
    with pytest.raises(tc.CapacityError, match=r"rows together, which take .* shorter within="):
        tc.annotate(edges, *NAMES, **{**LIMITED, "within": None})


@pytest.mark.cpu_only
def test_files_larger_than_the_limit(tmp_path, cut):
    for place, (a, b) in enumerate(pairwise([0, 500, 1200])):
        LARGER.iloc[a:b].to_parquet(tmp_path / f"{place}.parquet")
    out = tmp_path.with_name("written")
    assert tc.annotate(tc.files.scan(tmp_path), *NAMES, out=out, **LIMITED, **IDS) == out
    found = pd.read_parquet(out)
    assert found[[*LARGER]].equals(LARGER)
    pd.testing.assert_frame_equal(found[list(NAMES)], of_larger())
    assert cut[0] > 2


def test_partitions_that_lack_times_or_have_others(backend):
    frame = FRAME.astype({"t": "float64"})
    holed = frame.copy()
    holed.loc[250, "t"] = np.nan
    with worked_on_here():
        with pytest.raises(tc.NullIdError, match="a row needs a time"):
            tc.annotate(parts_of(backend, holed, [100]), "u_in", time="t")
        with pytest.raises(ValueError, match="give a number"):
            tc.annotate(parts_of(backend, frame, [100]), "u_in", time="t", within="1h")
        with pytest.raises(tc.ColumnNotFoundError, match="none"):
            tc.annotate(parts_of(backend, frame, [100]), "u_in", time="none", **IDS)


# Where rows are cut -------------------------------------------------------------------------------

WORK = Work(Needs.AS_OF, Result.COLUMNS)


def planned(codes, within, free, least=1, parts=4):
    """The slabs of rows in parts, and how many rows each has, with its halo."""
    plan = slabs.SlabPlan("annotate", WORK, "cpu", 1000, free, least)
    step, numbers, some = plan.step(len(codes), parts), np.arange(len(codes)), []
    for own in np.array_split(numbers, parts):
        order = own[np.argsort(codes[own], kind="stable")]
        at = order[step // 2 :: step]
        weights = np.full(len(at), step)
        weights[-1:] += len(own) - step * len(at)
        some.append(np.stack([codes[at], at, weights]))
    found = plan.cut(np.concatenate(some, axis=1), lambda codes: codes + within)
    keys = list(zip(codes.tolist(), numbers.tolist(), strict=True))
    begins = [sum(key < slab.begin for key in keys) for slab in found]
    sizes = np.diff([*begins, len(codes)])
    halos = [b - sum(key[0] + within < found[i].begin[0] for key in keys) if i else 0
             for i, b in enumerate(begins)]  # fmt: skip
    return plan, found, sizes, np.array(halos)


@pytest.mark.parametrize("times", [10**6, 20])
def test_slabs_and_halos_fit(times):
    codes = np.random.default_rng(0).integers(0, times, 4000)
    within = times // 40
    plan, found, sizes, halos = planned(codes, within, free=150_000)
    assert sizes.sum() == len(codes)
    assert (sizes + halos).max() <= plan.most < len(codes)
    assert len(found) <= 3 * len(codes) // plan.most
    for number, slab in enumerate(found):  # halos are of these slabs alone
        assert slab.halo <= number
        assert not halos[number] or found[slab.halo].begin <= slab.begin


def test_slabs_are_as_many_as_workers_and_as_large_as_one_another():
    codes = np.random.default_rng(0).integers(0, 10**6, 4000)
    _, found, sizes, _ = planned(codes, 10**4, free=2**30, least=8)
    assert len(found) == 8
    assert sizes.max() < 1.2 * sizes.mean()
