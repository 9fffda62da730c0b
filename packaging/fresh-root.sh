#!/usr/bin/env bash
# fresh-root.sh WAY SUITE RELEASE: runs the block of docs/packages.md under the heading '## WAY' in a fresh, minimal root
# of a Debian suite ('here': this machine's), in a folder with the files of RELEASE and the program of docs/c.md. A root
# that cannot be made is status 77. The root has apt's way to packages, pip's settings, name resolution and certificates
# of this machine. It is removed at the end.
# shellcheck disable=SC2016  # dollar signs and backquotes are apt's and Markdown's
set -euo pipefail
way=$1 suite=$2 release=$(realpath "$3")
cd "$(dirname "$0")/.."
root=$PWD/build-release/root-$way-$suite

# Prints the block without sudo, which the root does not have.
block() { sed -n "/^## $way\$/,/^## /{/^    /{s/^    //;s/\<sudo //g;p}}" docs/packages.md; }

# Prints apt's sources for the suite: those of this machine, or its first one with the suite's name.
sources() {
  local address
  if [ "$suite" = "$(codename)" ]; then
    grep -lsE '^(deb |Types:)' /etc/apt/sources.list /etc/apt/sources.list.d/*.{list,sources}
  else
    address=$(apt-get indextargets --format '$(REPO_URI) $(CODENAME)' | sed -n "s/ $(codename)\$//p" | head -n 1)
    echo "deb $address $suite main"
  fi
}
codename() { sed -n 's/^VERSION_CODENAME=//p' /etc/os-release; }

furnished() {
  local file from=()
  [ "$suite" != here ] || suite=$(codename)
  mapfile -t from < <(sources)
  rm -rf --one-file-system "$root"
  apt-config dump Acquire | grep -v '^Acquire::IndexTargets' >"$root.apt"
  mmdebstrap --quiet --variant=minbase --aptopt="$root.apt" --include=apt,ca-certificates "$suite" "$root" "${from[@]}" ||
    return
  for file in /etc/resolv.conf /etc/hosts /etc/pip.conf ~/.pip/pip.conf ~/.config/pip/pip.conf \
    /etc/ssl/certs/ca-certificates.crt /opt/wheels; do
    [ ! -e "$file" ] || cp -rL --parents "$file" "$root"
  done
  printf 'APT::Get::Assume-Yes "true";\nAPT::Install-Recommends "false";\n' >"$root/etc/apt/apt.conf.d/99fresh"
  mkdir "$root/release"
  cp -r "$release"/* "$root/release"
  sed -n '/^```c$/,/^```$/{/^```$/q;/^```/d;p;}' docs/c.md >"$root/release/hello.c"
  { echo 'set -eux; apt-get -qq update' && block; } >"$root/release/block.sh"
}

[ -n "$(block)" ] || { echo "fresh-root: docs/packages.md has no block under '## $way'" >&2; exit 2; }
command -v mmdebstrap >/dev/null && [ "$(id -u)" -eq 0 ] && unshare --mount true || exit 77
mkdir -p build-release
trap 'rm -rf --one-file-system "$root" "$root.apt"' EXIT
furnished || exit 77
unshare --mount --pid --fork --kill-child sh -euc '
  mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" && mount --rbind /sys "$1/sys"
  exec chroot "$1" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME="$HOME" \
    DEBIAN_FRONTEND=noninteractive WINEDEBUG=-all sh -c "cd /release && exec sh block.sh" </dev/null' sh "$root"
