"""JAX programs with emulated products have the unit's own bits, whatever transforms the program."""

import doctest
import inspect
import os
import subprocess
import sys

import numpy as np
import pytest

import softmma
from conftest import REPOSITORY
from softmma import recipes

jax = pytest.importorskip("jax", reason="JAX is not installed: softmma.jax is NOT tested")

TIER = "all"
jnp, lax = jax.numpy, jax.lax

LINEAR = (((1,), (0,)), ((), ()))
ON = {"nvfp4": "B200", "mxfp8": "B200", "mxfp6": "B200", "mxfp4": "B200"}
RECIPES = ["bf16", "fp16_fp16", "fp8_tensorwise", "fp8_rowwise", "fp8_blockwise", "mxfp8", "nvfp4", "weight_only_s4"]


def same(x, y):
    """Compares bit for bit, including NaN and signs of zeros."""
    x, y = np.asarray(x), np.asarray(y)
    return x.dtype == y.dtype and x.shape == y.shape and x.tobytes() == y.tobytes()


def unit_of(recipe):
    return recipes.Unit(ON.get(recipe, "H100"), recipe)


def options_of(recipe):
    return {"on": ON.get(recipe, "H100"), "recipe": recipe}


def by_hand(unit, a, b, roles, kind):
    x, y = unit.prepare(a, roles[0], kind, "a"), unit.prepare(b, roles[1], kind, "b")
    return unit.multiply(x, y, kind)


def deterministic(recipe):
    """Returns the recipe without stochastic rounding, because a reference draws other random numbers."""
    return recipes.recipe("nvfp4", stochastic=False) if recipe == "nvfp4" else recipes.recipe(recipe)


@pytest.fixture
def arrays(generator):
    x, w, g = (generator.standard_normal(shape).astype(np.float32) for shape in ((48, 160), (160, 24), (48, 24)))
    return x * np.logspace(-2, 2, 160, dtype=np.float32), w, g


# ---- Products, forward and backward ----


@pytest.mark.parametrize("recipe", RECIPES)
def test_three_products(arrays, recipe):
    """Forward, dgrad and wgrad equal the unit's products of the operands that the recipe prepares."""
    x, w, g = arrays
    how = deterministic(recipe)
    unit = recipes.Unit(ON.get(recipe, "H100"), how)
    dot = softmma.jax.dot_general(ON.get(recipe, "H100"), how)
    d, pull = jax.vjp(lambda x, w: dot(x, w, LINEAR), x, w)
    dx, dw = pull(jnp.asarray(g))
    assert same(d, by_hand(unit, x, w, ("activations", "weights"), "forward"))
    assert same(dx, by_hand(unit, g, w.T, ("gradients", "weights"), "dgrad"))
    assert same(dw, by_hand(unit, x.T, g, ("activations", "gradients"), "wgrad"))


def test_plain_products_are_matmuls(arrays):
    x, w, g = arrays
    dot = softmma.jax.dot_general("A100", "fp16")
    d, pull = jax.vjp(lambda x, w: dot(x, w, LINEAR), x, w)
    dx, dw = pull(jnp.asarray(g))
    assert same(d, softmma.matmul(x, w, on="A100", in_dtype="f16"))
    assert same(dx, softmma.matmul(g, w.T, on="A100", in_dtype="f16"))
    assert same(dw, softmma.matmul(x.T, g, on="A100", in_dtype="f16"))


@pytest.mark.parametrize("side", ["lhs", "rhs", None])
def test_side_of_weights(arrays, side):
    """Products without a weight follow the recipe's entry for them, BF16 here."""
    x, w, _ = arrays
    unit = unit_of("fp8_tensorwise")
    dot = softmma.jax.dot_general(recipe="fp8_tensorwise", weights=side)
    roles = tuple("weights" if side == name else "activations" for name in ("lhs", "rhs"))
    kind = "forward" if side else "other"
    assert same(dot(x, w, LINEAR), by_hand(unit, x, w, roles, kind))
    assert same(dot(x, w, LINEAR), softmma.matmul(x, w, in_dtype="bf16")) == (side is None)


NUMBERS = {
    "vectors": ((7,), (7,), (((0,), (0,)), ((), ()))),
    "nothing is summed": ((3,), (4, 2), (((), ()), ((), ()))),
    "numbers": ((), (), (((), ()), ((), ()))),
    "transposed": ((7, 5), (3, 7), (((0,), (1,)), ((), ()))),
    "two are summed": ((4, 5, 6), (6, 2, 5), (((1, 2), (2, 0)), ((), ()))),
    "two are summed, turned": ((4, 5, 6), (6, 2, 5), (((2, 1), (0, 2)), ((), ()))),
    "a batch": ((4, 5, 6), (4, 6, 2), (((2,), (1,)), ((0,), (0,)))),
    "two batches, last": ((6, 5, 4, 3), (6, 2, 3, 4), (((0,), (0,)), ((3, 2), (2, 3)))),
    "batch and nothing summed": ((4, 5), (4, 2), (((), ()), ((0,), (0,)))),
    "all are batches": ((4, 5), (4, 5), (((), ()), ((0, 1), (0, 1)))),
    "no rows": ((0, 5), (5, 2), LINEAR),
    "K = 0": ((3, 0), (0, 2), LINEAR),
    "no batch": ((0, 3, 4), (0, 4, 2), (((2,), (1,)), ((0,), (0,)))),
}


@pytest.mark.parametrize("case", NUMBERS)
@pytest.mark.parametrize("transform", [lambda f: f, jax.jit], ids=["eager", "jit"])
def test_dimension_numbers(generator, case, transform):
    """Shapes, dtypes and axes equal those of JAX, forward and backward. The numbers are equal, too, because they are
    small integers."""
    shape_a, shape_b, numbers = NUMBERS[case]
    a, b = (jnp.asarray(generator.integers(-3, 4, shape), jnp.float32) for shape in (shape_a, shape_b))
    dot = softmma.jax.dot_general("H100", "fp16")
    found, pull = jax.vjp(transform(lambda a, b: dot(a, b, numbers)), a, b)
    expected, pull_expected = jax.vjp(lambda a, b: lax.dot_general(a, b, numbers), a, b)
    assert same(found, expected + 0)
    g = jnp.asarray(generator.integers(-3, 4, expected.shape), jnp.float32)
    assert all(np.array_equal(x, y) and x.dtype == y.dtype for x, y in zip(pull(g), pull_expected(g)))


@pytest.mark.parametrize(
    "case", ["vectors", "nothing is summed", "two are summed, turned", "two batches, last", "K = 0"]
)
def test_vmapped_dimension_numbers(generator, case):
    shape_a, shape_b, numbers = NUMBERS[case]
    dot = softmma.jax.dot_general("H100", "fp16")
    for axes in (0, None), (None, 0), (len(shape_a), 0), (0, len(shape_b)):
        a, b = (
            jnp.asarray(generator.integers(-3, 4, shape if axis is None else (*shape[:axis], 2, *shape[axis:])), "f4")
            for shape, axis in zip((shape_a, shape_b), axes)
        )
        found, pull = jax.vjp(jax.vmap(lambda a, b: dot(a, b, numbers), axes), a, b)
        expected, pull_expected = jax.vjp(jax.vmap(lambda a, b: lax.dot_general(a, b, numbers), axes), a, b)
        assert same(found, expected + 0)
        g = jnp.asarray(generator.integers(-3, 4, expected.shape), jnp.float32)
        assert all(np.array_equal(x, y) and x.dtype == y.dtype for x, y in zip(pull(g), pull_expected(g)))


def test_order_of_k(generator):
    """Contracted axes are ordered as they are named, the last one fastest."""
    a, b = generator.standard_normal((4, 50, 60)), generator.standard_normal((50, 60, 2))
    a, b = a.astype(np.float32), b.astype(np.float32)
    dot = softmma.jax.dot_general("V100", "fp16")
    found = dot(a, b, (((1, 2), (0, 1)), ((), ())))
    turned = dot(a, b, (((2, 1), (1, 0)), ((), ())))
    x, y = a.transpose(0, 2, 1).reshape(4, -1), b.transpose(1, 0, 2).reshape(-1, 2)
    assert same(found, softmma.matmul(a.reshape(4, -1), b.reshape(-1, 2), on="V100", in_dtype="f16"))
    assert same(turned, softmma.matmul(x, y, on="V100", in_dtype="f16")) and not same(found, turned)


