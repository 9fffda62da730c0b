#!/usr/bin/env bash
# softmma match, end to end: it finds the plans of given results, plans of libraries or others. `claims`: claims, and
# requests that are refused.
# Usage: match.sh SOFTMMA libraries|others|claims
set -u
export LC_ALL=C
softmma=$(realpath "${1:?usage: match.sh SOFTMMA libraries|others|claims}")
source_directory=$(realpath "$(dirname "$0")/..")
# shellcheck source=tests/judging.sh
source "$source_directory/tests/judging.sh"

# has FILTER: checks that the output is JSON for which jq's filter is true
has() { jq -e "$1" in/stdout >/dev/null; }

# Writes matrices of normal random numbers or integers, and changes single elements, without NumPy.
cat >make.py <<'PYTHON'
import random, struct, sys

def write(name, rows, columns, values, descr, code):
    head = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': ({rows}, {columns}), }}"
    head += ' ' * (-(len(head) + 11) % 64) + '\n'
    data = struct.pack(f'<{rows * columns}{code}', *values)
    open(name, 'wb').write(b'\x93NUMPY\x01\x00' + struct.pack('<H', len(head)) + head.encode() + data)

random.seed(7)
normal = lambda count: [random.gauss(0, 1) for _ in range(count)]
for k in (512, 520, 1032, 16):
    write(f'a{k}.npy', 24, k, normal(24 * k), '<f2', 'e')
    write(f'b{k}.npy', k, 20, normal(20 * k), '<f2', 'e')
write('c.npy', 24, 20, normal(480), '<f4', 'f')
write('row.npy', 1, 512, normal(512), '<f2', 'e')
write('bias.npy', 1, 20, normal(20), '<f4', 'f')
write('sa.npy', 24, 4, [abs(x) for x in normal(96)], '<f4', 'f')
write('sb.npy', 4, 20, [abs(x) for x in normal(80)], '<f4', 'f')
write('row-sa.npy', 24, 1, [3] * 24, '<f4', 'f')
write('row-sb.npy', 1, 20, [5] * 20, '<f4', 'f')
write('double-row.npy', 1, 512, normal(512), '<f8', 'd')
write('double-b.npy', 512, 20, normal(512 * 20), '<f8', 'd')
write('ones-a.npy', 24, 512, [random.randint(-2, 2) for _ in range(24 * 512)], '<f2', 'e')
write('ones-b.npy', 512, 20, [random.randint(-2, 2) for _ in range(512 * 20)], '<f2', 'e')
# Sums of 2048 products of 99 and 99 exceed 2^24.
write('large-a.npy', 4, 2048, [99] * 8192, '<f2', 'e')
write('large-b.npy', 2048, 4, [99] * 8192, '<f2', 'e')
# More columns than the block of D that is compared first, and numbers that FP32 cannot hold.
write('wide-a.npy', 9, 40, normal(360), '<f8', 'd')
write('wide-b.npy', 40, 200, normal(8000), '<f8', 'd')
write('wide-c.npy', 9, 200, normal(1800), '<f4', 'f')
# Products of 2^-160, which are no numbers of FP32.
write('small-a.npy', 4, 64, [2.0 ** -80] * 256, '<f4', 'f')
write('small-b.npy', 64, 4, [2.0 ** -80] * 256, '<f4', 'f')
# More rows than the block of D that is compared first.
write('tall-a.npy', 256, 64, normal(256 * 64), '<f2', 'e')
write('tall-b.npy', 64, 8, normal(64 * 8), '<f2', 'e')
write('third-a.npy', 24, 288, normal(24 * 288), '<f2', 'e')
write('third-b.npy', 288, 20, normal(288 * 20), '<f2', 'e')
PYTHON
python3 make.py

