#!/usr/bin/env bash
# Arm's or Power's instructions as models against qemu, an emulator, or on such a machine against its CPU:
# SOFTMMA_JUDGE_ROWS rows of each (1,000,000), through tests/arm_rows.c or tests/power_rows.c as a unit.
# Usage: judge.sh SOFTMMA SOURCE arm|power; QEMU_AARCH64 and QEMU_PPC64LE name another qemu. Without a compiler or qemu
# the status is 77.
set -u
export LC_ALL=C
usage='usage: judge.sh SOFTMMA SOURCE arm|power'
softmma=$(realpath "${1:?$usage}") source=$(realpath "${2:?$usage}") arch=${3:?$usage}
rows=${SOFTMMA_JUDGE_ROWS:-1000000}
case $arch in
  arm) machine=aarch64 qemu=${QEMU_AARCH64:-qemu-aarch64} cpu=max options='-std=c11 -D_DEFAULT_SOURCE' ;;
  power) machine=ppc64le qemu=${QEMU_PPC64LE:-qemu-ppc64le} cpu=power10 options='-std=gnu11 -mcpu=power10' ;;
  *) echo "$usage" >&2 && exit 2 ;;
esac
compiler=${machine/ppc/powerpc}-linux-gnu-gcc
[ "$(uname -m)" != "$machine" ] || compiler=cc qemu=
for tool in $compiler $qemu; do
  command -v "$tool" >/dev/null && continue
  echo '**********************************************************************'
  echo "SKIPPED: $tool is not there; scripts/setup --tests installs it."
  echo "The instructions of $arch were NOT judged."
  echo '**********************************************************************'
  exit 77
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# shellcheck disable=SC2086 # several options
"$compiler" $options -Wall -Wextra -Werror -O2 -static -o "$work/rows" "$source/tests/${arch}_rows.c" || exit 1
judge="${qemu:+$qemu -cpu $cpu }$work/rows"
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

# qemu rounds Power's pairs of BF16 to binary32 whatever their exponent, which the Power ISA does not (docs/algorithms/
# pairs.md): what it is compared with has that changed, and nothing else.
other_model() { # INSTRUCTION
  [ "$1" = xvbf16ger2pp ] && [ -n "$qemu" ] || return 1
  "$softmma" custom --from power --instr "$1" --steps |
    jq '(.steps[0] | .output) = "f32" | del(.steps[0].narrow_bits, .steps[0].narrow_subnormals)' >"$work/$1.json"
}

# One of them; its line says "ok" if nothing differs.
one() { # INSTRUCTION
  local report note='' against=(--on "$arch" --instr "$1")
  if other_model "$1"; then
    against+=(--against "custom:$work/$1.json") note=', but for the range of pairs, which this qemu has wrong'
  fi
  if ! grep -qxF "$1" "$work/has"; then
    echo "NOT JUDGED  $1: the judge does not have it"
  elif ! trusted "$1"; then
    echo "NOT JUDGED  $1: this qemu computes it wrong, as it did before 8.2.3"
  elif report=$("$softmma" campaign --unit "pipe:$judge" "${against[@]}" --rows "$rows" 2>&1); then
    echo "ok          $(grep " $1 " <<<"$report")$note"
  else
    printf 'FAILED      %s\n%s\n' "$1" "$report"
  fi
}
export -f one trusted other_model
export softmma rows work qemu judge arch
"$softmma" list --on "$arch" --json | jq -r '.[].name' >"$work/all" || exit 1
xargs -P "$(nproc)" -I {} bash -c 'one {}' <"$work/all" | tee "$work/said"

# What differs is seen: of Arm another rounding, EBF = 0 and not 1; of Power a sum that wraps and does not saturate.
case $arch in
  arm) of=bfdot.ebf other=bfdot ;;
  power) of=xvi8ger4spp other=xvi8ger4pp ;;
esac
if "$softmma" campaign --unit "pipe:sed s/$of/$other/ | $judge" --on "$arch" --instr $of --rows 1000 \
  >"$work/report" 2>&1 || ! grep -q '^instructions=1 rows=1000 mismatches=[1-9]' "$work/report"; then
  echo "FAILED      rows of $other instead of $of are not seen"
  exit 1
fi
! grep -q '^FAILED' "$work/said" && grep -q '^ok' "$work/said"
