/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A driver for the vCenter client: what it says comes out as one JSON object a
 * line, what it shall do goes in as one command a line. The system tests run
 * it against the simulator; by hand it works against any vCenter.
 *
 *   vc_live url=... user=... password=FILE [ca=FILE] [insecure=1]
 *           dc=... folder=... store=... cluster=NAME[/POOL] network=...
 *           template=... [timeout_ms=N] [wait=S] [max_body=BYTES]
 *
 *   clone NAME template=I host=M [uuid=U] [key=value ...]
 *   reconfigure VM | power_on VM [host=M] | power_off VM | shutdown VM
 *   destroy VM | relocate VM host=M | cancel TASK | adopt TASK
 *   retry | slow | stats | quit
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/json.h"
#include "util/mem.h"
#include "util/name.h"
#include "util/time.h"
#include "vcenter/vc.h"

#define MAX_WORDS 32

static struct {
	char *moid, *switch_uuid, *portgroup_key;
} net[8];
static struct { char *moid; } template[8];
static char *folder, *store, *pool;
static struct vs_vc *vc;

static struct json_object *event(const char *name)
{
	struct json_object *o = vs_jb_obj(NULL);

	vs_jb_str(o, "event", name);
	vs_jb_int(o, "ms", vs_now_ms());
	return o;
}

static void say(struct json_object *o)
{
	char *text = vs_jb_text_free(o);

	puts(text);
	fflush(stdout);
	free(text);
}

static void put_err(struct json_object *o, const struct vs_err *err)
{
	vs_jb_str(o, "code", vs_code_name(err ? err->code : VS_OK));
	if (err) {
		vs_jb_str(o, "fault", err->fault);
		vs_jb_str(o, "text", err->text);
	}
}

/* ---- events --------------------------------------------------------------- */

static void remember(const struct vs_vc_found *f)
{
	vs_str_replace(&folder, f->folder);
	vs_str_replace(&store, f->datastore);
	vs_str_replace(&pool, f->clusters[0].pool_moid);
	for (size_t i = 0; i < f->nnetworks && i < VS_COUNT(net); i++) {
		vs_str_replace(&net[i].moid, f->networks[i].moid);
		vs_str_replace(&net[i].switch_uuid, f->networks[i].switch_uuid);
		vs_str_replace(&net[i].portgroup_key,
			       f->networks[i].portgroup_key);
	}
	for (size_t i = 0; i < f->ntemplates && i < VS_COUNT(template); i++)
		vs_str_replace(&template[i].moid, f->templates[i].moid);
}

static struct json_object *template_json(const struct vs_vc_template *t)
{
	struct json_object *o = vs_jb_obj(NULL);

	vs_jb_str(o, "name", t->name);
	vs_jb_str(o, "moid", t->moid);
	vs_jb_str(o, "change_version", t->change_version);
	vs_jb_str(o, "host", t->host);
	vs_jb_bool(o, "is_template", t->is_template);
	vs_jb_int(o, "hw", t->hw);
	return o;
}

static void on_up(void *arg, const struct vs_vc_found *f)
{
	struct json_object *o = event("up"), *list;

	(void)arg;
	remember(f);
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
		vs_jb_bool(c, "drs", f->clusters[i].drs_enabled);
		vs_jb_str(c, "drs_behavior", f->clusters[i].drs_behavior);
		vs_jb_bool(c, "ha", f->clusters[i].ha_enabled);
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
	say(o);
}

static void on_down(void *arg, const struct vs_err *err)
{
	struct json_object *o = event("down");

	(void)arg;
	put_err(o, err);
	say(o);
}

static void on_load_begin(void *arg)
{
	(void)arg;
	say(event("load_begin"));
}

static void on_load_end(void *arg)
{
	(void)arg;
	say(event("load_end"));
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
		vs_jb_bool(p, "link_up", h->pfs[i].link_up);
		vs_jb_add(a, p);
	}
	vs_jb_put(o, "pfs", a);
}

static void on_host(void *arg, const struct vs_vc_host *h)
{
	struct json_object *o = event("host");

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
	say(o);
}

