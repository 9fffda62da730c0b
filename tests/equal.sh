#!/usr/bin/env bash
# softmma equal, end to end. Usage: equal.sh SOFTMMA
set -u
export LC_ALL=C
softmma=$(realpath "${1:?usage: equal.sh SOFTMMA}")
source_directory=$(realpath "$(dirname "$0")/..")
# shellcheck source=tests/judging.sh
source "$source_directory/tests/judging.sh"

# has FILTER: checks that the output is JSON for which jq's filter is true
has() { jq -e "$1" in/stdout >/dev/null; }

gives 'equal' 0 '^equal, proved for every K: ' diff --prove H100 B200 --in bf16
check 'no rows are asked for a proof' [ "$(grep -c 'row' in/stdout)" = 0 ]
gives 'different' 1 '^different: in F \(13 and 25\)' diff --prove H100 B200 --in e4m3
check 'both results' grep -qE '^  H100 +[0-9a-f]{8} ' in/stdout
gives 'K of one instruction' 0 'multiples of 16: ' diff --prove MI300X:v_mfma_f32_16x16x16_bf16 MI300X:v_mfma_f32_32x32x8_bf16
check 'and what zeros do' grep -q '^other K, which are filled with zeros, may differ$' in/stdout
gives 'one without its K' 1 'K of one instruction \(16 and 4\)' diff --prove MI250X:bf16 MI250X:v_mfma_f32_32x32x4bf16_1k
gives 'keys that differ in a step' 1 '^different: in step2 \(minus_one_shift:27 and default\)$' \
  diff --prove wormhole:mvmul.hifi4.f32.bf16.bf16 blackhole:mvmul.hifi4.f32.bf16.bf16
gives 'slices' 1 '^different: in .*slice_a \(whole and 7\)' diff --prove ace:top2bf16ps wormhole:mvmul.hifi1.f32.bf16.bf16
check 'no parameter with equal values' [ "$(grep -cE '\(([^ ()]+) and \1\)' in/stdout)" = 0 ]
gives 'overflow of another algorithm' 1 'overflow \(saturate and infinity\)$' \
  diff --prove rdna4:v_wmma_f16_16x16x16_f16.ovfl A100:mma.m16n8k16.f16.f16.f16.f16
gives 'integers' 1 'overflow \(wrap and saturate\)' diff --prove A100:s8 A100:mma.m16n8k32.satfinite.s32.s8.s8.s32

# A custom unit: e_zero of FP16 products does not affect equality, another rounding mode does.
ends 0 custom --from H100 --instr mma.m16n8k16.f32.f16.f16.f32
sed 's/"zero_exponent": -133/"zero_exponent": -140/' in/stdout >zero.json
sed 's/"toward-zero"/"nearest-even"/' in/stdout >nearest.json
sed 's/"alignment_bits": 25/"alignment_bits": 50/' in/stdout >wide.json
gives 'a file' 0 'e_zero, -133 and -140, has no effect' diff --prove H100 ./zero.json
gives 'another file' 1 'rho \(RZ-FP32 and RNE-FP32\)' diff --prove ./zero.json ./nearest.json

gives 'more bits' 1 'F \(25 and 50\)' diff --prove H100 ./wide.json

# The same sum, written in the parameters of G-FDPA. The report must name a differing parameter, not different
# algorithms.
sed 's/"T-FDPA"/"G-FDPA"/; s/"alignment_bits": 25/"alignment_bits": 24, "sticky_bit": true/' zero.json >general.json
gives 'parameters of G-FDPA' 1 '^different: in F \(25 and 24\), sticky \(0 and 1\)$' diff --prove H100 ./general.json

gives 'JSON: equal' 0 '"answer": "equal"' diff --prove H100 B200 --in bf16 --json
check 'has why and K' has '.why != "" and .multiple_of == 1 and .row == null'
gives 'JSON: different' 1 '"answer": "different"' diff --prove V100 T4 --json
check 'has the row' has '.row | (.a | length) == .k and (.d | length) == 2 and .d[0] != .d[1]'

gives 'any order' 0 '^order of k: any, proved: integers' diff --permute A100:s8
gives 'order matters' 1 '^order of k: matters$' diff --permute H100
check 'exchanged' grep -qE '^  k = [0-9]+ and [0-9]+ exchanged ' in/stdout
check 'within a sum it does not' grep -q '^any order, proved, of the 16 products' in/stdout
check 'BLOCK_K' grep -q '^BLOCK_K: tiles of K do not matter' in/stdout
gives 'JSON: order' 1 '"order": "matters"' diff --permute H100 --json
check 'has the row of the order' has '(.exchanged | length) == 2 and .row.d[0] != .row.d[1]'
check 'has what zeros do' has '.zeros == "change nothing"'
printf '%s' '{"softmma-unit": 1, "name": "st", "algorithm": "ST-FDPA", "k": 64, "a": "e2m1", "b": "e2m1", "c": "f32",
  "d": "f32", "scale": "ue8m0", "scale_block": 16, "block": 64, "alignment_bits": 25, "zero_exponent": -133,
  "rounding": "toward-zero"}' >scaled.json
ends 2 diff --permute ./scaled.json --rows 100
check 'a fused sum of several scale blocks' grep -q '^any order, proved, of the 16 products of each scale block, ' in/stdout
ends 2 diff --permute ./scaled.json -k 64 --rows 100 -o answer.txt
check 'the file of an answer that cannot tell' grep -q '^any order, proved for K = 64, of k = 0 and 1 to 15$' answer.txt
gives 'K of one scale block' 0 '^order of k: any, proved for K = 16' diff --permute ./scaled.json -k 16 --rows 100
ends 2 diff --permute B200:nvfp4 --rows 1000
check 'cannot tell' grep -q '^order of k: cannot tell, because ' in/stdout

