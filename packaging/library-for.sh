#!/usr/bin/env bash
# library-for.sh windows|macos SOURCE [CMAKE OPTION...]: builds the library of a folder for another system, in SOURCE/build.
# For Windows with Debian's mingw-w64 (gcc-mingw-w64-x86-64-posix), for macOS with Zig as it comes from PyPI: PYTHON has
# the package ziglang.
set -euo pipefail
system=$1 source=$(realpath "$2")
shift 2
tools=$source/build-tools

# Zig has neither strip nor install_name_tool.
zig() {
  local tool
  mkdir -p "$tools"
  for tool in cc ar ranlib; do
    printf '#!/bin/sh\nexec "%s" -m ziglang %s "$@"\n' "$(command -v "${PYTHON:-python3}")" \
      "$tool$([ $tool != cc ] || echo ' -target aarch64-macos')" >"$tools/$tool"
    chmod +x "$tools/$tool"
  done
  options=(-DCMAKE_SYSTEM_NAME=Darwin -DCMAKE_SYSTEM_PROCESSOR=arm64 "-DCMAKE_C_COMPILER=$tools/cc" "-DCMAKE_AR=$tools/ar"
    "-DCMAKE_RANLIB=$tools/ranlib" -DCMAKE_STRIP=/bin/true -DCMAKE_INSTALL_NAME_TOOL=/bin/true)
}

case $system in
  windows)
    options=(-DCMAKE_SYSTEM_NAME=Windows -DCMAKE_SYSTEM_PROCESSOR=x86_64
      -DCMAKE_C_COMPILER=x86_64-w64-mingw32-gcc-posix)
    ;;
  macos) zig ;;
  *)
    echo "library-for.sh: '$system' is neither windows nor macos" >&2
    exit 2
    ;;
esac
CFLAGS=-ffile-prefix-map=$source=. cmake -S "$source" -B "$source/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
  "${options[@]}" -DSOFTMMA_COMMAND=OFF -DSOFTMMA_OPENCL=OFF "$@"
cmake --build "$source/build"
