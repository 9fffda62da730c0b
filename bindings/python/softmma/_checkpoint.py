"""Weights of checkpoints, as they are stored and as numbers."""

from __future__ import annotations

import json
import os
import pickle
import zipfile
import zlib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from softmma import _core


class StoredWeight(NamedTuple):
    """A weight of a checkpoint: N x K, for N outputs and K inputs of a layer."""

    values: NDArray[Any]
    """The elements, (N, K), in their own format: one to an array element, also if the file packs them."""
    scales: NDArray[Any] | None
    """Scale factors, one for each block; None if there are none."""
    factor: float
    """The factor of the whole weight, an FP32 number; 1 if there is none. It multiplies the result of a product."""
    block: tuple[int, int]
    """Rows and columns that share a scale factor; (0, 0) if there are none."""
    form: str
    """The name of the stored form: "nvfp4", "e4m3 with f32 per 128 x 128", "bf16", "q8_0"."""
    numbers: NDArray[Any]
    """The weight as numbers, (N, K): float32, or float64 if the elements need it."""


_DTYPES = {
    "float64": "F64", "float32": "F32", "float16": "F16", "bfloat16": "BF16", "float8_e4m3fn": "F8_E4M3",
    "float8_e5m2": "F8_E5M2", "float8_e4m3fnuz": "F8_E4M3FNUZ", "float8_e5m2fnuz": "F8_E5M2FNUZ",
    "float8_e8m0fnu": "F8_E8M0", "bool": "BOOL", "int8": "I8", "int16": "I16", "int32": "I32", "int64": "I64",
    "uint8": "U8", "uint16": "U16", "uint32": "U32", "uint64": "U64",
}  # fmt: skip
"""Maps the names of dtypes in NumPy, ml_dtypes and PyTorch to their names in .safetensors."""


class _Tensor(NamedTuple):
    """A tensor of a file: its dtype and shape as in .safetensors, and a function that reads its bytes."""

    dtype: str
    shape: tuple[int, ...]
    read: Callable[[], bytes]


def load_weight(path: str | os.PathLike[str], name: str | None = None) -> StoredWeight:
    """Loads a weight from a checkpoint, with its scale factors (docs/checkpoints.md lists the forms).

    ``path`` is a file: .safetensors, the index of several (model.safetensors.index.json), .npy, .npz, PyTorch's .pt
    (read with ``weights_only``), or GGUF; or the folder of such a model. ``name`` is a tensor ("model.layers.0.mlp.
    down_proj.weight"), a layer, or the beginning of only one weight's name, as in the command's ``FILE:NAME``;
    "NAME[3]" is one matrix of a tensor with three axes. Without a name the file must hold one weight.

    ``numbers`` is what the checkpoint's own library computes: FP32 products of the elements with their factors, each
    rounded once. Where a matrix unit takes the elements and scale factors themselves, give it these:

        >>> import os, tempfile, numpy as np, softmma
        >>> path = os.path.join(tempfile.mkdtemp(), "w.npz")
        >>> np.savez(path, weight=np.full((4, 32), 0x22, np.uint8), weight_scale=np.full((4, 2), 128, np.uint8))
        >>> w = softmma.load_weight(path)
        >>> w.form, w.values.shape, w.scales.dtype.name, w.numbers[0, 0].item()
        ('mxfp4', (4, 64), 'float8_e8m0fnu', 2.0)
        >>> x = softmma.quantize(np.ones((3, 64)), "mxfp4")
        >>> scales = {"scale_a": x.scales, "scale_b": w.scales.T, "alpha": w.factor}
        >>> softmma.matmul(x.values, w.values.T, on="B200", **scales)[0, 0].item()
        128.0

    .pt and GGUF files need PyTorch and ``gguf``. Raises ValueError for a name that no weight has or several have, and
    for a file that is damaged or of another kind; ImportError if a package is missing.
    """
    path = Path(path)
    if path.is_dir():
        path = _of_folder(path)
    with open(path, "rb") as file:
        head = file.read(9)
    if head.startswith(b"GGUF"):
        return _of_gguf(path, name)
    if head.startswith(b"PK\3\4") and not _is_pytorch(path):
        return _weight(*_joined(path, _of_npz(path), name))
    if head.startswith((b"PK\3\4", b"\x80")):
        return _weight(*_joined(path, _of_pytorch(path), name))
    return _weight(path, name, None)


