#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests of the runtime alone: programs with marks made by hand (prog.c, lib.c),
# linked in every way, ended in every way; dump.py tells what was recorded.
# They are built once; then the parts below run, two at a time, each in a
# directory of its own, with all programs in it.
# usage: run.sh LIBRARY [CC]      exit 0: all passed; the part of the runtime that
# is for executables is beside LIBRARY
set -u
here=$(cd "$(dirname "$0")" && pwd)
library=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
exe=$(dirname "$library")/libcairn_exe.a
cc=${2:-clang-19}
work=$(mktemp -d)
shm=$(mktemp -d -p /dev/shm)
trap 'rm -rf "$work" "$shm"' EXIT
mkdir "$work/built" && cd "$work/built" || exit 2
passed=0 failed=0

# What dump.py needs is there without the packages of the machine.
dump() { python3 -I -S "$here/dump.py" "$@"; }

flags="-O2 -fasynchronous-unwind-tables"
shows="-Wl,--export-dynamic-symbol=__cairn_*"
dynamic="-Wl,--build-id -Wl,-u,__cairn_dynamic -Wl,--wrap=_Fork $shows"
static="-Wl,--build-id -Wl,-u,__cairn_static -Wl,--wrap=_Fork -Wl,--eh-frame-hdr"

build() {
	$cc $flags -fPIE -c "$here/prog.c" -o prog.o &&
	$cc $flags -fPIC -DSHARED_MARKS -c "$here/prog.c" -o prog_pic.o &&
	$cc $flags -fPIC -c "$here/lib.c" -o lib.o &&
	$cc $flags "$here/foreign.c" -o foreign &&
	$cc $flags -fPIE -c "$here/big.c" -o big.o &&
	$cc big.o -o big $dynamic "$exe" "$library" &&
	$cc $flags -fPIE -c "$here/paths.c" -o paths.o &&
	$cc $flags -fPIC -DSHARED_MARKS -c "$here/paths.c" -o paths_pic.o &&
	$cc paths.o -o paths_pie $dynamic "$exe" "$library" &&
	$cc paths_pic.o -o paths_pic $dynamic "$exe" "$library" &&
	$cc -fuse-ld=lld paths.o -o paths_lld $dynamic -Wl,--gc-sections "$exe" "$library" &&
	$cc -static paths.o -o paths_static $static "$exe" "$library" 2>/dev/null &&
	$cc prog.o -o pie $dynamic "$exe" "$library" &&
	$cc prog_pic.o -o pic $dynamic "$exe" "$library" &&
	$cc -no-pie prog.o -o nopie $dynamic "$exe" "$library" &&
	$cc -fuse-ld=lld prog.o -o lld $dynamic "$exe" "$library" &&
	$cc -fuse-ld=gold prog.o -o gold $dynamic "$exe" "$library" &&
	$cc $flags -flto -fPIE -c "$here/prog.c" -o prog_lto.o &&
	$cc -flto -fuse-ld=lld prog_lto.o -o lto $dynamic "$exe" "$library" &&
	$cc $flags "$here/killer.c" -o killer &&
	$cc -static prog.o -o static $static "$exe" "$library" 2>/dev/null &&
	$cc -static-pie prog.o -o staticpie $static "$exe" "$library" 2>/dev/null &&
	$cc -shared lib.o -o lib0.so -Wl,--build-id "$library" &&
	$cc $flags -fPIC -c "$here/lib_paths.c" -o lib_paths.o &&
	$cc -shared lib_paths.o -o lib_paths.so -Wl,--build-id "$library" &&
	mkdir gold.d lto.d &&
	$cc -fuse-ld=gold -shared lib.o -o gold.d/lib0.so -Wl,--build-id "$library" &&
	$cc $flags -flto -fPIC -c "$here/lib_lto.c" -o lib_lto.o &&
	$cc -flto -fuse-ld=lld -shared lib_lto.o -o lto.d/lib0.so -Wl,--build-id "$library" ||
		exit 2
	for i in $(seq 1 299); do
		echo "lib$i.so -Wl,--build-id=0x$(printf %040x "$i")"
	done | xargs -P 2 -L 1 $cc -shared lib.o "$library" -o || exit 2
}

