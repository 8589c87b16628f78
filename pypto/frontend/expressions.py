"""Expressions of a kernel: static ones are computed, tensor ones become operations."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Sequence
from typing import Any

from pypto.errors import CompileError
from pypto.frontend.calls import Calls
from pypto.frontend.values import contains_data, describe, is_data, is_tensor

BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.MatMult: operator.matmul,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
}
COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
# Comparisons that make no sense on the values of a tensor.
STATIC_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
}
UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
}


class Expressions(Calls):
    """Evaluates expressions to static Python values or tensors."""

    def evaluate(self, node: ast.expr) -> Any:
        handler = getattr(self, f"eval_{type(node).__name__}", None)
        if handler is None:
            raise self.failure(
                "UNSUPPORTED_EXPRESSION",
                f"{type(node).__name__} expressions are not supported inside a kernel",
                node,
                "write it with plain operators and calls, or compute it outside",
            )
        return handler(node)

    def eval_Constant(self, node: ast.Constant) -> Any:
        return node.value

    def eval_Name(self, node: ast.Name) -> Any:
        return self.scope.lookup(node.id, self.at(node))

    def eval_Tuple(self, node: ast.Tuple) -> tuple[Any, ...]:
        return tuple(self.elements(node.elts))

    def eval_List(self, node: ast.List) -> list[Any]:
        return self.scope.own(self.elements(node.elts))

    def elements(self, nodes: list[ast.expr]) -> list[Any]:
        """Values of a display or argument list; ``*items`` of a static sequence unpacks."""
        values: list[Any] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                values.extend(self.static_items(node.value))
            else:
                values.append(self.evaluate(node))
        return values

    def eval_Dict(self, node: ast.Dict) -> dict[Any, Any]:
        if any(key is None for key in node.keys):
            raise self.failure(
                "UNSUPPORTED_EXPRESSION",
                "'**' cannot be used in a dictionary inside a kernel",
                node,
                "write the keys out",
            )
        keys = [self.evaluate(key) for key in node.keys if key is not None]
        return dict(zip(keys, map(self.evaluate, node.values), strict=True))

    def eval_JoinedStr(self, node: ast.JoinedStr) -> str:
        return "".join(
            str(self.evaluate(part.value)) if isinstance(part, ast.FormattedValue)
            else str(self.evaluate(part))
            for part in node.values
        )  # fmt: skip

    def eval_ListComp(self, node: ast.ListComp) -> list[Any]:
        results: list[Any] = []
        self.comprehend(node.generators, lambda: results.append(self.evaluate(node.elt)))
        return self.scope.own(results)

    def eval_GeneratorExp(self, node: ast.GeneratorExp) -> list[Any]:
        results: list[Any] = []
        self.comprehend(node.generators, lambda: results.append(self.evaluate(node.elt)))
        return results

    def comprehend(self, generators: list[ast.comprehension], visit: Callable[[], None]) -> None:
        """Run ``visit`` for each binding of the generators, in a scope of their own."""
        if not generators:
            visit()
            return
        first, *rest = generators
        saved = dict(self.scope.locals)
        for value in self.static_items(first.iter):
            self.assign(first.target, value)
            if all(self.truth(test, "if") for test in first.ifs):
                self.comprehend(rest, visit)
        self.scope.locals.clear()
        self.scope.locals.update(saved)

    def assign(self, target: ast.expr, value: Any) -> None:
        """Bind names; tuples and lists on the left unpack."""
        if isinstance(target, ast.Name):
            self.scope.locals[target.id] = value
            return
        if not isinstance(target, ast.Tuple | ast.List):
            raise self.bad_target(target)
        if is_data(value) or not hasattr(value, "__iter__"):
            raise self.failure(
                "BAD_UNPACK",
                f"cannot unpack {describe(value)} into {len(target.elts)} names",
                target,
                "unpack a tuple, for example the results of pypto.split",
            )
        values = list(value)
        if len(values) != len(target.elts):
            raise self.failure(
                "BAD_UNPACK",
                f"{len(values)} values cannot be unpacked into {len(target.elts)} names",
                target,
                "give one name to each value",
            )
        for element, item in zip(target.elts, values, strict=True):
            self.assign(element, item)

    def bad_target(self, target: ast.expr) -> CompileError:
        return self.failure(
            "IMMUTABLE_TENSOR",
            "only names can be assigned to inside a kernel",
            target,
            "tensors are immutable; build a new one with pypto.where, concat or slice",
        )

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
                    f"combine boolean tensors element by element with '{symbol}'",
                )
            if bool(value) is stops_at:
                return value
        return value

    def eval_UnaryOp(self, node: ast.UnaryOp) -> Any:
        if isinstance(node.op, ast.Not):
            return not self.truth(node.operand, "not")
        return self.compute(UNARY[type(node.op)], [self.evaluate(node.operand)], node)

    def eval_BinOp(self, node: ast.BinOp) -> Any:
        return self.binary(node.op, self.evaluate(node.left), self.evaluate(node.right), node)

    def binary(self, syntax: ast.operator, left: Any, right: Any, node: ast.AST) -> Any:
        return self.compute(BINARY[type(syntax)], [left, right], node)

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
                part = self.compute(STATIC_COMPARE[type(syntax)], [left, right], node, lift=False)
            else:
                part = self.compute(COMPARE[type(syntax)], [left, right], node)
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

    def truth(self, node: ast.expr, word: str) -> bool:
        """A condition known while compiling.

        Raises:
            CompileError: ``DATA_DEPENDENT_IF`` when it is a tensor.
        """
        value = self.evaluate(node)
        if not is_data(value):
            return bool(value)
        raise self.failure(
            "DATA_DEPENDENT_IF",
            f"'{word}' depends on the values of a tensor ({describe(value)})",
            node,
            "choose element by element with pypto.where(condition, a, b)",
        )

    def static_items(self, node: ast.expr) -> Sequence[Any]:
        """The items of something iterable known while compiling."""
        value = self.evaluate(node)
        if is_data(value) or not hasattr(value, "__iter__"):
            raise self.failure(
                "NOT_ITERABLE",
                f"cannot iterate over {describe(value)}",
                node,
                "iterate over range(n) with n known while compiling, or a tuple",
            )
        return value if isinstance(value, range) else list(value)
