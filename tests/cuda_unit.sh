#!/usr/bin/env bash
# The module of NVIDIA GPUs builds, and its machine code has the intended tensor instructions for every target. Without
# nvcc or cuobjdump the status is 77.
# Usage: cuda_unit.sh NVCC SOURCE
set -u
skip() {
  echo '**********************************************************************'
  echo "SKIPPED: $1;"
  echo 'the unit of NVIDIA GPUs was NOT compiled.'
  echo '**********************************************************************'
  exit 77
}
nvcc=${1:?usage: cuda_unit.sh NVCC SOURCE} source=${2:?usage: cuda_unit.sh NVCC SOURCE}
command -v "$nvcc" >/dev/null || skip 'nvcc is not there'
command -v cuobjdump >/dev/null || skip 'cuobjdump is not there'
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

cmake -S "$source" -B "$work" -DSOFTMMA_CUDA=ON -DNVCC="$(command -v "$nvcc")" -DCMAKE_INSTALL_LIBDIR=lib \
  >"$work/log" 2>&1 && cmake --build "$work" --target cuda_unit -j 2 >>"$work/log" 2>&1 || {
  tail -n 20 "$work/log"
  exit 1
}

# has TARGET INSTRUCTION...: checks that the target has exactly these instructions
has() {
  local target=$1 wanted got
  shift
  wanted=$(printf '%s\n' "$@" | sort -u)
  got=$(cuobjdump -sass -arch "sm_$target" "$work/lib/softmma/softmma-unit-cuda.so" |
    grep -oE '\b(UTC)?[A-Z]MMA(\.SF)?(\.[0-9x]+)?[.A-Z0-9]*|\b[HQI]GMMA(\.SP)?\.[0-9x]+[.A-Z0-9]*' | sort -u)
  if [ "$got" = "$wanted" ]; then
    echo "ok      sm_$target: $(wc -l <<<"$got") tensor instructions"
  else
    echo "FAILED  sm_$target:"
    diff <(echo "$wanted") <(echo "$got")
    failed=1
  fi
}

# pairs BEFORE AFTER FORMAT...: prints a name for every pair of formats
pairs() {
  local before=$1 after=$2 a b
  shift 2
  for a in "$@"; do
    for b in "$@"; do echo "$before.$a.$b$after"; done
  done
}

half=(HMMA.16816.F16 HMMA.16816.F32 HMMA.16816.F32.BF16 HMMA.1684.F32.TF32 HMMA.1688.F16 HMMA.1688.F32
  HMMA.1688.F32.BF16 HMMA.1688.F32.TF32)
mapfile -t fp8 < <(for shape in 16816 16832; do
  for output in F16 F32; do pairs "QMMA.$shape.$output" '' E4M3 E5M2; done
done)
mapfile -t narrow < <(for output in F16 F32; do pairs "QMMA.16832.$output" '' E4M3 E5M2 E3M2 E2M3 E2M1; done
  pairs QMMA.SF.16832.F32 .E8 E4M3 E5M2 E3M2 E2M3 E2M1)
