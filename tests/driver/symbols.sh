# SPDX-License-Identifier: Apache-2.0
# Are the symbols that the runtime shows to other modules exactly those that
# the driver exports from an executable, and do the linkers do as told?  And
# does a shared object have none of libc's names, whatever it calls?
. "$(dirname "$0")/lib.sh"
lib=$(cd "$bin/.." && pwd)/lib/cairn
touch main.o
readelf -sW "$lib/libcairn_rt.a" "$lib/libcairn_exe.a" "$lib/libcairn_out.a" |
	awk '($5 == "GLOBAL" || $5 == "WEAK") && $6 == "DEFAULT" &&
		$7 != "UND" { print $8 }' | sort -u >shown
command_of --cairn=record main.o | sed -n 's/^--export-dynamic-symbol=//p' | sort -u >exported
ok "the table of src/driver/command.c" diff shown exported
ok "some" test -s shown
# what only recordings have is not in other programs
command_of main.o | sed -n 's/^--export-dynamic-symbol=//p' | sort -u >exported
cp exported shown

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
# One that calls each of them alone.
grep -v '^__cairn_' shown >libc
while read -r what call; do
	printf '%s\n' '#include <setjmp.h>' '#include <signal.h>' \
		'#include <unistd.h>' 'int api(int n, jmp_buf to);' \
		"int api(int n, jmp_buf to) { if (n) $call; return to != 0; }" \
		>api.c
	for linker in bfd gold lld; do
		ok "$linker $what" "$cc" -O2 -D_GNU_SOURCE -fPIC -shared \
			-fuse-ld=$linker -Wl,--no-undefined api.c -o libapi.so
		nm -D --defined-only libapi.so | sed 's/.* //; s/@.*//' |
			sort -u >now
		ok "$linker $what: its own" grep -qx api now
		ok "$linker $what: none of libc's" test -z "$(comm -12 libc now)"
		rm -f libapi.so
	done
done <<'END'
longjmp longjmp(to, n)
siglongjmp siglongjmp(to, n)
signal signal(n, SIG_IGN)
sigaction sigaction(n, 0, 0)
_exit _exit(n)
execv execv("", (char *[]){0, 0})
vfork { if (!vfork()) _exit(n); }
_Fork _Fork()
END

# Hooks of recordings that others get as well do not make recordings of them.
printf '%s\n' '#include <sys/mman.h>' '#include <unistd.h>' 'int main(void)' \
	'{ char *p = mmap(0, 4096, 3, 34, -1, 0);' 'madvise(p, 4096, 4);' \
	'return munmap(p, 4096) || !sbrk(0) || !mremap; }' >maps.c
ok "maps" "$cc" -D_GNU_SOURCE maps.c -o prog
readelf -sW prog | awk '$8 ~ /_recording$/ { print $5 }' | sort -u >now
ok "is no recording" test "$(cat now)" = WEAK

ok "no build id asked for" "$cc" -Wl,--build-id=none main.c -o prog
ok "there is one" sh -c "readelf -n prog | grep -q 'Build ID'"
finish
