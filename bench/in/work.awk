# SPDX-License-Identifier: Apache-2.0
# Work for awk: fields, associative arrays, regular expressions, substitution,
# user functions and number crunching.
function gcd(a, b) { return b == 0 ? a : gcd(b, a % b) }

function reverse(word,    i, out)
{
	for (i = length(word); i > 0; i--)
		out = out substr(word, i, 1)
	return out
}

{
	for (i = 1; i <= NF; i++) {
		word = $i
		if (sub(/[,;.]+$/, "", word))
			marks++
		seen[word]++
		if (word ~ /^(ba|ru|sel)[a-z]*[aeiou]n?$/)
			matched++
	}
	vowels += gsub(/[aeiou]/, "*")
	if (NR % 50 == 0)
		palindrome += (reverse($1) == $1)
	lengths[length($0) % 16]++
}

END {
	for (word in seen) {
		distinct++
		if (seen[word] > most || (seen[word] == most && word < top)) {
			most = seen[word]
			top = word
		}
	}
	printf "%d lines, %d words, top %s %d\n", NR, distinct, top, most
	printf "%d marks, %d matched, %d vowels, %d\n", marks, matched, vowels, \
		palindrome
	for (i = 0; i < 16; i++)
		line = line " " lengths[i] + 0
	print line
	for (i = 1; i <= 200; i++)
		for (j = 1; j <= 60; j++)
			coprime += gcd(i, j) == 1
	print coprime
	n = split(line, part, / +/)
	print n, toupper(top), sprintf("%08.3f|%-6s|%x", most / NR, "end", marks)
}