# Plans.
plans=$source_directory/examples/plans
gives 'BLOCK_K of promotion' 1 '^smallest row found, K = 65, ' \
  diff --prove H100 H100 --plan "$plans/two-level-64.json,$plans/two-level.json"
ends 2 diff --prove H100:f16 B200:f16 --plan "$plans/two-level-64.json,$plans/two-level.json" --rows 200
check 'cannot tell, at several K' grep -qE ' [0-9]+ rows at 4 K agree$' in/stdout
gives 'other words' 0 '^equal, proved for K = 256: ' \
  diff --prove H100 H100 --plan "$plans/split-k.json,$plans/slices-listed.json" -k 256
gives 'one plan for both' 0 '^equal, proved for every K that both can follow: ' \
  diff --prove H100:bf16 B200:bf16 --plan "$plans/split-k.json"
gives 'a K without plans' 0 '^equal, proved for K = 40: ' diff --prove A100:f16 A100:mma.m16n8k8.f32.f16.f16.f32 -k 40
gives 'JSON: plans' 1 '"product_k": 65' diff --prove H100 H100 --plan "$plans/two-level-64.json,$plans/two-level.json" --json
check 'has where the products stand' has '(.row.at | length) == .row.k and .plans[0] != .plans[1] and .k == 65'
gives 'JSON: operands of one' 1 'alpha \(1\)' diff --prove H100 H100 -k 16 --rows 100 --json --plan "none,$plans/linear.json" \
  --out f16
gives 'order of k with a plan' 1 '^any order, proved for K = 256, of k = 0 and 1 to 15$' \
  diff --permute H100 --plan "$plans/split-k.json" -k 256
gives 'JSON: order with a plan' 1 '"any_order_with_0": "1 to 15"' diff --permute H100 --plan cutlass:2xacc --json
fails 'other formats of D' 'no functions of the same operands: D is f32 and bf16' \
  diff --prove H100 H100 --plan "none,$plans/two-level.json"
fails 'a K that a plan cannot follow' 'K = 3: 4 parts of 3 products' diff --prove H100 H100 --plan "$plans/split-k.json" -k 3
printf '%s' '{"softmma-plan": 1, "name": "relu", "epilogue": ["relu"]}' >relu.json
fails 'a plan that no K follows' 'an epilogue and another D go with accumulators in FP32 only' \
  diff --prove H100:s8 H100:s8 --plan none,relu.json
fails 'a plan that no K follows, for both' 'an epilogue and another D go with accumulators in FP32 only' \
  diff --prove H100:s8 A100:s8 --plan relu.json
fails 'a plan too many' '--plan: 3 plans for 2 targets' diff --prove H100 H100 --plan none,none,none
fails 'K' '--k: -1 is not a number from 1 to' diff --prove H100 H100 -k -1

# Other formats of A and B: the operands that both hold.
gives 'common operands' 1 '^different: in the formats of A and B \(f16 and tf32\), L \(16 and 8\)' diff --prove H100:f16 :tf32
check 'their format' grep -q '^  operands as f16$' in/stdout
gives 'common operands, proved' 0 'the numbers that both formats hold, e2m1 and e2m3; which NaN' diff --prove B200:e2m1 :e2m3
gives 'common integers' 0 'modulo 2\^32.* both formats hold, u8 and s8$' diff --prove A100:u8 A100:s8
gives 'neither holds the other' 1 '^  operands as f16$' diff --prove H100:f16 :bf16
gives 'JSON: common operands' 1 '"a_format": "f16"' diff --prove H100:tf32 :f16 --json
gives 'a list' 1 '^different' diff --prove --on H100:f16,:tf32
gives 'rows of common operands' 1 '^operands: the numbers that tf32 and f16 both hold, as f16; all NaN are equal$' \
  diff H100:tf32 :f16 --rows 1000
check 'a command to repeat it' grep -q '^  softmma dot --on hopper --instr wgmma.m64n8k16.f32.f16.f16 --hex' in/stdout
gives 'rows of common integers' 0 '^no difference in ' diff A100:s4 :s8 --rows 1000
fails 'a format without its colon' "'tf32' is a format; type :tf32 for the GPU before it" diff --prove H100:f16 tf32
fails 'no GPU before' "--on: ':f16' has no GPU before it" diff --prove :f16 H100
fails 'other formats of D' 'no functions of the same operands: C is f32 and s32' diff --prove H100 H100:s8
fails 'other formats with a plan' 'no functions of the same operands: A is f16 and bf16' diff --prove H100 H100:bf16 -k 64
fails 'one target' 'two targets' diff --prove H100
fails 'two to permute' 'one target, not two' diff --permute H100 B200
fails 'none to permute' 'one target, not none; for example' diff --permute
fails 'no target' 'two targets' diff --prove
fails 'no such GPU' 'H1000' diff --prove H1000 H100
fails 'no such instruction' 'mma' diff --prove H100:mma H100
fails 'no such file' 'none.json' diff --prove ./none.json H100
fails 'an empty name' "'' is not the name" diff --prove '' H100
fails 'no rows' '--rows' diff --prove H100 B200 --rows 0
finish
