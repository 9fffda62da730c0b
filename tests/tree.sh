#!/usr/bin/env bash
# softmma tree, end to end.
# Usage: tree.sh SOFTMMA MODULE-FOLDER
set -u
export LC_ALL=C
softmma=$(realpath "${1:?usage: tree.sh SOFTMMA MODULE-FOLDER}")
modules=$(realpath "${2:?usage: tree.sh SOFTMMA MODULE-FOLDER}")
source_directory=$(realpath "$(dirname "$0")/..")
# shellcheck source=tests/judging.sh
source "$source_directory/tests/judging.sh"
wrong=plugin:$modules/wrong_unit.so
ampere=(--on A100 --instr mma.m16n8k16.f32.f16.f16.f32)

has() { jq -e "$1" in/stdout >in/answer; }

# ---- Output ----

gives 'words' 0 '^starting with c, 2 fused sums in a row, each with 8 products$' tree "${ampere[@]}"
check 'lines' grep -q '^    |  `- k = 0\.\.7$' in/stdout
check 'rows' grep -qE '^rows=[0-9]+ checks=[0-9]+; K\^2/2 is 128$' in/stdout
gives 'a chain' 0 '^starting with c, 4 additions in a row, each of a product$' \
  tree --on A100 --instr mma.m8n8k4.f64.f64.f64.f64
gives 'pairs' 0 ', each of a sum of 2 terms, each a sum of 2 products$' \
  tree --on MI250X --instr v_mfma_f32_32x32x8_f16
gives 'even and odd' 0 '`- k = 1, 3, 5, 7, 9, 11, 13, 15$' tree --on MI300X --instr v_mfma_f32_16x16x32_fp8_fp8
gives 'c last' 0 '^starting with c, one addition of a chain of 2 fused sums of 16 products$' \
  tree --on H100 --instr mma.m16n8k32.f32.e4m3.e4m3.f32
gives 'exact sums' 0 '^d = fused sum of 5, exact over 58 bits$' tree --on MI100 --instr v_mfma_f32_32x32x8f16
gives 'scale blocks' 0 'k = 16\.\.31$' tree --on B200 --instr tcgen05.m128n8k64.block16.f32.e2m1.e2m1.ue4m3
gives 'JSON' 0 '"order": "starting with c, 2 fused sums' tree "${ampere[@]}" --json
check 'is JSON' has '.k == 16 and .tree.terms[0].terms[0] == "c" and .tree.fused and .rows < 128'
gives 'JSON of scale blocks' 0 '"unit": "model"' \
  tree --on B200 --instr tcgen05.m128n8k64.block16.f32.e2m1.e2m1.ue4m3 --json
check 'has ranges' has '.tree.terms[4] == [48, 63]'

# ---- Plans ----

plans=$source_directory/examples/plans
gives 'a plan' 0 '^    `- 4 chains of 64 calls of 16 products: k = 0\.\.1023; 1024\.\.2047; \.\.\.; 3072\.\.4095$' \
  tree "${ampere[@]}" --plan "$plans/split-k.json" -k 4096
check 'a plan: in words' grep -q '^256 calls in 4 chains, 3 additions; D in f32$' in/stdout
check 'a plan: each call' grep -q '^each call: starting with c, 2 fused sums in a row' in/stdout
gives 'a plan: the last is short' 0 '^    `- chain of 3 calls of 12 to 16 products: k = 256\.\.299$' \
  tree "${ampere[@]}" --plan "$plans/two-level.json" -k 300
gives 'a plan: roundings' 0 '^d = sum of 3 in order, each total rounded to bf16$' \
  tree "${ampere[@]}" --plan "$plans/split-k-serial-bf16.json" -k 300
check 'a plan: rounding of the first' grep -q '^    |- rounding to bf16$' in/stdout
gives 'a plan: scale factors' 0 "^d = sum of 3 in order, by FMA with the parts' scale factors\$" \
  tree "${ampere[@]}" --plan "$plans/block-scaled.json" -k 256
echo '{"softmma-plan": 1, "name": "pairs", "sum": [{"deal": "every", "k": 16, "fold": "neighbours"}]}' >in/pairs.json
gives 'a plan: a tree of pairs' 0 '^    `- 2 sums of 2: k = 0\.\.255; 256\.\.511; the first is$' \
  tree "${ampere[@]}" --plan ./in/pairs.json -k 512
gives 'a plan: JSON' 0 '"plan": "cutlass:2xacc"' tree "${ampere[@]}" --plan cutlass:2xacc -k 300 --json
check 'a plan: JSON has the tree' has '.tree.terms[0] == "+0" and .tree.terms[3].calls[2] == [[288, 299]] and
  (.tree.terms | length) == 4 and .calls == 19 and .call.terms[0].terms[0] == "c"'
gives 'a plan: a graph' 0 '^  n1 -> n0;$' tree "${ampere[@]}" --plan "$plans/split-k.json" -k 4096 --dot -
fails 'a plan: no K' '--k: the order of a plan is that of a K from 1' tree "${ampere[@]}" --plan "$plans/split-k.json"
fails 'a plan: K that it cannot follow' '--plan: .*: 4 parts of 3 products' \
  tree "${ampere[@]}" --plan "$plans/split-k.json" -k 3
fails 'K without a plan' '--k: 65 is not a multiple' tree "${ampere[@]}" -k 65
fails 'a plan: none' '--plan: none is one chain' tree "${ampere[@]}" --plan none -k 64

