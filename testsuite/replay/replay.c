/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Feeds recorded answers of a vCenter to the decoder and the inventory, and
 * prints what they deliver as JSON, for replay.py.
 *
 * replay --paths prints the properties that the product asks for. Without an
 * argument it reads documents, one a line:
 *   {"update": UpdateSet}
 *   {"template": moId, "name": NAME, "props": [DynamicProperty, ...]}
 *   {"cluster": moId, "conf": ClusterConfigInfoEx}
 *   {"resources": moId, "system": HostSystemResourceInfo}
 *   {"effective": moId, "mem_mb": N, "cpu_mhz": N, "hosts": N}
 *   {"filters": {"hosts": moId, "vms": moId, "ours": moId, "tasks": moId}}: a
 *       new session, which forgets what the last one has shown
 *   {"reread": "hosts", "vms" or "ours", "obj": reference,
 *    "props": [DynamicProperty, ...], "missing": [MissingProperty, ...]}
 *   {"content": ServiceContent}
 *   {"rights": [EntityPrivilege, ...], "name": NAME, "account": {"root": moId,
 *    "datacenter": moId, "folder": moId, "pools": [reference, ...], "stores":
 *    likewise, "networks": likewise, "templates": [{"moid": moId, "networks":
 *    [reference, ...]}, ...]}}
 * and prints one line for each object: {"host": moId, ...}, {"vm": moId, ...},
 * {"template": moId, ...}, {"clone": moId, ...}, {"cluster": moId, ...},
 * {"content": ..., ...}, {"rights": NAME, ...}. A field that was not delivered is
 * not printed. {"forget": "all"} and {"gone": moId} say that objects are no longer
 * there. Exit status 1: a document was not understood.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay.h"
#include "util/mem.h"

void replay_print(struct json_object *take)
{
	VS_FREE char *text = vs_jb_text_free(take);

	puts(text);
}

static struct json_object *strings(const char *const *list, size_t n)
{
	struct json_object *a = vs_jb_arr();

	for (size_t i = 0; i < n; i++)
		vs_jb_add_str(a, list[i]);
	return a;
}

static struct json_object *until_null(const char *const *list)
{
	size_t n = 0;

	while (list[n])
		n++;
	return strings(list, n);
}

/* ---- hosts ---------------------------------------------------------------- */

static struct json_object *pfs(const struct vs_vc_host *h)
{
	struct json_object *a = vs_jb_arr();

	for (size_t i = 0; i < h->npfs; i++) {
		const struct vs_vc_pf *p = &h->pfs[i];
		struct json_object *o = vs_jb_obj(NULL);

		vs_jb_str(o, "pci", p->pci);
		vs_jb_str(o, "pnic", p->pnic);
		vs_jb_str(o, "switch", p->switch_uuid);
		vs_jb_int(o, "vfs", p->vfs);
		vs_jb_int(o, "numa", p->numa);
		vs_jb_int(o, "numa_cores", p->numa_cores);
		vs_jb_int(o, "numa_mb", p->numa_mb);
		vs_jb_bool(o, "link", p->link_up);
		vs_jb_bool(o, "enabled", p->facts.enabled);
		vs_jb_int(o, "asked", p->facts.asked);
		vs_jb_int(o, "most", p->facts.most);
		vs_jb_str(o, "driver", p->facts.driver);
		vs_jb_str(o, "driver_version", p->facts.version);
		vs_jb_str(o, "firmware", p->facts.firmware);
		vs_jb_add(a, o);
	}
	return a;
}

static struct json_object *incapable(const struct vs_vc_host *h)
{
	struct json_object *a = vs_jb_arr();

	for (size_t i = 0; i < h->nincapable; i++) {
		const struct vs_incapable_facts *p = &h->incapable[i];
		struct json_object *o = vs_jb_obj(NULL);

		vs_jb_str(o, "pci", p->pci);
		vs_jb_str(o, "pnic", p->pnic);
		vs_jb_str(o, "switch", p->switch_uuid);
		vs_jb_str(o, "driver", p->driver);
		vs_jb_add(a, o);
	}
	return a;
}

static struct json_object *devices(const struct vs_vc_host *h)
{
	struct json_object *a = vs_jb_arr();

	for (size_t i = 0; i < h->ndevices; i++) {
		const struct vs_vc_device *d = &h->devices[i];
		struct json_object *o = vs_jb_obj(NULL);

		vs_jb_str(o, "pci", d->pci);
		vs_jb_str(o, "name", d->name);
		vs_jb_str(o, "label", d->label);
		vs_jb_int(o, "vendor", d->vendor);
		vs_jb_int(o, "device", d->device);
		vs_jb_bool(o, "active", d->active);
		vs_jb_bool(o, "enabled", d->enabled);
		vs_jb_bool(o, "sriov", d->sriov);
		vs_jb_int(o, "numa", d->numa);
		vs_jb_add(a, o);
	}
	return a;
}

