"""Finds the reduction order of a product function, and the plan with that order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from operator import index
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from softmma import _core
from softmma._close import _array
from softmma._order import Sums, cost, plan_members
from softmma._plans import Plan
from softmma._products import dot, matmul
from softmma._units import Custom, Instruction, chosen
from softmma._units import dtype as dtype_of

CHECKS = 64  # number of random sums with which a tree is checked
REPEATED = 16  # number of queries at each end of the search that are repeated
MOST_PLANS = 16  # greatest number of plans that are recomputed


class Tree(NamedTuple):
    """Result of `tree`."""

    k: int
    sums: tuple[tuple[int, ...], ...]
    """The terms of each sum: products are 0 to k - 1, sum i is number k + i, and the last sum is the result."""
    calls: int
    """Number of calls of the function."""
    arithmetic: str | None
    """How each product and sum rounds, if the tree with this rounding reproduces the function's bits; otherwise
    None."""
    plan: Plan | None
    """The plan with this order, or None if no plan has it."""
    unit: Instruction | None
    """The instruction that gives the function's bits in `matmul` with ``on=unit, plan=plan``, or None if unknown."""
    verdict: str
    """The verified facts, and those that cannot be determined, with the reason."""

    @property
    def text(self) -> str:
        """Returns the order as text, a line for each sum or run of products."""
        return Sums(self.k, self.sums).text()

    def __str__(self) -> str:
        return f"{self.text}\n{self.verdict}"

    def __repr__(self) -> str:
        return f"<tree of {self.k} products: {len(self.sums)} sums, {self.plan or 'no plan'}>"


