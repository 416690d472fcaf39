#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the driver's tests, two at a time, and adds them up.
set -u
cd "$(dirname "$0")" || exit 2
passed=0 failed=0
said=$(mktemp -d)
trap 'rm -rf "$said"' EXIT
# the largest first
tests=$(ls -S ./*.sh | sed 's,^./,,' | grep -vx -e run.sh -e lib.sh)
echo "$tests" | xargs -P 2 -I TEST sh -c 'sh ./TEST >"$1/TEST" 2>&1' sh "$said"
for test in $tests; do
	out=$(cat "$said/$test")
	echo "$out"
	set -- $(echo "$out" | sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p')
	if [ $# != 2 ]; then
		echo "FAIL $test ended early"
		set -- 0 1
	fi
	[ "$2" = 0 ] || echo "rerun: sh tests/driver/$test"
	passed=$((passed + $1)) failed=$((failed + $2))
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
