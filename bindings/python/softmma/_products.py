"""Products of matrices, dot-product-adds, rounding."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike, NDArray

from softmma import _core, _devices
from softmma._plans import Plan, handle_of
from softmma._units import Instruction, chosen, text_of

products_seen: ContextVar[list[tuple[dict[str, Any], NDArray[Any]]] | None] = ContextVar("products_seen", default=None)
"""While it holds a list, products add to it: the arguments, by `matmul`'s names, and the result."""


def is_unseen() -> bool:
    """Nobody keeps results, so that whoever asked for a product may write to it."""
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
    """D = alpha A B + beta C as a GPU's matrix unit computes it, over K in order.

    **Shapes** are those of `numpy.matmul`: A is (..., M, K), B is (..., K, N), leading axes broadcast, a vector is a
    row of A or a column of B. C broadcasts to the result. K is padded with +0 to a multiple of the instruction's K.

    **The instruction** is ``instr``, by name or alias on the GPU ``on``; or ``on`` itself, if it is an `Instruction`
    or a `Custom` unit; or else the GPU's preferred one with A and B in ``in_dtype`` and D in ``out_dtype``. These are
    names ("e4m3"), dtypes, or for ``in_dtype`` a pair, of A and B, or a block-scaled format ("nvfp4"). Without
    ``in_dtype`` the arrays' dtypes count; without ``out_dtype`` D is float32 (float64 for float64, int32 for integers).

    **Values** that the instruction's format has not are rounded to it, saturating in formats of 8 bits and less. For A
    and B ``round_in`` says how: "nearest-even", "nearest-away", "toward-zero", "toward-negative", "toward-positive";
    without it as the plan or the unit's library does: tf32 nearest-away (Hopper nearest-even, XF32 of AMD
    toward-zero), other formats nearest-even (docs/libraries.md). An array of unsigned integers as wide as the format holds raw encodings, where
    the format is named and no integer itself. Where numbers became infinite, zero or NaN, or saturated, a
    RuntimeWarning says how many.
    Arrays that are in the format already are not copied if their last two axes are a matrix in rows or columns, at
    any distance.

    **Scale factors** of block-scaled instructions: ``scale_a`` is (..., M, ceil(K / block)), ``scale_b`` is (...,
    ceil(K / block), N), in the instruction's scale format (`quantize` makes them).

    Without scaling (alpha is 1, beta is 1 or 0) C is the instruction's own; any other alpha or beta acts after the
    sum, in FP32 FMA, as in GPU libraries. ``scaling`` "epilogue" adds C after the sum in any case, "operands" scales A
    and C before the product, each rounded to its format.

    **A plan** says what a library does around the instruction, and D's format (docs/plans.md): a `Plan`, or what makes
    one. C, alpha, beta, ``bias`` (N numbers) and ``scale_d`` count where its epilogue has a place for them, and scale
    factors of its parts are float32, (..., M, ceil(K / k)) and (..., ceil(K / k), N). Without one K is one chain. With ``promote_every`` = P every P of K the sum moves to an FP32 accumulator;
    with ``split_k`` = S, K is cut into S slices whose results are added in FP32. ``threads`` (0: all cores) and
    ``kernel`` ("core": the reference) do not change a result.

    **On a GPU**: with ``kernel`` "cuda" (or "cuda:1", ...) all arrays may be in that GPU's memory: of PyTorch, CuPy, JAX
    or whatever has DLPack or ``__cuda_array_interface__``. They are read there, and the result is an array of A's
    library in the same memory. Nothing is rounded, rearranged or broadcast there but the batch: each array has the
    dtype of its format (or unsigned integers, encodings), its last two axes are a matrix in rows or columns, and C has
    the result's shape.

    Returns an array in D's format. Raises LookupError if there is no such GPU, format or instruction, ValueError for
    shapes that do not fit, TypeError for a dtype that is no number format, MemoryError.

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
    """A product, where somebody looks on: an empty mapping says that nobody did when its arguments were there."""
    seen = products_seen.get()
    if seen is not None and given:
        seen.append(({name: given[name] for name in _ARGUMENTS if name in given} | of_a, d))


# What the extension module is called with for a product, in order, and what of it there is without A and C.
_ARGUMENTS = (
    "a", "b", "c", "on", "instr", "in_dtype", "out_dtype", "scale_a", "scale_b", "alpha", "beta", "scaling", "split_k",
    "promote_every", "plan", "bias", "scale_d", "threads", "kernel", "round_in",
)  # fmt: skip
_OF_B = inspect.Signature(
    [p for name, p in inspect.signature(matmul).parameters.items() if name not in ("a", "c", "scale_a")]
)


def positional(given: Mapping[str, Any]) -> list[Any]:
    """A product's arguments for the extension module; those that are not given are None."""
    return [handle_of(given["plan"]) if name == "plan" else given.get(name) for name in _ARGUMENTS]


