#!/usr/bin/env bash
# Shards and their merge: the whole report has the same bytes for any number of shards.
# Usage: shard.sh SOFTMMA MODULE-FOLDER
set -u
export LC_ALL=C
softmma=$(realpath "${1:?usage: shard.sh SOFTMMA MODULE-FOLDER}")
modules=$(realpath "${2:?usage: shard.sh SOFTMMA MODULE-FOLDER}")
source_directory=$(realpath "$(dirname "$0")/..")
# shellcheck source=tests/judging.sh
source "$source_directory/tests/judging.sh"
wrong=plugin:$modules/wrong_unit.so
ampere=(--on A100 --instr mma.m16n8k16.f32.f16.f16.f32)

same() { cmp <(grep -v '"date"' "$1") <(grep -v '"date"' "$2"); } # ignores the start dates

# in_shards N ARGUMENT...: runs N shards of a campaign into shard-I.json, and merges them into merged.json
in_shards() {
  local count=$1 i
  shift
  rm -f shard-*.json
  for ((i = 1; i <= count; i++)); do
    "$softmma" test "$@" --shard "$i/$count" --resume "shard-$i.json" >in/stdout 2>in/stderr
    [ $? -le 1 ] || return 2
  done
  runs 0 vectors merge shard-*.json -o merged.json || return 2
}

# ---- Campaigns ----

one=(--unit "$wrong:flushed_b" "${ampere[@]}" --rows 300000)
ends 1 test "${one[@]}" --resume whole.json --json
cp in/stdout whole.out
for count in 2 7; do # 7 is more than the number of parts
  check "$count shards" in_shards "$count" "${one[@]}"
  check "$count shards: the same bytes" same merged.json whole.json
done
cp in/stdout summary
ends 0 vectors merge shard-*.json --json
check 'the whole as JSON' cmp <(jq . merged.json) <(jq . in/stdout)
check 'the version of the form' grep -q '^ "softmma-report": 1$' merged.json
cp summary in/stdout
check 'the summary' grep -qx 'merged.json: 7 shards, instructions=1 rows=300000 mismatches=[1-9][0-9]*' in/stdout
cp merged.json kept.json
ends 1 test "${one[@]}" --resume merged.json --json
check 'the whole prints the same, with classes' same in/stdout whole.out
check 'and is kept as it is' same merged.json kept.json

many=(--unit model --on volta --rows 70000 --seed 7 --kind edge)
ends 0 test "${many[@]}" --resume many.json
for count in 3 4; do
  check "several instructions in $count shards" in_shards "$count" "${many[@]}"
  check "several instructions in $count shards: the same bytes" same merged.json many.json
done
check 'each shard has a part of the work' [ "$(grep -c '"rows": [1-9]' shard-*.json | grep -c ':[2-9]')" = 4 ]
ends 0 custom --from A100 --instr mma.m16n8k16.f32.f16.f16.f32
sed 's/toward-zero/nearest-even/' in/stdout >unit.json

ends 0 vectors record --unit model "${ampere[@]}" --rows 150000 -o rows.txt
recorded=(--unit file:rows.txt "${ampere[@]}" --rows 1000000)
ends 0 test "${recorded[@]}" --resume recorded.json
check 'a recording with fewer rows' in_shards 4 "${recorded[@]}"
check 'a recording with fewer rows: the same bytes' same merged.json recorded.json

# An interrupted shard resumes.
stopped=(--unit "$wrong:bit" "${ampere[@]}" --shard 2/2 --resume half.json)
"$softmma" test "${stopped[@]}" --rows 1000000000 >in/stdout 2>in/stderr &
check 'a shard, interrupted' ended_after '[ -s half.json ]' $! 2
check 'an interrupted shard' grep -q '"complete": false' half.json
ends 1 test --unit "$wrong:bit" "${ampere[@]}" --rows 65536 --shard 1/2 --resume other.json
sed -i '0,/"rows": 65536,/s//"rows": 1000000000,/' other.json
fails 'a shard that is not complete' '^softmma: half.json has not all rows of its shard; .* --resume goes on' \
  vectors merge half.json other.json -o merged.json
