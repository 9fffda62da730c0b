"""Products of sparse instructions."""

import numpy as np
import pytest
from conftest import bits, random_encodings

import softmma

TIER = "check"
HALF = "mma.sp.m16n8k32.f32.f16.f16.f32"
TF32 = "mma.sp.m16n8k16.f32.tf32.tf32.f32"
S4 = "mma.sp.m16n8k128.s32.s4.s4.s32"


def sparse(random, rows, k, unit):
    """Returns sparse values. No group has more nonzero values than it can store, and some groups have fewer."""
    together = 2 if unit.sparse_group == 8 else 1
    units = unit.sparse_group // together
    dense = random.standard_normal((rows, k // unit.sparse_group, units, together)) * 3
    keep = random.permuted(np.broadcast_to(np.arange(units), dense.shape[:3]), axis=-1) < units // 2
    keep &= random.random(keep.shape) < 0.9
    dense = (dense * keep[..., None]).reshape(rows, k)
    return np.clip(np.round(dense), -8, 7) if together == 2 else dense.astype(np.float16).astype(np.float32)


@pytest.mark.parametrize("name", [HALF, TF32, S4])
def test_rows_of_the_instruction(name):
    """For the K of one instruction, each element of D is the dot-product-add of the stored elements of A and the rows
    of B that they select."""
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


def fields(words, groups):
    """Returns the fields of a row's metadata in PTX's form. Each group has two fields of two bits; a 32-bit word holds
    eight groups."""
    nibbles = np.array([word >> 4 * n & 15 for word in words for n in range(8)])[:groups]
    return np.stack([nibbles & 3, nibbles >> 2], axis=-1)


@pytest.mark.parametrize(
    "gpu, name",
    [
        ("B200", "tcgen05.sp.m128n8k64.block32.f32.e5m2.e2m1.ue8m0"),
        ("B200", "tcgen05.sp.m128n8k64.block32.f32.e2m3.e3m2.ue8m0"),
        ("B200", "tcgen05.sp.m128n8k128.block32.f32.e2m1.e2m1.ue8m0"),
        ("B200", "tcgen05.sp.m128n8k128.block16.f32.e2m1.e2m1.ue8m0"),
        ("B200", "tcgen05.sp.m128n8k128.block16.f32.e2m1.e2m1.ue4m3"),
        ("RTX 5090", "mma.sp.m16n8k128.block16.f32.e2m1.e2m1.f32.ue4m3"),
    ],
)
def test_block_scaled_rows_of_the_dense_instruction(gpu, name):
    """If elements are selected as PTX describes metadata, each result equals that of the dense instruction with half
    the K. Elements that are not selected, one scale factor of A and one of B are NaN, without effect on other
    results."""
    random = np.random.default_rng(7)
    unit = softmma.instruction(gpu, name)
    dense = softmma.instruction(gpu, name.replace(".sp.", ".").replace(f"k{2 * unit.k}", f"k{unit.k}"))
    rows, columns, k = 6, 5, 2 * unit.k
    width, groups = (2, k // 8) if unit.sparse_group == 8 else (1, k // 4)
    selectors = [0x4, 0x8, 0xC, 0x9, 0xD, 0xE] + [0x6] * (gpu == "B200")
    words = random.choice(selectors, (rows, groups)).reshape(rows, -1, 8) << 4 * np.arange(8)
    a, b = random_encodings(random, (rows, unit.k), unit.a), random_encodings(random, (k, columns), unit.b)
    factors = unit.k // unit.scale_block
    scale_a, scale_b = (
        (2.0 ** random.integers(-5, 6, shape)).astype(softmma.dtype(unit.scale))
        for shape in ((rows, factors), (factors, columns))
    )
    scale_a[1, -1] = scale_b[0, 3] = np.nan
    c = random.standard_normal((rows, columns)) * 100
    positions = np.stack([fields(row.sum(axis=-1), groups) for row in words])
    metadata = (positions[..., None] * width + np.arange(width)).reshape(rows, unit.k)
    row_of_b = metadata + np.repeat(np.arange(groups) * 4 * width, 2 * width)
    d = softmma.sparse_matmul(a, metadata, b, c, on=unit, scale_a=scale_a, scale_b=scale_b)
    for m in range(rows):
        expected = softmma.matmul(
            a[m : m + 1], b[row_of_b[m]], c[m : m + 1], on=dense, scale_a=scale_a[m : m + 1], scale_b=scale_b
        )
        np.testing.assert_array_equal(bits(d[m : m + 1]), bits(expected))
    assert np.isnan(d[1]).all() and np.isnan(d[:, 3]).all() and np.isfinite(d).any()


def test_quantised_blocks_count_stored_elements():
    """If numbers are given without scale factors, a block of A has 32 stored elements, and a block of B has 64
    elements."""
    random = np.random.default_rng(8)
    unit = softmma.instruction("B200", "tcgen05.sp.m128n8k128.block32.f32.e2m1.e2m1.ue8m0")
    x = np.kron(random.integers(-3, 4, (3, 64)), [1, 1])
    x.reshape(3, -1, 4, 2)[:, :, [0, 3]] = 0
    b = random.integers(-3, 4, (128, 2)) * np.repeat([1, 64], 64)[:, None]
    a, metadata = softmma.compress(x, unit)
    found = softmma.gemm(a, b, on=unit, metadata=metadata)
    np.testing.assert_array_equal(found.d, x @ b)
    with pytest.raises(ValueError, match="scale_b must be"):
        softmma.sparse_matmul(a, metadata, b, on=unit, scale_a=np.ones((3, 2)), scale_b=np.ones((4, 2)))


def test_instructions_are_listed():
    listed = [i for i in softmma.instructions("A100") if i.sparse_group]
    assert HALF in {i.name for i in listed}
    assert {i.sparse_group for i in listed} == {2, 4, 8}
    assert softmma.instruction("H100", "wgmma.m64n8k16.f32.f16.f16").sparse_group == 0


@pytest.mark.parametrize("shape", [(0, 8), (3, 0), (2, 0, 8), (0,)])
def test_empty_matrices(shape):
    for array in softmma.compress(np.zeros(shape), "mma.sp.m16n8k16.f32.f16.f16.f32", "A100"):
        assert array.shape == (*shape[:-1], shape[-1] // 2)


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
    with pytest.raises(ValueError, match="takes no scale factors"):
        softmma.sparse_matmul(a, metadata, b, scale_a=a, scale_b=b, **right)
    with pytest.raises(ValueError, match="is not sparse"):
        softmma.compress(a, "wgmma.m64n8k16.f32.f16.f16")
    with pytest.raises(ValueError, match=r"x\[1\], elements 4 to 7: 3 of 4 are not zero; .* stores 2"):
        softmma.compress([[0] * 8, [0, 0, 0, 0, 1, 2, 0, 3]], HALF, "A100")
    with pytest.raises(ValueError, match="half of every 4 elements"):
        softmma.compress(np.zeros((2, 6)), HALF, "A100")
    with pytest.raises(LookupError):
        softmma.compress(a, "mma.sp.nothing", "A100")
