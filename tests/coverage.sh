#!/usr/bin/env bash
# softmma coverage and gen --cover, end to end. Usage: coverage.sh SOFTMMA
set -u
export LC_ALL=C
softmma=$(realpath "${1:?usage: coverage.sh SOFTMMA}")
source_directory=$(realpath "$(dirname "$0")/..")
# shellcheck source=tests/judging.sh
source "$source_directory/tests/judging.sh"

half=(--on H100 --instr mma.m16n8k16.f32.f16.f16.f32)
small=(--on V100 --instr mma.m8n8k4.f16.f16.f16.f16)

# has FILTER: checks that the output is JSON for which jq's filter is true
has() { jq -e "$1" in/stdout >/dev/null; }

# ---- Counting ----

gives "a campaign's rows" 0 ': 1000 rows, 974 of 974 events that are not impossible$' coverage "${half[@]}" --rows 1000
gives 'rows of a kind' 0 '^hopper mma.m16n8k16.f32.f16.f16.f32: 1000 rows, [0-9]* of 974 events' coverage "${half[@]}" \
  --kind edge --rows 1000 --show 1000
check 'what is missed' grep -q '^  sum: begins [0-9]* binades' in/stdout
gives 'single bits, whose only number is the greatest' 0 ': 500 rows, 1057 of 1081 events' coverage --on A100 \
  --instr BMMA.168256.XOR.POPC --rows 500
gives 'as JSON' 0 '' coverage "${half[@]}" --rows 1000 --json
check 'every event, once' has '.[0] | (.events | length) == .hit + .missed + .impossible'
check 'with a reason' has '[.[0].events[] | select(.state == "impossible") | .because | length > 10] | all'
check 'hits are of rows' has '[.[0].events[] | select(.kind == "operands" and (.event | startswith("c:"))) | .hits] | add == 1000'

ends 0 vectors gen "${half[@]}" --rows 1000 --seed 7 -o rows.txt
gives 'a vector file' 0 ': 1000 rows, ' coverage rows.txt -o one.json
gives 'the same, kept' 0 '"rows": 1000' coverage one.json --json
cp in/stdout one
ends 0 coverage rows.txt --json
check 'counts as the file' cmp -s one in/stdout
ends 0 coverage "${half[@]}" --rows 500 -o two.json
gives 'merged' 0 ': 1500 rows, ' coverage one.json two.json -o all.json
ends 0 coverage rows.txt two.json --json
cp in/stdout merged
ends 0 coverage all.json --json
check 'whatever they are merged from' cmp -s merged in/stdout
ends 0 vectors gen "${small[@]}" --rows 10 -o small.txt
gives 'binary rows, of a pipe' 0 ': 10 rows, ' coverage <("$softmma" vectors gen "${small[@]}" --rows 10 --format binary)
gives 'several instructions' 0 '^volta mma.m8n8k4' coverage rows.txt small.txt
gives 'a page' 0 'rows' coverage one.json --html page.html
ends 0 coverage one.json --json
check 'each event a square' cmp -s <(parts page.html | jq -c '.[].squares // [] | .[][]' | sort) \
  <(jq -c '.[0].events[]' in/stdout | sort)
check 'a table of counts' cmp -s <(parts page.html | jq '.[].table // empty | .[-1]') \
  <(jq '.[0] | ["all", .hit, .missed, .impossible]' in/stdout)

"$softmma" custom --from A100 --instr mma.m16n8k8.f32.tf32.tf32.f32 >unit.json
if browser_draws page.html; then
  check 'all of them are drawn, and four of the legend' \
    [ "$(grep -oE 'class="square (hit|missed|found|impossible)"' in/drawn | wc -l)" -eq 1024 ]
  check 'each says what it is' grep -qE 'title="a\[0\]: \+0: hit, [0-9]+ times"' in/drawn
  check 'so is the table' grep -qE '<td>all</td><td class="number">[0-9]+</td>' in/drawn
fi
mkdir 'a<' && cp unit.json 'a</script>.json'
gives 'a page of a name that ends scripts' 0 'rows' coverage --on './a</script>.json' --rows 100 --html page.html
check 'which ends none' [ "$(grep -c '</script>' page.html)" -eq 2 ]
check 'and is there' grep -q '^./a</script>.json ' <(parts page.html | jq -r '.[].heading // empty')
gives 'a custom unit' 0 '^.*unit.json .*: 100 rows' coverage --on ./unit.json --rows 100 -o unit-counts.json
gives 'and its counts' 0 ': 200 rows' coverage unit-counts.json unit-counts.json
sed -i 's/"alignment_bits": 24/"alignment_bits": 23/' unit.json
fails 'of another rule' "unit-counts.json: .*: counted by another rule" coverage unit-counts.json

