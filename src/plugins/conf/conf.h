/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vsphere.conf as lines: which record stands where, with which values. Filling
 * turns the texts into a checked struct vs_conf. No Slurm here: the plugins, svf
 * and svf-probe link the same parser.
 */
#ifndef VS_PLUGINS_CONF_CONF_H
#define VS_PLUGINS_CONF_CONF_H

#include <stddef.h>
#include "engine/state/config.h"
#include "keys.h"
#include "util/err.h"

/* A line is a number that says its file, too: file * VS_CONF_LINES + line. File 0 is
 * f->path, file N is f->files[N - 1]. */
#define VS_CONF_LINES (1 << 20)

struct vs_conf_record {
	enum vs_conf_scope scope;
	int line;			/* where it begins; 0 for the top */
	char *values[VS_CONF_KEYS];	/* by the key's index, NULL: not given */
	int lines[VS_CONF_KEYS];
};

struct vs_conf_file {
	char *path;
	bool known_only;	/* vs_conf_scan_known() */
	struct vs_conf_record *records;	/* [0] is the top's */
	size_t nrecords, cap;
	char **files;		/* paths of the included files, in order */
	size_t nfiles, files_cap;
	int depth;		/* of the Include that is being read */
};

/* Read and scan the file. -1 with "vsphere.conf line N: ..." in err; what was
 * read is to be freed in either case. */
int vs_conf_scan(struct vs_conf_file *f, const char *path, struct vs_err *err);
/* The same for a client, which may be older than slurmctld's plugin: unknown and
 * misplaced keys are passed over, with the line if they begin it. Slurm's commands
 * read slurm.conf so. Renamed and removed keys are refused: the client would take a default. */
int vs_conf_scan_known(struct vs_conf_file *f, const char *path,
		       struct vs_err *err);
void vs_conf_file_free(struct vs_conf_file *f);

/*
 * The lines of f->path, which may be slurm.conf too: fn for each, without its
 * comment and with the lines that continue it. Include is fn's. line is the number of its first.
 * fn ends it with -1, as its own error does. 0, or -1 with err.
 */
typedef int vs_conf_line_fn(void *arg, int line, const char *text,
			    struct vs_err *err);
int vs_conf_lines(const struct vs_conf_file *f, vs_conf_line_fn *fn, void *arg,
		  struct vs_err *err);
/*
 * The Key=Value at *at, which moves behind it. Returns 1 and sets key, len and
 * value, which the caller frees. Returns 0 at the end of the line, and -1 with err
 * on anything else.
 */
int vs_conf_pair(const struct vs_conf_file *f, int line, const char **at,
		 const char **key, size_t *len, char **value,
		 struct vs_err *err);

/* The n-th record of that kind, counted from 0, or NULL. */
struct vs_conf_record *vs_conf_record_get(const struct vs_conf_file *f,
					  enum vs_conf_scope scope, size_t n);

/* The key's value in the first record of that kind, or NULL. */
const char *vs_conf_value(const struct vs_conf_file *f,
			  enum vs_conf_scope scope, const char *key);

/* munge's socket in slurm.conf's AuthInfo, which may be NULL: a copy, or NULL if it
 * names none. */
char *vs_conf_munge_socket(const char *auth_info);

/* The number that the key has in the first record of that kind, into *out, which
 * stays as it is if the key isn't given. -1 with err if it is none of the key's range. */
int vs_conf_number(const struct vs_conf_file *f, enum vs_conf_scope scope,
		   const char *key, long *out, struct vs_err *err);

/* VS_E_CONFIG with "FILE line N: " in front; -1. */
int vs_conf_err(const struct vs_conf_file *f, int line, struct vs_err *err,
		const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* The line's number in its file. */
int vs_conf_line_number(int line);
/* "line 4", or "FILE line 4" if it is in another file than the line from. The caller
 * frees it. */
char *vs_conf_line_name(const struct vs_conf_file *f, int line, int from);

/* Where the record gives this key; where it begins, if it doesn't. */
int vs_conf_key_line(const struct vs_conf_record *r, const char *key);

/* How an ESXiHost= list becomes names: a malloc()ed, NULL-terminated array of
 * malloc()ed names, or NULL if it is malformed. */
typedef char **vs_conf_expand(const char *list);

/* Values into conf (which has the defaults), each checked by its row, then all
 * together. Hosts are expanded. -1 with the line and what was expected. */
int vs_conf_fill(struct vs_conf *conf, const struct vs_conf_file *f,
		 vs_conf_expand *expand, struct vs_err *err);

/* VCenterCAFile, if it is set: can be read, and holds a certificate as PEM text. */
int vs_conf_ca_check(const struct vs_conf_file *f, struct vs_err *err);
/* VCenterPasswordFile: it exists, and vs_secret_file_check() finds it to be uid's alone. */
int vs_conf_password_check(const struct vs_conf_file *f, unsigned int uid,
			   struct vs_err *err);

#endif
