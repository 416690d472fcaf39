# SPDX-License-Identifier: Apache-2.0
# What the command line says about itself, and about mistakes: one sentence
# that names the option, nothing on stdout, exit status 2.
cairn --help
for command in report diff paths drift residual tests trace match-path overlap merge pack check; do
	echo "== $command"
	cairn $command --help
done
cairn help merge | head -n 1

# Every help fits a screen of 40 lines and 80 columns.
for command in '' $(cairn --help | sed -n 's/^  \([a-z-]*\) .*/\1/p'); do
	cairn $command --help >out
	awk -v name="$command" 'length > 80 { print "wide: " name ": " $0 }
		END { if (NR > 40) print "long: " name ": " NR }
		END { if (NR < 10) print "short: " name ": " NR }' out
done

# wrong ARGS...: a mistake.
wrong() {
	cairn "$@" >out
	status=$?
	[ $status = 2 ] && [ ! -s out ] || echo "exit $status: cairn $*"
}
cp "$CAIRN_ROOT"/tests/fuzz/corpus/container/v2-closed.cairn x
wrong
wrong nonsense
wrong help nonsense
wrong -v
wrong report
wrong report --nonsense x
wrong report --n x
wrong report -x x
wrong report --json -xo x
wrong report --json=3 x
wrong report --sort nonsense x
wrong report --sort
wrong report --top nonsense x
wrong report --top -1 x
wrong report --top 99999999999 x
wrong report --json --lcov x
wrong report --lines --no-source x
wrong residual --tested y --json --html p x
wrong residual --tested y --html p -o q x
wrong residual --tested y --html '' x
wrong residual --tested y --html x x
wrong overlap
wrong overlap x y
wrong overlap --degree some x
wrong overlap --degree -1 x
wrong overlap --degree all x
wrong overlap --plain --degree 2 x
wrong overlap x
wrong tests --json --html p x
wrong tests --html p -o q x
wrong tests --html '' x
wrong tests --html x x
wrong report --exe absent x
wrong report ''
wrong report x ./x
wrong merge x
wrong merge -o
wrong merge -o '' x
wrong merge -o y x x
wrong pack -o y x b
wrong trace
wrong trace x x
wrong trace --from 5h x
wrong trace --to -3 x
wrong trace --depth many x
wrong trace --thread one x
wrong trace --export svg x
wrong trace --export folded --json x
wrong trace --clock time x
wrong trace --callees x
wrong trace --hash --summary x
wrong trace -o x x
wrong trace x
wrong match-path x
wrong match-path x 'a ('
wrong match-path x a
wrong check
wrong check -o y x
wrong check --json --quiet x
wrong check --exe
ls
