#!/usr/bin/env bash
# The pictures in docs/pictures and tests/pictures are those that `softmma explain` draws; they are well-formed and can
# be displayed.
# Usage: pictures.sh SOFTMMA
set -u
SOFTMMA=$(realpath "${1:?usage: pictures.sh SOFTMMA}")
export SOFTMMA
source_directory=$(realpath "$(dirname "$0")/..")
drawn=$(mktemp -d)
trap 'rm -rf "$drawn"' EXIT
failed=0

complain() {
  echo "FAILED: $*"
  failed=1
}

"$source_directory/scripts/pictures" "$drawn" || complain 'a picture cannot be drawn'
cd "$drawn" || exit 1
for file in docs/pictures/*.svg tests/pictures/*.svg; do
  cmp -s "$file" "$source_directory/$file" || complain "$file is not up to date; scripts/pictures draws it again"
  if command -v xmllint >/dev/null; then
    xmllint --noout --nonet "$file" || complain "$file is not well-formed"
  fi
  if command -v rsvg-convert >/dev/null; then
    { rsvg-convert "$file" >picture.png && [ -s picture.png ]; } || complain "$file cannot be shown"
  fi
done
# Graphviz draws the trees, differently in each version.
for file in "$source_directory"/{docs,tests}/pictures/*.svg; do
  [[ $file == */tree-*.svg ]] || [ -e "${file#"$source_directory"/}" ] || complain "$file is drawn by no line of tests/pictures/pictures.txt"
done
[ $failed = 0 ] && echo "all pictures are up to date"
exit $failed
