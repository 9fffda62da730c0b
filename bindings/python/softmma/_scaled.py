"""Products of matrices with scale factors, as PyTorch and cuBLAS call them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from softmma import _core
from softmma._products import matmul, round
from softmma._units import BLOCK_FORMATS, Instruction, chosen, dtype

_128 = 128
_BLOCKS = {
    (dtype(element), dtype(scale)): (name, block)
    for name, (element, scale, block) in BLOCK_FORMATS.items()
    if dtype(element) != np.uint8  # the encodings of a format that has no dtype
}
_BOTH_LINES = "torch:_scaled_mm:1x128,1x128"
_ONE_SQUARE = "torch:_scaled_mm:1x128,128x128"


def swizzle_scales(scales: ArrayLike) -> NDArray[Any]:
    """Returns scale factors in the layout in which cuBLAS and PyTorch take them: one axis, in tiles of 128 lines x 4.

    ``scales`` is (lines, blocks), one row of factors for each row of A or column of B, in a format of 8 bits (UE8M0,
    UE4M3). Factor b of line l moves to 512 (floor(l / 128) ceil(blocks / 4) + floor(b / 4)) + 16 (l mod 32) +
    4 floor((l mod 128) / 32) + b mod 4. Factors that fill the last tiles are 0.

        >>> import numpy as np, softmma
        >>> scales = np.arange(8, dtype=np.uint8).reshape(2, 4)
        >>> softmma.swizzle_scales(scales)[:20].tolist()
        [0, 1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 5, 6, 7]

    Raises ValueError for another shape or a wider format. Source: ``smma_swizzle_scales`` of softmma/scales.h; NVIDIA
    cuBLAS 13, "1D Block Scaling Factors Layout".
    """
    x = _bytes(scales)
    if x.ndim != 2:
        raise ValueError(f"scales is {x.shape}; give a matrix (lines, blocks)")
    lines, blocks = x.shape
    return _core.swizzle(np.ascontiguousarray(x).view(np.uint8), lines, blocks, False).view(x.dtype)


def unswizzle_scales(swizzled: ArrayLike, lines: int, blocks: int) -> NDArray[Any]:
    """Returns the (lines, blocks) scale factors of their swizzled layout: the inverse of `swizzle_scales`.

    ``swizzled`` may have any shape; its 512 ceil(lines / 128) ceil(blocks / 4) elements count in order.

    Raises ValueError if it has another number of elements, or a wider format.
    """
    x = _bytes(swizzled)
    flat = np.ascontiguousarray(x).reshape(-1).view(np.uint8)
    return _core.swizzle(flat, lines, blocks, True).view(x.dtype).reshape(lines, blocks)


def swizzled_size(lines: int, blocks: int) -> int:
    """Returns the number of swizzled factors."""
    return 512 * -(-lines // 128) * -(-blocks // 4)


def _bytes(scales: ArrayLike) -> NDArray[Any]:
    x = np.asarray(scales)
    if x.dtype.itemsize != 1:
        raise ValueError(f"scales is {x.dtype}; swizzled are formats of 8 bits, such as float8_e8m0fnu")
    return x


class Scaling(NamedTuple):
    """The kind of scaling of two operands, as in `torch._scaled_mm`, and their factors in the form that `matmul` takes.

    ``kind`` is "tensor", "row", "128" or the name of a block-scaled format.
    """

    kind: str
    scale_a: NDArray[Any]
    scale_b: NDArray[Any]
    plan: str | None = None


ONE = Scaling("tensor", np.ones((), np.float32), np.ones((), np.float32))
"""No factors."""


def _blocks_of_128(scale: NDArray[Any], lines: int, blocks: int) -> NDArray[Any] | None:
    """Returns (lines, blocks) factors from factors of lines or of 128 lines together, or None for another shape."""
    if scale.shape == (lines, blocks):
        return scale
    if scale.shape == (-(-lines // _128), blocks):
        return np.repeat(scale, _128, axis=0)[:lines]
    return None


def _kind(x: NDArray[Any], scale: NDArray[Any]) -> tuple[str, int] | None:
    return _BLOCKS.get((x.dtype, scale.dtype))


def scaling_of(
    a: NDArray[Any],
    b: NDArray[Any],
    scale_a: NDArray[Any],
    scale_b: NDArray[Any],
    *,
    swizzled: bool = False,
    kind: str | None = None,
) -> Scaling | None:
    """Returns how the factors of A (M, K) and B (K, N) act, or None if the shapes or formats are of no known scaling,
    or not of ``kind``, which is "tensor", "row" or "128"."""
    (m, k), n = a.shape, b.shape[1]
    of_a, of_b = _kind(a, scale_a), _kind(b, scale_b)
    if kind is None and of_a and of_b and of_a[1] == of_b[1]:
        blocks = -(-k // of_a[1])
        if swizzled:
            if scale_a.size != swizzled_size(m, blocks) or scale_b.size != swizzled_size(n, blocks):
                return None
            scale_a, scale_b = unswizzle_scales(scale_a, m, blocks), unswizzle_scales(scale_b, n, blocks).T
        if scale_a.shape != (m, blocks) or scale_b.shape != (blocks, n):
            return None
        return Scaling(of_a[0] if of_a == of_b else f"{of_a[0]},{of_b[0]}", scale_a, scale_b)
    if scale_a.dtype != np.float32 or scale_b.dtype != np.float32:
        return None
    if kind in (None, "tensor") and scale_a.size == scale_b.size == 1:
        return Scaling("tensor", scale_a.reshape(()), scale_b.reshape(()))
    if kind in (None, "row") and scale_a.shape == (m, 1) and scale_b.shape == (1, n):
        return Scaling("row", scale_a, scale_b)
    if kind not in (None, "128"):
        return None
    left, right = _blocks_of_128(scale_a, m, -(-k // _128)), _blocks_of_128(scale_b.T, n, -(-k // _128))
    lines = left is scale_a, right is not None and scale_b.shape[1] == n
    if left is None or right is None or not any(lines):
        return None
    return Scaling("128", left, right.T, _BOTH_LINES if all(lines) else _ONE_SQUARE)


def instruction_for(on: str | Instruction, kind: str, formats: tuple[str, ...]) -> Instruction:
    """Returns the instruction that multiplies operands with factors of this kind. Raises LookupError if the unit has
    none."""
    if not isinstance(on, Instruction):
        return chosen(on, None, formats if kind in ("tensor", "row", "128") else kind, None)
    takes = (on._inputs_text() if on.scale else kind, on.a, on.b)
    if takes != (kind, *formats):
        raise LookupError(f"{on.name} does not multiply {formats[0]} x {formats[1]} with factors of {kind}")
    return on


def scaled_product(
    x: Any, y: Any, scaling: Scaling, instruction: Instruction, fast: bool, **of_product: Any
) -> NDArray[Any]:
    """Computes A B in FP32, including the factors of blocks. Factors of tensors and rows are applied afterwards, by
    `times_factors`."""
    plan = scaling.plan
    if scaling.kind in ("tensor", "row"):
        plan = ("torch:_scaled_mm:fast" if fast else "torch:_scaled_mm") if instruction.keeps_13_bits else None
    elif plan is None or x.shape[-1]:
        of_product.update(scale_a=scaling.scale_a, scale_b=scaling.scale_b)
    if x.shape[-1] == 0:
        plan = None  # with K = 0 there are no partial sums
    return matmul(x, y, on=instruction, in_dtype=(instruction.a, instruction.b), plan=plan, **of_product)


def times_factors(d: Any, kind: str, scale_a: Any, scale_b: Any) -> Any:
    """Multiplies a sum by the product of both tensors' factors, or by the factor of the column and then by that of the
    row."""
    if kind == "tensor":
        return d * (scale_a * scale_b)
    return d * scale_b * scale_a if kind == "row" else d


def scaled_matmul(
    a: ArrayLike,
    b: ArrayLike,
    scale_a: ArrayLike,
    scale_b: ArrayLike,
    *,
    on: str | Instruction = "H100",
    swizzled: bool = False,
    fast: bool = False,
    alpha: float = 1.0,
    bias: ArrayLike | None = None,
    out_dtype: Any = "f32",
    threads: int = 0,
    kernel: str | None = None,
) -> NDArray[Any]:
    """Multiplies matrices that have scale factors as `torch._scaled_mm` does: A (M, K) times B (K, N).

    The factors' shapes and formats say what they are (B's in brackets):

    - float32, one number (one number): of tensors. D = sum * (scale_a * scale_b);
    - float32, M x 1 (1 x N): of rows and columns. D = (sum * scale_b) * scale_a;
    - float32, M x K/128 or M/128 x K/128 (K/128 x N or K/128 x N/128): of blocks. At least one of the two has a factor
      for each line;
    - UE8M0, M x K/32 (K/32 x N), MX; UE4M3, M x K/16 (K/16 x N), NVFP4: a block-scaled instruction applies them. With
      ``swizzled`` they are in the layout of `swizzle_scales`. ``alpha`` is the product of NVFP4's tensor factors.

    Formats are the arrays' dtypes (float8_e4m3fn, float4_e2m1fn, ...). If the instruction keeps 13 bits of sums, the
    sum moves to FP32 every 128 of K unless ``fast`` (`use_fast_accum`). Sums in another format (S32, FP64) are rounded
    to FP32 first. ``alpha``, then ``bias`` (N numbers), act in FP32 before D is rounded to ``out_dtype``.

        >>> import numpy as np, softmma
        >>> x = softmma.round(np.full((2, 64), 3.0), "e4m3")
        >>> softmma.scaled_matmul(x, x.T, np.float32([[1], [2]]), np.float32([[1, 0.5]])).tolist()
        [[576.0, 288.0], [1152.0, 576.0]]

    Which of these are recorded from a GPU and which follow the rule above without a measurement is in
    docs/libraries.md. Raises ValueError for factors or a bias of other shapes or formats, LookupError for a unit that
    does not multiply the formats.
    """
    a, b, scale_a, scale_b = map(np.asarray, (a, b, scale_a, scale_b))
    if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[0]:
        raise ValueError(f"a is {a.shape} and b is {b.shape}: the columns of a must be the rows of b")
    scaling = scaling_of(a, b, scale_a, scale_b, swizzled=swizzled)
    if scaling is None:
        raise ValueError(
            f"scale_a is {scale_a.dtype} {scale_a.shape} and scale_b is {scale_b.dtype} {scale_b.shape} for {a.dtype} "
            f"{a.shape} x {b.dtype} {b.shape}; help(softmma.scaled_matmul) lists the factors"
        )
    if bias is not None:
        bias = np.asarray(bias, np.float32)
        if bias.shape != (b.shape[1],):
            raise ValueError(f"bias is {bias.shape}, but b has {b.shape[1]} columns")
    instruction = instruction_for(on, scaling.kind, (_core.format(a.dtype), _core.format(b.dtype)))
    d = scaled_product(a, b, scaling, instruction, fast, threads=threads, kernel=kernel)
    d = times_factors(d.astype(np.float32, copy=False), scaling.kind, scaling.scale_a, scaling.scale_b)
    d = d if alpha == 1 else d * np.float32(alpha)
    if bias is not None:
        d = d + bias
    result: NDArray[Any] = d if out_dtype == "f32" else round(d, out_dtype)
    return result
