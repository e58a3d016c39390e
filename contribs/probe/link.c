/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The connection: our own client of vCenter, turned until something is so, and
 * a copy of what it has shown. The same code that the plugins run is thereby
 * run against the real thing.
 *
 * Rules: every wait has an end; whoever stops us ends every wait but those of
 * the cleaning.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe.h"
#include "util/mem.h"
#include "util/time.h"
#include "vcenter/spec/spec.h"

volatile int probe_stop;

/* ---- what the client says ------------------------------------------------------- */

static void on_up(void *arg, const struct vs_vc_found *f)
{
	const struct vs_vc_cluster *c = &f->clusters[0];
	struct probe *p = arg;

	vs_str_replace(&p->about, f->about);
	vs_str_replace(&p->release, f->release);
	vs_str_replace(&p->user, f->user);
	vs_str_replace(&p->dc, f->datacenter);
	vs_str_replace(&p->folder, f->folder);
	vs_str_replace(&p->store, f->datastore);
	vs_str_replace(&p->cluster, c->moid);
	vs_str_replace(&p->pool, c->pool_moid);
	vs_str_replace(&p->network, f->networks[0].moid);
	vs_str_replace(&p->switch_uuid, f->networks[0].switch_uuid);
	vs_str_replace(&p->portgroup_key, f->networks[0].portgroup_key);
	vs_str_replace(&p->source, f->templates[0].moid);
	vs_str_replace(&p->source_host, f->templates[0].host);
	p->drs_auto = c->drs;
	p->ha_auto = c->ha;
	p->up = true;
	p->ups++;
}

static void on_down(void *arg, const struct vs_err *err)
{
	struct probe *p = arg;

	p->up = p->loaded = false;
	p->down = *err;
	contact_down(p, err);
}

static void on_load_end(void *arg)
{
	((struct probe *)arg)->loaded = true;
}

struct host *host_get(struct probe *p, const char *moid)
{
	for (size_t i = 0; i < p->nhosts; i++)
		if (!strcmp(p->hosts[i].moid, moid))
			return &p->hosts[i];
	return NULL;
}

static void take_pfs(struct host *h, const struct vs_vc_host *v)
{
	for (size_t i = 0; i < h->npfs; i++)
		free(h->pfs[i].switch_uuid);
	h->npfs = v->npfs < VS_COUNT(h->pfs) ? v->npfs : VS_COUNT(h->pfs);
	for (size_t i = 0; i < h->npfs; i++) {
		vs_strlcpy(h->pfs[i].pci, v->pfs[i].pci, sizeof(h->pfs[i].pci));
		h->pfs[i].switch_uuid = vs_strdup(v->pfs[i].switch_uuid);
		h->pfs[i].vfs = v->pfs[i].vfs;
		h->pfs[i].link_up = v->pfs[i].link_up;
	}
}

static void on_host(void *arg, const struct vs_vc_host *v)
{
	struct probe *p = arg;
	struct host *h = host_get(p, v->moid);

	if (!h) {
		VS_GROW(p->hosts, p->cap_hosts, p->nhosts + 1);
		h = &p->hosts[p->nhosts++];
		memset(h, 0, sizeof(*h));
		h->moid = vs_strdup(v->moid);
	}
	if (v->has & VS_VC_HOST_NAME) {
		vs_str_replace(&h->name, v->name);
		alias_add(p, v->name, "host");
	}
	if (v->has & VS_VC_HOST_PARENT)
		vs_str_replace(&h->cluster, v->cluster);
	if (v->has & VS_VC_HOST_STATE) {
		h->connected = v->connected;
		h->maintenance = v->maintenance;
	}
	if (v->has & VS_VC_HOST_PFS)
		take_pfs(h, v);
}

struct vm *vm_get(struct probe *p, const char *moid)
{
	for (size_t i = 0; moid && i < p->nvms; i++)
		if (!strcmp(p->vms[i].moid, moid))
			return &p->vms[i];
	return NULL;
}

static void take_nics(struct vm *to, const struct vs_vc_vm *v)
{
	to->has_nic = false;
	for (size_t i = 0; i < v->nnics && !to->has_nic; i++) {
		if (v->nics[i].kind != VS_NIC_SRIOV)
			continue;
		to->has_nic = true;
		vs_str_replace(&to->pci, v->nics[i].pci);
		to->automatic = v->nics[i].automatic;
		to->mtu_change = v->nics[i].mtu_change_allowed;
	}
}

static struct vm *vm_named(struct probe *p, const struct vs_vc_vm *v)
{
	struct vm *to = vm_get(p, v->moid);

	if (to)
		return to;
	VS_GROW(p->vms, p->cap_vms, p->nvms + 1);
	to = &p->vms[p->nvms++];
	memset(to, 0, sizeof(*to));
	to->moid = vs_strdup(v->moid);
	return to;
}

