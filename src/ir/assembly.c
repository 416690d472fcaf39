/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What inline assembly does, as far as its text tells: whether control may
 * leave it.  What it calls may never come back, or run code that counts.  And
 * whether it goes on upon another stack, as coroutines do.
 *
 * The text is a list of statements, between ends of lines, semicolons, and the
 * marks of LLVM's alternatives for the two syntaxes, `$(att$|intel$)`.  A
 * statement is labels, prefixes, a mnemonic and operands; all instructions that
 * take control elsewhere are known by how their mnemonic begins.  A jump stays
 * inside if it goes to a label that the text defines, to a label of an asm
 * goto, which is an edge of the CFG, or by a distance (`.+4`).
 *
 * Breaks when: the instruction is written as bytes (.byte 0xe8), or by a macro
 * of the assembler; system calls are not looked at, since what they do to
 * control (exit, a signal) is found in other ways.
 *
 * Cost: linear in the text, for each jump that names a label.
 */
#include "ir/assembly.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

struct text {
	const char *at, *end;
};

/* --- words ---------------------------------------------------------------- */

static void skip_blanks(struct text *t)
{
	while (t->at < t->end && isspace((unsigned char)*t->at))
		t->at++;
}

static bool starts_with(const struct text *t, const char *word)
{
	size_t n = strlen(word);

	return (size_t)(t->end - t->at) >= n && !strncasecmp(t->at, word, n);
}

static bool is_alternative(const struct text *t)
{
	return starts_with(t, "$(") || starts_with(t, "$|") ||
	       starts_with(t, "$)");
}

/* Takes the next statement off the text, without its comment. */
static struct text next_statement(struct text *rest)
{
	struct text s = {rest->at, NULL};

	while (rest->at < rest->end && !strchr("\n;#", *rest->at) &&
	       !is_alternative(rest))
		rest->at++;
	s.end = rest->at;
	if (rest->at == rest->end)
		return s;
	if (*rest->at == '#')
		while (rest->at < rest->end && *rest->at != '\n')
			rest->at++;
	else
		rest->at += *rest->at == '$' ? 2 : 1;
	return s;
}

/* A word of letters, digits and what names are made of, such as `call` or
 * `.Lagain${:uid}`. */
static struct text next_word(struct text *s)
{
	struct text word;

	skip_blanks(s);
	word.at = s->at;
	while (s->at < s->end) {
		if (starts_with(s, "${:uid}"))
			s->at += strlen("${:uid}");
		else if (isalnum((unsigned char)*s->at) ||
		         strchr("_.$@", *s->at))
			s->at++;
		else
			break;
	}
	word.end = s->at;
	return word;
}

static bool are_equal(const struct text *a, const struct text *b)
{
	size_t n = (size_t)(a->end - a->at);

	return n == (size_t)(b->end - b->at) && !memcmp(a->at, b->at, n);
}

/* Takes a label off a statement, if it begins with one. */
static bool next_label(struct text *s, struct text *label)
{
	struct text rest = *s;

	*label = next_word(&rest);
	skip_blanks(&rest);
	if (label->at == label->end || rest.at == rest.end || *rest.at != ':')
		return false;
	*s = (struct text){rest.at + 1, rest.end};
	return true;
}

/* --- statements ----------------------------------------------------------- */

static bool defines(struct text rest, const struct text *name)
{
	while (rest.at < rest.end) {
		struct text s = next_statement(&rest), label;

		while (next_label(&s, &label))
			if (are_equal(&label, name))
				return true;
	}
	return false;
}

/* `1f` and `2b`: labels that are numbers. */
static bool is_numbered(const struct text *word)
{
	const char *i = word->at;

	while (i < word->end && isdigit((unsigned char)*i))
		i++;
	return i > word->at && i + 1 == word->end && strchr("fbFB", *i) != NULL;
}

/* `${0:l}`: a label of an asm goto. */
static bool is_way(const struct text *target)
{
	const char *last = target->end;

	while (last > target->at && isspace((unsigned char)last[-1]))
		last--;
	return starts_with(target, "${") && last - target->at > 3 &&
	       !strncmp(last - 3, ":l}", 3);
}

/* Is what a jump goes to in the same text?  `target`: its operands. */
static bool stays(const struct text *all, struct text target)
{
	struct text word;

	skip_blanks(&target);
	if (is_way(&target))
		return true;
	word = next_word(&target);
	skip_blanks(&target);
	if (word.at == word.end)
		return false;
	if (target.at < target.end)
		return word.end - word.at == 1 && *word.at == '.';
	return is_numbered(&word) || defines(*all, &word);
}

