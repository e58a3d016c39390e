/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Does one partition have the nodes that a job asks for? Against what nodes and
 * hosts there are: not against what is free, up, reserved or allowed. No sentence
 * is made here (messages.c), and no other partition is looked at (feasibility.c).
 */
#include "feasibility.h"
#include "plugins/slurm/bitmap_iter.h"
#include "plugins/license_text.h"
#include "util/mem.h"

bool vs_part_unmanaged(void *arg, part_record_t *part_ptr)
{
	const struct vs_case *c = arg;

	return !part_ptr->node_bitmap ||
	       bit_size(part_ptr->node_bitmap) != bit_size(c->o->nodes) ||
	       !bit_overlap_any(part_ptr->node_bitmap, c->o->nodes);
}

/* ---- nodes --------------------------------------------------------------------- */

struct most { bitstr_t *nodes; uint32_t cpus; };

static int cpus_look(void *x, void *arg)
{
	const config_record_t *config = x;
	struct most *m = arg;
	uint32_t cpus = (uint32_t)config->tot_sockets * config->cores *
		config->threads;

	if (config->node_bitmap &&
	    bit_size(config->node_bitmap) == bit_size(m->nodes) &&
	    bit_overlap_any(config->node_bitmap, m->nodes))
		m->cpus = MAX(m->cpus, MAX(cpus, config->cpus));
	return 0;
}

/* Of any of these nodes. */
static uint32_t most_cpus(bitstr_t *nodes)
{
	struct most m = { .nodes = nodes };

	list_for_each(config_list, cpus_look, &m);
	return m.cpus;
}

/*
 * Writes the core's ids of those of these nodes that are managed, at most
 * `need` of each type of VM, because more change no answer; and their type, if
 * they are of one adapter. *all: how many are managed.
 */
static size_t ours_of(const struct vs_node_map *o, bitstr_t *nodes, size_t need,
		      int **ids, size_t *all, const struct vs_vm_type **kind)
{
	size_t n = 0;

	*all = (size_t)bit_overlap(nodes, o->nodes);
	*ids = vs_calloc(MIN(*all, need * o->nlike) + 1, sizeof(**ids));
	*kind = NULL;
	for (size_t l = 0; l < o->nlike; l++) {
		size_t got = 0;

		if (!bit_overlap_any(nodes, o->like[l]))
			continue;
		VS_EACH_BIT(i, o->like[l]) {
			if (got == need)
				break;
			if (!bit_test(nodes, i))
				continue;
			if (!n)
				*kind = &o->kinds[i];
			else if (*kind && (*kind)->adapter != o->kinds[i].adapter)
				*kind = NULL;
			(*ids)[n++] = o->ids[i];
			got++;
		}
	}
	return n;
}

/* Do the hosts hold `need` of these, others' nodes among them? more: the
 * partition may get more such nodes. */
static bool hosts_hold(const struct vs_case *c, bitstr_t *nodes, uint32_t need,
		       bool more, struct vs_finding *f)
{
	VS_FREE int *ids = NULL;
	size_t all, n = ours_of(c->o, nodes, need, &ids, &all, &f->kind);
	size_t others = (size_t)bit_set_count(nodes) - all, have;

	if (!n || others >= need || (more && others))
		return true;
	have = c->o->core->capacity(ids, n, need - others, more);
	f->have = (uint32_t)(have + others);
	return f->have >= need;
}

/* Slurm lets wait who is too large for the partition, which may grow. */
static bool may_grow(const part_record_t *part_ptr, uint32_t need)
{
	return !slurm_conf.enforce_part_limits &&
	       need > part_ptr->total_nodes;
}

/* Are `need` of these there, and may their VMs be? */
static enum vs_verdict set_fits(const struct vs_case *c, bitstr_t *nodes,
				uint32_t need, struct vs_finding *f)
{
	bool grows = may_grow(f->part, need);

	f->need = need;
	f->have = (uint32_t)bit_set_count(nodes);
	if (!c->w->features && f->have < need && !grows)
		return VS_GOES_UNMANAGED;
	if (!f->have)
		return c->w->features ? VS_NONE : VS_GOES_UNMANAGED;
	if (!bit_overlap_any(nodes, c->o->nodes))
		return f->have < need ? VS_GOES_UNMANAGED : VS_GOES;
	/* "ask for N at most" must name a number that is then let through; of
	 * counted groups no number is named */
	if (f->have < need && !grows)
		return f->counted || hosts_hold(c, nodes, f->have, false, f) ?
			VS_FEW : VS_HOSTS;
	return hosts_hold(c, nodes, need, grows, f) ? VS_GOES : VS_HOSTS;
}

/* ---- a partition ----------------------------------------------------------------- */

/* All that it asks for by name must fit. */
static enum vs_verdict named_fit(const struct vs_case *c, bitstr_t *nodes,
				 struct vs_finding *f)
{
	bitstr_t *named = c->named ? bit_copy(c->named) : NULL;
	enum vs_verdict v = VS_GOES;

