from pypto.target.instruction import Instruction


def body_call(row: Instruction): raise NotImplementedError