# changed FROM TO [FIRST] [COUNT]: copies a file, and flips the last bit of COUNT 4-byte elements, starting at element
# FIRST
changed() {
  python3 - "$@" <<'PYTHON'
import sys
source, target, first, count = sys.argv[1], sys.argv[2], *map(int, (sys.argv[3:] + ['30', '1'][len(sys.argv) - 3:]))
data = bytearray(open(source, 'rb').read())
head = len(data) - 480 * 4
for i in range(first, first + count):
    data[head + 4 * i] ^= 1
open(target, 'wb').write(data)
PYTHON
}

# planned NAME GPU IN K OUT OPTION...: writes plan.json, and d.npy computed with this plan of a library
planned() {
  local gpu=$2 in=$3 k=$4 out=$5
  runs 0 plan --on "$gpu" --in "$in" -m 24 -n 20 -k "$k" --out "$out" "${@:6}" && mv in/stdout plan.json &&
    runs 0 gemm --on "$gpu" --in "$in" --plan plan.json "a$k.npy" "b$k.npy" -o d.npy ||
    fail "$1" "$(cat in/stderr)"
}

# finds NAME GPU IN K OUT REGEX OPTION...: a library's plan must be found among all GPUs, with its name; tests one of
# every SOFTMMA_MATCH_EVERY plans
plans=0 every=${SOFTMMA_MATCH_EVERY:-1}
finds() {
  planned "$1" "$2" "$3" "$4" "$5" "${@:7}"
  plans=$((plans + 1))
  [ $((plans % every)) -eq 0 ] || return 0
  gives "$1" 0 "$6" match "a$4.npy" "b$4.npy" d.npy --on "$2,V100,MI300X" --in "$3" --out "$5"
  ends 0 match "a$4.npy" "b$4.npy" d.npy --in "$3" --out "$5" --on "$2" --claim plan.json
  check "$1: its claim" has '.equal and .difference.different == 0 and (.inputs.d.sha256 | length) == 64'
}

ends 0 gemm --on H100 --in f16 a512.npy b512.npy -o chain.npy

