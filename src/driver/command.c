/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command line of clang with marks.
 *
 * Compiling: the plugin is loaded twice over, by -load so that its options are
 * known when clang parses them, and by -fpass-plugin so that it joins the
 * optimizer.  Its options travel through -Xclang: as -mllvm of the driver they
 * would reach the assembler, which loads no plugin and refuses them.
 *
 * Linking: a build id, by which a profile finds its executable again; the
 * runtime, behind the user's libraries; from an executable the symbols that
 * must exist once in the process, or must be found before the C library's.
 * The latter are in an archive of their own, which a shared object must not
 * see: it would satisfy the calls that are to reach the executable's.
 * They go through -Xlinker: a path may hold commas, and after -x even an
 * archive would be compiled.
 *
 * With LTO code is made at link time, and only lld loads a plugin there.
 *
 * Invariant: everything that is added stands between
 * --start-no-unused-arguments and its end, after all options of the user and
 * before a "--" of his, so that no addition brings a warning and none of his
 * options is lost.
 */
#include "driver/command.h"

#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "abi/map.h"
#include "abi/record.h"
#include "abi/rt.h"
#include "abi/trace.h"
#include "base/alloc.h"
#include "base/err.h"
#include "driver/option.h"
#include "driver/scan.h"
#include "driver/words.h"
#include "format/listed.h"
#include "format/map.h"
#include "format/profile.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/*
 * The runtime of an executable: a member of its archive that stands for the C
 * library behind our hooks, and brings them in.
 */
#define MEMBER_DYNAMIC "__cairn_dynamic"
#define MEMBER_STATIC "__cairn_static"
/* Says that what threads wait in is wrapped. */
#define MEMBER_WAITS "__cairn_waits_member"
/* Looks at where a program that is recorded maps memory. */
#define MEMBER_MAP "__cairn_map_member"
/* Say what it writes to stdout and stderr. */
#define MEMBER_OUTPUT_DYNAMIC "__cairn_output_dynamic"
#define MEMBER_OUTPUT_STATIC "__cairn_output_static"
/* A shared object's, by one of the names in it. */
#define MEMBER_UNHOOKED "__wrap_longjmp"

/*
 * What an executable shows to the shared objects of its process: what must
 * exist once, and what must be found before the C library's function of that
 * name.  All that the runtime defines with default visibility;
 * tests/driver/symbols.sh compares.
 */
static const char *const exported[] = {
        CAIRN_RT_THREAD, "_Exit",    "__longjmp_chk", "__sysv_signal",
        "__vfork",       "_exit",    "_longjmp",      "bsd_signal",
        "execl",         "execle",   "execlp",        "execv",
        "execve",        "execveat", "execvp",        "execvpe",
        "fexecve",       "longjmp",  "sigaction",     "siginterrupt",
        "siglongjmp",    "signal",   "sigset",        "ssignal",
        "sysv_signal",   "vfork",
};

/* The same of a program that is recorded. */
static const char *const exported_record[] = {
        CAIRN_RT_RECORD, "mmap",    "mmap64", "mremap",
        "munmap",        "madvise", "sbrk",   "shmat",
};

/* And what such a program writes to stdout and stderr with, all that
 * runtime/output.h names: exported, or wrapped in a static one. */
static const char *const outputs[] = {
        "__dprintf_chk",  "__fprintf_chk",   "__overflow",
        "__printf_chk",   "__vdprintf_chk",  "__vfprintf_chk",
        "__vprintf_chk",  "dprintf",         "fclose",
        "fflush",         "fflush_unlocked", "fprintf",
        "fputc",          "fputc_unlocked",  "fputs",
        "fputs_unlocked", "fwrite",          "fwrite_unlocked",
        "perror",         "printf",          "putc",
        "putc_unlocked",  "putchar",         "putchar_unlocked",
        "puts",           "vdprintf",        "vfprintf",
        "vprintf",        "write",           "writev",
};

/*
 * What a shared object calls through unhooked.S: those of the above after which
 * frames are gone and the process goes on.
 */
static const char *const unhooked[] = {
        "longjmp",       "_longjmp", "siglongjmp",
        "__longjmp_chk", "vfork",    "__vfork",
};

