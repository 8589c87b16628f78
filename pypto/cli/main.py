"""The commands and their options; each command's work is in the file of its name."""

from __future__ import annotations

import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from pypto.errors import PyptoError
from pypto.target.soc import DEFAULT_SOC

app = typer.Typer(
    name="pyptoc",
    help="Compile Python tensor functions to Da Vinci instruction streams and run them, to the "
    "cycle, on an emulated AI core.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class Emit(StrEnum):
    """What ``compile`` writes."""

    TENSOR = "tensor"
    TILE = "tile"
    TIK = "tik"
    ASM = "asm"
    BIN = "bin"


Target = Annotated[str, typer.Argument(metavar="FILE.py[:KERNEL]", show_default=False)]
Soc = Annotated[str, typer.Option("--soc", metavar="NAME|FILE.toml", help="The machine.")]
OptLevel = Annotated[
    int, typer.Option("--opt-level", "-O", min=0, max=3, help="Optimisation level: -O0 to -O3.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON value.")]
VerifyEach = Annotated[
    bool, typer.Option("--verify-each", help="Prove every pass: laws, text and results.")
]
NoCache = Annotated[bool, typer.Option("--no-cache", help="Neither read nor write the cache.")]
Check = Annotated[bool, typer.Option("--check", help="Prove every launch free of hazards.")]
DumpIr = Annotated[
    Path | None,
    typer.Option("--dump-ir", metavar="DIR", help="One numbered file per pass that changed IR."),
]
PrintAfterAll = Annotated[
    bool, typer.Option("--print-ir-after-all", help="Print the IR after every pass to stderr.")
]
PrintAfter = Annotated[
    list[str] | None,
    typer.Option("--print-ir-after", metavar="PASS", help="Print the IR after this pass."),
]
Output = Annotated[Path | None, typer.Option("-o", "--output", metavar="PATH")]
Timeline = Annotated[
    Path | None,
    typer.Option("--timeline", metavar="T.json", help="Write a Chrome trace (Perfetto opens it)."),
]


def show_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        print(f"pyptoc {version('pyptoc')}")
        raise typer.Exit


@app.callback()
def options(
    version_: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Show it.")
    ] = False,
) -> None:
    """Options before the command."""


@app.command()
def run(
    target: Target,
    soc: Soc = DEFAULT_SOC,
    opt_level: OptLevel = 2,
    check: Check = False,
    json: Json = False,
    timeline: Timeline = None,
    verify_each: VerifyEach = False,
    no_cache: NoCache = False,
) -> None:
    """Compile the kernels of a file, run them on their example inputs and compare the results."""
    from pypto.cli.run import run_command

    ok = run_command(
        target,
        soc=soc,
        opt_level=opt_level,
        check=check,
        as_json=json,
        timeline=timeline,
        verify_each=verify_each,
        use_cache=not no_cache,
    )
    raise typer.Exit(0 if ok else 1)


@app.command("compile")
def compile_(
    target: Annotated[str, typer.Argument(metavar="FILE.py[:KERNEL]|FILE.mlir")],
    emit: Annotated[
        Emit | None, typer.Option("--emit", help="Default: by the suffix of -o, else asm.")
    ] = None,
    output: Output = None,
    soc: Soc = DEFAULT_SOC,
    opt_level: OptLevel = 2,
    dump_ir: DumpIr = None,
    print_ir_after_all: PrintAfterAll = False,
    print_ir_after: PrintAfter = None,
    verify_each: VerifyEach = False,
    no_cache: NoCache = False,
    json: Json = False,
) -> None:
    """Compile a kernel and write the IR of a level, assembly text or a binary."""
    from pypto.cli.compile import Request, compile_command, emit_of

    request = Request(
        emit=emit.value if emit else emit_of(output),
        output=output,
        soc=soc,
        opt_level=opt_level,
        dump_ir=dump_ir,
        print_after_all=print_ir_after_all,
        print_after=tuple(print_ir_after or ()),
        verify_each=verify_each,
        as_json=json,
        use_cache=not no_cache,
    )
    compile_command(target, request)


@app.command()
def opt(
    file: Annotated[str, typer.Argument(metavar="FILE.mlir", help="- reads standard input.")],
    pipeline: Annotated[
        str, typer.Option("-p", "--passes", metavar="PIPELINE", help="'pass{option=value},pass'")
    ] = "",
    output: Output = None,
    dump_ir: DumpIr = None,
    print_ir_after_all: PrintAfterAll = False,
    print_ir_after: PrintAfter = None,
    verify_each: VerifyEach = False,
) -> None:
    """Run passes over the IR of any level and print the result."""
    from pypto.cli.opt import opt_command

    opt_command(
        file,
        pipeline,
        output=output,
        dump_ir=dump_ir,
        print_after_all=print_ir_after_all,
        print_after=tuple(print_ir_after or ()),
        verify_each=verify_each,
    )


