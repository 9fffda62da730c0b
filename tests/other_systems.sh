#!/usr/bin/env bash
# Compiles the library of the source archive for Windows, where Wine compares kernels with their digests, and for macOS,
# where nothing runs it. Uses little optimisation, which takes less time.
# Usage: other_systems.sh SOURCE PYTHON
set -euo pipefail
source=$1 python=$2 root=$(realpath "$(dirname "$0")/..")
log=$source/log

skip() { echo "SKIPPED: $*" >&2; }
fail() {
  tail -n 20 "$log" >&2
  echo "FAILED: the library for $*" >&2
  exit 1
}

# built SYSTEM: builds in a folder for this system
built() {
  cp -r "$source" "$source-$1"
  PYTHON=$python "$root/packaging/library-for.sh" "$1" "$source-$1" -DCMAKE_C_FLAGS_RELEASE=-O1 >"$log" 2>&1 || fail "$1"
}

if command -v x86_64-w64-mingw32-gcc-posix >/dev/null; then
  built windows
  "$root/packaging/windows-program.sh" "$source-windows" "$source-windows/program.exe" >"$log" 2>&1 || fail windows
  export WINEPREFIX=$source/wine WINEDEBUG=-all
  if timeout 1200 wine cmd /c ver >"$log" 2>&1; then
    (cd "$root" && wine "$source-windows/program.exe" check --few 1 --outputs 20000 \
      --digests tests/kernel_digests.txt) >"$log" 2>&1 || fail 'Windows, under Wine'
    echo 'the library for Windows has the digests of every kernel under Wine'
  else
    skip 'Wine is missing, or does not start: the library for Windows is compiled, and not run'
  fi
else
  skip 'there is no mingw-w64 (gcc-mingw-w64-x86-64-posix): the library is not compiled for Windows'
fi
if "$python" -m ziglang version >/dev/null 2>&1; then
  built macos
  echo 'the library for macOS is compiled, and not run'
else
  skip 'there is no Zig (ziglang of PyPI): the library is not compiled for macOS'
fi