class Multiplier:
    """One B for many products: a multiplier decides once, and keeps B as the kernel reads it.

    A product by a multiplier is `matmul` of the same arguments, and takes less time, the more so the fewer rows A has.
    B is a matrix (K, N), of which, and of its scale factors, the multiplier keeps copies: arrays that change later do
    not change it. Without ``in_dtype`` and ``instr``, A's format is B's. All arguments are as in `matmul`,
    without A, C and ``scale_a``.

    ``instruction`` is what computes, ``shape`` (K, N), ``nbytes`` the memory that the multiplier keeps.

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
        self._given = given.arguments if products_seen.get() is not None else {}  # else B need not be kept
        self._handle, chosen, k, n, self.nbytes, self._round_in = _core.multiplier(*positional(given.arguments))
        self.instruction = chosen if isinstance(chosen, Instruction) else Instruction(*_core.describe(chosen))
        self.shape = k, n

    def matmul(self, a: ArrayLike, c: ArrayLike | None = None, *, scale_a: ArrayLike | None = None) -> NDArray[Any]:
        """D = alpha A B + beta C: A is (..., M, K) or (K,), C broadcasts to the result.

        A's values are rounded to the instruction's format as B's were. Raises as `softmma.matmul`.
        """
        d = _core.multiplier_matmul(self._handle, self.instruction, a, c, scale_a, self._round_in)
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
) -> Any:
    """d = c + sum of a[k] b[k]: one element of one instruction, or as many as the arrays have rows.

    A and B are (..., K), where fewer elements than the instruction's K are followed by +0; C is (...); scale factors
    are (..., K / block). Leading axes broadcast, and are the result's shape. All else is as in `matmul`.

    Source: ``smma_dot_rows`` of softmma/softmma.h, on all cores.
    """
    return _core.dot(a, b, c, on, instr, in_dtype, out_dtype, scale_a, scale_b, round_in)


KINDS = ("random", "normal", "edge", "zeros", "tiny", "cancellation", "ill", "network", "schryer", "aimed")


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
    """Operands that reach an instruction's corners, for units that are to be held against a model: (a, b, c), or
    (a, b, c, scale_a, scale_b) of an instruction with scale factors; a and b are (count, K), c (count,).

    Rows ``first`` to ``first + count - 1`` of a seed, which are the same on every machine: "random", "normal", "edge",
    "zeros", "tiny", "cancellation", "ill", "network", "schryer" or "aimed" ones, or, without a kind, of the first eight
    in turn. The instruction is chosen as by `matmul`.

        >>> import softmma
        >>> a, b, c = softmma.rows(1000, on="H100", instr="mma.m16n8k16.f32.f16.f16.f32")
        >>> softmma.dot(a, b, c, on="H100", instr="mma.m16n8k16.f32.f16.f16.f32").shape
        (1000,)

    Raises ValueError for another kind, and for a count, seed or first below 0 or of 2^63 and more. Source:
    ``smma_make_rows`` of softmma/softmma.h.
    """
    if kind is not None and kind not in KINDS:
        raise ValueError(f"kind: there is no {kind!r}; there are {', '.join(KINDS)}, and None for the first eight in turn")
    for name, number in (("count", count), ("seed", seed), ("first", first)):
        if not 0 <= number < 2**63:
            raise ValueError(f"{name} is {number}; it is from 0 to 2^63 - 1")
    given = instr if instr is not None else on
    i = given if isinstance(given, Instruction) else chosen(str(on), given if instr else None, in_dtype, out_dtype)
    made = _core.rows(i, kind, seed, first, count)
    return tuple(array for array in made if array is not None)


def round(x: ArrayLike, dtype: Any, mode: str = "nearest-even", overflow: str = "default") -> Any:
    """The values of ``x`` rounded to a format: an array of that format's dtype and of the same shape.

    ``mode``: "nearest-even", "toward-zero", "toward-negative", "toward-positive", "nearest-away". ``overflow``, what
    becomes of magnitudes that round above the greatest finite one: "saturate", "infinity" (NaN in formats without),
    or "default", which saturates in formats of 8 bits and less.

    Each value is rounded once, from the array's own dtype; integers and booleans count as float64. Where values became
    infinite, zero or NaN, or saturated (NaN, infinity and negative numbers in formats without them), a RuntimeWarning
    says how many.

        >>> import softmma
        >>> softmma.round([0.1, 1000, -3.3], "e4m3fn").astype(float).tolist()
        [0.1015625, 448.0, -3.25]

    Raises LookupError for a format, ValueError for a mode that there is not. Source: ``smma_convert`` of
    softmma/softmma.h.
    """
    return _core.round(x, dtype, mode, overflow, False)
