/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the vCenter client says, as one JSON object a line on stdout. */
#include <stdio.h>
#include <stdlib.h>

#include "util/json.h"
#include "util/time.h"
#include "vc_live.h"

struct json_object *live_event(const char *name)
{
	struct json_object *o = vs_jb_obj(NULL);

	vs_jb_str(o, "event", name);
	vs_jb_int(o, "ms", vs_now_ms());
	return o;
}

void live_say(struct json_object *o)
{
	char *text = vs_jb_text_free(o);

	puts(text);
	fflush(stdout);
	free(text);
}

void live_put_err(struct json_object *o, const struct vs_err *err)
{
	vs_jb_str(o, "code", vs_code_name(err ? err->code : VS_OK));
	if (err) {
		vs_jb_str(o, "fault", err->fault);
		vs_jb_str(o, "text", err->text);
	}
}

static struct json_object *template_json(const struct vs_vc_template *t)
{
	static const char *const links[] = { "unknown", "no", "yes" };
	struct json_object *o = vs_jb_obj(NULL);

	vs_jb_str(o, "name", t->name);
	vs_jb_str(o, "moid", t->moid);
	vs_jb_str(o, "link", links[t->link]);
	vs_jb_str(o, "change_version", t->change_version);
	vs_jb_str(o, "host", t->host);
	vs_jb_bool(o, "is_template", t->is_template);
	vs_jb_int(o, "hw", t->hw);
	if (t->missing)
		vs_jb_str(o, "missing", t->missing);
	vs_jb_int(o, "disk_mb", t->disk_mb);
	return o;
}

static void put_auto(struct json_object *o, const struct vs_vc_cluster *c)
{
	static const char *const words[] = { "unknown", "no", "yes" };
	struct json_object *list = vs_jb_arr();

	vs_jb_str(o, "drs", words[c->drs]);
	vs_jb_str(o, "ha", words[c->ha]);
	for (size_t i = 0; i < c->noverrides; i++) {
		struct json_object *v = vs_jb_obj(NULL);

		vs_jb_str(v, "vm", c->overrides[i].vm);
		vs_jb_str(v, "drs", words[c->overrides[i].drs]);
		vs_jb_str(v, "ha", words[c->overrides[i].ha]);
		vs_jb_add(list, v);
	}
	vs_jb_put(o, "overrides", list);
}

static struct json_object *privs_of(const struct vs_vc_missing_privilege *of,
				    size_t n)
{
	struct json_object *list = vs_jb_arr();

	for (size_t i = 0; i < n; i++) {
		struct json_object *l = vs_jb_obj(NULL);

		vs_jb_str(l, "key", of[i].key);
		vs_jb_str(l, "name", of[i].name);
		vs_jb_str(l, "privs", of[i].privs);
		vs_jb_add(list, l);
	}
	return list;
}

static void put_rights(struct json_object *o, const struct vs_vc_slow *s)
{
	vs_jb_bool(o, "rights_known", s->rights_known);
	vs_jb_put(o, "lacks", privs_of(s->lacks, s->nlacks));
	vs_jb_put(o, "excess", privs_of(s->excess, s->nexcess));
}

static void on_up(void *arg, const struct vs_vc_found *f)
{
	struct json_object *o = live_event("up"), *list;

	(void)arg;
	live_up(f);
	vs_jb_str(o, "about", f->about);
	vs_jb_str(o, "instance_uuid", f->instance_uuid);
	vs_jb_str(o, "release", f->release);
	vs_jb_str(o, "user", f->user);
	vs_jb_str(o, "folder", f->folder);
	vs_jb_str(o, "datastore", f->datastore);
	list = vs_jb_arr();
	for (size_t i = 0; i < f->nclusters; i++) {
		struct json_object *c = vs_jb_obj(NULL);

		vs_jb_str(c, "name", f->clusters[i].name);
		vs_jb_str(c, "moid", f->clusters[i].moid);
		vs_jb_str(c, "pool", f->clusters[i].pool_moid);
		put_auto(c, &f->clusters[i]);
		vs_jb_add(list, c);
	}
	vs_jb_put(o, "clusters", list);
	list = vs_jb_arr();
	for (size_t i = 0; i < f->nnetworks; i++) {
		struct json_object *c = vs_jb_obj(NULL);

		vs_jb_str(c, "name", f->networks[i].name);
		vs_jb_str(c, "moid", f->networks[i].moid);
		vs_jb_str(c, "switch_uuid", f->networks[i].switch_uuid);
		vs_jb_str(c, "portgroup_key", f->networks[i].portgroup_key);
		vs_jb_add(list, c);
	}
	vs_jb_put(o, "networks", list);
	list = vs_jb_arr();
	for (size_t i = 0; i < f->ntemplates; i++)
		vs_jb_add(list, template_json(&f->templates[i]));
	vs_jb_put(o, "templates", list);
	live_say(o);
}

