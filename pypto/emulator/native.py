"""Machine code as object files in the cache folder.

A process that finds its object files loads them with LLVM alone, in milliseconds; numba, which
takes half a second to be ready, is imported only to compile what is missing or damaged.
"""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm

from pypto.emulator.cache import (
    SOURCE_FOLDERS,
    cache_folder,
    say_damaged,
    sources_changed,
    write_file,
)

# How often code was found in the cache folder, and how often it had to be compiled.
counts = {"hits": 0, "misses": 0}
_loaded: list[Any] = []

DIGEST_BYTES = 32  # SHA-256 of the rest, at the beginning of a file

# int32(int64* result, void** error, int64 ...): how numba's functions are called.
RESULT = ctypes.POINTER(ctypes.c_int64)


def function_address(name: str, make: Callable[[], Any], arguments: int) -> int:
    """The address of the machine code called ``name``, compiled where the cache has none.

    ``make`` gives a numba function of ``arguments`` int64 values that returns an int64. The code
    follows numba's calling convention.
    """
    path = cache_folder() / f"{name}.o"
    stored = _stored(path)
    if stored is None:
        counts["misses"] += 1
        symbol, code = _compiled(make(), arguments)
        body = symbol.encode() + b"\n" + code
        if not sources_changed(*SOURCE_FOLDERS):
            write_file(path, hashlib.sha256(body).digest() + body)
    else:
        counts["hits"] += 1
        symbol, code = stored
    return _load(name, symbol, code)


def _stored(path: Path) -> tuple[str, bytes] | None:
    """Symbol and object code of a file, None when it is not there or not as it was written."""
    try:
        data = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        say_damaged(path, str(error.strerror))
        return None
    digest, body = data[:DIGEST_BYTES], data[DIGEST_BYTES:]
    if hashlib.sha256(body).digest() != digest:
        say_damaged(path, "its checksum does not match")
        return None
    symbol, _, code = body.partition(b"\n")
    return symbol.decode(), code


def callable_at(address: int, arguments: int) -> Callable[..., int]:
    """A Python function that calls machine code at an address."""
    values = [ctypes.c_int64] * arguments
    function = ctypes.CFUNCTYPE(ctypes.c_int32, RESULT, ctypes.c_void_p, *values)(address)

    def call(*given: int) -> int:
        result, error = ctypes.c_int64(), ctypes.c_void_p()
        status = function(ctypes.byref(result), ctypes.addressof(error), *given)
        if status != 0:
            raise RuntimeError(f"compiled code failed with status {status}")
        return result.value

    return call


def _compiled(function: Any, arguments: int) -> tuple[str, bytes]:
    """Symbol and object code of a numba function."""
    from numba import types

    signature = (types.int64,) * arguments
    function.compile(signature)
    result = function.overloads[signature]
    # Functions passed as arguments leave their addresses in the code, but nothing reads them.
    _, _, (code, _) = result.library.serialize_using_object_code()
    return result.fndesc.llvm_func_name, code


@cache
def _linker() -> Any:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.create_lljit_compiler()


def _load(name: str, symbol: str, code: bytes) -> int:
    builder = llvm.JITLibraryBuilder().add_object_img(code).add_current_process()
    library = builder.export_symbol(symbol).link(_linker(), name)
    _loaded.append(library)
    return library[symbol]
