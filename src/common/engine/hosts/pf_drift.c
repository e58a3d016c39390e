/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * PFs that aren't what they were. A driver's max_vfs is a list in PCI order, and
 * addresses follow slots: a NIC that is added or moved gives VFs to another PF
 * than before (Broadcom KB 309346), and what an address meant yesterday may be
 * another port today. So each host's PFs are remembered, by name in the hints
 * file; one that has another NIC, another address, or VFs that another PF lost,
 * is told and takes no VM until an operator says that it is right (svf host
 * resume) or it is as it was.
 *
 * Rules: VFs that only go are no drift, for nothing is placed where there are
 * none; VMs that run are left alone; a host that isn't connected tells nothing.
 * The lock is held.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/hosts/hosts.h"
#include "engine/hosts/hosts_i.h"
#include "engine/state/state.h"
#include "util/json.h"
#include "util/mem.h"

struct vs_host_fingerprint *vs_fingerprint_get(const char *name)
{
	struct vs_host_fingerprint *p;

	vs_assert_locked();
	HASH_FIND_STR(vs_hosts.prints, name, p);
	return p;
}

static struct vs_host_fingerprint *print_make(const char *name)
{
	struct vs_host_fingerprint *p = vs_fingerprint_get(name);

	if (p)
		return p;
	p = vs_calloc(1, sizeof(*p));
	vs_strlcpy(p->host, name, sizeof(p->host));
	HASH_ADD_STR(vs_hosts.prints, host, p);
	return p;
}

static struct vs_pf_fingerprint *was_at(struct vs_host_fingerprint *p,
					const char *pci)
{
	for (int i = 0; i < p->npfs; i++)
		if (!strcmp(p->pfs[i].pci, pci))
			return &p->pfs[i];
	return NULL;
}

int vs_pf_change_most(const struct vs_host *h,
		      const char *pci)
{
	struct vs_host_fingerprint *p = vs_fingerprint_get(h->name);
	const struct vs_pf_fingerprint *was = p ? was_at(p, pci) : NULL;

	vs_assert_locked();
	return was ? was->vfs : 0;
}

static const struct vs_pf_fingerprint *nic_was(
	const struct vs_host_fingerprint *p, const char *pnic)
{
	for (int i = 0; pnic[0] && i < p->npfs; i++)
		if (!strcmp(p->pfs[i].pnic, pnic))
			return &p->pfs[i];
	return NULL;
}

static bool some_lost(const struct vs_host_fingerprint *p, struct vs_host *h)
{
	for (int i = 0; i < p->npfs; i++) {
		const struct vs_pf *pf = vs_host_pf(h, p->pfs[i].pci);

		if ((pf ? pf->vfs : 0) < p->pfs[i].vfs)
			return true;
	}
	return false;
}

/* What is wrong with it, in words; "" if nothing is. */
static void judge(struct vs_host_fingerprint *p, const struct vs_pf *pf,
		  bool lost, char *why, size_t size)
{
	const struct vs_pf_fingerprint *was = was_at(p, pf->pci);
	const struct vs_pf_fingerprint *nic = nic_was(p, pf->pnic);

	why[0] = '\0';
	if (nic && strcmp(nic->pci, pf->pci))
		snprintf(why, size, "%s was at %s before", pf->pnic, nic->pci);
	else if (was && was->pnic[0] && pf->pnic[0] &&
		 strcmp(was->pnic, pf->pnic))
		snprintf(why, size, "was %s before, is %s now", was->pnic,
			 pf->pnic);
	else if (lost && pf->vfs > (was ? was->vfs : 0))
		snprintf(why, size,
			 "has %d VFs now, %d before, and another PF has lost some",
			 pf->vfs, was ? was->vfs : 0);
}

static void remember(struct vs_host_fingerprint *p,
		     const struct vs_pf *pf)
{
	struct vs_pf_fingerprint *was = was_at(p, pf->pci),
				 now = { .vfs = pf->vfs };

	vs_strlcpy(now.pci, pf->pci, sizeof(now.pci));
	vs_strlcpy(now.pnic, pf->pnic, sizeof(now.pnic));
	if (!was && p->npfs == VS_HOST_PFS)
		return;
	if (!was) {
		was = &p->pfs[p->npfs++];
	} else {
		/* The most it ever had: see some_lost. */
		if (now.vfs < was->vfs)
			now.vfs = was->vfs;
		if (!now.pnic[0])
			vs_strlcpy(now.pnic, was->pnic, sizeof(now.pnic));
		if (now.vfs == was->vfs && !strcmp(now.pnic, was->pnic))
			return;
	}
	*was = now;
	vs_state_file_dirty();
}

static const struct vs_exclusion *told(const struct vs_host *h, const char *pci)
{
	const struct vs_exclusion *a = vs_hosts.avoids;

	while (a && (a->cause != VS_EXCLUDED_PF_CHANGE ||
		     strcmp(a->moid, h->moid) || strcmp(a->pf, pci)))
		a = a->next;
	return a;
}

