/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurm.conf and vsphere.conf as slurmctld's plugins read them, and the nodes of
 * slurm.conf's text, for checks that count them. slurmctld has not built its tables of
 * nodes here. What slurmctld refuses at its start (Features, addresses) is not judged.
 */
#include <uthash.h>
#include "plugins/conf/load.h"
#include "check.h"
#include "util/mem.h"

struct name {
	char *text;
	UT_hash_handle hh;
};

static void names_free(char **list)
{
	for (char **s = list; s && *s; s++)
		free(*s);
	free(list);
}

static struct name *set_of(const char *list)
{
	char **names = vs_conf_expand_slurm(list);
	struct name *set = NULL, *had;

	for (char **s = names; s && *s; s++) {
		struct name *n;

		HASH_FIND_STR(set, *s, had);
		if (had)
			continue;
		n = vs_calloc(1, sizeof(*n));
		n->text = vs_strdup(*s);
		HASH_ADD_KEYPTR(hh, set, n->text, strlen(n->text), n);
	}
	names_free(names);
	return set;
}

static void set_free(struct name *set)
{
	struct name *n, *next;

	HASH_ITER(hh, set, n, next) {
		HASH_DEL(set, n);
		free(n->text);
		free(n);
	}
}

static const char *nodes_of(const char *partition)
{
	slurm_conf_partition_t **all;
	int n = slurm_conf_partition_array(&all);

	for (int i = 0; i < n; i++)
		if (!strcmp(all[i]->name, partition))
			return all[i]->nodes ? all[i]->nodes : "";
	return NULL;
}

static void node_add(struct vs_conf *conf, const struct vs_conf_partition *p,
		     const slurm_conf_node_t *line, const char *name)
{
	struct vs_conf_node *n;

	for (size_t i = 0; i < conf->nnodes; i++)
		if (!strcmp(conf->nodes[i].name, name))
			return;		/* another partition has it too */
	conf->nodes = vs_realloc(conf->nodes, conf->nnodes + 1, sizeof(*n));
	n = &conf->nodes[conf->nnodes++];
	*n = (struct vs_conf_node) {
		.name = vs_strdup(name), .partition = vs_strdup(p->name),
		.adapter = vs_strdup(p->adapter), .vcpus = line->cpus,
		.memory_mb = vs_conf_memory_mb(p, line->real_memory),
	};
}

/* Those of this line of slurm.conf that are the partition's. */
static size_t line_add(struct vs_conf *conf, const struct vs_conf_partition *p,
		       const slurm_conf_node_t *line, struct name *set,
		       bool all)
{
	char **names = vs_conf_expand_slurm(line->nodenames);
	size_t n = 0;

	for (char **s = names; s && *s; s++) {
		struct name *in = NULL;

		if (!all)
			HASH_FIND_STR(set, *s, in);
		if (!all && !in)
			continue;
		node_add(conf, p, line, *s);
		n++;
	}
	names_free(names);
	return n;
}

static int partition_add(struct vs_conf *conf, const struct vs_conf_file *f,
			 int at, const struct vs_conf_partition *p,
			 struct vs_err *err)
{
	const char *list = nodes_of(p->name);
	bool all = list && !strcasecmp(list, "ALL");
	slurm_conf_node_t **lines;
	struct name *set;
	size_t n = 0;
	int nlines;

	if (!list)
		return vs_conf_err(f, at, err, "PartitionName=%s: there is no such partition in slurm.conf",
				   p->name);
	set = all ? NULL : set_of(list);
	nlines = slurm_conf_nodename_array(&lines);
	for (int i = 0; i < nlines; i++)
		if (lines[i]->state && strcasestr(lines[i]->state, "CLOUD"))
			n += line_add(conf, p, lines[i], set, all);
	set_free(set);
	return n ? 0 : vs_conf_err(f, at, err, "PartitionName=%s: expected nodes with State=CLOUD in that partition of slurm.conf, found none",
				   p->name);
}

static int nodes_add(struct vs_conf *conf, const struct vs_conf_file *f,
		     struct vs_err *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < conf->npartitions; i++) {
		const struct vs_conf_record *r =
			vs_conf_record_get(f, VS_SCOPE_PARTITION, i);

		rc = partition_add(conf, f, r ? r->line : 0,
				   &conf->partitions[i], err);
	}
	return rc;
}

struct vs_conf *check_conf_read(char **path, struct vs_err *err)
{
	struct vs_conf_file f = { 0 };
	struct vs_conf *conf;

	*path = vs_conf_path();
	conf = vs_conf_read(*path, &f, err);
	if (conf && nodes_add(conf, &f, err)) {
		vs_conf_free(conf);
		conf = NULL;
	}
	vs_conf_file_free(&f);
	return conf;
}

/* ---- slurm.conf ------------------------------------------------------------- */

/* slurmctld's list: vs_slurm_checks() asks it for partitions' SuspendTime and
 * timeouts. */
vs_list_t part_list;

static void partitions_note(void)
{
	slurm_conf_partition_t **all;
	int n = slurm_conf_partition_array(&all);

	part_list = list_create(NULL);
	for (int i = 0; i < n; i++) {
		part_record_t *p = xmalloc(sizeof(*p));

		p->name = xstrdup(all[i]->name);
		p->suspend_time = all[i]->suspend_time;
		p->suspend_timeout = all[i]->suspend_timeout;
		p->resume_timeout = all[i]->resume_timeout;
		list_append(part_list, p);
	}
}

const char *check_slurm_read(unsigned int *slurm_user)
{
	slurm_conf_init(NULL);
	partitions_note();
	*slurm_user = slurm_conf.slurm_user_id;
	return slurm_conf.slurm_conf;
}

void check_slurm_conf(void *ctx, const struct vs_slurm_bounds *b,
		      vs_slurm_found *fn, void *arg)
{
	(void)ctx;
	vs_slurm_checks(b, fn, arg);
}
