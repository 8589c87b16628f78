"""Programs that tests prove the passes on, and ways to spoil them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.rewriter import Rewriter

import pypto
from pypto.dialects.constants import ConstantStore
from pypto.dialects.tik_instructions import InstructionOp
from pypto.frontend.module import build_module
from pypto.passes.pipelines import PIPELINES
from pypto.runtime.prove import prove
from pypto.runtime.signature import bind

DRAW = np.random.default_rng(0)
X = DRAW.normal(0, 1, (5, 37)).astype(np.float32)
A, B = (DRAW.normal(0, 1, shape).astype(np.float16) for shape in ((20, 40), (40, 24)))


def chain(x):
    return pypto.exp(x) * 2.0 + 1.0


def softmax(x):
    return pypto.softmax(x, dim=-1)


def product(a, b):
    return pypto.relu(a @ b)


def two_kernels(x):
    y = pypto.sum(x, 0)
    return x.T * 3.0, y


def built(function: Callable[..., object], *inputs: np.ndarray) -> tuple[ModuleOp, ConstantStore]:
    types = bind(function, inputs, {}).types
    return build_module(function, types, name=function.__name__)


def compiled(function: Callable[..., object], *inputs: np.ndarray) -> ModuleOp:
    module, constants = built(function, *inputs)
    prove(module, constants, PIPELINES["O2"], inputs)
    return module


def wrong_scalars(module: ModuleOp, kernel: str) -> None:
    """Additions of a kernel of instructions add 0.5 more."""
    for function in module.ops:
        if isinstance(function, FuncOp) and function.sym_name.data == kernel:
            for op in list(function.walk()):
                if isinstance(op, InstructionOp) and op.row.mnemonic == "vmuls.f32":
                    Rewriter.replace_op(op, op.with_fields(scalar=3.5), [])
