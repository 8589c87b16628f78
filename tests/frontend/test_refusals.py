"""What Python a kernel cannot have on tensors: every message, where it points, and the way out."""

from __future__ import annotations

import numpy as np
import pytest

import pypto
from tests.frontend.mistakes import (
    X,
    added_list,
    added_text,
    array_index,
    array_method,
    assert_on_a_tensor,
    attribute_assignment,
    boolean_index,
    builtin_all,
    builtin_float,
    builtin_list,
    builtin_max,
    builtin_range,
    called,
    captured_array,
    captured_dictionary,
    captured_dictionary_by_method,
    captured_dictionary_by_operator,
    captured_heap,
    captured_list,
    captured_list_as_a_function,
    captured_list_in_place,
    class_statement,
    column_after_other_letters,
    compared_with_none,
    complex_literal,
    comprehension_filter,
    delete_statement,
    different_lengths,
    endless,
    entry_of_an_array,
    file_that_is_not_there,
    float_overflow,
    floor_division,
    generated,
    global_counter,
    huge_integer,
    import_statement,
    in_on_a_tensor,
    index_too_large,
    infinite_literal,
    integer_overflow,
    item_addition,
    item_assignment,
    long_loop,
    loops_over_a_tensor,
    made_again,
    match_statement,
    math_function,
    negative_step,
    no_broadcast,
    not_on_a_tensor,
    numbers_of_tensors,
    numpy_dot,
    numpy_function,
    opening,
    or_on_tensors,
    path_without_return,
    printing,
    reduced,
    remainder,
    returns_a_function,
    returns_none,
    shift,
    tensor_in_an_error,
    tensors_in_an_error,
    ternary_on_a_tensor,
    text_index,
    try_statement,
    types,
    unknown_key,
    unpacks_a_tensor,
    while_on_a_tensor,
    with_statement,
    yielding_expression,
)

WHERE = "choose element by element with pypto.where(condition, a, b)"
MASK = "a tensor<4x6xi1>"
TENSOR = "a tensor<4x6xf32>"
IMMUTABLE = "tensors are immutable; build a new one with pypto.where, concat or slice"
ITEMS = "a tensor has no items: take parts with pypto.split(x, parts, dim) or x[i]"
DECIDES = "depends on the values of a tensor"

