/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a command line of clang: is code generated, is something linked, what
 * kind of file comes out, and what in it would keep marks from working.
 *
 * One pass over the words.  A word is an option with a separate argument (then
 * the next word is that argument, whatever it looks like), one of the flags in
 * the table below, or an input.  Every other option is clang's business.
 *
 * Invariant: the driver calls a step a link exactly when clang would run the
 * linker, for an addition to any other step could turn it into one: -Xlinker
 * is an input to clang.  tests/driver/options.sh asks clang about the table of
 * separate arguments; tests/driver/goals.sh about the rest.
 * Cost: O(words * table).
 */
#include "driver/scan.h"

#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "driver/option.h"
#include "driver/words.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* Options whose argument is the next word when they stand alone. */
static const char *const separate[] = {
        "--CLASSPATH",
        "--analyzer-output",
        "--assert",
        "--bootclasspath",
        "--classpath",
        "--config",
        "--define-macro",
        "--dyld-prefix",
        "--encoding",
        "--extdirs",
        "--for-linker",
        "--force-link",
        "--imacros",
        "--include",
        "--include-directory",
        "--include-directory-after",
        "--include-prefix",
        "--include-with-prefix",
        "--include-with-prefix-after",
        "--include-with-prefix-before",
        "--language",
        "--library-directory",
        "--output",
        "--output-class-directory",
        "--param",
        "--prefix",
        "--resource",
        "--rtlib",
        "--serialize-diagnostics",
        "--std",
        "--stdlib",
        "--sysroot",
        "--system-header-prefix",
        "--no-system-header-prefix",
        "--undefine-macro",
        "--vfsoverlay",
        "-A",
        "-B",
        "-D",
        "-F",
        "-G",
        "-I",
        "-L",
        "-MF",
        "-MJ",
        "-MQ",
        "-MT",
        "-T",
        "-U",
        "-Xanalyzer",
        "-Xassembler",
        "-Xclang",
        "-Xcuda-fatbinary",
        "-Xcuda-ptxas",
        "-Xlinker",
        "-Xoffload-linker",
        "-Xopenmp-target",
        "-Xpreprocessor",
        "-arch",
        "-arcmt-migrate-report-output",
        "-b",
        "-ccc-arcmt-migrate",
        "-ccc-gcc-name",
        "-ccc-install-dir",
        "-ccc-objcmt-migrate",
        "-cxx-isystem",
        "-darwin-target-variant",
        "-darwin-target-variant-triple",
        "-dependency-dot",
        "-dependency-file",
        "-dsym-dir",
        "-dumpdir",
        "-e",
        "-fdebug-compilation-dir",
        "-fexperimental-openacc-macro-override",
        "-filelist",
        "-fmodules-user-build-path",
        "-framework",
        "-ftrapv-handler",
        "-gen-cdb-fragment-path",
        "-hlsl-entry",
        "-iapinotes-modules",
        "-idirafter",
        "-iframework",
        "-iframeworkwithsysroot",
        "-imacros",
        "-imultilib",
        "-include",
        "-include-pch",
        "-iprefix",
        "-iquote",
        "-isysroot",
        "-isystem",
        "-isystem-after",
        "-ivfsoverlay",
        "-iwithprefix",
        "-iwithprefixbefore",
        "-iwithsysroot",
        "-l",
        "-meabi",
        "-mllvm",
        "-mmlir",
        "-module-dependency-dir",
        "-mthread-model",
        "-o",
        "-object-file-name",
        "-resource-dir",
        "-rpath",
        "-serialize-diagnostics",
        "-specs",
        "-stdlib++-isystem",
        "-target",
        "-u",
        "-undefined",
        "-validator-version",
        "-vfsoverlay",
        "-working-directory",
        "-x",
        "-z",
};

enum effect {
	QUERY,
	PARSE,
	OBJECT,
	RELOCATABLE,
	SHARED,
	NO_DYNAMIC,
	NO_LIBRARIES,
	NO_START,
	NO_STDLIB,
	LTO_ON,
	LTO_OFF,
	SPLIT_ON,
	SPLIT_OFF,
	ASSEMBLER_FOREIGN,
	ASSEMBLER_OWN,
	MACHINE_32,
	MACHINE_64,
	EMBED_ON,
	EMBED_OFF,
	EMIT_BITCODE,
	PIE_ON,
	PIE_OFF,
};

