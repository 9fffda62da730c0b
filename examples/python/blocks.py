"""Multiplies matrices that exceed memory with Dask, with the same bits as one `softmma.matmul`.

    python examples/python/blocks.py

A, B and D are .npy files. Each block of D is a chain of small products: the result for one part of K is C of the next
part, in order, as inside one product. So no bit depends on the block sizes; a block's K must be a multiple of the
instruction's. A worker holds one block of each of A, B and D at a time. Adding blocks of K in another order, as
`dask.array.matmul` does, or in FP32 after the products, would give other bits.

The example starts a local Dask scheduler with two processes. For a cluster, give `Client` the address of its scheduler,
and put the files where all workers can access them.
"""

import tempfile
from pathlib import Path

import dask
import dask.array as da
import numpy as np
from dask.distributed import Client, LocalCluster

import softmma

ON, INSTR = "H100", "wgmma.m64n256k16.f32.f16.f16"


class File:
    """A .npy file as an array for Dask. Workers get its name, and read and write the blocks they need."""

    def __init__(self, path):
        whole = np.load(path, mmap_mode="r")
        self.path, self.shape, self.dtype, self.ndim = path, whole.shape, whole.dtype, whole.ndim

    def __getitem__(self, place):
        return np.array(np.load(self.path, mmap_mode="r")[place])

    def __setitem__(self, place, block):
        whole = np.load(self.path, mmap_mode="r+")
        whole[place] = block
        whole.flush()


def product(a, b, c=None):
    return softmma.matmul(a, b, c, on=ON, instr=INSTR, threads=1)


def matmul(a, b):
    """Returns D of two Dask arrays, in A's blocks of M and B's blocks of N. K is in A's blocks, in order."""
    k = softmma.instruction(ON, INSTR).k
    if any(size % k for size in a.chunks[1][:-1]):
        raise ValueError(f"blocks along K must be multiples of {k}, the instruction's K: {a.chunks[1]}")
    b = b.rechunk({0: a.chunks[1]})
    blocks_a, blocks_b, step = a.to_delayed(), b.to_delayed(), dask.delayed(product, pure=True)
    rows = []
    for i, height in enumerate(a.chunks[0]):
        row = []
        for j, width in enumerate(b.chunks[1]):
            d = step(blocks_a[i, 0], blocks_b[0, j])
            for n in range(1, len(a.chunks[1])):
                d = step(blocks_a[i, n], blocks_b[n, j], d)
            row.append(da.from_delayed(d, (height, width), np.float32))
        rows.append(row)
    return da.block(rows)


def multiply_files(folder, block=(128, 128, 256)):
    """Computes folder/D.npy = A.npy B.npy in blocks of (rows, columns, K)."""
    m, n, k = block
    a, b = (da.from_array(File(folder / name), chunks) for name, chunks in (("A.npy", (m, k)), ("B.npy", (k, n))))
    np.lib.format.open_memmap(folder / "D.npy", "w+", np.float32, (a.shape[0], b.shape[1])).flush()
    da.store(matmul(a, b), File(folder / "D.npy"), lock=False)  # blocks are disjoint


def main():
    generator = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.save(folder / "A.npy", generator.standard_normal((300, 1000)).astype(np.float16))
        np.save(folder / "B.npy", generator.standard_normal((1000, 400)).astype(np.float16))
        with (
            LocalCluster(n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None) as cluster,
            Client(cluster) as client,
        ):
            multiply_files(folder)
            workers = len(client.scheduler_info()["workers"])
        whole = softmma.matmul(np.load(folder / "A.npy"), np.load(folder / "B.npy"), on=ON, instr=INSTR)
        blocks = np.load(folder / "D.npy")
        different = np.count_nonzero(whole.view(np.uint32) != blocks.view(np.uint32))
        print(f"{blocks.shape[0]} x {blocks.shape[1]}, K = 1000, by {workers} workers: {different} elements differ in a bit")


if __name__ == "__main__":
    main()
