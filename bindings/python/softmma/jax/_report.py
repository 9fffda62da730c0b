"""Reports of the products that the unit computed, and of those left to JAX."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from softmma._table import html_table, text_table
from softmma.recipes import Operand, Product, Role, Unit

KINDS: tuple[Product, ...] = ("forward", "dgrad", "wgrad", "other")


class Emulated(NamedTuple):
    """One kind of emulated product: roles and formats of A and B, the instruction, and the number of calls."""

    product: Product
    a: str
    b: str
    instruction: str
    calls: int
    multiplications: int


class Outside(NamedTuple):
    """An operation left to JAX: its name, the arrays, and the number of lines of the program that contain it."""

    operation: str
    arrays: str
    places: int


class Report(list[Emulated]):
    """The emulated products, and in ``outside`` the operations left to JAX; shown as tables."""

    def __init__(self, rows: Iterable[Emulated] = (), outside: Iterable[Outside] = ()):
        super().__init__(rows)
        self.outside = list(outside)

    def __repr__(self) -> str:
        parts = [text_table(Emulated._fields, self)]
        if self.outside:
            parts.append("not emulated:\n" + text_table(Outside._fields, self.outside))
        return "\n".join(parts)

    def _repr_html_(self) -> str:
        outside = html_table(Outside._fields, self.outside, "not emulated") if self.outside else ""
        return html_table(Emulated._fields, self) + outside


class Record:
    """Counts products in all threads of JAX."""

    def __init__(self) -> None:
        self.calls: Counter[tuple[Product, str, str, str]] = Counter()
        self.multiplications: Counter[tuple[Product, str, str, str]] = Counter()
        self.outside: dict[tuple[str, str], set[str]] = {}
        self._lock = threading.Lock()

    def count(
        self,
        product: Product,
        roles: tuple[Role, Role],
        operands: tuple[Operand, Operand],
        unit: Unit,
        multiplications: int,
    ) -> None:
        a, b = (f"{role} {operand}" for role, operand in zip(roles, operands))
        key = (product, a, b, unit.instruction(*operands).name)
        with self._lock:
            self.calls[key] += 1
            self.multiplications[key] += multiplications

    def report(self) -> Report:
        with self._lock:
            rows = [Emulated(*key, calls, self.multiplications[key]) for key, calls in self.calls.items()]
        rows.sort(key=lambda row: (KINDS.index(row.product), row))  # sorted, because JAX may compute in any order
        return Report(rows, [Outside(*key, len(places)) for key, places in self.outside.items()])
