/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whom to ask: SVF_CONTROL, else what vsphere.conf and slurm.conf say. Lines and
 * values are read by the plugins' parser: svf runs where no slurmctld is, for any
 * user. A file that isn't there or may not be read leaves the defaults. What
 * slurm.conf says is Slurm's to judge. A vsphere.conf with an error is refused, unless
 * SVF_CONTROL is set: svf needs nothing else of it.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "plugins/conf/conf.h"
#include "rpc.h"
#include "util/buf.h"
#include "util/mem.h"

#define INCLUDES 32		/* files that may be read for one */
#define SLURM_CONF_MAX ((size_t)64 << 20)

struct found {
	char *hosts[SVF_ENDS];		/* SlurmctldHost's addresses, in order */
	char *names[SVF_ENDS];		/* their names */
	int nhosts;
	char *user, *auth_socket, *cluster;	/* slurm.conf */
	char *addr;		/* vsphere.conf */
	int port;
};

/* ---- slurm.conf -------------------------------------------------------- */

static void slurm_key(struct found *f, const char *key, const char *value)
{
	if (!strcasecmp(key, "SlurmctldHost") && f->nhosts < SVF_ENDS - 1) {
		/* name(address): the address is what to connect to */
		const char *open = strchr(value, '(');
		const char *host = open ? open + 1 : value;

		f->names[f->nhosts] = vs_asprintf("%.*s",
			(int)strcspn(value, "("), value);
		f->hosts[f->nhosts++] = vs_asprintf("%.*s",
			(int)strcspn(host, ")"), host);
	} else if (!strcasecmp(key, "SlurmUser")) {
		vs_str_replace(&f->user, value);
	} else if (!strcasecmp(key, "ClusterName")) {
		vs_str_replace(&f->cluster, value);
	} else if (!strcasecmp(key, "AuthInfo")) {
		VS_FREE char *path = vs_conf_munge_socket(value);

		if (path)
			vs_str_replace(&f->auth_socket, path);
	}
}

struct slurm_file {
	struct vs_conf_file file;
	struct vs_buf *text;	/* all lines go there */
	int *left;		/* so many files more */
};

static int slurm_read(const char *path, struct vs_buf *text, int *left);

static void include(const struct slurm_file *s, const char *text)
{
	const char *from = s->file.path, *slash = strrchr(from, '/');
	const char *name = text + strspn(text, " \t\r\n\v\f");
	int len = (int)strcspn(name, " \t\r\n\v\f");
	VS_FREE char *path = vs_asprintf("%.*s%.*s",
		name[0] != '/' && slash ? (int)(slash - from) + 1 : 0, from,
		len, name);

	slurm_read(path, s->text, s->left);
}

static int slurm_line(void *arg, int line, const char *text, struct vs_err *err)
{
	const struct slurm_file *s = arg;

	(void)line;
	(void)err;
	text += strspn(text, " \t\r\n\v\f");
	if (!strncasecmp(text, "Include", 7) && isspace((unsigned char)text[7]))
		include(s, text + 7);
	else if (*text)
		vs_buf_printf(s->text, "%s\n", text);
	return 0;
}

/* -1: it can't be read. One that includes itself must come to an end. */
static int slurm_read(const char *path, struct vs_buf *text, int *left)
{
	struct slurm_file s = { .text = text, .left = left };

	if (--*left < 0 || access(path, R_OK))
		return -1;
	s.file.path = vs_strdup(path);
	vs_conf_lines(&s.file, slurm_line, &s, NULL);
	vs_conf_file_free(&s.file);
	return 0;
}

int svf_conf_text(const char *path, struct vs_buf *text)
{
	int left = INCLUDES;

	return slurm_read(path, text, &left);
}

/* The pairs of one line. */
static void slurm_pairs(struct found *f, const char *text)
{
	const struct vs_conf_file file = { .path = NULL };
	const char *key;
	char *value;
	size_t len;

	while (vs_conf_pair(&file, 0, &text, &key, &len, &value, NULL) > 0) {
		VS_FREE char *name = vs_asprintf("%.*s", (int)len, key);

		slurm_key(f, name, value);
		free(value);
	}
}

/* What slurm.conf says of whom to ask. Returns -1 if it can't be read. */
static int slurm_find(const char *path, struct found *f)
{
	struct vs_buf text = VS_BUF_INIT(SLURM_CONF_MAX);
	int rc = svf_conf_text(path, &text);

	for (char *line = text.data, *end; line && *line; line = end) {
		end = line + strcspn(line, "\n");
		if (*end)
			*end++ = '\0';
		slurm_pairs(f, line);
	}
	vs_buf_free(&text);
	return rc;
}

/* ---- vsphere.conf ------------------------------------------------------ */

static int vsphere_read(const char *path, struct found *found,
			struct vs_err *err)
{
	struct vs_conf_file f;
	long port = found->port;
	int rc;

	if (access(path, R_OK))
		return 0;
	rc = vs_conf_scan_known(&f, path, err);
	if (!rc)
		rc = vs_conf_number(&f, VS_SCOPE_TOP, "SvfPort", &port, err);
	if (!rc)
		found->port = (int)port;
	vs_str_replace(&found->addr,
		       vs_conf_value(&f, VS_SCOPE_TOP, "SvfListenAddr"));
	vs_conf_file_free(&f);
	return rc;
}

