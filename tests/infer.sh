#!/usr/bin/env bash
# The commands infer and next, as a user runs them.
# Usage: infer.sh SOFTMMA FOLDER_OF_PLUGINS
set -u
export LC_ALL=C
softmma=$(realpath "${1:?usage: infer.sh SOFTMMA FOLDER_OF_PLUGINS}") plugin=$(realpath "${2:?}")/wrong_unit.so
source_directory=$(realpath "$(dirname "$0")/..")
# shellcheck source=tests/judging.sh
source "$source_directory/tests/judging.sh"

instr=mma.m16n8k16.f32.f16.f16.f32
few=(--rows 20000 --search 4000)

# ---- A unit that infer identifies ----

gives 'a unit is found' 0 '^volta mma.m8n8k4.f32.f16.f16.f32 on model: found$' \
  infer --unit model --on V100 --instr mma.m8n8k4.f32.f16.f16.f32 "${few[@]}" -o v100.json --proof proof.txt --page v100.html
cp in/stdout report
check 'it is the rule' grep -qx 'model: T-FDPA F=23 L=4 rho=RZ-FP32 e_zero=-131' report
check 'it is named' grep -q 'distinguishes it from mma.m8n8k4.f32.f16.f16.f32 of volta' report
check 'values next to it are excluded' grep -qE '^step 1  alignment_bits +23 +22, 24, exact' report
parts v100.html >parts.json
check 'the page has the report' diff <(head -n 6 report) <(jq -r '.[].lines // empty' parts.json | head -n 6)
check 'with the parameters' [ "$(jq -c '[.[].table // [] | .[] | select(.[1] == "alignment_bits")]' parts.json)" = \
  '[["step 1","alignment_bits","23","22, 24, exact","-"]]' ]
check 'the order of the sum' grep -qx 'd = fused sum of 5' <(jq -r '.[].lines // empty' parts.json)
check 'a picture' grep -q '^<svg' <(jq -r '.[].drawing // empty' parts.json)
if browser_draws v100.html; then
  check 'it is drawn: a row of the table' grep -q '>alignment_bits</td><td[^>]*>23</td><td[^>]*>22, 24, exact</td>' in/drawn
  check 'it is drawn: the picture' grep -q '<svg' in/drawn
fi
check 'and all of it' diff <(jq -S '.[].data // empty | .model' parts.json) <(jq -S . v100.json)
gives 'the proof is replayed' 0 'mismatches=0$' verify proof.txt
sed -i 's/"alignment_bits": 23/"alignment_bits": 24/' v100.json
gives 'and fails for another value' 1 'mismatches=[1-9]' verify proof.txt

# ---- Records ----

search=(infer --unit model --on V100 --instr mma.m8n8k4.f32.f16.f16.f32 "${few[@]}" --json --record answers.txt)
gives 'a search keeps its answers' 0 . "${search[@]}"
jq 'del(.seconds, .unit_seconds, .calls)' in/stdout >first.json
rows=$(grep -vc '^#' answers.txt)
check 'all of them' [ "$rows" -gt 5000 ]
head -c -20 answers.txt | head -n -1000 >cut.txt && mv cut.txt answers.txt
gives 'it goes on from what is left' 0 . "${search[@]}"
check 'and finds the same' diff first.json <(jq 'del(.seconds, .unit_seconds, .calls)' in/stdout)
check 'and keeps as many' [ "$(grep -vc '^#' answers.txt)" = "$rows" ]
cp answers.txt whole.txt