static struct json_object *functions(const struct vs_vc_host *h)
{
	struct json_object *a = vs_jb_arr();

	for (size_t i = 0; i < h->nfunctions; i++) {
		const struct vs_vc_function *f = &h->functions[i];
		struct json_object *o = vs_jb_obj(NULL);

		vs_jb_str(o, "pci", f->pci);
		vs_jb_str(o, "name", f->name);
		vs_jb_int(o, "vendor", f->vendor);
		vs_jb_int(o, "device", f->device);
		vs_jb_add(a, o);
	}
	return a;
}

static struct json_object *gpus(const struct vs_vc_host *h)
{
	struct json_object *a = vs_jb_arr();

	for (size_t i = 0; i < h->ngpus; i++) {
		const struct vs_vc_gpu *g = &h->gpus[i];
		struct json_object *o = vs_jb_obj(NULL);

		vs_jb_str(o, "pci", g->pci);
		vs_jb_str(o, "name", g->name);
		vs_jb_str(o, "vendor", g->vendor);
		vs_jb_str(o, "type", g->type);
		vs_jb_int(o, "numa", g->numa);
		vs_jb_add(a, o);
	}
	return a;
}

static struct json_object *switches(const struct vs_vc_host *h)
{
	struct json_object *a = vs_jb_arr();

	for (size_t i = 0; i < h->nswitches; i++) {
		struct json_object *o = vs_jb_obj(NULL);

		vs_jb_str(o, "uuid", h->switches[i].uuid);
		vs_jb_str(o, "name", h->switches[i].name);
		vs_jb_int(o, "mtu", h->switches[i].mtu);
		vs_jb_add(a, o);
	}
	return a;
}

static void put_state(struct json_object *o, const struct vs_vc_host *h)
{
	vs_jb_bool(o, "connected", h->connected);
	vs_jb_bool(o, "powered_on", h->powered_on);
	vs_jb_bool(o, "maintenance", h->maintenance);
	vs_jb_bool(o, "quarantine", h->quarantine);
	vs_jb_bool(o, "standby", h->standby);
}

static void put_hardware(struct json_object *o, const struct vs_vc_host *h)
{
	vs_jb_int(o, "cores", h->cores);
	vs_jb_int(o, "core_mhz", h->core_mhz);
	vs_jb_int(o, "numa_nodes", h->numa_nodes);
	vs_jb_int(o, "max_hw", h->max_hw);
	vs_jb_int(o, "memory_mb", h->memory_mb);
	vs_jb_int(o, "cpu_mhz", h->cpu_mhz);
}

static void put_facts(struct json_object *o, const struct vs_vc_host *h)
{
	struct json_object *mgmt = vs_jb_arr();

	vs_jb_str(o, "version", h->setup->version);
	vs_jb_str(o, "build", h->setup->build);
	vs_jb_str(o, "power_policy", h->setup->power);
	for (int i = 0; i < h->setup->nmgmt; i++)
		vs_jb_add_str(mgmt, h->setup->mgmt[i]);
	vs_jb_put(o, "management", mgmt);
	vs_jb_int(o, "clocks", h->setup->clocks);
	vs_jb_int(o, "reboot", h->setup->reboot);
	vs_jb_put(o, "switches", switches(h));
	vs_jb_put(o, "incapable", incapable(h));
}

static void on_host(void *arg, const struct vs_vc_host *h)
{
	struct json_object *o = vs_jb_obj(NULL);

	(void)arg;
	vs_jb_str(o, "host", h->moid);
	if (h->has & VS_VC_HOST_NAME)
		vs_jb_str(o, "name", h->name);
	if (h->has & VS_VC_HOST_PARENT)
		vs_jb_str(o, "cluster", h->cluster);
	if (h->has & VS_VC_HOST_STATE)
		put_state(o, h);
	if (h->has & VS_VC_HOST_HW)
		put_hardware(o, h);
	if (h->has & VS_VC_HOST_PFS) {
		vs_jb_bool(o, "pfs_unread", h->pfs_unread);
		vs_jb_put(o, "pfs", pfs(h));
		vs_jb_put(o, "devices", devices(h));
		vs_jb_put(o, "functions", functions(h));
		vs_jb_put(o, "gpus", gpus(h));
	}
	if (h->has & VS_VC_HOST_NETS)
		vs_jb_put(o, "networks", strings(h->nets, h->nnets));
	if (h->has & VS_VC_HOST_STORES)
		vs_jb_put(o, "datastores", strings(h->stores, h->nstores));
	if (h->has & VS_VC_HOST_FACTS)
		put_facts(o, h);
	replay_print(o);
}

