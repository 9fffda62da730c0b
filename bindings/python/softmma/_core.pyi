"""The extension module: positional arguments, no defaults. The package documents what these functions do."""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Handle: TypeAlias = Any  # a capsule that holds one instruction of the library
MultiplierHandle: TypeAlias = Any  # a capsule that holds a multiplier of the library
PlanHandle: TypeAlias = Any  # a capsule that holds a plan of the library
RecordingHandle: TypeAlias = Any  # a capsule that holds rows with results

def version() -> str: ...
def forked() -> None: ...
def limit_threads(threads: int) -> int: ...
def register_instruction_type(type: type) -> None: ...
def gpus() -> list[tuple[str, str, str, str]]: ...  # the fields of Gpu
def formats() -> list[tuple[str, int, int, np.dtype[Any]]]: ...  # the fields of Format
def block_formats() -> list[tuple[str, str, str, int]]: ...  # name, element format, scale format, elements per scale
def format(format: object) -> str: ...
def dtype(format: object) -> np.dtype[Any]: ...
def decode(encodings: NDArray[Any], format: str) -> NDArray[np.float64]: ...  # an array of the format's dtype
def gpus_of(in_dtype: str | None, out_dtype: str | None) -> list[dict[str, Any]]: ...
def catalogue(gpu: str | None, in_dtype: str | None, out_dtype: str | None) -> list[Handle]: ...
def find_instruction(gpu: str, name: str) -> Handle: ...
def split_target(on: str) -> tuple[str, str | None]: ...
def names_formats(on: object, instr: object, in_dtype: object, out_dtype: object) -> bool: ...
def numbers(array: object, what: str) -> NDArray[Any]: ...
def choose(on: str, instr: str | None, in_dtype: object, out_dtype: object) -> Handle: ...
def describe(handle: Handle) -> tuple[Any, ...]: ...  # the fields of Instruction
def aliases(handle: Handle) -> list[str]: ...
def custom(origin: str, description: str) -> Handle: ...
def custom_text(handle: Handle) -> str: ...
def rtl_text(instruction: object, name: str | None, stages: int, assertion: bool, /) -> str: ...
def plan(origin: str, json_text: str) -> PlanHandle: ...
def plan_text(plan: PlanHandle) -> str: ...
def library_plan(
    name: str,
    instruction: object,
    d: object,
    sizes: tuple[int, int, int],
    # cuBLASLt's nine numbers: algo, tile, splitk, reduction, swizzle, custom, stages, inner, cluster
    algorithm: tuple[int, int, int, int, int, int, int, int, int],
    fast: bool,
    workspace: int,
    epilogue: int,
    with_c: bool,
    a_strided: bool,
    b_strided: bool,
) -> PlanHandle: ...
def plan_libraries() -> list[str]: ...
def device_view(address: int, shape: object, strides: object, dtype: object, owner: object) -> NDArray[Any]: ...
def device_read(device: str, x: NDArray[Any]) -> NDArray[Any]: ...
def device_write(device: str, x: NDArray[Any]) -> NDArray[Any]: ...
def from_dlpack(capsule: object) -> NDArray[Any]: ...
def to_dlpack(x: NDArray[Any], device: int) -> object: ...
def matmul(
    a: ArrayLike,
    b: ArrayLike,
    c: ArrayLike | None,
    on: object,
    instr: object,
    in_dtype: object,
    out_dtype: object,
    scale_a: ArrayLike | None,
    scale_b: ArrayLike | None,
    alpha: float,
    beta: float,
    scaling: str | None,
    split_k: int,
    promote_every: int,
    plan: PlanHandle | None,
    bias: ArrayLike | None,
    scale_d: float,
    threads: int,
    kernel: str | None,
    round_in: str | None,
) -> NDArray[Any]: ...
def sparse_matmul(metadata: NDArray[np.uint8], matmul_arguments: tuple[Any, ...], /) -> NDArray[Any]: ...
# Arguments of matmul; a, c and scale_a are None. Returns handle, instruction, K, N, bytes, the operands' rounding, and
# whether formats are named.
def multiplier(*arguments: Any) -> tuple[MultiplierHandle, Any, int, int, int, str | None, bool]: ...
def multiplier_matmul(
    multiplier: MultiplierHandle,
    instruction: object,
    a: ArrayLike,
    c: ArrayLike | None,
    scale_a: ArrayLike | None,
    round_in: str | None,
    named: bool,  # an unsigned C holds encodings
) -> NDArray[Any]: ...
def bound(
    d_format: str | None, arguments: tuple[Any, ...], /
) -> tuple[
    NDArray[np.float64], str, bool, str
]: ...  # bounds, the instruction, whether A or B may be rounded, and D's format

