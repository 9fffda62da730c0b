"""Determines the role of a tensor in a product: weights, activations or gradients."""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from typing import Any

import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import _disable_current_modes

from softmma.recipes import Role

WEIGHTS: Role = "weights"
ACTIVATIONS: Role = "activations"
GRADIENTS: Role = "gradients"


class Roles:
    """Tracks the roles of tensors.

    Weights are parameters, views of parameters, and tensors computed only from those (casts, normalised weights).
    Gradients are the tensors that autograd brings to a node of the graph, and what the backward pass computes from
    them. All other tensors are activations, even if a backward pass uses them: saved, copied, or recomputed.
    """

    def __init__(self) -> None:
        # Keyed by the storage's address, which is not reused as long as a weak reference to the storage exists.
        self._parameters: dict[int, tuple[StorageWeakRef, Any]] = {}  # with weak references to the parameters
        self._forward: dict[int, StorageWeakRef] = {}
        self._gradients: dict[int, StorageWeakRef] = {}
        self._most = 1000

    def clear(self) -> None:
        self._parameters.clear()
        self._forward.clear()
        self._gradients.clear()

    def parameter(self, x: torch.Tensor) -> torch.Tensor | None:
        """Returns the parameter that x is, views, or was computed from, or None without such a parameter."""
        whole = x if x._base is None else x._base
        if type(whole) is not torch.Tensor and isinstance(whole, torch.nn.Parameter):
            return whole
        known = self._parameters.get(x.untyped_storage()._cdata) if self._parameters else None
        return known[1]() if known else None

    def know(self, x: torch.Tensor, parameter: torch.Tensor) -> None:
        """Records a view of a parameter. A view made in inference mode does not know its base, only its storage."""
        storage = x.untyped_storage()
        if storage._cdata not in self._parameters or self._parameters[storage._cdata][1]() is not parameter:
            self._parameters[storage._cdata] = StorageWeakRef(storage), weakref.ref(parameter)
            self._bound()

    def know_parts(self, parameter: torch.Tensor) -> None:
        """Records the tensors that a parameter of a tensor subclass holds, such as codes and factors in torchao."""
        for name in parameter.__tensor_flatten__()[0]:  # type: ignore[attr-defined]
            part = getattr(parameter, name)
            if isinstance(part, torch.Tensor) and part.layout == torch.strided:
                self.know(part, parameter)

    def derive(self, arguments: Iterable[Any], result: Any) -> None:
        """Marks the result of an operation as weights if it was computed only from weights."""
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

    def is_gradient(self, x: Any) -> bool:
        """Reports whether autograd brought this tensor to a node, or a backward pass computed it from such tensors."""
        if not self._gradients or not isinstance(x, torch.Tensor) or x.layout != torch.strided:
            return False
        return x.untyped_storage()._cdata in self._gradients

    def brought(self, x: torch.Tensor) -> torch.Tensor:
        """Marks a tensor that autograd brings to a node as a gradient; returns a copy if its memory has another
        role."""
        if x.layout != torch.strided:
            return x
        if x.untyped_storage()._cdata in self._forward or self.parameter(x) is not None:
            with _disable_current_modes():
                x = x.clone()
        self._mark(x)
        return x

    def derive_gradients(self, arguments: Iterable[Any], result: Any) -> None:
        """Marks the result of a backward operation on gradients as a gradient."""
        if not self._gradients:
            return
        for x in arguments:
            if self.is_gradient(x) or (isinstance(x, (tuple, list)) and any(map(self.is_gradient, x))):
                for y in result if isinstance(result, (tuple, list)) else [result]:
                    if isinstance(y, torch.Tensor) and y.layout == torch.strided:
                        self._mark(y)
                return

    def _mark(self, x: torch.Tensor) -> None:
        storage = x.untyped_storage()
        if storage._cdata not in self._gradients:
            self._gradients[storage._cdata] = StorageWeakRef(storage)
            self._bound()

    def of(self, x: torch.Tensor, in_backward: bool, brought: bool) -> Role:
        """Returns the role of an operand. ``brought``: the gradients that autograd brought to the node are marked."""
        if self.parameter(x) is not None:
            return WEIGHTS
        storage = x.untyped_storage()
        if not in_backward:
            if storage._cdata not in self._forward:
                self._forward[storage._cdata] = StorageWeakRef(storage)
                self._bound()
            if torch._C._current_graph_task_id() == -1:
                self._gradients.pop(storage._cdata, None)
            return ACTIVATIONS
        if storage._cdata in self._gradients:
            return GRADIENTS
        return ACTIVATIONS if brought or storage._cdata in self._forward else GRADIENTS

    def _bound(self) -> None:
        """Drops entries of freed storages from time to time."""
        if len(self._forward) + len(self._parameters) + len(self._gradients) > self._most:
            self._forward = {at: seen for at, seen in list(self._forward.items()) if not seen.expired()}
            self._parameters = {at: of for at, of in list(self._parameters.items()) if not of[0].expired()}
            self._gradients = {at: seen for at, seen in list(self._gradients.items()) if not seen.expired()}
            self._most = 2 * (len(self._forward) + len(self._parameters) + len(self._gradients)) + 1000
