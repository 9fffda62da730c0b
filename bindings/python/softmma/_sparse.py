"""Products of sparse instructions: of A half of the elements along K, and where they stood."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from softmma import _core
from softmma._products import matmul, positional
from softmma._units import Instruction
from softmma._units import instruction as find_instruction

_ARGUMENTS = inspect.Signature(
    [p for name, p in inspect.signature(matmul).parameters.items() if name not in ("scale_a", "scale_b")]
)


def compress(x: ArrayLike, instr: str | Instruction, on: str = "H100") -> tuple[NDArray[Any], NDArray[np.uint8]]:
    """What a sparse instruction takes of a dense A: (elements, metadata), both (..., K / 2).

    ``x`` is (..., K), K a multiple of the instruction's ``sparse_group``. Of each group of 4 elements two are stored,
    of 2 (tf32) one, of 8 (4-bit integers) two pairs: those that are not zero, and of the zeros the first. ``metadata``
    has the position of each in its group. A zero that is not stored is no term of the sum, -0 neither.

        >>> import softmma
        >>> a, metadata = softmma.compress([0, 3.0, 0, -1.5, 2.0, 0, 0, 0], "mma.sp.m16n8k16.f32.f16.f16.f32", "A100")
        >>> a.tolist(), metadata.tolist()
        ([3.0, -1.5, 2.0, 0.0], [1, 3, 0, 1])

    Raises ValueError where a group has more elements that are not zero, LookupError if there is no such instruction.
    """
    unit = instr if isinstance(instr, Instruction) else find_instruction(on, instr)
    x, group = np.asarray(x), unit.sparse_group
    if not group:
        raise ValueError(f"instr: {unit.name} is not sparse")
    if x.ndim == 0 or x.shape[-1] % group:
        raise ValueError(f"x is {x.shape}: {unit.name} takes half of every {group} elements of its last axis")
    together = 2 if group == 8 else 1  # pairs
    units = group // together
    parts = x.reshape(*x.shape[:-1], x.shape[-1] // group, units, together)
    filled = (parts != 0).any(axis=-1)
    crowded = np.argwhere(filled.sum(axis=-1) > units // 2)
    if len(crowded):
        *row, which = map(int, crowded[0])
        raise ValueError(
            f"x{row}, elements {which * group} to {which * group + group - 1}: "
            f"{filled[tuple(crowded[0])].sum()} of {units}{' pairs' if together > 1 else ''} are not zero; "
            f"{unit.name} stores {units // 2}"
        )
    first = np.argsort(~filled, axis=-1, kind="stable")[..., : units // 2]
    position = np.sort(first, axis=-1)[..., None] * together + np.arange(together)
    position = position.reshape(*position.shape[:-2], group // 2)
    stored = np.take_along_axis(x.reshape(*x.shape[:-1], -1, group), position, axis=-1)
    shape = (*x.shape[:-1], x.shape[-1] // 2)
    return stored.reshape(shape), position.reshape(shape).astype(np.uint8)


def sparse_matmul(
    a: ArrayLike, metadata: ArrayLike, b: ArrayLike, c: ArrayLike | None = None, **arguments: Any
) -> NDArray[Any]:
    """D = alpha A B + beta C by a sparse instruction: A has half of its elements along K, metadata says which.

    ``a`` is (M, K/2) or (K/2,), the stored elements, and ``metadata``, of the same shape, has the position of each in
    its group (``Instruction.sparse_group``), from 0 on: ascending, and in groups of 8 in pairs, 2p and 2p + 1
    (`compress` makes both). B is (K, N) or (K,). ``instr`` and ``on`` name the instruction; all other arguments are as
    in `matmul`, where ``split_k``, ``promote_every`` and plans count stored elements. There are no batches, and
    operands are in the host's memory. What is computed is assumed: docs/sparse.md.

        >>> import softmma
        >>> a, metadata = softmma.compress([0, 3.0, 0, -1.5], "mma.sp.m16n8k16.f32.f16.f16.f32", "A100")
        >>> softmma.sparse_matmul(a, metadata, [1, 2, 4, 8], on="A100", instr="mma.sp.m16n8k16.f32.f16.f16.f32").item()
        -6.0

    Raises ValueError for metadata that is none, and as `matmul`. Source: ``smma_gemm_sparse`` of softmma/softmma.h.
    """
    given = _ARGUMENTS.bind(a, b, c, **arguments)
    given.apply_defaults()
    places = np.asarray(metadata)
    if places.dtype.kind not in "ui" or ((places < 0) | (places > 7)).any():
        raise ValueError("metadata: positions of elements in their groups, integers from 0 to 7")
    return _core.sparse_matmul(np.ascontiguousarray(places, np.uint8), tuple(positional(given.arguments)))
