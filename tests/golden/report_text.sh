# SPDX-License-Identifier: Apache-2.0
# The text report: sound, killed, inconsistent, selected, sorted.
cp "$CAIRN_ROOT"/tests/fuzz/corpus/container/v2-*.cairn .
cairn report --stable v2-closed.cairn
for file in v2-killed v2-negative; do
	echo "== $file"
	cairn report --stable $file.cairn
done
echo "== sum"
cairn report --stable --no-source v2-closed.cairn v2-closed2.cairn
echo "== lines"
cairn report --stable --lines --top 0 --sort name v2-closed.cairn
echo "== partial"
cairn pack -o whole.cairn v2-closed.cairn
head -c -8 whole.cairn >cut.cairn
cairn report --stable --no-source --partial cut.cairn
echo "== nothing to report"
cairn report --partial --skip-missing v2-truncated.cairn
echo "exit $?"
echo "== no such function"
cairn report --function 'no*' v2-closed.cairn
