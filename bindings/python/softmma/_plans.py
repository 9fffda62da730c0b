"""Plans: the order of a library's sums around the instruction, and its epilogue."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from softmma import _core
from softmma._units import Instruction, chosen, text_of


class Plan:
    """How a library computes an element of a product: how K is divided into parts, the order in which their sums are
    added, and the epilogue.

    ``description`` is the content of a plan's file (docs/plans.md): a mapping, its JSON text, or the path of such a
    file (a `Path`, or a str that ends in ".json"); or the name of a library with a single plan ("deepgemm"). `plan`
    makes the plans of cuBLASLt. Raises ValueError for an invalid description, with line and column in the JSON text and
    the allowed values.

    ``text`` is the plan as JSON, and ``value`` is the same content as a dict. ``name``, ``sources`` and ``d`` (the
    format of D, or None) come from the description.

        >>> import numpy as np, softmma
        >>> x = np.float16([[1, 2**-14, 2**-14, 1]])
        >>> halves = softmma.Plan({"name": "halves", "sum": [{"deal": "contiguous", "parts": 2}]})
        >>> halves
        <plan halves: contiguous 2 of 1>
        >>> softmma.matmul(x, np.ones((4, 1), np.float16), plan=halves, on="A100", out_dtype="f16").item()
        2.0
    """

    def __init__(self, description: Mapping[str, Any] | str | Path):
        self._handle = _parse(description)
        self.text = _core.plan_text(self._handle)
        description = self.to_dict()
        self.name: str = description["name"]
        self.sources: tuple[str, ...] = tuple(description.get("sources", ()))
        self.d: str | None = description.get("d")

    @property
    def value(self) -> dict[str, Any]:
        """The content of the plan's file as a dict, as ``softmma plan`` prints it."""
        return self.to_dict()

    def to_dict(self) -> dict[str, Any]:
        """Returns the content of the plan's file as a new dict, equal to ``value``. Change it and pass it to `Plan` to
        make another plan."""
        content: dict[str, Any] = json.loads(self.text)
        return content

    def __repr__(self) -> str:
        description = self.to_dict()
        levels = [_level_text(level) for level in description["sum"]] or ["one chain"]
        return f"<plan {self.name}: {', '.join(levels)}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Plan) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __reduce__(self) -> tuple[Any, ...]:
        return Plan, (self.text,)


def _parse(description: Mapping[str, Any] | str | Path) -> Any:
    if isinstance(description, Mapping):
        return _core.plan("plan", json.dumps({"softmma-plan": 1, **description}, indent=2))
    if not isinstance(description, (str, Path)):
        raise TypeError(f"a plan is a mapping, a JSON text, a file or a name, not {type(description).__name__}")
    if isinstance(description, Path) or description.endswith(".json"):
        return _core.plan(str(description), Path(description).read_text(encoding="utf-8"))
    if description.lstrip().startswith("{"):
        return _core.plan("plan", description)
    return _core.library_plan(description, None, None, (0, 0, 0), (-1,) * 9, False, -1, -1, False, False, False)


def _level_text(level: dict[str, Any]) -> str:
    """Returns text such as 'contiguous 4 of 128, halving'."""
    parts, size = level.get("parts"), level.get("grain", level.get("tile", level.get("k")))
    words = [level["deal"]]
    if level["deal"] == "list":
        words.append(f"of {len(level['list'])} parts")
    else:
        words.append(f"{parts} of {size}" if parts else str(size))
    return " ".join(words + [level["fold"]] * (level["fold"] != "serial"))


def handle_of(plan: Plan | Mapping[str, Any] | str | Path | None) -> Any:
    """Returns the handle that the extension module takes."""
    return plan if plan is None else (plan if isinstance(plan, Plan) else Plan(plan))._handle


def plan(
    as_: str,
    *,
    on: str | Instruction | None = None,
    instr: str | None = None,
    in_dtype: Any = None,
    out_dtype: Any = None,
    m: int = 0,
    n: int = 0,
    k: int = 0,
    algo: int = -1,
    tile: int = -1,
    splitk: int = -1,
    reduction: int = -1,
    swizzle: int = -1,
    custom: int = -1,
    stages: int = -1,
    inner: int = -1,
    cluster: int = -1,
    fast: bool = False,
    workspace: int | None = None,
    epilogue: int = -1,
    with_c: bool = False,
    a_strided: bool = False,
    b_strided: bool = False,
) -> Plan:
    """Returns the plan of a library's product, by measured rules (docs/plans.md).

    ``as_`` is one of `plan_libraries`; "cublaslt:13.1" is the plan on the GPU ``on``. ``on``, ``instr`` and
    ``in_dtype`` choose the instruction as in `matmul`; ``out_dtype`` is the format of D. ``algo``, ``tile``,
    ``splitk``, ``reduction``, ``swizzle``, ``custom``, ``stages``, ``inner`` and ``cluster`` are cuBLASLt's choice for
    the product, as cublasLtMatmulAlgoConfigGetAttribute returns them; -1: not known. A GPU's name ``on`` is ignored
    unless ``instr`` or ``in_dtype`` is also given or the library is cuBLASLt. With ``workspace``, in bytes, instead,
    cuBLASLt 12.8's choice is used if it is recorded for the shape. ``fast`` is FP8 with fast accumulation. ``epilogue``
    is a cublasLtEpilogue_t: 4 for a bias, 6 for a bias and ReLU. ``with_c`` says that beta is not 0, or, if there is no
    bias, that alpha is not 1. ``a_strided`` and ``b_strided`` say that elements of A or B with successive k are not
    adjacent in memory. Raises ValueError if a number is missing that only the library knows, or no plan is known.

        >>> import softmma
        >>> softmma.plan("cublaslt:13.1", on="H100", in_dtype="f16", k=8192, algo=66, stages=35, splitk=3).to_dict()["sum"]
        [{'deal': 'contiguous', 'parts': 3, 'grain': 64, 'fold': 'serial', 'from': 'first'}]
    """
    if text_of(as_, "as_", "a library's name").startswith("cublaslt:") and "/" not in as_ and isinstance(on, str):
        as_ = f"{as_}/{on}"
    instruction = on
    if isinstance(on, str):
        instruction = chosen(on, instr, in_dtype, None) if instr is not None or in_dtype is not None else None
    algorithm = algo, tile, splitk, reduction, swizzle, custom, stages, inner, cluster
    return Plan(
        _core.plan_text(
            _core.library_plan(
                as_,
                instruction,
                out_dtype,
                (m, n, k),
                algorithm,
                fast,
                -1 if workspace is None else workspace,
                epilogue,
                with_c,
                a_strided,
                b_strided,
            )
        )
    )


def plan_libraries() -> list[str]:
    """Returns the names of libraries with known plans."""
    return _core.plan_libraries()
