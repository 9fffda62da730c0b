#!/usr/bin/env bash
# The code that CUDA's assembler generates for FP8 mma.sync, which rules are based on. Without nvcc or cuobjdump the
# status is 77.
# Usage: machine_code.sh NVCC
set -u
skip() {
  echo '**********************************************************************'
  echo "SKIPPED: $1;"
  echo 'the machine code of FP8 mma.sync was NOT looked at.'
  echo '**********************************************************************'
  exit 77
}
nvcc=${1:?usage: machine_code.sh NVCC}
command -v "$nvcc" >/dev/null || skip 'nvcc is not there'
command -v cuobjdump >/dev/null || skip 'cuobjdump is not there'
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# kernel K OUTPUT: prints one mma.sync with this K and f32 or f16 output
kernel() {
  local type=float results='"+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])' d='{%0,%1,%2,%3}' first=4
  local a='"r"(x[0]), "r"(x[1])' b='"r"(x[4])' operands
  [ "$2" = f16 ] && type=unsigned results='"+r"(d[0]), "+r"(d[1])' d='{%0,%1}' first=2
  operands="{%$first,%$((first + 1))}, {%$((first + 2))}"
  if [ "$1" -eq 32 ]; then
    a+=', "r"(x[2]), "r"(x[3])' b+=', "r"(x[5])'
    operands="{%$first,%$((first + 1)),%$((first + 2)),%$((first + 3))}, {%$((first + 4)),%$((first + 5))}"
  fi
  cat <<EOT
__global__ void one(const unsigned *from, $type *to) {
  unsigned x[6];
  $type d[4];
  for (int i = 0; i < 6; i++) x[i] = from[32 * i + threadIdx.x];
  for (int i = 0; i < 4; i++) d[i] = to[32 * i + threadIdx.x];
  asm volatile("mma.sync.aligned.m16n8k$1.row.col.$2.e4m3.e4m3.$2 $d, $operands, $d;" : $results : $a, $b);
  for (int i = 0; i < 4; i++) to[32 * i + threadIdx.x] = d[i];
}
EOT
}

# Prints the relevant operations, in order. HMMA is printed with the half of B's registers that was unpacked for it
# (four FP8 elements each), and with "zero" if it starts from zero.
operations() {
  cuobjdump -sass "$work/one.cubin" | sed -nE 's/^ *\/\*[0-9a-f]+\*\/ +([^;]*) ;.*/\1/p' | tr -d , | awk '
    { sub(/\.reuse/, "") }
    $1 ~ /UNPACK_B$/ { half[$2] = $3 ~ /\.H1$/ ? "upper" : "lower" }
    $1 ~ /^HMMA/ { print $1, half[$4] ($5 == "RZ" ? " zero" : "") }
    $1 ~ /^QMMA/ { print substr($1, 1, 14) }
    $1 ~ /^(FADD|HADD2)$/ { print $1 }' | uniq
}

# gives ARCHITECTURE K OUTPUT OPERATION...: compares the operations
gives() {
  local architecture=$1 k=$2 output=$3 wanted got
  shift 3
  wanted=$(printf '%s\n' "$@")
  kernel "$k" "$output" >"$work/one.cu"
  if ! "$nvcc" -arch="$architecture" -cubin -o "$work/one.cubin" "$work/one.cu" 2>"$work/log"; then
    echo "FAILED  $architecture K=$k $output: $(head -n 3 "$work/log")"
    failed=1
    return
  fi
  got=$(operations)
  if [ "$got" = "$wanted" ]; then
    echo "ok      $architecture K=$k $output: $(paste -sd, <<<"$got")"
  else
    echo "FAILED  $architecture K=$k $output: $(paste -sd, <<<"$got"), not $(paste -sd, <<<"$wanted")"
    failed=1
  fi
}

for architecture in sm_90a sm_100a; do
  gives $architecture 32 f32 'HMMA.16816.F32 lower zero' 'HMMA.16816.F32 upper' FADD
  gives $architecture 16 f32 'HMMA.1688.F32 lower zero' 'HMMA.1688.F32 upper' FADD
  gives $architecture 32 f16 'HMMA.16816.F16 lower zero' 'HMMA.16816.F16 upper' HADD2
  gives $architecture 16 f16 'HMMA.1688.F16 lower zero' 'HMMA.1688.F16 upper' HADD2
done
for architecture in sm_89 sm_120a; do
  gives $architecture 32 f32 QMMA.16832.F32
  gives $architecture 16 f32 QMMA.16816.F32
done
exit $failed
