"""``pyptoc cache``: where compiled code is kept, how much of it, and how to be rid of it."""

from __future__ import annotations

import shutil
from pathlib import Path

from pypto.cli.output import print_json, print_table
from pypto.emulator.cache import cache_root
from pypto.runtime.cache import limit, size_of
from pypto.runtime.memory import readable_bytes

FOLDERS = {"executables": "compiled kernels", "emulator": "machine code of the emulator"}


def cache_command(*, clear: bool, as_json: bool) -> None:
    """Describe the folders of the cache; with ``clear`` empty them before."""
    root = cache_root()
    if clear:
        for name in FOLDERS:
            shutil.rmtree(root / name, ignore_errors=True)
    rows = [(name, *measured(root / name)) for name in FOLDERS]
    if as_json:
        parts = {name: {"files": files, "bytes": size} for name, files, size in rows}
        print_json({"folder": str(root), "limit_bytes": limit(), **parts})
        return
    print(f"{root}  (kernels: at most {readable_bytes(limit())})")
    cells = [(FOLDERS[name], files, readable_bytes(size)) for name, files, size in rows]
    print_table(("what", "files", "size"), cells, numbers=("files", "size"))


def measured(folder: Path) -> tuple[int, int]:
    """Files below a folder and their bytes."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return len(files), sum(map(size_of, files))
