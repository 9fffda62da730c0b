#!/usr/bin/env bash
# The manual page and the shell completion have every command and option, and no others. The manual page has the usage
# lines and numeric defaults of --help, the keys that commands print as JSON, and every environment variable. With
# `built`, also asks man for the page of the command in a build folder.
# Usage: manual.sh SOFTMMA [built]
set -u
export LC_ALL=C
softmma=$(realpath "${1:?usage: manual.sh SOFTMMA}")
source_directory=$(realpath "$(dirname "$0")/..")
# shellcheck source=tests/judging.sh
source "$source_directory/tests/judging.sh"

touch A.npy A16.npy hundred.txt
kernels=$("$softmma" version | sed -n 's/^kernels *\([^(]*\).*/\1/p' | tr -d ,)
kinds='random normal edge zeros tiny cancellation ill network schryer aimed'

# ---- The manual page ----

manual=$source_directory/docs/softmma.1
mapfile -t commands < <("$softmma" --help | sed -nE 's/^  (([a-z-]+ )?[a-z-]+)  .*/\1/p')
check 'commands are found' [ ${#commands[@]} -gt 20 ]

# options_of COMMAND: prints the options that --help lists ("-o", "--output"), one a line; an option with a value ends
# with '=' (popt writes '--set NAME=VALUE', and '--against UNIT' for an option that may be repeated)
options_of() {
  local words
  read -ra words <<<"$1"
  {
    "$softmma" "${words[@]}" --help
    [ "$1" != diff ] || "$softmma" diff --prove --help
  } | sed -n '/^Options:/,/^Every command:/p' |
    sed -E 's/^( +.*--[a-z-]+) ([A-Z])/\1=\2/' |
    sed -nE 's/^ {2}(-[A-Za-z]), (--[a-z-]+)(=?).*/\1\3\n\2\3/p; s/^ {6}(--[a-z-]+)(=?).*/\1\2/p' | sort -u
}

# defaults_of COMMAND: prints each option whose default is a number, and the number
defaults_of() {
  local words
  read -ra words <<<"$1"
  {
    "$softmma" "${words[@]}" --help
    [ "$1" != diff ] || "$softmma" diff --prove --help
  } | awk '/^ +(-[A-Za-z], )?--/ { print line; line = "" } { line = line " " $0 } END { print line }' |
    sed -nE 's/^ +(-[A-Za-z], )?--([a-z-]+).*\(default: ([0-9]+)\).*/\2 \3/p'
}

# section NAME: prints that part of the manual, from its heading to the next
section() { awk -v name="$1" '/^\.S[sh] /{inside = $0 ~ "^[.]S[sh] " name "$"} inside' "$manual"; }

# synopsis_of COMMAND: prints the arguments in the synopsis of a command as --help writes them, without blanks
synopsis_of() {
  awk -v command="$1" '
    $1 == ".Cm" { inside = substr($0, 5) == command; next }
    $1 == ".Nm" || !inside { next }
    {
      sub(/^\./, "")
      for (i = 1; i <= NF; i++)
        if ($i == "Fl") { i++; printf "-%s", $i }
        else if ($i == "Oo") printf "["
        else if ($i == "Oc") printf "]"
        else if ($i == "Po") printf "("
        else if ($i == "Pc") printf ")"
        else if ($i !~ /^(Ar|No|Cm|Ns)$/) printf "%s", $i
    }' in/synopsis
}

section SYNOPSIS | sed '/^\.Sh DESCRIPTION/,$d' >in/synopsis
check 'the synopsis of softmma(1) has no other commands' \
  diff <(sed -n 's/^\.Cm //p' in/synopsis | sort -u) <(printf '%s\n' "${commands[@]}" | sort)
for command in "${commands[@]}"; do
  check "softmma(1) has the synopsis of $command" grep -qx "\.Cm $command" in/synopsis
  read -ra words <<<"$command"
  usage=$("$softmma" "${words[@]}" --help | sed -n "s/^Usage: softmma $command *//p")
  usage=$(sed 's/\[options\]//; s/ //g' <<<"$usage")
  check "softmma(1) has the usage of $command: $usage" [ "$(synopsis_of "$command")" = "$usage" ]
  section "$command" >in/section
  options_of "$command" | tr -d = | sort >in/options
  sed -nE '/^\.It Fl/s/Fl (-?[A-Za-z][a-z-]*)/\n-\1\n/gp' in/section | grep '^-' | sort -u >in/told
  while read -r option; do
    check "softmma(1) has $command $option" grep -qx -e "$option" in/told
  done <in/options
  while read -r option; do
    check "softmma(1) knows of $command what there is: $option" grep -qx -e "$option" in/options
  done <in/told
  while read -r option default; do
    awk -v option="$option" '/^\.It / { inside = $0 ~ "Fl -" option "( |$)" } inside' in/section >in/item
    ! grep -q 'default: [0-9]' in/item || check "softmma(1) has the default of $command --$option: $default" \
      grep -qwE "default: (.*[ ,])?$default" in/item
  done < <(defaults_of "$command")
done

# Each line is a command line with JSON, and a filter of jq for the object whose keys the manual lists.
"$softmma" vectors gen V100:f16 --rows 3 -o few.txt
npy one.npy '<f4' '(1, 4)' "$(f32 1 2 3 4)"
npy two.npy '<f4' '(4, 1)' "$(f32 1 2 3 4)"
while IFS=@ read -r line filter; do
  # shellcheck disable=SC2086 # words
  "$softmma" $line --json >in/json 2>in/stderr
  jq -r "$filter | keys[]" in/json >in/keys
  command=${line%% *}
  [ "$command" != vectors ] || command=$(cut -d ' ' -f 1,2 <<<"$line")
  section "$command" | awk '/^\.It / { inside = /Fl -json/ } /^\.El/ { inside = 1 } inside' >in/section
  check "keys of $line are found" [ -s in/keys ]
  while read -r key; do
    check "softmma(1) has the key $key of $line" grep -qE "^\.Li (.* )?$key( |\$)" in/section
  done <in/keys
done <<'END'
list V100:f16@.[0]
show V100@.
show V100@.sums[0]
show e5m2@.
compare V100 A100 one.npy two.npy@.
compare V100 A100 one.npy two.npy@.pairs[0]
trace V100 A100 one.npy two.npy --at 0,0@.
tolerance V100:f16 --shape 4x4x32@.
verify few.txt@.
diff V100 T4 A100 --rows 50@.
test --unit model V100:f16 --rows 9@.
test --unit model V100:f16 --rows 9@.unit
test --unit model V100:f16 --open@.
tree V100:f16@.
tree V100:f16@.tree
tree H100:e4m3 --plan cutlass:2xacc -k 256@.
tree H100:e4m3 --plan cutlass:2xacc -k 256@.tree
tree H100:e4m3 --plan cutlass:2xacc -k 256@.tree.terms[1]
vectors record --unit model V100:f16 --rows 2@.
explain V100:f16 A100:f16 -a 1 -b 1@.
bench V100 --instr mma.m8n8k4.f32.f16.f16.f32 --size 8 -r 1@.
END
check 'show has the keys of list' diff <("$softmma" list V100:f16 --json | jq '.[0] | keys') \
  <("$softmma" show V100:f16 --json | jq keys)
while read -r command; do
  check "softmma(1) says whether $command has --csv" \
    [ "$("$softmma" "$command" --help | tr -s ' \n' ' ' | grep -c 'FILE\.csv: as CSV')" = \
    "$(grep -cvxE 'dot|tree|self-test' <<<"$command")" ]
done < <(for command in "${commands[@]}"; do
  options_of "$command" | grep -qxE -e '-o=' || ! options_of "$command" | grep -qx -e --json || echo "$command"
done)
while read -r variable; do
  check "softmma(1) has the environment variable $variable" grep -qx "\.It Ev $variable" "$manual"
done < <(grep -rhoE 'getenv\("SOFTMMA_[A-Z_]+"\);?( /\* for tests)?' "$source_directory/src" | grep -v 'for tests' |
  grep -oE 'SOFTMMA_[A-Z_]+' | sort -u)
check 'softmma(1) does not deny integers' [ -z "$(grep -i 'integer.*not modelled' "$manual")" ]
while read -r unit; do
  for page in "$manual" "$source_directory/docs/units.md"; do
    check "${page##*/} has the unit $unit" grep -qE "(Cm |\`)$unit" "$page"
  done
done < <("$softmma" units | sed -nE 's/^([a-z0-9]+).*/\1/p')
if command -v man >/dev/null; then
  LC_ALL=C.UTF-8 man --warnings -E UTF-8 -l -Tutf8 -Z "$manual" 2>&1 >/dev/null | tee in/stderr >in/stdout
  check 'softmma(1) is formatted without warnings' [ ! -s in/stderr ]
  # After scripts/build, the PATH has the command's folder, as README.md describes.
  [ -z "${2-}" ] || page=$(env -u MANPATH PATH="$(dirname "$softmma"):$PATH" man -w softmma)
  [ -z "${2-}" ] || check 'man softmma shows the page of this build' cmp -s "$manual" "$page"
fi
softmma() { "$softmma" "$@"; }
replayed='' shown='' got=''
while IFS= read -r line; do
  if [[ $line == '$ '* || $line == .Ed ]]; then
    [ -z "$replayed" ] || check "example of softmma(1): $replayed" [ "$shown" = "$got" ]
    replayed='' shown=''
    [[ $line == .Ed ]] && continue
    replayed=${line#'$ '}
    got=$(eval "$replayed" 2>&1)
  elif [ -n "$replayed" ]; then
    shown+=${shown:+$'\n'}$line
  fi
done <"$manual"

# ---- Completion ----

# completes NAME 'EXPECTED ...' WORD...: completes the words up to the cursor; all expected completions must be offered
completes() {
  local name=$1 expected=$2 word
  shift 2
  COMP_WORDS=("$softmma" "$@")
  COMP_CWORD=$#
  COMPREPLY=()
  _softmma
  for word in $expected; do
    [[ " ${COMPREPLY[*]} " == *" $word "* ]] && continue
    fail "completion $name" "'$word' is not among: ${COMPREPLY[*]}"
    return
  done
  pass "completion $name"
}

# shellcheck source=/dev/null
source "$source_directory/src/cli/softmma.bash-completion"
# An option with a value is completed by values, or not at all; after an option without a value comes the next word.
for command in "${commands[@]}"; do
  read -ra words <<<"$command"
  while read -r option; do
    COMPREPLY=()
    if [[ $option == *= ]]; then
      check "completion knows the value of $command $option" _softmma_value "$softmma" '' "${option%=}" "$command"
    elif _softmma_value "$softmma" '' "$option" "$command"; then
      fail "completion of $command $option" 'it takes no value'
    fi
  done < <(options_of "$command")
  # shellcheck disable=SC2046
  completes "of the options of $command" "$(options_of "$command" | grep -e '^--' | tr -d '=')" "${words[@]}" --
done
completes 'of all units' "$("$softmma" units | sed -nE 's/^([a-z0-9]+(:?)).*/\1/p' | tr '\n' ' ')" test --unit ''
completes 'of commands' 'list show dot gemm compare verify vectors bench version help' ''
completes 'of a command' 'gemm' g
completes 'of second words' 'gen record convert merge next' vectors ''
completes 'of targets' 'H100 H200 hopper A.npy' compare A100 ''
completes 'of targets only' 'MI300X' tree MI3
completes 'of options' '--on --instr --in --out --alpha --transpose-b --help' gemm --
completes 'of an option' '--explain' dot --e
completes 'of GPUs' 'H100 H200 hopper RTX-4090 MI300X sm_90 cdna3' gemm --on ''
completes 'of a GPU' 'MI300A MI300X' dot --on MI300
completes 'of a GPU behind =' 'H100 H200' dot --on = H
completes 'of the second GPU of a list' 'V100,H100 V100,H200' compare --on V100,H
completes 'of the format of a GPU' 'e4m3 e5m2' compare --on H100 : e
completes 'of an architecture' 'volta' list vo
completes 'of a method' 'words markidis' gemm --method ''
completes 'of a sum' 'unit unit-scaled' gemm --sum u
completes 'of an experiment' 'zero-sign' test --open --only zero
completes 'of a numerical experiment' 'accumulation' experiment acc
completes 'of instructions' 'mma.m8n8k4.f32.f16.f16.f32' dot --on V100 --instr mma
completes 'of instructions, behind =' 'mma.m8n8k4.f32.f16.f16.f32' dot --on = V100 --instr = mma
completes 'of every N' 'wgmma.m64n256k16.f32.f16.f16' dot --on H100 --instr wgmma.m64n256k16.f32
completes 'of instructions of the first of two GPUs' 'mma.m8n8k4.f32.f16.f16.f32' explain --on V100,A100 --instr mma
completes 'of names to show' 'vdpbf16ps' show vdp
completes 'of formats to show' 'e5m2 e5m2fnuz' show e5
completes 'of formats to list' 'e4m3' list e4
completes 'of formats' 'f64 f32 tf32 f16 bf16 e5m2 e4m3 e5m2fnuz e4m3fnuz e3m2 e2m3 e2m1' gemm --in ''
completes 'of the second format of a list' 'f16,bf16' bench --on A100 --in f16,bf
completes 'of the second instruction of a list' 'mma.m8n8k4.f32.f16.f16.f32,mma.m8n8k4.f16.f16.f16.f16' \
  bench --on V100 --instr mma.m8n8k4.f32.f16.f16.f32,mma.m8n8k4.f16
completes 'of data' 'all normal nan zeros scales-nan' bench --data ''
completes 'of the second data of a list' 'nan=0.1,infinity' bench --data nan=0.1,inf
completes 'of kernels' "$kernels" gemm --kernel ''
completes 'of kinds' "$kinds" vectors gen --kind ''
completes 'of files' 'A.npy A16.npy' gemm --in f16 A
completes 'of output files' 'hundred.txt' vectors gen -o hun
completes 'of commands to help with' 'verify version' help ve
COMP_WORDS=("$softmma" dot --on V100 --instr '') COMP_CWORD=5
_softmma
check 'completion of instructions has those of the GPU only' [ ${#COMPREPLY[@]} -eq 3 ]

finish
