"""``pyptoc compile``: a kernel or a module to the IR of a level, assembly text or a binary."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pypto.cli.ir_file import read_module, read_text, write_text
from pypto.cli.kernel_file import KernelCase, load_cases
from pypto.cli.observers import make_observer, reporter
from pypto.cli.output import print_json
from pypto.cli.progress import progress
from pypto.errors import CompileError
from pypto.passes.pipelines import PIPELINES
from pypto.runtime import signature
from pypto.runtime.compiler import (
    LevelRecorder,
    Observer,
    build_executable,
    compile_module,
    level_of,
)
from pypto.target.assembly import disassemble
from pypto.target.container import save
from pypto.target.executable import Executable

SUFFIXES = {".dvasm": "asm", ".dvbin": "bin", ".mlir": "tik"}
FILE_NAMES = {"asm": ".dvasm", "bin": ".dvbin"}


@dataclass(frozen=True)
class Request:
    """What to write, and how to compile for it."""

    emit: str
    output: Path | None
    soc: str
    opt_level: int
    dump_ir: Path | None
    print_after_all: bool
    print_after: tuple[str, ...]
    verify_each: bool
    as_json: bool
    use_cache: bool

    @property
    def shows_ir(self) -> bool:
        """Whether the passes have to run before the eyes of the user."""
        shown = self.dump_ir is not None or self.print_after_all or self.print_after
        return bool(shown) or self.verify_each or self.emit not in FILE_NAMES

    def observer(self, recorder: LevelRecorder, subfolder: str, *others: Observer) -> Observer:
        """What watches the passes; dumps go to a folder of their own."""
        folder = self.dump_ir
        if folder is not None and subfolder:
            folder = folder / subfolder
        return make_observer(
            recorder,
            *others,
            dump_ir=folder,
            print_after_all=self.print_after_all,
            print_after=self.print_after,
        )


def compile_command(target: str, request: Request) -> None:
    """Compile a kernel file or a module and write what the request names."""
    if target == "-" or target.endswith(".mlir"):
        recorder = LevelRecorder()
        with progress(f"compiling {target}"):
            executable = compile_ir(target, request, recorder)
        write(executable, recorder, request, Path(target).stem if target != "-" else "stdin")
        return
    cases = load_cases(target)
    if len(cases) > 1 and request.output is not None:
        raise CompileError(
            "SEVERAL_KERNELS",
            f"{target} has {len(cases)} kernels and -o names one file",
            fix=f"name one: {target}:{cases[0].name}",
        )
    for case in cases:
        recorder = LevelRecorder()
        subfolder = case.name if len(cases) > 1 else ""
        with progress(f"compiling {case.name}") as say:
            others = [reporter(say, case.name)] if request.verify_each else []
            observer = request.observer(recorder, subfolder, *others)
            executable = compile_case(case, request, observer)
        write(executable, recorder, request, case.name)


def emit_of(output: Path | None) -> str:
    """What to emit by the suffix of the path, assembly text without one."""
    if output is None:
        return "asm"
    if output.suffix not in SUFFIXES:
        raise CompileError(
            "UNKNOWN_SUFFIX",
            f"the suffix of {output} does not say what to write",
            fix=f"end the path in {', '.join(SUFFIXES)}, or give --emit",
        )
    return SUFFIXES[output.suffix]


def compile_case(case: KernelCase, request: Request, observer: Observer) -> Executable:
    """Compile a kernel for its declared types, else for its example inputs."""
    kernel = case.kernel.with_options(
        soc=request.soc,
        opt_level=request.opt_level,
        verify_each=request.verify_each,
        use_cache=request.use_cache,
    )
    types = signature.declared_types(kernel.function)
    inputs = None
    if types is None or (request.verify_each and case.example_inputs is not None):
        call = signature.bind(kernel.function, case.inputs(), {})
        types, inputs = call.types, call.arrays
    if request.use_cache and not request.shows_ir:
        return kernel.compilation(types).executable
    return kernel.compile_anew(types, observer, inputs).executable


def compile_ir(file: str, request: Request, recorder: LevelRecorder) -> Executable:
    """Compile a module of the tensor level, or freeze one that is already fully lowered."""
    module, constants = read_module(read_text(file), file)
    observer = request.observer(recorder, "")
    level = level_of(module)
    if level == "tensor":
        return compile_module(
            module,
            constants,
            soc=request.soc,
            pipeline=PIPELINES[f"O{request.opt_level}"],
            observer=observer,
            verify_each=request.verify_each,
        )
    return build_executable(module, constants)


def write(executable: Executable, recorder: LevelRecorder, request: Request, name: str) -> None:
    """Write what was asked for to the output path, else to stdout; with JSON into the object."""
    path, text = request.output, ""
    if request.emit == "bin":
        path = path or Path(f"{name}.dvbin")
        path.parent.mkdir(parents=True, exist_ok=True)
        save(executable, path)
    else:
        asm = request.emit == "asm"
        text = disassemble(executable) if asm else recorder.text(request.emit)
        if path is not None or not request.as_json:
            write_text(text, path)
        if path is not None and not asm:
            recorder.constants.save(path.parent)
    if request.as_json:
        print_json(
            describe(executable, request, name)
            | {
                "path": str(path) if path else None,
                "text": None if path else text,
            }
        )
    elif path is not None:
        print(f"wrote {path}", file=sys.stderr)


def describe(executable: Executable, request: Request, name: str) -> dict[str, Any]:
    """An Executable in numbers."""
    return {
        "kernel": name,
        "soc": executable.soc,
        "opt_level": request.opt_level,
        "emit": request.emit,
        "launches": len(executable.steps),
        "programs": [
            {"name": program.name, "core": program.core.value, "rows": len(program.rows)}
            for program in executable.programs
        ],
        "constant_bytes": sum(value.size for value in executable.constants.values()),
    }
