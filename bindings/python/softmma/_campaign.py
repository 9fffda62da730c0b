"""Compares units with models: campaigns, vector files, recordings, test vectors that distinguish units."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal, NamedTuple, TypeAlias, Union, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from softmma import _core
from softmma._encodings import array
from softmma._products import check_kind
from softmma._units import Instruction, chosen, one_instruction
from softmma._value import checked, result, to_pandas

Unit: TypeAlias = Union[str, Callable[..., ArrayLike]]
"""A unit's name ("model", "x86", "plugin:FILE", ...: ``softmma units``), or a function that computes test vectors."""
Path: TypeAlias = Union[str, "os.PathLike[str]"]


def _file(path: Path, what: str) -> str:
    name = os.fspath(path)
    if not isinstance(name, str):
        raise TypeError(f"{what} is {name!r}; give a file's name as a text")
    if "\0" in name:
        raise ValueError(f"{what}: the name has a zero character")
    return name


def _subjects(on: str | Instruction | None, instr: str | Instruction | None) -> tuple[str | None, Instruction | None]:
    """Returns the subject of a campaign: a GPU's name (None: all GPUs), and an instruction (None: all instructions)."""
    for one in (instr, on):
        if isinstance(one, Instruction):
            return None, one
    if instr is not None:
        if on is None:
            raise ValueError(f"instr is {instr!r}: on says which GPU's")
        return None, chosen(str(on), str(instr), None, None)
    return (None if on is None else str(on)), None


# ---- Campaigns ----


class Campaign(NamedTuple):
    """Result of a campaign; true if there are no mismatches."""

    complete: bool
    rows: int
    """Number of test vectors requested per instruction."""
    seed: int
    kind: str
    """The kind of vectors; "cover": first vectors that make every event happen, then all kinds in turn."""
    unit: dict[str, str]
    against: dict[str, str]
    """"name", "device", "driver" and "toolkit" of `unit` and of `against`; "crc32c", a checksum of what the file holds,
    of a custom unit or recording."""
    instructions: tuple[dict[str, Any], ...]
    """A record for each instruction: "arch", "instr", "rows", "mismatches", "checked", "not_repeated", "not_alike" and
    "example", a minimised mismatch. If there are mismatches, also "nan", the number of mismatches between two NaNs (None
    if a device compared the vectors: it counts all mismatches and returns a sample), "kept" and "classes"."""
    value: dict[str, Any]
    """The report, as ``softmma test --json`` prints it and ``--resume`` stores it."""

    @property
    def mismatches(self) -> int:
        """Returns the number of mismatches of all instructions."""
        return sum(i["mismatches"] for i in self.instructions)

    @property
    def classes(self) -> tuple[dict[str, Any], ...]:
        """Returns the mismatch classes of all instructions, each with its "arch" and "instr"."""
        return tuple(
            {"arch": i["arch"], "instr": i["instr"], **each}
            for i in self.instructions
            for each in i.get("classes", {"list": []})["list"]
        )

    def __bool__(self) -> bool:
        return not any(i[key] for i in self.instructions for key in ("mismatches", "not_repeated", "not_alike"))

    def __str__(self) -> str:
        rows = sum(i["rows"] for i in self.instructions)
        compared = sum(i["rows"] > 0 for i in self.instructions)
        return f"instructions={compared} rows={rows} mismatches={self.mismatches}"

    def to_pandas(self) -> Any:
        """Returns a table with a row for each instruction. Raises ImportError without pandas."""
        dropped = ("example", "kept", "classes")
        return to_pandas([{key: x for key, x in i.items() if key not in dropped} for i in self.instructions])


class OpenAnswers(NamedTuple):
    """A unit's answers to open questions; true if each answer is the model's."""

    unit: dict[str, str]
    answers: int
    others: int
    """Number of answers that differ from the model's."""
    experiments: tuple[dict[str, Any], ...]
    """A record for each answer: "experiment", "question", "arch", "instr", "answer", "candidates", "rows" with the
    results, and "example", the first vector for which the model returns another result."""
    value: dict[str, Any]
    """The record that ``softmma test --open --json`` prints."""

    def __bool__(self) -> bool:
        return not self.others

    def to_pandas(self) -> Any:
        """Returns a table with a row for each answer. Raises ImportError without pandas."""
        columns = ("experiment", "arch", "instr", "answer", "question")
        return to_pandas([{key: x[key] for key in columns} for x in self.experiments])


