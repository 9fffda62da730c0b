#!/usr/bin/env bash
# The site is built, its links lead to existing pages, and its WebAssembly gives the results and drawings of every
# instruction that this machine's compiler gives for the same sources. Its products and errors equal those of the
# command. FOLDER receives the build.
# Usage: site.sh SOFTMMA SOURCE FOLDER
set -u
SOFTMMA=$(realpath "${1:?usage: site.sh SOFTMMA SOURCE FOLDER}")
export SOFTMMA
source_directory=$2 site=$3/site
failed=0

complain() {
  echo "FAILED: $*"
  failed=1
}

command -v emcmake >/dev/null || { echo "SKIPPED: emscripten is missing; scripts/setup --site installs it"; exit 77; }
command -v node >/dev/null || { echo "SKIPPED: node is missing; scripts/setup --site installs it"; exit 77; }
[ -x "$source_directory/build-site/bin/mdbook" ] ||
  { echo "SKIPPED: mdBook is missing; scripts/setup --site installs it"; exit 77; }
"$source_directory/scripts/site" "$site" || { complain 'the site cannot be built'; exit 1; }
"$source_directory/tests/site_links.py" "$site" || complain 'links lead nowhere'

{ cmake -S "$source_directory/site" -B "$3/site-native" -G Ninja && cmake --build "$3/site-native"; } \
  >"$3/site-native.log" 2>&1 ||
  { tail -n 20 "$3/site-native.log"; complain 'the program of digests cannot be built'; exit 1; }
"$3/site-native/digests" >"$3/digests-native.txt" || complain 'the program of digests fails'
node "$source_directory/tests/site_digests.js" "$site/softmma.js" "$site-wasm/softmma.wasm" <"$3/digests-native.txt" \
  >"$3/digests-wasm.txt" || complain 'WebAssembly gives no digests'
lines=$(wc -l <"$3/digests-native.txt")
[ "$lines" -gt 800 ] || complain "digests of $lines instructions alone"
cmp "$3/digests-native.txt" "$3/digests-wasm.txt" || complain 'WebAssembly gives other results or drawings'
node "$source_directory/tests/site_gemm.js" "$site/softmma.js" "$site-wasm/softmma.wasm" "$SOFTMMA" "$3" ||
  complain 'products are not those of the command'
node "$source_directory/tests/site_errors.js" "$site/softmma.js" "$site-wasm/errors.wasm" "$SOFTMMA" \
  "$source_directory" "$3" || complain 'errors are not those of the command'
for module in softmma errors; do
  gzip -dc "$site/$module.wasm.gz" | cmp - "$site-wasm/$module.wasm" || complain "the site has another module $module"
done
[ $failed = 0 ] && echo "digests of $lines instructions agree"
exit $failed
