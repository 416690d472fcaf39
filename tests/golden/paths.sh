# SPDX-License-Identifier: Apache-2.0
# cairn paths: text, selections, JSON; sums of runs at different addresses;
# report, check and merge on a profile of paths.
cp "$CAIRN_ROOT"/tests/fuzz/corpus/container/v2-*.cairn .
cairn paths --stable --unfinished v2-paths.cairn
echo "== by blocks, two of them"
cairn paths --sort blocks --top 2 v2-paths.cairn
echo "== a function, by either name"
cairn paths --function 'pick*' v2-paths.cairn
cairn paths --function '_Z4picki' --no-demangle v2-paths.cairn | tail -n 4
echo "== a line"
cairn paths --line paths.c:26 --blocks v2-paths.cairn
echo "== json"
cairn paths --stable --json v2-paths.cairn
cairn paths --stable --json --line /src/paths.c:46 v2-paths.cairn |
	python3 -m json.tool --compact
echo "== model"
cairn paths --model --top 1 v2-paths.cairn
cairn paths --model --json v2-paths.cairn | sed -n '/"model"/,/ ]/p'
echo "== two runs"
cairn merge -o ab.cairn v2-paths.cairn v2-paths2.cairn || exit
cairn merge -o ba.cairn v2-paths2.cairn v2-paths.cairn || exit
cmp ab.cairn ba.cairn
cairn paths --json v2-paths.cairn v2-paths2.cairn >sum.json
cairn paths --json ab.cairn | cmp - sum.json
cairn paths --top 3 ab.cairn | head -n 9
cairn pack -o packed.cairn v2-paths.cairn
cairn pack -o packed2.cairn packed.cairn
cmp packed.cairn packed2.cairn
echo "== report and check"
cairn report --stable v2-paths.cairn
cairn check ab.cairn v2-paths-lost.cairn
echo "exit $?"
cairn merge -o lost.cairn v2-paths.cairn v2-paths-lost.cairn
cairn check lost.cairn
echo "== nothing to show"
cairn paths v2-closed.cairn
echo "exit $?"
cairn paths --function 'no*' v2-paths.cairn
echo "exit $?"
cairn paths --line paths.c:99 v2-paths.cairn
echo "exit $?"
cairn paths --iterations 1 v2-paths.cairn
echo "exit $?"
cairn paths --iterations 3 v2-paths.cairn
echo "exit $?"
cairn paths --line 26 v2-paths.cairn
cairn paths --sort name v2-paths.cairn
cairn paths --top x v2-paths.cairn
cairn paths
echo "exit $?"
