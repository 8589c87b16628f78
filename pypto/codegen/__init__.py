"""From the last level of the IR to Programs and the Executable that launches them."""

from pypto.codegen.executable import build_executable
from pypto.codegen.kernel import build_program

__all__ = ["build_executable", "build_program"]
