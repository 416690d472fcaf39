# SPDX-License-Identifier: Apache-2.0
# From a compiler run to lines beside the source: calls that do not return, a
# function that never runs, exit from within a loop.
cat >steps.c <<'END'
#include <stdlib.h>

static int unused(int n)
{
	return n + 1;
}

static void step(int i)
{
	if (i == 7)
		exit(0);
}

int main(int argc, char **argv)
{
	int i;

	(void)argv;
	if (argc > 100)
		return unused(argc);
	for (i = 0;; i++) {
		step(i);
		argc += i;
	}
}
END
cairn-cc -g -O0 steps.c -o steps || exit
CAIRN_OUT=steps.cairn ./steps || exit
cairn check steps.cairn || exit
cairn report --stable steps.cairn
cairn report --stable --function unused steps.cairn | tail -n 5
mkdir elsewhere
mv steps elsewhere
cairn report --stable steps.cairn 2>/dev/null
echo "moved: exit $?"
for where in elsewhere elsewhere/steps; do
	cairn report --stable --no-source --exe $where steps.cairn | head -n 3
done
