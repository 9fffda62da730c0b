#!/usr/bin/env bash
# The unit of NVIDIA GPUs compiles for every target, and the tensor instructions that are meant are in the machine code.
# Usage: cuda_unit.sh NVCC SOURCE; without nvcc or cuobjdump the status is 77.
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

# has TARGET INSTRUCTION...: exactly these, in alphabetical order.
has() {
  local target=$1 wanted got
  shift
  wanted=$(printf '%s\n' "$@" | sort)
  if ! "$nvcc" -std=c++17 -Werror all-warnings -diag-suppress 177 -arch="sm_$target" -cubin -I "$source/include" \
    -o "$work/unit.cubin" "$source/src/unit/cuda/mma.cu" 2>"$work/log"; then
    echo "FAILED  sm_$target: $(head -n 3 "$work/log")"
    failed=1
    return
  fi
  got=$(cuobjdump -sass "$work/unit.cubin" | grep -oE '\b[A-Z]+MMA\.[0-9]+[.A-Z0-9]*' | sort -u)
  if [ "$got" = "$wanted" ]; then
    echo "ok      sm_$target: $(wc -l <<<"$got") tensor instructions"
  else
    echo "FAILED  sm_$target:"
    diff <(echo "$wanted") <(echo "$got")
    failed=1
  fi
}

half=(HMMA.16816.F16 HMMA.16816.F32 HMMA.16816.F32.BF16 HMMA.1684.F32.TF32 HMMA.1688.F16 HMMA.1688.F32
  HMMA.1688.F32.BF16 HMMA.1688.F32.TF32)
fp8=()
for shape in 16816 16832; do
  for output in F16 F32; do
    for pair in E4M3.E4M3 E4M3.E5M2 E5M2.E4M3 E5M2.E5M2; do fp8+=("QMMA.$shape.$output.$pair"); done
  done
done
has 75 HMMA.1688.F16 HMMA.1688.F32
has 80 DMMA.884 "${half[@]}"
has 86 DMMA.884 "${half[@]}"
has 89 DMMA.884 "${half[@]}" "${fp8[@]}"
has 90a DMMA.8 DMMA.16 "${half[@]}"
has 100a DMMA.8 "${half[@]}"
has 120a DMMA.8 "${half[@]}" "${fp8[@]}"
exit $failed
