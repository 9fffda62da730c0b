#!/usr/bin/env bash
# Tests a system that refuses to create threads. OpenMP's library would end the process with status 1. Instead, every
# command reports this with status 2, and computes with one thread if requested. The library computes with one thread.
# Usage: threads.sh SOFTMMA KERNEL_PROGRAM NO_THREADS_MODULE
set -u
export LC_ALL=C
usage='usage: threads.sh SOFTMMA KERNEL_PROGRAM NO_THREADS_MODULE'
softmma=$(realpath "${1:?$usage}") program=$(realpath "${2:?$usage}") module=$(realpath "${3:?$usage}")
source_directory=$(realpath "$(dirname "$0")/..")
data=$source_directory/examples/data
# shellcheck source=tests/judging.sh
source "$source_directory/tests/judging.sh"
volta=(--on V100 --instr HMMA.884.F32.F32)
product=("$data/digits.npy" "$data/digits-axes.npy")
export OMP_NUM_THREADS=3 GOMP_SPINCOUNT=0
"$softmma" vectors gen "${volta[@]}" --rows 5000 -o rows.txt
"$softmma" gemm --on H100 --in f16 "${product[@]}" -o D.npy >in/stdout 2>in/stderr

# refused ARGUMENT...: the status must be 2, and the last line must give the reason
refused() {
  LD_PRELOAD=$module check "$1 is refused threads: the status is 2" runs 2 "$@"
  check "$1 says so" grep -qE '^softmma: the system refuses to make [0-9]+ threads: .*OMP_NUM_THREADS=1' <(tail -n 1 in/stderr)
}

refused gemm --on H100 --in f16 "${product[@]}" -o E.npy
refused compare --on V100,H100 --in f16 "${product[@]}"
refused tolerance --on H100 --in f16 "${product[@]}"
refused match --on H100 --in f16 "${product[@]}" D.npy
refused verify rows.txt
refused coverage "${volta[@]}" --rows 5000
refused test --unit model --against model "${volta[@]}" --rows 5000
refused experiment accumulation --small --no-plot
"$softmma" vectors gen "${volta[@]}" --rows 60000 -o long.txt
"$softmma" custom H100:f16 -o unit.json
LD_PRELOAD=$module gives 'a row of a long file is read by one thread' 0 . explain long.txt --row 55000
LD_PRELOAD=$module gives '--threads 1 verifies' 0 . verify long.txt --threads 1
LD_PRELOAD=$module gives '--threads 1 multiplies' 0 '' gemm ./unit.json "${product[@]}" -o E.npy --threads 1
rm E.npy
check 'nothing is half-written' [ "$(find . -name 'E.npy*')" = '' ]
export OMP_NUM_THREADS=1
LD_PRELOAD=$module gives 'one thread verifies' 0 . verify rows.txt
LD_PRELOAD=$module gives 'one thread multiplies' 0 '' gemm --on H100 --in f16 "${product[@]}" -o E.npy
check 'the same bits' cmp D.npy E.npy
OMP_NUM_THREADS=3 LD_PRELOAD=$module "$program" check --kernel portable --outputs 1000 --few 1 --family T-FDPA >in/stdout 2>&1
check 'the library computes with one thread' [ $? -eq 0 ]
finish
