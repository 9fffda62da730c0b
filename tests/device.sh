#!/usr/bin/env bash
# What products on a device say, and leave, where it cannot be used; by the tests' own driver. Usage: device.sh SOFTMMA
set -u
export LC_ALL=C
softmma=$(realpath "${1:?usage: device.sh SOFTMMA}")
source_directory=$(realpath "$(dirname "$0")/..")
# shellcheck source=tests/judging.sh
source "$source_directory/tests/judging.sh"
python3 - <<'END'
import struct

values = struct.pack("<16e", *range(16)) * 4
for name, shape in (("a", "(4, 16)"), ("b", "(16, 4)")):
    head = f"{{'descr': '<f2', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    with open(name + ".npy", "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + values)
END
product=(gemm --on A100 --in f16 a.npy b.npy -o d.npy --kernel)
gives 'a product' 0 'opencl kernel' "${product[@]}" opencl
gives 'by the device of a number' 0 'opencl:0 kernel' "${product[@]}" opencl:0
rm -f d.npy
fails 'no such number' '--kernel: there is no device 1; there is 1, from 0 on$' "${product[@]}" opencl:1
fails 'no number' "--kernel: this CPU has no kernel 'opencl:x'; it has .*, core; 'softmma version' lists devices, too$" \
  "${product[@]}" opencl:x
SOFTMMA_HOST_MEMORY=1000 fails 'too little memory' '^softmma: this CPU has too little memory for 64 rows and columns$' \
  "${product[@]}" opencl
SOFTMMA_HOST_FAILS=4 fails 'a lost device' '^softmma: the device is not available any more$' "${product[@]}" opencl
SOFTMMA_HOST_FAILS=10 fails 'lost later' '^softmma: the device is not available any more$' "${product[@]}" opencl
SOFTMMA_HOST_WRONG=1 fails 'a device that computes wrong' \
  '^softmma: this CPU computes wrong: 1 of 2880 results of its check differ; it is not used$' "${product[@]}" opencl
SOFTMMA_ENGINES=/nowhere fails 'no module' 'softmma-engine-opencl.so is not there; SOFTMMA_ENGINES can name its folder$' \
  "${product[@]}" opencl
SOFTMMA_HOST_ABORTS=1 gives 'a driver that ends processes' 0 \
  '^opencl +not to be had: a process that asked its libraries for devices was ended by signal 6 ' version
check 'nothing is written' test ! -e d.npy
finish
