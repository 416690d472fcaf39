#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the driver's tests and adds them up.
set -u
cd "$(dirname "$0")" || exit 2
passed=0 failed=0
for test in *.sh; do
	case $test in run.sh | lib.sh) continue ;; esac
	out=$(sh "./$test" 2>&1)
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
