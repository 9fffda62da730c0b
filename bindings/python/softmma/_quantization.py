"""Quantisation: tensors as elements in a narrow format and factors that they share."""

from __future__ import annotations

import warnings
from collections import deque
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from softmma import _core
from softmma._units import BLOCK_FORMATS, formats

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
_MOST = float(np.finfo(np.float32).max) / (6 * 448)


@dataclass(frozen=True)
class Operand:
    """How a tensor becomes an operand.

    ``format`` is what elements are rounded to, saturating in formats of 8 bits and less: as ``round_in`` says
    (`softmma.round`'s mode; None: tf32 to nearest, ties away from zero, others to nearest even); or with ``stochastic``
    to one of the two neighbours, each with the probability of the other's distance.

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
    round_in: str | None = None

    def __post_init__(self) -> None:
        if self.scaling not in SCALINGS:
            raise ValueError(f"scaling: {self.scaling!r} is none of {', '.join(SCALINGS)}")
        if self.format not in _BITS:
            raise LookupError(f"format: {self.format!r} is none of {', '.join(_BITS)}")
        if self.history and (self.history < 0 or self.scaling != "tensor"):
            raise ValueError(
                f"history: {self.history} uses and scaling {self.scaling!r}; it goes with 'tensor', from 1 on"
            )
        if SCALINGS[self.scaling][1] in (16, 32) and _BITS[self.format] > 8:
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

    @property
    def rounding(self) -> str:
        """How elements are rounded: a mode of `softmma.round`."""
        return self.round_in or _core.operand_rounding(None, self.enters)

    @property
    def is_wide(self) -> bool:
        """Elements stay what they are."""
        return self.format in ("f64", "f32")

    @property
    def rounds_only(self) -> bool:
        """To its format, with no factor and in no random way."""
        return self.scaling == "none" and self.compute is None and not self.hadamard and not self.stochastic

    def __str__(self) -> str:
        words = [self.format, *([] if self.scaling == "none" else [self.scaling])]
        words += [name for name in ("power_of_two", "round_up", "stochastic", "hadamard") if getattr(self, name)]
        words += [f"history {self.history}"] * bool(self.history) + [f"in {self.compute}"] * bool(self.compute)
        words += [self.round_in] if self.round_in else []
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


def kind_of(x: Any, kind: type, what: str) -> None:
    """Raises TypeError that names the argument if x is not of this kind."""
    if not isinstance(x, kind):
        raise TypeError(f"{what} is {x!r}; give a softmma.recipes.{kind.__name__}")


class History:
    """Delayed scaling: the greatest magnitudes of a tensor's uses, and the scale that follows from them."""

    def __init__(self, length: int):
        self._amax: deque[np.float32] = deque(maxlen=length)
        self.scale = np.float32(1)

    def update(self, amax: float, format: str) -> None:
        """Behind a use. NaN is passed over; where the greatest is 0 or infinite, the scale stays as it was."""
        self._amax.append(np.float32(amax))
        largest = np.fmax.reduce(self._amax)
        if np.isfinite(largest) and largest > 0:
            self.scale = np.float32(_core.operand_scale(largest, format))


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
    threads: int = 0,
) -> Prepared:
    """A tensor as an operand: A is (..., M, K) or (K,), B is (..., K, N) or (K,).

    ``history`` and ``generator`` belong to delayed scaling and to stochastic rounding. ``factor`` stands for NVFP4's
    amax / (6 * 448), where that is known from elsewhere. With ``across`` factors are shared along the other axis than K:
    weight-only weights are stored once, and multiplied along either. ``measure``: the statistics, too. ``threads`` (0:
    all cores) do not change a result.

    Raises ValueError for what is missing or no operand.
    """
    kind_of(operand, Operand, "operand")
    x = np.asarray(x)
    if side not in ("a", "b"):
        raise ValueError(f"side: {side!r} is none of a, b")
    if x.ndim == 0 or x.dtype.kind in "cOSU":
        raise ValueError(f"{side} is {'a number' if x.ndim == 0 else x.dtype}, not an array of real numbers")
    if factor is not None and not 0 < np.float32(factor) <= _MOST:
        raise ValueError(f"factor: {factor} is no positive FP32 number of which 6 * 448 times are one, too")
    if operand.stochastic and generator is None:
        raise ValueError("stochastic rounding needs a generator (numpy.random.default_rng(seed))")
    if operand.history and history is None:
        raise ValueError("delayed scaling needs a history (softmma.recipes.History)")
    vector = x.ndim == 1
    if vector:
        x = x[None] if side == "a" else x[:, None]
    if operand.rounds_only and not measure:
        values = x if operand.is_wide else np.asarray(_core.round(x, operand.format, operand.rounding, "default", True))
        return Prepared(values, None, None, operand, side, vector, None)
    k_last = (side == "a") != across
    x, k_inner, turned = _dense(x, operand, k_last)
    lines = x.shape if k_inner else (*x.shape[:-2], x.shape[-1], x.shape[-2])
    random = generator.random(lines) if generator is not None and operand.stochastic else None
    given = float(history.scale) if history is not None and operand.history else factor or 0.0
    values, scales, behind, amax, counted = _core.operand(
        x, k_inner, *_rule(operand, x.dtype == np.float64), given, random, measure, threads, operand.rounding
    )  # fmt: skip
    if history is not None and operand.history:
        history.update(amax, operand.format)
    if turned:
        values = values.swapaxes(-1, -2)
    if not k_last:
        scales = None if scales is None else scales.swapaxes(-1, -2)
        behind = None if behind is None else behind.swapaxes(-1, -2)
    statistics = None if counted is None else Statistics(x.size, *counted)
    return Prepared(values, scales, behind, operand, side, vector, statistics)


