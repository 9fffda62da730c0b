"""Convolutions as the products that GPU libraries lower them to: implicit GEMM.

K runs over the filter's positions with channels innermost (NHWC). cuDNN's kernels differ in their internal order.

    forward     (N, out..., positions, channels) x (positions, channels, filters)
    dgrad       (N, in..., positions, filters) x (positions, filters, channels), for each class of pixels that the same
                positions of the filter reach, so that strides bring no zeros into K
    wgrad       (filters, N, out...) x (N, out..., positions, channels)

Groups are a batch. A transposed convolution's forward product is the dgrad of the convolution with its filter.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product as combinations
from typing import NamedTuple

import torch
from torch import Tensor

from softmma.torch._call import Call

Sizes = Sequence[int]


class _Geometry(NamedTuple):
    """A convolution from pixels ``inside`` to pixels ``outside``, with the number of positions of the filter."""

    inside: Sizes
    outside: Sizes
    positions: Sizes
    stride: Sizes
    padding: Sizes
    dilation: Sizes
    groups: int


def _geometry(
    x: Tensor, y: Tensor, weight: Tensor, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int
) -> _Geometry:
    rank = weight.dim() - 2
    stride, padding, dilation = (list(v) * rank if len(v) == 1 else list(v) for v in (stride, padding, dilation))
    return _Geometry(x.shape[2:], y.shape[2:], weight.shape[2:], stride, padding, dilation, groups)


def forward(
    call: Call,
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    transposed: bool,
    output_padding: Sizes,
    groups: int,
) -> Tensor:
    meta = x.to("meta"), weight.to("meta")  # gives the result's shape; raises if shapes do not fit
    y = torch.convolution(*meta, None, stride, padding, dilation, transposed, output_padding, groups)
    if transposed:
        d = _dgrad(call, x, weight, _geometry(y, x, weight, stride, padding, dilation, groups))
    else:
        d = _fprop(call, x, weight, _geometry(x, y, weight, stride, padding, dilation, groups))
    if bias is not None:
        d = d + bias.reshape(-1, *[1] * (d.dim() - 2))
    return d.to(x.dtype)


def backward(
    call: Call,
    gradient: Tensor,
    x: Tensor,
    weight: Tensor,
    bias_sizes: Sizes | None,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    transposed: bool,
    output_padding: Sizes,
    groups: int,
    output_mask: Sequence[bool],
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    inner, outer = (gradient, x) if transposed else (x, gradient)
    geometry = _geometry(inner, outer, weight, stride, padding, dilation, groups)
    along_x = along_weight = along_bias = None
    if output_mask[0]:
        along_x = (_fprop if transposed else _dgrad)(call, gradient, weight, geometry).to(x.dtype)
    if output_mask[1]:
        along_weight = _wgrad(call, inner, outer, geometry, weight.shape).to(weight.dtype)
    if output_mask[2]:
        along_bias = gradient.sum([0, *range(2, gradient.dim())])
    return along_x, along_weight, along_bias


def _fprop(call: Call, x: Tensor, weight: Tensor, g: _Geometry) -> Tensor:
    """Multiplies (groups, N out..., K) x (groups, K, filters); returns (N, filters, out...)."""
    b = _grouped(weight, g.groups).permute(0, *range(3, weight.dim() + 1), 2, 1).flatten(1, -2)
    roles = call.role(x), call.role(weight)
    d = call.product(_patches(x, _reached(g), g.groups), b, roles=roles, source=weight)
    return _images(d, x.shape[0], g.outside)


def _dgrad(call: Call, y: Tensor, weight: Tensor, g: _Geometry) -> Tensor:
    """Multiplies, for each class of pixels, (groups, N in..., K) x (groups, K, channels); returns (N, channels,
    in...)."""
    channels = weight.shape[1] * g.groups
    kind = torch.float64 if y.dtype == torch.float64 else torch.float32
    d = torch.zeros(y.shape[0], channels, *g.inside, dtype=kind, device=y.device)
    filters, roles = _grouped(weight, g.groups), (call.role(y), call.role(weight))
    with call.one_use():
        for residues in combinations(*map(range, g.stride)):
            columns = [_reaching(g, axis, residue) for axis, residue in enumerate(residues)]
            if not all(p.numel() and positions.numel() for p, positions, _ in columns):
                continue
            part = filters
            for axis, (_, positions, _) in enumerate(columns):
                part = part.index_select(3 + axis, positions.to(part.device))
            b = part.permute(0, *range(3, part.dim()), 1, 2).flatten(1, -2)
            a = _patches(y, [where for *_, where in columns], g.groups)
            found = call.product(a, b, roles=roles, source=weight)
            pixels = tuple(slice(residue, None, stride) for residue, stride in zip(residues, g.stride))
            d[(slice(None), slice(None), *pixels)] = _images(found, y.shape[0], [len(p) for p, *_ in columns])
    return d


def _wgrad(call: Call, x: Tensor, y: Tensor, g: _Geometry, shape: Sizes) -> Tensor:
    """Multiplies (groups, filters, N out...) x (groups, N out..., K); returns the weight's shape."""
    a = y.unflatten(1, (g.groups, -1)).permute(1, 2, 0, *range(3, y.dim() + 1)).flatten(2)
    d = call.product(a, _patches(x, _reached(g), g.groups), roles=(call.role(y), call.role(x)))
    d = torch.unflatten(d, -1, (*g.positions, -1))
    return d.flatten(0, 1).permute(0, -1, *range(1, len(shape) - 1)).reshape(tuple(shape))


