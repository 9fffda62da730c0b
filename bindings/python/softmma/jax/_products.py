"""Products of arrays whose axes have labels, computed by the unit."""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product as pairs
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softmma._quantization import Side
from softmma._units import Instruction
from softmma.jax._convolutions import Window, classes_of, lowered_to_product
from softmma.jax._report import KINDS, Record
from softmma.recipes import History, Operand, Prepared, Product, Recipe, Role, Unit
from softmma.recipes import recipe as recipe_of

ROLES: tuple[Role, ...] = ("weights", "activations", "gradients")

Pair = tuple[History | None, History | None]
"""Of both operands, where they have one."""


@dataclass(frozen=True)
class Computing:
    """How all products of a program are computed."""

    recipe: Recipe
    on: str | Instruction
    threads: int = 0
    seed: int = 0
    record: Record | None = None

    @cached_property
    def unit(self) -> Unit:
        return Unit(self.on, self.recipe, threads=self.threads)

    @cached_property
    def is_uniform(self) -> bool:
        """Whether roles make no difference."""
        operands = {self.unit.operand(role, kind) for role, kind in pairs(ROLES, KINDS)}
        return len(operands) == 1 and len(set(self.recipe.promote)) == 1

    def drawing_for(self, x: NDArray[Any]) -> Unit:
        """A unit whose random numbers depend on the seed and on an operand's bits, and on nothing else."""
        unit = copy(self.unit)
        unit.generator = np.random.default_rng([self.seed, zlib.crc32(np.ascontiguousarray(x).view(np.uint8).data)])
        return unit


def computing(recipe: str | Recipe, on: str | Instruction, threads: int, seed: int) -> Computing:
    """Raises for what is no recipe or no GPU."""
    how = Computing(recipe_of(recipe), on, threads, seed)
    how.unit.operand("weights", "forward")
    return how


def roles_of(weights: str | None) -> list[Role]:
    if weights not in ("lhs", "rhs", None):
        raise ValueError(f"weights: {weights!r} is none of 'lhs', 'rhs', None")
    return ["weights" if weights == side else "activations" for side in ("lhs", "rhs")]


def kind_of(roles: Sequence[Role | None]) -> Product:
    return "forward" if "weights" in roles else "other"


