"""Converts test vectors in the library's records to arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from softmma._units import Instruction, dtype


def array(encodings: Sequence[str], format: str) -> NDArray[Any]:
    """Converts encodings, hexadecimal texts, to an array in the format."""
    kind = dtype(format)
    return np.array([int(x, 16) for x in encodings], f"u{kind.itemsize}").view(kind)


class Operands(NamedTuple):
    """A vector's operands in the instruction's formats: a and b of K elements, c of one; scale factors or None."""

    a: NDArray[Any]
    b: NDArray[Any]
    c: NDArray[Any]
    scales: tuple[NDArray[Any], NDArray[Any]] | None


def operands(record: Mapping[str, Any], i: Instruction, c_format: str | None = None) -> Operands:
    """Returns the operands that a record holds as encodings."""
    scales = None
    if i.scale is not None and "scale_a" in record:
        scales = array(record["scale_a"], i.scale), array(record["scale_b"], i.scale)
    a_format, b_format = record.get("a_format", i.a), record.get("b_format", i.b)
    return Operands(
        array(record["a"], a_format), array(record["b"], b_format), array(record["c"], c_format or i.c), scales
    )
