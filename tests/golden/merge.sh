# SPDX-License-Identifier: Apache-2.0
# Sums are what they should be, whatever the order; other builds are refused.
cp "$CAIRN_ROOT"/tests/fuzz/corpus/container/v1-*.cairn .
cairn merge -o ab.cairn v1-closed.cairn v1-closed2.cairn || exit
cairn merge -o ba.cairn v1-closed2.cairn v1-closed.cairn || exit
cmp ab.cairn ba.cairn && echo "order does not matter"
cairn check ab.cairn
cairn report --stable --no-source ab.cairn
cairn pack -o packed.cairn v1-killed.cairn
cairn check packed.cairn
echo "exit $?"
cairn merge -o no.cairn v1-closed.cairn v1-no-map.cairn
echo "exit $?"
cairn merge -o no/such/directory/x.cairn v1-closed.cairn
echo "exit $?"
ls
