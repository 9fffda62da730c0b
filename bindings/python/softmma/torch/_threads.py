"""Carries contexts into threads started within them, and into calls submitted to thread pools."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures.thread import _worker
from contextlib import ExitStack
from typing import Any

from torch.utils._python_dispatch import _get_current_dispatch_mode_stack

_lock = threading.Lock()
_watching = 0
_start: Any = None
_submit: Any = None


class Token:
    """Identifies a context of one thread. Other threads can be in the context as long as it is open."""

    def __init__(self) -> None:
        self.open = True


def watch() -> None:
    """Starts carrying the starter's contexts into new threads and submitted calls, until `unwatch`."""
    global _watching, _start, _submit
    with _lock:
        _watching += 1
        if _watching == 1:
            _start, _submit = threading.Thread.start, ThreadPoolExecutor.submit
            threading.Thread.start = _started  # type: ignore[assignment,method-assign]
            ThreadPoolExecutor.submit = _submitted  # type: ignore[assignment,method-assign]


def unwatch() -> None:
    global _watching
    with _lock:
        _watching -= 1
        if _watching == 0:
            threading.Thread.start = _start  # type: ignore[method-assign]
            ThreadPoolExecutor.submit = _submit  # type: ignore[method-assign]


def _started(thread: threading.Thread) -> None:
    if getattr(thread, "_target", None) is not _worker:  # each call of a pool's thread is carried by _submitted
        run = thread.run
        carried = _carried(run)
        if carried is not run:
            thread.run = carried  # type: ignore[method-assign]
    _start(thread)


def _submitted(pool: ThreadPoolExecutor, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    return _submit(pool, _carried(function), *args, **kwargs)


def _carried(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wraps the function in this thread's contexts; without contexts it returns the function itself."""
    modes = [mode for mode in _get_current_dispatch_mode_stack() if hasattr(mode, "carried")]
    contexts = [context for mode in modes for context in mode.carried()]
    if not contexts:
        return function

    def within(*args: Any, **kwargs: Any) -> Any:
        with ExitStack() as stack:
            for context in contexts:
                stack.enter_context(context())
            return function(*args, **kwargs)

    return within