@overload
def campaign(
    unit: Unit,
    *,
    against: Unit = ...,
    on: str | Instruction | None = ...,
    instr: str | Instruction | None = ...,
    rows: int = ...,
    seed: int = ...,
    kind: str | None = ...,
    shard: tuple[int, int] | None = ...,
    resume: Path | Campaign | Mapping[str, Any] | None = ...,
    open: Literal[False] = ...,
) -> Campaign: ...


@overload
def campaign(
    unit: Unit,
    *,
    on: str | Instruction | None = ...,
    instr: str | Instruction | None = ...,
    open: Literal[True],
    only: str | None = ...,
    every: bool = ...,
) -> OpenAnswers: ...


def campaign(
    unit: Unit,
    *,
    against: Unit = "model",
    on: str | Instruction | None = None,
    instr: str | Instruction | None = None,
    rows: int = 100000,
    seed: int = 0,
    kind: str | None = None,
    shard: tuple[int, int] | None = None,
    resume: Path | Campaign | Mapping[str, Any] | None = None,
    open: bool = False,
    only: str | None = None,
    every: bool = False,
) -> Campaign | OpenAnswers:
    """Compares two units on many test vectors, bit for bit; minimises the first mismatch and classifies all of them.

    ``unit`` and ``against`` are names of units, or functions as for `probe`: ``unit(a, b, c)`` returns d, with scale
    factors after c if the instruction takes them. Shapes: a and b (rows, K), c and d (rows,), in the instruction's
    formats; d of another dtype is rounded to its format. The campaign covers the instruction ``instr``, or all
    instructions of the GPU ``on`` (default: of the catalogue) that both units compute. ``rows`` is the number of
    vectors per instruction. Vector i of a seed is the same on every machine. ``kind`` is as in `rows`; by default
    vectors that make every arithmetic event of the rule happen come first, then all kinds in turn.

    ``shard=(i, n)`` compares part i of n, from 1, of the vectors, for `merge`. ``resume`` is a file that stores the
    progress, also after Control-C, and from which the same call continues; or a report to continue from.

    ``open=True`` asks open questions instead: experiments with candidate answers, on one instruction of each rule, or
    on every instruction with ``every``. ``only`` selects one experiment by name. The experiments have their own
    vectors.

        >>> import softmma
        >>> i = softmma.instruction("A100", "HMMA.16816.F32")
        >>> def unit(a, b, c):
        ...     return softmma.dot(a, b, c, on="H100", instr="mma.m16n8k16.f32.f16.f16.f32")
        >>> found = softmma.campaign(unit, on=i, rows=2000)
        >>> bool(found), len(found.classes) > 0
        (False, True)
        >>> str(softmma.campaign("model", on=i, rows=2000))
        'instructions=1 rows=2000 mismatches=0'

    Raises LookupError as `matmul` does, any exception of a function, and ValueError for a unit that cannot be opened or
    fails, for numbers out of range, and for a file or report of another campaign. Source: ``softmma test``.
    """
    rows, seed = checked("rows", rows, 1), checked("seed", seed)
    check_kind(kind, "all")
    gpu, instruction = _subjects(on, instr)
    if open:
        if (against, rows, seed, kind, shard, resume) != ("model", 100000, 0, None, None, None):
            raise ValueError("open has rows of its own: it takes no against, rows, seed, kind, shard and resume")
        return result(OpenAnswers, _core.run_open_questions(unit, gpu, instruction, bool(every), only))
    if only is not None or every:
        raise ValueError("only and every are of open=True")
    index, count = _shard(shard)
    path = text = None
    if isinstance(resume, (Campaign, Mapping)):
        text = _report(resume)
    elif resume is not None:
        path = _file(resume, "resume")
    found = _core.campaign(unit, against, gpu, instruction, rows, seed, kind, (index, count), path, text)
    return result(Campaign, found)