# One line: what the files of the last run say, without zeros, without frames
# of the C library and the runtime (static programs have those, too).
ours='main|outer|inner|do_[a-z_]*|jumps|signals|speed|storm|on_[a-z]*|vforker|vfork_exec|forker|overflow|live_threads|thread_[a-z]*|raw_fork|lib_exit|dispositions|end_late|destroyed'
facts() {
	for f in *.cairn; do
		[ -f "$f" ] || continue
		dump "$f" | grep -E "^BAD|^unsealed|^state|^count|^frame [A-Z_]* ($ours) " |
			grep -v '^count [a-z_]* 0$' | sed -E 's/^(count|frame) //; s/^state //' |
			tr '\n' ';'
		echo
	done | sort
}

check() { # name, expected status, expected facts; the run is over, $status set
	got=$(facts)
	if [ "$status" = "$2" ] && [ "$got" = "$3" ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		printf 'FAILED %s: status %s, expected %s\n  expected %s\n  got      %s\n' \
			"$1" "$status" "$2" "$3" "$got"
	fi
	rm -f ./*.cairn
}

# program, mode, expected status, expected facts
try() {
	(CAIRN_OUT=o.cairn timeout 600 ./"$1" $2) >out.txt 2>&1
	status=$?
	check "$1 $2" "$3" "$4"
}

ended='closed how 1 signal 0 flags 0 unwalked 0;'
forked='closed how 1 signal 0 flags 2 unwalked 0;'
died() { echo "closed how 2 signal $1 flags 0 unwalked 0;"; }
half='after 1;inner 2;'
stack='OUT inner 1;OUT main 1;OUT outer 1;'

ends() { # program
	p=$1
	try $p return 0 "${ended}after 3;inner 3;late 2;main 1;outer 3;"
	try $p exit 3 "$ended${half}late 2;main 1;outer 2;OUT do_exit 1;$stack"
	try $p _exit 4 "$ended${half}main 1;outer 2;OUT do__exit 1;$stack"
	try $p quick_exit 5 "$ended${half}main 1;outer 2;OUT do_quick_exit 1;$stack"
	try $p abort 134 "$(died 6)${half}main 1;outer 2;OUT do_abort 1;$stack"
	try $p abort_handled 134 \
		"$(died 6)after 1;handler 1;inner 2;main 1;outer 2;OUT do_abort 1;$stack" 
	try $p segv 139 "$(died 11)${half}main 1;outer 2;${stack}OUT_ASYNC do_segv 1;"
	try $p kill 137 "open how 0 signal 0 flags 0 unwalked 0;${half}main 1;outer 2;"
	try $p exec 0 "closed how 3 signal 0 flags 0 unwalked 0;${half}main 1;outer 2;$stack"
	try $p vfork_exec 0 "${ended}child 1;late 2;main 1;parent 1;IN vforker 1;OUT vfork_exec 1;OUT vforker 1;"
	try $p longjmp 0 "$ended${half}late 2;main 1;outer 2;IN jumps 1;OUT do_longjmp 1;OUT inner 1;OUT jumps 1;OUT outer 1;"
	try $p siglongjmp 0 "${ended}after 1;handler 1;inner 2;late 2;main 1;outer 2;IN signals 1;OUT inner 1;OUT on_signal 1;OUT outer 1;OUT signals 1;"
	try $p threads 0 "${ended}after 1200000;inner 1200000;late 2;main 1;outer 1200000;"
	try $p live_threads 3 "${ended}late 2;main 1;worker 4;OUT live_threads 1;OUT main 1;OUT thread_waits 3;OUT_ASYNC thread_spins 1;"
	try $p thread_exit 0 "${ended}late 2;main 1;worker 1;"
	try $p exec_threads 0 "${ended}after 3;inner 3;late 2;main 1;outer 3;worker 1;"
	try $p _Fork 0 "${ended}late 2;main 1;
${forked}after 3;inner 3;outer 3;IN main 1;IN raw_fork 1;OUT main 1;OUT raw_fork 1;"
	try $p fork 0 "${ended}after 3;inner 3;late 2;main 1;outer 3;parent 1;
${forked}after 2;child 1;inner 1;late 2;outer 1;IN forker 1;IN inner 1;IN main 1;IN outer 1;"
	try $p dispositions 0 "${ended}handler 1;late 2;main 1;IN dispositions 1;OUT dispositions 1;OUT on_behalf 1;OUT on_signal 1;"
	try $p exec_local 0 "${ended}late 4;main 1;worker 1;"
	try $p end_late 6 "${ended}late 2;main 1;OUT destroyed 1;OUT end_late 1;OUT main 1;"
	try $p chdir 0 "${ended}after 3;inner 3;late 2;main 1;outer 3;"
}

storms() {
	# a stack overflow: as many frames as entries
	(CAIRN_OUT=o.cairn ./pie overflow) 2>/dev/null
	status=$?
	set -- $(dump o.cairn | awk '$2 == "worker" { a = $3 }
		$1 == "frame" && $3 == "overflow" { b += $4 } END { print a, b }')
	if [ "$status" = 139 ] && [ "$1" -gt 1000 ] && [ "$1" = "$2" ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAILED overflow: status $status, entries $1, frames $2"
	fi
	rm -f ./*.cairn

	# jumps interrupted by jumps: as many ways in as ways out, nothing lost
	(CAIRN_OUT=o.cairn timeout 600 ./pie storm) 2>/dev/null
	set -- $(dump o.cairn | awk '$1 == "state" { f = $8 }
		$2 ~ /^IN/ && $3 == "storm" { a += $4 }
		$2 ~ /^OUT/ && $3 == "storm" { b += $4 } END { print f, a, b }')
	if [ "$1" = 0 ] && [ "$2" -gt 100000 ] && [ "$2" = "$3" ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAILED storm: flags $1, in $2, out $3"
	fi
	rm -f ./*.cairn

	# the signal that stops threads is also glibc's
	(CAIRN_OUT=o.cairn timeout 600 ./pie setuid_threads)
	status=$?
	case "$status $(facts)" in
	"3 ${ended}"*"main 1;worker 1;"*)
		passed=$((passed + 1)) ;;
	*)
		failed=$((failed + 1))
		echo "FAILED setuid_threads: status $status, $(facts)" ;;
	esac
	rm -f ./*.cairn

	# ten thousand threads need few shards
	(CAIRN_OUT=o.cairn timeout 600 ./pie many_threads) 2>/dev/null
	set -- $(dump o.cairn | awk '$1 == "threads" { a = $2 }
		$2 == "inner" { b = $3 } END { print a, b }')
	if [ "$1" -le 16 ] && [ "$2" = 30000 ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAILED many_threads: shards $1, inner $2"
	fi
	rm -f ./*.cairn
}

# Tables of paths: what the program says of itself is what the files say.
# Every tenth file of many is enough: the children look at themselves, too.
table_facts() {
	dump o.cairn $(ls o.*.cairn 2>/dev/null | grep -E "^o\.(.*5|.)\.cairn") |
		grep -E '^BAD|^unsealed|^paths table|^[a-z]* OUT (in|at)_' |
		sed -E 's/^(paths table [0-9]*) [0-9]*/\1 */' | sort
}
counts() { # program, mode, expected status
	(CAIRN_OUT=o.cairn timeout 600 ./"$1" "$2") >out.txt
	status=$?
	got=$(table_facts)
	want=$(awk 'NR < 10 || NR % 10 == 5 || $3 > 1' out.txt | sort)
	if [ "$status" = "$3" ] && [ -n "$got" ] && [ "$got" = "$want" ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		printf 'FAILED %s %s: status %s\nexpected\n%s\ngot\n%s\n' \
			"$1" "$2" "$status" "$want" "$got"
	fi
	rm -f ./*.cairn
}
mine='in_rbx|in_r15|at_rsp|at_rbp|nowhere|frames_jump|frames_near'
frames() { # program, mode, expected status, expected facts
	(CAIRN_OUT=o.cairn timeout 600 ./"$1" "$2") >out.txt
	status=$?
	got=$(for f in *.cairn; do
		dump "$f" |
			grep -E "^BAD|^unsealed|^state|^(frame|register) [A-Z_]* ($mine) |^paths lib" |
			sed -E 's/^(state|frame) //; s/^register/=/' | tr '\n' ';'
		echo
	done | sort)
	if [ "$status" = "$3" ] && [ "$got" = "$4" ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		printf 'FAILED %s %s: status %s, expected %s\n  expected %s\n  got      %s\n' \
			"$1" "$2" "$status" "$3" "$4" "$got"
	fi
	rm -f ./*.cairn
}
each() { # kind, count, base of the sums
	for f in at_rbp at_rsp in_r15 in_rbx nowhere; do
		printf '%s %s %s;' "$1" $f "$2"
	done
	printf '= %s at_rbp %s;' "$1" $(($3 + 5 * $2))
	printf '= %s at_rsp %s;' "$1" $(($3 + 4 * $2))
	printf '= %s in_r15 %s;' "$1" $(($3 + 3 * $2))
	printf '= %s in_rbx %s;' "$1" $(($3 + 1 * $2))
}
tables() { # program
	p=$1
	counts $p threads 0
	counts $p killed 137
	counts $p steps 0
	counts $p forks 0
	counts $p fork_steps 0
	counts $p registers 0
	counts $p frames_steps 0
	counts $p frames_random 0
	counts $p jump_steps 0
	frames $p frames_exit 3 "$ended$(each OUT 1 1000)"
	frames $p frames_abort 134 "$(died 6)$(each OUT 1 1000)"
	frames $p frames_thread 0 "$ended$(each OUT 1 1000)"
	frames $p frames_exec 0 "$ended"
	frames $p frames_fork 0 "$ended
$forked$(each IN 1 1000)"
	frames $p frames_many 0 "$ended
${forked}IN in_rbx 999;= IN in_rbx 1498500;"
	frames $p frames_jump 0 "${ended}IN frames_jump 1000;$(each OUT 1000 495000 |
		sed 's/OUT in_r15/OUT frames_jump 1000;&/')"
	frames $p frames_near 0 "${ended}IN frames_near 1000;OUT at_rsp 1000;OUT frames_near 1000;= OUT at_rsp 500500;"
}

pages() {
	# Counters in few of many pages: each is counted, and checksums are right, on
	# disk and in memory.
	for dir in . "$shm"; do
		for pages in "" 0 255 "5 6 7 200" "1 3 5 again 3 4 100 255" all; do
			CAIRN_OUT=$dir/o.cairn ./big $pages
			status=$?
			got=$(dump "$dir/o.cairn" |
				awk '/^BAD|^unsealed|^state/ { print } $1 == "count" { n += $NF }
					END { print n }' | tr '\n' ';')
			n=$(echo "$pages" | sed 's/again//' | wc -w)
			[ "$pages" = all ] && n=256
			if [ $status = 0 ] && [ "$got" = "state $ended$n;" ]; then
				passed=$((passed + 1))
			else
				failed=$((failed + 1))
				echo "FAILED big $pages in $dir: status $status, $got"
			fi
			rm -f "$dir"/*.cairn
		done
	done
}

libraries() {
	mine='lib_frame'
	for p in paths_pie paths_pic; do
		frames $p library 3 "${ended}OUT lib_frame 4;= OUT lib_frame 50;paths lib_table 300 100 14850;"
	done

	# more than 99 of 100 counts make no call
	for n in 10 1000 20000; do
		share=$(NKEYS=$n CAIRN_OUT=o.cairn ./paths_pie share_skewed)
		echo "$share"
		if [ "$(echo "$share" | awk '{ print ($4 < 1) }')" = 1 ]; then
			passed=$((passed + 1))
		else
			failed=$((failed + 1))
			echo "FAILED share of calls: $share"
		fi
		rm -f ./*.cairn
	done

	# libraries
	try pie "libraries 300" 0 "${ended}late 2;lib 1200;main 1;"
	try lld "libraries 300" 0 "${ended}late 2;lib 1200;main 1;"
	try pie library_exit 3 "${ended}late 2;lib 1;main 1;OUT do_exit 1;OUT lib_exit 1;OUT main 1;"
	(cd gold.d && CAIRN_OUT=../o.cairn ../pie libraries 1); status=$?
	check "gold library" 0 "${ended}late 2;lib 4;main 1;"
	(cd lto.d && CAIRN_OUT=../o.cairn ../pie libraries 1); status=$?
	check "lto library" 0 "${ended}late 2;main 1;"
	(CAIRN_OUT=o.cairn ./foreign exit) ; status=$?
	check "foreign exit" 7 "${ended}lib 3;OUT lib_exit 1;"
	(CAIRN_OUT=o.cairn ./foreign close) ; status=$?
	check "foreign close" 0 "${ended}lib 1;
closed how 4 signal 0 flags 0 unwalked 0;lib 2;"

	# ignored signals stay ignored
	(trap '' TERM; CAIRN_OUT=o.cairn ./pie term); status=$?
	check "ignored signal" 0 "${ended}after 3;inner 3;late 2;main 1;outer 3;"
}

# killed at every system call from one on: what is there can be read
killed() { # first, how many there are at least, program, mode
	n=$1
	while n=$((n + 1)); CAIRN_OUT=$n.cairn ./killer $n ./"$3" "$4" >out.txt; do
		:
	done
	dump [0-9]*.cairn >out.txt
	status=$?
	if [ $n -gt "$2" ] && [ $status = 0 ] && ! grep BAD out.txt; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAILED $3 killed at system calls up to $n: dump.py: status $status"
	fi
	rm -f ./*.cairn
}

kills() {
	killed 0 100 pie exit
	killed 150 170 paths_pie forks
}

names() {
	named() { # template, expected name
		CAIRN_OUT=$1 ./pie return &
		pid=$!
		wait $pid
		want=$(echo "$2" | sed "s/PID/$pid/; s/HOST/$(uname -n)/")
		if [ -f "$want" ]; then
			passed=$((passed + 1))
		else
			failed=$((failed + 1))
			echo "FAILED name $1: no $want: $(ls)"
		fi
		[ -n "${3:-}" ] || rm -f "$want"
	}
	named "" pie.PID.cairn
	named "a.%p.%n.%h.%%.%q.cairn" a.PID.pie.HOST.%.%q.cairn
	named "same.cairn" same.cairn keep
	named "same.cairn" same.1.cairn
	named "bare" bare keep
	named "bare" bare.1
	rm -f bare ./*.cairn
}

limits() {
	# nowhere to write: same status, one line
	quiet() { # name, command
		sh -c "$2" >/dev/null 2>err.txt
		status=$?
		if [ $status = 3 ] && [ "$(wc -l <err.txt)" = 1 ] && grep -q '^cairn: ' err.txt; then
			passed=$((passed + 1))
		else
			failed=$((failed + 1))
			echo "FAILED $1: status $status, said $(cat err.txt)"
		fi
	}
	quiet "no directory" 'CAIRN_OUT=/nonexistent/x.cairn ./pie exit'
	quiet "file size limit" 'ulimit -f 1; CAIRN_OUT=o.cairn ./pie exit'
	rm -f ./*.cairn
	quiet "file size limit later" 'ulimit -f 80; CAIRN_OUT=o.cairn ./pie live_threads'
	if facts | grep -q '^closed.* flags 8 .*;main 1;'; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAILED what is left at the limit: $(facts)"
	fi
	rm -f ./*.cairn
	if [ "$(id -u)" = 0 ] && mkdir tiny && mount -t tmpfs -o size=24k none tiny 2>/dev/null; then
		quiet "small file system" 'cd tiny && CAIRN_OUT=o.cairn ../pie live_threads'
		dd if=/dev/zero of=tiny/fill bs=1k count=100 2>/dev/null
		quiet "full file system" 'cd tiny && CAIRN_OUT=p.cairn ../pie exit'
		umount tiny
		mount -t tmpfs -o size=1m,ro none tiny
		quiet "read-only file system" 'cd tiny && ../pie exit'
		umount tiny
		rmdir tiny
		# no /proc: the file is made under another name first
		mkdir root && cp static root/ &&
			CAIRN_OUT=/o.cairn chroot root /static exit
		if [ $? = 3 ] && [ "$(ls root)" = "o.cairn
static" ]; then
			passed=$((passed + 1))
		else
			failed=$((failed + 1))
			echo "FAILED without /proc: $(ls root)"
		fi
	fi
}

# Those that take longest come first.
parts="libraries kills tables:paths_pie tables:paths_pic tables:paths_lld
tables:paths_static ends:pie ends:pic ends:nopie ends:lld ends:gold ends:lto
ends:static ends:staticpie storms limits pages names"

# Runs the parts that nobody has a directory for yet.
lane() {
	for part in $parts; do
		mkdir "$work/$part" 2>/dev/null || continue
		cd "$work/$part" && cp -rl ../built/. . || exit 2
		# what a part sets is not for the next
		(
			passed=0 failed=0
			"${part%:*}" "${part#*:}"
			echo $passed $failed >../count.$part
		) >../output.$part 2>&1
		cat ../output.$part
	done
}

build
lane &
lane &
wait
passed=0 failed=0
for part in $parts; do
	set -- $(cat "$work/count.$part" || echo 0 1)
	passed=$((passed + $1)) failed=$((failed + $2))
done
echo "runtime: $passed passed, $failed failed"
[ $failed = 0 ]
