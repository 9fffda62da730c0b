"""Self-test of this build on this CPU."""

from __future__ import annotations

from typing import Any, NamedTuple

from softmma import _core
from softmma._value import result


class SelfTest(NamedTuple):
    """The result of `self_test`; true if nothing differs."""

    kernels: tuple[str, ...]
    """The kernels of this CPU. Each of them ran the whole test."""
    operations: int
    """Number of catalogue operations whose outputs are compared with digests."""
    outputs: int
    recordings: int
    """Number of instructions with recorded vectors, counted for each device."""
    rows: int
    differences: tuple[str, ...]
    """A line for each digest and vector that differs."""
    text: str
    """The result in one line."""
    value: dict[str, Any]
    """The record that ``softmma self-test --json`` prints."""

    def __bool__(self) -> bool:
        return not self.differences

    def __str__(self) -> str:
        return "\n".join((*self.differences, self.text))


def self_test() -> SelfTest:
    """Compares the results of every kernel of this CPU with digests of the core's results and with recorded results of
    GPUs and CPUs; both are part of the package. It takes some seconds.

    >>> import softmma
    >>> bool(softmma.self_test())
    True
    """
    return result(SelfTest, _core.self_test())
