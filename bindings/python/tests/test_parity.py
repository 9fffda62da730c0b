"""Python has every command: softmma.NAME returns as `value` what `softmma NAME --json` prints."""

import inspect
import json
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import softmma
from conftest import REPOSITORY

TIER = "check"
RECORDED = REPOSITORY / "tests/vectors/recorded/gpu"

# Commands without a Python function, because they are about the machine and the program, not about matrix units.
COMMAND_ALONE = {"bench", "version"}

OPERANDS = ["--a", "-8192 1 1 1 0*12", "--b", "1024 -0.5 -0.25 -0.125 0*12", "--c", "0x1p23"]
ROW_A, ROW_B, ROW_C = [-8192, 1, 1, 1] + [0] * 12, [1024, -0.5, -0.25, -0.125] + [0] * 12, 2**23
F16 = "mma.m16n8k16.f32.f16.f16.f32"  # on Ampere and later
V100 = "mma.m8n8k4.f32.f16.f16.f32"
MULTIPLY = ["--instr", "HMMA.16816.F32", *OPERANDS]

GENERATOR = np.random.default_rng(0)
# The matrices of CALLS. Each is also in a file with its name.
A, B = (GENERATOR.standard_normal(shape).astype(np.float32) for shape in ((9, 100), (100, 7)))
C, E = (GENERATOR.standard_normal((9, 7)).astype(np.float32) for _ in range(2))
D = softmma.matmul(A, B, on="V100", in_dtype="f16")
MATRICES = {"a": A, "b": B, "c": C, "d": D, "e": E}
LINEAR = {"name": "linear.json", "sum": [{"deal": "every", "k": 32, "from": "zero"}], "epilogue": ["linear"]}

AMPERE = {"on": "A100", "instr": F16}
ON_AMPERE = ["--on", "A100", "--instr", F16]
BLACKWELL = {"on": "B200", "instr": "tcgen05.m128n8k32.block32.f32.e4m3.e4m3.ue8m0"}
ON_BLACKWELL = ["--on", "B200", "--instr", "tcgen05.m128n8k32.block32.f32.e4m3.e4m3.ue8m0"]


def make_unit():
    unit = softmma.instruction("A100", AMPERE["instr"]).to_custom()
    Path("unit.json").write_text(json.dumps({**unit, "alignment_bits": 23}))


def make_vectors():
    make_unit()
    kept = softmma.record("custom:unit.json", **AMPERE, rows=3000)
    kept.write("rows.bin", "binary")
    kept.write("rows.txt")


def make_shards():
    make_unit()
    for n in (1, 2, 3):
        softmma.campaign("custom:unit.json", **AMPERE, rows=200000, kind="edge", shard=(n, 3), resume=f"part-{n}.json")


