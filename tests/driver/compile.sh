# SPDX-License-Identifier: Apache-2.0
# Real compilations through the driver: every way of building that the manual
# promises gives a program that behaves as the plain one, and a sound profile
# with the right count.
. "$(dirname "$0")/lib.sh"
cairn=$bin/cairn
llvm=$(llvm-config-19 --bindir)
cat >twice.c <<'END'
int twice(int x);
int twice(int x)
{
	return x + x;
}
END
cat >main.c <<'END'
#include <stdio.h>
int twice(int x);
int main(void)
{
	int sum = 0;
	for (int i = 0; i < 1000; i++)
		sum += twice(i);
	printf("%d\n", sum);
	return 3;
}
END
cat >throw.cpp <<'END'
#include <cstdio>
#include <stdexcept>
__attribute__((noinline)) static int odd(int x)
{
	if (x % 2)
		throw std::runtime_error("odd");
	return x;
}
int main()
{
	int caught = 0;
	for (int i = 0; i < 100; i++) {
		try {
			odd(i);
		} catch (std::exception &) {
			caught++;
		}
	}
	std::printf("%d\n", caught);
	return caught == 50 ? 3 : 1;
}
END

# entries PROFILE FUNCTION: how often it was entered.
entries() {
	"$cairn" report --json "$1" | python3 -c '
import json, sys
functions = json.load(sys.stdin)["functions"]
print(sum(f["entries"] for f in functions if f["name"] == sys.argv[1]))' "$2"
}

# good NAME PROGRAM FUNCTION COUNT: PROGRAM ends with status 3, leaves a sound
# profile, and FUNCTION was entered COUNT times.
good() {
	rm -f out.cairn out.*.cairn
	CAIRN_OUT=out.cairn "./$2" >out 2>&1
	status=$?
	if [ $status != 3 ]; then
		fail "$1: status $status: $(head -n 3 out)"
	elif ! "$cairn" check out.cairn >log 2>&1; then
		fail "$1: cairn check: $(head -n 3 log)"
	elif [ "$(entries out.cairn "$3")" != "$4" ]; then
		fail "$1: $3 entered $(entries out.cairn "$3") times, not $4"
	else
		passed=$((passed + 1))
	fi
}

# quiet WHAT ARGS...: the driver succeeds and says no more than clang does.
quiet() {
	what=$1
	shift
	"$llvm/clang" "$@" >said 2>&1 || : # clang knows no option of ours
	ok "$what" "$cc" $own "$@"
	if cmp -s said log; then
		passed=$((passed + 1))
	else
		fail "$what: says $(head -n 2 log)"
	fi
}

