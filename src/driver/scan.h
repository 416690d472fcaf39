/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_DRIVER_SCAN_H
#define CAIRN_DRIVER_SCAN_H

#include <stdbool.h>
#include <stddef.h>

struct cairn_err;
struct option;
struct words;

/* How far clang will go; a later member goes further. */
enum scan_goal {
	SCAN_QUERY,  /* --version, -print-...: nothing is compiled */
	SCAN_PARSE,  /* -E, -M, -fsyntax-only, headers: no code is made */
	SCAN_OBJECT, /* -c, -S: code is made, nothing is linked */
	SCAN_LINK,
};

/* What a command line of clang says, as far as the driver must know. */
struct scan {
	enum scan_goal goal;
	bool compiles;    /* some input is more than an object or a library */
	bool version;     /* --version was among the words */
	bool relocatable; /* the link makes an object file: -r */
	bool shared;      /* ... a shared object */
	bool no_dynamic;  /* ... has no dynamic symbols: -static, -static-pie */
	bool no_libraries; /* ... without clang's own libraries: -nostdlib */
	bool no_start;     /* ... without the C library's start-up files */
	bool lto;
	bool keeps_build_id;      /* the user chose one, and not "none" */
	bool splits_functions;    /* code of a function in several sections */
	bool foreign_assembler;   /* -fno-integrated-as */
	const char *linker;       /* -fuse-ld= or --ld-path=, or NULL */
	const char *not_x86_64;   /* the word that asks for another machine */
	const char *musl;         /* the word that names that C library */
	const char *profile_use;  /* the word that names a profile of clang's */
	const char *skips_passes; /* the word that turns the optimizer off */
	const char *embeds;       /* the word that puts bitcode beside code */
	const char *no_pie;       /* the word that asks for fixed addresses */
	/* Names that the linker replaces: --wrap. */
	char **wraps;
	size_t nwraps, wraps_cap;
	bool expects_wrap; /* the next word is one */
	/* Words with an origin from here on are inputs by themselves: "--".
	 * What is added has to go before.  SIZE_MAX if there is none. */
	size_t inputs_from;
};

/*
 * Reads the words in order, gives those that are ours to *o and marks them.
 * Fails:  CAIRN_E_USAGE, CAIRN_E_ABSENT from option_take().
 */
int scan_words(struct scan *s, struct words *w, struct option *o,
               struct cairn_err *err);

#endif /* CAIRN_DRIVER_SCAN_H */
