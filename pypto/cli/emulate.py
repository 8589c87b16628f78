"""``pyptoc emulate``: runs an Executable from a file."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pypto.cli.output import print_json
from pypto.cli.progress import progress
from pypto.errors import CompileError
from pypto.runtime.session import execute
from pypto.target.executable import Buffer, Executable


def emulate_command(
    file: Path,
    inputs: tuple[Path, ...],
    *,
    output: Path | None,
    timing_only: bool,
    check: bool,
    timeline: Path | None,
    as_json: bool,
) -> None:
    """Run the file on the given arrays, print what it cost and store the results."""
    executable = read_executable(file)
    arrays = [read_array(path) for path in inputs]
    if timing_only and not arrays:
        arrays = placeholders(executable)
    check_count(executable, arrays, file)
    arrays = [
        restored(array, executable.buffers[number].dtype.numpy)
        for array, number in zip(arrays, executable.inputs, strict=True)
    ]
    with progress(f"emulating {file.name}"):
        run = execute(
            executable,
            arrays,
            kernel=file.stem,
            timing_only=timing_only,
            check_hazards=check,
            compiled=False,
            timeline=timeline,
        )
    if output is not None:
        output.parent.mkdir(parents=True, exist_ok=True)
        names = [executable.buffers[number].name for number in executable.results]
        np.savez(output, **dict(zip(names, run.results, strict=True)))  # pyright: ignore
    if as_json:
        print_json([run.profile.as_json()])
        return
    print(run.profile.table())
    for number, result in zip(executable.results, run.results, strict=False):
        name = executable.buffers[number].name
        print(f"\n{name}: {result.dtype}{list(result.shape)}")
        print(np.array2string(result, threshold=32, precision=5))


def read_executable(file: Path) -> Executable:
    """An Executable from its binary or its text form, by the suffix of the file."""
    if not file.is_file():
        raise CompileError(
            "FILE_NOT_FOUND", f"there is no file {file}", fix="check the path and the folder"
        )
    if file.suffix == ".dvasm":
        from pypto.target.assembly import assemble

        return assemble(file.read_text(encoding="utf-8"), str(file))
    if file.suffix != ".dvbin":
        raise CompileError(
            "UNKNOWN_SUFFIX",
            f"{file} is neither a .dvbin nor a .dvasm file",
            fix="make one with `pyptoc compile KERNEL.py -o NAME.dvbin`",
        )
    from pypto.target.container import load

    return load(file)


def read_array(path: Path) -> np.ndarray:
    """An array from a ``.npy`` file; nothing in it is executed."""
    try:
        return np.load(path, allow_pickle=False)
    except OSError as error:
        raise CompileError("BAD_INPUT_FILE", f"{path}: {error.strerror or error}") from error
    except (ValueError, EOFError) as error:
        raise CompileError(
            "BAD_INPUT_FILE",
            f"{path} is no .npy file of numbers",
            fix="write it with numpy.save",
        ) from error


def check_count(executable: Executable, arrays: list[np.ndarray], file: Path) -> None:
    """Raise unless there is one array per input; the error names the inputs."""
    if len(arrays) == len(executable.inputs):
        return
    buffers = [executable.buffers[number] for number in executable.inputs]
    wanted = [f"{b.name}: {b.dtype.public_name}[{extents_of(b)}]" for b in buffers]
    raise CompileError(
        "INPUT_COUNT",
        f"{file} takes {len(buffers)} inputs, {len(arrays)} are given",
        notes=tuple(wanted),
        fix="give one .npy file each: --inputs A.npy B.npy, or only the time: --timing-only",
    )


def extents_of(buffer: Buffer) -> str:
    """The extents of a buffer as annotations write them."""
    return ", ".join(str(e) if isinstance(e, int) else "DYNAMIC" for e in buffer.shape)


def restored(array: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """NumPy stores bfloat16 as two raw bytes: give such an array its type back."""
    if array.dtype.kind == "V" and array.dtype.itemsize == dtype.itemsize:
        return array.view(dtype)
    return array


def placeholders(executable: Executable) -> list[np.ndarray]:
    """Arrays of the static input shapes that take no memory."""
    found = []
    for number in executable.inputs:
        buffer = executable.buffers[number]
        if not all(isinstance(extent, int) for extent in buffer.shape):
            raise CompileError(
                "DYNAMIC_SHAPE",
                f"the extents of input {buffer.name} are known at launch only",
                fix="give --inputs; of their values nothing is read with --timing-only",
            )
        zero = np.zeros((), buffer.dtype.numpy)
        found.append(np.broadcast_to(zero, buffer.resolved_shape(())))
    return found
