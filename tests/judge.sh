#!/usr/bin/env bash
# Compares the models of Arm's, Power's, RISC-V's, Tenstorrent's or x86's instructions with an emulator (qemu, Spike,
# ttsim, Bochs), or on an Arm or Power machine with its CPU. Runs SOFTMMA_JUDGE_ROWS test vectors of each instruction
# (default: 1,000,000; x86: 50,000), with tests/arm_rows.c, tests/power_rows.c, tests/riscv_rows.cc,
# tests/tensix_rows.cc or tests/bochs.sh as the unit. QEMU_AARCH64, QEMU_PPC64LE and BOCHS name another emulator; SPIKE
# and TTSIM are the folders of Spike's and ttsim's sources, which no package of Debian has. Without a compiler or
# emulator the status is 77.
# Usage: judge.sh SOFTMMA SOURCE arm|power|riscv|wormhole|blackhole|x86
set -u
export LC_ALL=C
usage='usage: judge.sh SOFTMMA SOURCE arm|power|riscv|wormhole|blackhole|x86'
softmma=$(realpath "${1:?$usage}") source=$(realpath "${2:?$usage}") arch=${3:?$usage}
rows=${SOFTMMA_JUDGE_ROWS:-1000000}
case $arch in
  arm) machine=aarch64 qemu=${QEMU_AARCH64:-qemu-aarch64} cpu=max options='-std=c11 -D_DEFAULT_SOURCE' ;;
  power) machine=ppc64le qemu=${QEMU_PPC64LE:-qemu-ppc64le} cpu=power10 options='-std=gnu11 -mcpu=power10' ;;
  riscv | wormhole | blackhole) machine=$(uname -m) qemu= ;;
  x86) machine=x86_64 rows=${SOFTMMA_JUDGE_ROWS:-50000} qemu= ;;
  *) echo "$usage" >&2 && exit 2 ;;
esac
compiler=${machine/ppc/powerpc}-linux-gnu-gcc
[ "$(uname -m)" != "$machine" ] || compiler=cc qemu=
[ "$arch" != x86 ] || export BOCHS=${BOCHS:-bochs}
skip() { # WHY
  echo '**********************************************************************'
  echo "SKIPPED: $1"
  echo "The instructions of $arch were NOT judged."
  echo '**********************************************************************'
  exit 77
}
for tool in $compiler $qemu ${BOCHS-}; do
  command -v "$tool" >/dev/null || skip "$tool is not there; scripts/setup --tests installs it."
done
[ "$arch" != riscv ] || [ -f "${SPIKE-}/riscv/zvbdot.h" ] ||
  skip "SPIKE does not name a folder with Spike's source (riscv-software-src/riscv-isa-sim)."
tensix=
case $arch in
  wormhole) tensix=0 ;;
  blackhole) tensix=1 ;;
esac
[ -z "$tensix" ] || [ -f "${TTSIM-}/src/tensix.cpp" ] ||
  skip "TTSIM does not name a folder with ttsim's source (tenstorrent/ttsim)."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ "$arch" != riscv ] || SPIKE=$(realpath "$SPIKE")
if [ "$arch" = x86 ]; then
  "$BOCHS" --help cpu >"$work/cpus" 2>&1
  grep -qx arrow_lake "$work/cpus" || skip 'this Bochs has no AMX; version 3.0, of Debian 13, does.'
  "$compiler" -c -o "$work/rom.o" "$source/tests/bochs_rom.S" && objcopy -O binary -j .text "$work/rom.o" "$work/bochs.rom" &&
    cc -std=c11 -Wall -Wextra -Werror -O2 -o "$work/bochs_disk" "$source/tests/bochs_disk.c" || exit 1
  judge="$source/tests/bochs.sh $work" lister="$work/bochs_disk"
  grep -o 'Bochs x86 Emulator.*' "$work/cpus"
elif [ "$arch" = riscv ]; then
  mkdir "$work/softfloat" # config.h: of Spike's, which its configure script writes
  : >"$work/config.h"
  (cd "$work/softfloat" && cc -O1 -w -c -I .. -I "$SPIKE/softfloat" "$SPIKE"/softfloat/*.c) &&
    c++ -std=c++17 -O2 -Wall -Wextra -Werror -I "$work" -isystem "$SPIKE/riscv" -isystem "$SPIKE/softfloat" \
      -o "$work/rows" "$source/tests/riscv_rows.cc" "$work"/softfloat/*.o || exit 1
  judge=$work/rows lister=$judge
  echo "Spike of $SPIKE"
elif [ -n "$tensix" ]; then
  awk '/^static uint32_t (fpu_accum_normalize_encode|mvmul)\(/ || /^static inline int32_t fpu_exp_prod_adj\(/ { copy = 1 }
    copy { print } /^}/ { copy = 0 }' "$TTSIM/src/tensix.cpp" >"$work/ttsim_mvmul.h" &&
    c++ -std=c++17 -O2 -Wall -Wextra -Werror -DTT_ARCH_VERSION="$tensix" -isystem "$work" -o "$work/rows" \
      "$source/tests/tensix_rows.cc" || exit 1
  judge=$work/rows lister=$judge
  echo "ttsim of $TTSIM"
else
  # shellcheck disable=SC2086 # several options
  "$compiler" $options -Wall -Wextra -Werror -O2 -static -o "$work/rows" "$source/tests/${arch}_rows.c" || exit 1
  judge="${qemu:+$qemu -cpu $cpu }$work/rows" lister=$judge
  if [ -n "$qemu" ]; then "$qemu" --version | head -n 1; else echo 'this CPU'; fi
fi
$lister --list >"$work/has" || exit 1

# Prints why the emulator computes this instruction wrongly; fails if it computes it correctly. qemu before 8.2.3 sums
# 32-bit SMOPA and its variants in one 64-bit word (fixed by "target/arm: Fix 32-bit SMOPA", 2024). Bochs, including
# 3.1, treats all bytes of AMX as unsigned.
wrong() { # INSTRUCTION
  local version
  case $1 in
    smopa | umopa | usmopa | sumopa)
      [ -n "$qemu" ] || return 1
      version=$("$qemu" --version | sed -n '1s/^qemu-aarch64 version \([0-9.]*\).*/\1/p')
      ! printf '8.2.3\n%s\n' "$version" | sort -CV && echo 'this qemu computes it wrong, as it did before 8.2.3'
      ;;
    tdpbssd | tdpbsud | tdpbusd) echo 'Bochs takes its bytes as unsigned' ;;
    td*f8ps) ! grep -qa amx_fp8 "$(command -v "$BOCHS")" && echo 'this Bochs has no AMX-FP8; those after 3.0 do' ;;
    *) return 1 ;;
  esac
}

