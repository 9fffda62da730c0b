"""Reports of emulated products, of other products, and of statistics of the operands."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from softmma._table import html_table, text_table
from softmma.torch._picture import plot
from softmma.torch._rows import Products


class Emulated(NamedTuple):
    """One kind of product: PyTorch's operation, the formats of A and B, the instruction, and the number of calls."""

    product: str
    operation: str
    a: str
    b: str
    instruction: str
    calls: int
    multiplications: int


class Outside(NamedTuple):
    """Products that PyTorch computed itself, and the reason."""

    layer: str
    operation: str
    why: str
    calls: int


class Gradients(NamedTuple):
    """Counts of emulated products whose results require gradients, and of those whose backward pass has run.

    Products that a backward pass repeats (checkpoints) count only once their own backward pass has run, because it may
    never run.
    """

    asked: int
    seen: int


class Report(list[Emulated]):
    """Tables of the emulated products and of the others.

    ``products`` and ``outside`` list them by layer. ``gradients`` counts products whose results require gradients, and
    their backward passes.
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
        """Returns the report by layer, with statistics of the operands if they were requested."""
        return LayerReport(self)

    def _outside_rows(self) -> list[tuple[object, ...]]:
        sums: dict[tuple[str, str], int] = {}
        for row in self.outside:
            sums[row.operation, row.why] = sums.get((row.operation, row.why), 0) + row.calls
        return [(*key, calls) for key, calls in sums.items()]

    def _gradients_text(self) -> str:
        asked, seen = self.gradients
        return f"backward passes: {seen} of {asked} products whose results need gradients" if asked else ""

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
        """Returns the report as JSON, and writes it to `path` if given."""
        text = json.dumps(self.to_dict(), indent=2) + "\n"
        if path is not None:
            Path(path).write_text(text, encoding="utf-8")
        return text

    def to_pandas(self) -> Any:
        """Returns a table with a row for each layer and kind of product. Needs pandas."""
        import pandas

        rows = []
        for product in self.to_dict()["products"]:
            operands = {f"{side}_{name}": value for side in "ab" for name, value in product.pop(side).items()}
            rows.append({**product, **operands})
        return pandas.DataFrame(rows)

    def plot(self, path: str | Path) -> None:
        """Plots each operand's error and lost elements by layer, and writes the picture. Needs matplotlib."""
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
