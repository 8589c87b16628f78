"""What a kernel's meaning depends on, as one digest: its text and everything it captured.

Values count by content, objects by their whole state and the code of their classes, of modules
only what is read of them. What cannot be seen in full (a file, a clock, state kept in C) has no
digest: such a kernel is compiled on every call rather than found by mistake.
"""

from __future__ import annotations

import enum
import functools
import hashlib
import inspect
import os
import sys
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    GenericAlias,
    GetSetDescriptorType,
    MappingProxyType,
    MemberDescriptorType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    NoneType,
    SimpleNamespace,
    WrapperDescriptorType,
)
from typing import Any

import numpy as np

from pypto.ops.core import Operator
from pypto.ops.types import TensorType
from pypto.ops.value import Tensor
from pypto.runtime.captures import captured_paths
from pypto.target.dtypes import DType

# Libraries whose functions give equal results for equal arguments; versions are in the cache's key.
PURE = {
    "abc", "bisect", "builtins", "cmath", "collections", "copy", "dataclasses", "enum", "fractions",
    "functools", "heapq", "itertools", "math", "ml_dtypes", "numbers", "numpy", "operator", "pypto",
    "types", "typing", "_bisect", "_collections", "_collections_abc", "_functools", "_heapq",
    "_operator",
}  # fmt: skip
# What in them reads files, the user, or memory that nobody has written.
IMPURE = {
    "builtins": {
        "__import__", "breakpoint", "compile", "eval", "exec", "globals", "hash", "id", "input",
        "open",
    },
    "numpy": {
        "DataSource", "empty", "empty_like", "fromfile", "fromregex", "genfromtxt", "geterr",
        "load", "loadtxt", "memmap", "open_memmap", "random",
    },
}  # fmt: skip
ATOMS = (
    bool, int, float, complex, str, bytes, range, slice, NoneType, type(...), Fraction,
    TensorType, DType,
)  # fmt: skip
CONTAINERS = (tuple, list, dict, set, frozenset, MappingProxyType, OrderedDict)
BUILTINS = (
    BuiltinFunctionType, MethodDescriptorType, MethodWrapperType, WrapperDescriptorType,
)  # fmt: skip
# Of a class: what Python derives from the rest.
DERIVED = {
    "__abstractmethods__", "__annotations__", "__dataclass_params__", "__dict__", "__doc__",
    "__firstlineno__", "__match_args__", "__module__", "__orig_bases__", "__parameters__",
    "__slotnames__", "__static_attributes__", "__weakref__", "_abc_impl",
}  # fmt: skip
OWN_PICKLING = ("__reduce__", "__reduce_ex__", "__getstate__")


class UnknownState(Exception):
    """A kernel depends on something that cannot be seen in full; the text says on what."""


def fingerprint(function: Callable[..., Any], values: object = ()) -> str:
    """A digest that changes when the function, anything it captured or ``values`` change.

    Raises:
        UnknownState: it depends on something whose state cannot be seen.
    """
    digest = hashlib.sha256()
    reader = _Reader(digest)
    try:
        reader.function(inspect.unwrap(function))
        reader.value(values)
    except RecursionError:
        raise UnknownState("values that are nested too deeply") from None
    return digest.hexdigest()


