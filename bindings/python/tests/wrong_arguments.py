"""Calls every public callable with one wrong argument at a time: the child process of test_wrong_arguments.py.

    wrong_arguments.py GROUP FIRST EVERY

GROUP is a module ("softmma", "softmma.recipes") or "extension". Calls the cases from FIRST on whose number is a
multiple of EVERY, and prints a line before each call and one after it. A call fails if it takes more than
`MOST_SECONDS` of CPU time, or 4 GiB of memory more than the interpreter's own.
"""

import importlib
import inspect
import os
import resource
import signal
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np

import softmma
import softmma.recipes

CHILD = Path(__file__).name
MOST_SECONDS = 20
MOST_BYTES = 4 << 30

# Documented exceptions: values that do not fit; names that do not exist; files, units and engines that fail.
ALLOWED = (TypeError, ValueError, LookupError, OverflowError, MemoryError, OSError, RuntimeError, ImportError)
NOT_ALLOWED = (KeyError, RecursionError)  # exceptions in ALLOWED that still count as failures
ONLY_OF = {"assert_close": AssertionError}

os.chdir(tempfile.mkdtemp())
GENERATOR = np.random.default_rng(0)
A, B = GENERATOR.standard_normal((4, 16)).astype(np.float16), GENERATOR.standard_normal((16, 4)).astype(np.float16)
UNIT = softmma.instruction("H100", "HMMA.16816.F32")
SMALL = softmma.instruction("V100", "mma.m8n8k4.f32.f16.f16.f32")
SPARSE = softmma.instruction("A100", "mma.sp.m16n8k16.f32.f16.f16.f32")
PREPARED = softmma.recipes.Unit("H100").prepare(A, "weights", "forward", "a")
PREPARED_B = softmma.recipes.Unit("H100").prepare(B, "weights", "forward", "b")
softmma.gen("rows", on=UNIT, rows=10)  # for convert
HALVES = {"name": "halves", "sum": [{"deal": "contiguous", "parts": 2}]}


def model(a, b, c):
    return softmma.dot(a, b, c, on=SMALL)


ROWS = str(Path("recorded.txt").absolute())
softmma.record("model", on=SMALL, rows=20).write(ROWS)

np.savez("w.npz", weight=np.ones((2, 16), np.uint8), weight_scale=np.ones((2, 1), np.uint8))
E4M3 = softmma.round(A, "e4m3")