mapfile -t warp_group < <(for n in {8..256..8}; do
  echo "HGMMA.64x${n}x16.F16 HGMMA.64x${n}x16.F32 HGMMA.64x${n}x16.F32.BF16 HGMMA.64x${n}x8.F32.TF32" | xargs -n 1
  for output in F16 F32; do pairs "QGMMA.64x${n}x32.$output" '' E4M3 E5M2; done
done)
integers() { pairs "$1" '' S8 U8 && pairs "$1" .SAT S8 U8; }
integers_of_4() { pairs "$1" '' S4 U4 && pairs "$1" .SAT S4 U4; }
# 4-bit integers before Hopper; from Hopper on the assembler widens them to 8 bits.
mapfile -t integers_8_of_4 < <(integers_of_4 IMMA.8832)
mapfile -t all_of_4 < <(for shape in 8832 16832 16864; do integers_of_4 "IMMA.$shape"; done)
# Sparse instructions: all targets from 80 on have `sparse`. Only those before Hopper have sparse instructions for 4-bit
# integers.
half_sp=(HMMA.SP.{16816,16832}.{F16,F32,F32.BF16} HMMA.SP.{1688,16816}.F32.TF32)
mapfile -t integers_sp < <(integers IMMA.SP.16832 && integers IMMA.SP.16864)
mapfile -t integers_of_4_sp < <(integers_of_4 IMMA.SP.16864 && integers_of_4 IMMA.SP.168128)
sparse=("${half_sp[@]}" "${integers_sp[@]}")
mapfile -t fp8_sp < <(pairs QMMA.SP.16864.F32 '' E4M3 E5M2)
mapfile -t narrow_sp < <(for output in F16 F32; do pairs "QMMA.SP.16864.$output" '' E4M3 E5M2 E3M2 E2M3 E2M1; done)
mapfile -t warp_group_sp < <(for n in {8..256..8}; do
  printf '%s\n' "HGMMA.SP.64x${n}x32".{F16,F32,F32.BF16} "HGMMA.SP.64x${n}x16.F32.TF32"
  for output in F16 F32; do pairs "QGMMA.SP.64x${n}x64.$output" '' E4M3 E5M2; done
done
for n in 8 16 24 {32..256..16}; do integers "IGMMA.SP.64x${n}x64"; done)
# directed NAME: prints the FP64 instruction with each rounding mode.
directed() { printf '%s\n' "$1" "$1".{RZ,RM,RP}; }
mapfile -t fp64 < <(directed DMMA.884)
mapfile -t fp64_8x8x4 < <(directed DMMA.8x8x4)
mapfile -t fp64_of_hopper < <(for shape in 8x8x4 16x8x4 16x8x8 16x8x16; do directed "DMMA.$shape"; done)
mapfile -t integers_8 < <(integers IMMA.8816)
mapfile -t integers < <(integers IMMA.16816 && integers IMMA.16832)
mapfile -t integers_of_warp_group < <(for n in 8 16 24 {32..256..16}; do integers "IGMMA.64x${n}x32"; done)
release=$("$nvcc" --version | sed -nE 's/.*release ([0-9]+)\.([0-9]+),.*/\1\2/p')
[ "$release" -lt 131 ] || narrow+=(OMMA.SF.16864.F32.E2M1.E2M1.E8.4X)
bits() { for shape in 88128 168128 168256; do printf 'BMMA.%s.%s.POPC\n' "$shape" "$1"; done; }
mapfile -t and < <(bits AND)
mapfile -t and_xor < <(bits AND && bits XOR)
has 75 BMMA.88128.XOR.POPC HMMA.1688.F16 HMMA.1688.F32 HMMA.884.F16.F16.STEP{0,1} HMMA.884.F32.{F16,F32}.STEP{0..3} \
  "${integers_8[@]}" "${integers_8_of_4[@]}"
for target in 80 86; do
  has $target "${fp64[@]}" "${half[@]}" "${integers_8[@]}" "${integers[@]}" "${all_of_4[@]}" "${and_xor[@]}" \
    "${sparse[@]}" "${integers_of_4_sp[@]}"
done
has 89 "${fp64[@]}" "${half[@]}" "${fp8[@]}" "${integers_8[@]}" "${integers[@]}" "${all_of_4[@]}" "${and_xor[@]}" \
  "${sparse[@]}" "${integers_of_4_sp[@]}" "${fp8_sp[@]}"
has 90a "${and[@]}" "${fp64_of_hopper[@]}" "${half[@]}" "${warp_group[@]}" "${integers_8[@]}" \
  "${integers[@]}" "${integers_of_warp_group[@]}" "${sparse[@]}" "${warp_group_sp[@]}"
has 100a "${fp64_8x8x4[@]}" "${half[@]}" UTCHMMA UTCQMMA UTCOMMA UTCOMMA.4X UTCIMMA "${integers[@]}" "${sparse[@]}"
has 120a "${fp64_8x8x4[@]}" "${half[@]}" "${fp8[@]}" "${narrow[@]}" "${integers[@]}" "${sparse[@]}" \
  "${narrow_sp[@]}" OMMA.SF.16864.F32.E2M1.E2M1.E8 OMMA.SF.16864.F32.E2M1.E2M1.UE4M3.4X
exit $failed
