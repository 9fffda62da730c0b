"""Products with a record of how they were computed, as the command returns them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from numpy.typing import ArrayLike, NDArray

from softmma import _core
from softmma._plans import Plan, handle_of
from softmma._threads import limited
from softmma._units import Instruction
from softmma._value import result


class Gemm(NamedTuple):
    """A product, and the settings it was computed with."""

    d: NDArray[Any]
    """The matrix D, of ``m`` rows and ``n`` columns."""
    arch: str
    instruction: str
    m: int
    n: int
    k: int
    d_format: str
    kernel: str
    """The kernel that computed D here; the bits of D do not depend on the kernel."""
    seconds: float
    method: str | None
    words: int | None
    """Number of words that each number is split into, in methods that split numbers into words; otherwise None."""
    slices: tuple[int, int] | None
    """Number of slices of A and of B, in the method ozaki."""
    notes: tuple[str, ...]
    """Notes on the matrices' values, such as roundings."""
    value: dict[str, Any]
    """The record that ``softmma gemm --json`` prints, without the file for D."""

    def __repr__(self) -> str:
        return f"<product of {self.m} x {self.n} x {self.k} in {self.d_format} by {self.arch} {self.instruction}>"


def gemm(
    a: ArrayLike,
    b: ArrayLike,
    c: ArrayLike | None = None,
    *,
    on: str | Instruction = "H100",
    instr: str | Instruction | None = None,
    in_dtype: Any = None,
    out_dtype: Any = None,
    method: str | None = None,
    words: int = 0,
    accuracy: float = 0.0,
    subnormals: str | None = None,
    slices: int | str | None = None,
    slice_bits: int = 0,
    products: str | None = None,
    sum: str | None = None,
    through: str | None = None,
    alpha: float = 1.0,
    beta: float = 1.0,
    scaling: str | None = None,
    scale_a: ArrayLike | None = None,
    scale_b: ArrayLike | None = None,
    metadata: ArrayLike | None = None,
    split_k: int = 1,
    promote_every: int = 0,
    plan: Plan | Mapping[str, Any] | str | Path | None = None,
    bias: ArrayLike | None = None,
    scale_d: float = 1.0,
    round_in: str | None = None,
    transpose_a: bool = False,
    transpose_b: bool = False,
    threads: int = 0,
    kernel: str | None = None,
) -> Gemm:
    """Multiplies two matrices by a chosen method, with a record of how D was computed: ``softmma gemm`` for arrays.

    `matmul` computes the same bits, also of batches, with fewer options and no record. Here A is (M, K), B is (K, N)
    (transposed with ``transpose_a``, ``transpose_b``). Numbers for a block-scaled instruction may come without scale
    factors; they are then quantised as by `quantize`. ``metadata`` (M, K/2) of a sparse instruction gives the positions
    of A's elements, A being (M, K/2) (docs/sparse.md). Arguments not described here are as in `matmul`.

    **Accurate products** (docs/numerics.md) multiply float64 or float32 numbers; they are A B alone. D is float64 if A
    or B is, otherwise float32. ``method`` is

    - "words" (Mary and Mikaitis), "markidis": each number is a sum of ``words`` words in the instruction's format, or
      of the fewest words for the relative ``accuracy``. ``sum`` says where products are added: "f64" (default), "f32",
      "unit", "unit-scaled" or "blocks". ``subnormals`` is "on" (default) or "off": subnormal words become zero;
    - "bf16x9": three words of BF16 and nine products, as CUTLASS computes FP32 on Blackwell. A and B
      must not be float64;
    - "ozaki": each number is a sum of ``slices`` integers of ``slice_bits`` bits (default: 7), on an s8 instruction;
      "auto" (default) takes as many slices as make D the exact product, rounded once. ``products`` is "leading" or
      "all", ``sum`` "f64" or "exact".

    Two methods are for other products: "two-level" promotes after every 128 of K, or after ``promote_every``, and
    "fallback" rounds A and B to the FP8, FP6 or FP4 format ``in_dtype`` and multiplies them ``through`` an instruction
    of "f16" (default) or "bf16".

        >>> import numpy as np, softmma
        >>> x = np.random.default_rng(0).normal(size=(4, 4))
        >>> exact = softmma.gemm(x, x, on="A100", in_dtype="s8", method="ozaki", slices="auto")
        >>> bool(np.abs(exact.d - x @ x).max() < 1e-15)
        True

    Raises as `matmul` does, and ValueError if options contradict each other or the instruction. Source:
    ``smma_gemm``, and ``smma_gemm_words`` and ``smma_gemm_slices`` of softmma/accurate.h.
    """
    how_many = None if slices is None else str(slices)
    chosen = method, sum, subnormals, how_many, products, through, words, slice_bits, accuracy
    with limited(threads):
        d, value, notes = _core.gemm(
            a, b, c, scale_a, scale_b, bias, metadata, on, instr, in_dtype, out_dtype, chosen, alpha, beta, scale_d,
            scaling, split_k, promote_every, handle_of(plan), round_in, kernel, transpose_a, transpose_b, threads,
        )  # fmt: skip
    others = {name: value.get(name) for name in ("method", "words")}
    used = (value["slices_of_a"], value["slices_of_b"]) if "slices_of_a" in value else None
    return result(Gemm, value, d=d, notes=tuple(notes), slices=used, **others)
