"""Displays, comprehensions and f-strings of a kernel: values made of values."""

from __future__ import annotations

import ast
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from pypto.errors import CompileError
from pypto.frontend.assignments import Assignments
from pypto.frontend.values import contains_data, describe

MAX_UNROLLED = 1024


class Displays(Assignments):
    """Evaluates tuples, lists, sets, dictionaries, texts and comprehensions."""

    @abstractmethod
    def static_items(self, node: ast.expr) -> Sequence[Any]: ...

    @abstractmethod
    def truth(self, node: ast.expr, word: str) -> bool: ...

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

    def eval_Set(self, node: ast.Set) -> set[Any]:
        return self.scope.own(set(self.elements(node.elts)))

    def eval_Dict(self, node: ast.Dict) -> dict[Any, Any]:
        result: dict[Any, Any] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            if key is not None:
                result[self.evaluate(key)] = self.evaluate(value)
                continue
            others = self.evaluate(value)
            if not isinstance(others, dict):
                raise self.failure(
                    "BAD_UNPACK",
                    f"'**' needs a dictionary, not {describe(others)}",
                    value,
                    "write the keys out",
                )
            result.update(others)
        return self.scope.own(result)

    def eval_JoinedStr(self, node: ast.JoinedStr) -> str:
        return "".join(
            self.formatted(part)
            if isinstance(part, ast.FormattedValue)
            else str(self.evaluate(part))
            for part in node.values
        )

    def formatted(self, part: ast.FormattedValue) -> str:
        """A value inside an f-string, as Python would write it."""
        value = self.evaluate(part.value)
        if contains_data(value):
            raise self.failure(
                "DATA_DEPENDENT",
                f"a text needs values known while compiling, not {describe(value)}",
                part.value,
                "write its .shape or .dtype into the text",
            )
        conversions: dict[int, Callable[[Any], str]] = {114: repr, 115: str, 97: ascii}
        if part.conversion in conversions:
            value = conversions[part.conversion](value)
        wanted = self.evaluate(part.format_spec) if part.format_spec is not None else ""
        return self.compute(format, [value, wanted], part, what="a text", lift=False)

    def eval_ListComp(self, node: ast.ListComp) -> list[Any]:
        return self.scope.own(self.comprehended(node.generators, [node.elt], node))

    def eval_GeneratorExp(self, node: ast.GeneratorExp) -> list[Any]:
        return self.comprehended(node.generators, [node.elt], node)

    def eval_SetComp(self, node: ast.SetComp) -> set[Any]:
        return self.scope.own(set(self.comprehended(node.generators, [node.elt], node)))

    def eval_DictComp(self, node: ast.DictComp) -> dict[Any, Any]:
        pairs = self.comprehended(node.generators, [node.key, node.value], node)
        return self.scope.own(dict(pairs))

    def comprehended(
        self, generators: list[ast.comprehension], results: list[ast.expr], node: ast.AST
    ) -> list[Any]:
        """One entry per binding of the generators: a value, or a tuple of several."""
        found: list[Any] = []

        def visit() -> None:
            values = [self.evaluate(result) for result in results]
            if len(found) >= MAX_UNROLLED and contains_data(values):
                raise self.too_long(f"more than {MAX_UNROLLED}", node)
            found.append(values[0] if len(values) == 1 else tuple(values))

        self.comprehend(generators, visit)
        return found

    def comprehend(self, generators: list[ast.comprehension], visit: Callable[[], None]) -> None:
        """Run ``visit`` for each binding of the generators; their names end with them."""
        if not generators:
            visit()
            return
        first, *rest = generators
        local = self.scope.locals
        values = self.static_items(first.iter)
        names = [node.id for node in ast.walk(first.target) if isinstance(node, ast.Name)]
        saved = {name: local[name] for name in names if name in local}
        for value in values:
            self.assign(first.target, value)
            if all(self.truth(test, "if") for test in first.ifs):
                self.comprehend(rest, visit)
        for name in names:
            local.pop(name, None)
        local.update(saved)

    def too_long(self, times: object, node: ast.AST) -> CompileError:
        return self.failure(
            "LOOP_TOO_LONG",
            f"the loop runs {times} times; a kernel unrolls at most {MAX_UNROLLED}",
            node,
            "use a whole-tensor operation instead of a loop over elements",
        )