static void add_xclang(struct argv *out, const char *word)
{
	argv_add(out, "-Xclang");
	argv_add(out, word);
}

static void add_linker(struct argv *out, const char *word)
{
	argv_add(out, "-Xlinker");
	argv_add(out, word);
}

static void add_llvm(struct argv *out, const char *word)
{
	add_xclang(out, "-mllvm");
	add_xclang(out, word);
}

/* Does the plugin have something to tell who asks for it? */
static bool has_remarks(const struct option *o)
{
	return o->verbose && (o->sets || o->interest);
}

static const char *mode_word(const struct option *o)
{
	return xasprintf(
	        "-cairn-mode=%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s"
	        "%s%s%s%s%s%s%s%s%s%s%s%s%s",
	        option_mode(o), o->overlap ? ",overlap" : "",
	        o->overlap ? o->degree : "",
	        o->iterations ? ",iterations=" : "",
	        o->iterations ? o->iterations : "", o->chains ? ",chains=" : "",
	        o->chains ? o->chains : "", o->calls ? ",calls=" : "",
	        o->calls ? o->calls : "", o->grow ? ",grow=" : "",
	        o->grow ? o->grow : "", o->last ? ",last=" : "",
	        o->last ? o->last : "", o->memory ? ",memory=" : "",
	        o->memory ? o->memory : "", o->witness ? ",witness" : "",
	        o->path_ids ? ",paths" : "", o->log ? ",log" : "",
	        o->slow ? ",slow" : "", o->strict ? ",strict" : "",
	        o->all ? ",all" : "", o->nogs ? ",nogs" : "",
	        o->others ? ",others" : "", o->sets ? o->sets : "",
	        has_remarks(o) ? ",remarks" : "", o->top ? ",top=" : "",
	        o->top ? o->top : "", o->share ? ",share=" : "",
	        o->share ? o->share : "", o->weights ? ",weights=" : "",
	        o->weights ? o->weights : "");
}

static void add_plugin(struct argv *out, const struct command_tools *t,
                       const struct option *o)
{
	add_xclang(out, "-load");
	add_xclang(out, t->plugin);
	argv_add(out, xasprintf("-fpass-plugin=%s", t->plugin));
	if (!o->use)
		return;
	add_llvm(out, xasprintf("-cairn-use=%s", o->use));
	/* make compiles again when the profile is a new one */
	add_xclang(out, xasprintf("-fdepfile-entry=%s", o->use));
}

static void add_compile(struct argv *out, const struct command_tools *t,
                        const struct option *o, const struct scan *s)
{
	add_plugin(out, t, o);
	if (o->none)
		return;
	add_llvm(out, mode_word(o));
	if (o->feedback)
		add_llvm(out, xasprintf("-cairn-feedback=%s", o->feedback));
	if (o->interest)
		add_llvm(out, xasprintf("-cairn-interest=%s", o->interest));
	if (has_remarks(o))
		argv_add(out, "-Rremark-backend-plugin");
	if (o->source_stage)
		add_llvm(out, "-cairn-stage=source");
	if (s->lto)
		add_llvm(out, "-cairn-lto");
	if (s->foreign_assembler)
		argv_add(out, "-fintegrated-as"); /* as knows no probes */
	if (s->splits_functions) {
		/* An address then no longer tells the function's block. */
		argv_add(out, "-fno-split-machine-functions");
		argv_add(out, "-fbasic-block-sections=none");
	}
}

static bool is_lld(const char *linker)
{
	const char *slash = strrchr(linker, '/');

	return strstr(slash ? slash : linker, "lld") != NULL;
}

static void add_exported(struct argv *out, const char *name)
{
	add_linker(out, xasprintf("--export-dynamic-symbol=%s", name));
}

/* What only a program gets that is recorded. */
static void add_recorded(struct argv *out, const struct command_tools *t,
                         const struct scan *s)
{
	add_linker(out, "--undefined=" MEMBER_MAP);
	add_linker(out, s->no_dynamic ? "--undefined=" MEMBER_OUTPUT_STATIC
	                              : "--undefined=" MEMBER_OUTPUT_DYNAMIC);
	/* tells when a thread ends; nothing else may bring it in */
	if (s->no_dynamic)
		add_linker(out, "--undefined=__cxa_thread_atexit_impl");
	for (size_t i = 0; i < COUNT(outputs); i++)
		if (s->no_dynamic)
			add_linker(out, xasprintf("--wrap=%s", outputs[i]));
		else
			add_exported(out, outputs[i]);
	if (!s->no_dynamic)
		add_linker(out, t->output);
}

