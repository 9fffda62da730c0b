"""Emulates a GPU's matrix unit for the matrix products of a JAX program, under jit, vmap and grad.

    loss = softmma.jax.emulate(loss, weights=0, on="H100", recipe="fp8_tensorwise")
    step = jax.jit(jax.value_and_grad(loss))

Importing this module needs JAX, and leaves its configuration as it is.
"""

from softmma.jax._emulate import Emulation, emulate
from softmma.jax._histories import AmaxHistory, Histories, histories
from softmma.jax._operations import conv_general_dilated, dot_general
from softmma.jax._report import Emulated, Outside, Report

__all__ = [
    "AmaxHistory",
    "Emulated",
    "Emulation",
    "Histories",
    "Outside",
    "Report",
    "conv_general_dilated",
    "dot_general",
    "emulate",
    "histories",
]