/* ---- VMs ------------------------------------------------------------------ */

static struct json_object *nics(const struct vs_vc_vm *v)
{
	static const char *const kinds[] = {
		[VS_NIC_OTHER] = "other",
		[VS_NIC_ETHERNET] = "ethernet",
		[VS_NIC_VMXNET3] = "vmxnet3",
		[VS_NIC_PVRDMA] = "pvrdma", [VS_NIC_SRIOV] = "sriov",
		[VS_NIC_PCI_FIXED] = "fixed",
		[VS_NIC_PCI_DYNAMIC] = "dynamic",
		[VS_NIC_PCI_DVX] = "dvx", [VS_NIC_PCI_VGPU] = "vgpu",
	};
	struct json_object *a = vs_jb_arr();

	for (size_t i = 0; i < v->nnics; i++) {
		const struct vs_nic *c = &v->nics[i];
		struct json_object *o = vs_jb_obj(NULL);

		vs_jb_str(o, "kind", kinds[c->kind]);
		vs_jb_int(o, "key", c->key);
		vs_jb_str(o, "mac", c->mac);
		vs_jb_str(o, "network", c->switch_uuid[0] ? "" : c->network);
		vs_jb_str(o, "portgroup", c->switch_uuid[0] ? c->network : "");
		vs_jb_str(o, "switch", c->switch_uuid);
		vs_jb_str(o, "pci", c->pci);
		vs_jb_bool(o, "automatic", c->automatic);
		vs_jb_bool(o, "mtu_change", c->mtu_change_allowed);
		vs_jb_add(a, o);
	}
	return a;
}

static void put_config(struct json_object *o, const struct vs_vc_vm *v)
{
	vs_jb_str(o, "uuid", v->uuid);
	vs_jb_str(o, "bios_uuid", v->bios_uuid);
	vs_jb_str(o, "change_version", v->change_version);
	vs_jb_bool(o, "is_template", v->is_template);
	vs_jb_int(o, "vcpus", v->vcpus);
	vs_jb_int(o, "memory_mb", v->memory_mb);
	vs_jb_int(o, "cpu_reserved_mhz", v->cpu_reserved_mhz);
	vs_jb_int(o, "mem_reserved_mb", v->mem_reserved_mb);
	vs_jb_bool(o, "mem_locked", v->mem_locked);
	vs_jb_bool(o, "latency_high", v->latency_high);
	vs_jb_str(o, "numa", v->numa ? v->numa : "");
}

static void put_disks(struct json_object *o, const struct vs_vc_vm *v)
{
	vs_jb_str(o, "disk_dir", v->disk_dir);
	vs_jb_bool(o, "disks_own", v->disks_own);
	vs_jb_str(o, "bases", v->bases);
}

static void put_marks(struct json_object *o, const struct vs_vc_vm *v)
{
	vs_jb_str(o, "owner", v->owner_mark ? v->owner_mark : "");
	vs_jb_str(o, "profile", v->profile ? v->profile : "");
}

static void put_place(struct json_object *o, const struct vs_vc_vm *v)
{
	if (v->has & VS_VC_VM_NAME)
		vs_jb_str(o, "name", v->name);
	if (v->has & VS_VC_VM_PARENT)
		vs_jb_str(o, "folder", v->folder);
	if (v->has & VS_VC_VM_POOL)
		vs_jb_str(o, "pool", v->pool);
	if (v->has & VS_VC_VM_HOST)
		vs_jb_str(o, "host", v->host);
}

static void on_vm(void *arg, const struct vs_vc_vm *v)
{
	struct json_object *o = vs_jb_obj(NULL);

	(void)arg;
	vs_jb_str(o, "vm", v->moid);
	put_place(o, v);
	if (v->has & VS_VC_VM_POWER)
		vs_jb_str(o, "power", v->power);
	if (v->has & VS_VC_VM_CONN)
		vs_jb_bool(o, "connected", v->connected);
	if (v->has & VS_VC_VM_TOOLS)
		vs_jb_bool(o, "tools_running", v->tools_running);
	if (v->has & VS_VC_VM_FROZEN)
		vs_jb_bool(o, "frozen", v->frozen);
	if (v->has & VS_VC_VM_SNAPSHOT)
		vs_jb_str(o, "snapshot", v->snapshot);
	if (v->has & VS_VC_VM_NICS)
		vs_jb_put(o, "nics", nics(v));
	if (v->has & VS_VC_VM_CONFIG)
		put_config(o, v);
	if (v->has & VS_VC_VM_DISKS)
		put_disks(o, v);
	if (v->has & VS_VC_VM_MARK)
		put_marks(o, v);
	vs_jb_bool(o, "unreadable", v->unreadable);
	replay_print(o);
}