# Valid arguments by the parameter's name. A callable with parameters that are not in this table needs an entry in
# GOOD_OF.
GOOD = {
    "a": A, "b": B, "x": A, "on": "H100", "instr": UNIT.name, "dtype": "e4m3", "format": "mxfp8_e4m3", "count": 4,
    "description": UNIT.to_custom(), "recipe": "bf16", "name": "bf16", "weights": "bf16", "activations": "bf16",
    "role": "weights", "product": "forward", "side": "a",
    "state": "hit", "status": "refuted", "value": 1,
}  # fmt: skip
GOOD_OF = {
    "softmma.Custom": {},
    "softmma.Plan": {"description": HALVES},
    "softmma.assert_close": {"d": softmma.matmul(A, B)},
    "softmma.campaign": {"unit": "model", "on": SMALL, "rows": 50},
    "softmma.compare": {"on": ["H100", "A100"]},
    "softmma.tolerance": {"a": A, "b": B, "on": ["H100"]},
    "softmma.sweep": {"over": "k=2,4", "a": A, "b": B, "on": ["H100"]},
    "softmma.compress": {"x": np.tile(np.float16([1, 0, 1, 0]), (4, 8)), "instr": SPARSE, "on": "A100"},
    "softmma.coverage": {"a": A[:, :4], "b": A[:, :4], "on": "V100", "instr": SMALL.name},
    "softmma.diff": {"on": [SMALL, SMALL], "rows": 10},
    "softmma.differences": {"on": [SMALL, SMALL, SMALL], "rows": 10},
    "softmma.dot": {"b": A, "instr": UNIT.name},
    "softmma.dot_flags": {"a": A[:, :4], "b": A[:, :4], "on": "A100", "instr": "DMMA.884"},
    "softmma.dtype": {"format": "e4m3"},
    "softmma.format": {"name": "e4m3"},
    "softmma.equal": {"x": "H100", "y": "B200", "rows": 100, "k": 16},
    "softmma.explain": {"a": A[0], "b": A[1], "instr": UNIT.name},
    "softmma.convert": {"path": "rows", "to": "copy", "format": "binary"},
    "softmma.experiment": {"name": "monotonicity", "small": True, "parameters": {"pairs": 5}},
    "softmma.gen": {"path": "rows", "instr": UNIT.name, "rows": 10, "format": "text"},
    "softmma.load_weight": {"path": "w.npz", "name": "weight"},
    "softmma.match": {"d": softmma.matmul(A, B, on="V100"), "on": "V100"},
    "softmma.claim": {"d": softmma.matmul(A, B), "what": "H100"},
    "softmma.infer": {"unit": model, "on": SMALL, "rows": 50, "search": 10, "most_rows": 1},
    "softmma.instruction": {"name": UNIT.name},
    "softmma.merge": {"reports": [softmma.campaign("model", on=SMALL, rows=10, kind="zeros", shard=(1, 1))]},
    "softmma.next": {"units": [model, "model"], "on": SMALL, "rows": 2, "search": 10},
    "softmma.permute": {"x": "H100", "rows": 100, "k": 16},
    "softmma.plan": {"as_": "cublaslt:13.1", "on": "H100", "in_dtype": "f16", "k": 8192, "algo": 66, "stages": 35, "splitk": 3},
    "softmma.probe": {"on": SMALL},
    "softmma.record": {"unit": "model", "on": SMALL, "rows": 20},
    "softmma.record().write": {"path": "rows.txt", "format": "text"},
    "softmma.rows": {"kind": "normal", "in_dtype": "f16"},
    "softmma.rtl_text": {"in_dtype": "f16", "name": "unit", "stages": 1},
    "softmma.recipes.History": {"length": 3},
    "softmma.recipes.History().update": {"amax": 1.0, "format": "e4m3"},
    "softmma.recipes.Operand": {"format": "e4m3"},
    "softmma.recipes.Recipe": {name: softmma.recipes.Operand("bf16") for name in ("weights", "activations", "gradients")},
    "softmma.recipes.Unit().multiply": {"a": PREPARED, "b": PREPARED_B},
    "softmma.recipes.Unit().multiplier": {"a": PREPARED.operand, "b": PREPARED_B},
    "softmma.recipes.Unit().instruction": {"a": PREPARED.operand, "b": PREPARED.operand},
    "softmma.recipes.Unit().arguments": {"a": PREPARED.operand, "b": PREPARED.operand},
    "softmma.recipes.prepare": {"operand": softmma.recipes.Operand("e4m3", "row"), "side": "a"},
    "softmma.scaled_matmul": {"a": E4M3, "b": E4M3.T, "scale_a": np.float32(2), "scale_b": np.ones((1, 1), np.float32)},
    "softmma.swizzle_scales": {"scales": np.ones((4, 4), np.uint8)},
    "softmma.unswizzle_scales": {"swizzled": np.ones(512, np.uint8), "lines": 4, "blocks": 4},
    "softmma.sparse_matmul": {
        "a": softmma.compress(np.tile(np.float16([1, 0, 1, 0]), (4, 8)), SPARSE)[0],
        "metadata": softmma.compress(np.tile(np.float16([1, 0, 1, 0]), (4, 8)), SPARSE)[1],
        "b": np.ones((32, 3), np.float16), "on": "A100", "instr": SPARSE.name,
    },
    "softmma.trace": {"on": ["H100", "A100"], "at": (0, 0)},
    "softmma.coverage_files": {"*": [ROWS]},
    "softmma.verify": {"paths": ROWS},
    "softmma.tree": {"f": lambda a, b: a @ b, "k": 8},
    "softmma.unit_tree": {"on": SMALL},
}  # fmt: skip
# Types that functions return and that callers never create.
RESULTS = {
    "softmma." + name
    for name in ("Comparison", "Coverage", "Examination", "Listing", "Explanation", "Inference", "Instruction", "InstructionList",
                 "Recording", "Trace", "Tree", "recipes.Multiplied")
}  # fmt: skip
# Each call takes a tenth of a second or more, so only every seventh wrong argument is tried.
SLOW = ("softmma.campaign", "softmma.diff", "softmma.differences", "softmma.infer", "softmma.match", "softmma.next",
        "softmma.probe", "softmma.record")
