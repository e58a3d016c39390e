/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One cell per VF. How many of a PF are in use, held and free is the ledger's
 * word ("hosts"); whose they are comes from the nodes that hold them ("nodes").
 * The two are asked one after the other, and a user may be shown less of nodes
 * than of hosts: what is counted and named by no node is shown without a name,
 * and no more cells are shown than there are VFs, or than are promised.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "top.h"
#include "util/hash.h"
#include "util/mem.h"

const struct top_use_row top_uses[TOP_USES] = {
	[TOP_JOB] = { 'A', "job", "job with this letter",
		"in use by the job of that letter" },
	[TOP_MAKING] = { 'a', "coming", "its VM is not on yet",
		"reserved for the job of that letter, whose VM isn't on yet" },
	[TOP_IDLE] = { '=', "idle", "VM without a job",
		"in use by a VM of this Slurm that has no job" },
	[TOP_HIDDEN] = { '*', "hidden", "job without a letter",
		"in use by a VM of this Slurm; its job is not shown" },
	[TOP_HELD] = { '+', "reserved", "reserved",
		"reserved for a node whose VM isn't on yet" },
	[TOP_FOREIGN] = { '#', "foreign", "other VM", "in use by another VM" },
	[TOP_SUSPECT] = { '!', "unverified", "unverified VM",
		"in use by a VM of unverified ownership" },
	[TOP_FREE] = { '.', "free", "free", "free" },
	[TOP_BARRED] = { '-', "blocked", "free, but blocked",
		"free, but VMs are kept away from it" },
	[TOP_QUARANTINED] = { 'x', "quarantined", "free, host quarantined",
		"free, but its host is quarantined" },
	[TOP_UNKNOWN] = { '?', "unknown", "not known now",
		"can't be counted now" },
};

char top_cell_char(const struct top_model *m, const struct top_cell *c)
{
	if (c->job < 0 || !m->jobs[c->job].letter)
		return c->use == TOP_JOB ? top_uses[TOP_HIDDEN].ch :
		       c->use == TOP_MAKING ? top_uses[TOP_HELD].ch :
		       top_uses[c->use].ch;
	return c->use == TOP_MAKING ? (char)(m->jobs[c->job].letter | 0x20) :
		m->jobs[c->job].letter;
}

struct named { const char *name; size_t at; UT_hash_handle hh; };

static void put(struct top_pf *p, int use, int job)
{
	if (p->ncells == TOP_PF_CELLS) {
		p->more++;
		return;
	}
	if (!p->cells)
		p->cells = vs_calloc(TOP_PF_CELLS, sizeof(*p->cells));
	p->cells[p->ncells++] = (struct top_cell){ .use = (unsigned char)use,
						   .job = job };
}

/* ---- whose, by the nodes ------------------------------------------------------ */

static bool is_on(struct vs_j node)
{
	const char *s = vs_j_str_or(vs_j_opt(node, "vm_state"), "");

	return !strcmp(s, "ON") || !strcmp(s, "STOPPING");
}

static bool is_taken(struct vs_j node)
{
	const char *s = vs_j_str_or(vs_j_opt(node, "node_state"), "");

	return !strcmp(s, "ALLOCATED") || !strcmp(s, "COMPLETING") ||
	       strstr(s, "DRAINING");
}

static void node_put(struct top_model *m, struct top_host *h, struct vs_j node)
{
	const char *pfs = vs_j_str_or(vs_j_opt(node, "pf"), "");
	int64_t number = vs_j_int_or(vs_j_opt(node, "job"), 0);
	int job = top_job_at(m, number);
	bool on = is_on(node);
	int use = number > 0 ? on ? TOP_JOB : TOP_MAKING :
		!on ? TOP_HELD : is_taken(node) ? TOP_HIDDEN : TOP_IDLE;

	while (*pfs) {
		size_t len = strcspn(pfs, ",");

		for (int i = 0; i < h->npfs; i++)
			if (strlen(h->pfs[i].pci) == len &&
			    !strncmp(h->pfs[i].pci, pfs, len)) {
				put(&h->pfs[i], use, job);
				break;
			}
		pfs += len + !!pfs[len];
	}
}

static void nodes_put(struct top_model *m, struct vs_j nodes)
{
	struct named *all = vs_calloc(m->nhosts + 1, sizeof(*all));
	struct named *by_name = NULL, *found;

	for (size_t i = 0; i < m->nhosts; i++) {
		all[i] = (struct named){ .name = m->hosts[i].name, .at = i };
		HASH_FIND_STR(by_name, all[i].name, found);
		if (!found)
			HASH_ADD_KEYPTR(hh, by_name, all[i].name,
					strlen(all[i].name), &all[i]);
	}
	for (size_t i = 0; i < vs_j_len(nodes); i++) {
		struct vs_j node = vs_j_at(nodes, i);
		const char *host = vs_j_str_or(vs_j_opt(node, "host"), "");

		HASH_FIND_STR(by_name, host, found);
		if (found)
			node_put(m, &m->hosts[found->at], node);
	}
	HASH_CLEAR(hh, by_name);
	free(all);
}

