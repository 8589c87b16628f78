"""Kernels with a mistake each; test_refusals.py quotes what is said of them."""

# ruff: noqa: F401, RUF005, RUF059, C416 - the functions below are mistakes on purpose

from __future__ import annotations

import functools
import heapq
import itertools
import math
import operator

import numpy as np

import pypto

X = np.linspace(-2, 2, 24, dtype=np.float32).reshape(4, 6)
OTHER = np.ones(5, np.float32)
STATE = {"calls": 0}
HISTORY: list[object] = []
WEIGHTS = np.ones((6, 3), np.float32)
COUNTER = 0


class Settings:
    scale = 1.0


def while_on_a_tensor(x):
    while x > 0:
        x = x - 1
    return x


def ternary_on_a_tensor(x):
    return x if x > 0 else -x


def or_on_tensors(x):
    return pypto.where(x > 1 or x < 0, x, 0.0)


def not_on_a_tensor(x):
    return pypto.where(not x > 0, x, 0.0)


def assert_on_a_tensor(x):
    assert x > 0
    return x


def comprehension_filter(x):
    return [y for y in (x, x) if y > 0]


def in_on_a_tensor(x):
    return x if 1.0 in x else -x


def item_assignment(x):
    x[0] = 1
    return x


def item_addition(x):
    x[0] += 1
    return x


def attribute_assignment(x):
    Settings.scale = 2.0
    return x


def captured_dictionary(x):
    STATE["calls"] = 1
    return x


def captured_list(x):
    HISTORY.append(x)
    return x


def captured_array(x):
    WEIGHTS.fill(0)
    return x


def global_counter(x):
    global COUNTER
    COUNTER += 1
    return x


def no_broadcast(x):
    x += OTHER
    return x


def floor_division(x):
    return x // 2


def remainder(x):
    return 7 % x


def shift(x):
    return x.astype(pypto.int32) << 2


def infinite_literal(x):
    return x + 1e400


def complex_literal(x):
    return x * 1j


def integer_overflow(x):
    return x.astype(pypto.int8) + 300


def float_overflow(x):
    return x.astype(pypto.float16) * 1e30


def negative_step(x):
    return x[::-1]


def boolean_index(x):
    return x[x > 0]


def array_index(x):
    return x[[0, 1]]


def text_index(x):
    return x["a"]


def numpy_function(x):
    return np.exp(x)


def numpy_dot(x):
    return np.dot(x, WEIGHTS)


def array_method(x):
    return WEIGHTS.dot(x)


def math_function(x):
    return math.sqrt(x)


def builtin_max(x):
    return max(x, x)


def builtin_float(x):
    return float(x) * x


def builtin_range(x):
    return [x[i] for i in range(x)]


def builtin_list(x):
    return list(x)


def builtin_all(x):
    return x if all(x > 0) else -x


def printing(x):
    print(x)
    return x


def opening(x):
    return x + len(open("weights").read())


def types(x):
    return x if type(x) is int else -x


def try_statement(x):
    try:
        return x + 1
    except ValueError:
        return x


def with_statement(x):
    with np.errstate():
        return x


def class_statement(x):
    class Inner:
        pass

    return x


def match_statement(x):
    match x.ndim:
        case 2:
            return x
    return x + 1


def delete_statement(x):
    y = x
    del y
    return x


def import_statement(x):
    import math

    return x


def yielding_expression(x):
    y = [(yield x)]
    return y


def unpacks_a_tensor(x):
    first, second = x
    return first


def loops_over_a_tensor(x):
    return [row for row in x]


def long_loop(x):
    for i in range(1025):
        x = x + i
    return x


def path_without_return(x):
    if x.ndim == 3:
        return x


def returns_none(x):
    return None


def added_text(x):
    return x + "a"


def added_list(x):
    return x + [1, 2]


def huge_integer(x):
    return x + 10**400


def reduced(x):
    return functools.reduce(max, [x, x])


def made_again(x):
    return pypto.Tensor(x)


def called(x):
    return x(1)


def captured_list_as_a_function(x):
    list.append(HISTORY, 1)
    return x


def captured_dictionary_by_operator(x):
    operator.setitem(STATE, "calls", 1)
    return x


def captured_dictionary_by_method(x):
    STATE.__setitem__("calls", 1)
    return x


def captured_heap(x):
    heapq.heappush(HISTORY, 1)
    return x


def captured_list_in_place(x):
    history = HISTORY
    history += [1]
    return x


def entry_of_an_array(x):
    row = np.zeros(6, np.float32)
    row[1] += 1
    return x + row


def compared_with_none(x):
    return x if x == None else -x  # noqa: E711


def unknown_key(x):
    return {"a": x}["b"]


def index_too_large(x):
    parts = [x]
    parts[4] = x
    return parts


def different_lengths(x):
    return [a * b for a, b in zip((x,), (1, 2), strict=True)]


def numbers_of_tensors(x):
    return sum(map(float, [x]))


def endless(x):
    for i in itertools.count():
        x = x + i
    return x


def tensor_in_an_error(x):
    raise ValueError(x)


def tensors_in_an_error(x):
    raise ValueError("wrong: " + str([x]))


def generated(x):
    return (x * i for i in range(3))


def returns_a_function(x):
    return lambda y: y


def file_that_is_not_there(x):
    return x + np.load("nothing.npy")


def column_after_other_letters(x):
    return "äöü" and x @ x
