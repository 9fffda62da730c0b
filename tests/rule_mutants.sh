#!/usr/bin/env bash
# Mutants of two rules, found with few test vectors.
# Usage: rule_mutants.sh RULE_MUTANTS
set -u
export LC_ALL=C
mutants=$(realpath "${1:?usage: rule_mutants.sh RULE_MUTANTS}")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failed=0
check() { # check WHAT COMMAND...
  local what=$1
  shift
  "$@" || { echo "FAILED: $what"; failed=1; }
}

# of CLASS LINE: prints the column of a class in a line of the table by classes
of() {
  awk -F ' *[|] *' -v class="$1" -v line="$2" '$2 ~ /^of / { for (n = 3; n < NF; n++) if ($n == class) at = n }
    at && $2 == line { print $at }' out.txt
}

few=(-f 3 -r 2 -n 1024 -m 2 -t 8192)
OMP_NUM_THREADS=1 "$mutants" "${few[@]}" -c one.tsv >out.txt 2>err.txt || { cat err.txt; exit 1; }
OMP_NUM_THREADS=3 "$mutants" "${few[@]}" -c three.tsv >three.txt 2>err.txt || { cat err.txt; exit 1; }
check 'the same for any number of threads' cmp out.txt three.txt
check 'and the curve' cmp one.tsv three.tsv
check 'a curve of 1 to 1024 rows' [ "$(wc -l <one.tsv)" -eq 12 ]
check 'two rules' grep -q '^rules=2 mutants=' out.txt
for class in parameters lanes alignment carries sticky; do
  all=$(of "$class" mutants)
  check "$class: there are mutants" [ "${all:-0}" -ge 4 ]
  check "$class: most are killed" [ $((4 * $(of "$class" 'any of these'))) -ge $((3 * $(of "$class" mutants))) ]
  check "$class: not all by normal rows alone" [ "$(of "$class" normal)" -le "$(of "$class" 'any of these')" ]
done
check 'normal rows kill fewer than those of --cover' [ "$(of lanes normal)" -lt "$(of lanes --cover)" ]
campaign=0 kinds=0
for class in parameters lanes alignment carries sticky; do
  campaign=$((campaign + $(of "$class" campaign))) kinds=$((kinds + $(of "$class" 'all ten in turn')))
done
check "those of a campaign kill more ($campaign) than all kinds in turn ($kinds)" [ "$campaign" -gt "$kinds" ]
check 'a block that is larger than K is the same function' \
  grep -q ': block is [0-9]* instead of [0-9]*: the same function, proved$' out.txt
[ "$failed" -eq 0 ] || cat out.txt
exit "$failed"