/* What a program gets that a shared object does not. */
static void add_executable(struct argv *out, const struct command_tools *t,
                           const struct option *o, const struct scan *s)
{
	add_linker(out, "--wrap=_Fork");
	if (s->no_dynamic) {
		add_linker(out, "--undefined=" MEMBER_STATIC);
		add_linker(out, "--eh-frame-hdr"); /* clang leaves it out */
	} else {
		add_linker(out, "--undefined=" MEMBER_DYNAMIC);
		for (size_t i = 0; i < COUNT(exported); i++)
			add_exported(out, exported[i]);
		for (size_t i = 0; o->record && i < COUNT(exported_record); i++)
			add_exported(out, exported_record[i]);
	}
	if (o->record)
		add_recorded(out, t, s);
	add_linker(out, t->executable); /* before the rest, which it needs */
}

/* What a shared object gets that a program does not. */
static void add_shared(struct argv *out)
{
	for (size_t i = 0; i < COUNT(unhooked); i++)
		add_linker(out, xasprintf("--wrap=%s", unhooked[i]));
}

/*
 * What the objects will need, said beforehand.  Behind a "--" there is no place
 * for the runtime, so it comes before them; and with LTO they need it only
 * after lld has defined the symbols of its own that the runtime asks for.
 */
static void add_needs(struct argv *out, const struct command_tools *t,
                      const struct option *o, const struct scan *s)
{
	add_linker(out, "--undefined=" CAIRN_RT_SLOW);
	if (o->trace)
		add_linker(out, "--undefined=" CAIRN_RT_TRACE_ROOM);
	if (o->record) {
		add_linker(out, "--undefined=" CAIRN_RT_RECORD_ENTER);
		add_linker(out, "--undefined=" CAIRN_RT_RECORD_COPY);
	}
	if (s->inputs_from == SIZE_MAX)
		return;
	add_linker(out, "--undefined=" CAIRN_RT_COMMON);
	add_linker(out, "--undefined=" CAIRN_RT_PERSONALITY);
	if (t->cxx)
		add_linker(out, "--undefined=" CAIRN_RT_GXX_PERSONALITY);
	if (s->shared)
		add_linker(out, "--undefined=" MEMBER_UNHOOKED);
	else
		add_linker(out, "--undefined=" CAIRN_RT_DELTA);
}

/* What a thread waits in: the runtime marks it in a trace (sync.c), so that
 * threads can be put in order. */
static const char *const waits[] = {
        "pthread_mutex_lock",
        "pthread_mutex_trylock",
        "pthread_mutex_timedlock",
        "pthread_mutex_clocklock",
        "pthread_spin_lock",
        "pthread_spin_trylock",
        "pthread_rwlock_rdlock",
        "pthread_rwlock_tryrdlock",
        "pthread_rwlock_timedrdlock",
        "pthread_rwlock_clockrdlock",
        "pthread_rwlock_wrlock",
        "pthread_rwlock_trywrlock",
        "pthread_rwlock_timedwrlock",
        "pthread_rwlock_clockwrlock",
        "pthread_cond_wait",
        "pthread_cond_timedwait",
        "pthread_cond_clockwait",
        "pthread_barrier_wait",
        "pthread_once",
        "pthread_join",
        "pthread_tryjoin_np",
        "pthread_timedjoin_np",
        "pthread_clockjoin_np",
        "sem_wait",
        "sem_trywait",
        "sem_timedwait",
        "sem_clockwait",
        "mtx_lock",
        "mtx_trylock",
        "mtx_timedlock",
        "cnd_wait",
        "cnd_timedwait",
        "thrd_join",
        "call_once",
        "_ZNSt6thread4joinEv",
        "_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE",
};

static bool uses_lld(const struct scan *s)
{
	return s->lto || (s->linker && is_lld(s->linker));
}