static void put_cards(struct json_object *o, const struct vs_vc_vm *v)
{
	static const char *const kinds[] = { "other", "ethernet", "vmxnet3",
		"pvrdma", "sriov", "pci-fixed", "pci-dynamic" };
	struct json_object *a = vs_jb_arr();

	for (size_t i = 0; i < v->ncards; i++) {
		struct json_object *c = vs_jb_obj(NULL);

		vs_jb_str(c, "kind", kinds[v->cards[i].kind]);
		vs_jb_int(c, "key", v->cards[i].key);
		vs_jb_str(c, "mac", v->cards[i].mac);
		vs_jb_str(c, "network", v->cards[i].network);
		vs_jb_str(c, "portgroup_key", v->cards[i].portgroup_key);
		vs_jb_str(c, "switch_uuid", v->cards[i].switch_uuid);
		vs_jb_str(c, "pci", v->cards[i].pci);
		vs_jb_bool(c, "automatic", v->cards[i].automatic);
		vs_jb_add(a, c);
	}
	vs_jb_put(o, "cards", a);
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
	struct json_object *o = event("vm");

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
	if (v->has & VS_VC_VM_CARDS)
		put_cards(o, v);
	if (v->has & VS_VC_VM_DISKS) {
		vs_jb_str(o, "disk_dir", v->disk_dir);
		vs_jb_bool(o, "disks_own", v->disks_own);
	}
	say(o);
}

static void on_host_gone(void *arg, const char *moid)
{
	struct json_object *o = event("host_gone");

	(void)arg;
	vs_jb_str(o, "moid", moid);
	say(o);
}

static void on_vm_gone(void *arg, const char *moid)
{
	struct json_object *o = event("vm_gone");

	(void)arg;
	vs_jb_str(o, "moid", moid);
	say(o);
}

static void on_template(void *arg, const struct vs_vc_template *t)
{
	struct json_object *o = event("template_changed");

	(void)arg;
	vs_jb_put(o, "template", template_json(t));
	say(o);
}

static void on_slow(void *arg, const struct vs_vc_slow *s)
{
	struct json_object *o = event("slow"), *a = vs_jb_arr();

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
	say(o);
}

static void on_started(void *arg, uint64_t id, const char *task)
{
	struct json_object *o = event("started");

	(void)arg;
	vs_jb_int(o, "id", (int64_t)id);
	vs_jb_str(o, "task", task);
	say(o);
}

static void on_done(void *arg, uint64_t id, const char *result,
		    const struct vs_err *err)
{
	struct json_object *o = event("done");

	(void)arg;
	vs_jb_int(o, "id", (int64_t)id);
	vs_jb_str(o, "result", result);
	put_err(o, err);
	say(o);
}

static const struct vs_vc_op op = { .started = on_started, .done = on_done };

/* ---- commands ------------------------------------------------------------- */

struct words { char *w[MAX_WORDS]; size_t n; };

static const char *word(const struct words *w, const char *key)
{
	size_t len = strlen(key);

	for (size_t i = 0; i < w->n; i++)
		if (!strncmp(w->w[i], key, len) && w->w[i][len] == '=')
			return w->w[i] + len + 1;
	return NULL;
}

static int64_t number(const struct words *w, const char *key, int64_t dflt)
{
	const char *s = word(w, key);

	return s ? strtoll(s, NULL, 10) : dflt;
}

static void read_card(const struct words *w, struct vs_vc_hw *hw,
		      struct vs_vc_card_spec *card)
{
	const char *kind = word(w, "card");
	size_t i = number(w, "network", 0);

	if (!kind)
		return;
	card->kind = !strcmp(kind, "pvrdma") ? VS_VC_NET_PVRDMA :
		!strcmp(kind, "vmxnet3") ? VS_VC_NET_VMXNET3 : VS_VC_NET_SRIOV;
	card->mac = word(w, "mac");
	card->pci = word(w, "pci");
	card->mtu_change_allowed = number(w, "mtu", 1);
	card->network = net[i].moid;
	card->switch_uuid = net[i].switch_uuid;
	card->portgroup_key = net[i].portgroup_key;
	hw->card = card;
}