# ---- Convolutions ----

CONVOLUTIONS = {
    "one axis": ((2, 3, 9), (4, 3, 3), {"window_strides": (1,), "padding": "VALID"}),
    "strides, padding, rhs_dilation, groups, NHWC": (
        (2, 9, 8, 4), (3, 2, 2, 6),
        {"window_strides": (2, 3), "padding": [(1, 2), (0, 3)], "rhs_dilation": (2, 1), "feature_group_count": 2,
         "dimension_numbers": ("NHWC", "HWIO", "NHWC")},
    ),
    "groups of the batch": (
        (4, 3, 7, 8), (6, 3, 3, 2), {"window_strides": (2, 1), "padding": "SAME", "batch_group_count": 2},
    ),
    "groups of the batch, odd places": (
        (3, 5, 2, 4), (6, 2, 3, 2),
        {"window_strides": (2, 1), "padding": "SAME", "batch_group_count": 2,
         "dimension_numbers": ("HWCN", "OIHW", "WNHC")},
    ),
    "lhs_dilation": (
        (2, 3, 5, 6), (4, 3, 3, 2), {"window_strides": (1, 1), "padding": [(2, 1), (1, 2)], "lhs_dilation": (2, 3)},
    ),
    "strides and lhs_dilation": (
        (2, 3, 5, 6), (4, 3, 3, 2), {"window_strides": (3, 2), "padding": [(2, 1), (1, 2)], "lhs_dilation": (2, 3)},
    ),
    "common divisors, rhs_dilation": (
        (2, 3, 5, 6), (4, 3, 3, 2),
        {"window_strides": (2, 4), "padding": [(2, 1), (-1, 2)], "lhs_dilation": (1, 2), "rhs_dilation": (1, 3)},
    ),
    "strides beyond the filter": ((2, 3, 9), (4, 3, 2), {"window_strides": (4,), "padding": [(3, 3)]}),
    "negative padding": ((2, 3, 9, 9), (4, 3, 3, 2), {"window_strides": (2, 1), "padding": [(-2, -1), (-1, 2)]}),
    "three axes": ((1, 2, 4, 3, 5), (2, 2, 3, 1, 2), {"window_strides": (2, 1, 3), "padding": "SAME"}),
    "no axis": ((2, 3), (4, 3), {"window_strides": (), "padding": ()}),
    "no batch": ((0, 3, 9), (4, 3, 3), {"window_strides": (1,), "padding": "VALID"}),
    "no channels": ((2, 0, 9), (4, 0, 3), {"window_strides": (1,), "padding": "VALID"}),
    "no pixels outside": ((2, 3, 2), (4, 3, 3), {"window_strides": (1,), "padding": "VALID"}),
}  # fmt: skip


def convolution(case):
    return lambda x, w: lax.conv_general_dilated(x, w, **CONVOLUTIONS[case][2])


def convolution_by_unit(case, how=("H100", "fp16")):
    return lambda x, w: softmma.jax.conv_general_dilated(*how)(x, w, **CONVOLUTIONS[case][2])


def integers(generator, shape):
    return jnp.asarray(generator.integers(-3, 4, shape), jnp.float32)


def derivatives(f, g=None):
    """Returns a function that computes f's result and both gradients. The cotangent is g, or f's result if g is
    None."""

    def found(x, w):
        d, pull = jax.vjp(f, x, w)
        return d, *pull(d if g is None else g)

    return found


@pytest.mark.parametrize("case", CONVOLUTIONS)
@pytest.mark.parametrize("transform", [lambda f: f, jax.jit], ids=["eager", "jit"])
def test_convolutions(generator, case, transform):
    """Shapes and dtypes equal those of JAX, forward and backward. The numbers are equal, too, because they are small
    integers."""
    x, w = (integers(generator, shape) for shape in CONVOLUTIONS[case][:2])
    outline = jax.eval_shape(convolution(case), x, w)
    g = integers(generator, outline.shape)
    found = transform(derivatives(convolution_by_unit(case), g))(x, w)
    expected = derivatives(convolution(case), g)(x, w)
    assert [y.dtype for y in found] == [y.dtype for y in expected]
    assert all(np.array_equal(y, z) for y, z in zip(found, expected, strict=True))


def test_groups_without_an_axis(generator):
    """Without spatial axes, the result equals that with one axis of one pixel. XLA of JAX 0.7 is wrong in this case."""
    x, w = (generator.standard_normal(s).astype(np.float32) for s in ((2, 6), (4, 3)))
    conv = softmma.jax.conv_general_dilated("H100", "fp8_tensorwise")
    none = lambda x, w: conv(x, w, (), (), feature_group_count=2)  # noqa: E731
    one = lambda x, w: conv(x[..., None], w[..., None], (1,), "VALID", feature_group_count=2)[..., 0]  # noqa: E731
    assert_same_trees(derivatives(none)(x, w), derivatives(one)(x, w))


@pytest.mark.parametrize("case", list(CONVOLUTIONS)[1:5])
def test_derivatives_of_convolutions(generator, case):
    """Second derivatives, derivatives in forward mode, and gradients taken inside an emulated function are computed by
    convolutions on the unit."""
    x, w = (integers(generator, shape) for shape in CONVOLUTIONS[case][:2])

    def loss(f):
        return lambda x, w: (f(x, w) ** 2).sum()

    def second(f):
        return jax.grad(lambda x, w: sum((y**2).sum() for y in jax.grad(loss(f), (0, 1))(x, w)), (0, 1))(x, w)

    expected = second(convolution(case))
    exact = recipes.custom("f32", "f32")
    for found in (
        second(convolution_by_unit(case, ("MI300X", exact))),
        second(softmma.jax.emulate(convolution(case), "MI300X", exact)),
    ):
        for y, z in zip(found, expected, strict=True):
            np.testing.assert_allclose(y, z, rtol=1e-5)
    inside = softmma.jax.emulate(jax.grad(loss(convolution(case)), (0, 1)))
    for y, z in zip(inside(x, w), jax.grad(loss(convolution(case)), (0, 1))(x, w), strict=True):
        np.testing.assert_allclose(y, z, rtol=1e-2, atol=1e-2 * np.abs(z).max())
    assert not inside.report().outside
    tangents = jax.jvp(convolution_by_unit(case), (x, w), (w.sum() * 0 + x, w))
    assert all(np.array_equal(y, z) for y, z in zip(tangents, jax.jvp(convolution(case), (x, w), (x, w))))


@pytest.mark.parametrize("recipe", ["bf16", "fp8_tensorwise", "fp8_blockwise"])
@pytest.mark.parametrize("axes", [(0, None), (None, 2), (3, 1)])
@pytest.mark.parametrize("case", list(CONVOLUTIONS)[1:5])
def test_vmapped_convolutions(generator, recipe, axes, case):
    """Each element of a vmap equals the element computed alone."""
    magnitudes = np.logspace(-3, 3, 2, dtype=np.float32)
    arrays = []
    for shape, axis in zip(CONVOLUTIONS[case], axes):
        parts = generator.standard_normal((2, *shape)).astype(np.float32)
        parts *= magnitudes.reshape(2, *[1] * len(shape))
        arrays.append(parts[0] if axis is None else np.moveaxis(parts, 0, axis))
    f = derivatives(convolution_by_unit(case, ("H100", recipe)))
    parts = [[x if axis is None else np.take(x, i, axis) for i in range(2)] for x, axis in zip(arrays, axes)]
    looped = jax.tree.map(lambda *each: jnp.stack(each), *[f(x, w) for x, w in zip(*parts)])
    assert_same_trees(jax.vmap(f, axes)(*arrays), looped)


