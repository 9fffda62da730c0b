"""Turns off PyTorch's fused operations, because they hide their products."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch


class Library:
    """Sets the process-wide switches while any thread emulates."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._asked: list[str] = []
        self._before: Any = None

    @contextmanager
    def set(self, attention: str) -> Iterator[None]:
        with self._lock:
            if not self._asked:
                self._before = self._get()
            self._asked.append(attention)
            self._put(*self._switches())
        try:
            yield
        finally:
            with self._lock:
                self._asked.remove(attention)
                self._put(*(self._switches() if self._asked else self._before))

    @contextmanager
    def pytorchs(self) -> Iterator[None]:
        """Restores PyTorch's own convolutions for an operation that is left to PyTorch."""
        before = torch._C._get_mkldnn_enabled()
        torch._C._set_mkldnn_enabled(self._before[-1] if self._asked else before)
        try:
            yield
        finally:
            torch._C._set_mkldnn_enabled(before)

    def _switches(self) -> tuple[bool, ...]:
        return self._asked[-1] == "flash", False, True, False, False, False

    def _get(self) -> tuple[bool, ...]:
        cuda = torch.backends.cuda
        sdp = (
            cuda.flash_sdp_enabled(),
            cuda.mem_efficient_sdp_enabled(),
            cuda.math_sdp_enabled(),
            cuda.cudnn_sdp_enabled(),
        )
        return *sdp, torch.backends.mha.get_fastpath_enabled(), torch._C._get_mkldnn_enabled()

    def _put(self, flash: bool, efficient: bool, math: bool, cudnn: bool, fastpath: bool, mkldnn: bool) -> None:
        torch.backends.cuda.enable_flash_sdp(flash)
        torch.backends.cuda.enable_mem_efficient_sdp(efficient)
        torch.backends.cuda.enable_math_sdp(math)
        torch.backends.cuda.enable_cudnn_sdp(cudnn)
        torch.backends.mha.set_fastpath_enabled(fastpath)
        torch._C._set_mkldnn_enabled(mkldnn)


library = Library()
