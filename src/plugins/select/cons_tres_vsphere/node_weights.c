/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is warm before what must boot, as Slurm itself has it; then the
 * administrator's weights; then VMs that exist before new ones.
 *
 * Rules: the weights are restored after each query, because Slurm doesn't set
 * sched_weight again before the next. Records of nodes lie far apart, and going
 * through those of 10,000 candidates is what a question costs: they are fetched
 * ahead, and those that run, most of them, keep what they have. What is noted
 * is kept from one question to the next; they come one at a time (JOB W). Where
 * stock weighs the nodes of a WILL_RUN itself, it is by their Weight and who
 * must boot: it finds another Weight there.
 */
#include "node_weights.h"
#include "util/mem.h"

/*
 * Slurm's sched_weight: a byte for cons_tres, 32 bits of Weight, two flags. For
 * nodes that are powered down it puts a constant in the place of Weight, and the
 * flag on some of them only. Nor does it renew sched_weight for WILL_RUN before
 * stock does so (VS_STOCK_WEIGHS).
 */
#define CONS_TRES UINT64_C(0xff)
#define OUTSIDE_FLEX UINT64_C(0x10000000000)
#define BOOT UINT64_C(0x20000000000)

#define AHEAD 16		/* records are asked for before they are needed */

static struct borrowed {
	node_record_t *node_ptr;
	uint64_t was;
} *borrowed;
static size_t nborrowed, cap;
static bool by_weight;		/* it is their Weight that is borrowed */

/* The administrator's Weight, where it is one for all nodes: then it need not
 * be looked for at each. */
struct common {
	bool known, differs;
	uint32_t weight;
};

static int note_weight(void *x, void *arg)
{
	const config_record_t *config_ptr = x;
	struct common *c = arg;

	c->differs |= c->known && c->weight != config_ptr->weight;
	c->known = true;
	c->weight = config_ptr->weight;
	return 0;
}

static uint64_t weight_of(const node_record_t *node_ptr, enum vs_avail avail,
			  bool renew, const struct common *common)
{
	uint64_t weight = node_ptr->sched_weight, of_admin;

	if (avail == VS_AVAIL_RUNNING && !renew)
		return weight;
	of_admin = common->known && !common->differs ? common->weight :
		node_ptr->config_ptr->weight;
	weight &= OUTSIDE_FLEX | CONS_TRES;
	weight |= of_admin << 8;
	return avail == VS_AVAIL_RUNNING ? weight : weight | BOOT;
}

/* Two bits above cons_tres' byte, for those alone that must boot: they come last
 * by that flag, which moves with the rest. */
static uint64_t with_preference(uint64_t weight, uint64_t prefer)
{
	if (!(weight & BOOT))
		return weight;
	return ((weight & ~CONS_TRES) << 2) | (prefer << 8) |
	       (weight & CONS_TRES);
}

/* In as many bits as Weight has: above, all are alike. */
static uint32_t weight_with_preference(uint32_t weight, uint64_t prefer)
{
	return MIN(weight, UINT32_MAX >> 2) << 2 | (uint32_t)prefer;
}

static const uint64_t preference[] = {
	[VS_AVAIL_RUNNING] = 0,
	[VS_AVAIL_STOPPED] = 1,
	[VS_AVAIL_TO_CREATE] = 2,
	[VS_AVAIL_NONE] = 3,
};

static uint64_t preferred(const enum vs_avail *avail, size_t i)
{
	return avail && avail[i] < VS_COUNT(preference) ?
		preference[avail[i]] : 0;
}

static void set_one(node_record_t *node_ptr, const enum vs_avail *avail,
		    size_t i, bool renew, const struct common *common)
{
	uint64_t was, own, to, prefer = preferred(avail, i);

	if (by_weight) {
		was = node_ptr->weight;
		to = weight_with_preference(node_ptr->weight, prefer);
		node_ptr->weight = (uint32_t)to;
	} else {
		was = node_ptr->sched_weight;
		own = avail ? weight_of(node_ptr, avail[i], renew, common) : was;
		to = with_preference(own, prefer);
		if (to != was)
			node_ptr->sched_weight = to;
		if (renew)	/* what Slurm had left there is out of date */
			was = own;
		if (to == was)
			return;
	}
	borrowed[nborrowed++] = (struct borrowed) { node_ptr, was };
}

static void set(const int *at, const enum vs_avail *avail, size_t n, bool renew,
		const struct common *common)
{
	VS_GROW(borrowed, cap, nborrowed + n);
	for (size_t i = 0; i < n; i++) {
		if (i + AHEAD < n)
			__builtin_prefetch(&node_record_table_ptr[at[i + AHEAD]]
					   ->sched_weight);
		set_one(node_record_table_ptr[at[i]], avail, i, renew, common);
	}
}

void vs_weights_set(const struct vs_weighed *w, bool renew)
{
	struct common common = { 0 };
	bool alike = true;

	by_weight = renew && VS_STOCK_WEIGHS;
	for (size_t i = 0; by_weight && alike && i < w->n; i++)
		alike = !preferred(w->avail, i);
	if (by_weight && alike)
		return;
	if (config_list && !by_weight)
		list_for_each(config_list, note_weight, &common);
	set(w->at, w->avail, w->n, renew, &common);
	set(w->others, NULL, w->nothers, renew, &common);
}

void vs_weights_restore(void)
{
	while (nborrowed) {
		const struct borrowed *b = &borrowed[--nborrowed];

		if (nborrowed >= AHEAD)	/* stock's work has displaced them */
			__builtin_prefetch(&borrowed[nborrowed - AHEAD]
					   .node_ptr->sched_weight, 1);
		if (by_weight)
			b->node_ptr->weight = (uint32_t)b->was;
		else
			b->node_ptr->sched_weight = b->was;
	}
}
