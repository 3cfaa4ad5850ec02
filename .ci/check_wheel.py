"""Check a wheel, in the environment it was installed into: python check_wheel.py WHEEL ROOT."""

import subprocess
import sys
import sysconfig
from importlib.metadata import entry_points, version
from pathlib import Path
from zipfile import ZipFile

import pandas as pd

import rapids_tc as tc

wheel, root = map(Path, sys.argv[1:])
assert wheel.name == f"rapids_tc-{tc.__version__}-py3-none-any.whl", wheel.name
assert Path(tc.__file__).is_relative_to(sysconfig.get_path("purelib")), tc.__file__
assert version("rapids_tc") == tc.__version__

held = {name for name in ZipFile(wheel).namelist() if not name.endswith("/")}
tree = {
    path.relative_to(root).as_posix()
    for path in (root / "rapids_tc").rglob("*")
    if path.is_file() and "__pycache__" not in path.parts
}
assert {".py", ".cu", ".cuh", ".hpp", ".cpp"} <= {Path(name).suffix for name in tree}
assert not tree - held, f"not in the wheel: {sorted(tree - held)}"
strays = {name for name in held - tree if ".dist-info/" not in name}
assert not strays, f"in the wheel, not in the tree: {sorted(strays)}"
assert any(name.endswith("LICENSE") for name in held)

edges = pd.DataFrame({"src": [0, 1, 2, 2], "dst": [1, 2, 0, 3]})
assert tc.count(edges) == 1 and tc.trussness(edges).tolist() == [3, 3, 3, 2]

command = Path(sys.executable).with_name("rapids-tc")
karate = subprocess.check_output([command, "count", root / "examples" / "karate.csv"], text=True)
assert "45" in karate.split(), karate

[info] = entry_points(group="networkx.backend_info", name="rapids_tc")
[backend] = entry_points(group="networkx.backends", name="rapids_tc")
assert backend.value == "rapids_tc.interop.networkx" and "triangles" in info.load()()["functions"]
print(f"{wheel.name}: {len(held)} files, installed, counts")
