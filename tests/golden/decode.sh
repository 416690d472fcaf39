# SPDX-License-Identifier: Apache-2.0
# decode.py, written from docs/FORMAT.md alone, agrees with the C reader.
for file in v2-closed v2-closed2 v2-killed v2-negative v2-order sum-placed; do
	path=$CAIRN_ROOT/tests/fuzz/corpus/container/$file.cairn
	cairn report --json "$path" >report.json || exit
	"$CAIRN_ROOT/tools/decode.py" --compare report.json "$path"
done
for file in v2-flipped v2-truncated v3-future; do
	"$CAIRN_ROOT/tools/decode.py" \
		"$CAIRN_ROOT/tests/fuzz/corpus/container/$file.cairn" 2>/dev/null
	echo "$file: exit $?"
done
# in which order untested paths came
cp "$CAIRN_ROOT/tests/fuzz/corpus/container/v2-order.cairn" .
"$CAIRN_ROOT/tools/decode.py" v2-order.cairn | sed -n '/"order"/,$p' |
	tr -d ' \n'
echo

# Real programs: calls that do not come back, jumps, exceptions, a fault in a
# loop that held its count; marked late, before inlining, strictly, in blocks.
cat >leave.c <<'END'
#include <setjmp.h>
#include <stdlib.h>
static jmp_buf home;
static void leaf(int i)
{
	if (i == 7)
		exit(3);
	if (i % 3 == 1)
		longjmp(home, i);
}
static int middle(volatile int *i)
{
	int sum = 0;

	while (*i < 100) {
		++*i;
		leaf(*i);
		sum += *i;
	}
	return sum;
}
int main(void)
{
	volatile int i = 0;

	if (setjmp(home))
		i++;
	return middle(&i);
}
END
cat >throw.cpp <<'END'
#include <cstdio>
struct guard {
	int *n;
	~guard() { ++*n; }
};
static int pick(int i, int *n)
{
	guard g{n};

	if (i % 4 == 3)
		throw i;
	if (i % 5 == 4)
		throw "odd";
	return i;
}
static int collect(int from, int *n)
{
	int sum = 0;

	for (int i = from; i < from + 9; i++)
		try {
			sum += pick(i, n);
		} catch (int k) {
			sum -= k;
		}
	return sum;
}
int main()
{
	int n = 0, sum = 0;

	for (int i = 0; i < 30; i += 7)
		try {
			sum += collect(i, &n);
		} catch (const char *) {
			sum++;
		}
	return printf("%d %d\n", sum, n) < 0;
}
END

# against COMPILER SOURCE FLAGS -- ARGUMENTS: build, run, compare.
against() {
	compiler=$1 source=$2
	shift 2
	flags=
	while [ "$1" != -- ]; do
		flags="$flags $1"
		shift
	done
	shift
	rm -f program.cairn
	$compiler -g $flags "$source" -o program || return
	status=$( (CAIRN_OUT=program.cairn ./program "$@" >/dev/null 2>&1
		echo $?) 2>/dev/null)
	cairn report --json program.cairn >report.json || return
	echo "$(basename "$source")$flags: status $status," "$(
		"$CAIRN_ROOT/tools/decode.py" --compare report.json \
			program.cairn | sed 's/^[1-9][0-9]* functions, //')"
}
programs=$CAIRN_ROOT/tests/programs
for flags in -O0 -O2 '-O0 --cairn-stage=source' '-O2 --cairn-stage=source' \
	'-O2 --cairn=edges,strict' '-O2 --cairn=edges,slow' \
	'-O2 --cairn=edges,all'; do
	against cairn-cc leave.c $flags --
	against cairn-c++ throw.cpp $flags --
	against cairn-cc "$programs/held.c" $flags -D_GNU_SOURCE -- turns short
done
against cairn-cc "$programs/jumps.c" -O2 -D_GNU_SOURCE --
against cairn-cc "$programs/jumps.c" -O2 --cairn-stage=source -D_GNU_SOURCE --
against cairn-cc "$programs/interpreter.c" -O2 -D_GNU_SOURCE --

# Pairs of paths, in loops and across calls: of a run, which has rows and
# addresses of the process, and of the sum that merge writes.
pairs() {
	name=$(basename "$1")
	cairn-cc --cairn=paths,overlap -g -D_GNU_SOURCE "$2" "$1" -o program &&
		CAIRN_OUT=run.cairn ./program >/dev/null 2>&1
	cairn merge -q -o sum.cairn run.cairn || return
	for file in run sum; do
		cairn paths --json --top 0 $file.cairn >paths.json || return
		grep -q '"rest": ' paths.json &&
			echo "$name $2: a $file with returns," "$(
			"$CAIRN_ROOT/tools/decode.py" --compare-paths \
				paths.json $file.cairn |
				sed 's/^[1-9][0-9]* functions, //')"
	done
	rm run.cairn sum.cairn
}
for level in -O0 -O2; do
	pairs "$CAIRN_ROOT/tests/overlap/calls.c" $level
	pairs "$programs/interpreter.c" $level
done
