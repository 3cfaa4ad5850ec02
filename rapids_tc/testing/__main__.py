"""The command ``python -m rapids_tc.testing address -m pytest tests``: a sanitized Python."""

import sys

from rapids_tc.testing import run_sanitized

if len(sys.argv) < 3 or sys.argv[1] not in ("address", "thread"):
    sys.exit("usage: python -m rapids_tc.testing {address|thread} ARGUMENTS OF PYTHON")
done = run_sanitized(sys.argv[1], sys.argv[2:])
print(done.stdout, end="")
sys.exit(done.returncode)
