# SPDX-License-Identifier: Apache-2.0
# Does the driver see what a command line is going to do?  The marks of a
# compilation are -cairn-mode=..., those of a link the runtime; clang itself
# says whether it would run the linker.
. "$(dirname "$0")/lib.sh"
llvm=$(llvm-config-19 --bindir)
runtime=$(cd "$bin/.." && pwd)/lib/cairn/libcairn_rt.a
exe=$(cd "$bin/.." && pwd)/lib/cairn/libcairn_exe.a
touch -- a.c b.c a.cpp a.s a.S a.h a.hpp a.o a.bc a.ll a.i -dash.c lib.a
mkdir dir
echo '-c a.c' >compile.rsp
echo 'a.c "b.c" -o prog' >link.rsp
echo '@link.rsp' >nested.rsp

# agree ARGS...: the driver adds the runtime exactly when clang links.
agree() {
	clang_links=no driver_links=no
	"$llvm/clang" -### "$@" 2>&1 |
		grep -q '^ "[^"]*[/-]ld\(\.[a-z]*\)\?" ' && clang_links=yes
	command_of "$@" | grep -qxF -- "$runtime" && driver_links=yes
	if [ $clang_links = $driver_links ]; then
		passed=$((passed + 1))
	else
		fail "clang links: $clang_links, we think: $driver_links: $*"
	fi
}

while read -r args; do
	# shellcheck disable=SC2086 # words on purpose
	agree $args
done <<'END'
a.c
a.c -o prog
-o a.c
-c a.c
-S a.c
-E a.c
-M a.c
-MM a.c
-MD a.c
-MMD -MF a.d a.c
-MMD -MF a.c
-fsyntax-only a.c
--analyze a.c
--precompile a.cpp
-emit-ast a.c
-c -emit-llvm a.c
a.h
a.hpp
a.h a.c
-x c-header a.c
-xc++-header a.c
-x c a.h
-x none a.h
-x c a.h -x none a.o
a.o
a.o lib.a
a.s
a.S
a.bc
a.ll
a.i
-shared a.o -o lib.so
-static a.o
-static-pie a.o
-Wl,a.o
-Xlinker a.o
-lfoo
-l foo
-L dir
-I a.c
-isystem a.c -c b.c
-D a.c b.c
-include a.h a.c
-include a.c
-Xclang a.c
-mllvm a.c
-T a.c
-z now
-u main
-e main
-target x86_64-linux-gnu a.c
--target=x86_64-linux-gnu -c a.c
--compile a.c
--assemble a.c
--preprocess a.c
--output prog a.c
--output a.c
--sysroot dir a.c
--sysroot a.c
--language c a.h
--language=c-header a.c
--param a.c
-v
-g
-###
@compile.rsp
@link.rsp
@nested.rsp
-c -- a.c
-- a.c
-- -dash.c
-E -- a.c
-print-search-dirs a.c
-print-file-name=libc.so a.c
-dumpmachine a.c
-dumpversion a.c
--help a.c
--version a.c
-march=native a.c
-pthread a.c -lm
-nostdlib -shared a.o
-nodefaultlibs a.o -lc
-fuse-ld=lld a.o
-flto a.c
-flto=thin -c a.c
-fno-lto a.c
-save-temps a.c
END

has "-c is marked" -cairn-mode=edges -c a.c
has "a link is marked" -cairn-mode=edges a.c
hasnt "-E is not" -cairn-mode=edges -E a.c
hasnt "-fsyntax-only is not" -cairn-mode=edges -fsyntax-only a.c
hasnt "a header is not" -cairn-mode=edges a.h
hasnt "none is not" -cairn-mode=edges --cairn=none -c a.c
hasnt "none links nothing" "$runtime" --cairn=none a.c
hasnt "-r links nothing" "$runtime" -r a.o
hasnt "-Wl,-r links nothing" "$runtime" -Wl,-r -nostdlib a.o
hasnt "-Xlinker -r neither" "$runtime" -Xlinker --relocatable a.o
has "no build id" --build-id -Wl,--build-id=none a.o
hasnt "the user's build id" --build-id -Wl,--build-id=0xabcd a.o
has "slow" -cairn-mode=edges,slow --cairn=edges,slow -c a.c
has "strict" -cairn-mode=edges,strict --cairn=edges,strict -c a.c
has "a shared object from sources" -fPIC -shared a.c
hasnt "a shared object from objects" -fPIC -shared a.o
has "nogs" -cairn-mode=edges,nogs --cairn=edges,nogs -c a.c
has "all" -cairn-mode=edges,all --cairn=edges,all -c a.c
has "weights" -cairn-mode=edges,weights=freq --cairn=edges,weights=freq -c a.c
has "paths" -cairn-mode=paths --cairn=paths -c a.c
has "paths link the runtime" "$runtime" --cairn=paths a.o
has "paths, strict" -cairn-mode=paths,strict --cairn=paths,strict -c a.c
has "paths, nogs" -cairn-mode=paths,nogs --cairn=paths,nogs -c a.c
has "paths, both" -cairn-mode=paths,strict,nogs --cairn=paths,nogs,strict \
	-c a.c