# Each key is a command, with a word if it is called in several ways. The value is a pair: the command's arguments
# without --json, and a function that makes the same call in Python.
CALLS = {
    "list": (["list"], lambda: softmma.instructions(every_n=True)),
    "list one": (["list", "MI300X"], lambda: softmma.instructions("MI300X", every_n=True)),
    "list a format": (["list", "fp8"], lambda: softmma.instructions(every_n=True, in_dtype="fp8")),
    "list formats of A, B and D": (
        ["list", "B200", "--in", "e4m3,e2m1", "--out", "f32"],
        lambda: softmma.instructions("B200", every_n=True, in_dtype="e4m3,e2m1", out_dtype="f32"),
    ),
    "list gpus": (["list", "--gpus"], softmma.gpus),
    "list gpus of a format": (["list", "--gpus", "--in", "mxfp4"], lambda: softmma.gpus(in_dtype="mxfp4")),
    "list formats": (["list", "--formats"], softmma.formats),
    "list questions": (["list", "--experiments"], softmma.questions),
    "list facts": (["list", "--facts"], lambda: SimpleNamespace(value=softmma.facts())),
    "show a GPU": (["show", "H100"], lambda: softmma.gpu("H100")),
    "show a format": (["show", "e5m2"], lambda: softmma.format("e5m2")),
    "show a block-scaled format": (["show", "nvfp4"], lambda: softmma.format("nvfp4")),
    "show": (["show", "HMMA.16816.F32", "--on", "A100"], lambda: softmma.instruction("A100", "HMMA.16816.F32")),
    "explain": (
        ["explain", "--on", "A100", *MULTIPLY],
        lambda: softmma.explain(ROW_A, ROW_B, ROW_C, on="A100", instr="HMMA.16816.F32"),
    ),
    "explain two": (
        ["explain", "--on", "H100,A100", *MULTIPLY],
        lambda: softmma.explain(ROW_A, ROW_B, ROW_C, on=("H100", "A100"), instr="HMMA.16816.F32"),
    ),
    "explain with a plan": (
        ["explain", "--on", "H100", "--instr", F16, "--plan", "cutlass:2xacc", "--a", "1.5 2*299", "--b", "0.5 -3*299"],
        lambda: softmma.explain([1.5] + [2] * 299, [0.5] + [-3] * 299, on="H100", instr=F16, plan="cutlass:2xacc"),
    ),
    "units": (["units"], softmma.units),
    "experiment list": (["experiment"], softmma.experiments),
    "experiment": (
        ["experiment", "monotonicity", "--small", "--no-plot", "--seed", "3"],
        lambda: softmma.experiment("monotonicity", small=True, seed=3),
    ),
    "probe model": (["probe", "--on", "A100", "--in", "f16"], lambda: softmma.probe("A100")),
    "probe scale factors": (
        ["probe", "--unit", "model", "--on", "B200", "--in", "nvfp4", "--rows", "64"],
        lambda: softmma.probe("B200", in_dtype="nvfp4", unit="model", rows=64),
    ),
    "diff differ": (
        ["diff", "--on", "A100,H100", "--in", "f16", "--rows", "500"],
        lambda: softmma.diff(["A100", "H100"], rows=500),
    ),
    "diff same": (
        ["diff", "--on", "A100,L40S", "--instr", F16, "--against", "model", "--rows", "500", "--seed", "3"],
        lambda: softmma.diff(["A100", "L40S"], instr=F16, against="model", rows=500, seed=3),
    ),
    "diff several": (
        ["diff", "A100", "H100", "L40S", "--rows", "500", "--against", "model"],
        lambda: softmma.differences(["A100", "H100", "L40S"], against="model", rows=500),
    ),
    "diff several, the same": (
        ["diff", "A100:s8", "H100:s8", "L40S:s8", "--rows", "500"],
        lambda: softmma.differences(["A100:s8", "H100:s8", "L40S:s8"], rows=500),
    ),
    "diff proved": (
        ["diff", "--prove", "H100", "B200", "--in", "bf16"],
        lambda: softmma.equal("H100", "B200", in_dtype="bf16"),
    ),
    "diff refuted": (["diff", "--prove", "V100", "T4"], lambda: softmma.equal("V100", "T4")),
    "diff plans": (
        ["diff", "--prove", "H100", "H100", "--in", "e4m3", "--plan", "none,cutlass:2xacc"],
        lambda: softmma.equal("H100", "H100", in_dtype="e4m3", plan=(None, "cutlass:2xacc")),
    ),
    "diff permuted": (["diff", "--permute", "B200:nvfp4"], lambda: softmma.permute("B200:nvfp4")),
    "diff permuted plan": (
        ["diff", "--permute", "H100", "--plan", "cutlass:2xacc"],
        lambda: softmma.permute("H100", plan="cutlass:2xacc"),
    ),
    "tree instruction": (
        ["tree", "--on", "MI250X", "--instr", "v_mfma_f32_32x32x8_f16"],
        lambda: softmma.unit_tree("MI250X", instr="v_mfma_f32_32x32x8_f16"),
    ),
    "tree plan": (
        ["tree", "--on", "A100", "--instr", F16, "--plan", "cutlass:2xacc", "-k", "300"],
        lambda: softmma.unit_tree("A100", instr=F16, plan="cutlass:2xacc", k=300),
    ),
    "coverage rows": (
        ["coverage", "--on", "H100", "--instr", F16, "--kind", "edge", "--rows", "100"],
        lambda: softmma.coverage(*softmma.rows(100, kind="edge", on="H100", instr=F16), on="H100", instr=F16),
    ),
    "coverage files": (
        ["coverage", str(RECORDED / "v100-f16-f32.txt"), "--search", "500"],
        lambda: softmma.coverage_files(RECORDED / "v100-f16-f32.txt", search=500)[0],
    ),
    "infer found": (
        ["infer", "--unit", "model", "--on", "V100", "--instr", V100, "--rows", "2000", "--search", "1000"],
        lambda: softmma.infer("model", on="V100", instr=V100, rows=2000, search=1000),
    ),
    "infer not found": (
        ["infer", "--unit", "model", "--on", "V100", "--instr", V100, "--rows", "0", "--search", "9", "--budget", "9"],
        lambda: softmma.infer("model", on="V100", instr=V100, rows=0, search=9, budget=9),
    ),
    "compare one": (
        ["compare", "--on", "V100,H100,H100:e4m3", "a", "b"],
        lambda: softmma.compare(A, B, ["V100", "H100", "H100:e4m3"]),
    ),
    "compare results": (
        ["compare", "--on", "V100", "--in", "f16", "a", "b", "--d", "d,e"],
        lambda: softmma.compare(A, B, "V100", in_dtype="f16", d={"d": D, "e": E}),
    ),
    "compare tolerances": (
        ["compare", "--on", "V100,H100", "a", "b", "--d", "d", "--rtol", "1e-6"],
        lambda: softmma.compare(A, B, ["V100", "H100"], d={"d": D}, rtol=1e-6),
    ),
    "compare blocks": (
        ["compare", "--on", "B200:nvfp4,B200:mxfp8:mxfp4,MI300X", "a", "b"],
        lambda: softmma.compare(A, B, ["B200:nvfp4", "B200:mxfp8:mxfp4", "MI300X"]),
    ),
    "compare rounded": (
        ["compare", "--on", "H100,MI300X", "--in", "bf16", "--out", "bf16", "a", "b"],
        lambda: softmma.compare(A, B, ["H100", "MI300X"], in_dtype="bf16", out_dtype="bf16"),
    ),
    "compare plans": (
        ["compare", "--on", "H100,H100", "--plan", "none,cutlass:2xacc", "a", "b"],
        lambda: softmma.compare(A, B, ["H100", "H100"], plan=[None, "cutlass:2xacc"]),
    ),
    "compare modes": (
        ["compare", "--on", "A100,A100", "--in", "tf32", "--round-in", "default,toward-zero", "a", "b"],
        lambda: softmma.compare(A, B, ["A100", "A100"], in_dtype="tf32", round_in=[None, "toward-zero"]),
    ),
    "trace one": (
        ["trace", "--on", "V100,H100", "a", "b", "--at", "3,5"],
        lambda: softmma.trace(A, B, at=(3, 5), on=["V100", "H100"], in_dtype="f16"),
    ),
    "trace worst": (
        ["trace", "--on", "H100,H100:bf16,MI250X", "-C", "c", "--alpha", "2", "a", "b"],
        lambda: softmma.trace(A, B, C, on=["H100", "H100:bf16", "MI250X"], in_dtype="f16", alpha=2),
    ),
    "trace largest error": (
        ["trace", "--on", "H100", "-C", "c", "--beta", "3", "--worst", "a", "b"],
        lambda: softmma.trace(A, B, C, at="worst", on="H100", in_dtype="f16", beta=3),
    ),
    "trace results": (
        ["trace", "--on", "H100,V100", "--d", "e,c", "--every", "3", "a", "b"],
        lambda: softmma.trace(A, B, on=["H100", "V100"], in_dtype="f16", d={"e": E, "c": C}, every=3),
    ),
    "trace plans": (
        [
            "trace",
            "--on",
            "H100,H100,H100",
            "--in",
            "e4m3",
            "--plan",
            "none,deepgemm,linear.json",
            "a",
            "b",
            "--at",
            "1,1",
        ],
        lambda: softmma.trace(
            A, B, at=(1, 1), on=["H100"] * 3, in_dtype="e4m3", plan=[None, "deepgemm", softmma.Plan(LINEAR)]
        ),
    ),
    "trace rounded": (
        ["trace", "--on", "H100:bf16,A100:f16", "--out", "bf16", "-C", "c", "--alpha", "2", "a", "b"],
        lambda: softmma.trace(A, B, C, on=["H100:bf16", "A100:f16"], out_dtype="bf16", alpha=2),
    ),
    "trace blocks": (
        ["trace", "--on", "B200,RTX-5090", "--in", "nvfp4", "a", "b"],
        lambda: softmma.trace(A, B, on=["B200", "RTX-5090"], in_dtype="nvfp4"),
    ),
    "tolerance data": (
        ["tolerance", "--in", "bf16", "--shape", "8x8x300", "--store", "bf16", "--seed", "5"],
        lambda: softmma.tolerance(in_dtype="bf16", shape=(8, 8, 300), store="bf16", seed=5),
    ),
    "tolerance rounded": (
        ["tolerance", "--on", "H100,MI300X", "--in", "bf16", "--out", "bf16", "a", "b"],
        lambda: softmma.tolerance(A, B, on=["H100", "MI300X"], in_dtype="bf16", out_dtype="bf16"),
    ),
    "tolerance plans": (
        [
            "tolerance",
            "--on",
            "H100:e4m3,A100",
            "--plan",
            "deepgemm,linear.json",
            "--data",
            "uniform",
            "--shape",
            "8x8x64",
        ],
        lambda: softmma.tolerance(
            on=["H100:e4m3", "A100"], plan=["deepgemm", softmma.Plan(LINEAR)], data="uniform", shape=(8, 8, 64)
        ),
    ),
    "tolerance matrices": (
        ["tolerance", "--on", "H100,MI300X", "-C", "c", "--alpha", "2", "--beta", ".5", "--margin", "3", "a", "b"],
        lambda: softmma.tolerance(A, B, C, on=["H100", "MI300X"], alpha=2, beta=0.5, margin=3),
    ),
    "tolerance blocks": (
        ["tolerance", "--on", "B200:nvfp4,B200:mxfp8", "--split-k", "3", "a", "b"],
        lambda: softmma.tolerance(A, B, on=["B200:nvfp4", "B200:mxfp8"], split_k=3),
    ),
    "tolerance sweep of k": (
        ["tolerance", "H100:e4m3", "A100", "--sweep", "k=1..4", "a", "b"],
        lambda: softmma.sweep("k=1..4", A, B, on=["H100:e4m3", "A100"]),
    ),
    "tolerance sweep of F": (
        ["tolerance", "H100", "B200:nvfp4", "--sweep", "F=10,12", "--shape", "8x8x64", "--data", "uniform"],
        lambda: softmma.sweep({"F": [10, 12]}, on=["H100", "B200:nvfp4"], shape=(8, 8, 64), data="uniform"),
    ),
    "tolerance sweep of formats": (
        ["tolerance", "H100", "A100", "--sweep", "format=f16,e4m3", "--shape", "8x8x64", "--plan", "cutlass:2xacc"],
        lambda: softmma.sweep("format=f16,e4m3", on=["H100", "A100"], shape=(8, 8, 64), plan="cutlass:2xacc"),
    ),
    "tolerance sweep of slices": (
        ["tolerance", "H100:s8", "--sweep", "slices=1..4,auto", "a", "b"],
        lambda: softmma.sweep("slices=1..4,auto", A, B, on="H100:s8"),
    ),
    "gemm": (["gemm", "a", "b", "-C", "c", "-o", "o", "--on", "H100", "--in", "f16", "--alpha", "2"],
             lambda: softmma.gemm(A, B, C, on="H100", in_dtype="f16", alpha=2)),
    "gemm words": (["gemm", "a", "b", "-o", "o", "--on", "A100", "--in", "bf16", "--method", "words", "--words", "3"],
                   lambda: softmma.gemm(A, B, on="A100", in_dtype="bf16", method="words", words=3)),
    "gemm bf16x9": (["gemm", "a", "b", "-o", "o", "--on", "B200", "--in", "bf16", "--method", "bf16x9"],
                    lambda: softmma.gemm(A, B, on="B200", in_dtype="bf16", method="bf16x9")),
    "match": (["match", "a", "b", "d", "--on", "V100,A100", "--in", "f16"],
              lambda: softmma.match(A, B, D, on=["V100", "A100"], in_dtype="f16")),
    "match nothing": (["match", "a", "b", "c", "--on", "V100", "--in", "f16", "--round-in", "toward-zero"],
                      lambda: softmma.match(A, B, C, on="V100", in_dtype="f16", round_in="toward-zero")),
    "match claim": (["match", "a", "b", "d", "-C", "c", "--in", "f16", "--claim", "H100:f16"],
                    lambda: softmma.claim(A, B, D, "H100:f16", c=C, in_dtype="f16")),
    "match chain": (["match", "a", "b", "d", "--in", "f16", "--on", "H100", "--claim", "none"],
                    lambda: softmma.claim(A, B, D, "none", on="H100", in_dtype="f16")),
    "test": (["test", "--unit", "model", *ON_AMPERE], lambda: softmma.campaign("model", **AMPERE)),
    "test of a GPU": (
        ["test", "--unit", "model", "--on", "V100", "--rows", "100", "--seed", "5", "--kind", "normal"],
        lambda: softmma.campaign("model", on="V100", rows=100, seed=5, kind="normal"),
    ),
    "test with classes": (
        ["test", "--unit", "custom:unit.json", *ON_AMPERE, "--rows", "5000"],
        lambda: softmma.campaign("custom:unit.json", **AMPERE, rows=5000),
    ),
    "test of a recording": (
        ["test", "--unit", "model", "--against", "file:rows.txt", *ON_AMPERE],
        lambda: softmma.campaign("model", against="file:rows.txt", **AMPERE),
    ),
    "test in shards": (
        ["test", "--unit", "custom:unit.json", *ON_AMPERE, "--rows", "200000", "--kind", "edge", "--shard", "2/3"],
        lambda: softmma.campaign("custom:unit.json", **AMPERE, rows=200000, kind="edge", shard=(2, 3)),
    ),
    "test that goes on": (
        ["test", "--unit", "custom:unit.json", *ON_AMPERE, "--rows", "200000", "--kind", "edge", "--resume", "s"],
        lambda: softmma.campaign(
            "custom:unit.json", **AMPERE, rows=200000, kind="edge", resume=softmma.merge(sorted(Path().glob("part-*")))
        ),
    ),
    "test with open questions": (
        ["test", "--open", "--unit", "custom:unit.json", *ON_AMPERE],
        lambda: softmma.campaign("custom:unit.json", open=True, **AMPERE),
    ),
    "test without a model": (
        ["test", "--open", "--unit", "model", "--on", "MI350X"],
        lambda: softmma.campaign("model", open=True, on="MI350X"),
    ),
    "test with one question": (
        ["test", "--open", "--unit", "model", "--all", "--on", "V100", "--only", "zero-sign"],
        lambda: softmma.campaign("model", open=True, on="V100", only="zero-sign", every=True),
    ),
    "merge": (
        ["vectors", "merge", "part-3.json", "part-1.json", "part-2.json"],
        lambda: softmma.merge(["part-1.json", Path("part-2.json"), json.loads(Path("part-3.json").read_text())]),
    ),
    "verify": (["verify", "rows.txt"], lambda: softmma.verify("rows.txt")),
    "verify of a unit": (
        ["verify", ".", "rows.bin", "--unit", "custom:unit.json", "--show", "0"],
        lambda: softmma.verify([Path("."), "rows.bin"], unit="custom:unit.json", show=0),
    ),
    "record": (
        ["vectors", "record", "--unit", "custom:unit.json", *ON_AMPERE, "--rows", "300"],
        lambda: softmma.record("custom:unit.json", **AMPERE, rows=300),
    ),
    "record vectors of a file": (
        ["vectors", "record", "rows.txt", "--unit", "custom:unit.json"],
        lambda: softmma.record("custom:unit.json", vectors="rows.txt"),
    ),
    "record with scale factors": (
        ["vectors", "record", "--unit", "model", *ON_BLACKWELL, "--rows", "20", "--seed", "3", "--kind", "tiny"],
        lambda: softmma.record("model", **BLACKWELL, rows=20, seed=3, kind="tiny"),
    ),
    "next": (
        ["vectors", "next", "--unit", "model", "--against", "custom:unit.json", *ON_AMPERE, "--rows", "3", "--seed", "1"],
        lambda: softmma.next(["model", "custom:unit.json"], **AMPERE, rows=3, seed=1),
    ),
    "next of units that are alike": (
        ["vectors", "next", "--unit", "model", "--against", "model", *ON_BLACKWELL, "--search", "500"],
        lambda: softmma.next(["model", "model"], **BLACKWELL, search=500),
    ),
    "self-test": (["self-test"], softmma.self_test),
}

