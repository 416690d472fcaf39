# SPDX-License-Identifier: Apache-2.0
# A self-contained file cut anywhere, read with --partial: a report that says
# what is missing, or one sentence and exit status 2; never an empty report.
cairn pack -o whole.cairn \
	"$CAIRN_ROOT/tests/fuzz/corpus/container/v2-closed.cairn" || exit
size=$(wc -c <whole.cairn)
n=0 cuts=0 read=0 refused=0
while [ $n -lt $size ]; do
	head -c $n whole.cairn >cut.cairn
	cairn report --stable --partial --skip-missing cut.cairn >stdout \
		2>stderr
	status=$?
	if [ $status = 0 ] && [ ! -s stderr ] &&
		grep -q '^note  *part of the counts is missing' stdout &&
		grep -q ' main  sample.c:10$' stdout; then
		read=$((read + 1))
	elif [ $status = 2 ] && [ ! -s stdout ] &&
		[ "$(wc -l <stderr)" = 1 ] &&
		grep -q '^cairn: cut.cairn: .*; ' stderr &&
		! grep -q 'report --partial' stderr; then
		refused=$((refused + 1))
	else
		echo "cut at $n: exit $status"
		cat stdout stderr
	fi
	cuts=$((cuts + 1))
	n=$((n + 29))
done
[ $read -gt 0 ] && [ $refused -gt 0 ] && [ $((read + refused)) = $cuts ] &&
	echo "every cut is read or refused"

# Nothing but the header; then the program and its modules, but no counts.
for n in 100 4096 4300; do
	head -c $n whole.cairn >cut.cairn
	for command in "report" "report --json" "check" "merge -o out.cairn"; do
		cairn $command --partial cut.cairn
		echo "$n: $command: exit $?"
	done
done
ls
