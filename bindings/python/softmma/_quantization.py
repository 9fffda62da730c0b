"""Quantisation: tensors as elements in a narrow format with shared scale factors."""

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
    "group32": (1, 32),
    "group64": (1, 64),
    "group128": (1, 128),
}
"""Granularities of scaling: rows of A (columns of B) and elements along K with a common factor (None: all). Groups have
FP32 factors and are for operands with ``compute``."""

FORMULAS: dict[str, dict[str, str | None]] = {
    "te": {"f32": None, "ue8m0": "rceil", "ue4m3": None},
    "ocp": {"ue8m0": "floor"},
    "torchao": {"f32": None, "ue8m0": "floor", "ue4m3": None},
    "torchao_intx": {"f32": None},
    "torchao_float8": {"f32": None},
    "deepgemm": {"f32": None},
    "deepseek": {"f32": None},
    "compressed_tensors": {"f32": None, "ue8m0": "even", "ue4m3": None},
    "qwix": {"f32": None},
    "modelopt": {"ue4m3": None},
    "te_4over6": {"ue4m3": None},
    "te_4over6_mse": {"ue4m3": None},
    "te_4over6_448": {"ue4m3": None},
    "te_4over6_mse_448": {"ue4m3": None},
}
"""Formulas of scale factors by name (`docs/recipes.md`): the formats of factors that each has, and its scale rounding
of UE8M0 factors."""

SCALE_ROUNDINGS = ("floor", "ceil", "even", "rceil")
"""Ways to choose the exponent of a UE8M0 factor."""

HADAMARD = np.array([1, 1, 1, -1, 1, -1, -1, -1, -1, -1, -1, 1, -1, 1, -1, -1], np.float64)
"""Signs of the random Hadamard transform, those of Transformer Engine (get_wgrad_sign_vector)."""

_BITS = {format.name: format.bits for format in formats()}
_MOST = float(np.finfo(np.float32).max) / (6 * 448)


_ASYMMETRIC = ("torchao", "torchao_intx", "compressed_tensors", "qwix")
_NATIVE = {"bfloat16": "bf16", "float16": "f16"}


