"""Loads ``FILE.py[:KERNEL]``: its kernels, their example inputs and their references."""

from __future__ import annotations

import importlib.util
import sys
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from pypto.errors import CompileError, PyptoError, SourceLocation
from pypto.frontend.structure import is_record, is_structure, parts
from pypto.runtime.kernel import Kernel


@dataclass(frozen=True)
class KernelCase:
    """A kernel of a file with the functions that give its inputs and its expected results."""

    kernel: Kernel
    example_inputs: Callable[[], Any] | None
    reference: Callable[..., Any] | None
    file: Path

    @property
    def name(self) -> str:
        return self.kernel.__name__

    def inputs(self) -> tuple[np.ndarray, ...]:
        """The example inputs."""
        if self.example_inputs is None:
            raise CompileError(
                "NO_EXAMPLE_INPUTS",
                f"{self.file} has no inputs for kernel {self.name!r}",
                fix=f"define example_inputs_{self.name}() or example_inputs() in that file",
            )
        values = calling(self.example_inputs, self.file)
        return tuple(values) if isinstance(values, tuple | list) else (values,)

    def expected(self, inputs: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...] | None:
        """What ``reference`` gives for the inputs, None without one."""
        if self.reference is None:
            return None
        values = calling(lambda: self.reference(*inputs), self.file)  # pyright: ignore[reportOptionalCall]
        return tuple(arrays_of(values))


def arrays_of(value: Any) -> Iterator[Any]:
    """The arrays a reference returns; what records hold besides arrays is no result."""
    if not is_structure(value):
        yield value
        return
    named = is_record(value) or isinstance(value, dict)
    for _, part in parts(value):
        if is_structure(part) or not named or hasattr(part, "__array__"):
            yield from arrays_of(part)


def load_cases(target: str) -> list[KernelCase]:
    """The kernels a command names: all of a file, or the one behind the colon."""
    path, wanted = split_target(target)
    module = load_module(path)
    kernels = [
        value
        for value in vars(module).values()
        if isinstance(value, Kernel) and value.__module__ == module.__name__
    ]
    if not kernels:
        raise CompileError(
            "NO_KERNEL",
            f"{path} defines no kernel",
            fix="put @pypto.kernel above the function to compile",
        )
    if wanted:
        names = [kernel.__name__ for kernel in kernels]
        if wanted not in names:
            raise CompileError(
                "NO_KERNEL",
                f"{path} has no kernel {wanted!r}",
                fix=f"name one of {', '.join(names)}",
            )
        chosen = [kernel for kernel in kernels if kernel.__name__ == wanted]
    else:
        chosen = kernels
    return [make_case(module, kernel, path, alone=len(kernels) == 1) for kernel in chosen]


def split_target(target: str) -> tuple[Path, str]:
    """``FILE.py:KERNEL`` as path and kernel name (empty when all are meant)."""
    path, separator, kernel = target.rpartition(":")
    if separator and path.endswith(".py"):
        return Path(path), kernel
    return Path(target), ""


def make_case(module: ModuleType, kernel: Kernel, path: Path, *, alone: bool) -> KernelCase:
    name = kernel.__name__
    reference = getattr(module, f"reference_{name}", None)
    if reference is None and hasattr(module, "reference"):
        if not alone:
            raise CompileError(
                "AMBIGUOUS_REFERENCE",
                f"{path} has several kernels and one reference()",
                fix=f"call it reference_{name}, or after the kernel it belongs to",
            )
        reference = module.reference
    inputs = getattr(module, f"example_inputs_{name}", None) or getattr(
        module, "example_inputs", None
    )
    return KernelCase(kernel, inputs, reference, path)


def load_module(path: Path) -> ModuleType:
    """Run a kernel file as a module; its folder is importable, as for ``python FILE.py``."""
    if not path.is_file():
        raise CompileError(
            "FILE_NOT_FOUND", f"there is no file {path}", fix="check the path and the folder"
        )
    name = f"_kernel_file_{path.stem}"
    specification = importlib.util.spec_from_file_location(name, path)
    if specification is None or specification.loader is None:
        raise CompileError(
            "NOT_A_KERNEL_FILE", f"{path} is not a Python file", fix="give a file ending in .py"
        )
    module = importlib.util.module_from_spec(specification)
    sys.modules[name] = module
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    loader = specification.loader
    calling(lambda: loader.exec_module(module), path)
    return module


def calling(function: Callable[[], Any], path: Path) -> Any:
    """Run code of the user's file; what it raises becomes an error at the user's line."""
    try:
        return function()
    except PyptoError:
        raise
    except SyntaxError as error:
        where = SourceLocation(error.filename or str(path), error.lineno or 1, error.offset or 1)
        raise CompileError("SYNTAX_ERROR", error.msg, location=where) from error
    except (Exception, SystemExit) as error:  # any code may run in a user's file
        frames = traceback.extract_tb(error.__traceback__)
        own = [frame for frame in frames if Path(frame.filename) == path.absolute()]
        where = None
        if own:
            frame = own[-1]
            where = SourceLocation(str(path), frame.lineno or 1, (frame.colno or 0) + 1)
        raise CompileError(
            "KERNEL_FILE_FAILED", f"{type(error).__name__}: {error}", location=where
        ) from error