# Maps a call to a function that writes the files that the call reads.
FILES = {
    "test with classes": make_unit,
    "test of a recording": make_vectors,
    "test in shards": make_unit,
    "test that goes on": make_shards,
    "test with open questions": make_unit,
    "merge": make_shards,
    "verify": make_vectors,
    "verify of a unit": make_vectors,
    "record": make_unit,
    "record vectors of a file": make_vectors,
    "next": make_unit,
}

# Maps a command to the C function that computes its output, declared in a header of src, and to the Python function.
# bindings/study/study.h, the header of all studies for C programs, lists the same.
STUDIES = {
    "list": ("facts/facts.h", "smma_instructions_datum", "instructions"),
    "show": ("facts/facts.h", "smma_instruction_datum", "instruction"),
    "dot": ("rows/datum.h", "smma_row_datum", "dot"),
    "explain": ("explain/datum.h", "smma_explanations_datum", "explain"),
    "gemm": ("product/product.h", "smma_product_run", "gemm"),
    "compare": ("compare/compare.h", "smma_compare_run", "compare"),
    "trace": ("trace/trace.h", "smma_trace_run", "trace"),
    "tolerance": ("tolerance/tolerance.h", "smma_tolerance_run", "tolerance"),
    "verify": ("report/verify.h", "smma_verify", "verify"),
    "gen": ("coverage/gen.h", "smma_gen", "gen"),
    "convert": ("rows/copy.h", "smma_vectors_copy", "convert"),
    "coverage": ("coverage/coverage.h", "smma_coverage_count", "coverage"),
    "probe": ("probe/probe.h", "smma_examine", "probe"),
    "diff": ("campaign/difference.h", "smma_find_unit_difference", "diff"),
    "diff several": ("campaign/differences.h", "smma_find_differences", "differences"),
    "diff --prove": ("equal/study.h", "smma_equal", "equal"),
    "match": ("match/study.h", "smma_match_run", "match"),
    "custom": ("isa/custom.h", "smma_custom_read", "Custom"),
    "rtl": ("softmma/rtl.h", "smma_rtl_text", "rtl_text"),
    "plan": ("softmma/softmma.h", "smma_plan_for", "Plan"),
    "infer": ("infer/infer.h", "smma_infer", "infer"),
    "next": ("equal/apart.h", "smma_find_apart", "next"),
    "units": ("facts/facts.h", "smma_units_datum", "units"),
    "test": ("report/report.h", "smma_report_run", "campaign"),
    "merge": ("report/merge.h", "smma_merge_reports", "merge"),
    "tree": ("tree/unit_order.h", "smma_find_unit_order", "unit_tree"),
    "record": ("campaign/record.h", "smma_record", "record"),
    "experiment": ("experiment/run.h", "smma_experiment_compute", "experiment"),
    "self-test": ("selftest/self_test.h", "smma_self_test_run", "self_test"),
}

