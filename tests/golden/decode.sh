# SPDX-License-Identifier: Apache-2.0
# decode.py, written from docs/FORMAT.md alone, agrees with the C reader.
for file in v1-closed v1-closed2 v1-killed v1-negative; do
	path=$CAIRN_ROOT/tests/fuzz/corpus/container/$file.cairn
	cairn report --json "$path" >report.json || exit
	"$CAIRN_ROOT/tools/decode.py" --compare report.json "$path"
done
for file in v1-flipped v1-truncated v2-future; do
	"$CAIRN_ROOT/tools/decode.py" \
		"$CAIRN_ROOT/tests/fuzz/corpus/container/$file.cairn" 2>/dev/null
	echo "$file: exit $?"
done
