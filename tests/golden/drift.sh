# SPDX-License-Identifier: Apache-2.0
# cairn drift: overlap, movers, functions that cannot be compared.
cat >mix.c <<'END'
#include <stdlib.h>

static int sum;

static void add(int n)
{
	if (n & 1)
		sum += n;
#ifdef MORE
	else if (n & 2)
		sum -= n;
#endif
}

#ifdef MORE
void extra(void)
{
	sum++;
}
#endif

static void step(int n, int odd)
{
	for (int i = 0; i < n; i++)
		if (odd)
			sum++;
		else
			sum--;
}

int main(int argc, char **argv)
{
	step(atoi(argv[1]), 1);
	step(atoi(argv[2]), 0);
	add(argc);
#ifdef MORE
	extra();
#endif
	return 0;
}
END
cairn-cc --cairn=paths -O0 -g mix.c -o mix || exit
CAIRN_OUT=a.cairn ./mix 90 10
CAIRN_OUT=b.cairn ./mix 5 15
CAIRN_OUT=c.cairn ./mix 90 10
cairn drift a.cairn b.cairn
echo "exit $?"
echo "== the same"
cairn drift --min-overlap 100 a.cairn c.cairn
echo "exit $?"
cairn drift --min-overlap 50 --top 1 a.cairn b.cairn
echo "exit $?"
echo "== json"
cairn drift --stable --json a.cairn b.cairn
echo "== another build"
cairn-cc --cairn=paths -O0 -g -DMORE mix.c -o mix2 || exit
CAIRN_OUT=d.cairn ./mix2 5 15
cairn drift a.cairn d.cairn
echo "exit $?"
cairn drift --stable --json a.cairn d.cairn | sed -n '/_only/,/ \],*/p'
echo "== errors"
cp "$CAIRN_ROOT"/tests/fuzz/corpus/container/v2-*.cairn .
cairn drift a.cairn v2-paths.cairn
echo "exit $?"
cairn drift a.cairn v2-closed.cairn
cairn drift a.cairn
cairn drift a.cairn b.cairn c.cairn
cairn drift --min-overlap x a.cairn b.cairn
cairn drift --min-overlap 101 a.cairn b.cairn
cairn drift --top x a.cairn b.cairn
cairn drift -o a.cairn a.cairn b.cairn
echo "exit $?"