has "paths, weights" -cairn-mode=paths,weights=freq \
	--cairn=paths,weights=freq -c a.c
has "paths after edges" -cairn-mode=paths --cairn=edges,slow --cairn=paths \
	-c a.c
has "edges after paths" -cairn-mode=edges,all --cairn=paths \
	--cairn=edges,all -c a.c
has "paths of the last stage" -cairn-mode=paths --cairn-stage=source \
	--cairn-stage=late --cairn=paths -c a.c
has "the last --cairn wins" -cairn-mode=edges --cairn=edges,slow \
	--cairn=edges -c a.c
has "stage" -cairn-stage=source --cairn-stage=source -c a.c
hasnt "stage late" -cairn-stage=source --cairn-stage=source \
	--cairn-stage=late -c a.c
cp "$root/tests/fuzz/corpus/container/v2-closed.cairn" old.cairn
has "feedback is made absolute" "-cairn-feedback=$(pwd -P)/old.cairn" \
	--cairn-feedback=old.cairn -c a.c
has "lto compile" -cairn-lto -flto -c a.c
hasnt "no lto" -cairn-lto -flto -fno-lto -c a.c
has "lto links with lld" -fuse-ld=lld -flto=thin a.c
has "sections of blocks are undone" -fbasic-block-sections=none \
	-fbasic-block-sections=all -c a.c
has "the assembler is clang's" -fintegrated-as -fno-integrated-as -c a.c
hasnt "an argument is no option" -cairn-mode=edges,slow -D --cairn=edges,slow \
	-c a.c
printf -- '--cairn=edges,slow\n-c a.c\n' >own.rsp
has "our options in a response file" -cairn-mode=edges,slow @own.rsp
hasnt "do not reach clang" @own.rsp @own.rsp
has "other response files do" @compile.rsp @compile.rsp
printf '%s\n' '-DX="a b" -c' "'a c.c' back\\\\ slash.c" >quote.rsp
has "quotes" -cairn-mode=edges @quote.rsp

# The runtime comes behind the libraries of the user; of that what only an
# executable gets comes first.
order=$(command_of a.c -lm | grep -nxF -e -lm -e "$runtime" -e "$exe" |
	cut -d : -f 2)
ok "runtime last" test "$order" = "-lm
$exe
$runtime"
has "a static program's runtime" "$exe" -static a.o
for args in '-shared a.c' '--shared a.o' '-shared -flto a.c' \
	'-Wl,-shared a.o' '-Xlinker -Bshareable a.o' '-shared -nostdlib a.o'; do
	# shellcheck disable=SC2086 # words on purpose
	hasnt "no hooks" "$exe" $args
	# shellcheck disable=SC2086 # words on purpose
	has "calls that are to be told" --wrap=longjmp $args
done
hasnt "calls of an executable" --wrap=longjmp a.o

refuses "unknown mode" "no mode" "$cc" --cairn=nonsense -c a.c
refuses "empty mode" "no mode" "$cc" --cairn= -c a.c
refuses "paths,slow" "no option 'slow'" "$cc" --cairn=paths,slow -c a.c
refuses "paths,all" "no option 'all'" "$cc" --cairn=paths,all -c a.c
refuses "paths, nothing" "no option ''" "$cc" --cairn=paths, -c a.c
refuses "paths at the source" "leave out --cairn-stage" "$cc" --cairn=paths \
	--cairn-stage=source -c a.c
refuses "residual at the source" "leave out --cairn-stage" "$cc" \
	--cairn=residual,tested=a.c --cairn-stage=source -c a.c
refuses "paths, turned around" "leave out --cairn-stage" "$cc" \
	--cairn-stage=source --cairn=paths -c a.c
refuses "musl's triple" "not with musl" "$cc" --target=x86_64-linux-musl -c a.c
refuses "musl's loader" "not with musl" "$cc" \
	-Wl,-dynamic-linker,/lib/ld-musl-x86_64.so.1 a.o
refuses "musl's files" "not with musl" "$cc" -nostdlib \
	/usr/lib/x86_64-linux-musl/crt1.o a.o
