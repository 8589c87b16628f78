"""What a kernel may compute while it is compiled: numbers, texts, tuples, tests, loops."""

from __future__ import annotations

import numpy as np
import pytest

import pypto

X = np.linspace(-2, 2, 24, dtype=np.float32).reshape(4, 6)
BIASES = (1.0, 2.0, 3.0)
TABLE = {"scale": 2.0, "shift": 1.0}


@pypto.kernel
def stars_in_displays_and_calls(x):
    first, *rest = BIASES
    *most, last = (*rest, first)
    lengths = [*most, last, *()]
    y = pypto.maximum(*(x, x * last))
    return pypto.concat([y, *[x + b for b in lengths]], dim=0)


@pypto.kernel
def nested_targets(x):
    (a, (b, *others)), c = (x, (x + 1, x + 2, x + 3)), 4.0
    low, *_, high = pypto.split(a, 3, dim=1)
    return pypto.concat([low, high], dim=1) * c + others[1][:, :4] - b[:, 2:]


@pypto.kernel
def comprehensions(x):
    pairs = [(i, b) for i, b in enumerate(BIASES) if i != 1]
    by_name = {name: x * value for name, value in zip(("a", "b"), BIASES[1:])}  # noqa: B905
    ranks = {i % 2 for i in range(5)}
    grid = [x[i, j] for i in range(2) for j in range(3)]
    total = sum(tuple(b for _, b in pairs)) + len(ranks)
    return by_name["a"] + by_name["b"] + total + grid[5]


@pypto.kernel
def names_end_with_their_comprehension(x):
    i = 10.0
    found = [(largest := b) for i in range(2) for b in BIASES]
    return x * i + largest + len(found)


@pypto.kernel
def branches(x, mode="relu", *, deep=True):
    y = pypto.relu(x) if mode == "relu" else x
    if deep and 0 < x.ndim <= 2 < len(BIASES):
        y += 1
    elif not deep:
        pass
    else:
        del_ = 3
        y = y * del_
    return y


@pypto.kernel
def kinds(x, by=2):
    if isinstance(x, pypto.Tensor) and not isinstance(x, int) and isinstance(by, int | float):
        x = x + 1
    if x.dtype == pypto.float32 and x.dtype == np.float32 and x.dtype != np.float16:
        x = x + 2
    if x.dtype in (pypto.float16, pypto.bfloat16):
        x = x + 100
    return x * len(x) + abs(-by) + min(x.shape) + pow(x, 2)


@pypto.kernel
def own_lists_change(x):
    parts = []
    parts += [x]
    parts.append(x + 1)
    parts[0] = x * 2
    named = dict(TABLE)
    named["shift"] = 5.0
    named["scale"] *= 2
    copied = list(BIASES)
    copied.reverse()
    return (parts[0] + parts[1]) * named["scale"] + named["shift"] + copied[0]


@pypto.kernel
def texts(x, name="x"):
    """Docstring."""
    rows, columns = x.shape
    assert rows == 4, f"{name!r} has {rows:>3} rows, not {x.shape[0] / 2:.1f}"
    text = f"{name}-{columns:03d}"
    if text != "x-006":
        raise ValueError(f"unexpected {text}")
    return x + len(text)


@pypto.kernel
def loops(x):
    for i in reversed(range(3)):
        for scale, name in zip((2.0, 3.0), "ab"):  # noqa: B905
            if name == "b" and i == 0:
                continue
            x = x * scale
        if i == 1:
            break
    else:
        x = x * 1000
    return x


CASES = [
    (
        stars_in_displays_and_calls,
        np.concatenate([np.maximum(X, X), X + 2, X + 3, X + 1]),
    ),
    (nested_targets, X[:, [0, 1, 4, 5]] * 4 + (X + 3)[:, :4] - (X + 1)[:, 2:]),
    (comprehensions, X * 2 + X * 3 + 4 + 2 + X[1, 2]),
    (names_end_with_their_comprehension, X * 10 + 3 + 6),
    (branches, np.maximum(X, 0) + 1),
    (kinds, (X + 3) * 4 + 2 + 4 + (X + 3) ** 2),
    (own_lists_change, (X * 2 + X + 1) * 4 + 5 + 3),
    (texts, X + 5),
    (loops, X * 36),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_numbers(case) -> None:
    kernel, expected = case
    np.testing.assert_allclose(kernel(X), expected, rtol=1e-5, atol=1e-5)


def test_static_arguments_choose_branches() -> None:
    np.testing.assert_array_equal(branches(X, "none", deep=False), X)
    np.testing.assert_array_equal(branches(X[0], mode="none"), X[0] + 1)


def failed_assertion(x):
    assert x.shape[0] == 5, f"5 rows are needed, {x.shape} has {x.shape[0]}"
    return x


def failed_bare_assertion(x):
    assert x.ndim == 3
    return x


def raising(x):
    if x.dtype != pypto.float16:
        raise ValueError(f"{x.dtype!r} is not float16")
    return x


def raising_without_words(x):
    raise NotImplementedError


def raising_again(x):
    raise


def text_of_a_tensor(x):
    assert x.ndim == 3, f"got {x}"
    return x


def unassigned(x):
    if x.ndim == 3:
        y = x
    return y


def shadowed(x):
    if x.ndim == 3:
        BIASES = (1.0,)
    return x + BIASES[0]


def comprehension_over_tensors(x):
    return pypto.concat([x + i for i in range(1025)], dim=0)


def too_few(x):
    a, *b, c = (x,)
    return a, b, c


def double_star_of_a_list(x):
    return branches(x, **BIASES)


REFUSALS = [
    (
        failed_assertion, "ASSERTION", "5 rows are needed, (4, 6) has 4", "assert x.shape[0]", None,
    ),
    (failed_bare_assertion, "ASSERTION", "assertion failed", "assert x.ndim", None),
    (raising, "RAISED", "ValueError: pypto.float32 is not float16", "raise ValueError", None),
    (raising_without_words, "RAISED", "NotImplementedError", "raise Not", None),
    (
        raising_again, "UNSUPPORTED_STATEMENT", "'raise' needs an exception with its message",
        "raise", 'write raise ValueError("what is wrong")',
    ),
    (
        text_of_a_tensor, "DATA_DEPENDENT",
        "a text needs values known while compiling, not a tensor<4x6xf32>", "x",
        "write its .shape or .dtype into the text",
    ),
    (
        unassigned, "UNASSIGNED_NAME", "'y' has no value here: no assignment to it was reached",
        "y", "assign it on every path before this line",
    ),
    (
        shadowed, "UNASSIGNED_NAME",
        "'BIASES' has no value here: no assignment to it was reached", "BIASES[0]",
        "assign it on every path before this line",
    ),
    (
        comprehension_over_tensors, "LOOP_TOO_LONG",
        "the loop runs more than 1024 times; a kernel unrolls at most 1024", "[x + i",
        "use a whole-tensor operation instead of a loop over elements",
    ),
    (
        too_few, "BAD_UNPACK", "1 values cannot be unpacked into at least 2 names", "a, *b",
        "give one name to each value",
    ),
    (
        double_star_of_a_list, "BAD_UNPACK",
        "'**' needs a dictionary with names as keys, not tuple (1.0, 2.0, 3.0)", "BIASES)",
        "write the keyword arguments out",
    ),
]  # fmt: skip


@pytest.mark.parametrize("case", REFUSALS, ids=lambda case: case[0].__name__)
def test_refusals(case, refusal) -> None:
    function, code, message, source, fix = case
    error = refusal(function, X)
    assert (error.code, error.message, error.fix) == (code, message, fix)
    assert refusal.text.startswith(source)