static const struct flag {
	const char *name;
	enum effect effect;
} flags[] = {
        {"--help", QUERY},
        {"-help", QUERY},
        {"--help-hidden", QUERY},
        {"--version", QUERY},
        {"-dumpmachine", QUERY},
        {"-dumpversion", QUERY},
        {"-dumpspecs", QUERY},
        {"-cc1", QUERY},
        {"-cc1as", QUERY},
        {"-E", PARSE},
        {"--preprocess", PARSE},
        {"-M", PARSE},
        {"--dependencies", PARSE},
        {"-MM", PARSE},
        {"--user-dependencies", PARSE},
        {"-fsyntax-only", PARSE},
        {"--precompile", PARSE},
        {"--analyze", PARSE},
        {"--migrate", PARSE},
        {"-rewrite-objc", PARSE},
        {"-rewrite-legacy-objc", PARSE},
        {"-emit-ast", PARSE},
        {"-extract-api", PARSE},
        {"-verify-pch", PARSE},
        {"-module-file-info", PARSE},
        {"-c", OBJECT},
        {"--compile", OBJECT},
        {"-S", OBJECT},
        {"--assemble", OBJECT},
        {"-r", RELOCATABLE},
        {"-shared", SHARED},
        {"--shared", SHARED},
        {"-static", NO_DYNAMIC},
        {"--static", NO_DYNAMIC},
        {"-pie", PIE_ON},
        {"-fpie", PIE_ON},
        {"-fPIE", PIE_ON},
        {"-fpic", PIE_ON},
        {"-fPIC", PIE_ON},
        {"-no-pie", PIE_OFF},
        {"-nopie", PIE_OFF},
        {"-fno-pie", PIE_OFF},
        {"-fno-PIE", PIE_OFF},
        {"-fno-pic", PIE_OFF},
        {"-fno-PIC", PIE_OFF},
        {"-static-pie", NO_DYNAMIC},
        {"--static-pie", NO_DYNAMIC},
        {"-nodefaultlibs", NO_LIBRARIES},
        {"-nolibc", NO_LIBRARIES},
        {"-nostartfiles", NO_START},
        {"-nostdlib", NO_STDLIB},
        {"--no-standard-libraries", NO_STDLIB},
        {"-flto", LTO_ON},
        {"-fno-lto", LTO_OFF},
        {"-fsplit-machine-functions", SPLIT_ON},
        {"-fno-split-machine-functions", SPLIT_OFF},
        {"-fno-integrated-as", ASSEMBLER_FOREIGN},
        {"-no-integrated-as", ASSEMBLER_FOREIGN},
        {"-fintegrated-as", ASSEMBLER_OWN},
        {"-integrated-as", ASSEMBLER_OWN},
        {"-m32", MACHINE_32},
        {"-mx32", MACHINE_32},
        {"-m16", MACHINE_32},
        {"-m64", MACHINE_64},
        {"-fembed-bitcode", EMBED_ON},
        {"-fembed-bitcode=all", EMBED_ON},
        {"-fembed-bitcode=bitcode", EMBED_ON},
        {"-fembed-bitcode=marker", EMBED_OFF},
        {"-fembed-bitcode=off", EMBED_OFF},
        {"-fembed-bitcode-marker", EMBED_OFF},
        {"-emit-llvm", EMIT_BITCODE},
};

/* What the pass keeps besides the result. */
struct state {
	struct scan *s;
	bool header_language; /* -x c-header and its like is in force */
	bool other_language;  /* any other -x is */
	bool assembler;       /* it is that of assembler */
	bool makes_code;      /* some input is not just assembled or linked */
	bool emits_bitcode;
	bool parse, object, query;
	bool splits_blocks;
	size_t ninputs, nheaders;
};

static bool starts(const char *word, const char *prefix)
{
	return strncmp(word, prefix, strlen(prefix)) == 0;
}

static bool ends(const char *word, const char *suffix)
{
	size_t n = strlen(word), m = strlen(suffix);

	return n >= m && strcmp(word + n - m, suffix) == 0;
}

static bool takes_next(const char *word)
{
	for (size_t i = 0; i < COUNT(separate); i++)
		if (strcmp(word, separate[i]) == 0)
			return true;
	return starts(word, "-Xarch_") || starts(word, "-Xopenmp-target=");
}

