"""From the last level of the IR to Programs and the Executable that launches them."""

from pypto.codegen.executable import build_executable, build_host, kernels_of
from pypto.codegen.kernel import build_program, core_kind

__all__ = ["build_executable", "build_host", "build_program", "core_kind", "kernels_of"]