def _shard(shard: tuple[int, int] | None) -> tuple[int, int]:
    if shard is None:
        return 0, 0
    index, count = (checked("shard", number) for number in shard)
    if not 1 <= index <= count <= 2**20:
        raise ValueError(f"shard is {shard}; it is part I of N, from 1 to at most {2**20}: for example (1, 4)")
    return index, count


def _report(report: Campaign | Mapping[str, Any]) -> str:
    return json.dumps(report.value if isinstance(report, Campaign) else dict(report))


def merge(reports: Sequence[Path | Campaign | Mapping[str, Any]]) -> Campaign:
    """Merges the reports of all shards of one campaign, in any order: files, or results of `campaign`.

    The merged report is that of one campaign without shards. ``campaign(..., resume=whole)`` then classifies its
    mismatches without computing the vectors again.

        >>> import softmma
        >>> i = softmma.instruction("A100", "HMMA.16816.F32")
        >>> parts = [softmma.campaign("model", on=i, rows=200000, kind="zeros", shard=(n, 2)) for n in (1, 2)]
        >>> str(softmma.merge(parts))
        'instructions=1 rows=200000 mismatches=0'

    Raises ValueError for reports that differ in unit, seed, number or kind of vectors, or version, and for a shard that
    is missing, given twice, or incomplete. Source: ``softmma vectors merge``.
    """
    if isinstance(reports, (str, os.PathLike, Mapping)):
        raise TypeError("reports: give a list of them")
    given = tuple(
        (f"report {n}", _report(r)) if isinstance(r, (Campaign, Mapping)) else (_file(r, f"report {n}"), None)
        for n, r in enumerate(reports, 1)
    )
    return result(Campaign, _core.merge(given))


# ---- Vector files ----


class Verification(NamedTuple):
    """Number of mismatches in vector files; true without mismatches."""

    files: int
    rows: int
    mismatches: int
    nan: int
    """Number of mismatches that differ only in the encoding of a NaN."""
    shown: tuple[dict[str, Any], ...]
    """The first mismatches: "file", "line" (in a binary file the vector's number), "arch", "instruction", "expected"
    from the file and "got" from the unit; in a file with flags also "expected_flags", and "got_flags" of the model."""
    classes: tuple[dict[str, Any], ...]
    """A record for each of the first instructions with mismatches: "arch", "instruction", "mismatches", "classes"."""
    flags: int
    """Number of mismatches that differ only in their exception flags."""
    value: dict[str, Any]
    """The record that ``softmma verify --json`` prints."""

    def __bool__(self) -> bool:
        return not self.mismatches

    def to_pandas(self) -> Any:
        """Returns a table with a row for each mismatch shown. Raises ImportError without pandas."""
        return to_pandas(list(self.shown))


