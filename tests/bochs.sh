#!/usr/bin/env bash
# A `pipe` unit that computes test vectors with Bochs, which emulates a CPU that has the instruction. WORK is a folder
# with bochs_disk (tests/bochs_disk.c) and bochs.rom (tests/bochs_rom.S); BOCHS names the program.
# Usage: bochs.sh WORK
set -euo pipefail
work=$(realpath "${1:?usage: bochs.sh WORK}")
here=$(mktemp -d -p "$work")
trap 'rm -rf "$here"' EXIT
cat >"$here/rows"
"$work/bochs_disk" <"$here/rows" >"$here/disk"
head -c 32768 /dev/zero >"$here/vga"
case $(sed -n '/^# instruction: */{s///p;q}' "$here/rows") in
  td*f8ps) cpu='sapphire_rapids, add_features="amx_fp8"' ;; # Bochs after 3.0
  vdp* | t*) cpu='sapphire_rapids, add_features="amx_fp16"' ;;
  *) cpu=arrow_lake ;;
esac
cat >"$here/configuration" <<END
display_library: rfb, options="timeout=0"
romimage: file=$work/bochs.rom, address=0xffff0000
vgaromimage: file=$here/vga
memory: guest=64, host=64
cpu: model=$cpu
ata0-master: type=disk, path=$here/disk, mode=flat, cylinders=$(($(stat -c %s "$here/disk") / 516096)), heads=16, spt=63
boot: disk
port_e9_hack: enabled=1
log: $here/log
panic: action=fatal
END
# Bochs ends with status 1 even when the ROM ends it as intended.
"${BOCHS:-bochs}" -q -f "$here/configuration" </dev/null >"$here/said" 2>&1 || true
if ! grep -q 'shutdown requested' "$here/said"; then
  echo "bochs.sh: Bochs did not come to the end: $(grep -v '^0000000' "$here/said" | tail -n 3 | tr '\n' ' ')" >&2
  exit 1
fi
sed -nE 's,^=([0-9a-f]{8})$,\1,p' "$here/said"