rows=1000000
ends 1 test --unit "$wrong:bit" "${ampere[@]}" --rows $rows --shard 2/2 --resume short.json
ends 1 test --unit "$wrong:bit" "${ampere[@]}" --rows $((2 * rows)) --shard 2/2 --resume short.json
ends 1 test --unit "$wrong:bit" "${ampere[@]}" --rows $((2 * rows)) --shard 2/2 --resume long.json
check 'a shard in two runs' same short.json long.json

# The number of NaN mismatches is not known if only a sample of the mismatches is.
check 'the number of NaN' jq -e '.instructions[0].nan | type == "number"' whole.json
jq '.instructions[0].mismatches += 1' whole.json >sampled.json
ends 1 test "${one[@]}" --resume sampled.json --json
check 'the number of NaN of a sample' jq -e '.instructions[0] | has("nan") and .nan == null' in/stdout

# ---- Incomplete merges ----

check 'shards' in_shards 3 "${one[@]}"
ends 1 test "${one[@]}" --shard 1/2 --resume of-two.json
ends 1 test "${one[@]}" --shard 1/3 --seed 1 --resume seed.json
ends 1 test "${one[@]}" --rows 5 --shard 1/3 --resume rows.json
ends 1 test "${one[@]}" --kind edge --shard 1/3 --resume kind.json
ends 1 test "${one[@]}" --against custom:unit.json --shard 1/3 --resume against.json
ends 0 test --unit model "${ampere[@]}" --rows 300000 --shard 1/3 --resume unit.json.json
sed 's/"softmma": ".*"/"softmma": "0.0.1"/' shard-1.json >version.json
rest=(shard-2.json shard-3.json -o new.json)
fails 'a missing shard' '^softmma: shard 1 of 3 is missing; give its file, too$' vectors merge "${rest[@]}"
fails 'a shard twice' '^softmma: shard-2.json and shard-2.json are both shard 2 of 3; give one' \
  vectors merge shard-2.json "${rest[@]}"
fails 'another number of shards' 'shard-2.json has another number of shards than of-two.json' vectors merge of-two.json "${rest[@]}"
sed 's/"softmma-report": 1/"softmma-report": 2/' shard-1.json >newer.json
fails 'a form of another version' '^softmma: newer.json: "softmma-report" is the version of this form; allowed: 1$' \
  vectors merge newer.json "${rest[@]}"
sed -e 's/"softmma-report": 1//' -e 's/^ \],$/ ]/' shard-1.json >older.json
ends 0 vectors merge older.json shard-2.json shard-3.json -o old.json
check 'a report without a version' same old.json kept.json
fails 'JSON and a file' '^softmma: -o and --json: ' vectors merge shard-1.json --json -o new.json
fails 'another seed' 'shard-2.json has another seed than seed.json' vectors merge seed.json "${rest[@]}"
fails 'other rows' 'another number of rows than' vectors merge rows.json "${rest[@]}"
fails 'another kind' 'another kind of rows than' vectors merge kind.json "${rest[@]}"
fails 'another model' 'another unit to compare with than' vectors merge against.json "${rest[@]}"
sed 's/nearest-even/toward-zero/' unit.json >then.json
edited=(--unit custom:then.json "${ampere[@]}" --rows 1000)
ends 0 test "${edited[@]}" --shard 1/2 --resume then-1.json
ends 0 test "${edited[@]}" --resume then-whole.json
check 'a report has a checksum of the file' jq -e '.unit.crc32c | test("^[0-9a-f]{8}$")' then-whole.json
sed -i 's/$/ /' then.json
check 'a file with other blanks is the same' runs 0 test "${edited[@]}" --resume then-whole.json
cp unit.json then.json
ends 0 test "${edited[@]}" --shard 2/2 --resume then-2.json
fails 'a shard of the file as it was' 'then-2.json has another unit, device, driver or file than then-1' \
  vectors merge then-1.json then-2.json -o new.json
fails 'a file that was edited' '^softmma: --resume: then-whole.json: the file of custom:then.json was another then; name' \
  test "${edited[@]}" --resume then-whole.json
jq 'del(.unit.crc32c)' then-whole.json >unknown.json
fails 'a report without the checksum' 'unknown.json does not say what the file of custom:then.json was then' \
  test "${edited[@]}" --resume unknown.json
