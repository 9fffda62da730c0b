"""What would my JAX program do on that GPU? Its matrix products as a matrix unit computes them, under jit, vmap, grad.

    loss = softmma.jax.emulate(loss, weights=0, on="H100", recipe="fp8_tensorwise")
    step = jax.jit(jax.value_and_grad(loss))

Importing this module needs JAX, and leaves its configuration as it is.
"""

from __future__ import annotations

import math
import threading
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property, update_wrapper
from itertools import product as pairs
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp
from jax.extend import linear_util, source_info_util
from jax.extend.core import ClosedJaxpr, Jaxpr, Literal, Primitive, jaxpr_as_fun
from jax.interpreters import ad, batching, mlir
from numpy.typing import NDArray

from softmma import _core
from softmma._quantization import Side
from softmma._table import html_table, text_table
from softmma._units import Instruction
from softmma.recipes import History, Operand, Prepared, Product, Recipe, Role, Unit
from softmma.recipes import recipe as recipe_of

__all__ = [
    "AmaxHistory", "Emulated", "Emulation", "Histories", "Outside", "Report", "conv_general_dilated", "dot_general",
    "emulate", "histories",
]  # fmt: skip

_Pair = tuple[History | None, History | None]

ROLES: tuple[Role, ...] = ("weights", "activations", "gradients")
KINDS: tuple[Product, ...] = ("forward", "dgrad", "wgrad", "other")


# ---- What was computed ----


class Emulated(NamedTuple):
    """One kind of product: which, what A and B were in which format, on which instruction, and how often."""

    product: Product
    a: str
    b: str
    instruction: str
    calls: int
    multiplications: int


class Outside(NamedTuple):
    """What the unit did not compute: the operation, on which arrays, and in how many places of the program."""

    operation: str
    arrays: str
    places: int


class Report(list[Emulated]):
    """What was emulated, and what was ``outside``, shown as tables."""

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


class _Record:
    """Counts products, in whichever threads JAX computes them."""

    def __init__(self) -> None:
        self.calls: Counter[tuple[Product, str, str, str]] = Counter()
        self.multiplications: Counter[tuple[Product, str, str, str]] = Counter()
        self.outside: dict[tuple[str, str], set[str]] = {}
        self._lock = threading.Lock()

    def count(self, p: _Product, sizes: dict[int, int]) -> None:
        a, b = (f"{role} {operand}" for role, operand in zip(p.roles, p.operands))
        key = (p.kind, a, b, p.how.unit.instruction(*p.operands).name)
        with self._lock:
            self.calls[key] += 1
            self.multiplications[key] += math.prod(sizes.values())

    def report(self) -> Report:
        with self._lock:
            rows = [Emulated(*key, calls, self.multiplications[key]) for key, calls in self.calls.items()]
        rows.sort(key=lambda row: (KINDS.index(row.product), row))  # JAX may compute in any order
        return Report(rows, [Outside(*key, len(places)) for key, places in self.outside.items()])


# ---- Products ----


@dataclass(frozen=True)
class _Computing:
    """How all products of a program are computed."""

    recipe: Recipe
    on: str | Instruction
    threads: int = 0
    seed: int = 0
    record: _Record | None = None

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


class _Window(NamedTuple):
    """An axis of a convolution: labels and sizes of pixels inside and outside, and of the filter's positions.

    inside * spread = outside * stride - padding + position * dilation. A convolution reads inside and makes outside;
    with lhs_dilation it is written as the one whose dgrad it is, the other way round, and dilation is negative.
    """

    inside: int
    outside: int
    position: int
    sizes: tuple[int, int, int]
    spread: int
    stride: int
    padding: int
    dilation: int

    def transposed(self) -> _Window:
        """The same, with inside and outside in each other's place."""
        inside, outside, position, (i, o, k), spread, stride, padding, dilation = self
        return _Window(outside, inside, position, (o, i, k), stride, spread, -padding, -dilation)


@dataclass(frozen=True)
class _Product:
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
    how: _Computing
    windows: tuple[_Window, ...] = ()
    groups: tuple[int, int] | None = None  # the label, and how many

    @property
    def operands(self) -> tuple[Operand, Operand]:
        a, b = (self.how.unit.operand(role, self.kind) for role in self.roles)
        return a, b

    def gradient_of_a(self, dtype: np.dtype[Any]) -> _Product:
        """The product of D's gradient and B."""
        return self._gradient(self.d, self.b, self.a, ("gradients", self.roles[1]), self.roles[1], dtype)

    def gradient_of_b(self, dtype: np.dtype[Any]) -> _Product:
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
    ) -> _Product:
        kind: Product = "other" if self.kind == "other" else "dgrad" if other == "weights" else "wgrad"
        summed = tuple(label for label in self.d if label not in d)
        return replace(self, a=a, b=b, d=d, summed=summed, roles=roles, kind=kind, dtype=dtype)

    def with_vmapped(self, axes: Sequence[int | None]) -> _Product:
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