# Commands that return arrays in Python (dot, gemm) or write files, with their comparisons.
COMPARED_HERE = {"gen", "convert", "custom", "plan", "dot", "rtl"}

NOT_ALIKE = {"date", "seconds", "unit_seconds"}  # values measured by a clock
NAMES = {"gemm": {"d"}}  # members that name files of the command
# Commands whose text is the member `text` in Python, and the time in it.
PRINTED = {"compare", "diff", "explain", "match", "self-test", "tolerance", "trace"}
WATCH = re.compile(r"[0-9.]+ s$", re.M)


def commands(command):
    """Returns the names of the command's subcommands. Of two words ("vectors gen") the second is the name."""
    return set(re.findall(r"^  (?:[a-z]+ )?([a-z][a-z-]+)  ", command("--help"), re.M))


def test_every_command_is_here(command):
    named = {name.split()[0] for name in CALLS}
    assert named | COMPARED_HERE | COMMAND_ALONE == commands(command)
    assert not named & COMPARED_HERE
    assert {name.split()[0] for name in STUDIES} == commands(command) - COMMAND_ALONE


@pytest.mark.parametrize("name", STUDIES)
def test_every_study_is_a_function(name):
    """The function exists in C, in a header that is installed, and in Python with a docstring and types of all
    parameters.
    """
    header, function, ours = STUDIES[name]
    folder = "include" if header.startswith("softmma/") else "src"
    assert re.search(rf"\b{function}\(", (REPOSITORY / folder / header).read_text())
    installed = (REPOSITORY / "bindings/study/study.h").read_text()
    line = re.search(rf'^#include "{header}" +/\* (.*): (.*) \*/$', installed, re.M)
    assert line and name in line[1].split(", ") and function in line[2].split(", "), f"study.h lacks {name}"
    documented = getattr(softmma, ours)
    assert ours in softmma.__all__ and documented.__doc__
    typed = documented.__init__ if isinstance(documented, type) else documented
    parameters = [p for p in inspect.signature(typed).parameters if p != "self"]
    assert set(parameters) <= set(typed.__annotations__), ours


