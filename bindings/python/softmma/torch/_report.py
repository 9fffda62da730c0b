"""What was emulated, what was not, and what became of the operands."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from softmma._quantization import Operand, Statistics
from softmma._table import html_table, text_table
from softmma._units import BLOCK_FORMATS

_BLOCK_FORMATS = {(element, block): name for name, (element, _, block) in BLOCK_FORMATS.items()}


@dataclass
class Rounded:
    """What became of the elements of one operand, over all calls; only counted with ``statistics=True``.

    ``zeros`` were not zero before, ``saturated`` were above the greatest number that their factor allows, ``infinite``
    and ``nan`` are so afterwards. ``error`` is relative: the root of the mean square of what rounding changed, of
    finite elements, over that of the elements.
    """

    role: str
    format: str
    rule: str = ""
    elements: int = 0
    zeros: int = 0
    saturated: int = 0
    infinite: int = 0
    nan: int = 0
    errors: float = field(default=0.0, repr=False)
    squares: float = field(default=0.0, repr=False)

    @classmethod
    def of(cls, role: str, operand: Operand) -> Rounded:
        format = _BLOCK_FORMATS.get((operand.format, operand.block), operand.format)
        return cls(role, format, str(operand))

    def fresh(self) -> Rounded:
        return Rounded(self.role, self.format, self.rule)

    @property
    def error(self) -> float:
        return float(np.sqrt(self.errors / self.squares)) if self.squares else 0.0

    def add(self, counted: Statistics) -> None:
        elements, zeros, saturated, infinite, nan, error, norm = counted
        self.elements += elements
        self.zeros += zeros
        self.saturated += saturated
        self.infinite += infinite
        self.nan += nan
        self.errors += error
        self.squares += norm

    def to_dict(self) -> dict[str, Any]:
        names = ("role", "format", "rule", "elements", "zeros", "saturated", "infinite", "nan", "error")
        return {name: getattr(self, name) for name in names}


@dataclass
class Products:
    """Products of one kind in one layer: ``product`` is forward, dgrad, wgrad, or, without a weight, other."""

    layer: str
    product: str
    operation: str
    a: Rounded
    b: Rounded
    instruction: str
    calls: int = 0
    multiplications: int = 0

    def to_dict(self) -> dict[str, Any]:
        return {**vars(self), "a": self.a.to_dict(), "b": self.b.to_dict()}


class Emulated(NamedTuple):
    """One kind of product: PyTorch's operation, what A and B were rounded to, on which instruction, and how often."""

    product: str
    operation: str
    a: str
    b: str
    instruction: str
    calls: int
    multiplications: int


class Outside(NamedTuple):
    """Products that PyTorch computed as ever, and why."""

    layer: str
    operation: str
    why: str
    calls: int


class Gradients(NamedTuple):
    """Emulated products whose results ask for gradients, and of how many the backward pass has come.

    Products that a backward pass repeats (checkpoints) count once theirs has come: it may never do so.
    """

    asked: int
    seen: int


class Report(list[Emulated]):
    """What was emulated, and what was not, shown as tables.

    ``products`` and ``outside`` say it for each layer; ``gradients`` counts products whose results ask for gradients,
    and backward passes of such.
    """

    def __init__(self, products: Iterable[Products], outside: Iterable[Outside], gradients: Gradients):
        self.products, self.outside, self.gradients = list(products), list(outside), gradients
        sums: dict[tuple[str, str, str, str, str], Emulated] = {}
        for p in self.products:
            key = p.product, p.operation, p.a.format, p.b.format, p.instruction
            *_, calls, multiplications = sums.get(key, (0, 0))
            sums[key] = Emulated(*key, calls + p.calls, multiplications + p.multiplications)
        super().__init__(sums.values())

    def by_layer(self) -> LayerReport:
        """The same for each layer, with what became of the operands if that was asked for."""
        return LayerReport(self)

    def _outside_rows(self) -> list[tuple[object, ...]]:
        sums: dict[tuple[str, str], int] = {}
        for row in self.outside:
            sums[row.operation, row.why] = sums.get((row.operation, row.why), 0) + row.calls
        return [(*key, calls) for key, calls in sums.items()]

    def _gradients_text(self) -> str:
        asked, seen = self.gradients
        return f"backward passes: {seen} of {asked} products whose results ask for gradients" if asked else ""

    def _tables(self) -> list[tuple[Sequence[str], Sequence[Sequence[object]]]]:
        tables: list[tuple[Sequence[str], Sequence[Sequence[object]]]] = [(Emulated._fields, list(self))]
        if self.outside:
            tables.append((("outside", "why", "calls"), self._outside_rows()))
        return tables

    def __repr__(self) -> str:
        tables = [text_table(*table) for table in self._tables()]
        return "\n\n".join([*tables, *filter(None, [self._gradients_text()])])

    def _repr_html_(self) -> str:
        tables = "".join(html_table(*table) for table in self._tables())
        text = self._gradients_text()
        return tables + (f"<p>{text}</p>" if text else "")

    def to_dict(self) -> dict[str, Any]:
        return {
            "products": [p.to_dict() for p in self.products],
            "outside": [row._asdict() for row in self.outside],
            "gradients": self.gradients._asdict(),
        }

    def to_json(self, path: str | Path | None = None) -> str:
        """As text, which is also written to a file if one is named."""
        text = json.dumps(self.to_dict(), indent=2) + "\n"
        if path is not None:
            Path(path).write_text(text, encoding="utf-8")
        return text

    def to_pandas(self) -> Any:
        """A table with one row for each layer and kind of product; needs pandas."""
        import pandas

        rows = []
        for product in self.to_dict()["products"]:
            operands = {f"{side}_{name}": value for side in "ab" for name, value in product.pop(side).items()}
            rows.append({**product, **operands})
        return pandas.DataFrame(rows)

    def plot(self, path: str | Path) -> None:
        """A picture of each operand's error by layer, and of the elements that were lost; needs matplotlib."""
        from softmma.torch._picture import plot

        plot(self.products, path)


class LayerReport(list[Products]):
    """A report by layer, shown as a table."""

    _COUNTS = ("zeros", "saturated", "infinite", "nan")

    def __init__(self, report: Report):
        super().__init__(report.products)
        self.outside = report.outside

    def _table(self) -> tuple[Sequence[str], Sequence[Sequence[object]]]:
        counted = any(operand.elements for p in self for operand in (p.a, p.b))
        header = ["layer", "product", "operation", "calls", "multiplications", "instruction"]
        for side in "AB":
            header += [side, *(("error", *self._COUNTS) if counted else ())]
        rows: list[list[object]] = []
        for p in self:
            row: list[object] = [p.layer, p.product, p.operation, p.calls, p.multiplications, p.instruction]
            for x in (p.a, p.b):
                row += [f"{x.role} {x.format}"]
                row += [f"{x.error:.2e}", *(getattr(x, name) for name in self._COUNTS)] if counted else []
            rows.append(row)
        return header, rows

    def __repr__(self) -> str:
        tables = [text_table(*self._table())]
        if self.outside:
            tables.append(text_table(("outside in", *Outside._fields[1:]), self.outside))
        return "\n\n".join(tables)

    def _repr_html_(self) -> str:
        return html_table(*self._table()) + (
            html_table(Outside._fields, self.outside, "outside") if self.outside else ""
        )
