"""PyTorch's product operations: those emulated as products of two matrices, and those left to PyTorch."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from softmma._products import is_unseen
from softmma.torch import _attention, _convolutions
from softmma.torch._call import Call
from softmma.torch._scaled import GROUPED, SCALED

aten = torch.ops.aten


def _mm(call: Call, a: Tensor, b: Tensor, out_dtype: torch.dtype | None = None) -> Tensor:
    return call.product(a, b).to(out_dtype or a.dtype)


def _addmm(
    call: Call,
    c: Tensor,
    a: Tensor,
    b: Tensor,
    out_dtype: torch.dtype | None = None,
    *,
    beta: float = 1,
    alpha: float = 1,
) -> Tensor:
    """Adds C, usually a bias, after the product in FP32, as GPU libraries do."""
    d = call.product(a, b)
    d = d if alpha == 1 else d * alpha
    if beta != 0:
        shape = d.shape
        if beta == 1 and c.dtype == d.dtype and c.shape == shape[-c.dim() :] and is_unseen():
            d += c
        else:
            d = d + c if beta == 1 else d + beta * c.to(d.dtype)
        if d.shape != shape:
            raise RuntimeError(f"what is added is {tuple(c.shape)}, which does not broadcast to {tuple(shape)}")
    return d.to(out_dtype or a.dtype)


def _addmm_activation(
    call: Call, c: Tensor, a: Tensor, b: Tensor, *, beta: float = 1, alpha: float = 1, use_gelu: bool = False
) -> Tensor:
    d = _addmm(call, c, a, b, beta=beta, alpha=alpha)
    return torch.nn.functional.gelu(d, approximate="tanh") if use_gelu else d.relu()


def _addbmm(call: Call, c: Tensor, a: Tensor, b: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """Adds a batch's products to C, one after another, as PyTorch does on GPUs."""
    for x, y in zip(a, b, strict=True):
        c, beta = _addmm(call, c, x, y, beta=beta, alpha=alpha), 1
    return c.clone() if len(a) == 0 else c


def _int_mm(call: Call, a: Tensor, b: Tensor) -> Tensor:
    """Multiplies integers, exactly, as every unit with integer formats does."""
    return call.product_as_is(a, b)


EMULATED: dict[str, Callable[..., Any]] = {
    "mm": _mm,
    "bmm": _mm,
    "mv": _mm,
    "dot": _mm,
    "vdot": _mm,
    "addmm": _addmm,
    "baddbmm": _addmm,
    "addmv": _addmm,
    "_addmm_activation": _addmm_activation,
    "addbmm": _addbmm,
    "_int_mm": _int_mm,
    **SCALED,
    **GROUPED,
    "convolution": _convolutions.forward,
    "convolution_backward": _convolutions.backward,
    "_scaled_dot_product_flash_attention_for_cpu": _attention.forward,
    "_scaled_dot_product_flash_attention_for_cpu_backward": _attention.backward,
}
"""The names of aten's operations, without the trailing _ of in-place operations."""

# Parts of operation names. A name with a part in _PRODUCTS computes products, unless a part in _NO_PRODUCTS shows that
# the operation only prepares, unpacks or chooses.
_PRODUCTS = frozenset(
    """
    mm bmm addmm baddbmm addbmm sspaddmm hspmm smm int8pack int4pack mv addmv dot vdot
    matmul addr ger linear qlinear conv convolution attention transformer rnn lstm gru
    cdist euclidean trilinear bilinear geqrf ormqr orgqr spsolve linalg cholesky triangular
    lu einsum int4mm
    """.split()
)
_NO_PRODUCTS = frozenset(
    """
    prepack unpack pack reorder flatten choice cross diagonal norm check errors powsum
    combination quantize thnn upsample vander vecdot
    """.split()
)
_OWN_NAMESPACES = frozenset(
    """
    aten prims prim quantized _quantized quantization mkldnn mkl mkldnn_prepacked onednn
    sparse inductor inductor_prims c10d _c10d_functional _c10d_functional_autograd fsdp symm_mem
    profiler export static_runtime rngprims debugprims debug_mode_ops coor _native _native_aot
    flex_gemm streams xnnpack _dtensor
    """.split()
)


def outside(namespace: str, name: str) -> str | None:
    """Returns why a product is reported as not emulated, or None for operations that are not products."""
    if namespace not in _OWN_NAMESPACES:
        return "custom operation: what it computes is not seen"
    words = {re.sub(r"\d+d$", "", word) for word in name.split("_")}  # conv2d is conv
    return "not emulated" if words & _PRODUCTS and not words & _NO_PRODUCTS else None
