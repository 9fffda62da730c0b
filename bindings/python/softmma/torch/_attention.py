"""FlashAttention-2: attention in blocks with an online softmax (Dao 2023, Algorithms 1 and 2).

As in the library: blocks of keys run from the last to the first; exp2 of one fused multiply-add; P, and dS in the
backward pass, are rounded to the format of operands; O is rescaled in FP32 and passed to the unit as C, and so are dK
and dV; parts of dQ are added in FP32, in the order of the blocks of keys. Two things differ from the GPU: exp2
(correctly rounded here, approximate there), and sums of rows (PyTorch's order here, added by threads there).
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from softmma.torch._call import Call
from softmma.torch._roles import ACTIVATIONS, GRADIENTS


def library_blocks(width: int, backward: bool) -> tuple[int, int]:
    """Returns the numbers of rows of queries and of keys in a block, for a head width: those of FlashAttention-2 on an
    A100 without dropout."""
    if width <= 64:
        return 128, 128
    if backward:
        return 64, 128 if width <= 128 else 64
    return 128, 64


def forward(
    call: Call,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    dropout: float = 0.0,
    causal: bool = False,
    *,
    attn_mask: Tensor | None = None,
    scale: float | None = None,
) -> tuple[Tensor, Tensor]:
    """Computes O and the logarithm of the softmax's denominators."""
    scale = 1 / math.sqrt(q.shape[-1]) if scale is None else scale
    unit = scale if attn_mask is None else math.log(2)  # the exponent of e that 1 in s stands for
    k, v = (_for_each_head(x, q) for x in (k, v))
    o = torch.zeros(*q.shape[:-1], v.shape[-1])
    logarithm = torch.zeros(q.shape[:-1])
    rows, columns = call.emulation.attention_blocks or library_blocks(q.shape[-1], False)
    for i in _blocks(q.shape[-2], rows):
        most = torch.full((*q.shape[:-2], i.stop - i.start, 1), -math.inf)
        total, part = torch.zeros_like(most), torch.zeros(*q.shape[:-2], i.stop - i.start, v.shape[-1])
        for j in reversed(list(_blocks(k.shape[-2], columns))):
            if causal and j.start >= i.stop:
                continue
            s = _masked(call.attention(q[..., i, :], k[..., j, :].mT), i, j, causal, attn_mask, scale)
            greater = torch.maximum(most, s.amax(-1, keepdim=True))
            bound = torch.where(greater == -math.inf, 0.0, greater * _factor(unit))
            p, shrink = _exp2(s, bound, unit), _exp2(most, bound, unit)
            most, total = greater, total * shrink + p.sum(-1, keepdim=True)
            part = call.attention(p, v[..., j, :], part * shrink)
        o[..., i, :] = part * torch.where((total == 0) | total.isnan(), 1.0, 1 / total)
        logarithm[..., i] = torch.where(total == 0, -math.inf, most * unit + total.log()).squeeze(-1)
    return o.to(q.dtype).transpose(1, 2).contiguous().transpose(1, 2), logarithm.mT.contiguous().mT


def backward(
    call: Call,
    gradient: Tensor,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    o: Tensor,
    logarithm: Tensor,
    dropout: float,
    causal: bool,
    *,
    attn_mask: Tensor | None = None,
    scale: float | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    scale = 1 / math.sqrt(q.shape[-1]) if scale is None else scale
    unit = scale if attn_mask is None else math.log(2)  # the exponent of e that 1 in s stands for
    heads = k.shape[1]
    k, v = (_for_each_head(x, q) for x in (k, v))
    along = (gradient.float() * o.float()).sum(-1, keepdim=True)
    dq, dk, dv = (torch.zeros(x.shape) for x in (q, k, v))
    rows, columns = call.emulation.attention_blocks or library_blocks(q.shape[-1], True)
    for j in _blocks(k.shape[-2], columns):
        for i in _blocks(q.shape[-2], rows):
            if causal and j.start >= i.stop:
                continue
            s = _masked(call.attention(q[..., i, :], k[..., j, :].mT), i, j, causal, attn_mask, scale)
            denominators = logarithm[..., i, None]
            p = _exp2(s, torch.where(denominators == -math.inf, 0.0, denominators * _factor(1.0)), unit)
            dv[..., j, :] = call.attention(p.mT, gradient[..., i, :], dv[..., j, :], (ACTIVATIONS, GRADIENTS))
            dp = call.attention(gradient[..., i, :], v[..., j, :].mT, None, (GRADIENTS, ACTIVATIONS))
            ds = p * (dp - along[..., i, :])
            dq[..., i, :] += call.attention(ds, k[..., j, :], None, (GRADIENTS, ACTIVATIONS))
            dk[..., j, :] = call.attention(ds.mT, q[..., i, :], dk[..., j, :], (GRADIENTS, ACTIVATIONS))
    dk, dv = ((dk * scale).to(k.dtype), dv.to(v.dtype))
    if heads != q.shape[1]:  # the library adds the gradients of heads that share keys after rounding them
        dk, dv = (x.unflatten(1, (heads, -1)).sum(2) for x in (dk, dv))
    return (dq * scale).to(q.dtype), dk, dv


def _for_each_head(x: Tensor, q: Tensor) -> Tensor:
    """Repeats keys or values for each head of queries; heads of queries may share them."""
    return x if x.shape[1] == q.shape[1] else x.repeat_interleave(q.shape[1] // x.shape[1], 1)


def _blocks(size: int, block: int) -> Iterator[slice]:
    return (slice(k, min(k + block, size)) for k in range(0, size, block))


def _masked(s: Tensor, i: slice, j: slice, causal: bool, mask: Tensor | None, scale: float) -> Tensor:
    """Returns Q K^T with -inf above the diagonal. If a mask is given (the library takes none), both are first converted
    to exponents of 2 and added."""
    if mask is not None:
        size = (*s.shape[:-2], i.stop if mask.shape[-2] > 1 else 1, j.stop if mask.shape[-1] > 1 else 1)
        mask = mask[..., i if size[-2] > 1 else slice(None), j if size[-1] > 1 else slice(None)]
        s = s * _factor(scale) + mask.float() * _factor(1.0)
    if causal and j.stop > i.start + 1:
        later = torch.arange(j.start, j.stop) > torch.arange(i.start, i.stop)[:, None]
        s = s.masked_fill(later, -math.inf)
    return s


def _factor(scale: float) -> Tensor:
    """Returns the factor that converts an exponent of e to an exponent of 2, in FP32."""
    return torch.tensor(scale * math.log2(math.e), dtype=torch.float32)


def _exp2(s: Tensor, subtrahend: Tensor, scale: float) -> Tensor:
    """Returns 2^(s factor - subtrahend); the exponent is rounded once."""
    return torch.exp2((s.double() * _factor(scale).double() - subtrahend.double()).float())
