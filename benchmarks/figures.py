"""Make all figures of one kind that the README and the documentation state, in one run.

    python benchmarks/figures.py gpu   # one GPU, six minutes: without a memory pool, then with
    python benchmarks/figures.py cpu   # a machine at rest, about a quarter of an hour
    python benchmarks/report.py        # the tables of the README and STUDY.md, from the files

RAPIDS_TC_SHARED names the folder of the real graphs. Each script adds its lines to a file in
``results/``, which is named by the table that shows it, the machine and the day. All scripts run,
and the exit code is 1 if any of them failed.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import click
from machine import machine

HERE = Path(__file__).parent
POOLS = "none", "rmm"
TIME = "--seconds 110 --patience 4"
SCRIPTS = {  # by kind: the first word is that of the file
    "gpu": [
        *(f"speed bench.py --suite speed --pool {pool}" for pool in POOLS),
        *(f"speed calls.py --library cudf {TIME} --pool {pool}" for pool in POOLS),
    ],
    "cpu": [
        "laptop bench.py --suite laptop",
        "cpu bench.py --suite cpu",
        "calls calls.py --library pandas",
        "cold cold.py rmat:12",
    ],
}


@click.command()
@click.argument("kind", type=click.Choice([*SCRIPTS]))
@click.option(
    "--folder", type=click.Path(file_okay=False, path_type=Path), default=HERE / "results",
    help="Where the files are. [default: results/]",
)  # fmt: skip
def main(kind: str, folder: Path) -> None:
    """Make the figures of a KIND: gpu or cpu."""
    about, failed = machine(gpu=kind == "gpu"), []
    where = about["card"].split()[-1].lower() if kind == "gpu" else f"{about['cores']}cores"
    for line in SCRIPTS[kind]:
        table, script, *arguments = line.split()
        out = folder / f"{table}-{where}-{about['date']}.jsonl"
        click.echo(f"{script} {' '.join(arguments)}: {out}", err=True)
        command = [sys.executable, str(HERE / script), *arguments, "--out", str(out)]
        if subprocess.run(command, check=False).returncode:
            failed.append(line)
    if failed:
        raise click.ClickException(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