static void on_down(void *arg, const struct vs_err *err)
{
	struct json_object *o = live_event("down");

	(void)arg;
	live_put_err(o, err);
	live_say(o);
}

static void on_load_begin(void *arg)
{
	(void)arg;
	live_say(live_event("load_begin"));
}

static void on_load_end(void *arg)
{
	(void)arg;
	live_say(live_event("load_end"));
}

static void put_strs(struct json_object *o, const char *key,
		     const char *const *strs, size_t n)
{
	struct json_object *a = vs_jb_arr();

	for (size_t i = 0; i < n; i++)
		vs_jb_add_str(a, strs[i]);
	vs_jb_put(o, key, a);
}

static void put_pfs(struct json_object *o, const struct vs_vc_host *h)
{
	struct json_object *a = vs_jb_arr();

	for (size_t i = 0; i < h->npfs; i++) {
		struct json_object *p = vs_jb_obj(NULL);

		vs_jb_str(p, "pci", h->pfs[i].pci);
		vs_jb_str(p, "pnic", h->pfs[i].pnic);
		vs_jb_str(p, "switch_uuid", h->pfs[i].switch_uuid);
		vs_jb_int(p, "vfs", h->pfs[i].vfs);
		vs_jb_int(p, "numa", h->pfs[i].numa);
		vs_jb_int(p, "numa_cores", h->pfs[i].numa_cores);
		vs_jb_int(p, "numa_mb", h->pfs[i].numa_mb);
		vs_jb_bool(p, "link_up", h->pfs[i].link_up);
		vs_jb_add(a, p);
	}
	vs_jb_put(o, "pfs", a);
}

static void on_host(void *arg, const struct vs_vc_host *h)
{
	struct json_object *o = live_event("host");

	(void)arg;
	vs_jb_str(o, "moid", h->moid);
	if (h->has & VS_VC_HOST_NAME)
		vs_jb_str(o, "name", h->name);
	if (h->has & VS_VC_HOST_PARENT)
		vs_jb_str(o, "cluster", h->cluster);
	if (h->has & VS_VC_HOST_STATE) {
		vs_jb_bool(o, "connected", h->connected);
		vs_jb_bool(o, "powered_on", h->powered_on);
		vs_jb_bool(o, "maintenance", h->maintenance);
	}
	if (h->has & VS_VC_HOST_HW) {
		vs_jb_int(o, "cores", h->cores);
		vs_jb_int(o, "core_mhz", h->core_mhz);
		vs_jb_int(o, "cpu_mhz", h->cpu_mhz);
		vs_jb_int(o, "memory_mb", h->memory_mb);
		vs_jb_int(o, "numa_nodes", h->numa_nodes);
		vs_jb_int(o, "max_hw", h->max_hw);
	}
	if (h->has & VS_VC_HOST_PFS)
		put_pfs(o, h);
	if (h->has & VS_VC_HOST_NETS)
		put_strs(o, "nets", h->nets, h->nnets);
	if (h->has & VS_VC_HOST_STORES)
		put_strs(o, "stores", h->stores, h->nstores);
	live_say(o);
}

static void put_nics(struct json_object *o, const struct vs_vc_vm *v)
{
	static const char *const kinds[] = { "other", "ethernet", "vmxnet3",
		"pvrdma", "sriov", "pci-fixed", "pci-dynamic" };
	struct json_object *a = vs_jb_arr();

	for (size_t i = 0; i < v->nnics; i++) {
		struct json_object *c = vs_jb_obj(NULL);

		vs_jb_str(c, "kind", kinds[v->nics[i].kind]);
		vs_jb_int(c, "key", v->nics[i].key);
		vs_jb_str(c, "mac", v->nics[i].mac);
		vs_jb_str(c, "network", v->nics[i].network);
		vs_jb_str(c, "switch_uuid", v->nics[i].switch_uuid);
		vs_jb_str(c, "pci", v->nics[i].pci);
		vs_jb_bool(c, "automatic", v->nics[i].automatic);
		vs_jb_add(a, c);
	}
	vs_jb_put(o, "nics", a);
}

static void put_config(struct json_object *o, const struct vs_vc_vm *v)
{
	vs_jb_str(o, "uuid", v->uuid);
	vs_jb_str(o, "change_version", v->change_version);
	vs_jb_bool(o, "is_template", v->is_template);
	vs_jb_int(o, "vcpus", v->vcpus);
	vs_jb_int(o, "memory_mb", v->memory_mb);
	vs_jb_int(o, "cpu_reserved_mhz", v->cpu_reserved_mhz);
	vs_jb_int(o, "mem_reserved_mb", v->mem_reserved_mb);
	vs_jb_bool(o, "mem_locked", v->mem_locked);
	vs_jb_bool(o, "latency_high", v->latency_high);
}

