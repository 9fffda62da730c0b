"""SoftMMA: what GPU matrix units return for D = A B + C, bit for bit.

A thin layer over the C library, which does all arithmetic. Arrays are NumPy's; formats that NumPy lacks are ml_dtypes'
(bfloat16, float8_e4m3fn, ...). Every function releases the GIL while it computes, and no result depends on the number
of threads.

    >>> import numpy as np, softmma
    >>> a = np.float16([[-8192, 1, 1, 1]])
    >>> b = np.float16([[1024], [-0.5], [-0.25], [-0.125]])
    >>> c = np.float32([[2**23]])
    >>> for gpu in "V100", "A100", "H100", "MI100":
    ...     print(gpu, softmma.matmul(a, b, c, on=gpu).item())
    V100 0.0
    A100 -0.5
    H100 -0.75
    MI100 -0.875
"""

import importlib
import os
import warnings
from types import ModuleType

from softmma import _core
from softmma._campaign import (
    Campaign,
    NextRows,
    OpenAnswers,
    Recording,
    Verification,
    campaign,
    merge,
    next,
    record,
    verify,
)
from softmma._checkpoint import StoredWeight, load_weight
from softmma._close import assert_close
from softmma._compare import ComparedUnit, Comparison, compare
from softmma._coverage import Coverage, coverage, coverage_files
from softmma._equal import Equality, Permutation, equal, permute
from softmma._facts import (
    Experiment,
    ExperimentRun,
    Question,
    UnitKind,
    convert,
    experiment,
    experiments,
    gen,
    questions,
    units,
)
from softmma._gemm import Gemm, gemm
from softmma._infer import Inference, infer
from softmma._match import Candidate, Claim, Match, MatchDifference, MatchingLibrary, claim, match
from softmma._plans import Plan, plan, plan_libraries
from softmma._products import Multiplier, dot, matmul, round, rows
from softmma._quantization import QUANTIZED_FORMATS, Quantized, quantize
from softmma._scaled import scaled_matmul, swizzle_scales, unswizzle_scales
from softmma._self_test import SelfTest, self_test
from softmma._sparse import compress, sparse_matmul
from softmma._study import (
    Difference,
    Examination,
    Explanation,
    Finding,
    diff,
    explain,
    probe,
)
from softmma._tolerance import Accepted, TargetError, Tolerance, Verdict, tolerance
from softmma._trace import Parting, Trace, TracedTarget, trace
from softmma._tree import Tree, tree
from softmma._unit_tree import UnitTree, unit_tree
from softmma._units import (
    Custom,
    Format,
    Gpu,
    Instruction,
    InstructionList,
    Listing,
    dtype,
    find,
    formats,
    gpu,
    gpus,
    instruction,
    instructions,
)

# Recipes and networks round intentionally and count their losses, so values that become zero give no warning there.
warnings.filterwarnings(
    "ignore",
    message=r".*: rounded to \w+, 0 values became infinite, 0 saturated, \d+ became zero, 0 NaN",
    category=RuntimeWarning,
    module=r"softmma\.",
)

__all__ = [
    "QUANTIZED_FORMATS",
    "Accepted",
    "Campaign",
    "Candidate",
    "Claim",
    "ComparedUnit",
    "Comparison",
    "Coverage",
    "Custom",
    "Difference",
    "Equality",
    "Examination",
    "Experiment",
    "ExperimentRun",
    "Explanation",
    "Finding",
    "Format",
    "Gemm",
    "Gpu",
    "Inference",
    "Instruction",
    "InstructionList",
    "Listing",
    "Match",
    "MatchDifference",
    "MatchingLibrary",
    "Multiplier",
    "NextRows",
    "OpenAnswers",
    "Parting",
    "Permutation",
    "Plan",
    "Quantized",
    "Question",
    "Recording",
    "SelfTest",
    "StoredWeight",
    "TargetError",
    "Tolerance",
    "Trace",
    "TracedTarget",
    "Tree",
    "UnitKind",
    "UnitTree",
    "Verdict",
    "Verification",
    "assert_close",
    "campaign",
    "claim",
    "compare",
    "compress",
    "convert",
    "coverage",
    "coverage_files",
    "diff",
    "dot",
    "dtype",
    "equal",
    "experiment",
    "experiments",
    "explain",
    "find",
    "formats",
    "gen",
    "gemm",
    "gpu",
    "gpus",
    "infer",
    "instruction",
    "instructions",
    "load_weight",
    "match",
    "matmul",
    "merge",
    "next",
    "permute",
    "plan",
    "plan_libraries",
    "probe",
    "quantize",
    "questions",
    "record",
    "round",
    "rows",
    "scaled_matmul",
    "self_test",
    "sparse_matmul",
    "swizzle_scales",
    "tolerance",
    "trace",
    "tree",
    "unit_tree",
    "units",
    "unswizzle_scales",
    "verify",
]

__version__ = _core.version()


def __getattr__(name: str) -> ModuleType:
    """Imports softmma.jax and softmma.torch on first use, because they need JAX and PyTorch."""
    if name in ("jax", "torch"):
        return importlib.import_module(f"softmma.{name}")
    raise AttributeError(f"module 'softmma' has no attribute {name!r}")


# OpenMP's threads do not survive a fork: in the child every product runs on one thread.
os.register_at_fork(after_in_child=_core.forked)
