#!/usr/bin/env bash
# Arm's instructions as models against qemu-aarch64, an emulator, or on an Arm machine against its CPU: SOFTMMA_ARM_ROWS
# rows of each (1,000,000), through tests/arm_rows.c as a unit. Usage: arm.sh SOFTMMA SOURCE; QEMU_AARCH64 names another
# qemu. Without a compiler or qemu the status is 77.
set -u
export LC_ALL=C
usage='usage: arm.sh SOFTMMA SOURCE'
softmma=$(realpath "${1:?$usage}") source=$(realpath "${2:?$usage}")
rows=${SOFTMMA_ARM_ROWS:-1000000}
compiler=cc qemu=
if [ "$(uname -m)" != aarch64 ]; then
  compiler=aarch64-linux-gnu-gcc qemu=${QEMU_AARCH64:-qemu-aarch64}
fi
for tool in $compiler $qemu; do
  command -v "$tool" >/dev/null && continue
  echo '**********************************************************************'
  echo "SKIPPED: $tool is not there; scripts/setup --tests installs it."
  echo "Arm's instructions were NOT judged."
  echo '**********************************************************************'
  exit 77
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$compiler" -std=c11 -D_DEFAULT_SOURCE -Wall -Wextra -Werror -O2 -static -o "$work/arm_rows" "$source/tests/arm_rows.c" || exit 1
judge="${qemu:+$qemu -cpu max }$work/arm_rows"
if [ -n "$qemu" ]; then "$qemu" --version | head -n 1; else echo 'this CPU'; fi
$judge --list >"$work/has" || exit 1

# Before 8.2.3 qemu sums 32-bit SMOPA and its kin in one 64-bit word (fixed by "target/arm: Fix 32-bit SMOPA", 2024).
trusted() { # INSTRUCTION
  local version
  case $1 in smopa | umopa | usmopa | sumopa) ;; *) return 0 ;; esac
  [ -n "$qemu" ] || return 0
  version=$("$qemu" --version | sed -n '1s/^qemu-aarch64 version \([0-9.]*\).*/\1/p')
  printf '8.2.3\n%s\n' "$version" | sort -CV
}

# One of them; its line says "ok" if nothing differs.
one() { # INSTRUCTION
  local report
  if ! grep -qxF "$1" "$work/has"; then
    echo "NOT JUDGED  $1: the judge does not have it"
  elif ! trusted "$1"; then
    echo "NOT JUDGED  $1: this qemu computes it wrong, as it did before 8.2.3"
  elif report=$("$softmma" campaign --unit "pipe:$judge" --on arm --instr "$1" --rows "$rows" 2>&1); then
    echo "ok          $(grep '^arm ' <<<"$report")"
  else
    printf 'FAILED      %s\n%s\n' "$1" "$report"
  fi
}
export -f one trusted
export softmma rows work qemu judge
"$softmma" list --on arm --json | jq -r '.[].name' >"$work/all" || exit 1
xargs -P "$(nproc)" -I {} bash -c 'one {}' <"$work/all" | tee "$work/said"

# What differs is seen: EBF = 0 is not EBF = 1.
if "$softmma" campaign --unit "pipe:sed s/bfdot.ebf/bfdot/ | $judge" --on arm --instr bfdot.ebf --rows 1000 \
  >"$work/report" 2>&1 || ! grep -q '^instructions=1 rows=1000 mismatches=[1-9]' "$work/report"; then
  echo 'FAILED      rows of another rounding are not seen'
  exit 1
fi
! grep -q '^FAILED' "$work/said" && grep -q '^ok' "$work/said"