def test_order_of_a_convolution(generator):
    """K runs over the filter's positions, with channels innermost. For the filter's gradient K runs over the batch,
    with pixels innermost. Zeros from strides are not part of K."""
    x, w = (generator.standard_normal(s).astype(np.float32) for s in ((3, 40, 6, 5), (56, 40, 3, 2)))
    f = softmma.jax.emulate(lambda x, w: lax.conv_general_dilated(x, w, (1, 1), "VALID"), "V100", "fp16")
    d, pull = jax.vjp(f, x, w)
    g = generator.standard_normal(d.shape).astype(np.float32)
    dx, dw = pull(jnp.asarray(g))
    patches = [[x[n, :, i : i + 3, j : j + 2] for i in range(4) for j in range(4)] for n in range(3)]
    patches = np.asarray(patches).transpose(0, 1, 3, 4, 2).reshape(3 * 16, -1)
    filters = w.transpose(2, 3, 1, 0).reshape(-1, 56)
    product = lambda a, b: softmma.matmul(a, b, on="V100", in_dtype="f16")  # noqa: E731
    assert same(d, product(patches, filters).reshape(3, 4, 4, 56).transpose(0, 3, 1, 2))
    rows = g.transpose(0, 2, 3, 1).reshape(-1, 56)
    assert same(dw, product(patches.T, rows).reshape(3, 2, 40, 56).transpose(3, 2, 0, 1))
    around = np.pad(g, ((0, 0), (0, 0), (2, 2), (1, 1)))
    pixel = around[1, :, 2:5, 3:5][:, ::-1, ::-1]  # gradients of the outputs that pixel (2, 3) affects
    expected = product(pixel.transpose(1, 2, 0).reshape(1, -1), w.transpose(2, 3, 0, 1).reshape(-1, 40))
    assert same(dx[1, :, 2, 3], expected[0])
    strided = softmma.jax.emulate(lambda x, w: lax.conv_general_dilated(x, w, (2, 2), "VALID").sum(), weights=1)
    jax.grad(strided)(x[:, :, :, :4], w[:, :, :2])
    rows = {row.product: row for row in strided.report()}
    assert rows["dgrad"].calls == 4 and rows["dgrad"].multiplications == rows["forward"].multiplications


def test_transposed_convolutions_are_gradients(generator):
    """A convolution with lhs_dilation has the products of a strided convolution with a reversed filter, in the same
    order of K."""
    x, w = (generator.standard_normal(s).astype(np.float32) for s in ((2, 13, 9, 20), (3, 2, 20, 30)))
    places = {"dimension_numbers": ("NHWC", "HWIO", "NHWC")}

    def strided(x, w):
        return lax.conv_general_dilated(x, w, (3, 2), [(1, 1), (0, 1)], **places)

    def transposed(g, w):
        w = w[::-1, ::-1].swapaxes(2, 3)
        return lax.conv_general_dilated(g, w, (1, 1), [(1, 1), (1, 0)], lhs_dilation=(3, 2), **places)

    d, pull = jax.vjp(softmma.jax.emulate(strided, "H100", "fp16"), x, w)
    g = generator.standard_normal(d.shape).astype(np.float32)
    dx, dw = pull(jnp.asarray(g))
    found, pull = jax.vjp(softmma.jax.emulate(transposed, "H100", "fp16"), g, w)
    dg, dw_too = pull(jnp.asarray(x))
    assert same(found, dx) and same(dg, d) and same(dw_too, dw)
    for strides, classes in (1, 2), (3, 2), (4, 1):  # classes of pixels that the same positions reach
        every = softmma.jax.emulate(lambda g, s: lax.conv_general_dilated(g, w, s, [(2, 2)] * 2, (2, 1), **places))
        every(d[..., :20], (strides, 1))
        assert [row.calls for row in every.report()] == [classes]


@pytest.mark.parametrize("recipe", ["bf16", "fp8_rowwise"])
def test_convolutions_in_programs(generator, recipe):
    """Convolutions in loops and compiled programs, with roles, in JAX's dtypes; operations that are not products of the
    unit are reported."""
    x, w = (jnp.asarray(generator.standard_normal(s), jnp.bfloat16) for s in ((2, 8, 16), (8, 8, 3)))

    def network(w, x):
        step = lambda h, _: (jnp.tanh(lax.conv_general_dilated(h, w, (1,), "SAME")), None)  # noqa: E731
        return lax.scan(step, x, None, length=2)[0]

    emulated = softmma.jax.emulate(network, "H100", recipe, weights=0, strict=True)
    d, pull = jax.vjp(jax.jit(emulated), w, x)
    pull(d)
    assert {row.product: row.calls for row in emulated.report()} == {"forward": 2, "dgrad": 2, "wgrad": 2}
    conv = softmma.jax.conv_general_dilated("H100", recipe)
    expected = jnp.tanh(conv(jnp.tanh(conv(x, w, (1,), "SAME")), w, (1,), "SAME"))
    assert d.dtype == jnp.bfloat16 and same(d, expected)
    wide = conv(x, w, (1,), "SAME", preferred_element_type=jnp.float32)
    assert wide.dtype == np.float32 and same(wide.astype(jnp.bfloat16), conv(x, w, (1,), "SAME", precision="highest"))


# ---- Delayed scaling ----


def delayed(length=2):
    return recipes.recipe("fp8_delayed", history=length)


def test_delayed_scaling(generator):
    """The scale of each use follows from the earlier uses, as in `softmma.recipes.History`."""
    how, unit = delayed(), recipes.Unit("H100", delayed())
    dot = jax.jit(lambda x, w, h: softmma.jax.dot_general("H100", how)(x, w, LINEAR, histories=h))
    places = {name: (recipes.History(2), recipes.History(2)) for name in ("forward", "lhs", "rhs")}

    def by_hand(place, roles, kind, a, b):
        sides = zip((a, b), roles, "ab", places[place])
        return unit.multiply(*(unit.prepare(x, role, kind, s, history=h) for x, role, s, h in sides), kind)

    kept = softmma.jax.histories(how)
    w = generator.standard_normal((32, 4)).astype(np.float32)
    for magnitude in 1, 1e3, 1e-3, 1e-6, np.inf, 0, 1:
        x, g = (generator.standard_normal(s).astype(np.float32) for s in ((6, 32), (6, 4)))
        with np.errstate(invalid="ignore"):
            x[:, :3] *= np.float32(magnitude)
        assert same(dot(x, w, kept), dot(x, w, kept))  # without a gradient the history does not change
        d, pull = jax.vjp(dot, x, w, kept)
        dx, dw, kept = pull(jnp.asarray(g))
        assert same(d, by_hand("forward", ("activations", "weights"), "forward", x, w))
        assert same(dx, by_hand("lhs", ("gradients", "weights"), "dgrad", g, w.T))
        assert same(dw, by_hand("rhs", ("activations", "gradients"), "wgrad", x.T, g))
        for name, both in places.items():
            assert [h.scale for h in getattr(kept, name)] == [h.scale for h in both]
    assert kept.forward[0].amax.shape == (2,) and softmma.jax.histories().lhs[0].amax.shape == (1024,)


def test_a_convolution_is_one_use_of_its_operands(generator):
    """All products of a transposed convolution are scaled alike, by the uses before; the history gets one entry."""
    x, w = (generator.standard_normal(s).astype(np.float32) for s in ((1, 3, 6, 6), (4, 3, 3, 3)))
    w *= np.logspace(-2, 2, 9, dtype=np.float32).reshape(3, 3)
    options = {"window_strides": (1, 1), "padding": [(2, 2), (2, 2)], "lhs_dilation": (2, 2)}
    how = delayed()
    convolve = softmma.jax.conv_general_dilated("H100", how)
    d, pull = jax.vjp(lambda h: convolve(x, w, histories=h, **options), softmma.jax.histories(how))
    (behind,) = pull(jnp.ones_like(d))
    unscaled = recipes.custom("e4m3", "e4m3", "e5m2", scaling="none")
    assert same(d, softmma.jax.conv_general_dilated("H100", unscaled)(x, w, **options))
    for history, y in zip(behind.forward, (x, w)):
        assert history.amax.tolist() == [0, np.abs(y).max()]


