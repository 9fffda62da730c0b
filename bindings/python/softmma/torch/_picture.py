"""Plots a report: rounding errors of operands, by layer."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from softmma.torch._rows import Products, Rounded

_COLOURS = {"weights": "#4269d0", "activations": "#efb118", "gradients": "#ff725c"}


def plot(products: Sequence[Products], path: str | Path) -> None:
    """Plots one row of points for each layer and kind of product: errors on the left, lost elements on the right."""
    if not any(p.a.elements + p.b.elements for p in products):
        raise ValueError("nothing was counted: emulate(..., statistics=True) counts what becomes of operands")
    import matplotlib
    from matplotlib.figure import Figure

    labels = [f"{p.layer}  {p.product}" if p.layer != "-" else f"{p.operation}  {p.product}" for p in products]
    with matplotlib.rc_context({"svg.hashsalt": "softmma", "svg.fonttype": "none"}):
        figure = Figure(figsize=(10, 1.2 + 0.22 * len(labels)), layout="constrained")
        error, lost = figure.subplots(1, 2, sharey=True)
        for role, colour in _COLOURS.items():
            operands = [(y, x) for y, p in enumerate(products) for x in (p.a, p.b) if x.role == role and x.elements]
            rows = [y for y, _ in operands]
            if rows:
                error.plot([x.error for _, x in operands], rows, "o", color=colour, label=role)
                lost.plot([_lost(x) for _, x in operands], rows, "o", color=colour)
        _axis(error, "relative error of rounding")
        _axis(lost, "share of elements that became zero, saturated, infinite or NaN")
        error.set_yticks(range(len(labels)), labels, fontsize=7)
        error.invert_yaxis()
        error.legend(fontsize=7)
        figure.savefig(path, format="svg", metadata={"Date": None})


def _lost(x: Rounded) -> float:
    return (x.zeros + x.saturated + x.infinite + x.nan) / x.elements


def _axis(axes: Any, title: str) -> None:
    axes.set_title(title, fontsize=8)
    axes.set_xlim(left=0)
    axes.grid(axis="x", alpha=0.3)
