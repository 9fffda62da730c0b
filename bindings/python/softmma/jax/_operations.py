"""JAX's product operations on the unit, and replacements for JAX's functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp
from jax.extend.core import ClosedJaxpr, jaxpr_as_fun

from softmma._units import Instruction
from softmma.jax._contraction import Computing, Contraction, Window, computing, kind_of, roles_of
from softmma.jax._histories import Histories, with_gradients, with_histories
from softmma.jax._primitives import product_p
from softmma.recipes import Recipe, Role


def equation_of_unit(equation: Any, roles: Sequence[Role | None], how: Computing) -> Any:
    """Returns the equation of the unit's product that replaces one of JAX's."""
    x, y = (operand.aval for operand in equation.invars)
    labels = LABELS[equation.primitive.name](x, y, equation.outvars[0].aval, equation.params)
    p = Contraction(
        **labels,
        apart=frozenset(),
        roles=(roles[0] or "activations", roles[1] or "activations"),
        kind=kind_of(roles),
        dtype=np.dtype(equation.outvars[0].aval.dtype),
        how=how,
    )
    return equation.replace(primitive=product_p, params={"p": p})


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
        w = Window(4 + 3 * i, 5 + 3 * i, 6 + 3 * i, sizes, spread, stride, padding, dilation)
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


LABELS: dict[str, Callable[[Any, Any, Any, dict[str, Any]], dict[str, Any]]] = {
    "dot_general": _labels_of_product,
    "conv_general_dilated": _labels_of_convolution,
}
"""JAX's operations that the unit computes as products."""


def _by_unit(
    given: Callable[..., Any], lhs: Any, rhs: Any, roles: list[Role], how: Computing, histories: Histories | None
) -> Any:
    """Computes the result of a JAX operation on the unit."""
    lhs, rhs = jnp.asarray(lhs), jnp.asarray(rhs)
    program = jax.make_jaxpr(given)(lhs, rhs)
    equations = [
        equation_of_unit(equation, roles, how) if equation.primitive.name in LABELS else equation
        for equation in program.eqns
    ]
    at, product = next((i, equation) for i, equation in enumerate(equations) if equation.primitive is product_p)
    p = product.params["p"]
    if histories is not None:
        operands: Any = ClosedJaxpr(program.jaxpr.replace(eqns=equations[:at], outvars=product.invars), program.consts)
        lhs, rhs = jaxpr_as_fun(operands)(lhs, rhs)
        return with_histories(p, lhs, rhs, histories)
    if any(operand.history for q in with_gradients(p) for operand in q.operands):
        raise ValueError(
            f"recipe {how.recipe.name!r}: delayed scaling needs histories=, at first softmma.jax.histories(recipe);"
            " their gradient is their new value, after the step"
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
    """Returns a replacement for `jax.lax.dot_general` whose products are computed as by a GPU's matrix unit.

        layer = flax.linen.Dense(10, dot_general=softmma.jax.dot_general("H100", "fp8_tensorwise"))

    It takes the arguments of `jax.lax.dot_general` and returns the same shapes and dtypes. ``precision``, which tells
    XLA how to compute, has no effect. Both operands must be floating-point arrays.

    ``recipe`` is a name or a `softmma.recipes.Recipe`; it sets the formats and scaling of weights, activations and
    gradients, forward and backward. ``weights`` says which operand is a weight, "lhs" or "rhs"; the other one is an
    activation. With None both are activations. Under `jax.grad` the gradient of an activation is the product of the
    result's gradient and the weight (dgrad), and that of a weight the product of the activation and the result's
    gradient (wgrad). Stochastic rounding draws random numbers from ``seed`` and the operand's bits, so that functions
    stay pure.

    A product is that of matrices (..., M, K) and (..., K, N): batch axes come first, all other axes of an operand are
    merged in order, and summed axes are merged to K in the order in which they are given. Under `jax.vmap` each element
    is computed as if alone, with its own factors.

    Delayed scaling ("fp8_delayed") takes another argument, ``histories``; its gradient is the histories after the step
    (see `histories`).

    Raises LookupError for an unknown GPU or recipe, and, when the program is traced, for formats that the unit does not
    multiply; ValueError for delayed scaling without histories.
    """
    roles, how = roles_of(weights), computing(recipe, on, threads, seed)

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
    """Returns a replacement for `jax.lax.conv_general_dilated`, as `dot_general` is one for `jax.lax.dot_general`.

        layer = flax.linen.Conv(8, (3, 3), conv_general_dilated=softmma.jax.conv_general_dilated("H100", "bf16"))

    A convolution is computed as the products that GPU libraries lower it to (implicit GEMM): K runs over the filter's
    positions with channels innermost, and in gradients of filters over the batch with pixels innermost. Groups are a
    batch. Strides alone, and ``lhs_dilation`` (a transposed convolution) alone, bring no zeros into K; both together
    do, in the filter's gradient. With ``lhs_dilation`` positions run backwards: they are those of the filter before it
    was reversed.
    """
    roles, how = roles_of(weights), computing(recipe, on, threads, seed)

    def convolution(
        lhs: Any, rhs: Any, *args: Any, precision: Any = None, histories: Histories | None = None, **options: Any
    ) -> Any:
        def given(a: Any, b: Any) -> Any:
            return lax.conv_general_dilated(a, b, *args, **options)

        return _by_unit(given, lhs, rhs, roles, how, histories)

    return convolution