static void on_gone(void *arg, enum vs_vc_kind kind, const char *moid)
{
	struct json_object *o = vs_jb_obj(NULL);

	(void)arg;
	(void)kind;
	vs_jb_str(o, "gone", moid);
	replay_print(o);
}

/* ---- templates, clusters -------------------------------------------------- */

static const char *yes_no(enum vs_vc_auto a)
{
	return a == VS_VC_AUTO_YES ? "yes" : a == VS_VC_AUTO_NO ? "no" :
		"unknown";
}

static struct json_object *networks(const struct vs_vc_template *t)
{
	struct json_object *a = vs_jb_arr();

	for (size_t i = 0; i < t->nnets; i++)
		vs_jb_add_str(a, t->nets[i].moid);
	return a;
}

static void put_template(struct json_object *o, const struct vcx_template *t)
{
	struct vs_vc_template v = vs_vcx_template_view(t);
	struct json_object *keys = vs_jb_arr();

	for (size_t i = 0; i < t->ndisks; i++) {
		VS_FREE char *key = vs_asprintf("%d", t->disks[i]);

		vs_jb_add_str(keys, key);
	}
	vs_jb_str(o, "change_version", v.change_version);
	vs_jb_str(o, "host", v.host);
	vs_jb_bool(o, "is_template", v.is_template);
	vs_jb_int(o, "hw", v.hw);
	vs_jb_int(o, "disk_mb", v.disk_mb);
	vs_jb_put(o, "disks", keys);
	vs_jb_str(o, "guest", v.guest);
	vs_jb_int(o, "passthrough", v.passthrough);
	vs_jb_bool(o, "bios", v.bios);
	vs_jb_put(o, "networks", networks(&v));
	vs_jb_str(o, "snapshot", yes_no(v.snapshot));
	vs_jb_str(o, "hot_add", yes_no(v.hot_add));
	vs_jb_str(o, "tools", yes_no(v.tools));
	vs_jb_str(o, "secure_boot", yes_no(v.secure_boot));
	vs_jb_str(o, "link", yes_no(v.link));
	vs_jb_int(o, "cores_per_socket", v.cores_per_socket);
	vs_jb_bool(o, "tpm", t->tpm);
	vs_jb_bool(o, "encrypted", t->encrypted);
	vs_jb_put(o, "nic", t->nic ? vs_jb_clone(t->nic) : vs_jb_obj(NULL));
}

static void template(struct vs_inv *inv, struct vs_j line)
{
	const char *moid = vs_j_str(vs_j_get(line, "template"));
	struct vcx_template t = { .moid = vs_strdup(moid) };
	struct json_object *o = vs_jb_obj(NULL);

	vs_vcx_template_set(&t, vs_j_get(line, "props"));
	vs_jb_str(o, "template", moid);
	put_template(o, &t);
	replay_print(o);
	replay_clone(inv, &t);
	vs_vcx_template_wipe(&t);
}

static void cluster(struct vs_j line)
{
	struct vcx_cluster c = { 0 };
	struct json_object *o = vs_jb_obj(NULL), *list = vs_jb_arr();

	vs_vcx_cluster_set(&c, vs_j_get(line, "conf"));
	vs_jb_str(o, "cluster", vs_j_str(vs_j_get(line, "cluster")));
	vs_jb_str(o, "drs", yes_no(c.drs));
	vs_jb_str(o, "ha", yes_no(c.ha));
	vs_jb_bool(o, "dpm", c.dpm);
	vs_jb_bool(o, "moves", c.moves);
	for (size_t i = 0; i < c.noverrides; i++) {
		struct json_object *v = vs_jb_obj(NULL);

		vs_jb_str(v, "vm", c.overrides[i].vm);
		vs_jb_str(v, "drs", yes_no(c.overrides[i].drs));
		vs_jb_str(v, "ha", yes_no(c.overrides[i].ha));
		vs_jb_add(list, v);
	}
	vs_jb_put(o, "overrides", list);
	replay_print(o);
	vs_vcx_cluster_forget(&c);
}