class _Reader:
    """Feeds values into a digest, each with a tag; of functions and objects each once."""

    def __init__(self, digest: Any) -> None:
        self.digest = digest
        self.seen: dict[int, int] = {}
        self.open: set[int] = set()  # containers being read

    def text(self, tag: str, value: object = "") -> None:
        text = str(value)
        self.digest.update(f"{tag}:{len(text)}:{text};".encode("utf-8", "surrogatepass"))

    def is_new(self, value: object) -> bool:
        """Whether an object comes for the first time; if not, its number is fed."""
        if id(value) in self.seen:
            self.text("again", self.seen[id(value)])
            return False
        self.seen[id(value)] = len(self.seen)
        return True

    @contextmanager
    def inside(self, value: object) -> Iterator[None]:
        """Refuse containers that hold themselves."""
        if id(value) in self.open:
            raise UnknownState(f"a {type(value).__name__} that holds itself")
        self.open.add(id(value))
        try:
            yield
        finally:
            self.open.remove(id(value))

    def value(self, value: Any) -> None:
        kind = type(value)
        if kind in ATOMS:
            self.text(kind.__name__, repr(value))
        elif isinstance(value, np.ndarray | np.generic):
            self.array(value)
        elif kind in CONTAINERS:
            self.container(value)
        elif isinstance(value, np.dtype):
            self.text("dtype", repr(value))
        elif isinstance(value, Tensor):
            self.tensor(value)
        elif isinstance(value, enum.Enum):
            self.member(value)
        elif isinstance(value, Operator) and is_ours(value.body):
            self.text("operator", value.name)
        elif is_pure(value):
            self.text("library", qualified(value))
        elif isinstance(value, type):
            self.type(value)
        elif isinstance(value, FunctionType):
            self.function(value)
        elif is_wrapper(value):
            self.function(inspect.unwrap(value))
        elif isinstance(value, BUILTINS):
            self.builtin(value)
        else:
            self.instance(value)

    def array(self, value: np.ndarray | np.generic) -> None:
        array = np.asarray(value)
        if type(value) not in (np.ndarray, np.memmap) and isinstance(value, np.ndarray):
            self.type(type(value))
            self.value(vars(value))
        self.text(type(value).__name__, (array.dtype.str, array.dtype, array.shape))
        if array.dtype.hasobject:
            self.value(array.tolist())
        elif array.size:
            self.digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)

    def container(self, value: Any) -> None:
        self.text(type(value).__name__, len(value))
        with self.inside(value):
            if isinstance(value, Mapping):
                for key, item in value.items():
                    self.value(key)
                    self.value(item)
            else:
                for item in value:  # sets in the order in which the kernel would see them
                    self.value(item)

    def tensor(self, value: Tensor) -> None:
        if not hasattr(value, "__array__"):
            raise UnknownState("a tensor of another program")
        self.text("tensor")
        self.array(np.asarray(value))

    def member(self, value: enum.Enum) -> None:
        self.text(type(value).__qualname__, value.name)
        self.value(value.value)
        self.type(type(value))

    def function(self, function: FunctionType) -> None:
        if is_pure(function):
            self.text("library", qualified(function))
            return
        if not self.is_new(function):
            return
        if sys.flags.optimize:
            raise UnknownState("asserts, which python -O leaves out")
        self.text("function", (function.__name__, function.__qualname__))
        self.source(function.__code__)
        self.code(function.__code__)
        self.value(function.__defaults__)
        self.value(function.__kwdefaults__)
        self.value(vars(function))
        paths = captured_paths(function.__code__)
        if paths is None:
            raise UnknownState(f"what {function.__name__} imports")
        # What a pure library makes, such as the methods of a dataclass, is known but for its cells.
        made = str(function.__globals__.get("__name__")).partition(".")[0] in PURE
        for name, *attributes in paths:
            if not made or name in function.__code__.co_freevars:
                self.path(function, name, attributes)

    def source(self, code: CodeType) -> None:
        """The text with its place: the frontend compiles it, and messages name its lines."""
        file = code.co_filename
        try:
            text = stored_text(code, os.stat(file).st_mtime_ns)
            file = os.path.abspath(file)
        except OSError:  # a cell of a notebook, or text that was never in a file
            text = source_text(code)
        self.text("file", file)
        self.text("line", code.co_firstlineno)
        self.text("text", text)

    def code(self, code: CodeType) -> None:
        self.text("names", (code.co_names, code.co_varnames, code.co_freevars, code.co_flags))
        self.digest.update(code.co_code)
        self.digest.update(code.co_exceptiontable)
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                self.code(constant)
            elif isinstance(constant, frozenset):
                self.text("frozenset", sorted(map(repr, constant)))
            else:
                self.text(type(constant).__name__, repr(constant))

    def path(self, function: FunctionType, name: str, attributes: list[str]) -> None:
        """A captured value, or the part of it that the code reads."""
        self.text("name", (name, attributes))
        free = function.__code__.co_freevars
        if name in free:
            cell = (function.__closure__ or ())[free.index(name)]
            try:
                value = cell.cell_contents
            except ValueError:
                return  # not assigned yet: an error if it is read
        elif name in function.__globals__:
            value = function.__globals__[name]
        elif name in IMPURE["builtins"]:
            raise UnknownState(f"{name}()")
        else:
            return  # a pure builtin, or an error if it is read
        for count, attribute in enumerate(attributes):
            if isinstance(value, ModuleType):
                if attribute in IMPURE.get(value.__name__, ()):
                    raise UnknownState(f"{value.__name__}.{attribute}")
                if not hasattr(value, attribute):
                    return  # an error if it is read
                value = getattr(value, attribute)
            elif has_plain_attribute(value, attribute):
                value = vars(value)[attribute]
            else:
                self.text("whole", count)
                break
        self.value(value)

    def type(self, kind: type) -> None:
        """A class by the code and the constants in it, and by its bases."""
        if is_pure(kind):
            self.text("library", qualified(kind))
            return
        if not self.is_new(kind):
            return
        if not hasattr(kind, "__dict__") or kind.__module__ in sys.builtin_module_names:
            raise UnknownState(f"the class {kind.__qualname__}")
        self.text("class", (kind.__module__, kind.__qualname__))
        self.type(type(kind))
        for base in kind.__bases__:
            self.type(base)
        for name, member in vars(kind).items():
            if name in DERIVED:
                continue
            self.text("member", name)
            if name == "__dataclass_fields__":
                for one in member.values():
                    self.value((one.name, one.default, one.default_factory, dict(one.metadata)))
            elif isinstance(member, classmethod | staticmethod):
                self.value(member.__func__)
            elif isinstance(member, property):
                self.value((member.fget, member.fset, member.fdel))
            elif isinstance(member, functools.cached_property):
                self.value(member.func)
            elif type(member).__name__ == "_tuplegetter":
                self.value(member.__reduce__()[1])
            elif not isinstance(member, MemberDescriptorType | GetSetDescriptorType):
                self.value(member)

    def builtin(self, value: Any) -> None:
        """A function written in C: of a class, or bound to an object."""
        owner = getattr(value, "__objclass__", None) or getattr(value, "__self__", None)
        if owner is None or isinstance(owner, ModuleType):
            raise UnknownState(f"{qualified(value)}()")
        self.text("builtin", value.__name__)
        self.value(owner)

    def instance(self, value: Any) -> None:
        """Any other object by its class and its state, as copying it would take it."""
        if not self.is_new(value):
            return
        kind = type(value)
        if isinstance(value, MethodType):
            self.text("method")
            self.value((value.__func__, value.__self__))
        elif isinstance(value, functools.partial):
            self.text("partial")
            self.value((value.func, value.args, value.keywords, vars(value)))
        elif isinstance(value, GenericAlias):
            self.value((value.__origin__, value.__args__))
        elif kind is SimpleNamespace:
            self.value(vars(value))
        elif isinstance(value, ModuleType) or any(
            getattr(kind, name, None) is not getattr(object, name, None) for name in OWN_PICKLING
        ):
            raise UnknownState(f"the state of {value!r:.80}")
        else:
            self.type(kind)
            try:
                _, *state = object.__reduce_ex__(value, 2)
            except TypeError:  # it keeps state that Python cannot see
                raise UnknownState(f"the state of {value!r:.80}") from None
            self.value([list(part) if isinstance(part, Iterator) else part for part in state])


