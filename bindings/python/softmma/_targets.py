"""Targets: the units of one product in a comparison."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from softmma import _core
from softmma._plans import Plan
from softmma._products import matmul, positional
from softmma._units import Instruction, chosen, instruction, text_of

_SIGNATURE = inspect.signature(matmul)
AnyPlan = Plan | Mapping[str, Any] | str | Path | None


def several(one: Any, what: str) -> Sequence[Any]:
    """Returns a list, of `completed` units, or anything else as a list of one. Raises ValueError for an empty list."""
    if isinstance(one, (list, tuple)) and not one:
        raise ValueError(f"{what}: the list is empty")
    return completed(one) if isinstance(one, (list, tuple)) else (one,)


def completed(on: Sequence[Any]) -> list[Any]:
    """Returns the units. A name without a GPU, such as ":tf32", gets the GPU of the unit before it."""
    units: list[Any] = []
    for unit in on:
        before = units[-1] if units else None
        if isinstance(unit, str) and unit.startswith(":") and isinstance(before, str):
            unit = _core.split_target(before)[0] + unit
        units.append(unit)
    return units


def named_results(d: Any) -> tuple[tuple[str, Any], ...]:
    """Returns (name, array) for each of the user's own results: an array, a list of arrays, or {name: array}."""
    if d is None:
        return ()
    if isinstance(d, Mapping):
        return tuple((str(name), each) for name, each in d.items())
    listed = isinstance(d, (list, tuple)) and len(d) > 0 and all(np.ndim(each) == 2 for each in d)
    return tuple((f"d[{n}]", each) for n, each in enumerate(d)) if listed else (("d", d),)


def label(unit: str | Instruction) -> str:
    """Returns the name of a target: the instruction's name, or the GPU's name as the caller wrote it."""
    return unit.name if isinstance(unit, Instruction) else text_of(unit, "a unit", "a GPU's name or an Instruction")


def read_c(c: Any, on: Sequence[Any], instr: Any = None, in_dtype: Any = None, out_dtype: Any = None) -> Any:
    """Returns the C of all units. As in `matmul`, unsigned integers are numbers, which this converts to float64, unless
    a unit or an argument names formats: then they are encodings. Raises ValueError if units differ in this."""
    if c is None or np.asarray(c).dtype.kind != "u":
        return c
    named = [_core.names_formats(unit, instr, in_dtype, out_dtype) for unit in on]
    if any(named) != all(named):
        encoded, other = on[named.index(True)], on[named.index(False)]
        raise ValueError(
            f"c: unsigned integers are encodings on {label(encoded)}, which names formats, but numbers on {label(other)}; "
            "name formats for all units, or for none"
        )
    return c if all(named) else _core.numbers(c, "c")


def own_format(a: NDArray[Any], b: NDArray[Any]) -> Any:
    """Returns the arrays' own formats if they are named floating-point formats of at most 16 bits; otherwise "f16"."""
    own = tuple(
        x.dtype.name if x.dtype.itemsize <= 2 and x.dtype.kind not in "iub" and x.dtype != np.float16 else "f16"
        for x in (a, b)
    )
    return own[0] if own[0] == own[1] else own


def warn_of_f16(on: Sequence[Any], first: Instruction, level: int) -> None:
    """Warns if units that are given without a format compute in FP16, but the first unit, with ``first``, does not.
    ``level`` is the number of calls from here to the user's."""
    named = [isinstance(unit, Instruction) or _core.split_target(unit)[1] is not None for unit in on]
    if first.a != "f16" and named[0] and not all(named):
        gpu = on[named.index(False)]
        text = f"{gpu} is given without a format, so it computes in f16; {gpu}:FORMAT names another"
        warnings.warn(text, UserWarning, stacklevel=level + 1)


def target_instruction(unit: str | Instruction, instr: Any, in_dtype: Any, out_dtype: Any) -> Instruction:
    """Returns the instruction of an Instruction, "GPU", "GPU:FORMAT", "GPU:A:B" or "GPU:INSTRUCTION"."""
    if isinstance(unit, Instruction):
        return unit
    gpu, more = _core.split_target(label(unit))
    if more is None:
        return instr if isinstance(instr, Instruction) else chosen(gpu, instr, in_dtype, out_dtype)
    try:
        return chosen(gpu, None, more, out_dtype)
    except LookupError as error:
        try:
            return instruction(gpu, more)
        except LookupError:
            raise error from None


