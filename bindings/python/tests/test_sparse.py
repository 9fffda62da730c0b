"""Products of sparse instructions."""

import numpy as np
import pytest

import softmma

TIER = "check"
HALF = "mma.sp.m16n8k32.f32.f16.f16.f32"
TF32 = "mma.sp.m16n8k16.f32.tf32.tf32.f32"
S4 = "mma.sp.m16n8k128.s32.s4.s4.s32"


def sparse(random, rows, k, unit):
    """Returns values of which every group has at most the number that it can store; some groups have fewer."""
    together = 2 if unit.sparse_group == 8 else 1
    units = unit.sparse_group // together
    dense = random.standard_normal((rows, k // unit.sparse_group, units, together)) * 3
    keep = random.permuted(np.broadcast_to(np.arange(units), dense.shape[:3]), axis=-1) < units // 2
    keep &= random.random(keep.shape) < 0.9
    dense = (dense * keep[..., None]).reshape(rows, k)
    return np.clip(np.round(dense), -8, 7) if together == 2 else dense.astype(np.float16).astype(np.float32)


@pytest.mark.parametrize("name", [HALF, TF32, S4])
def test_rows_of_the_instruction(name):
    """One instruction deep: each element is the dot-product-add of the stored elements and selected rows of B."""
    random = np.random.default_rng(5)
    unit = softmma.instruction("A100", name)
    k, columns = 2 * unit.k, 5
    x = sparse(random, 7, k, unit)
    b = np.round(random.standard_normal((k, columns)) * 3).clip(-8, 7)
    c = np.round(random.standard_normal((7, columns)) * 100)
    a, metadata = softmma.compress(x, unit)
    assert a.shape == metadata.shape == (7, unit.k)
    d = softmma.sparse_matmul(a, metadata, b, c, on=unit)
    half = unit.sparse_group // 2
    row_of_b = np.arange(unit.k) // half * unit.sparse_group + metadata
    for i in range(7):
        for j in range(columns):
            assert d[i, j] == softmma.dot(a[i], b[row_of_b[i], j], c[i, j], on=unit)
    np.testing.assert_array_equal(np.take_along_axis(x, row_of_b, axis=1), a)


def test_longer_products_and_vectors():
    random = np.random.default_rng(6)
    unit = softmma.instruction("A100", HALF)
    x = np.round(sparse(random, 3, 200, unit))
    b = np.round(random.standard_normal((200, 4)) * 3)
    a, metadata = softmma.compress(x, unit)
    np.testing.assert_array_equal(softmma.sparse_matmul(a, metadata, b, on="A100", instr=HALF), x @ b)
    np.testing.assert_array_equal(softmma.sparse_matmul(a[1], metadata[1], b[:, 2], on=unit), x[1] @ b[:, 2])
    np.testing.assert_array_equal(
        softmma.sparse_matmul(np.asfortranarray(a), metadata.astype(np.int64), b, on=unit, split_k=2), x @ b
    )


def test_instructions_are_listed():
    listed = [i for i in softmma.instructions("A100") if i.sparse_group]
    assert HALF in {i.name for i in listed}
    assert {i.sparse_group for i in listed} == {2, 4, 8}
    assert softmma.instruction("H100", "wgmma.m64n8k16.f32.f16.f16").sparse_group == 0


def test_what_is_refused():
    a, metadata, b = np.ones((2, 4), np.float16), np.tile(np.uint8([0, 1]), (2, 2)), np.ones((8, 3), np.float16)
    right = {"on": "A100", "instr": HALF}
    assert softmma.sparse_matmul(a, metadata, b, **right).tolist() == [[4.0] * 3] * 2
    with pytest.raises(ValueError, match="half of b's rows"):
        softmma.sparse_matmul(a, metadata, b[:4], **right)
    with pytest.raises(ValueError, match="without a batch"):
        softmma.sparse_matmul(a, metadata[:1], b, **right)
    with pytest.raises(ValueError, match="without a batch"):
        softmma.sparse_matmul(a[None], metadata[None], b, **right)
    with pytest.raises(ValueError, match="not of a batch"):
        softmma.sparse_matmul(a, metadata, b[None], **right)
    with pytest.raises(ValueError, match="integers from 0 to 7"):
        softmma.sparse_matmul(a, metadata - 1.0, b, **right)
    with pytest.raises(ValueError, match="row 0, elements 0 and 1"):
        softmma.sparse_matmul(a, metadata[:, ::-1], b, **right)
    with pytest.raises(ValueError, match="sparse instruction"):
        softmma.sparse_matmul(a, metadata, b, on="A100")
    with pytest.raises(ValueError, match="sparse instruction"):
        softmma.matmul(b.T, b, **right)
    with pytest.raises(TypeError, match="scale_a"):
        softmma.sparse_matmul(a, metadata, b, scale_a=a, **right)
    with pytest.raises(ValueError, match="is not sparse"):
        softmma.compress(a, "wgmma.m64n8k16.f32.f16.f16")
    with pytest.raises(ValueError, match=r"x\[1\], elements 4 to 7: 3 of 4 are not zero; .* stores 2"):
        softmma.compress([[0] * 8, [0, 0, 0, 0, 1, 2, 0, 3]], HALF, "A100")
    with pytest.raises(ValueError, match="half of every 4 elements"):
        softmma.compress(np.zeros((2, 6)), HALF, "A100")
    with pytest.raises(LookupError):
        softmma.compress(a, "mma.sp.nothing", "A100")
