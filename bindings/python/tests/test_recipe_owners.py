"""Compares formulas of scale factors, bit for bit, with the code of libraries that runs on CPUs: torchao and
compressed-tensors. Formulas of all libraries are in test_recipes.py, written there independently."""

import numpy as np
import pytest
from tensors import TENSORS, bits, tensors

import softmma
from softmma import recipes

TIER = "all"

torch = pytest.importorskip("torch")
torchao = pytest.importorskip("torchao")
pytest.importorskip("compressed_tensors")

DTYPES = [torch.float32, torch.bfloat16]


def prepared(x, operand):
    """Returns the operand of a PyTorch tensor."""
    if x.dtype == torch.bfloat16:
        import ml_dtypes

        return recipes.prepare(x.view(torch.uint16).numpy().view(ml_dtypes.bfloat16), operand, "a")
    return recipes.prepare(x.numpy(), operand, "a")


def encodings(x):
    return np.asarray(x.view(torch.uint8) if x.element_size() == 1 else x)


def same(ours, theirs, what):
    """Checks that encodings are equal; any NaN equals any NaN."""
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    nan = np.isnan(ours.astype(np.float64)) & np.isnan(theirs.astype(np.float64)) if ours.dtype.kind != "u" else False
    different = (bits(ours) != bits(theirs)) & ~nan if ours.dtype == theirs.dtype else (ours != theirs) & ~nan
    assert not different.any(), (what, different.sum(), np.argwhere(different)[:3].tolist())


def unpacked(packed):
    """Returns the codes of FP4 numbers that are packed two to a byte, the first in the lower half."""
    packed = np.asarray(packed.view(torch.uint8))
    return np.stack([packed & 15, packed >> 4], -1).reshape(*packed.shape[:-1], -1)


def given(kind, dtype, shape=(37, 256)):
    """Returns a tensor of a kind."""
    return torch.from_numpy(tensors(np.random.default_rng(5), shape)[kind]).to(dtype)