libraries() {
  gives 'one chain' 0 '^   one chain$' match a512.npy b512.npy chain.npy
  check 'and nothing else' grep -q '^nothing else fits$' in/stdout
  check 'on all that compute so' grep -q '^1  hopper wgmma.* blackwell tcgen05' in/stdout
  gives 'as JSON' 0 '"fits"' match a512.npy b512.npy chain.npy --json
  check 'with the plan, and bounds of the work' has '(.fits | length) == 1 and .fits[0].plan."softmma-plan" == 1 and
    .untried == 0 and .candidates < 60000 and .chain_products < 20000000'

  finds 'nvjet' H100 f16 512 f32 'cublaslt:13.1/H100 --algo 66 --stages 35 --splitk 3' \
    --as cublaslt:13.1 --algo 66 --stages 35 --splitk 3
  finds 'its lost tail' H100 f16 1032 f32 'cublaslt:13.1/H100 --algo 66 --stages 35 --splitk 16' \
    --as cublaslt:13.1 --algo 66 --stages 35 --splitk 16
  finds 'CUTLASS 2.x' H100 f16 520 f32 'cublaslt:13.1/H100 --algo 12 --stages 13 --splitk 3 --reduction 2' \
    --as cublaslt:13.1 --algo 12 --stages 13 --splitk 3 --reduction 2
  finds 'CUTLASS 2.x by eights' H100 f16 520 f32 'cublaslt:13.1/H100 --algo 12 --stages 0' \
    --as cublaslt:13.1 --algo 21 --stages 0
  ends 0 match a520.npy b520.npy d.npy --in f16 --on H100,A100
  check 'that is no kernel of nvjet' bash -c '! grep -q "algo 66" in/stdout'
  ends 2 plan --as cublaslt:13.1 --on H100 --instr mma.m16n8k8.f32.f16.f16.f32 -m 24 -n 20 -k 520 --algo 66 --stages 35
  check 'which does not multiply by mma.sync' grep -q 'algorithm 66 multiplies by wgmma on Hopper' in/stderr
  finds 'totals in FP16' GB200 f16 520 f16 'cublaslt:13.1/GB200 --algo 12 --stages 0 --splitk 4 --reduction 1' \
    --as cublaslt:13.1 --algo 12 --stages 0 --splitk 4 --reduction 1
  finds 'FP8 on an H100' H100 e4m3 512 f32 'cublaslt:12.8/H100 --algo 66 --stages 36' \
    --as cublaslt:12.8 --algo 66 --stages 36 --splitk 2
  finds 'FP8 on an RTX 4060' RTX4060 e4m3 520 bf16 'cublaslt:12.8/RTX4060 --algo .*--splitk 5 --custom' \
    --as cublaslt:12.8 --algo 60 --stages 15 --splitk 5 --custom 0
  finds '2xAcc' H100 e4m3 512 f32 'as cutlass:2xacc' --as cutlass:2xacc
  finds 'fast accumulation' H100 e4m3 512 f32 'as cutlass:fast' --as cutlass:fast

  ends 0 gemm --on H100 --in e4m3 --plan deepgemm a512.npy b512.npy --scale-a sa.npy --scale-b sb.npy -o d.npy
  gives 'DeepGEMM' 0 'as deepgemm' match a512.npy b512.npy d.npy --in e4m3 --out bf16 --scale-a sa.npy --scale-b sb.npy

  # CUDA cores.
  cp "$source_directory/examples/custom/fma32-f16.json" .
  ends 0 plan --as cublaslt:13.1/H100 --on ./fma32-f16.json -m 1 -n 20 -k 512 --algo 13 --custom 81
  mv in/stdout plan.json
  ends 0 gemm --on ./fma32-f16.json --plan plan.json row.npy b512.npy -o d.npy
  gives 'gemv' 0 'cublaslt:13.1/H100 --algo 13' match row.npy b512.npy d.npy --on H100
  # A custom unit with sums in FP32, as those of CUDA cores are.
  ends 0 custom --from H100:f16 -o wgmma.json
  gives 'gemv beside a custom unit' 0 'cublaslt:13.1/H100 --algo 13' match row.npy b512.npy d.npy --on ./wgmma.json
  # A custom unit with K = 1, as that of CUDA cores is.
  printf '%s' '{"softmma-unit": 1, "name": "one", "algorithm": "T-FDPA", "k": 1, "a": "f16", "b": "f16", "d": "f32",
    "block": 1, "alignment_bits": 25, "rounding": "toward-zero", "zero_exponent": -133}' >one.json
  ends 0 gemm --on ./fma32-f16.json a520.npy b520.npy -o d.npy
  gives 'one product at once' 0 '^1  CUDA cores fp32-fma$' match a520.npy b520.npy d.npy --on ./one.json
  ends 0 gemm --on ./one.json a520.npy b520.npy -o d.npy
  gives 'one product of a custom unit' 0 '^1 .*one$' match a520.npy b520.npy d.npy --on ./one.json
  # FP64.
  printf '%s' '{"softmma-unit": 1, "name": "fma", "algorithm": "FMA", "k": 1, "a": "f64", "b": "f64", "d": "f64"}' \
    >fma64.json
  ends 0 plan --as cublaslt:13.1/H100 --on ./fma64.json -m 1 -n 20 -k 512 --algo 13 --custom 81
  mv in/stdout plan.json
  ends 0 gemm --on ./fma64.json --plan plan.json double-row.npy double-b.npy -o d.npy
  gives 'gemv in FP64' 0 'cublaslt:13.1/H100 --algo 13' match double-row.npy double-b.npy d.npy --on H100
}

