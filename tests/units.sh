#!/usr/bin/env bash
# Units and campaigns, end to end. recordings.sh tests campaigns that resume, recordings, and programs as units.
# Usage: units.sh SOFTMMA MODULE-FOLDER
set -u
export LC_ALL=C
softmma=$(realpath "${1:?usage: units.sh SOFTMMA MODULE-FOLDER}")
modules=$(realpath "${2:?usage: units.sh SOFTMMA MODULE-FOLDER}")
source_directory=$(realpath "$(dirname "$0")/..")
# shellcheck source=tests/judging.sh
source "$source_directory/tests/judging.sh"
wrong=plugin:$modules/wrong_unit.so
ampere=(--on A100 --instr mma.m16n8k16.f32.f16.f16.f32)

# ---- The list of units ----

gives 'units' 0 '^model\[:DEVICE\] +the model of each instruction, on this CPU or on a device' units
gives 'units: what can be used' 0 '^ +usable: SoftMMA' units
gives 'units --json' 0 '"unit": "plugin"' units --json
fails 'no unit' '--unit is missing' test
fails 'unknown unit' "--unit: unknown unit 'modle'; nearest: model" test --unit modle
fails 'a unit without its argument' '--unit: pipe: COMMAND is missing; write pipe:COMMAND' test --unit pipe
fails 'a unit with an argument too many' '--unit: x86 takes no arguments' test --unit x86:H100
fails 'a model on no device' "--unit: model:H100: 'H100' is no device: cuda, opencl" test --unit model:H100
fails 'no such file' '--unit: file:none\.txt: none\.txt: No such file' test --unit file:none.txt
fails 'no such plug-in' '--unit: plugin:none\.so: ./none\.so: cannot open shared object' test --unit plugin:none.so
fails 'a plug-in of another version' 'built for version 1 of softmma/unit\.h, this is version 2; build it again' \
  test --unit "plugin:$modules/old_unit.so"
printf 'int x;\n' | ${CC:-cc} -shared -x c -o no_unit.so - 2>/dev/null
fails 'a library that is no plug-in' 'exports no function softmma_unit' test --unit plugin:no_unit.so
fails 'a plug-in that does not open' "$wrong:closed: it is closed today" test --unit "$wrong:closed"
fails 'what a unit does not compute' 'it only has mma\.m16n8k16' test --unit "$wrong" --on V100
fails 'no rows' '--rows: 0; it takes at least 1' test --unit model --rows 0
fails '--all and --instr' '--all and --instr' test --unit model --all "${ampere[@]}"

# ---- Campaigns ----

gives 'model against itself' 0 '^instructions=1 rows=70000 mismatches=0$' \
  test --unit model "${ampere[@]}" --rows 70000
gives 'every instruction of a GPU' 0 '^instructions=[0-9]+ rows=[0-9]+ mismatches=0$' \
  test --unit model --on V100 --rows 500
gives 'a right plug-in' 0 'rows=100000 mismatches=0$' test --unit "$wrong" "${ampere[@]}" --rows 100000
gives 'an alignment bit too few' 1 '^instructions=1 rows=100000 mismatches=[1-9]' \
  test --unit "$wrong:bit" "${ampere[@]}" --rows 100000
check 'is explained' grep -q 'RZ-FP32' in/stdout
check 'with the bits that differ' grep -qE '^ +\^[ ^]*$' in/stdout
check 'with the command that computes it' grep -q '^  softmma dot --on ampere --instr' in/stdout
ends 1 test --unit "$wrong:bit" "${ampere[@]}" --rows 100000 --json
sed '/"classes"/,$d' in/stdout >report.json # the example alone
# The minimised vector needs only two terms: one with which the sum is aligned, and one of which a bit is truncated.
terms=$(sed -n '/"a": \[/,/\]/p' report.json | grep -cE '^ *"0*[1-9a-f][0-9a-f]*",?$')
c=$(sed -n '/"c": \[/,/\]/p' report.json | grep -cE '^ *"0*[1-9a-f][0-9a-f]*",?$')
check 'and made small' [ $((terms + c)) -le 2 ]
gives 'its report says what was compared' 1 '"device": "a wrong unit"' \
  test --unit "$wrong:bit" "${ampere[@]}" --rows 100 --json --kind cancellation
gives 'a right plug-in of its own arithmetic' 0 'rows=100000 mismatches=0$' \
  test --unit "$wrong:hand" "${ampere[@]}" --rows 100000
for way in place every17 last single late previous same; do
  gives "another result elsewhere: $way" 1 'times the result of a test vector depended on its place in the batch' \
    test --unit "$wrong:$way" --against "$wrong:$way" "${ampere[@]}" --rows 20000
done
for way in moody seldom; do
  gives "another result when asked again: $way" 1 'changed when computed again' \
    test --unit "$wrong:$way" "${ampere[@]}" --rows 20000
