"""What rows make happen in a rule's arithmetic."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from numpy.typing import ArrayLike

from softmma import _core
from softmma._table import html_table, text_table
from softmma._units import Custom, Instruction, instruction
from softmma._value import to_pandas


class Event(NamedTuple):
    """Something that can happen in a sum, and how often rows made it happen."""

    kind: str
    """"operands", "special values", "gaps", "leading terms", "lost bits", "carries", "rounding", "results",
    "chains"."""
    event: str
    """In words: "step 1, term 3: begins 17 binades below the reference exponent"."""
    hits: int
    state: str
    """"hit", "missed", "found by the search" (of rows that were not asked about), "impossible"."""
    because: str | None
    """Why no row makes it happen, where it is impossible."""


@dataclass(frozen=True)
class Coverage:
    """Of every event of an instruction's rule how often rows made it happen, as `softmma coverage --json` has it."""

    instruction: Instruction
    rows: int
    tried: int
    """Rows of the search for what was missed; 0: there was none."""
    events: tuple[Event, ...] = field(repr=False)
    value: list[dict[str, Any]] = field(repr=False, compare=False)
    """The record that ``softmma coverage --json`` prints."""

    def of(self, state: str) -> tuple[Event, ...]:
        """The events in a state."""
        return tuple(e for e in self.events if e.state == state)

    @property
    def hit(self) -> int:
        return len(self.of("hit"))

    @property
    def impossible(self) -> int:
        return len(self.of("impossible"))

    @property
    def missed(self) -> int:
        """Those that the search found among them."""
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
        """A table with a row for each event; ImportError without pandas."""
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
    """What rows of operands make happen in a rule: which gaps between terms, lost bits, carries, roundings, results.

    Rows are given as to `dot`. ``search``: look for rows that make happen what these do not, among so many of a seed;
    what they make happen is "found by the search".

        >>> import softmma
        >>> on = {"on": "H100", "instr": "mma.m16n8k16.f32.f16.f16.f32"}
        >>> x = softmma.coverage(*softmma.rows(1000, **on), **on)
        >>> x.hit + x.missed + x.impossible == len(x.events)
        True

    Raises ValueError for a rule of which no events are known, and for a search or seed below 0 or of 2^63 and more.
    """
    _check(search, seed)
    chosen, value = _core.coverage(
        a, b, 0 if c is None else c, on, instr, in_dtype, out_dtype, scale_a, scale_b, search, seed
    )
    return _coverage(chosen if isinstance(chosen, Instruction) else Instruction(*_core.describe(chosen)), value[0])


def coverage_files(*paths: str | os.PathLike[str], search: int = 0, seed: int = 0) -> tuple[Coverage, ...]:
    """Returns the coverage of each instruction whose rows, or kept counts, are in the files.

    A file is a vector file, or counts that ``softmma coverage -o`` keeps; those of an instruction are added. ``search``
    and ``seed`` are as in `coverage`.

    For example ``softmma.coverage_files("rows.txt", "counts.json")``.

    Raises ValueError, with the line, for a file that is neither, was changed or was counted by another rule.
    """
    _check(search, seed)
    names = tuple(os.fspath(path) for path in paths)
    for name in names:
        if not isinstance(name, str) or "\0" in name:
            raise ValueError(f"paths: {name!r} is no path of a file")
    found = _core.coverage_files(names, search, seed)
    return tuple(_coverage(_instruction(x["arch"], x["instruction"]), x) for x in found)


def _instruction(arch: str, name: str) -> Instruction:
    """Finds the instruction; for a custom unit ``arch`` is its file."""
    return Custom(arch) if "/" in arch or arch.endswith(".json") else instruction(arch, name)


def _check(search: int, seed: int) -> None:
    for name, number in (("search", search), ("seed", seed)):
        if not 0 <= number < 2**63:
            raise ValueError(f"{name} is {number}; it is from 0 to 2^63 - 1")


def _coverage(i: Instruction, x: dict[str, Any]) -> Coverage:
    events = tuple(Event(e["kind"], e["event"], e["hits"], e["state"], e.get("because")) for e in x["events"])
    return Coverage(i, x["rows"], x["tried"], events, [x])