static void read_hw(const struct words *w, struct vs_vc_hw *hw,
		    struct vs_vc_card_spec *card, struct vs_vc_kv *kv)
{
	static const char *const keys[] = { VS_KEY_OWNER, VS_KEY_PROFILE,
		"slurm.vsphere.job", "guestinfo.slurm.node" };

	hw->vcpus = (int)number(w, "vcpus", 0);
	hw->memory_mb = number(w, "memory_mb", 0);
	hw->memory_locked = number(w, "locked", 0);
	hw->cpu_reserved_mhz = number(w, "cpu_mhz", 0);
	hw->latency_high = number(w, "latency_high", 0);
	hw->card_remove_key = (int)number(w, "remove", 0);
	hw->mgmt_mac = word(w, "mgmt");
	hw->mgmt_key = (int)number(w, "mgmt_key", 0);
	hw->extra = kv;
	for (size_t i = 0; i < VS_COUNT(keys); i++) {
		const char *v = word(w, keys[i]);

		if (v)
			kv[hw->nextra++] = (struct vs_vc_kv){ keys[i], v };
	}
	read_card(w, hw, card);
}

static int64_t do_clone(const struct words *w, struct vs_err *err)
{
	struct vs_vc_card_spec card = { 0 };
	struct vs_vc_kv kv[8];
	struct vs_vc_clone c = { .folder = folder, .pool = pool,
				 .datastore = store, .name = w->w[1] };
	char uuid[VS_UUID_LEN];

	vs_uuid_random(uuid);
	c.source = template[number(w, "template", 0)].moid;
	c.host = word(w, "host");
	c.uuid = word(w, "uuid") ? word(w, "uuid") : uuid;
	read_hw(w, &c.hw, &card, kv);
	return vs_vc_vm_clone(vc, &c, &op, err);
}

static int64_t do_reconfigure(const struct words *w, struct vs_err *err)
{
	struct vs_vc_card_spec card = { 0 };
	struct vs_vc_kv kv[8];
	struct vs_vc_hw hw = { 0 };

	read_hw(w, &hw, &card, kv);
	return vs_vc_vm_reconfigure(vc, w->w[1], word(w, "change_version"),
				    &hw, &op, err);
}

static int64_t obey_vm(const struct words *w, struct vs_err *err)
{
	const char *verb = w->w[0], *what = w->w[1], *host = word(w, "host");

	if (!strcmp(verb, "clone"))
		return do_clone(w, err);
	if (!strcmp(verb, "reconfigure"))
		return do_reconfigure(w, err);
	if (!strcmp(verb, "power_on"))
		return vs_vc_vm_power_on(vc, what, host, &op, err);
	if (!strcmp(verb, "power_off"))
		return vs_vc_vm_power_off(vc, what, &op, err);
	if (!strcmp(verb, "shutdown"))
		return vs_vc_vm_shutdown_guest(vc, what, &op, err);
	if (!strcmp(verb, "destroy"))
		return vs_vc_vm_destroy(vc, what, &op, err);
	if (!strcmp(verb, "relocate"))
		return vs_vc_vm_relocate(vc, what, host, pool, &op, err);
	if (!strcmp(verb, "adopt"))
		return vs_vc_task_adopt(vc, what, &op, err);
	if (!strcmp(verb, "cancel"))
		return vs_vc_task_cancel(vc, what, err);
	return vs_err_set(err, VS_E_REQUEST, "no such command: %s", verb);
}

static void do_stats(void)
{
	struct json_object *o = event("stats");
	struct vs_vc_stats s;

	vs_vc_stats_get(vc, &s);
	vs_jb_int(o, "calls", (int64_t)s.calls);
	vs_jb_int(o, "mutating", (int64_t)s.mutating);
	vs_jb_int(o, "logins", (int64_t)s.logins);
	vs_jb_int(o, "errors", (int64_t)s.errors);
	vs_jb_int(o, "updates", (int64_t)s.updates);
	vs_jb_bool(o, "up", vs_vc_is_up(vc));
	say(o);
}

