"""PyTorch's operations that are products, made of products of two operands."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from softmma.torch._emulate import Emulation


def _mm(mode: Emulation, name: str, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return mode.product(name, a, b).to(a.dtype)


def _addmm(
    mode: Emulation, name: str, c: torch.Tensor, a: torch.Tensor, b: torch.Tensor, *, beta: float = 1, alpha: float = 1
) -> torch.Tensor:
    """C, a bias mostly, is added behind the product, in FP32, as GPU libraries do."""
    d = mode.product(name, a, b) * alpha
    return (d if beta == 0 else d + beta * c).to(a.dtype)


def _scaled_mm(
    mode: Emulation,
    name: str,
    a: torch.Tensor,
    b: torch.Tensor,
    scale_a: torch.Tensor,
    scale_b: torch.Tensor,
    bias: torch.Tensor | None = None,
    scale_result: torch.Tensor | None = None,
    out_dtype: torch.dtype | None = None,
    use_fast_accum: bool = False,
) -> torch.Tensor:
    """FP8 tensors as they are; factors for the whole or for rows of A and columns of B act on the FP32 result."""
    d = mode.product_as_is(name, a, b) * scale_a * scale_b
    if bias is not None:
        d = d + bias
    return (d if scale_result is None else d * scale_result).to(out_dtype or a.dtype)


OPERATIONS: dict[Any, Callable[..., torch.Tensor]] = {
    torch.ops.aten.mm: _mm,
    torch.ops.aten.bmm: _mm,
    torch.ops.aten.mv: _mm,
    torch.ops.aten.dot: _mm,
    torch.ops.aten.addmm: _addmm,
    torch.ops.aten.baddbmm: _addmm,
    torch.ops.aten.addmv: _addmm,
    torch.ops.aten._scaled_mm: _scaled_mm,
}