CASES = [
    (while_on_a_tensor, "DATA_DEPENDENT_IF", f"'while' {DECIDES} ({MASK})", "x > 0:", WHERE),
    (ternary_on_a_tensor, "DATA_DEPENDENT_IF", f"'if' {DECIDES} ({MASK})", "x > 0 else", WHERE),
    (
        or_on_tensors, "DATA_DEPENDENT_IF",
        "'or' needs values known while compiling, not a tensor", "x > 1 or",
        "combine boolean tensors element by element with '|', then choose with "
        "pypto.where(condition, a, b)",
    ),
    (
        not_on_a_tensor, "DATA_DEPENDENT_IF", f"'not' {DECIDES} ({MASK})", "x > 0,",
        f"{WHERE}, invert boolean tensors with '~'",
    ),
    (assert_on_a_tensor, "DATA_DEPENDENT_IF", f"'assert' {DECIDES} ({MASK})", "x > 0", WHERE),
    (comprehension_filter, "DATA_DEPENDENT_IF", f"'if' {DECIDES} ({MASK})", "y > 0", WHERE),
    (
        in_on_a_tensor, "DATA_DEPENDENT_IF",
        "'in' needs values known while compiling, not tensors", "1.0 in x",
        "compare with '==' and reduce, or search a static tuple",
    ),
    (
        item_assignment, "IMMUTABLE_TENSOR", "only names can be assigned to inside a kernel",
        "x[0] = 1", IMMUTABLE,
    ),
    (
        item_addition, "IMMUTABLE_TENSOR", "only names can be assigned to inside a kernel",
        "x[0] += 1", IMMUTABLE,
    ),
    (
        attribute_assignment, "IMMUTABLE_TENSOR", "only names can be assigned to inside a kernel",
        "Settings.scale", IMMUTABLE,
    ),
    (
        captured_dictionary, "CAPTURED_MUTATION",
        "this would change an object made outside the kernel", 'STATE["calls"]',
        "build a new list or dictionary inside the kernel",
    ),
    (
        captured_list, "CAPTURED_MUTATION",
        "'append' would change an object made outside the kernel", "HISTORY.append",
        "build a new list inside the kernel",
    ),
    (
        captured_array, "CAPTURED_MUTATION",
        "'fill' would change an array; arrays are constants of a kernel", "WEIGHTS.fill",
        "make the array outside the kernel, or build a new one",
    ),
    (
        global_counter, "UNSUPPORTED_STATEMENT", "'global' is not supported inside a kernel",
        "global COUNTER", "return the value instead",
    ),
    (
        no_broadcast, "SHAPE_MISMATCH",
        "add: shapes (4, 6) and (5,) do not broadcast: axis -1 is 6 and 5", "x += OTHER",
        "make the extents equal or 1 (reshape, unsqueeze, transpose or slice)",
    ),
    (
        floor_division, "UNSUPPORTED_OPERATOR", "'//' is not defined for tensors", "x // 2",
        "divide with '/'; there is no integer quotient on the device",
    ),
    (
        remainder, "UNSUPPORTED_OPERATOR", "'%' is not defined for tensors", "7 % x",
        "compute remainders outside the kernel",
    ),
    (
        shift, "UNSUPPORTED_OPERATOR", "'<<' is not defined for tensors", "x.astype",
        "multiply by a power of two",
    ),
    (
        infinite_literal, "BAD_NUMBER",
        "this number is beyond the largest float: Python reads it as infinity", "1e400",
        "write float('inf') if infinity is meant",
    ),
    (
        complex_literal, "BAD_NUMBER",
        "the number 1j is complex, which the device does not have", "1j",
        "keep real and imaginary parts in tensors of their own",
    ),
    (
        integer_overflow, "DTYPE_MISMATCH",
        "add: the number 300 does not fit i8 (-128..127)", "x.astype",
        "convert the tensor to a wider type first",
    ),
    (
        float_overflow, "DTYPE_MISMATCH", "mul: the number 1e+30 overflows f16", "x.astype",
        "convert the tensor first: .cast(pypto.float32)",
    ),
    (negative_step, "UNSUPPORTED", "a slice with step -1", "x[::-1]", "use a step above 0"),
    (
        boolean_index, "DATA_DEPENDENT_INDEX",
        f"the index is {MASK}: how much it selects depends on its values", "x > 0",
        "keep the shape and choose element by element with pypto.where(condition, a, b)",
    ),
    (
        array_index, "UNSUPPORTED", "indexing with arrays or tensors is not supported", "x[[0",
        "use integers, slices, None and ...",
    ),
    (
        text_index, "BAD_ARGUMENT", "an index must be an int, not 'a'", 'x["a"]',
        "use integers, slices, None and ...",
    ),
    (
        numpy_function, "UNSUPPORTED_CALL", "numpy.exp cannot take a tensor", "np.exp",
        "use pypto.exp",
    ),
    (
        numpy_dot, "UNSUPPORTED_CALL", "numpy.dot cannot take a tensor", "np.dot",
        "use pypto.matmul",
    ),
    (
        array_method, "UNSUPPORTED_CALL", "the array method 'dot' cannot take a tensor",
        "WEIGHTS.dot", "use pypto.matmul",
    ),
    (
        math_function, "UNSUPPORTED_CALL", "math.sqrt cannot take a tensor", "math.sqrt",
        "use pypto.sqrt",
    ),
    (
        builtin_max, "UNSUPPORTED_CALL", f"max() cannot take {TENSOR}", "max(x",
        "use pypto.maximum(a, b), or pypto.max(x, dim) along an axis",
    ),
    (
        builtin_float, "UNSUPPORTED_CALL", f"float() cannot take {TENSOR}", "float(x",
        "use x.astype(pypto.float32)",
    ),
    (
        builtin_range, "UNSUPPORTED_CALL", f"range() cannot take {TENSOR}", "range(x",
        "use its extent: range(x.shape[0])",
    ),
    (builtin_list, "UNSUPPORTED_CALL", f"list() cannot take {TENSOR}", "list(x", ITEMS),
    (
        builtin_all, "UNSUPPORTED_CALL", f"all() cannot take {MASK}", "all(x",
        "use pypto.min(condition.astype(pypto.float16), dim)",
    ),
    (
        printing, "UNSUPPORTED_BUILTIN", "builtin 'print' cannot be used inside a kernel",
        "print", "return the value and print it outside the kernel",
    ),
    (
        opening, "UNSUPPORTED_BUILTIN", "builtin 'open' cannot be used inside a kernel", "open",
        "read the file outside the kernel and capture or pass the array",
    ),
    (
        types, "UNSUPPORTED_BUILTIN", "builtin 'type' cannot be used inside a kernel", "type",
        "use isinstance, or x.dtype and x.shape",
    ),
    (
        try_statement, "UNSUPPORTED_STATEMENT", "'try' is not supported inside a kernel", "try:",
        "check shapes with 'if'; kernels cannot catch exceptions",
    ),
    (
        with_statement, "UNSUPPORTED_STATEMENT", "'with' is not supported inside a kernel",
        "with np", "move the context manager outside the kernel",
    ),
    (
        class_statement, "UNSUPPORTED_STATEMENT", "'class' is not supported inside a kernel",
        "class Inner", "define the class outside the kernel",
    ),
    (
        match_statement, "UNSUPPORTED_STATEMENT", "'match' is not supported inside a kernel",
        "match x.ndim", "use 'if' and 'elif' on values known while compiling",
    ),
    (
        delete_statement, "UNSUPPORTED_STATEMENT", "'del' is not supported inside a kernel",
        "del y", "leave it out: what is not used again takes no memory",
    ),
    (
        import_statement, "UNSUPPORTED_STATEMENT", "'import' is not supported inside a kernel",
        "import math", "import at the top of the file",
    ),
    (
        yielding_expression, "NOT_A_FUNCTION",
        "'yielding_expression' is a generator: it has a 'yield'", "yielding_expression",
        "return a tuple of tensors",
    ),
    (
        unpacks_a_tensor, "BAD_UNPACK", f"cannot unpack {TENSOR} into 2 names", "first, second",
        "unpack a tuple, for example the results of pypto.split",
    ),
    (
        loops_over_a_tensor, "NOT_ITERABLE", f"cannot iterate over {TENSOR}", "x]",
        "iterate over range(n) with n known while compiling, or a tuple",
    ),
    (
        long_loop, "LOOP_TOO_LONG",
        "the loop runs 1025 times; a kernel unrolls at most 1024", "range(1025)",
        "use a whole-tensor operation instead of a loop over elements",
    ),
    (
        path_without_return, "MISSING_RETURN",
        "'path_without_return' ends without returning a value", "path_without_return",
        "end every path with 'return' and the result tensor",
    ),
    (
        added_text, "BAD_ARGUMENT", "a tensor is expected here, not str", 'x + "a"',
        "give a tensor, an array or a number",
    ),
    (
        added_list, "STATIC_ERROR", f"'+' is not defined for {TENSOR}, list [1, 2]", "x + [1",
        f"the operands were {TENSOR}, list [1, 2]",
    ),
    (
        huge_integer, "DTYPE_MISMATCH",
        "add: the number 1000000000000000000000000000000000000000 overflows f32", "x + 10**400",
        "convert the tensor first: .cast(pypto.float32)",
    ),
    (
        reduced, "UNSUPPORTED_CALL", f"max() cannot take {TENSOR}", "functools.red",
        "use pypto.maximum(a, b), or pypto.max(x, dim) along an axis",
    ),
    (
        made_again, "UNSUPPORTED_CALL", "pypto.Tensor cannot be made inside a kernel",
        "pypto.Tensor(x", "use the value itself: tensors and arrays need no conversion here",
    ),
    (called, "NOT_CALLABLE", f"{TENSOR} cannot be called", "x(1", "call a function"),
    (
        captured_list_as_a_function, "CAPTURED_MUTATION",
        "'append' would change an object made outside the kernel", "list.append",
        "build a new list inside the kernel",
    ),
    (
        captured_dictionary_by_operator, "CAPTURED_MUTATION",
        "'setitem' would change an object made outside the kernel", "operator.setitem",
        "build a new list inside the kernel",
    ),
    (
        captured_dictionary_by_method, "CAPTURED_MUTATION",
        "'__setitem__' would change an object made outside the kernel", "STATE.__setitem__",
        "build a new list inside the kernel",
    ),
    (
        captured_heap, "CAPTURED_MUTATION",
        "'heappush' would change an object made outside the kernel", "heapq.heappush",
        "build a new list inside the kernel",
    ),
    (
        captured_list_in_place, "CAPTURED_MUTATION",
        "this would change an object made outside the kernel", "history += [1]",
        "build a new list or dictionary inside the kernel",
    ),
    (
        entry_of_an_array, "IMMUTABLE_TENSOR", "only names can be assigned to inside a kernel",
        "row[1] += 1", IMMUTABLE,
    ),
    (
        compared_with_none, "BAD_ARGUMENT", "a tensor is compared with None", "x == None",
        "ask whether there is a tensor with 'is None' or 'is not None'",
    ),
    (
        unknown_key, "STATIC_ERROR", "KeyError: 'b'", '{"a": x}["b"]',
        "the operands were dict {'a': tensor<4x6xf32>}, str 'b'",
    ),
    (
        index_too_large, "STATIC_ERROR", "IndexError: list assignment index out of range",
        "parts[4]", "the operands were list [tensor<4x6xf32>], int 4",
    ),
    (
        different_lengths, "STATIC_ERROR", "ValueError: zip() argument 2 is longer than argument 1",
        "zip(", "the operands were a zip",
    ),
    (
        numbers_of_tensors, "UNSUPPORTED_CALL", f"float() cannot take {TENSOR}", "map(",
        "use x.astype(pypto.float32)",
    ),
    (
        endless, "LOOP_TOO_LONG",
        "the loop runs more than 1024 times; a kernel unrolls at most 1024", "itertools.count()",
        "use a whole-tensor operation instead of a loop over elements",
    ),
    (
        tensor_in_an_error, "UNSUPPORTED_CALL", f"ValueError() cannot take {TENSOR}", "ValueError(",
        "use x.shape or x.dtype in texts",
    ),
    (
        tensors_in_an_error, "RAISED", "ValueError: wrong: [tensor<4x6xf32>]", "raise ValueError",
        None,
    ),
    (
        generated, "BAD_RETURN", "'generated' returns a generator, not a tensor", "generated",
        "return a tensor or a tuple of tensors; pypto.full makes one of a number",
    ),
    (
        returns_a_function, "BAD_RETURN",
        "'returns_a_function' returns the function '<lambda>' without a tensor in it",
        "returns_a_function",
        "return a tensor or a tuple of tensors; pypto.full makes one of a number",
    ),
    (
        file_that_is_not_there, "STATIC_ERROR",
        "FileNotFoundError: [Errno 2] No such file or directory: 'nothing.npy'", "np.load",
        "the operands were str 'nothing.npy'",
    ),
    (
        column_after_other_letters, "SHAPE_MISMATCH",
        "matmul: (4, 6) @ (4, 6): inner extents differ: 6 and 4", "x @ x",
        "transpose an operand, or check its shape",
    ),
    (
        returns_none, "BAD_RETURN", "'returns_none' returns NoneType None, not a tensor",
        "returns_none", "return a tensor or a tuple of tensors; pypto.full makes one of a number",
    ),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_message(case, refusal) -> None:
    function, code, message, source, fix = case
    error = refusal(function, X)
    assert (error.code, error.message, error.fix) == (code, message, fix)
    assert refusal.text.startswith(source)


Lengths = pypto.Tensor[(pypto.DYNAMIC,), pypto.float16]


def times_its_length(x: Lengths):
    return x * x.shape[0]


def divided_by_the_root_of_its_length(x: Lengths):
    return x / pypto.sqrt(x.shape[0])


def chosen_by_its_length(x: Lengths):
    return x if x.shape[0] else -x


def also_chosen_by_its_length(x: Lengths):
    return x if x.ndim and x.shape[0] else -x


def repeated_by_its_length(x: Lengths):
    return [x for _ in range(len(x))]


@pytest.mark.parametrize(
    "case",
    [
        (times_its_length, "x * x.shape", "mul: "),
        (divided_by_the_root_of_its_length, "pypto.sqrt", "sqrt: "),
        (repeated_by_its_length, "range(len", ""),
        (chosen_by_its_length, "x.shape[0] else", ""),
        (also_chosen_by_its_length, "x.shape[0] else", ""),
    ],
    ids=lambda case: case[0].__name__,
)
def test_extents_known_at_launch_only(case, refusal) -> None:
    function, source, owner = case
    error = refusal(function, np.ones(3, np.float16))
    assert error.code == "DYNAMIC_SHAPE"
    said = "an extent that is known at launch only is needed here"
    assert error.message in (said, owner + said)
    assert error.fix == "give the extent in the annotation in place of pypto.DYNAMIC"
    assert refusal.text.startswith(source)


def test_an_index_outside_the_shape(refusal) -> None:
    def kernel(x):
        return x[4]

    error = refusal(kernel, X)
    assert error.message == "index 4 is out of range for axis 0 of extent 4"
    assert error.fix == "count from 0 to 3, or from -1 to -4 from the end"
