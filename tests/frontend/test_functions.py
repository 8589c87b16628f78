"""Functions in kernels: nested ones, closures, defaults, keywords; all the way to numbers."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import pypto
from pypto.errors import CompileError

X = np.linspace(-2, 2, 24, dtype=np.float32).reshape(4, 6)
WEIGHTS = np.linspace(0, 1, 6, dtype=np.float32)


@pypto.kernel
def documented(x):
    """A docstring
    of two lines."""

    def scaled(a, by=2.0, *, shift=0.5):
        """Another one."""
        return a * by + shift

    return scaled(scaled(x), 4.0, shift=x.shape[0])


@pypto.kernel
def closures(x):
    factor = 2.0
    row = x[0]

    def mixed(a):
        return a * factor + row * WEIGHTS

    factor = 3.0  # seen when the function is called, as in Python
    return mixed(x)


@pypto.kernel
def functions_that_make_functions(x):
    def times(factor):
        def apply(a):
            return a * factor

        return apply

    double, triple = times(2.0), times(3.0)
    return double(x) - triple(x)


@pypto.kernel
def lambdas(x):
    steps = [lambda a: a + 1, lambda a, by=3.0: a * by]
    for step in steps:
        x = step(x)
    halved = lambda n: n / 2  # noqa: E731
    order = sorted([3, 1, 2], key=lambda n: -n)
    return x + sum(map(halved, order[:2]))


@pypto.kernel
def any_number(x):
    def total(first, *others, **named):
        for other in others:
            first = first + other
        for name in sorted(named):
            first = first * named[name]
        return first

    return total(x, *[x] * 2, b=2.0, **{"a": 0.5})


def check_rank(x, rank):
    assert x.ndim == rank, f"a tensor of rank {rank} is needed"


@pypto.kernel
def checked(x):
    check_rank(x, 2)
    return x + 1


@functools.cache
def cached(a):
    return a * 2


@pypto.kernel
def cached_helper(x):
    return cached(x)


@pypto.kernel
def layer_norm(x, /, weight=WEIGHTS, bias=None, *, eps=1e-5):
    centred = x - pypto.mean(x, dim=-1, keepdim=True)
    variance = pypto.mean(centred * centred, dim=-1, keepdim=True)
    result = centred * pypto.rsqrt(variance + eps) * weight
    return result if bias is None else result + bias


def norm(x, weight=WEIGHTS, bias=0.0, eps=1e-5):
    centred = x - x.mean(axis=-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + eps) * weight + bias


def more(a):
    a += 1
    return a


@pypto.kernel
def builtins_that_call(x):
    parts = [*map(more, [x, x * 2]), *map(cached_helper, (x,))]
    index = np.int64(1)
    return parts[0] + parts[1] + parts[2] + x[index, np.int32(0) :]


class Layer:
    def __init__(self):
        self.weights = WEIGHTS
        self.calls = 0

    def forward(self, x, by=1.0):
        return x * self.weights * by

    def __call__(self, x):
        return self.forward(x) + 1

    @classmethod
    def doubled(cls, x):
        return x * 2

    def counted(self, x):
        self.calls += 1
        return x * self.calls


LAYER = Layer()
SHIFT = pypto.Tensor(WEIGHTS)
HALVED = functools.partial(LAYER.forward, by=0.5)


@pypto.kernel
def methods(x):
    return LAYER(x) + LAYER.doubled(x) + HALVED(x) + SHIFT.numpy()


@pypto.kernel
def keyword_dictionaries(x):
    def total(a, **named):
        by = named.pop("by", 1.0)
        return a * by + sum(named.values())

    return total(x, by=3.0, shift=2.0)


CASES = [
    (documented, (X * 2 + 0.5) * 4 + 4),
    (closures, X * 3 + X[0] * WEIGHTS),
    (functions_that_make_functions, X * 2 - X * 3),
    (lambdas, (X + 1) * 3 + 2.5),
    (any_number, X * 3),
    (checked, X + 1),
    (cached_helper, X * 2),
    (builtins_that_call, X * 5 + 2 + X[1]),
    (methods, X * WEIGHTS * 1.5 + 1 + X * 2 + WEIGHTS),
    (keyword_dictionaries, X * 3 + 2),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_numbers(case) -> None:
    kernel, expected = case
    np.testing.assert_allclose(kernel(X), expected, rtol=1e-6, atol=1e-6)


def test_defaults_of_kernels_are_numbers_arrays_and_none() -> None:
    bias = WEIGHTS + 1
    close = functools.partial(np.testing.assert_allclose, rtol=1e-3, atol=1e-4)
    close(layer_norm(X), norm(X))
    close(layer_norm(X, WEIGHTS * 2), norm(X, WEIGHTS * 2))
    close(layer_norm(X, bias=bias), norm(X, bias=bias))
    close(layer_norm(X, eps=1.0), norm(X, eps=1.0))
    close(layer_norm(X, eps=1, bias=bias, weight=bias), norm(X, bias, bias, 1.0))


def test_a_declared_argument_that_may_be_left_out() -> None:
    row = pypto.Tensor[(6,), pypto.float32]

    def added(x, bias=None):
        return x if bias is None else x + bias

    added.__annotations__ = {"bias": row | None}
    kernel = pypto.kernel(added)
    np.testing.assert_array_equal(kernel(X * 1), X)
    np.testing.assert_array_equal(kernel(X, WEIGHTS), X + WEIGHTS)
    with pytest.raises(CompileError, match=r"argument 'bias' is \(5,\) float32, declared as"):
        kernel(X, WEIGHTS[:5])


def test_defaults_give_types_to_compile_for() -> None:
    fixed = pypto.Tensor[(4, 6), pypto.float32]

    def weighted(x, weight=WEIGHTS, scale=2.0):
        return x * weight * scale

    weighted.__annotations__ = {"x": fixed}
    kernel = pypto.kernel(weighted)
    assert kernel.compile() is kernel.compile(X, WEIGHTS, 2.0)


def recursive_inside(x):
    def again(a, n):
        return a if n == 0 else again(a + 1, n - 1)

    return again(x, 3)


def recursive_by_map(x):
    def again(a):
        (result,) = map(again, [a])
        return result

    return again(x)


def decorated_inside(x):
    @functools.cache
    def inner(a):
        return a

    return inner(x)


def generator_inside(x):
    def inner(a):
        yield a

    return inner(x)


def generator(x):
    yield x


async def coroutine(x):
    return x


def wrapped(function):
    @functools.wraps(function)
    def outer(*args):
        return function(*args) * 2

    return outer


@wrapped
def doubled(x):
    return x


def calls_wrapped(x):
    return doubled(x)


def wrong_keyword(x):
    def scaled(a, by=2.0):
        return a * by

    return scaled(x, to=3.0)


def changes_its_object(x):
    return LAYER.counted(x)


def given_twice(x):
    def scaled(a, by):
        return a * by

    return scaled(x, by=1.0, **{"by": 2.0})


REFUSALS = [
    (
        recursive_inside, "RECURSION", "'again' calls itself, directly or not",
        "again(a + 1", "unroll the recursion into a 'for' loop over a static range",
    ),
    (
        recursive_by_map, "TOO_DEEP",
        "'recursive_by_map' nests expressions or calls deeper than Python's stack",
        "recursive_by_map", "store parts of the expression in variables",
    ),
    (
        decorated_inside, "DECORATED_FUNCTION",
        "'inner' has a decorator; a function inside a kernel cannot have one",
        "functools.cache", "define the decorated function outside the kernel",
    ),
    (
        generator_inside, "NOT_A_FUNCTION", "'inner' is a generator: it has a 'yield'",
        "yield", "return a tuple of tensors",
    ),
    (
        generator, "NOT_A_FUNCTION", "'generator' is a generator: it has a 'yield'",
        "generator", "return a tuple of tensors",
    ),
    (
        coroutine, "NOT_A_FUNCTION", "'coroutine' is not a plain function but an async function",
        "async def", "write it with 'def'; lambdas and async functions cannot be compiled",
    ),
    (
        calls_wrapped, "DECORATED_FUNCTION",
        "'doubled' is wrapped by a decorator, whose code a kernel does not see", "doubled(x)",
        "call the decorator's work inside the function, or leave the decorator out",
    ),
    (
        wrong_keyword, "BAD_ARGUMENTS", "scaled: got an unexpected keyword argument 'to'",
        "scaled(x", "call it as scaled(a, by=2.0)",
    ),
    (
        changes_its_object, "IMMUTABLE_TENSOR", "only names can be assigned to inside a kernel",
        "self.calls", "tensors are immutable; build a new one with pypto.where, concat or slice",
    ),
    (
        given_twice, "BAD_ARGUMENTS", "the keyword argument 'by' is given twice", '{"by": 2.0}',
        "leave one of them out",
    ),
]  # fmt: skip


@pytest.mark.parametrize("case", REFUSALS, ids=lambda case: case[0].__name__)
def test_refusals(case, refusal) -> None:
    function, code, message, source, fix = case
    error = refusal(function, X)
    assert (error.code, error.message, error.fix) == (code, message, fix)
    assert refusal.text.startswith(source)


def test_lambdas_are_no_kernels(refusal) -> None:
    error = refusal(lambda x: x + 1, X)
    assert error.code == "NOT_A_FUNCTION"
    assert error.message == "'<lambda>' is not a plain function but a lambda"
    assert error.fix == "write it with 'def'; lambdas and async functions cannot be compiled"


def test_star_arguments_of_kernels_are_refused(refusal) -> None:
    def kernel(x, *others):
        return x

    error = refusal(kernel, X)
    assert error.code == "UNSUPPORTED_PARAMETER"
    assert error.message == "kernel: a kernel cannot take *others"
    assert error.fix == "name every parameter; helpers that a kernel calls may take any number"
    assert refusal.text.startswith("others")

    def named(x, **others):
        return x

    assert refusal(named, X).message == "named: a kernel cannot take **others"


def test_calls_of_kernels_that_do_not_fit() -> None:
    with pytest.raises(CompileError) as caught:
        layer_norm(X, epsilon=1e-3)
    assert caught.value.code == "BAD_ARGUMENTS"
    assert caught.value.message == "layer_norm: got an unexpected keyword argument 'epsilon'"
    assert caught.value.fix is not None
    assert caught.value.fix.startswith("call it as layer_norm(x, /, weight=")
    with pytest.raises(CompileError, match="layer_norm: too many positional arguments"):
        layer_norm(X, WEIGHTS, None, 1e-3)
    with pytest.raises(CompileError, match="missing a required argument: 'x'"):
        layer_norm()


def test_source_that_cannot_be_read() -> None:
    scope: dict[str, object] = {}
    exec("def made(x):\n    return x", scope)
    with pytest.raises(CompileError) as caught:
        pypto.kernel(scope["made"])(X)  # pyright: ignore[reportCallIssue, reportArgumentType]
    assert caught.value.code == "NO_SOURCE"
    assert caught.value.message == "the source text of 'made' cannot be read"
    assert caught.value.fix == (
        "define the function with 'def' in a file; kernels are compiled from their text"
    )


def test_kernels_of_what_is_no_function() -> None:
    for value, name in ((cached, "a _lru_cache_wrapper"), (len, "the function 'len'")):
        with pytest.raises(CompileError) as caught:
            pypto.kernel(value)
        assert caught.value.message.endswith("is not a function written in Python")
        assert " at 0x" not in caught.value.message, name
        assert caught.value.fix == "put @pypto.kernel above a 'def'"


def test_wrong_calls_and_annotations_show_the_function(refusal) -> None:
    def kernel(x):
        return x

    error = refusal(kernel, X, X)
    assert error.message == "kernel: too many positional arguments"
    assert refusal.text.startswith("kernel(x):")

    def annotated(x: Unknown):  # noqa: F821 # pyright: ignore[reportUndefinedVariable]
        return x

    error = refusal(annotated, X)
    assert error.message == (
        "the annotations of annotated cannot be read: name 'Unknown' is not defined"
    )
    assert refusal.text.startswith("annotated(x")
    error = refusal(doubled, X)
    assert error.code == "DECORATED_FUNCTION"
    assert refusal.text.startswith("doubled(x):")
