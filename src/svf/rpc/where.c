/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whom to ask: SVF_CONTROL, else what vsphere.conf and slurm.conf say. A tiny
 * reader of Key=Value, not Slurm's parser: svf runs where no slurmctld is, for
 * any user, and looks for six keys. It judges nothing: a file that isn't
 * there or may not be read leaves the defaults.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "rpc.h"
#include "util/mem.h"

#define INCLUDES 32		/* files that may be read for one */

/* ---- files in slurm.conf's style --------------------------------------- */

/* Cut a comment off; "\#" is no comment. */
static void cut_comment(char *line)
{
	for (char *p = line; *p; p++) {
		if (*p == '#' && (p == line || p[-1] != '\\')) {
			*p = '\0';
			return;
		}
	}
}

/* The next Key=Value of *at, both terminated in place; false at the end. */
static bool next_pair(char **at, char **key, char **value)
{
	char *p = *at + strspn(*at, " \t\r\n"), *end;
	size_t n = strcspn(p, "= \t\r\n");

	if (!n)
		return false;
	*key = p;
	end = p + n;
	p = end + strspn(end, " \t");
	if (*p != '=') {
		/* "Include FILE", or a word that is no pair */
		*value = p;
	} else {
		p += 1 + strspn(p + 1, " \t");
		*value = p;
	}
	*end = '\0';
	if (**value == '"') {
		p = ++*value;
		p += strcspn(p, "\"");
	} else {
		p = *value + strcspn(*value, " \t\r\n");
	}
	*at = *p ? p + 1 : p;
	*p = '\0';
	return true;
}

static int read_one(const char *path, svf_conf_fn *fn, void *arg, int *left);

static void include(const char *from, const char *name, svf_conf_fn *fn,
		    void *arg, int *left)
{
	const char *slash = strrchr(from, '/');
	VS_FREE char *path = NULL;

	if (name[0] == '/' || !slash)
		path = vs_strdup(name);
	else
		path = vs_asprintf("%.*s/%s", (int)(slash - from), from, name);
	read_one(path, fn, arg, left);
}

/* left: so many files more; one that includes itself must come to an end. */
static int read_one(const char *path, svf_conf_fn *fn, void *arg, int *left)
{
	VS_FCLOSE FILE *f = *left > 0 ? fopen(path, "re") : NULL;
	VS_FREE char *line = NULL;
	VS_FREE char *whole = NULL;
	size_t cap = 0;
	ssize_t n;

	if (!f)
		return -1;
	--*left;
	while ((n = getline(&line, &cap, f)) >= 0) {
		char *at, *key, *value, *text;

		cut_comment(line);
		n = (ssize_t)strlen(line);
		while (n > 0 && isspace((unsigned char)line[n - 1]))
			line[--n] = '\0';
		text = vs_asprintf("%s%s", whole ? whole : "", line);
		free(whole);
		whole = text;
		if (n > 0 && line[n - 1] == '\\') {
			whole[strlen(whole) - 1] = '\0';
			continue;
		}
		at = whole;
		while (next_pair(&at, &key, &value)) {
			if (!strcasecmp(key, "Include"))
				include(path, value, fn, arg, left);
			else
				fn(arg, key, value);
		}
		free(whole);
		whole = NULL;
	}
	return 0;
}

int svf_conf_read(const char *path, svf_conf_fn *fn, void *arg)
{
	int left = INCLUDES;

	return read_one(path, fn, arg, &left);
}

/* ---- the two files ----------------------------------------------------- */

struct found {
	char *hosts[SVF_ENDS];		/* SlurmctldHost's addresses, in order */
	char *names[SVF_ENDS];		/* their names */
	int nhosts;
	char *user, *auth_socket, *cluster;	/* slurm.conf */
	char *addr, *munge_socket;	/* vsphere.conf */
	int port;
};

static void slurm_key(void *arg, const char *key, const char *value)
{
	struct found *f = arg;

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
		const char *s = strstr(value, "socket=");
		VS_FREE char *path = NULL;

		if (!s)
			return;
		s += strlen("socket=");
		path = vs_asprintf("%.*s", (int)strcspn(s, ","), s);
		vs_str_replace(&f->auth_socket, path);
	}
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

static void vsphere_key(void *arg, const char *key, const char *value)
{
	struct found *f = arg;

	if (!strcasecmp(key, "ControlAddr"))
		vs_str_replace(&f->addr, value);
	else if (!strcasecmp(key, "MungeSocket"))
		vs_str_replace(&f->munge_socket, value);
	else if (!strcasecmp(key, "ControlPort"))
		port_parse(value, &f->port);
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
	/* What ControlAddr is by default answers on the controller alone. */
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
	int rc = 0;

	memset(w, 0, sizeof(*w));
	w->vsphere_conf = vs_asprintf("%.*svsphere.conf",
				      slash ? (int)(slash - slurm) + 1 : 0,
				      slurm);
	/* Slurm's own default, read_config.c */
	if (!svf_conf_read(slurm, slurm_key, &f) && !f.user)
		f.user = vs_strdup("root");
	svf_conf_read(w->vsphere_conf, vsphere_key, &f);
	if (env && env[0])
		rc = from_env(w, &f, env, err);
	else
		from_files(w, &f);
	w->slurm_user = f.user;
	w->slurm_conf = vs_strdup(slurm);
	w->cluster = f.cluster;
	w->munge_socket = vs_strdup(f.munge_socket ? f.munge_socket :
				    f.auth_socket);
	for (int i = 0; i < f.nhosts; i++) {
		free(f.hosts[i]);
		free(f.names[i]);
	}
	free(f.auth_socket);
	free(f.addr);
	free(f.munge_socket);
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