static void apply(struct state *st, enum effect effect, const char *word)
{
	struct scan *s = st->s;

	switch (effect) {
	case QUERY:
		st->query = true;
		break;
	case PARSE:
		st->parse = true;
		break;
	case OBJECT:
		st->object = true;
		break;
	case RELOCATABLE:
		s->relocatable = true;
		break;
	case SHARED:
		s->shared = true;
		break;
	case NO_DYNAMIC:
		s->no_dynamic = true;
		break;
	case NO_STDLIB:
		s->no_libraries = true;
		s->no_start = true;
		break;
	case NO_LIBRARIES:
		s->no_libraries = true;
		break;
	case NO_START:
		s->no_start = true;
		break;
	case LTO_ON:
	case LTO_OFF:
		s->lto = effect == LTO_ON;
		break;
	case SPLIT_ON:
	case SPLIT_OFF:
		s->splits_functions = effect == SPLIT_ON;
		break;
	case ASSEMBLER_FOREIGN:
	case ASSEMBLER_OWN:
		s->foreign_assembler = effect == ASSEMBLER_FOREIGN;
		break;
	case MACHINE_32:
	case MACHINE_64:
		s->not_x86_64 = effect == MACHINE_32 ? word : NULL;
		break;
	case EMBED_ON:
	case EMBED_OFF:
		s->embeds = effect == EMBED_ON ? word : NULL;
		break;
	case EMIT_BITCODE:
		st->emits_bitcode = true;
		break;
	case PIE_ON:
	case PIE_OFF:
		s->no_pie = effect == PIE_OFF ? word : NULL;
		break;
	}
}

static void add_wrap(struct scan *s, const char *name, size_t n)
{
	VEC_RESERVE(s->wraps, s->nwraps, s->wraps_cap);
	s->wraps[s->nwraps++] = xstrndup(name, n);
}

/* One word that clang hands to the linker: part of -Wl, or of -Xlinker. */
static void linker_word(struct scan *s, const char *word, size_t n)
{
	static const struct flag known[] = {
	        {"r", RELOCATABLE},     {"i", RELOCATABLE},
	        {"shared", SHARED},     {"relocatable", RELOCATABLE},
	        {"Bshareable", SHARED},
	};
	static const char build_id[] = "build-id";
	size_t dashes = n > 1 && word[1] == '-' ? 2 : 1;

	if (s->expects_wrap) {
		s->expects_wrap = false;
		add_wrap(s, word, n);
		return;
	}
	if (n <= dashes || word[0] != '-')
		return;
	word += dashes; /* the linker takes one dash or two for a long name */
	n -= dashes;
	for (size_t i = 0; i < COUNT(known); i++)
		if (strlen(known[i].name) == n &&
		    memcmp(word, known[i].name, n) == 0)
			*(known[i].effect == SHARED ? &s->shared
			                            : &s->relocatable) = true;
	s->expects_wrap = n == 4 && memcmp(word, "wrap", 4) == 0;
	if (n > 5 && memcmp(word, "wrap=", 5) == 0)
		add_wrap(s, word + 5, n - 5);
	if (n >= strlen(build_id) &&
	    memcmp(word, build_id, strlen(build_id)) == 0)
		s->keeps_build_id = n != strlen("build-id=none") ||
		                    memcmp(word, "build-id=none", n) != 0;
}

static void linker_words(struct state *st, const char *list)
{
	st->ninputs++;
	for (;;) {
		size_t n = strcspn(list, ",");

		linker_word(st->s, list, n);
		if (!list[n])
			return;
		list += n + 1;
	}
}

static void set_target(struct scan *s, const char *word, const char *triple)
{
	bool ours = (starts(triple, "x86_64-") || starts(triple, "amd64-")) &&
	            strstr(triple, "-linux");

	s->not_x86_64 = ours ? NULL : word;
	s->musl = strstr(triple, "-musl") ? word : NULL;
}

/* Is it in a folder of musl, or its loader?  The runtime needs glibc. */
static bool is_of_musl(const char *word)
{
	return strstr(word, "-linux-musl/") || strstr(word, "/ld-musl-");
}

static void set_language(struct state *st, const char *language)
{
	st->header_language = ends(language, "-header");
	st->other_language =
	        !st->header_language && strcmp(language, "none") != 0;
	st->assembler = starts(language, "assembler");
}

static bool ends_in(const char *name, const char *const *suffix, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (ends(name, suffix[i]))
			return true;
	return false;
}

static void input(struct state *st, const char *name)
{
	static const char *const headers[] = {".h", ".hh", ".hpp", ".hxx",
	                                      ".H"};
	static const char *const linked[] = {".o", ".lo", ".a", ".so"};
	static const char *const assembled[] = {".s", ".S", ".sx"};
	bool by_name = !st->header_language && !st->other_language;

	st->ninputs++;
	st->nheaders += st->header_language ||
	                (by_name && ends_in(name, headers, COUNT(headers)));
	if (by_name &&
	    (ends_in(name, linked, COUNT(linked)) || strstr(name, ".so.")))
		return;
	st->s->compiles = true;
	if (!st->assembler &&
	    !(by_name && ends_in(name, assembled, COUNT(assembled))))
		st->makes_code = true;
}

