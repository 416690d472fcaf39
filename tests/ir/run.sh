#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh [TEST...]: what the marks look like, as far as a user relies on it.
# Each test has lines "RUN: command"; %s is the test, %t a scratch file.  The
# comments that FileCheck reads say what must be there and what must not.
# CAIRN_BIN: directory of cairn-cc (default: build/bin).
set -u
cd "$(dirname "$0")" || exit 2
PATH=$(cd "${CAIRN_BIN:-../../build/bin}" && pwd):$PATH
export PATH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0

# run_test FILE: all of its RUN lines, up to the first that fails.
run_test() {
	sed -n 's/.*RUN: //p' "$1" >"$work/commands"
	[ -s "$work/commands" ] || { echo "$1 runs nothing"; return 1; }
	while read -r command; do
		command=$(echo "$command" | sed "s|%s|$1|g; s|%t|$work/t|g")
		sh -c "set -e; $command" || { echo "in: $command"; return 1; }
	done <"$work/commands"
}

[ $# -gt 0 ] || set -- *.c
for test; do
	if run_test "$test" >"$work/out" 2>&1 </dev/null; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAIL $test"
		head -n 30 "$work/out"
		echo "rerun: tests/ir/run.sh $test"
	fi
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
