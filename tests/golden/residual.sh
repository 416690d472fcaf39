# SPDX-License-Identifier: Apache-2.0
# cairn residual: untested paths with and without untested edges, users, other
# builds, exit status.
cat >door.c <<'END'
#include <stdlib.h>

static int locked, open;

void leave(void)
{
	exit(3);
}

static void turn(int key, int push)
{
	if (key)
		locked = !locked;
	if (push)
		open = !locked;
	if (open && locked)
		leave();
}

#ifdef ALARM
static void ring(int n)
{
	while (n-- > 0)
		open = 0;
}
#endif

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		int n = atoi(argv[i]);
#ifdef ALARM
		if (n > 3)
			ring(n);
#endif
		turn(n & 1, n & 2);
	}
	return open;
}
END
cairn-cc --cairn=paths -O0 -g door.c -o door || exit
try() { CAIRN_OUT=$1 ./${program:-door} "$2" $3 $4 $5; }
try t1.cairn 1 2
try t2.cairn 1 1 2
cairn merge -o tested.cairn t1.cairn t2.cairn
try u1.cairn 1 1 3 0
try u2.cairn 1 1 3
try u3.cairn 2
cairn residual --stable --tested tested.cairn u1.cairn u2.cairn u3.cairn
echo "exit $?"
echo "== nothing new"
cairn residual --tested tested.cairn t1.cairn
echo "exit $?"
cairn residual --tested tested.cairn tested.cairn
echo "exit $?"
echo "== died on a path that no test began"
try u4.cairn 2 1
cairn residual --stable --tested tested.cairn u4.cairn
echo "exit $?"
echo "== json"
cairn residual --stable --json --tested tested.cairn u1.cairn u3.cairn
echo "== another build"
cairn-cc --cairn=paths -O0 -g -DALARM door.c -o door2 || exit
program=door2
try v1.cairn 1 1 3 9
cairn residual --stable --tested tested.cairn v1.cairn
echo "exit $?"
cairn residual --stable --json --tested tested.cairn v1.cairn |
	sed -n '/_only/,/ \],/p'
echo "== a residual build"
cairn-cc --cairn=residual,tested=tested.cairn -O0 -g door.c -o door3 || exit
program=door3
try w1.cairn 1 1 3 0
try w2.cairn 1 1 3
cairn residual --stable --tested tested.cairn w1.cairn w2.cairn
echo "exit $?"
cairn residual --stable --json --tested tested.cairn w1.cairn w2.cairn |
	sed -n '/"totals"/,/}/p'
for f in u w; do
	cairn residual --json --tested tested.cairn ${f}1.cairn ${f}2.cairn |
		sed -n '/ "untested": \[/,$p' >$f.json
	grep '"order"' $f.json
	sed -i '/"order"/d' $f.json
done
cmp u.json w.json && echo same
try w4.cairn 2 1
cairn residual --stable --tested tested.cairn w4.cairn
echo "exit $?"
cairn-cc --cairn=residual,tested=w1.cairn -O0 -g door.c -o door4 2>&1 |
	sed -n 's|^error: .*/w1|w1|p'
echo "== nobody knows what else it did"
cairn report --stable w1.cairn
cairn report --stable --json w1.cairn |
	sed -n '/"totals"/,/}/p; /"executions"/p'
cairn report --stable --lcov w1.cairn
echo "== their order, in one run and in none"
try w3.cairn 0 3 3 0
cairn pack -o p3.cairn w3.cairn
cairn merge -o m.cairn w2.cairn w3.cairn
for f in w3 p3 m; do
	cairn check $f.cairn
	cairn residual --stable --json --tested tested.cairn $f.cairn |
		grep -E '"(ordered|order_|order|number)'
done
cairn residual --tested w1.cairn u1.cairn
echo "exit $?"
echo "== a crash on a path that nobody knows"
cat >crash.c <<'END'
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
	return argc < 0;
}
END
cairn-cc --cairn=paths -O0 -g crash.c -o crash || exit
program=crash
for i in 0 1 2 3 5; do
	try c$i.cairn $i 2>/dev/null
done
cairn merge -o fine.cairn c0.cairn c1.cairn c2.cairn c3.cairn
cairn merge -o doubt.cairn fine.cairn c5.cairn
cairn residual --tested fine.cairn c5.cairn
echo "exit $?"
cairn residual --stable --json --tested fine.cairn c0.cairn c5.cairn |
	sed -n '/"unknown/p; /"unknown":/,/ \]/p'
cairn residual --html page.html --tested fine.cairn c5.cairn
echo "exit $?"
grep -o 'Paths nobody knows: [0-9]*' page.html
echo "doubts of the tests alone:"
cairn residual --tested doubt.cairn c0.cairn | head -n 4
cairn residual --tested doubt.cairn c0.cairn >/dev/null
echo "exit $?"
echo "== errors"
cp "$CAIRN_ROOT"/tests/fuzz/corpus/container/v2-*.cairn .
cairn residual --tested tested.cairn v2-paths.cairn v2-closed.cairn
echo "exit $?"
cairn residual --tested v2-paths.cairn u1.cairn
cairn residual --tested v2-closed.cairn u1.cairn
cairn residual --tested tested.cairn v2-closed.cairn
cairn residual u1.cairn
cairn residual --tested tested.cairn
cairn residual --tested tested.cairn --tested t1.cairn u1.cairn
cairn residual --tested tested.cairn u1.cairn u1.cairn
cairn residual --tested tested.cairn -o u1.cairn u1.cairn
cairn residual --tested nothing.cairn u1.cairn
echo "exit $?"