/* An option that takes the next word. */
static void option_with(struct state *st, const char *word, const char *next)
{
	if (strcmp(word, "-x") == 0 || strcmp(word, "--language") == 0)
		set_language(st, next);
	else if (strcmp(word, "-target") == 0)
		set_target(st->s, word, next);
	else if (strcmp(word, "-l") == 0 || strcmp(word, "-z") == 0 ||
	         strcmp(word, "-e") == 0)
		st->ninputs++;
	else if (strcmp(word, "-Xlinker") == 0 ||
	         strcmp(word, "--for-linker") == 0) {
		st->ninputs++;
		linker_word(st->s, next, strlen(next));
	} else if (strcmp(word, "-Xclang") == 0 &&
	           (strcmp(next, "-disable-llvm-passes") == 0 ||
	            strcmp(next, "-disable-llvm-optzns") == 0))
		st->s->skips_passes = next;
}

/* One that names a profile to optimize by, or takes it back. */
static bool option_profile(struct scan *s, const char *word)
{
	static const char *const names[] = {
	        "profile-use",
	        "profile-instr-use",
	        "profile-sample-use",
	        "auto-profile",
	};
	bool is_off = starts(word, "-fno-");
	const char *name = word + (is_off ? 5 : 2);

	if (!is_off && !starts(word, "-f"))
		return false;
	for (size_t i = 0; i < COUNT(names); i++) {
		size_t n = strlen(names[i]);

		if (!starts(name, names[i]) || (name[n] && name[n] != '='))
			continue;
		s->profile_use = is_off ? NULL : word;
		return true;
	}
	return false;
}

/* An option whose value is joined to it; false if it is none of these. */
static bool option_joined(struct state *st, const char *word)
{
	struct scan *s = st->s;

	if (starts(word, "-Wl,"))
		linker_words(st, word + 4);
	else if (starts(word, "-l"))
		st->ninputs++;
	else if (starts(word, "-x"))
		set_language(st, word + 2);
	else if (starts(word, "--language="))
		set_language(st, word + 11);
	else if (starts(word, "--target="))
		set_target(s, word, word + 9);
	else if (starts(word, "-flto="))
		s->lto = true;
	else if (starts(word, "-fuse-ld="))
		s->linker = word + 9;
	else if (starts(word, "--ld-path="))
		s->linker = word + 10;
	else if (starts(word, "-fbasic-block-sections="))
		st->splits_blocks =
		        !ends(word, "=none") && !ends(word, "=labels");
	else if ((starts(word, "-print-") || starts(word, "--print-") ||
	          starts(word, "--autocomplete=")) &&
	         strcmp(word, "-print-ivar-layout") != 0)
		st->query = true;
	else
		return option_profile(s, word);
	return true;
}

static void option_alone(struct state *st, const char *word)
{
	for (size_t i = 0; i < COUNT(flags); i++) {
		if (strcmp(word, flags[i].name) == 0) {
			apply(st, flags[i].effect, word);
			st->s->version |= strcmp(word, "--version") == 0;
			return;
		}
	}
	option_joined(st, word);
}

static enum scan_goal goal_of(const struct state *st)
{
	if (st->query || st->ninputs == 0)
		return SCAN_QUERY;
	if (st->parse || st->nheaders == st->ninputs)
		return SCAN_PARSE;
	return st->object ? SCAN_OBJECT : SCAN_LINK;
}

/* Everything from words[i] on is an input, even if it begins with a dash. */
static void rest_is_input(struct state *st, const struct words *w, size_t i)
{
	st->s->inputs_from = w->items[i].origin;
	while (++i < w->n)
		input(st, w->items[i].text);
}

int scan_words(struct scan *s, struct words *w, struct option *o,
               struct cairn_err *err)
{
	struct state st = {.s = s};

	*s = (struct scan){.inputs_from = SIZE_MAX};
	for (size_t i = 0; i < w->n; i++) {
		const char *word = w->items[i].text;

		if (is_of_musl(word))
			s->musl = word;
		if (strcmp(word, "--") == 0) {
			rest_is_input(&st, w, i);
			break;
		}
		if (option_is_ours(word)) {
			w->items[i].own = true;
			CAIRN_TRY(option_take(o, word, err));
		} else if (word[0] != '-' || word[1] == '\0') {
			input(&st, word);
		} else if (takes_next(word)) {
			if (++i < w->n)
				option_with(&st, word, w->items[i].text);
			else
				st.query = true; /* clang will complain */
		} else {
			option_alone(&st, word);
		}
	}
	CAIRN_TRY(option_check(o, err));
	s->goal = goal_of(&st);
	s->splits_functions |= st.splits_blocks;
	/* Bitcode is put beside code only, and clang has no use for it with
	 * LTO. */
	if (!st.makes_code || st.emits_bitcode || s->lto)
		s->embeds = NULL;
	return 0;
}