# c NAME ARGS...: compile and link in one step.  s NAME ARGS...: in two.
# $own are options of ours.
own=
c() {
	test=$1
	shift
	rm -f prog
	quiet "$test: compile and link" "$@" main.c twice.c -o prog
	good "$test" prog main 1
}
s() {
	test=$1
	shift
	rm -f prog ./*.o
	quiet "$test: compile" "$@" -c main.c twice.c
	ok "$test: link" "$cc" $own "$@" main.o twice.o -o prog
	good "$test" prog twice 1000
}

for level in 0 1 2 3 s z g; do s "-O$level" "-O$level"; done
s "-g" -g -O2
for own in --cairn=edges,slow --cairn=edges,all --cairn=edges,strict \
	--cairn=edges,weights=heuristic --cairn=edges,weights=freq \
	--cairn-stage=source --cairn=paths --cairn=paths,strict \
	--cairn=paths,nogs --cairn=paths,weights=freq; do
	s "$own" -O2
done
ok "pack" "$cairn" pack -o old.cairn out.cairn
own=--cairn-feedback=old.cairn
s "$own" -O2
own=
s "no unwind tables" -O2 -fno-asynchronous-unwind-tables -fno-unwind-tables
s "sections" -O2 -ffunction-sections -fdata-sections -Wl,--gc-sections
s "block sections" -O2 -fbasic-block-sections=all
s "lld" -O2 -fuse-ld=lld
s "gold" -O2 -fuse-ld=gold
s "no pie" -O2 -fno-pie -no-pie
s "static" -O2 -static
s "static-pie" -O2 -static-pie -fPIE
s "address sanitizer" -O1 -fsanitize=address
s "undefined sanitizer" -O1 -fsanitize=undefined
s "-Werror" -O2 -Werror -Weverything -Wno-unsafe-buffer-usage \
	-Wno-declaration-after-statement
c "full lto" -O2 -flto
c "thin lto" -O2 -flto=thin
c "save-temps" -O2 -save-temps
c "no integrated assembler" -O2 -fno-integrated-as
s "as one response file" @/dev/null -O1

# Frames that never return are found in static programs too: clang leaves out
# the table that the unwinder needs.
cat >leave.c <<'END'
#include <setjmp.h>
#include <stdlib.h>
static jmp_buf env;
__attribute__((noinline)) static void leaf(int i)
{
	if (i == 50)
		exit(3);
	if (i % 7 == 0)
		longjmp(env, 1);
}
int main(void)
{
	for (volatile int i = 1;; i++)
		if (!setjmp(env))
			leaf(i);
}
END
for how in -pie -static -static-pie; do
	ok "leave $how" "$cc" -O2 $how leave.c -o prog
	good "leave $how" prog leaf 50
done

# With -flto in two steps, twice may be inlined: main was entered once.
ok "lto objects" "$cc" -flto -O2 -c main.c twice.c
ok "lto link" "$cc" -flto -O2 main.o twice.o -o prog
good "lto" prog main 1
ok "fat lto objects" "$cc" -flto -ffat-lto-objects -O2 -c main.c twice.c
ok "fat lto link" "$cc" -flto -O2 main.o twice.o -o prog
good "fat lto" prog main 1
ok "fat objects without lto link" "$cc" -fuse-ld=lld main.o twice.o -o prog
good "fat objects without lto" prog twice 1000

# A response file that holds an option of ours is expanded by us: quotes and
# backslashes have to come out as clang reads them.
cat >text.c <<'END'
#include <stdio.h>
int main(void)
{
	puts(TEXT);
	return 3;
}
END
cat >text.rsp <<'END'
'-DTEXT="it"   "\'s  \\\"here\\\""'
	-O2
text.c -o pro\g
END
"$llvm/clang" @text.rsp && ./prog >expected
{ echo --cairn=edges; cat text.rsp; } >own.rsp
ok "response file with our option" "$cc" @own.rsp
good "response file" prog main 1
ok "its quotes" cmp out expected

# Bitcode and assembly on the way: marked once.
for kind in bc ll s; do
	case $kind in
	bc) flags='-c -emit-llvm' ;;
	ll) flags='-S -emit-llvm' ;;
	s) flags='-S' ;;
	esac
	# shellcheck disable=SC2086 # words on purpose
	ok "to .$kind" "$cc" -O2 $flags twice.c -o "twice.$kind"
	ok "from .$kind" "$cc" -O2 main.c "twice.$kind" -o prog
	good ".$kind" prog twice 1000
done

# Relocatable output, and archives.
ok "objects" "$cc" -O2 -c main.c twice.c
ok "-r" "$cc" -r main.o twice.o -o both.o
ok "link of it" "$cc" both.o -o prog
good "-r" prog twice 1000
ok "archive" ar rc libtwice.a twice.o
ok "link with it" "$cc" main.o -L. -ltwice -o prog
good "archive" prog twice 1000
ok "-- as last" "$cc" -O2 -o prog -- main.c twice.c
good "--" prog twice 1000

# Shared objects, with and without an instrumented main program; the way that
# libtool links C++ libraries.
ok "shared" "$cc" -O2 -fPIC -shared twice.c -o libtwice.so
ok "program" "$cc" -O2 main.c -L. -ltwice "-Wl,-rpath,$work" -o prog
good "shared object" prog twice 1000
ok "plain program" "$cc" --cairn=none -O2 main.c -L. -ltwice \
	"-Wl,-rpath,$work" -o prog
good "shared object, plain program" prog twice 1000
crt() {
	"$llvm/clang" "-print-file-name=$1"
}
ok "-nostdlib -shared" "$cc" -O2 -fPIC -shared -nostdlib "$(crt crti.o)" \
	"$(crt crtbeginS.o)" twice.c -lc -lgcc_s "$(crt crtendS.o)" \
	"$(crt crtn.o)" -Wl,-z,defs -o libtwice.so
good "-nostdlib -shared" prog twice 1000

for lto in full thin; do
	ok "$lto lto, shared" "$cc" -O2 -flto=$lto -fPIC -shared twice.c \
		-o libtwice.so
	ok "$lto lto, program" "$cc" -O2 main.c -L. -ltwice \
		"-Wl,-rpath,$work" -o prog
	good "$lto lto, shared" prog twice 1000
done

# C++, and C++ through the C driver.
ok "c++" "$cxx" -O2 throw.cpp -o prog
ok "c++ status" sh -c './prog; test $? = 3'
good "c++" prog main 1
ok "c++, static" "$cxx" -O2 -static throw.cpp -o prog
good "c++, static" prog main 1
ok "c++ by cairn-cc" "$cc" -O2 throw.cpp -lstdc++ -o prog
good "c++ by cairn-cc" prog main 1

# Build systems that try the compiler out.
mkdir project
cp main.c twice.c throw.cpp project
cat >project/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.13)
project(p C CXX)
include(CheckFunctionExists)
check_function_exists(qsort HAVE_QSORT)
if(NOT HAVE_QSORT OR NOT CMAKE_C_COMPILER_ID STREQUAL Clang)
  message(FATAL_ERROR "no qsort, or no clang")
endif()
add_library(twice SHARED twice.c)
add_executable(sum main.c)
target_link_libraries(sum twice)
add_executable(throw throw.cpp)
END
ok "cmake configures" cmake -S project -B project/build \
	"-DCMAKE_C_COMPILER=$cc" "-DCMAKE_CXX_COMPILER=$cxx" \
	-DCMAKE_BUILD_TYPE=Release
ok "cmake builds" cmake --build project/build
good "cmake, C" project/build/sum twice 1000
good "cmake, C++" project/build/throw main 1

# A link without the driver says what to do.
"$llvm/clang" main.o twice.o -o prog >said 2>&1
ok "link by clang fails" grep -q __cairn_link_with_cairn_cc said
finish
