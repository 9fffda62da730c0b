"""Products of matrices, dot products and rounding."""

from __future__ import annotations

import enum
import inspect
from collections.abc import Mapping
from contextvars import ContextVar
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from softmma import _core, _devices
from softmma._plans import Plan, handle_of
from softmma._units import Instruction, one_instruction, text_of
from softmma._value import checked

products_seen: ContextVar[list[tuple[dict[str, Any], NDArray[Any]]] | None] = ContextVar("products_seen", default=None)
"""While this holds a list, each product appends its arguments, by `matmul`'s names, and its result."""


def is_unseen() -> bool:
    """Reports whether results are not recorded, so that the caller of a product may write to its result."""
    return products_seen.get() is None


def matmul(
    a: ArrayLike,
    b: ArrayLike,
    c: ArrayLike | None = None,
    *,
    on: str | Instruction = "H100",
    instr: str | Instruction | None = None,
    in_dtype: Any = None,
    out_dtype: Any = None,
    alpha: float = 1.0,
    beta: float = 1.0,
    scaling: str | None = None,
    scale_a: ArrayLike | None = None,
    scale_b: ArrayLike | None = None,
    split_k: int = 1,
    promote_every: int = 0,
    plan: Plan | Mapping[str, Any] | str | Path | None = None,
    bias: ArrayLike | None = None,
    scale_d: float = 1.0,
    threads: int = 0,
    kernel: str | None = None,
    round_in: str | None = None,
) -> NDArray[Any]:
    """Computes D = alpha A B + beta C as a GPU's matrix unit does, with K in order.

    **Shapes** are those of `numpy.matmul`: A is (..., M, K), B is (..., K, N), leading axes broadcast, a vector is a
    row of A or a column of B. C broadcasts to the result. K is padded with +0 to a multiple of the instruction's K.

    **The instruction** is ``instr``, by name or alias on the GPU ``on``; or ``on`` itself, if it is an `Instruction` or
    a `Custom` unit; otherwise the GPU's preferred one with A and B in ``in_dtype`` and D in ``out_dtype``. These are
    names ("e4m3") or dtypes; ``in_dtype`` may be a pair, for A and B, or a block-scaled format ("nvfp4"). Defaults: A's
    and B's formats are the arrays' dtypes; D is float32 (float64 for float64, int32 for integers). D in float16 or
    bfloat16 that no instruction has is rounded from float32 after alpha, beta and C, as by libraries. ``on`` may also be
    the command's target "GPU:FORMAT", "GPU:FORMAT:FORMAT" (of A and of B) or "GPU:INSTRUCTION".

    **Values** outside the instruction's format are rounded to it, saturating in formats of at most 8 bits. ``round_in``
    is the rounding mode of A and B: "nearest-even", "nearest-away", "toward-zero", "toward-negative", "toward-positive"
    (default: that of the plan or the unit's library: tf32 nearest-away, on Hopper nearest-even, AMD's XF32 toward-zero,
    other formats nearest-even; docs/libraries.md). An array of unsigned integers as wide as the format holds raw
    encodings if the format is given by name and is not an integer format; C does if ``instr``, ``in_dtype``,
    ``out_dtype`` or ``on`` names an instruction or formats. A bias and FP32 scale factors hold numbers. A
    RuntimeWarning counts values that became infinite, zero or NaN, or saturated. Arrays in the right format are not
    copied if their last two axes are a matrix in rows or columns, at any stride.

    **Scale factors** of block-scaled instructions: ``scale_a`` is (..., M, ceil(K / block)), ``scale_b`` is (...,
    ceil(K / block), N), in the instruction's scale format (`quantize` makes them).

    **Scaling**: with alpha = 1 and beta = 1 or 0, C is the instruction's own operand. Any other alpha or beta acts
    after the sum, in FP32 FMA, as in GPU libraries. ``scaling`` "epilogue" always adds C after the sum; "operands"
    scales A and C before the product, each rounded to its format.

    **A plan** describes what a library does around the instruction, and D's format (docs/plans.md): a `Plan`, or the
    description of a plan (default: one chain over K). C, alpha, beta, ``bias`` (N numbers) and ``scale_d`` are used as
    far as the plan's epilogue takes them. Scale factors of its parts are float32, (..., M, ceil(K / k)) and (...,
    ceil(K / k), N). With ``promote_every`` = P the sum is added to an FP32 accumulator after every P of K. With
    ``split_k`` = S, K is split into S slices whose results are added in FP32. ``threads`` (0: all cores) and ``kernel``
    ("core": the reference) do not change a result.

    **On a GPU**: with ``kernel`` "cuda" ("cuda:1", ...) all arrays may be in that GPU's memory: arrays of PyTorch,
    CuPy, JAX, or any library with DLPack or ``__cuda_array_interface__``. They are read there, and the result is an
    array of A's library in the same memory. On the GPU nothing is rounded or rearranged, and only batches broadcast:
    each array has the dtype of its format (or unsigned integers, encodings), its last two axes are a matrix in rows or
    columns, and C has the result's shape.

    Returns an array in D's format. Raises LookupError if there is no such GPU, format or instruction, ValueError for
    shapes that do not fit, TypeError for a dtype that is not a number format, MemoryError.

    Source: ``smma_gemm`` of softmma/softmma.h; the arithmetic of each instruction is in docs/algorithms.
    """
    given = locals() if products_seen.get() is not None else {}
    device = _devices.number(text_of(kernel, "kernel")) if kernel is not None else None
    like = a if device is not None and _devices.is_there(a) else None
    if device is not None:
        a, b, c, scale_a, scale_b, bias = map(_devices.view, (a, b, c, scale_a, scale_b, bias))
    d = _core.matmul(
        a, b, c, on, instr, in_dtype, out_dtype, scale_a, scale_b, alpha, beta, scaling, split_k, promote_every,
        handle_of(plan), bias, scale_d, threads, kernel, round_in,
    )  # fmt: skip
    if device is not None and like is not None:
        d = _devices.back(d, like, device)
    _seen(given, d)
    return d