/* ---- the rest, by the counts --------------------------------------------------- */

static int count(struct vs_j pf, const char *key)
{
	int64_t n = vs_j_int_or(vs_j_opt(pf, key), 0);

	return n < 0 ? 0 : n > 1000000 ? 1000000 : (int)n;
}

/* All but those of these uses that are there already; at most so many. */
static void put_rest(struct top_pf *p, int n, int use, unsigned int counted,
		     int most)
{
	for (int i = 0; i < p->ncells; i++)
		n -= counted >> p->cells[i].use & 1;
	n = n < most ? n : most;
	while (n-- > 0 && p->more < 1000000)
		put(p, use, -1);
}

/* Is it this PF that VMs are kept away from, or its host? A reason that begins
 * with the address of a PF speaks of that one. */
static bool pf_avoided(const struct top_host *h, const struct top_pf *p,
		       struct vs_j reasons)
{
	for (size_t i = 0; i < vs_j_len(reasons); i++) {
		const char *why = vs_j_str(vs_j_at(reasons, i));
		bool others = false;

		for (int k = 0; k < h->npfs; k++) {
			size_t len = strlen(h->pfs[k].pci);

			if (!len || strncmp(why, h->pfs[k].pci, len) ||
			    why[len] != ':')
				continue;
			if (&h->pfs[k] == p)
				return true;
			others = true;
		}
		if (!others)
			return true;
	}
	return !vs_j_len(reasons);
}

static int free_use(const struct top_host *h, const struct top_pf *p,
		    struct vs_j host, struct vs_j pf)
{
	if (vs_j_bool_or(vs_j_opt(pf, "unknown"), false) ||
	    !strcmp(h->state, "UNKNOWN"))
		return TOP_UNKNOWN;
	if (!strcmp(h->state, "UP") || !strcmp(h->state, "ON_TRIAL"))
		return TOP_FREE;
	if (!strcmp(h->state, "QUARANTINED"))
		return TOP_QUARANTINED;
	if (!strcmp(h->state, "EXCLUDED"))
		return pf_avoided(h, p, vs_j_opt(host, "reasons")) ?
			TOP_BARRED : TOP_FREE;
	return TOP_BARRED;
}

static int by_use(const void *a, const void *b)
{
	const struct top_cell *x = a, *y = b;

	return x->use != y->use && (x->use > TOP_MAKING || y->use > TOP_MAKING)
		? x->use - y->use :
		x->job != y->job ? x->job - y->job : x->use - y->use;
}

static void pf_fill(struct top_model *m, struct top_host *h, struct top_pf *p,
		    struct vs_j host, struct vs_j pf)
{
	int total = count(pf, "total"), ours = count(pf, "managed");
	int held = count(pf, "reserved"), all;
	int64_t free = vs_j_int_or(vs_j_opt(pf, "free"), 0);
	int use = free_use(h, p, host, pf);
	const unsigned int on = 1u << TOP_JOB | 1u << TOP_IDLE |
		1u << TOP_HIDDEN;
	const unsigned int coming = 1u << TOP_MAKING | 1u << TOP_HELD;

	/* A VM may be counted as managed and named as coming, for a moment. */
	put_rest(p, ours, TOP_HIDDEN, on, ours + held - p->ncells);
	put_rest(p, held, TOP_HELD, coming, ours + held - p->ncells);
	put_rest(p, count(pf, "foreign"), TOP_FOREIGN, 0, INT_MAX);
	put_rest(p, count(pf, "unverified"), TOP_SUSPECT, 0, INT_MAX);
	all = p->ncells + p->more;
	while (all++ < total)
		put(p, use, -1);
	p->over = free < 0 && free > -1000000 ? (int)-free : 0;
	if (p->cells)
		qsort(p->cells, (size_t)p->ncells, sizeof(*p->cells), by_use);
	h->total += total;
	h->devices += p->device ? total : 0;
	for (int i = 0; i < p->ncells; i++) {
		m->uses[p->cells[i].use]++;
		h->free += p->cells[i].use == TOP_FREE;
	}
}

void top_cells(struct top_model *m, struct vs_j hosts, struct vs_j nodes)
{
	nodes_put(m, nodes);
	for (size_t i = 0; i < m->nhosts; i++) {
		struct vs_j host = vs_j_at(hosts, i);
		struct vs_j pfs = vs_j_opt(host, "pfs");

		for (int k = 0; k < m->hosts[i].npfs; k++)
			pf_fill(m, &m->hosts[i], &m->hosts[i].pfs[k], host,
				vs_j_at(pfs, (size_t)k));
	}
}
