"""The order in which a function adds the products of a matrix product, found by asking it; and the plan that it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from operator import index
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from softmma import _core
from softmma._close import _array
from softmma._order import Sums, cost, plan_members
from softmma._plans import Plan
from softmma._products import dot, matmul
from softmma._units import Custom, Instruction, chosen
from softmma._units import dtype as dtype_of

CHECKS = 64  # questions at random, and as many sums of random numbers
REPEATED = 16  # questions that are asked a second time
MOST_PLANS = 16  # forms that are recomputed


class Tree(NamedTuple):
    """What `tree` found."""

    k: int
    sums: tuple[tuple[int, ...], ...]
    """Sum i adds these: products are 0 to k - 1, sum i is k + i, the last one is the result."""
    calls: int
    """How often the function was called."""
    arithmetic: str | None
    """How each sum rounds, if adding random numbers so gives the function's bits; else None."""
    plan: Plan | None
    """The plan that has this order; None: none of the forms has it."""
    unit: Instruction | None
    """What gives the function's bits with the plan: `matmul` with ``on=unit, plan=plan``; None: that is not known."""
    verdict: str
    """What is verified, and what cannot be told and why."""

    @property
    def text(self) -> str:
        """The order, a line for each sum or run of products."""
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
    """The order in which a product function adds: `numpy.matmul`, a kernel, anything that takes A and B and returns D.

    ``f`` is called with A (m, k) and B (k, n), arrays in ``dtype`` (a pair: of A and B) or, with a ``device``,
    PyTorch's tensors there, and returns D (m, n); the order is that of the ``element`` of D. For other sizes ``f`` may
    have another order. It is found by asking: one product is a huge M, one is -M, and all others are *ones* that vanish
    beside M, so that as many of them come through as are added after M and -M have met (FPRev: Xie, Gao, Wang, Xue,
    USENIX ATC 2025). It takes about k calls for a chain, k log k for pairs of pairs, and k^2/2 for one fused sum.

    The tree must then give what ``f`` gives for questions at random. Random numbers are added by it in several ways, of
    which one may give ``f``'s bits: the ``arithmetic``. For fused sums, whose arithmetic no order shows, ``on`` and
    ``instr`` name the instruction to try, as in `matmul`. Where a plan (`Plan`) has the order, it is given, and
    recomputed with it: with k alone, parts of a length and so many parts may be the same.

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

    Raises ValueError, "cannot tell: ...", where the results show no order: sums that are exact, formats too narrow;
    ValueError if ``f`` gives other results for the same arguments, or D of another shape.
    """
    kinds = _pair(dtype)
    if not (on is None or isinstance(on, (str, Instruction))):
        raise TypeError(f"on is {on!r}; give a GPU's name or an Instruction")
    if not isinstance(element, (tuple, list)) or len(element) != 2:
        raise TypeError(f"element is {element!r}; give a pair of a row and a column")
    unit = chosen(on, instr, kinds, None) if isinstance(on, str) else on
    ask = _Asker(f, k, m, n, kinds, element, device, seed)
    for _ in range(REPEATED // 2):
        ask.random()
    ask.again()
    ask.settle()
    sums = _find(ask)
    _check(ask, sums)
    data = [ask.random() for _ in range(CHECKS)]
    ask.again()
    return _judge(ask, sums, data, unit)


class _Random(NamedTuple):
    a: NDArray[Any]  # (K,)
    b: NDArray[Any]
    d: Any


class _Range(NamedTuple):
    """2^huge is M, 2^one a one, of which at most ``ones`` are in a question."""

    huge: int
    one: int
    ones: int


class _Asker:
    """The function, called with rows of +M, -M, ones and zeros."""

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
        """The element of the product of matrices, all of whose rows, and columns, are these."""
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
        """Random operands of magnitudes that overlap."""
        spread = self.generator.integers(-3, 4, (2, self.k))
        a, b = self.generator.standard_normal((2, self.k)) * 2.0**spread
        return a.astype(self.dtypes[0]), b.astype(self.dtypes[1])

    def random(self) -> _Random:
        a, b = self.numbers()
        d = self.call(a, b)
        self.asked.append((a, b, d))
        return _Random(a, b, d)

    def again(self) -> None:
        """A function gives the same once more."""
        for a, b, d in self.asked[-REPEATED:] + self.asked[: 2 * REPEATED]:
            if _bits(self.call(a, b)) != _bits(d):
                raise ValueError("f gives another result for the same arguments: it is no function of A and B")

    def question(self, huge: Sequence[int], ones: Sequence[int] | NDArray[Any], signs: Any = 1) -> Any:
        """The result with M of these signs at ``huge``, and ones at others; all else is zero."""
        a, b = (np.zeros(self.k, t) for t in self.dtypes)
        for where, exponent in ((list(huge), self.range.huge), (ones, self.range.one)):
            a[where] = 2.0 ** (exponent - exponent // 2)
            b[where] = 2.0 ** (exponent // 2)
        a[list(huge)] *= signs
        d = self.call(a, b)
        if len(self.asked) < 2 * REPEATED:
            self.asked.append((a, b, d))
        return d

    def count(self, huge: Sequence[int], ones: NDArray[Any], signs: Any = (1, -1)) -> int:
        """How many of the ones come through."""
        total = 0
        for first in range(0, len(ones), self.range.ones):
            some = ones[first : first + self.range.ones]
            d = float(self.question(huge, some, signs)) / 2.0**self.range.one
            if not (0 <= d <= len(some) and d == int(d)):
                raise ValueError(
                    f"cannot tell: with +M at k = {huge[0]} and -M at k = {huge[1]} the result is {d!r} ones, "
                    f"M = 2^{self.range.huge}, ones 2^{self.range.one}: no number of {len(some)}"
                )
            total += int(d)
        return total

    def size(self, i: int, j: int) -> int:
        """How many products are below the sum where two of them meet."""
        return self.k - self.count((i, j), np.delete(np.arange(self.k), (i, j)))

    def settle(self) -> None:
        """Chooses M and ones: each of them, and many ones, come through alone."""
        kinds: list[Any] = [ml_dtypes.finfo(t) for t in (*self.dtypes, self.output)]  # type: ignore[no-untyped-call]
        most = min(kinds[0].maxexp + kinds[1].maxexp, kinds[2].maxexp) - 3  # sums of three M stay in the range
        digits = kinds[2].nmant + 1
        for subnormal in (False, True):
            least = [x.minexp - (x.nmant if subnormal else 0) for x in kinds]
            one = max(2 * max(least[0], least[1]), least[2])
            middle, reach = (most + one) // 2, min((most - one) // 2, 70)
            for ones in (2**x for x in range(min(digits, (self.k - 1).bit_length()), -1, -1)):
                self.range = _Range(middle + reach, middle - reach, ones)
                if 2 * reach - ones.bit_length() > 25 and self._comes_through():
                    return
        raise ValueError(
            f"cannot tell: 2^{self.range.huge}, or ones of 2^{self.range.one}, do not come through alone, "
            "or are too near to each other"
        )

    def _comes_through(self) -> bool:
        some = sorted(self.generator.permutation(self.k)[: self.range.ones].tolist())
        alone = [0, self.k // 2, self.k - 1]
        one = 2.0**self.range.one
        return (
            float(self.question([], some)) == len(some) * one
            and all(float(self.question([], [i])) == one for i in alone)
            and all(float(self.question([i], [])) == 2.0**self.range.huge for i in alone)
        )


def _bits(x: Any) -> bytes:
    return bytes(np.asarray(x).tobytes())


def _pair(kind: Any) -> tuple[np.dtype[Any], np.dtype[Any]]:
    a, b = kind if isinstance(kind, tuple) else (kind, kind)
    return dtype_of(a), dtype_of(b)


def _find(ask: _Asker) -> Sums:
    """One product is set against all others; those that meet it in the same sum are taken apart in the same way."""
    sums: list[list[int]] = []  # of each sum: what it adds
    top: list[int] = []
    work: list[tuple[list[int], list[int], int]] = [(list(range(ask.k)), top, 0)]
    while work:
        products, into, size = work.pop()  # they are below a sum of this size, which adds `into`
        pivot = products.pop(int(ask.generator.integers(len(products))))
        groups: dict[int, list[int]] = {}
        for other in products:
            groups.setdefault(ask.size(pivot, other), []).append(other)
        if size in groups:
            work.append((groups.pop(size), into, size))
        below, current = 1, pivot
        for met, group in sorted(groups.items()):
            below += len(group)
            if below != met or (size and met > size):
                raise ValueError(
                    f"cannot tell: k = {pivot} meets {len(group)} others, such as k = {group[0]}, in a sum of {met} "
                    f"products, which no order explains: sums may be exact, or ones not lost beside "
                    f"2^{ask.range.huge}"
                )
            sums.append([current])
            current = ask.k + len(sums) - 1
            work.append((group, sums[-1], met))
        into.append(current)
    return Sums.of_unordered(ask.k, sums, top[0])


def _check(ask: _Asker, sums: Sums) -> None:
    """Up to three pairs of M, and ones at random, give what the tree says."""
    huge, ones = np.zeros((2, ask.k, CHECKS if ask.k > 2 else 0), int)
    for i in range(huge.shape[1]):
        order = ask.generator.permutation(ask.k)
        pairs = int(ask.generator.integers(1, 4)) if ask.k >= 8 else 1
        rest = order[2 * pairs :]
        huge[order[: 2 * pairs], i] = [1, -1] * pairs
        ones[rest[: min(ask.range.ones, int(ask.generator.integers(1, len(rest) + 1)))], i] = 1
    for i, expected in enumerate(sums.ones_left(huge, ones) if ask.k > 2 else ()):
        where = [int(x) for sign in (1, -1) for x in np.flatnonzero(huge[:, i] == sign)]
        found = ask.count(where, np.flatnonzero(ones[:, i]), huge[where, i])
        if found != expected:
            raise ValueError(
                f"cannot tell: of {ones[:, i].sum()} ones {found} come through with M and -M at k = {where}; in the "
                f"order that pairs of them show, {expected} would"
            )


# ---- Whether it is the function ----


class _Way(NamedTuple):
    """How products and sums round."""

    product: str | None  # the format; None: each is added by FMA
    total: str
    upward: bool = True  # FMA: of two products the one of the lower k is rounded first

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
    """The sums of all data by the tree."""
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
    """The levels, with what the way that numbers are added in adds to them."""
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
