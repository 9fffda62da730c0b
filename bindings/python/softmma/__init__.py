"""SoftMMA: what GPU matrix units return for D = A B + C, bit for bit.

    products          matmul, dot, gemm, Multiplier, scaled_matmul, sparse_matmul, quantize, round
    one product       compare (several GPUs), trace (step by step), tolerance and assert_close (tests of kernels)
    unknown results   match, claim (GPU, instruction and plan), tree (order of sums), infer, probe, diff, equal
    what there is     gpu, gpus, find, instruction, instructions, formats, Custom (own units), Plan, plan (libraries)
    test vectors      rows, record, verify, campaign, next, coverage, explain
    networks          softmma.torch.emulate, softmma.torch.compare, softmma.jax, softmma.recipes, load_weight

A thin layer over the C library, which does all arithmetic. Arrays are NumPy's; formats that NumPy lacks are ml_dtypes'
(bfloat16, float8_e4m3fn, ...). Every function releases the GIL while it computes, and no result depends on the number
of threads. ``help(softmma.matmul)`` describes one function.

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
from typing import Any

from softmma import _core

# The public names of each module, which is imported when one of its names is first used: importing all modules takes
# longer than NumPy. __init__.pyi declares the same names for type checkers.
_NAMES = {
    "_campaign": "Campaign NextRows OpenAnswers Recording Verification campaign merge next record verify",
    "_checkpoint": "StoredWeight load_weight",
    "_close": "assert_close",
    "_compare": "ComparedUnit Comparison compare",
    "_coverage": "Coverage coverage coverage_files",
    "_equal": "Equality Permutation equal permute",
    "_facts": "Experiment ExperimentRun Question UnitKind convert experiment experiments facts gen questions units",
    "_gemm": "Gemm gemm",
    "_infer": "Inference infer",
    "_match": "Candidate Claim Match MatchDifference MatchingLibrary claim match",
    "_plans": "Plan plan plan_libraries",
    "_products": "Flag Flagged Multiplier dot dot_flags matmul round rows rtl_text",
    "_quantization": "QUANTIZED_FORMATS Quantized quantize",
    "_scaled": "scaled_matmul swizzle_scales unswizzle_scales",
    "_self_test": "SelfTest self_test",
    "_sparse": "compress sparse_matmul",
    "_study": "Difference Differences Examination Explanation Finding diff differences explain probe",
    "_sweep": "Sweep SweepRow sweep",
    "_tolerance": "Accepted TargetError Tolerance Verdict tolerance",
    "_trace": "SumDivergence Trace TracedTarget trace",
    "_tree": "Tree tree",
    "_unit_tree": "UnitTree unit_tree",
    "_units": "BlockFormatFacts Custom Format FormatFacts Gpu Instruction InstructionList Listing dtype find format formats"
    " gpu gpus instruction instructions",
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names.split()}
_OPTIONAL = ("jax", "recipes", "torch")  # modules; jax and torch need JAX and PyTorch
_RENAMED = {"Parting": "SumDivergence"}

__all__ = sorted(_MODULES)

# Recipes and networks round intentionally and count their losses, so values that become zero give no warning there.
warnings.filterwarnings(
    "ignore",
    message=r".*: rounded to \w+, 0 values became infinite, 0 saturated, \d+ became zero, 0 became NaN",
    category=RuntimeWarning,
    module=r"softmma\.",
)

__version__ = _core.version()


def __getattr__(name: str) -> Any:
    if name in _OPTIONAL:
        return importlib.import_module(f"softmma.{name}")
    if name in _RENAMED:
        importlib.import_module("softmma._renamed").warn_of_old_name(f"softmma.{name}", f"softmma.{_RENAMED[name]}")
        return __getattr__(_RENAMED[name])
    if name not in _MODULES:
        raise AttributeError(f"module 'softmma' has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(f"softmma.{_MODULES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


# OpenMP's threads do not survive a fork: in the child every product runs on one thread.
os.register_at_fork(after_in_child=_core.forked)
