"""Quantisation: tensors as elements in a narrow format and factors that they share."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from softmma._products import round
from softmma._units import BLOCK_FORMATS, dtype, formats

Side = Literal["a", "b"]

SCALINGS: dict[str, tuple[int | None, int | None]] = {
    "none": (0, 0),
    "tensor": (None, None),
    "row": (1, None),
    "1x128": (1, 128),
    "128x128": (128, 128),
    "1x32": (1, 32),
    "32x32": (32, 32),
    "1x16": (1, 16),
    "16x16": (16, 16),
}
"""Granularities: rows of A (columns of B) and elements along K that share a factor; None: all."""

HADAMARD = np.array([1, 1, 1, -1, 1, -1, -1, -1, -1, -1, -1, 1, -1, 1, -1, -1], np.float64)
"""Signs of the random Hadamard transform, those of Transformer Engine (get_wgrad_sign_vector)."""

_BITS = {format.name: format.bits for format in formats()}
_LARGEST = float(np.finfo(np.float32).max)
_OF_INTEGERS = {"s4": 7.0, "s8": 127.0}
_SIX_TIMES_448 = np.float32(6 * 448)


@dataclass(frozen=True)
class Operand:
    """How a tensor becomes an operand.

    ``format`` is what elements are rounded to, to nearest even, saturating in formats of 8 bits and less; or with
    ``stochastic`` to one of the two neighbours, each with the probability of the other's distance.

    ``scaling`` names who shares a factor (`SCALINGS`). Elements are multiplied by ``scale`` before, in FP32, and the
    product by ``factor`` behind:

    - "tensor", "row", "1x128", "128x128": scale = max / amax, amax the greatest magnitude, max the format's; amax of 0,
      infinity or NaN: 1; beyond FP32: its greatest number; with ``power_of_two`` cut down to one. factor = 1 / scale.
      (Transformer Engine, compute_scale_from_amax.) Factors of the tensor and of rows are multiplied with the result;
      those of 128 along K with the partial sum of their block, which an FP32 FMA adds (`docs/plans.md`, deepgemm).
    - "1x32", "32x32": factor = 2^e in UE8M0, e = floor(log2 amax) - floor(log2 max) (OCP Microscaling Formats 1.0,
      6.3), or with ``round_up`` the least e for which amax / max <= 2^e (Transformer Engine, cuBLAS); a factor of the
      unit's own. A block with NaN or infinity has a factor of NaN.
    - "1x16", "16x16": NVFP4's two levels: S = 6 * 448 / amax of the tensor in FP32; a block's factor is
      round(amax of the block * (S / 6)) to UE4M3; elements are multiplied by 1 / (factor * (1 / S)). The product is
      multiplied by amax / (6 * 448) for each operand. (NVIDIA, Pretraining Large Language Models with NVFP4, 2025,
      appendix C; Transformer Engine, nvfp4.)

    ``history``: amax is the greatest of so many uses before this one (delayed scaling), and scale 1 before the first.
    ``hadamard``: blocks of 16 along K are multiplied by a Hadamard matrix with random signs, divided by 4, in binary64,
    and rounded to FP32: both operands of a product, which it leaves as it is but for rounding. ``compute``: the
    quantised numbers are multiplied out again, rounded to this format, and enter the product in it (weight-only).
    """

    format: str
    scaling: str = "none"
    power_of_two: bool = False
    round_up: bool = False
    history: int = 0
    stochastic: bool = False
    hadamard: bool = False
    compute: str | None = None

    def __post_init__(self) -> None:
        if self.scaling not in SCALINGS:
            raise ValueError(f"scaling: {self.scaling!r} is none of {', '.join(SCALINGS)}")
        if self.format not in _BITS and self.format not in _OF_INTEGERS:
            raise LookupError(f"format: {self.format!r} is none of {', '.join(_BITS)}, s4")
        if self.format == "s4" and self.compute is None:
            raise ValueError("s4 is a format to store: it needs one to compute in, as in weight_only_s4")
        if self.history and (self.history < 0 or self.scaling != "tensor"):
            raise ValueError(
                f"history: {self.history} uses and scaling {self.scaling!r}; it goes with 'tensor', from 1 on"
            )
        if SCALINGS[self.scaling][1] in (16, 32) and _BITS.get(self.format, 4) > 8:
            raise ValueError(f"scaling {self.scaling!r} is of formats of 8 bits and less, not {self.format}")

    @property
    def block(self) -> int:
        """Elements along K that share a factor of the unit's own: 16, 32; else 0."""
        columns = SCALINGS[self.scaling][1] or 0
        return columns if columns in (16, 32) and self.compute is None else 0

    @property
    def enters(self) -> str:
        """The format in which it enters the product."""
        return self.compute or self.format

    def __str__(self) -> str:
        words = [self.format, *([] if self.scaling == "none" else [self.scaling])]
        words += [name for name in ("power_of_two", "round_up", "stochastic", "hadamard") if getattr(self, name)]
        words += [f"history {self.history}"] * bool(self.history) + [f"in {self.compute}"] * bool(self.compute)
        return " ".join(words)