def test_histories_in_loops(generator):
    """Each iteration of a scan and each element of a vmap has its own history."""
    w = jnp.asarray(generator.standard_normal((3, 8, 8)), jnp.float32)
    x = jnp.asarray(generator.standard_normal((5, 8)), jnp.float32)
    dot, h = softmma.jax.dot_general("H100", delayed()), softmma.jax.histories(delayed())
    stacked = jax.tree.map(lambda y: jnp.stack([y] * 3), h)
    layer = lambda x, w, h: dot(x, w, LINEAR, histories=h)  # noqa: E731

    def scanned(w, h):
        return lax.scan(lambda x, each: (jax.checkpoint(layer)(x, *each), None), x, (w, h))[0].sum()

    def unrolled(w, h):
        y = x
        for i in range(3):
            y = layer(y, w[i], jax.tree.map(lambda each: each[i], h))  # noqa: B023
        return y.sum()

    assert_same_trees(jax.grad(scanned, (0, 1))(w, stacked), jax.grad(unrolled, (0, 1))(w, stacked))
    _, behind = jax.grad(scanned, (0, 1))(w, stacked)

    def step(x, w, h):
        d, pull = jax.vjp(layer, x, w, h)
        return d, pull(d)

    looped = [step(x, w[i], jax.tree.map(lambda each: each[i], behind)) for i in range(3)]  # noqa: B023
    found = jax.jit(jax.vmap(step, (None, 0, 0)))(x, w, behind)
    assert_same_trees(found, jax.tree.map(lambda *each: jnp.stack(each), *looped))
    with pytest.raises(ValueError, match="histories: under vmap each element has its own"):
        jax.vmap(step, (None, 0, None))(x, w, h)


# ---- Transformations ----


def program(dot, x, w):
    """A program with two layers, a loop, a condition, and products of activations."""

    def step(h, _):
        h = jax.checkpoint(lambda h: jnp.tanh(dot(h, w["square"], LINEAR)))(h)
        return lax.cond(h.sum() > 0, lambda h: dot(h, w["square"], LINEAR), lambda h: -h, h), h[0, 0]

    h, first = lax.scan(step, dot(x, w["in"], LINEAR), None, length=3)
    return (jax.nn.softmax(dot(h, h, (((1,), (1,)), ((), ()))), -1) ** 2).sum() + first.sum()


@pytest.fixture
def weights(generator):
    shapes = {"in": (32, 16), "square": (16, 16)}
    return {name: jnp.asarray(generator.standard_normal(shape) / 4, jnp.float32) for name, shape in shapes.items()}


def assert_same_trees(one, other):
    assert jax.tree.structure(one) == jax.tree.structure(other)
    assert all(same(x, y) for x, y in zip(jax.tree.leaves(one), jax.tree.leaves(other)))


@pytest.mark.parametrize("recipe", ["bf16", "fp8_tensorwise", "nvfp4"])
def test_jit_is_eager(generator, weights, recipe):
    """Compares only products, because JAX's own sums may have another order in compiled programs."""
    dot = softmma.jax.dot_general(**options_of(recipe))
    x = generator.standard_normal((8, 32)).astype(np.float32)

    def products(x, w):
        h = dot(x, w["in"], LINEAR)
        return h, dot(h, w["square"], LINEAR)

    d, pull = jax.vjp(products, x, weights)
    compiled, pull_compiled = jax.vjp(jax.jit(products), x, weights)
    g = jax.tree.map(jnp.ones_like, d)
    assert_same_trees(d, compiled)
    assert_same_trees(pull(g)[0], pull_compiled(g)[0])
    assert_same_trees(d, jax.jit(products)(x, weights))


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("axes", [(0, None), (None, 0), (0, 0), (2, 1)])
def test_vmap_is_a_loop(generator, recipe, axes):
    """Under vmap, each element has its own tensor factor and its own random numbers."""
    shapes = [(5, 64), (64, 6)]
    magnitudes = np.logspace(-4, 4, 3, dtype=np.float32)
    arrays = []
    for shape, axis in zip(shapes, axes):
        parts = generator.standard_normal((3, *shape)).astype(np.float32) * magnitudes[:, None, None]
        arrays.append(parts[0] if axis is None else np.moveaxis(parts, 0, axis))
    dot = softmma.jax.dot_general(**options_of(recipe))

    def f(x, w):
        d, pull = jax.vjp(lambda x, w: dot(x, w, LINEAR), x, w)
        return d, pull(d)

    parts = [[x if axis is None else np.take(x, i, axis) for i in range(3)] for x, axis in zip(arrays, axes)]
    looped = jax.tree.map(lambda *each: jnp.stack(each), *[f(x, w) for x, w in zip(*parts)])
    assert_same_trees(jax.vmap(f, axes)(*arrays), looped)
    assert_same_trees(jax.jit(jax.vmap(f, axes))(*arrays), looped)


def test_vmapped_twice(generator):
    """vmap over two networks of one layer, and in each over three examples of different magnitudes, gives the bits of a
    loop."""
    x = (
        generator.standard_normal((3, 5, 64)).astype(np.float32)
        * np.logspace(-3, 3, 3, dtype=np.float32)[:, None, None]
    )
    w = generator.standard_normal((2, 64, 6)).astype(np.float32)
    dot = softmma.jax.dot_general(recipe="fp8_tensorwise")
    f = lambda x, w: dot(x, w, LINEAR)  # noqa: E731
    found = jax.vmap(jax.vmap(f, (None, 0)), (0, None))(x, w)
    assert same(found, np.stack([np.stack([f(each, layer) for layer in w]) for each in x]))
    assert same(jax.vmap(jax.vmap(f, (0, None)), (None, 0))(x, w), np.asarray(found).swapaxes(0, 1))


def test_gradient_of_vmap(generator):
    """A weight shared by examples has one product for its gradient; its K spans all examples."""
    x, w, g = (generator.standard_normal(shape).astype(np.float32) for shape in ((9, 32), (32, 4), (9, 4)))
    dot = softmma.jax.dot_general("H100", "bf16")
    layer = jax.vmap(lambda x, w: dot(x, w, (((0,), (0,)), ((), ()))), (0, None))
    (dw,) = jax.vjp(lambda w: layer(x, w), w)[1](jnp.asarray(g))
    assert same(dw, softmma.matmul(x.T, g, in_dtype="bf16"))


def test_loops_conditions_remat(generator, weights):
    x = jnp.asarray(generator.standard_normal((8, 32)), jnp.float32)
    dot = softmma.jax.dot_general("MI300X", "bf16")
    found = jax.jit(jax.value_and_grad(lambda w: program(dot, x, w)))(weights)
    close = jax.value_and_grad(lambda w: program(lax.dot_general, x, w))(weights)
    for d, e in zip(jax.tree.leaves(found), jax.tree.leaves(close)):
        np.testing.assert_allclose(d, e, rtol=0.1, atol=0.1)


def test_higher_derivatives(generator):
    """Derivatives in forward and reverse mode can be nested. The numbers are representable in BF16."""
    w = jnp.asarray(generator.integers(-2, 3, (3, 2)), jnp.float32)
    x = jnp.asarray(generator.integers(-2, 3, (4, 3)), jnp.float32)
    dot = softmma.jax.dot_general("H100", "bf16")

    def loss(dot):
        return lambda w: (dot(x, w, LINEAR) ** 3).sum()

    for derivative in jax.jacfwd, jax.jacrev, jax.hessian, lambda f: jax.jacrev(jax.jacrev(f)):
        np.testing.assert_array_equal(derivative(loss(dot))(w), derivative(loss(lax.dot_general))(w))
    tangent = jnp.ones_like(w)
    expected = jax.jvp(loss(lax.dot_general), (w,), (tangent,))
    np.testing.assert_array_equal(jax.jvp(loss(dot), (w,), (tangent,)), expected)


