# SPDX-License-Identifier: Apache-2.0
# cairn paths on programs of all sorts: where branches go at every level of
# optimization, what is not preferred, what only frames that died did.
cat >pol.c <<'EOF'
#include <stdlib.h>
int pick(int x)
{
	if (x != 0)
		x = x * 3 + rand();
	else
		x = rand() & 7;
	switch (x & 3) {
	case 0:
		return rand();
	case 1:
		return atoi("8");
	}
	return x > 0 ? abs(rand()) : atoi("9");
}
int main(int argc, char **argv)
{
	return pick(argc - 1) < 0;
}
EOF
echo "== branches say where they go: then, else"
for level in 0 1 2 3 s; do
	cairn-cc --cairn=paths -O$level -fno-inline -g pol.c -o pol || exit
	CAIRN_OUT=then$level.cairn ./pol 1
	CAIRN_OUT=else$level.cairn ./pol
	for way in then else; do
		cairn paths --function pick $way$level.cairn |
			sed -n "s/.*branches \(pol.c:4 to [^,]*\).*/-O$level $way: \1/p"
	done
	# what the IR calls true is turned around somewhere
	cairn paths --json --function pick then$level.cairn |
		grep -o '"line": 4, "way": "[a-z]*", "target": [0-9]*, "target_line": 5' |
		cut -d '"' -f 6 >>ways
done
sort -u ways
echo "== the same line, switches, another file"
cat >way.h <<'EOF'
	if (argc > 2)
		n += atoi("1");
EOF
cat >way.c <<'EOF'
#include <stdlib.h>
int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi("1") : atoi("2");
#include "way.h"
	switch (argc) {
	case 1:
		return n == 5;
	default:
		return n == 6;
	}
}
EOF
cairn-cc --cairn=paths -O0 -g way.c -o way || exit
CAIRN_OUT=way.cairn ./way
cairn paths --model way.cairn | sed -n '/branches/p; /  block/p'
cairn paths --stable --json way.cairn | grep '"branches"'
echo "== preferred"
{
	printf '#include <stdlib.h>\nstatic int bits(int v)\n{\n\tint n = 0;\n'
	i=0
	while [ $i -lt 20 ]; do
		printf '\tif (v >> %d & 1)\n\t\tn += %d;\n' $i $i
		i=$((i + 1))
	done
	printf '\treturn n;\n}\nint main(int argc, char **argv)\n{\n'
	printf '\tint n = 0;\n\tfor (int i = 1; i < argc; i++)\n'
	printf '\t\tn += bits(atoi(argv[i]));\n\treturn n == 999;\n}\n'
} >bits.c
cairn-cc --cairn=paths -O0 -g bits.c -o bits || exit
CAIRN_OUT=train.cairn ./bits 1 2 2 300
cairn-cc --cairn=paths,prefer=train.cairn -O0 -g bits.c -o prefer || exit
CAIRN_OUT=some.cairn ./prefer 1 2 2 2 300 77 78 79 4000
CAIRN_OUT=all.cairn ./prefer 1 2
cairn paths some.cairn | sed '/^#1/,$d'
cairn paths --function main some.cairn | sed '/^#1/,$d'
cairn paths all.cairn | sed '/^#1/,$d'
cairn paths --model some.cairn | sed -n '/^bits per/,/^$/p; /^bits  /p'
cairn paths --json --model some.cairn |
	grep -E '"(path_|other|block_)|complete|"table|"(n|size|delta|only)"'
cairn check some.cairn all.cairn
cairn check --json some.cairn | grep -E 'sound|functions'
cairn report --json some.cairn all.cairn | grep -E '^ "(exact|note)"'
cairn report --json all.cairn | grep -E '^ "(exact|note)"'
echo "== residual"
cairn-cc --cairn=residual,tested=train.cairn -O0 -g bits.c -o residual || exit
CAIRN_OUT=new.cairn ./residual 1 77
cairn paths --model new.cairn | sed '/^#1/,/^$/d; /^    block/d'
cairn paths --json new.cairn | grep complete
echo "== only unfinished"
cat >stop.c <<'EOF'
#include <stdlib.h>
void leave(void)
{
	exit(3);
}
int main(int argc, char **argv)
{
	if (argc > 1)
		leave();
	return 0;
}
EOF
cairn-cc --cairn=paths -O0 -g stop.c -o stop || exit
CAIRN_OUT=stop.cairn ./stop 1
cairn paths --line stop.c:9 stop.cairn
echo "exit $?"
cairn paths --line stop.c:9 --unfinished stop.cairn | sed -n '/count/,$p'
echo "== to stdout"
cairn paths -o - stop.cairn | head -n 1
cairn paths --json -o - stop.cairn | head -n 2
cairn paths --html - stop.cairn | grep -c '<!DOCTYPE html>'
cairn merge -o - stop.cairn
echo "exit $?"
[ ! -e ./- ] || echo "a file with the name -"