# ---- Units, and wrong results ----

gives 'the model as unit' 0 ': 300 rows' coverage "${small[@]}" --unit model --rows 300
"$softmma" custom --from V100 --instr mma.m8n8k4.f16.f16.f16.f16 | sed 's/"alignment_bits": 23/"alignment_bits": 20/' >wrong.json
gives 'another unit' 1 ': 3000 rows' coverage "${small[@]}" --unit custom:wrong.json --rows 3000
check 'is said' grep -q 'results are not the model' in/stderr
awk '!/^#/ && !done { sub(/....$/, "1234"); done = 1 } 1' small.txt >broken.txt
gives 'a wrong result in a file' 1 ': 10 rows' coverage broken.txt

# ---- Test vectors that reach events ----

check 'few rows' runs 0 vectors gen "${small[@]}" --cover -o cover.txt
check 'how many' grep -qE '^softmma: note: [0-9]+ rows make [0-9]+ of [0-9]+ events happen' in/stderr
rows=$(grep -vc '^#' cover.txt)
check 'are few' [ "$rows" -lt 200 ]
gives 'right ones' 0 "rows=$rows mismatches=0" verify cover.txt
ends 0 coverage cover.txt --json
read -r of_cover <<<"$(jq '.[0].hit' in/stdout)"
"$softmma" vectors gen "${small[@]}" --cover >cover2.txt 2>note
check 'that make happen what the note says' grep -q "make $of_cover of" note
check 'the same again' cmp -s cover.txt cover2.txt
OMP_NUM_THREADS=1 "$softmma" vectors gen "${small[@]}" --cover 2>/dev/null >cover2.txt
check 'with one thread' cmp -s cover.txt cover2.txt
ends 0 coverage "${small[@]}" --kind random --rows 2000 --json
check 'more than random ones' [ "$of_cover" -gt "$(jq '.[0].hit' in/stdout)" ]
check 'fewer rows than all events need' runs 0 vectors gen "${small[@]}" --cover --rows 5 -o fewer.txt
check 'fewer rows than all events need: all are written' cmp cover.txt fewer.txt
check 'fewer rows than all events need: a note' grep -q 'note: --rows: 5 test vectors cause fewer events than the ' in/stderr
ends 0 vectors gen "${small[@]}" --cover --rows 400 -o more.txt
check 'more rows than all events need: no note' [ -z "$(grep -e --rows in/stderr)" ]
check 'rows like them' [ "$(grep -vc '^#' more.txt)" -eq 400 ]
check 'behind them' cmp -s <(grep -v '^#' cover.txt) <(grep -v '^#' more.txt | head -n "$rows")
gives 'right ones, too' 0 'rows=400 mismatches=0' verify more.txt
gives 'a search for what is missing' 0 'rows for it were found$' coverage small.txt --search 20000 --show 1000

# ---- Errors ----

fails 'no file' 'nothing.txt: No such file' coverage nothing.txt
fails 'nothing to do' 'give FILE, or a target' coverage
fails 'both' 'a target has no effect with files' coverage rows.txt "${half[@]}"
fails 'a negative number' '^softmma: --rows: -1 is negative$' vectors gen "${half[@]}" --rows -1
fails 'two ways' '--cover and --kind do not go together' vectors gen "${half[@]}" --cover --kind edge
head -c 300 one.json >cut.json
fails 'a file that was cut' 'cut.json:1:301: ' coverage cut.json
sed 's/"softmma-coverage":1/"softmma-coverage":2/' one.json >later.json
fails 'of another version' 'later.json: no coverage of version 1' coverage later.json
sed 's/"rows":1000/"rows":-1/' one.json >negative.json
fails 'a negative count' 'negative.json: a run without' coverage negative.json
sed 's/"hits":\[[0-9]*,/"hits":[/' one.json >short.json
fails 'a count too few' 'short.json: .*: counted by another rule, or another version' coverage short.json
fails 'a page that cannot be written' '^softmma: --html: ' coverage one.json --html nowhere/page.html

finish
