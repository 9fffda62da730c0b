#!/usr/bin/env bash
# The unit of AMD GPUs compiles for every target, its machine code has the catalogue's matrix instructions and no
# others, and the whole module is built and loaded. Without HIP, or a compiler that knows the targets, the status is 77.
# Usage: hip_unit.sh CLANG++ SOURCE SOFTMMA
set -u
usage='usage: hip_unit.sh CLANG++ SOURCE SOFTMMA'
compiler=${1:?$usage} source=${2:?$usage} softmma=${3:?$usage}
skip() {
  echo '**********************************************************************'
  echo "SKIPPED: $1;"
  echo 'the unit of AMD GPUs was NOT compiled.'
  echo '**********************************************************************'
  exit 77
}
command -v "$compiler" >/dev/null || skip 'clang++ is not there'
echo '#include <hip/hip_runtime.h>' |
  "$compiler" -x hip --offload-arch={gfx942,gfx1201} --cuda-device-only -nogpulib -fsyntax-only - 2>/dev/null ||
  skip "$compiler does not know gfx942 and gfx1201, or HIP's headers are not there"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# compile ARGUMENT...
compile() {
  "$compiler" -std=c++17 -O2 -Wall -Wextra -Werror -nogpulib -I "$source/include" "$source/src/unit/hip/unit.hip" "$@" \
    2>"$work/log"
}

# Prints the matrix instructions of the kernels under the catalogue's names: signs and clamp are modifiers; 64 lanes and
# FP16_OVFL (bit 23 of the register MODE) belong to the kernel; v_dot2acc is v_dot2 with d in place of c.
instructions() {
  awk '/s_setreg_imm32_b32 hwreg\(HW_REG_MODE, 23, 1\), 1$/ { overflow = ".ovfl" }
    $1 ~ /^v_(s?mfma|wmma|dot[24])[a-z]*_/ {
      sub(/^v_dot2acc_/, "v_dot2_", $1)
      names[count++] = $1
      if ($1 ~ /_iu[48]$/) {
        bits = substr($1, length($1))
        signs = $0 ~ /neg_lo:\[/ ? substr($0, index($0, "neg_lo:[") + 8, 3) : "0,0"
        clamp = $0 ~ /clamp/ ? ".clamp" : ""
        names[count - 1] = $1 "." (signs ~ /^1/ ? "s" : "u") bits "." (signs ~ /1$/ ? "s" : "u") bits clamp
      }
    }
    /s_swappc|s_setpc/ { names[count++] = "a call" }
    /\.amdhsa_wavefront_size32 0/ { wide = ".w64" }
    /\.end_amdhsa_kernel/ {
      for (i = 0; i < count; i++) print names[i] wide overflow
      count = 0; wide = overflow = ""
    }' "$1"
}

fail() {
  echo "FAILED  $1: $2"
  failed=1
}

while read -r target architecture; do
  compile "--offload-arch=$target" --cuda-device-only -S -o "$work/unit.s" || {
    fail "$target" "$(head -n 3 "$work/log")"
    continue
  }
  sed -n "s/^$architecture //p" "$source/tests/catalogue.txt" | sort >"$work/wanted"
  instructions "$work/unit.s" | sort >"$work/got"
  if diff "$work/wanted" "$work/got" >"$work/log"; then
    echo "ok      $target: $(wc -l <"$work/got") matrix instructions"
  else
    fail "$target" "$(cat "$work/log")"
  fi
done <<'EOT'
gfx908 cdna1
gfx90a cdna2
gfx942 cdna3
gfx1100 rdna3
gfx1151 rdna3
gfx1200 rdna4
gfx1201 rdna4
EOT

if ! compile --offload-arch={gfx908,gfx90a,gfx942,gfx1100,gfx1201} -shared -fPIC \
  -o "$work/softmma-unit-hip.so" -lamdhip64; then
  fail 'the module' "$(head -n 3 "$work/log")"
elif SOFTMMA_UNITS=$work "$softmma" units | grep -A1 '^hip' |
  grep -E '^ +(usable: |not usable: hip: no usable AMD GPU: .)' >"$work/log"; then
  echo "ok      the module:$(tr -s ' ' <"$work/log")"
else
  fail 'the module' "$(SOFTMMA_UNITS=$work "$softmma" units 2>&1 | grep -A1 '^hip')"
fi
exit $failed
