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
echo "== names of failed tests"
mkdir a b
cp short.cairn a/one.cairn
cp plain.cairn b/one.cairn
cp leap.cairn b/two.cairn
failed() {
	cairn tests --json --failed "$1" a/one.cairn b/one.cairn b/two.cairn |
		python3 -c 'import json, sys
print(*[t["file"] for t in json.load(sys.stdin)["tests"] if t["failed"]])'
}
for name in b/two.cairn ./b/two.cairn b/two ./b/two two.cairn two \
	b/one,two a/one.cairn; do
	echo "$name: $(failed $name)"
done
for name in one one.cairn tw a/two ''; do
	cairn tests --failed "$name" a/one.cairn b/one.cairn b/two.cairn
done
echo "== system headers"
mkdir -p usr/include
cat >usr/include/half.h <<'END'
static int half(int n)
{
	return n < 0 ? 0 : n / 2;
}
END
cat >use.c <<'END'
#include <stdlib.h>
#include "half.h"

int main(int argc, char **argv)
{
	if (argc > 1)
		return half(atoi(argv[1])) > 9;
	return 0;
}
END
cairn-cc --cairn=paths -O0 -g "-I$PWD/usr/include" \
	"-fdebug-prefix-map=$PWD/usr=/usr" use.c -o use || exit
CAIRN_OUT=bad.cairn ./use 4
CAIRN_OUT=good.cairn ./use
cairn tests --failed bad bad.cairn good.cairn | sed -n '/^lines/,/^$/p'
cairn tests --json --failed bad bad.cairn good.cairn |
	grep -E 'half.h|system_lines'
cairn tests --html page.html --failed bad bad.cairn good.cairn
grep -o 'Lines of system headers left out: [0-9]*' page.html
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