@app.command()
def bisect(
    target: Annotated[
        str, typer.Argument(metavar="FILE.py[:KERNEL]|FILE.mlir", show_default=False)
    ],
    soc: Annotated[
        str | None,
        typer.Option(
            "--soc",
            metavar="NAME|FILE.toml",
            help=f"The machine; default: that of the module, else {DEFAULT_SOC}.",
        ),
    ] = None,
    opt_level: OptLevel = 2,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="REPRO.mlir",
            help="Where to write the small program; default: KERNEL_reproducer.mlir.",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Find the first pass that breaks a kernel, and shrink the kernel to what it still breaks."""
    from pypto.cli.bisect import bisect_command

    ok = bisect_command(target, soc=soc, opt_level=opt_level, output=output, as_json=json)
    raise typer.Exit(0 if ok else 1)


@app.command()
def emulate(
    file: Annotated[Path, typer.Argument(metavar="FILE.dvbin|FILE.dvasm")],
    inputs: Annotated[
        list[Path] | None,
        typer.Option("--inputs", metavar="A.npy …", help="One array per input, in order."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="R.npz", help="Store the results.")
    ] = None,
    timing_only: Annotated[
        bool, typer.Option("--timing-only", help="Cycles without values; needs no inputs.")
    ] = False,
    check: Check = False,
    timeline: Timeline = None,
    json: Json = False,
) -> None:
    """Run a compiled or hand-written executable."""
    from pypto.cli.emulate import emulate_command

    emulate_command(
        file,
        tuple(inputs or ()),
        output=output,
        timing_only=timing_only,
        check=check,
        timeline=timeline,
        as_json=json,
    )


@app.command()
def ops(name: Annotated[str, typer.Argument()] = "", json: Json = False) -> None:
    """List the operators, or describe one."""
    from pypto.cli.tables import ops_command

    ops_command(name, as_json=json)


@app.command()
def isa(
    name: Annotated[str, typer.Argument()] = "",
    soc: Annotated[
        str, typer.Option("--soc", metavar="NAME|FILE.toml", help="Only what this machine has.")
    ] = "",
    json: Json = False,
) -> None:
    """List the instructions, or describe one."""
    from pypto.cli.tables import isa_command

    isa_command(name, soc=soc, as_json=json)


@app.command("soc")
def soc_(
    name: Annotated[str, typer.Argument()] = "",
    other: Annotated[str, typer.Argument()] = "",
    json: Json = False,
) -> None:
    """List the machines, show the figures of one with their sources, or compare two."""
    from pypto.cli.machines import soc_command

    soc_command(name, other, as_json=json)


@app.command()
def bench(
    suite: Annotated[str, typer.Argument(metavar="[SUITE[.NAME]]")] = "",
    settings: Annotated[list[str] | None, typer.Argument(metavar="[KEY=VALUE …]")] = None,
    list_: Annotated[bool, typer.Option("--list", help="List suites and their rows.")] = False,
    json: Json = False,
) -> None:
    """Run a benchmark suite."""
    from pypto.cli.bench import bench_command

    ok = bench_command(suite, tuple(settings or ()), listing=list_, as_json=json)
    raise typer.Exit(0 if ok else 1)


@app.command("cache")
def cache_(
    clear: Annotated[bool, typer.Option("--clear", help="Remove everything in it.")] = False,
    json: Json = False,
) -> None:
    """Show where compiled kernels are kept and how large they are, or remove them."""
    from pypto.cli.cache import cache_command

    cache_command(clear=clear, as_json=json)


def spread(arguments: list[str], option: str) -> list[str]:
    """``--inputs a b`` as ``--inputs a --inputs b``."""
    result: list[str] = []
    open_ = False
    for argument in arguments:
        if argument.startswith("-"):
            open_ = argument == option
        elif open_ and result[-1] != option:
            result.append(option)
        result.append(argument)
    return result


def main(arguments: list[str] | None = None) -> int:
    """Run a command; returns the exit code: 0 ok, 1 the work failed, 2 wrong usage."""
    words = sys.argv[1:] if arguments is None else arguments
    try:
        app(spread(words, "--inputs"), prog_name="pyptoc")
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else 0
    except PyptoError as error:
        print(error, file=sys.stderr)
        return 1
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        print(f"error[IO]: {error}", file=sys.stderr)
        return 1
    except (
        Exception
    ) as error:  # the last resort: any bug of ours is reported as one, without a trace
        if os.environ.get("PYPTO_TRACEBACK"):
            raise
        print(
            f"error[INTERNAL]: {type(error).__name__}: {error}\n"
            "note: this is a bug in pypto, not in your program\n"
            "fix: report it with the traceback that PYPTO_TRACEBACK=1 shows",
            file=sys.stderr,
        )
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