static void on_vm(void *arg, const struct vs_vc_vm *v)
{
	struct probe *p = arg;
	struct vm *to = vm_named(p, v);

	if (v->has & VS_VC_VM_NAME) {
		vs_str_replace(&to->name, v->name);
		if (strncmp(v->name, "probe-", 6))
			alias_add(p, v->name, "vm");
	}
	if (v->has & VS_VC_VM_POWER &&
	    vs_str_replace(&to->power, v->power))
		to->power_ms = vs_now_ms();
	if (v->has & VS_VC_VM_HOST)
		vs_str_replace(&to->host, v->host);
	if (v->has & VS_VC_VM_CONN)
		to->connected = v->connected;
	if (v->has & VS_VC_VM_PARENT)
		vs_str_replace(&to->folder, v->folder);
	if (v->has & VS_VC_VM_MARK)
		vs_str_replace(&to->mark, v->owner_mark);
	if (v->has & VS_VC_VM_GUEST &&
	    vs_str_replace(&to->word, v->guest_state))
		to->word_ms = vs_now_ms();
	if (v->has & VS_VC_VM_CONFIG) {
		vs_str_replace(&to->uuid, v->uuid);
		vs_str_replace(&to->change_version, v->change_version);
		to->is_template = v->is_template;
	}
	if (v->has & VS_VC_VM_NICS)
		take_nics(to, v);
}

static void vm_wipe(struct vm *v)
{
	char **strs[] = { &v->moid, &v->name, &v->folder, &v->host, &v->uuid,
		&v->power, &v->mark, &v->word, &v->pci, &v->change_version };

	for (size_t i = 0; i < VS_COUNT(strs); i++)
		free(*strs[i]);
}

static void on_gone(void *arg, enum vs_vc_kind kind, const char *moid)
{
	struct probe *p = arg;
	struct vm *v = kind == VS_VC_VM ? vm_get(p, moid) : NULL;

	if (!v)
		return;
	vm_wipe(v);
	*v = p->vms[--p->nvms];
}

/* Told anew by a load. */
static void on_load_begin(void *arg)
{
	struct probe *p = arg;

	p->loaded = false;
	while (p->nvms)
		vm_wipe(&p->vms[--p->nvms]);
}

static void say_privs(char *out, size_t size,
		      const struct vs_vc_missing_privilege *of, size_t n)
{
	out[0] = '\0';
	for (size_t i = 0; i < n; i++) {
		VS_FREE char *had = vs_strdup(out);

		snprintf(out, size, "%s%s%s: %s", had, had[0] ? ", " : "",
			 of[i].key[0] ? of[i].key : "root", of[i].privs);
	}
}

static void on_slow(void *arg, const struct vs_vc_slow *s)
{
	struct probe *p = arg;

	vs_jb_free(p->tasks);
	p->tasks = vs_jb_arr();
	for (size_t i = 0; i < s->ntasks; i++) {
		struct json_object *o = vs_jb_obj(NULL);

		vs_jb_str(o, "name", s->tasks[i].name);
		vs_jb_str(o, "entity", s->tasks[i].entity);
		vs_jb_str(o, "state", s->tasks[i].state);
		vs_jb_add(p->tasks, o);
	}
	p->rights_known = s->rights_known;
	say_privs(p->lacks, sizeof(p->lacks), s->lacks, s->nlacks);
	say_privs(p->excess, sizeof(p->excess), s->excess, s->nexcess);
	p->beats++;
}

/* ---- turning -------------------------------------------------------------------- */

bool link_until(struct probe *p, bool (*test)(struct probe *p, void *arg),
		void *arg, int64_t ms)
{
	int64_t end = vs_now_ms() + ms;

	for (;;) {
		int64_t now = vs_now_ms();

		if (test(p, arg))
			return true;
		if (now >= end || (probe_stop && !p->cleaning))
			return false;
		vs_vc_iterate(p->vc, now,
			      end - now < 100 ? (int)(end - now) : 100, -1);
	}
}

static bool never(struct probe *p, void *arg)
{
	(void)p;
	(void)arg;
	return false;
}

void link_sleep(struct probe *p, int64_t ms)
{
	link_until(p, never, NULL, ms);
}

static bool loaded_or_hopeless(struct probe *p, void *arg)
{
	(void)arg;
	return (p->up && p->loaded) || p->down.code == VS_E_LOGIN ||
		p->down.code == VS_E_CONFIG;
}

static void on_reply(void *arg, const struct vs_vc_answer *a,
		     const struct vs_err *err)
{
	struct reply *r = arg;

	r->done = true;
	r->status = a->status;
	r->len = a->len;
	r->text = vs_strdup(a->text);
	r->ms = vs_now_ms() - r->sent_ms;
	r->doc.root = vs_jb_copy(a->reply);
	if (err)
		r->err = *err;
}

static bool reply_done(struct probe *p, void *arg)
{
	(void)p;
	return ((struct reply *)arg)->done;
}

