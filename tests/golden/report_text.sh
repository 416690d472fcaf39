# SPDX-License-Identifier: Apache-2.0
# The text report: sound, killed, inconsistent, selected, sorted.
cp "$CAIRN_ROOT"/tests/fuzz/corpus/container/v1-*.cairn .
cairn report --stable v1-closed.cairn
for file in v1-killed v1-negative; do
	echo "== $file"
	cairn report --stable $file.cairn
done
echo "== sum"
cairn report --stable --no-source v1-closed.cairn v1-closed2.cairn
echo "== lines"
cairn report --stable --lines --top 0 --sort name v1-closed.cairn
echo "== partial"
cairn pack -o whole.cairn v1-closed.cairn
head -c -8 whole.cairn >cut.cairn
cairn report --stable --no-source --partial cut.cairn
echo "== nothing to report"
cairn report --partial --skip-missing v1-truncated.cairn
echo "exit $?"
echo "== no such function"
cairn report --function 'no*' v1-closed.cairn
