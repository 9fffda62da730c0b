"""Limits the threads of a computation."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import SupportsIndex

from softmma import _core
from softmma._value import checked


@contextmanager
def limited(threads: SupportsIndex) -> Iterator[None]:
    """Within this context, every loop of the library that this thread starts uses at most ``threads`` threads, also when
    it converts or compares matrices. ``threads`` is from 0 to 1024; 0 means one for each core. Raises ValueError for
    other integers, and TypeError for what is not an integer."""
    count = checked("threads", threads, 0, 1024)
    before = _core.limit_threads(count) if count else 0
    try:
        yield
    finally:
        if before:
            _core.limit_threads(before)
