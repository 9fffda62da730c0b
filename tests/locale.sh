#!/usr/bin/env bash
# In a locale with a decimal comma, numbers are read and written with a point: by the command, and by the library in a
# program that has set its locale.
# Usage: locale.sh SOFTMMA PROGRAM
set -u
usage='usage: locale.sh SOFTMMA PROGRAM'
softmma=$(realpath "${1:?$usage}") program=$(realpath "${2:?$usage}")
source_directory=$(realpath "$(dirname "$0")/..")
data=$source_directory/examples/data
# shellcheck source=tests/judging.sh
source "$source_directory/tests/judging.sh"
if ! mkdir locales || ! localedef -i de_DE -f UTF-8 locales/de_DE.UTF-8 2>in/stderr; then
  echo '**********************************************************************'
  echo 'SKIPPED: localedef cannot make the locale de_DE.UTF-8 here (Debian: package locales);'
  echo 'numbers were NOT read and written in a locale with a decimal comma.'
  echo '**********************************************************************'
  exit 77
fi
comma=(env "LOCPATH=$PWD/locales" LC_ALL=de_DE.UTF-8)
export LC_ALL=C

# same NAME ARGUMENT...: checks that the command writes the same bytes in both locales, to its output and to files
same() {
  local name=$1
  shift
  rm -rf point comma
  mkdir point comma
  (cd point && "$softmma" "$@" >out 2>err)
  local status=$?
  (cd comma && "${comma[@]}" "$softmma" "$@" >out 2>err)
  check "$name: the status is $status" [ $? -eq $status ]
  check "$name: the same bytes" diff -r point comma
}

volta=(--on V100 --instr HMMA.884.F32.F32)
product=("$data/digits.npy" "$data/digits-axes.npy")
same 'dot' dot "${volta[@]}" --a 0.5,1.25,-3e-2,0 --b 0.1,0.2,0.3,0 -c 1.5
same 'a comma is no decimal point' dot "${volta[@]}" --a '0,5 0 0 0' --b 1,2,3,4
same 'explain' dot "${volta[@]}" --a 0.3,0.7,0,0 --b 1.1,-2.5,0,0 -c 0.125 --explain
same 'a picture' explain --on V100 --instr HMMA.884.F32.F32 --a 0.3,0.7,0,0 --b 1.1,-2.5,0,0 -c 0.125 --svg picture.svg
same 'tolerance' tolerance --on H100 --in f16 "${product[@]}" --margin 1.5
same 'compare' compare --on V100,H100 --in f16 --alpha 0.5 "${product[@]}"
same 'trace' trace --on H100 --in f16 "${product[@]}" --at 3,2
same 'trace as JSON' trace --on H100 --in f16 "${product[@]}" --at 3,2 --json
same 'an experiment' experiment bias --small --no-plot
same 'a wrong number' tolerance --on H100 --in f16 "${product[@]}" --margin 1,5

touch in/stdout
"$program" >point.txt 2>in/stderr
check 'a program without a locale writes fractions with a point' [ "$? $(cat in/stderr)" = '0 0.5' ]
"${comma[@]}" "$program" , >comma.txt 2>in/stderr
check 'a program with the locale writes them with a comma' [ "$? $(cat in/stderr)" = '0 0,5' ]
check 'the library reads and prints the same numbers' diff point.txt comma.txt
finish
