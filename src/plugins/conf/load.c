/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vsphere.conf read by Slurm's own parser, so that quoting, comments and
 * continuation are what administrators know. The scan goes first: it refuses
 * unknown and doubled keys with their lines (Slurm's parser would take the last
 * one) and hands over line by line, for s_p_parse_file() takes one key in a line,
 * knows no line numbers and waits a minute for a file that isn't there.
 *
 * Knows slurm.conf, but not Slurm's nodes (nodes.c).
 */
#include "plugins/slurm/compat.h"
#include <strings.h>
#include "util/mem.h"
#include "load.h"

char *vs_conf_path(void)
{
	char *path = get_extra_conf_path("vsphere.conf");
	char *copy = vs_strdup(path);

	xfree(path);
	return copy;
}

char **vs_conf_expand_slurm(const char *list)
{
	vs_hostlist_t hl = hostlist_create(list);
	char **names = NULL, *host;
	size_t n = 0, cap = 0;

	if (!hl)
		return NULL;
	while ((host = hostlist_shift(hl))) {
		VS_GROW(names, cap, n + 2);
		names[n++] = host;
	}
	hostlist_destroy(hl);
	if (names)
		names[n] = NULL;
	return names;
}

/* ---- Slurm's parser --------------------------------------------------------- */

/* Options for one kind of line: every value as a string, our table checks. */
static void options_fill(s_p_options_t *opts, enum vs_conf_scope scope)
{
	for (size_t i = 0; i < vs_conf_nkeys; i++) {
		const struct vs_conf_key *k = &vs_conf_keys[i];

		if (k->scope != scope || k->type == VS_CONF_NAME)
			continue;
		opts->key = (char *)k->key;
		opts->type = S_P_STRING;
		opts++;
	}
}

struct parsed {			/* one AdapterName=, ... line */
	char *name;
	s_p_hashtbl_t *tbl;
};

static void parsed_free(void *arg)
{
	struct parsed *p = arg;

	s_p_hashtbl_destroy(p->tbl);
	xfree(p->name);
	xfree(p);
}

static int parse_record(void **dest, slurm_parser_enum_t type, const char *key,
			const char *value, const char *line, char **leftover)
{
	s_p_options_t opts[VS_CONF_KEYS + 1] = { { 0 } };
	struct parsed *p;
	int k = vs_conf_key_find(key, strlen(key), (1u << VS_SCOPES) - 1);

	(void)type;
	(void)line;
	if (k < 0)
		return -1;
	options_fill(opts, vs_conf_keys[k].scope);
	p = xmalloc(sizeof(*p));
	p->name = xstrdup(value);
	p->tbl = s_p_hashtbl_create(opts);
	s_p_parse_line(p->tbl, *leftover, leftover);
	*dest = p;
	return 1;
}

static void value_take(struct vs_conf_record *r, int k, s_p_hashtbl_t *tbl)
{
	char *s = NULL;

	if (!s_p_get_string(&s, vs_conf_keys[k].key, tbl))
		return;
	vs_str_replace(&r->values[k], s);
	xfree(s);
}

/* Slurm's values take the place of the scan's, line by line. */
static int values_take(struct vs_conf_file *f, s_p_hashtbl_t *tbl,
		       struct vs_err *err)
{
	for (size_t i = 0; i < vs_conf_nkeys; i++) {
		const struct vs_conf_key *k = &vs_conf_keys[i];
		struct parsed **rows = NULL;
		int n = 0;

		if (k->scope == VS_SCOPE_TOP)
			value_take(&f->records[0], (int)i, tbl);
		if (k->type != VS_CONF_NAME)
			continue;
		s_p_get_array((void ***)&rows, &n, k->key, tbl);
		if (vs_conf_record_get(f, k->scope, (size_t)n))
			return vs_conf_err(f, 0, err, "Slurm's parser found "
				"%d %s= lines, too few", n, k->key);
		for (int row = 0; row < n; row++) {
			struct vs_conf_record *r =
				vs_conf_record_get(f, k->scope, (size_t)row);

			if (!r)
				return vs_conf_err(f, 0, err, "Slurm's parser "
					"found %d %s= lines, too many", n,
					k->key);
			vs_str_replace(&r->values[i], rows[row]->name);
			for (size_t j = 0; j < vs_conf_nkeys; j++)
				if (vs_conf_keys[j].scope == k->scope && j != i)
					value_take(r, (int)j, rows[row]->tbl);
		}
	}
	return 0;
}