static void on_vm(void *arg, const struct vs_vc_vm *v)
{
	struct json_object *o = live_event("vm");

	(void)arg;
	vs_jb_str(o, "moid", v->moid);
	vs_jb_bool(o, "unreadable", v->unreadable);
	if (v->has & VS_VC_VM_NAME)
		vs_jb_str(o, "name", v->name);
	if (v->has & VS_VC_VM_POWER)
		vs_jb_str(o, "power", v->power);
	if (v->has & VS_VC_VM_HOST)
		vs_jb_str(o, "host", v->host);
	if (v->has & VS_VC_VM_CONN)
		vs_jb_bool(o, "connected", v->connected);
	if (v->has & VS_VC_VM_PARENT)
		vs_jb_str(o, "folder", v->folder);
	if (v->has & VS_VC_VM_TOOLS)
		vs_jb_bool(o, "tools", v->tools_running);
	if (v->has & VS_VC_VM_MARK) {
		vs_jb_str(o, "owner", v->owner_mark ? v->owner_mark : "");
		vs_jb_str(o, "profile", v->profile ? v->profile : "");
		vs_jb_str(o, "job", v->job_tag ? v->job_tag : "");
	}
	if (v->has & VS_VC_VM_CONFIG)
		put_config(o, v);
	if (v->has & VS_VC_VM_NICS)
		put_nics(o, v);
	if (v->has & VS_VC_VM_DISKS) {
		vs_jb_str(o, "disk_dir", v->disk_dir);
		vs_jb_bool(o, "disks_own", v->disks_own);
	}
	live_say(o);
}

static void on_gone(void *arg, enum vs_vc_kind kind, const char *moid)
{
	struct json_object *o = live_event(kind == VS_VC_HOST ? "host_gone" :
					   "vm_gone");

	(void)arg;
	vs_jb_str(o, "moid", moid);
	live_say(o);
}

static void on_template(void *arg, const struct vs_vc_template *t)
{
	struct json_object *o = live_event("template_changed");

	(void)arg;
	live_template(t);
	vs_jb_put(o, "template", template_json(t));
	live_say(o);
}

static void on_slow_begin(void *arg)
{
	(void)arg;
	live_say(live_event("slow_begin"));
}

static void on_slow(void *arg, const struct vs_vc_slow *s)
{
	struct json_object *o = live_event("slow"), *a = vs_jb_arr();

	(void)arg;
	vs_jb_int(o, "store_free_mb", s->store_free_mb);
	for (size_t i = 0; i < s->ntasks; i++) {
		struct json_object *t = vs_jb_obj(NULL);

		vs_jb_str(t, "moid", s->tasks[i].moid);
		vs_jb_str(t, "name", s->tasks[i].name);
		vs_jb_str(t, "entity", s->tasks[i].entity);
		vs_jb_str(t, "entity_name", s->tasks[i].entity_name);
		vs_jb_str(t, "state", s->tasks[i].state);
		vs_jb_str(t, "user", s->tasks[i].user);
		vs_jb_add(a, t);
	}
	vs_jb_put(o, "tasks", a);
	a = vs_jb_arr();
	for (size_t i = 0; i < s->npools; i++) {
		struct json_object *p = vs_jb_obj(NULL);

		vs_jb_str(p, "cluster", s->pools[i].cluster);
		vs_jb_int(p, "cpu_mhz", s->pools[i].cpu_mhz);
		vs_jb_int(p, "mem_mb", s->pools[i].mem_mb);
		vs_jb_add(a, p);
	}
	vs_jb_put(o, "pools", a);
	a = vs_jb_arr();
	for (size_t i = 0; i < s->nclusters; i++) {
		struct json_object *c = vs_jb_obj(NULL);

		put_auto(c, &s->clusters[i]);
		vs_jb_add(a, c);
	}
	vs_jb_put(o, "clusters", a);
	put_rights(o, s);
	live_say(o);
}

static void on_started(void *arg, uint64_t id, const char *task)
{
	struct json_object *o = live_event("started");

	(void)arg;
	vs_jb_int(o, "id", (int64_t)id);
	vs_jb_str(o, "task", task);
	live_say(o);
}

static void on_done(void *arg, uint64_t id, const char *result,
		    const struct vs_err *err)
{
	struct json_object *o = live_event("done");

	(void)arg;
	vs_jb_int(o, "id", (int64_t)id);
	vs_jb_str(o, "result", result);
	live_put_err(o, err);
	live_say(o);
}

const struct vs_vc_op live_op = { .started = on_started, .done = on_done };

const struct vs_vc_events live_events = {
	.up = on_up, .down = on_down, .load_begin = on_load_begin,
	.load_end = on_load_end, .host = on_host, .vm = on_vm,
	.gone = on_gone,
	.template_changed = on_template, .slow_begin = on_slow_begin,
	.slow = on_slow,
};
