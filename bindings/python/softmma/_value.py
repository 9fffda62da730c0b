"""Makes results from the records that the library returns."""

from __future__ import annotations

from collections.abc import Mapping
from operator import index
from typing import Any, SupportsIndex, TypeVar

R = TypeVar("R", bound=tuple[Any, ...])


def checked(name: str, number: SupportsIndex, least: int = 0, most: int = 2**63 - 1) -> int:
    """Returns a number, for example of vectors, as an int. Raises TypeError if it is not an integer, and ValueError if
    it is out of range."""
    try:
        found = index(number)
    except TypeError:
        raise TypeError(f"{name} is {number!r}; give an integer") from None
    if not least <= found <= most:
        limit = "2^63 - 1" if most == 2**63 - 1 else f"{most:,}"
        raise ValueError(f"{name} is {found}; it is from {least} to {limit}")
    return found


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
