"""A product of arrays with labelled axes, and the settings for all products of a program."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product as pairs
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from softmma._units import Instruction
from softmma.jax._report import KINDS, Record
from softmma.recipes import Operand, Product, Recipe, Role, Unit
from softmma.recipes import recipe as recipe_of

ROLES: tuple[Role, ...] = ("weights", "activations", "gradients")


class Window(NamedTuple):
    """An axis of a convolution: the labels and sizes of its input pixels ("inside"), its output pixels ("outside") and
    the filter's positions.

    inside * spread = outside * stride - padding + position * dilation. A convolution with lhs_dilation is the dgrad of
    another convolution. It is written as this other one, with inside and outside exchanged and a negative dilation.
    """

    inside: int
    outside: int
    position: int
    sizes: tuple[int, int, int]
    spread: int
    stride: int
    padding: int
    dilation: int

    def transposed(self) -> Window:
        """Returns the window with inside and outside exchanged."""
        inside, outside, position, (i, o, k), spread, stride, padding, dilation = self
        return Window(outside, inside, position, (o, i, k), stride, spread, -padding, -dilation)


@dataclass(frozen=True)
class Computing:
    """Settings for all products of a program."""

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
        """Reports whether the recipe treats all roles alike."""
        operands = {self.unit.operand(role, kind) for role, kind in pairs(ROLES, KINDS)}
        return len(operands) == 1 and len(set(self.recipe.promote)) == 1

    def drawing_for(self, x: NDArray[Any]) -> Unit:
        """Returns a unit whose random numbers depend only on the seed and an operand's bits."""
        unit = copy(self.unit)
        unit.generator = np.random.default_rng([self.seed, zlib.crc32(np.ascontiguousarray(x).view(np.uint8).data)])
        return unit


def computing(recipe: str | Recipe, on: str | Instruction, threads: int, seed: int) -> Computing:
    """Returns the settings; raises for an unknown recipe or GPU."""
    how = Computing(recipe_of(recipe), on, threads, seed)
    how.unit.operand("weights", "forward")
    return how


def roles_of(weights: str | None) -> list[Role]:
    if weights not in ("lhs", "rhs", None):
        raise ValueError(f"weights: {weights!r} is not one of 'lhs', 'rhs', None")
    return ["weights" if weights == side else "activations" for side in ("lhs", "rhs")]


def kind_of(roles: Sequence[Role | None]) -> Product:
    return "forward" if "weights" in roles else "other"


@dataclass(frozen=True)
class Contraction:
    """A product of two arrays with labelled axes, as in an einsum, and its settings.

    A label that both operands and the result have is a batch axis. `apart` lists the axes that vmap added: along them
    each slice counts as a whole operand, for example with a tensor factor of its own. A convolution has `windows`.
    Groups of a convolution are a batch axis, which the arrays merge with the axis after it.
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
    groups: tuple[int, int] | None = None  # the label of the groups, and their number

    @property
    def operands(self) -> tuple[Operand, Operand]:
        a, b = (self.how.unit.operand(role, self.kind) for role in self.roles)
        return a, b

    def gradient_of_a(self, dtype: np.dtype[Any]) -> Contraction:
        """Returns the product of D's gradient and B."""
        return self._gradient(self.d, self.b, self.a, ("gradients", self.roles[1]), self.roles[1], dtype)

    def gradient_of_b(self, dtype: np.dtype[Any]) -> Contraction:
        """Returns the product of A and D's gradient."""
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
        """Returns the product for operands to which vmap has added an axis: `axes` has its position in each operand, or
        None. In the result the axis comes first."""
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
        """Returns the sizes of all axes, from the operands."""
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
        """Returns the shape of the result."""
        found = [sizes[label] for label in self.d]
        if self.groups:
            at = self.d.index(self.groups[0])
            found[at : at + 2] = [found[at] * found[at + 1]]
        return tuple(found)
