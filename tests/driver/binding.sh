# SPDX-License-Identifier: Apache-2.0
# Who gets what call: libraries that bind some of their symbols themselves still
# use one core with the executable; a sanitizer's longjmp and vfork, which come
# before ours, and setcontext, which nobody looks into, cost no count; and what
# the runtime says to nobody does not end a program.
. "$(dirname "$0")/lib.sh"
cairn=$bin/cairn
echo 'int twice(int x) { return x > 3 ? 2 * x : x; }' >lib.c
echo 'int twice(int); int main(void) { return twice(2) - 2; }' >main.c
echo '{ twice; };' >list
for linker in bfd gold lld; do
	for how in -Wl,-Bsymbolic-functions -Wl,--dynamic-list=list; do
		for mode in edges edges,nogs paths; do
			name="$linker $how $mode"
			rm -f ./*.cairn
			ok "$name" "$cc" "--cairn=$mode" -fuse-ld=$linker -fPIC \
				-shared $how lib.c -o liblib.so
			ok "$name: main" "$cc" "--cairn=$mode" main.c -L. -llib \
				-Wl,-rpath,. -o main
			ok "$name: runs" env CAIRN_OUT=%p.cairn ./main
			# lld binds variables of a list, too: two of all
			[ "$linker $how" = "lld -Wl,--dynamic-list=list" ] ||
				ok "$name: one file" test "$(ls ./*.cairn | wc -l)" = 1
			ok "$name: sound" "$cairn" check ./*.cairn
		done
	done
done

# counts NAME LINE COUNT FLAGS...: how often a line of program.c ran.
counts() {
	name=$1 line=$2 count=$3
	shift 3
	rm -f ./*.cairn
	ok "$name" "$cc" "$@" -g program.c -o program
	ok "$name: runs" env CAIRN_OUT=%p.cairn ./program
	"$cairn" report --lcov ./*.cairn >info 2>/dev/null
	ok "$name: line $line" grep -qx "DA:$line,$count" info
}

cat >jump.c <<'END'
#include <setjmp.h>
static jmp_buf b;
volatile int after;
__attribute__((noinline)) static void f(void)
{
	if (!after)
		longjmp(b, 1);
}
__attribute__((noinline)) static void g(void)
{
	f();
	after++;
}
int main(void)
{
	for (volatile int i = 0; i < 5; i++)
		if (!setjmp(b))
			g();
	return after;
}
END
cat >child.c <<'END'
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline)) static void g(void)
{
	if (vfork() == 0)
		_exit(1);
	wait(0);
}
int main(void)
{
	for (volatile int i = 0; i < 5; i++)
		g();
	return 0;
}
END
cat >context.c <<'END'
#include <ucontext.h>
__attribute__((noinline)) static void g(void)
{
	volatile int k = 0;
	ucontext_t u;
	getcontext(&u);
	if (k++ < 4)
		setcontext(&u);
}
int main(void)
{
	g();
	return 0;
}
END
for mode in edges paths; do
	for which in address memory thread; do
		name="$mode $which"
		cp jump.c program.c
		counts "$name longjmp" 12 0 "--cairn=$mode" -O1 \
			-fsanitize=$which
		cp child.c program.c
		counts "$name vfork" 12 5 "--cairn=$mode" -O1 \
			-fsanitize=$which
	done
	cp context.c program.c
	for level in -O0 -O2; do
		counts "$mode $level getcontext" 7 5 "--cairn=$mode" $level
	done
done

echo 'int main(void) { return 0; }' >quiet.c
ok "quiet" "$cc" quiet.c -o quiet
{
	sleep 0.2
	CAIRN_OUT=nowhere/x ./quiet
	echo $? >status
} 2>&1 | :
while [ ! -s status ]; do sleep 0.1; done
ok "nobody reads stderr: status $(cat status)" test "$(cat status)" = 0
dd if=/dev/zero of=log.err bs=4096 count=2 2>/dev/null
(
	ulimit -f 1
	CAIRN_OUT=nowhere/x ./quiet 2>>log.err
	echo $? >status2
)
ok "stderr cannot grow" test "$(cat status2)" = 0
finish
