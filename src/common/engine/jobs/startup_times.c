/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a job had to wait for, apart from its run time, of which Slurm leaves it
 * out: measured from job_begin to the answer of its prolog, on the steps as they
 * end. In memory alone: of a job that began before this process nothing is said,
 * for the part that is known would be read as the whole; nor of jobs that come to
 * one VM while it is made ready for the first.
 */
#include <stdlib.h>
#include "engine/jobs/jobs.h"
#include "engine/state/state.h"
#include "util/mem.h"
#include "util/time.h"

/* Jobs that share a VM share its steps: whose wait was it? */
static bool others_wait(const struct vs_node *n)
{
	for (size_t i = 0; i < n->claims.nbeside; i++)
		if (!n->claims.beside[i].runs)
			return true;
	return false;
}

void vs_startup_times_begin(struct vs_core *c, const int *ids, size_t n,
			    const struct vs_pending *r, int64_t now_ms)
{
	for (size_t i = 0; i < n; i++) {
		struct vs_node *node = vs_node_at(c, ids[i]);

		if (!node || others_wait(node))
			continue;
		node->took = (struct vs_startup_times) {
			.began_ms = now_ms,
			.lacked_ms = r && r->lacked_ms ?
				now_ms - r->lacked_ms : 0,
			.cold = !(node->flags & VS_NODE_UP),
		};
	}
}

void vs_startup_times_note(struct vs_node *n, int what, int64_t ms)
{
	struct vs_startup_times *t = &n->took;

	if (!t->began_ms)
		return;
	switch (what) {
	case VS_OP_CLONE:
		t->clone_ms += ms;
		break;
	case VS_OP_RECONFIGURE:
	case VS_OP_RELOCATE:
		t->change_ms += ms;
		break;
	case VS_OP_POWER_ON:
		t->on_ms += ms;
		break;
	case VS_DURATION_BOOT:
		t->boot_ms += ms;
		break;
	default:
		return;
	}
	t->cold = true;		/* a running one that had to be recreated,
				 * too */
}

void vs_startup_times_end(struct vs_core *c, const struct vs_wait *w,
			  int64_t now_ms)
{
	for (size_t i = 0; i < w->n; i++)
		c->nodes[w->ids[i]].took.up_ms = now_ms;
}

static void longer(int64_t *most, int64_t ms)
{
	if (ms > *most)
		*most = ms;
}

static void word_add(char **text, const char *key, int64_t ms)
{
	char *more;

	if (!ms)
		return;
	more = vs_asprintf("%s %s=%.1f", *text, key, (double)ms / 1000);
	free(*text);
	*text = more;
}

char *vs_startup_times_text(const struct vs_core *c, const struct vs_wait *w,
			    int64_t now_ms)
{
	struct vs_startup_times most = { 0 };
	size_t cold = 0;
	char *text;

	for (size_t i = 0; i < w->n; i++) {
		const struct vs_startup_times *t = &c->nodes[w->ids[i]].took;

		if (!t->began_ms)
			return NULL;
		longer(&most.began_ms, now_ms - t->began_ms);
		longer(&most.lacked_ms, t->lacked_ms);
		longer(&most.clone_ms, t->clone_ms);
		longer(&most.change_ms, t->change_ms);
		longer(&most.on_ms, t->on_ms);
		longer(&most.boot_ms, t->boot_ms);
		cold += t->cold;
	}
	text = vs_asprintf("waited_s=%.1f provision_s=%.1f cold=%zu",
			   (double)most.lacked_ms / 1000,
			   (double)most.began_ms / 1000, cold);
	word_add(&text, "clone_s", most.clone_ms);
	word_add(&text, "change_s", most.change_ms);
	word_add(&text, "power_on_s", most.on_ms);
	word_add(&text, "boot_s", most.boot_ms);
	return text;
}