def _computed(p: _Product, a: NDArray[Any], b: NDArray[Any], histories: _Pair = (None, None)) -> NDArray[Any]:
    """The product, by the unit: one, or those of a convolution."""
    size = p.sizes(a, b)
    a, b = (x.reshape([size[label] for label in labels]) for x, labels in ((a, p.a), (b, p.b)))
    if not p.windows:
        return _one(p, a, b, histories).reshape(p.shape(size))
    d = np.zeros([size[label] for label in p.d], p.dtype)
    for classes in pairs(*(_classes(w, p.d) for w in p.windows)):
        part, x, y = _lowered_to_product(p, a, b, classes)
        pixels = {w.inside if w.inside in p.d else w.outside: each.pixels for w, each in zip(p.windows, classes)}
        found = _one(part, x, y, histories).transpose([part.d.index(label) for label in p.d])
        d[tuple(pixels.get(label, slice(None)) for label in p.d)] = found
    return d.reshape(p.shape(size))


def _one(p: _Product, a: NDArray[Any], b: NDArray[Any], histories: _Pair) -> NDArray[Any]:
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


# ---- Convolutions: the products that GPU libraries lower them to, as in softmma.torch._convolutions ----


class _Class(NamedTuple):
    """Pixels of the result that the same positions of the filter reach, and from which pixels of the operand."""

    pixels: slice
    positions: NDArray[Any]
    where: NDArray[Any]


def _classes(w: _Window, d: tuple[int, ...]) -> list[_Class]:
    """Strides bring no zeros into K; if positions are the result's, pixels are K, all in one class."""
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


def _lowered_to_product(
    p: _Product, a: NDArray[Any], b: NDArray[Any], classes: tuple[_Class, ...]
) -> tuple[_Product, NDArray[Any], NDArray[Any]]:
    """The product of patches: K is the filter's positions, channels innermost; of wgrad the batch, pixels innermost."""
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


def _in_order(p: _Product, labels: Sequence[int], those: set[int]) -> tuple[int, ...]:
    """Positions, then labels of no window, then pixels."""
    positions = [w.position for w in p.windows if w.position in those]
    pixels = [label for w in p.windows for label in (w.inside, w.outside) if label in those]
    return (*positions, *(label for label in labels if label not in positions + pixels), *pixels)


def _taken(x: NDArray[Any], where: NDArray[Any], axis: int) -> NDArray[Any]:
    """Pixels along an axis, which becomes two; zeros beyond the edges."""
    size = x.shape[axis]
    edge = np.zeros((*x.shape[:axis], 1, *x.shape[axis + 1 :]), x.dtype)
    return np.concatenate([x, edge], axis).take(np.where((where >= 0) & (where < size), where, size), axis)


# ---- Operands ----


def _is_whole(operand: Operand) -> bool:
    """Whether what becomes of an element depends on others than those of its row, column or block."""
    return operand.stochastic or operand.scaling in ("tensor", "1x16", "16x16")


def _prepared(p: _Product, x: NDArray[Any], side: Side, histories: _Pair = (None, None)) -> Prepared:
    which = side == "b"
    unit = p.how.drawing_for(x) if p.operands[which].stochastic else p.how.unit
    return unit.prepare(x, p.roles[which], p.kind, side, history=histories[which])


def _multiplied(p: _Product, x: NDArray[Any], y: NDArray[Any]) -> NDArray[Any]:
    return p.how.unit.multiply(_prepared(p, x, "a"), _prepared(p, y, "b"), p.kind)


