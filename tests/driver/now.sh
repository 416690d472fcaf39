# SPDX-License-Identifier: Apache-2.0
# LD_BIND_NOW, as of hardened systems: all symbols are there when something is
# loaded, of clang's plugin, at link time, too, of the tools, and of programs.
. "$(dirname "$0")/lib.sh"
cairn=$bin/cairn
LD_BIND_NOW=1
export LD_BIND_NOW
cat >main.cpp <<'END'
#include <cstdio>
static int twice(int x)
{
	int sum = 0;
	for (int i = 0; i < x; i++)
		sum += i % 2 ? 3 : 1;
	return sum;
}
int main(int argc, char **)
{
	try {
		if (twice(argc) > 0)
			throw argc;
	} catch (int n) {
		printf("%d\n", n);
	}
	return 0;
}
END
# Each mode at two levels; how the linker binds is no matter.
for mode in edges edges,nogs edges,strict paths paths,overlap \
	paths,iterations=2 trace trace,witness record; do
	for how in -O0 "-O2 -Wl,-z,now"; do
		rm -f ./*.cairn
		# shellcheck disable=SC2086
		ok "$mode $how" "$cxx" "--cairn=$mode" $how main.cpp -o prog
		ok "$mode $how runs" env CAIRN_OUT=%p.cairn ./prog
		ok "$mode $how is read" "$cairn" check ./*.cairn
	done
done
ok "replay" "$cairn" replay ./*.cairn
ok "-flto" "$cxx" -O2 -flto -fuse-ld=lld main.cpp -o prog
rm -f ./*.cairn
"$cxx" --cairn=paths -O2 main.cpp -o prog
env CAIRN_OUT=%p.cairn ./prog >log
ok "feedback" "$cxx" -O2 --cairn-feedback="$(echo ./*.cairn)" main.cpp -o other
source=--cairn-stage=source
ok "source" "$cxx" --cairn=edges $source -O2 main.cpp -o counted
env CAIRN_OUT=counts ./counted >log
ok "use" "$cxx" -O2 --cairn=none --cairn-use=counts main.cpp -o other
ok "prefer" "$cxx" -O2 --cairn="paths,prefer=$(echo ./*.cairn)" main.cpp -o other
ok "tested" "$cxx" -O2 --cairn="residual,tested=$(echo ./*.cairn)" main.cpp \
	-o other

# A mistake of ours that LLVM finds is said to be ours.
cat >planted.cpp <<'END'
namespace llvm { [[noreturn]] void report_fatal_error(const char *, bool); }
extern "C" void *LLVMGetFirstBasicBlock(void *)
{
	llvm::report_fatal_error("planted\nmore", false);
}
END
unset LD_BIND_NOW
ok "planted" clang++-19 -w -shared -fPIC planted.cpp -o libplanted.so
for mode in edges paths trace record; do
	LD_PRELOAD=$work/libplanted.so "$cxx" --cairn=$mode -O1 -c main.cpp \
		>said 2>&1
	status=$?
	ok "$mode: status $status, $(head -n 1 said)" test $status = 1 -a \
		"$(grep -c . said)" = 1
	ok "$mode says it" grep -q "^cairn: main.cpp: .*LLVM cannot compile it: planted; compile this file with clang instead of cairn-cc" said
done
finish
