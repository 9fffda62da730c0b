"""Products as a JAX primitive that is linear in both operands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jax import numpy as jnp
from jax import typeof
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir
from numpy.typing import NDArray

from softmma import _core
from softmma.jax._contraction import Contraction
from softmma.jax._products import computed

product_p: Any = Primitive("softmma_product")


def _check(a: Any, b: Any, p: Contraction) -> None:
    """Raises for invalid operands before anything is computed; with jit, when the program is traced."""
    said = f"softmma.jax: {a.str_short()} x {b.str_short()}"
    if not all(jnp.issubdtype(x.dtype, jnp.floating) for x in (a, b)):
        raise TypeError(f"{said}: a unit's products are of floating-point arrays")
    try:
        for x in a, b:
            _core.format(x.dtype)
        p.how.unit.arguments(*p.operands, p.kind)
    except (LookupError, ValueError) as error:
        raise type(error)(f"{said}, {p.kind} of {p.roles[0]} and {p.roles[1]}: {error.args[0]}") from None


def outline(a: Any, b: Any, *, p: Contraction) -> Any:
    _check(a, b, p)
    return a.update(shape=p.shape(p.sizes(a, b)), dtype=p.dtype, weak_type=False)


def _eager(a: Any, b: Any, *, p: Contraction) -> Any:
    a, b = jnp.asarray(a), jnp.asarray(b)
    _check(typeof(a), typeof(b), p)
    return jnp.asarray(computed(p, np.asarray(a), np.asarray(b)))


def _lowered(ctx: Any, *operands: Any, p: Contraction) -> Any:
    return called_back(ctx, operands, p, lambda a, b: (computed(p, a, b),))


def called_back(ctx: Any, operands: Any, p: Contraction, compute: Callable[..., tuple[Any, ...]]) -> Any:
    """Lowers the operation in compiled programs to a callback that gets its operands as NumPy arrays.

    `jax.pure_callback` would convert them to JAX arrays and wait for copies in the threads that compute: a deadlock if
    all these threads wait.
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


def _batched(arrays: Sequence[Any], axes: Sequence[int | None], *, p: Contraction) -> tuple[Any, int]:
    return product_p.bind(*arrays, p=p.with_vmapped(axes)), 0


def _gradient_of_a(g: Any, a: Any, b: Any, *, p: Contraction) -> Any:
    return product_p.bind(g, b, p=p.gradient_of_a(a.aval.dtype))


def _gradient_of_b(g: Any, a: Any, b: Any, *, p: Contraction) -> Any:
    return product_p.bind(a, g, p=p.gradient_of_b(b.aval.dtype))


product_p.def_abstract_eval(outline)
product_p.def_impl(_eager)
mlir.register_lowering(product_p, _lowered)
batching.primitive_batchers[product_p] = _batched
ad.defbilinear(product_p, _gradient_of_a, _gradient_of_b)
