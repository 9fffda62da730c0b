"""PyTorch's products of tensors with scale factors, and of groups (mixtures of experts).

The conventions are those of PyTorch's ScaledBlas.cpp and GroupedBlas.cpp, and of the functions to_blocked and
torch_to_blocked_2d_M_groups, ..._K_groups, ..._per_group_3d of torchao 0.18.0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from softmma import _core
from softmma._scaled import Scaling, instruction_for, scaling_of, swizzled_size, times_factors
from softmma._units import Instruction, dtype
from softmma.torch._call import Call
from softmma.torch._roles import WEIGHTS
from softmma.torch._tensors import array, format_name, is_packed, outline

# ScalingType of torch.nn.functional, and the kinds of softmma._scaled.Scaling.
_TENSOR, _ROW, _1X16, _1X32, _1X128, _128X128 = range(6)
_KINDS = {_TENSOR: "tensor", _ROW: "row", _1X128: "128", _128X128: "128"}
_NO_SWIZZLE, _SWIZZLE_32_4_4 = 0, 1


class _Scaled(NamedTuple):
    """How a product is scaled: by factors, and by a number (NVFP4's tensors)."""

    scaling: Scaling
    alpha: Any = None


def _one_level(
    a: Tensor, b: Tensor, scale_a: Tensor, scale_b: Tensor, kind: str | None = None, swizzled: bool = True
) -> _Scaled | None:
    """Reads factors in the layout of `torch._scaled_mm`, which swizzles the factors of MX and NVFP4."""
    of_a, of_b = array(scale_a.cpu()), array(scale_b.cpu())
    found = scaling_of(outline(a, 1), outline(b, 0), of_a, of_b, swizzled=swizzled, kind=kind)
    return None if found is None else _Scaled(found)


def _read(a: Tensor, b: Tensor, scale_a: Tensor, scale_b: Tensor, *_: Any, **__: Any) -> _Scaled | None:
    return _one_level(a, b, scale_a, scale_b)


def _of_recipe(scale: Tensor, recipe: int, swizzled: bool, lines: int, k: int, of_b: bool) -> Tensor:
    """Returns factors of `torch._scaled_mm_v2` as `torch._scaled_mm` takes them."""
    if recipe == _1X128:
        return scale.t() if of_b else scale
    if recipe == _128X128:  # K is the first axis, padded to a multiple of 4
        return scale[: -(-k // 128)] if of_b else scale.t()[:, : -(-k // 128)]
    if recipe in (_1X16, _1X32) and not swizzled:
        scale = scale.reshape(lines, -1)
        return scale.t() if of_b else scale
    return scale


def _read_v2(
    a: Tensor,
    b: Tensor,
    scale_a: Sequence[Tensor],
    recipe_a: Sequence[int],
    swizzle_a: Sequence[int],
    scale_b: Sequence[Tensor],
    recipe_b: Sequence[int],
    swizzle_b: Sequence[int],
    *_: Any,
    **__: Any,
) -> _Scaled | None:
    recipes, swizzles = (list(recipe_a), list(recipe_b)), {*swizzle_a[:1], *swizzle_b[:1]} or {_NO_SWIZZLE}
    two_levels = recipes == ([_1X16, _TENSOR], [_1X16, _TENSOR])
    kinds = {_KINDS.get(x[0]) for x in recipes}
    if not two_levels and {len(x) for x in (*recipes, scale_a, scale_b)} != {1}:
        return None
    if len(swizzles) > 1 or len(kinds) > 1 or not swizzles <= {_NO_SWIZZLE, _SWIZZLE_32_4_4}:
        return None
    swizzled, k = swizzles == {_SWIZZLE_32_4_4}, a.shape[1] * (1 + is_packed(a))
    of_a = _of_recipe(scale_a[0], recipe_a[0], swizzled, a.shape[0], k, False)
    of_b = _of_recipe(scale_b[0], recipe_b[0], swizzled, b.shape[1], k, True)
    found = _one_level(a, b, of_a, of_b, kinds.pop(), swizzled)
    return found._replace(alpha=scale_a[1] * scale_b[1]) if found and two_levels else found


def _finish(
    call: Call, a: Tensor, b: Tensor, scaled: _Scaled, fast: bool, bias: Tensor | None, scale_result: Tensor | None
) -> Tensor:
    kind, scale_a, scale_b, _ = scaled.scaling
    d = call.product_as_is(a, b, scaled.scaling, fast)
    if kind in ("tensor", "row"):
        d = times_factors(
            d, kind, *(torch.tensor(np.ascontiguousarray(x), device=d.device) for x in (scale_a, scale_b))
        )
    d = d if scaled.alpha is None else d * scaled.alpha.to(d.device)
    d = d if bias is None else d + bias
    return d if scale_result is None else d * scale_result


def _scaled_mm(
    call: Call,
    a: Tensor,
    b: Tensor,
    scale_a: Tensor,
    scale_b: Tensor,
    bias: Tensor | None = None,
    scale_result: Tensor | None = None,
    out_dtype: torch.dtype | None = None,
    use_fast_accum: bool = False,
) -> Tensor:
    scaled = _read(a, b, scale_a, scale_b)
    assert scaled is not None
    return _finish(call, a, b, scaled, use_fast_accum, bias, scale_result).to(out_dtype or a.dtype)


def _scaled_mm_v2(
    call: Call,
    a: Tensor,
    b: Tensor,
    scale_a: Sequence[Tensor],
    recipe_a: Sequence[int],
    swizzle_a: Sequence[int],
    scale_b: Sequence[Tensor],
    recipe_b: Sequence[int],
    swizzle_b: Sequence[int],
    bias: Tensor | None = None,
    out_dtype: torch.dtype | None = None,
    contraction_dim: Sequence[int] = (),
    use_fast_accum: bool = False,
) -> Tensor:
    scaled = _read_v2(a, b, scale_a, recipe_a, swizzle_a, scale_b, recipe_b, swizzle_b)
    assert scaled is not None
    return _finish(call, a, b, scaled, use_fast_accum, bias, None).to(out_dtype or torch.bfloat16)


# ---- Groups ----


class _Group(NamedTuple):
    """One product of a grouped product: its operands, its index in D, and the lines of a 2-D operand that belong to
    it."""

    number: int
    a: Tensor
    b: Tensor
    place: Any
    lines: slice


def _has_groups(a: Tensor, b: Tensor, *others: Any, offs: Tensor | None = None, **_: Any) -> bool:
    """Reports whether ends of groups are given exactly when they are needed: if A or B has only two axes."""
    ends = offs is not None or any(isinstance(x, Tensor) and x.dtype == torch.int32 for x in others)
    return ends == (2 in (a.dim(), b.dim()))


def _groups(a: Tensor, b: Tensor, offs: Tensor | None) -> tuple[list[_Group], tuple[int, ...]]:
    """Returns the products of a grouped product, and D's shape. ``offs`` has the end of each group."""
    if offs is None:
        n = range(a.shape[0])
        return [_Group(g, a[g], b[g], g, slice(None)) for g in n], (a.shape[0], a.shape[1], b.shape[2])
    ends = [int(end) for end in offs.tolist()]
    lines = [slice(start, end) for start, end in zip([0, *ends], ends)]
    if a.dim() == 2 and b.dim() == 3:
        return [_Group(g, a[s], b[g], s, s) for g, s in enumerate(lines)], (a.shape[0], b.shape[2])
    if a.dim() == 3:
        every = slice(None)
        return [_Group(g, a[g], b[:, s], (every, s), s) for g, s in enumerate(lines)], (a.shape[1], b.shape[1])
    return [_Group(g, a[:, s], b[s], g, s) for g, s in enumerate(lines)], (len(ends), a.shape[0], b.shape[1])


def _grouped(
    a: Tensor, b: Tensor, offs: Tensor | None, multiply: Callable[[_Group], Tensor], out_dtype: torch.dtype
) -> Tensor:
    """Puts the groups' products together. Rows and columns that belong to no group, and products without K, are 0."""
    groups, shape = _groups(a, b, offs)
    d = torch.zeros(shape, dtype=out_dtype, device=a.device)
    for group in groups:
        if group.a.numel() and group.b.numel():
            d[group.place] = multiply(group).to(out_dtype)
    return d


def _grouped_mm(
    call: Call,
    a: Tensor,
    b: Tensor,
    offs: Tensor | None = None,
    bias: Tensor | None = None,
    out_dtype: torch.dtype | None = None,
) -> Tensor:
    """Multiplies each group separately, as one chain over K. This order is assumed, not measured."""
    if not _has_groups(a, b, offs=offs):
        raise RuntimeError("offs: the ends of groups go with an operand of two axes, and only with such")
    roles = call.role(a), call.role(b)
    source = b if roles[1] == WEIGHTS else None

    def multiply(group: _Group) -> Tensor:
        d = call.product(group.a, group.b, roles=roles, source=source)
        return d if bias is None else d + (bias[group.number] if bias.dim() == 2 else bias)

    return _grouped(a, b, offs, multiply, out_dtype or a.dtype)


def _segments(x: Tensor, scale: Tensor, groups: list[_Group], of_b: bool) -> Iterator[Tensor]:
    """Yields the factors of one operand for each group, in the form that `torch._scaled_mm` takes. Raises ValueError if
    their shape is invalid."""
    both_2d, first = groups[0].a.dim() == 2 and x.dim() == 2 and isinstance(groups[0].place, int), 0
    for group in groups:
        operand = group.b if of_b else group.a
        lines, k = (operand.shape[1], operand.shape[0]) if of_b else tuple(operand.shape)
        if scale.dtype == torch.float32:
            part = scale[group.number] if x.dim() == 3 else scale[group.lines]
            part = scale[group.number * lines : (group.number + 1) * lines] if both_2d else part
            if part.shape != (lines,):
                raise ValueError(f"scale factors {tuple(scale.shape)}")
            yield part[None] if of_b else part[:, None]
            continue
        k *= 1 + is_packed(x)
        size = swizzled_size(lines, -(-k // (32 if scale.dtype == torch.float8_e8m0fnu else 16)))
        flat = (scale[group.number] if x.dim() == 3 else scale).reshape(-1)
        start, first = (0, 0) if x.dim() == 3 else (first, first + size)
        if start + size > len(flat):
            raise ValueError(f"scale factors {tuple(scale.shape)}")
        yield flat[start : start + size]


def _read_groups(
    a: Tensor, b: Tensor, scale_a: Tensor, scale_b: Tensor, offs: Tensor | None = None, *_: Any, **__: Any
) -> list[_Scaled] | None:
    groups = _groups(a, b, offs)[0]
    try:
        pairs = list(zip(_segments(a, scale_a, groups, False), _segments(b, scale_b, groups, True)))
    except (ValueError, IndexError):
        return None
    kind = "row" if scale_a.dtype == torch.float32 else None
    found = [_one_level(group.a, group.b, *pair, kind) for group, pair in zip(groups, pairs)]
    return None if None in found else [each for each in found if each is not None]


def _read_groups_v2(
    a: Tensor,
    b: Tensor,
    scale_a: Sequence[Tensor],
    recipe_a: Sequence[int],
    swizzle_a: Sequence[int],
    scale_b: Sequence[Tensor],
    recipe_b: Sequence[int],
    swizzle_b: Sequence[int],
    offs: Tensor | None = None,
    *_: Any,
    **__: Any,
) -> list[_Scaled] | None:
    recipes = list(recipe_a), list(recipe_b)
    two_levels = recipes == ([_1X16, _TENSOR], [_1X16, _TENSOR])
    rows = recipes == ([_ROW], [_ROW])
    if not (two_levels or rows or recipes in (([_1X32], [_1X32]), ([_1X16], [_1X16]))):
        return None
    if not rows and {*swizzle_a[:1], *swizzle_b[:1]} != {_SWIZZLE_32_4_4}:
        return None
    found = _read_groups(a, b, scale_a[0], scale_b[0], offs)
    if found is None or not two_levels:
        return found
    alpha = (scale_a[1] * scale_b[1]).reshape(-1).expand(len(found)) if scale_a[1].numel() == 1 else None
    alpha = (scale_a[1] * scale_b[1]).reshape(-1) if alpha is None else alpha
    return [each._replace(alpha=number) for each, number in zip(found, alpha)] if len(alpha) == len(found) else None


def _scaled_groups(
    call: Call,
    a: Tensor,
    b: Tensor,
    scaled: list[_Scaled] | None,
    offs: Tensor | None,
    bias: Tensor | None,
    out_dtype: torch.dtype | None,
    fast: bool,
) -> Tensor:
    assert scaled is not None

    def multiply(group: _Group) -> Tensor:
        return _finish(call, group.a, group.b, scaled[group.number], fast, bias, None)

    return _grouped(a, b, offs, multiply, out_dtype or torch.bfloat16)


def _scaled_grouped_mm(
    call: Call,
    a: Tensor,
    b: Tensor,
    scale_a: Tensor,
    scale_b: Tensor,
    offs: Tensor | None = None,
    bias: Tensor | None = None,
    scale_result: Tensor | None = None,
    out_dtype: torch.dtype | None = None,
    use_fast_accum: bool = False,
) -> Tensor:
    scaled = _read_groups(a, b, scale_a, scale_b, offs)
    return _scaled_groups(call, a, b, scaled, offs, bias, out_dtype, use_fast_accum)


def _scaled_grouped_mm_v2(
    call: Call,
    a: Tensor,
    b: Tensor,
    scale_a: Sequence[Tensor],
    recipe_a: Sequence[int],
    swizzle_a: Sequence[int],
    scale_b: Sequence[Tensor],
    recipe_b: Sequence[int],
    swizzle_b: Sequence[int],
    offs: Tensor | None = None,
    bias: Tensor | None = None,
    out_dtype: torch.dtype | None = None,
    contraction_dim: Sequence[int] = (),
    use_fast_accum: bool = False,
) -> Tensor:
    scaled = _read_groups_v2(a, b, scale_a, recipe_a, swizzle_a, scale_b, recipe_b, swizzle_b, offs)
    return _scaled_groups(call, a, b, scaled, offs, bias, out_dtype, use_fast_accum)


SCALED: dict[str, Callable[..., Any]] = {
    "_scaled_mm": _scaled_mm,
    "_scaled_mm_v2": _scaled_mm_v2,
    "_scaled_grouped_mm": _scaled_grouped_mm,
    "_scaled_grouped_mm_v2": _scaled_grouped_mm_v2,
}
"""The operations with scale factors, by name."""

GROUPED: dict[str, Callable[..., Any]] = {"_grouped_mm": _grouped_mm}

_READERS: dict[str, Callable[..., Any]] = {
    "_scaled_mm": _read,
    "_scaled_mm_v2": _read_v2,
    "_scaled_grouped_mm": _read_groups,
    "_scaled_grouped_mm_v2": _read_groups_v2,
}


def why_not(on: str | Instruction, base: str, args: tuple[Any, ...], kwargs: Any) -> str | None:
    """Returns why an operation of SCALED is not emulated: other factors, or an instruction that the unit lacks; "" if
    PyTorch refuses it."""
    if "grouped" in base and not _has_groups(*args, **kwargs):
        return ""
    found = _READERS[base](*args, **kwargs)
    if not found:
        return "scale factors of an unknown kind"
    scaling = (found[0] if isinstance(found, list) else found).scaling
    formats = tuple(_core.format(dtype(format_name(x))) for x in args[:2])
    try:
        instruction_for(on, scaling.kind, formats)
    except LookupError:
        if scaling.kind not in ("tensor", "row"):
            return f"the unit has no {scaling.kind}"
    return None
