# SPDX-License-Identifier: Apache-2.0
# cairn tests: what each test adds, the fewest, the order for a diff, what goes
# with failure.
cat >date.c <<'END'
#include <stdio.h>
#include <stdlib.h>

static int days(int year, int month)
{
	if (month == 2) {
		if (year % 4)
			return 28;
		if (year % 100)
			return 29;
		return 28;
	}
	if (month == 4 || month == 6 || month == 9 || month == 11)
		return 30;
	return 31;
}

int main(int argc, char **argv)
{
	for (int i = 1; i + 1 < argc; i += 2)
		printf("%d\n", days(atoi(argv[i]), atoi(argv[i + 1])));
	return 0;
}
END
cat >leap.diff <<'END'
--- a/date.c
+++ b/date.c
@@ -9,5 +9,7 @@
 			return 28;
 		if (year % 100)
 			return 29;
+		if (year % 400 == 0)
+			return 29;
 		return 28;
 	}
END
cairn-cc --cairn=paths -O0 -g date.c -o date || exit
try() { name=$1; shift; CAIRN_OUT=$name.cairn ./date "$@" >/dev/null; }
try short 2023 4
try long 2023 1 2023 4
try plain 2023 2
try leap 2024 2 2023 2
try y1900 1900 2
try y2000 2000 2 2024 2 2023 2
cairn tests short.cairn long.cairn plain.cairn leap.cairn y1900.cairn
echo "exit $?"
set -- *.cairn
echo "== a diff"
cairn tests --diff leap.diff "$@" | sed -n '/^tests /,/^$/p; /^order/,$p'
sed -i '/return 29;/a\
		if (year % 400 == 0)\
			return 29;' date.c && cairn tests --diff leap.diff --patched "$@" |
	sed -n '/^changed/p'
echo "== failure"
cairn tests --failed y2000.cairn --top 4 "$@" | sed -n '/^lines/,$p'
echo "== json"
cairn tests --stable --json --diff leap.diff --failed y2000.cairn,leap.cairn \
	short.cairn leap.cairn y2000.cairn
echo "== errors"
cp "$CAIRN_ROOT"/tests/fuzz/corpus/container/v2-*.cairn .
cairn tests
cairn tests v2-closed.cairn v2-paths.cairn
cairn tests v2-closed.cairn
cairn tests --failed long.cairn short.cairn
cairn tests --diff nothing.diff short.cairn
cairn tests --diff date.c short.cairn
cairn tests --patched short.cairn
cairn tests -o short.cairn short.cairn
echo "exit $?"
