/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is found wrong, or can't be told, as JSON for the control channel
 * (shape: report.h): of the preflight, of the checks, of PFs that changed and
 * of slurm.conf, in one list. Commands and rights are for operators.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/allocation/allocation.h"
#include "engine/checks/checks.h"
#include "engine/hosts/hosts.h"
#include "engine/report/report.h"
#include "engine/report/report_i.h"
#include "engine/slurm/lookup.h"
#include "engine/state/state.h"
#include "util/json.h"
#include "util/mem.h"
#include "util/time.h"

struct asked {
	struct json_object *arr;
	bool operator;
};

static bool of_rights(enum vs_check code)
{
	return code == VS_CHECK_RIGHTS_MISSING ||
	       code == VS_CHECK_RIGHTS_VMOTION ||
	       code == VS_CHECK_RIGHTS_SURPLUS ||
	       code == VS_CHECK_RIGHTS_UNKNOWN;
}

static void add(struct asked *a, const struct vs_found *f)
{
	const struct vs_check_kind *k = &vs_check_kinds[f->code];
	struct json_object *o;

	if (of_rights(f->code) && !a->operator)
		return;
	o = vs_jb_obj(NULL);
	vs_jb_str(o, "code", k->code);
	vs_jb_str(o, "severity", vs_severity_name(f->severity));
	vs_jb_str(o, "object_type", k->of);
	vs_jb_str(o, "object", f->object);
	vs_report_str(o, "pf", f->pf);
	vs_jb_str(o, "actual", f->is);
	vs_jb_str(o, "expected", f->should);
	if (a->operator)
		vs_report_str(o, "fix", f->fix);
	vs_jb_str(o, "reason", k->why);
	vs_jb_add(a->arr, o);
}

static void add_list(struct asked *a, const struct vs_found_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		add(a, &l->f[i]);
}

static void put(struct asked *a, enum vs_check code, const char *object,
		const char *pf, const char *is, const char *should,
		const char *fix)
{
	struct vs_found f = {
		.code = code, .severity = vs_check_kinds[code].severity,
		.object = (char *)object, .is = (char *)is,
		.should = (char *)should, .fix = (char *)fix,
	};

	vs_strlcpy(f.pf, pf, sizeof(f.pf));
	add(a, &f);
}

/* ---- what is kept elsewhere -------------------------------------------------- */

static void add_drift(struct asked *a, const struct vs_core *c)
{
	for (const struct vs_exclusion *d = vs_avoids(); d; d = d->next) {
		const struct vs_host *h = vs_host_get(&c->inv, d->moid);
		VS_FREE char *fix = NULL;

		if (d->cause != VS_EXCLUDED_PF_CHANGE || !h)
			continue;
		fix = vs_asprintf("svf hosts --pfs %s\nsvf host resume %s",
				  h->name, h->name);
		put(a, VS_CHECK_PF_CHANGED, h->name, d->pf, d->why,
		    "as before, or confirmed", fix);
	}
}

static const char *cluster_name(const struct vs_core *c, const char *moid)
{
	for (size_t i = 0; i < c->nguards; i++)
		if (!strcmp(c->guards[i].cluster, moid))
			return c->guards[i].name;
	return moid;
}

static void add_licences(struct asked *a, const struct vs_core *c)
{
	for (const struct vs_exclusion *d = vs_avoids(); d; d = d->next)
		if (d->cause == VS_EXCLUDED_LICENCE)
			put(a, VS_CHECK_LICENCE, cluster_name(c, d->moid), "",
			    d->why, "licences of vCenter and of the hosts that permit it",
			    "govc license.ls");
}

static void add_overcommits(struct asked *a, struct vs_core *c)
{
	const struct vs_free_capacity *sums = vs_free_capacity_get(c);

	for (struct vs_host *h = c->inv.hosts; h; h = h->hh.next)
		for (int i = 0; i < h->npfs; i++) {
			int free = sums->hosts[h->index].pf[i].free;
			VS_FREE char *is = NULL, *fix = NULL;

			if (free >= 0 || sums->hosts[h->index].pf[i].unknown)
				continue;
			is = vs_asprintf("%d VFs, %d in use or reserved",
					 h->pfs[i].vfs, h->pfs[i].vfs - free);
			fix = vs_asprintf("svf host drain %s", h->name);
			put(a, VS_CHECK_VF_OVERCOMMITTED, h->name,
			    h->pfs[i].pci, is, "no more than the PF has", fix);
		}
}

static void add_findings(struct asked *a)
{
	size_t n;
	const struct vs_finding *f = vs_findings(&n);

	for (size_t i = 0; i < n; i++)
		if (f[i].found.object)
			add(a, &f[i].found);
}

static void add_vcenter(struct asked *a, const struct vs_core *c)
{
	put(a, VS_CHECK_VCENTER, "vCenter", "",
	    c->vc_state[0] ? c->vc_state : "its inventory is not read yet",
	    "reachable", "svf status");
}

