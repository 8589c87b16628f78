"""Displays, comprehensions and f-strings of a kernel: values made of values."""

from __future__ import annotations

import ast
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

from pypto.errors import CompileError
from pypto.frontend.assignments import Assignments
from pypto.frontend.values import contains_data, describe

MAX_UNROLLED = 1024


class Displays(Assignments):
    """Evaluates tuples, lists, sets, dictionaries, texts and comprehensions."""

    @abstractmethod
    def items(self, node: ast.expr) -> Iterator[Any]: ...

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
                values.extend(self.items(node.value))
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
        return self.scope.own(self.collected(node, [node.elt]))

    def eval_SetComp(self, node: ast.SetComp) -> set[Any]:
        return self.scope.own(set(self.collected(node, [node.elt])))

    def eval_DictComp(self, node: ast.DictComp) -> dict[Any, Any]:
        return self.scope.own(dict(self.collected(node, [node.key, node.value])))

    def eval_GeneratorExp(self, node: ast.GeneratorExp) -> Iterator[Any]:
        return self.comprehended(node.generators, [node.elt])

    def collected(
        self, node: ast.ListComp | ast.SetComp | ast.DictComp, results: list[ast.expr]
    ) -> list[Any]:
        """All that a comprehension gives."""
        found = self.comprehended(node.generators, results)
        values = list(islice(found, MAX_UNROLLED))
        for value in found:
            if contains_data(value):
                raise self.too_long(f"more than {MAX_UNROLLED}", node)
            values.append(value)
        return values

    def comprehended(
        self, generators: list[ast.comprehension], results: list[ast.expr]
    ) -> Iterator[Any]:
        """One entry per binding of the generators: a value, or a tuple of several.

        The first iterable is evaluated at once, all else in a scope of its own when it is asked
        for, as in Python.
        """
        scope = self.scope.of_comprehension(generators)
        inside = type(self)(self.door, self.source, scope, self.callers)
        return inside.entries(self.items(generators[0].iter), generators, results)

    def entries(
        self,
        items: Iterable[Any],
        generators: list[ast.comprehension],
        results: list[ast.expr],
    ) -> Iterator[Any]:
        """The entries for the items of the first generator."""
        first, *rest = generators
        for item in items:
            self.assign(first.target, item)
            if not all(self.truth(test, "if") for test in first.ifs):
                continue
            if rest:
                yield from self.entries(self.items(rest[0].iter), rest, results)
                continue
            values = [self.evaluate(result) for result in results]
            yield values[0] if len(values) == 1 else tuple(values)

    def too_long(self, times: object, node: ast.AST) -> CompileError:
        return self.failure(
            "LOOP_TOO_LONG",
            f"the loop runs {times} times; a kernel unrolls at most {MAX_UNROLLED}",
            node,
            "use a whole-tensor operation instead of a loop over elements",
        )