def _dense(x: NDArray[Any], operand: Operand, k_last: bool) -> tuple[NDArray[Any], bool, bool]:
    """In FP32 or FP64 without gaps; whether K is its last axis then, and whether the last two are exchanged."""
    if x.dtype not in (np.float32, np.float64):
        x = x.astype(np.float64 if operand.scaling == "none" and x.dtype.kind in "iub" else np.float32)
    if operand.hadamard:
        lines = np.ascontiguousarray(x if k_last else x.swapaxes(-1, -2), np.float32)
        return _core.hadamard(lines, HADAMARD), True, not k_last
    if not x.flags.c_contiguous and x.swapaxes(-1, -2).flags.c_contiguous:
        return x.swapaxes(-1, -2), not k_last, True
    return np.ascontiguousarray(x), k_last, False


@cache
def _rule(operand: Operand, f64: bool) -> tuple[str, str | None, int, int, bool, bool, str | None]:
    """For the extension module: formats of elements and factors, how many share one, and how."""
    rows, columns = SCALINGS[operand.scaling]
    factor = None if columns == 0 else {16: "ue4m3", 32: "ue8m0"}.get(columns or 0, "f32")
    format = ("f64" if f64 else "f32") if operand.is_wide and factor is None else operand.format
    return format, factor, rows or 0, columns or 0, operand.power_of_two, operand.round_up, operand.compute


# ---- Block-scaled formats ----

QUANTIZED_FORMATS = tuple(BLOCK_FORMATS)
"""What `quantize` takes."""


class Quantized(NamedTuple):
    """Elements in a narrow format, the factors that blocks of them share, and the tensor's, 1 but for NVFP4."""

    values: NDArray[Any]
    scales: NDArray[Any]
    factor: Any


def _warn_of_loss(format: str, x: NDArray[Any], values: NDArray[Any], block: int, s: Statistics) -> None:
    """Warns of what no factor holds: infinity and NaN, saturation beyond the rule's own, blocks that became zero."""
    special = int(x.size - np.isfinite(x).sum())
    starts = range(0, x.shape[-1], block)
    given, kept = (np.add.reduceat(y != 0, starts, -1, np.int64) for y in (x, values)) if x.size else (x, x)
    zero = int(((given > 0) & (kept == 0)).sum())
    saturated = s.saturated if format == "nvfp4" else 0  # MX factors let the greatest of a block saturate
    if special or saturated or zero:
        warnings.warn(
            f"x: quantised to {format}, {special} values were infinite or NaN, {saturated} saturated, "
            f"{zero} blocks became zero, {s.nan} values became NaN",
            RuntimeWarning,
            stacklevel=3,
        )


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

    A RuntimeWarning says how many elements were infinite or NaN, saturated in NVFP4, or became NaN, and how many blocks
    became zero.

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
    q = prepare(rows if last.size else last, Operand(element, f"1x{block}"), "a", factor=factor, measure=True)
    assert q.scales is not None and q.statistics is not None
    _warn_of_loss(format, last.astype(np.float64), q.values.reshape(last.shape), block, q.statistics)
    values, scales = (np.moveaxis(y.reshape(*last.shape[:-1], y.shape[-1]), -1, axis) for y in (q.values, q.scales))
    return Quantized(values, scales, np.float32(1) if q.factor is None else q.factor.item())
