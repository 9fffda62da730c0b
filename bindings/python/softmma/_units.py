"""GPUs, number formats, instructions of the catalogue, and custom units."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from softmma import _core
from softmma._table import html_table, text_table
from softmma._value import to_pandas

T = TypeVar("T")


class Listing(list[T]):
    """A list of records; ``value`` is what the command prints with ``--json``."""

    def __init__(self, records: Iterable[T], value: list[dict[str, Any]]):
        super().__init__(records)
        self.value = value

    def to_pandas(self) -> Any:
        """A table, a row for each record; ImportError without pandas."""
        return to_pandas(self.value)


class Gpu(NamedTuple):
    """A name that ``on=`` takes, and what it stands for."""

    name: str
    arch: str
    title: str
    vendor: str


class Format(NamedTuple):
    """A number format: its bits, the bytes that an element takes in an array, and the dtype of such arrays.

    Formats without a dtype of their own share one: tf32 is float32 with 13 ignored bits, ue4m3 is float8_e4m3fn
    without a sign. Others are spelled out ("e3m4", "e4m3-bias11-fnuz", "s5": docs/custom-units.md), and those of them
    that ml_dtypes lacks are encodings in unsigned integers.
    """

    name: str
    bits: int
    bytes: int
    dtype: np.dtype[Any]


# What block-scaled formats are made of: elements, scale factors, elements that share a factor.
BLOCK_FORMATS = {name: (element, scale, block) for name, element, scale, block in _core.block_formats()}


@dataclass(frozen=True, repr=False)
class Instruction:
    """One instruction: D = A B + C for an M x K, a K x N and an M x N matrix, and what is known of it.

    ``a``, ``b``, ``c``, ``d`` and ``scale`` are names of formats (``scale`` is None without scale factors, of which
    ``scale_block`` elements along K share one). Of every ``sparse_group`` elements of A along K a sparse instruction
    stores half, and ``k`` counts these; of a dense one it is 0. ``model`` is the algorithm, ``parameters`` its
    parameters, ``rule`` the name of both together; ``evidence`` says what they rest on, ``questions`` what is not
    settled.
    """

    arch: str
    name: str
    m: int
    n: int
    k: int
    a: str
    b: str
    c: str
    d: str
    scale: str | None
    scale_block: int
    sparse_group: int
    model: str
    parameters: Mapping[str, int | str] = field(hash=False)
    rule: str
    evidence: tuple[str, ...]
    questions: tuple[str, ...]
    _handle: Any = field(compare=False)

    @property
    def aliases(self) -> list[str]:
        """Other names: PTX, SASS and AMD's spellings."""
        return _core.aliases(self._handle)

    @property
    def shape(self) -> tuple[int, int, int]:
        """(M, N, K)"""
        return self.m, self.n, self.k

    @property
    def keeps_13_bits(self) -> bool:
        """Whether the unit keeps 13 fraction bits of sums in FP32: FP8 on Ada, and through ``wgmma`` on Hopper.

        Libraries move such sums to FP32 every 128 of K, where fast accumulation is not asked for.
        """
        return self.d == "f32" and str(self.parameters.get("rho", "")).endswith("E8M13")

    @property
    def value(self) -> dict[str, Any]:
        """The record that ``softmma show --json`` prints."""
        return _core.instruction_value(self)

    def to_custom(self) -> dict[str, Any]:
        """The instruction as the description of a custom unit, to be changed and given to `Custom`."""
        description: dict[str, Any] = json.loads(_core.custom_text(self._handle))
        return description

    def _inputs_text(self) -> str:
        names = {parts: name for name, parts in BLOCK_FORMATS.items()}
        inputs = [names.get((x, self.scale or "", self.scale_block), x) for x in (self.a, self.b)]
        return inputs[0] if self.a == self.b else ",".join(inputs)

    def _scale_text(self) -> str:
        return f"{self.scale} per {self.scale_block}" if self.scale else ""

    def _model_text(self) -> str:
        return " ".join([self.model, *(f"{name}={value}" for name, value in self.parameters.items())])

    def __repr__(self) -> str:
        scale = f", scales {self._scale_text()}" if self.scale else ""
        return f"<{self.arch} {self.name}: {self.a} x {self.b} + {self.c} -> {self.d}{scale}, {self._model_text()}>"

    def _repr_html_(self) -> str:
        rows: list[tuple[str, object]] = [
            ("instruction", self.name),
            ("architecture", self.arch),
            ("shape (M x N x K)", " x ".join(map(str, self.shape))),
            ("formats", f"a {self.a}, b {self.b}, c {self.c}, d {self.d}"),
            ("scale factors", self._scale_text() or "none"),
            ("model", self._model_text()),
            *(("evidence", text) for text in self.evidence),
            *(("open", text) for text in self.questions),
            *(("also", alias) for alias in self.aliases),
        ]
        return html_table(("", ""), rows)

    def __reduce__(self) -> tuple[Any, ...]:
        return instruction, (self.arch, self.name)


_core.register_instruction_type(Instruction)


