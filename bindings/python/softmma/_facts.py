"""Lists of units, questions and experiments; files of test vectors."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from softmma import _core
from softmma._products import check_kind
from softmma._table import text_table
from softmma._threads import limited
from softmma._units import Instruction, Listing, one_instruction
from softmma._value import checked, result, to_pandas


class Question(NamedTuple):
    """An open question about a rule, and the candidate answers."""

    name: str
    question: str
    candidates: tuple[str, ...]
    value: dict[str, Any]


def questions() -> Listing[Question]:
    """Returns the open questions that ``campaign`` asks of a unit.

    >>> import softmma
    >>> len(softmma.questions()[0].candidates) > 1
    True
    """
    value = _core.facts("questions")
    return Listing((result(Question, record) for record in value), value)


def facts() -> dict[str, Any]:
    """Returns what ``softmma list --facts`` prints, as docs/facts.schema.json describes it.

    "architectures", "formats", "rules" with their evidence, "instructions", "experiments" (open questions) and
    "recordings" are lists of records, each with the "id" or name by which it can be cited.

    >>> import softmma
    >>> rules = {rule["id"]: rule for rule in softmma.facts()["rules"]}
    >>> rules["hopper_wgmma_fp8_f32"]["parameters"]["F"]
    13
    """
    value: dict[str, Any] = _core.facts("all")
    return value


class UnitKind(NamedTuple):
    """A kind of unit: something that computes d = a_0 b_0 + ... + c for test vectors."""

    unit: str
    takes: str
    """Whether the name takes arguments after a colon: "none", "optional" or "required"."""
    arguments: str
    summary: str
    usable: bool | None
    """Whether it can be used here, or None if that depends on its arguments."""
    device: str
    driver: str
    why: str
    """The reason why it cannot be used."""
    value: dict[str, Any]


def units() -> Listing[UnitKind]:
    """Lists the units here: models, this CPU, GPUs, plug-ins, programs. Opens each unit that needs no arguments.

    >>> import softmma
    >>> softmma.units()[0].unit
    'model'
    """
    value = _core.facts("units")
    missing = {"usable": None, "device": "", "driver": "", "why": ""}
    return Listing((result(UnitKind, {**missing, **record})._replace(value=record) for record in value), value)


# ---- Files of test vectors ----


def gen(
    path: str | os.PathLike[str],
    *,
    on: str | Instruction = "H100",
    instr: str | Instruction | None = None,
    in_dtype: Any = None,
    out_dtype: Any = None,
    rows: int | None = None,
    seed: int = 0,
    kind: str | None = None,
    cover: bool = False,
    format: str = "text",
    flags: bool = False,
    tininess: str | None = None,
) -> dict[str, Any]:
    """Writes test vectors with the model's results as a vector file (docs/vector-files.md).

    Vector i of a seed is the same on every machine. ``rows`` is the number of vectors (None: 1000; with ``cover``, only
    the first ones). ``kind`` is a kind of `rows` (default: the first six in turn). With ``cover`` the file begins with few vectors that make all events of
    the rule's arithmetic happen, then similar ones up to ``rows``. ``format`` is "text", "binary", "readmemh", "csv",
    "json" or "jsonl". With ``flags`` each vector ends with its exception flags, with the ``tininess`` of `dot_flags`. The file
    appears only when it is complete. Returns the number of ``rows`` written; with ``cover`` also how many of them are the ``cover``, the
    number of ``events`` they hit of those ``possible``, and the ``tries``.

    Raises as `matmul` does, and ValueError if the file cannot be written, no events are known, or the instruction has
    no flags.
    """
    if tininess is not None and not flags:
        raise ValueError("tininess: set flags, too, which it is for")
    check_kind(kind, "the first six")
    if cover and kind is not None:
        raise ValueError("cover and kind do not go together; leave one out")
    count = checked("rows", rows) if rows is not None else 0 if cover else 1000
    seed = checked("seed", seed)
    i = one_instruction(on, instr, in_dtype, out_dtype)
    return _core.gen(os.fspath(path), i, count, seed, kind, cover, format, flags, tininess)


def convert(path: str | os.PathLike[str], to: str | os.PathLike[str], format: str) -> None:
    """Writes the vector file ``path`` to the file ``to`` in another format.

    ``format`` is "text", "binary", "readmemh", "csv", "json" or "jsonl" (docs/vector-files.md).

    Header and vectors are preserved, comments are not. Raises OSError if ``path`` cannot be opened, ValueError if it is
    not a vector file, or if ``to`` cannot be written.
    """
    _core.convert(os.fspath(path), os.fspath(to), format)


# ---- Experiments ----


class Experiment(NamedTuple):
    """A numerical experiment of the literature. A parameter has a name, a value, a value for small runs, a meaning."""

    name: str
    title: str
    source: str
    parameters: tuple[dict[str, str], ...]
    value: dict[str, Any]


def experiments() -> Listing[Experiment]:
    """Lists the numerical experiments (docs/experiments.md)."""
    value = _core.facts("experiments")
    return Listing((result(Experiment, record) for record in value), value)


_SHOWN_ROWS = 20  # rows of a table that are printed


class ExperimentRun(NamedTuple):
    """The result of an experiment: ``rows`` has a dict for each row of its table, keyed by column name."""

    experiment: str
    seed: int
    parameters: dict[str, str]
    rows: tuple[dict[str, Any], ...]
    value: dict[str, Any]
    """The record that ``softmma experiment --json`` prints."""

    def __repr__(self) -> str:
        shown = [[str(cell) for cell in row.values()] for row in self.rows[:_SHOWN_ROWS]]
        more = len(self.rows) - len(shown)
        parameters = "".join(f", {name} = {value}" for name, value in self.parameters.items())
        lines = [f"{self.experiment}, seed {self.seed}{parameters}: {len(self.rows)} rows"]
        lines += [text_table(list(self.rows[0]), shown)] if shown else []
        return "\n".join(lines + ([f"... and {more} more, in `rows`"] if more else []))

    def to_pandas(self) -> Any:
        """Returns the table as a DataFrame. Raises ImportError without pandas."""
        return to_pandas(self.value["rows"])


def experiment(
    name: str,
    *,
    small: bool = False,
    seed: int = 0,
    threads: int = 0,
    parameters: Mapping[str, Any] | None = None,
    part: str | os.PathLike[str] | None = None,
) -> ExperimentRun:
    """Runs a numerical experiment and returns its table.

    ``small`` runs take seconds. ``parameters`` replaces values of the experiment's parameters. ``threads`` (0: all
    cores) do not change a result. ``part`` is a file for intermediate results, from which an interrupted run continues.

        >>> import softmma
        >>> len(softmma.experiment("monotonicity", small=True).rows) > 0
        True

    Raises ValueError for an unknown experiment or parameter, or a value that the parameter does not take.
    """
    if parameters is not None and not isinstance(parameters, Mapping):
        raise TypeError(f"parameters is {parameters!r}; give a mapping of names and values")
    seed = checked("seed", seed)
    assignments = tuple(f"{key}={value}" for key, value in (parameters or {}).items())
    file = None if part is None else os.fspath(part)
    with limited(threads):
        return result(ExperimentRun, _core.experiment(name, small, seed, threads, assignments, file))
