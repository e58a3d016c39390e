/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Nodes that Slurm doesn't power down when they are idle: SuspendExcNodes,
 * SuspendExcParts, SuspendExcStates. A request to power one down, which is a
 * flag, would ignore that. SuspendTime=INFINITE keeps a node on too, but only as
 * long as no job waits for what its VM has: such a VM may be reclaimed.
 *
 * Rules: read again every few seconds, because scontrol can change them; in the
 * engine's thread alone. Of SuspendExcNodes=LIST:COUNT Slurm keeps any COUNT of
 * the list, so that all of it counts here; what is no node's name is passed
 * over (NodeSets).
 */
#include "suspend_exclusions.h"
#include "util/mem.h"

#define READ_S 5

static struct {
	bitstr_t *nodes;	/* for ever, NULL: none */
	uint32_t states;	/* while they are in one of these */
	time_t read_at;
} stays;

static void stay(bitstr_t *bits, char *list)
{
	vs_hostlist_t names;
	char *colon = strrchr(list, ':'), *name;

	if (colon && !strpbrk(colon, "]"))
		*colon = '\0';
	names = hostlist_create(list);
	while (names && (name = hostlist_shift(names))) {
		const node_record_t *n = find_node_record2(name);

		if (n)
			bit_set(bits, n->index);
		free(name);
	}
	if (names)
		hostlist_destroy(names);
}

/* "vm[1,3-4]:1,vm7": commas count outside of brackets. */
static void read_nodes(bitstr_t *bits, const char *text)
{
	VS_FREE char *copy = text ? vs_strdup(text) : NULL;
	char *from = copy;
	int depth = 0;

	for (char *p = copy; p && *p; p++) {
		depth += (*p == '[') - (*p == ']');
		if (*p != ',' || depth)
			continue;
		*p = '\0';
		stay(bits, from);
		from = p + 1;
	}
	if (from && *from)
		stay(bits, from);
}

static void read_parts(bitstr_t *bits, const char *text)
{
	VS_FREE char *copy = text ? vs_strdup(text) : NULL;
	char *save = NULL;

	for (char *name = copy ? strtok_r(copy, ",", &save) : NULL; name;
	     name = strtok_r(NULL, ",", &save)) {
		const part_record_t *part = find_part_record(name);

		if (part && part->node_bitmap)
			bit_or(bits, part->node_bitmap);
	}
}

/* Under vs_lock_parts_read(). */
static bitstr_t *excluded(void)
{
	bitstr_t *bits = bit_alloc(node_record_count);

	read_nodes(bits, slurm_conf.suspend_exc_nodes);
	read_parts(bits, slurm_conf.suspend_exc_parts);
	return bits;
}

void vs_suspend_exclusions_read(void)
{
	time_t now = time(NULL);

	if (now >= stays.read_at && now - stays.read_at < READ_S)
		return;
	stays.read_at = now;
	vs_lock_parts_read();
	FREE_NULL_BITMAP(stays.nodes);
	stays.nodes = excluded();
	stays.states = vs_suspend_exc_states();
	vs_unlock_parts_read();
}

uint32_t vs_suspend_excluded(const node_record_t *n)
{
	bool ever = (stays.states & NODE_STATE_CLOUD) ||
		(stays.nodes && (int)n->index < bit_size(stays.nodes) &&
		 bit_test(stays.nodes, n->index));

	return ever ? VS_NODE_STAYS | VS_NODE_STAYS_EVER :
		n->node_state & stays.states ? VS_NODE_STAYS : 0;
}

/* power_save_set_timeouts() sets it, which comes after the node's record. SuspendTime=0
 * is at once. */
int64_t vs_suspend_ms(const node_record_t *n)
{
	if (n->suspend_time == INFINITE || n->suspend_time == NO_VAL)
		return 0;
	return n->suspend_time ? (int64_t)n->suspend_time * 1000 : 1;
}

/* Does nothing: a site that switches hosts off has a program for it. */
static bool is_true(const char *program)
{
	const char *slash = program ? strrchr(program, '/') : NULL;

	return program && !strcmp(slash ? slash + 1 : program, "true");
}

size_t vs_suspend_unmanaged(const char **first, char **list)
{
	bitstr_t *kept, *go;
	size_t count = 0;
	const node_record_t *n;

	if (!is_true(slurm_conf.suspend_program))
		return 0;
	kept = excluded();
	go = bit_alloc(node_record_count);
	for (int i = 0; (n = next_node(&i)); i++) {
		if (IS_NODE_CLOUD(n) || IS_NODE_FUTURE(n) || !vs_suspend_ms(n) ||
		    bit_test(kept, n->index))
			continue;
		bit_set(go, n->index);
		if (!count++)
			*first = n->name;
	}
	*list = count ? bitmap2node_name(go) : NULL;
	FREE_NULL_BITMAP(go);
	FREE_NULL_BITMAP(kept);
	return count;
}
