# SPDX-License-Identifier: Apache-2.0
# Of several files, a note names those that it is about.
cat >note.c <<'END'
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>

static volatile int sink;

static void store(int a, int b, volatile int *to)
{
	if (a)
		sink += 1;
	if (b)
		sink += 2;
	*to = sink;
}

int main(int argc, char **argv)
{
	struct rlimit none = {0, 0};
	int n = atoi(argv[1]);

	setrlimit(RLIMIT_CORE, &none);
	store(n & 1, n & 2, n & 4 ? NULL : &sink);
	if (n & 8)
		raise(SIGKILL);
	return argc < 0;
}
END
cairn-cc --cairn=paths -O0 -g note.c -o note || exit
# try N: fine up to 3; 4 to 7 crash, on a path that nobody knows; 8 to 11 are
# killed.
try() { (CAIRN_OUT=$1.cairn exec ./note $1) 2>/dev/null; }
for i in 0 1 2 3 5 6 7 8 9; do
	try $i
done 2>/dev/null
mv 0.cairn tested.cairn

# What a note about killed programs goes on to say is not looked at here.
short() { sed 's/\(killed or still runs\)[^"<]*/\1/'; }
# both FILE...: what cairn residual and cairn tests say of them.
both() {
	echo "== $*"
	cairn residual --tested tested.cairn "$@" | grep '^note' | short
	cairn tests "$@" | grep '^note' | short
}
both 1.cairn 2.cairn
both 1.cairn 5.cairn
both 5.cairn 1.cairn
both 1.cairn 8.cairn
both 1.cairn 5.cairn 8.cairn 6.cairn
both 1.cairn 5.cairn 8.cairn 6.cairn 7.cairn 9.cairn
cairn merge -o many.cairn 5.cairn 2.cairn
both 1.cairn many.cairn
for i in a b; do
	(CAIRN_OUT=5$i.cairn exec ./note 5)
done 2>/dev/null
both 1.cairn 5.cairn 6.cairn 7.cairn 5a.cairn
both 1.cairn 5.cairn 6.cairn 7.cairn 5a.cairn 5b.cairn
echo "== json"
cairn residual --stable --json --tested tested.cairn 1.cairn 5.cairn 8.cairn |
	sed -n '/^ "tested"/,/^ "totals"/p' | short
cairn tests --stable --json 8.cairn 1.cairn 5.cairn |
	sed -n '/^ "profile"/,/^ }/p' | short
cairn drift --stable --json tested.cairn 5.cairn | sed -n '/^ "a"/,/^ "o/p'
echo "== pages"
cairn residual --html page.html --tested tested.cairn 1.cairn 5.cairn 8.cairn
grep '<p class="note"' page.html | short
cairn tests --html page.html 1.cairn 5.cairn 8.cairn
grep '<p class="note"' page.html | short
echo "== nothing in any of them"
cairn paths --line note.c:1 1.cairn 2.cairn
cairn paths --function none 1.cairn 2.cairn 3.cairn 5.cairn
cairn paths --line note.c:1 1.cairn
echo "exit $?"
