#!/usr/bin/env bash
# Output of scripts/check and .ci/run when builds or tests fail, when no root can be created, and on success. Set-up,
# builds and tests are replaced by stand-ins. With `tools`: checks that the tests have all tools.
# Usage: check.sh SOURCE [tools]
set -u
source=$(realpath "${1:?usage: check.sh SOURCE [tools]}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
failed=0
mkdir -p .ci scripts tools
cp "$source/scripts/check" scripts/
cp "$source/.ci/run" .ci/
PATH=$work/tools:$PATH
unset SOFTMMA_VECTORS SOFTMMA_CPU

# pretend FILE BODY: makes FILE a program with these commands
pretend() {
  printf '#!/bin/sh\n%s\n' "$2" >"$1"
  chmod +x "$1"
}

# suites SANITIZE TESTS PYTHON [THIRD]: makes stand-ins for cmake, ctest and Python that run these commands; THIRD is
# that of the third test (default: TESTS)
suites() {
  pretend tools/cmake "case \$* in
    *--build*) ;;
    *sanitize) echo 'add_test(first sh -c \"$1\")' >build-sanitize/CTestTestfile.cmake ;;
    *) printf '%s\n' 'add_test(second sh -c \"$2\")' 'set_tests_properties(second PROPERTIES LABELS check)' \
      'add_test(third sh -c \"${4:-$2}\")' 'set_tests_properties(third PROPERTIES LABELS all)' >build-tests/CTestTestfile.cmake ;;
  esac"
  pretend scripts/check-python "$3"
}

# runs STATUS COMMAND...: reports whether the command ends with this status; its output goes to `output`
runs() {
  local wanted=$1 status
  shift
  "$@" >output 2>&1 </dev/null
  status=$?
  [ $status -eq "$wanted" ] && return
  complain "$*: status $status, not $wanted"
}

complain() {
  echo "FAILED  $what: $1"
  sed 's/^/    /' output
  failed=1
}

# says REGEX [TIMES]: checks how many lines match
says() {
  local times
  times=$(grep -cE -e "$1" output)
  [ "$times" -eq "${2:-1}" ] || complain "$times lines, not ${2:-1}, with '$1'"
}

ends() { [[ $(tail -n 1 output) =~ $1 ]] || complain "does not end with '$1'"; }