refuses "record" "has no option" "$cc" --cairn=record,slow -c a.c
refuses "record" "position independent" "$cc" --cairn=record -no-pie a.c
refuses "detail" "no option 'fast'" "$cc" --cairn=edges,fast -c a.c
refuses "slow and all" "choose one" "$cc" --cairn=edges,slow,all -c a.c
refuses "last and witness" "leave out witness" "$cc" \
	--cairn=trace,last=8M,witness -c a.c
refuses "last and memory" "leave out memory=" "$cc" \
	--cairn=trace,last=8M,memory=8M -c a.c
for bad in "" -1 much 64Q 64MB M 0x40000000 99999999999999999999 2000G; do
	refuses "memory=$bad" "memory=$bad is no size; use" "$cc" \
		--cairn=trace,memory=$bad -c a.c
done
refuses "memory=0" "memory=0 is too little" "$cc" --cairn=trace,memory=0 -c a.c
refuses "memory=512K" "use at least memory=1M" "$cc" \
	--cairn=trace,memory=512K -c a.c
refuses "edges,memory" "no option 'memory=8M'" "$cc" \
	--cairn=edges,memory=8M -c a.c
refuses "witness and paths" "choose one" "$cc" \
	--cairn=trace,witness,paths -c a.c
refuses "edges,witness" "no option 'witness'" "$cc" --cairn=edges,witness -c a.c
refuses "trace,strict" "witness, paths, last=SIZE, memory=SIZE, weights" "$cc" \
	--cairn=trace,strict -c a.c
refuses "none,slow" "takes no options" "$cc" --cairn=none,slow -c a.c
refuses "option" "no option of cairn-cc" "$cc" --cairn-quick -c a.c
refuses "option, help" "--cairn-help, which" "$cc" --cairn-quick -c a.c
refuses "bare --cairn" "no option of cairn-cc" "$cc" --cairn -c a.c
refuses "stage" "no stage" "$cc" --cairn-stage=early -c a.c
refuses "feedback" "No such file" "$cc" --cairn-feedback=absent.cairn -c a.c
for bad in v2-truncated v2-flipped v3-future v2-no-map; do
	cp "$root/tests/fuzz/corpus/container/$bad.cairn" .
	refuses "feedback $bad" "feedback: $(pwd -P)/$bad.cairn: " "$cc" \
		--cairn-feedback=$bad.cairn -c a.c
done
: >empty.cairn
refuses "feedback empty" "file is empty" "$cc" --cairn-feedback=empty.cairn a.c
refuses "feedback directory" "regular file" "$cc" --cairn-feedback=. -S a.c
refuses "feedback foreign" "not a .cairn file" "$cc" \
	--cairn-feedback=link.rsp -c a.c
# It is read to compile, not to link or to preprocess.
touch c.so d.so.1
for args in '-E a.c' 'a.o' 'a.o -lm' 'a.o lib.a c.so d.so.1'; do
	# shellcheck disable=SC2086 # words on purpose
	ok "no use for feedback: $args" "$cc" -### \
		--cairn-feedback=empty.cairn $args
done
# What is preferred by name travels in the mode, a file has a place of its own.
sets=prefer=function:f,prefer=line:src/a.c:12,prefer=function:g
has "prefer sets" "-cairn-mode=paths,nogs,others,$sets,remarks" \
	--cairn=paths,$sets,others,nogs -c a.c
has "prefer replaced" "-cairn-mode=paths" --cairn=paths,$sets --cairn=paths \
	-c a.c
has "prefer remarks" -Rremark-backend-plugin --cairn=paths,$sets -c a.c
hasnt "no remarks" -Rremark-backend-plugin --cairn=paths -c a.c
echo "f *" >list.txt
has "prefer list" "-cairn-interest=$(pwd -P)/list.txt" \
	--cairn=paths,prefer=function:f,prefer=list.txt -c a.c
echo "f *" >line:a.c:1
has "prefer, a name like a set" "-cairn-interest=$(pwd -P)/line:a.c:1" \
	--cairn=paths,prefer=./line:a.c:1 -c a.c
for bad in foo.c foo.c: foo.c:0 :3 foo.c:x foo.c:-1 foo.c:3x ''; do
	refuses "prefer=line:$bad" "prefer=line:$bad names no line; use" "$cc" \
		"--cairn=paths,prefer=line:$bad" -c a.c
done
refuses "prefer=function:" "names no function" "$cc" \
	--cairn=paths,prefer=function: -c a.c
refuses "prefer, no file" "No such file" "$cc" --cairn=paths,prefer=func:f \
	-c a.c
refuses "prefer, nothing" "No such file" "$cc" --cairn=paths,prefer= -c a.c
refuses "prefer, two files" "cairn merge" "$cc" \
	--cairn=paths,prefer=list.txt,prefer=list.txt -c a.c