def verify(
    paths: Path | Sequence[Path] | Recording | None = None,
    *,
    rows: Sequence[ArrayLike] | None = None,
    on: str | Instruction = "H100",
    instr: str | Instruction | None = None,
    unit: Unit | None = None,
    show: int = 10,
) -> Verification:
    """Checks vector files, or arrays, bit for bit against the models or a unit, and classifies the mismatches.

    ``paths`` are files, folders to search for vector files, or a `Recording`. ``rows``, given instead, is a tuple (a,
    b, c, d) or (a, b, c, d, scale_a, scale_b): operands of the instruction ``instr`` of ``on`` and the results of a
    machine, with the shapes of a `Recording`. Unsigned arrays hold encodings; others hold numbers of the instruction's
    formats, in any dtype. A mismatch's "line" is then the vector's
    number, from 1. ``unit`` is the name of a unit or a function, as for `campaign`. ``show`` is the number of
    mismatches listed.

        >>> import softmma
        >>> on = {"on": "A100", "instr": "HMMA.16816.F32"}
        >>> a, b, c = softmma.rows(1000, **on)
        >>> d = softmma.dot(a, b, c, **on)
        >>> bool(softmma.verify(rows=(a, b, c, d), **on))
        True

    Raises ValueError if there is no vector file, one cannot be read, an array has another shape or a value that is not
    in the instruction's format, or the unit fails, and LookupError as `matmul` does. Source: ``softmma verify``.
    """
    show = checked("show", show)
    if (paths is None) == (rows is None):
        raise ValueError("give paths or rows, one of them")
    files: Sequence[Path] = ()
    given: tuple[Any, ...] | None = None
    if isinstance(paths, Recording):
        given = (paths.instruction, paths.a, paths.b, paths.c, paths.d, paths.scale_a, paths.scale_b)
    elif isinstance(paths, (str, os.PathLike)):
        files = (paths,)
    elif paths is not None:
        files = tuple(paths)
        if not files:
            raise ValueError("paths: the list is empty; give vector files or folders")
    if rows is not None:
        if len(rows) not in (4, 6):
            raise ValueError(f"rows: {len(rows)} arrays; give (a, b, c, d) or (a, b, c, d, scale_a, scale_b)")
        given = (one_instruction(on, instr, None, None), *rows) + (None, None)[len(rows) - 4 :]
    return result(Verification, _core.verify(tuple(_file(path, "a path") for path in files), given, unit, show))


# ---- Recordings ----


class Recording:
    """Test vectors with a unit's results: a and b are (rows, K), c and d are (rows,), in the instruction's formats.

    Scale factors are (rows, K / scale_block); they are None if the instruction takes no scale factors.
    """

    def __init__(self, instruction: Instruction, kept: Any, recorded_on: str, arrays: Sequence[Any]):
        self.instruction = instruction
        self.recorded_on = recorded_on
        self.a: NDArray[Any]
        self.b: NDArray[Any]
        self.c: NDArray[Any]
        self.d: NDArray[Any]
        self.scale_a: NDArray[Any] | None
        self.scale_b: NDArray[Any] | None
        self.a, self.b, self.c, self.d, self.scale_a, self.scale_b = arrays
        self._kept = kept

    def __len__(self) -> int:
        return len(self.d)

    def __repr__(self) -> str:
        return f"<{len(self)} rows of {self.instruction.name} on {self.recorded_on}>"

    @cached_property
    def value(self) -> dict[str, Any]:
        """The record that ``softmma vectors record --json`` prints."""
        return _core.recording_value(self._kept)

    def write(self, path: Path, format: str = "text") -> None:
        """Writes a vector file: "text", "binary", "readmemh", "csv", "json" or "jsonl". It holds the recording; later changes of
        the arrays are not written. Raises ValueError for another format, and if the file cannot be written."""
        _core.recording_write(self._kept, _file(path, "path"), format)

    def to_pandas(self) -> Any:
        """Returns a table with a row for each test vector. Raises ImportError without pandas."""
        return to_pandas(self.value["rows"])


def record(
    unit: Unit,
    *,
    on: str | Instruction | None = None,
    instr: str | Instruction | None = None,
    in_dtype: Any = None,
    out_dtype: Any = None,
    rows: int = 10000,
    seed: int = 0,
    kind: str | None = None,
    vectors: Path | None = None,
) -> Recording:
    """Records a unit's results for a campaign's test vectors, or for those of a vector file.

    ``unit``, ``rows``, ``seed`` and ``kind`` are as in `campaign`; the instruction is chosen as in `matmul`. With
    ``vectors``, the path of a file, the unit computes the test vectors of the file, which also names the instruction;
    another instruction with the same formats may be given, but no ``rows``, ``seed`` or ``kind``.

        >>> import softmma
        >>> kept = softmma.record("model", on="A100", instr="HMMA.16816.F32", rows=100)
        >>> kept.a.shape, kept.d.shape
        ((100, 16), (100,))

    Raises LookupError as `matmul` does, any exception of a function, and ValueError for a unit that is a recording,
    does not compute the instruction, or fails. Source: ``softmma vectors record``.
    """
    rows, seed = checked("rows", rows, 1), checked("seed", seed)
    check_kind(kind, "all")
    if vectors is not None and (rows, seed, kind) != (10000, 0, None):
        raise ValueError("rows, seed and kind have no effect with vectors; leave them out")
    given = None
    if vectors is None or (on, instr, in_dtype, out_dtype) != (None, None, None, None):
        given = one_instruction("H100" if on is None else on, instr, in_dtype, out_dtype)
    path = None if vectors is None else _file(vectors, "vectors")
    taken, *kept = _core.record(given, unit, rows, seed, kind, path)
    return Recording(taken if isinstance(taken, Instruction) else Instruction(*_core.describe(taken)), *kept)