# own NAME REGEX PLAN OPTION...: finds a plan that is not from a library
own() {
  printf '%s' "$3" >plan.json
  runs 0 gemm --on A100 --in f16 --plan plan.json a520.npy b520.npy "${@:4}" -o d.npy || fail "$1" "$(cat in/stderr)"
  gives "$1" 0 "$2" match a520.npy b520.npy d.npy --on A100,H100 -o found.json "${@:4}"
  ends 0 gemm --on A100 --in f16 --plan found.json a520.npy b520.npy "${@:4}" -o again.npy
  check "$1: the plan that is written" cmp -s d.npy again.npy
}
others() {
  own 'halves' '8 slices, multiples of 8, by halves' '{"softmma-plan": 1, "name": "x", "sum": [
    {"deal": "contiguous", "parts": 8, "grain": 8, "fold": "halving"}]}'
  own 'slices in turn' '3 slices take tiles of 32 in turn, last first' '{"softmma-plan": 1, "name": "x", "sum": [
    {"deal": "interleaved", "parts": 3, "tile": 32, "fold": "last-first"}]}'
  own 'promotion' '9 slices, multiples of 64, in order' '{"softmma-plan": 1, "name": "x", "sum": [
    {"deal": "every", "k": 64, "from": "zero"}]}'
  own 'linear' 'one chain' '{"softmma-plan": 1, "name": "x", "sum": [], "epilogue": ["linear"]}' \
    -C c.npy --alpha 1.5 --beta 0.75
  own 'a bias' '2 slices' '{"softmma-plan": 1, "name": "x", "sum": [{"deal": "contiguous", "parts": 2}],
    "epilogue": ["bias"]}' --bias bias.npy
  ends 0 gemm --on V100 --in f16 a520.npy b520.npy -C c.npy -o d.npy
  gives 'C first' 0 'volta' match a520.npy b520.npy d.npy -C c.npy --on V100,A100,MI300X

  # Compositions, whose chains a kernel computes.
  ends 0 gemm Wormhole:f16 a520.npy b520.npy -C c.npy --split-k 3 -o d.npy
  gives 'a composition' 0 '^1  wormhole mvmul.hifi4.f32.f16.f16$' match a520.npy b520.npy d.npy -C c.npy --on Wormhole,Blackhole

  # Nothing fits.
  changed chain.npy one.npy
  gives 'one bit' 1 '^nearest; it differs in one element, \[1, 10\], by one unit in the last place:' \
    match a512.npy b512.npy one.npy --on H100
  check 'says none' grep -q '^none: no candidate gives all 480 elements$' in/stdout
  changed chain.npy rows.npy 420 60
  gives 'three rows' 1 '60 of 480 elements, all in rows 21 to 23' match a512.npy b512.npy rows.npy --on H100,V100
  check 'of one chain' grep -q '^   one chain$' in/stdout
  ends 0 gemm H100:f16 tall-a.npy tall-b.npy -o tall-d.npy
  python3 - <<'PYTHON'
data = bytearray(open('tall-d.npy', 'rb').read())
for i in range(50): # the last rows
    data[-4 * (5 * i + 1)] ^= 255
