"""Convolutions as the products that GPU libraries lower them to: implicit GEMM, as in `softmma.torch._convolutions`.

K runs over the filter's positions with channels innermost; in a filter's gradient over the batch, pixels innermost.
Groups are a batch. If positions reach only some pixels, each class of pixels reached alike is a product.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from softmma.jax._contraction import Contraction, Window


class _Class(NamedTuple):
    """Pixels of the result that the same positions of the filter reach, and the operand's pixels that they read."""

    pixels: slice
    positions: NDArray[Any]
    where: NDArray[Any]


def classes_of(w: Window, d: tuple[int, ...]) -> list[_Class]:
    """Returns the pixels divided into classes. Pixels of a class use the same positions of the filter, so K contains no
    zeros from strides. If the result has the filter's axis, pixels are summed along K and form one class."""
    inside, outside, count = w.sizes
    along_filter = w.position in d
    positions = np.arange(count)[:: 1 if w.dilation > 0 or along_filter else -1]
    shift = positions * w.dilation - w.padding
    size, factor, divisor = outside, w.stride, w.spread
    if w.inside in d:
        size, factor, divisor, shift = inside, w.spread, w.stride, -shift
    step = 1 if along_filter else divisor // math.gcd(factor, divisor)
    found = []
    for first in range(min(step, size)):
        where, remainder = np.divmod(np.arange(first, size, step)[:, None] * factor + shift, divisor)
        where = np.where(remainder == 0, where, -1)
        reach = np.full(count, True) if along_filter else remainder[0] == 0
        found.append(_Class(slice(first, None, step), positions[reach], where[:, reach]))
    return found


def lowered_to_product(
    p: Contraction, a: NDArray[Any], b: NDArray[Any], classes: tuple[_Class, ...]
) -> tuple[Contraction, NDArray[Any], NDArray[Any]]:
    """Lowers a convolution to a product of patches. K: the filter's positions, channels innermost; in wgrad the batch,
    pixels innermost."""
    operands, labels = [a, b], [p.a, p.b]
    for w, (_, positions, where) in zip(p.windows, classes):
        taken, kept = (w.outside, w.inside) if w.inside in p.d else (w.inside, w.outside)
        for i in range(2):
            if taken in labels[i]:
                axis = labels[i].index(taken)
                operands[i] = _taken(operands[i], where, axis)
                labels[i] = (*labels[i][:axis], kept, w.position, *labels[i][axis + 1 :])
            elif w.position in labels[i]:
                operands[i] = operands[i].take(positions, labels[i].index(w.position))
    within = {*labels[0], *labels[1]}.difference(p.d)
    summed = _in_order(p, [label for label in p.summed if label in within], within)
    d = _in_order(p, p.d, set(p.d))
    return replace(p, a=labels[0], b=labels[1], d=d, summed=summed, windows=()), operands[0], operands[1]


def _in_order(p: Contraction, labels: Sequence[int], those: set[int]) -> tuple[int, ...]:
    """Orders labels: positions first, then labels outside windows, then pixels."""
    positions = [w.position for w in p.windows if w.position in those]
    pixels = [label for w in p.windows for label in (w.inside, w.outside) if label in those]
    return (*positions, *(label for label in labels if label not in positions + pixels), *pixels)


def _taken(x: NDArray[Any], where: NDArray[Any], axis: int) -> NDArray[Any]:
    """Gathers pixels along an axis, which becomes two axes; zeros beyond the edges."""
    size = x.shape[axis]
    edge = np.zeros((*x.shape[:axis], 1, *x.shape[axis + 1 :]), x.dtype)
    return np.concatenate([x, edge], axis).take(np.where((where >= 0) & (where < size), where, size), axis)
