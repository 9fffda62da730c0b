"""Makes results from the records that the library returns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

R = TypeVar("R", bound=tuple[Any, ...])


def check_number(name: str, number: int, least: int = 0) -> None:
    """Raises ValueError for a number of vectors, or a seed, that is out of range."""
    if not least <= number < 2**63:
        raise ValueError(f"{name} is {number}; it is from {least} to 2^63 - 1")


def result(kind: type[R], value: Mapping[str, Any], **others: Any) -> R:
    """Returns a named tuple whose fields are the members of the record ``value``; its field ``value`` is the record.
    Lists become tuples. ``others`` are fields that the record lacks, or has with another value."""
    fields: dict[str, Any] = {"value": value}
    for name in kind._fields:  # type: ignore[attr-defined]
        if name in value and name not in others:
            fields[name] = tuple(value[name]) if isinstance(value[name], list) else value[name]
    return kind(**fields, **others)


def to_pandas(records: list[dict[str, Any]]) -> Any:
    """Returns a table with a row for each record. Raises ImportError without pandas."""
    try:
        import pandas
    except ImportError:
        raise ImportError("to_pandas needs pandas: pip install pandas") from None
    return pandas.json_normalize(records)
