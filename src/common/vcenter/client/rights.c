/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the account may do: one question a beat about all that the configuration
 * names, so that a missing privilege is said by name before a job meets it, and
 * one in excess is said too.
 *
 * Rules: the table is what slurm-vsphere(7) and doc/admin/vcenter.md promise, no more: lint
 * compares them (testsuite/lint/rights.py). A surplus privilege is reported for
 * the object that has it, and not again for those that inherit it. If no answer
 * comes, the rights are unknown, which refuses no job: vCenter itself checks
 * them at each call. Never asks of what isn't in the configuration, the
 * vCenter's root excepted. Of a template no excess is told: it may lie in the
 * folder.
 */
#include <stdlib.h>
#include <string.h>

#include "util/log.h"
#include "util/mem.h"
#include "vcenter/client/client_i.h"
#include "vcenter/spec/spec.h"

#define TEXT_MAX 2048
#define CALM_MS 300000

enum on { ON_FOLDER = 1, ON_POOL = 2, ON_STORE = 4, ON_NETWORK = 8,
	  ON_TEMPLATE = 16, ON_OWN_NETWORK = 32,
	  ABOVE = 64,		/* the root, the datacenter */
	  FOR_NOTES = 128,	/* on the folder, with Notes=, */
	  FOR_PARENTS = 256,	/* with Clone=linked or instant: they lie there, */
	  FOR_LINKED = 512,	/* with a snapshot if it is linked */
	  FOR_VMOTION = 1024,	/* of use only where running VMs may move, */
	  FOR_POLICY = 2048 };	/* on the root, with StoragePolicy= */

/* Where it is needed, and where in excess. */
static const struct { const char *priv; unsigned int on, spare; } table[] = {
	{ "VirtualMachine.Inventory.CreateFromExisting", ON_FOLDER, 0 },
	{ "VirtualMachine.Inventory.Delete", ON_FOLDER, ABOVE },
	{ "VirtualMachine.Config.AddNewDisk", ON_FOLDER, 0 },
	{ "VirtualMachine.Config.AddRemoveDevice", ON_FOLDER, 0 },
	{ "VirtualMachine.Config.EditDevice", ON_FOLDER, 0 },
	{ "VirtualMachine.Config.AdvancedConfig", ON_FOLDER, 0 },
	{ "VirtualMachine.Config.CPUCount", ON_FOLDER, 0 },
	{ "VirtualMachine.Config.Memory", ON_FOLDER, 0 },
	{ "VirtualMachine.Config.Resource", ON_FOLDER, 0 },
	{ "VirtualMachine.Config.Settings", ON_FOLDER, ABOVE },
	{ "VirtualMachine.Config.Annotation", FOR_NOTES, 0 },
	{ "VirtualMachine.State.CreateSnapshot", FOR_LINKED, 0 },
	{ "VirtualMachine.Provisioning.Clone", FOR_PARENTS, 0 },
	{ "VirtualMachine.Interact.PowerOn", ON_FOLDER, 0 },
	{ "VirtualMachine.Interact.PowerOff", ON_FOLDER, ABOVE },
	{ "Resource.ColdMigrate", ON_FOLDER, 0 },
	{ "Resource.HotMigrate", FOR_VMOTION, 0 },
	{ "Resource.AssignVMToPool", ON_FOLDER | ON_POOL, 0 },
	{ "Datastore.AllocateSpace", ON_STORE, 0 },
	{ "Network.Assign", ON_NETWORK | ON_OWN_NETWORK, 0 },
	{ "VirtualMachine.Provisioning.DeployTemplate", ON_TEMPLATE, 0 },
	{ "StorageProfile.View", FOR_POLICY, 0 },
	{ "Host.Config.Maintenance", 0,
	  ABOVE | ON_FOLDER | ON_POOL },
	{ "Authorization.ModifyPermissions", 0,
	  ABOVE | ON_FOLDER | ON_POOL },
};

struct entity {
	unsigned int on;
	const char *type, *moid;	/* the client's own, while asking */
	const char *key, *name;
	struct vs_buf privs[VS_VC_USES];	/* what is lacking, by its use, */
	struct vs_buf spare;			/* what in excess */
};

struct vcx_rights {
	struct entity *e;
	size_t n, cap;
	struct vs_vc_missing_privilege *lacks, *excess;
	size_t nlacks, nexcess;
	bool above[VS_COUNT(table)];	/* it is in excess there */
	bool known;
};

