#!/usr/bin/env bash
# softmma probe and softmma diff, end to end.
# Usage: probe.sh SOFTMMA MODULE-FOLDER
set -u
export LC_ALL=C
softmma=$(realpath "${1:?usage: probe.sh SOFTMMA MODULE-FOLDER}")
modules=$(realpath "${2:?usage: probe.sh SOFTMMA MODULE-FOLDER}")
source_directory=$(realpath "$(dirname "$0")/..")
# shellcheck source=tests/judging.sh
source "$source_directory/tests/judging.sh"
wrong=plugin:$modules/wrong_unit.so
ampere=(--on A100 --instr mma.m16n8k16.f32.f16.f16.f32)

has() { jq -e "$1" in/stdout >in/answer; }

# ---- probe ----

gives 'block' 0 '^number of products added at once .* 8$' probe "${ampere[@]}"
check 'calls' grep -qE '^ampere mma.m16n8k16.f32.f16.f16.f32: unit model, [0-9]+ rows in [0-9]+ calls$' in/stdout
check 'what cannot be told' grep -q 'cannot tell: c is a term of the first sum' in/stdout
gives 'f16 by itself' 0 '^hopper wgmma' probe --on H100
gives 'by formats' 0 '^rounding of results +to nearest, ties to even$' probe --on H100 --in f16 --out f16
gives 'interleaved' 0 '0, 1, 4, 5, 8, 9' probe --on H100 --instr mma.m16n8k32.f32.e4m3.e4m3.f32
gives 'highest k first' 0 '^indices k of the products of the first block +1$' probe --on x86 --in bf16
gives 'a list' 0 '^alignment_bits .*MMA-Sim' probe --list
gives 'a list that names its sources' 0 '^MMA-Sim: P. Xie et al., MMA-Sim: .*, 2025$' probe --list
gives 'several' 0 '^  flushed to zero +MI250X$' probe --on V100,A100,MI250X --in f16
check 'those that agree' grep -qE '^  retained +V100 A100$' in/stdout
gives 'JSON' 0 '"unit": "model"' probe "${ampere[@]}" --json
check 'is JSON' has '.[0].features.first_sum.value == "8" and .[0].features.c_rounding.value == null and .[0].calls > 0'
gives 'an alignment bit too few' 0 '^number of fraction bits retained of aligned products +23$' probe --unit "$wrong:bit" "${ampere[@]}"

# feature_is WAY FEATURE REGEX: probes a unit that is wrong in this way: at one position, for one sign, or sometimes.
# The feature's value, or "cannot tell" with the reason, must match.
feature_is() {
  "$softmma" probe --unit "$wrong:$1" "${ampere[@]}" --json >in/stdout
  jq -r ".[0].features.$2 | .value // \"cannot tell: \" + .why" in/stdout >in/answer
  check "$1: $2" grep -qE "^$3\$" in/answer
}
feature_is hand repeats 'yes: 16384 test vectors, each at several positions of a call'
feature_is hand alignment_bits 24
feature_is hand block_rounding 'toward zero'
for way in moody seldom place every17 last single late previous same; do
  feature_is "$way" repeats 'no: [0-9]+ of [0-9]+ results changed; test vector .*'
done
feature_is nans repeats 'yes: 16384 test vectors, each at several positions of a call, except sign and payload of NaN'
feature_is nans alignment_bits 24
feature_is seldom first_sum 'cannot tell: results do not repeat'
unexplained='cannot tell: no pair of a number of bits and a rounding explains all results'
feature_is lane alignment_bits '24; 22 at k = 5'
feature_is lane_of_second_block alignment_bits '24; 22 at k = 13'
feature_is second_block alignment_bits '24; 22 at k = 8 to 15'
feature_is second_block output_bits 'cannot tell: .*'
feature_is lane_rounding alignment_rounding 'toward zero; to nearest, ties away at k = 3'
feature_is window alignment_bits "$unexplained"
feature_is wraps alignment_bits "$unexplained"
feature_is one_exponent alignment_bits "$unexplained"
feature_is low_exponents alignment_bits_c "$unexplained"
feature_is sixteenths alignment_rounding "$unexplained"
feature_is negative_rounding alignment_rounding "$unexplained"
feature_is negative_c alignment_rounding_c "$unexplained"
feature_is late_c c_joins 'cannot tell: .*'
feature_is block27 block_rounding 'toward zero, to 27 fraction bits'
feature_is small_results output_rounding 'cannot tell: smaller numbers are rounded differently'
feature_is flushed_b subnormal_b 'retained; flushed to zero at k = 5'
feature_is flushed_negative subnormal_a 'some are flushed to zero'
feature_is flushed_tiny subnormal_a 'some are flushed to zero'
feature_is deaf nan_input 'NaN 0x7fffffff; another result in 1 of 33 test vectors, for example 0x3f800000 \(not a NaN\)'
feature_is finite nan_invalid 'NaN 0x7fffffff; another result in 2 of 64 test vectors, for example .*'
feature_is finite nan_difference 'NaN 0x7fffffff; another result in 2 of 64 test vectors, for example .*'
feature_is minus_zero zero_cancellation '\+0; -0 at k = 4'
feature_is blocks first_sum '8; another number at k = 8 to 15'
feature_is few_carries carry_bits 'at least 3'
gives 'a sum between blocks that overflows' 0 '^treatment of intermediate sums .*  overflow to infinity if 2\^E \+ 2\^E is added before -2\^E' \
  probe --on A100 --in bf16
