"""Rows of a report: products of one kind in one layer, with statistics of their operands."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from softmma._quantization import Operand, Statistics
from softmma._units import BLOCK_FORMATS

_BLOCK_FORMATS = {(element, block): name for name, (element, _, block) in BLOCK_FORMATS.items()}


@dataclass
class Rounded:
    """Statistics of one operand's elements, over all calls; counted only with ``statistics=True``.

    ``zeros`` counts elements that became zero, ``saturated`` those above the greatest number that their factor allows,
    ``infinite`` and ``nan`` those that are infinite or NaN after rounding. ``error`` is the root mean square of the
    rounding errors, divided by the root mean square of the elements (finite elements only).
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
    """Products of one kind in one layer. ``product`` is "forward", "dgrad", "wgrad", or "other" without a weight."""

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
