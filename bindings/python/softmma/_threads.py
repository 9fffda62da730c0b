"""Limits the threads of a computation."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import SupportsIndex

from softmma import _core
from softmma._value import checked


@contextmanager
def limited(threads: SupportsIndex) -> Iterator[None]:
    """Within this context, every loop of the library that this thread starts uses at most ``threads`` threads (0: one
    for each core), also when it converts or compares matrices. Raises TypeError or ValueError for another number."""
    count = checked("threads", threads)
    before = _core.limit_threads(min(count, 1024)) if count else 0
    try:
        yield
    finally:
        if before:
            _core.limit_threads(before)