# Studies. A target is a tuple: its label, the text of its plan or None, the arguments of matmul.
def compare(
    a: ArrayLike,
    b: ArrayLike,
    user_results: tuple[tuple[str, ArrayLike], ...],  # name, D
    targets: tuple[tuple[str, str | None, tuple[Any, ...]], ...],
    rtol: float | None,
    atol: float | None,
    /,
) -> tuple[dict[str, Any], list[NDArray[Any]], str]: ...  # the value, each D, text
def tolerance(
    targets: tuple[tuple[str, str | None, tuple[Any, ...]], ...],
    a: str,
    b: str,
    data: str,
    seed: int,
    shape: tuple[int, int, int],
    with_c: bool,
    d_format: object,
    margin: float,
    /,
) -> tuple[dict[str, Any], str, str]: ...  # the value, lines for a test, text
def sweep(
    assignment: str, a: ArrayLike | None, b: ArrayLike | None, arguments: tuple[Any, ...], /
) -> tuple[dict[str, Any], str]: ...  # the value, text; assignment: "k=16,64"; arguments: those of tolerance
def sweep_is_accurate(assignment: str, /) -> bool: ...
def trace(
    at: tuple[int, ...] | str | None,
    user_results: tuple[tuple[str, ArrayLike], ...],  # name, D
    names_rounding: bool,
    every: int,
    targets: tuple[tuple[str, str | None, tuple[Any, ...]], ...],
    /,
) -> tuple[
    dict[str, Any],
    list[tuple[Handle | object, NDArray[Any], NDArray[np.float64], NDArray[np.intp]]],
    tuple[int, int] | None,
    str,
]: ...  # returns the value; each target's instruction, D, events and k; the pair that diverges; text
def targets(in_dtype: object, out_dtype: object) -> list[tuple[str, Handle]]: ...
def dot(
    a: ArrayLike,
    b: ArrayLike,
    c: ArrayLike | None,
    on: object,
    instr: object,
    in_dtype: object,
    out_dtype: object,
    scale_a: ArrayLike | None,
    scale_b: ArrayLike | None,
    round_in: str | None,
) -> Any: ...
def dot_flags(
    a: ArrayLike,
    b: ArrayLike,
    c: ArrayLike | None,
    on: object,
    instr: object,
    in_dtype: object,
    out_dtype: object,
    round_in: str | None,
    tininess: str | None,
) -> tuple[Any, Any]: ...
def coverage(
    a: ArrayLike,
    b: ArrayLike,
    c: ArrayLike | None,
    on: object,
    instr: object,
    in_dtype: object,
    out_dtype: object,
    scale_a: ArrayLike | None,
    scale_b: ArrayLike | None,
    search: int,
    seed: int,
) -> tuple[object, list[dict[str, Any]]]: ...
def coverage_files(paths: tuple[str, ...], search: int, seed: int, /) -> list[dict[str, Any]]: ...
def rows(
    instruction: object, kind: str | None, seed: int, first: int, count: int, /
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any] | None, NDArray[Any] | None]: ...
def explain(
    a: ArrayLike,
    b: ArrayLike,
    c: ArrayLike | None,
    scale_a: ArrayLike | None,
    scale_b: ArrayLike | None,
    units: tuple[tuple[str, object, object, object, object], ...],
    round_in: str | None,
) -> tuple[str, str, str, tuple[tuple[str, int, int | None], ...], dict[str, Any]]: ...
def explain_planned(
    a: ArrayLike,
    b: ArrayLike,
    c: ArrayLike | None,
    label: str,
    instruction: object,
    plan: PlanHandle,
    plan_name: str,
    round_in: str | None,
) -> tuple[str, dict[str, Any]]: ...
def operand_rounding(instruction: object, format: str) -> str: ...
def round(x: ArrayLike, dtype: object, mode: str, overflow: str, quiet: bool) -> NDArray[Any]: ...
def swizzle(scales: NDArray[np.uint8], lines: int, blocks: int, back: bool) -> NDArray[np.uint8]: ...
def quantize(x: ArrayLike, element: str, scale: str, block: int) -> tuple[NDArray[Any], NDArray[Any], float]: ...
def round_stochastically(
    x: ArrayLike, dtype: object, mode: str, overflow: str, random: NDArray[np.uint32], bits: int
) -> NDArray[Any]: ...
def operand(
    x: NDArray[Any],  # float32 or float64, (..., outer, inner), dense
    k_inner: bool,
    format: str,
    factor_format: str | None,
    block_rows: int,
    block_columns: int,
    scale_formula: str,  # the library whose formula computes the factors, for example "ocp"
    scale_rounding: str,
    power_of_two: bool,
    zero_points: bool,
    line_factors: bool,
    keeps_nan: bool,
    compute: str | None,
    preset_scale: float,  # 0: computed from x
    source_format: str | None,  # format that x was widened from
    random: NDArray[np.float64] | None,
    with_statistics: bool,
    threads: int,
    overflow: str,
    rounding: str,
    /,
) -> tuple[
    NDArray[Any],
    NDArray[Any] | None,
    NDArray[Any] | None,
    NDArray[np.int32] | None,
    float,
    tuple[int, int, int, int, float, float] | None,
]: ...  # returns elements, scale factors, second-level factors, zero points, amax, statistics
def weight(
    path: str,
    name: str | None,
    archive: bytes | None,  # the contents of a .safetensors file; None: read the path
) -> tuple[
    NDArray[Any], NDArray[Any] | None, float, int, int, str, NDArray[np.float32] | None
]: ...  # returns values, scale factors, the tensor's factor, rows, columns, the values' format, numbers
def operand_scale(greatest: float, format: str) -> float: ...
def hadamard(x: NDArray[np.float32], signs: NDArray[np.float64], format: str) -> NDArray[np.float32]: ...
def same_lines(x: NDArray[Any], y: NDArray[Any], threads: int) -> bool: ...
def probe(instruction: object, unit: Callable[..., ArrayLike] | str | None, rows: int, /) -> dict[str, Any]: ...
def diff(
    targets: tuple[tuple[object, str], ...],
    unit: Callable[..., ArrayLike] | str | None,
    against: Callable[..., ArrayLike] | str | None,
    rows: int,
    seed: int,
    /,
) -> tuple[dict[str, Any], str]: ...  # the value, text
def differences(
    targets: tuple[tuple[object, str], ...],
    unit: Callable[..., ArrayLike] | str | None,
    against: Callable[..., ArrayLike] | str | None,
    rows: int,
    seed: int,
    /,
) -> tuple[dict[str, Any], str]: ...  # the value, text
def equal(
    targets: tuple[tuple[str, object, PlanHandle | None, str | None], ...], k: int, rows: int, seed: int, /
) -> tuple[dict[str, Any], str]: ...  # the value, text
def unit_order(
    unit: Callable[..., ArrayLike] | str | None,
    instruction: object,
    plan: PlanHandle | None,
    plan_name: str | None,
    k: int,
    /,
) -> dict[str, Any]: ...
def self_test() -> dict[str, Any]: ...
def campaign(
    unit: object,
    against: object,
    gpu: str | None,
    instruction: object,
    rows: int,
    seed: int,
    kind: str | None,
    shard: tuple[int, int],
    path: str | None,
    report: str | None,
    /,
) -> dict[str, Any]: ...
def run_open_questions(
    unit: object, gpu: str | None, instruction: object, every: bool, only: str | None, /
) -> dict[str, Any]: ...
def merge(reports: tuple[tuple[str, str | None], ...], /) -> dict[str, Any]: ...
def verify(
    paths: tuple[str, ...], rows: tuple[Any, ...] | None, unit: object, show: int, /
) -> dict[str, Any]: ...  # rows: instruction, a, b, c, d, scale_a, scale_b
def record(
    instruction: object, unit: object, rows: int, seed: int, kind: str | None, vectors: str | None, /
) -> tuple[object, RecordingHandle, str, tuple[Any, ...]]: ...
def row_kind(name: str) -> str | None: ...
def recording_value(recording: RecordingHandle, /) -> dict[str, Any]: ...
def recording_write(recording: RecordingHandle, path: str, format: str, /) -> None: ...
def next(instruction: object, units: tuple[object, ...], rows: int, searched: int, seed: int, /) -> dict[str, Any]: ...
def facts(name: str) -> Any: ...
def gpu(gpu: str) -> dict[str, Any]: ...
def format_facts(name: str) -> dict[str, Any]: ...
def instruction_value(instruction: Any) -> dict[str, Any]: ...
def gen(
    path: str,
    instruction: Any,
    rows: int,
    seed: int,
    kind: str | None,
    cover: bool,
    format: str,
    flags: bool,
    tininess: str | None,
    /,
) -> dict[str, Any]: ...
def convert(path: str, to: str, format: str) -> None: ...
def experiment(
    name: str, small: bool, seed: int, threads: int, assignments: tuple[str, ...], part: str | None
) -> dict[str, Any]: ...
def match(
    a: ArrayLike,
    b: ArrayLike,
    d: ArrayLike,
    c: ArrayLike | None,
    scale_a: ArrayLike | None,
    scale_b: ArrayLike | None,
    bias: ArrayLike | None,
    in_dtype: object,
    out_dtype: object,
    targets: tuple[object, ...] | None,
    claim: tuple[str, PlanHandle | None, object, object, object] | None,
    round_in: str | None,
    alpha: float,
    beta: float,
    scale_d: float,
    transpose_a: bool,
    transpose_b: bool,
    threads: int,
) -> tuple[dict[str, Any], list[str], str]: ...  # the value, notes, text (empty for a claim)
def gemm(
    a: ArrayLike,
    b: ArrayLike,
    c: ArrayLike | None,
    scale_a: ArrayLike | None,
    scale_b: ArrayLike | None,
    bias: ArrayLike | None,
    metadata: ArrayLike | None,
    on: object,
    instr: object,
    in_dtype: object,
    out_dtype: object,
    # method, sum, subnormals, slices, products, through, words, slice_bits, accuracy
    method: tuple[str | None, str | None, str | None, str | None, str | None, str | None, int, int, float],
    alpha: float,
    beta: float,
    scale_d: float,
    scaling: str | None,
    split_k: int,
    promote_every: int,
    plan: PlanHandle | None,
    round_in: str | None,
    kernel: str | None,
    transpose_a: bool,
    transpose_b: bool,
    threads: int,
) -> tuple[NDArray[Any], dict[str, Any], list[str]]: ...
def infer(
    unit: Callable[..., ArrayLike] | str,
    instruction: object,
    fresh: int,
    neighbours: int,
    budget: int,
    most_rows: int,
    seed: int,
    record: str | bytes | None,
    progress: Callable[[str], object] | None,
    /,
) -> dict[str, Any]: ...
def tree(
    f: Callable[[NDArray[Any], NDArray[Any]], float],
    k: int,
    a: object,
    b: object,
    d: object,
    seed: int,
    /,
) -> list[int]: ...
