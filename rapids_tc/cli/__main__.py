"""``python -m rapids_tc.cli`` is ``rapids-tc``."""

from rapids_tc.cli import main

main(prog_name="rapids-tc")