open('tall-d.npy', 'wb').write(data)
PYTHON
  gives 'a changed part below the first block' 1 '^nearest; it differs in 50 of 2048 elements' \
    match tall-a.npy tall-b.npy tall-d.npy --on H100:f16
  printf '%s' '{"softmma-plan": 1, "name": "x", "group": 4, "sum": [{"deal": "contiguous", "parts": 3, "grain": 8}]}' \
    >third.json
  ends 0 gemm H100:f16 third-a.npy third-b.npy --plan third.json -o third-d.npy
  gives 'groups in slices of a third' 0 '^   3 slices, multiples of .*; groups of 4' \
    match third-a.npy third-b.npy third-d.npy --on H100:f16
  ends 0 gemm H100:bf16 small-a.npy small-b.npy -o small-d.npy
  ends 0 match small-a.npy small-b.npy small-d.npy --on H100:bf16
  check 'sums that underflow are not exact' [ "$(grep -c 'every partial sum' in/stdout)" -eq 0 ]
  gives 'other matrices' 1 'D is not near the product' match a512.npy b512.npy c.npy --on H100
  ends 0 gemm --on H100 --in f16 --alpha 2.5 a512.npy b512.npy -o d.npy
  gives 'a factor' 1 'D is 2.5 times' match a512.npy b512.npy d.npy --on H100
  gives 'that is given' 0 'one chain' match a512.npy b512.npy d.npy --on H100 --alpha 2.5
  ends 1 match a512.npy b512.npy one.npy --on H100 --json
  check 'JSON: none' has '(.fits | length) == 0 and .near.difference.different == 1 and
    .near.difference.first == [1, 10]'

  # Plans that the data cannot distinguish.
  ends 0 gemm --on V100 --in f16 ones-a.npy ones-b.npy -o d.npy
  gives 'small integers' 0 'every partial sum of A B is a number of f32 here' match ones-a.npy ones-b.npy d.npy \
    --on V100,H100,MI300X
  check 'tell nothing apart' grep -q 'do not distinguish it from 1' in/stdout
  ends 0 gemm --on H100 --in f16 large-a.npy large-b.npy -o d.npy
  ends 0 match large-a.npy large-b.npy d.npy --on H100 --in f16 --json
  check 'sums of integers that f32 cannot hold' has '.exact == false'
  ends 0 gemm --on H100 --in f16 a16.npy b16.npy -o d.npy
  gives 'one instruction' 0 'one chain' match a16.npy b16.npy d.npy --on H100,V100
}

claims() {
  ends 0 match a512.npy b512.npy chain.npy --claim B200:f16
  check 'a target that computes the same' has '.equal and .arch == "blackwell" and .plan == null'
  ends 1 match a512.npy b512.npy chain.npy --claim V100
  check 'one that does not' has '(.equal | not) and .difference.d.hex != .difference.computed.hex'
  ends 1 match a512.npy b512.npy chain.npy --on H100 --claim cutlass:2xacc
  check 'a plan of another sum' has '.plan.name == "cutlass:2xacc" and .difference.different > 0 and .instruction != ""'
  ends 0 match a512.npy b512.npy chain.npy --on H100 --instr HMMA.16816.F32 --claim none
  check 'an instruction' has '.instruction == "mma.m16n8k16.f32.f16.f16.f32"'
  digest=$(tail -c $((24 * 512 * 2)) a512.npy | sha256sum | cut -d' ' -f1)
  check 'digests of the numbers' [ "$(jq -r .inputs.a.sha256 in/stdout)" = "$digest" ]
  ends 0 match a512.npy b512.npy chain.npy --on H100,H200,H100 --json
  check 'instructions of one architecture are listed once' has '.fits[0].instructions | length == (unique | length)'
  ends 0 gemm H100:e4m3 --plan deepgemm a512.npy b512.npy --scale-a sa.npy --scale-b sb.npy -o d.npy
  ends 0 match a512.npy b512.npy d.npy --on H100 --claim deepgemm --in e4m3 --out bf16 --scale-a sa.npy --scale-b sb.npy
  digest=$(tail -c $((20 * 4 * 4)) sb.npy | sha256sum | cut -d' ' -f1)
  check 'scale factors as the file holds them' has ".inputs.scale_b | .rows == 4 and .sha256 == \"$digest\""
  # FMA whose operands are computed in FP32, except numbers of FP64 that FP32 cannot hold.
  for format in e4m3 tf32 f64; do
    printf '{"softmma-unit": 1, "name": "fma", "algorithm": "FMA", "k": 1, "a": "%s", "b": "%s", "d": "f32"}' \
      $format $format >fma-$format.json
    ends 0 gemm --on ./fma-$format.json wide-a.npy wide-b.npy -C wide-c.npy -o wide-d.npy
    ends 0 match wide-a.npy wide-b.npy wide-d.npy -C wide-c.npy --claim ./fma-$format.json
    check "a claim of an FMA of $format" has .equal
  done
}

