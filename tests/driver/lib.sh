# SPDX-License-Identifier: Apache-2.0
# Common part of the driver's tests.  Each sources it, makes its checks in an
# empty directory, and ends with `finish`.
set -u
root=${CAIRN_ROOT:-$(cd "$(dirname "$0")/../.." && pwd)}
bin=${CAIRN_BIN:-$root/build/bin}
cc=$bin/cairn-cc
cxx=$bin/cairn-c++
passed=0 failed=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
unset CAIRN_CLANG

fail() {
	echo "FAIL $(basename "$0" .sh): $*"
	failed=$((failed + 1))
}

# ok NAME COMMAND...: the command succeeds.
ok() {
	name=$1
	shift
	if "$@" >log 2>&1; then
		passed=$((passed + 1))
	else
		fail "$name: $*"
		head -n 5 log
	fi
}

# refuses NAME TEXT COMMAND...: exit status 2 and one line that has TEXT.
refuses() {
	name=$1 text=$2
	shift 2
	"$@" >log 2>&1
	status=$?
	if [ $status = 2 ] && [ "$(wc -l <log)" = 1 ] && grep -qF -- "$text" log
	then
		passed=$((passed + 1))
	else
		fail "$name: status $status, said: $(head -n 3 log)"
	fi
}

# command ARGS...: the words of the command that the driver would run, one per
# line.  -### keeps clang from doing anything.
command_of() {
	"$cc" --cairn-verbose -### "$@" 2>&1 | head -n 1 | tr ' ' '\n' |
		sed "s/^'//; s/'\$//"
}

# has NAME WORD ARGS...   hasnt NAME WORD ARGS...: is WORD in that command?
has() {
	name=$1 word=$2
	shift 2
	if command_of "$@" | grep -qxF -- "$word"; then
		passed=$((passed + 1))
	else
		fail "$name: no $word for: $*"
	fi
}
hasnt() {
	name=$1 word=$2
	shift 2
	if command_of "$@" | grep -qxF -- "$word"; then
		fail "$name: $word for: $*"
	else
		passed=$((passed + 1))
	fi
}

finish() {
	echo "$passed passed, $failed failed"
	[ $failed = 0 ]
	exit
}
