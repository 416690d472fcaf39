/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_REPLAY_BROKER_H
#define CAIRN_REPLAY_BROKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

struct cairn_err;
struct outlets;

/*
 * The files of a replay.  A worker in a sandbox (sandbox.h) asks a process
 * outside of it, which hands out descriptors: for reading, of executables and
 * recordings; for writing, of files in the two folders below and of files
 * without a name.  Without a sandbox the same code is called here.
 *
 * Names in a folder have letters, digits, - and . in them, and are no paths.  A
 * folder is used only if it belongs to the user, nobody else can write there,
 * and it is no symbolic link; a file in it likewise.
 */
enum broker_folder {
	BROKER_CACHE,       /* of objects: ~/.cache/cairn */
	BROKER_CHECKPOINTS, /* of the recording: FILE.checkpoints */
};

/* What a worker may ask for.  All of it outlives the broker. */
struct broker_rights {
	const char *recording;
	const char *const *exes;
	size_t nexes;
	const char *const *parents;
	size_t nparents;
	const char *out;   /* that may be replaced, or NULL */
	bool has_no_cache; /* neither folder is used */
	bool is_quiet;     /* says nothing of folders that it does not use */
};

/* --- for workers ---------------------------------------------------------- */

/* A file of a folder, for reading; -1: it is not there. */
int broker_get(enum broker_folder folder, const char *name);

/* A file that is being written. */
struct broker_draft {
	int fd;
	unsigned number;
};

/* False: no file can be written there. */
bool broker_draft(enum broker_folder folder, struct broker_draft *d);
/* Closes it; it has this name from now on, or is gone.  False: it is gone. */
bool broker_keep(struct broker_draft *d, const char *name);
void broker_drop(struct broker_draft *d);

void broker_remove(enum broker_folder folder, const char *name);

/* The names of files, one behind the other, each with its '\0', for the caller
 * to free; *n bytes in all.  NULL: there are none. */
char *broker_names(enum broker_folder folder, size_t *n);
/* The same of the folder of a recording that may be opened. */
char *broker_names_beside(const char *path, size_t *n);

/* A file without a name, to write and read; -1: there can be none. */
int broker_scratch(void);
/* The same; NULL: there can be none. */
FILE *broker_scratch_file(void);

/* Ends a process that the worker itself made. */
void broker_kill(pid_t child);

/* --- for the sandbox -------------------------------------------------------
 */

/* Files are this process's own business, within the rights. */
void broker_stay(const struct broker_rights *rights);
/* They are that of who serves the other ends of these: the first for the
 * worker, the second for its compiler (compiler.h). */
void broker_call(const int asks[2]);
/* Serves until the worker has ended; its status, as of waitpid. */
int broker_serve(int asks[2], pid_t worker, const struct broker_rights *rights,
                 struct outlets *outlets);

/* --- for the compiler ------------------------------------------------------
 */

/* Is there a broker, in another process? */
bool broker_is_apart(void);
/* A process that will not compile gives up what only the compiler may; */
void broker_leave_compiler(void);
/* the one that will, takes it. */
void broker_call_as_compiler(void);

#endif /* CAIRN_REPLAY_BROKER_H */
