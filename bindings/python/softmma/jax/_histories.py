"""Delayed scaling as an operation that takes and returns histories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp
from jax.extend.core import Primitive
from jax.interpreters import batching, mlir
from numpy.typing import NDArray

from softmma.jax._contraction import Computing, Contraction, kind_of, roles_of
from softmma.jax._primitives import called_back, outline
from softmma.jax._products import computed
from softmma.recipes import History, Recipe
from softmma.recipes import recipe as recipe_of


class AmaxHistory(NamedTuple):
    """The greatest magnitudes of an operand's last uses, newest last, and the scale that follows from them.

    Missing uses are zeros; the history of an operand without delayed scaling is empty.
    """

    amax: Any
    scale: Any


class Histories(NamedTuple):
    """Histories of a product's operands, (lhs, rhs), and of its gradients': (gradient, rhs) and (lhs, gradient)."""

    forward: tuple[AmaxHistory, AmaxHistory]
    lhs: tuple[AmaxHistory, AmaxHistory]
    rhs: tuple[AmaxHistory, AmaxHistory]


def histories(recipe: str | Recipe = "fp8_delayed", *, weights: str | None = "rhs") -> Histories:
    """Returns the histories of one place in a program, before the first use; ``weights`` is as in `dot_general`.

        dot = softmma.jax.dot_general("H100", "fp8_delayed")
        layer = lambda w, h, x: dot(x, w, (((1,), (0,)), ((), ())), histories=h)
        w, h = ..., softmma.jax.histories("fp8_delayed")
        dw, h = jax.grad(lambda w, h: loss(layer(w, h, x)), (0, 1))(w, h)

    The gradient with respect to histories is not a gradient: it is the histories after the step, forward and backward.
    Without a gradient they stay unchanged. Use separate histories wherever JAX would add gradients up: for each place
    in a program, each iteration of a loop (as `xs` of a scan), each element of a vmap, each device.
    """
    a, b = roles_of(weights)
    how = Computing(recipe_of(recipe), "H100")
    p = Contraction((), (), (), (), frozenset(), (a, b), kind_of((a, b)), np.dtype(np.float32), how)

    def unused(p: Contraction) -> tuple[AmaxHistory, AmaxHistory]:
        a, b = (AmaxHistory(jnp.zeros(x.history, jnp.float32), jnp.ones((), jnp.float32)) for x in p.operands)
        return a, b

    return Histories(*(unused(q) for q in with_gradients(p)))


def with_gradients(p: Contraction) -> tuple[Contraction, Contraction, Contraction]:
    return p, p.gradient_of_a(p.dtype), p.gradient_of_b(p.dtype)


_delayed_p: Any = Primitive("softmma_delayed_product")
_delayed_p.multiple_results = True


def _delayed(p: Contraction, a: NDArray[Any], b: NDArray[Any], *before: NDArray[Any]) -> tuple[Any, ...]:
    """Computes the product, and amax and scale of both operands after it."""
    kept = History(len(before[0])), History(len(before[2]))
    for history, amax, scale in zip(kept, before[::2], before[1::2]):
        history._amax.extend(amax)
        history.scale = np.float32(scale)
    d = computed(p, a, b, kept)
    return d, *(np.asarray(x, np.float32) for history in kept for x in (list(history._amax), history.scale))


def _delayed_outline(a: Any, b: Any, *before: Any, p: Contraction) -> Any:
    for amax, scale, operand in zip(before[::2], before[1::2], p.operands):
        if (amax.shape, scale.shape) != ((operand.history,), ()) or amax.dtype != "f4" or scale.dtype != "f4":
            raise ValueError(
                f"softmma.jax: histories: {amax.str_short()} and {scale.str_short()} do not fit {operand}:"
                " begin with softmma.jax.histories(recipe, weights=...)"
            )
    return [outline(a, b, p=p), *(a.update(shape=x.shape, dtype=x.dtype, weak_type=False) for x in before)]


def _delayed_eager(*arrays: Any, p: Contraction) -> Any:
    arrays = tuple(jnp.asarray(x) for x in arrays)
    _delayed_outline(*(jax.typeof(x) for x in arrays), p=p)
    return [jnp.asarray(x) for x in _delayed(p, *(np.asarray(x) for x in arrays))]


def _delayed_lowered(ctx: Any, *operands: Any, p: Contraction) -> Any:
    return called_back(ctx, operands, p, lambda *arrays: _delayed(p, *arrays))


def _delayed_batched(arrays: Sequence[Any], axes: Sequence[int | None], *, p: Contraction) -> tuple[Any, list[int]]:
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


def with_histories(p: Contraction, a: Any, b: Any, histories: Histories) -> Any:
    """Computes the product; its gradient with respect to histories is the histories after it."""

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
