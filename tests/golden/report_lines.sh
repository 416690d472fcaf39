# SPDX-License-Identifier: Apache-2.0
# Whole files, but not those of the system, unless they are asked for.
cat >lines.c <<'END'
int own(int n)
{
	return n + 1;
}
#line 10 "/usr/include/fake/direct.h"
static int direct(int n)
{
	return own(n);
}
#line 20 "/usr/lib/gcc/x86_64-linux-gnu/12/../../../../include/c++/roundabout.h"
static int roundabout(int n)
{
	return direct(n);
}
#line 30 "/opt/llvm/lib/clang/19/include/intrinsic.h"
static int intrinsic(int n)
{
	return roundabout(n);
}
#line 40 "/usr/lib/../../nowhere/usr/include/mine.h"
static int mine(int n)
{
	return intrinsic(n);
}
#line 26 "lines.c"
int main(void)
{
	return mine(-1);
}
END
cairn-cc -g -O0 lines.c -o lines || exit
CAIRN_OUT=lines.cairn ./lines || exit
# shown ARGS...: the files that are shown, and what is said about the others.
shown() {
	echo "== $*"
	cairn report --stable --lines "$@" lines.cairn |
		grep -x -e '[a-z]*\.[ch]' -e '.*left out.*' | LC_ALL=C sort
}
shown
shown --all-files
shown --file roundabout.h
shown --file '*.h'
shown --file lines.c
echo "== no such file"
cairn report --file absent.c lines.cairn
echo "exit $?"
cairn report --file absent.c --function main lines.cairn
echo "exit $?"
echo "== lcov"
cairn report --stable --lcov lines.cairn | grep SF | LC_ALL=C sort
