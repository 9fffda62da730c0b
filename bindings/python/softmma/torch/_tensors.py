"""Converts PyTorch's tensors to arrays and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from softmma._devices import number
from softmma._units import dtype

_UNSIGNED = {1: torch.uint8, 2: torch.uint16}


def lines(x: torch.Tensor) -> Any:
    """Returns the tensor's memory as a matrix with contiguous rows: the tensor, or its transpose if columns are
    contiguous. Returns None if neither are."""
    if x.dim() != 2 or 1 not in x.stride():
        return None
    return array(x) if x.stride(1) == 1 else array(x).T


def array(x: torch.Tensor) -> Any:
    """Returns the tensor's memory as an array, also for dtypes that NumPy lacks."""
    x = x.detach()
    if x.is_neg():
        x = x.resolve_neg()
    name = str(x.dtype).removeprefix("torch.")
    if hasattr(np, name):
        return x.numpy()
    return x.view(_UNSIGNED[x.element_size()]).numpy().view(dtype(name))


_PACKED = getattr(torch, "float4_e2m1fn_x2", None)


def is_packed(x: torch.Tensor) -> bool:
    """Reports whether a tensor holds two FP4 numbers in each byte."""
    return _PACKED is not None and x.dtype == _PACKED


def format_name(x: torch.Tensor) -> str:
    """Returns the name of the format of a tensor's numbers."""
    return "e2m1" if is_packed(x) else str(x.dtype).removeprefix("torch.")


def outline(x: torch.Tensor, axis: int) -> Any:
    """Returns an array of zeros with the shape and the dtype that `narrow` would return. All elements share one
    address."""
    shape = [size * (1 + (is_packed(x) and n == axis)) for n, size in enumerate(x.shape)]
    return np.broadcast_to(np.zeros((), dtype(format_name(x))), shape)


def narrow(x: torch.Tensor, axis: int) -> Any:
    """Returns a matrix in host memory as an array; the two FP4 numbers of a byte become two elements along the axis."""
    if not is_packed(x):
        return array(x.cpu())
    codes = x.detach().cpu().view(torch.uint8).numpy()
    codes = codes if axis else codes.T
    pairs = np.stack([codes & 15, codes >> 4], axis=-1).reshape(codes.shape[0], -1).view(dtype("e2m1"))
    return pairs if axis else pairs.T


_FLOATS = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64}
_FP8 = {
    "e4m3": (torch.float8_e4m3fn, 448.0),
    "e5m2": (torch.float8_e5m2, 57344.0),
    "e4m3fnuz": (torch.float8_e4m3fnuz, 240.0),
    "e5m2fnuz": (torch.float8_e5m2fnuz, 57344.0),
}

GREATEST = {name: greatest for name, (_, greatest) in _FP8.items()}
"""The largest finite number of each FP8 format."""


def is_there(x: torch.Tensor, kernel: str | None) -> bool:
    """Reports whether a tensor is in the memory of the device that a kernel names."""
    return bool(x.is_cuda and x.device.index == number(kernel))


def matrix(x: torch.Tensor) -> torch.Tensor:
    """Returns the tensor, or a copy if its last two axes are not a matrix in rows or columns."""
    x = x.detach()
    x = x.resolve_neg() if x.is_neg() else x
    if x.dim() < 2:
        return x.contiguous()
    (rows, columns), (down, along) = x.shape[-2:], x.stride()[-2:]
    return x if (along == 1 and down >= columns) or (down == 1 and along >= rows) else x.contiguous()


def encodings(x: torch.Tensor) -> torch.Tensor:
    """Returns an FP8 tensor as bytes, which every version of PyTorch can export."""
    return x.view(torch.uint8) if x.dtype.itemsize == 1 and x.dtype.is_floating_point else x


def rounded(x: torch.Tensor, format: str, mode: str, saturate: bool = True) -> torch.Tensor | None:
    """Rounds a tensor to a format on its own device: saturating in FP8, in this mode of `softmma.round`.

    Returns None for formats and modes that PyTorch lacks, for FP8 without saturation, and for FP64, which PyTorch
    rounds to FP32 first.
    """
    x = matrix(x)
    if x.dtype == _FLOATS.get(format):
        return x
    if x.dtype not in (torch.float32, torch.float16, torch.bfloat16):
        return None
    if format != "tf32" and mode != "nearest-even":
        return None
    if format in _FLOATS:
        return x.to(_FLOATS[format])
    if format in _FP8:
        if not saturate:
            return None
        kind, most = _FP8[format]
        return encodings(x.clamp(-most, most).to(kind))
    if format != "tf32" or mode not in ("nearest-even", "nearest-away", "toward-zero"):
        return None
    bits = x.float().view(torch.int32)
    carry: dict[str, Any] = {"nearest-even": 0xFFF + (bits >> 13 & 1), "nearest-away": 0x1000, "toward-zero": 0}
    kept = (bits + carry[mode]) & ~0x1FFF
    return torch.where(x.isnan(), 0x7FFFE000, kept).view(torch.uint32)


def tensor(d: Any) -> torch.Tensor:
    """Converts a product to a tensor; the product of two vectors is a number."""
    if isinstance(d, torch.Tensor):
        return d
    d = np.asarray(d)
    if d.dtype.isbuiltin == 1:
        return torch.from_numpy(d)
    return torch.from_numpy(d.view(f"u{d.dtype.itemsize}")).view(getattr(torch, d.dtype.name))
