"""Counts the arithmetic events of a rule that test vectors make happen."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from numpy.typing import ArrayLike

from softmma import _core
from softmma._table import html_table, text_table
from softmma._units import Custom, Instruction, instruction
from softmma._value import checked, to_pandas


class Event(NamedTuple):
    """An event that can happen in a sum, and how often test vectors made it happen."""

    kind: str
    """"operands", "special values", "gaps", "leading terms", "lost bits", "carries", "rounding", "results",
    "chains"."""
    event: str
    """The event in words: "step 1, term 3: begins 17 binades below the reference exponent"."""
    hits: int
    state: str
    """"hit", "missed", "found by the search" (hit only by vectors of the search), "impossible"."""
    because: str | None
    """For an impossible event, why no vector makes it happen."""


@dataclass(frozen=True)
class Coverage:
    """How often test vectors made each event of an instruction's rule happen, as `softmma coverage --json` counts
    it."""

    instruction: Instruction
    rows: int
    tried: int
    """Number of vectors that the search for missed events used; 0: no search."""
    events: tuple[Event, ...] = field(repr=False)
    value: list[dict[str, Any]] = field(repr=False, compare=False)
    """The record that ``softmma coverage --json`` prints."""

    def of(self, state: str) -> tuple[Event, ...]:
        """Returns the events in a state."""
        return tuple(e for e in self.events if e.state == state)

    @property
    def hit(self) -> int:
        return len(self.of("hit"))

    @property
    def impossible(self) -> int:
        return len(self.of("impossible"))

    @property
    def missed(self) -> int:
        """Returns the number of missed events, with those found by the search."""
        return len(self.events) - self.hit - self.impossible

    def _table(self) -> tuple[tuple[str, ...], list[tuple[object, ...]]]:
        count = Counter((e.kind, e.state) for e in self.events)
        states = ("hit", "missed", *(("found by the search",) if self.tried else ()), "impossible")
        kinds = dict.fromkeys(e.kind for e in self.events)
        return ("", *states), [(kind, *(count[kind, state] for state in states)) for kind in kinds]

    def _title(self) -> str:
        i = self.instruction
        possible = len(self.events) - self.impossible
        return f"{i.arch} {i.name}: {self.rows} rows, {self.hit} of {possible} events that are not impossible"

    def __str__(self) -> str:
        return f"{self._title()}\n{text_table(*self._table())}"

    def _repr_html_(self) -> str:
        return html_table(*self._table(), caption=self._title())

    def to_pandas(self) -> Any:
        """Returns a table with a row for each event. Raises ImportError without pandas."""
        return to_pandas(self.value[0]["events"])


def coverage(
    a: ArrayLike,
    b: ArrayLike,
    c: ArrayLike | None = None,
    *,
    on: str | Instruction = "H100",
    instr: str | Instruction | None = None,
    in_dtype: Any = None,
    out_dtype: Any = None,
    scale_a: ArrayLike | None = None,
    scale_b: ArrayLike | None = None,
    search: int = 0,
    seed: int = 0,
) -> Coverage:
    """Counts the events of a rule that test vectors make happen: gaps between terms, lost bits, carries, roundings, ...

    The operands are given as to `dot`. ``search`` is the number of further vectors, from ``seed``, searched for missed
    events; an event that only they hit is "found by the search".

        >>> import softmma
        >>> on = {"on": "H100", "instr": "mma.m16n8k16.f32.f16.f16.f32"}
        >>> x = softmma.coverage(*softmma.rows(1000, **on), **on)
        >>> x.hit + x.missed + x.impossible == len(x.events)
        True

    Raises ValueError for a rule whose events are not known, and for a search or seed below 0 or from 2^63 on.
    """
    search, seed = checked("search", search), checked("seed", seed)
    chosen, value = _core.coverage(
        a, b, 0 if c is None else c, on, instr, in_dtype, out_dtype, scale_a, scale_b, search, seed
    )
    return _coverage(chosen if isinstance(chosen, Instruction) else Instruction(*_core.describe(chosen)), value[0])


def coverage_files(*paths: str | os.PathLike[str], search: int = 0, seed: int = 0) -> tuple[Coverage, ...]:
    """Returns the coverage of each instruction that has test vectors or counts in the files.

    A file is a vector file, or a file of counts that ``softmma coverage -o`` wrote; the counts of an instruction are
    added. ``search`` and ``seed`` are as in `coverage`.

    For example ``softmma.coverage_files("rows.txt", "counts.json")``.

    Raises ValueError, with the line, for a file that is neither, was changed, or was counted under another rule; and
    without files.
    """
    if not paths:
        raise ValueError("paths: no file is given; give vector files or files of counts")
    search, seed = checked("search", search), checked("seed", seed)
    names = tuple(os.fspath(path) for path in paths)
    for name in names:
        if not isinstance(name, str) or "\0" in name:
            raise ValueError(f"paths: {name!r} is no path of a file")
    found = _core.coverage_files(names, search, seed)
    return tuple(_coverage(_instruction(x["arch"], x["instruction"]), x) for x in found)


def _instruction(arch: str, name: str) -> Instruction:
    """Finds the instruction; for a custom unit ``arch`` is the name of its file."""
    return Custom(arch) if "/" in arch or arch.endswith(".json") else instruction(arch, name)


def _coverage(i: Instruction, x: dict[str, Any]) -> Coverage:
    events = tuple(Event(e["kind"], e["event"], e["hits"], e["state"], e.get("because")) for e in x["events"])
    return Coverage(i, x["rows"], x["tried"], events, [x])