def test_devices(generator):
    """shard_map, pmap, sharded arrays and donated arrays give the same bits on two CPU devices."""
    code = """
import numpy as np, jax, softmma, warnings
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
r = np.random.default_rng(0)
x, w = (jax.numpy.asarray(r.standard_normal(s), "float32") for s in ((4, 16), (16, 8)))
f = lambda x, w: softmma.jax.dot_general("H100", "bf16")(x, w, (((1,), (0,)), ((), ())))
d, n = f(x, w), jax.device_count()
assert n == 2
mesh = Mesh(np.array(jax.devices()), ("rows",))
shared = lambda f: jax.shard_map(f, mesh=mesh, in_specs=(P("rows"), P()), out_specs=P("rows"))
emulate = softmma.jax.emulate
for g in shared(f), jax.jit(shared(f)), emulate(shared(lambda x, w: x @ w)), shared(emulate(lambda x, w: x @ w)):
    assert (g(x, w) == d).all()
dx, dw = jax.jit(jax.grad(lambda x, w: (shared(f)(x, w) * 2).sum(), (0, 1)))(x, w)
halves = [softmma.matmul(np.asarray(x)[i:i+2].T, np.full((2, 8), 2, "f4"), in_dtype="bf16") for i in (0, 2)]
assert (dw == halves[0] + halves[1]).all()
conv = lambda x, w: jax.lax.conv_general_dilated(x[..., None], w.T[..., None], (1,), "VALID")[..., 0]
for g in emulate(shared(conv)), jax.jit(emulate(shared(conv))), shared(emulate(conv)):
    assert (g(x, w) == d).all()
for g in jax.pmap(f, in_axes=(0, None)), emulate(jax.pmap(lambda x, w: x @ w, in_axes=(0, None))):
    assert (g(x.reshape(2, 2, 16), w).reshape(4, 8) == d).all()
for g in f, jax.jit(f):
    assert (g(jax.device_put(x, NamedSharding(mesh, P("rows"))), w) == d).all()
delayed, h = softmma.jax.dot_general("H100", "fp8_delayed"), softmma.jax.histories()
layer = lambda x, w, h: delayed(x, w, (((1,), (0,)), ((), ())), histories=h)
own = lambda x, w, h: layer(x, w, jax.tree.map(lambda each: each[0], h))
two, places = jax.tree.map(lambda each: jax.numpy.stack([each] * 2), h), (P("rows"), P(), P("rows"))
each = jax.shard_map(own, mesh=mesh, in_specs=places, out_specs=P("rows"))
dw, found = jax.jit(jax.grad(lambda w, h: each(x, w, h).sum(), (0, 1)))(w, two)
halves = [jax.grad(lambda w, h: layer(x[i:i+2], w, h).sum(), (0, 1))(w, h) for i in (0, 2)]
expected = halves[0][0] + halves[1][0], jax.tree.map(lambda *each: jax.numpy.stack(each), halves[0][1], halves[1][1])
assert all(jax.tree.leaves(jax.tree.map(lambda one, other: bool((one == other).all()), (dw, found), expected)))
try:
    one = jax.shard_map(layer, mesh=mesh, in_specs=(P("rows"), P(), P()), out_specs=P("rows"))
    jax.grad(lambda h: one(x, w, h).sum())(h)
    raise AssertionError("devices share histories")
except ValueError as error:
    assert "forward[0].amax" in str(error) or "replicat" in str(error)  # JAX's words, of 0.7 the latter
square = jax.numpy.eye(16)
assert (jax.jit(f, donate_argnums=0)(x + 0, square) == f(x, square)).all()
"""
    environment = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=2"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr


def test_no_thread_waits_for_itself():
    """Large products in a loop, queued one after another on one core, do not deadlock."""
    code = """
import os, jax, softmma
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
dot = softmma.jax.dot_general("H100", "bf16", threads=1)
product = lambda a, b: dot(a, b, (((1,), (0,)), ((), ())))
x = jax.numpy.ones((300, 300)) / 300
@jax.jit
def f(x, w):
    return jax.lax.scan(lambda h, _: (product(h, w) + product(w, h), h.sum()), x, None, length=4)[0]
y = x
for _ in range(10):
    y = f(y, x)
y.block_until_ready()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=1000, check=False)
    assert done.returncode == 0, done.stderr


# ---- dtypes ----


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float8_e4m3fn", "float8_e5m2"])
@pytest.mark.parametrize("transform", [lambda f: f, jax.jit], ids=["eager", "jit"])
def test_dtypes(generator, dtype, transform):
    """Results are rounded once from the unit's FP32 to JAX's dtype; gradients have the operands' dtypes."""
    x, w = (jnp.asarray(generator.standard_normal(s), dtype) for s in ((6, 40), (40, 5)))
    dot = softmma.jax.dot_general("H100", "fp16")
    wide, e = (np.asarray(y, np.float32) for y in (x, w))
    exact = softmma.matmul(wide, e, in_dtype="f16")
    assert same(transform(lambda x, w: dot(x, w, LINEAR))(x, w), exact.astype(x.dtype))
    found = transform(lambda x, w: dot(x, w, LINEAR, preferred_element_type=jnp.float32))(x, w)
    assert same(found, exact)
    dx, dw = jax.grad(lambda x, w: dot(x, w, LINEAR, None, jnp.float32).sum(), (0, 1))(x, w)
    assert (dx.dtype, dw.dtype) == (x.dtype, w.dtype)
    assert same(dw, softmma.matmul(wide.T, np.ones((6, 5)), in_dtype="f16").astype(w.dtype))


def test_float64(generator):
    """If JAX's 64-bit mode is temporarily on, operands are rounded from binary64, and results have that dtype."""
    x, w = generator.standard_normal((6, 40)), generator.standard_normal((40, 5))
    with jax.enable_x64(True) if hasattr(jax, "enable_x64") else jax.experimental.enable_x64():
        for transform in lambda f: f, jax.jit:
            found = transform(lambda x, w: softmma.jax.dot_general("A100", "fp16")(x, w, LINEAR))(x, w)
            assert same(found, softmma.matmul(x, w, on="A100", in_dtype="f16").astype(np.float64))
            exact = recipes.custom("f64", "f64")
            found = transform(lambda x, w: softmma.jax.dot_general("A100", exact)(x, w, LINEAR))(x, w)
            assert same(found, softmma.matmul(x, w, on="A100"))


@pytest.mark.parametrize("recipe", ["bf16", "fp8_tensorwise", "nvfp4"])
def test_odd_values(generator, recipe):
    """NaN, infinities, the largest and the smallest numbers equal the reference, also in compiled programs."""
    x, w = (generator.integers(0, 2**32, s, dtype=np.uint32).view(np.float32) for s in ((16, 64), (64, 16)))
    how = deterministic(recipe)
    dot = softmma.jax.dot_general(ON.get(recipe, "H100"), how)
    expected = by_hand(recipes.Unit(ON.get(recipe, "H100"), how), x, w, ("activations", "weights"), "forward")
    assert same(dot(x, w, LINEAR), expected)
    assert same(jax.jit(lambda x, w: dot(x, w, LINEAR))(x, w), expected)


def test_random_numbers(generator):
    """Random numbers depend only on the seed and the operand: equal in any order, different for other seeds."""
    x, w = (generator.standard_normal(s).astype(np.float32) for s in ((16, 64), (64, 16)))

    def gradient(seed):
        dot = softmma.jax.dot_general("B200", "nvfp4", seed=seed)
        return jax.grad(lambda w: (dot(x, w, LINEAR) ** 2).sum())(w)

    assert same(gradient(1), gradient(1)) and not same(gradient(1), gradient(2))


# ---- Whole programs ----


def network(w, x):
    h = jax.nn.relu(x @ w["in"])
    h = jnp.einsum("bi,ij->bj", h, w["square"].T)
    return h, h @ h.T


def test_emulate(generator, weights):
    """The emulated program returns the same bits as a program that calls `dot_general`, and its report lists each
    product."""
    x = jnp.asarray(generator.standard_normal((8, 32)), jnp.float32)
    emulated = softmma.jax.emulate(network, "H100", "fp8_rowwise", weights=0)
    forward = softmma.jax.dot_general("H100", "fp8_rowwise")
    other = softmma.jax.dot_general("H100", "fp8_rowwise", weights=None)
    h = forward(jax.nn.relu(forward(x, weights["in"], LINEAR)), weights["square"].T, LINEAR)
    expected = h, other(h, h.T, LINEAR)
    assert_same_trees(emulated(weights, x), expected)
    assert_same_trees(emulated(weights, x=x)[0], expected[0])
    assert [tuple(row) for row in emulated.report()] == [
        ("forward", "activations e4m3 row torchao power_of_two", "weights e4m3 row torchao power_of_two",
         "wgmma.m64n8k32.f32.e4m3.e4m3", 4, 2 * (8 * 32 * 16 + 8 * 16 * 16)),
        ("other", "activations bf16", "activations bf16", "wgmma.m64n8k16.f32.bf16.bf16", 2, 2 * 8 * 16 * 8),
    ]  # fmt: skip
    assert not emulated.report().outside and "<table>" in emulated.report()._repr_html_()
    assert inspect.signature(emulated) == inspect.signature(network) and emulated.__name__ == "network"


