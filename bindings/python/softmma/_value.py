"""Results of studies, made from what the library returns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from softmma._units import Instruction, dtype

R = TypeVar("R", bound=tuple[Any, ...])


def result(kind: type[R], value: Mapping[str, Any], **others: Any) -> R:
    """A named tuple whose fields are members of the record ``value``, which is its field ``value``; lists become tuples.
    ``others`` are fields that are not the member of their name."""
    fields: dict[str, Any] = {"value": value}
    for name in kind._fields:  # type: ignore[attr-defined]
        if name in value and name not in others:
            fields[name] = tuple(value[name]) if isinstance(value[name], list) else value[name]
    return kind(**fields, **others)


def array(encodings: Sequence[str], format: str) -> NDArray[Any]:
    """Encodings of a format, hexadecimal texts, as an array in the format."""
    kind = dtype(format)
    return np.array([int(x, 16) for x in encodings], f"u{kind.itemsize}").view(kind)


class Operands(NamedTuple):
    """A row's operands in the instruction's formats: a and b of K elements, c of one; scale factors or None."""

    a: NDArray[Any]
    b: NDArray[Any]
    c: NDArray[Any]
    scales: tuple[NDArray[Any], NDArray[Any]] | None


def operands(record: Mapping[str, Any], i: Instruction, c_format: str | None = None) -> Operands:
    """Those that a record of a row has as encodings."""
    scales = None
    if i.scale is not None and "scale_a" in record:
        scales = array(record["scale_a"], i.scale), array(record["scale_b"], i.scale)
    return Operands(array(record["a"], i.a), array(record["b"], i.b), array(record["c"], c_format or i.c), scales)


def to_pandas(records: list[dict[str, Any]]) -> Any:
    """A table of records, a row each; ImportError without pandas."""
    try:
        import pandas
    except ImportError:
        raise ImportError("to_pandas needs pandas: pip install pandas") from None
    return pandas.json_normalize(records)
