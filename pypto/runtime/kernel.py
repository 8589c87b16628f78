"""``@pypto.kernel``: a Python function compiled on its first call per shapes and element types."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any, overload

from pypto.emulator.cache import say_once
from pypto.errors import CompileError
from pypto.frontend.form import result_form
from pypto.frontend.values import describe
from pypto.runtime import cache, signature
from pypto.runtime.fingerprint import UnknownState, fingerprint
from pypto.runtime.results import check_result, filled, form_key
from pypto.target.soc import DEFAULT_SOC
from pypto.target.soc import soc as load_soc

if TYPE_CHECKING:
    import numpy as np

    from pypto.runtime.compiler import Compilation, Stage
    from pypto.runtime.profile import Profile
    from pypto.runtime.session import Run
    from pypto.target.executable import Executable

DEFAULT_OPT_LEVEL = 2
OPT_LEVELS = (0, 1, 2, 3)


@dataclass(frozen=True)
class Options:
    """How a kernel is compiled.

    ``verify_each`` proves every pass on the arguments of the first call, or on drawn ones.
    ``use_cache`` lets later processes find the result; with ``verify_each`` it is made anew.
    """

    soc: str = DEFAULT_SOC
    opt_level: int = DEFAULT_OPT_LEVEL
    verify_each: bool = False
    use_cache: bool = True

    def __post_init__(self) -> None:
        load_soc(self.soc)
        if self.opt_level not in OPT_LEVELS:
            raise CompileError(
                "BAD_OPT_LEVEL", f"there is no -O{self.opt_level}", fix="choose 0, 1, 2 or 3"
            )


class Kernel:
    """A compiled function: NumPy arrays in, NumPy arrays out.

    ``last_profile`` is the profile of the latest call.
    """

    __name__: str

    def __init__(self, function: Callable[..., Any], options: Options | None = None) -> None:
        if not isinstance(function, FunctionType):
            raise CompileError(
                "NOT_A_FUNCTION",
                f"{describe(function)} is not a function written in Python",
                fix="put @pypto.kernel above a 'def'",
            )
        self.function = function
        self.options = options or Options()
        self.last_profile: Profile | None = None
        self._compiled: dict[str, Compilation] = {}
        functools.update_wrapper(self, function)

    def __repr__(self) -> str:
        options = self.options
        return f"<pypto kernel {self.__name__} for {options.soc} at -O{options.opt_level}>"

    def with_options(self, **changes: Any) -> Kernel:
        """The same function with other ``soc``, ``opt_level``, ``verify_each`` or ``use_cache``."""
        return Kernel(self.function, replace(self.options, **changes))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        from pypto.runtime.lazy import Tensor

        run = self.run(args, kwargs)
        if any(isinstance(value, Tensor) for value in (*args, *kwargs.values())):
            return filled(run.form, map(Tensor, run.results))
        return run.value

    def run(
        self,
        args: Sequence[Any],
        kwargs: dict[str, Any] | None = None,
        *,
        check_hazards: bool = False,
        timeline: Path | None = None,
    ) -> Run:
        """Call the kernel and say what the call cost; ``timeline`` names a trace to write."""
        from pypto.runtime.session import execute

        call = signature.bind(self.function, args, kwargs or {})
        compilation = self.compilation(call.types, call.arrays)
        run = execute(
            compilation.executable,
            call.arrays,
            compile_seconds=compilation.seconds,
            kernel=self.__name__,
            opt_level=self.options.opt_level,
            check_hazards=check_hazards,
            timeline=timeline,
        )
        shapes = [result.shape for result in run.results]
        dimensions = signature.dimensions_of(self.function, call.known_types)
        check_result(self.function, compilation.form, dimensions, shapes)
        self.last_profile = run.profile
        return replace(run, form=compilation.form)

    def compile(self, *types: Any) -> Executable:
        """Compile for argument types or example arrays; without any, for the annotations."""
        return self.compilation(self.argument_types(types)).executable

    def lower(self, *types: Any, level: str = "tensor") -> str:
        """The IR text at the end of a level: ``tensor``, ``tile`` or ``tik``."""
        from pypto.runtime.compiler import LevelRecorder

        recorder = LevelRecorder()
        self.compile_anew(self.argument_types(types), recorder)
        return recorder.text(level)

    def dump(self, folder: Path, *types: Any) -> list[Path]:
        """Compile and write one numbered file of IR per pass that changed something."""
        from pypto.runtime.dump import IrDump

        dump = IrDump(folder)
        self.compile_anew(self.argument_types(types), dump)
        return dump.files

    def argument_types(self, given: Sequence[Any]) -> tuple[Any, ...]:
        """Types, arrays or static values as the types to compile for."""
        if given:
            return signature.bind_types(self.function, given)
        declared = signature.declared_types(self.function)
        if declared is None:
            raise CompileError(
                "UNKNOWN_SHAPES",
                f"{self.__name__} declares no shapes to compile for",
                fix="annotate x: pypto.Tensor[(128, 768), pypto.float16], or pass types or "
                "example arrays",
            )
        return declared

    def compilation(
        self, types: tuple[Any, ...], inputs: Sequence[np.ndarray] | None = None
    ) -> Compilation:
        """The compiled form for argument types: from this process, the cache, or made anew.

        ``inputs`` are what passes are proven on.
        """
        from pypto.passes.pipelines import PIPELINES
        from pypto.runtime.compilation import Compilation

        options = self.options
        meaning = self.meaning(types)
        if meaning in self._compiled:
            return self._compiled[meaning]
        form = self.result_form(types)
        name, stored = None, None
        if meaning is not None and options.use_cache and not options.verify_each:
            facts = (meaning, self.__name__, form_key(form))
            pipeline = PIPELINES[f"O{options.opt_level}"]
            name = cache.executable_key(facts, options.soc, pipeline)
            stored = name and cache.find(name, options.soc)
        if stored:
            made = Compilation(stored, 0.0, form)
        else:
            made = replace(self.compile_anew(types, inputs=inputs), form=form)
        if meaning is not None and (stored or meaning == self.meaning(types)):
            self._compiled[meaning] = made
            if name and not stored:
                cache.store(name, made.executable)
        return made

    def meaning(self, types: tuple[Any, ...]) -> str | None:
        """A digest of all that compiling for ``types`` depends on; None when it cannot be known."""
        try:
            return fingerprint(self.function, types)
        except UnknownState as unknown:
            say_once(f"{self.__name__} is compiled anew on every call: it depends on {unknown}")
            return None

    def result_form(self, types: tuple[Any, ...]) -> Any:
        """What a call returns, with tensors that are types only; found without the compiler."""
        form = result_form(self.function, types)
        check_result(self.function, form, signature.dimensions_of(self.function, types))
        return form

    def compile_anew(
        self,
        types: tuple[Any, ...],
        observer: Callable[[Stage], None] | None = None,
        inputs: Sequence[np.ndarray] | None = None,
    ) -> Compilation:
        """Compile without the cache; ``observer`` sees the IR before and after every pass."""
        from pypto.runtime.compiler import compile_function

        return compile_function(
            self.function,
            types,
            name=self.__name__,
            options=self.options,
            observer=observer,
            inputs=inputs,
        )


@overload
def kernel(function: Callable[..., Any], /, *, soc: str = ..., opt_level: int = ...) -> Kernel: ...


@overload
def kernel(*, soc: str = ..., opt_level: int = ...) -> Callable[[Callable[..., Any]], Kernel]: ...


def kernel(
    function: Callable[..., Any] | None = None,
    /,
    *,
    soc: str = DEFAULT_SOC,
    opt_level: int = DEFAULT_OPT_LEVEL,
) -> Kernel | Callable[[Callable[..., Any]], Kernel]:
    """Make a kernel of a function: ``@kernel``, ``@kernel(opt_level=0)`` or ``kernel(f)``."""
    options = Options(soc, opt_level)
    if function is None:
        return functools.partial(Kernel, options=options)
    return Kernel(function, options)
