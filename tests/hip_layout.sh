#!/usr/bin/env bash
# The unit of AMD GPUs on an emulated wavefront (tests/wavefront). The unit gathers operands and results from registers;
# they must equal the operands it was given and the models' results, for every instruction. Without clang++ the status
# is 77.
# Usage: hip_layout.sh CLANG++ SOURCE SOFTMMA LIBRARY
set -u
usage='usage: hip_layout.sh CLANG++ SOURCE SOFTMMA LIBRARY'
compiler=${1:?$usage} source=${2:?$usage} softmma=${3:?$usage} library=${4:?$usage}
if ! command -v "$compiler" >/dev/null; then
  echo '**********************************************************************'
  echo 'SKIPPED: clang++ is not there;'
  echo "the register layouts of AMD's matrix instructions were NOT emulated."
  echo '**********************************************************************'
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# Older compilers lack _Float16 and __bf16 on this CPU. 16-bit integers replace them, because the unit only moves their
# bits.
compile() { # TARGET MACRO
  "$compiler" -x c++ -std=c++17 -O1 -shared -fPIC -Wall -Wextra -Werror -Wno-psabi -D_Float16=short -D__bf16=short \
    "-D$2" "-DEMULATED=\"$1\"" -I "$source/tests/wavefront" -I "$source/include" -I "$source/src" \
    -o "$work/$1.so" "$source/src/unit/hip/unit.hip" -x none "$library" "-Wl,-rpath,$(dirname "$library")"
}

# Runs a campaign on the target. gfx950 has no model, so its campaign asks the open questions.
campaign() {
  if [ "$target" = gfx950 ]; then
    "$softmma" test --open --all --unit "plugin:$work/$target.so" --on "$target"
  else
    "$softmma" test --unit "plugin:$work/$target.so" --on "$target" --rows 500
  fi
}

for each in gfx908:__gfx908__ gfx90a:__gfx90a__ gfx942:__gfx942__ gfx950:__gfx950__ gfx1100:__GFX11__ \
  gfx1201:__GFX12__; do
  target=${each%:*}
  if compile "$target" "${each#*:}" >"$work/report" 2>&1 &&
    campaign >"$work/report" 2>&1; then
    echo "ok      $target: $(tail -n 1 "$work/report")"
  else
    echo "FAILED  $target"
    cat "$work/report"
    failed=1
  fi
done
exit $failed
