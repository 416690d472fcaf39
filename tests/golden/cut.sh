# SPDX-License-Identifier: Apache-2.0
# A file cut anywhere: a sentence and exit status 2 from every command.
whole=$CAIRN_ROOT/tests/fuzz/corpus/container/v2-closed.cairn
size=$(wc -c <"$whole")
n=0 good=0
while [ $n -lt $size ]; do
	head -c $n "$whole" >cut.cairn
	for command in "report" "report --json" "check" "merge -o out.cairn"; do
		cairn $command cut.cairn >stdout 2>stderr
		if [ $? != 2 ] || [ -s stdout ] || [ -e out.cairn ] ||
			[ "$(wc -l <stderr)" != 1 ] ||
			! grep -q '^cairn: cut.cairn: .*truncated.*; ' stderr
		then
			echo "cut at $n: cairn $command:"
			cat stderr
		fi
		good=$((good + 1))
	done
	n=$((n + 97))
done
echo "$good cuts"