@pytest.mark.parametrize("recipe", ["bf16", "fp8_tensorwise", "fp8_blockwise"])
def test_emulated_gradients(generator, weights, recipe):
    x = jnp.asarray(generator.standard_normal((8, 32)), jnp.float32)

    def loss(w, dot):
        return (dot(jnp.tanh(dot(x, w["in"], LINEAR)), w["square"], LINEAR) ** 2).sum()

    emulated = softmma.jax.emulate(lambda w: loss(w, lax.dot_general), recipe=recipe, weights=0)
    expected = jax.grad(lambda w: loss(w, softmma.jax.dot_general(recipe=recipe)))(weights)
    assert_same_trees(jax.grad(emulated)(weights), expected)
    kinds = {row.product: row.calls for row in emulated.report()}
    assert kinds == {"forward": 2, "dgrad": 1, "wgrad": 2}


def layers(w, x):
    """A network whose layers share one array of weights, as in loops. Slices of this array are also weights."""

    def layer(h, w):
        return lax.cond(h.sum() > 0, lambda h: h @ w, lambda h: h @ (2 * w), h), None

    h, _ = lax.scan(layer, x, w)
    h, _ = lax.while_loop(lambda state: state[1] < 2, lambda state: (state[0] @ w[0], state[1] + 1), (h, 0))
    return jax.jit(lambda h, w: jax.checkpoint(lambda h: h @ w.astype(jnp.float32))(h))(h, w[1])


def test_roles_in_loops(generator):
    w = jnp.asarray(generator.standard_normal((3, 8, 8)) / 4, jnp.float32)
    x = jnp.asarray(generator.standard_normal((2, 8)), jnp.float32)
    emulated = softmma.jax.emulate(layers, recipe=recipes.recipe("mxfp8"), on="B200", weights=0)
    found = jax.jit(emulated)(w, x)
    rows = {(row.product, row.b.split()[0]): row.calls for row in emulated.report()}
    assert sum(rows.values()) == 6 and rows["forward", "weights"] >= 3
    assert {key for key in rows} <= {("forward", "weights"), ("other", "activations")}
    np.testing.assert_allclose(found, layers(w, x), rtol=0, atol=0.2)


def test_roles_behind_loops(generator):
    """Weights carried through a loop are still weights after it, and so are values computed from weights alone."""
    w, x = (jnp.asarray(generator.standard_normal(s), jnp.float32) for s in ((32, 32), (4, 32)))

    def function(w, x, y):
        step = lambda s: (s[0].T * 2 + jnp.ones(32) + y, s[1] + 1)  # noqa: E731
        w, _ = lax.while_loop(lambda s: s[1] < 3, step, (w, 0))
        w = lax.scan(lambda w, _: (w, None), w, None, length=2)[0]
        return x @ jax.jit(lambda w: w.reshape(32, 32))(w)

    for y, kind in (1, "forward"), (x[:1], "other"):
        emulated = softmma.jax.emulate(function, recipe="fp8_rowwise", weights=["w"])
        emulated(w=w, x=x, y=y)
        assert [row.product for row in emulated.report()] == [kind]


def test_random_keys(generator):
    """Arrays of random keys can be arguments and results."""
    x = generator.standard_normal((4, 4)).astype(np.float32)

    def function(key, x):
        return jnp.where(jax.random.bernoulli(key, 0.5, (4, 4)), x @ x, 1), jax.random.split(key)

    key = jax.random.key(1)
    d, keys = softmma.jax.emulate(function)(key, x)
    kept = np.asarray(jax.random.bernoulli(key, 0.5, (4, 4)))
    assert same(d, np.where(kept, softmma.matmul(x, x, in_dtype="bf16"), np.float32(1)))
    assert (keys == jax.random.split(key)).all()


def test_custom_derivatives(generator):
    """Functions with custom derivatives keep them, with the unit's products."""
    x, w = (jnp.asarray(generator.standard_normal(s), jnp.float32) for s in ((4, 32), (32, 8)))

    @jax.custom_vjp
    def doubled(x, w):
        return x @ w

    doubled.defvjp(lambda x, w: (doubled(x, w), (x, w)), lambda kept, g: (2 * (g @ kept[1].T), 2 * (kept[0].T @ g)))

    @jax.custom_jvp
    def tripled(x, w):
        return x @ w

    tripled.defjvp(lambda xs, ts: (tripled(*xs), 3 * (ts[0] @ xs[1] + xs[0] @ ts[1])))
    a, b, ones = np.asarray(x), np.asarray(w), np.ones((4, 8), np.float32)
    expected = [softmma.matmul(*each, in_dtype="bf16") for each in ((a, b), (ones, b.T), (a.T, ones))]
    for function, factor in (doubled, 2), (tripled, 3):
        for transform in lambda f: f, jax.jit:
            emulated = softmma.jax.emulate(lambda x, w: transform(function)(x, w), "H100", "bf16")  # noqa: B023
            d, pull = jax.vjp(emulated, x, w)
            dx, dw = pull(jnp.asarray(ones))
            assert same(d, expected[0])
            # JAX applies the factor, before or after the product; whether a power of two or not, it is exact for ones.
            assert same(dx, factor * expected[1]) or np.allclose(dx, factor * expected[1], rtol=1e-6)
            assert same(dw, factor * expected[2]) or np.allclose(dw, factor * expected[2], rtol=1e-6)
    emulated = softmma.jax.emulate(doubled, recipe="fp8_tensorwise", weights=1)
    with pytest.raises(ValueError, match="a product of a derivative, whose gradients nothing tells from activations"):
        jax.grad(lambda w: emulated(x, w).sum())(w)


def test_derivatives_inside(generator):
    """A gradient is taken inside the emulated function. If the recipe treats all roles alike, its products are
    emulated; otherwise the message says how to emulate them."""
    x, w = (jnp.asarray(generator.standard_normal(s), jnp.float32) for s in ((4, 32), (32, 8)))
    gradient = jax.grad(lambda w: (x @ w).sum())
    expected = softmma.matmul(np.asarray(x).T, np.ones((4, 8)), in_dtype="bf16")
    assert same(softmma.jax.emulate(gradient)(w), expected)
    with pytest.raises(ValueError, match=r"test_jax.py:\d+.*differentiate the emulated function instead: jax.grad\("):
        softmma.jax.emulate(gradient, recipe="fp8_rowwise", weights=0)(w)
    assert same(jax.grad(softmma.jax.emulate(lambda w: (x @ w).sum()))(w), expected)


