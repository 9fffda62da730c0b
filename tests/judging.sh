# shellcheck shell=bash disable=SC2154
# Functions for tests of the command. A test sources this file with the path of the command in $softmma. Makes a working
# folder, and defines functions that check what the command does there.
# A line "runs STATUS ..." whose status nothing asks for would hide failures; `ends` is for such lines.
if grep -nE '(^|do|then|else|;) *([A-Z_]+=[^ ]* )*runs ' "$0" | grep -vE '&&|\|\|'; then
  echo "$0: the status of these lines is dropped: write ends instead of runs"
  exit 2
fi
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
cd "$work" || exit 2
mkdir in
passed=0 failed=0

pass() {
  passed=$((passed + 1))
  printf 'ok      %s\n' "$1"
}

fail() {
  failed=$((failed + 1))
  printf 'FAILED  %s: %s\n' "$1" "$2"
}

# check NAME COMMAND...: the command must succeed; it is usually a check of the last run
check() {
  local name=$1
  shift
  if "$@"; then pass "$name"; else fail "$name" "$*; $(head -c 400 in/stdout in/stderr)"; fi
}

# runs STATUS ARGUMENT...: runs softmma with its output in in/stdout and in/stderr; succeeds if it ends with this status
runs() {
  local wanted=$1 status
  shift
  "$softmma" "$@" >in/stdout 2>in/stderr </dev/null
  status=$?
  [ $status -eq "$wanted" ]
}

# ends STATUS ARGUMENT...: softmma must end with this status; the checks that follow use its output
ends() {
  runs "$@" || fail "softmma ${*:2}" "the status is not $1: $(head -c 400 in/stderr)"
}

# gives NAME STATUS REGEX ARGUMENT...: softmma must end with this status, and its output must match the regular
# expression
gives() {
  local name=$1 status=$2 regex=$3
  shift 3
  if ! runs "$status" "$@"; then
    fail "$name" "the status is not $status: softmma $*; $(head -c 400 in/stderr)"
  elif grep -qE -e "$regex" in/stdout; then
    pass "$name"
  else
    fail "$name" "no '$regex' in the output of softmma $*: $(head -c 400 in/stdout)"
  fi
}

# says REGEX: checks what the last run wrote to stderr
says() { grep -qE -e "$1" in/stderr; }

# silent: checks that the last run wrote nothing to stderr
silent() { [ ! -s in/stderr ]; }

# differs FILE FILE: succeeds if the files differ
differs() { ! cmp -s "$1" "$2"; }

# alike NAME STATUS LINE LINE...: checks that all these command lines print the same. A line is a string without quotes.
alike() {
  local name=$1 status=$2 line
  shift 2
  read -ra words <<<"$1"
  runs "$status" "${words[@]}" || fail "$name" "the status is not $status: softmma $1: $(head -c 400 in/stderr)"
  cp in/stdout in/wanted
  shift
  for line; do
    read -ra words <<<"$line"
    if ! runs "$status" "${words[@]}"; then
      fail "$name" "the status is not $status: softmma $line: $(head -c 400 in/stderr)"
    elif cmp -s in/wanted in/stdout; then
      pass "$name: softmma $line"
    else
      fail "$name" "another output of softmma $line: $(diff in/wanted in/stdout | head -n 4)"
    fi
  done
}

# f32 INTEGER...: prints integers as little-endian FP32 in hexadecimal
f32() {
  local value sign magnitude exponent bits
  for value; do
    sign=0 magnitude=$value exponent=0 bits=0
    if [ "$value" -lt 0 ]; then sign=1 magnitude=$((-value)); fi
    while [ $((magnitude >> (exponent + 1))) -gt 0 ]; do exponent=$((exponent + 1)); done
    [ "$magnitude" -eq 0 ] || bits=$((sign << 31 | (exponent + 127) << 23 | (magnitude << (23 - exponent) & 0x7fffff)))
    printf '%02x%02x%02x%02x' $((bits & 255)) $((bits >> 8 & 255)) $((bits >> 16 & 255)) $((bits >> 24))
  done
}

# bytes HEX: prints the bytes of hexadecimal digits
# shellcheck disable=SC2001 # no pattern of the shell does this
bytes() { printf '%b' "$(sed 's/../\\x&/g' <<<"$1")"; }

# npy FILE TYPE SHAPE HEX: writes a .npy file with a header of 128 bytes
npy() {
  {
    printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "{'descr': '$2', 'fortran_order': ${order-False}, 'shape': $3, }"
    bytes "$4"
  } >"$1"
}

# parts FILE: prints the parts of a report's page, as JSON
parts() { sed -n 's/^<script type="application\/json" id="parts">\(.*\)<\/script>$/\1/p' "$1"; }

# browser_draws FILE: writes the report's page, as Chromium draws it, to in/drawn; if Chromium is missing, prints a
# notice that the check is skipped
browser_draws() {
  if ! command -v chromium >/dev/null; then
    echo "************ SKIPPED: what the script of $1 draws was NOT tested: Chromium is missing ************"
    return 1
  fi
  chromium --headless --no-sandbox --disable-gpu --user-data-dir="$work/in/chromium" --dump-dom "file://$work/$1" \
    >in/drawn 2>in/stderr </dev/null
}

# fails NAME REGEX ARGUMENT...: softmma must end with status 2, print one line on stderr that matches the regular
# expression and nothing on stdout, and create or change no file
fails() {
  local name=$1 regex=$2 before after
  shift 2
  before=$(find . -path ./in -prune -o -printf '%p %s %T@\n' | grep -v '^\. ')
  if ! runs 2 "$@"; then
    fail "$name" "the status is not 2: softmma $*; $(head -c 400 in/stderr)"
    return
  fi
  after=$(find . -path ./in -prune -o -printf '%p %s %T@\n' | grep -v '^\. ')
  if [ -s in/stdout ]; then
    fail "$name" "something on stdout: $(head -c 200 in/stdout)"
  elif [ "$(wc -l <in/stderr)" -ne 1 ] || ! grep -q '^softmma: ' in/stderr; then
    fail "$name" "not one line on stderr: $(cat in/stderr)"
  elif ! grep -qE -e "$regex" in/stderr; then
    fail "$name" "no '$regex' in: $(cat in/stderr)"
  elif [ "$before" != "$after" ]; then
    fail "$name" "files were made or changed: $after"
  else
    pass "$name"
  fi
}

# ended_after COMMAND PROCESS STATUS: waits until the command, a check of the output of a background process, succeeds,
# and then sends the process SIGTERM. Succeeds if the process ended with the status.
ended_after() {
  until eval "$1" || ! kill -0 "$2" 2>in/kill; do sleep 0.05; done
  kill -TERM "$2" 2>in/kill
  wait "$2"
  [ $? -eq "$3" ]
}

# cpu_computes INSTRUCTION: succeeds if this CPU has an x86 instruction, which the unit x86 needs; otherwise prints a
# notice that the check is skipped. Every test that needs the unit calls it.
cpu_computes() {
  "$softmma" test --unit x86 --on x86 --instr "$1" --rows 1 >in/stdout 2>in/stderr </dev/null && return
  printf '************ SKIPPED: the unit x86 was NOT tested: %s ************\n' "$(cat in/stderr)"
  return 1
}

# finish: prints the summary and exits with the status
finish() {
  echo "$passed passed, $failed failed"
  [ $failed -eq 0 ]
}
