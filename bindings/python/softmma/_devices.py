"""Reads arrays in GPU memory from the library that owns them, and returns results to it."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softmma import _core

_CUDA, _CUDA_MANAGED = 2, 13  # DLPack's device types
_ANY_STREAM = -1  # DLPack's "no stream": the producer waits for nothing, because the product waits for all streams


def number(kernel: str | None) -> int | None:
    """Returns the index of the CUDA device that a kernel's name denotes ("cuda": 0), or None for another kernel."""
    name, _, index = (kernel or "").partition(":")
    return (int(index) if index.isascii() and index.isdigit() else 0) if name == "cuda" else None


def is_there(x: Any) -> bool:
    """Reports whether an object is an array in GPU memory."""
    if isinstance(x, np.ndarray):
        return False
    if hasattr(x, "__dlpack_device__"):
        return x.__dlpack_device__()[0] in (_CUDA, _CUDA_MANAGED)
    return hasattr(x, "__cuda_array_interface__")


def view(x: Any) -> Any:
    """Returns the memory of an array on a GPU as a NumPy array that only the extension module may use. None and arrays
    in host memory pass unchanged."""
    if x is None or not is_there(x):
        return x
    if hasattr(x, "__dlpack__"):
        return _core.from_dlpack(x.__dlpack__(stream=_ANY_STREAM))
    about = x.__cuda_array_interface__
    if about.get("mask") is not None:
        raise TypeError("an array with a mask is no matrix")
    address, _ = about["data"]
    return _core.device_view(address or 0, tuple(about["shape"]), about.get("strides"), about["typestr"], x)


class DeviceArray:
    """A result in GPU memory for which no array library is known. Offers both exchange protocols, no arithmetic."""

    def __init__(self, memory: NDArray[Any], device: int):
        self._memory, self._device = memory, device
        self.shape, self.dtype = memory.shape, memory.dtype

    def __dlpack_device__(self) -> tuple[int, int]:
        return _CUDA, self._device

    def __dlpack__(self, *, stream: Any = None, **_: Any) -> Any:
        """Returns a DLPack capsule. The result is already computed, so no stream has to wait."""
        return _core.to_dlpack(self._memory, self._device)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        if self.dtype.isbuiltin != 1:
            raise AttributeError(f"__cuda_array_interface__ has no {self.dtype}; DLPack may")
        address = self._memory.__array_interface__["data"][0]
        return {"shape": self.shape, "typestr": self.dtype.str, "data": (address, False), "strides": None, "version": 3}

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError("an array in a GPU's memory; copy it to the host's first")

    def __repr__(self) -> str:
        return f"<array {self.shape} of {self.dtype} on cuda:{self._device}>"


def back(d: NDArray[Any], like: Any, device: int) -> Any:
    """Returns a result as an array of the library that ``like`` belongs to."""
    owned = DeviceArray(d, device)
    space = like.__array_namespace__() if hasattr(like, "__array_namespace__") else None
    space = space or sys.modules.get(type(like).__module__.partition(".")[0])
    take = getattr(space, "from_dlpack", None)
    return owned if take is None else take(owned)
