"""What a tensor is in a product: weights, activations or a gradient."""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from typing import Any

import torch
from torch.multiprocessing.reductions import StorageWeakRef

from softmma.recipes import Role

WEIGHTS: Role = "weights"
ACTIVATIONS: Role = "activations"
GRADIENTS: Role = "gradients"


class Roles:
    """Weights are parameters, views of them, and what is computed of them alone (casts, normalised weights).

    In a backward pass what did not go into products before is a gradient; all else is activations.
    """

    def __init__(self) -> None:
        # By the storage's address, which stays its own as long as there is a weak reference to it.
        self._parameters: dict[int, tuple[StorageWeakRef, Any]] = {}  # and weak references to the parameters
        self._forward: dict[int, StorageWeakRef] = {}
        self._most = 1000

    def clear(self) -> None:
        self._parameters.clear()
        self._forward.clear()

    def parameter(self, x: torch.Tensor) -> torch.Tensor | None:
        """What it is, is a view of, or was computed of, if that is a parameter."""
        whole = x if x._base is None else x._base
        if type(whole) is not torch.Tensor and isinstance(whole, torch.nn.Parameter):
            return whole
        known = self._parameters.get(x.untyped_storage()._cdata) if self._parameters else None
        return known[1]() if known else None

    def know(self, x: torch.Tensor, parameter: torch.Tensor) -> None:
        """Views that are made in inference mode do not know their base; whose they are the storage tells."""
        storage = x.untyped_storage()
        if storage._cdata not in self._parameters or self._parameters[storage._cdata][1]() is not parameter:
            self._parameters[storage._cdata] = StorageWeakRef(storage), weakref.ref(parameter)
            self._bound()

    def derive(self, arguments: Iterable[Any], result: Any) -> None:
        """What an operation made of weights alone is weights."""
        parameter = None
        for x in arguments:
            if isinstance(x, torch.Tensor):
                parameter = self.parameter(x) if x.layout == torch.strided else None
                if parameter is None:
                    return
        if parameter is not None:
            for x in result if isinstance(result, (tuple, list)) else [result]:
                if isinstance(x, torch.Tensor) and x.layout == torch.strided and x._base is None:
                    self.know(x, parameter)

    def of(self, x: torch.Tensor, in_backward: bool) -> Role:
        if self.parameter(x) is not None:
            return WEIGHTS
        storage = x.untyped_storage()
        if not in_backward and storage._cdata not in self._forward:
            self._forward[storage._cdata] = StorageWeakRef(storage)
            self._bound()
        return ACTIVATIONS if storage._cdata in self._forward else GRADIENTS

    def _bound(self) -> None:
        """Storages that are gone are forgotten now and then."""
        if len(self._forward) + len(self._parameters) > self._most:
            self._forward = {at: seen for at, seen in list(self._forward.items()) if not seen.expired()}
            self._parameters = {at: of for at, of in list(self._parameters.items()) if not of[0].expired()}
            self._most = 2 * (len(self._forward) + len(self._parameters)) + 1000
