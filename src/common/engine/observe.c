/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Mode=observe: all is counted, planned and told, nothing is changed. The
 * client sends no mutating call (vcenter/call.c), nodes are compared but not
 * acted on (node.c), nodes of ours are given to no job; what would be done for
 * one is put in words here. Never takes a hold.
 */
#include <stdio.h>
#include <string.h>
#include "engine/core_i.h"
#include "util/buf.h"
#include "util/mem.h"

#define SAID 3		/* nodes in one text */

struct plan {
	struct vs_node *nodes[64];	/* a text says less */
	struct vs_place_node at[64];
	size_t n;			/* of them are to be placed */
	const char *barred;
};

static const struct vs_node *on_already(struct vs_core *c, struct plan *p,
					const struct vs_refused *r)
{
	const struct vs_node *on = NULL;
	size_t all = 0;

	for (size_t i = 0; i < r->n && all < r->need && p->n < 64; i++) {
		struct vs_node *n = r->ids[i] >= 0 &&
			(size_t)r->ids[i] < c->nnodes ? &c->nodes[r->ids[i]] :
			NULL;
		const struct vs_vm *vm = n ? vs_node_vm(c, n) : NULL;

		if (!n)
			continue;
		all++;
		if (!p->barred)
			p->barred = vs_node_barred(c, n);
		if (vm && vm->power == VS_POWER_ON) {
			on = n;
			continue;
		}
		if (!p->barred)
			p->barred = vs_clone_lacks(c, n);
		vs_place_node_fill(c, n, &p->at[p->n]);
		p->nodes[p->n++] = n;
	}
	return on;
}

static void say_places(const struct plan *p, struct vs_buf *b)
{
	vs_buf_printf(b, "would place");
	for (size_t i = 0; i < p->n && i < SAID; i++) {
		const struct vs_place_node *at = &p->at[i];

		vs_buf_printf(b, "%s %s on %s", i ? "," : "", at->node,
			      at->host->name);
		for (int k = 0; k < at->npfs; k++)
			vs_buf_printf(b, "%s%s", k ? "+" : " PF ",
				      at->pfs[k]->pci);
	}
	if (p->n > SAID)
		vs_buf_printf(b, " and %zu more", p->n - SAID);
}

void vs_observe_say(struct vs_core *c, const struct vs_refused *r, char *out,
		    size_t size)
{
	struct vs_buf b = VS_BUF_INIT(2048);
	const char *why = c->blocked[0] ? c->blocked : c->vc_state[0] ?
		c->vc_state : !c->ready ? "vCenter is being read" : NULL;
	struct plan p = { .n = 0 };
	const struct vs_node *on = why ? NULL : on_already(c, &p, r);
	struct vs_err err = { 0 };
	struct vs_place_env env;

	vs_buf_printf(&b, "Mode=observe: ");
	vs_env_fill(c, &env);
	if (why || p.barred)
		vs_buf_printf(&b, "would wait: %s", why ? why : p.barred);
	else if (p.n && vs_place(&env, p.at, p.n, NULL, &err))
		vs_buf_printf(&b, "would wait: %s", err.text);
	else if (p.n)
		say_places(&p, &b);
	else if (on)
		vs_buf_printf(&b, "would use VMs that are on, as %s", on->name);
	else
		vs_buf_printf(&b, "nothing is changed in vCenter");
	vs_strlcpy(out, b.data, size);
	vs_buf_free(&b);
}