/* ---- capacity ------------------------------------------------------------- */

/* What the product reads with the slow values. The host is delivered again if its
 * figures have changed. */
static void capacity(struct vs_inv *inv, struct vs_j line)
{
	struct vs_j effective = vs_j_opt(line, "effective");
	struct vcx_host *h;

	if (vs_j_null(effective)) {
		HASH_FIND_STR(inv->hosts, vs_j_str(vs_j_get(line, "resources")),
			      h);
		if (h)
			vs_capacity_system(h, vs_j_get(line, "system"));
	} else {
		const struct vcx_effective e = {
			.mem_mb = vs_j_int(vs_j_get(line, "mem_mb")),
			.cpu_mhz = vs_j_int(vs_j_get(line, "cpu_mhz")),
			.hosts = (int)vs_j_int(vs_j_get(line, "hosts")),
		};

		vs_capacity_cluster(inv, vs_j_str(effective), &e);
	}
	vs_capacity_finish(inv);
}

/* ---- documents ------------------------------------------------------------ */

static const struct { const char *name; enum vcx_filter filter;
} filters[] = { { "hosts", VCX_F_HOSTS },
		{ "vms", VCX_F_VMS },
		{ "ours", VCX_F_MANAGED },
		{ "tasks", VCX_F_TASKS } };

static void session(struct vs_inv *inv, struct vs_j ids)
{
	struct json_object *o = vs_jb_obj(NULL);

	vs_inv_clear(inv);
	for (size_t i = 0; i < VS_COUNT(filters); i++)
		vs_str_replace(&inv->filter[filters[i].filter], vs_j_str(
				vs_j_get(ids, filters[i].name)));
	vs_jb_str(o, "forget", "all");
	replay_print(o);
}

static void reread(struct vs_inv *inv, struct vs_j line)
{
	const char *name = vs_j_str(vs_j_get(line, "reread"));

	for (size_t i = 0; i < VS_COUNT(filters); i++)
		if (!strcmp(filters[i].name, name))
			vs_inv_reread(inv, filters[i].filter,
				      vs_j_ref(vs_j_get(line, "obj"), NULL),
				      vs_j_get(line, "props"),
				      vs_j_opt(line, "missing"));
}

static bool is(struct vs_j line, const char *key)
{
	return !vs_j_null(vs_j_opt(line, key));
}

static int any(struct vs_inv *inv, struct vs_j line, struct vs_err *err)
{
	if (is(line, "update"))
		return vs_inv_update(inv, vs_j_get(line, "update"), err);
	if (is(line, "filters"))
		session(inv, vs_j_get(line, "filters"));
	else if (is(line, "reread"))
		reread(inv, line);
	else if (is(line, "template"))
		template(inv, line);
	else if (is(line, "cluster"))
		cluster(line);
	else if (is(line, "content"))
		replay_content(line);
	else if (is(line, "rights"))
		replay_rights(line);
	else
		capacity(inv, line);
	return 0;
}

static int document(struct vs_inv *inv, const char *text, size_t len,
		    struct vs_err *err)
{
	struct vs_jdoc doc;
	int rc;

	if (vs_jdoc_parse(&doc, text, len, err))
		return -1;
	rc = any(inv, vs_j_root(&doc), err);
	vs_inv_flush(inv);
	if (!rc && vs_json_failed(&doc, err))
		rc = -1;
	vs_jdoc_free(&doc);
	return rc;
}

static void paths(const struct vs_inv *inv)
{
	struct json_object *o = vs_jb_obj(NULL);

	for (size_t i = 0; i < VS_COUNT(filters); i++)
		vs_jb_put(o, filters[i].name, until_null(
				vs_inv_paths(inv, filters[i].filter)));
	vs_jb_put(o, "templates", until_null(vs_vcx_template_paths));
	replay_print(o);
}

int main(int argc, char **argv)
{
	static const struct vs_vc_events ev = { .vm = on_vm, .host = on_host,
		.gone = on_gone };
	struct vs_inv *inv = vs_inv_new(&ev, NULL);
	struct vs_err err = { 0 };
	char *text = NULL;
	size_t cap = 0;
	ssize_t len;
	int rc = 0;

	inv->devices = true;
	if (argc == 2 && !strcmp(argv[1], "--paths"))
		paths(inv);
	else
		while (!rc && (len = getline(&text, &cap, stdin)) > 0)
			rc = document(inv, text, (size_t)len, &err);
	if (rc)
		fprintf(stderr, "replay: %s\n", err.text);
	free(text);
	vs_inv_free(inv);
	return rc ? 1 : 0;
}
