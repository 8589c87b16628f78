"""Runs a pipeline and proves every pass of it: the first pass that breaks the program is named.

Behind each pass the module keeps the laws of its level, prints and parses back to an equal module,
and is executed. A pass that says it is exact must leave every bit of the results as it was; behind
any other they must lie in the interval derived from the module that went into the pipeline.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType

from pypto.dialects.constants import ConstantStore
from pypto.dialects.context import make_context, parse_module, print_module
from pypto.dialects.host import ARGUMENT_NAME, BufferType
from pypto.dialects.host import ConstantOp as HostConstantOp
from pypto.dialects.pypto import ConstantOp
from pypto.dialects.verify import verify_module
from pypto.errors import CompileError, DeviceError, PyptoError
from pypto.ops.intervals import Interval
from pypto.passes.base import Pass
from pypto.passes.driver import Guard, Step, needs
from pypto.runtime.prove_culprit import culprit
from pypto.runtime.prove_inputs import MADE, random_inputs
from pypto.runtime.prove_run import bounds_of, check_order, execute, main_of

FIX = (
    "run 'pyptoc bisect' on the kernel for the smallest program this pass breaks, or look at the "
    "IR before and behind it with --dump-ir DIR"
)


@dataclass(frozen=True)
class Divergence:
    """What a pass did to a program.

    ``kind`` is ``bits`` or ``bound`` (a result changed), ``law`` (the module is not valid),
    ``text`` (it does not print and parse back), ``hazard`` (it is a race), or ``crash`` (the pass
    failed, or the program can no longer be executed). ``result``, ``position``, ``before`` and
    ``after`` say where a result changed and how; they are None for the other kinds.
    """

    pass_name: str
    kind: str
    result: int | None = None
    position: tuple[int, ...] | None = None
    before: float | int | None = None
    after: float | int | None = None


class BrokenPass(CompileError):
    """A pass broke the program; ``divergence`` says how."""

    def __init__(self, divergence: Divergence, message: str, **details: Any) -> None:
        super().__init__("PASS_BROKE_PROGRAM", message, fix=FIX, **details)
        self.divergence = divergence


def prove(
    module: ModuleOp,
    constants: ConstantStore,
    pipeline: str,
    inputs: Sequence[np.ndarray] | None = None,
    *,
    observer: Callable[..., None] | None = None,
) -> None:
    """Run ``pipeline`` over ``module`` in place and check the program behind every pass.

    Raises BrokenPass at the first pass that breaks something. Inputs are drawn when None.
    """
    from pypto.runtime.compiler import run_passes

    guard = Prover(constants, inputs)
    reason = guard.obstacle(module)
    if reason is not None:
        raise CompileError("NOT_EXECUTABLE", f"the module cannot be executed: {reason}")
    run_passes(module, constants, pipeline, observer=observer, guard=guard)


class Prover(Guard):
    """Judges every pass of a run; ``inputs`` are drawn when None.

    A module that cannot be executed is judged by its laws and its text only: see ``obstacle``.
    """

    def __init__(
        self, constants: ConstantStore, inputs: Sequence[np.ndarray] | None = None
    ) -> None:
        self.constants = constants
        self.inputs = inputs
        self.made = MADE if inputs is None else "the arguments given"
        self.executes = False
        self.text = ""
        self.results: tuple[np.ndarray, ...] = ()
        self.bounds: tuple[Interval, ...] = ()

    def obstacle(self, module: ModuleOp) -> str | None:
        """Why a module cannot be executed; None when it can."""
        main = main_of(module)
        if main is None:
            return "it has no function @main"
        if main.is_declaration:
            return "@main has no body"
        for argument in main.body.block.args:
            if not isinstance(argument.type, TensorType | BufferType):
                return f"@main takes {argument.type}, which is no tensor"
        for op in module.walk():
            is_constant = isinstance(op, ConstantOp | HostConstantOp)
            if is_constant and op.resource.data not in self.constants:
                return f"the constant {op.resource.data} is not at hand"
        return None

    def begin(self, module: ModuleOp) -> None:
        super().begin(module)
        self.text = print_module(module)
        self.executes = self.obstacle(module) is None
        if self.executes:
            if self.inputs is None:
                self.inputs = random_inputs(module)
            try:
                check_order(module, self.constants, self.inputs)
                self.results = execute(module, self.constants, self.inputs)
                self.bounds = bounds_of(module, self.constants, self.inputs)
            except PyptoError as error:
                error.notes += ("no pass has run: the module that was given cannot be executed",)
                raise

    def apply(self, one: Pass, context: Context, module: ModuleOp) -> None:
        try:
            one.apply(context, module)
        except PyptoError:
            raise
        except Exception as error:  # what a broken pass raises is the finding; it is named and kept
            raise BrokenPass(
                Divergence(one.name, "crash"),
                f"pass {one.name!r} failed: {type(error).__name__}: {error}",
                notes=needs(one),
            ) from error

    def judge(self, one: Pass, module: ModuleOp, step: Step) -> None:
        text = print_module(module)
        self.check_laws(one, module)
        self.check_text(one, module, text)
        if self.executes and text != self.text:
            self.check_results(one, module)
        self.text = text

    def check_laws(self, one: Pass, module: ModuleOp) -> None:
        """The module is valid."""
        try:
            verify_module(module, f"the module behind pass {one.name!r}")
        except CompileError as error:
            raise BrokenPass(
                Divergence(one.name, "law"), error.message, location=error.location
            ) from error

    def check_text(self, one: Pass, module: ModuleOp, text: str) -> None:
        """The module prints and parses back to an equal one."""
        divergence = Divergence(one.name, "text")
        try:
            parsed = parse_module(text, "module.mlir", make_context())
        except CompileError as error:
            raise BrokenPass(
                divergence,
                f"what pass {one.name!r} leaves does not parse: {error.message}",
                notes=tuple(text.splitlines()[error.location.line - 1 :][:1])
                if error.location
                else (),
            ) from error
        again = print_module(parsed)
        if again == text and parsed.is_structurally_equivalent(module):
            return
        pairs = zip(text.splitlines(), again.splitlines(), strict=False)
        changed = next(((a.strip(), b.strip()) for a, b in pairs if a != b), None)
        if changed is not None:
            notes = (f"printed  {changed[0]}", f"then     {changed[1]}")
        else:
            notes = tuple(
                f"the text of {a.name} does not tell all of its attributes"
                for a, b in zip(module.walk(), parsed.walk(), strict=False)
                if a.attributes != b.attributes or a.properties != b.properties
            )[:1]
        raise BrokenPass(
            divergence,
            f"what pass {one.name!r} leaves is another module after printing and parsing",
            notes=notes,
        )

    def check_results(self, one: Pass, module: ModuleOp) -> None:
        """The module gives the results it should."""
        assert self.inputs is not None
        results = self.executed(one, module, self.inputs)
        if len(results) != len(self.results):
            kind = "bits" if one.exact else "bound"
            raise BrokenPass(
                Divergence(one.name, kind),
                f"pass {one.name!r} made {len(results)} results of {len(self.results)}",
            )
        for number, (before, after) in enumerate(zip(self.results, results, strict=True)):
            if before.shape != after.shape or before.dtype != after.dtype:
                raise BrokenPass(
                    Divergence(one.name, "bits" if one.exact else "bound", number),
                    f"pass {one.name!r} changed result {number} from {before.dtype}"
                    f"{list(before.shape)} to {after.dtype}{list(after.shape)}",
                )
        for number, (after, wrong) in enumerate(
            zip(results, self.wrong(one, results), strict=True)
        ):
            if wrong.any():
                raise self.changed(one, module, number, after, wrong)
        self.results = results

    def bound(self, one: Pass, number: int) -> Interval | None:
        """The interval of a result behind a pass; None when every bit must stay."""
        return None if one.exact else self.bounds[number]

    def wrong(self, one: Pass, results: Sequence[np.ndarray]) -> list[np.ndarray]:
        """For each result which elements are not what they may be behind a pass."""
        found = []
        for number, (before, after) in enumerate(zip(self.results, results, strict=True)):
            bound = self.bound(one, number)
            found.append(same_bits(before, after) if bound is None else bound.contains(after))
        return [~np.asarray(right) for right in found]

    def executed(
        self, one: Pass, module: ModuleOp, inputs: Sequence[np.ndarray]
    ) -> tuple[np.ndarray, ...]:
        """The results of a module; whatever stops it is the doing of the pass."""
        try:
            check_order(module, self.constants, inputs)
        except DeviceError as error:
            raise self.racing(one, error) from error
        except CompileError as error:
            raise self.crashed(one, error) from error
        try:
            return execute(module, self.constants, inputs)
        except Exception as error:  # so is what running its broken module raises
            if isinstance(error, DeviceError) and error.code.startswith("RACE_"):
                raise self.racing(one, error) from error
            raise self.crashed(one, error) from error

    def racing(self, one: Pass, error: DeviceError) -> BrokenPass:
        return BrokenPass(
            Divergence(one.name, "hazard"),
            f"pass {one.name!r} left a hazard: {error.code}: {error.message}",
            location=error.location,
            notes=error.notes,
        )

    def crashed(self, one: Pass, error: Exception) -> BrokenPass:
        what = f"what pass {one.name!r} leaves cannot be executed"
        divergence = Divergence(one.name, "crash")
        if not isinstance(error, PyptoError):
            return BrokenPass(divergence, f"{what}: {type(error).__name__}: {error}")
        return BrokenPass(
            divergence,
            f"{what}: {error.code}: {error.message}",
            location=error.location,
            notes=error.notes,
        )

    def changed(
        self, one: Pass, module: ModuleOp, number: int, after: np.ndarray, wrong: np.ndarray
    ) -> BrokenPass:
        """The error for a result that is not what it was."""
        before, bound = self.results[number], self.bound(one, number)
        position = tuple(np.argwhere(wrong)[0].tolist())
        old, new = before[position], after[position]
        notes = []
        if bound is None:
            notes.append("the pass is exact: every bit must stay as it was")
        else:
            low, high = bound.low[position], bound.high[position]
            notes.append(f"the input of the pipeline allows {low} to {high} there")
        notes.append(f"{np.count_nonzero(wrong)} of {wrong.size} elements of the result are wrong")
        kernel = self.culprit(one, module)
        if kernel is not None:
            notes.append(f"kernel {kernel!r} is wrong behind the pass")
        notes.append(f"the inputs are {self.made}")
        kind = "bits" if bound is None else "bound"
        return BrokenPass(
            Divergence(one.name, kind, number, position, old.item(), new.item()),
            f"pass {one.name!r} changed result {number} of {program_name(module)} "
            f"at {list(position)}: {old} became {new}",
            notes=tuple(notes),
        )

    def culprit(self, one: Pass, module: ModuleOp) -> str | None:
        """The kernel that is to blame for wrong results."""
        assert self.inputs is not None
        inputs = self.inputs

        def is_wrong(mixed: ModuleOp) -> bool:
            results = execute(mixed, self.constants, inputs)
            return any(wrong.any() for wrong in self.wrong(one, results))

        before = parse_module(self.text, "module.mlir")
        return culprit(before, module, self.constants, inputs, is_wrong)


def program_name(module: ModuleOp) -> str:
    """What messages call a module: the name of its kernel."""
    name = module.attributes.get(ARGUMENT_NAME)
    return name.data if name is not None else "@main"  # pyright: ignore[reportAttributeAccessIssue]


def same_bits(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Which elements are equal to the bit; NaN equals NaN whatever it carries."""
    if a.dtype.kind in "iub":
        return np.asarray(a == b)
    bits = np.dtype(f"u{a.dtype.itemsize}")
    equal = np.ascontiguousarray(a).view(bits) == np.ascontiguousarray(b).view(bits)
    return np.asarray(equal.reshape(a.shape) | (np.isnan(a) & np.isnan(b)))