static void add_name(struct json_object *arr, const char *name)
{
	if (name)
		vs_jb_add_str(arr, name);
}

/* What vsphere.conf names. */
static void add_configured(struct json_object *arr, const struct vs_conf *conf)
{
	add_name(arr, conf->folder);
	add_name(arr, conf->datastore);
	add_name(arr, conf->datacenter);
	for (size_t i = 0; i < conf->nclusters; i++) {
		add_name(arr, conf->clusters[i].name);
		add_name(arr, conf->clusters[i].pool);
		add_name(arr, conf->clusters[i].datastore);
	}
	for (size_t i = 0; i < conf->nadapters; i++) {
		add_name(arr, conf->adapters[i].name);
		add_name(arr, conf->adapters[i].network);
	}
	for (size_t i = 0; i < conf->npartitions; i++) {
		add_name(arr, conf->partitions[i].name);
		add_name(arr, conf->partitions[i].template_name);
	}
}

/* ---- the answers --------------------------------------------------------------- */

struct site {
	struct asked *a;
	const struct vs_checked *shared, *hosts;
};

/* Thousands of findings, perhaps. */
static void site_add(void *arg)
{
	const struct site *s = arg;

	if (s->shared)
		add_list(s->a, &s->shared->l);
	if (s->hosts)
		add_list(s->a, &s->hosts->l);
}

/* The caller frees the result. */
static char *partition_names(const struct vs_conf *conf)
{
	char *names = vs_strdup("");

	for (size_t i = 0; i < conf->npartitions; i++) {
		char *more = vs_asprintf("%s%s%s", names, i ? "," : "",
					 conf->partitions[i].name);

		free(names);
		names = more;
	}
	return names;
}

static bool has_rdma(const struct vs_core *c)
{
	for (size_t i = 0; i < c->conf->nadapters; i++)
		if (vs_adapter_type_info(&c->adapters[i])->rdma)
			return true;
	return false;
}

void vs_report_check(struct vs_core *c, struct json_object *top, bool operator)
{
	struct asked a = { vs_jb_arr(), operator };
	struct vs_checked *shared = NULL, *hosts = NULL;
	VS_FREE char *partitions = partition_names(c->conf);
	struct vs_lookup slurm = {
		.bounds = { c->conf->boot_timeout_s, c->conf->shutdown_grace_s,
			    partitions, has_rdma(c) },
	};

	vs_assert_locked();
	vs_lock_yield_to(vs_lookup_slurm_conf, &slurm);
	vs_jb_bool(top, "up", c->ready);
	vs_jb_int(top, "seq", (int64_t)vs_checks_judged());
	if (vs_checks_read_ms())
		vs_jb_int(top, "read", vs_report_epoch(vs_checks_read_ms()));
	vs_jb_int(top, "hosts", c->inv.nhosts);
	if (c->ready) {
		add_findings(&a);
		add_drift(&a, c);
		add_licences(&a, c);
		add_overcommits(&a, c);
		vs_checks_found(&shared, &hosts);
	} else {
		add_vcenter(&a, c);
	}
	vs_lock_yield_to(site_add, &(struct site) { &a, shared, hosts });
	vs_checked_drop(shared);
	vs_checked_drop(hosts);
	add_list(&a, &slurm.found);
	vs_found_clear(&slurm.found);
	vs_jb_put(top, "findings", a.arr);
}

/* Of the others no object is known before its finding: VMs without a node, say. */
void vs_report_objects(struct vs_core *c, struct json_object *top,
		       bool sees_nodes)
{
	static const char *const fixed[] = { "/", "slurm.conf", "vCenter",
					     "MaxClonesPerHour" };
	struct json_object *arr = vs_jb_arr();
	const struct vs_conf *conf = c->conf;

	vs_assert_locked();
	for (size_t i = 0; i < VS_COUNT(fixed); i++)
		vs_jb_add_str(arr, fixed[i]);
	for (const struct vs_host *h = c->inv.hosts; h; h = h->hh.next)
		vs_jb_add_str(arr, h->name);
	for (size_t i = 0; i < c->nguards; i++)
		vs_jb_add_str(arr, c->guards[i].name);
	add_configured(arr, conf);
	for (size_t i = 0; sees_nodes && i < conf->nnodes; i++)
		vs_jb_add_str(arr, conf->nodes[i].name);
	vs_jb_put(top, "objects", arr);
}

void vs_report_recheck(struct vs_core *c, struct json_object *top,
		       bool operator)
{
	vs_assert_locked();
	vs_jb_int(top, "seq", (int64_t)vs_checks_begun());
	/* A look, and no login that was refused: a user who watches asks again
	 * and again, and a few of them lock the account. */
	if (operator) {
		vs_checks_look();
		vs_activity_wake(vs_clock());
		vs_checks_renew();
		vs_jb_bool(top, "asked", c->ready);
	}
	vs_wake();
}
