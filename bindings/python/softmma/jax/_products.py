"""Computes products of arrays with labelled axes on the unit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product as pairs
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softmma._quantization import Side, Use
from softmma.jax._contraction import Contraction
from softmma.jax._convolutions import classes_of, lowered_to_product
from softmma.recipes import History, Operand, Prepared

Pair = tuple[History | None, History | None]
"""Histories of both operands, or None for an operand without delayed scaling."""


def _matrices(
    x: NDArray[Any], labels: tuple[int, ...], lead: Sequence[int], rows: Sequence[int], columns: Sequence[int]
) -> NDArray[Any]:
    """Returns the array as a batch of matrices (lead..., rows, columns). A leading axis that the array lacks gets size
    1; if it is the first axis, it is left out."""
    size = dict(zip(labels, x.shape))
    while lead and lead[0] not in size:
        lead = lead[1:]
    order = [label for label in (*lead, *rows, *columns) if label in size]
    shape = [size.get(label, 1) for label in lead]
    shape += [math.prod(size[label] for label in side) for side in (rows, columns)]
    return x.transpose([labels.index(label) for label in order]).reshape(shape)


def computed(p: Contraction, a: NDArray[Any], b: NDArray[Any], histories: Pair = (None, None)) -> NDArray[Any]:
    """Computes a product, or the products of a convolution, on the unit."""
    size = p.sizes(a, b)
    a, b = (x.reshape([size[label] for label in labels]) for x, labels in ((a, p.a), (b, p.b)))
    if not p.windows:
        return _one(p, a, b, histories).reshape(p.shape(size))
    d = np.zeros([size[label] for label in p.d], p.dtype)
    uses = [None if history is None else Use(history) for history in histories]
    for classes in pairs(*(classes_of(w, p.d) for w in p.windows)):
        part, x, y = lowered_to_product(p, a, b, classes)
        pixels = {w.inside if w.inside in p.d else w.outside: each.pixels for w, each in zip(p.windows, classes)}
        found = _one(part, x, y, (uses[0], uses[1])).transpose([part.d.index(label) for label in p.d])
        d[tuple(pixels.get(label, slice(None)) for label in p.d)] = found
    for use in uses:
        if use is not None:
            use.end()
    return d.reshape(p.shape(size))


def _one(p: Contraction, a: NDArray[Any], b: NDArray[Any], histories: Pair) -> NDArray[Any]:
    """Computes a product without windows, as a batch of matrix products."""
    size = dict(zip((*p.a, *p.b), (*a.shape, *b.shape)))
    apart = [label for label in p.d if label in p.apart]
    batch = [label for label in p.d if label in p.a and label in p.b and label not in p.apart]
    rows = [label for label in p.d if label not in p.b and label not in p.apart]
    columns = [label for label in p.d if label not in p.a and label not in p.apart]
    if 0 in size.values():
        return np.zeros([size[label] for label in p.d], p.dtype)
    x = _matrices(a, p.a, apart + batch, rows, p.summed)
    y = _matrices(b, p.b, apart + batch, p.summed, columns)
    if any(map(_is_whole, p.operands)):
        d = _one_by_one(p, x, y, len(apart), len(batch), histories)
    else:
        d = _multiplied(p, x, y)
    order = (*apart, *batch, *rows, *columns)
    d = d.reshape([size[label] for label in order]).transpose([order.index(label) for label in p.d])
    if p.how.record:
        p.how.record.count(p.kind, p.roles, p.operands, p.how.unit, math.prod(size.values()))
    with np.errstate(over="ignore", invalid="ignore"):  # rounds as PyTorch and JAX do
        return np.asarray(d, p.dtype, order="C")


# ---- Operands ----


def _is_whole(operand: Operand) -> bool:
    """Reports whether quantising an element depends on elements outside its row, column or block."""
    return operand.stochastic or operand.scaling in ("tensor", "1x16", "16x16")


def _prepared(p: Contraction, x: NDArray[Any], side: Side, histories: Pair = (None, None)) -> Prepared:
    which = side == "b"
    unit = p.how.drawing_for(x) if p.operands[which].stochastic else p.how.unit
    return unit.prepare(x, p.roles[which], p.kind, side, history=histories[which])


def _multiplied(p: Contraction, x: NDArray[Any], y: NDArray[Any]) -> NDArray[Any]:
    return p.how.unit.multiply(_prepared(p, x, "a"), _prepared(p, y, "b"), p.kind)


def _one_by_one(
    p: Contraction, x: NDArray[Any], y: NDArray[Any], apart: int, batch: int, histories: Pair
) -> NDArray[Any]:
    """Multiplies like `_multiplied`, separately for each element of the first `apart` axes. An operand that lacks an
    axis is prepared once."""
    shapes = [(1,) * (apart + batch + 2 - z.ndim) + z.shape for z in (x, y)]
    count = np.broadcast_shapes(*(shape[:apart] for shape in shapes))
    x, y = (z.reshape(shape) for z, shape in zip((x, y), shapes))
    known: dict[Any, Prepared] = {}

    def prepared(z: NDArray[Any], index: tuple[int, ...], side: Side) -> Prepared:
        at = tuple(i if n > 1 else 0 for i, n in zip(index, z.shape))
        if z.shape[:apart] == count:
            return _prepared(p, z[at], side, histories)
        if (side, at) not in known:
            known[side, at] = _prepared(p, z[at], side, histories)
        return known[side, at]

    parts = [p.how.unit.multiply(prepared(x, i, "a"), prepared(y, i, "b"), p.kind) for i in np.ndindex(*count)]
    return np.stack(parts)
