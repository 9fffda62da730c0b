#!/usr/bin/env bash
# infer of units whose NaN encodings matter, and searches that a limit or an interrupt ends.
# Usage: infer_limits.sh SOFTMMA FOLDER_OF_PLUGINS
set -u
export LC_ALL=C
softmma=$(realpath "${1:?usage: infer_limits.sh SOFTMMA FOLDER_OF_PLUGINS}") plugin=$(realpath "${2:?}")/wrong_unit.so
source_directory=$(realpath "$(dirname "$0")/..")
# shellcheck source=tests/judging.sh
source "$source_directory/tests/judging.sh"

instr=mma.m16n8k16.f32.f16.f16.f32
few=(--rows 20000 --search 4000)

# ---- NaN encodings ----

payloads=(--unit "plugin:$plugin:payloads" --on A100 --instr $instr)
gives 'NaN that no policy gives' 1 ': found, except NaN encodings$' infer "${payloads[@]}" "${few[@]}" -o payloads.json
check 'how many' grep -qE '^NaN: [1-9][0-9]* of [0-9]+ vectors differ from .*: all hold a NaN in both results' in/stdout
check 'of the catalogue, too' grep -qE '^no row searched distinguishes it from .*, except NaN encodings: those of [1-9]' in/stdout
gives 'campaign says so of the instruction' 1 '^  only NaN encodings differ: both results of every mismatch are NaN' \
  test "${payloads[@]}" --rows 20000
gives 'and of the model' 1 '^  only NaN encodings differ: both results of every mismatch are NaN' \
  test --unit "plugin:$plugin:payloads" --on A100 --instr $instr --against custom:payloads.json --rows 20000
"$softmma" vectors gen --on A100 --instr $instr --rows 20000 >rows.txt
gives 'verify, too' 1 '^([1-9][0-9]*) of \1 mismatches differ in the encoding of a NaN only$' \
  verify --unit "plugin:$plugin:payloads" rows.txt
short=mma.m8n8k4.f32.f16.f16.f32
for policy in all-ones default operand b-sum-a quiet; do
  "$softmma" custom --from V100 --instr $short --steps | sed "s/\"nan\": \"[a-z-]*\"/\"nan\": \"$policy\"/" >$policy.json
  gives "NaN: $policy" 0 ': found$' infer --unit custom:$policy.json --on V100 --instr $short "${few[@]}" -o model.json
  gives "campaign agrees: $policy" 0 'rows=20000 mismatches=0$' test --unit custom:$policy.json --on V100 \
    --instr $short --against custom:model.json --rows 20000
done
"$softmma" custom --from V100 --instr $short --steps | sed 's/"alignment_bits": 23/"alignment_bits": 27/' >unknown.json
unknown=(infer --unit custom:unknown.json --on unknown.json "${few[@]}")
gives 'hardly any budget' 1 ': not found, because models have computed the budget of 1 vectors, and none has all rows$' \
  "${unknown[@]}" --budget 1
check 'the budget and what it does not limit' grep -qE \
  '^limits: candidate models computed [0-9]+ vectors; the budget of 1 ends a search only while no model .* limit the rows' \
  in/stdout
check 'the share' grep -qE '^the best model disagrees with [1-9][0-9]* of 16384 new rows: ' in/stdout
check 'what they hold' grep -q '^some of them: ' in/stdout
check 'rows that exclude structures' grep -qE '^structures: [0-9]+ of [0-9]+ are excluded by rows, ' in/stdout
for threads in 1 3; do
  OMP_NUM_THREADS=$threads "$softmma" "${unknown[@]}" --budget 100000 --json |
    jq 'del(.seconds, .unit_seconds)' >$threads.json
done
check 'threads and speed decide nothing' cmp 1.json 3.json
gives 'hardly any rows' 1 ': not found, because the limit of 1000 rows is reached$' "${unknown[@]}" --most-rows 1000
check 'more rows, because a stage is finished' grep -qE \
  '^limits: the unit computed [1-9][0-9]{3,} rows of at most 1000, because a stage that has begun is finished$' in/stdout
gives 'few new rows' 0 . infer --unit model --on V100 \
  --instr mma.m8n8k4.f32.f16.f16.f32 "${few[@]}" --most-rows 40000 --json
check 'no more than that' [ "$(jq '.rows + .fresh' in/stdout)" = 40000 ]
check 'the final check was shortened' grep -q '; the final check had 5[0-9]* of 20000 vectors' <(jq -r .limits in/stdout)
for limit in budget most-rows; do
  gives "a record with a small --$limit" 1 . "${unknown[@]}" --$limit 1000 --record $limit.txt
  gives "which a search without it continues" 0 ': found$' "${unknown[@]}" --record $limit.txt
done
fails 'no number of rows' '--most-rows: -1 is negative' infer --unit model --on V100 --in f16 --most-rows -1

gives 'an interruption' 2 ': stopped$' infer --unit "plugin:$plugin:interrupts" --on A100 --instr $instr \
  "${few[@]}" -o stopped.json
check 'the best model so far' grep -qE '^interrupted: the best model so far disagrees with 0 of the [1-9]' in/stdout
check 'is written' [ -s stopped.json ]
for way in deaf:'a NaN among operands' finite:'an infinite operand' flushed_negative:'a subnormal factor'; do
  "$softmma" infer --unit "plugin:$plugin:${way%:*}" --on A100 --instr $instr "${few[@]}" --budget 300000 >"${way%:*}"
  check "every vector: ${way#*:}" grep -q "^every one of them: .*${way#*:}" "${way%:*}"
done
finish