static void forget(struct vcx_rights *r)
{
	for (size_t i = 0; i < r->n; i++) {
		for (int use = 0; use < VS_VC_USES; use++)
			vs_buf_free(&r->e[i].privs[use]);
		vs_buf_free(&r->e[i].spare);
	}
	free(r->lacks);
	free(r->excess);
	r->lacks = r->excess = NULL;
	r->n = r->nlacks = r->nexcess = 0;
	memset(r->above, 0, sizeof(r->above));
	r->known = false;
}

void vs_vcx_rights_free(struct vs_vc *vc)
{
	if (!vc->rights)
		return;
	forget(vc->rights);
	free(vc->rights->e);
	free(vc->rights);
	vc->rights = NULL;
}

void vs_vcx_rights_publish(const struct vs_vc *vc, struct vs_vc_slow *out)
{
	const struct vcx_rights *r = vc->rights;

	if (!r || !r->known)
		return;
	out->rights_known = true;
	out->lacks = r->lacks;
	out->nlacks = r->nlacks;
	out->excess = r->excess;
	out->nexcess = r->nexcess;
}

/* ---- the question --------------------------------------------------------- */

static void add(struct vcx_rights *r, unsigned int on, const char *type,
		const char *moid, const char *key, const char *name)
{
	struct entity *e;

	if (!moid || !*moid)
		return;
	VS_GROW(r->e, r->cap, r->n + 1);
	e = &r->e[r->n++];
	*e = (struct entity){ .on = on, .type = type, .moid = moid, .key = key,
			      .name = name, .spare = VS_BUF_INIT(TEXT_MAX) };
	for (int use = 0; use < VS_VC_USES; use++)
		e->privs[use] = (struct vs_buf)VS_BUF_INIT(TEXT_MAX);
}

static void add_template(struct vcx_rights *r, const struct vcx_template *t)
{
	add(r, ON_TEMPLATE, "VirtualMachine", t->moid, "Template", t->name);
	for (size_t i = 0; *t->moid && i < t->nnets; i++)
		add(r, ON_OWN_NETWORK, t->nets[i].type, t->nets[i].moid,
		    "Template", t->name);
}

static void add_all(struct vs_vc *vc, struct vcx_rights *r)
{
	add(r, ABOVE | (vc->conf.policy ? FOR_POLICY : 0), "Folder",
	    vc->session.ids.root,
	    "", "");
	add(r, ABOVE, "Datacenter", vc->resolved.dc, "Datacenter", vc->dc_name);
	add(r, ON_FOLDER | (vc->conf.notes ? FOR_NOTES : 0) |
	    (vc->conf.linked || vc->conf.instant ? FOR_PARENTS : 0) |
	    (vc->conf.linked ? FOR_LINKED : 0) |
	    (vc->conf.vmotion ? FOR_VMOTION : 0), "Folder", vc->resolved.folder,
		    "Folder",
	    vc->folder_name);
	for (size_t i = 0; i < vc->nclusters; i++) {
		const struct vcx_cluster *c = &vc->clusters[i];

		add(r, ON_POOL, "ResourcePool", c->pool_moid,
		    c->pool ? "ResourcePool" : "VSphereCluster",
		    c->pool ? c->pool : c->name);
	}
	for (size_t i = 0; i < vc->nstores; i++)
		add(r, ON_STORE, "Datastore", vc->stores[i].moid, "Datastore",
		    vc->stores[i].name);
	for (size_t i = 0; i < vc->nnetworks; i++)
		add(r, ON_NETWORK, vc->networks[i].type, vc->networks[i].moid,
		    "Network", vc->networks[i].name);
	for (size_t i = 0; i < vc->ntemplates; i++)
		add_template(r, &vc->templates[i]);
}

static struct json_object *question(const struct vs_vc *vc,
				    const struct vcx_rights *r)
{
	struct json_object *o = vs_jb_obj(NULL);
	struct json_object *entities = vs_jb_arr(), *privs = vs_jb_arr();

	for (size_t i = 0; i < r->n; i++) {
		size_t k = 0;

		while (strcmp(r->e[k].moid, r->e[i].moid))
			k++;
		if (k == i)	/* each once */
			vs_jb_add(entities, vs_jb_new_ref(r->e[i].type,
							  r->e[i].moid));
	}
	for (size_t i = 0; i < VS_COUNT(table); i++)
		vs_jb_add_str(privs, table[i].priv);
	vs_jb_put(o, "entities", entities);
	vs_jb_str(o, "userName", vc->session.user);
	vs_jb_put(o, "privId", privs);
	return o;
}

