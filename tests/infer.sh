#!/usr/bin/env bash
# The commands infer and next, as a user runs them. infer_limits.sh tests NaN encodings and the limits of a search.
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
ends 1 "${pairs[@]}" --rows 1
check 'fewer rows than pairs' grep -qx \
  'softmma: note: no row written tells custom:25.json from custom:zero.json, but one searched does; give more --rows' \
  in/stderr
check 'and no other note' [ "$(grep -c 'no row' in/stderr)" = 1 ]
ends 1 "${pairs[@]}" --rows 1 --json
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
