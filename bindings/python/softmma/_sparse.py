"""Products of sparse instructions: A stores half of its elements along K, and metadata gives their positions."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from softmma import _core
from softmma._products import matmul, positional
from softmma._units import Instruction
from softmma._units import instruction as find_instruction

_ARGUMENTS = inspect.signature(matmul)


def compress(x: ArrayLike, instr: str | Instruction, on: str = "H100") -> tuple[NDArray[Any], NDArray[np.uint8]]:
    """Compresses a dense A for a sparse instruction: returns (elements, metadata), both (..., K / 2).

    ``x`` is (..., K), with K a multiple of the instruction's ``sparse_group``. The elements to store are two of each
    group of 4, one of each group of 2 (tf32), or two pairs of each group of 8 (4-bit integers, MXFP4 and NVFP4 with
    ``mxf4`` and ``mxf4nvf4``): the nonzero elements, then the first zeros. ``metadata`` holds the position of each
    stored element in its group. A zero that is not stored, also -0, is not a term of the sum.

        >>> import softmma
        >>> a, metadata = softmma.compress([0, 3.0, 0, -1.5, 2.0, 0, 0, 0], "mma.sp.m16n8k16.f32.f16.f16.f32", "A100")
        >>> a.tolist(), metadata.tolist()
        ([3.0, -1.5, 2.0, 0.0], [1, 3, 0, 1])

    Raises ValueError if a group has too many nonzero elements, LookupError if there is no such instruction.
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
    stored = np.take_along_axis(parts.reshape(*parts.shape[:-2], group), position, axis=-1)
    shape = (*x.shape[:-1], x.shape[-1] // 2)
    return stored.reshape(shape), position.reshape(shape).astype(np.uint8)


def sparse_matmul(
    a: ArrayLike, metadata: ArrayLike, b: ArrayLike, c: ArrayLike | None = None, **arguments: Any
) -> NDArray[Any]:
    """Computes D = alpha A B + beta C by a sparse instruction. A stores half of its elements along K.

    ``a`` is (M, K/2) or (K/2,), the stored elements. ``metadata``, of the same shape, has the position of each in its
    group (``Instruction.sparse_group``), from 0, ascending; in groups of 8 positions come in pairs, 2p and 2p + 1
    (`compress` makes both arrays). B is (K, N) or (K,). ``instr`` and ``on`` name the instruction. All other arguments
    are as in `matmul`, except that scale factors, ``split_k``, ``promote_every`` and plans count stored elements: of a
    block-scaled instruction ``scale_a`` is (M, ceil(K/2 / scale_block)) and ``scale_b`` (ceil(K/2 / scale_block), N), so
    that a factor of B is of 2 ``scale_block`` rows of B (`gemm` quantises numbers that way). There are no batches, and
    operands are in host memory. The arithmetic is recorded on Hopper and measured by others on a B200; elsewhere it is
    assumed (docs/sparse.md).

        >>> import softmma
        >>> a, metadata = softmma.compress([0, 3.0, 0, -1.5], "mma.sp.m16n8k16.f32.f16.f16.f32", "A100")
        >>> softmma.sparse_matmul(a, metadata, [1, 2, 4, 8], on="A100", instr="mma.sp.m16n8k16.f32.f16.f16.f32").item()
        -6.0

    Raises ValueError for invalid metadata, and as `matmul`. Source: ``smma_gemm_sparse`` of softmma/softmma.h.
    """
    given = _ARGUMENTS.bind(a, b, c, **arguments)
    given.apply_defaults()
    places = np.asarray(metadata)
    if places.dtype.kind not in "ui" or ((places < 0) | (places > 7)).any():
        raise ValueError("metadata: positions of elements in their groups, integers from 0 to 7")
    return _core.sparse_matmul(np.ascontiguousarray(places, np.uint8), tuple(positional(given.arguments)))
