#!/usr/bin/env bash
# Runs the sessions of the documentation: every command after "$ " in a ```console or an indented block of the named
# Markdown files must print the output that is shown. A shown line that ends with "..." matches any line that begins
# with the same text. Output on stderr comes first, as in a pipe. Files that a session writes to /tmp go to a folder of
# this run. README.md may have at most 700 words, because it only leads to the other pages, and CHANGELOG.md has each
# entry once.
# Usage, from the top of the source: docs.sh BUILD_DIRECTORY FILE...
set -u
PATH=$1/bin:$PATH
shift
folder=$(mktemp -d /tmp/docs.XXXXXX)
trap 'rm -rf "$folder"' EXIT
passed=0 failed=0 command='' at=''
expected=()

same_line() { # same_line SHOWN GOT: compares a line of the page with a line of output
  if [[ $1 == *... ]]; then [[ $2 == "${1%...}"* ]]; else [ "$1" = "$2" ]; fi
}

finish_command() {
  local got same=1 i last
  [ -n "$command" ] || return
  for ((last = ${#expected[@]} - 1; last >= 0; last--)); do
    [ -z "${expected[last]}" ] || break
    unset "expected[last]" # blank lines after a block
  done
  mapfile -t got < <(bash -c "${command//"/tmp/"/"$folder/"}" 2>&1 | sed "s|$folder/|/tmp/|g")
  [ ${#got[@]} -eq ${#expected[@]} ] || same=0
  for i in "${!expected[@]}"; do same_line "${expected[i]}" "${got[i]-}" || same=0; done
  if [ $same = 1 ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf 'FAILED: %s: %s\n' "$at" "$command"
    diff <(printf '%s\n' "${expected[@]-}") <(printf '%s\n' "${got[@]-}")
  fi
  command='' expected=()
}

take_line() { # WHERE LINE: processes one line of a session
  if [[ $2 == '$ '* ]]; then
    finish_command
    command=${2#'$ '} at=$1
  elif [ -n "$command" ]; then
    expected+=("$2")
  fi
}

for file in "$@"; do
  if [ "$file" = README.md ] && [ "$(wc -w <README.md)" -gt 700 ]; then
    echo "FAILED: README.md has $(wc -w <README.md) words, more than 700: move some to docs/tour.md"
    failed=$((failed + 1))
  fi
  if [ "$file" = README.md ]; then
    twice=$(grep '^- ' CHANGELOG.md | sort | uniq -d)
    if [ -n "$twice" ]; then
      printf 'FAILED: CHANGELOG.md has an entry twice: %s\n' "$twice"
      failed=$((failed + 1))
    fi
  fi
  fenced=0 number=0
  while IFS= read -r line; do
    number=$((number + 1))
    if [ "$line" = '```console' ]; then
      fenced=1
    elif [[ $line == '```'* ]]; then
      finish_command
      fenced=0
    elif [ $fenced = 1 ] || [ -z "$line" ]; then
      take_line "$file:$number" "$line"
    elif [[ $line == '    '* ]]; then
      take_line "$file:$number" "${line#    }"
    else
      finish_command
    fi
  done <"$file"
  finish_command
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
