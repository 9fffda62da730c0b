"""Recipes: named conversions of a network's tensors to operands of a matrix unit.

    >>> import numpy as np, softmma
    >>> from softmma import recipes
    >>> unit = recipes.Unit("H100", "fp8_rowwise")
    >>> x, w = np.float32([[1, 2, 3]]), np.float32([[1e-6], [2e-6], [3e-6]])
    >>> a = unit.prepare(x, "activations", "forward", "a")
    >>> b = unit.prepare(w, "weights", "forward", "b")
    >>> a.values.astype(float).tolist(), a.factor.tolist()
    ([[128.0, 256.0, 384.0]], [[0.0078125]])
    >>> unit.multiply(a, b).tolist()
    [[1.4066696166992188e-05]]

A layer has three products: forward, of activations and weights; dgrad, of gradients and weights; wgrad, of activations
and gradients. A recipe gives the format and the scaling of each of the three kinds of tensors. Scaling is in FP32 and
rounds after each operation, as `Operand` documents for each granularity; the unit computes the product.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from inspect import signature
from operator import index
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from softmma import _core
from softmma._plans import Plan
from softmma._products import Multiplier, is_unseen, matmul
from softmma._quantization import (
    FORMULAS,
    HADAMARD,
    SCALE_ROUNDINGS,
    SCALINGS,
    History,
    Operand,
    Prepared,
    Side,
    Statistics,
    kind_of,
    prepare,
)
from softmma._units import BLOCK_FORMATS, Instruction, chosen, formats, gpus, instructions

__all__ = [
    "FORMULAS",
    "HADAMARD",
    "SCALE_ROUNDINGS",
    "SCALINGS",
    "History",
    "Multiplied",
    "Operand",
    "Prepared",
    "Recipe",
    "Statistics",
    "Unit",
    "custom",
    "prepare",
    "recipe",
    "recipes",
]

Role = Literal["weights", "activations", "gradients"]
Product = Literal["forward", "dgrad", "wgrad", "other"]
_BITS = {format.name: format.bits for format in formats()}


@dataclass(frozen=True)
class Recipe:
    """Formats and scaling of weights, activations and gradients, and the accumulation of products.

    ``wgrad`` holds the operands of the product of activations and gradients, if they differ from the other products'.
    ``others`` is the operand format of products without a weight, for example attention (None: by the tensors' roles).
    ``accumulate`` is the format of the instruction's D (None: FP32, FP64 for f64, integers for s8). ``promote``
    (forward, backward) is the number of k after which the sum of FP8 products is added to an FP32 accumulator, on units
    that keep 13 fraction bits (`Instruction.keeps_13_bits`); with ``promote_everywhere`` on every unit and for all
    formats. ``round_in`` is the rounding mode of operands without a factor, as in `softmma.round`; None: that of the
    GPU's libraries (`softmma.matmul`). ``source`` cites the recipe's origin.
    """

    name: str
    weights: Operand
    activations: Operand
    gradients: Operand
    wgrad: tuple[Operand, Operand] | None = None
    others: Operand | None = None
    accumulate: str | None = None
    promote: tuple[int, int] = (0, 0)
    promote_everywhere: bool = False
    round_in: str | None = None
    source: str = ""

    def operand(self, role: Role, product: Product) -> Operand:
        """Returns how a tensor becomes an operand of a product: "forward", "dgrad", "wgrad", or "other" (no weight)."""
        for what, name, allowed in (("role", role, get_args(Role)), ("product", product, get_args(Product))):
            if name not in allowed:
                raise ValueError(f"{what}: {name!r} is not one of {', '.join(allowed)}")
        if product == "other" and self.others is not None:
            return self.others
        if product == "wgrad" and self.wgrad is not None and role != "weights":
            return self.wgrad[role == "gradients"]
        operand: Operand = getattr(self, role)
        return operand

    def __str__(self) -> str:
        parts = [f"{role} {getattr(self, role)}" for role in ("weights", "activations", "gradients")]
        if self.wgrad is not None:
            parts.append(f"in wgrad {self.wgrad[0]} and {self.wgrad[1]}")
        if self.others is not None:
            parts.append(f"others {self.others}")
        if self.accumulate is not None:
            parts.append(f"sums {self.accumulate}")
        return f"{self.name}: {', '.join(parts)}"


# ---- Recipes by name ----

_BF16 = Operand("bf16")
_TRANSFORMER_ENGINE = "Transformer Engine 2.20.0.dev0, d0067d0 (NVIDIA, 2026)"
_TORCHAO = "torchao 0.18.0 (2026), Float8LinearConfig"
_SOURCES = {
    "te": _TRANSFORMER_ENGINE,
    "ocp": "OCP Microscaling Formats 1.0 (2023)",
    "torchao": "torchao 0.18.0 (2026)",
    "torchao_intx": "torchao 0.18.0 (2026), IntxUnpackedToInt8Tensor",
    "torchao_float8": "torchao 0.18.0 (2026), Float8Tensor",
    "deepgemm": "DeepGEMM 54e2261 (2026)",
    "deepseek": "DeepSeek-V3 9b4e978 (2025)",
    "compressed_tensors": "compressed-tensors 0.20.0 (2026)",
    "qwix": "qwix aa623ac (2026)",
    "modelopt": "ModelOpt 0.47.0 (2026)",
    **{name: _TRANSFORMER_ENGINE for name in FORMULAS if name.startswith("te_")},
}


def _plain(name: str, format: str, accumulate: str | None = None, source: str = "") -> Recipe:
    operand = Operand(format)
    return Recipe(name, operand, operand, operand, accumulate=accumulate, source=source)


def _fp8(name: str, forward: Operand, backward: Operand, source: str, **more: Any) -> Recipe:
    return Recipe(name, forward, forward, backward, others=_BF16, source=source, **more)


def _known(formula: str, owners: dict[str, str]) -> str | None:
    """Returns an operand's formula: None for "te", which is the default."""
    if formula not in owners:
        raise ValueError(f"formula: {formula!r} is not one of {', '.join(owners)}")
    return None if formula == "te" else formula


def _tensorwise(formula: str = "te") -> Recipe:
    owner = {"te": f"{_TRANSFORMER_ENGINE}, Float8CurrentScaling", "torchao": f"{_TORCHAO}, 'tensorwise'"}
    return _fp8(
        "fp8_tensorwise", Operand("e4m3", "tensor", formula=_known(formula, owner)),
        Operand("e5m2", "tensor", formula=_known(formula, owner)), promote=(0, 128), source=owner[formula],
    )  # fmt: skip


def _delayed(history: int = 1024) -> Recipe:
    forward, backward = (Operand(format, "tensor", history=history) for format in ("e4m3", "e5m2"))
    source = f"{_TRANSFORMER_ENGINE}, DelayedScaling: margin 0, amax_compute_algo 'max'"
    return _fp8("fp8_delayed", forward, backward, promote=(0, 128), source=source)


def _rowwise(wgrad: str = "e4m3") -> Recipe:
    row = Operand("e4m3", "row", power_of_two=True, formula="torchao")
    source = f"{_TORCHAO}, 'rowwise'"
    if wgrad == "e4m3":
        return _fp8("fp8_rowwise", row, row, source)
    operand = Operand(wgrad)
    return _fp8("fp8_rowwise", row, row, f"{source}_with_gw_hp", wgrad=(operand, operand))


def _blocks(name: str, source: str, **more: Any) -> Recipe:
    line, square = (Operand("e4m3", scaling, **more) for scaling in ("1x128", "128x128"))
    return Recipe(name, square, line, line, others=_BF16, source=source)


def _blockwise(power_of_two: bool = True) -> Recipe:
    return _blocks("fp8_blockwise", f"{_TRANSFORMER_ENGINE}, Float8BlockScaling", power_of_two=power_of_two)


def _deepseek(formula: str = "deepgemm", power_of_two: bool = False) -> Recipe:
    owners = {
        "deepgemm": "DeepGEMM 54e2261 (2026), utils/math.py",
        "deepseek": "DeepSeek-V3 9b4e978 (2025), inference/kernel.py",
        "te": f"{_TRANSFORMER_ENGINE}, Float8BlockScaling with FP32 scales",
    }
    return _blocks("deepseek", owners.get(formula, ""), power_of_two=power_of_two, formula=_known(formula, owners))


def _mx(
    name: str, format: str, backward: str | None = None, scale_rounding: str | None = None, formula: str | None = None
) -> Recipe:
    forward, gradient = (
        Operand(f, "1x32", scale_rounding=scale_rounding, formula=formula) for f in (format, backward or format)
    )
    return _fp8(name, forward, gradient, _SOURCES[formula or "ocp"])


def _mxfp8(
    backward: str = "e4m3", scale_rounding: str | None = None, formula: str = "te", two_dimensional: bool = False
) -> Recipe:
    made = _mx("mxfp8", "e4m3", backward, scale_rounding, formula)
    square = replace(made.weights, scaling="32x32" if two_dimensional else "1x32")
    return replace(made, weights=square, source=f"{made.source}, MXFP8BlockScaling" if formula == "te" else made.source)


def _nvfp4(
    two_dimensional: bool = True,
    stochastic: bool = True,
    hadamard: bool = True,
    hadamard_in: str = "bf16",
    row_factors: bool = False,
    formula: str | None = None,
) -> Recipe:
    four_or_six = formula is not None and formula.startswith("te_4over6")
    if four_or_six and (hadamard or stochastic):
        raise ValueError(f"formula: {formula!r} goes with hadamard=False and stochastic=False")
    line = Operand("e2m1", "1x16", formula=formula)
    gradient = replace(line, stochastic=stochastic, formula=None if four_or_six else formula)
    transformed = (replace(each, hadamard=hadamard, hadamard_in=hadamard_in) for each in (line, gradient))
    return Recipe(
        "nvfp4", Operand("e2m1", "16x16" if two_dimensional else "1x16", formula=formula),
        replace(line, row_factors=row_factors), gradient, others=_BF16, wgrad=(next(transformed), next(transformed)),
        source=f"{_TRANSFORMER_ENGINE}, NVFP4BlockScaling; NVIDIA, Pretraining Large Language Models with NVFP4 (2025)"
        if formula is None or formula.startswith("te") else _SOURCES[formula],
    )  # fmt: skip


def _weight_only(
    name: str, format: str, scaling: str, compute: str = "bf16", formula: str | None = None,
    scale_rounding: str | None = None, zero_point: bool = False,
) -> Recipe:  # fmt: skip
    weights = Operand(
        format, scaling, compute=compute, formula=formula, scale_rounding=scale_rounding, zero_point=zero_point
    )
    rest = Operand(compute)
    source = f"{_SOURCES[weights.scaled_by[0]]}; multiplied out to {compute} before the product"
    return Recipe(f"weight_only_{name}", weights, rest, rest, source=source)


def _weight_only_integers(
    format: str,
    group: int,
    compute: str = "bf16",
    formula: str | None = "compressed_tensors",
    zero_point: bool = False,
    group_size: int | None = None,
) -> Recipe:
    size = group if group_size is None else group_size
    scaling = f"group{size}" if size else "row"
    return _weight_only(format, format, scaling, compute, formula, zero_point=zero_point)


_RECIPES: dict[str, Callable[..., Recipe]] = {
    "fp32": partial(_plain, "fp32", "f32"),
    "tf32": partial(_plain, "tf32", "tf32"),
    "bf16": partial(_plain, "bf16", "bf16"),
    "fp16": partial(_plain, "fp16", "f16"),
    "fp16_fp16": partial(_plain, "fp16_fp16", "f16", "f16"),
    "fp8_tensorwise": _tensorwise,
    "fp8_delayed": _delayed,
    "fp8_rowwise": _rowwise,
    "fp8_blockwise": _blockwise,
    "deepseek": _deepseek,
    "mxfp8": _mxfp8,
    "mxfp6": partial(_mx, "mxfp6", "e2m3"),
    "mxfp4": partial(_mx, "mxfp4", "e2m1"),
    "nvfp4": _nvfp4,
    "weight_only_s8": partial(_weight_only_integers, "s8", 0),
    "weight_only_s4": partial(_weight_only_integers, "s4", 128),
    "weight_only_e4m3": partial(_weight_only, "e4m3", "e4m3", "row"),
    "weight_only_mxfp4": partial(_weight_only, "mxfp4", "e2m1", "1x32"),
    "weight_only_nvfp4": partial(_weight_only, "nvfp4", "e2m1", "1x16"),
}


def recipes() -> list[Recipe]:
    """Returns all named recipes."""
    return [make() for make in _RECIPES.values()]


def recipe(name: str | Recipe, /, **options: Any) -> Recipe:
    """Returns a recipe by name.

    Options, with defaults in parentheses:

    - "fp8_tensorwise": ``formula`` ("te", or "torchao")
    - "fp8_delayed": ``history`` (1024)
    - "fp8_rowwise": ``wgrad``, a format for the gradients of weights that needs no scaling, such as "bf16"
    - "fp8_blockwise": ``power_of_two`` (True)
    - "deepseek": ``formula`` ("deepgemm", "deepseek" for DeepSeek-V3's own kernel, or "te"), ``power_of_two`` (False)
    - "mxfp8", "mxfp6", "mxfp4": ``backward``, a format for gradients; ``formula`` ("te" for "mxfp8", otherwise "ocp")
      and ``scale_rounding`` (the formula's) as in `Operand`; "mxfp8": ``two_dimensional`` (False), weights in blocks of
      32 x 32
    - "nvfp4": ``two_dimensional``, ``stochastic``, ``hadamard`` (True), ``hadamard_in`` ("bf16", or "f32"),
      ``row_factors`` of activations (False), ``formula`` ("te"; "te_4over6" and its variants are for weights and
      activations, with ``stochastic`` and ``hadamard`` False)
    - "weight_only_...": ``compute``, the format of products ("bf16"), and ``formula``; "weight_only_mxfp4" also
      ``scale_rounding``; "weight_only_s8", "weight_only_s4" also ``zero_point`` (False) and ``group_size`` (0 for the
      whole row in s8, 128 in s4)

    Any other option replaces the field of `Recipe` with its name.

    Raises LookupError for an unknown name, TypeError for an unknown option, ValueError for a wrong value of an option.
    """
    if not isinstance(name, Recipe) and name not in _RECIPES:
        raise LookupError(f"recipe: {name!r} is not one of {', '.join(_RECIPES)}")
    make: Callable[..., Recipe] = partial(replace, name) if isinstance(name, Recipe) else _RECIPES[name]
    own = {option: value for option, value in options.items() if option in signature(make).parameters}
    rest = {option: value for option, value in options.items() if option not in own}
    unknown = [option for option in rest if option not in Recipe.__dataclass_fields__]
    if unknown:
        raise TypeError(f"recipe {name} has no option {', '.join(unknown)}")
    return replace(make(**own), **rest)


def custom(
    weights: Any, activations: Any, gradients: Any = None, scaling: str = "tensor", promote_every: int = 0
) -> Recipe:
    """Makes a recipe from formats: block-scaled formats ("mxfp8_e4m3", "nvfp4"), or element formats with a scaling.

    ``scaling`` applies to formats of at most 8 bits; it is "tensor", "row", "block" (also "1x128") or "none".
    """
    scaling = "1x128" if scaling == "block" else scaling
    if scaling not in ("tensor", "row", "1x128", "none"):
        raise ValueError(f"scaling: {scaling!r} is not one of tensor, row, block, none")

    def operand(format: Any) -> Operand:
        if format in BLOCK_FORMATS:
            element, _, block = BLOCK_FORMATS[format]
            return Operand(element, f"1x{block}")
        name = _core.format(format)
        return Operand(name, scaling if _BITS.get(name, 16) <= 8 else "none")

    w, x, g = (operand(format) for format in (weights, activations, gradients or activations))
    if len({bool(each.block) for each in (w, x, g)}) == 2:
        names = " x ".join(str(format) for format in (activations, weights))
        raise ValueError(f"{names}: a block-scaled format goes with another one only")
    return Recipe("custom", w, x, g, promote=(promote_every, promote_every), promote_everywhere=True)


# ---- Products ----


class Unit:
    """Prepares and multiplies operands by a recipe on a GPU, an `Instruction`, or a `Custom` unit.

    FP8 formats are the GPU's: E4M3FNUZ and E5M2FNUZ if it has no others. Raises LookupError for an unknown GPU or
    recipe, and at the first use for formats that the unit does not multiply.
    """

    def __init__(
        self, on: Any, recipe_: str | Recipe = "bf16", *, threads: int = 0, seed: int = 0, kernel: str | None = None
    ):
        self.on = on
        self.recipe = recipe(recipe_)
        self.threads = threads
        self.kernel = kernel
        self.generator = np.random.default_rng(index(seed))
        self._operands: dict[tuple[Role, Product], Operand] = {}
        self._instructions: dict[tuple[Operand, Operand], Any] = {}
        self._inputs = {x for i in instructions(on) for x in (i.a, i.b)} if isinstance(on, str) else None

    def __repr__(self) -> str:
        on = self.on if isinstance(self.on, str) else self.on.name
        return f"<unit {on} with recipe {self.recipe.name}>"

    def operand(self, role: Role, product: Product) -> Operand:
        """Returns the recipe's operand, in formats of this GPU."""
        known = self._operands.get((role, product))
        if known is None:
            known = self.recipe.operand(role, product)
            own = f"{known.format}fnuz"
            if self._inputs and known.format not in self._inputs and own in self._inputs and not known.block:
                known = replace(known, format=own)
            if known.rounds_only and (self.recipe.round_in or known.format == "tf32"):
                known = replace(known, round_in=known.round_in or self.recipe.round_in or self._usual(known.format))
            self._operands[role, product] = known
        return known

    def _usual(self, format: str) -> str:
        """Returns the rounding mode of this GPU's libraries for a format."""
        there = instructions(self.on) if isinstance(self.on, str) else [self.on]
        found = next((i for i in there if format in (i.a, i.b)), None)
        return _core.operand_rounding(found, format)

    def prepare(
        self, x: ArrayLike, role: Role, product: Product, side: Side, *, history: History | None = None,
        measure: bool = False,
    ) -> Prepared:  # fmt: skip
        """Prepares an operand by its role (see `softmma.recipes.prepare`). Stochastic rounding uses the unit's seed."""
        operand = self.operand(role, product)
        across = operand.compute is not None and product == "dgrad"
        return prepare(
            x, operand, side, history=history, generator=self.generator, across=across, measure=measure,
            threads=self.threads,
        )  # fmt: skip

    def instruction(self, a: Operand, b: Operand) -> Instruction:
        """Returns the instruction that multiplies A and B."""
        kind_of(a, Operand, "a")
        kind_of(b, Operand, "b")
        if (a, b) not in self._instructions:
            self._instructions[a, b] = self._choose(a, b)
        found: Instruction = self._instructions[a, b]
        return found

    def _choose(self, a: Operand, b: Operand) -> Any:
        for operand in (a, b):
            if operand.compute is None and (operand.zero_point or operand.scaling.startswith("group")):
                raise ValueError(f"{operand}: groups and zero points need compute, the format of the product")
        if not isinstance(self.on, str):
            return self.on
        if bool(a.block) != bool(b.block) or a.hadamard != b.hadamard:
            raise ValueError(f"{a} x {b}: both operands of a product, or neither, have {_shared(a, b)}")
        if not a.block:
            return chosen(self.on, None, (a.enters, b.enters), self.recipe.accumulate)
        found = _scaled_instruction(self.on, a, b)
        if found is None:
            first = {gpu.arch: gpu.name for gpu in reversed(gpus())}  # one GPU of each architecture
            others = [name for name in reversed(first.values()) if _scaled_instruction(name, a, b)]
            have = f"; it is in {', '.join(others)}" if others else "; no GPU has one"
            raise LookupError(
                f"{self.on} has no instruction for {a.format} x {b.format} with factors of {a.block} elements{have}"
            )
        return found

    def arguments(self, a: Operand, b: Operand, product: Product) -> dict[str, Any]:
        """Returns `softmma.matmul`'s arguments, without operands and factors."""
        instruction = self.instruction(a, b)
        arguments: dict[str, Any] = {"on": instruction, "threads": self.threads, "kernel": self.kernel}
        if not a.block:
            arguments["in_dtype"] = a.enters, b.enters
        modes = {x.round_in for x in (a, b) if x.rounds_only}
        if len(modes) == 1:
            arguments["round_in"] = modes.pop()
        columns = {SCALINGS[x.scaling][1] for x in (a, b) if x.compute is None}
        if columns == {128}:
            arguments["plan"] = _BLOCKS_OF_128
        elif 128 in columns:
            raise ValueError(f"{a} x {b}: both operands of a product, or neither, have factors of 128 elements along K")
        else:
            promote = self.recipe.promote[product in ("dgrad", "wgrad")]
            if promote and (self.recipe.promote_everywhere or instruction.keeps_13_bits):
                arguments["promote_every"] = promote
        return arguments

    def multiply(self, a: Prepared, b: Prepared, product: Product = "forward") -> NDArray[Any]:
        """Returns A B in FP32 (FP64 for f64), of shape (..., M, N), without the axes added to vectors."""
        kind_of(a, Prepared, "a")
        kind_of(b, Prepared, "b")
        arguments = self.arguments(a.operand, b.operand, product)
        if b.values.shape[-2] == 0:
            arguments.pop("plan", None)  # with K = 0 there are no partial sums
        scales = (a.scales, b.scales) if "plan" in arguments or a.operand.block else (None, None)
        d = matmul(a.values, b.values, scale_a=scales[0], scale_b=scales[1], **arguments)
        return finished(d, a, b)

    def multiplier(self, b: Prepared, a: Operand, product: Product = "forward") -> Multiplied:
        """Returns B, a matrix, as a multiplier for many products with operands like A."""
        kind_of(a, Operand, "a")
        kind_of(b, Prepared, "b")
        return Multiplied(self, b, a, product)


def _scaled_instruction(gpu: str, a: Operand, b: Operand) -> Instruction | None:
    """Returns the GPU's instruction that multiplies A and B with factors of their blocks."""
    scale = "ue4m3" if a.block == 16 else "ue8m0"
    wanted = [a.format, b.format, "f32", scale, a.block]
    return next((i for i in instructions(gpu) if [i.a, i.b, i.d, i.scale, i.scale_block] == wanted), None)


class Multiplied:
    """A prepared B, held for many products (`softmma.Multiplier`)."""

    def __init__(self, unit: Unit, b: Prepared, a: Operand, product: Product):
        arguments = unit.arguments(a, b.operand, product)
        if b.values.shape[-2] == 0:
            arguments.pop("plan", None)  # with K = 0 there are no partial sums
        self._takes_scales = "plan" in arguments or a.block > 0
        self._kept = Multiplier(b.values, scale_b=b.scales if self._takes_scales else None, **arguments)
        self._b = b._replace(values=np.empty(0), scales=None)
        self.nbytes = self._kept.nbytes

    def multiply(self, a: Prepared) -> NDArray[Any]:
        """Returns the same product as `Unit.multiply`."""
        scales = a.scales if self._takes_scales else None
        return finished(self._kept.matmul(a.values, scale_a=scales), a, self._b)


_BLOCKS_OF_128 = Plan(
    {"name": "blocks of 128", "d": "f32", "sum": [{"deal": "every", "k": 128, "from": "zero", "with": "fma"}]}
)


def finished(d: NDArray[Any], a: Prepared, b: Prepared) -> NDArray[Any]:
    """Converts a product to FP32 and multiplies it by the product of both operands' factors; by factors of columns and
    then of rows, if both have scaling "row"."""
    d = np.asarray(d)
    if d.dtype != np.float64 and d.dtype != np.float32:
        d = d.astype(np.float32)
    factors = [x.factor for x in (b, a) if x.factor is not None]
    if len(factors) == 2 and {a.operand.scaling, b.operand.scaling} != {"row"}:
        factors = [factors[0] * factors[1]]
    with np.errstate(over="ignore", invalid="ignore"):
        for factor in factors:
            d = np.multiply(d, factor, out=d if is_unseen() else None)
    return d.squeeze(tuple(axis for axis, x in ((-2, a), (-1, b)) if x.vector)) if a.vector or b.vector else d


def _shared(a: Operand, b: Operand) -> str:
    return "a Hadamard transform" if a.hadamard != b.hadamard else f"factors of {a.block or b.block} elements"