@pytest.mark.parametrize("name", CALLS)
def test_value(command, name, tmp_path, monkeypatch):
    """Compares a call. Its name may have a word after the command's, which distinguishes its calls."""
    monkeypatch.chdir(tmp_path)
    for matrix, values in MATRICES.items():
        with open(matrix, "wb") as file:
            np.save(file, values)
    (tmp_path / "linear.json").write_text(json.dumps({"softmma-plan": 1, **LINEAR}))
    FILES.get(name, lambda: None)()
    arguments, call = CALLS[name]
    result = call()
    printed, value = json.loads(command(*arguments, "--json", status=(0, 1, 2))), result.value
    if isinstance(value, dict):
        apart = NOT_ALIKE | NAMES.get(name.split()[0], set())
        printed, value = ({k: v for k, v in x.items() if k not in apart} for x in (printed, value))
    assert printed == value
    text = getattr(result, "text", "")
    assert bool(text) == (arguments[0] in PRINTED and "--claim" not in arguments)
    if text and "--every" not in arguments:  # which is for JSON
        printed = command(*arguments, status=(0, 1, 2))
        assert WATCH.sub("", printed).rstrip("\n") == WATCH.sub("", text).rstrip("\n")


@pytest.mark.parametrize("options", [{}, {"seed": 5, "kind": "edge", "rows": 40}, {"cover": True}])
def test_gen_and_convert(command, options, tmp_path):
    """The files of the command and of Python have the same bytes."""
    words = [word for name, x in options.items() for word in (f"--{name}", *([] if x is True else [x]))]
    command("vectors", "gen", "--on", "H100", "--instr", "HMMA.16816.F32", *words, "-o", tmp_path / "command")
    softmma.gen(tmp_path / "python", on="H100", instr="HMMA.16816.F32", **options)
    assert (tmp_path / "command").read_bytes() == (tmp_path / "python").read_bytes()
    for format in "binary", "readmemh", "csv", "json", "jsonl":
        command("vectors", "convert", tmp_path / "command", "--format", format, "-o", tmp_path / "command.copy")
        softmma.convert(tmp_path / "python", tmp_path / "python.copy", format)
        assert (tmp_path / "command.copy").read_bytes() == (tmp_path / "python.copy").read_bytes()


