"""Weights of checkpoints: each form that load_weight and the command read, against numbers that are computed here."""

import json

import ml_dtypes
import numpy as np
import pytest

import softmma

TIER = "check"
E2M1 = np.float32([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])
N, K = 24, 160  # K is not a multiple of 128, and N is less than 128
LAYER = "model.layers.0.mlp.down_proj"
E4M3, E8M0, BF16 = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e8m0fnu, ml_dtypes.bfloat16
NAMES = {"float32": "F32", "bfloat16": "BF16", "float8_e4m3fn": "F8_E4M3", "float8_e8m0fnu": "F8_E8M0", "uint8": "U8",
         "int8": "I8", "int32": "I32", "int64": "I64", "float16": "F16"}  # fmt: skip


def write(path, tensors):
    """Writes a .safetensors file; independent of the package."""
    header, data = {"__metadata__": {"format": "pt"}}, b""
    for name, x in tensors.items():
        begin, data = len(data), data + np.ascontiguousarray(x).tobytes()
        header[name] = {"dtype": NAMES[x.dtype.name], "shape": x.shape, "data_offsets": [begin, len(data)]}
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)
    return path


def decoded(packed):
    """Returns the numbers of FP4 elements, two in a byte, the first in the low half."""
    return E2M1[np.stack([packed & 15, packed >> 4], -1).reshape(*packed.shape[:-1], -1)]


def spread(scales, rows, columns, shape=(N, K)):
    """Returns the scale factor of each element."""
    return np.repeat(np.repeat(np.float32(scales), rows, 0), columns, 1)[: shape[0], : shape[1]]


