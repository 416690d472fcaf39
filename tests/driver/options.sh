# SPDX-License-Identifier: Apache-2.0
# Does the driver agree with clang about which options take the next word?
# clang is asked about every option it lists: a file that does not exist is an
# input exactly when clang complains about it.
. "$(dirname "$0")/lib.sh"
llvm=$(llvm-config-19 --bindir)
table=$(sed -n '/separate\[\]/,/^};/s/^ *"\(.*\)",$/\1/p' \
	"$root/src/driver/scan.c")

listed() {
	"$llvm/clang" --autocomplete=- | cut -f 1 |
		grep -v -e '=$' -e '^-W.' -e '^$' -e '^-f' -e '^-m' \
			-e '^-\{1,2\}print-' -e '^-g' -e '^-O' -e '^-cc1'
	# Two long families, of which the table holds the few that matter.
	"$llvm/clang" --autocomplete=- | cut -f 1 | grep -e '^-f' -e '^-m' |
		grep -v -e '=$' -e '-no-' | awk 'NR % 16 == 0'
	echo "$table"
}

# takes_next OPTION: clang's answer.
takes_next() {
	rm -f absent.c # -serialize-diagnostics and others leave one behind
	case $("$llvm/clang" -### -c "$1" absent.c 2>&1) in
	*"no such file or directory: 'absent.c'"*) return 1 ;;
	*) return 0 ;;
	esac
}

listed | grep '^-' | sort -u >options
while read -r option; do
	# These end the run before clang looks for files.
	case $option in
	--help* | -help | --version | -dumpversion | -dumpmachine | -v) continue ;;
	-Xarch_* | --hipstdpar | -maix*) continue ;;
	esac
	if echo "$table" | grep -qxF -- "$option"; then
		expect=0
	else
		expect=1
	fi
	takes_next "$option"
	if [ $? = $expect ]; then
		passed=$((passed + 1))
	else
		fail "$option: the table of src/driver/scan.c is wrong"
	fi
done <options
finish