/* False: quit. */
static bool obey(char *line)
{
	struct words w = { 0 };
	struct json_object *o;
	struct vs_err err = { 0 };
	int64_t id;
	char *p;

	while (w.n < MAX_WORDS && (p = strsep(&line, " \n")))
		if (*p)
			w.w[w.n++] = p;
	if (!w.n)
		return true;
	if (!strcmp(w.w[0], "quit"))
		return false;
	if (!strcmp(w.w[0], "retry"))
		vs_vc_retry_now(vc);
	else if (!strcmp(w.w[0], "slow"))
		vs_vc_slow_now(vc);
	else if (!strcmp(w.w[0], "stats"))
		do_stats();
	if (w.n < 2)
		return true;
	id = obey_vm(&w, &err);
	o = event("sent");
	vs_jb_str(o, "verb", w.w[0]);
	vs_jb_int(o, "id", id);
	put_err(o, id < 0 ? &err : NULL);
	say(o);
	return true;
}

static void loop(void)
{
	char buf[8192];
	size_t have = 0;

	for (;;) {
		struct pollfd in = { .fd = 0, .events = POLLIN };
		char *end;
		ssize_t n;

		vs_vc_turn(vc, vs_now_ms(), 1000, 0);
		if (poll(&in, 1, 0) <= 0)
			continue;
		n = read(0, buf + have, sizeof(buf) - 1 - have);
		if (n <= 0)
			return;
		have += (size_t)n;
		buf[have] = '\0';
		while ((end = strchr(buf, '\n'))) {
			*end = '\0';
			if (!obey(buf))
				return;
			have -= (size_t)(end + 1 - buf);
			memmove(buf, end + 1, have + 1);
		}
	}
}

/* All words of that key, NULL-terminated. */
static void every(const struct words *w, const char *key, const char **out,
		  size_t max)
{
	size_t n = 0, len = strlen(key);

	for (size_t i = 0; i < w->n && n + 1 < max; i++)
		if (!strncmp(w->w[i], key, len) && w->w[i][len] == '=')
			out[n++] = w->w[i] + len + 1;
	out[n] = NULL;
}

int main(int argc, char **argv)
{
	static const struct vs_vc_events ev = {
		.up = on_up, .down = on_down, .load_begin = on_load_begin,
		.load_end = on_load_end, .host = on_host, .vm = on_vm,
		.host_gone = on_host_gone, .vm_gone = on_vm_gone,
		.template_changed = on_template, .slow = on_slow,
	};
	const char *clusters[8], *pools[8] = { 0 }, *nets[8], *templates[8];
	struct words w = { 0 };
	struct vs_err err = { 0 };

	for (int i = 1; i < argc && w.n < MAX_WORDS; i++)
		w.w[w.n++] = argv[i];
	every(&w, "cluster", clusters, 8);
	every(&w, "network", nets, 8);
	every(&w, "template", templates, 8);
	for (size_t i = 0; clusters[i]; i++) {
		char *slash = strchr(clusters[i], '/');

		if (slash) {
			*slash = '\0';
			pools[i] = slash + 1;
		}
	}
	vc = vs_vc_new(&(struct vs_vc_conf){
		.url = word(&w, "url"), .username = word(&w, "user"),
		.password_file = word(&w, "password"),
		.password_uid = getuid(), .ca_file = word(&w, "ca"),
		.insecure = number(&w, "insecure", 0),
		.call_timeout_ms = (int)number(&w, "timeout_ms", 60000),
		.wait_seconds = (int)number(&w, "wait", 20),
		.max_body = (size_t)number(&w, "max_body", 64 << 20),
		.names = { .datacenter = word(&w, "dc"),
			   .folder = word(&w, "folder"),
			   .datastore = word(&w, "store"),
			   .clusters = clusters, .pools = pools,
			   .networks = nets, .templates = templates },
	}, &ev, NULL, &err);
	if (!vc) {
		struct json_object *o = event("refused");

		put_err(o, &err);
		say(o);
		return 1;
	}
	loop();
	vs_vc_free(vc, 5000);
	say(event("end"));
	return 0;
}