def _weight(path: Path, name: str | None, archive: bytes | None) -> StoredWeight:
    """Reads a weight from a file, or from a .safetensors file in memory."""
    values, scales, factor, rows, columns, form, numbers = _core.weight(str(path), name, archive)
    if form[0] == "V":
        raise ValueError(f"{path}: its type has no name; load it with numpy.load, and view it as its dtype")
    if form.startswith(("int", "uint")):
        values = values.view(form)
    if numbers is None:
        numbers = _as_numbers(path, values)
    return StoredWeight(values, scales, factor, (rows, columns), form, numbers)


def _as_numbers(path: Path, values: NDArray[Any]) -> NDArray[Any]:
    """Returns elements as float32, or as float64 if they are integers or float64. Raises ValueError if float64 does not
    hold an integer."""
    exact = np.can_cast(values.dtype, np.float32) or values.dtype.name not in _DTYPES or values.dtype.itemsize < 4
    numbers = values.astype(np.float32 if exact and values.dtype.kind not in "iu" else np.float64)
    if values.dtype.itemsize == 8 and not np.array_equal(numbers.astype(values.dtype), values, equal_nan=True):
        raise ValueError(f"{path}: float64 does not hold its integers exactly")
    return numbers


# ---- Names ----


def _archive(tensors: Mapping[str, _Tensor]) -> bytes:
    """Returns a .safetensors file of the tensors."""
    header, data, end = {}, [], 0
    for name, tensor in tensors.items():
        data.append(tensor.read())
        offsets = [end, end := end + len(data[-1])]
        header[name] = {"dtype": tensor.dtype, "shape": tensor.shape, "data_offsets": offsets}
    text = json.dumps(header).encode()
    return b"".join([len(text).to_bytes(8, "little"), text, *data])


def _chosen(path: Path, tensors: Mapping[str, Any], name: str | None) -> tuple[str, int | None]:
    """Returns the name of the tensor that ``name`` denotes, by the library's rules, and the index N if ``name`` ends in
    "[N]" (otherwise None)."""
    places = {}
    for i, (full, tensor) in enumerate(tensors.items()):
        axes = min(len(tensor.shape), 3)
        along = np.arange(tensor.shape[0] if axes == 3 else 1, dtype="<i8")
        place = (along + (i << 32)).reshape(-1, *[1] * (axes - 1))
        places[full] = _Tensor("I64", place.shape, place.tobytes)
    values, *_ = _core.weight(str(path), name, _archive(places))
    number = int(values.view("i8")[0, 0])
    full = list(tensors)[number >> 32]
    has_number = name is not None and name.endswith("]") and not full.endswith("]")
    return full, number & 0xFFFFFFFF if has_number else None


def _joined(path: Path, tensors: Mapping[str, _Tensor], name: str | None) -> tuple[Path, str, bytes]:
    """Returns the path, the chosen tensor's name, and a .safetensors file of all tensors of its layer. If the name
    has no layer, the file has the tensors whose names begin like it."""
    full, number = _chosen(path, tensors, name)
    layer = full.rpartition(".")[0]
    start = "" if layer else full.removesuffix("_packed").removesuffix("_blocks")
    of_layer = {n: t for n, t in tensors.items() if n.rpartition(".")[0] == layer and n.startswith(start)}
    return path, full if number is None else f"{full}[{number}]", _archive(of_layer)


# ---- Kinds of files ----


def _of_folder(folder: Path) -> Path:
    """Returns the index of a model's files, or its only file."""
    found = list(folder.glob("*.safetensors.index.json")) or list(folder.glob("*.safetensors"))
    if len(found) != 1:
        raise ValueError(f"{folder}: {len(found)} .safetensors files without one index of all; name a file")
    return found[0]


def _is_pytorch(path: Path) -> bool:
    """Reports whether a zip file is one of PyTorch's. Raises ValueError if it is damaged."""
    try:
        return any(n.endswith("data.pkl") for n in zipfile.ZipFile(path).namelist())
    except zipfile.BadZipFile as error:
        raise ValueError(f"{path}: {error}; the file is damaged") from None


def _nameless(path: Path, name: str) -> Callable[[], bytes]:
    """Returns a function that refuses to read an array whose type NumPy does not store by name."""

    def read() -> bytes:
        raise ValueError(f"{path}: {name}: its type has no name in the file; save it as .safetensors")

    return read


def _of_npz(path: Path) -> dict[str, _Tensor]:
    found = {}
    try:
        with np.load(path, allow_pickle=False) as arrays:
            for name in arrays.files:
                try:
                    x = arrays[name]
                except ValueError as error:
                    if "Object arrays" in str(error):
                        continue
                    raise
                if x.dtype.kind == "V":
                    found[name] = _Tensor("", x.shape, _nameless(path, name))
                if x.dtype.name in _DTYPES:
                    found[name] = _Tensor(
                        _DTYPES[x.dtype.name], x.shape, x.astype(x.dtype.newbyteorder("<"), "C").tobytes
                    )
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise ValueError(f"{path}: {error}; the file is damaged") from None
    return found


