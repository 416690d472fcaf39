# SPDX-License-Identifier: Apache-2.0
# Completion of cairn, cairn-cc and cairn-c++ for bash.
#
# Commands and options are those that --help names, asked for when a key is
# pressed: nothing here has to be kept up with them.  Only the values of options
# that take one of a few words are listed (_cairn_values), and
# tests/completions compares them with what the tools take.

# The words that an option of a command may have.
_cairn_values() {
	case $1:$2 in
	report:--format)
		echo text json html lcov cobertura gcovr callgrind pprof \
			speedscope folded dot llvm-sample
		;;
	report:--sort) echo executions entries instructions name line ;;
	diff:--sort) echo change growth executions entries name line ;;
	paths:--sort) echo count blocks ;;
	*:--color) echo auto always never ;;
	trace:--export) echo chrome speedscope folded ;;
	trace:--clock) echo time blocks ;;
	overlap:--degree) echo auto max all ;;
	output:--fd) echo 1 2 ;;
	esac
}

# Commands of cairn.
_cairn_commands() {
	"$1" --help 2>/dev/null | sed -n 's/^  \([a-z][a-z-]*\)  *.*/\1/p'
	echo help
}

# Options of a command, a line each: "--option" or "--option VALUE".
_cairn_options() {
	"$1" "$2" --help 2>/dev/null |
		sed -n 's/^  \(-[^ ].*\)/\1/p' | sed 's/   *.*//' |
		sed 's/, /\n/g' | sed -n 's/^\(--*[^ ]*\)\( [^ ]*\)\{0,1\}.*/\1\2/p'
}

# Modes of cairn-cc, and the options of one of them.
_cairn_modes() {
	"$1" --cairn-help-all 2>/dev/null |
		sed -n 's/^  --cairn=\([a-z]*\).*/\1/p'
}

_cairn_details() {
	"$1" --cairn-help-all 2>/dev/null | awk -v mode="$2" '
		/^Options of / { on = $0 ~ "[ ,]" mode "[ ,:]"; next }
		/^[^ ]/ || /^$/ { on = 0 }
		on && /^  [a-z]/ {
			sub(/^  /, ""); sub(/  +.*/, "")
			n = split($0, words, ", ")
			for (i = 1; i <= n; i++) {
				word = words[i]
				if (word ~ /=[A-Z]/) sub(/=.*/, "=", word)
				if (word ~ /:[A-Z]/) sub(/:.*/, ":", word)
				print word
			}
		}
		/^  --cairn=/ {
			split($1, parts, /[=,]/)
			if (parts[2] == mode) {
				n = split($1, words, ",")
				for (i = 2; i <= n; i++) {
					sub(/=.*/, "=", words[i])
					print words[i]
				}
			}
		}' | sort -u
}

_cairn_files() {
	local IFS=$'\n'

	compopt -o filenames 2>/dev/null
	COMPREPLY=($(compgen -f -- "$1"))
}

_cairn_words() {
	local IFS=$' \t\n'

	COMPREPLY=($(compgen -W "$2" -- "$1"))
	# what a value is to follow at once has no space behind it
	if [[ ${#COMPREPLY[@]} = 1 && ${COMPREPLY[0]} = *[=:] ]]; then
		compopt -o nospace 2>/dev/null
	fi
}

# Is an option of this command one that takes a value?  Which kind?
_cairn_value_of() {
	_cairn_options "$1" "$2" | sed -n "s/^$3 //p" | head -n 1
}

_cairn() {
	local tool=${COMP_WORDS[0]} cur=${COMP_WORDS[COMP_CWORD]}
	local prev=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]} kind
	local values

	COMPREPLY=()
	# bash makes --option=value three words
	[[ $cur = "=" ]] && cur=
	[[ $prev = "=" ]] && prev=${COMP_WORDS[COMP_CWORD - 2]}
	if [[ $COMP_CWORD = 1 ]]; then
		_cairn_words "$cur" "$(_cairn_commands "$tool") --help --version"
		return
	fi
	if [[ $command = help ]]; then
		_cairn_words "$cur" "$(_cairn_commands "$tool")"
		return
	fi
	if [[ $prev = -* ]]; then
		values=$(_cairn_values "$command" "$prev")
		if [[ -n $values ]]; then
			_cairn_words "$cur" "$values"
			return
		fi
		kind=$(_cairn_value_of "$tool" "$command" "$prev")
		case $kind in
		FILE | PATH | OUT | TESTED)
			_cairn_files "$cur"
			return
			;;
		?*) return ;; # a number or a name, which nobody knows
		esac
	fi
	if [[ $cur = -* ]]; then
		_cairn_words "$cur" "$(_cairn_options "$tool" "$command" |
			sed 's/ .*//')"
	else
		_cairn_files "$cur"
	fi
}

# --cairn=MODE,OPTION,...: the last word of the list.
_cairn_mode() {
	local tool=$1 cur=$2 head=

	if [[ $cur != *,* ]]; then
		_cairn_words "$cur" "$(_cairn_modes "$tool")"
		return
	fi
	head=${cur%,*},
	_cairn_words "$cur" "$(_cairn_details "$tool" "${cur%%,*}" |
		sed "s/^/$head/")"
}

_cairn_cc() {
	local tool=${COMP_WORDS[0]} cur=${COMP_WORDS[COMP_CWORD]}
	local prev=${COMP_WORDS[COMP_CWORD - 1]}

	COMPREPLY=()
	[[ $cur = "=" ]] && cur=
	[[ $prev = "=" ]] && prev=${COMP_WORDS[COMP_CWORD - 2]}
	case $prev in
	--cairn) _cairn_mode "$tool" "$cur" ;;
	--cairn-stage) _cairn_words "$cur" "late source" ;;
	--cairn-feedback | *,prefer | *,tested) _cairn_files "$cur" ;;
	*)
		case $cur in
		--c*)
			_cairn_words "$cur" "$("$tool" --cairn-help-all \
				2>/dev/null | grep -o -e '--cairn[-a-z]*=\{0,1\}' |
				sort -u | grep -v -x -e --cairn -e --cairn-)"
			;;
		-*)
			# clang completes its own
			_cairn_words "$cur" "$("$tool" --autocomplete="$cur" \
				2>/dev/null | cut -f 1)"
			;;
		*) _cairn_files "$cur" ;;
		esac
		;;
	esac
}

complete -F _cairn cairn
complete -F _cairn_cc cairn-cc cairn-c++
