#!/usr/bin/env bash
# The engine of NVIDIA GPUs builds, its machine code is as intended, and without a GPU it prints a message that there is
# none. SOFTMMA_CUDA_TARGETS='75;80;90;100;120' compiles for all targets, which takes four minutes; the default is one
# target. Without nvcc or cuobjdump the status is 77.
# Usage: cuda_engine.sh NVCC SOURCE SOFTMMA
set -u
skip() {
  echo '**********************************************************************'
  echo "SKIPPED: $1;"
  echo 'the engine of NVIDIA GPUs was NOT compiled.'
  echo '**********************************************************************'
  exit 77
}
nvcc=${1:?usage: cuda_engine.sh NVCC SOURCE SOFTMMA} source=${2:?usage: cuda_engine.sh NVCC SOURCE SOFTMMA}
softmma=${3:?usage: cuda_engine.sh NVCC SOURCE SOFTMMA}
command -v "$nvcc" >/dev/null || skip 'nvcc is not there'
command -v cuobjdump >/dev/null || skip 'cuobjdump is not there'
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake -S "$source" -B "$work" -DSOFTMMA_CUDA=ON \
  -DSOFTMMA_CUDA_ENGINE_ARCHITECTURES="${SOFTMMA_CUDA_TARGETS:-90}" -DNVCC="$(command -v "$nvcc")" \
  -DCMAKE_INSTALL_LIBDIR=lib \
  >"$work/log" 2>&1 && cmake --build "$work" --target softmma_cuda >>"$work/log" 2>&1 || {
  tail -n 20 "$work/log"
  exit 1
}
python3 "$source/tests/kernel_code.py" "$work/generated/device_cuda.fatbin" || exit 1

# The sources that NVRTC compiles on the user's machine.
cc -std=c11 -D_POSIX_C_SOURCE=200809L -I "$source/src" -I "$source/include" -I "$work/generated" \
  -isystem "$(dirname "$(command -v "$nvcc")")/../include" -o "$work/cuda_compile" \
  "$source/tests/cuda_compile.c" "$source/src/device/cuda/compile.c" -ldl || exit 1
targets=${SOFTMMA_CUDA_TARGETS:---few 90}
# shellcheck disable=SC2086 # targets are words
"$work/cuda_compile" ${targets//;/ }
[ $? -eq 1 ] && exit 1

! nvidia-smi -L >/dev/null 2>&1 || exit 0
SOFTMMA_ENGINES=$work/lib/softmma "$softmma" test --unit model:cuda --on A100 \
  --instr mma.m16n8k16.f32.f16.f16.f32 --rows 1 >"$work/said" 2>&1 && exit 1
cat "$work/said"
[ "$(wc -l <"$work/said")" -eq 1 ] && grep -q 'CUDA: ' "$work/said"
