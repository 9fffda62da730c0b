#!/usr/bin/env bash
# Runs PROGRAM on a computer with AVX-512 that Bochs emulates: once for each line of standard input, with the words of
# the line as its arguments. Prints what the program writes, and a line "status N" after each run. PROGRAM must be linked
# statically. The emulated computer has the FILEs under the same names. It runs Debian's Linux, which apt-get downloads
# into the folder WORK, but does not install. Status 77 means that something is missing.
# Usage: avx512_computer.sh WORK PROGRAM [FILE...] <LINES
set -euo pipefail
here=$(realpath "$(dirname "$0")") work=$(realpath "$1") program=$2
shift 2

missing() {
  echo "avx512_computer.sh: $1" >&2
  exit 77
}
for tool in bochs xorriso cpio; do
  command -v "$tool" >/dev/null || missing "$tool is missing; scripts/setup --tests installs it"
done
starter=/usr/lib/ISOLINUX/isolinux.bin loader=/usr/lib/syslinux/modules/bios/ldlinux.c32
for file in $starter $loader; do
  [ -f "$file" ] || missing "$file is missing; scripts/setup --tests installs it"
done
if [ ! -d "$work/linux" ]; then
  package=$(apt-cache depends linux-image-cloud-amd64 2>/dev/null | sed -n 's/^ *Depends: //p')
  (cd "$work" && rm -f linux-image-*.deb && apt-get -q download "$package" && dpkg -x linux-image-*.deb unpacked &&
    mv unpacked linux) >"$work/log" 2>&1 || missing "Debian's package linux-image-cloud-amd64 cannot be downloaded"
fi

# logged COMMAND...: runs a command with its output in a file; if it fails, prints the end of the output and ends.
logged() {
  if ! "$@" >"$work/log" 2>&1; then
    tail -n 40 "$work/log" >&2
    exit 1
  fi
}

# The disk: Linux, and the files that Linux unpacks into memory.
disk=$work/disk root=$work/root
rm -rf "$root" "$disk"
mkdir -p "$root/dev" "$disk/isolinux"
cat >"$root/lines"
cp "$program" "$root/program"
logged cc -std=gnu11 -Wall -Wextra -Werror -O2 -static "$here/avx512_init.c" -o "$root/init"
for file; do
  mkdir -p "$root$(dirname "$file")"
  cp "$file" "$root$file"
done
(cd "$root" && find . | cpio -o -H newc --quiet | gzip -1) >"$disk/isolinux/files"
cp "$work"/linux/boot/vmlinuz-* "$disk/isolinux/linux"
cp $starter $loader "$disk/isolinux"
# clearcpuid: Bochs 2.7 has pku, xsavec, xsaves and fsrm without all that Linux expects with them.
cat >"$disk/isolinux/isolinux.cfg" <<END
default linux
label linux
  kernel linux
  append initrd=files console=ttyS0 quiet mitigations=off clearcpuid=515,321,323,580
END
logged xorriso -as mkisofs -o "$work/disk.iso" -b isolinux/isolinux.bin -c isolinux/catalogue -no-emul-boot \
  -boot-load-size 4 -boot-info-table "$disk"

cat >"$work/configuration" <<END
display_library: rfb, options="timeout=0"
romimage: file=/usr/share/bochs/BIOS-bochs-latest
vgaromimage: file=/usr/share/vgabios/vgabios.bin
memory: guest=512, host=512
cpu: model=corei7_icelake_u, ips=100000000
ata0-master: type=cdrom, path=$work/disk.iso, status=inserted
boot: cdrom
com1: enabled=1, mode=file, dev=$work/said
plugin_ctrl: speaker=0
log: $work/bochs.log
panic: action=fatal
END
commands=()
if [[ $(bochs --help 2>&1) == *' -rc '* ]]; then # it has a debugger, which waits for commands
  echo continue >"$work/commands"
  commands=(-rc "$work/commands")
fi
rm -f "$work/said"
(
  ulimit -t 20000 # for a Linux that stops
  bochs -q -f "$work/configuration" "${commands[@]}" </dev/null >"$work/log" 2>&1 || true # always 1
)
if [ "$(grep -c '^status ' "$work/said")" != "$(wc -l <"$root/lines")" ]; then
  tail -n 5 "$work/said" "$work/bochs.log" "$work/log" >&2
  echo 'avx512_computer.sh: the emulated computer did not run the program as often as asked' >&2
  exit 1
fi
sed 's/\r$//; /^\[ /d' "$work/said" # without what Linux says
