"""``@pypto.kernel``: a Python function compiled on its first call per shapes and element types."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from pypto.errors import CompileError
from pypto.runtime import signature
from pypto.runtime.fingerprint import fingerprint
from pypto.runtime.memory import check_fits
from pypto.target.soc import DEFAULT_SOC
from pypto.target.soc import soc as load_soc

if TYPE_CHECKING:
    from pypto.runtime.compiler import Compilation, Stage
    from pypto.runtime.profile import Profile
    from pypto.target.executable import Executable

DEFAULT_OPT_LEVEL = 2
OPT_LEVELS = (0, 1, 2, 3)


@dataclass(frozen=True)
class Run:
    """The results of one call and what it cost."""

    results: tuple[np.ndarray, ...]
    profile: Profile


class Kernel:
    """A compiled function: NumPy arrays in, NumPy arrays out.

    ``last_profile`` is the profile of the latest call.
    """

    __name__: str

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        soc: str = DEFAULT_SOC,
        opt_level: int = DEFAULT_OPT_LEVEL,
    ) -> None:
        if opt_level not in OPT_LEVELS:
            raise CompileError(
                "BAD_OPT_LEVEL", f"there is no -O{opt_level}", fix="choose 0, 1, 2 or 3"
            )
        self.function = function
        self.soc = load_soc(soc).name if not soc.endswith(".toml") else soc
        self.opt_level = opt_level
        self.last_profile: Profile | None = None
        self._compiled: dict[object, Compilation] = {}
        functools.update_wrapper(self, function)

    def __repr__(self) -> str:
        return f"<pypto kernel {self.__name__} for {self.soc} at -O{self.opt_level}>"

    def with_options(self, *, soc: str | None = None, opt_level: int | None = None) -> Kernel:
        """The same function for another machine or optimisation level."""
        return Kernel(
            self.function,
            soc=self.soc if soc is None else soc,
            opt_level=self.opt_level if opt_level is None else opt_level,
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        results = self.run(*args, **kwargs).results
        from pypto.runtime.lazy import Tensor

        if any(isinstance(value, Tensor) for value in (*args, *kwargs.values())):
            results = tuple(Tensor(result) for result in results)
        return results[0] if len(results) == 1 else results

    def run(
        self,
        *args: Any,
        check_hazards: bool = False,
        timeline: Path | None = None,
        **kwargs: Any,
    ) -> Run:
        """Call the kernel; ``timeline`` names a Chrome trace to write."""
        from pypto.runtime.session import execute

        call = signature.bind(self.function, args, kwargs)
        check_fits(self.soc, [array.nbytes for array in call.arrays], "the arguments")
        compilation = self.compilation(call.types)
        run = execute(
            compilation.executable,
            call.arrays,
            compile_seconds=compilation.seconds,
            kernel=self.__name__,
            opt_level=self.opt_level,
            check_hazards=check_hazards,
            timeline=timeline,
        )
        self.last_profile = run.profile
        return run

    def compile(self, *types: Any) -> Executable:
        """Compile for argument types or example arrays; without any, for the annotations."""
        return self.compilation(self.argument_types(types)).executable

    def lower(self, *types: Any, level: str = "tensor") -> str:
        """The IR text at the end of a level: ``tensor``, ``tile`` or ``tik``."""
        from pypto.runtime.compiler import LevelRecorder

        recorder = LevelRecorder()
        self.compile_anew(self.argument_types(types), recorder)
        return recorder.text(level)

    def argument_types(self, given: Sequence[Any]) -> tuple[Any, ...]:
        """Types, arrays or static values as the types to compile for."""
        if not given:
            declared = signature.declared_types(self.function)
            if declared is None:
                raise CompileError(
                    "UNKNOWN_SHAPES",
                    f"{self.__name__} declares no shapes to compile for",
                    fix="annotate x: pypto.Tensor[(128, 768), pypto.float16], or pass types or "
                    "example arrays",
                )
            return declared
        return signature.bind_types(self.function, given)

    def compilation(self, types: tuple[Any, ...]) -> Compilation:
        """The compiled form for argument types, from the cache when nothing has changed."""
        key = (signature.key(types), fingerprint(self.function))
        found = self._compiled.get(key)
        if found is None:
            found = self._compiled[key] = self.compile_anew(types)
        return found

    def compile_anew(
        self,
        types: tuple[Any, ...],
        observer: Callable[[Stage], None] | None = None,
        *,
        verify_each: bool = False,
    ) -> Compilation:
        """Compile without the cache; ``observer`` sees the IR before and after every pass."""
        from pypto.runtime.compiler import compile_function

        return compile_function(
            self.function,
            types,
            name=self.__name__,
            soc=self.soc,
            opt_level=self.opt_level,
            observer=observer,
            verify_each=verify_each,
        )


@overload
def kernel(
    function: Callable[..., Any], /, *, soc: str = ..., opt_level: int = ...
) -> Kernel: ...


@overload
def kernel(
    *, soc: str = ..., opt_level: int = ...
) -> Callable[[Callable[..., Any]], Kernel]: ...


def kernel(
    function: Callable[..., Any] | None = None,
    /,
    *,
    soc: str = DEFAULT_SOC,
    opt_level: int = DEFAULT_OPT_LEVEL,
) -> Kernel | Callable[[Callable[..., Any]], Kernel]:
    """Make a kernel of a function: ``@kernel``, ``@kernel(opt_level=0)`` or ``kernel(f)``."""
    if function is None:
        return functools.partial(Kernel, soc=soc, opt_level=opt_level)
    return Kernel(function, soc=soc, opt_level=opt_level)
