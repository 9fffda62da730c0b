#!/usr/bin/env bash
# Tests scripts/add-rows with rows of a pretended GPU. It accepts the archive of scripts/hardware-campaign, and a vector
# file of any form, and checks the added rows. It refuses rows that differ from the model, rows that cannot be verified,
# and files without a machine's name.
# Usage: add_rows.sh SOFTMMA
set -u
softmma=$(realpath "${1:?usage: add_rows.sh SOFTMMA}")
source_directory=$(realpath "$(dirname "$0")/..")
# shellcheck source=tests/judging.sh
source "$source_directory/tests/judging.sh"
export SOFTMMA=$softmma

add() { "$source_directory/scripts/add-rows" "$@" "$PWD/recorded" >in/add 2>&1; }
refused() { # STATUS PATTERN ARGUMENT...
  local status=0
  add "${@:3}" || status=$?
  [ $status -eq "$1" ] && grep -qE -e "$2" in/add
}

mkdir -p in campaign/of-each
for name in mma.m16n8k16.f32.f16.f16.f32 mma.m16n8k8.f32.tf32.tf32.f32; do
  "$softmma" vectors gen --on A100 --instr $name --rows 1200 -o rows.txt 2>/dev/null
  { echo '# recorded on: NVIDIA X9000; driver 1.2; 2026-11-27' && grep -v '^# recorded on' rows.txt; } >campaign/of-each/$name.txt
done
name=mma.m16n8k16.f32.f16.f16.f32
tar -czf campaign/recorded.tar.gz -C campaign/of-each . && mv campaign/of-each/$name.txt . && rm -r campaign/of-each
echo 'one line' >campaign/gpu.txt
tar -czf campaign.tar.gz campaign
check 'a campaign of a pretended GPU' add campaign.tar.gz x9000 'A. Name' 'CC BY 4.0'
check 'it has both instructions, 1,000 rows of each' grep -q '^2 files with 2000 rows in ' in/add
one=recorded/x9000/$name.txt
check 'who recorded them, and the licence' \
  [ "$(head -n 3 $one)" = $'# recorded by: A. Name\n# licence: CC BY 4.0\n# recorded on: NVIDIA X9000; driver 1.2; 2026-11-27' ]
gives 'they are checked' 0 'rows=2000 mismatches=0' verify recorded
# The limit holds for every form of a vector file. A row in uppercase hexadecimal may begin with A to F.
{ grep '^#' $name.txt && grep -v '^#' $name.txt | tr a-f A-F; } >uppercase.txt
for form in csv json bin; do "$softmma" vectors convert $name.txt rows.$form; done
for file in uppercase.txt rows.csv rows.json rows.bin; do
  check "$file" add $file "x9000-${file%.*}-${file#*.}" 'A. Name' 'CC BY 4.0'
  check "$file: 1,000 rows" grep -q '^1 files with 1000 rows in ' in/add
  check "$file: the same rows" cmp $one "recorded/x9000-${file%.*}-${file#*.}/$name.txt"
done
check 'the name is taken' refused 1 'x9000 is there already' campaign.tar.gz x9000 'A. Name' 'CC BY 4.0'
sed -E '$s/.$/x/; $s/0x$/1/; $s/x$/0/' $one >wrong.txt
gives 'a wrong bit is noticed' 1 'mismatches=1' verify wrong.txt
check 'rows that differ' refused 1 'rows differ from the model; CONTRIBUTING.md' wrong.txt x9001 'A. Name' 'CC BY 4.0'
check 'nothing is added' [ ! -e recorded/x9001 ]
grep -v '^# recorded on' $one >nowhere.txt
check 'no machine' refused 1 "does not say '# recorded on: MACHINE'" nowhere.txt x9001 'A. Name' 'CC BY 4.0'
{ cat $one && echo 'not a row'; } >broken.txt
check 'rows that cannot be read' refused 1 'broken.txt has no test vectors' broken.txt x9001 'A. Name' 'CC BY 4.0'
sed 's/^# instruction: .*/&x/' $one >unknown.txt
check 'no such instruction' refused 1 'unknown.txt' unknown.txt x9001 'A. Name' 'CC BY 4.0'
check 'this is no difference' [ -z "$(grep 'rows differ' in/add)" ]
check 'no vector file' refused 1 'has no test vectors' campaign/gpu.txt x9001 'A. Name' 'CC BY 4.0'
check 'no name' refused 2 'scripts/add-rows FILE NAME BY LICENCE' $one 'X 9' 'A. Name' 'CC BY 4.0'
finish