refusals() {
  fails 'shapes' 'the columns of the first must be the rows' match a512.npy b520.npy chain.npy
  fails 'the shape of D' 'D, a16.npy, is 24 x 16' match a512.npy b512.npy a16.npy
  fails 'the shape of C' '-C, a16.npy' match a512.npy b512.npy chain.npy -C a16.npy
  fails 'no D' 'D' match a512.npy b512.npy
  fails 'no such file' 'none.npy' match a512.npy b512.npy none.npy
  fails 'no matrix' 'make.py' match a512.npy b512.npy make.py
  fails 'no such GPU' 'H1000' match a512.npy b512.npy chain.npy --on H1000
  fails 'an empty name' 'is not the name of a GPU' match a512.npy b512.npy chain.npy --on H100,,V100
  fails 'no instruction' 'no instruction among these' match a512.npy b512.npy chain.npy --out f64
  fails 'D in another format' 'is no number of f16' match a512.npy b512.npy chain.npy --out f16
  fails 'blocks' 'scale factors of blocks' match a512.npy b512.npy chain.npy --in mxfp8_e4m3
  fails 'half of the scale factors' 'go together' match a512.npy b512.npy chain.npy --scale-a sa.npy
  fails 'beta alone' '--beta: needs -C' match a512.npy b512.npy chain.npy --beta 2
  fails 'alpha' 'finite' match a512.npy b512.npy chain.npy --alpha nan
  fails 'a claim of nothing' "" match a512.npy b512.npy chain.npy --claim ''
  fails 'a claim without a rule' 'no plans are known|cannot' match a512.npy b512.npy chain.npy --on H100 --claim nothing
  fails 'a claim in other formats' 'does not multiply' match a512.npy b512.npy chain.npy --claim H100:bf16
  fails 'a claim and a plan to write' '--claim searches' match a512.npy b512.npy chain.npy --claim H100 -o x.json
  for operand in '--bias bias.npy' '--scale-d 3'; do
    # shellcheck disable=SC2086  # two words
    fails "a claim without $operand" "^softmma: ${operand% *}: a single chain has no place for it" \
      match a512.npy b512.npy chain.npy --on H100 --claim none $operand
    # shellcheck disable=SC2086
    fails "a plan without $operand" "^softmma: ${operand% *}: the plan of cutlass:fast has no place for it" \
      match -q a512.npy b512.npy chain.npy --on H100 --in e4m3 --claim cutlass:fast $operand
  done
  fails 'a claim without C' '^softmma: -C: the plan of cutlass:fast has no place for it; to add C' \
    match -q a512.npy b512.npy chain.npy --on H100 --in e4m3 --claim cutlass:fast -C c.npy
  fails 'a claim without factors' '^softmma: --scale-a: none takes no scale factors' \
    match a512.npy b512.npy chain.npy --on H100 --claim none --scale-a row-sa.npy --scale-b row-sb.npy
  fails 'a claim that needs factors' '^softmma: --scale-a is missing: deepgemm .* 24 x 4, and for --scale-b one of 4 x 20' \
    match -q a512.npy b512.npy chain.npy --on H100 --in e4m3 --claim deepgemm
  fails 'too few factors' '^softmma: --scale-a: row-sa.npy is 24 x 1, but deepgemm .* every 128 products, 24 x 4' \
    match -q a512.npy b512.npy chain.npy --on H100 --in e4m3 --claim deepgemm --scale-a row-sa.npy --scale-b row-sb.npy
  ends 1 match a512.npy b512.npy chain.npy --on H100 --in e4m3 --scale-a row-sa.npy --scale-b row-sb.npy
  check 'no plan needs more factors' [ "$(grep -c deepgemm in/stdout)" -eq 0 ]
  fails 'an instruction alone' '--instr' match a512.npy b512.npy chain.npy --instr HMMA.16816.F32
}

case ${2-} in
  libraries) libraries ;;
  others) others ;;
  claims)
    claims
    refusals
    ;;
  *) fail 'which part' "'${2-}' is not libraries, others or claims" ;;
esac
finish
