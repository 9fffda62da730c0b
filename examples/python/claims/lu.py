"""Blocked LU factorisation with a matrix unit's products; test matrices; triangular solves.

All operations are on single elements in a fixed order, so that the bits are the same on every machine.
"""

import numpy as np


def factor(a, block, update):
    """Factors P A = L U with partial pivoting, right-looking. Returns L and U in one array, and the order of rows.

    Panels are in A's precision. The trailing matrix c becomes update(c, lower, upper), c - lower upper.
    """
    a, n = a.copy(), len(a)
    order = np.arange(n)
    for first in range(0, n, block):
        end = min(first + block, n)
        for j in range(first, end):
            pivot = j + np.argmax(np.abs(a[j:, j]))
            a[[j, pivot]], order[[j, pivot]] = a[[pivot, j]], order[[pivot, j]]
            a[j + 1 :, j] /= a[j, j]
            a[j + 1 :, j + 1 : end] -= np.outer(a[j + 1 :, j], a[j, j + 1 : end])
        for j in range(first, end):
            a[j + 1 : end, end:] -= np.outer(a[j + 1 : end, j], a[j, end:])
        if end < n:
            a[end:, end:] = update(a[end:, end:], a[end:, first:end], a[first:end, end:])
    return a, order


def solve(lu, b):
    """Returns U^-1 L^-1 b."""
    x = b.copy()
    for j in range(len(x)):
        x[j + 1 :] -= lu[j + 1 :, j] * x[j]
    for j in reversed(range(len(x))):
        x[j] /= lu[j, j]
        x[:j] -= lu[:j, j] * x[j]
    return x


def times(a, x):
    return (a * x).sum(axis=1)


def orthogonal(n, generator):
    """Returns a product of n Householder reflections of random vectors."""
    q = np.eye(n)
    for _ in range(n):
        v = generator.standard_normal(n)
        v /= np.sqrt((v * v).sum())
        q -= np.outer(2 * times(q, v), v)
    return q


def with_condition(n, condition, generator):
    """Returns a matrix with singular values from 1 to 1 / condition in geometric progression."""
    left, right = orthogonal(n, generator), orthogonal(n, generator)
    scaled = left * condition ** (-np.arange(n) / (n - 1))
    return np.stack([times(right, row) for row in scaled])