# refuses NAME REGEX ARGUMENT...: the command must refuse x.txt with one line that matches, and leave the file unchanged
refuses() {
  local name=$1 line=$2
  shift 2
  cp x.txt before.txt
  check "$name" runs 2 "$@" --record x.txt
  check "$name: one line" [ "$(wc -l <in/stderr)" = 1 ]
  check "$name: which" grep -qE "$line" in/stderr
  check "$name: the file is untouched" cmp -s before.txt x.txt
}
again=("${search[@]:0:${#search[@]}-2}")
cp whole.txt x.txt
refuses 'the record of another seed' "line 4: '# seed: 0', but .* '# seed: 5'" "${again[@]}" --seed 5
"$softmma" custom --from V100 --instr mma.m8n8k4.f32.f16.f16.f32 | sed 's/toward-zero/nearest-even/' >other.json
refuses 'of another unit' "line 1: '# unit: model', but" infer --unit custom:other.json "${again[@]:3}"
refuses 'of another instruction' 'line [0-9]+: .*, but' infer --unit model --on A100 --instr $instr "${few[@]}"
"$softmma" custom --from V100 --instr mma.m8n8k4.f32.f16.f16.f32 >unit.json
sed '1s/model/custom:unit.json/' whole.txt >x.txt
check 'a unit in a file' runs 0 infer --unit custom:unit.json "${again[@]:3}" --record y.txt
cp y.txt x.txt && cp other.json unit.json
refuses 'a unit that was changed' 'another result for row' infer --unit custom:unit.json "${again[@]:3}"
bytes=$(stat -c %s whole.txt) header=$(sed '/^# columns/q' whole.txt | wc -c)
for place in 0 9 $((header - 2)) $((header + 3)) $((bytes / 3)) $((bytes / 2)) $((bytes - 60)) $((bytes - 10)); do
  for byte in 3 x '#' '\n' '\0' '\377'; do
    cp whole.txt x.txt
    printf '%b' "$byte" | dd of=x.txt bs=1 seek="$place" conv=notrunc status=none
    cmp -s x.txt whole.txt || refuses "byte $place as $byte" . "${again[@]}"
  done
