"""The feed-forward block of BERT-base: 512 tokens, 768 to 3072 to 768, float16.

The weights are arrays of this module: the kernel captures them, and the compiler keeps them as
constants of the program.
"""

from __future__ import annotations

import numpy as np

import pypto

TOKENS, WIDTH, INNER = 512, 768, 3072

draw = np.random.default_rng(0)


def weights(*shape: int) -> np.ndarray:
    """Drawn float16 weights; inside a kernel an array acts as a tensor."""
    return draw.normal(0, 0.02, shape).astype(np.float16)


WEIGHT_IN, BIAS_IN = weights(WIDTH, INNER), weights(INNER)
WEIGHT_OUT, BIAS_OUT = weights(INNER, WIDTH), weights(WIDTH)


@pypto.kernel
def ffn(x: pypto.Tensor[(TOKENS, WIDTH), pypto.float16]) -> pypto.Tensor:
    hidden = pypto.gelu(x @ WEIGHT_IN + BIAS_IN)
    return hidden @ WEIGHT_OUT + BIAS_OUT


def example_inputs() -> tuple[np.ndarray, ...]:
    return (np.random.default_rng(1).normal(0, 1, (TOKENS, WIDTH)).astype(np.float16),)
