"""Source locations: between the IR's ``loc(...)`` and the errors' ``SourceLocation``."""

from __future__ import annotations

from xdsl.dialects.builtin import (
    CallSiteLoc,
    FileLineColLoc,
    FusedLoc,
    IntAttr,
    LocationAttr,
    NameLoc,
    StringAttr,
    UnknownLoc,
)
from xdsl.ir import Attribute, Operation, SSAValue

from pypto.errors import SourceLocation

UNKNOWN = UnknownLoc()


def file_location(file: str, line: int, column: int) -> FileLineColLoc:
    """The IR location of a place in a file."""
    return FileLineColLoc(StringAttr(file), IntAttr(line), IntAttr(column))


def to_ir(location: SourceLocation | None) -> LocationAttr:
    """The IR location of a source location (the end column is not kept)."""
    if location is None:
        return UNKNOWN
    return file_location(location.file, location.line, location.column)


def from_ir(location: Attribute) -> SourceLocation | None:
    """The file, line and column an IR location stands for, None when it is unknown."""
    match location:
        case FileLineColLoc():
            return SourceLocation(location.filename.data, location.line.data, location.column.data)
        case CallSiteLoc():
            return from_ir(location.callee) or from_ir(location.caller)
        case NameLoc():
            return from_ir(location.location)
        case FusedLoc():
            parts = map(from_ir, location.locations)  # pyright: ignore[reportArgumentType]
            return next((part for part in parts if part is not None), None)
        case _:
            return None


def source_of(place: Operation | SSAValue) -> SourceLocation | None:
    """The source location of an operation, or of the operation or block argument of a value."""
    if isinstance(place, Operation):
        return from_ir(place.location)
    owner = place.owner
    if isinstance(owner, Operation):
        return from_ir(owner.location)
    return from_ir(owner.args[place.index].location)  # pyright: ignore[reportAttributeAccessIssue]


def nearest_source(op: Operation) -> SourceLocation | None:
    """The source location of an operation, else of the innermost one around it that has one."""
    around: Operation | None = op
    while around is not None:
        location = source_of(around)
        if location is not None:
            return location
        around = around.parent_op()
    return None
