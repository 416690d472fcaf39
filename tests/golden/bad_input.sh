# SPDX-License-Identifier: Apache-2.0
# Whatever is wrong with a file: one sentence with the file and what to do,
# exit status 2, nothing on stdout.
cp "$CAIRN_ROOT"/tests/fuzz/corpus/container/* .
: >empty.cairn
mkdir directory.cairn
for file in absent empty directory v2-truncated v2-flipped v1-closed v3-future \
	v2-no-map; do
	cairn report $file.cairn
	echo "$file: exit $?"
done
cairn report foreign.txt
echo "foreign: exit $?"
cairn report v2-closed.cairn >/dev/full
echo "full: exit $?"
