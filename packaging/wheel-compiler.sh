#!/bin/sh
# wheel-compiler.sh ARGUMENT...: the C compiler of wheels. It compiles with gcc, and links for glibc 2.28, which is older
# than the system's, with Zig's linker and its stubs of that glibc. In the environment: WHEEL_GCC names the compiler,
# WHEEL_PYTHON a Python with ziglang, WHEEL_FOLDER a folder with libgomp.so.1 for that glibc and with libpopt.a.
set -eu
for argument; do
  case $argument in -c | -E | -S | -v | --version | -print-* | *.c) exec "$WHEEL_GCC" "$@" ;; esac
done
machine=$("$WHEEL_GCC" -dumpmachine)
target=${machine%%-*}-linux-gnu.2.28
export ZIG_GLOBAL_CACHE_DIR="$WHEEL_FOLDER/zig" ZIG_LOCAL_CACHE_DIR="$WHEEL_FOLDER/zig"
zig() { "$WHEEL_PYTHON" -m ziglang cc -target "$target" "$@"; }

# Zig has an fma() of its own, which rounds to nearest in every mode, and a __cpu_model that nobody fills. The stubs, and
# GCC's library, have to come before it. A first program makes the stubs.
if [ ! -e "$WHEEL_FOLDER/stubs" ]; then
  echo 'int main(void) { return 0; }' >"$WHEEL_FOLDER/empty.c"
  zig "$WHEEL_FOLDER/empty.c" -lm -o "$WHEEL_FOLDER/empty"
  ln -s "$(dirname "$(find "$WHEEL_FOLDER/zig" -name libm.so.6 | head -n 1)")" "$WHEEL_FOLDER/stubs"
fi
for argument; do
  shift
  case $argument in
    -fopenmp | -Wl,--gc-sections) ;;
    */libgomp.so) set -- "$@" "$WHEEL_FOLDER/libgomp.so.1" ;;
    */libpopt.so) set -- "$@" "$WHEEL_FOLDER/libpopt.a" ;;
    *) set -- "$@" "$argument" ;;
  esac
done
zig "$@" "$WHEEL_FOLDER/stubs/libm.so.6" "$WHEEL_FOLDER/stubs/libc.so.6" "$("$WHEEL_GCC" -print-libgcc-file-name)"
