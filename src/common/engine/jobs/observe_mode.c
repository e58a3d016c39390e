/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Mode=observe: slurm-vsphere counts, plans and reports, and changes nothing.
 * The client sends no mutating call (vcenter/calls/vm_calls.c). Nodes are
 * compared with their VMs, but not acted on (node.c). No job gets a node that
 * slurm-vsphere manages; this file describes what would be done for such a job.
 * It never makes a claim.
 */
#include <stdio.h>
#include <string.h>
#include "engine/allocation/allocation.h"
#include "engine/jobs/jobs.h"
#include "engine/state/state.h"
#include "util/buf.h"
#include "util/mem.h"

#define SAID 3		/* nodes in one text */
#define MOST 64		/* nodes that one text is about */

const char *vs_observe_blocked(const struct vs_core *c)
{
	vs_assert_locked();
	return c->blocked[0] ? c->blocked :
		c->unserved[0] ? c->unserved :
		c->vc_state[0] ? c->vc_state :
		!c->ready ? "vCenter's inventory is being read" : NULL;
}

int vs_observe_place(struct vs_core *c, struct vs_node *n,
		     struct vs_place_node *at, struct vs_err *err)
{
	const struct vs_vm *vm = vs_node_vm(c, n);
	bool on = vm && vm->power == VS_POWER_ON;
	const char *why = vs_node_blocked(c, n);

	vs_assert_locked();
	if (!why && !on)
		why = vs_clone_blocked(c, n);
	if (why)
		return vs_err_set(err, VS_E_SHORTAGE, "%s", why);
	if (!on)
		vs_place_node_fill(c, n, at);
	return !on;
}

/* The places that these n nodes would get now, for those whose VM isn't on, into
 * at[]. Returns 0, or -1 with the reason: they would wait. */
static int places(struct vs_core *c, struct vs_node *const *nodes, size_t n,
		  struct vs_place_node *at, size_t *nplace, struct vs_err *err)
{
	const char *why = vs_observe_blocked(c);
	struct vs_place_env env;

	*nplace = 0;
	if (why)
		return vs_err_set(err, VS_E_SHORTAGE, "%s", why);
	for (size_t i = 0; i < n; i++) {
		int needs = vs_observe_place(c, nodes[i], &at[*nplace], err);

		if (needs < 0)
			return -1;
		*nplace += (size_t)needs;
	}
	vs_env_fill(c, &env);
	return *nplace ? vs_place(&env, at, *nplace, err) : 0;
}

static void say_places(const struct vs_place_node *all, size_t n,
		       struct vs_buf *b)
{
	vs_buf_printf(b, "would place");
	for (size_t i = 0; i < n && i < SAID; i++) {
		const struct vs_place_node *at = &all[i];

		vs_buf_printf(b, "%s %s on %s", i ? "," : "", at->node,
			      at->host->name);
		for (int k = 0; k < at->npfs; k++)
			vs_buf_printf(b, "%s%s", k ? "+" : " PF ",
				      at->pfs[k]->pci);
	}
	if (n > SAID)
		vs_buf_printf(b, " and %zu more", n - SAID);
}

void vs_observe_text(struct vs_core *c, const struct vs_pending *r, char *out,
		     size_t size)
{
	struct vs_buf b = VS_BUF_INIT(2048);
	struct vs_node *nodes[MOST];
	struct vs_place_node at[MOST] = { 0 };
	size_t n = 0, nplace;
	struct vs_err err = { 0 };

	for (size_t i = 0; i < r->n && n < r->need && n < MOST; i++)
		if (r->ids[i] >= 0 && (size_t)r->ids[i] < c->nnodes)
			nodes[n++] = &c->nodes[r->ids[i]];
	vs_buf_printf(&b, "Mode=observe: ");
	if (places(c, nodes, n, at, &nplace, &err))
		vs_buf_printf(&b, "would wait: %s", err.text);
	else if (nplace)
		say_places(at, nplace, &b);
	else if (n)
		vs_buf_printf(&b, "would use VMs that are running, such as %s",
			      nodes[0]->name);
	else
		vs_buf_printf(&b, "nothing is changed in vCenter");
	vs_strlcpy(out, b.data, size);
	vs_buf_free(&b);
}
