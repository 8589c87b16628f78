"""The laws of the house: who may import whom, how long a file may be, what a pass must bring."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "pypto"
MODULES = sorted(PACKAGE.rglob("*.py"))

# Folder -> the folders of ours it may import. `errors` is everybody's.
ALLOWED: dict[str, set[str]] = {
    "errors": set(),
    "target": set(),
    "ops": {"target"},
    "dialects": {"target", "ops"},
    "frontend": {"target", "ops", "dialects"},
    "passes": {"target", "ops", "dialects"},
    "codegen": {"target", "ops", "dialects"},
    "emulator": {"target"},
    "runtime": {
        "target", "ops", "dialects", "frontend", "passes", "codegen", "emulator",
    },
    "cli": {
        "target", "ops", "dialects", "frontend", "passes", "codegen", "emulator", "runtime",
    },
}  # fmt: skip
WITHOUT_XDSL = {"errors", "target", "ops", "emulator"}
TABLES = {"ops", "target/instructions"}  # folders whose files are tables and may be long
LONGEST = 500

FORBIDDEN = re.compile(
    r"(^|[^a-z])/(work|root)/"
    r"|\bnot-?implemented-?yet\b|\bTODO\b|\bFIXME\b|\bXXX\b"
)


def folder_of(path: Path) -> str:
    relative = path.relative_to(PACKAGE)
    return relative.parts[0].removesuffix(".py")


def imports_of(path: Path) -> list[tuple[int, str]]:
    """Every module a file imports, with its line; ``TYPE_CHECKING`` blocks count too."""
    found: list[tuple[int, str]] = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: a relative import"
            module = node.module or ""
            if module == "pypto":
                found += [(node.lineno, f"pypto.{alias.name}") for alias in node.names]
            else:
                found.append((node.lineno, module))
    return found


def identity(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", MODULES, ids=identity)
def test_imports_go_one_way(path: Path) -> None:
    folder = folder_of(path)
    if folder == "__init__":
        return
    allowed = ALLOWED[folder] | {folder, "errors"}
    for line, module in imports_of(path):
        where = f"{identity(path)}:{line}"
        if module == "pypto":
            pytest.fail(f"{where} imports the public package from inside")
        if module.startswith("pypto."):
            target = module.split(".")[1]
            assert target in allowed, f"{where} imports {module}"
        top = module.split(".")[0]
        if top == "xdsl":
            assert folder not in WITHOUT_XDSL, f"{where}: no xdsl in {folder}/"
        if top == "numba":
            assert folder == "emulator", f"{where}: numba lives in emulator/ only"
        if top == "lark":
            inside = path.is_relative_to(PACKAGE / "target" / "assembly")
            assert inside, f"{where}: lark lives in target/assembly only"


@pytest.mark.parametrize("path", MODULES, ids=identity)
def test_files_stay_short(path: Path) -> None:
    relative = str(path.relative_to(PACKAGE))
    if any(relative.startswith(f"{table}/") for table in TABLES):
        return
    lines = len(path.read_text().splitlines())
    assert lines <= LONGEST, f"{identity(path)} has {lines} lines: find the seam"


def test_every_folder_has_a_law() -> None:
    assert {folder_of(path) for path in MODULES} <= set(ALLOWED) | {"__init__"}


def test_every_pass_has_a_test_of_its_name() -> None:
    from pypto.passes import PASSES

    folder = ROOT / "tests" / "filecheck" / "passes"
    present = {path.stem for path in folder.rglob("*.mlir")}
    missing = sorted({one.name for one in PASSES} - present)
    assert not missing, f"passes without tests/filecheck/passes/…/NAME.mlir: {missing}"


def project_texts() -> list[Path]:
    """Every text of the project, whether or not it is a checkout."""
    folders = ("pypto", "tests", "examples", "benchmarks", "docs", ".ci")
    inside = [path for folder in folders for path in (ROOT / folder).rglob("*")]
    kinds = {".py", ".md", ".toml", ".mlir", ".lark", ".dvasm", ""}
    return [
        path
        for path in sorted((*ROOT.glob("*"), *inside))
        if path.is_file()
        and path.suffix in kinds
        and path.name != ".git"
        and path != Path(__file__)
    ]


def test_the_project_speaks_of_itself_alone() -> None:
    leaks = [
        f"{identity(path)}:{number}: {text.strip()}"
        for path in project_texts()
        for number, text in enumerate(path.read_text().splitlines(), start=1)
        if FORBIDDEN.search(text)
    ]
    assert not leaks, "\n".join(leaks)
