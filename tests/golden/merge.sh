# SPDX-License-Identifier: Apache-2.0
# Sums are what they should be, whatever the order; other builds are refused.
cp "$CAIRN_ROOT"/tests/fuzz/corpus/container/v2-*.cairn .
cairn merge -o ab.cairn v2-closed.cairn v2-closed2.cairn || exit
cairn merge -o ba.cairn v2-closed2.cairn v2-closed.cairn || exit
cmp ab.cairn ba.cairn && echo "order does not matter"
cairn check ab.cairn
cairn report --stable --no-source ab.cairn
cairn pack -o packed.cairn v2-killed.cairn
cairn check packed.cairn
echo "exit $?"
cairn merge -o no.cairn v2-closed.cairn v2-no-map.cairn
echo "exit $?"
cairn merge -o no/such/directory/x.cairn v2-closed.cairn
echo "exit $?"
ls
