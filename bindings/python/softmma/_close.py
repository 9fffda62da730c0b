"""Checks whether a unit could have returned a product."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from softmma import _core
from softmma._plans import Plan
from softmma._products import positional
from softmma._units import Instruction


_ROUNDINGS = ("nearest-away", "toward-zero", "nearest-even", "toward-negative", "toward-positive")
"""Rounding modes that A and B may have been rounded with, those of libraries first."""


class _Judged(NamedTuple):
    """The elements of D compared with one unit's bounds."""

    unit: str
    d: NDArray[np.float64]
    refused: NDArray[np.bool_]
    share: NDArray[np.float64]  # |error| / bound
    exact: NDArray[np.float64]
    below: NDArray[np.float64]
    above: NDArray[np.float64]


def assert_close(
    d: Any,
    a: Any,
    b: Any,
    c: Any = None,
    *,
    on: str | Instruction | Sequence[str | Instruction] = "H100",
    instr: str | Instruction | None = None,
    in_dtype: Any = None,
    out_dtype: Any = None,
    alpha: float = 1.0,
    beta: float = 1.0,
    scale_a: Any = None,
    scale_b: Any = None,
    split_k: int = 1,
    promote_every: int = 0,
    plan: Plan | Mapping[str, Any] | str | Path | None = None,
    bias: Any = None,
    scale_d: float = 1.0,
    round_in: str | None = None,
) -> None:
    """Raises AssertionError unless each element of D is as close to alpha A B + beta C as a unit's rule guarantees.

    Each element has its own bound, proved from the unit's rule for that element's operands, with k in order, or in the
    order of a library's ``plan`` (docs/tolerance.md). The bound is narrower than any ``rtol`` and ``atol`` for the
    whole of D, and it never rejects a result of the unit. If D has a narrower format than the unit's results, the bound
    is that of results rounded to D's format. An element passes without a check if it has no bound, because a sum may
    overflow. NaN and infinite operands must give NaN and infinities.

    Libraries round A and B to the unit's formats with different rounding modes. Without ``round_in``, D passes if it
    passes with any of the modes; the unit's usual mode is tried first.

    With several units in ``on``, all elements of D must pass for the same unit. Arrays are NumPy's, ml_dtypes', or
    PyTorch tensors on any device. The other arguments are those of `matmul`; there is no ``scaling``.

        >>> import numpy as np, softmma
        >>> x = np.random.default_rng(0).standard_normal((64, 512)).astype(np.float16)
        >>> d = softmma.matmul(x, x.T, on="A100")
        >>> softmma.assert_close(d, x, x.T, on="A100")
        >>> d[3, 5] += 0.001
        >>> softmma.assert_close(d, x, x.T, on=("A100", "H100"))
        Traceback (most recent call last):
        AssertionError: 1 of 4096 elements cannot be A100's (mma.m16n8k16.f32.f16.f16.f32): ...

    Raises as `matmul` does, and ValueError if D does not have the product's shape.
    """
    if d is None:
        raise TypeError("d is None; give the product that is to be judged")
    d, a, b, c, scale_a, scale_b, bias = (_array(x) for x in (d, a, b, c, scale_a, scale_b, bias))
    plan = plan if plan is None or isinstance(plan, Plan) else Plan(plan)
    units = on if isinstance(on, (list, tuple)) else (on,)
    if not units:
        raise ValueError("on: the list of GPUs is empty")
    stored = _stored(d)
    best: _Judged | None = None
    tries = [(unit, round_in) for unit in reversed(units)]  # the mode that succeeded last is tried first
    while tries:
        unit, mode = tries.pop()
        given = {
            "a": a, "b": b, "c": c, "on": unit, "instr": instr, "in_dtype": in_dtype, "out_dtype": out_dtype,
            "scale_a": scale_a, "scale_b": scale_b, "alpha": alpha, "beta": beta, "split_k": split_k,
            "promote_every": promote_every, "plan": plan, "bias": bias, "scale_d": scale_d, "threads": 0, "round_in": mode,
        }  # fmt: skip
        numbers, name, rounds, d_format = _core.bound(stored, tuple(positional(given)))
        name = f"{name}, {plan.name}" if plan else name
        if d.shape != numbers.shape[:-1]:
            raise ValueError(f"d is {d.shape}, but the product is {numbers.shape[:-1]}")
        judged = _judge(unit, f"{name}, {mode}" if mode else name, _values(d, d_format), numbers)
        if not judged.refused.any():
            return
        if rounds and mode is None and not (plan and "round_in" in plan.to_dict()):
            tries += [(unit, each) for each in reversed(_ROUNDINGS)]
        if best is None or judged.refused.sum() < best.refused.sum():
            best = judged
    assert best is not None
    raise AssertionError(_complaint(best))


def _array(x: Any) -> Any:
    """Converts a PyTorch tensor to a NumPy array. None passes unchanged."""
    if x is None or not type(x).__module__.startswith("torch"):
        return x if x is None else np.asarray(x)
    from softmma.torch import array as array_of

    x = x.detach().cpu()
    return array_of(x) if x.is_floating_point() else x.numpy()


def _stored(d: NDArray[Any]) -> str | None:
    """Returns the format of D's dtype if results had to be rounded to it, otherwise None."""
    if d.dtype.kind in "iub" or d.dtype == np.float64:
        return None
    return _core.format(d.dtype)


def _values(d: NDArray[Any], d_format: str) -> NDArray[np.float64]:
    """Returns D as numbers. If D's format has no dtype, `matmul` returns encodings as unsigned integers."""
    if d.dtype.kind == "u" and d.dtype == _core.dtype(d_format):
        return _core.decode(d, d_format)
    return d.astype(np.float64)


def _judge(unit: str | Instruction, name: str, d: NDArray[np.float64], numbers: NDArray[np.float64]) -> _Judged:
    exact, rest, below, above = np.moveaxis(numbers, -1, 0)
    with np.errstate(all="ignore"):
        error = (d - exact) - rest
        bound = np.where(error < 0, below, above)
        share = np.where(error == 0, 0, np.abs(error) / bound)
    special = ~np.isfinite(exact)
    same = (d == exact) | (np.isnan(d) & np.isnan(exact))
    share = np.where(special | ~np.isfinite(d), np.where(same, 0, np.inf), share)
    refused = ~np.isinf(below) & ~(share <= 1)
    label = unit if isinstance(unit, str) else unit.name
    return _Judged(f"{label}'s ({name})" if label != name else f"{name}'s", d, refused, share, exact, below, above)


def _complaint(x: _Judged) -> str:
    d = x.d
    shares = np.where(x.refused, x.share, -1)
    worst = np.unravel_index(int(np.argmax(shares)), d.shape)
    index = ", ".join(str(int(i)) for i in worst)
    got, exact, below, above = (float(y[worst]) for y in (d, x.exact, x.below, x.above))
    elements = "elements" if d.size != 1 else "element"
    head = f"{int(x.refused.sum())} of {d.size} {elements} cannot be {x.unit}: the worst is [{index}]: got {got!r}"
    if not np.isfinite(exact):
        return f"{head}, expected {exact!r}"
    return f"{head}, exact {exact!r}, error {got - exact:.3g}, bound -{below:.3g} to +{above:.3g}"
