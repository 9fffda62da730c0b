"""Tracks which modules are running, their names, and the unit chosen for each."""

from __future__ import annotations

import fnmatch
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch.nn import Module
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook
from torch.utils._python_dispatch import _get_current_dispatch_mode_stack

_autograd: Any = torch.autograd
Pattern = str | type | Callable[[str, Module], bool]
_WRAPPERS = {"OptimizedModule": "_orig_mod", "DistributedDataParallel": "module", "DataParallel": "module"}
NO_MODULE = "-"
"""The layer name of products outside any module."""


class _Running(threading.local):
    """The modules whose forward is running in this thread, outermost first. Each has the number of the backward pass in
    which it runs."""

    def __init__(self) -> None:
        self.modules: list[tuple[Module, int]] = []


_running = _Running()
_lock = threading.Lock()
_hooks: list[Any] = []
_watchers: list[Any] = []


def watch(emulation: Any) -> None:
    """Starts tracking the running modules for an emulation. Tracking ends when `unwatch` has been called as often as
    `watch`."""
    with _lock:
        _watchers.append(emulation)
        if len(_watchers) == 1:
            # PyTorch warns that these hooks also run for a compiled module; this is intended.
            warnings.filterwarnings("ignore", "Using `torch.compile.module.` when there are global hooks")
            _hooks.append(register_module_forward_pre_hook(_enters))
            _hooks.append(register_module_forward_hook(_leaves, always_call=True))
            _hooks.append(_Engine())


def unwatch(emulation: Any) -> None:
    with _lock:
        _watchers.remove(emulation)
        while not _watchers and _hooks:
            _hooks.pop().remove()


class _Engine:
    """Notifies modes before a backward pass begins, as long as it is installed."""

    def __init__(self) -> None:
        self._run = _autograd._engine_run_backward
        _autograd._engine_run_backward = self._tell

    def _tell(self, *args: Any, **kwargs: Any) -> Any:
        for mode in _get_current_dispatch_mode_stack():
            if hasattr(mode, "sees_backward"):
                mode.sees_backward()
        return self._run(*args, **kwargs)

    def remove(self) -> None:
        _autograd._engine_run_backward = self._run


def _enters(module: Module, arguments: Any) -> None:
    if not torch.compiler.is_compiling() and not getattr(module, "runs_another", False):
        if not _running.modules and not any(hasattr(mode, "carried") for mode in _get_current_dispatch_mode_stack()):
            for emulation in dict.fromkeys(_watchers):
                emulation.sees_other_thread(module)
        _running.modules.append((module, torch._C._current_graph_task_id()))
        for mode in _get_current_dispatch_mode_stack():
            if hasattr(mode, "sees_module"):
                mode.sees_module(module)


def _leaves(module: Module, arguments: Any, result: Any) -> None:
    modules = _running.modules
    if not torch.compiler.is_compiling() and any(module is running for running, _ in modules):
        while modules.pop()[0] is not module:
            pass
    if isinstance(result, torch.Tensor) and result.grad_fn is not None:
        for mode in _get_current_dispatch_mode_stack():
            if hasattr(mode, "sees_result"):
                mode.sees_result(result)


def depth() -> int:
    return len(_running.modules)


def forget(depth: int) -> None:
    """Removes modules that began beyond this depth from the running modules."""
    del _running.modules[depth:]


def running() -> list[Module]:
    """Returns the modules whose forward runs, outermost first, in the current backward pass, or outside any."""
    task = torch._C._current_graph_task_id()
    return [module for module, its in _running.modules if its == task]


class Layers:
    """The names of modules, and the choice for each module: the first one whose pattern matches the module or a module
    around it."""

    def __init__(self, model: Module | None, choices: Iterable[tuple[Pattern, Any]]):
        self.choices = list(choices)
        self.unused = [pattern for pattern, _ in self.choices]
        self._names: WeakKeyDictionary[Module, str] = WeakKeyDictionary()
        self._chosen: WeakKeyDictionary[Module, list[Any]] = WeakKeyDictionary()
        if model is not None:
            self.learn(model)

    def learn(self, model: Module) -> None:
        """Stores the names of this model's modules. Raises an error if a pattern matches none of them."""
        self._add(model, "")
        for module in model.modules():
            self._choice(module)
        if self.unused:
            raise ValueError(f"no module of the model answers to {self.unused_text()}; it has {self._examples()}")

    def unused_text(self) -> str:
        return ", ".join(repr(p) if isinstance(p, str) else getattr(p, "__name__", repr(p)) for p in self.unused)

    def _add(self, root: Module, prefix: str) -> None:
        model = _unwrapped(root)
        self._names[root] = type(model).__name__
        for name, module in model.named_modules():
            self._names[module] = prefix + name if name else type(module).__name__

    def _examples(self) -> str:
        names = sorted(set(self._names.values()))
        return ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")

    def name(self, modules: list[Module]) -> str:
        """Returns the name of the innermost running module: its path in the given model, or in the outermost running
        module, or its class if it is in neither."""
        if not modules:
            return NO_MODULE
        root = modules[0]
        if root not in self._names:
            self._add(root, f"{type(root).__name__}." if self._names else "")
        return self._names.get(modules[-1], type(modules[-1]).__name__)

    def choice(self, modules: list[Module], otherwise: Any) -> Any:
        """Returns the choice for the innermost module that matches a pattern, or ``otherwise`` if none does."""
        if self.choices:
            self.name(modules)
            if modules and type(modules[-1]).__name__ == "OptimizedModule":
                text = "a compiled module hides its layers: skip and layers act on it as a whole"
                warnings.warn(text, RuntimeWarning, stacklevel=2)
            for module in reversed(modules):
                for value in self._choice(module):
                    return value
        return otherwise

    def _choice(self, module: Module) -> list[Any]:
        if module not in self._chosen:
            self._chosen[module] = list(self._answers(module))[:1]
        return self._chosen[module]

    def _answers(self, module: Module) -> Iterator[Any]:
        name = self._names.get(module, type(module).__name__)
        for pattern, value in self.choices:
            if _matches(pattern, name, module):
                self.unused = [other for other in self.unused if other is not pattern]
                yield value


def _unwrapped(module: Module) -> Module:
    """Returns the model inside a wrapper that compiles or distributes it."""
    while (inner := _WRAPPERS.get(type(module).__name__)) and isinstance(getattr(module, inner, None), Module):
        module = getattr(module, inner)
    return module


def _matches(pattern: Pattern, name: str, module: Module) -> bool:
    if isinstance(pattern, str):
        return fnmatch.fnmatchcase(name, pattern)
    return isinstance(module, pattern) if isinstance(pattern, type) else bool(pattern(name, module))


def patterns(given: Any, what: str) -> list[Pattern]:
    """Returns one pattern or several as a list."""
    listed = list(given) if isinstance(given, Iterable) and not isinstance(given, (str, type)) else [given]
    for pattern in listed:
        if not (isinstance(pattern, str) or callable(pattern)):
            raise TypeError(f"{what}: {pattern!r} is no name's pattern, module class or function of (name, module)")
    return listed