# Parameters that are amounts of work: large numbers are valid, and take as long as they say.
WORK = {"rows", "search", "fresh", "neighbours", "seconds", "most_rows", "tries", "k", "m", "n", "count", "samples"}
WORKING = (  # in the extension
    "campaign coverage coverage_files diff differences equal gen infer next probe record rows".split()
)
# Parameters for which None means the whole catalogue, which takes minutes.
WHOLE = {("softmma.campaign", "on"), ("campaign", (3,))}


def wrong():
    """Returns objects that most parameters do not accept, and arrays of every kind of shape, dtype and layout."""
    huge = np.lib.stride_tricks.as_strided(np.zeros(1, np.float16), (2**40, 4), (0, 0))
    masked = np.ma.masked_array(A)
    return [
        None, 0, -1, 1, 2**31, 2**63, -(2**63), 2**64, 10**30, 1.5, float("nan"), float("inf"), True, 1j, "x", "", "é\0",
        b"y", [], [[]], [None], ["x"], [1, [2]], (), (None,), (1, 2), {}, {"x": 1}, {1: 2}, set(), object(), Ellipsis,
        np.float16(1), np.array(1.0), np.zeros(0), np.zeros((0, 0), np.float16), np.zeros((0, 16), np.float16),
        np.zeros((4, 0), np.float16), np.zeros((3, 5)), np.zeros((2, 2, 2, 2), np.float16), np.zeros((1,) * 20),
        np.zeros((2**40, 0)), np.zeros((0, 2**40), np.float16), huge, huge.T, np.array(None), np.array(["a"]),
        np.zeros((4, 16), complex), np.zeros((4, 16), "M8[s]"), np.zeros((4, 16), [("x", "f4")]), A.astype(">f2"),
        A[::-1, ::-1], A[:, ::2], np.broadcast_to(A[:1], A.shape), masked, np.zeros((4, 16), np.longdouble),
        np.zeros((4, 16), np.uint64), np.zeros((4, 16), bool), lambda *_, **__: None, int, np.float16, UNIT,
        softmma.Plan(HALVES), np.dtype("f2"), np.random.default_rng(0),
    ]  # fmt: skip


def parameters_of(function):
    try:
        listed = inspect.signature(function).parameters
    except (ValueError, TypeError):
        return None
    return {name: p for name, p in listed.items() if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)}


def good(name, function):
    """Returns valid arguments of a callable."""
    of_it = GOOD_OF.get(name, {})
    found = {parameter: value for parameter, value in of_it.items() if parameter not in parameters_of(function)}
    for parameter, p in parameters_of(function).items():
        if parameter in of_it:
            found[parameter] = of_it[parameter]
        elif p.default is p.empty:
            if parameter not in GOOD:
                raise LookupError(f"{name} takes {parameter}: give a good one in GOOD or GOOD_OF, {CHILD}")
            found[parameter] = GOOD[parameter]
    return found


def called(function, given):
    parameters = parameters_of(function)
    only = [given[name] for name, p in parameters.items() if p.kind is p.POSITIONAL_ONLY and name in given]
    only += given.get("*", ())
    names = {"*", *(name for name, p in parameters.items() if p.kind is p.POSITIONAL_ONLY)}
    return function(*only, **{name: value for name, value in given.items() if name not in names})


def methods(name, result):
    """Returns the methods with parameters of an object that the package made."""
    kind = type(result)
    if not kind.__module__.startswith("softmma"):
        return
    for method in dir(kind):
        function = getattr(kind, method)
        own = inspect.isfunction(function) and function.__module__.startswith("softmma")
        if own and not method.startswith("_") and len(parameters_of(function)) > 1:
            yield f"{name}().{method}", getattr(result, method)