@dataclass(frozen=True)
class Operand:
    """The conversion of a tensor to an operand: format, rounding, scaling.

    ``format`` is the format of the elements. Values are rounded to it, saturating in formats of at most 8 bits, in the
    mode ``round_in`` of `softmma.round` (None: tf32 to nearest, ties away from zero; other formats to nearest even).
    With ``stochastic`` a value is rounded to one of its two neighbours, each with the probability given by the distance
    to the other one.

    ``scaling`` names the granularity of scale factors (`SCALINGS`). Elements are multiplied by ``scale`` in FP32 before
    they are rounded, and the product is multiplied by ``factor``:

    - "tensor", "row", "1x128", "128x128": scale = max / amax, with amax the greatest magnitude and max the format's;
      factor = 1 / scale. Factors of the tensor and of rows multiply the result; factors of 128 along K multiply their
      block's partial sum, and an FP32 FMA adds it (`docs/plans.md`, deepgemm).
    - "1x32", "32x32": factor = 2^e in UE8M0, as ``scale_rounding`` says. The unit itself applies this factor.
    - "1x16", "16x16": two levels, as in NVFP4: S = 6 * 448 / amax of the tensor in FP32; a block's factor is
      round(amax of the block * (S / 6)) to UE4M3; elements are multiplied by 1 / (factor * (1 / S)). The product is
      multiplied by amax / (6 * 448) for each operand. With ``row_factors`` each row has its own amax and S.
    - "group32", "group64", "group128": as "row", for groups along K; needs ``compute``.

    ``formula`` names the library whose code computes the factors (`FORMULAS`, `docs/recipes.md`): the libraries differ
    in the order of operations, in the least amax, and in what becomes of zeros, NaN and infinity. None: "te"
    (Transformer Engine), or for UE8M0 factors "ocp" (OCP Microscaling Formats 1.0).

    ``scale_rounding`` chooses the exponent e of a UE8M0 factor (None: the formula's own):

    - "floor": floor(log2 amax) - floor(log2 max)
    - "ceil": ceil(log2 amax) - floor(log2 max)
    - "even": as "floor", after amax is rounded to the significand of the elements' format
    - "rceil": ceil(log2(amax / max)), the least e that keeps all elements in range

    ``power_of_two`` makes FP32 factors powers of two. ``zero_point`` (integers): the range from a block's least to its
    greatest number becomes the format's range, and the integer that stands for 0 is subtracted afterwards; needs
    ``compute`` in a product. ``saturate`` False: numbers out of range become infinity, or NaN in E4M3 (conversions
    without satfinite).

    ``history`` is the number of previous uses over which amax is the maximum (delayed scaling); scale is 1 before the
    first use. ``hadamard``: blocks of 16 along K are multiplied by a Hadamard matrix with random signs and divided by 4
    in binary64, and rounded to ``hadamard_in`` ("bf16", or "f32"). Both operands of a product are transformed, which
    leaves the product unchanged except for rounding. ``compute``: the quantised numbers are multiplied by their
    factors, rounded to this format, and enter the product in it (weight-only).
    """

    format: str
    scaling: str = "none"
    power_of_two: bool = False
    scale_rounding: str | None = None
    history: int = 0
    stochastic: bool = False
    hadamard: bool = False
    compute: str | None = None
    round_in: str | None = None
    formula: str | None = None
    zero_point: bool = False
    row_factors: bool = False
    saturate: bool = True
    hadamard_in: str = "bf16"

    def __post_init__(self) -> None:
        if self.scaling not in SCALINGS:
            raise ValueError(f"scaling: {self.scaling!r} is not one of {', '.join(SCALINGS)}")
        if self.format not in _BITS:
            raise LookupError(f"format: {self.format!r} is not one of {', '.join(_BITS)}")
        if self.history and (self.history < 0 or self.scaling != "tensor"):
            raise ValueError(
                f"history: {self.history} uses and scaling {self.scaling!r}; it goes with 'tensor', from 1 on"
            )
        if SCALINGS[self.scaling][1] in (16, 32) and _BITS[self.format] > 8:
            raise ValueError(f"scaling {self.scaling!r} is of formats of 8 bits and less, not {self.format}")
        self._check_formula()

    def _check_formula(self) -> None:
        """Raises ValueError if the options that compute factors do not go with the scaling."""
        formulas = [name for name, factors in FORMULAS.items() if self.factor in factors]
        if self.formula is not None and self.formula not in formulas:
            known = ", ".join(formulas) or "none"
            raise ValueError(f"formula: {self.formula!r} with scaling {self.scaling!r}; this scaling has {known}")
        if self.formula == "torchao_intx" and self.format[0] not in "su":
            raise ValueError(f"formula: 'torchao_intx' is of integer formats, not {self.format}")
        if self.scale_rounding is not None and self.scale_rounding not in SCALE_ROUNDINGS:
            raise ValueError(f"scale_rounding: {self.scale_rounding!r} is not one of {', '.join(SCALE_ROUNDINGS)}")
        if self.scale_rounding is not None and self.factor != "ue8m0":
            raise ValueError(f"scale_rounding: goes with scaling '1x32' and '32x32', not {self.scaling!r}")
        if self.zero_point and (self.factor != "f32" or self.format[0] not in "su" or self.formula not in _ASYMMETRIC):
            raise ValueError(
                f"zero_point: goes with integer formats, FP32 factors and the formulas {', '.join(_ASYMMETRIC)}"
            )
        if self.row_factors and self.scaling != "1x16":
            raise ValueError(f"row_factors: goes with scaling '1x16', not {self.scaling!r}")
        if self.stochastic and self.formula is not None and self.formula.startswith("te_4over6"):
            raise ValueError(f"stochastic: formula {self.formula!r} chooses factors by rounding to nearest")
        if self.hadamard_in not in ("bf16", "f32"):
            raise ValueError(f"hadamard_in: {self.hadamard_in!r} is not one of bf16, f32")

    @property
    def factor(self) -> str | None:
        """Returns the format of scale factors: "f32", "ue8m0", "ue4m3", or None without factors."""
        if self.scaling == "none":
            return None
        return {"x16": "ue4m3", "x32": "ue8m0"}.get(self.scaling[-3:], "f32")

    @property
    def block(self) -> int:
        """Returns the number of elements along K that share a factor which the unit applies: 16 or 32. Returns 0 if the
        unit applies no factors."""
        return {"ue4m3": 16, "ue8m0": 32}.get(self.factor or "", 0) if self.compute is None else 0

    @property
    def enters(self) -> str:
        """Returns the operand's format in the product."""
        return self.compute or self.format

    @property
    def rounding(self) -> str:
        """Returns the rounding mode of the elements, as in `softmma.round`."""
        return self.round_in or _core.operand_rounding(None, self.enters)

    @property
    def is_wide(self) -> bool:
        """Reports whether elements stay unchanged."""
        return self.format in ("f64", "f32")

    @property
    def rounds_only(self) -> bool:
        """Reports whether the operand is only rounded: no factor, no stochastic rounding."""
        return self.scaling == "none" and self.compute is None and not self.hadamard and not self.stochastic

    @property
    def scaled_by(self) -> tuple[str, str]:
        """Returns the formula and the scale rounding; members that are None are replaced by their defaults."""
        formula = self.formula or ("ocp" if self.factor == "ue8m0" else "te")
        return formula, self.scale_rounding or FORMULAS[formula].get("ue8m0") or "floor"

    def __str__(self) -> str:
        words = [self.format, *([] if self.scaling == "none" else [self.scaling])]
        words += [self.formula] if self.formula else []
        words += [self.scale_rounding] if self.scale_rounding else []
        flags = ("power_of_two", "zero_point", "row_factors", "stochastic", "hadamard")
        words += [name for name in flags if getattr(self, name)]
        words += ["hadamard_in f32"] * (self.hadamard and self.hadamard_in == "f32")
        words += ["overflows"] * (not self.saturate)
        words += [f"history {self.history}"] * bool(self.history) + [f"in {self.compute}"] * bool(self.compute)
        words += [self.round_in] if self.round_in else []
        return " ".join(words)


