"""The Python frontend: from the syntax tree of a function to the tensor level, never by tracing."""

from pypto.frontend.module import build_module

__all__ = ["build_module"]