def _seen(given: Mapping[str, Any], d: NDArray[Any], **of_a: Any) -> None:
    """Records a product if the list `products_seen` exists. If `given` is empty, the list did not exist when the
    product's arguments were available, so the product is not recorded."""
    seen = products_seen.get()
    if seen is not None and given:
        seen.append(({name: given[name] for name in _ARGUMENTS if name in given} | of_a, d))


# _ARGUMENTS: the names of a product's arguments in the order of the extension module. _OF_B: matmul's signature without
# A, C and A's scale factors.
_ARGUMENTS = (
    "a", "b", "c", "on", "instr", "in_dtype", "out_dtype", "scale_a", "scale_b", "alpha", "beta", "scaling", "split_k",
    "promote_every", "plan", "bias", "scale_d", "threads", "kernel", "round_in",
)  # fmt: skip
_OF_B = inspect.Signature(
    [p for name, p in inspect.signature(matmul).parameters.items() if name not in ("a", "c", "scale_a")]
)


def positional(given: Mapping[str, Any]) -> list[Any]:
    """Returns a product's arguments for the extension module, in order; arguments not given are None."""
    return [handle_of(given["plan"]) if name == "plan" else given.get(name) for name in _ARGUMENTS]


class Multiplier:
    """Multiplies many A by one B: it chooses the instruction once and holds B in the kernel's layout.

    A product by a multiplier equals `matmul` with the same arguments and takes less time, especially if A has few rows.
    B is a matrix (K, N). The multiplier copies B and its scale factors, so later changes of the arrays have no effect.
    Without ``in_dtype`` and ``instr``, A's format is B's. All arguments are as in `matmul`, without A, C and
    ``scale_a``.

    ``instruction`` is the instruction, ``shape`` is (K, N), and ``nbytes`` is the memory that the multiplier holds.

        >>> import numpy as np, softmma
        >>> multiplier = softmma.Multiplier(np.eye(16, dtype=np.float16)[:, :8], on="H100")
        >>> multiplier
        <multiplier of 16 x 8 on hopper wgmma.m64n8k16.f32.f16.f16>
        >>> multiplier.matmul(np.arange(16)).tolist()
        [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]

    Source: ``smma_multiplier_create`` of softmma/softmma.h.
    """

    def __init__(self, b: ArrayLike, **arguments: Any):
        given = _OF_B.bind(b, **arguments)
        given.apply_defaults()
        self._given = given.arguments if products_seen.get() is not None else {}  # otherwise B need not be kept
        made = _core.multiplier(*positional(given.arguments))
        self._handle, chosen, k, n, self.nbytes, self._round_in, self._named = made
        self.instruction = chosen if isinstance(chosen, Instruction) else Instruction(*_core.describe(chosen))
        self.shape = k, n

    def matmul(self, a: ArrayLike, c: ArrayLike | None = None, *, scale_a: ArrayLike | None = None) -> NDArray[Any]:
        """Computes D = alpha A B + beta C: A is (..., M, K) or (K,), C broadcasts to the result.

        A's values are rounded to the instruction's format as B's were. Raises as `softmma.matmul`.
        """
        d = _core.multiplier_matmul(self._handle, self.instruction, a, c, scale_a, self._round_in, self._named)
        _seen(self._given, d, a=a, c=c, scale_a=scale_a)
        return d

    def __repr__(self) -> str:
        return f"<multiplier of {self.shape[0]} x {self.shape[1]} on {self.instruction.arch} {self.instruction.name}>"