def source_text(code: CodeType) -> str:
    """The text of a function; nothing when it was made by ``exec`` and cannot be compiled."""
    try:
        return "".join(inspect.getsourcelines(code)[0])
    except (OSError, TypeError):
        return ""


@functools.lru_cache(maxsize=4096)
def stored_text(code: CodeType, changed: int) -> str:
    """The text of a function in a file that was last ``changed`` at a time in nanoseconds."""
    return source_text(code)


def has_plain_attribute(value: Any, name: str) -> bool:
    """Whether reading an attribute runs no code and gives what the object's dictionary holds."""
    kind = type(value)
    return (
        name in getattr(value, "__dict__", ())
        and not isinstance(value, type)
        and (kind is SimpleNamespace or kind.__getattribute__ is object.__getattribute__)
        and inspect.getattr_static(kind, name, None) is None
    )


def is_ours(value: Any) -> bool:
    """Whether the package defines a function or class, of which its hash knows everything."""
    return _module_of(value).partition(".")[0] == "pypto"


def is_wrapper(value: Any) -> bool:
    """Whether calling a value means its function and nothing else: a kernel, a cached function."""
    kind = type(value)
    known = kind.__module__ == "pypto.runtime.kernel" or kind is functools._lru_cache_wrapper
    return known and isinstance(inspect.unwrap(value), FunctionType)


def is_pure(value: Any) -> bool:
    """Whether a function, class or other object is what a pure library calls by its name."""
    module, name = _module_of(value), getattr(value, "__qualname__", None)
    if name is None and isinstance(value, np.ufunc):
        module, name = "numpy", value.__name__
    root = module.partition(".")[0]
    if root not in PURE or not isinstance(name, str) or module.startswith("numpy.random"):
        return False
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found is value and name not in IMPURE.get(root, ())


def qualified(value: Any) -> str:
    """The name of a function or class with its module."""
    name = getattr(value, "__qualname__", None) or value.__name__
    return f"{_module_of(value)}.{name}"


def _module_of(value: Any) -> str:
    module = getattr(value, "__module__", None)
    return module if isinstance(module, str) else ""