# qemu rounds Power's pairs of BF16 to binary32 regardless of their exponent; the Power ISA does not
# (docs/algorithms/pairs.md). The comparison therefore uses the model with only this difference.
other_model() { # INSTRUCTION
  [ "$1" = xvbf16ger2pp ] && [ -n "$qemu" ] || return 1
  "$softmma" custom --from power --instr "$1" --steps |
    jq '(.steps[0] | .output) = "f32" | del(.steps[0].narrow_bits, .steps[0].narrow_subnormals)' >"$work/$1.json"
}

# Bochs treats a difference of two numbers with the same exponent as subnormal if it is between 2^-126 and 2^-125, and
# returns zero for it. No other test vector may differ.
but_for_least() { # INSTRUCTION
  "$softmma" vectors record --unit "pipe:$judge" --on x86 --instr "$1" --rows "$rows" -o "$work/$1.txt" || return 1
  "$softmma" verify --show "$rows" "$work/$1.txt" >"$work/$1.verified"
  [ $? -le 1 ] && ! grep '^/' "$work/$1.verified" |
    grep -vE 'says (0x)?[08]0000000 .* computes (0x)?[08]0[89a-f][0-9a-f]{5} '
}

# Compares one instruction and prints a line, which ends with "ok" if there is no mismatch.
one() { # INSTRUCTION
  local report note of_model='' against=(--on "$arch" --instr "$1")
  if other_model "$1"; then
    against+=(--against "custom:$work/$1.json") of_model=', except the range of pairs, which this qemu computes wrongly'
  fi
  if ! grep -qxF "$1" "$work/has"; then
    echo "NOT JUDGED  $1: the judge does not have it"
  elif note=$(wrong "$1"); then
    echo "NOT JUDGED  $1: $note"
  elif [ "$1" = tdpbf16ps ]; then
    if but_for_least "$1" >"$work/$1.report" 2>&1; then
      echo "ok          x86 $1 rows=$rows, except results that Bochs wrongly flushes"
    else
      printf 'FAILED      %s\n%s\n' "$1" "$(cat "$work/$1.report")"
    fi
  elif report=$("$softmma" test --unit "pipe:$judge" "${against[@]}" --rows "$rows" 2>&1); then
    echo "ok          $(grep " $1 " <<<"$report")$of_model"
  else
    printf 'FAILED      %s\n%s\n' "$1" "$report"
  fi
}
export -f one wrong other_model but_for_least
export softmma rows work qemu judge arch
"$softmma" list --on "$arch" --json | jq -r '.[].name' >"$work/all" || exit 1
xargs -P "$(nproc)" -I {} bash -c 'one {}' <"$work/all" | tee "$work/said"

# Checks that the comparison detects differences. Arm: another rounding mode, EBF = 0 instead of 1. Power and x86: a sum
# that wraps instead of saturating. RISC-V: unsigned bytes of A. Tenstorrent: HiFi1 instead of HiFi2.
case $arch in
  arm) of=bfdot.ebf other=bfdot ;;
  power) of=xvi8ger4spp other=xvi8ger4pp ;;
  riscv) of=vqwbdotas.vv.vlen128.s8.s8 other=vqwbdotas.vv.vlen128.u8.s8 ;;
  wormhole | blackhole) of=mvmul.hifi2.f32.bf16.bf16 other=mvmul.hifi1.f32.bf16.bf16 ;;
  x86) of=vpdpbusds other=vpdpbusd ;;
esac
if "$softmma" test --unit "pipe:sed s/$of/$other/ | $judge" --on "$arch" --instr "$of" --rows 1000 \
  >"$work/report" 2>&1 || ! grep -q '^instructions=1 rows=1000 mismatches=[1-9]' "$work/report"; then
  echo "FAILED      rows of $other instead of $of are not seen"
  exit 1
fi
! grep -q '^FAILED' "$work/said" && grep -q '^ok' "$work/said"