def test_outside():
    """Operations that are not emulated are reported, or are an error if `strict` is set."""
    image, kernel = jnp.ones((1, 8, 8, 3), jnp.complex64), jnp.ones((3, 3, 3, 4))
    numbers, complex_numbers = jnp.ones((2, 2), jnp.int32), jnp.ones((2, 2), jnp.complex64)

    def function(w):
        convolve = jax.jit(
            lambda x: lax.conv_general_dilated(
                x, w.astype(x.dtype), (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
            )
        )
        return (
            convolve(image).sum() + (numbers @ numbers).sum(),
            complex_numbers @ complex_numbers,
            jnp.linalg.inv(w[0, 0, :, :3] + jnp.eye(3)),
        )

    emulated = softmma.jax.emulate(function)
    for _ in range(2):
        assert_same_trees(emulated(kernel), function(kernel))
    outside = {row.operation: row.arrays for row in emulated.report().outside}
    assert {"conv_general_dilated", "dot_general", "lu", "triangular_solve"} <= set(outside)
    assert outside["conv_general_dilated"] == "complex64[1,8,8,3], complex64[3,3,3,4]"
    assert {row.arrays for row in emulated.report().outside if row.operation == "dot_general"} == {
        "int32[2,2], int32[2,2]", "complex64[2,2], complex64[2,2]",
    }  # fmt: skip
    assert all(row.places == 1 for row in emulated.report().outside) and "not emulated" in repr(emulated.report())
    with pytest.raises(NotImplementedError, match=r"test_jax.py:\d+.*: conv_general_dilated of complex64"):
        softmma.jax.emulate(function, strict=True)(kernel)


def test_linear_solve(generator):
    """In a linear solve JAX multiplies by the matrix only in derivatives. The roles of this product are unknown, so it
    is not emulated if the recipe depends on roles."""
    a, b = (jnp.asarray(generator.standard_normal((8, 8)), jnp.float32) for _ in range(2))
    for recipe, outside in ("fp8_rowwise", True), ("fp16", False):
        emulated = softmma.jax.emulate(jnp.linalg.solve, recipe=recipe, weights=0)
        assert same(emulated(a, b), jnp.linalg.solve(a, b))
        jax.grad(lambda a: emulated(a, b).sum())(a)  # noqa: B023
        assert {"lu", "triangular_solve"} <= {row.operation for row in emulated.report().outside}
        assert ("dot_general" in {row.operation for row in emulated.report().outside}) == outside


def test_emulated_twice(generator):
    """If a function is emulated twice, the inner emulation computes the product."""
    x = jnp.asarray(generator.standard_normal((4, 4)), jnp.float32)
    inner = softmma.jax.emulate(lambda x: x @ x, "H100", "fp16")
    assert same(softmma.jax.emulate(inner, "H100", "bf16")(x), softmma.matmul(x, x, in_dtype="f16"))
    inner = softmma.jax.emulate(lambda x: (x + 1j) @ (x + 1j))
    outer = softmma.jax.emulate(inner, strict=True)
    inner(x)
    with pytest.raises(NotImplementedError, match="dot_general of complex64"):
        outer(x)
    assert outer.report() is not inner.report() and outer.__wrapped__ is inner


def test_arguments_that_are_no_arrays(generator):
    """Arguments that are not arrays stay unchanged: flags, names, functions, sizes of shapes."""
    x = generator.standard_normal((4, 4)).astype(np.float32)

    def function(x, mode, n, *, train, activation):
        assert train is True and mode == "mean"
        return {"d": activation(x @ jnp.ones((x.shape[1], n))), "mode": n}

    found = softmma.jax.emulate(function, "H100", "fp16")(x, "mean", 3, train=True, activation=jnp.abs)
    assert same(found["d"], np.abs(softmma.matmul(x, np.ones((4, 3)), in_dtype="f16"))) and found["mode"] == 3


def test_integer_arguments(generator):
    """The gradients of integer arguments are JAX's float0."""
    w = jnp.asarray(generator.standard_normal((5, 4)), jnp.float32)
    emulated = softmma.jax.emulate(lambda w, i: (w[i] @ w.T).sum(), recipe="bf16")
    index = jnp.asarray([1, 2])
    gradient, of_index = jax.grad(emulated, (0, 1), allow_int=True)(w, index)
    assert gradient.shape == w.shape and of_index.dtype == jax.dtypes.float0


def test_compiled_once():
    """Another call of a compiled program does not trace again."""
    traced = []

    def function(x):
        traced.append(1)
        return x @ x

    compiled = jax.jit(softmma.jax.emulate(function))
    for _ in range(3):
        compiled(jnp.ones((4, 4)))
    assert len(traced) == 1


# ---- Errors ----


def test_formats_that_only_a_name_spells_out():
    x = jnp.arange(1, 17).reshape(4, 4).astype("float8_e4m3b11fnuz") / 8
    d = softmma.jax.dot_general()(x, x, LINEAR)
    assert d.dtype == x.dtype
    expected = np.asarray(x, np.float32) @ np.asarray(x, np.float32)
    np.testing.assert_array_equal(np.asarray(d, np.float32), np.asarray(expected.astype(x.dtype), np.float32))


@pytest.mark.parametrize("transform", [lambda f: f, jax.jit], ids=["eager", "jit"])
def test_errors_are_raised_where_the_program_is_traced(transform):
    x, n = jnp.ones((4, 4)), jnp.ones((4, 4), jnp.int8)
    with pytest.raises(
        LookupError,
        match=r"float32\[4,4\] x float32\[4,4\], forward of activations and weights: V100 has no instruction for bf16",
    ):
        transform(lambda x: softmma.jax.dot_general("V100", "bf16")(x, x, LINEAR))(x)
    with pytest.raises(TypeError, match=r"softmma.jax: int8\[4,4\] x int8.*products are of floating-point arrays"):
        transform(lambda x: softmma.jax.dot_general("H100", "bf16")(x, x, LINEAR))(n)
    with pytest.raises(LookupError, match="H100 has no instruction for e2m1"):
        transform(lambda x: softmma.jax.dot_general("H100", "nvfp4")(x, x, LINEAR))(x)
    with pytest.raises(TypeError, match="contracting dimensions"):
        transform(lambda x: softmma.jax.dot_general()(x, x[1:], LINEAR))(x)


def test_errors_of_arguments():
    with pytest.raises(LookupError, match="H101"):
        softmma.jax.dot_general("H101")
    with pytest.raises(LookupError, match="recipe: 'fp9' is not one of"):
        softmma.jax.emulate(abs, recipe="fp9")
    with pytest.raises(ValueError, match="'fp8_delayed': delayed scaling keeps a history .* fp8_tensorwise scales"):
        softmma.jax.emulate(abs, recipe="fp8_delayed")
    x = jnp.ones((4, 4))
    with pytest.raises(ValueError, match="'fp8_delayed': delayed scaling needs histories=, at first softmma.jax.histo"):
        softmma.jax.dot_general(recipe="fp8_delayed")(x, x, LINEAR)
    with pytest.raises(ValueError, match=r"float32\[2\] and float32\[\] do not fit e4m3 tensor history 1024: begin"):
        softmma.jax.dot_general(recipe="fp8_delayed")(x, x, LINEAR, histories=softmma.jax.histories(delayed()))
    with pytest.raises(ValueError, match="weights: 'left' is not one of"):
        softmma.jax.histories(weights="left")
    with pytest.raises(ValueError, match="weights: 'left' is not one of"):
        softmma.jax.dot_general(weights="left")
    with pytest.raises(ValueError, match="'fp8_tensorwise' treats weights in a way of their own: say which arguments"):
        softmma.jax.emulate(abs, recipe="fp8_tensorwise")


def test_weights_that_there_are_not():
    emulated = softmma.jax.emulate(lambda w, x: x @ w, recipe="fp8_rowwise", weights=0)
    with pytest.raises(ValueError, match="weights: this call has no argument 0"):
        emulated(w=jnp.ones((4, 4)), x=jnp.ones((4, 4)))


def test_errors_in_compiled_programs(monkeypatch):
    """The last line of an error in a compiled program comes from softmma.jax and says which product failed."""

    def fails(*arguments):
        raise MemoryError("out of memory")

    monkeypatch.setattr(recipes.Unit, "multiply", fails)
    compiled = jax.jit(lambda x: softmma.jax.dot_general()(x, x, LINEAR))
    with pytest.raises(Exception, match=r"softmma.jax: forward product of \(4, 4\) and \(4, 4\): out of memory"):
        compiled(jnp.ones((4, 4))).block_until_ready()


def test_configuration_is_left_alone():
    code = (
        "import jax; before = dict(jax.config.values); import softmma; softmma.jax; assert jax.config.values == before"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


# ---- Others ----


def test_sessions():
    page = str(REPOSITORY / "docs" / "jax.md")
    result = doctest.testfile(page, module_relative=False)
    assert result.attempted and not result.failed


@pytest.mark.parametrize("recipe", ["bf16", "fp8_tensorwise", "fp8_rowwise", "fp8_blockwise", "mxfp8"])
def test_as_in_pytorch(arrays, recipe):
    """The same recipe gives the same bits in `softmma.torch`, forward and backward."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed: softmma.jax is NOT compared with it")
    x, w, g = arrays
    rows, weight = torch.from_numpy(x).requires_grad_(), torch.nn.Parameter(torch.from_numpy(w.T.copy()))
    with softmma.torch.emulate(**options_of(recipe)):
        d = torch.nn.functional.linear(rows, weight)
        d.backward(torch.from_numpy(g))
    found, pull = jax.vjp(softmma.jax.emulate(lambda x, w: x @ w, **options_of(recipe), weights=1), x, w)
    dx, dw = pull(jnp.asarray(g))
    assert same(found, d.detach().numpy()) and same(dx, rows.grad.numpy()) and same(dw, weight.grad.numpy().T.copy())


PYTORCHS = [
    (False, 1, {}), (False, 2, {"stride": (2, 3), "padding": (0, 2), "dilation": (2, 1)}),
    (False, 2, {"stride": 2, "groups": 2}), (False, 3, {"stride": 2, "padding": 1, "groups": 4}),
    (True, 1, {"stride": 2}), (True, 2, {"stride": 2, "padding": 1, "output_padding": 1}),
    (True, 2, {"stride": 2, "groups": 2, "dilation": 2}), (True, 3, {"stride": (1, 2, 3), "output_padding": (0, 1, 2)}),
]  # fmt: skip


@pytest.mark.parametrize("recipe", ["bf16", "fp8_tensorwise", "fp8_blockwise", "nvfp4", "weight_only_s4"])
@pytest.mark.parametrize("transposed, rank, options", PYTORCHS)
def test_convolutions_as_in_pytorch(generator, recipe, transposed, rank, options):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed: softmma.jax is NOT compared with it")
    where = ON.get(recipe, "H100"), deterministic(recipe)
    numbers = {"stride": 1, "padding": 0, "dilation": 1, "output_padding": 0, **options}
    groups = numbers.pop("groups", 1)
    numbers = {name: y if isinstance(y, tuple) else (y,) * rank for name, y in numbers.items()}
    x = generator.standard_normal((2, 20, *[7, 6, 5][:rank])).astype(np.float32)
    x *= np.logspace(-2, 2, 20, dtype=np.float32).reshape(20, *[1] * rank)
    shape = (20, 24 // groups, *[3] * rank) if transposed else (24, 20 // groups, *[3] * rank)
    w = generator.standard_normal(shape).astype(np.float32)

    def function(x, w):
        padding = [(p, p) for p in numbers["padding"]]
        if transposed:
            w = jnp.flip(w, range(2, 2 + rank)).reshape(groups, -1, *w.shape[1:])
            w = w.swapaxes(1, 2).reshape(24, -1, *w.shape[3:])
            reach = [2 * d - p for d, p in zip(numbers["dilation"], numbers["padding"])]
            padding = [(low, low + more) for low, more in zip(reach, numbers["output_padding"])]
        strides, spread = ((1,) * rank, numbers["stride"])[:: -1 if not transposed else 1]
        return lax.conv_general_dilated(x, w, strides, padding, spread, numbers["dilation"], feature_group_count=groups)

    image, weight = torch.from_numpy(x).requires_grad_(), torch.nn.Parameter(torch.from_numpy(w))
    with softmma.torch.emulate(*where) as emulation:
        y = getattr(torch.nn.functional, f"conv{'_transpose' * transposed}{rank}d")(image, weight, **options)
        g = generator.standard_normal(y.shape).astype(np.float32)
        y.backward(torch.from_numpy(g))
    emulated = softmma.jax.emulate(function, *where, weights=1)
    d, pull = jax.vjp(emulated, x, w)
    dx, dw = pull(jnp.asarray(g))
    assert same(d, y.detach().numpy()) and same(dx, image.grad.numpy()) and same(dw, weight.grad.numpy())
    for kind in "forward", "dgrad", "wgrad":
        found, expected = (
            sum(row.multiplications for row in report if row.product == kind)
            for report in (emulated.report(), emulation.report())
        )
        assert found == expected


def test_delayed_scaling_as_in_pytorch(generator):
    """Training steps of a layer and a convolution have the same bits in JAX and PyTorch. The convolution's dgrad
    consists of several products."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed: softmma.jax is NOT compared with it")
    how = delayed()
    dot, conv = softmma.jax.dot_general("H100", how), softmma.jax.conv_general_dilated("H100", how)
    matrix, filters = (generator.standard_normal(s).astype(np.float32) for s in ((24, 40), (8, 4, 3, 3)))
    weight, kernel = torch.nn.Parameter(torch.from_numpy(matrix)), torch.nn.Parameter(torch.from_numpy(filters))
    pytorchs = [
        (lambda x: torch.nn.functional.linear(x, weight), weight),
        (lambda x: torch.nn.functional.conv2d(x, kernel, stride=(2, 3), padding=(1, 0)), kernel),
    ]
    linear = (((1,), (1,)), ((), ()))
    own = [
        lambda x, w, h: dot(x, w, linear, histories=h),
        lambda x, w, h: conv(x, w, (2, 3), [(1, 1), (0, 0)], histories=h),
    ]
    kept = [softmma.jax.histories(how)] * 2
    emulation = softmma.torch.emulate("H100", how)
    for magnitude in 1, 1e3, 1e-3, 1:
        for i, (shape, w) in enumerate((((6, 40), matrix), ((2, 4, 9, 8), filters))):
            x = generator.standard_normal(shape).astype(np.float32) * np.float32(magnitude)
            leaf, (f, parameter) = torch.from_numpy(x).requires_grad_(), pytorchs[i]
            parameter.grad = None
            with emulation:
                y = f(leaf)
                g = generator.standard_normal(y.shape).astype(np.float32) * np.float32(magnitude)
                y.backward(torch.from_numpy(g))
            d, pull = jax.vjp(own[i], x, w, kept[i])
            dx, dw, kept[i] = pull(jnp.asarray(g))
            assert same(d, y.detach().numpy()) and same(dx, leaf.grad.numpy())
            assert same(dw, parameter.grad.numpy())


def test_flax(generator):
    nn = pytest.importorskip("flax.linen", reason="Flax is not installed: softmma.jax is NOT tested in it")
    x = jnp.asarray(generator.standard_normal((2, 5, 16)), jnp.float32)
    layer = nn.Dense(4, dot_general=softmma.jax.dot_general("A100", "fp16"))
    parameters = layer.init(jax.random.key(0), x)
    kernel, bias = (np.asarray(parameters["params"][name]) for name in ("kernel", "bias"))
    expected = softmma.matmul(np.asarray(x), kernel, on="A100", in_dtype="f16") + bias
    assert same(layer.apply(parameters, x), expected)
    emulated = softmma.jax.emulate(nn.Dense(4).apply, "A100", "fp16")
    assert same(emulated(parameters, x), expected)
    image = jnp.asarray(generator.standard_normal((2, 9, 9, 4)), jnp.float32)
    options = {"strides": 2, "feature_group_count": 2}
    layer = nn.Conv(6, (3, 3), **options, conv_general_dilated=softmma.jax.conv_general_dilated("A100", "fp16"))
    parameters = layer.init(jax.random.key(0), image)
    emulated = softmma.jax.emulate(nn.Conv(6, (3, 3), **options).apply, "A100", "fp16", strict=True)
    assert same(layer.apply(parameters, image), emulated(parameters, image))


def test_flax_overwrites_histories(generator):
    """Flax's collection of values that gradients overwrite holds the histories."""
    nn = pytest.importorskip("flax.linen", reason="Flax is not installed: softmma.jax is NOT tested in it")
    from flax.training.train_state import TrainState

    optax = pytest.importorskip("optax")
    dot = softmma.jax.dot_general("H100", delayed())

    class Dense(nn.Module):
        @nn.compact
        def __call__(self, x):
            w = self.param("kernel", nn.initializers.normal(1), (x.shape[-1], 4))
            h = self.variable("_overwrite_with_gradient", "histories", softmma.jax.histories, delayed())
            return dot(x, w, LINEAR, histories=h.value)

    x = jnp.asarray(generator.standard_normal((8, 16)) * 100, jnp.float32)
    state = TrainState.create(apply_fn=Dense().apply, params=Dense().init(jax.random.key(0), x), tx=optax.sgd(0.1))
    first = state.apply_fn(state.params, x)
    state = state.apply_gradients(grads=jax.grad(lambda p: (state.apply_fn(p, x) ** 2).sum() * 0)(state.params))
    assert state.params["_overwrite_with_gradient"]["histories"].forward[0].scale == np.float32(448) / np.abs(x).max()
    by_tensor = softmma.jax.dot_general("H100", "fp8_tensorwise")(x, state.params["params"]["kernel"], LINEAR)
    assert same(state.apply_fn(state.params, x), by_tensor) and not same(first, by_tensor)