Multiplier.__signature__ = _OF_B  # type: ignore[attr-defined]


def dot(
    a: ArrayLike,
    b: ArrayLike,
    c: ArrayLike | None = None,
    *,
    on: str | Instruction = "H100",
    instr: str | Instruction | None = None,
    in_dtype: Any = None,
    out_dtype: Any = None,
    scale_a: ArrayLike | None = None,
    scale_b: ArrayLike | None = None,
    round_in: str | None = None,
) -> NDArray[Any]:
    """Computes d = c + sum of a[k] b[k]: one element of one instruction, or one for each row of the arrays.

    A and B are (..., K) and are padded with +0 to the instruction's K; C is (...); scale factors are (..., K / block).
    Leading axes broadcast and give the result's shape; the result of two vectors is a NumPy scalar. The other arguments
    are as in `matmul`.

    Source: ``smma_dot_rows`` of softmma/softmma.h, on all cores.
    """
    d: NDArray[Any] = _core.dot(a, b, c, on, instr, in_dtype, out_dtype, scale_a, scale_b, round_in)
    return d


class Flag(enum.IntFlag):
    """The exception flags of IEEE 754, with TestFloat's bits. No unit divides, so DIVIDE_BY_ZERO is never set."""

    INEXACT = 1
    UNDERFLOW = 2
    OVERFLOW = 4
    DIVIDE_BY_ZERO = 8
    INVALID = 16


class Flagged(NamedTuple):
    """Results of `dot_flags`."""

    d: Any
    """The results of `dot`."""
    flags: Any
    """Bits of `Flag` for each result: uint8, of the same shape."""


def dot_flags(
    a: ArrayLike,
    b: ArrayLike,
    c: ArrayLike | None = None,
    *,
    on: str | Instruction = "H100",
    instr: str | Instruction | None = None,
    in_dtype: Any = None,
    out_dtype: Any = None,
    round_in: str | None = None,
    tininess: str | None = None,
) -> Flagged:
    """Computes `dot` with the exception flags that IEEE 754 defines for the operations of the instruction's rule.

    Arguments and shapes are those of `dot`. Underflow means tiny and inexact. ``tininess`` says when a result below the
    least normal number is tiny: "before" or "after" rounding (None: before on Arm, Apple and Power, after on others).

        >>> import softmma
        >>> d, flags = softmma.dot_flags([1.0], [1.0], 2.0**-60, on="power:xvf64gerpp")
        >>> softmma.Flag(int(flags)) == softmma.Flag.INEXACT
        True

    Raises as `dot` does, and ValueError for an instruction whose rule has other operations, such as those of tensor
    cores for FP16 (docs/hardware-design.md). Source: ``smma_dot_flags`` of softmma/flags.h, on all cores.
    """
    return Flagged(*_core.dot_flags(a, b, c, on, instr, in_dtype, out_dtype, round_in, tininess))


KINDS = ("random", "normal", "edge", "zeros", "tiny", "cancellation", "ill", "network", "schryer", "aimed")


def check_kind(kind: str | None, none: str) -> None:
    """Raises ValueError if there is no such kind. ``none`` names the kinds that None stands
    for, for the message."""
    if kind is not None and (not isinstance(kind, str) or _core.row_kind(kind) is None):
        raise ValueError(f"kind: there is no {kind!r}; there are {', '.join(KINDS)}, and None for {none} in turn")


def rows(
    count: int,
    kind: str | None = None,
    *,
    seed: int = 0,
    first: int = 0,
    on: str | Instruction = "H100",
    instr: str | Instruction | None = None,
    in_dtype: Any = None,
    out_dtype: Any = None,
) -> tuple[NDArray[Any], ...]:
    """Makes test vectors that reach an instruction's corner cases: (a, b, c), or (a, b, c, scale_a, scale_b) with scale
    factors. a and b are (count, K), c is (count,).

    They are vectors ``first`` to ``first + count - 1`` of a seed, and are the same on every machine. ``kind`` is
    "random", "normal", "edge", "zeros", "tiny", "cancellation", "ill", "network", "schryer" or "aimed" (default: the
    first eight kinds in turn). The instruction is chosen as in `matmul`.

        >>> import softmma
        >>> a, b, c = softmma.rows(1000, on="H100", instr="mma.m16n8k16.f32.f16.f16.f32")
        >>> softmma.dot(a, b, c, on="H100", instr="mma.m16n8k16.f32.f16.f16.f32").shape
        (1000,)

    Raises ValueError for another kind, and for a count, seed or first below 0 or from 2^63 on. Source:
    ``smma_make_rows`` of softmma/softmma.h.
    """
    check_kind(kind, "the first eight")
    count, seed, first = checked("count", count), checked("seed", seed), checked("first", first)
    i = one_instruction(on, instr, in_dtype, out_dtype)
    made = _core.rows(i, kind, seed, first, count)
    return tuple(array for array in made if array is not None)


