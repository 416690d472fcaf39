# SPDX-License-Identifier: Apache-2.0
# Where output goes: whole or not at all, through links, never over a profile
# that was to be reported.
cp "$CAIRN_ROOT"/tests/fuzz/corpus/container/v2-closed*.cairn .
cp v2-closed.cairn same.cairn
ln same.cairn other-name.cairn
cairn report -o other-name.cairn same.cairn
echo "onto the profile: exit $?"
cmp same.cairn v2-closed.cairn

cairn report --stable -o plain v2-closed.cairn
chmod 600 plain
ln -s plain link
ln -s ./link link2
ln -s fresh dangling
for to in plain link link2 dangling; do
	cairn report --stable --json -o $to v2-closed.cairn
	echo "-o $to: exit $?, starts with $(head -c 1 $to)"
done
stat -c '%N %A' plain link link2 dangling
mkdir directory
for to in directory absent/x /dev/full; do
	cairn report -o $to v2-closed.cairn
	echo "-o $to: exit $?"
done

# The remedy names the option that was used.
cp "$CAIRN_ROOT"/tests/fuzz/corpus/container/v2-paths.cairn .
cp v2-paths.cairn tested.cairn
for how in report paths tests 'residual --tested tested.cairn'; do
	for option in -o --html; do
		cairn $how $option absent/x v2-paths.cairn
		echo "$how $option: exit $?"
		cairn $how $option '' v2-paths.cairn
		echo "$how $option: exit $?"
	done
done
rm tested.cairn v2-paths.cairn

# What /dev/stdout is: a link to an open file.  That file is written into.
ln -s /proc/self/fd/1 stdout
cairn report --stable -o stdout v2-closed.cairn >redirected
echo "-o stdout: exit $?, $(head -n 1 redirected)"
cairn report --stable -o stdout v2-closed.cairn >>redirected
echo "-o stdout: exit $?, $(grep -c ^program redirected) reports"
cairn report --stable -o stdout v2-closed.cairn | head -n 1
stat -c %N stdout
cairn report v2-closed.cairn >&-
echo "closed: exit $?"
cairn report v2-closed.cairn >/dev/full
echo "full: exit $?"
cairn --help >/dev/full
echo "full: exit $?"
cairn check --quiet v2-closed.cairn >&-
echo "quiet: exit $?"
cairn report --json v2-closed.cairn | head -n 1

# A sum may replace one of its parts.
cairn merge -o sum.cairn v2-closed.cairn v2-closed2.cairn
cairn merge -o v2-closed.cairn v2-closed.cairn v2-closed2.cairn
echo "merge onto an input: exit $?"
cmp sum.cairn v2-closed.cairn
cairn pack -o sum.cairn sum.cairn
echo "pack onto the input: exit $?"
cmp sum.cairn v2-closed.cairn
ls