def _one_by_one(
    p: _Product, x: NDArray[Any], y: NDArray[Any], apart: int, batch: int, histories: _Pair
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


# ---- The products in JAX: an operation that is linear in both operands ----

_product_p: Any = Primitive("softmma_product")


def _check(a: Any, b: Any, p: _Product) -> None:
    """What can be wrong is said before anything is computed: with jit, where the program is traced."""
    said = f"softmma.jax: {a.str_short()} x {b.str_short()}"
    if not all(jnp.issubdtype(x.dtype, jnp.floating) for x in (a, b)):
        raise TypeError(f"{said}: a unit's products are of floating-point arrays")
    try:
        for x in a, b:
            _core.format(x.dtype)
        p.how.unit.arguments(*p.operands, p.kind)
    except (LookupError, ValueError) as error:
        raise type(error)(f"{said}, {p.kind} of {p.roles[0]} and {p.roles[1]}: {error.args[0]}") from None


def _outline(a: Any, b: Any, *, p: _Product) -> Any:
    _check(a, b, p)
    return a.update(shape=p.shape(p.sizes(a, b)), dtype=p.dtype, weak_type=False)


def _eager(a: Any, b: Any, *, p: _Product) -> Any:
    a, b = jnp.asarray(a), jnp.asarray(b)
    _check(jax.typeof(a), jax.typeof(b), p)
    return jnp.asarray(_computed(p, np.asarray(a), np.asarray(b)))


def _lowered(ctx: Any, *operands: Any, p: _Product) -> Any:
    return _called_back(ctx, operands, p, lambda a, b: (_computed(p, a, b),))


def _called_back(ctx: Any, operands: Any, p: _Product, compute: Callable[..., tuple[Any, ...]]) -> Any:
    """In compiled programs JAX calls back, with operands as NumPy's arrays.

    `jax.pure_callback` would make arrays of JAX of them, and wait for copies in the threads that compute: for ever, if
    all of these wait.
    """

    def called(a: NDArray[Any], b: NDArray[Any], *more: NDArray[Any]) -> tuple[Any, ...]:
        try:
            return compute(a, b, *more)
        except Exception as error:
            raise RuntimeError(f"softmma.jax: {p.kind} product of {a.shape} and {b.shape}: {error}") from None

    results, *_ = mlir.emit_python_callback(
        ctx, called, None, operands, ctx.avals_in, ctx.avals_out, has_side_effect=False
    )
    return results


def _batched(arrays: Sequence[Any], axes: Sequence[int | None], *, p: _Product) -> tuple[Any, int]:
    return _product_p.bind(*arrays, p=p.with_vmapped(axes)), 0


def _gradient_of_a(g: Any, a: Any, b: Any, *, p: _Product) -> Any:
    return _product_p.bind(g, b, p=p.gradient_of_a(a.aval.dtype))


def _gradient_of_b(g: Any, a: Any, b: Any, *, p: _Product) -> Any:
    return _product_p.bind(a, g, p=p.gradient_of_b(b.aval.dtype))


_product_p.def_abstract_eval(_outline)
_product_p.def_impl(_eager)
mlir.register_lowering(_product_p, _lowered)
batching.primitive_batchers[_product_p] = _batched
ad.defbilinear(_product_p, _gradient_of_a, _gradient_of_b)


# ---- Delayed scaling: an operation whose histories go in and come out ----


class AmaxHistory(NamedTuple):
    """Of an operand: the greatest magnitudes of its last uses, the newest behind, and the scale that follows from them.

    Before there were so many, zeros stand for uses; an operand that has no delayed scaling has none.
    """

    amax: Any
    scale: Any


class Histories(NamedTuple):
    """Of a product's operands, (lhs, rhs), and of its gradients': (gradient, rhs) and (lhs, gradient)."""

    forward: tuple[AmaxHistory, AmaxHistory]
    lhs: tuple[AmaxHistory, AmaxHistory]
    rhs: tuple[AmaxHistory, AmaxHistory]


def histories(recipe: str | Recipe = "fp8_delayed", *, weights: str | None = "rhs") -> Histories:
    """Those of one place in a program, before the first use; ``weights`` as in `dot_general`.

        dot = softmma.jax.dot_general("H100", "fp8_delayed")
        layer = lambda w, h, x: dot(x, w, (((1,), (0,)), ((), ())), histories=h)
        w, h = ..., softmma.jax.histories("fp8_delayed")
        dw, h = jax.grad(lambda w, h: loss(layer(w, h, x)), (0, 1))(w, h)

    The gradient with respect to histories is no gradient: it is the histories behind the step, forward and backward.
    Where no gradient is asked for, they stay as they are. What JAX adds up in gradients must have histories of its
    own: each place in a program, each turn of a loop (as `xs` of a scan), each element of a vmap, each device.
    """
    a, b = _roles_of(weights)
    how = _Computing(recipe_of(recipe), "H100")
    p = _Product((), (), (), (), frozenset(), (a, b), _kind((a, b)), np.dtype(np.float32), how)

    def unused(p: _Product) -> tuple[AmaxHistory, AmaxHistory]:
        a, b = (AmaxHistory(jnp.zeros(x.history, jnp.float32), jnp.ones((), jnp.float32)) for x in p.operands)
        return a, b

    return Histories(*(unused(q) for q in _with_gradients(p)))


def _with_gradients(p: _Product) -> tuple[_Product, _Product, _Product]:
    return p, p.gradient_of_a(p.dtype), p.gradient_of_b(p.dtype)


_delayed_p: Any = Primitive("softmma_delayed_product")
_delayed_p.multiple_results = True


def _delayed(p: _Product, a: NDArray[Any], b: NDArray[Any], *before: NDArray[Any]) -> tuple[Any, ...]:
    """The product, and amax and scale of both operands behind it."""
    kept = History(len(before[0])), History(len(before[2]))
    for history, amax, scale in zip(kept, before[::2], before[1::2]):
        history._amax.extend(amax)
        history.scale = np.float32(scale)
    d = _computed(p, a, b, kept)
    return d, *(np.asarray(x, np.float32) for history in kept for x in (list(history._amax), history.scale))


def _delayed_outline(a: Any, b: Any, *before: Any, p: _Product) -> Any:
    for amax, scale, operand in zip(before[::2], before[1::2], p.operands):
        if (amax.shape, scale.shape) != ((operand.history,), ()) or amax.dtype != "f4" or scale.dtype != "f4":
            raise ValueError(
                f"softmma.jax: histories: {amax.str_short()} and {scale.str_short()} are none of {operand}:"
                " begin with softmma.jax.histories(recipe, weights=...)"
            )
    return [_outline(a, b, p=p), *(a.update(shape=x.shape, dtype=x.dtype, weak_type=False) for x in before)]


def _delayed_eager(*arrays: Any, p: _Product) -> Any:
    arrays = tuple(jnp.asarray(x) for x in arrays)
    _delayed_outline(*(jax.typeof(x) for x in arrays), p=p)
    return [jnp.asarray(x) for x in _delayed(p, *(np.asarray(x) for x in arrays))]


def _delayed_lowered(ctx: Any, *operands: Any, p: _Product) -> Any:
    return _called_back(ctx, operands, p, lambda *arrays: _delayed(p, *arrays))


def _delayed_batched(arrays: Sequence[Any], axes: Sequence[int | None], *, p: _Product) -> tuple[Any, list[int]]:
    if None in axes[2:]:
        raise ValueError(
            "softmma.jax: histories: under vmap each element has its own; give them an axis, as jax.vmap's in_axes say,"
            " or make one product of all elements"
        )
    of_elements = [jnp.moveaxis(x, axis, 0) for x, axis in zip(arrays, axes) if axis is not None]

    def element(parts: list[Any]) -> Any:
        taken = iter(parts)
        return _delayed_p.bind(*(x if axis is None else next(taken) for x, axis in zip(arrays, axes)), p=p)

    results = lax.map(element, of_elements)
    return results, [0] * len(results)


_delayed_p.def_abstract_eval(_delayed_outline)
_delayed_p.def_impl(_delayed_eager)
mlir.register_lowering(_delayed_p, _delayed_lowered)
batching.primitive_batchers[_delayed_p] = _delayed_batched


def _with_histories(p: _Product, a: Any, b: Any, histories: Histories) -> Any:
    """The product, whose gradient with respect to histories is what they are behind it."""

    def forward(a: Any, b: Any, before: Histories) -> tuple[Any, Any]:
        d, *behind = _delayed_p.bind(a, b, *jax.tree.leaves(before.forward), p=p)
        return d, (a, b, before, behind)

    def backward(kept: Any, g: Any) -> tuple[Any, Any, Histories]:
        a, b, before, behind = kept
        of_a, *behind_a = _delayed_p.bind(g, b, *jax.tree.leaves(before.lhs), p=p.gradient_of_a(a.dtype))
        of_b, *behind_b = _delayed_p.bind(a, g, *jax.tree.leaves(before.rhs), p=p.gradient_of_b(b.dtype))
        return of_a, of_b, jax.tree.unflatten(jax.tree.structure(before), [*behind, *behind_a, *behind_b])

    product: Any = jax.custom_vjp(lambda a, b, before: forward(a, b, before)[0])
    product.defvjp(forward, backward)
    return product(a, b, histories)


# ---- JAX's operations that are products ----


def _kind(roles: Sequence[Role | None]) -> Product:
    return "forward" if "weights" in roles else "other"


def _emulated(equation: Any, roles: Sequence[Role | None], how: _Computing) -> Any:
    """The equation of the unit's product in the place of one of JAX's."""
    x, y = (operand.aval for operand in equation.invars)
    labels = _LABELS[equation.primitive.name](x, y, equation.outvars[0].aval, equation.params)
    p = _Product(
        **labels,
        apart=frozenset(),
        roles=(roles[0] or "activations", roles[1] or "activations"),
        kind=_kind(roles),
        dtype=np.dtype(equation.outvars[0].aval.dtype),
        how=how,
    )
    return equation.replace(primitive=_product_p, params={"p": p})


def _labels_of_product(x: Any, y: Any, _: Any, params: dict[str, Any]) -> dict[str, Any]:
    (summed_a, summed_b), (batch_a, batch_b) = params["dimension_numbers"]
    a = list(range(x.ndim))
    b = list(range(x.ndim, x.ndim + y.ndim))
    for i, j in (*zip(summed_a, summed_b), *zip(batch_a, batch_b)):
        b[j] = a[i]
    d = [a[i] for i in batch_a]
    d += [label for label in a if label not in b]
    d += [label for label in b if label not in a]
    return {"a": tuple(a), "b": tuple(b), "d": tuple(d), "summed": tuple(a[i] for i in summed_a)}


def _labels_of_convolution(x: Any, y: Any, z: Any, params: dict[str, Any]) -> dict[str, Any]:
    batch, channels, filters, group = range(4)
    lhs, rhs, out = params["dimension_numbers"]
    axes = zip(lhs[2:], out[2:], rhs[2:])
    numbers = zip(*(params[name] for name in ("lhs_dilation", "window_strides", "padding", "rhs_dilation")))
    transposed = any(spread > 1 for spread in params["lhs_dilation"])
    windows = []
    for i, ((of_x, of_z, of_y), (spread, stride, (padding, _), dilation)) in enumerate(zip(axes, numbers)):
        sizes = x.shape[of_x], z.shape[of_z], y.shape[of_y]
        w = _Window(4 + 3 * i, 5 + 3 * i, 6 + 3 * i, sizes, spread, stride, padding, dilation)
        windows.append(w.transposed() if transposed else w)

    def labels(spec: Sequence[int], first: int, second: int, pixels: int) -> list[int]:
        of_axes = dict(zip(spec, (first, second, *range(pixels, pixels + 3 * len(windows), 3))))
        return [of_axes[axis] for axis in range(len(spec))]

    a, b, d = labels(lhs, batch, channels, 4), labels(rhs, filters, channels, 6), labels(out, batch, filters, 5)
    count = max(params["feature_group_count"], params["batch_group_count"])
    if count > 1:
        a.insert(a.index(channels if params["feature_group_count"] > 1 else batch), group)
        b.insert(b.index(filters), group)
        d.insert(d.index(filters), group)
    return {
        "a": tuple(a), "b": tuple(b), "d": tuple(d), "summed": (channels,), "windows": tuple(windows),
        "groups": (group, count) if count > 1 else None,
    }  # fmt: skip


_LABELS: dict[str, Callable[[Any, Any, Any, dict[str, Any]], dict[str, Any]]] = {
    "dot_general": _labels_of_product,
    "conv_general_dilated": _labels_of_convolution,
}
"""Operations of JAX that are products of the unit."""


def _computing(recipe: str | Recipe, on: str | Instruction, threads: int, seed: int) -> _Computing:
    """Raises for what is no recipe or no GPU."""
    how = _Computing(recipe_of(recipe), on, threads, seed)
    how.unit.operand("weights", "forward")
    return how


def _roles_of(weights: str | None) -> list[Role]:
    if weights not in ("lhs", "rhs", None):
        raise ValueError(f"weights: {weights!r} is none of 'lhs', 'rhs', None")
    return ["weights" if weights == side else "activations" for side in ("lhs", "rhs")]


def _by_unit(
    given: Callable[..., Any], lhs: Any, rhs: Any, roles: list[Role], how: _Computing, histories: Histories | None
) -> Any:
    """What an operation of JAX returns, by the unit."""
    lhs, rhs = jnp.asarray(lhs), jnp.asarray(rhs)
    program = jax.make_jaxpr(given)(lhs, rhs)
    equations = [
        _emulated(equation, roles, how) if equation.primitive.name in _LABELS else equation for equation in program.eqns
    ]
    at, product = next((i, equation) for i, equation in enumerate(equations) if equation.primitive is _product_p)
    p = product.params["p"]
    if histories is not None:
        operands: Any = ClosedJaxpr(program.jaxpr.replace(eqns=equations[:at], outvars=product.invars), program.consts)
        lhs, rhs = jaxpr_as_fun(operands)(lhs, rhs)
        return _with_histories(p, lhs, rhs, histories)
    if any(operand.history for q in _with_gradients(p) for operand in q.operands):
        raise ValueError(
            f"recipe {how.recipe.name!r}: delayed scaling needs histories=, at first softmma.jax.histories(recipe);"
            " their gradient is what they are behind the step"
        )
    emulated: Any = ClosedJaxpr(program.jaxpr.replace(eqns=equations), program.consts)
    return jaxpr_as_fun(emulated)(lhs, rhs)[0]


def dot_general(
    on: str | Instruction = "H100",
    recipe: str | Recipe = "bf16",
    *,
    weights: str | None = "rhs",
    seed: int = 0,
    threads: int = 0,
) -> Callable[..., Any]:
    """A function in the place of `jax.lax.dot_general` whose products a GPU's matrix unit computes.

        layer = flax.linen.Dense(10, dot_general=softmma.jax.dot_general("H100", "fp8_tensorwise"))

    It takes what `jax.lax.dot_general` takes and returns its shapes and dtypes. ``precision`` says how XLA should
    compute, and has no effect. Both operands must be floating-point arrays.

    ``recipe`` is a name or a `softmma.recipes.Recipe`: what becomes of weights, activations and gradients, forward and
    backward. ``weights`` says which operand is a weight, "lhs" or "rhs"; the other is an activation, and with None both
    are. Under `jax.grad` the gradient of an activation is a product of the result's gradient and the weight (dgrad),
    that of a weight one of the activation and the result's gradient (wgrad). ``seed``: random numbers of stochastic
    rounding are those of the seed and of the operand's bits, so that functions stay functions.

    A product is that of matrices (..., M, K) and (..., K, N): batch axes in front, all other axes of an operand as one,
    in order, and summed axes as K in the order in which they are named. Under `jax.vmap` each element is computed as if
    alone, with factors of its own.

    Delayed scaling ("fp8_delayed") takes another argument, ``histories``, whose gradient is what they are behind the
    step: `histories`.

    Raises LookupError for a GPU or a recipe that there is not, and for formats that the unit does not multiply, where
    the program is traced; ValueError for delayed scaling without histories.
    """
    roles, how = _roles_of(weights), _computing(recipe, on, threads, seed)

    def product(
        lhs: Any,
        rhs: Any,
        dimension_numbers: Any,
        precision: Any = None,
        preferred_element_type: Any = None,
        *,
        histories: Histories | None = None,
        **options: Any,
    ) -> Any:
        def given(a: Any, b: Any) -> Any:
            return lax.dot_general(a, b, dimension_numbers, None, preferred_element_type, **options)

        return _by_unit(given, lhs, rhs, roles, how, histories)

    return product


def conv_general_dilated(
    on: str | Instruction = "H100",
    recipe: str | Recipe = "bf16",
    *,
    weights: str | None = "rhs",
    seed: int = 0,
    threads: int = 0,
) -> Callable[..., Any]:
    """A function in the place of `jax.lax.conv_general_dilated`, as `dot_general` here is of `jax.lax.dot_general`.

        layer = flax.linen.Conv(8, (3, 3), conv_general_dilated=softmma.jax.conv_general_dilated("H100", "bf16"))

    Convolutions are the products that GPU libraries lower them to (implicit GEMM): K runs over the filter's positions
    with channels innermost, in gradients of filters over the batch with pixels innermost. Groups are a batch. Neither
    strides nor ``lhs_dilation``, a transposed convolution, bring zeros into K; only both at once do, for the filter's
    gradient. With ``lhs_dilation`` positions run backwards: they are those of the filter before it was reversed.
    """
    roles, how = _roles_of(weights), _computing(recipe, on, threads, seed)

    def convolution(
        lhs: Any, rhs: Any, *args: Any, precision: Any = None, histories: Histories | None = None, **options: Any
    ) -> Any:
        def given(a: Any, b: Any) -> Any:
            return lax.conv_general_dilated(a, b, *args, **options)

        return _by_unit(given, lhs, rhs, roles, how, histories)

    return convolution


# ---- Programs: each product of a jaxpr becomes one of the unit ----

# Operations that multiply and add, or of which JAX does not say what they do.
_OUTSIDE = {
    "approx_top_k", "cholesky", "custom_call", "eig", "eigh", "ffi_call", "fft",
    "geqp3", "geqrf", "hessenberg", "householder_product", "io_callback", "lu", "pallas_call", "pure_callback", "qr",
    "ragged_dot", "ragged_dot_general", "scaled_dot", "scaled_matmul", "schur", "svd", "triangular_solve",
    "tridiagonal", "tridiagonal_solve", "xla_call_module",
}  # fmt: skip


_Role = Role | None
"""None: of what is made of numbers in the program, and is computed of nothing else."""

_DERIVATIVE, _OPERANDS = "derivative", "operands"
"""Why roles are not known: in a derivative, or of operands that an operation of JAX gives to its programs."""


class Emulation:
    """The function that `emulate` returns; ``report()`` says what was computed, and what was not."""

    def __init__(self, function: Callable[..., Any], how: _Computing, weights: tuple[int | str, ...], strict: bool):
        self._function = function
        self._record = _Record()
        self._how = replace(how, record=self._record)
        self._weights = weights
        self._strict = strict
        self._known: WeakKeyDictionary[Any, dict[Any, tuple[Any, list[_Role]]]] = WeakKeyDictionary()
        update_wrapper(self, function)

    def report(self) -> Report:
        """What was emulated so far, and what is outside in the programs that were traced."""
        return self._record.report()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        leaves, tree = jax.tree.flatten((args, kwargs))
        paths = [path for path, _ in jax.tree_util.tree_flatten_with_path((args, kwargs))[0]]
        names = [path[1].idx if path[0].idx == 0 else path[1].key for path in paths]  # positions, or keywords
        roles: list[_Role] = ["weights" if name in self._weights else "activations" for name in names]
        if missing := set(self._weights).difference(names):
            raise ValueError(f"softmma.jax.emulate: weights: this call has no argument {', '.join(map(repr, missing))}")
        traced = [i for i, leaf in enumerate(leaves) if isinstance(leaf, (jax.Array, np.ndarray, np.generic))]

        def function(arrays: list[Any]) -> Any:
            whole = list(leaves)
            for i, array in zip(traced, arrays):
                whole[i] = array
            args, kwargs = jax.tree.unflatten(tree, whole)
            return self._function(*args, **kwargs)

        arrays = [jnp.asarray(leaves[i]) for i in traced]
        program, outline = jax.make_jaxpr(function, return_shape=True)(arrays)
        emulated = self._closed(program, [roles[i] for i in traced])
        return jax.tree.unflatten(jax.tree.structure(outline), jaxpr_as_fun(emulated)(*arrays))

    # Roles of a jaxpr's operands are known, but for what is `unknown`: there must be no need of them.

    def _closed(self, closed: Any, roles: list[_Role], unknown: str | None = None) -> Any:
        return ClosedJaxpr(self._rewritten(closed.jaxpr, roles, unknown)[0], closed.consts)

    def _rewritten(self, jaxpr: Any, roles: Sequence[_Role], unknown: str | None) -> tuple[Any, list[_Role]]:
        """The same program with the unit's products, and the roles of its results."""
        known = self._known.setdefault(jaxpr, {})
        key = (*roles, unknown)
        if key not in known:
            role: dict[Any, _Role] = dict(zip(jaxpr.invars, roles))

            def role_of(x: Any) -> _Role:
                return None if isinstance(x, Literal) else role.get(x, "activations")

            equations = []
            for equation in jaxpr.eqns:
                equation, results = self._equation(equation, [role_of(x) for x in equation.invars], unknown)
                role.update(zip(equation.outvars, results))
                equations.append(equation)
            known[key] = jaxpr.replace(eqns=equations), [role_of(x) for x in jaxpr.outvars]
        return known[key]

    def _equation(self, equation: Any, roles: list[_Role], unknown: str | None) -> tuple[Any, list[_Role]]:
        name = equation.primitive.name
        if unknown is None and "transpose(" in str(equation.source_info.name_stack):
            unknown = _DERIVATIVE
        moved = roles[:1] if name == "dynamic_slice" else roles
        results = [_joined(moved)] * len(equation.outvars)
        if name in _LABELS:
            equation = self._product(equation, roles, unknown)
        elif name in _OUTSIDE:
            self._leave(equation, name)
        elif inner := self._inner(equation, roles, unknown):
            params, results = inner
            equation = equation.replace(params={**equation.params, **params})
        return equation, results

    def _product(self, equation: Any, roles: list[_Role], unknown: str | None) -> Any:
        if not all(jnp.issubdtype(x.aval.dtype, jnp.floating) for x in (*equation.invars, *equation.outvars)):
            self._leave(equation, equation.primitive.name)
            return equation
        if unknown == _OPERANDS and not self._how.is_uniform:
            self._leave(equation, equation.primitive.name)
            return equation
        if unknown and not self._how.is_uniform:
            raise ValueError(
                f"softmma.jax.emulate: {_place(equation)}: a product of a derivative, whose gradients nothing tells"
                f" from activations, as recipe {self._how.recipe.name!r} must; differentiate the emulated function"
                " instead: jax.grad(softmma.jax.emulate(f)), and use softmma.jax.dot_general in derivatives of your own"
            )
        return _emulated(equation, roles, self._how)

    def _leave(self, equation: Any, name: str) -> None:
        """To JAX, and say so."""
        arrays = ", ".join(x.aval.str_short() for x in equation.invars if hasattr(x.aval, "str_short"))
        if self._strict:
            raise NotImplementedError(f"softmma.jax.emulate: {_place(equation)}: {name} of {arrays} is not emulated")
        self._record.outside.setdefault((name, arrays), set()).add(_place(equation))

    # ---- Programs in equations: jit, scan, while, cond, remat, custom derivatives ----

    def _inner(
        self, equation: Any, roles: list[_Role], unknown: str | None
    ) -> tuple[dict[str, Any], list[_Role]] | None:
        """The parameters that hold programs or functions, rewritten, and the roles of the results."""
        name, params = equation.primitive.name, equation.params
        found: dict[str, Any] = {}
        nothing: list[_Role] = ["activations"] * len(equation.outvars)
        results = [nothing]
        if name == "scan":
            roles = self._carried(params["jaxpr"], roles, *_consts_and_carry(params, roles), unknown)
        elif name == "while":
            conditions = params["cond_nconsts"]
            loop = params["body_jaxpr"], roles[conditions:], params["body_nconsts"], len(nothing)
            roles = roles[:conditions] + self._carried(*loop, unknown)
        for key, value in params.items():
            if isinstance(value, (Jaxpr, ClosedJaxpr)):
                found[key], of = self._program(value, _operands(name, key, params, roles), unknown)
                if key != "cond_jaxpr":
                    results = [of]
            elif isinstance(value, tuple) and value and all(isinstance(x, (Jaxpr, ClosedJaxpr)) for x in value):
                parts = [self._program(x, _operands(name, key, params, roles), unknown) for x in value]
                programs = [x for x, _ in parts]
                found[key] = type(value)(*programs) if hasattr(value, "_fields") else tuple(programs)
                results = [of for _, of in parts]
            elif isinstance(value, linear_util.WrappedFun):
                found[key] = self._function_of(key, value, roles[params.get("num_consts", 0) :], unknown)
        if not found:
            return None
        if any(len(of) != len(equation.outvars) for of in results):
            results = [nothing]
        return found, [_joined(each) for each in zip(*results)]

    def _program(self, x: Any, roles: list[_Role], unknown: str | None) -> tuple[Any, list[_Role]]:
        jaxpr = x.jaxpr if isinstance(x, ClosedJaxpr) else x
        if len(jaxpr.invars) != len(roles):
            roles, unknown = ["activations"] * len(jaxpr.invars), _OPERANDS
        new, results = self._rewritten(jaxpr, roles, unknown)
        return (ClosedJaxpr(new, x.consts) if isinstance(x, ClosedJaxpr) else new), results

    def _carried(self, body: Any, roles: list[_Role], consts: int, count: int, unknown: str | None) -> list[_Role]:
        """The roles with which a loop's values go around: weights are what stays a weight."""
        while True:
            after = self._program(body, roles, unknown)[1][:count]
            carried = [_joined(each) for each in zip(roles[consts : consts + count], after)]
            if carried == roles[consts : consts + count]:
                return roles
            roles = roles[:consts] + carried + roles[consts + count :]

    def _function_of(self, key: str, function: Any, roles: list[_Role], unknown: str | None) -> Any:
        """The function of a custom derivative: one that returns a program, or the backward pass itself."""

        def program(*zeros: Any) -> Any:
            jaxpr, *rest = function.call_wrapped(*zeros)
            operands = roles
            if key == "jvp_jaxpr_fun":
                operands = operands + [role for role, zero in zip(roles, zeros) if not zero]
            return self._program(jaxpr, operands, unknown)[0], *rest

        def backward(*args: Any) -> Any:
            arrays = [x for x in args if isinstance(x, jax.Array)]
            outline: list[Any] = []  # the tree of results, and its leaves as they are while they are traced

            def traced(*arrays: Any) -> list[Any]:
                taken = iter(arrays)
                results = function.call_wrapped(*(next(taken) if isinstance(x, jax.Array) else x for x in args))
                leaves, tree = jax.tree.flatten(results)
                outline[:] = tree, leaves
                return [x for x in leaves if isinstance(x, jax.Array)]

            program = jax.make_jaxpr(traced)(*arrays)
            found = iter(jaxpr_as_fun(self._closed(program, ["activations"] * len(arrays), _DERIVATIVE))(*arrays))
            tree, leaves = outline  # where they are no arrays, they are symbols of zeros
            return jax.tree.unflatten(tree, [next(found) if isinstance(x, jax.Array) else x for x in leaves])

        return linear_util.wrap_init(backward if key == "bwd" else program, debug_info=function.debug_info)


def _joined(roles: Iterable[_Role]) -> _Role:
    """Of what is computed from these: of weights alone it is a weight."""
    found = set(roles) - {None}
    return None if not found else "weights" if found == {"weights"} else "activations"


def _consts_and_carry(params: dict[str, Any], operands: Sequence[Any]) -> tuple[int, int]:
    """How many operands of a scan are these."""
    if "ft_in" in params:  # JAX 0.12
        consts, carry, _ = params["ft_in"].update(operands).unpack()
        return len(list(consts)), len(list(carry))
    return params["num_consts"], params["num_carry"]


def _operands(name: str, key: str, params: dict[str, Any], roles: list[_Role]) -> list[_Role]:
    """The roles of a program's operands, which are an equation's or a part of them."""
    if name == "cond":
        return roles[1:]
    if name == "while":
        conditions, bodies = params["cond_nconsts"], params["body_nconsts"]
        return roles[:conditions] + roles[conditions + bodies :] if key == "cond_jaxpr" else roles[conditions:]
    return roles


def _place(equation: Any) -> str:
    """Where the user's code calls it, if JAX knows."""
    return str(source_info_util.summarize(equation.source_info)) or "in a function of JAX"


def emulate(
    function: Callable[..., Any],
    on: str | Instruction = "H100",
    recipe: str | Recipe = "bf16",
    *,
    weights: int | str | Sequence[int | str] | None = None,
    strict: bool = False,
    seed: int = 0,
    threads: int = 0,
) -> Emulation:
    """The function, with the products of its program computed by a GPU's matrix unit, forward and backward.

        loss = softmma.jax.emulate(loss, "H100", "fp8_tensorwise", weights=0)
        step = jax.jit(jax.value_and_grad(loss))

    Each dot_general (jax.numpy's matmul, dot, einsum, ... are made of it) and each convolution of floating-point arrays
    becomes what `dot_general` and `conv_general_dilated` here compute, also in jit, scan, while, cond, remat, shard_map
    and custom derivatives. Products of integers and complex numbers, factorisations and operations that JAX cannot look
    into are left to JAX: the `report` of what is returned names them, and with ``strict`` they raise
    NotImplementedError.

    ``weights`` are the arguments whose arrays are weights, by position or name; so is what is computed of weights
    alone. All else is an activation, arrays that the function has from elsewhere, too. Where a recipe makes
    no difference, it can be left out.

    Differentiate the emulated function, so that gradients are known as such: jax.grad(emulate(f)). emulate(jax.grad(f))
    raises ValueError where a recipe treats gradients in another way.

    Arrays are traced, as by `jax.jit`; other arguments stay what they are. Outside of `jax.jit` each call traces again.
    """
    how = _computing(recipe, on, threads, seed)
    if any(how.unit.operand(role, kind).history for role, kind in pairs(ROLES, KINDS)):
        raise ValueError(
            f"recipe {how.recipe.name!r}: delayed scaling keeps a history of magnitudes for each place, which the"
            " function does not take: softmma.jax.dot_general and conv_general_dilated do, as histories=;"
            " fp8_tensorwise scales by the tensor itself"
        )
    if weights is None:
        if not how.is_uniform:
            raise ValueError(
                f"recipe {how.recipe.name!r} treats weights in a way of their own: say which arguments hold them,"
                " weights=0, or weights=() if none does"
            )
        weights = ()
    which = (weights,) if isinstance(weights, (int, str)) else tuple(weights)
    return Emulation(function, how, which, strict)
