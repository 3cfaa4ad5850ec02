"""``python -m rapids_tc`` is ``rapids-tc``."""

from rapids_tc.cli import main

if __name__ == "__main__":
    main(prog_name="rapids-tc")
