#!/usr/bin/env bash
# mma.sync, wgmma and tcgen05, dense and sparse, of the unit of NVIDIA GPUs on emulated warps (tests/warp). The unit
# gathers operands and results from registers, shared memory and tensor memory; they must equal the operands it was
# given and the models' results. Covers every instruction of mma; for wgmma and tcgen05, each size of elements and kind
# of output. Without clang++ the status is 77.
# Usage: cuda_layout.sh CLANG++ SOURCE SOFTMMA LIBRARY
set -u
usage='usage: cuda_layout.sh CLANG++ SOURCE SOFTMMA LIBRARY'
compiler=${1:?$usage} source=${2:?$usage} softmma=${3:?$usage} library=${4:?$usage}
if ! command -v "$compiler" >/dev/null; then
  echo '**********************************************************************'
  echo 'SKIPPED: clang++ is not there;'
  echo "the layouts of NVIDIA's matrix instructions were NOT emulated."
  echo '**********************************************************************'
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# compile CAPABILITY[:TARGET] ARCHITECTURE FAMILY...: TARGET is that of the machine code
compile() {
  local capability=${1%:*} target=${1#*:} architecture=$2 family has=()
  shift 2
  rm -f "$work"/*.o
  for family in "$@"; do has+=("-DSMMA_CUDA_${family^^}"); done
  for family in "$@" unit; do
    "$compiler" -x c++ -std=c++17 -O0 -fPIC -Wall -Wextra -Werror "-DEMULATED_CAPABILITY=$capability" \
      "-DEMULATED_TARGET=$target" "-DEMULATED=\"$architecture\"" "${has[@]}" -I "$source/include" -include "$source/tests/warp/cuda.h" -c \
      -o "$work/$family.o" "$source/src/unit/cuda/$family.cu" || return
  done
  "$compiler" -shared -o "$work/$architecture.so" "$work"/*.o "$library" "-Wl,-rpath,$(dirname "$library")"
}

# judge ARCHITECTURE CAMPAIGN...
judge() {
  local architecture=$1
  shift
  if "$softmma" test --unit "plugin:$work/$architecture.so" --on "$architecture" --rows 16 "$@" \
    >"$work/report" 2>&1; then
    echo "ok      $architecture${2:+ $2}: $(tail -n 1 "$work/report")"
  else
    echo "FAILED  $architecture${2:+ $2}"
    cat "$work/report"
    failed=1
  fi
}

for each in '90 hopper mma wgmma' '100 blackwell mma tcgen05' '120 rtx-blackwell mma mma_sp mma_narrow' \
  '89:80 ada mma' '103 blackwell-ultra mma tcgen05' '110 thor mma tcgen05'; do
  read -r -a words <<<"$each"
  compile "${words[@]}" >"$work/report" 2>&1 || {
    cat "$work/report"
    exit 1
  }
done

# RTX Blackwell has every mma instruction except those of FP64 with 16 rows, which are tested as Hopper's. For wgmma
# and tcgen05, one instruction is tested for each size of elements and kind of output.
judge rtx-blackwell
for instruction in mma.m16n8k{4,8,16}.f64.f64.f64.f64 \
  wgmma.m64n8k16.f32.bf16.bf16 wgmma.m64n24k16.f16.f16.f16 wgmma.m64n16k8.f32.tf32.tf32 wgmma.m64n8k32.f16.e4m3.e5m2 \
  wgmma.m64n8k32.s32.u8.s8 wgmma.sp.m64n8k32.f32.bf16.bf16 wgmma.sp.m64n24k32.f16.f16.f16 \
  wgmma.sp.m64n16k16.f32.tf32.tf32 wgmma.sp.m64n8k64.f16.e4m3.e5m2 wgmma.sp.m64n32k64.satfinite.s32.s8.u8; do
  judge hopper --instr "$instruction"
done
for instruction in tcgen05.m64n24k16.f16.f16.f16 tcgen05.m128n16k8.f32.tf32.tf32 tcgen05.m64n8k32.f32.e4m3.e2m3 \
  tcgen05.m128n16k32.f16.e2m1.e3m2 tcgen05.m64n8k32.satfinite.s32.s8.u8 \
  tcgen05.m128n8k32.block32.f32.e2m3.e2m1.ue8m0 tcgen05.m128n8k64.block32.f32.e2m1.e2m1.ue8m0 \
  tcgen05.m128n8k64.block16.f32.e2m1.e2m1.ue4m3 tcgen05.sp.m64n8k32.f32.bf16.bf16 tcgen05.sp.m128n16k32.f16.f16.f16 \
  tcgen05.sp.m64n8k16.f32.tf32.tf32 tcgen05.sp.m128n16k64.f32.e5m2.e2m1 tcgen05.sp.m64n24k64.f16.e3m2.e2m3 \
  tcgen05.sp.m128n16k64.s32.u8.s8 tcgen05.sp.m128n16k64.block32.f32.e2m3.e5m2.ue8m0 \
  tcgen05.sp.m128n8k128.block32.f32.e2m1.e2m1.ue8m0 tcgen05.sp.m128n8k128.block16.f32.e2m1.e2m1.ue4m3; do
  judge blackwell --instr "$instruction"
done
judge blackwell-ultra --instr tcgen05.m64n8k16.f32.bf16.bf16
judge thor --instr tcgen05.m64n8k16.f32.bf16.bf16

# An Ada GPU with code for sm_80 computes what Ampere has, and refuses FP8, whose kernels are empty there.
judge ada --instr mma.m16n8k16.f32.f16.f16.f32
refuses() { # MESSAGE OPTION...
  local message=$1
  shift
  if ! "$softmma" test --rows 16 "$@" >"$work/report" 2>&1 && grep -qF -- "$message" "$work/report"; then
    echo "ok      refused: $message"
  else
    echo "FAILED  $*"
    cat "$work/report"
    failed=1
  fi
}
refuses 'the module was built without it (for sm_80, not sm_89)' --unit "plugin:$work/ada.so" --on ada \
  --instr mma.m16n8k32.f32.e4m3.e4m3.f32
for number in 1 -1 4294967296 99999999999999999999; do
  refuses "there is no GPU $number; there are 1, from 0 on" --unit "plugin:$work/ada.so:$number" --on ada
done
for number in '' x 0x 1.5; do
  refuses "'$number' is no number of a GPU" --unit "plugin:$work/ada.so:$number" --on ada
done
exit $failed
