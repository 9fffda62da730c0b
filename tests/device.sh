#!/usr/bin/env bash
# Tests the messages, and that no files remain, when the device for a product cannot be used. Also tests the arguments
# with which bench calls cuBLAS. Uses drivers that are part of the tests.
# Usage: device.sh SOFTMMA CUBLAS
set -u
export LC_ALL=C
softmma=$(realpath "${1:?usage: device.sh SOFTMMA CUBLAS}")
cublas=$(realpath "${2:?usage: device.sh SOFTMMA CUBLAS}")
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
SOFTMMA_HOST_LOST=4 fails 'a lost device' '^softmma: the device is not available any more$' "${product[@]}" opencl
SOFTMMA_HOST_LOST=16 fails 'lost later' '^softmma: the device is not available any more$' "${product[@]}" opencl
SOFTMMA_HOST_WRONG=1 fails 'a device that computes wrong' \
  '^softmma: this CPU computes wrong: 1 of 2880 results of its check differ; it is not used$' "${product[@]}" opencl
SOFTMMA_ENGINES=/nowhere fails 'no module' 'softmma-engine-opencl.so is not there; SOFTMMA_ENGINES can name its folder$' \
  "${product[@]}" opencl
SOFTMMA_HOST_NONE=1 fails 'no device' "^softmma: --kernel: the tests' driver has no device$" "${product[@]}" opencl
for kernel in opencl cuda:0; do
  SOFTMMA_HOST_NONE=1 fails "bench without a device, $kernel" "^softmma: --kernel: the tests' driver has no device$" \
    bench --kernel $kernel
  SOFTMMA_ENGINES=/nowhere fails "bench without the module of $kernel" '^softmma: --kernel: softmma-engine-.* is not there' \
    bench --kernel $kernel --rows 100
done
SOFTMMA_HOST_NONE=1 gives 'a driver without devices' 0 "^opencl +not available: the tests' driver has no device$" version
SOFTMMA_HOST_NO_F64=1 gives 'a device without binary64' 0 'opencl kernel' "${product[@]}" opencl
SOFTMMA_HOST_NO_F64=1 gives 'which is said' 0 '^opencl:0 .*, no FP64: slow' version
rm -f d.npy
SOFTMMA_HOST_ABORTS=1 gives 'a driver that ends processes' 0 \
  '^opencl +not available: a process that searched its libraries for devices was ended by signal 6 ' version
check 'nothing is written' test ! -e d.npy

bench=(bench --kernel cuda --blas "$cublas" --repetitions 2 --shape 32x48x64)
line='[0-9.]+ [mu]s( +[0-9.]+){4}'
gives 'bench beside cuBLAS' 0 "^H100 +wgmma.* cuda +$line +[0-9.]+ +[0-9.]+$" "${bench[@]}" --on H100 --in f16
check 'it says which' grep -q '^baseline  cuBLAS 13.0.2: SGEMM, DGEMM for f64; own: ' in/stdout
# Checks one call before the rounds, and one in each round.
called() {
  check "cuBLAS is called for $1" [ "$(grep -cx "$2 scaled 1 0" in/stderr)" -eq 3 ]
}
called SGEMM 'cublasGemmEx 48 32 64 types 0 0 0 apart 64 64 48 by 68'
called f16 'cublasGemmEx 48 32 64 types 2 2 0 apart 64 64 48 by 68'
ends 0 "${bench[@]}" --on H100 --in bf16,tf32,f64,s8,e4m3,e5m2
called bf16 'cublasGemmEx 48 32 64 types 14 14 0 apart 64 64 48 by 68'
called tf32 'cublasGemmEx 48 32 64 types 0 0 0 apart 64 64 48 by 77'
called DGEMM 'cublasGemmEx 48 32 64 types 1 1 1 apart 64 64 48 by 70'
called s8 'cublasGemmEx 48 32 64 types 3 3 10 apart 64 64 48 by 72'
called e4m3 'cublasLtMatmul 48 32 64 types 28 28 0 apart 64 64 48'
called e5m2 'cublasLtMatmul 48 32 64 types 29 29 0 apart 64 64 48'
number='[0-9.e+-]+'
gives 'bench beside cuBLAS --json' 0 "\"baseline\": \"cuBLAS 13.0.2 SGEMM\", \"baseline_gmacs\": $number, \"ratio\": \
$number, \"kernel_seconds\": $number, \"own_gmacs\": $number, \"own_ratio\": $number}" "${bench[@]}" --on A100 --in f16 --json
gives 'formats that cuBLAS has not' 0 "MI300X .* cuda +$line +- +-$" "${bench[@]}" --on MI300X --in fp8_e4m3fnuz
gives 'factors of blocks' 0 "B200 .* cuda +$line +- +-$" "${bench[@]}" --on B200 --in mxfp8_e4m3
gives 'shapes that cuBLAS has not' 0 'H100 .* +- +-$' "${bench[@]/32x48x64/2x3x5}" --on H100 --in e4m3
check 'and says so' grep -q 'note: nothing to compare e4m3 by e4m3 with: cuBLAS: it has no such product: status 15$' in/stderr
gives 'bench without cuBLAS' 0 'cuda +[0-9.]+ [mu]s +[0-9.]+ +[0-9.]+$' \
  bench --kernel cuda --blas none --repetitions 1 --size 16 --on A100 --in f16
gives 'rows on a device' 0 ' opencl +[0-9.]+ [mu]s +[0-9.]+ +[0-9.]+$' \
  bench --kernel opencl --rows 100 --repetitions 1 --on A100 --in f16
fails 'no cuBLAS' '--blas: none\.so: .*; name the file of cuBLAS, or none' bench --kernel cuda --blas none.so
fails 'another library' '--blas: no cublasLtGetVersion in it, so this is no cuBLAS' bench --kernel cuda --blas libm.so.6
finish