def _grouped(weight: Tensor, groups: int) -> Tensor:
    """Returns the weight as (groups, filters, channels, positions...)."""
    return torch.unflatten(weight, 0, (groups, -1))


def _reached(g: _Geometry) -> list[Tensor]:
    """Returns, for each axis, the pixels inside that a pixel outside reads, by positions of the filter."""
    axes = zip(g.outside, g.positions, g.stride, g.padding, g.dilation)
    return [torch.arange(out)[:, None] * s - p + torch.arange(k) * dilation for out, k, s, p, dilation in axes]


def _reaching(g: _Geometry, axis: int, residue: int) -> tuple[Tensor, Tensor, Tensor]:
    """Returns the inside pixels of one class, the filter's positions that reach them, and the outside pixels."""
    stride, padding, dilation = g.stride[axis], g.padding[axis], g.dilation[axis]
    pixels = torch.arange(residue, g.inside[axis], stride)
    positions = torch.arange(g.positions[axis])
    positions = positions[(residue + padding - positions * dilation) % stride == 0]
    return pixels, positions, (pixels[:, None] + padding - positions * dilation) // stride


def _patches(x: Tensor, where: list[Tensor], groups: int) -> Tensor:
    """Returns the pixels at the indices `where` of each axis, with zeros outside the image. The result's axes are
    (groups, N pixels..., positions... channels)."""
    for axis, pixels in enumerate(where):
        size = x.shape[2 + 2 * axis]
        x = torch.cat([x, torch.zeros_like(x.narrow(2 + 2 * axis, 0, 1) if size else x)], 2 + 2 * axis)
        inside = torch.where((pixels >= 0) & (pixels < size), pixels, size)
        x = x.index_select(2 + 2 * axis, inside.flatten().to(x.device)).unflatten(2 + 2 * axis, tuple(inside.shape))
    x = x.unflatten(1, (groups, -1)).transpose(0, 1)  # groups, N, channels, pixels, positions, pixels, positions, ...
    rank = len(where)
    x = x.permute(0, 1, *(3 + 2 * i for i in range(rank)), *(4 + 2 * i for i in range(rank)), 2)
    return x.reshape(groups, x.shape[1] * _count(x.shape[2 : 2 + rank]), _count(x.shape[2 + rank :]))


def _images(d: Tensor, batch: int, pixels: Sizes) -> Tensor:
    """Returns (groups, N pixels..., filters) as (N, groups filters, pixels...)."""
    d = d.unflatten(1, (batch, *pixels))
    return d.movedim(-1, 2).transpose(0, 1).flatten(1, 2)


def _count(sizes: Sizes) -> int:
    return int(torch.Size(sizes).numel())