class Statistics(NamedTuple):
    """Counts of a tensor's elements that became zero, saturated, are infinite or NaN; and the rounding error."""

    elements: int
    zeros: int
    saturated: int
    infinite: int
    nan: int
    error: float
    """Sum of squared errors of the finite elements."""
    norm: float
    """Sum of squares of the finite elements."""


class Prepared(NamedTuple):
    """An operand of a product. K is the last axis of A, and the second to last axis of B."""

    values: NDArray[Any]
    scales: NDArray[Any] | None
    """Scale factors of blocks along K, which the product itself applies."""
    factor: NDArray[Any] | None
    """Factor of the result: a number, or one number for each row of A or column of B."""
    operand: Operand
    side: Side
    vector: bool
    """Whether the tensor was a vector; it is now a row of A or a column of B."""
    statistics: Statistics | None
    zero_points: NDArray[np.int32] | None = None
    """With ``zero_point``: the integers that stand for 0, one for each factor."""


def kind_of(x: Any, kind: type, what: str) -> None:
    """Raises a TypeError that names the argument if x is not of this kind."""
    if not isinstance(x, kind):
        shown = repr(x)
        if len(shown) > 60 or "\n" in shown or hasattr(x, "__array__"):
            shown = f"of type {type(x).__module__}.{type(x).__qualname__}"
        made = ", which unit.prepare(x, role, product, side) returns" if kind is Prepared else ""
        raise TypeError(f"{what} is {shown}; give a softmma.recipes.{kind.__name__}{made}")


