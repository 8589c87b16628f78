"""Text assembly: an Executable as readable text (`.dvasm`), and back bit for bit."""

from pypto.target.assembly.assembler import assemble
from pypto.target.assembly.disassembler import disassemble

__all__ = ["assemble", "disassemble"]
