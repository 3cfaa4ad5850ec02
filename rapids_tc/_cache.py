"""Where things that can be made again are kept between runs."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def cache_directory(name: str) -> Path:
    """Folder ``name`` of the user's cache, made if missing; ``RAPIDS_TC_CACHE`` moves it all."""
    home = Path.home()
    if chosen := os.environ.get("RAPIDS_TC_CACHE"):
        base = Path(chosen)
    elif sys.platform == "darwin":
        base = home / "Library" / "Caches" / "rapids_tc"
    elif sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA", home / "AppData" / "Local")) / "rapids_tc"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "rapids_tc"
    folder = base / name
    folder.mkdir(parents=True, exist_ok=True)
    return folder