/* Nothing was lacking when they were asked for, lately, nor is anything new. */
static bool known_well(const struct vs_vc *vc)
{
	const struct vcx_rights *r = vc->rights;

	for (size_t i = 0; i < vc->ntemplates; i++)
		if (vc->templates[i].changed)
			return false;
	return vc->calm != VS_VC_POLL_HIGH && vc->now < vc->rights_at &&
		r->known && !r->nlacks;
}

struct json_object *vs_vcx_rights_question(struct vs_vc *vc)
{
	struct vcx_rights *r = vc->rights;

	if (!r)
		r = vc->rights = vs_calloc(1, sizeof(*r));
	if (known_well(vc))
		return NULL;
	vc->rights_at = vc->now + CALM_MS;
	forget(r);
	if (!vc->session.ids.rights || !*vc->session.ids.rights)
		return NULL;
	add_all(vc, r);
	return question(vc, r);
}

/* ---- the answer ----------------------------------------------------------- */

static void list_add(struct vs_buf *b, const char *priv, const char *more)
{
	vs_buf_printf(b, "%s%s%s", b->len ? ", " : "", priv, more);
}

static bool granted(struct vs_j of, const char *priv)
{
	size_t n = vs_j_len(of);

	for (size_t i = 0; i < n; i++) {
		struct vs_j p = vs_j_at(of, i);

		if (!strcmp(vs_j_str(vs_j_get(p, "privId")), priv))
			return vs_j_bool_or(vs_j_opt(p, "isGranted"), false);
	}
	return false;
}

static enum vs_vc_use use_of(unsigned int on)
{
	return on == FOR_NOTES ? VS_VC_FOR_NOTES :
		on == FOR_PARENTS ? VS_VC_FOR_SOURCES :
		on == FOR_LINKED ? VS_VC_FOR_LINKED :
		on == FOR_VMOTION ? VS_VC_FOR_VMOTION :
		on == FOR_POLICY ? VS_VC_FOR_POLICY : VS_VC_FOR_JOBS;
}

static void judge(struct vcx_rights *r, struct entity *e, struct vs_j of)
{
	for (size_t i = 0; i < VS_COUNT(table); i++) {
		bool has;

		if (!((table[i].on | table[i].spare) & e->on))
			continue;
		has = granted(of, table[i].priv);
		if ((table[i].on & e->on) && !has)
			list_add(&e->privs[use_of(table[i].on)], table[i].priv,
				 e->on == ON_OWN_NETWORK ?
				 " on the network of its own NIC" : "");
		if (!(table[i].spare & e->on) || !has || r->above[i])
			continue;
		list_add(&e->spare, table[i].priv, "");
		r->above[i] = e->on & ABOVE;
	}
}

/* Each of what was asked for, or the whole answer tells nothing. */
static bool read_answer(struct vcx_rights *r, struct vs_j reply)
{
	size_t n = vs_j_len(reply), told = 0;

	for (size_t i = 0; i < r->n; i++) {
		for (size_t k = 0; k < n; k++) {
			struct vs_j o = vs_j_at(reply, k);

			if (strcmp(vs_j_ref(vs_j_get(o, "entity"), NULL),
				   r->e[i].moid))
				continue;
			judge(r, &r->e[i], vs_j_opt(o, "privAvailability"));
			told++;
			break;
		}
	}
	return told == r->n && !vs_json_failed(reply.doc, NULL);
}

static void list_lacks(struct vcx_rights *r)
{
	r->lacks = vs_calloc(VS_VC_USES * r->n + 1, sizeof(*r->lacks));
	r->excess = vs_calloc(r->n + 1, sizeof(*r->excess));
	for (size_t i = 0; i < r->n; i++) {
		const struct entity *e = &r->e[i];

		for (int use = 0; use < VS_VC_USES; use++)
			if (e->privs[use].len)
				r->lacks[r->nlacks++] =
					(struct vs_vc_missing_privilege) {
						e->key, e->name,
						e->privs[use].data,
						(enum vs_vc_use)use
					};
		if (e->spare.len)
			r->excess[r->nexcess++] =
				(struct vs_vc_missing_privilege) {
					e->key, e->name, e->spare.data,
					VS_VC_FOR_JOBS
				};
	}
}

void vs_vcx_rights_answer(struct vs_vc *vc, struct vs_j reply,
			  const struct vs_err *err)
{
	struct vcx_rights *r = vc->rights;

	r->known = !err && read_answer(r, reply);
	if (r->known)
		list_lacks(r);
	else
		vs_debug("the account's privileges are unknown code=%s: %s",
			 err ? vs_code_name(err->code) : "-",
			 err ? err->text : "the answer is not understood");
}