# ---- Test vectors that distinguish units ----


class NextRows(NamedTuple):
    """Test vectors that distinguish units, best first; true if they distinguish every pair of units.

    The first vector distinguishes the most units. a and b are (rows, K), c is (rows,), d is (rows, units), in the
    instruction's formats; scale factors are (rows, K / scale_block).
    """

    instruction: Instruction
    units: tuple[str, ...]
    a: NDArray[Any]
    b: NDArray[Any]
    c: NDArray[Any]
    d: NDArray[Any]
    scale_a: NDArray[Any] | None
    scale_b: NDArray[Any] | None
    different: NDArray[np.int64]
    """Number of different results of each vector."""
    not_told_apart: tuple[tuple[int, int], ...]
    """Pairs of units, by index, that no vector distinguishes. value["need_more_rows"] has those of them that a vector
    beyond ``rows`` distinguishes."""
    value: dict[str, Any]
    """The record that ``softmma vectors next --json`` prints."""

    def __bool__(self) -> bool:
        return not self.not_told_apart

    def to_pandas(self) -> Any:
        """Returns a table with a row for each test vector. Raises ImportError without pandas."""
        return to_pandas(self.value["rows"])


def next(
    units: Sequence[Unit],
    *,
    on: str | Instruction = "H100",
    instr: str | Instruction | None = None,
    in_dtype: Any = None,
    out_dtype: Any = None,
    rows: int = 16,
    search: int = 200000,
    seed: int = 0,
) -> NextRows:
    """Finds test vectors whose results on the device under test show which of several units it equals.

    ``units`` are 2 to 16 units, as for `campaign`. At most ``rows`` vectors are returned, and at most ``search``
    vectors are searched for each pair. The instruction is chosen as in `matmul`.

        >>> import softmma
        >>> def bfloat16(a, b, c):
        ...     return softmma.dot(a, b, c, on="H100", instr="mma.m16n8k16.f32.f16.f16.f32")
        >>> found = softmma.next(["model", bfloat16], on="A100", instr="HMMA.16816.F32", rows=2)
        >>> bool(found), (found.d[:, 0] != found.d[:, 1]).all().item()
        (True, True)

    Raises LookupError as `matmul` does, any exception of a function, and ValueError for a unit that is a recording,
    does not compute the instruction, or fails. Source: ``softmma vectors next``.
    """
    if isinstance(units, str) or callable(units):
        raise TypeError("units: give a list of two or more")
    rows, search, seed = checked("rows", rows, 1, 10000), checked("search", search, 1), checked("seed", seed)
    i = one_instruction(on, instr, in_dtype, out_dtype)
    value = _core.next(i, tuple(units), rows, search, seed)

    def column(key: str, format: str, width: int) -> NDArray[Any]:
        return array([x for row in value["rows"] for x in row[key]], format).reshape(-1, width)

    scale_a = scale_b = None
    if i.scale is not None:
        scale_a, scale_b = (column(key, i.scale, i.k // i.scale_block) for key in ("scale_a", "scale_b"))
    return NextRows(
        i,
        tuple(value["units"]),
        column("a", i.a, i.k),
        column("b", i.b, i.k),
        column("c", i.c, 1)[:, 0],
        column("d", i.d, len(value["units"])),
        scale_a,
        scale_b,
        np.array([row["different"] for row in value["rows"]], np.int64),
        tuple((x, y) for x, y in value["not_told_apart"]),
        value,
    )
