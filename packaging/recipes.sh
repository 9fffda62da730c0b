#!/bin/sh
# recipes.sh ARCHIVE VERSION OUT: fills in conda's recipe and vcpkg's port for an archive, as OUT/softmma-VERSION-recipes,
# and runs without a network what they run: conda's build.sh, and the configuration, build and installation that
# vcpkg_cmake_configure and vcpkg_cmake_install do. Neither tool is called.
set -eu
archive=$1 version=$2 recipes=$3/softmma-$2-recipes source=$(dirname "$(realpath "$0")")
address=$("$source/address.sh")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
rm -rf "$recipes"
mkdir -p "$recipes"
for recipe in conda vcpkg; do
  cp -r "$source/$recipe" "$recipes"
  for file in "$recipes/$recipe"/*.in; do
    sed "$address
      s/@VERSION@/$version/g
      s/@SHA256@/$(sha256sum "$archive" | cut -d ' ' -f 1)/
      s/@SHA512@/$(sha512sum "$archive" | cut -d ' ' -f 1)/" "$file" > "${file%.in}"
    rm "$file"
  done
done

# alone COMMAND...: without a network, where the kernel lets this user have none.
alone() { unshare --user --map-root-user --net "$@"; }

fresh() {
  rm -rf "$work/source"
  mkdir "$work/source"
  tar -xzf "$archive" -C "$work/source" --strip-components 1
}

fresh
(cd "$work/source" && alone env PREFIX="$work/conda" sh "$recipes/conda/build.sh")
"$work/conda/bin/softmma" version
"$work/conda/bin/softmma" dot --on H100 --instr HMMA.16816.F32 --a '1*16' --b '1*16' --c 0x1p23

fresh
options=$(sed -n 's/.*OPTIONS \(.*\))$/\1/p' "$recipes/vcpkg/portfile.cmake")
# shellcheck disable=SC2086  # several words
alone cmake -S "$work/source" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF \
  -DCMAKE_INSTALL_PREFIX="$work/vcpkg" -DCMAKE_INSTALL_LIBDIR=lib $options
alone cmake --build "$work/build" --target install
cd "$work/vcpkg"
ls lib/cmake/softmma/softmma-config.cmake lib/pkgconfig/softmma.pc include/softmma/softmma.h
