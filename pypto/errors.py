"""The one user error: a stable code, a message, the user's line with a caret, notes and a fix."""

from __future__ import annotations

import linecache
from dataclasses import dataclass


@dataclass(frozen=True)
class SourceLocation:
    """A place in a user's file; lines and columns count from 1."""

    file: str
    line: int
    column: int
    end_column: int | None = None

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"

    @classmethod
    def parse(cls, text: str) -> SourceLocation | None:
        """The place written ``file:line:column``; None when it is not written so."""
        parts = text.rsplit(":", 2)
        if len(parts) != 3 or not (parts[1].isdigit() and parts[2].isdigit()):
            return None
        return cls(parts[0], int(parts[1]), int(parts[2]))

    def excerpt(self) -> str:
        """The source line with a caret below it, or nothing when the file cannot be read."""
        linecache.checkcache(self.file)
        text = linecache.getline(self.file, self.line).rstrip("\n")
        if not text.strip():
            return ""
        margin = f"{self.line:>5} | "
        indent = "".join("\t" if c == "\t" else " " for c in text[: self.column - 1])
        width = 1 if self.end_column is None else max(1, self.end_column - self.column)
        caret = "^" + "~" * (min(width, len(text) - self.column + 1) - 1)
        return f"{margin}{text}\n{' ' * (len(margin) - 2)}| {indent}{caret}"


class PyptoError(Exception):
    """A mistake or a limit the user can act on; ``str()`` is the whole message."""

    def __init__(
        self,
        code: str,
        message: str,
        *,
        location: SourceLocation | None = None,
        notes: tuple[str, ...] = (),
        fix: str | None = None,
    ) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message
        self.location = location
        self.notes = tuple(notes)
        self.fix = fix

    def __str__(self) -> str:
        prefix = "" if self.location is None else f"{self.location}: "
        lines = [f"{prefix}error[{self.code}]: {self.message}"]
        excerpt = "" if self.location is None else self.location.excerpt()
        if excerpt:
            lines.append(excerpt)
        lines += [f"note: {note}" for note in self.notes]
        if self.fix:
            lines.append(f"fix: {self.fix}")
        return "\n".join(lines)

    def __reduce__(self) -> tuple[object, ...]:
        state = (self.code, self.message, self.location, self.notes, self.fix)
        return _rebuild, (type(self), *state)


def _rebuild(
    kind: type[PyptoError],
    code: str,
    message: str,
    location: SourceLocation | None,
    notes: tuple[str, ...],
    fix: str | None,
) -> PyptoError:
    return kind(code, message, location=location, notes=notes, fix=fix)


class CompileError(PyptoError):
    """The program, a pass or a file is not acceptable to the compiler."""


class DeviceError(PyptoError):
    """The device cannot hold or run the program (out of memory, deadlock, out of bounds)."""