@dataclass(frozen=True)
class Contraction:
    """A product of two arrays whose axes have labels, as in an einsum, and how it is computed.

    Labels of both operands and of the result are the batch's. Those that vmap brought are `apart`: what an operand has
    as a whole, such as a factor for the tensor, it has for each of their elements. A convolution has `windows`. Groups
    are a batch; the arrays have their axis and the next in one.
    """

    a: tuple[int, ...]
    b: tuple[int, ...]
    d: tuple[int, ...]
    summed: tuple[int, ...]  # along K, the last one fastest
    apart: frozenset[int]
    roles: tuple[Role, Role]
    kind: Product
    dtype: np.dtype[Any]  # of the result
    how: Computing
    windows: tuple[Window, ...] = ()
    groups: tuple[int, int] | None = None  # the label, and how many

    @property
    def operands(self) -> tuple[Operand, Operand]:
        a, b = (self.how.unit.operand(role, self.kind) for role in self.roles)
        return a, b

    def gradient_of_a(self, dtype: np.dtype[Any]) -> Contraction:
        """The product of D's gradient and B."""
        return self._gradient(self.d, self.b, self.a, ("gradients", self.roles[1]), self.roles[1], dtype)

    def gradient_of_b(self, dtype: np.dtype[Any]) -> Contraction:
        """The product of A and D's gradient."""
        return self._gradient(self.a, self.d, self.b, (self.roles[0], "gradients"), self.roles[0], dtype)

    def _gradient(
        self,
        a: tuple[int, ...],
        b: tuple[int, ...],
        d: tuple[int, ...],
        roles: tuple[Role, Role],
        other: Role,
        dtype: np.dtype[Any],
    ) -> Contraction:
        kind: Product = "other" if self.kind == "other" else "dgrad" if other == "weights" else "wgrad"
        summed = tuple(label for label in self.d if label not in d)
        return replace(self, a=a, b=b, d=d, summed=summed, roles=roles, kind=kind, dtype=dtype)

    def with_vmapped(self, axes: Sequence[int | None]) -> Contraction:
        """The product of operands that have another axis, where it is said; the result has it in front."""
        label = max((*self.a, *self.b, *self.d, -1)) + 1

        def vmapped(labels: tuple[int, ...], axis: int | None) -> tuple[int, ...]:
            if axis is None:
                return labels
            if self.groups:
                axis += labels.index(self.groups[0]) < axis
            return (*labels[:axis], label, *labels[axis:])

        a, b = (vmapped(labels, axis) for labels, axis in zip((self.a, self.b), axes))
        return replace(self, a=a, b=b, d=(label, *self.d), apart=self.apart | {label})

    def sizes(self, a: Any, b: Any) -> dict[int, int]:
        """Of all axes, from the operands."""
        found: dict[int, int] = {}
        for w in self.windows:
            found.update(zip((w.inside, w.outside, w.position), w.sizes))
        for labels, shape in (self.a, a.shape), (self.b, b.shape):
            if self.groups:
                label, count = self.groups
                at = labels.index(label)
                shape = (*shape[:at], count, shape[at] // count, *shape[at + 1 :])
            found.update(zip(labels, shape))
        return found

    def shape(self, sizes: dict[int, int]) -> tuple[int, ...]:
        """The result's."""
        found = [sizes[label] for label in self.d]
        if self.groups:
            at = self.d.index(self.groups[0])
            found[at : at + 2] = [found[at] * found[at + 1]]
        return tuple(found)


def _matrices(
    x: NDArray[Any], labels: tuple[int, ...], lead: Sequence[int], rows: Sequence[int], columns: Sequence[int]
) -> NDArray[Any]:
    """The array as matrices behind leading axes; those that it has not are 1, or missing before the first it has."""
    size = dict(zip(labels, x.shape))
    while lead and lead[0] not in size:
        lead = lead[1:]
    order = [label for label in (*lead, *rows, *columns) if label in size]
    shape = [size.get(label, 1) for label in lead]
    shape += [math.prod(size[label] for label in side) for side in (rows, columns)]
    return x.transpose([labels.index(label) for label in order]).reshape(shape)


def computed(p: Contraction, a: NDArray[Any], b: NDArray[Any], histories: Pair = (None, None)) -> NDArray[Any]:
    """The product, by the unit: one, or those of a convolution."""
    size = p.sizes(a, b)
    a, b = (x.reshape([size[label] for label in labels]) for x, labels in ((a, p.a), (b, p.b)))
    if not p.windows:
        return _one(p, a, b, histories).reshape(p.shape(size))
    d = np.zeros([size[label] for label in p.d], p.dtype)
    for classes in pairs(*(classes_of(w, p.d) for w in p.windows)):
        part, x, y = lowered_to_product(p, a, b, classes)
        pixels = {w.inside if w.inside in p.d else w.outside: each.pixels for w, each in zip(p.windows, classes)}
        found = _one(part, x, y, histories).transpose([part.d.index(label) for label in p.d])
        d[tuple(pixels.get(label, slice(None)) for label in p.d)] = found
    return d.reshape(p.shape(size))


def _one(p: Contraction, a: NDArray[Any], b: NDArray[Any], histories: Pair) -> NDArray[Any]:
    """A product of matrices."""
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
        p.how.record.count(p, size)
    with np.errstate(over="ignore", invalid="ignore"):  # as PyTorch and JAX convert
        return np.asarray(d, p.dtype, order="C")


# ---- Operands ----


def _is_whole(operand: Operand) -> bool:
    """Whether what becomes of an element depends on others than those of its row, column or block."""
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
    """The same, each element of the axes that are apart for itself; an operand that lacks an axis is prepared once."""
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