if [ "${2-}" = tools ]; then
  # `scripts/setup --tests` installs every tool that a test needs to run, except those of CUDA.
  what='tools'
  if command -v apt-get >output; then
    # shellcheck disable=SC2013  # words
    for tool in $(cat "$source"/tests/*.sh | grep -oE 'command -v [a-z][a-z0-9_+ -]*' | cut -d ' ' -f 3-); do
      [[ $tool =~ ^(nvcc|cuobjdump)$ ]] || command -v "$tool" >output || complain "scripts/setup does not install $tool"
    done
  fi
  exit $failed
fi

pretend scripts/setup 'exit 0'
pretend scripts/demo 'echo six GPUs'
mkdir -p build/bin
pretend build/bin/softmma 'echo "kernels       avx512, avx2, portable, core (of this CPU, fastest first)"'
python_passes='echo "12 passed, 1 skipped in 3.21s"'

what='the tier check passes'
suites 'echo quiet' 'echo quiet' "$python_passes"
runs 0 scripts/check
says '^check: [1-4] of 4: .*; about [0-9]+ min$' 4
says '^100% tests passed, 0 tests failed out of 1$'
says '^check: the summary'
says '^12 passed'
says 'quiet' 0
ends '^12 passed, 1 skipped in 3.21s$'

what='all, without AVX-512, too'
runs 0 scripts/check --all --seed 77
says '^check: [0-9]+ of 11: .*; about [0-9]+ min$' 11
says '^100% tests passed, 0 tests failed out of 1$'
says '^100% tests passed, 0 tests failed out of 2$' 3
says '^12 passed' 3
says 'scripts/check --all --seed 77'
suites 'echo quiet' 'test x$SOFTMMA_CPU != xavx2' "$python_passes"
runs 1 scripts/check --all
says '^check: FAILED: tests-avx2;'
pretend build/bin/softmma 'echo "kernels       avx2, portable, core (of this CPU, fastest first)"'
runs 0 scripts/check --all # although the test would fail with SOFTMMA_CPU=avx2
says "ran as a CPU of kind 'avx2' runs them"
says '^check: 9 of 9: .*portable'
pretend build/bin/softmma 'echo "kernels       avx512, avx2, portable, core (of this CPU, fastest first)"'
for wrong in --everything '--all --seed' '--all --seed x' '--all --seed 99999999999' '--seed 7'; do
  # shellcheck disable=SC2086  # words
  runs 2 scripts/check $wrong
  ends '^usage: scripts/check \[--all \[--seed NUMBER\]\]; NUMBER is below 1070000000$'
done

what='rows are drawn from the seed'
suites 'echo quiet' 'test x$SOFTMMA_SEED != x78' "$python_passes"
runs 0 scripts/check --all --seed 77
runs 1 scripts/check --all --seed 78

what='any seed that can be drawn'
echo 'unset RANDOM; RANDOM=32767' >greatest
BASH_ENV=greatest runs 0 scripts/check
BASH_ENV=greatest runs 0 scripts/check --all
seed=$(sed -n 's/.* --seed \([0-9]*\) .*/\1/p' output)
runs 0 scripts/check --all --seed "$seed"
runs 0 scripts/check --all --seed 1069999999
runs 2 scripts/check --all --seed 1070000000

what='each suite fails'
suites 'echo first words; exit 1' 'echo second words; exit 1' 'echo third words; exit 1'
runs 1 scripts/check --all --seed 77
says '^0% tests passed, 1 tests failed out of 1$'
says '^check: FAILED: sanitize tests python tests-avx2 python-avx2 tests-portable python-portable;'
says '^first words'
ends '^third words$'

what='one test fails'
suites 'echo quiet' 'echo second words; exit 1' "$python_passes"
runs 1 scripts/check
says '^check: FAILED: tests;'
says '^tests: second$'
says 'quiet' 0
says '^12 passed'
says '^second words$'
ends '^second words$'

what='different tests of a build fail in two suites'
suites 'echo quiet' 'echo second words; test x$SOFTMMA_CPU != xportable' "$python_passes" \
  'echo third words; test x$SOFTMMA_CPU != x'
runs 1 scripts/check --all
says '^check: FAILED: tests tests-portable;'
says '^tests: third$'
says '^third words$'
says '^tests-portable: second$'
says '^second words$'
says '^tests: second$' 0

what='a build fails'
pretend tools/cmake 'case $* in *--build*tests) echo "file.c:1: error"; exit 1 ;; esac'
runs 1 scripts/check
says '^file.c:1: error$'
ends '^check: the tests build failed; the whole log is build-tests/build.log$'

# After a change of a file, scripts/try builds and runs only the tests that cover the file.
what='scripts/try'
cp "$source/scripts/try" scripts/
mkdir -p src/{one,two,three} tests
touch build-tests/build.ninja src/one/a.c src/two/b.c src/three/c.c tests/d.sh
pretend tools/cmake 'echo "$*" >>calls'
cat >build-tests/CTestTestfile.cmake <<END
add_test(first sh -c "echo first words" $work/build-tests/bin/test_first)
set_tests_properties(first PROPERTIES LABELS "check;src/one")
add_test(second sh $work/tests/d.sh $work/build-tests/bin/softmma)
set_tests_properties(second PROPERTIES LABELS "check;src/two")
add_test(third sh -c "echo third words")
set_tests_properties(third PROPERTIES LABELS "all;src/one")
END
runs 0 scripts/try src/one/a.c
says '^try: first$'
says '^100% tests passed, 0 tests failed out of 1$'
grep -q 'target bin/test_first$' calls || complain 'the test is not built'
runs 0 scripts/try src/two tests/d.sh
says '^try: second$'
runs 0 scripts/try third first
says '^try: first third$'
runs 2 scripts/try src/three/c.c
ends '^try: src/three/c.c: no test of the tier check is known of it; name tests, or run scripts/check$'
runs 2 scripts/try fourth
ends "^try: 'fourth' is neither a test .* nor a file here$"
printf 'echo some words\nexit 1\n' >tests/d.sh
runs 1 scripts/try src/two/b.c
says '^some words$'
pretend tools/git '[ "$1" != diff ] || cat changed'
printf 'src/one/a.c\nsrc/three/c.c\n' >changed
runs 0 scripts/try
says '^try: only scripts/check tests src/three/c.c$'
says '^try: first$'
: >changed
runs 2 scripts/try
ends '^try: git says that nothing is changed; name a test or a file$'
rm -rf tools/git changed src calls

# Set-up waits while another process holds apt's lock, and fails at once for any other reason.
cp "$source/scripts/setup" scripts/
pretend tools/sleep 'echo waited >>waits'
pretend tools/sudo 'exec "$@"'
pretend tools/dpkg-query 'exit 1'
what='another process installs'
pretend tools/apt-get '[ "$(cat waits | wc -l)" -ge 3 ] || { echo "E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 7 (apt)"; exit 100; }'
: >waits
runs 0 scripts/setup --root
says '^setup: waiting for another process that installs packages$'
[ "$(wc -l <waits)" -eq 3 ] || complain 'it did not wait three times'
what='a package is missing'
pretend tools/apt-get 'echo "E: Unable to locate package"; exit 100'
runs 2 scripts/setup --root
ends 'E: Unable to locate package$'
rm tools/sleep tools/sudo tools/dpkg-query tools/apt-get
pretend scripts/setup 'exit 0'

# .ci/run without a root: it prints the reason, and tests the programs that run here.
# shellcheck disable=SC2016  # it is the program's
pretend scripts/check 'echo "arguments: $*; vectors: ${SOFTMMA_VECTORS-none}"; exit 3'
# here REASON [ARGUMENT...]: checks that .ci/run runs in this checkout and prints this reason, and that it does not pass
# its arguments to scripts/check
here() {
  runs 3 .ci/run "${@:2}"
  says "^NOT ON A FRESH MACHINE: $1\\.\$"
  says '^six GPUs$'
  ends "^arguments: ${SOFTMMA_CHECK-}; vectors: none\$"
  [ ! -e build-root ] || complain 'the root is left over'
}

pretend tools/id 'echo 1000'
what='no rights'
here 'making one takes the rights of root'
here 'making one takes the rights of root' --fast 3
SOFTMMA_CHECK='--all --seed 7' here 'making one takes the rights of root'

pretend tools/id 'echo 0'
pretend tools/unshare 'exit 1'
what='no namespaces'
here 'no namespaces can be made here'

pretend tools/unshare 'exit 0'
pretend tools/mmdebstrap 'mkdir -p build-root/bin; exit 1'
pretend tools/apt-config 'exit 0'
what='mmdebstrap fails'
here 'a minimal root could not be made, as said above'

what='a run at a time'
exec 8>build-root.lock
flock 8
runs 2 .ci/run
ends '^ci: .*/build-root is in use by another run; wait for it$'

[ $failed -eq 0 ] && echo 'check and run say what happens'
exit $failed