/* Other files call a function of a trace by another name.  So they do in a
 * recording, if that is defined: now it is not.  GNU ld takes an absolute 0 for
 * one that moves with the program; lld wants all that it wraps. */
static void add_wrap(struct argv *out, const struct option *o,
                     const struct scan *s, const char *name)
{
	static const char *const symbols[] = {CAIRN_LINK_BODY,
	                                      CAIRN_LINK_ENTRY};

	if (!o->record)
		add_linker(out,
		           xasprintf("--defsym=" CAIRN_TRACE_IN "%s=__wrap_%s",
		                     name, name));
	for (size_t i = 0; o->record && i < COUNT(symbols); i++)
		add_linker(out, uses_lld(s) ? xasprintf("--defsym=%s%s=0",
		                                        symbols[i], name)
		                            : xasprintf("--wrap=%s%s",
		                                        symbols[i], name));
}

/* Marks where threads wait for each other. */
static void add_waits(struct argv *out, const struct scan *s)
{
	add_linker(out, "--undefined=" MEMBER_WAITS);
	/* the unwinder of a static program has weak references only, which
	 * bring nothing in */
	if (s->no_dynamic)
		add_linker(out, xasprintf("--undefined=__wrap_%s", waits[0]));
	else
		add_linker(out, "--wrap=dlclose"); /* sync_dl.c */
	for (size_t i = 0; i < COUNT(waits); i++)
		add_linker(out, xasprintf("--wrap=%s", waits[i]));
}

static void add_link(struct argv *out, const struct command_tools *t,
                     const struct option *o, const struct scan *s)
{
	if (s->lto && !s->linker)
		argv_add(out, "-fuse-ld=lld");
	if (uses_lld(s))
		add_linker(out, xasprintf("--load-pass-plugin=%s", t->plugin));
	if (o->inlines)
		return;
	if (!s->keeps_build_id)
		add_linker(out, "--build-id");
	if (s->lto || s->inputs_from != SIZE_MAX)
		add_needs(out, t, o, s);
	if (s->shared)
		add_shared(out);
	else
		add_executable(out, t, o, s);
	for (size_t i = 0; i < s->nwraps; i++)
		add_wrap(out, o, s, s->wraps[i]);
	if (o->trace || o->record)
		add_waits(out, s);
	add_linker(out, t->runtime);
	if (s->no_libraries) {
		/* What clang would have added, for the runtime's own needs. */
		add_linker(out, "--as-needed");
		add_linker(out, s->no_dynamic ? "-lgcc_eh" : "-lgcc_s");
		add_linker(out, "-lc");
		add_linker(out, "--no-as-needed");
	}
}

static int need_file(const char *path, struct cairn_err *err)
{
	if (access(path, R_OK) == 0)
		return 0;
	return cairn_fail(err, CAIRN_E_ABSENT,
	                  "%s is missing; install Cairn again, or use "
	                  "--cairn=none",
	                  path);
}

/* The plugin will need this file for every function: better one sentence now,
 * with our exit status, than an error of clang's in each compilation. */
static int need_profile(const char *option, const char *path,
                        struct cairn_err *err)
{
	struct cairn_err why;
	struct profile *p;
	int rc = profile_open(&p, &path, 1, NULL, &why);

	if (rc < 0)
		return cairn_fail(err, rc, "%s: %s", option, why.text);
	if (profile_is_traced(p)) /* each compilation would walk over it */
		rc = cairn_fail(err, CAIRN_E_MISMATCH,
		                "%s: %s: is a trace; make counts of it with "
		                "cairn merge -o FILE %s, and name those (for "
		                "calls=, a list, with cairn segments --list)",
		                option, path, path);
	profile_free(p);
	return rc;
}

/* What calls= goes into. */
static int need_segments(const struct option *o, struct cairn_err *err)
{
	const char *what = o->residual ? "tested" : "prefer";

	if (listed_is_one(o->interest) && !o->top && !o->share)
		return 0;
	if (listed_is_one(o->interest))
		return cairn_fail(err, CAIRN_E_USAGE,
		                  "prefer: %s: is a list; choose from it with "
		                  "--top or --share of cairn segments",
		                  o->interest);
	if (profile_is_one(o->interest))
		return need_profile(what, o->interest, err);
	return cairn_fail(err, CAIRN_E_MISMATCH,
	                  "%s: %s: is neither a list of cairn segments nor a "
	                  "profile; make one of a trace with cairn segments "
	                  "--list",
	                  what, o->interest);
}