random = np.random.default_rng(20)
PACKED = random.integers(0, 256, (N, K // 2), np.uint8)
UE4M3 = random.integers(1, 120, (N, K // 16), np.uint8).view(E4M3)
UE8M0 = random.integers(110, 140, (N, K // 32), np.uint8)
FP8 = random.integers(0, 0x78, (N, K), np.uint8).view(E4M3)
OF_ROWS = (random.random((N, 1)) + 0.01).astype(np.float32)
OF_BLOCKS = (random.random((1, 2)) + 0.01).astype(np.float32)
INT4 = random.integers(0, 16, (N, K), np.uint8)
WORDS = (INT4[:, 0::2] | INT4[:, 1::2] << 4).view("<i4")
OF_GROUPS = (random.random((N, K // 32)) + 0.01).astype(BF16)
FP6 = random.integers(0, 64, (N, K), np.uint8)
PACKED6 = np.packbits(np.unpackbits(FP6[:, :, None], 2, 6, "little").reshape(N, -1), 1, "little")
EXPERTS = random.integers(0, 256, (3, N, K // 32, 16), np.uint8)
OF_EXPERTS = random.integers(110, 140, (3, N, K // 32), np.uint8)
F = np.float32
MX = spread(2.0 ** (UE8M0.astype(F) - 127), 1, 32)
NV = UE4M3.astype(F)

# For each form of weights: its tensors, the numbers that the formula of the form's library gives, and a target that
# takes the elements unchanged.
FORMS = {
    "nvfp4 of ModelOpt": (
        {".weight": PACKED, ".weight_scale": UE4M3, ".weight_scale_2": F(0.0123), ".input_scale": F(1), ".bias": F([0] * N)},
        decoded(PACKED) * spread(NV * F(0.0123), 1, 16), "B200:nvfp4",
    ),
    "nvfp4 of compressed-tensors": (
        {".weight_packed": PACKED, ".weight_scale": UE4M3, ".weight_global_scale": F([81.3])},
        decoded(PACKED) * spread(NV / F(81.3), 1, 16), "B200:nvfp4",
    ),
    "mxfp4 of compressed-tensors": (
        {".weight_packed": PACKED, ".weight_scale": UE8M0}, decoded(PACKED) * MX, "B200:mxfp4",
    ),
    "mxfp4 in U8": ({".weight": PACKED, ".weight_scale": UE8M0.view(E8M0)}, decoded(PACKED) * MX, "B200:mxfp4"),
    "mxfp6": (
        {".weight_packed": PACKED6, ".weight_scale": UE8M0},
        FP6.view(ml_dtypes.float6_e2m3fn).astype(F) * MX, "B200:mxfp6_e2m3",
    ),
    "mxfp8": ({".weight": FP8, ".weight_scale": UE8M0}, FP8.astype(F) * MX, "B200:mxfp8_e4m3"),
    "fp8 of a tensor": ({".weight": FP8, ".weight_scale": F(0.031)}, FP8.astype(F) * F(0.031), "H100:e4m3"),
    "fp8 of rows": ({".weight": FP8, ".weight_scale": OF_ROWS}, FP8.astype(F) * spread(OF_ROWS, 1, K), None),
    "fp8 of blocks": (
        {".weight": FP8, ".weight_scale_inv": OF_BLOCKS}, FP8.astype(F) * spread(OF_BLOCKS, 128, 128), None,
    ),
    "int8": ({".weight": FP8.view(np.int8), ".weight_scale": OF_ROWS}, FP8.view(np.int8) * spread(OF_ROWS, 1, K), None),
    "int4": (
        {".weight_packed": WORDS, ".weight_scale": OF_GROUPS, ".weight_shape": np.int64([N, K])},
        (INT4.astype(F) - 8) * spread(OF_GROUPS, 1, 32), None,
    ),
    "bf16": ({".weight": FP8.astype(BF16)}, FP8.astype(F), "H100:bf16"),
    "bf16 with axes of 1": ({".weight": FP8.astype(BF16)[None, None]}, FP8.astype(F), "H100:bf16"),
}  # fmt: skip


def same(x, y):
    np.testing.assert_array_equal(x.view(np.uint32), y.view(np.uint32), strict=True)


def gemm(command, tmp_path, *arguments):
    """Runs the command gemm. Returns the product, and the command's notes."""
    _, notes = command("gemm", *arguments, "-o", tmp_path / "d.npy", notes=True)
    return np.load(tmp_path / "d.npy"), notes


@pytest.mark.parametrize("form", FORMS)
def test_form(form, tmp_path, command):
    """Checks the weight's numbers, and two products of the command: on a unit that takes numbers, and on a unit that
    takes the stored elements."""
    parts, numbers, target = FORMS[form]
    file = write(tmp_path / "model.safetensors", {LAYER + end: x for end, x in parts.items()})
    w = softmma.load_weight(file, "layers.0.mlp.down_proj")
    same(w.numbers, np.float32(numbers))
    x = np.random.default_rng(1).standard_normal((K, 5)).astype(np.float32)
    np.save(tmp_path / "x.npy", x)
    named = f"{file}:layers.0.mlp.down_proj"
    d, _ = gemm(command, tmp_path, "--on", "H100:f16", named, tmp_path / "x.npy")
    same(d, softmma.matmul(w.numbers, x, on="H100:f16"))
    if target is None:
        return
    d, notes = gemm(command, tmp_path, "--on", target, named, tmp_path / "x.npy")
    if w.scales is None:
        same(d, softmma.matmul(w.values, x, on=target, alpha=w.factor))
    else:
        q = softmma.quantize(x, w.form, axis=0)
        scales = {"scale_a": w.scales, "scale_b": q.scales, "alpha": w.factor * q.factor}
        same(d, softmma.matmul(w.values, q.values, on=target, **scales))
        np.save(tmp_path / "xt.npy", np.ascontiguousarray(x.T))
        turned, _ = gemm(command, tmp_path, "--on", target, "--transpose-b", tmp_path / "xt.npy", named)
        q = softmma.quantize(x.T, w.form)
        scales = {"scale_a": q.scales, "scale_b": w.scales.T, "alpha": w.factor * q.factor}
        same(turned, softmma.matmul(q.values, w.values.T, on=target, **scales))
    assert ("taken as stored" in notes) == ("bf16" not in form)


def test_experts(tmp_path, command):
    """A layer of gpt-oss is read: its elements are blocks of bytes, and each expert has a matrix."""
    file = write(tmp_path / "m.safetensors", {"mlp.experts.up_blocks": EXPERTS, "mlp.experts.up_scales": OF_EXPERTS})
    for expert in range(3):
        w = softmma.load_weight(file, f"experts.up[{expert}]")
        scales = spread(2.0 ** (OF_EXPERTS[expert].astype(F) - 127), 1, 32)
        same(w.numbers, decoded(EXPERTS[expert].reshape(N, -1)) * scales)
        assert (w.form, w.block) == ("mxfp4", (1, 32))
    with pytest.raises(ValueError, match=r"shape \(3, 24, 80\) holds several matrices; name one as NAME\[0\]"):
        softmma.load_weight(file, "experts.up")
    with pytest.raises(ValueError, match=r"it has no matrix \[3\]: its leading axis has 3"):
        softmma.load_weight(file, "experts.up[3]")


@pytest.mark.parametrize(("form", "plan"), [("fp8 of blocks", "deepgemm"), ("fp8 of rows", "torch:_scaled_mm:row")])
def test_plan_takes_factors(form, plan, tmp_path, command):
    """A plan with scale factors uses the checkpoint's factors if --scale-b is missing."""
    parts, _, _ = FORMS[form]
    file = write(tmp_path / "m.safetensors", {LAYER + end: x for end, x in parts.items()})
    w = softmma.load_weight(file)
    of_b = np.repeat(w.scales, w.block[0], 0)[:N].T
    a, of_a = FP8[:7], np.float32(np.random.default_rng(2).random((7, len(of_b))))
    np.save(tmp_path / "a.npy", a.view(np.uint8))
    np.save(tmp_path / "of_a.npy", of_a)
    product = ("--on", "H100:e4m3", "--plan", plan, "--transpose-b", tmp_path / "a.npy", file)
    d, _ = gemm(command, tmp_path, *product, "--scale-a", tmp_path / "of_a.npy")
    expected = softmma.matmul(a, w.values.T, on="H100:e4m3", plan=plan, scale_a=of_a, scale_b=of_b)
    assert d.tobytes() == expected.tobytes()
    _, line = command("gemm", *product, "-o", tmp_path / "d.npy", status=(2,), notes=True)
    assert "--scale-a is missing: scale factors in f32, " in line


def test_plan_refuses_other_factors(tmp_path, command):
    parts, _, _ = FORMS["fp8 of blocks"]
    file = write(tmp_path / "m.safetensors", {LAYER + end: x for end, x in parts.items()})
    product = ("--on", "H100:e4m3", "--plan", "torch:_scaled_mm:row", file, file, "--transpose-b")
    _, line = command("gemm", *product, "-o", tmp_path / "d.npy", status=(2,), notes=True)
    assert "is e4m3 with f32 per 24 x 128, and the product takes other scale factors" in line
    np.save(tmp_path / "s.npy", OF_ROWS)
    of_rows = ("--scale-a", tmp_path / "s.npy", "--scale-b", tmp_path / "s.npy")
    for other in ("gemm", "--plan", "deepgemm"), ("trace", "--plan", "deepgemm"):
        arguments = (*other, "--on", "H100:e4m3", file, file, "--transpose-b", *of_rows)
        out = ("-o", tmp_path / "d.npy") if other[0] == "gemm" else ()
        _, line = command(*arguments, *out, status=(2,), notes=True)
        assert "so that it has its own factors; leave it out" in line
    _, notes = gemm(command, tmp_path, "--on", "H100:e4m3", file, file, "--transpose-b")
    assert "a plan such as deepgemm or torch:_scaled_mm:row takes its scale factors" in notes


def test_compare_and_trace_take_the_stored_form(tmp_path, command):
    """trace returns the element that gemm returns. compare does not count the weight's factor as an error of the
    unit."""
    parts, _, target = FORMS["nvfp4 of ModelOpt"]
    file = write(tmp_path / "m.safetensors", {LAYER + end: x for end, x in parts.items()})
    np.save(tmp_path / "x.npy", np.random.default_rng(3).standard_normal((K, 5)).astype(np.float32))
    d, _ = gemm(command, tmp_path, "--on", target, file, tmp_path / "x.npy")

    traced = json.loads(command("trace", "--json", "--at", "3,2", "--on", target, file, tmp_path / "x.npy"))
    assert int(traced["targets"][0]["d"], 16) == d.view(np.uint32)[3, 2]
    compared = command("compare", "--json", "--on", f"{target},H100:f16", file, tmp_path / "x.npy", status=(1,))
    compared = json.loads(compared)
    assert 0 < compared["units"][0]["unit_error"]["largest"] < 1e-6


def test_names(tmp_path):
    file = write(tmp_path / "m.safetensors", {
        "model.a.weight": OF_ROWS, "model.a.bias": F([1]), "model.ab.weight": OF_BLOCKS, "model.c.weight": FP8,
        "model.c.weight_scale": F(2), "head.a.x": OF_GROUPS,
    })  # fmt: skip
    shapes = {
        "model.a": (N, 1),
        "model.ab": (1, 2),
        "c": (N, K),
        "head": (N, 5),
        "model.a.bias": (1, 1),
        "a.bias": (1, 1),
    }
    for name, shape in shapes.items():
        assert softmma.load_weight(file, name).numbers.shape == shape
    for name, text in {
        "a": "the names of 3 tensors begin with 'a'",
        "model.d": "no tensor is named 'model.d'; there are model.a.weight, model.c.weight, model.ab.weight",
        "model.a[0]": r"it is one matrix; leave out the number",
        "model.a[x]": r"'\[x\]' is no number of a matrix",
        None: "the file holds 6 tensors; name one",
    }.items():
        with pytest.raises(ValueError, match=text):
            softmma.load_weight(file, name)


# Changes to the tensors of a form, and the line that refuses them.
DAMAGED = [
    ("nvfp4 of ModelOpt", {".weight_scale": UE4M3[:, :3]}, r"weight_scale': shape \(24, 3\) does not fit the 24 x 160"),
    ("nvfp4 of ModelOpt", {".weight_scale": UE4M3[:5]}, r"shape \(5, 10\) does not fit"),
    ("nvfp4 of ModelOpt", {".weight_scale": UE4M3[:, ::2]}, r"shape \(24, 5\) does not fit"),
    ("nvfp4 of ModelOpt", {".weight_scale": -UE4M3}, "a factor is negative"),
    ("nvfp4 of ModelOpt", {".weight_scale_2": F([1, 2])}, "one number in floating point is needed"),
    ("nvfp4 of ModelOpt", {".weight_scale": OF_ROWS}, "U8 with scale factors in floating point is no form"),
    ("nvfp4 of ModelOpt", {".comfy_quant": UE8M0}, "ComfyUI's order of scale factors is not read"),
    ("nvfp4 of compressed-tensors", {".weight_scale": None}, "has no scale factors: the file lacks '.*weight_scale'"),
    ("nvfp4 of compressed-tensors", {".weight_global_scale": F(0)}, "it is 0, and factors are divided by it"),
    ("nvfp4 of compressed-tensors", {".weight_zero_point": UE8M0}, "a form with zero points is not read"),
    ("mxfp8", {".weight_scale": UE8M0[:, :4]}, r"shape \(24, 4\) does not fit"),
    ("mxfp8", {".weight_scale": UE8M0.astype(np.int32)}, "scale factors are of dtype F32"),
    ("fp8 of blocks", {".weight_scale_inv": np.ones((1, 4), F)}, r"shape \(1, 4\) does not fit"),
    ("fp8 of rows", {".weight_scale": np.ones(N - 1, F)}, r"shape \(23,\) does not fit"),
    ("int4", {".weight_shape": None}, "packed integers need a tensor of the same name with _shape"),
    ("int4", {".weight_shape": np.int64([N, K + 8])}, "its words do not hold the columns"),
    ("int4", {".weight_shape": np.int64([N + 1, K])}, "packed integers need a tensor"),
    ("int4", {".weight_shape": np.int64([N, -1])}, "its words do not hold the columns"),
]


@pytest.mark.parametrize(("form", "change", "text"), DAMAGED)
def test_damaged(form, change, text, tmp_path):
    parts = {LAYER + end: x for end, x in {**FORMS[form][0], **change}.items() if x is not None}
    with pytest.raises(ValueError, match=text):
        softmma.load_weight(write(tmp_path / "m.safetensors", parts), LAYER)


WORDS = np.int32([[7] * 8] * 8)

# Tensors of layers in forms that are not read.
UNREAD = [
    ("GPTQ and AWQ", {".qweight": WORDS, ".qzeros": WORDS, ".scales": F([[1] * 8]), ".g_idx": np.int32([0] * 64)}),
    ("GPTQ and AWQ", {".qweight": WORDS, ".scales": F([[1] * 8])}),
    ("bitsandbytes", {".weight": np.uint8([[1]] * 32), ".weight.absmax": F([1]), ".weight.quant_map": F([1] * 16)}),
    ("bitsandbytes", {".weight": np.int8([[1] * 8] * 8), ".SCB": F([1] * 8)}),
    ("ExLlamaV2", {".q_weight": WORDS, ".q_scale": WORDS}),
    ("HQQ", {".W_q": np.uint8([[1] * 8] * 8), ".scale": F([[1] * 8]), ".zero": F([[1] * 8])}),
    ("zero points", {".weight": np.int8([[1] * 8] * 8), ".weight_zero_point": np.int8([[1]] * 8)}),
]


@pytest.mark.parametrize(("form", "parts"), UNREAD)
def test_unread(form, parts, tmp_path):
    """Codes of a form that is not read are never taken for numbers, by any name that finds the layer."""
    file = write(tmp_path / "m.safetensors", {LAYER + end: x for end, x in parts.items()})
    (elements, *_) = parts
    for name in LAYER, LAYER + elements, LAYER.rpartition(".")[2]:
        with pytest.raises(ValueError, match=f"{form} is not read; dequantise it with the package that wrote it"):
            softmma.load_weight(file, name)
    index = tmp_path / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": {LAYER + end: file.name for end in parts}}))
    with pytest.raises(ValueError, match=f"{form} is not read"):
        softmma.load_weight(index, LAYER)


def test_npz(tmp_path, command):
    """Weights are also read from .npz files, stored and deflated, and from .npy files."""
    parts, numbers, _ = FORMS["int8"]
    tensors = {LAYER + end: x for end, x in parts.items()}
    np.savez(tmp_path / "m.npz", **tensors)
    np.savez_compressed(tmp_path / "deflated.npz", **tensors, other=np.zeros(3))
    for path in tmp_path / "m.npz", tmp_path / "deflated.npz":
        same(softmma.load_weight(path, "mlp.down_proj").numbers, np.float32(numbers))
    np.save(tmp_path / "x.npy", np.int64([[1, -2]]))
    assert softmma.load_weight(tmp_path / "x.npy").numbers.tolist() == [[1, -2]]
    np.save(tmp_path / "large.npy", np.int64([[2**53 + 1]]))
    with pytest.raises(ValueError, match="float64 does not hold its integers exactly"):
        softmma.load_weight(tmp_path / "large.npy")
    for sign in "ui":
        for size in 1, 2, 4, 8:
            x = np.arange(16, dtype=f"{sign}{size}").reshape(2, 8)
            np.save(tmp_path / "integers.npy", x)
            w = softmma.load_weight(tmp_path / "integers.npy")
            same(w.values.view(x.dtype), x)
            assert w.values.itemsize == size and w.numbers.tolist() == x.tolist(), (sign, size)
    product = ("gemm", "--on", "H100:f16", tmp_path / "m.npz", "x.npy", "-o", "d.npy")
    _, line = command(*product, status=(2,), notes=True, cwd=tmp_path)
    assert (
        "this is a zip archive (.npz, or PyTorch's .pt); convert it in Python: numpy.save('x.npy', softmma.lo" in line
    )


def test_index(tmp_path, command):
    """A checkpoint may consist of several files, with the elements in one file and their factors in another. The names
    of weights are the same as in a single file."""
    parts, numbers, target = FORMS["nvfp4 of ModelOpt"]
    names = {}
    for i, (end, x) in enumerate(parts.items()):
        names[LAYER + end] = write(tmp_path / f"model-{i}.safetensors", {LAYER + end: x}).name
    names |= {"model.up.weight": "absent.safetensors", "model.norm.weight": "model-0.safetensors", "model.x.weight": 3}
    index = tmp_path / "model.safetensors.index.json"
    index.write_text(json.dumps({"metadata": {}, "weight_map": names}))
    for path in index, tmp_path:
        same(softmma.load_weight(path, "mlp.down_proj").numbers, np.float32(numbers))
    np.save(tmp_path / "x.npy", np.ones((K, 1), np.float32))
    one, _ = gemm(command, tmp_path, "--on", target, f"{index}:layers.0.mlp.down_proj", tmp_path / "x.npy")
    write(tmp_path / "one.safetensors", {LAYER + end: x for end, x in parts.items()})
    whole, _ = gemm(command, tmp_path, "--on", target, tmp_path / "one.safetensors", tmp_path / "x.npy")
    same(one, whole)
    for name, text in {
        "up": "absent.safetensors: cannot open",
        "norm": "model-0.safetensors: there is no tensor 'model.norm.weight', which .*index.json lists",
        "x.weight": "weight_map has no name of a file for tensor 'model.x.weight'",
        "model": "the names of 3 tensors begin with 'model'",
        None: "the file holds 8 tensors; name one",
    }.items():
        with pytest.raises(ValueError, match=text):
            softmma.load_weight(index, name)
    index.rename(tmp_path / "index.json")
    with pytest.raises(ValueError, match="6 .safetensors files without one index of all; name a file"):
        softmma.load_weight(tmp_path, "x")
    index.write_text("{}")
    with pytest.raises(ValueError, match="this JSON is no index of .safetensors files: it has no 'weight_map'"):
        softmma.load_weight(index, "x")


@pytest.mark.all
def test_pytorch(tmp_path):
    torch = pytest.importorskip("torch")
    parts, numbers, _ = FORMS["fp8 of rows"]
    state = {
        LAYER + ".weight": torch.from_numpy(parts[".weight"].view(np.uint8)).view(torch.float8_e4m3fn),
        LAYER + ".weight_scale": torch.from_numpy(parts[".weight_scale"]),
    }
    for name, saved in {"a.pt": state, "b.pt": {"step": 3, "model": state}}.items():
        torch.save(saved, tmp_path / name)
        same(softmma.load_weight(tmp_path / name, "down_proj").numbers, np.float32(numbers))
    torch.save({"w": torch.ones(1), "f": print}, tmp_path / "c.pt")
    with pytest.raises(ValueError, match="torch.load with weights_only fails"):
        softmma.load_weight(tmp_path / "c.pt", "w")


def same_but_zero(x, y):
    """Compares the bits of all numbers but -0, which ggml's table of FP4 lacks."""
    same(x + np.float32(0), y + np.float32(0))


@pytest.mark.all
def test_gguf(tmp_path):
    """Files that the gguf package writes give the numbers that its own conversion gives."""
    gguf = pytest.importorskip("gguf")
    kinds = gguf.GGMLQuantizationType
    x = np.random.default_rng(4).standard_normal((N, 128)).astype(np.float32)
    nvfp4 = np.random.default_rng(5).integers(0, 127, (N, 2 * 36), np.uint8)
    experts = np.stack([x, 2 * x])
    writer = gguf.GGUFWriter(tmp_path / "m.gguf", "llama")
    data = {"mxfp4": gguf.quantize(x, kinds.MXFP4), "q8_0": gguf.quantize(x, kinds.Q8_0), "nvfp4": nvfp4,
            "bf16": gguf.quantize(x, kinds.BF16), "f16": x.astype(np.float16)}  # fmt: skip
    for kind, bytes in data.items():
        writer.add_tensor(f"blk.0.{kind}.weight", bytes, raw_dtype=kinds[kind.upper()])
    wide = {"f64": np.float64([[0.1, 2.0**30, 3]]), "i8": np.int8([[1, -2]]), "i32": np.int32([[2**24 + 1, 5]])}
    for name, numbers in wide.items():
        writer.add_tensor(f"blk.0.{name}.weight", numbers)
    writer.add_tensor("blk.0.nvfp4.scale", np.float32([0.37]))
    writer.add_tensor("blk.0.q8_0.scale", np.float32([0.37]))
    writer.add_tensor("blk.0.exps.weight", gguf.quantize(experts, kinds.MXFP4), raw_dtype=kinds.MXFP4)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    for name, numbers in wide.items():
        found = softmma.load_weight(tmp_path / "m.gguf", f"0.{name}").numbers
        assert found.dtype == np.float64 and np.array_equal(found, numbers), name
    for kind, bytes in data.items():
        w = softmma.load_weight(tmp_path / "m.gguf", f"0.{kind}")
        expected = gguf.dequantize(bytes, kinds[kind.upper()])
        if kind == "nvfp4":  # the factor multiplies the scale factor first, as in the other libraries
            scales = w.scales.astype(np.float32)
            same_but_zero(w.values.astype(np.float32) * np.repeat(scales, 16, 1), expected)
            expected = w.values.astype(np.float32) * np.repeat(scales * np.float32(0.37), 16, 1)
        if kind == "q8_0":
            expected = expected * np.float32(0.37)
        same_but_zero(w.numbers, np.float32(expected))
        assert (w.form, w.factor) == (kind, float(np.float32(0.37)) if kind in ("nvfp4", "q8_0") else 1)
    expected = gguf.dequantize(gguf.quantize(2 * x, kinds.MXFP4), kinds.MXFP4)
    same_but_zero(softmma.load_weight(tmp_path / "m.gguf", "exps[1]").numbers, expected)


@pytest.mark.all
@pytest.mark.parametrize("form", ["nvfp4", "mxfp4", "mxfp6", "mxfp8", "float", "int4"])
def test_compressed_tensors(form, tmp_path):
    """Reads checkpoints that compressed-tensors compressed and safetensors wrote. Their numbers must equal those of
    compressed-tensors' own decompression."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("compressed_tensors")
    from compressed_tensors.compressors.base import BaseCompressor
    from compressed_tensors.quantization import QuantizationArgs, QuantizationScheme
    from safetensors.torch import save_file

    formats = {
        "nvfp4": (
            "nvfp4-pack-quantized",
            {"num_bits": 4, "type": "float", "strategy": "tensor_group", "group_size": 16},
        ),
        "mxfp4": ("mxfp4-pack-quantized", {"num_bits": 4, "type": "float", "strategy": "group", "group_size": 32}),
        "mxfp6": ("mxfp6-pack-quantized", {"num_bits": 6, "type": "float", "strategy": "group", "group_size": 32}),
        "mxfp8": ("mxfp8-quantized", {"num_bits": 8, "type": "float", "strategy": "group", "group_size": 32}),
        "float": ("float-quantized", {"num_bits": 8, "type": "float", "strategy": "channel"}),
        "int4": ("pack-quantized", {"num_bits": 4, "type": "int", "strategy": "group", "group_size": 32}),
    }
    name, arguments = formats[form]
    if form.startswith("mx"):
        arguments["scale_dtype"] = torch.uint8
    scheme = QuantizationScheme(targets=["Linear"], weights=QuantizationArgs(**arguments))
    weight = torch.randn(N, K, generator=torch.Generator().manual_seed(1))
    groups = {"nvfp4": 16, "float": K}.get(form, 32)
    amax = weight.reshape(N, K // groups, groups).abs().amax(-1)
    scale = {"nvfp4": amax * 10 / 6, "float": amax / 448, "int4": amax / 7}.get(form, 2.0 ** (amax.log2().floor() - 1))
    state = {"weight": weight, "weight_scale": scale}
    if form == "nvfp4":
        state |= {"weight_scale": scale.to(torch.float8_e4m3fn).float(), "weight_global_scale": torch.tensor([10.0])}
    compressor = BaseCompressor.get_value_from_registry(name)
    stored = compressor.compress(state, scheme)
    save_file({f"{LAYER}.{part}": x.contiguous() for part, x in stored.items()}, tmp_path / "m.safetensors")
    expected = compressor.decompress(stored, scheme)["weight"]
    w = softmma.load_weight(tmp_path / "m.safetensors", LAYER)
    same(torch.from_numpy(w.numbers).to(expected.dtype).float().numpy(), expected.float().numpy())


@pytest.mark.all
def test_gpt_oss(tmp_path):
    """Compares the numbers with those of the conversion of transformers."""
    torch = pytest.importorskip("torch")
    convert = pytest.importorskip("transformers.integrations.mxfp4")._convert_moe_packed_tensors
    from safetensors.torch import save_file

    blocks, scales = torch.from_numpy(EXPERTS), torch.from_numpy(OF_EXPERTS)
    save_file({"experts.down_blocks": blocks, "experts.down_scales": scales}, tmp_path / "m.safetensors")
    expected = convert(blocks, scales, dtype=torch.float32).transpose(1, 2).numpy()
    for expert in range(3):
        same(softmma.load_weight(tmp_path / "m.safetensors", f"down[{expert}]").numbers, expected[expert])


@pytest.mark.all
def test_transformers_fp8(tmp_path):
    """Compares weights with blocks of 128 x 128 with the conversion of transformers."""
    torch = pytest.importorskip("torch")
    convert = pytest.importorskip("transformers.integrations.finegrained_fp8")._dequantize_fp8_weight
    from safetensors.torch import save_file

    generator = torch.Generator().manual_seed(2)
    weight = torch.randn(200, 300, generator=generator).to(torch.float8_e4m3fn)
    scales = torch.rand(2, 3, generator=generator)
    save_file({"q.weight": weight, "q.weight_scale_inv": scales}, tmp_path / "m.safetensors")
    same(
        softmma.load_weight(tmp_path / "m.safetensors").numbers,
        convert(weight, scales, [128, 128], torch.float32).numpy(),
    )


def group_file(path, extent, factors, *, rows=2):
    """Writes INT8 elements, all 1, whose scale factors along K are 1, 2, ..."""
    scales = np.tile(np.arange(1, factors + 1, dtype=F), (rows, 1))
    return write(path, {"l.weight": np.ones((rows, extent), np.int8), "l.weight_scale": scales})


@pytest.mark.parametrize(("extent", "factors"), [(192, 2), (72, 3), (96, 2), (160, 4), (256, 2), (300, 3), (320, 5)])
def test_equal_groups(extent, factors, tmp_path):
    """Groups along a row are equal parts of it, as compressed-tensors divides it."""
    found = softmma.load_weight(group_file(tmp_path / "g.safetensors", extent, factors))
    assert found.block == (1, extent // factors)
    same(found.numbers[0], np.repeat(np.arange(1, factors + 1, dtype=F), extent // factors))


@pytest.mark.parametrize(
    ("shape", "factors", "block"),
    [((192, 192), (2, 2), (128, 128)), ((192, 384), (2, 3), (128, 128)), ((200, 256), (2, 2), (128, 128)),
     ((192, 128), (2, 2), None), ((192, 64), (2, 1), (128, 64)), ((96, 64), (2, 1), None)],
)  # fmt: skip
def test_blocks_of_two_axes(shape, factors, block, tmp_path):
    """Blocks are refused if blocks of another size fit as well, unless they are those that libraries write."""
    parts = {"l.weight": np.ones(shape, FP8.dtype), "l.weight_scale_inv": np.ones(factors, F)}
    file = write(tmp_path / "b.safetensors", parts)
    if block:
        assert softmma.load_weight(file).block == block
    else:
        with pytest.raises(ValueError, match="blocks of several sizes fit"):
            softmma.load_weight(file)


@pytest.mark.parametrize("n", [4, 24])
def test_axis_of_one_matrix(n, tmp_path):
    """Factors (1, N) of a weight (1, N, K) are those of its rows, with [0] and without."""
    parts = {"l.weight": np.ones((1, n, 4), FP8.dtype), "l.weight_scale": np.arange(1, n + 1, dtype=F)[None]}
    file = write(tmp_path / "one.safetensors", parts)
    for name in ("l", "l[0]"):
        same(softmma.load_weight(file, name).numbers, np.repeat(np.arange(1, n + 1, dtype=F)[:, None], 4, 1))


def test_short_names_end_where_words_end(tmp_path):
    """A short name is not the beginning of another number, and a weight's whole name not that of its scale factors."""
    numbers = {f"model.layers.{i}.w.weight": np.full((2, 2), i, F) for i in (0, 10)}
    file = write(tmp_path / "n.safetensors", numbers)
    assert softmma.load_weight(file, "layers.10").numbers[0, 0] == 10
    with pytest.raises((LookupError, ValueError), match="no tensor is named 'layers.1'"):
        softmma.load_weight(file, "layers.1")
    file = write(tmp_path / "s.safetensors", {"l.weight_scale": np.ones((2, 2), F), "other": np.ones((2, 2), F)})
    with pytest.raises((LookupError, ValueError), match="no tensor is named 'l.weight'"):
        softmma.load_weight(file, "l.weight")


def test_npz_of_types_without_names(tmp_path):
    """NumPy drops the names of ml_dtypes' types, so such an array is refused, and no other is taken for it."""
    np.savez(tmp_path / "w.npz", **{"l.weight": np.ones((2, 4), FP8.dtype), "l.weight_scale": np.float32([[3], [5]])})
    with pytest.raises(ValueError, match="l.weight: its type has no name"):
        softmma.load_weight(tmp_path / "w.npz", "l.weight")
    np.savez(tmp_path / "o.npz", **{"l.weight": np.ones((2, 4), F), "other": np.array([None])})
    same(softmma.load_weight(tmp_path / "o.npz", "l.weight").numbers, np.ones((2, 4), F))
    for beside in "other", "other.weight", "other.weight_scale":
        np.savez(tmp_path / "b.npz", **{"w": np.ones((2, 4), F), beside: np.ones((3, 4), FP8.dtype)})
        same(softmma.load_weight(tmp_path / "b.npz", "w").numbers, np.ones((2, 4), F))
    np.savez(tmp_path / "s.npz", weight=np.int8([[1, 2]]), weight_scale=np.ones((1, 1), FP8.dtype))
    with pytest.raises(ValueError, match="weight_scale: its type has no name"):
        softmma.load_weight(tmp_path / "s.npz", "weight")
    (tmp_path / "cut.npz").write_bytes((tmp_path / "o.npz").read_bytes()[:200])
    with pytest.raises(ValueError, match="cut.npz: .*damaged"):
        softmma.load_weight(tmp_path / "cut.npz", "l.weight")
