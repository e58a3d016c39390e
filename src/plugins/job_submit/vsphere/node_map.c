/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The core's word on each node, kept from one submission to the next: that a
 * job is for others' nodes must cost next to nothing. Rebuilt when the core has
 * another configuration or Slurm another node table. Several submissions come
 * at a time, each with slurmctld's read locks. So the map has its own lock,
 * taken after slurmctld's and before the core's.
 */
#include <pthread.h>
#include "node_map.h"
#include "plugins/core_loader.h"
#include "util/mem.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static struct vs_node_map ours;
static uint64_t epoch;
static bool refused;			/* the core can't be opened: said */

/* Only beside our select plugin, which starts the core, is there one. */
static bool core_found(void)
{
	struct vs_err err = { 0 };

	if (ours.core || refused ||
	    xstrcmp(slurm_conf.select_type, "select/cons_tres_vsphere"))
		return ours.core;
	ours.core = vs_core_open(&err);
	refused = !ours.core;
	if (refused)
		error("job_submit/vsphere: %s", err.text);
	return ours.core;
}

static void clear(void)
{
	for (char **name = ours.adapters; name && *name; name++)
		free(*name);
	free(ours.adapters);
	free(ours.kinds);
	free(ours.ids);
	FREE_NULL_BITMAP(ours.nodes);
	FREE_NULL_BITMAP(ours.alone);
	for (size_t i = 0; i < ours.nlike; i++)
		FREE_NULL_BITMAP(ours.like[i]);
	free(ours.like);
	ours = (struct vs_node_map) { .core = ours.core };
}

static void node_sort(int i)
{
	const struct vs_vm_type *k = &ours.kinds[i];
	size_t like = (size_t)k->like;

	bit_set(ours.nodes, i);
	if (k->alone)
		bit_set(ours.alone, i);
	for (; ours.nlike <= like; ours.nlike++) {
		ours.like = vs_realloc(ours.like, ours.nlike + 1,
				       sizeof(*ours.like));
		ours.like[ours.nlike] = bit_alloc(ours.size);
	}
	bit_set(ours.like[like], i);
}

static void renew(void)
{
	size_t n = (size_t)node_record_count;
	VS_FREE const char **names = vs_calloc(n + 1, sizeof(*names));

	clear();
	epoch = ours.core->epoch();
	for (size_t i = 0; i < n; i++)
		names[i] = node_record_table_ptr[i] ?
			node_record_table_ptr[i]->name : "";
	ours.size = node_record_count;
	ours.ids = vs_calloc(n + 1, sizeof(*ours.ids));
	ours.kinds = vs_calloc(n + 1, sizeof(*ours.kinds));
	ours.nodes = bit_alloc(n);
	ours.alone = bit_alloc(n);
	ours.core->node_ids(names, n, ours.ids);
	ours.core->kinds(ours.ids, n, ours.kinds, &ours.adapters);
	for (int i = 0; i < ours.size; i++)
		if (ours.kinds[i].adapter >= 0)
			node_sort(i);
}

static bool is_true(void)
{
	return ours.nodes && epoch == ours.core->epoch() &&
	       ours.size == node_record_count;
}

const struct vs_node_map *vs_node_map_get(void)
{
	bool ready;

	pthread_rwlock_rdlock(&lock);
	ready = ours.core && ours.core->running();
	if (ready && is_true())
		return &ours;
	pthread_rwlock_unlock(&lock);
	pthread_rwlock_wrlock(&lock);
	ready = core_found() && ours.core->running() && node_record_count > 0;
	if (ready && !is_true())
		renew();
	pthread_rwlock_unlock(&lock);
	if (!ready)
		return NULL;
	/* Who holds NODE R keeps it true. */
	pthread_rwlock_rdlock(&lock);
	return &ours;
}

void vs_node_map_put(void)
{
	pthread_rwlock_unlock(&lock);
}

int vs_node_map_adapter(const struct vs_node_map *o, const char *name)
{
	for (int a = 0; o->adapters[a]; a++)
		if (!strcmp(o->adapters[a], name))
			return a;
	return -1;
}
