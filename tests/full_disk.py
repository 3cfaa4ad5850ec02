"""Every function in blocks while files may not pass a size, run by test_full_disk.py.

A file that may not grow fails as one on a full disk does: a write is cut short, the next one fails.
The process raises and lowers the limit (RLIMIT_FSIZE) around each call.
"""

import faulthandler
import os
import resource
import sys
import tempfile
from contextlib import contextmanager

import reference
from stream_support import FUNCTIONS, assert_same, in_blocks

import rapids_tc as tc
from rapids_tc import datasets


class Pandas:
    """The library under test, as `assert_same` takes it."""

    @staticmethod
    def to_pandas(result):
        return result


@contextmanager
def files_up_to(size):
    """Let no file grow past `size` bytes."""
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, most))


def open_files():
    return len(os.listdir("/proc/self/fd"))


def sizes(need):
    """From nothing to more than enough, most of them where files end or pages do."""
    some = (0, 1, 3, 4, 4095, 4096, *range(0, need, need // 4), need - 4096, need - 1, need)
    return sorted({size for size in some if size >= 0})


def check(function, edges):
    """The right answer or an error that says what to do, whatever the size; right if it fits."""
    expected = function(edges)
    with in_blocks(2, peel_below=0) as made:  # as long as it can, in blocks
        assert_same(Pandas, function(edges), expected)
        need = made[-1]._store._end
        made.clear()
        for size in sizes(need):
            print(f"  {size:,} of {need:,} bytes", flush=True)
            tempfile.tempdir, before = None, open_files()  # looked for anew
            try:
                with files_up_to(size):
                    found = function(edges)
            except tc.CapacityError as error:
                assert size < need
                assert os.environ["TMPDIR"] in str(error) and "TMPDIR" in str(error)
                made.clear()
                assert open_files() == before  # while the error, and what it holds, is there
            else:
                assert size >= need
                assert_same(Pandas, found, expected)
                made.clear()


def main(ids):
    edges = datasets.rmat(7)
    rows = list(edges.itertuples(index=False, name=None))
    assert tc.count(edges) == reference.count(rows) > 0
    for name, function in FUNCTIONS.items():
        print(name, flush=True)
        check(function, edges.astype(ids))


if __name__ == "__main__":
    faulthandler.enable()
    main(sys.argv[1])
