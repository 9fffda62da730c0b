"""Reduction orders: trees of sums as text, and the levels of a plan with the same order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, islice, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

Level = dict[str, Any]

MOST_LISTED = 4096  # greatest number of parts in a plan's list
MOST_STRIDES = 16
MOST_LEVELS = 3  # greatest number of nested levels that are searched
MOST_FORMS = 4  # greatest number of forms tried for the levels below a level
MOST_SCATTERED = 64  # greatest number of sums of non-consecutive products that are tried as first parts


class Sums:
    """Sums of products 0 to k - 1: sum i is number k + i and adds ``parts[i]``; the last sum is the result."""

    def __init__(self, k: int, parts: tuple[tuple[int, ...], ...]):
        self.k = k
        self.parts = parts
        self.root = k + len(parts) - 1
        self.parent = [-1] * (k + len(parts))
        generator = np.random.default_rng(0)
        self.weights = [int(x) for x in generator.integers(1, 2**62, k)]  # their sum identifies a set of products
        self.weight = list(self.weights)
        self.size = [1] * k
        self.first = list(range(k))
        self.below = [0] * k  # number of sums at or below a node
        for i, below in enumerate(parts):
            self.weight.append(sum(self.weight[x] for x in below))
            self.size.append(sum(self.size[x] for x in below))
            self.first.append(min(self.first[x] for x in below))
            self.below.append(1 + sum(self.below[x] for x in below))
            for x in below:
                self.parent[x] = k + i
        self.sums = {self.weight[x]: x for x in range(k, k + len(parts))}

    @staticmethod
    def of_parents(k: int, parent: Sequence[int]) -> Sums:
        """Returns the order that the list of parents defines. Each sum comes after its terms; apart from this, nodes
        with the least k come first."""
        sums: list[list[int]] = [[] for _ in parent[k:]]
        for node, above in enumerate(parent):
            if above >= 0:
                sums[above - k].append(node)
        root = parent.index(-1)
        order: list[int] = []
        work = [root]
        while work:
            node = work.pop()
            if node >= k:
                order.append(node)
                work.extend(sums[node - k])
        order.reverse()
        number = {node: k + i for i, node in enumerate(order)} | {x: x for x in range(k)}
        first = list(range(k))
        parts = []
        for node in order:
            below = sorted((number[x] for x in sums[node - k]), key=first.__getitem__)
            first.append(first[below[0]])
            parts.append(tuple(below))
        return Sums(k, tuple(parts))

    def fused(self) -> bool:
        """Reports whether a sum adds more than two terms at once."""
        return any(len(below) > 2 for below in self.parts)

    def products(self, node: int) -> list[int]:
        """Returns the products below a node, in order."""
        found: list[int] = []
        work = [node]
        while work:
            x = work.pop()
            if x < self.k:
                found.append(x)
            else:
                work.extend(self.parts[x - self.k])
        return sorted(found)

    def above(self, product: int) -> Iterator[int]:
        """Yields the product, then every sum that contains it, the smallest first."""
        node = product
        while node >= 0:
            yield node
            node = self.parent[node]

    def text(self) -> str:
        """Returns the order as text: a line for each sum, or for a run of similar sums."""
        lines: list[str] = []
        self._write(self.root, "d = ", "", lines)
        return "\n".join(lines)

    def _write(self, node: int, head: str, indent: str, lines: list[str]) -> None:
        start, steps = self._run(node)
        products = [x for step in [[start], *steps] for x in step]
        if all(x < self.k for x in products) and (not steps or all(len(step) == 1 for step in steps)):
            lines.append(f"{head}{_numbers(products)}{' in order' if len(products) > 2 else ''}")
            return
        groups = [list(self.parts[start - self.k])] if start >= self.k and self._is_flat(start) else [[start]]
        groups += steps
        if len(steps) == 1:
            groups.sort(key=lambda group: min(self.first[x] for x in group))
        kind = "fused sum" if len(steps) <= 1 and any(len(x) > 1 for x in steps) else "+"
        lines.append(f"{head}{kind if len(steps) == 1 else f'{len(groups)} in order'}")
        for i, group in enumerate(groups):
            last = i + 1 == len(groups)
            mark, deeper = indent + ("`- " if last else "|- "), indent + ("   " if last else "|  ")
            if len(group) == 1:
                self._write(group[0], mark, deeper, lines)
            elif all(x < self.k for x in group):
                lines.append(f"{mark}{_numbers(group)} fused")
            else:
                lines.append(f"{mark}{len(group)} fused")
                for j, x in enumerate(group):
                    end = j + 1 == len(group)
                    self._write(x, deeper + ("`- " if end else "|- "), deeper + ("   " if end else "|  "), lines)

    def _is_flat(self, node: int) -> bool:
        below = self.parts[node - self.k]
        return len(below) > 2 and all(x < self.k for x in below)

    def _run(self, node: int) -> tuple[int, list[list[int]]]:
        """Returns the first term of a chain of sums, and the terms that each step adds. All steps add similar numbers
        of terms, except the last, which may add fewer."""
        steps: list[list[int]] = []
        while node >= self.k and not self._is_flat(node):
            below = sorted(self.parts[node - self.k], key=lambda x: (-self.size[x], self.first[x]))
            size = sum(self.size[x] for x in below[1:])
            sizes = [sum(self.size[x] for x in step) for step in steps]
            if sizes and (size < sizes[-1] or (len(sizes) > 1 and 4 * size > 5 * sizes[-1])):
                break
            if size > self.size[below[0]]:
                break
            steps.append(below[1:])
            node = below[0]
        return node, steps[::-1]


def _numbers(products: Sequence[int]) -> str:
    """Returns text such as 'k = 0..383', 'k = 0..96 by 8', 'k = 3, 1, 2'."""
    steps = {y - x for x, y in pairwise(products)}
    if len(products) > 2 and len(steps) == 1:
        (step,) = steps
        return f"k = {products[0]}..{products[-1]}" + (f" by {step}" if step != 1 else "")
    if len(products) <= 16:
        return f"k = {', '.join(map(str, products))}"
    return f"k = {', '.join(map(str, products[:8]))}, ... {', '.join(map(str, products[-4:]))}"


# ---- Plans ----


class _Other(Exception):
    """Raised for a sum that the tree does not contain."""


class _Follower:
    """Adds products and parts as the levels of a plan prescribe. Raises _Other at a sum that the tree does not contain.

    A sum is represented by its total weight, which identifies the set of its products.
    """

    def __init__(self, sums: Sums):
        self.sums = sums
        self.made = 0
        # Number of products that a chain adds at once: an instruction's products.
        self.group = max((sum(x < sums.k for x in below) for below in sums.parts), default=1) if sums.fused() else 1

    def sum(self, weight: int) -> int:
        if weight not in self.sums.sums:
            raise _Other
        self.made += 1
        return weight

    def add(self, parts: Sequence[int]) -> int:
        """Adds the parts one after another; an empty part is +0."""
        total = 0
        for part in parts:
            total = self.sum(total + part) if total and part else total + part
        return total

    def chain(self, products: Sequence[int]) -> int:
        total = 0
        for first in range(0, len(products), self.group):
            group = products[first : first + self.group]
            total += sum(self.sums.weights[x] for x in group)
            if first or len(group) > 1:
                self.sum(total)
        return total

    def total(self, levels: Sequence[Level], products: Sequence[int]) -> int:
        if not levels:
            return self.chain(products)
        return self.fold(levels[0], [self.total(levels[1:], part) for part in deal(levels[0], products)])

    def fold(self, level: Level, parts: list[int]) -> int:
        fold, n = level.get("fold"), len(parts)
        if fold == "last-first":
            half = _up(n, 2)
            pairs = [self.add([parts[i], parts[i + half]] if i + half < n - 1 else [parts[i]]) for i in range(half)]
            return self.add([parts[-1], *pairs[: n - 1]])
        while fold == "neighbours" and len(parts) > 1:
            parts = [self.add(parts[i : i + 2]) for i in range(0, len(parts), 2)]
        while fold == "halving" and len(parts) > 1:
            if len(parts) % 2:
                raise _Other
            parts = self.stride(parts, len(parts) // 2)
        for stride in level.get("strides", ()):
            parts = self.stride(parts, stride)
        return self.add(parts)

    def stride(self, parts: list[int], stride: int) -> list[int]:
        return [self.add(parts[i::stride]) for i in range(min(stride, len(parts)))]

    def strides(self, parts: list[int]) -> list[int]:
        """Returns the strides that add the parts as the tree does."""
        found: list[int] = []
        while len(parts) > 1 and len(found) < MOST_STRIDES:
            stride = next((s for s in range(1, len(parts)) if parts[0] + parts[s] in self.sums.sums), 0)
            if not stride or (found and stride >= found[-1]):
                raise _Other
            found.append(stride)
            parts = self.stride(parts, stride)
        return found

    def follows(self, levels: Sequence[Level], products: Sequence[int]) -> bool:
        try:
            self.total(levels, products)
        except _Other:
            return False
        return True

    def rule(self, parts: list[int]) -> Level | None:
        """Returns the level that folds these parts as the tree does."""
        simple: list[Level] = [{}, {"fold": "neighbours"}, {"fold": "halving"}, {"fold": "last-first"}]
        for fold in simple:
            try:
                self.fold(fold, parts)
                return fold
            except _Other:
                pass
        try:
            strides = self.strides(parts)
        except _Other:
            return None
        return {"fold": "strides", "strides": strides} if strides[-1:] == [1] else None


def _up(x: int, y: int) -> int:
    return -(-x // y)


def deal(level: Level, products: Sequence[int]) -> list[Sequence[int]]:
    """Returns the parts into which a level deals the products; parts of lanes may be empty."""
    n = len(products)
    if level["deal"] == "list":
        return [[k for first, end in part for k in range(first, end)] for part in level["list"]]
    if level["deal"] == "interleaved":
        parts, tile = level["parts"], level["tile"]
        tiles = [products[i : i + tile] for i in range(0, n, tile)]
        return [[x for t in tiles[part::parts] for x in t] for part in range(parts)]
    length = level["k"] if level["deal"] == "every" else _up(n, level["parts"])
    return [products[i : i + length] for i in range(0, n, length)]


def cost(levels: Sequence[Level]) -> int:
    """Returns the cost of levels. The least cost decides which of several forms with the same order is reported."""
    return sum(1 + (level.get("fold") == "strides") + _up(len(level.get("list", ())), 16) for level in levels)


def _in_length(length: int, n: int) -> Level:
    """Returns a level that deals n products into parts of this length. The level gives the number of parts instead of
    the length if the length is no multiple of 16 and at most 64 parts of equal length have it."""
    parts = _up(n, length)
    if length % 16 and _up(n, parts) == length and parts <= 64 and length > 1:
        return {"deal": "contiguous", "parts": parts}
    return {"deal": "every", "k": length}


def _deals(sums: Sums, products: Sequence[int]) -> Iterator[Level]:
    """Yields levels that may have dealt the products. The first part is a sum that contains the first product."""
    place = {x: i for i, x in enumerate(products)}
    n, weight, length, scattered = len(products), 0, 0, 0
    for node in sums.above(products[0]):
        size = sums.size[node]
        if size >= n:
            return
        weight += sum(sums.weights[x] for x in products[length:size])
        length = size
        if weight == sums.weight[node]:
            yield _in_length(size, n)
        elif scattered < MOST_SCATTERED and 2 * size <= n + 1:
            scattered += 1
            places = [place.get(x, -1) for x in sums.products(node)]
            tile = next(i for i, x in enumerate(places) if x != i)
            parts, rest = divmod(places[tile], tile)
            if rest == 0 and places == [i for i in range(n) if i // tile % parts == 0]:
                yield {"deal": "interleaved", "parts": parts, "tile": tile}


def _levels(follower: _Follower, products: Sequence[int], most: int) -> Iterator[list[Level]]:
    """Yields levels that add these products as the tree does."""
    sums = follower.sums
    if follower.follows([], products):
        yield []
    if most == 0 or len(products) < 2:
        return
    for level in _deals(sums, products):
        parts = deal(level, products)
        weights = [sum(sums.weights[x] for x in part) for part in parts]
        if not all(len(part) < 2 or weight in sums.sums for part, weight in zip(parts, weights)):
            continue
        fold = follower.rule(weights)
        if fold is None:
            continue
        below = islice(_levels(follower, parts[0], most - 1), MOST_FORMS)
        fitting = [x for x in below if all(follower.follows(x, part) for part in parts)]
        if fitting:
            yield [{**level, **fold}, *min(fitting, key=cost)]


def _listed(follower: _Follower) -> Iterator[list[Level]]:
    """Yields levels of which the first lists its parts: parts of any lengths, each the largest that the levels below
    can add."""
    sums = follower.sums
    tried: list[list[Level]] = []
    for node in islice(sums.above(0), MOST_SCATTERED):
        products = sums.products(node)
        if products != list(range(len(products))) or len(products) in (1, sums.k):
            continue
        for lower in islice(_levels(follower, products, MOST_LEVELS - 1), 2):
            if lower in tried:
                continue
            tried.append(lower)
            parts = _largest(follower, lower)
            if not 1 < len(parts) <= MOST_LISTED:
                continue
            listed = {"deal": "list", "list": [_ranges(part) for part in parts]}
            fold = follower.rule([sum(sums.weights[x] for x in part) for part in parts])
            if fold is not None:
                yield [{**listed, **fold}, *lower]


def _largest(follower: _Follower, lower: list[Level]) -> list[list[int]]:
    sums = follower.sums
    found: list[list[int]] = []
    work = [sums.root]
    for _ in range(MOST_LISTED):
        if not work:
            return sorted(found)
        node = work.pop()
        products = sums.products(node)
        follower.made = 0
        if follower.follows(lower, products) and follower.made == sums.below[node]:
            found.append(products)
        else:
            work.extend(sums.parts[node - sums.k])
    return []


def _chains(follower: _Follower) -> Iterator[list[Level]]:
    """Yields a list of chains, each with its own order of products."""
    for downward in (False, True):
        parts = sorted(_largest_chains(follower.sums, downward), key=min)
        if len(parts) > MOST_LISTED:
            return
        listed = {"deal": "list", "list": [_ranges(part) for part in parts]}
        fold = follower.rule([sum(follower.sums.weights[x] for x in part) for part in parts])
        if fold is not None:
            yield [{**listed, **fold}]


def _largest_chains(sums: Sums, downward: bool) -> Iterator[list[int]]:
    """Yields the largest chains of two-term sums, as lists of their products in the order of addition. No sum shows
    which of the first two products comes first; ``downward`` puts the greater one first."""
    order: list[list[int] | None] = [[x] for x in range(sums.k)]
    for below in sums.parts:
        x, y = sorted(below, key=lambda node: -sums.size[node])[:2]
        start = order[x]
        if len(below) != 2 or sums.size[y] != 1 or start is None:
            order.append(None)
        else:
            order.append(sorted((x, y), reverse=downward) if len(start) == 1 else [*start, y])
    work = [sums.root]
    while work:
        node = work.pop()
        found = order[node]
        if found is not None:
            yield found
        else:
            work.extend(sums.parts[node - sums.k])


def _ranges(products: Sequence[int]) -> list[list[int]]:
    """Returns the products, in order, as ranges [first, end] of consecutive numbers, without end itself."""
    ranges: list[list[int]] = []
    for x in products:
        if ranges and ranges[-1][1] == x:
            ranges[-1][1] = x + 1
        else:
            ranges.append([x, x + 1])
    return ranges


def plan_members(sums: Sums) -> Iterator[dict[str, Any]]:
    """Yields plans that add as the tree does, the simplest first: the levels, and the products of a group."""
    follower = _Follower(sums)
    group = {"group": follower.group} if sums.fused() else {}
    seen: list[list[Level]] = []
    for levels in chain(_levels(follower, range(sums.k), MOST_LEVELS), _listed(follower), _chains(follower)):
        follower.made = 0
        if levels not in seen and follower.follows(levels, range(sums.k)) and follower.made == len(sums.parts):
            seen.append(levels)
            yield {"sum": levels, **group}