done
places=(1 40 $((header - 1)) "$header" $((header + 5)) $((bytes / 3)) $((bytes - 70)) $((bytes - 3)) $((bytes - 1)))
for ((n = 0; n < ${#places[@]}; n += ${SOFTMMA_CUT_EVERY:-1})); do
  place=${places[n]}
  head -c "$place" whole.txt >x.txt
  gives "cut behind $place bytes" 0 . "${again[@]}" --record x.txt
  check 'it is whole again' cmp -s x.txt whole.txt
done
exec 9<whole.txt
flock 9
cp whole.txt before.txt
check 'a record that is being written' runs 2 "${again[@]}" --record whole.txt
check 'it is locked' grep -q 'another search writes this record' in/stderr
check 'and untouched' cmp -s before.txt whole.txt
exec 9<&-

# ---- Units that no model describes ----

for way in moody place every17; do
  gives "no function: $way" 1 'on plugin:.*: no function$' infer --unit "plugin:$plugin:$way" --on A100 --instr $instr
  cp in/stdout "$way"
done
check 'no reason' grep -q '^cannot tell what decides: the same batches do not always give the same$' moody
check 'a place' grep -q '^its place or the size of the batch decides: among its copies it has one result at place' place
gives 'a neighbour' 1 '^a neighbour decides: among its copies it has one result, but with row [0-9]* at place [0-9]* ' \
  infer --unit "plugin:$plugin:same" --on A100 --instr $instr
"$softmma" infer --unit "plugin:$plugin:lane" --on A100 --instr $instr >lane
check 'one lane narrower' grep -q ': not found, because the product at k = 5 is unlike the others, ' lane
check 'it is told where' grep -q '^the product at k = 5 is unlike the others; the first 16, minimised: all with a product at k = 5;' lane

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
sed 's/"alignment_bits": 24/"alignment_bits": 27/' v100.json >unknown.json
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

# ---- Recordings ----

"$softmma" vectors gen --on V100 --instr mma.m8n8k4.f32.f16.f16.f32 --rows 300 -o recorded.txt
gives 'a recording' 0 'on file:recorded.txt: found$' infer --unit file:recorded.txt --on V100 \
  --instr mma.m8n8k4.f32.f16.f16.f32 "${few[@]}" --next next.txt
check 'leaves something open' grep -qE ', [1-9][0-9]* that these rows leave open$' in/stdout
check 'and says what to ask' [ "$(grep -vc '^#' next.txt)" -gt 0 ]

"$softmma" vectors gen --on V100 --instr mma.m8n8k4.f32.f16.f16.f32 --rows 24 -o few.txt
gives 'few rows' 0 '^other models found that agree with all these rows: [1-9]' infer --unit file:few.txt --on V100 \
  --instr mma.m8n8k4.f32.f16.f16.f32 "${few[@]}" --next next.txt
check 'rows that tell them apart' grep -q '^# of composition .* d would be ' next.txt

head -n -23 few.txt >one.txt
gives 'one row' 0 '^other models found that agree with all these rows: 48, and there may be more$' infer --unit file:one.txt \
  --on V100 --instr mma.m8n8k4.f32.f16.f16.f32 "${few[@]}"

# ---- next ----

"$softmma" custom --from H100 --instr $instr >25.json
sed 's/"alignment_bits": 25/"alignment_bits": 24/' 25.json >24.json
sed 's/"alignment_bits": 25/"alignment_bits": 26/' 25.json >26.json
gives 'three units' 0 '^# 3 different results: custom:25.json [0-9a-f]*, custom:24.json [0-9a-f]*, custom:26.json [0-9a-f]*$' \
  vectors next --unit custom:25.json --against custom:24.json --against custom:26.json --on 25.json -n 2
fails '--json to a file' '--json prints the test vectors as JSON; it takes no --output' \
  vectors next --unit custom:25.json --against custom:24.json --on 25.json --json -o ask.json
check 'rows for verify' runs 0 vectors next --unit custom:25.json --against custom:24.json --on H100 --instr $instr -o ask.txt
gives 'of the first' 0 '^rows=16 mismatches=0$' verify ask.txt
gives 'and not of the other' 1 '^rows=16 mismatches=16$' verify --unit custom:24.json ask.txt
gives 'a unit and itself' 1 '^# arch' vectors next --unit custom:25.json --against custom:25.json --on 25.json --search 2000
check 'it is said' grep -q 'no row of 2000 searched tells custom:25.json from custom:25.json' in/stderr

check 'it is no question of rows' [ "$(grep -c 'give more --rows' in/stderr)" = 0 ]
sed 's/"nan": .*/"nan": "default"/' 25.json >nan.json
sed 's/"zero_exponent": .*/"zero_exponent": -60,/' 25.json >zero.json
pairs=(vectors next --unit custom:25.json --against custom:nan.json --against custom:zero.json --on 25.json --search 2000)
runs 1 "${pairs[@]}" --rows 1
check 'fewer rows than pairs' grep -qx \
  'softmma: note: no row written tells custom:25.json from custom:zero.json, but one searched does; give more --rows' \
  in/stderr
check 'and no other note' [ "$(grep -c 'no row' in/stderr)" = 1 ]
runs 1 "${pairs[@]}" --rows 1 --json
check 'fewer rows than pairs: JSON' jq -e '.not_told_apart == [[0, 2]] and .need_more_rows == [[0, 2]]' in/stdout
check 'as many rows' runs 0 "${pairs[@]}" --rows 2

# ---- The page ----

# The table of docs/infer.md has the present model of each instruction.
measured=0
while IFS='|' read -r _ gpu name model _; do
  name=${name// /} gpu=$(xargs <<<"$gpu") model=$(xargs <<<"$model")
  gives "docs/infer.md has the model of $name on $gpu" 0 "^model +${model/ /: }\$" show "$gpu:$name"
  measured=$((measured + 1))
done < <(awk '/^\| GPU \| instruction \| model/ { inside = 1 } /^$/ { inside = 0 } inside && ++n > 2' \
  "$source_directory/docs/infer.md")
check 'docs/infer.md has a table of models' [ $measured -gt 20 ]

# ---- Errors ----

gives 'without a unit, the model' 0 "^SoftMMA's own model is the black box; --unit names another$" infer V100:f16 \
  --rows 1000 --search 500
check 'without a unit: in the first line' grep -q "^SoftMMA's own model" <(head -n 1 in/stdout)
check 'without a unit: it is found' grep -qx 'volta .* on model: found' in/stdout
fails 'without a unit and a target' '--on is missing' infer
fails 'without a second unit' '--against is missing' vectors next --unit model --on H100 --in f16
fails 'a proof without a model' '--proof: .* give -o, too' infer --unit model --on V100 --in f16 --proof p.txt
fails 'a record of a recording' '--record: .* is a recording already' \
  infer --unit file:recorded.txt --on V100 --instr mma.m8n8k4.f32.f16.f16.f32 --record r.txt
fails 'rows to ask of a unit that can be asked' '--next: model computes any test vector' infer --unit model --on V100 --in f16 --next n.txt
fails 'no budget' '--budget: 0; it takes at least 1' infer --unit model --on V100 --in f16 --budget 0
finish