class Custom(Instruction):
    """A unit of one's own: an algorithm with parameters, which is taken wherever an instruction is.

    ``description`` is what a custom unit's file holds (docs/custom-units.md): a mapping, or the path of such a file.
    What is wrong raises ValueError with the line and column of the JSON text, and what is allowed there.

        >>> import softmma
        >>> unit = softmma.Custom({**softmma.instruction("A100", "HMMA.16816.F32").to_custom(), "alignment_bits": 40})
        >>> softmma.dot([1, 2**-14], [1, 2**-14], 2**-27, on=unit).item()
        1.0
    """

    def __init__(self, description: Mapping[str, Any] | str | Path):
        if isinstance(description, Mapping):
            origin, text = "custom", json.dumps({"softmma-unit": 1, **description}, indent=2)
        else:
            origin, text = str(description), Path(description).read_text(encoding="utf-8")
        values = _core.describe(_core.custom(origin, text))
        for each, value in zip(fields(Instruction), values):
            object.__setattr__(self, each.name, value)

    def __reduce__(self) -> tuple[Any, ...]:
        return Custom, (self.to_custom(),)


class InstructionList(list[Instruction]):
    """Instructions, shown as a table."""

    _HEADER = ("architecture", "instruction", "A", "B", "C", "D", "scale factors", "model")

    @property
    def value(self) -> list[dict[str, Any]]:
        """The records that ``softmma list --json`` prints for these instructions."""
        return [i.value for i in self]

    def to_pandas(self) -> Any:
        """A table, a row for each instruction; ImportError without pandas."""
        return to_pandas(self.value)

    def _rows(self) -> list[tuple[str, ...]]:
        return [(i.arch, i.name, i.a, i.b, i.c, i.d, i._scale_text(), i._model_text()) for i in self]

    def __repr__(self) -> str:
        return text_table(self._HEADER, self._rows())

    def _repr_html_(self) -> str:
        return html_table(self._HEADER, self._rows())


def text_of(x: Any, what: str, meaning: str = "a name") -> str:
    """Returns x if it is a text; raises TypeError that names the argument if it is not."""
    if not isinstance(x, str):
        raise TypeError(f"{what} is {x!r}; give {meaning}")
    return x


def gpus() -> Listing[Gpu]:
    """Every name that ``on=`` takes besides the architectures' own; case, blanks and hyphens do not matter."""
    return Listing((Gpu(*row) for row in _core.gpus()), _core.facts("gpus"))


def formats() -> Listing[Format]:
    """The number formats of matrices and scale factors."""
    return Listing((Format(*row) for row in _core.formats()), _core.facts("formats"))


def dtype(format: Any) -> np.dtype[Any]:
    """The dtype of arrays in a format, given by name ("e4m3", "half", "float8_e5m2", "e3m4", ...) or by a dtype.

    Raises LookupError if there is no such format.
    """
    return _core.dtype(format)


def instruction(on: str, name: str) -> Instruction:
    """The instruction of a GPU or architecture by its name or an alias (PTX, SASS, AMD).

    Raises LookupError with the nearest names, or the GPUs that have it.
    """
    return Instruction(*_core.describe(_core.find_instruction(on, name)))


def chosen(on: str, instr: str | None, in_dtype: Any, out_dtype: Any) -> Instruction:
    """What `matmul` takes for these."""
    return Instruction(*_core.describe(_core.choose(on, instr, in_dtype, out_dtype)))


def instructions(on: str | None = None, *, every_n: bool = False) -> InstructionList:
    """The instructions of a GPU or architecture in order of preference; without one, of all that are listed.

    Instructions that differ in N only are one entry, the smallest, unless ``every_n``. Raises LookupError if there is
    no such GPU.
    """
    seen = set()
    result = InstructionList()
    for handle in _core.catalogue(on):
        i = Instruction(*_core.describe(handle))
        family = i.name.partition(".")[0]
        key = i.arch, family, i.m, i.k, i.a, i.b, i.c, i.d, i.scale, i.scale_block, i.sparse_group, i.rule
        if every_n or key not in seen:
            result.append(i)
        seen.add(key)
    return result


def find(on: str | None, words: str = "") -> InstructionList:
    """Instructions of a GPU (None: of any) that answer to every one of the words, in any order and case.

    A word answers to a part of the name, an alias or the model; to a format of A, B, C or D by any of its names
    ("half"); to all formats of so many bits ("fp8", "fp4"); to block-scaled formats ("mxfp8", "nvfp4").

        >>> import softmma
        >>> [i.name for i in softmma.find("H100", "wgmma fp8")][:2]
        ['wgmma.m64n8k32.f32.e4m3.e4m3', 'wgmma.m64n8k32.f16.e4m3.e4m3']

    Raises LookupError if there is no such GPU, or no instruction that answers.
    """
    listed = instructions(on)
    wanted = text_of(words, "words", "words in one text").lower().split()
    found = InstructionList(i for i in listed if all(_answers(i, word) for word in wanted))
    if found:
        return found
    have = ", ".join(sorted({f"{i.a} x {i.b}" for i in listed}))
    raise LookupError(f"{on or 'the catalogue'} has no instruction that answers to {words!r}; inputs there are: {have}")


def _answers(i: Instruction, word: str) -> bool:
    if any(word in text.lower() for text in (i.name, i.model, *i.aliases)):
        return True
    if any(name.startswith(word) and (i.a, i.scale) == parts[:2] for name, parts in BLOCK_FORMATS.items()):
        return True
    try:
        return _core.format(word) in (i.a, i.b, i.c, i.d, i.scale)
    except LookupError:
        return word.startswith("fp") and word[2:] in {
            str(f.bits) for f in formats() if f.name in (i.a, i.b) and f.dtype.kind not in "iu"
        }
