/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is warm before what must boot, as Slurm itself has it; then the
 * administrator's weights; then VMs that exist before new ones.
 *
 * Rules: what is borrowed is given back as it was, for Slurm doesn't set
 * sched_weight anew before each question. With 10,000 candidates each of them
 * is met twice, to set and to restore: their records lie far apart, and going
 * through all of them is what a question costs. What is noted for that is kept
 * from one question to the next; they come one at a time (JOB W).
 * Where stock weighs the nodes of a WILL_RUN itself, it is by their Weight and
 * who must boot: it finds another Weight there.
 */
#include "weights.h"
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

	if (avail == VS_AVAIL_WARM && !renew)
		return weight;
	of_admin = common->known && !common->differs ? common->weight :
		node_ptr->config_ptr->weight;
	weight &= OUTSIDE_FLEX | CONS_TRES;
	weight |= of_admin << 8;
	return avail == VS_AVAIL_WARM ? weight : weight | BOOT;
}

/* Two bits above cons_tres' byte. Others' nodes need no VM, and must stay
 * comparable. */
static uint64_t with_preference(uint64_t weight, uint64_t prefer)
{
	return ((weight & ~CONS_TRES) << 2) | (prefer << 8) |
	       (weight & CONS_TRES);
}

/* In as many bits as Weight has: above, all are alike. */
static uint32_t weight_with_preference(uint32_t weight, uint64_t prefer)
{
	return MIN(weight, UINT32_MAX >> 2) << 2 | (uint32_t)prefer;
}

void vs_weights_set(const int *at, const enum vs_avail *avail, size_t n,
		    bool renew)
{
	static const uint64_t prefer[] = {
		[VS_AVAIL_WARM] = 0, [VS_AVAIL_OFF] = 1, [VS_AVAIL_NEW] = 2,
		[VS_AVAIL_NONE] = 3,
	};

	struct common common = { 0 };

	by_weight = renew && VS_STOCK_WEIGHS;
	if (config_list && !by_weight)
		list_for_each(config_list, note_weight, &common);
	VS_GROW(borrowed, cap, nborrowed + n);
	for (size_t i = 0; i < n; i++) {
		node_record_t *node_ptr = node_record_table_ptr[at[i]];
		bool of_ours = avail && avail[i] < VS_COUNT(prefer);
		uint64_t first = of_ours ? prefer[avail[i]] : 0;
		uint64_t was = by_weight ? node_ptr->weight :
			node_ptr->sched_weight;

		borrowed[nborrowed++] = (struct borrowed) { node_ptr, was };
		if (by_weight)
			node_ptr->weight = weight_with_preference(
				node_ptr->weight, first);
		else
			node_ptr->sched_weight = with_preference(
				of_ours ? weight_of(node_ptr, avail[i], renew,
						    &common) : was, first);
	}
}

void vs_weights_restore(void)
{
	while (nborrowed) {
		const struct borrowed *b = &borrowed[--nborrowed];

		if (by_weight)
			b->node_ptr->weight = (uint32_t)b->was;
		else
			b->node_ptr->sched_weight = b->was;
	}
}