def rounded_target(
    unit: str | Instruction, instr: Any, in_dtype: Any, out_dtype: Any
) -> tuple[Instruction, Plan | None]:
    """Returns the instruction of a target, and the plan that rounds D to float16 or bfloat16 if no instruction has it."""
    try:
        return target_instruction(unit, instr, in_dtype, out_dtype), None
    except LookupError:
        d = None if out_dtype is None else _core.format(out_dtype)
        if d not in ("f16", "bf16"):
            raise
        single = target_instruction(unit, instr, in_dtype, None)
        if single.d != "f32":
            raise
        return single, Plan({"name": "rounding of D", "d": d, "epilogue": ["linear"]})


def with_rounding(target: Target, instruction: Instruction, rounding: Plan | None) -> Target:
    """Returns the target with its instruction, and with the plan that rounds D unless its own plan does."""
    own = target.plan
    if rounding is not None and own is not None and own.d != rounding.d:
        raise ValueError(f'out_dtype: the plan {own.name} has no D in {rounding.d}; give it "d": "{rounding.d}"')
    return target._replace(unit=instruction, plan=rounding if own is None else own)


class Target(NamedTuple):
    """A target as the caller gave it."""

    unit: str | Instruction
    plan: Plan | None
    plan_text: str | None
    round_in: str | None


def targets(on: Sequence[str | Instruction], plan: Any, round_in: Any) -> list[Target]:
    """Returns the targets in ``on``, with ``plan`` and ``round_in``: one value for all, or a list with one for each."""
    plans = [*plan] if isinstance(plan, (list, tuple)) else [plan] * len(on)
    of = f"{len(on)} target" + "s" * (len(on) != 1)
    if len(plans) != len(on):
        raise ValueError(f"plan: {len(plans)} plans for {of}; give one for all, or one for each")
    modes = [round_in] * len(on) if round_in is None or isinstance(round_in, str) else [*round_in]
    if len(modes) != len(on):
        raise ValueError(f"round_in: {len(modes)} rounding modes for {of}; give one, or one for each")
    made = [p if p is None or isinstance(p, Plan) else Plan(p) for p in plans]
    texts = [_plan_text(given, p) if plan is not None else None for given, p in zip(plans, made)]
    return [Target(*each) for each in zip(on, made, texts, modes)]


def _plan_text(given: AnyPlan, made: Plan | None) -> str:
    if made is None:
        return "none"
    return str(given) if isinstance(given, Path) or (isinstance(given, str) and "{" not in given) else made.name


def product(
    name: str, target: Target, a: Any, b: Any, c: Any, arguments: Mapping[str, Any], inputs: Any = None
) -> tuple[str, str | None, tuple[Any, ...]]:
    """Returns the arguments of a target's product for the extension module.

    ``inputs`` is the default of in_dtype; if it is None, the default is the arrays' own format. A and B are quantised
    for block-scaled instructions."""
    own = dict(arguments)
    on: Any = target.unit
    formats = {"in_dtype": own.get("in_dtype", inputs), "out_dtype": own.get("out_dtype")}
    named = own.get("scale_a") is None and (own.get("instr") is not None or formats["in_dtype"] is not None)
    if isinstance(on, str) and (":" in on or named):
        on, rounding = rounded_target(on, own.pop("instr", None), **formats)
        target = with_rounding(target, on, rounding)
        own.pop("in_dtype", None), own.pop("out_dtype", None)
    if isinstance(on, Instruction) and on.scale and a is not None and own.get("scale_a") is None:
        a, own["scale_a"], of_a = _core.quantize(np.asarray(a), on.a, on.scale, on.scale_block)
        b, scales, of_b = _core.quantize(np.asarray(b).T, on.b, on.scale, on.scale_block)
        b, own["scale_b"], own["alpha"] = b.T, scales.T, own.get("alpha", 1.0) * (of_a * of_b)
    given = _SIGNATURE.bind(a, b, c, on=on, plan=target.plan, round_in=target.round_in, **own)
    given.apply_defaults()
    return name, target.plan_text, tuple(positional(given.arguments))
