# SPDX-License-Identifier: Apache-2.0
# Are the symbols that the runtime shows to other modules exactly those that
# the driver exports from an executable, and do the linkers do as told?
. "$(dirname "$0")/lib.sh"
runtime=$(cd "$bin/.." && pwd)/lib/cairn/libcairn_rt.a
touch main.o
readelf -sW "$runtime" |
	awk '($5 == "GLOBAL" || $5 == "WEAK") && $6 == "DEFAULT" &&
		$7 != "UND" { print $8 }' | sort -u >shown
command_of main.o | sed -n 's/^--export-dynamic-symbol=//p' | sort -u >exported
ok "the table of src/driver/command.c" diff shown exported
ok "some" test -s shown

echo 'int main(void) { return 0; }' >main.c
for linker in bfd gold lld; do
	for how in -pie -no-pie; do
		ok "$linker $how" "$cc" $how -fuse-ld=$linker main.c -o prog
		nm -D --defined-only prog | sed 's/.* //; s/@.*//' | sort -u >now
		ok "$linker $how exports" test -z "$(comm -23 shown now)"
		ok "$linker $how has a build id" sh -c \
			"readelf -n prog | grep -q 'Build ID'"
	done
done
ok "no build id asked for" "$cc" -Wl,--build-id=none main.c -o prog
ok "there is one" sh -c "readelf -n prog | grep -q 'Build ID'"
finish
