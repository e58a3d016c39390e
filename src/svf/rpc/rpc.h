/* SPDX-License-Identifier: GPL-2.0-or-later */
/* svf: whom to ask, how, and what svf exits with. Nothing here knows a verb. */
#ifndef SVF_RPC_H
#define SVF_RPC_H

#include <stdint.h>
#include "util/buf.h"
#include "util/err.h"
#include "util/json.h"

enum {				/* exit codes, documented in svf(1) */
	SVF_OK = 0,
	SVF_NO = 1,		/* answered: no such job, not allowed */
	SVF_USAGE = 2,
	SVF_AWAY = 3,		/* no controller answers */
	SVF_AUTH = 4,		/* munge refuses */
	SVF_CONF = 5,		/* a file has an error, or can't be written */
};

#define SVF_PORT 6828		/* SvfPort's default */

/* ---- where.c: whom to ask ---------------------------------------------- */
#define SVF_ENDS 8
struct svf_where {
	struct {
		char *host;	/* to connect to */
		char *name;	/* SlurmctldHost's name; NULL: not known */
		int port;
	} ends[SVF_ENDS];	/* in order */
	int nends;
	char *munge_socket;	/* NULL: libmunge's own */
	char *slurm_user;	/* "root" as in Slurm if slurm.conf has none;
				 * NULL: slurm.conf can't be read */
	char *cluster;		/* ClusterName, NULL: not known */
	char *slurm_conf, *vsphere_conf;	/* paths, there or not */
};
/* Returns 0. Returns -1 with VS_E_REQUEST if SVF_CONTROL is wrong, VS_E_CONFIG if
 * vsphere.conf is. The paths are set, and w is to be freed, in either case. */
int svf_where(struct svf_where *w, struct vs_err *err);
void svf_where_free(struct svf_where *w);
/* Adds each line of slurm.conf or vsphere.conf, and of what it includes, to text:
 * without comment, and with the lines that continue it. Returns 0. Returns -1 if the file can't be read. */
int svf_conf_text(const char *path, struct vs_buf *text);

/* ---- ask.c ------------------------------------------------------------- */
/* The report into *doc, an exit code and an error line on stderr otherwise. */
int svf_ask(const char *verb, uint32_t job, const char *name,
	    struct vs_jdoc *doc);
/* Can a question be sent at all: are slurm.conf and vsphere.conf as they must be?
 * Returns SVF_OK, or an exit code after its line. */
int svf_ask_ready(void);
/* The same about nodes, as Slurm lists them. */
int svf_ask_nodes(const char *verb, const char *nodes, struct vs_jdoc *doc);
/* The same for an operator's order about a node or host (or none: ""), and
 * why ("": not said). */
int svf_request(const char *verb, const char *name, const char *text,
		struct vs_jdoc *doc);
/* The same, to be done at a time (s since the epoch; 0: now). */
int svf_request_at(const char *verb, const char *name, const char *text,
		   int64_t at, struct vs_jdoc *doc);
/* An order for nodes, as Slurm lists them, and why. */
int svf_request_nodes(const char *verb, const char *nodes, const char *text,
		      struct vs_jdoc *doc);

/* ---- usage_error.c ------------------------------------------------------ */
/* Prints "svf: VERB: " (NULL: "svf: ") and the text, then where help is. Returns
 * SVF_USAGE. */
int svf_wrong(const char *verb, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
int svf_try(void);	/* Prints where help is. Returns SVF_USAGE. */

/* ---- clean.c ------------------------------------------------------------ */
/* Replaces characters that could control a terminal by '?', in place. Returns
 * s. Texts come from vCenter and from the process that answers. */
char *svf_clean(char *s);

#endif