static int told_of(const struct vs_host *h)
{
	int n = 0;

	for (const struct vs_exclusion *a = vs_hosts.avoids; a; a = a->next)
		n += a->cause == VS_EXCLUDED_PF_CHANGE &&
		     !strcmp(a->moid, h->moid);
	return n;
}

void vs_pf_change_observe(struct vs_host *h)
{
	char why[VS_HOST_PFS][120];
	struct vs_host_fingerprint *p;
	int drifted = 0, same = 0;
	bool lost;

	vs_assert_locked();
	if (!h->connected || !h->pfs_known || !h->name[0] || !vs_state_file_is_read())
		return;
	p = print_make(h->name);
	lost = some_lost(p, h);
	for (int i = 0; i < h->npfs; i++) {
		const struct vs_pf *pf = &h->pfs[i];
		const struct vs_exclusion *a = told(h, pf->pci);

		why[i][0] = '\0';
		if (pf->of)
			continue;	/* devices are told by their ids */
		judge(p, pf, lost, why[i], sizeof(why[i]));
		drifted += why[i][0] != '\0';
		same += a && !strcmp(a->why, why[i]);
		if (why[i][0] && (!a || strcmp(a->why, why[i])))
			vs_error("host=%s pf=%s %s: the PF gets no VM until an operator has checked it and runs svf host resume %s",
				 h->name, pf->pci, why[i], h->name);
		if (!why[i][0])
			remember(p, pf);
	}
	if (drifted == same && drifted == told_of(h))
		return;
	vs_exclude_end(VS_EXCLUDED_PF_CHANGE, h->moid);
	for (int i = 0; i < h->npfs; i++)
		if (why[i][0])
			vs_exclude_set(VS_EXCLUDED_PF_CHANGE, h->moid,
				       h->pfs[i].pci, VS_EXCLUDED_FOREVER,
				       why[i]);
}

void vs_fingerprint_forget(struct vs_host_fingerprint *p)
{
	vs_assert_locked();
	HASH_DEL(vs_hosts.prints, p);
	free(p);
}

/* VFs that went while they were in use: told, and nothing else. */
void vs_pf_change_overcommit(struct vs_core *c, struct vs_host *h)
{
	for (int i = 0; i < h->npfs; i++) {
		struct vs_pf_use use;

		vs_ledger_pf_use(&c->ledger, &c->inv, h, &h->pfs[i],
				 c->folder, c->cluster_id, &use);
		if (vs_pf_over(&use))
			vs_error("host=%s pf=%s has %d VFs now, %d are in use or reserved: over-committed, running VMs are left alone",
				 h->name, h->pfs[i].pci, use.total,
				 use.total - use.free);
	}
}

/* ---- the state file -------------------------------------------------------- */

struct json_object *vs_prints_json(void)
{
	struct json_object *arr = vs_jb_arr();

	for (const struct vs_host_fingerprint *p = vs_hosts.prints; p;
	     p = p->hh.next) {
		struct json_object *o = vs_jb_obj(NULL), *pfs = vs_jb_arr();

		vs_jb_str(o, "host", p->host);
		for (int i = 0; i < p->npfs; i++) {
			struct json_object *pf = vs_jb_obj(NULL);

			vs_jb_str(pf, "pci", p->pfs[i].pci);
			vs_jb_str(pf, "pnic", p->pfs[i].pnic);
			vs_jb_int(pf, "vfs", p->pfs[i].vfs);
			vs_jb_add(pfs, pf);
		}
		vs_jb_put(o, "pfs", pfs);
		vs_jb_add(arr, o);
	}
	return arr;
}

void vs_prints_read(struct vs_j list)
{
	for (size_t i = 0; i < vs_j_len(list); i++) {
		struct vs_j j = vs_j_at(list, i), pfs = vs_j_get(j, "pfs");
		const char *host = vs_j_str(vs_j_get(j, "host"));
		struct vs_host_fingerprint now = { 0 }, *p;
		size_t n = vs_j_len(pfs);

		for (size_t k = 0; k < n && now.npfs < VS_HOST_PFS; k++) {
			struct vs_pf_fingerprint *pf = &now.pfs[now.npfs++];
			struct vs_j jp = vs_j_at(pfs, k);
			int64_t vfs = vs_j_int(vs_j_get(jp, "vfs"));

			vs_strlcpy(pf->pci, vs_j_str(vs_j_get(jp, "pci")),
				   sizeof(pf->pci));
			vs_strlcpy(pf->pnic, vs_j_str(vs_j_get(jp, "pnic")),
				   sizeof(pf->pnic));
			pf->vfs = vfs < 0 ? 0 : vfs > 65536 ? 65536 : (int)vfs;
		}
		if (list.doc->err.code)
			return;
		p = print_make(host);
		p->npfs = now.npfs;
		memcpy(p->pfs, now.pfs, sizeof(p->pfs));
	}
}