def test_descriptions(command, tmp_path):
    """For files of custom units and plans, the command prints what the Python object prints."""
    unit = tmp_path / "unit.json"
    unit.write_text(command("custom", "--from", "H100", "--instr", "HGMMA.64x8x16.F32"))
    assert json.loads(command("custom", unit, "--json")) == softmma.Custom(unit).value
    assert softmma.Custom(unit).to_custom() == json.loads(unit.read_text())
    plan = tmp_path / "plan.json"
    plan.write_text(command("plan", "--as", "deepgemm", "--on", "H100", "--in", "e4m3", "-k", "256"))
    assert json.loads(command("plan", plan)) == softmma.Plan(plan).value


def test_rtl(command):
    """Python returns the text that the command prints; a wrong name and wrong stages are errors."""
    printed = command("rtl", "MI300X:f16", "--stages", "2", "--sva", "--name", "unit")
    assert softmma.rtl_text(on="MI300X", in_dtype="f16", stages=2, assertion=True, name="unit") == printed
    with pytest.raises(ValueError, match="'2nd' is not a module name"):
        softmma.rtl_text(on="V100", in_dtype="f16", name="2nd")
    with pytest.raises(ValueError, match="4 stages: the rule of .* has places for 0 to 3 registers"):
        softmma.rtl_text(on="V100", in_dtype="f16", stages=4)


def test_dot(command):
    """Python returns an array with the bits of the command's "d"."""
    said = json.loads(command("dot", "--on", "A100", *MULTIPLY, "--json"))
    d = softmma.dot(ROW_A, ROW_B, ROW_C, on="A100", instr="HMMA.16816.F32")
    assert f"{int(d.view('uint32')):08x}" == said["d"] and float(d) == said["value"]


def test_dot_flags(command):
    on = "--on", "power:xvf32gerpp", "-a", "0x1.000002p-63", "-b", "0x1.fffffcp-64", "--flags"
    for tininess in "before", "after":
        said = json.loads(command("dot", *on, "--tininess", tininess, "--json"))
        a, b = float.fromhex("0x1.000002p-63"), float.fromhex("0x1.fffffcp-64")
        d, flags = softmma.dot_flags([a], [b], on="power:xvf32gerpp", tininess=tininess)
        assert f"{int(d.view('uint32')):08x}" == said["d"] and f"{int(flags):02x}" == said["flags"]
        assert said["exceptions"] == ["underflow"][tininess == "after" :] + ["inexact"]