static bool is_prefix(const struct text *word)
{
	static const char *const prefixes[] = {
	        "lock", "rep",     "repe",   "repz",     "repne",   "repnz",
	        "bnd",  "notrack", "data16", "data32",   "addr16",  "addr32",
	        "rex",  "rex64",   "rex.w",  "cs",       "ds",      "es",
	        "fs",   "gs",      "ss",     "xacquire", "xrelease"};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (strlen(prefixes[i]) == (size_t)(word->end - word->at) &&
		    starts_with(word, prefixes[i]))
			return true;
	return false;
}

static bool begins_as(const struct text *mnemonic, const char *const *list)
{
	for (; *list; list++)
		if (starts_with(mnemonic, *list))
			return true;
	return false;
}

static const char *const returns[] = {"ret",    "lret",    "iret", "uiret",
                                      "sysret", "sysexit", NULL};

/* Takes labels, prefixes and the mnemonic off a statement. */
static struct text next_mnemonic(struct text *s)
{
	struct text word, label;

	while (next_label(s, &label))
		;
	do {
		skip_blanks(s);
		if (s->at < s->end && *s->at == '{') /* {disp32} */
			while (s->at < s->end && *s->at++ != '}')
				;
		word = next_word(s);
	} while (is_prefix(&word));
	return word;
}

/* `all`: the text that statement s is of. */
static bool leaves(const struct text *all, struct text s)
{
	static const char *const jumps[] = {"call", "lcall",  "j", "ljmp",
	                                    "loop", "xbegin", NULL};
	struct text word = next_mnemonic(&s);

	if (begins_as(&word, returns))
		return true;
	if (!begins_as(&word, jumps))
		return false;
	if (s.at < s.end && *s.at == ',') /* a hint: jne,pt */
		for (s.at++; s.at < s.end && isalpha((unsigned char)*s.at);)
			s.at++;
	return !stays(all, s);
}

bool ir_assembly_leaves(const char *text, size_t n)
{
	const struct text all = {text, text + n};
	struct text rest = all;

	while (rest.at < rest.end)
		if (leaves(&all, next_statement(&rest)))
			return true;
	return false;
}

/* --- stacks --------------------------------------------------------------- */

/* Takes an operand off a statement. */
static struct text next_operand(struct text *s)
{
	struct text operand;
	int depth = 0;

	skip_blanks(s);
	operand = (struct text){s->at, s->at};
	for (; s->at < s->end && (depth || *s->at != ','); s->at++) {
		if (strchr("([{", *s->at))
			depth++;
		else if (strchr(")]}", *s->at))
			depth--;
		if (!isspace((unsigned char)*s->at))
			operand.end = s->at + 1;
	}
	if (s->at < s->end)
		s->at++;
	return operand;
}

/* `%rsp`, or `rsp` in the other syntax. */
static bool is_register(const struct text *operand, const char *name)
{
	struct text rest = *operand;

	rest.at += starts_with(&rest, "%");
	return (size_t)(rest.end - rest.at) == strlen(name) &&
	       starts_with(&rest, name);
}

/* Or the operand of inline assembly, which may be. */
static bool is_memory(const struct text *operand)
{
	for (const char *i = operand->at; i < operand->end; i++)
		if (strchr("([:$", *i))
			return true;
	return false;
}

/* The next statement; *is_kept: the stack pointer is in memory. */
static bool hands_over(struct text s, bool *is_kept)
{
	static const char *const ends[] = {"call", "lcall", NULL};
	struct text word = next_mnemonic(&s), from, to;

	if (begins_as(&word, returns) || begins_as(&word, ends))
		*is_kept = false;
	if (!starts_with(&word, "mov") || word.end - word.at > 4)
		return false;
	from = next_operand(&s);
	to = next_operand(&s);
	if (!is_register(&from, "rsp") && !is_register(&to, "rsp"))
		return false;
	if (*(is_register(&from, "rsp") ? from : to).at != '%') {
		const struct text target = from; /* it comes first */

		from = to;
		to = target;
	}
	if (is_register(&from, "rsp")) {
		*is_kept |= is_memory(&to);
		return false;
	}
	return *is_kept && !is_register(&from, "rbp");
}

bool ir_assembly_hands_over(const char *text, size_t n)
{
	struct text rest = {text, text + n};
	bool is_kept = false;

	while (rest.at < rest.end)
		if (hands_over(next_statement(&rest), &is_kept))
			return true;
	return false;
}