class Statistics(NamedTuple):
    """What became of a tensor's elements: how many were not zero and are, saturated, are infinite or NaN; the error."""

    elements: int
    zeros: int
    saturated: int
    infinite: int
    nan: int
    error: float
    """Sum of squared differences, of finite elements."""
    norm: float
    """Sum of their squares."""


class Prepared(NamedTuple):
    """An operand of a product: K is the last axis of A, the one before the last of B."""

    values: NDArray[Any]
    scales: NDArray[Any] | None
    """Factors that act within the product, of blocks along K."""
    factor: NDArray[Any] | None
    """What the result is multiplied by: a number, or one for each row of A or column of B."""
    operand: Operand
    side: Side
    vector: bool
    """The tensor was one, and has become a row of A or a column of B."""
    statistics: Statistics | None


class History:
    """Delayed scaling: the greatest magnitudes of a tensor's uses, and the scale that follows from them."""

    def __init__(self, length: int):
        self._amax: deque[np.float32] = deque(maxlen=length)
        self.scale = np.float32(1)

    def update(self, amax: Any, greatest: float) -> None:
        """Behind a use. NaN is passed over; where the greatest is 0 or infinite, the scale stays as it was."""
        self._amax.append(amax)
        largest = np.fmax.reduce(list(self._amax))
        if np.isfinite(largest) and largest > 0:
            self.scale = np.float32(_scale(np.float32(largest), greatest))


@cache
def _greatest(format: str) -> float:
    """The greatest finite number."""
    return _OF_INTEGERS.get(format) or float(round(np.inf, format, overflow="saturate"))


@cache
def _beyond(format: str) -> float:
    """The least magnitude that is not rounded to a finite one without saturation."""
    greatest = _greatest(format)
    if format in _OF_INTEGERS:
        return greatest + 0.5
    below = float(round(np.nextafter(greatest, 0), format, mode="toward-zero"))
    return greatest + (greatest - below) / 2


def _scale(amax: Any, greatest: float, power_of_two: bool = False) -> NDArray[Any]:
    """max / amax, as `Operand` says."""
    amax = np.asarray(amax, np.float32)
    with np.errstate(all="ignore"):
        scale = np.minimum(np.float32(greatest) / amax, np.float32(_LARGEST))
    scale = np.where((amax > 0) & np.isfinite(amax), scale, np.float32(1)).astype(np.float32)
    if power_of_two:
        scale = (scale.view(np.uint32) & np.uint32(0xFF800000)).view(np.float32)
    return np.asarray(scale)


def _reciprocal(x: Any) -> NDArray[Any]:
    with np.errstate(divide="ignore", over="ignore"):
        return np.asarray(np.float32(1) / x, np.float32)


def _amax(x: NDArray[Any], rows: int | None, columns: int | None) -> NDArray[Any]:
    """The greatest magnitude of each block of (..., rows, columns); of the tensor, (1, ..., 1), if rows is None."""
    magnitude: NDArray[Any] = np.abs(x)
    if rows is None:
        return np.full((1,) * x.ndim, magnitude.max(initial=0))
    if columns is None:
        magnitude = magnitude.max(-1, initial=0, keepdims=True)
    for axis, length in ((-2, rows), (-1, columns or 1)):
        starts = np.arange(0, magnitude.shape[axis], length)
        if length > 1 and len(starts):
            magnitude = np.maximum.reduceat(magnitude, starts, axis)
    return magnitude