def rtl_text(
    *,
    on: str | Instruction = "H100",
    instr: str | Instruction | None = None,
    in_dtype: Any = None,
    out_dtype: Any = None,
    name: str | None = None,
    stages: int = 0,
    assertion: bool = False,
) -> str:
    """Returns an instruction as a synthesizable SystemVerilog module, which computes one dot-product-add.

    The instruction is chosen as in `matmul`. Ports are a, b, c, scale_a and scale_b (if it has scale factors) and d;
    element 0 of a vector is in the low bits. ``name`` is the module's name (None: that of the instruction, in lower
    case). With ``stages`` registers between the steps of the rule the module has a port clk, and d follows the operands
    after that number of clock cycles. With ``assertion`` the text also has a module that compares a design with the
    reference. docs/rtl.md describes the modules.

        >>> import softmma
        >>> text = softmma.rtl_text(on="V100", in_dtype="f16", name="reference")
        >>> "module reference (" in text
        True

    Raises ValueError for a name that is not an identifier, more stages than the rule has steps, and a rule that has no
    steps. Source: ``smma_rtl_text`` of softmma/rtl.h.
    """
    i = one_instruction(on, instr, in_dtype, out_dtype)
    return _core.rtl_text(i, name, stages, assertion)


def round(
    x: ArrayLike,
    dtype: Any,
    mode: str = "nearest-even",
    overflow: str = "default",
    *,
    random: ArrayLike | None = None,
    random_bits: int | None = None,
) -> NDArray[Any]:
    """Rounds the values of ``x`` to a format; returns an array of that format's dtype and the same shape.

    ``mode`` is "nearest-even", "toward-zero", "toward-negative", "toward-positive", "nearest-away", "nearest-zero",
    "nearest-positive", "nearest-negative" or "to-odd". ``overflow`` applies to infinity, and to magnitudes that round
    above the greatest finite one: "saturate", "infinity" (NaN in formats without infinity), "propagate" (numbers
    saturate, infinity stays), "by-direction" (IEEE 754's rule for each ``mode``), or "default", which saturates in
    formats of at most 8 bits. docs/custom-units.md relates both to the words of IEEE P3109.

    "stochastic-a", "stochastic-b" and "stochastic-c" are P3109's stochastic roundings. Each element is rounded with the
    last ``random_bits`` bits, 1 to 30, of an element of ``random``: integers from 0 to 2^32 - 1, in the shape of ``x``.

    Each value is rounded once, from the array's own dtype; integers and booleans count as float64. A RuntimeWarning
    counts values that became infinite, zero or NaN, or saturated (including NaN, infinity and negative numbers in
    formats without them).

        >>> import softmma
        >>> softmma.round([0.1, 1000, -3.3], "e4m3fn").astype(float).tolist()
        [0.1015625, 448.0, -3.25]
        >>> softmma.round([1.3, 1.3], "e4m3fn", "stochastic-a", random=[9, 10], random_bits=4).astype(float).tolist()
        [1.25, 1.375]

    Raises LookupError for an unknown format, ValueError for an unknown mode or overflow, and for ``random`` or
    ``random_bits`` that are missing, out of range, or given without a stochastic mode. Source: ``smma_convert`` and
    ``smma_convert_stochastic`` of softmma/softmma.h.
    """
    if not str(mode).startswith("stochastic-"):
        if random is not None or random_bits is not None:
            raise ValueError(f"random and random_bits belong to the stochastic modes; mode is {mode!r}")
        return _core.round(x, dtype, mode, overflow, False)
    if random is None or random_bits is None:
        raise ValueError(f"mode: {mode!r} needs random, an array of integers, and random_bits, 1 to 30")
    words = np.asarray(random)
    if words.dtype.kind not in "iu" or (words.size and not 0 <= int(words.min()) <= int(words.max()) < 2**32):
        raise ValueError("random: not integers from 0 to 2^32 - 1")
    return _core.round_stochastically(x, dtype, mode, overflow, words.astype(np.uint32), random_bits)
