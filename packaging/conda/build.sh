#!/bin/sh
set -eu
# shellcheck disable=SC2086  # conda's options are several words
cmake -S . -B build -G Ninja ${CMAKE_ARGS-} -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$PREFIX" \
  -DCMAKE_INSTALL_LIBDIR=lib -DSOFTMMA_OPENCL=OFF -DSOFTMMA_MPI=OFF
cmake --build build
cmake --install build --strip