class History:
    """Delayed scaling: the greatest magnitudes of a tensor's previous uses, and the scale that follows from them."""

    def __init__(self, length: int):
        self._amax: deque[np.float32] = deque(maxlen=length)
        self.scale = np.float32(1)

    def update(self, amax: float, format: str) -> None:
        """Adds the amax of a use. A NaN is ignored; if the maximum is 0 or infinite, the scale stays unchanged."""
        self._amax.append(np.float32(amax))
        largest = np.fmax.reduce(self._amax)
        if np.isfinite(largest) and largest > 0:
            self.scale = np.float32(_core.operand_scale(largest, format))


class Use(History):
    """One use of a tensor whose parts are quantised one after another: all with the scale from before the use. `end`
    updates the tensor's history once, with the greatest magnitude of all parts."""

    def __init__(self, history: History):
        self._history = history
        self.scale = history.scale
        self._parts: list[tuple[float, str]] = []

    def update(self, amax: float, format: str) -> None:
        self._parts.append((amax, format))

    def end(self) -> None:
        if self._parts:
            self._history.update(float(np.fmax.reduce([amax for amax, _ in self._parts])), self._parts[0][1])


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
    """Quantises a tensor to an operand: A is (..., M, K) or (K,), B is (..., K, N) or (K,).

    ``history`` is needed for delayed scaling, and ``generator`` for stochastic rounding. ``factor`` replaces the amax /
    (6 * 448) of scaling "1x16" and "16x16" (NVFP4) if it is known already. With ``across``, factors are shared along
    the other axis instead of K: weight-only weights are stored once and multiplied along either axis. ``measure``
    returns statistics, too. ``threads`` (0: all cores) do not change a result.

    Raises ValueError if an argument is missing or x cannot be an operand.
    """
    kind_of(operand, Operand, "operand")
    x = np.asarray(x)
    if side not in ("a", "b"):
        raise ValueError(f"side: {side!r} is not one of a, b")
    _check_numbers(x, side)
    if factor is not None and operand.factor != "ue4m3":
        raise ValueError(f"factor: it is of scaling '1x16' and '16x16' (NVFP4), not of {operand}; leave it out")
    if factor is not None and not 0 < np.float32(factor) <= _MOST:
        raise ValueError(f"factor: {factor} is no positive FP32 number of which 6 * 448 times are one, too")
    if operand.stochastic and generator is None:
        raise ValueError("stochastic rounding needs a generator (numpy.random.default_rng(seed))")
    if operand.history and history is None:
        raise ValueError("delayed scaling needs a history (softmma.recipes.History)")
    vector = x.ndim == 1
    if vector:
        x = x[None] if side == "a" else x[:, None]
    overflow = "default" if operand.saturate else "infinity"
    if operand.rounds_only and not measure:
        values = x if operand.is_wide else np.asarray(_core.round(x, operand.format, operand.rounding, overflow, True))
        return Prepared(values, None, None, operand, side, vector, None)
    k_last = (side == "a") != across
    native = _NATIVE.get(x.dtype.name)
    x, k_inner, turned = _dense(x, operand, k_last)
    lines = x.shape if k_inner else (*x.shape[:-2], x.shape[-1], x.shape[-2])
    random = generator.random(lines) if generator is not None and operand.stochastic else None
    given = float(history.scale) if history is not None and operand.history else factor or 0.0
    values, scales, behind, zeros, amax, counted = _core.operand(
        x, k_inner, *_rule(operand, x.dtype == np.float64), given, native, random, measure, threads, overflow,
        operand.rounding,
    )  # fmt: skip
    if history is not None and operand.history:
        history.update(amax, operand.format)
    if turned:
        values = values.swapaxes(-1, -2)
    if not k_last:
        scales = None if scales is None else scales.swapaxes(-1, -2)
        behind = None if behind is None else behind.swapaxes(-1, -2)
        zeros = None if zeros is None else zeros.swapaxes(-1, -2)
    statistics = None if counted is None else Statistics(x.size, *counted)
    return Prepared(values, scales, behind, operand, side, vector, statistics, zeros)


