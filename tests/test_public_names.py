"""What ``pypto.NAME`` is: the same for the interpreter and for editors."""

from __future__ import annotations

import ast
import keyword
import subprocess
import sys
from importlib import import_module

import pytest

import pypto
from pypto.ops import OPERATORS

EVERY_OPERATOR = {name for name in OPERATORS if not keyword.iskeyword(name)}


def names_for_editors() -> dict[str, tuple[str, str]]:
    """Public name -> (module, name there), from the block that only type checkers read."""
    with open(pypto.__file__) as file:
        tree = ast.parse(file.read())
    block = next(node for node in tree.body if isinstance(node, ast.If))
    return {
        alias.asname or alias.name: (node.module or "", alias.name)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def test_editors_see_every_name() -> None:
    missing = (EVERY_OPERATOR | set(pypto._PLACES)) - set(names_for_editors())
    assert not missing, f"add to the TYPE_CHECKING block of pypto/__init__.py: {sorted(missing)}"


@pytest.mark.parametrize("name", sorted(names_for_editors()))
def test_editors_see_the_same_object(name: str) -> None:
    module, attribute = names_for_editors()[name]
    seen = getattr(import_module(module), attribute)
    value = getattr(pypto, name)
    # Kernels take and give any tensor; the public class is the one outside of kernels.
    assert value is seen or (name == "Tensor" and issubclass(value, seen))


def test_star_import_gives_all_names() -> None:
    names: dict[str, object] = {}
    exec("from pypto import *", names)
    assert names.keys() >= EVERY_OPERATOR | set(pypto._PLACES)


def test_unknown_names_are_attribute_errors_with_advice() -> None:
    with pytest.raises(AttributeError, match="'pypto' has no attribute 'sofmax'; did you mean"):
        pypto.sofmax  # noqa: B018
    assert not hasattr(pypto, "frobnicate")


def test_importing_loads_nothing_heavy() -> None:
    heavy = "'xdsl', 'numba', 'lark', 'numpy', 'rich', 'typer'"
    code = f"import sys, pypto; sys.exit(any(m in sys.modules for m in ({heavy},)))"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_operators_and_kernels_need_no_compiler() -> None:
    heavy = "'xdsl', 'numba', 'lark', 'rich', 'typer'"
    use = "pypto.kernel(pypto.softmax.body)"
    code = f"import sys, pypto; {use}; sys.exit(any(m in sys.modules for m in ({heavy},)))"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