def _of_pytorch(path: Path) -> dict[str, _Tensor]:
    try:
        import torch
    except ImportError:
        raise ImportError(f"{path}: reading PyTorch's files needs PyTorch: pip install torch") from None
    try:
        loaded = torch.load(path, map_location="cpu", weights_only=True)
    except (pickle.UnpicklingError, RuntimeError, EOFError, OSError) as error:
        raise ValueError(f"{path}: torch.load with weights_only fails: {str(error).splitlines()[0]}") from None

    def tensors(x: Any, name: str) -> Iterable[tuple[str, Any]]:
        if isinstance(x, torch.Tensor):
            yield name or "weight", x
        elif isinstance(x, Mapping):
            for key, value in x.items():
                yield from tensors(value, f"{name}.{key}" if name else str(key))

    return {name: made for name, x in tensors(loaded, "") if (made := _of_tensor(x)) is not None}


def _of_tensor(x: Any) -> _Tensor | None:
    """Returns a tensor of PyTorch, or None if .safetensors has no name for its dtype."""
    import torch

    dtype = str(x.dtype).removeprefix("torch.")
    shape = tuple(x.shape)
    if dtype == "float4_e2m1fn_x2":
        dtype, shape = "F4", (*shape[:-1], 2 * shape[-1])
    elif dtype in _DTYPES:
        dtype = _DTYPES[dtype]
    else:
        return None
    return _Tensor(dtype, shape, lambda: x.detach().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes())


def _of_gguf(path: Path, name: str | None) -> StoredWeight:
    """Reads a tensor of a GGUF file: FP4 with its scale factors, other quantised types as numbers."""
    try:
        import gguf
    except ImportError:
        raise ImportError(f"{path}: reading GGUF needs its package: pip install gguf") from None
    tensors = {t.name: t for t in gguf.GGUFReader(path).tensors}
    shapes = {n: _Tensor("", tuple(int(e) for e in t.shape[::-1]), bytes) for n, t in tensors.items()}
    full, number = _chosen(path, shapes, name)
    tensor, kind = tensors[full], tensors[full].tensor_type
    data = tensor.data if number is None else tensor.data[number]
    beside = tensors.get(full.removesuffix(".weight") + ".scale")  # llama.cpp multiplies the product by this factor
    factors = np.ones(1, np.float32) if beside is None else np.asarray(beside.data, np.float32).reshape(-1)
    factor = factors[(number or 0) % factors.size]
    if kind.name in ("MXFP4", "NVFP4"):
        return _weight(path, "weight", _of_fp4_blocks(data, kind.name, factor))
    values = np.atleast_2d(data if data.dtype.kind in "fi" and kind.name != "BF16" else gguf.dequantize(data, kind))
    return StoredWeight(values, None, float(factor), (0, 0), kind.name.lower(), _as_numbers(path, values) * factor)


def _of_fp4_blocks(data: NDArray[np.uint8], kind: str, factor: np.float32) -> bytes:
    """Returns a .safetensors file of GGUF's FP4. A row consists of blocks: scale factors, then the elements, two to a
    byte. For each scale factor, the low halves of its bytes hold the first half of its elements, and the high halves
    the second half (ggml-quants.c)."""
    scales, each = (1, 16) if kind == "MXFP4" else (4, 8)
    rows, block = data.shape[0], scales * (1 + each)
    blocks = data.reshape(rows, -1, block)
    halves = blocks[..., scales:].reshape(rows, -1, scales, each)
    codes = np.concatenate([halves & 15, halves >> 4], -1).reshape(rows, -1)
    packed = codes[:, 0::2] | codes[:, 1::2] << 4
    factors = np.ascontiguousarray(blocks[..., :scales].reshape(rows, -1))
    if kind == "NVFP4":
        factors = np.where(factors == 0x7F, 0, factors).astype(np.uint8)  # ggml has no NaN here
    parts = {
        "weight": ("U8", packed),
        "weight_scale": ("U8" if kind == "MXFP4" else "F8_E4M3", factors),
        "weight_scale_2": ("F32", np.asarray(factor, "<f4").reshape(1)),
    }
    return _archive({name: _Tensor(dtype, x.shape, x.tobytes) for name, (dtype, x) in parts.items()})