/* prefer= may name a list, which the plugin reads. */
static int need_interest(const struct option *o, struct cairn_err *err)
{
	if (o->calls)
		return need_segments(o, err);
	if (listed_is_one(o->interest))
		return cairn_fail(err, CAIRN_E_USAGE,
		                  "%s: is a list of cairn segments, which "
		                  "calls=D is for; add it",
		                  o->interest);
	if (o->residual || profile_is_one(o->interest))
		return need_profile(o->paths ? "prefer" : "tested", o->interest,
		                    err);
	if (o->overlap)
		return cairn_fail(err, CAIRN_E_MISMATCH,
		                  "prefer: %s is no profile, and with overlap "
		                  "it has to be one of an earlier run",
		                  o->interest);
	if (!o->top && !o->share)
		return 0;
	return cairn_fail(err, CAIRN_E_USAGE,
	                  "prefer: %s is no profile, and only in a profile can "
	                  "top and share choose",
	                  o->interest);
}

static bool is_source_stage(const struct profile *p)
{
	for (uint32_t i = 0; i < p->nmodules; i++) {
		const struct map *m = p->modules[i].map;

		for (uint32_t k = 0; m && k < m->nfunctions; k++)
			if (m->functions[k].flags & CAIRN_FN_SOURCE)
				return true;
	}
	return false;
}

/* What the optimizer is to go by, and nothing else that it goes by. */
static int need_use(const struct command_tools *t, const struct option *o,
                    const struct scan *s, struct cairn_err *err)
{
	struct cairn_err why;
	struct profile *p;
	int rc;

	if (s->profile_use)
		return cairn_fail(err, CAIRN_E_USAGE,
		                  "%s is a profile, too, and the optimizer "
		                  "goes by one; leave out that or --cairn-use",
		                  s->profile_use);
	if (s->skips_passes)
		return cairn_fail(err, CAIRN_E_USAGE,
		                  "%s leaves nothing to optimize by a profile; "
		                  "leave out that or --cairn-use",
		                  s->skips_passes);
	CAIRN_TRY(need_file(t->plugin, err));
	rc = profile_open(&p, &o->use, 1, NULL, &why);
	if (rc < 0)
		return cairn_fail(err, rc, "--cairn-use: %s", why.text);
	if (!is_source_stage(p))
		rc = cairn_fail(err, CAIRN_E_MISMATCH,
		                "--cairn-use: %s: counts code that is "
		                "optimized already; compile the program with "
		                "--cairn-stage=source, and run it again",
		                o->use);
	profile_free(p);
	return rc;
}