def public(module):
    """Yields every function and class of a module's __all__, and the methods of their results; leaves out tuples, which
    take anything."""
    for each in getattr(module, "__all__", ()):
        value, name = getattr(module, each), f"{module.__name__}.{each}"
        if not callable(value) or (isinstance(value, type) and issubclass(value, (tuple, BaseException))):
            continue
        if name in RESULTS:
            continue
        if not parameters_of(value):
            continue
        given = good(name, value)
        yield name, value, given
        for method, function in methods(name, called(value, given)):
            yield method, function, good(method, function)


def cases_of_module(module):
    for name, function, given in public(module):
        for parameter in parameters_of(function):
            for n, value in enumerate(wrong()):
                if name in SLOW and n % 7 or value is None and (name, parameter) in WHOLE:
                    continue
                if parameter in WORK and isinstance(value, (int, float)) and not 2**31 > value:
                    continue
                yield f"{name}: {parameter} is {n}: {value!r:.40}", function, {**given, parameter: value}


def recorded():
    """Returns (name, arguments) of the calls that the package makes to its extension; for each number of arguments the
    first call."""
    core, seen, kept = softmma._core, {}, {}

    def watched(name, function):
        def call(*arguments):
            seen.setdefault((name, len(arguments)), arguments)
            return function(*arguments)

        return call

    for name in dir(core):
        if callable(getattr(core, name)) and not name.startswith("_"):
            kept[name] = getattr(core, name)
            setattr(core, name, watched(name, kept[name]))
    for module in (softmma, softmma.recipes):
        for _, function, given in public(module):
            called(function, given)
    softmma.recipes.Unit("B200", "nvfp4").prepare(A.astype(np.float32), "weights", "wgrad", "a", measure=True)
    for name, function in kept.items():
        setattr(core, name, function)
    return sorted(seen.items(), key=lambda item: item[0])


def places(arguments, at=()):
    """Yields the positions of arguments, also in tuples within tuples."""
    for n, x in enumerate(arguments):
        yield (*at, n)
        if isinstance(x, tuple):
            yield from places(x, (*at, n))


def replaced(arguments, at, value):
    changed = list(arguments)
    changed[at[0]] = value if len(at) == 1 else replaced(changed[at[0]], at[1:], value)
    return tuple(changed)


def cases_of_extension():
    for (name, _), arguments in recorded():
        function = getattr(softmma._core, name)
        if name in ("register_instruction_type",):  # registers another type as the package's
            continue
        for at in places(arguments):
            for n, value in enumerate(wrong()):
                worked = name in WORKING
                if worked and isinstance(value, (int, float)):
                    continue  # amounts of work
                if value is None and (name, at) in WHOLE:
                    continue
                changed = replaced(arguments, at, value)
                yield f"_core.{name}: {at} is {n}: {value!r:.40}", function, changed


def outcome(function, given):
    """Calls a function. Returns "" for a result or a documented exception, otherwise the exception as text."""
    name = getattr(function, "__name__", "")
    try:
        if isinstance(given, dict):
            called(function, given)
        else:
            function(*given)
    except ALLOWED as error:
        return f"{type(error).__name__}: {error}" if isinstance(error, NOT_ALLOWED) else ""
    except ONLY_OF.get(name, ()):
        return ""
    except BaseException as error:  # also exceptions that end Python, such as SystemExit
        return f"{type(error).__name__}: {error}"
    return ""


def main(group, first, every):
    warnings.simplefilter("ignore")
    own = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    cases = cases_of_extension() if group == "extension" else cases_of_module(importlib.import_module(group))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for number, (name, function, given) in enumerate(cases):
        if number < first or number % every:
            continue
        print(f"\x1e{number}\x1f{name}", flush=True)
        resource.setrlimit(resource.RLIMIT_AS, (own + MOST_BYTES, resource.getrlimit(resource.RLIMIT_AS)[1]))
        signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)
        said = outcome(function, given)
        signal.setitimer(signal.ITIMER_PROF, 0)
        print(f"\x1d{said}", flush=True)
    print("\x1c", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