head -n 60 rows.txt >growing.txt
growing=(--unit file:growing.txt "${ampere[@]}" --rows 1000)
ends 0 test "${growing[@]}" --resume growing.json
head -n 70 rows.txt >growing.txt
fails 'another recording' 'growing.json: the file of file:growing.txt was another then' test "${growing[@]}" --resume growing.json
while IFS='|' read -r what change says; do
  jq "$change" unit.json.json >odd.json
  fails "another $what" "^softmma: --resume: odd.json $says; name another file" \
    test --unit model "${ampere[@]}" --rows 300000 --shard 1/3 --resume odd.json
done <<END
device|.unit.device = "NVIDIA A100"|is of model with another device
driver|.against.driver = "535.1"|is of model with another driver
toolkit|.unit.toolkit = "CUDA 12"|is of model with another toolkit
version|.softmma = "0.0.1"|is not of this version, .*
description|del(.unit.driver)|does not describe model: .*
END
fails 'another unit' 'another unit, device, driver or file than' vectors merge unit.json.json "${rest[@]}"
fails 'another version' '^softmma: version.json is not of this version' vectors merge version.json "${rest[@]}"
fails 'a whole report' 'whole.json is no shard' vectors merge whole.json "${rest[@]}"
fails 'no report' "unit.json: it has|unit.json is no shard's report" vectors merge unit.json "${rest[@]}"
fails 'no file' '^softmma: none.json: ' vectors merge none.json "${rest[@]}"
sed 's/"mismatches": .*/"mismatches": 1,/' shard-1.json >odd.json
fails 'numbers that nobody counts' "odd.json: the entry of mma.* is not a campaign's" vectors merge odd.json "${rest[@]}"
sed 's/"index": 1/"index": 0/' shard-1.json >odd.json
fails 'a shard that cannot be' "odd.json: .*shard is not a campaign's" vectors merge odd.json "${rest[@]}"
fails 'nowhere to write' '^softmma: -o is missing' vectors merge shard-1.json
fails 'no folder' '^softmma: -o: none/x: ' vectors merge shard-1.json -o none/x
for text in 0/3 4/3 1/0 1 1/2/3 x/y 1/9999999; do
  fails "--shard $text" "^softmma: --shard: '$text' is not I/N" test "${one[@]}" --shard "$text" --json
done
fails 'a shard for nobody' '^softmma: --shard: its report is to be merged; keep it with --resume FILE or --json$' \
  test "${one[@]}" --shard 1/2
fails 'a file of another shard' '^softmma: --resume: shard-2.json is not of this shard' \
  test "${one[@]}" --shard 1/3 --resume shard-2.json
fails 'a file of a shard for the whole' '^softmma: --resume: shard-2.json is not of this shard' \
  test "${one[@]}" --resume shard-2.json
fails 'open questions' '^softmma: --open has rows and candidates of its own' test --open --unit model --shard 1/2

# ---- Experiments ----

experiment=(experiment accumulation --small --no-plot)
ends 0 "${experiment[@]}" -o one
cp in/stdout one.out
for i in 3 1; do
  gives "experiment, shard $i" 0 "^many/accumulation.csv.shard-$i-of-3: the shard is complete" \
    "${experiment[@]}" -o many --shard "$i/3"
done
check 'a shard keeps its cells' [ -s many/accumulation.csv.shard-3-of-3 ]
check 'a shard that knows everything' runs 0 "${experiment[@]}" -o many --shard 3/3
cp -r many other
ends 0 "${experiment[@]}" -o many # the message also names what is missing
check 'experiment: the same output' cmp in/stdout one.out
check 'experiment: the same files, and no others' diff -r one many
check 'shards of another seed' runs 2 "${experiment[@]}" -o other --seed 5
check 'shards of another seed, in one line' \
  grep -q '^softmma: other/accumulation.csv.shard-1-of-3: rows of another version, seed' in/stderr
fails 'a shard of nothing' '^softmma: --shard: it has no effect with the list of experiments' experiment --shard 1/3

# ---- Coverage ----

for seed in 1 2; do ends 0 coverage "${ampere[@]}" --rows 500 --seed $seed -o "coverage-$seed.json"; done
ends 0 coverage coverage-1.json coverage-2.json -o both.json
gives 'coverage' 0 '^merged.json: coverage of 2 files$' vectors merge coverage-1.json coverage-2.json -o merged.json
check 'coverage: the same bytes' cmp merged.json both.json
fails 'coverage and a report' 'shard-1.json is no file of coverage' vectors merge coverage-1.json shard-1.json -o new.json

finish
