#!/bin/sh
# The installed library is stripped, contains no search path for libraries, and serves the C programs of docs/c.md, one
# for the library and one for a study, through pkg-config and through CMake.
# Usage: install.sh BUILD SOURCE COMPILER [FLAGS]
set -eu
build=$1 source=$2 compiler=$3 flags=${4:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix

expect() { # NAME COMMAND...: the command prints the sum that an H100 computes
  name=$1
  shift
  if ! printed=$("$@"); then echo "$name: $* failed" >&2; exit 1; fi
  if [ "$printed" != "-0.75" ]; then echo "$name: printed '$printed', expected -0.75" >&2; exit 1; fi
  echo "$name: ok"
}

cmake --install "$build" --strip --prefix "$prefix" > "$work/install.log" || { cat "$work/install.log" >&2; exit 1; }
description=$(find "$prefix" -name softmma.pc)
libraries=$(dirname "$(dirname "$description")")
export PKG_CONFIG_PATH="$libraries/pkgconfig"
installed=$(find "$prefix" -type f -name 'softmma' -path '*/bin/*' -o -type f -name '*.so*')
[ -n "$installed" ]
for file in $installed; do
  if readelf -d "$file" | grep -E 'R(UN)?PATH'; then echo "$file: has a place to search for libraries" >&2; exit 1; fi
  if readelf -S "$file" | grep -F .symtab; then echo "$file: is not stripped" >&2; exit 1; fi
done
if grep -e rpath "$description"; then echo "$description: has a place to search for libraries" >&2; exit 1; fi

# shellcheck disable=SC2016  # backquotes of Markdown
sed -n '/^```c$/,/^```$/{/^```$/q;/^```/d;p;}' "$source/docs/c.md" > "$work/hello.c"
options=$(pkg-config --cflags --libs softmma)
# shellcheck disable=SC2086  # the options are several words
"$compiler" $flags -std=c11 -Wall -Werror "$work/hello.c" $options -o "$work/hello"
expect "pkg-config" env LD_LIBRARY_PATH="$libraries" "$work/hello"

# The study's program, in the second block of the page, prints what the command prints.
# shellcheck disable=SC2016  # backquotes of Markdown
sed '1,/^```$/d' "$source/docs/c.md" | sed -n '/^```c$/,/^```$/{/^```$/q;/^```/d;p;}' > "$work/study.c"
"$prefix/bin/softmma" tolerance H100:f16 --shape 8x8x64 --json > "$work/expected.json"
expect_study() { # NAME PROGRAM: the program prints the data of `softmma tolerance --json`
  if ! { "$2" && echo; } > "$work/study.json" || ! cmp "$work/study.json" "$work/expected.json"; then
    echo "$1: the program does not print what softmma tolerance --json prints" >&2
    exit 1
  fi
  echo "$1: ok"
}
options=$(pkg-config --cflags --libs softmma-study)
# shellcheck disable=SC2086  # the options are several words
"$compiler" $flags -std=c11 -Wall -Wextra -Werror "$work/study.c" $options -o "$work/study"
expect_study "pkg-config, a study" "$work/study"
nm "$libraries"/libsoftmma*.a 2> "$work/log" | sed -n 's/^[0-9a-f]* T //p' | sort -u > "$work/defined"
sed -n 's,^#include .*/\* .*: \(smma_.*\) \*/$,\1,p' "$prefix/include/softmma/study/study.h" | tr -d , | tr ' ' '\n' |
  sort -u > "$work/named"
[ "$(wc -l < "$work/named")" -gt 40 ]
if comm -23 "$work/named" "$work/defined" | grep .; then echo "study.h names these functions, which are not installed" >&2; exit 1; fi

version=$(pkg-config --modversion softmma)
mkdir "$work/user"
cat > "$work/user/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES C)
find_package(softmma $version REQUIRED)
add_executable(shared ../hello.c)
target_link_libraries(shared PRIVATE softmma::softmma)
add_executable(static ../hello.c)
target_link_libraries(static PRIVATE softmma::static)
add_executable(study ../study.c)
target_link_libraries(study PRIVATE softmma::study)
END
if ! { cmake -S "$work/user" -B "$work/user/build" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$compiler" \
         -DCMAKE_C_FLAGS="$flags" && cmake --build "$work/user/build"; } > "$work/user/log" 2>&1; then
  cat "$work/user/log" >&2
  exit 1
fi
expect "find_package, shared" "$work/user/build/shared"
expect "find_package, static" "$work/user/build/static"
expect_study "find_package, a study" "$work/user/build/study"
# Optional programs may be missing.
if [ -z "$flags" ]; then
  for package in MPI OpenMP OpenCL; do
    cmake -S "$source" -B "$work/without-$package" -DCMAKE_DISABLE_FIND_PACKAGE_$package=ON > "$work/log" 2>&1 || {
      cat "$work/log" >&2
      exit 1
    }
    echo "configured without $package: ok"
  done
fi
# A project that builds SoftMMA as part of itself gets neither the command nor the tests, and installs nothing of
# SoftMMA.
if [ -z "$flags" ]; then
  mkdir "$work/within"
  cat > "$work/within/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES C)
include(FetchContent)
FetchContent_Declare(softmma SOURCE_DIR $source)
FetchContent_MakeAvailable(softmma)
add_executable(shared ../hello.c)
target_link_libraries(shared PRIVATE softmma::softmma)
add_executable(static ../hello.c)
target_link_libraries(static PRIVATE softmma::static)
install(TARGETS shared)
END
  launcher=$(sed -n 's/^CMAKE_C_COMPILER_LAUNCHER:[A-Z]*=//p' "$build/CMakeCache.txt")
  if ! { cmake -S "$work/within" -B "$work/within/build" -DCMAKE_C_COMPILER="$compiler" \
           -DCMAKE_C_COMPILER_LAUNCHER="$launcher" && cmake --build "$work/within/build" -j 2 &&
         cmake --install "$work/within/build" --prefix "$work/within/prefix"; } > "$work/within/log" 2>&1; then
    cat "$work/within/log" >&2
    exit 1
  fi
  expect "FetchContent, shared" "$work/within/build/shared"
  expect "FetchContent, static" "$work/within/build/static"
  if [ "$(cd "$work/within/prefix" && find . -type f)" != ./bin/shared ]; then
    echo "FetchContent: SoftMMA installs more than its user does" >&2
    exit 1
  fi
fi
# A project that uses only C++, with the compiler's default flags, can link the installed library.
if [ -z "$flags" ] && command -v c++ >/dev/null; then
  mkdir "$work/cxx"
  cp "$work/hello.c" "$work/cxx/hello.cpp"
  sed 's/LANGUAGES C/LANGUAGES CXX/; s,\.\./hello\.c,hello.cpp,; /study/d' "$work/user/CMakeLists.txt" > "$work/cxx/CMakeLists.txt"
  if ! { cmake -S "$work/cxx" -B "$work/cxx/build" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_STANDARD=17 &&
         cmake --build "$work/cxx/build"; } > "$work/cxx/log" 2>&1; then
    cat "$work/cxx/log" >&2
    exit 1
  fi
  expect "find_package in C++, shared" "$work/cxx/build/shared"
  expect "find_package in C++, static" "$work/cxx/build/static"
fi
"$prefix/bin/softmma" version
