#!/usr/bin/env bash
# softmma experiment, end to end: the small run of every experiment has the digest in experiment_digests.txt. With NAME,
# runs only that experiment.
# Usage: experiment.sh SOFTMMA [NAME]
set -u
export LC_ALL=C
softmma=$(realpath "${1:?usage: experiment.sh SOFTMMA [NAME]}")
source_directory=$(realpath "$(dirname "$0")/..")
# shellcheck source=tests/judging.sh
source "$source_directory/tests/judging.sh"
mkdir one two

# digest FILE: prints the digest of a CSV file's rows, without its header
digest() { grep -v '^#' "$1" | sha256sum | cut -d ' ' -f 1; }

gives 'a list' 0 '^accumulation  ' experiment
gives 'as JSON' 0 '"name": "accumulation"' experiment --json
names=$(jq -r '.[].name' in/stdout)
gives 'rows as JSON' 0 '"error|rows"' experiment ozaki --small --no-plot --json -o one
check 'rows as JSON: numbers are numbers' test "$(jq -c '.rows[0] | [.gap, .products, .slices] | map(type)' in/stdout)" = \
  '["number","string","number"]'

# ---- Every experiment ----

[ $# -eq 1 ] || names=$2
for name in $names; do
  gives "$name: parameters" 0 '^Parameters, their values' experiment "$name" --help
  gives "$name: one thread" 0 "^$name: " experiment "$name" --small --threads 1 --no-plot -o one
  check "$name: the summary" diff <(sed '/^# /d' "one/$name.txt") in/stdout
  gives "$name: two threads" 0 "^$name: " experiment "$name" --small --threads 2 -o two
  check "$name: threads change nothing" cmp "one/$name.csv" "two/$name.csv"
  check "$name: no numbers that are none" test -z "$(grep -v '^#' "one/$name.csv" | grep -E ',-?nan')"
  wanted=$(sed -n "s/^$name //p" "$source_directory/tests/experiment_digests.txt")
  check "$name: digest $(digest "one/$name.csv")" test "$(digest "one/$name.csv")" = "$wanted"
  check "$name: lines of at most 100 columns" test -z "$(grep -E '^.{101}' in/stdout)"
  check "docs/experiments.md has $name" grep -qx "## $name" "$source_directory/docs/experiments.md"
  if command -v gnuplot xmllint >in/which; then
    check "$name: the picture is XML" xmllint --noout "two/$name.svg"
    check "$name: a PNG file" test -s "two/$name.png"
  fi
done
check 'nothing is left over' test -z "$(find one two -name '*.part')"
if [ $# -gt 1 ]; then
  finish
  exit
fi

# ---- Files that a run leaves behind, and resuming from them ----

part=accumulation.csv.part
again=(experiment accumulation --small --threads 1 --no-plot)
"$softmma" experiment accumulation --set side=3 --threads 1 --no-plot >in/stdout 2>in/stderr &
# shellcheck disable=SC2016  # evaluated again and again
three_cells='[ "$(grep -c "^# cell" $part 2>in/grep)" -ge 3 ] 2>in/test' # fails as long as the file does not exist
check 'interrupted' ended_after "$three_cells" $! 2
check 'says where to go on' grep -q '^softmma: interrupted; the same command goes on from ./acc' in/stderr
check 'no result yet' test ! -e accumulation.csv
check 'ends with a whole cell' grep -q '^# cell' <(tail -n 1 $part)
fails 'other parameters' 'csv.part: rows of another version, seed or other parameters; .* remove the file$' "${again[@]}"

# The file that a run of other arguments would leave when it is killed while it writes its fourth cell.
sed 's/^# greatest-k: .*/# greatest-k: 1024/; /^# cell 2/q' $part >kept
head_lines=$(grep -n '^entries' kept | cut -d : -f 1)
{ cat kept; printf 'uniform,16,13 b'; } >$part
gives 'goes on' 0 '^accumulation: ' "${again[@]}"
check 'with the same rows' cmp one/accumulation.csv accumulation.csv
check 'the unfinished file is gone' test ! -e $part

# Cells in the file are not computed again: altered rows remain if their digest (FNV-1a) is correct.
digest_of_cell() {
  local hash=$((16#cbf29ce484222325)) byte
  while read -r byte; do hash=$(((hash ^ 16#$byte) * 16#100000001b3)); done < <(od -An -v -t x1 -w1 "$1" | tr -d ' ')
  printf '# cell 0: %016x\n' $hash
}
sed "1,${head_lines}d; /^# cell 0/,\$d; s/,[^,]*\$/,7/" kept >forged
{ head -n "$head_lines" kept && cat forged && digest_of_cell forged; } >$part
gives 'takes what is there' 0 '^accumulation: ' "${again[@]}"
check 'as it stands' test "$(grep -c '^uniform.*,7$' accumulation.csv)" -eq "$(wc -l <forged)"

for damage in 's/^uniform,16,13/uniform,17,13/' 's/^# cell 1/# cell 0/' 's/^# cell 1/# cell 99/' 's/^# cell/# call/'; do
  sed "$damage" kept >$part
  fails "damaged: $damage" 'csv.part: byte [0-9]* after the head: damaged; remove the file' "${again[@]}"
done
cp kept $part
exec 9<$part
flock 9
fails 'two runs in one folder' 'csv.part: another run of this experiment writes it' "${again[@]}"
check 'it is untouched' cmp -s kept $part
exec 9<&-
head -c 40 kept >$part
gives 'interrupted in its head' 0 '^accumulation: ' "${again[@]}"
check 'starts again' cmp one/accumulation.csv accumulation.csv

# ---- Seeds, files, errors ----

gives 'another seed' 0 . experiment accumulation --small --no-plot --seed 1
check 'another result' test "$(digest one/accumulation.csv)" != "$(digest accumulation.csv)"
gives 'JSON rows' 0 '"experiment": "accumulation"' experiment accumulation --small --no-plot --json
check 'as many as in the file' test "$(jq '.rows | length' in/stdout)" -eq \
  "$(grep -vc -e '^#' -e ^entries one/accumulation.csv)"
mkdir bin
PATH=$PWD/bin "$softmma" experiment accumulation --small >in/stdout 2>in/stderr
check 'without gnuplot' test $? -eq 0
check 'it is said' grep -q '^softmma: note: no pictures: gnuplot is not installed (' in/stderr
check 'the rest is there' test -s accumulation.txt
# The picture of a number in another form is that of the same number.
printf '#!/bin/sh\ncat "$@" >>"$SCRIPT"\n' >bin/gnuplot
chmod +x bin/gnuplot
for k in 20 2e1; do
  SCRIPT=$PWD/script-$k PATH=$PWD/bin:$PATH "$softmma" experiment porting --set k=$k >in/stdout 2>in/stderr
done
check 'a picture of 2e1 elements' grep -q '^.exact << END' script-2e1
check 'as of 20 elements' cmp script-20 script-2e1
ends 0 experiment porting --set k=8_192 --no-plot
check 'the published number in another form' grep -q '^The loop from ' in/stdout
mkdir p 'p[1]' p1 # the second is a pattern of the third
for part in 1 2; do ends 0 experiment accumulation --small --no-plot --shard $part/2 -o p1; done
cp p1/* 'p[1]'
ends 0 experiment accumulation --small --no-plot -o 'p[1]'
check 'the parts of this folder alone' [ "$(find p1 'p[1]' -name '*.shard-*' | grep -c '^p1/')" = 2 ]
check 'are collected' [ ! -e 'p[1]/accumulation.csv.shard-1-of-2' ]
zeros=(--set least-k=1 --set greatest-k=1 --set side=64 --seed 4 --no-plot)
ends 0 experiment accumulation "${zeros[@]}" -o p
check 'products that are all zero' test -z "$(grep -E ',-?nan' p/accumulation.csv)"
ends 0 experiment accumulation --small --no-plot --seed -1 -o p
check 'a negative seed, as it was given' grep -q '^# seed: -1$' p/accumulation.csv
fails 'no such experiment' "unknown experiment 'acumulation'; experiments are .*accumulation" experiment acumulation
fails 'no such parameter' "accumulation has no parameter 'sides'" experiment accumulation --set sides=3
fails 'no value' "'side' is not NAME=VALUE" experiment accumulation --set side
fails 'no number' "side: '3x' is not a whole number from 1 to 64" experiment accumulation --set side=3x
fails 'too many' "side: '65' is not a whole number" experiment accumulation --set side=65
fails 'no multiple' "promote-every: '33' is not a multiple of 32" experiment accumulation --set promote-every=33
fails 'threads' '--threads: -1' experiment accumulation --threads -1
finish
