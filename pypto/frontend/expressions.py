"""Expressions of a kernel: static ones are computed, tensor ones become operations."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from pypto.frontend import advice
from pypto.frontend.displays import Displays
from pypto.frontend.functions import NestedFunction, signature_of
from pypto.frontend.operators import BINARY, COMPARE, STATIC_COMPARE, SYMBOLS, UNARY
from pypto.frontend.values import contains_data, describe, is_data, is_tensor
from pypto.target.dtypes import DType, dtype_of


class Expressions(Displays):
    """Evaluates expressions to static Python values or tensors."""

    def evaluate(self, node: ast.expr) -> Any:
        handler = getattr(self, f"eval_{type(node).__name__}", None)
        if handler is None:
            kind = type(node).__name__
            word, fix = advice.EXPRESSIONS.get(kind, (kind, "compute it outside the kernel"))
            raise self.failure(
                "UNSUPPORTED_EXPRESSION",
                f"'{word}' is not supported inside a kernel",
                node,
                fix,
            )
        return handler(node)

    def eval_Constant(self, node: ast.Constant) -> Any:
        value = node.value
        if isinstance(value, complex):
            raise self.failure(
                "BAD_NUMBER",
                f"the number {value!r} is complex, which the device does not have",
                node,
                "keep real and imaginary parts in tensors of their own",
            )
        if isinstance(value, float) and math.isinf(value):
            raise self.failure(
                "BAD_NUMBER",
                "this number is beyond the largest float: Python reads it as infinity",
                node,
                "write float('inf') if infinity is meant",
            )
        return value

    def eval_Name(self, node: ast.Name) -> Any:
        return self.scope.lookup(node.id, self.at(node))

    def eval_NamedExpr(self, node: ast.NamedExpr) -> Any:
        value = self.scope.function.locals[node.target.id] = self.evaluate(node.value)
        return value

    def eval_Lambda(self, node: ast.Lambda) -> NestedFunction:
        body = ast.copy_location(ast.Return(node.body), node)
        tree = ast.FunctionDef(name="<lambda>", args=node.args, body=[body], decorator_list=[])
        return self.nested(ast.copy_location(tree, node))

    def nested(self, tree: ast.FunctionDef) -> NestedFunction:
        """A function made here; its defaults are evaluated now, its variables when it is called."""
        signature = signature_of(tree.args, self.evaluate)
        return NestedFunction(replace(self.source, tree=tree), signature, self.scope, self.inline)

    def eval_IfExp(self, node: ast.IfExp) -> Any:
        return self.evaluate(node.body if self.truth(node.test, "if") else node.orelse)

    def eval_BoolOp(self, node: ast.BoolOp) -> Any:
        stops_at = isinstance(node.op, ast.Or)
        word = "or" if stops_at else "and"
        value: Any = None
        for part in node.values:
            value = self.evaluate(part)
            if is_data(value):
                symbol = "|" if stops_at else "&"
                raise self.failure(
                    "DATA_DEPENDENT_IF",
                    f"'{word}' needs values known while compiling, not a tensor",
                    part,
                    f"combine boolean tensors element by element with '{symbol}', then choose with "
                    "pypto.where(condition, a, b)",
                )
            if self.is_true(value, part) is stops_at:
                return value
        return value

    def eval_UnaryOp(self, node: ast.UnaryOp) -> Any:
        if isinstance(node.op, ast.Not):
            return not self.truth(node.operand, "not")
        value = self.evaluate(node.operand)
        return self.compute(UNARY[type(node.op)], [value], node, what=SYMBOLS[type(node.op)])

    def eval_BinOp(self, node: ast.BinOp) -> Any:
        return self.binary(node.op, self.evaluate(node.left), self.evaluate(node.right), node)

    def binary(self, syntax: ast.operator, left: Any, right: Any, node: ast.AST) -> Any:
        symbol = SYMBOLS[type(syntax)]
        if symbol in advice.OPERATOR_FIXES and (is_data(left) or is_data(right)):
            raise self.failure(
                "UNSUPPORTED_OPERATOR",
                f"'{symbol}' is not defined for tensors",
                node,
                advice.OPERATOR_FIXES[symbol],
            )
        result = self.compute(BINARY[type(syntax)], [left, right], node, what=f"'{symbol}'")
        return self.scope.own(result)

    def eval_Compare(self, node: ast.Compare) -> Any:
        left = self.evaluate(node.left)
        part: Any = True
        for syntax, right_node in zip(node.ops, node.comparators, strict=True):
            right = self.evaluate(right_node)
            if type(syntax) in STATIC_COMPARE:
                if isinstance(syntax, ast.In | ast.NotIn) and contains_data([left, right]):
                    raise self.failure(
                        "DATA_DEPENDENT_IF",
                        "'in' needs values known while compiling, not tensors",
                        node,
                        "compare with '==' and reduce, or search a static tuple",
                    )
                part = self.compute(
                    STATIC_COMPARE[type(syntax)],
                    [left, right],
                    node,
                    what=f"'{SYMBOLS[type(syntax)]}'",
                    lift=False,
                )
            else:
                if (left is None and is_data(right)) or (right is None and is_data(left)):
                    raise self.failure(
                        "BAD_ARGUMENT",
                        "a tensor is compared with None",
                        node,
                        "ask whether there is a tensor with 'is None' or 'is not None'",
                    )
                part = self.compute(
                    COMPARE[type(syntax)],
                    comparable(left, right),
                    node,
                    what=f"'{SYMBOLS[type(syntax)]}'",
                )
            if is_tensor(part) and len(node.ops) > 1:
                raise self.failure(
                    "DATA_DEPENDENT_IF",
                    "a chained comparison of tensors has no single truth value",
                    node,
                    "write (a < b) & (b < c)",
                )
            if not (is_tensor(part) or bool(part)):
                return False
            left = right
        return part

    def is_true(self, value: Any, node: ast.expr) -> bool:
        return self.compute(bool, [value], node, what="a condition", lift=False)

    def truth(self, node: ast.expr, word: str) -> bool:
        """A condition known while compiling.

        Raises:
            CompileError: ``DATA_DEPENDENT_IF`` when it is a tensor.
        """
        value = self.evaluate(node)
        if not is_data(value):
            return self.is_true(value, node)
        raise self.failure(
            "DATA_DEPENDENT_IF",
            f"'{word}' depends on the values of a tensor ({describe(value)})",
            node,
            "choose element by element with pypto.where(condition, a, b)"
            + (", invert boolean tensors with '~'" if word == "not" else ""),
        )

    def items(self, node: ast.expr) -> Iterator[Any]:
        """The items of something iterable known while compiling, one by one."""
        return self.drawn(self.iterable(node), node)

    def iterable(self, node: ast.expr) -> Iterable[Any]:
        """Something iterable known while compiling."""
        value = self.evaluate(node)
        if is_data(value) or not hasattr(value, "__iter__"):
            raise self.failure(
                "NOT_ITERABLE",
                f"cannot iterate over {describe(value)}",
                node,
                "iterate over range(n) with n known while compiling, or a tuple",
            )
        return value


def comparable(left: Any, right: Any) -> list[Any]:
    """Two values to compare; beside an element type, NumPy's name of one means it."""
    if isinstance(left, DType) or isinstance(right, DType):
        return [element_type(left), element_type(right)]
    return [left, right]


def element_type(value: Any) -> Any:
    """The element type that a NumPy dtype, scalar class or name stands for, else the value."""
    try:
        return value if value is None or isinstance(value, DType) else dtype_of(value) or value
    except TypeError:  # NumPy knows no such type
        return value
