# SPDX-License-Identifier: Apache-2.0
# An lcov tracefile that genhtml reads without complaint.
cp "$CAIRN_ROOT"/tests/fuzz/corpus/container/v2-closed.cairn .
cairn report --stable --lcov -o sample.info v2-closed.cairn || exit
cat sample.info
# genhtml wants the source: lines up to the last one counted
i=0
while [ $i -lt 16 ]; do
	echo "line"
	i=$((i + 1))
done >sample.c
genhtml --quiet --branch-coverage -o html sample.info 2>&1
echo "genhtml: $?"
grep -q '>31</\|31 : ' html/*/sample.c.gcov.html html/sample.c.gcov.html \
	2>/dev/null && echo "line 12 shows 31"