/* What releases it has is asked whatever hello says. */
static void ask_versions(struct probe *p, struct reply *r)
{
	struct vs_vc_raw_request q = { .path = "/sdk/vimServiceVersions.xml",
		.get = true, .fn = on_reply, .arg = r, .timeout_ms = 15000 };

	r->sent_ms = vs_now_ms();
	if (vs_vc_raw_call(p->vc, &q, NULL, &r->err))
		r->done = true;
}

static bool is_met(struct probe *p, struct vs_err *err)
{
	struct reply *versions = vs_calloc(1, sizeof(*versions));

	VS_GROW(p->late, p->cap_late, p->nlate + 1);
	p->late[p->nlate++] = versions;
	vs_vc_observe_calls(p->vc, contact_seen, p);
	ask_versions(p, versions);
	link_until(p, loaded_or_hopeless, NULL, p->o.quick ? 15000 : 120000);
	link_until(p, reply_done, versions, 15000);
	p->met = p->up && p->loaded;
	if (p->met)
		return true;
	*err = p->down;
	if (!err->code) {
		p->ended = p->at;
		vs_err_set(err, VS_E_RETRY, "stopped, or no answer of vCenter in time");
	}
	return false;
}

int link_open(struct probe *p, struct vs_err *err)
{
	static const struct vs_vc_events ev = { .up = on_up, .down = on_down,
		.load_begin = on_load_begin, .load_end = on_load_end,
		.host = on_host, .vm = on_vm, .gone = on_gone,
		.slow = on_slow };
	const char *const clusters[] = { p->o.cluster, NULL };
	const char *const pools[] = { p->o.pool, NULL };
	const char *const nets[] = { p->o.network, NULL };
	const char *const templates[] = { p->o.template_name, NULL };
	struct vs_vc_conf conf = { .url = p->o.vcenter,
		.username = p->o.username, .password_file = p->o.password_file,
		.password_uid = geteuid(), .ca_file = p->o.ca_file,
		.read_only = p->o.read_only,
		.names = { p->o.datacenter, p->o.folder, p->o.datastore,
			   clusters, pools, nets, templates } };

	p->vc = vs_vc_new(&conf, &ev, p, err);
	if (!p->vc)
		return -1;
	return is_met(p, err) ? 0 : -1;
}

void link_close(struct probe *p)
{
	vs_vc_free(p->vc, 5000);
	p->vc = NULL;
	for (size_t i = 0; i < p->nhosts; i++) {
		free(p->hosts[i].moid);
		free(p->hosts[i].name);
		free(p->hosts[i].cluster);
		for (size_t k = 0; k < p->hosts[i].npfs; k++)
			free(p->hosts[i].pfs[k].switch_uuid);
	}
	free(p->hosts);
	while (p->nvms)
		vm_wipe(&p->vms[--p->nvms]);
	free(p->vms);
	vs_jb_free(p->tasks);
	for (size_t i = 0; i < p->nlate; i++) {
		reply_free(p->late[i]);
		free(p->late[i]);
	}
	free(p->late);
}

/* ---- calls by hand ------------------------------------------------------------------ */

static int send_and_wait(struct probe *p, struct reply *r,
			 struct vs_vc_raw_request *q,
			 struct json_object *body_take)
{
	/* It may be answered after we gave up waiting: it outlives that. */
	struct reply *own = vs_calloc(1, sizeof(*own));
	int ms = q->timeout_ms ? q->timeout_ms : 60000;

	memset(r, 0, sizeof(*r));
	own->sent_ms = vs_now_ms();
	q->fn = on_reply;
	q->arg = own;
	if (vs_vc_raw_call(p->vc, q, body_take, &r->err)) {
		free(own);
		return -1;
	}
	if (!link_until(p, reply_done, own, ms + 5000)) {
		VS_GROW(p->late, p->cap_late, p->nlate + 1);
		p->late[p->nlate++] = own;
		return vs_err_set(&r->err, VS_E_UNKNOWN, "stopped");
	}
	*r = *own;
	free(own);
	return r->err.code ? -1 : 0;
}

int ask(struct probe *p, struct reply *r, const char *type, const char *moid,
	const char *method, struct json_object *body_take, int timeout_ms)
{
	struct vs_vc_raw_request q = { .type = type, .moid = moid,
		.method = method, .timeout_ms = timeout_ms,
		.mutating = strstr(method, "_Task") &&
			strncmp(method, "Check", 5) };

	return send_and_wait(p, r, &q, body_take);
}

int ask_any(struct probe *p, struct reply *r, struct vs_vc_raw_request *q)
{
	return send_and_wait(p, r, q, NULL);
}

int ask_get(struct probe *p, struct reply *r, const char *type,
	    const char *moid, const char *property)
{
	struct vs_vc_raw_request q = { .type = type, .moid = moid,
		.method = property, .get = true };

	return send_and_wait(p, r, &q, NULL);
}

void reply_free(struct reply *r)
{
	free(r->text);
	vs_jdoc_free(&r->doc);
	memset(r, 0, sizeof(*r));
}
