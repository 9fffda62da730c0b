"""What was emulated."""

from __future__ import annotations

from typing import NamedTuple

from softmma._table import html_table, text_table


class Emulated(NamedTuple):
    """One kind of product: PyTorch's operation, what A and B were rounded to, on which instruction, and how often."""

    operation: str
    a: str
    b: str
    instruction: str
    calls: int
    multiplications: int


class Report(list[Emulated]):
    """What was emulated, shown as a table."""

    def __repr__(self) -> str:
        return text_table(Emulated._fields, self)

    def _repr_html_(self) -> str:
        return html_table(Emulated._fields, self)