def _spread(x: NDArray[Any], shape: tuple[int, ...], rows: int | None, columns: int | None) -> NDArray[Any]:
    """Blocks' numbers at their elements."""
    if rows is not None and rows > 1:
        x = np.repeat(x, rows, -2)[..., : shape[-2], :]
    if columns is not None and columns > 1:
        x = np.repeat(x, columns, -1)[..., : shape[-1]]
    return x


def _transformed(x: NDArray[Any]) -> NDArray[Any]:
    """Blocks of 16 along K, the last filled with zeros, times the Hadamard matrix with signs, divided by 4."""
    count = -(-x.shape[-1] // 16)
    padded = np.zeros((*x.shape[:-1], 16 * count))
    padded[..., : x.shape[-1]] = x
    blocks = padded.reshape(*x.shape[:-1], count, 16) * HADAMARD
    for half in (8, 4, 2, 1):
        pairs = blocks.reshape(*blocks.shape[:-1], 8 // half, 2, half)
        first, second = pairs[..., 0, :], pairs[..., 1, :]
        blocks = np.stack([first + second, first - second], -2).reshape(blocks.shape)
    transformed: NDArray[Any] = (blocks / 4).reshape(padded.shape).astype(np.float32)
    return transformed


def _rounded(x: NDArray[Any], operand: Operand, generator: np.random.Generator | None) -> NDArray[Any]:
    """To the format, saturating where it is narrow; integers of 4 bits stay int8."""
    if operand.format == "s4":
        return np.asarray(np.clip(np.nan_to_num(np.rint(x)), -8, 7).astype(np.int8))
    if not operand.stochastic:
        return np.asarray(round(x, operand.format))
    if generator is None:
        raise ValueError("stochastic rounding needs a generator (numpy.random.default_rng(seed))")
    below, above = (round(x, operand.format, mode=f"toward-{way}") for way in ("negative", "positive"))
    low, high, exact = (np.asarray(y).astype(np.float64) for y in (below, above, x))
    with np.errstate(invalid="ignore"):
        up = generator.random(x.shape) * (high - low) < exact - low
    return np.asarray(np.where(up, above, below))


def _power_of_two_factors(amax: NDArray[Any], operand: Operand) -> NDArray[Any]:
    """2^e for UE8M0, as `Operand` says; the least, 2^-127, for zeros, and NaN for a block with NaN or infinity."""
    greatest = _greatest(operand.format)
    # amax / max, or max's power of two: 0.5 <= mantissa < 1
    divided = (
        amax * np.float32(1 / greatest)
        if operand.round_up
        else amax.astype(np.float64) / 2 ** np.floor(np.log2(greatest))
    )
    mantissa, exponent = np.frexp(divided)
    e = np.where(divided > 0, exponent - (mantissa == 0.5) if operand.round_up else exponent - 1, -127)
    return np.where(np.isfinite(amax), np.exp2(np.clip(e, -127, 127).astype(np.float64)), np.nan)


def prepare(
    x: ArrayLike,
    operand: Operand,
    side: Side,
    *,
    history: History | None = None,
    generator: np.random.Generator | None = None,
    factor: float | None = None,
    across: bool = False,
    measure: bool = False,
) -> Prepared:
    """A tensor as an operand: A is (..., M, K) or (K,), B is (..., K, N) or (K,).

    ``history`` and ``generator`` belong to delayed scaling and to stochastic rounding. ``factor`` stands for NVFP4's
    amax / (6 * 448), where that is known from elsewhere. With ``across`` factors are shared along the other axis than K:
    weight-only weights are stored once, and multiplied along either. ``measure``: the statistics, too.

    Raises ValueError for what is missing or no operand.
    """
    x = np.asarray(x)
    if side not in ("a", "b"):
        raise ValueError(f"side: {side!r} is none of a, b")
    if x.ndim == 0 or x.dtype.kind in "cOSU":
        raise ValueError(f"{side} is {'a number' if x.ndim == 0 else x.dtype}, not an array of real numbers")
    if factor is not None and not 0 < np.float32(factor) <= _LARGEST / float(_SIX_TIMES_448):
        raise ValueError(f"factor: {factor} is no positive FP32 number of which 6 * 448 times are one, too")
    vector = x.ndim == 1
    if vector:
        x = x[None] if side == "a" else x[:, None]
    k_last = (side == "a") != across
    lines = x if k_last else x.swapaxes(-1, -2)
    if operand.hadamard:
        lines = _transformed(lines.astype(np.float32))
    values, scales, behind, scaled, stands_for = _quantised(lines, operand, history, generator, factor)
    if operand.compute is not None:
        with np.errstate(invalid="ignore", over="ignore"):
            values = np.asarray(round(values.astype(np.float32) * stands_for(), operand.compute))
        scales = behind = None
    statistics = None
    if measure:
        became = values.astype(np.float64) if operand.compute else values.astype(np.float64) * stands_for()
        statistics = _statistics(lines, scaled, became, operand)
    if not k_last:
        values = values.swapaxes(-1, -2)
        scales = None if scales is None else scales.swapaxes(-1, -2)
        behind = None if behind is None else behind.swapaxes(-1, -2)
    return Prepared(values, scales, behind, operand, side, vector, statistics)


class _Quantised(NamedTuple):
    values: NDArray[Any]
    scales: NDArray[Any] | None
    factor: NDArray[Any] | None
    scaled: NDArray[Any]
    """What was rounded to the values."""
    stands_for: Callable[[], Any]
    """What each value is to be multiplied by."""


def _quantised(
    x: NDArray[Any],
    operand: Operand,
    history: History | None,
    generator: np.random.Generator | None,
    factor_given: float | None,
) -> _Quantised:
    rows, columns = SCALINGS[operand.scaling]
    if operand.scaling == "none":
        wide = operand.format in ("f64", "f32")
        values = x if wide else _rounded(x, operand, generator)
        return _Quantised(values, None, None, x, lambda: np.float32(1))
    if columns != 32 or x.dtype != np.float64:
        x = x.astype(np.float32)

    def spread(numbers: NDArray[Any]) -> NDArray[Any]:
        return _spread(numbers, x.shape, rows, columns)

    amax = _amax(x, rows, columns)
    scales = factor = None
    with np.errstate(invalid="ignore", over="ignore"):
        if columns == 32:
            elements = _power_of_two_factors(amax, operand)
            scales = elements.astype(dtype("ue8m0"))
            scaled = x / spread(elements)
        elif columns == 16:
            scale, scales, factor = _two_levels(amax, factor_given)
            elements = scales.astype(np.float32) * factor
            scaled = x * spread(scale)
        else:
            scale = _tensor_scale(amax, operand, history)
            elements = _reciprocal(scale)
            scaled = x * spread(scale)
            if columns == 128:
                scales = elements
            else:
                factor = elements
    if scales is not None:
        scales = np.ascontiguousarray(_spread(scales, (*x.shape[:-1], scales.shape[-1]), rows, None))
    return _Quantised(_rounded(scaled, operand, generator), scales, factor, scaled, lambda: spread(elements))


def _tensor_scale(amax: NDArray[Any], operand: Operand, history: History | None) -> NDArray[Any]:
    """Current scaling's, or delayed scaling's, whose history gains this use."""
    greatest = _greatest(operand.format)
    if not operand.history:
        return _scale(amax, greatest, operand.power_of_two)
    if history is None:
        raise ValueError("delayed scaling needs a history (softmma.recipes.History)")
    scale = np.full(amax.shape, history.scale)
    history.update(amax.reshape(())[()], greatest)
    return scale


def _two_levels(amax: NDArray[Any], given: float | None) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """NVFP4's scales and factors of blocks, and the tensor's factor, from the blocks' greatest magnitudes."""
    largest = amax.max(initial=0) if given is None else np.float32(given) * _SIX_TIMES_448
    encode, factor = np.float32(1), np.float32(1)
    if largest > 0 and np.isfinite(largest):
        encode = min(_SIX_TIMES_448 / largest, np.float32(_LARGEST))
        factor = largest / _SIX_TIMES_448
    blocks = np.asarray(round(amax * (encode * np.float32(1 / 6)), "ue4m3"))
    decode = blocks.astype(np.float32)
    scale = np.minimum(_reciprocal(decode * _reciprocal(encode)), np.float32(_LARGEST))
    scale = np.where(decode == 0, np.float32(0), scale)  # else elements that stand for nothing were the greatest
    return scale, blocks, np.full((1,) * amax.ndim, factor, np.float32)


def _statistics(x: NDArray[Any], scaled: NDArray[Any], became: NDArray[Any], operand: Operand) -> Statistics:
    """Of a tensor x whose elements were scaled and became numbers of the format."""
    exact = x.astype(np.float64)
    finite = np.isfinite(exact) & np.isfinite(became)
    narrow = operand.format in _OF_INTEGERS or _BITS[operand.format] <= 8
    with np.errstate(invalid="ignore", over="ignore"):
        return Statistics(
            x.size,
            int(((became == 0) & (exact != 0)).sum()),
            int((np.abs(scaled) >= _beyond(operand.format)).sum()) if narrow else 0,
            int(np.isinf(became).sum()),
            int(np.isnan(became).sum()),
            float(np.where(finite, np.square(became - exact), 0).sum()),
            float(np.where(finite, np.square(exact), 0).sum()),
        )


# ---- Block-scaled formats ----

QUANTIZED_FORMATS = tuple(BLOCK_FORMATS)
"""What `quantize` takes."""


class Quantized(NamedTuple):
    """Elements in a narrow format, the factors that blocks of them share, and the tensor's, 1 but for NVFP4."""

    values: NDArray[Any]
    scales: NDArray[Any]
    factor: Any


def quantize(x: ArrayLike, format: str, axis: int = -1, *, factor: float | None = None) -> Quantized:
    """Splits ``x`` into elements and scale factors of a block-scaled format, in blocks along ``axis``.

    ``format``: "mxfp8_e4m3", "mxfp8_e5m2", "mxfp6_e3m2", "mxfp6_e2m3", "mxfp4" (32 elements share a power of two), or
    "nvfp4" (16 share a UE4M3 number, and all an FP32 factor). For a product, A is split along its last axis and B along
    the one before, and the result multiplied by both factors (``matmul``'s alpha):

        >>> import numpy as np, softmma
        >>> a, b = np.full((2, 64), 3e6), np.full((64, 3), 3)
        >>> qa, qb = softmma.quantize(a, "nvfp4"), softmma.quantize(b, "nvfp4", axis=-2)
        >>> scales = {"scale_a": qa.scales, "scale_b": qb.scales, "alpha": qa.factor * qb.factor}
        >>> softmma.matmul(qa.values, qb.values, on="B200", **scales)[0].tolist()
        [576000000.0, 576000000.0, 576000000.0]

    A power of two is 2^(floor(log2(greatest magnitude of the block)) - e), e the exponent of the format's greatest
    number (OCP Microscaling Formats 1.0, 6.3); elements are quotients by it, in binary64, rounded to nearest even and
    saturated; a block with NaN or infinity gets a factor of NaN. NVFP4's two levels are computed in FP32 as
    Transformer Engine does: scaling "1x16" of `softmma.recipes.Operand`; or with a given ``factor`` for the whole
    array, for instance 1, which leaves the blocks' alone.

    Returns ``values``, of x's shape, ``scales``, with one number for each block, and ``factor``. Raises ValueError for
    a format that there is not.
    """
    if format not in BLOCK_FORMATS:
        raise ValueError(f"format: {format!r} is none of {', '.join(BLOCK_FORMATS)}")
    x = np.asarray(x)
    if x.ndim == 0:
        raise ValueError("x is a number; blocks lie along an axis of an array")
    element, _, block = BLOCK_FORMATS[format]
    last = np.moveaxis(x, axis, -1)
    rows = last.reshape(last.size // max(last.shape[-1], 1), last.shape[-1])
    q = prepare(rows if last.size else last, Operand(element, f"1x{block}"), "a", factor=factor)
    assert q.scales is not None
    values, scales = (np.moveaxis(y.reshape(*last.shape[:-1], y.shape[-1]), -1, axis) for y in (q.values, q.scales))
    return Quantized(values, scales, np.float32(1) if q.factor is None else q.factor.item())