@pytest.mark.parametrize("kind", TENSORS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("row", [False, True])
@pytest.mark.parametrize("format", ["e4m3", "e5m2"])
def test_torchao_fp8(kind, dtype, row, format):
    from torchao.float8.config import ScalingGranularity
    from torchao.float8.float8_utils import tensor_to_scale, to_fp8_saturated

    x, fp8 = given(kind, dtype), {"e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2}[format]
    kinds = {False: (ScalingGranularity.TENSORWISE, None), True: (ScalingGranularity.AXISWISE, -1)}
    scale = tensor_to_scale(x, fp8, False, None, *kinds[row], row)
    codes = to_fp8_saturated(x.float() * scale, fp8)
    p = prepared(x, recipes.Operand(format, "row" if row else "tensor", power_of_two=row, formula="torchao"))
    same(p.factor, scale.reciprocal().reshape(p.factor.shape).numpy(), "factor")
    finite = ~np.isnan(codes.float().numpy())
    same(np.where(finite, encodings(codes), 0), np.where(finite, p.values.view(np.uint8), 0), "codes")
    assert (np.isnan(p.values.astype(np.float32)) == ~finite).all()


@pytest.mark.parametrize("kind", TENSORS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_torchao_float8(kind, dtype):
    from torchao.quantization import PerRow
    from torchao.quantization.quantize_.workflows.float8.float8_tensor import Float8Tensor

    x = given(kind, dtype)
    q = Float8Tensor.from_hp(x, torch.float8_e4m3fn, PerRow())
    p = prepared(x, recipes.Operand("e4m3", "row", formula="torchao_float8"))
    same(p.factor, q.scale.numpy(), "factor")
    same(p.values.astype(np.float32), q.qdata.float().numpy(), "codes")


@pytest.mark.parametrize("kind", TENSORS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("rounding", recipes.SCALE_ROUNDINGS)
@pytest.mark.parametrize("format", ["e4m3", "e5m2", "e2m3", "e3m2", "e2m1"])
def test_torchao_mx(kind, dtype, rounding, format):
    from torchao.prototype.mx_formats.mx_tensor import ScaleCalculationMode, to_mx

    names = {"e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2, "e2m1": torch.float4_e2m1fn_x2}
    names |= {"e2m3": "fp6_e2m3", "e3m2": "fp6_e3m2"}
    x = given(kind, dtype)
    scales, codes = to_mx(x, names[format], 32, ScaleCalculationMode[rounding.upper()])
    codes = unpacked(codes) if format == "e2m1" else encodings(codes)
    p = prepared(x, recipes.Operand(format, "1x32", scale_rounding=rounding, formula="torchao"))
    same(p.scales.view(np.uint8), scales.view(torch.uint8).numpy(), "scales")
    number = ~np.isnan(x.float().numpy()) & (np.repeat(p.scales.view(np.uint8), 32, 1) < 255)
    same(np.where(number, p.values.view(np.uint8), 0), np.where(number, codes, 0), "codes")


@pytest.mark.parametrize("kind", TENSORS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("tensor_factor", [False, True])
def test_torchao_nvfp4(kind, dtype, tensor_factor):
    from torchao.prototype.mx_formats.nvfp4_tensor import nvfp4_quantize, per_tensor_amax_to_scale

    x = given(kind, dtype)
    factor = per_tensor_amax_to_scale(x.abs().max()) if tensor_factor else None
    scales, codes = nvfp4_quantize(x, 16, factor)
    operand = recipes.Operand("e2m1", "1x16", formula="torchao")
    p = prepared(x, operand) if tensor_factor else recipes.prepare(x.float().numpy(), operand, "a", factor=1)
    same(p.scales.astype(np.float32), scales.float().numpy(), "scales")
    number = np.isfinite(x.float().numpy()) & np.repeat(~np.isnan(scales.float().numpy()), 16, 1)
    if tensor_factor and np.isinf(1 / factor.numpy()):
        number &= x.float().numpy() != 0  # 0 times infinity
    same(np.where(number, p.values.view(np.uint8), 0), np.where(number, unpacked(codes), 0), "codes")
    if tensor_factor:
        same(p.factor[0, 0], factor.numpy(), "factor")


@pytest.mark.parametrize("kind", TENSORS)
@pytest.mark.parametrize("dtype", [*DTYPES, torch.float16])
@pytest.mark.parametrize("zero_point", [False, True])
def test_torchao_int8(kind, dtype, zero_point):
    from torchao.quantization import PerRow
    from torchao.quantization.quant_primitives import MappingType
    from torchao.quantization.quantize_.workflows.int8.int8_tensor import Int8Tensor

    x = given(kind, torch.float32).to(dtype)
    mapping = MappingType.ASYMMETRIC if zero_point else MappingType.SYMMETRIC
    q = Int8Tensor.from_hp(x, PerRow(), mapping)
    p = recipes.prepare(array(x), recipes.Operand("s8", "row", formula="torchao", zero_point=zero_point), "a")
    compare_integers(p, x, q.qdata, q.scale, q.zero_point if zero_point else None)


def array(x):
    """Returns a PyTorch tensor as a NumPy array of the same format."""
    import ml_dtypes

    return x.view(torch.uint16).numpy().view(ml_dtypes.bfloat16) if x.dtype == torch.bfloat16 else x.numpy()


def compare_integers(p, x, codes, scales, zero_points):
    """Compares codes, scales and zero points, except the codes of NaN, because PyTorch does not define the conversion
    of NaN to an integer."""
    scales = np.asarray(scales.float()).reshape(len(x), -1)
    factor = p.factor if p.factor is not None else p.scales
    same(factor, scales, "scales")
    number = np.repeat(np.isfinite(scales), x.shape[1] // scales.shape[1], 1) & np.isfinite(x.float().numpy())
    if zero_points is not None:
        theirs = np.asarray(zero_points).reshape(scales.shape)
        regular = np.isfinite(scales)
        same(np.where(regular, p.zero_points, 0), np.where(regular, theirs, 0).astype(np.int32), "zero points")
    same(np.where(number, p.values.astype(np.int32), 0), np.where(number, codes.numpy().astype(np.int32), 0), "codes")


@pytest.mark.parametrize("kind", TENSORS)
@pytest.mark.parametrize("dtype", [*DTYPES, torch.float16])
@pytest.mark.parametrize("zero_point", [False, True])
@pytest.mark.parametrize("format", ["s8", "s4"])
@pytest.mark.parametrize("group", [32, 64, 128])
def test_torchao_intx(kind, dtype, zero_point, format, group):
    from torchao.quantization.quant_primitives import MappingType
    from torchao.quantization.quantize_.workflows.intx.intx_unpacked_to_int8_tensor import IntxUnpackedToInt8Tensor

    x = given(kind, torch.float32).to(dtype)
    mapping = MappingType.ASYMMETRIC if zero_point else MappingType.SYMMETRIC
    target = {"s8": torch.int8, "s4": torch.int4}[format]
    q = IntxUnpackedToInt8Tensor.from_hp(x, (1, group), target, mapping_type=mapping)
    operand = recipes.Operand(format, f"group{group}", formula="torchao_intx", zero_point=zero_point)
    compare_integers(recipes.prepare(array(x), operand, "a"), x, q.qdata, q.scale, q.zero_point if zero_point else None)


def quantized(x, **more):
    """Returns scales, zero points and codes (as numbers) of compressed-tensors."""
    from compressed_tensors.quantization import QuantizationArgs
    from compressed_tensors.quantization.lifecycle.forward import quantize
    from compressed_tensors.quantization.utils import calculate_qparams, generate_gparam

    args = QuantizationArgs(**more)
    size = args.group_size or x.shape[1]
    groups = x.unflatten(-1, (x.shape[1] // size, size))
    factor = generate_gparam(x.min(), x.max()) if args.strategy == "tensor_group" else None
    scales, zeros = calculate_qparams(groups.amin(-1), groups.amax(-1), args, global_scale=factor)
    codes = quantize(x, scales, None if args.symmetric else zeros, args, global_scale=factor)
    return scales, zeros, codes, factor


@pytest.mark.parametrize("kind", TENSORS)
@pytest.mark.parametrize("dtype", [*DTYPES, torch.float16])
@pytest.mark.parametrize("zero_point", [False, True])
@pytest.mark.parametrize("format", ["s8", "s4"])
@pytest.mark.parametrize("group", [0, 32, 64, 128])
def test_compressed_tensors_integers(kind, dtype, zero_point, format, group):
    x = given(kind, torch.float32).to(dtype)
    how = {"strategy": "group", "group_size": group} if group else {"strategy": "channel"}
    scales, zeros, codes, _ = quantized(x, num_bits=int(format[1]), type="int", symmetric=not zero_point, **how)
    scaling = f"group{group}" if group else "row"
    p = recipes.prepare(
        array(x), recipes.Operand(format, scaling, formula="compressed_tensors", zero_point=zero_point), "a"
    )
    compare_integers(p, x, codes.float().nan_to_num(), scales, zeros if zero_point else None)


@pytest.mark.parametrize("kind", TENSORS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("row", [False, True])
def test_compressed_tensors_fp8(kind, dtype, row):
    x = given(kind, dtype)
    scales, _, codes, _ = quantized(x if row else x.reshape(1, -1), num_bits=8, type="float", strategy="channel")
    p = recipes.prepare(
        array(x), recipes.Operand("e4m3", "row" if row else "tensor", formula="compressed_tensors"), "a"
    )
    same(p.factor, scales.float().numpy().reshape(p.factor.shape), "scales")
    same(p.values.astype(np.float32), codes.float().reshape(x.shape).numpy(), "codes")


@pytest.mark.parametrize("kind", TENSORS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("format", ["e2m1", "e4m3", "e2m3"])
def test_compressed_tensors_mx(kind, dtype, format):
    from compressed_tensors.compressors.mx_utils import compress_mx_scale

    x = given(kind, dtype)
    number = int({"e2m1": 4, "e2m3": 6, "e4m3": 8}[format])
    scales, _, codes, _ = quantized(
        x, num_bits=number, type="float", strategy="group", group_size=32, scale_dtype=torch.uint8
    )
    p = recipes.prepare(array(x), recipes.Operand(format, "1x32", formula="compressed_tensors"), "a")
    stored = compress_mx_scale(scales, torch.uint8).numpy()
    amax = x.float().abs().unflatten(-1, (-1, 32)).amax(-1).numpy()
    regular = np.isfinite(amax) & np.isfinite(scales.float().numpy())
    same(np.where(regular, p.scales.view(np.uint8), 0), np.where(regular, stored, 0), "scales")
    number = np.repeat(regular, 32, 1) & np.isfinite(x.float().numpy())
    same(np.where(number, p.values.astype(np.float32), 0), np.where(number, codes.float().numpy(), 0), "codes")


@pytest.mark.parametrize("kind", TENSORS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_compressed_tensors_nvfp4(kind, dtype):
    x = given(kind, dtype)
    scales, _, codes, factor = quantized(
        x, num_bits=4, type="float", strategy="tensor_group", group_size=16, scale_dtype=torch.float8_e4m3fn
    )
    p = recipes.prepare(array(x), recipes.Operand("e2m1", "1x16", formula="compressed_tensors"), "a")
    same(p.scales.astype(np.float32), scales.float().numpy(), "scales")
    same(p.factor[0, 0], np.float32(1) / factor.numpy()[0], "factor")
    number = np.repeat(np.isfinite(scales.float().numpy()), 16, 1) & np.isfinite(x.float().numpy())
    same(np.where(number, p.values.astype(np.float32), 0), np.where(number, codes.float().numpy(), 0), "codes")


@pytest.mark.parametrize("group", [32, 64])
def test_a_weight_that_torchao_multiplies_out(group):
    """A weight-only layer multiplies by the numbers that torchao's conversion of its weight gives."""
    from torchao.quantization.quantize_.workflows.intx.intx_unpacked_to_int8_tensor import IntxUnpackedToInt8Tensor

    w = given("ordinary", torch.bfloat16)
    q = IntxUnpackedToInt8Tensor.from_hp(w, (1, group), torch.int4)
    recipe = recipes.recipe("weight_only_s4", formula="torchao_intx", group_size=group)
    b = softmma.recipes.Unit("A100", recipe).prepare(array(w).T, "weights", "forward", "b")
    same(b.values.astype(np.float32).T, q.dequantize().float().numpy(), "values")


@pytest.mark.parametrize("config", ["Int8WeightOnlyConfig", "Float8WeightOnlyConfig", "IntxWeightOnlyConfig"])
def test_weight_only_layers_of_torchao_are_layers(config):
    """Products of such a layer are counted as products of a weight, in forward and backward passes. They have the same
    bits as the function without a layer."""
    import softmma.torch
    from torchao import quantization

    torch.manual_seed(0)
    layer = torch.nn.Linear(64, 32, bias=False).to(torch.bfloat16)
    quantization.quantize_(layer, getattr(quantization, config)())
    x = torch.randn(5, 64, dtype=torch.bfloat16, requires_grad=True)
    with softmma.torch.emulate("H100", "bf16") as emulation:
        y = layer(x)
        y.sum().backward()
    assert [(row.product, row.calls) for row in emulation.report()] == [("forward", 1), ("dgrad", 1)]
    with softmma.torch.emulate("H100", "bf16"):
        assert torch.equal(y, torch.nn.functional.linear(x, layer.weight))