def tree(
    f: Callable[[Any, Any], Any],
    k: int,
    *,
    m: int = 1,
    n: int = 1,
    dtype: Any = np.float32,
    element: tuple[int, int] = (0, 0),
    on: str | Instruction | None = None,
    instr: str | None = None,
    device: str | None = None,
    seed: int = 0,
) -> Tree:
    """Finds the reduction order of a product function: `numpy.matmul`, a kernel, any function D = f(A, B).

    ``f`` is called with A (m, k) and B (k, n) and returns D (m, n). A and B are arrays in ``dtype`` (or a pair: dtypes
    of A and B), or PyTorch tensors on a ``device``. The order is that of the ``element`` of D; for other sizes ``f``
    may have another order. Method: one product is a huge M, another one is -M, and all others are *ones* too small to
    change M. The result counts the ones that are added after M and -M have cancelled (FPRev: Xie, Gao, Wang, Xue,
    USENIX ATC 2025). It takes about k calls for a chain, k log k for pairwise sums, and k^2/2 for one fused sum.

    The tree is then checked: it must reproduce ``f`` for random queries. Random numbers are added along the tree with
    several rounding rules; the rule that reproduces ``f``'s bits is the ``arithmetic``. The order does not determine
    the arithmetic of fused sums; ``on`` and ``instr`` name the instruction to try for them, as in `matmul`. If a plan
    (`Plan`) has the order, it is returned, and ``f`` is recomputed with it. For a single k, a plan with parts of a
    fixed length and a plan with a fixed number of parts can be the same.

        >>> import numpy as np, softmma
        >>> def in_lanes(a, b):  # eight partial sums, then these in pairs
        ...     lanes = [np.float32(0)] * 8
        ...     for k, (x, y) in enumerate(zip(a[0], b[:, 0])):
        ...         lanes[k % 8] = lanes[k % 8] + x * y
        ...     while len(lanes) > 1:
        ...         lanes = [x + y for x, y in zip(lanes[::2], lanes[1::2])]
        ...     return lanes
        >>> found = softmma.tree(in_lanes, 100)
        >>> found.plan
        <plan tree of 100: interleaved 8 of 1 neighbours, every 1>
        >>> found.arithmetic
        'products rounded to f32, sums in f32'

    Raises ValueError, "cannot tell: ...", if the results show no order (exact sums, formats too narrow); ValueError if
    ``f`` returns different results for the same arguments, or D of another shape.
    """
    kinds = _pair(dtype)
    if not (on is None or isinstance(on, (str, Instruction))):
        raise TypeError(f"on is {on!r}; give a GPU's name or an Instruction")
    if not isinstance(element, (tuple, list)) or len(element) != 2:
        raise TypeError(f"element is {element!r}; give a pair of a row and a column")
    if not (device is None or isinstance(device, str) or type(device).__module__ == "torch"):
        raise TypeError(f"device is {device!r}; give PyTorch's name of a device, such as 'cuda'")
    unit = chosen(on, instr, kinds, None) if isinstance(on, str) else on
    ask = _Asker(f, k, m, n, kinds, element, device, seed)
    for _ in range(REPEATED // 2):
        ask.random()
    ask.again()
    sums = ask.sums()
    data = [ask.random() for _ in range(CHECKS)]
    ask.again()
    return _judge(ask, sums, data, unit)


class _Random(NamedTuple):
    a: NDArray[Any]  # (K,)
    b: NDArray[Any]
    d: Any


class _Asker:
    """Calls the function that is examined, for one element of D, and counts the calls."""

    def __init__(
        self,
        f: Callable[[Any, Any], Any],
        k: int,
        m: int,
        n: int,
        dtypes: tuple[np.dtype[Any], np.dtype[Any]],
        element: tuple[int, int],
        device: str | None,
        seed: int,
    ):
        if k < 1 or not (0 <= element[0] < m and 0 <= element[1] < n):
            raise ValueError(f"k is {k}, m x n is {m} x {n}, element {element}: there is no such element of a product")
        self.f, self.k, self.m, self.n, self.element, self.device = f, k, m, n, element, device
        self.dtypes = dtypes
        self.generator = np.random.default_rng(index(seed))
        self.calls = 0
        self.asked: list[tuple[NDArray[Any], NDArray[Any], Any]] = []
        self.output = np.asarray(self.call(*self.numbers())).dtype
        if any(x.kind in "iub" for x in (*dtypes, self.output)):
            raise ValueError("cannot tell: sums of integers are exact, in whatever order")

    def call(self, a: NDArray[Any], b: NDArray[Any]) -> Any:
        """Returns an element of the product of A with equal rows `a` and B with equal columns `b`."""
        matrices: list[Any] = [np.tile(a, (self.m, 1)), np.ascontiguousarray(np.tile(b[:, None], (1, self.n)))]
        if self.device is not None:
            from softmma.torch import tensor

            matrices = [tensor(x).to(self.device) for x in matrices]
        self.calls += 1
        d = np.asarray(_array(self.f(*matrices)))
        if d.size != self.m * self.n:
            raise ValueError(f"f returns an array of shape {d.shape}; a product has {(self.m, self.n)}")
        return d.reshape(self.m, self.n)[self.element]

    def numbers(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Returns random operands whose magnitudes overlap."""
        spread = self.generator.integers(-3, 4, (2, self.k))
        a, b = self.generator.standard_normal((2, self.k)) * 2.0**spread
        return a.astype(self.dtypes[0]), b.astype(self.dtypes[1])

    def random(self) -> _Random:
        a, b = self.numbers()
        d = self.call(a, b)
        self.asked.append((a, b, d))
        return _Random(a, b, d)

    def again(self) -> None:
        """Checks that the function gives the same results again."""
        for a, b, d in self.asked[-REPEATED:] + self.asked[: 2 * REPEATED]:
            if _bits(self.call(a, b)) != _bits(d):
                raise ValueError("f gives another result for the same arguments: it is no function of A and B")

    def sums(self) -> Sums:
        """Returns the order of additions, which the library finds. Keeps the first queries, so that `again` can repeat
        them."""

        def answer(a: NDArray[Any], b: NDArray[Any]) -> float:
            d = self.call(a, b)
            if len(self.asked) < 2 * REPEATED:
                self.asked.append((a, b, d))
            return float(d)

        seed = int(self.generator.integers(2**63))
        return Sums.of_parents(self.k, _core.tree(answer, self.k, *self.dtypes, self.output, seed))


def _bits(x: Any) -> bytes:
    return bytes(np.asarray(x).tobytes())


def _pair(kind: Any) -> tuple[np.dtype[Any], np.dtype[Any]]:
    a, b = kind if isinstance(kind, tuple) else (kind, kind)
    return dtype_of(a), dtype_of(b)


# ---- Checking the tree ----


class _Way(NamedTuple):
    """The rounding of products and sums."""

    product: str | None  # format that products are rounded to, or None: FMA
    total: str
    upward: bool = True  # FMA: of two products, the one with the lower k is rounded first

    def __str__(self) -> str:
        if self.product is None:
            return f"FMA in {self.total}"
        return f"products rounded to {self.product}, sums in {self.total}"


def _ways(ask: _Asker) -> Iterator[_Way]:
    output = _core.format(ask.output)
    totals = dict.fromkeys((output, "f32", "f64"))
    for total in totals:
        for product in dict.fromkeys((total, output)):
            yield _Way(product, total)
        if total in ("f32", "f64"):
            yield _Way(None, total)
            yield _Way(None, total, upward=False)


def _fma(total: str) -> Custom:
    unit = {"name": f"fma-{total}", "algorithm": "FMA", "m": 1, "n": 1, "k": 1, "nan": "quiet"}
    return Custom({**unit, "a": total, "b": total, "d": total})


def _evaluate(sums: Sums, way: _Way, data: Sequence[_Random]) -> NDArray[Any]:
    """Returns the sums of all data along the tree."""
    kind = dtype_of(way.total)
    a, b = (np.stack([getattr(x, name) for x in data], 1).astype(kind) for name in "ab")
    with np.errstate(all="ignore"):
        values = list((a * b).astype(dtype_of(way.product or way.total)).astype(kind))
    unit = _fma(way.total) if way.product is None else None
    for parts in sums.parts:
        products = [x for x in parts if x < sums.k]
        if unit is not None and products:
            last = (max if way.upward else min)(products)
            (other,) = (x for x in parts if x != last)
            values.append(np.asarray(dot(a[last, :, None], b[last, :, None], values[other], on=unit)))
        else:
            values.append(values[parts[0]] + values[parts[1]])
    return np.asarray(values[-1]).astype(data[0].d.dtype)


def _arithmetic(ask: _Asker, sums: Sums, data: Sequence[_Random]) -> _Way | None:
    expected = _bits(np.stack([x.d for x in data]))
    with np.errstate(all="ignore"):
        return next((way for way in _ways(ask) if _bits(_evaluate(sums, way, data)) == expected), None)


def _recomputes(plan: Plan, unit: Instruction, data: Sequence[_Random]) -> bool:
    for x in data:
        d = matmul(x.a.astype(dtype_of(unit.a)), x.b.astype(dtype_of(unit.b)), on=unit, plan=plan)
        if _bits(np.asarray(d).astype(x.d.dtype)) != _bits(x.d):
            return False
    return True


def _plan(ask: _Asker, members: dict[str, Any], way: _Way | None) -> Plan:
    """Returns the plan, completed with the rounding of products and sums."""
    output = _core.format(ask.output)
    levels: list[dict[str, Any]] = members["sum"]
    if way is not None and way.product is not None and (not levels or levels[-1] != {"deal": "every", "k": 1}):
        levels = [*levels, {"deal": "every", "k": 1}]
    if way is not None and way.total not in ("f32", "f64"):
        levels = [{**level, "stored": way.total, "total": way.total} for level in levels]
    elif way is not None and way.total == "f32" and way.product not in (None, "f32"):
        levels = [*levels[:-1], {**levels[-1], "stored": str(way.product), "from": "zero"}]
    d = {} if output in ("f32", "f64") else {"d": output}
    return Plan({"name": f"tree of {ask.k}", **d, **members, "sum": levels})


def _judge(ask: _Asker, sums: Sums, data: Sequence[_Random], given: Instruction | None) -> Tree:
    way = None if sums.fused() else _arithmetic(ask, sums, data)
    unit = given or (None if way is None else _fma("f64" if way.total == "f64" else "f32"))
    plan = followed = None
    for members in sorted(islice(plan_members(sums), MOST_PLANS), key=lambda x: cost(x["sum"])):
        candidate = _plan(ask, members, way)
        plan = plan or candidate
        if unit is not None and _recomputes(candidate, unit, data):
            plan = followed = candidate
            break
    said = []
    if way is not None:
        said.append(f"the order, with {way}, gives the bits of {len(data)} sums of random numbers")
    elif sums.fused():
        said.append("the order of fused sums does not show their arithmetic")
    else:
        said.append("no arithmetic that was tried gives the bits of random sums with this order")
    if plan is None:
        said.append("none of the forms of plans has this order")
    elif followed:
        said.append(f"{plan!r} has this order, and products with it have the bits of {len(data)} random sums")
    elif unit is None:
        said.append(f"{plan!r} has this order; with which unit it gives the function's bits cannot be told")
    else:
        said.append(f"{plan!r} has this order, but products with it on {unit.name} have other bits than random sums")
    way_text = None if way is None else str(way)
    return Tree(sums.k, sums.parts, ask.calls, way_text, plan, unit if followed else None, "; ".join(said))