@cache
def _is_real(dtype: np.dtype[Any]) -> bool:
    """Reports whether arrays of the dtype hold integers or numbers of a format."""
    if dtype.kind in "iub":
        return True
    try:
        _core.format(dtype)
    except LookupError:
        return False
    return True


def _check_numbers(x: NDArray[Any], what: str) -> None:
    """Raises ValueError unless x is an array of integers, or of numbers in a format."""
    if x.ndim == 0 or not _is_real(x.dtype):
        raise ValueError(f"{what} is {'a number' if x.ndim == 0 else x.dtype}, not an array of real numbers")


def _exact(x: NDArray[Any]) -> NDArray[np.float64]:
    """Returns integers in FP64. Raises ValueError if FP64 does not hold one of them."""
    return np.asarray(_core.round(x, "f64", "nearest-even", "default", True))


def _dense(x: NDArray[Any], operand: Operand, k_last: bool) -> tuple[NDArray[Any], bool, bool]:
    """Returns the array contiguous in FP32 or FP64, whether K is its last axis, and whether the last two axes were
    exchanged."""
    if x.dtype.kind in "iub":
        wide = _exact(x)
        narrow = wide.astype(np.float32)
        x = wide if operand.scaling == "none" or not np.array_equal(narrow, wide) else narrow
    elif x.dtype not in (np.float32, np.float64):
        x = x.astype(np.float32)
    if operand.hadamard:
        lines = np.ascontiguousarray(x if k_last else x.swapaxes(-1, -2), np.float32)
        return _core.hadamard(lines, HADAMARD, operand.hadamard_in), True, not k_last
    if not x.flags.c_contiguous and x.swapaxes(-1, -2).flags.c_contiguous:
        return x.swapaxes(-1, -2), not k_last, True
    return np.ascontiguousarray(x), k_last, False


@cache
def _rule(
    operand: Operand, f64: bool
) -> tuple[str, str | None, int, int, str, str, bool, bool, bool, bool, str | None]:
    """Returns an operand as the extension module takes it: formats of elements and factors, block, formula, flags."""
    rows, columns = SCALINGS[operand.scaling]
    format = ("f64" if f64 else "f32") if operand.is_wide and operand.factor is None else operand.format
    flags = operand.power_of_two, operand.zero_point, operand.row_factors, operand.hadamard
    return format, operand.factor, rows or 0, columns or 0, *operand.scaled_by, *flags, operand.compute


# ---- Block-scaled formats ----

QUANTIZED_FORMATS = tuple(BLOCK_FORMATS)
"""The formats that `quantize` takes."""


class Quantized(NamedTuple):
    """Elements in a narrow format, the scale factors of blocks, and the tensor's factor (1 except in NVFP4)."""

    values: NDArray[Any]
    scales: NDArray[Any]
    factor: Any


def _warn_of_loss(format: str, x: NDArray[Any], q: Prepared, block: int, s: Statistics) -> None:
    """Warns of losses: infinity and NaN, saturation other than the format's intended one, blocks that became zero."""
    assert q.scales is not None
    with np.errstate(over="ignore"):  # NVFP4's factors are computed in FP32, in which larger numbers are infinite
        special = int(x.size - np.isfinite(x.astype(np.float32) if format == "nvfp4" else x).sum())
    starts = range(0, x.shape[-1], block)
    parts = (x, q.values.reshape(x.shape))
    given, kept = (np.add.reduceat(y != 0, starts, -1, np.int64) for y in parts) if x.size else (x, x)
    zero = int(((given > 0) & ((kept == 0) | (np.reshape(q.scales, given.shape) == 0))).sum()) if x.size else 0
    saturated = s.saturated if format == "nvfp4" else 0  # MX factors let the greatest of a block saturate
    if special or saturated or zero:
        warnings.warn(
            f"x: quantised to {format}, {special} values were infinite or NaN, {saturated} saturated, "
            f"{zero} blocks became zero, {s.nan} values became NaN",
            RuntimeWarning,
            stacklevel=3,
        )