/* Is there something in the way of marks? */
static int refuse(const struct command_tools *t, const struct option *o,
                  const struct scan *s, struct cairn_err *err)
{
	bool links = s->goal == SCAN_LINK && !s->relocatable;

	if (s->not_x86_64)
		return cairn_fail(
		        err, CAIRN_E_USAGE,
		        "marks are for x86-64 Linux, not for '%s'; use "
		        "--cairn=none",
		        s->not_x86_64);
	if (s->musl)
		return cairn_fail(err, CAIRN_E_USAGE,
		                  "marks are for programs with glibc, not with "
		                  "musl ('%s'); use --cairn=none",
		                  s->musl);
	if (s->skips_passes)
		return cairn_fail(
		        err, CAIRN_E_USAGE,
		        "%s leaves the code without marks; drop it, or "
		        "use --cairn=none",
		        s->skips_passes);
	if (s->embeds)
		return cairn_fail(
		        err, CAIRN_E_USAGE,
		        "with %s code is made from bitcode in a step "
		        "that knows no marks; drop it, or use --cairn=none",
		        s->embeds);
	/* its map would name the function that is no longer called */
	if (links && o->overlap && strcmp(o->degree, "=loops") != 0 &&
	    s->nwraps && uses_lld(s))
		return cairn_fail(
		        err, CAIRN_E_USAGE,
		        "lld and --wrap=%s: pairs of paths across its calls "
		        "would be counted for another function; use "
		        "-fuse-ld=bfd without -flto, drop --wrap, or count "
		        "with "
		        "overlap=loops",
		        s->wraps[0]);
	if (links && s->lto && s->linker && !is_lld(s->linker))
		return cairn_fail(
		        err, CAIRN_E_USAGE,
		        "with -flto marks are made by lld, not by '%s'; "
		        "use -fuse-ld=lld, or drop -flto",
		        s->linker);
	if (links && s->no_start && s->no_dynamic && !s->shared)
		return cairn_fail(err, CAIRN_E_USAGE,
		                  "a static program without the C library's "
		                  "start-up files cannot be counted; use "
		                  "--cairn=none");
	if (o->record && s->no_pie)
		return cairn_fail(err, CAIRN_E_USAGE,
		                  "a program that is recorded has to be "
		                  "position independent; drop %s, or use "
		                  "--cairn=none",
		                  s->no_pie);
	CAIRN_TRY(need_file(t->plugin, err));
	if (o->feedback && s->compiles)
		CAIRN_TRY(need_profile("--cairn-feedback", o->feedback, err));
	if (o->interest && s->compiles)
		CAIRN_TRY(need_interest(o, err));
	if (links)
		CAIRN_TRY(need_file(t->runtime, err));
	if (links && !s->shared)
		CAIRN_TRY(need_file(t->executable, err));
	if (links && !s->shared && o->record && !s->no_dynamic)
		CAIRN_TRY(need_file(t->output, err));
	return 0;
}

static void add_ours(struct argv *out, const struct command_tools *t,
                     const struct option *o, const struct scan *s)
{
	argv_add(out, "--start-no-unused-arguments");
	add_compile(out, t, o, s);
	if (!o->none && s->goal == SCAN_LINK && !s->relocatable)
		add_link(out, t, o, s);
	argv_add(out, "--end-no-unused-arguments");
}

/* A program that is recorded is position independent. */
static const char *as_pie(const char *word, const struct option *o,
                          const struct scan *s)
{
	bool is_static =
	        strcmp(word, "-static") == 0 || strcmp(word, "--static") == 0;

	return o->record && is_static && !s->shared && s->goal == SCAN_LINK &&
	                       !s->relocatable
	               ? "-static-pie"
	               : word;
}

/* Copies the words of given argument `origin`, starting at word *i. */
static void add_given(struct argv *out, const struct words *w,
                      const struct option *o, const struct scan *s, size_t *i)
{
	size_t first = *i, origin = w->items[first].origin;
	bool own = false;

	for (; *i < w->n && w->items[*i].origin == origin; ++*i)
		own = own || w->items[*i].own;
	if (!own) {
		argv_add(out, as_pie(w->given[origin], o, s));
		return;
	}
	for (; first < *i; first++)
		if (!w->items[first].own)
			argv_add(out, as_pie(w->items[first].text, o, s));
}

int command_build(const struct command_tools *t, const struct words *w,
                  const struct option *o, const struct scan *s,
                  struct argv *out, struct cairn_err *err)
{
	bool marks = !o->none && s->goal >= SCAN_OBJECT;
	bool uses = o->use && s->goal >= SCAN_OBJECT && s->compiles;
	bool adds = marks || uses;

	if (marks)
		CAIRN_TRY(refuse(t, o, s, err));
	if (uses)
		CAIRN_TRY(need_use(t, o, s, err));
	argv_add(out, t->compiler);
	if (t->cxx)
		argv_add(out, "--driver-mode=g++");
	/* clang's default, PIE, means to the plugin that there will be an
	 * executable; first, so that a word of the user's wins */
	if (marks && s->shared && s->compiles)
		argv_add(out, "-fPIC");
	else if (marks && o->record && s->compiles)
		argv_add(out, "-fPIE");
	for (size_t i = 0; i < w->n;) {
		if (adds && w->items[i].origin == s->inputs_from) {
			add_ours(out, t, o, s);
			adds = false;
		}
		add_given(out, w, o, s, &i);
	}
	if (adds)
		add_ours(out, t, o, s);
	return 0;
}
