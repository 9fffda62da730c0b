"""A module that runs another one inside an emulation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch.nn import Module

if TYPE_CHECKING:
    from softmma.torch._emulate import Emulation


class Wrapped(Module):
    """``module`` inside of ``emulation``, forward and, wherever it is called, backward."""

    runs_another = True

    def __init__(self, module: Module, emulation: Emulation):
        super().__init__()
        self.module = module
        self.emulation = emulation

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        with self.emulation:
            return self.module(*args, **kwargs)