done
fails 'a failing unit' 'the device fell off the bus' test --unit "$wrong:failing" "${ampere[@]}"
fails 'a unit that fails silently' 'the unit failed and does not say why' test --unit "$wrong:silent" "${ampere[@]}"
if cpu_computes vdpbf16ps || cpu_computes vpdpbusd; then
  gives 'the CPU' 0 '^instructions=[0-9]+ rows=[0-9]+ mismatches=0$' test --unit x86 --rows 400000
  cp in/stdout of-cpu
  fails 'the CPU has no tensor cores' 'a CPU has only instructions of x86' test --unit x86 "${ampere[@]}"
  for instruction in $("$softmma" list --on x86 --json | jq -r '.[].name'); do
    grep -q "^x86 $instruction " of-cpu && continue
    fails "what the CPU has not: $instruction" 'this CPU has no [A-Z]' \
      test --unit x86 --on x86 --instr "$instruction" --rows 1
  done
fi
SOFTMMA_CPU=avx2 fails 'a hidden CPU' 'SOFTMMA_CPU hides' test --unit x86
SOFTMMA_CPU=avx3 fails 'an unknown CPU' "SOFTMMA_CPU: 'avx3' is not portable, avx2 or avx512" units

SOFTMMA_UNITS=$work fails 'a module that is not there' 'softmma-unit-cuda\.so is not there; build it with' test --unit cuda
SOFTMMA_UNITS=$work fails 'nor is another' 'softmma-unit-hip\.so is not there; build it with -DSOFTMMA_HIP=ON' \
  test --unit hip

# ---- Open questions ----

experiments=$("$softmma" list --experiments | grep '^[a-z]' | grep -vc '^cdna4-sums:') # not about the MI300X
gives 'the model answers open questions as the model' 0 "^experiments=$experiments answers=[0-9]{3} others=0\$" \
  test --open --unit model
check 'each of them' [ "$(grep -v '^ ' in/stdout | grep -cv ': as the model$')" -eq 1 ] # the last line
gives 'one architecture' 0 '^experiments=6 answers=[0-9]+ others=0$' test --open --unit model --on V100
check 'and no other' [ "$(grep -v '^ ' in/stdout | grep -c ' volta ')" -eq "$(grep -cv '^ \|=' in/stdout)" ]
gives 'every instruction' 0 '^experiments=1 answers=68 others=0$' \
  test --open --unit model --all --on H100 --only f16-exponent-of-zero
gives 'another sign of zero' 1 '^zero-sign ampere mma\.m16n8k16\.f32\.f16\.f16\.f32: the sign of c$' \
  test --open --unit "$wrong:zero" "${ampere[@]}"
check 'with the signs' grep -q '^  0x80000000  -0 * -0 + (+1)(+0) + \.\.\. (the model: 0x00000000)$' in/stdout
check 'and the command' grep -q "^  softmma dot --on ampere --instr mma.m16n8k16.f32.* --a 'bc00 " in/stdout
check 'and no others' grep -q '^experiments=3 answers=3 others=1$' in/stdout
gives 'an answer that is no candidate' 1 ': none of the candidates$' \
  test --open --unit "$wrong:odd" "${ampere[@]}" --only zero-sign
gives 'open questions --json' 1 '^ +"answer": "the sign of c",$' \
  test --open --unit "$wrong:zero" "${ampere[@]}" --only zero-sign --json
gives 'FTTN with an odd unit' 1 '^fttn-from-c ampere .*: none of the candidates$' \
  test --open --unit "$wrong:odd" "${ampere[@]}" --only fttn-from-c
"$softmma" custom --from MI300X --instr v_mfma_f32_16x16x16_f16 >cdna3.json
sed 's/"block": 8/"block": 16/' cdna3.json >one_sum.json
sed 's/"block": 8/"block": 4/' cdna3.json >sums_of_four.json
gives 'CDNA 4 as CDNA 3' 0 '^cdna4-sums cdna3 v_mfma_f32_16x16x16_f16: as the model$' \
  test --open --unit model --on MI350X
gives 'CDNA 4 with one sum' 1 ': one sum of all K products, else as CDNA 3$' \
  test --open --unit custom:one_sum.json --on gfx950
gives 'CDNA 4 otherwise' 1 ': none of the candidates$' test --open --unit custom:sums_of_four.json --on 'CDNA 4'
fails 'another experiment on CDNA 4' 'MI355X has no model; this experiment finds out how it computes: cdna4-sums' \
  test --open --unit model --on MI355X --only zero-sign
fails 'a campaign on CDNA 4' '--on: no model of MI350X: no published results' test --unit model --on MI350X
fails 'no such experiment' "--only: unknown experiment 'zero'; experiments are f16-exponent-of-zero, " \
  test --open --unit model --only zero
fails '--only without --open' '--only needs --open' test --unit model --only zero-sign
fails '--open with --rows' '--open has rows and candidates of its own' test --open --unit model --rows 5
fails 'nothing to ask' 'the experiment cdna1-pairs covers no selected instruction that model computes' \
  test --open --unit model --only cdna1-pairs --on H100
fails 'open questions of a failing unit' 'zero-sign: .*fell off the bus' \
  test --open --unit "$wrong:failing" "${ampere[@]}"

finish
