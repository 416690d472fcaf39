#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Does what `make install` installed work from there, without the source tree?
# Installs into a directory, moves that directory, hides the project (an empty
# file system is mounted over it, in a name space of our own, where the kernel
# lets us) and compiles, runs and reports.
set -u
root=${CAIRN_ROOT:-$(cd "$(dirname "$0")/../.." && pwd)}
build=${CAIRN_BUILD:-$root/build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0

ok() {
	name=$1
	shift
	if "$@" >"$work/log" 2>&1; then
		passed=$((passed + 1))
	else
		echo "FAIL $name: $*"
		tail -n 5 "$work/log"
		failed=$((failed + 1))
	fi
}

DESTDIR=$work/stage cmake --install "$build" --prefix /opt/cairn \
	>"$work/install.log" 2>&1 || {
	cat "$work/install.log"
	echo "FAIL cmake --install"
	echo "0 passed, 1 failed"
	exit 1
}
mv "$work/stage/opt/cairn" "$work/moved here"
prefix=$work/moved\ here
for file in bin/cairn bin/cairn-cc bin/cairn-c++ lib/cairn/cairn-plugin.so \
	lib/cairn/libcairn_rt.a lib/cairn/libcairn_exe.a \
	lib/cairn/libcairn_out.a \
	share/man/man1/cairn.1 share/man/man1/cairn-cc.1 \
	share/bash-completion/completions/cairn \
	share/bash-completion/completions/cairn-cc \
	share/bash-completion/completions/cairn-c++ \
	share/zsh/site-functions/_cairn; do
	ok "installed" test -s "$prefix/$file"
done
# Commands that have no page are not there.
for command in $("$prefix/bin/cairn" --help |
	sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p'); do
	ok "manual of $command" test -s "$prefix/share/man/man1/cairn-$command.1"
done
ok "cairn-c++ is a link" test "$(readlink "$prefix/bin/cairn-c++")" = cairn-cc
for file in bin/cairn bin/cairn-cc lib/cairn/cairn-plugin.so; do
	ok "no path of the source in $file" sh -c \
		"! grep -qaF '$root/' '$prefix/$file'"
done

cp "$root/examples/words.c" "$root/examples/words.txt" "$work"
cat >"$work/use.sh" <<'END'
set -eu
cd "$1"
PATH="$2/bin:/usr/bin:/bin"
export PATH
cairn-cc -O2 -g words.c -o words
CAIRN_OUT=words.cairn ./words words.txt >words.out
cairn check words.cairn
cairn report words.cairn >report
grep -q read_words report
printf '#include <vector>\nint main() { return std::vector<int>(3).size() - 3; }\n' >v.cpp
cairn-c++ -g v.cpp -o v
CAIRN_OUT=v.cairn ./v
cairn check v.cairn
printf '#include <unistd.h>\nvoid stop(void) { _exit(0); }\n' >stop.c
printf 'void stop(void);\nint main(void) { stop(); }\n' >main.c
cairn-cc -g -shared stop.c -o libstop.so
cairn-cc -g main.c ./libstop.so -o main
CAIRN_OUT=main.cairn ./main
cairn check main.cairn
END
if unshare -m true 2>/dev/null; then
	ok "works without the source tree" env -i unshare -m sh -c \
		'mount -t tmpfs none "$0" && exec sh "$1/use.sh" "$1" "$2"' \
		"$root" "$work" "$prefix"
else
	ok "works" env -i sh "$work/use.sh" "$work" "$prefix"
fi
echo "$passed passed, $failed failed"
[ $failed = 0 ]
