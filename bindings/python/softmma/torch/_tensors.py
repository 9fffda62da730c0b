"""PyTorch's tensors as arrays, and arrays as tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from softmma._units import dtype

_UNSIGNED = {1: torch.uint8, 2: torch.uint16}


def lines(x: torch.Tensor) -> Any:
    """The tensor's own memory as a matrix whose rows are contiguous; None if neither its rows nor its columns are."""
    if x.dim() != 2 or 1 not in x.stride():
        return None
    return array(x) if x.stride(1) == 1 else array(x).T


def array(x: torch.Tensor) -> Any:
    """The tensor's own memory as an array, also in dtypes that NumPy has not."""
    x = x.detach()
    if x.is_neg():
        x = x.resolve_neg()
    if x.dtype in (torch.float64, torch.float32, torch.float16, torch.int8):
        return x.numpy()
    return x.view(_UNSIGNED[x.element_size()]).numpy().view(dtype(str(x.dtype).removeprefix("torch.")))


def tensor(d: Any) -> torch.Tensor:
    """The product of two vectors is a number."""
    d = np.asarray(d)
    if d.dtype.isbuiltin == 1:
        return torch.from_numpy(d)
    return torch.from_numpy(d.view(f"u{d.dtype.itemsize}")).view(getattr(torch, d.dtype.name))