# ---- Other units ----

gives 'a plug-in' 0 'k = 8\.\.15$' tree --unit "$wrong" "${ampere[@]}"
gives 'in another order' 0 '^    `- k = 1, 2, 6\.\.8, 11\.\.13$' tree --unit "$wrong:shuffled" "${ampere[@]}"
fails 'results that no order gives' 'cannot tell the order: .*no order of additions gives the result with 2\^30 at' \
  tree --unit "$wrong:late_c" "${ampere[@]}"
fails 'no function' 'cannot tell the order: 2\^30 and -2\^30 leave something, and ones that are less' \
  tree --unit "$wrong:place" "${ampere[@]}"
# Each mistake leaves the order unchanged, or is reported as not determinable.
right='^starting with c, 2 fused sums in a row, each with 8 products$'
ways=$(sed -n 's/^ *WAY(\([a-z0-9_]*\), .*/\1/p' "$source_directory/tests/wrong_unit.c")
check 'there are ways' [ "$(wc -w <<<"$ways")" -gt 20 ]
for way in $ways; do
  [ "$way" != interrupts ] || continue # this one ends the command
  "$softmma" tree --unit "$wrong:$way" "${ampere[@]}" >in/stdout 2>in/stderr
  case $way in
    blocks) check "$way" grep -q 'with 8 products, 2 fused sums in a row, each with 4 products$' in/stdout ;;
    closed | failing | silent) check "$way" grep -q "^softmma: .*$way:" in/stderr ;;
    *) check "$way" grep -qhE "$right|cannot tell the order: " in/stdout in/stderr ;;
  esac
done

# ---- Custom units ----

# unit NAME BLOCK FURTHER: writes the file of such a unit
unit() {
  printf '{"softmma-unit": 1, "name": "%s", "algorithm": "G-FDPA", "k": 32, "a": "bf16", "b": "bf16", "d": "f32", ' "$1"
  printf '"alignment_bits": 25, "block": %s, %s}\n' "$2" "$3"
}
unit zeros 2 '"zero_exponent": 100' >zeros.json
gives 'beside great zeros' 0 'starting with c, 16 fused sums in a row, each with 2 products' tree --on ./zeros.json
unit greater 2 '"zero_exponent": 124' >greater.json
fails 'beside too great zeros' 'cannot tell .*: with 2\^96 at k = 0 and zeros elsewhere .*; larger numbers there are too near' \
  tree --on ./greater.json
unit chain 1 '"c_joins": "last", "rounding": "toward-positive"' >chain.json
gives 'a long chain' 0 '^starting with c, one addition of a chain of 31 additions of 32 products$' \
  tree --on ./chain.json
fails 'a failing unit' 'the device fell off the bus' tree --unit "$wrong:failing" "${ampere[@]}"
fails 'a unit without the instruction' '--unit: .*it only has' tree --unit "$wrong" --on V100 --instr HMMA.884.F32
fails 'narrow products' 'cannot tell the order: the products of e2m1 and e2m1 span only 6 bits' \
  tree --on B200 --instr tcgen05.m64n8k32.f32.e2m1.e2m1
"$softmma" vectors record --unit model "${ampere[@]}" --rows 10 -o recorded.txt
fails 'a recording' '--unit: file:recorded\.txt knows only the rows' tree --unit file:recorded.txt "${ampere[@]}"
fails 'no GPU' '--on is missing' tree
fails 'no instruction' '--instr NAME or --in FORMAT is missing' tree --on A100
if cpu_computes vdpbf16ps; then
  gives 'the CPU' 0 '^    \|  `- k = 1$' tree --unit x86 --on x86 --instr vdpbf16ps
fi

# ---- Pictures ----

gives 'a graph' 0 '^d = fused' tree "${ampere[@]}" --dot tree.dot
check 'has all products' [ "$(grep -o '<td' tree.dot | wc -l)" -eq 16 ]
ends 0 tree --unit "$wrong:bit" "${ampere[@]}" --dot wrong.dot
check "names the unit that computed" grep -q ", computed by $wrong:bit)" wrong.dot
fails 'a folder that is not there' '--dot: none/tree\.dot: cannot write' tree "${ampere[@]}" --dot none/tree.dot
if command -v dot >/dev/null; then
  gives 'a picture' 0 '^d = fused' tree "${ampere[@]}" --svg tree.svg
  check 'is one' grep -q '^</svg>' tree.svg
  fails 'a picture nowhere' '--svg: none/tree\.svg: cannot write' tree "${ampere[@]}" --svg none/tree.svg
fi
# with_path FOLDER: makes softmma search programs only in this folder from now on
real=$softmma
with_path() {
  printf '#!/bin/sh\nPATH=%s exec "%s" "$@"\n' "$work/$1" "$real" >"in/with_$1"
  chmod +x "in/with_$1"
  softmma=$work/in/with_$1
}
mkdir empty broken
printf '#!/bin/sh\necho "Error: no room" >&2\nexit 1\n' >broken/dot
chmod +x broken/dot
with_path empty
fails 'no Graphviz' '--svg: dot is not installed \(Debian and Ubuntu: install graphviz\)' \
  tree "${ampere[@]}" --svg tree_2.svg
gives 'none is needed for the graph' 0 '^d = fused' tree "${ampere[@]}" --dot tree.dot
with_path broken
fails 'Graphviz fails' '--svg: dot failed: Error: no room' tree "${ampere[@]}" --svg tree_2.svg

finish