static int parse(struct vs_conf_file *f, struct vs_err *err)
{
	s_p_options_t opts[VS_CONF_KEYS + 1] = { { 0 } };
	s_p_hashtbl_t *tbl;
	int at = 0, rc = 0;

	options_fill(opts, VS_SCOPE_TOP);
	while (opts[at].key)
		at++;
	for (size_t i = 0; i < vs_conf_nkeys; i++) {
		if (vs_conf_keys[i].type != VS_CONF_NAME)
			continue;
		opts[at].key = (char *)vs_conf_keys[i].key;
		opts[at].type = S_P_ARRAY;
		opts[at].handler = parse_record;
		opts[at++].destroy = parsed_free;
	}
	tbl = s_p_hashtbl_create(opts);
	for (size_t i = 0; !rc && i < f->nlines; i++) {
		char *rest = NULL;

		if (!s_p_parse_line(tbl, f->lines[i].text, &rest))
			rc = vs_conf_err(f, f->lines[i].line, err, "Slurm's "
				"parser refuses this line (see the log above)");
	}
	if (!rc)
		rc = values_take(f, tbl, err);
	s_p_hashtbl_destroy(tbl);
	return rc;
}

/* ---- what slurm.conf adds --------------------------------------------------- */

/* "socket=" in AuthInfo. */
static char *munge_socket(void)
{
	const char *at = xstrstr(slurm_conf.authinfo, "socket=");

	if (!at)
		return NULL;
	at += strlen("socket=");
	return strndup(at, strcspn(at, ","));
}

/* slurmd's --conf-server for the guests: every controller there is. */
static char *conf_server(void)
{
	char *all = NULL;

	for (uint32_t i = 0; i < slurm_conf.control_cnt; i++)
		xstrfmtcat(all, "%s%s:%u", i ? "," : "",
			   slurm_conf.control_addr[i] ?
			   slurm_conf.control_addr[i] :
			   slurm_conf.control_machine[i],
			   slurm_conf.slurmctld_port);
	return all;
}

static void from_slurm_conf(struct vs_conf *conf)
{
	char *servers = conf_server();

	conf->password_uid = slurm_conf.slurm_user_id;
	conf->suspend_time_s = (int)slurm_conf.suspend_time;
	/* slurm_protocol_api.c, slurm_send_addr_recv_msgs(): a pause of 1 s
	 * between the tries. */
	conf->resume_timeout_s = slurm_conf.resume_timeout;
	conf->kill_tries_s = (MIN(slurm_conf.msg_timeout, 10) + 1) *
		(slurm_conf.tcp_timeout + 1);
	vs_str_replace(&conf->state_dir, slurm_conf.state_save_location);
	vs_str_replace(&conf->slurm_cluster, slurm_conf.cluster_name);
	vs_str_replace(&conf->conf_server, servers);
	xfree(servers);
	if (!conf->munge_socket)
		conf->munge_socket = munge_socket();
}

struct vs_conf *vs_conf_build(const struct vs_conf_file *f, struct vs_err *err)
{
	struct vs_conf *conf = vs_conf_new();

	if (vs_conf_fill(conf, f, vs_conf_expand_slurm, err)) {
		vs_conf_free(conf);
		return NULL;
	}
	from_slurm_conf(conf);
	return conf;
}

struct vs_conf *vs_conf_read(const char *path, struct vs_conf_file *f,
			     struct vs_err *err)
{
	struct vs_conf *conf;

	if (vs_conf_scan(f, path, err) || parse(f, err))
		return NULL;
	conf = vs_conf_build(f, err);
	if (conf && (vs_conf_ca_check(f, err) ||
		     vs_conf_password_check(f, slurm_conf.slurm_user_id, err))) {
		vs_conf_free(conf);
		return NULL;
	}
	return conf;
}
