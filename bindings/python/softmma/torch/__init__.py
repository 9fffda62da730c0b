"""Emulates a GPU's matrix unit for the matrix products of PyTorch modules, on the CPU.

    with softmma.torch.emulate("MI300X", "fp8_tensorwise") as emulation:
        loss = criterion(model(x), y)
        loss.backward()
    print(emulation.report())

Importing this module needs PyTorch.
"""

from typing import Any

from softmma._renamed import warn_of_old_name
from softmma.torch._compare import compare
from softmma.torch._divergence import Difference, Divergence, Layer, LayerTrace, OperandCounts, Ranking
from softmma.torch._emulate import Emulation, Wrapped, emulate
from softmma.torch._report import Emulated, Gradients, LayerReport, Outside, Report
from softmma.torch._rows import Products, Rounded
from softmma.torch._tensors import array, tensor
from softmma.torch._training import Training, TrainingDivergence, compare_training

__all__ = [
    "Difference",
    "Divergence",
    "Emulated",
    "Emulation",
    "Gradients",
    "Layer",
    "LayerReport",
    "LayerTrace",
    "OperandCounts",
    "Outside",
    "Products",
    "Ranking",
    "Report",
    "Rounded",
    "Training",
    "TrainingDivergence",
    "Wrapped",
    "array",
    "compare",
    "compare_training",
    "emulate",
    "tensor",
]


def __getattr__(name: str) -> Any:
    if name == "TrainingParting":
        warn_of_old_name("softmma.torch.TrainingParting", "TrainingDivergence")
        return TrainingDivergence
    raise AttributeError(f"module 'softmma.torch' has no attribute {name!r}")