	if (!named)
		return VS_GOES;
	bit_and(named, f->part->node_bitmap);	/* else Slurm says so */
	if (c->excluded)	/* named and excluded: its adapter is no matter */
		bit_and_not(named, c->excluded);
	bit_and_not(named, nodes);
	bit_and(named, c->o->nodes);
	f->node = bit_ffs(named);
	if (f->node >= 0)
		v = VS_NAMED;
	FREE_NULL_BITMAP(named);
	return v;
}

/* Would its nodes be VMs for one job each, and it shares them? */
static enum vs_verdict sharing_fits(const struct vs_case *c, bitstr_t *nodes,
				    const struct vs_finding *f)
{
	if (c->w->alone || !f->part->max_share || bit_ffs(nodes) < 0)
		return VS_GOES;
	return bit_super_set(nodes, c->o->alone) ? VS_SHARED : VS_GOES;
}

/* [a|b]: one of them for all of the job's nodes. */
static enum vs_verdict one_of_fits(const struct vs_case *c, bitstr_t *nodes,
				   uint32_t need, struct vs_finding *f)
{
	struct vs_finding best = { 0 };

	for (size_t i = 0; i < c->c.n; i++) {
		bitstr_t *these = bit_copy(nodes);
		struct vs_finding one = *f;

		bit_and(these, c->c.groups[i].nodes);
		one.words = c->c.groups[i].words;
		one.verdict = set_fits(c, these, need, &one);
		FREE_NULL_BITMAP(these);
		if (one.verdict <= VS_GOES_UNMANAGED)
			return one.verdict;
		if (!best.part || one.have > best.have)
			best = one;
	}
	*f = best;
	return best.verdict;
}

/* a*2&b*2: each node must be of both kinds. */
static bool both_fit(const struct vs_case *c, bitstr_t *nodes)
{
	bitstr_t *both = bit_copy(nodes);
	bool any;

	for (size_t i = 0; i < c->c.n; i++)
		if (c->c.groups[i].plain)
			bit_and(both, c->c.groups[i].nodes);
	any = bit_ffs(both) >= 0;
	FREE_NULL_BITMAP(both);
	return any;
}

/* [a*2&b*2], or a*2 alone: so many of each. */
static enum vs_verdict counts_fit(const struct vs_case *c, bitstr_t *nodes,
				  uint32_t need, struct vs_finding *f)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < c->c.n; i++)
		sum += c->c.groups[i].count;
	if (c->w->max && sum > c->w->max &&
	    !vs_part_unmanaged((void *)c, (part_record_t *)f->part)) {
		f->need = (uint32_t)sum;
		f->have = c->w->max;
		return VS_COUNTS;
	}
	if (!both_fit(c, nodes))
		return c->c.n > 1 ? VS_UNREAD : VS_NONE;
	for (size_t i = 0; i < c->c.n; i++) {
		const struct vs_group *g = &c->c.groups[i];
		bitstr_t *these = bit_copy(nodes);
		enum vs_verdict v;

		bit_and(these, g->nodes);
		f->words = g->words;
		f->counted = true;
		v = set_fits(c, these, g->count, f);
		FREE_NULL_BITMAP(these);
		if (v == VS_NONE || v == VS_FEW)
			return VS_FEW_COUNTED;
		if (v != VS_GOES)
			return v;
	}
	f->words = c->w->features;
	f->counted = false;
	return need > sum ? set_fits(c, nodes, need, f) : VS_GOES;
}

/* Are there enough nodes without those whose VFs are counted by licenses? */
static enum vs_verdict licenses_fit(const struct vs_case *c, bitstr_t *nodes)
{
	uint32_t need = vs_request_least(c->w, most_cpus(nodes));

	if (!c->counted || !bit_overlap_any(nodes, c->counted))
		return VS_GOES;
	return (uint32_t)(bit_set_count(nodes) -
			  bit_overlap(nodes, c->counted)) < need ?
		VS_LICENSES : VS_GOES;
}

static enum vs_verdict part_fits(const struct vs_case *c, bitstr_t *nodes,
				 struct vs_finding *f)
{
	uint32_t need = vs_request_least(c->w, most_cpus(nodes));
	enum vs_verdict v = named_fit(c, nodes, f);

	if (!v)
		v = !c->c.n ? set_fits(c, nodes, need, f) :
			c->c.groups[0].one_of ?
			one_of_fits(c, nodes, need, f) :
			counts_fit(c, nodes, need, f);
	if (!v)
		v = licenses_fit(c, nodes);
	return v ? v : sharing_fits(c, nodes, f);
}

enum vs_verdict vs_partition_check(const struct vs_case *c,
				   part_record_t *part_ptr,
				   struct vs_finding *f)
{
	bitstr_t *nodes;

	*f = (struct vs_finding) { .part = part_ptr, .words = c->w->features };
	if (!part_ptr->node_bitmap ||
	    bit_size(part_ptr->node_bitmap) != bit_size(c->o->nodes))
		return VS_GOES;
	nodes = bit_copy(part_ptr->node_bitmap);
	bit_and(nodes, c->c.nodes);
	if (c->excluded)
		bit_and_not(nodes, c->excluded);
	f->verdict = part_fits(c, nodes, f);
	FREE_NULL_BITMAP(nodes);
	return f->verdict;
}