refuses "edges,prefer" "no option 'prefer=function:f'" "$cc" \
	--cairn=edges,prefer=function:f -c a.c
refuses "residual,prefer" "no option 'prefer=function:f'" "$cc" \
	--cairn=residual,prefer=function:f -c a.c
for choice in top=3 share=50; do
	refuses "$choice alone" "choose from a profile" "$cc" \
		--cairn=paths,$choice -c a.c
	refuses "$choice, no profile" "choose from a profile" "$cc" \
		--cairn=paths,prefer=function:f,$choice -c a.c
	refuses "$choice, a list" "list.txt is no profile" "$cc" \
		--cairn=paths,prefer=list.txt,$choice -c a.c
done
refuses "others alone" "which is not there" "$cc" --cairn=paths,others -c a.c

refuses "32 bits" "x86-64" "$cc" -m32 -c a.c
refuses "other machine" "x86-64" "$cc" --target=aarch64-linux-gnu -c a.c
refuses "other system" "x86-64" "$cc" -target x86_64-w64-mingw32 -c a.c
refuses "no passes" "without marks" "$cc" -Xclang -disable-llvm-passes -c a.c
for flag in -fembed-bitcode -fembed-bitcode=all -fembed-bitcode=bitcode; do
	for args in '-c a.c' '-S a.c' 'a.c' '-c -x c a.s' '-c b.s a.c' \
		'-c -flto -fno-lto a.c'; do
		# shellcheck disable=SC2086 # words on purpose
		refuses "$flag $args" "with $flag code is made from" "$cc" \
			$flag $args
	done
	refuses "the last: $flag" "--cairn=none" "$cc" -fembed-bitcode=off \
		-fembed-bitcode-marker $flag -c a.c
	for args in '-fembed-bitcode=off -c a.c' '-fembed-bitcode-marker a.c' \
		'-fembed-bitcode=marker a.c' '--cairn=none -c a.c' 'a.o' \
		'-E a.c' '-c a.s' '-x assembler -c a.c' '-flto -c a.c' \
		'-emit-llvm -c a.c'; do
		# shellcheck disable=SC2086 # words on purpose
		ok "$flag is harmless: $args" "$cc" -### $flag $args
	done
done
refuses "lto by gold" "lld" "$cc" -flto -fuse-ld=gold a.c
refuses "static without start" "start-up" "$cc" -static -nostdlib a.o
refuses "no clang" "CAIRN_CLANG" env CAIRN_CLANG=/nonexistent/clang "$cc" -c a.c

# Without additions the driver is clang.
for args in '' 'a.c -o' 'a.c -Xlinker' 'absent.c -c' '-dumpmachine' \
	'-print-search-dirs' '-E -dM -x c /dev/null'; do
	# shellcheck disable=SC2086 # words on purpose
	ok "as clang: '$args'" test "$("$llvm/clang" $args 2>&1)" = \
		"$("$cc" $args 2>&1)"
done
ok "first line of --version is clang's" test \
	"$("$llvm/clang" --version | head -n 1)" = "$("$cc" --version | head -n 1)"
# Our own help: on stdout, whatever stands beside it, and all of its options are
# in the manual.
for driver in "$cc" "$cxx"; do
	who=$(basename "$driver")
	"$driver" --cairn-help >short
	ok "$who --cairn-help fits a screen" test "$(wc -l <short)" -le 40
	"$driver" --cairn-help-all -c absent.c --cairn=nonsense >help 2>errors
	ok "$who --cairn-help" test $? = 0
	ok "$who --cairn-help: no error" test ! -s errors
	ok "$who --cairn-help: usage" grep -qF "usage: $who [" help
	ok "$who --cairn-help: width" test -z "$(grep '.\{80\}' help)"
	ok "$who --cairn-help: each heading once" \
		test -z "$(grep '^Options of' help | sort | uniq -d)"
done
for option in $(grep -o -e '--cairn[-a-z]*' help | sort -u); do
	ok "manual: $option" sh -c "sed 's/\\\\-/-/g' '$root/man/cairn-cc.1' |
		grep -q -e '^\.BI* *$option'"
done
for option in strict nogs weights slow all prefer top share others tested \
	--cairn-feedback --cairn-stage --cairn-use --cairn-verbose \
	--cairn-help; do
	ok "help: $option" grep -q -e "[ ,]$option\>" help
done
refuses "a mistake before the help" "no mode" "$cc" --cairn=nonsense \
	--cairn-help
refuses "help, nowhere to go" "stdout" sh -c "'$cc' --cairn-help >/dev/full"
ok "--help is clang's" test "$("$llvm/clang" --help)" = "$("$cc" --help)"
ok "--version names us" sh -c "'$cc' --version | grep -q '^Cairn '"
finish