fails 'probe: no rows' '--rows: 0' probe "${ampere[@]}" --rows 0
fails 'a unit that fails' 'failing' probe --unit "$wrong:failing" "${ampere[@]}"
if cpu_computes vdpbf16ps; then
  ends 0 probe --unit x86 --on x86 --instr vdpbf16ps
  cp in/stdout x86
  gives 'this CPU' 0 . probe --on x86 --instr vdpbf16ps
  check 'is as its model except NaN' diff <(grep -v -e 'NaN' -e 'infinity' -e unit x86) \
    <(grep -v -e 'NaN' -e 'infinity' -e unit in/stdout)
fi

# Each command that is shown for a feature computes the unit's result.
ends 0 probe "${ampere[@]}" --json
jq -r '.[0].features[] | select(.witness) | .witness |
  "\(.a | join(" "))\t\(.b | join(" "))\t\(.c[0])\t\(.d[0])"' in/stdout >witnesses
replay() {
  while IFS=$'\t' read -r a b c d; do
    "$softmma" dot "${ampere[@]}" --hex --a "$a" --b "$b" --c "$c" </dev/null | grep -q "$d" || return 1
  done <witnesses
}
check 'witnesses replay' replay

fails 'probe: no GPU' '--on' probe
fails 'probe: no such GPU' '--on: .*H1000' probe --on A100,H1000 --in f16
fails 'probe: an empty name' "'' is not the name of a GPU" probe --on A100,,H100
fails 'probe: a format that it has not' '--in: V100 has no instruction' probe --on V100 --in e4m3
fails 'probe: a unit that does not compute it' 'it only has' probe --unit "$wrong" --on V100 --in f16
ends 0 vectors record --unit model "${ampere[@]}" --rows 10 -o rows.txt
fails 'probe: a recording' 'has results for its own rows only' probe --unit file:rows.txt "${ampere[@]}"

# ---- diff ----

gives 'two that differ' 1 '^  number of products added at once .*: 8 \| 16$' diff --on A100,H100 --in f16
check 'the smallest row' grep -qE '^smallest row found, [1-3] terms$' in/stdout
command=$(grep -o 'softmma dot .*' in/stdout) value=$(awk '$1 == "A100" { print $2 }' in/stdout)
check 'replays' grep -q "$value" <(eval "\"$softmma\" ${command#softmma }" </dev/null)
check 'normal data' grep -qE '^normal data: [0-9]+ of 100000 results differ$' in/stdout
gives 'two that do not' 0 '^no difference in 20000 rows$' diff --on A100,L40S --in f16 --rows 10000
gives 'a smaller K in a row' 0 '^T4: .*, 2 in a row$' diff --on T4,A100 --in f16 --rows 1000
gives 'a unit against the model' 1 'fraction bits retained of aligned products: 23 \| 24' \
  diff --unit "$wrong:bit" --against model --on A100,A100 --instr mma.m16n8k16.f32.f16.f16.f32 --rows 1000
check 'names what computed' grep -q "^A100: mma.*, computed by $wrong:bit$" in/stdout
check 'its result is not the GPU'"'"'s' grep -q "^  $wrong:bit as A100 *[0-9a-f]* " in/stdout
check 'the model'"'"'s is' grep -q '^  A100 *[0-9a-f]* ' in/stdout
gives 'and in a table' 1 '^A100\* +- +[0-9.]+% +[0-9.]+%$' \
  diff --unit "$wrong:bit" --against model --on A100,A100,L40S --instr mma.m16n8k16.f32.f16.f16.f32 --rows 1000
gives 'JSON names it, too' 1 'wrong_unit\.so:bit",$' \
  diff --unit "$wrong:bit" --against model --on A100,A100 --instr mma.m16n8k16.f32.f16.f16.f32 --rows 1000 --json
gives 'JSON' 1 '"differ": true' diff --on A100,H100 --in f16 --rows 1000 --json
check 'is JSON' has '.features | map(.feature) | index("first_sum") != null'
gives 'a table' 1 '^H100 +[0-9.]+% +[0-9.]+% +- +=$' diff --on V100,A100,H100,B200 --in f16 --rows 1000
fails 'diff: one GPU' 'nothing to be compared with' diff --on A100
fails 'diff: other formats' 'have not the same formats' \
  diff --on A100,A100 --instr mma.m16n8k16.f32.f16.f16.f32,mma.m16n8k32.s32.s8.s8.s32
fails 'diff: no rows' '--rows' diff --on A100,H100 --rows 0
finish