/* slurm.conf: SLURM_CONF, /etc/slurm, or what a configless slurmd keeps. */
static char *slurm_conf_path(void)
{
	static const char *const usual[] = {
		"/etc/slurm/slurm.conf", "/etc/slurm-llnl/slurm.conf",
		"/run/slurm/conf/slurm.conf",
	};
	const char *env = getenv("SLURM_CONF");

	if (env && env[0])
		return vs_strdup(env);
	for (size_t i = 0; i < VS_COUNT(usual); i++)
		if (!access(usual[i], F_OK))
			return vs_strdup(usual[i]);
	return vs_strdup(usual[0]);
}

/* ---- the list ---------------------------------------------------------- */

/* Which SlurmctldHost it is, by its name or address; NULL if none. Slurm takes
 * "localhost" for the name of the machine that reads it. */
static const char *name_at(const struct found *f, const char *host)
{
	for (int i = 0; i < f->nhosts; i++)
		if ((!strcasecmp(f->names[i], host) ||
		     !strcasecmp(f->hosts[i], host)) &&
		    strcasecmp(f->names[i], "localhost"))
			return f->names[i];
	return NULL;
}

static void add_end(struct svf_where *w, const struct found *f,
		    const char *host, int port)
{
	for (int i = 0; i < w->nends; i++)
		if (!strcmp(w->ends[i].host, host) && w->ends[i].port == port)
			return;
	if (w->nends == SVF_ENDS)
		return;
	w->ends[w->nends].host = vs_strdup(host);
	w->ends[w->nends].name = vs_strdup(name_at(f, host));
	w->ends[w->nends++].port = port;
}

static bool port_parse(const char *s, int *port)
{
	char *end;
	long v;

	errno = 0;
	v = strtol(s, &end, 10);
	if (errno || end == s || *end || v < 1 || v > 65535)
		return false;
	*port = (int)v;
	return true;
}

/* HOST:PORT, [ADDRESS]:PORT; the port may be left out. */
static int from_env(struct svf_where *w, const struct found *f,
		    const char *env, struct vs_err *err)
{
	VS_FREE char *copy = vs_strdup(env);
	char *host = copy, *colon = strrchr(copy, ':');
	int port = SVF_PORT;

	if (host[0] == '[') {
		char *close = strchr(++host, ']');

		if (!close || (close[1] && close[1] != ':'))
			goto bad;
		*close = '\0';
		colon = close[1] ? close + 1 : NULL;
	} else if (colon && strchr(copy, ':') != colon) {
		colon = NULL;		/* an IPv6 address as it is */
	}
	if (colon && !port_parse(colon + 1, &port))
		goto bad;
	if (colon)
		*colon = '\0';
	if (!host[0])
		goto bad;
	add_end(w, f, host, port);
	return 0;
bad:
	return vs_err_set(err, VS_E_REQUEST,
			  "SVF_CONTROL=%s: HOST:PORT is expected", env);
}

static bool everywhere(const char *addr)
{
	return !strcmp(addr, "0.0.0.0") || !strcmp(addr, "::") ||
	       !strcmp(addr, "*");
}

static void from_files(struct svf_where *w, const struct found *f)
{
	/* What SvfListenAddr is by default answers on the controller alone. */
	if (f->addr && !everywhere(f->addr))
		add_end(w, f, f->addr, f->port);
	else
		add_end(w, f, "localhost", f->port);
	for (int i = 0; i < f->nhosts; i++)
		add_end(w, f, f->hosts[i], f->port);
}

int svf_where(struct svf_where *w, struct vs_err *err)
{
	const char *env = getenv("SVF_CONTROL");
	VS_FREE char *slurm = slurm_conf_path();
	const char *slash = strrchr(slurm, '/');
	struct found f = { .port = SVF_PORT };
	int rc;

	memset(w, 0, sizeof(*w));
	w->vsphere_conf = vs_asprintf("%.*svsphere.conf",
				      slash ? (int)(slash - slurm) + 1 : 0,
				      slurm);
	/* Slurm's own default, read_config.c */
	if (!slurm_find(slurm, &f) && !f.user)
		f.user = vs_strdup("root");
	/* The file counts only without it: an error in it is no hindrance. */
	if (env && env[0])
		rc = from_env(w, &f, env, err);
	else if (!(rc = vsphere_read(w->vsphere_conf, &f, err)))
		from_files(w, &f);
	w->slurm_user = f.user;
	w->slurm_conf = vs_strdup(slurm);
	w->cluster = f.cluster;
	w->munge_socket = f.auth_socket;
	for (int i = 0; i < f.nhosts; i++) {
		free(f.hosts[i]);
		free(f.names[i]);
	}
	free(f.addr);
	return rc;
}

void svf_where_free(struct svf_where *w)
{
	for (int i = 0; i < w->nends; i++) {
		free(w->ends[i].host);
		free(w->ends[i].name);
	}
	free(w->munge_socket);
	free(w->slurm_user);
	free(w->cluster);
	free(w->slurm_conf);
	free(w->vsphere_conf);
	memset(w, 0, sizeof(*w));
}
