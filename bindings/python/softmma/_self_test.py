"""The self-test of this build on this CPU."""

from __future__ import annotations

from typing import Any, NamedTuple

from softmma import _core
from softmma._value import result


class SelfTest(NamedTuple):
    """The result of `self_test`, true if nothing differs."""

    kernels: tuple[str, ...]
    """The kernels of this CPU; each computed all of it."""
    operations: int
    """Operations of the catalogue, whose outputs have digests."""
    outputs: int
    recordings: int
    """How many instructions on devices the rows are from."""
    rows: int
    differences: tuple[str, ...]
    """A line for each digest and row that differs."""
    text: str
    """All of it in one line."""
    value: dict[str, Any]
    """The record that ``softmma self-test --json`` prints."""

    def __bool__(self) -> bool:
        return not self.differences

    def __str__(self) -> str:
        return "\n".join((*self.differences, self.text))


def self_test() -> SelfTest:
    """Compares what every kernel of this CPU computes with digests of the core's results and with rows that GPUs and
    CPUs returned; both are part of the package. It takes some seconds.

    >>> import softmma
    >>> bool(softmma.self_test())
    True
    """
    return result(SelfTest, _core.self_test())
