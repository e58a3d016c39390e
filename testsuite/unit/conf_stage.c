/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Slurm's tables for the tests of vsphere.conf, filled by hand: the code under
 * test sees real records of the real libslurmfull, without a slurmctld.
 */
#include "plugins/slurm/compat.h"
#include <sys/stat.h>
#include <unistd.h>
#include "conf_stage.h"
#include "scratch.h"
#include "util/mem.h"

#define NODES_MAX 8
#define PARTS_MAX 4

struct vs_err stage_err;
static char *dir;
static struct vs_conf *staged;
static struct vs_conf_file file;
static part_record_t parts[PARTS_MAX];
static int nparts;
static part_record_t *parts_of[NODES_MAX][PARTS_MAX];

/* slurmctld's part of what is asked. */
vs_list_t part_list;

part_record_t *find_part_record(char *name)
{
	for (int i = 0; i < nparts; i++)
		if (!strcmp(parts[i].name, name))
			return &parts[i];
	return NULL;
}

const char *stage_dir(void)
{
	return dir;
}

int stage_up(void **state)
{
	char template[SCRATCH_LEN];
	VS_FREE char *password = NULL;
	FILE *f;

	(void)state;
	dir = vs_strdup(mkdtemp(scratch_path(template, "conf")));
	password = vs_asprintf("%s/password", dir);
	f = fopen(password, "w");
	fputs("never-in-a-log\n", f);
	fchmod(fileno(f), 0600);
	fclose(f);
	memset(&stage_err, 0, sizeof(stage_err));
	slurm_conf.slurm_user_id = getuid();
	node_record_table_ptr = xcalloc(NODES_MAX, sizeof(node_record_t *));
	node_record_count = 0;
	stage_slurm("SuspendProgram", "/bin/true");
	stage_slurm("ResumeProgram", "/bin/true");
	stage_slurm("SuspendTime", "600");
	stage_slurm("PrEpPlugins", "prep/script,prep/vsphere");
	stage_slurm("TopologyPlugin", "topology/none");
	stage_slurm("SchedulerParameters", "nohold_on_prolog_fail");
	slurm_conf.select_type_param = VS_CR(CORE) | VS_CR(MEMORY);
	slurm_conf.prolog_flags = PROLOG_FLAG_ALLOC;
	slurm_conf.ret2service = 2;
	return 0;
}

int stage_down(void **state)
{
	(void)state;
	vs_conf_free(staged);
	staged = NULL;
	vs_conf_file_free(&file);
	for (int i = 0; i < node_record_count; i++) {
		if (!node_record_table_ptr[i])
			continue;
		xfree(node_record_table_ptr[i]->name);
		xfree(node_record_table_ptr[i]->config_ptr->feature);
		xfree(node_record_table_ptr[i]->config_ptr);
		xfree(node_record_table_ptr[i]);
	}
	xfree(node_record_table_ptr);
	node_record_count = 0;
	for (int i = 0; i < nparts; i++) {
		FREE_NULL_BITMAP(parts[i].node_bitmap);
		xfree(parts[i].name);
	}
	nparts = 0;
	memset(parts, 0, sizeof(parts));
	FREE_NULL_LIST(part_list);
	scratch_remove(dir);
	free(dir);
	return 0;
}

static void put(FILE *f, const char *text)
{
	for (; *text; text++) {
		if (text[0] == '%' && text[1] == 'P') {
			fprintf(f, "%s/password", dir);
			text++;
		} else {
			fputc(*text, f);
		}
	}
}

char *stage_text(const char *more)
{
	return vs_asprintf("%s%s%s", STAGE_TOP, STAGE_LINES, more);
}

struct vs_conf *stage_read(const char *text)
{
	VS_FREE char *path = vs_asprintf("%s/vsphere.conf", dir);
	FILE *f = fopen(path, "w");

	put(f, text);
	fclose(f);
	vs_conf_free(staged);
	vs_conf_file_free(&file);
	memset(&stage_err, 0, sizeof(stage_err));
	staged = vs_conf_read(path, &file, &stage_err);
	return staged;
}

static char refused[2048];

const char *stage_refused(void)
{
	return refused;
}

struct vs_conf *stage_nodes(const char *text)
{
	struct vs_conf_refused found = { .n = 0 };
	struct vs_conf *read = stage_read(text);
	size_t len = 0;

	refused[0] = '\0';
	if (read && vs_conf_add_nodes(read, &file, &found, &stage_err))
		read = NULL;
	for (size_t i = 0; i < found.n && len < sizeof(refused); i++)
		len += (size_t)snprintf(refused + len, sizeof(refused) - len,
					"%s: %s\n",
					found.nodes[i].node_ptr->name,
					found.nodes[i].why);
	vs_conf_refused_free(&found);
	return read;
}

void stage_node(const char *name, const char *features, int cpus,
		uint64_t memory, bool cloud)
{
	node_record_t *n = xmalloc(sizeof(*n));

	n->name = xstrdup(name);
	n->index = (uint32_t)node_record_count;
	n->node_state = NODE_STATE_IDLE | (cloud ? NODE_STATE_CLOUD : 0);
	n->config_ptr = xmalloc(sizeof(*n->config_ptr));
	n->config_ptr->feature = xstrdup(features);
	n->config_ptr->cpus = (uint16_t)cpus;
	n->config_ptr->real_memory = memory;
	n->part_pptr = (void *)parts_of[node_record_count];
	node_record_table_ptr[node_record_count++] = n;
}

void stage_created(void)
{
	node_record_table_ptr[node_record_count - 1]->node_state |=
		NODE_STATE_DYNAMIC_NORM;
}

void stage_hole(void)
{
	node_record_table_ptr[node_record_count++] = NULL;
}

void stage_partition(const char *name, const char *nodes, bool exclusive)
{
	part_record_t *p = &parts[nparts++];

	if (!part_list)
		part_list = list_create(NULL);
	list_append(part_list, p);
	p->name = xstrdup(name);
	p->suspend_time = NO_VAL;
	p->max_share = exclusive ? 0 : 1;
	p->node_bitmap = bit_alloc(node_record_count);
	for (; *nodes; nodes++) {
		node_record_t *n = node_record_table_ptr[*nodes - '0'];

		bit_set(p->node_bitmap, n->index);
		n->part_pptr[n->part_cnt++] = p;
	}
}

void stage_partition_has(uint32_t suspend_time, uint16_t select_params)
{
	parts[nparts - 1].suspend_time = suspend_time;
	parts[nparts - 1].cr_type = select_params;
}

void stage_slurm(const char *key, const char *value)
{
	struct { const char *key; char **slot; } texts[] = {
		{ "SuspendProgram", &slurm_conf.suspend_program },
		{ "ResumeProgram", &slurm_conf.resume_program },
		{ "PrEpPlugins", &slurm_conf.prep_plugins },
		{ "TopologyPlugin", &slurm_conf.topology_plugin },
		{ "SchedulerParameters", &slurm_conf.sched_params },
		{ "AuthInfo", &slurm_conf.authinfo },
		{ "PropagateResourceLimits", &slurm_conf.propagate_rlimits },
		{ "PropagateResourceLimitsExcept",
		  &slurm_conf.propagate_rlimits_except },
	};

	if (!strcmp(key, "SuspendTime"))
		slurm_conf.suspend_time = value ? (uint32_t)strtoul(value, NULL, 10) :
			INFINITE;
	for (size_t i = 0; i < VS_COUNT(texts); i++) {
		if (strcmp(key, texts[i].key))
			continue;
		xfree(*texts[i].slot);
		*texts[i].slot = xstrdup(value);
	}
}