def quantize(
    x: ArrayLike,
    format: str,
    axis: int = -1,
    *,
    factor: float | None = None,
    formula: str | None = None,
    scale_rounding: str | None = None,
) -> Quantized:
    """Quantises ``x`` to elements and scale factors of a block-scaled format, in blocks along ``axis``.

    ``format`` is "mxfp8_e4m3", "mxfp8_e5m2", "mxfp6_e3m2", "mxfp6_e2m3", "mxfp4" or "mxint8" (32 elements share a power
    of two), or "nvfp4" (16 elements share a UE4M3 number, and all share an FP32 factor). For a product, split A along its last
    axis and B along its second to last, and multiply the result by both factors (``matmul``'s alpha):

        >>> import numpy as np, softmma
        >>> a, b = np.full((2, 64), 3e6), np.full((64, 3), 3)
        >>> qa, qb = softmma.quantize(a, "nvfp4"), softmma.quantize(b, "nvfp4", axis=-2)
        >>> scales = {"scale_a": qa.scales, "scale_b": qb.scales, "alpha": qa.factor * qb.factor}
        >>> softmma.matmul(qa.values, qb.values, on="B200", **scales)[0].tolist()
        [576000000.0, 576000000.0, 576000000.0]

    The shared power of two is 2^(floor(log2(greatest magnitude of the block)) - e), with e the exponent of the format's
    greatest number (OCP Microscaling Formats 1.0, 6.3). Elements are divided by it in binary64, rounded to nearest even
    and saturated; a block with NaN or infinity gets the factor NaN. NVFP4's two levels are computed in FP32 as in
    Transformer Engine (scaling "1x16" of `softmma.recipes.Operand`), or with ``factor`` for the whole array, for
    example 1, which leaves only the blocks' factors (other formats: 1 or None). ``formula`` and ``scale_rounding``
    choose other factors, as in `softmma.recipes.Operand`: ``scale_rounding="even"`` for the exponents of MXFP4
    checkpoints, ``formula="modelopt"`` for NVFP4 checkpoints of ModelOpt.

    A RuntimeWarning counts elements that were infinite or NaN (for NVFP4, in FP32), saturated in NVFP4, or became NaN,
    and blocks that became zero.

    Returns ``values`` with x's shape, ``scales`` with one number for each block, and ``factor``. The values of MXINT8
    are encodings in uint8, because NumPy has no type for them; viewed as int8, they are 64 times the numbers. Raises
    ValueError for an unknown format, for a dtype without real numbers in a format, and for integers that float64 does
    not hold.
    """
    if format not in BLOCK_FORMATS:
        raise ValueError(f"format: {format!r} is not one of {', '.join(BLOCK_FORMATS)}")
    x = np.asarray(x)
    if x.ndim == 0:
        raise ValueError("x is a number; blocks lie along an axis of an array")
    _check_numbers(x, "x")
    x = _exact(x) if x.dtype.kind in "iub" else x
    element, scale, block = BLOCK_FORMATS[format]
    if scale != "ue4m3":
        if factor not in (None, 1):
            raise ValueError(f"factor is {factor}: {format} has no factor of the tensor, only nvfp4 has; leave it out")
        factor = None
    last = np.moveaxis(x, axis, -1)
    rows = last.reshape(last.size // max(last.shape[-1], 1), last.shape[-1])
    operand = Operand(element, f"1x{block}", formula=formula, scale_rounding=scale_rounding)
    q = prepare(rows if last.size else last, operand, "a", factor=factor, measure=True)
    assert q.scales is not None and q.statistics is not None
    _warn_of_loss(format, last.astype(np.float64), q, block, q.statistics)
    values, scales = (np.moveaxis(y.reshape(*last.shape[:-1], y.shape[-1]), -1, axis) for y in (q.values, q.scales))
    return Quantized(values, scales, np.float32(1) if q.factor is None else q.factor.item())
