/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A driver for the vCenter client: what it says comes out as one JSON object a
 * line, what it shall do goes in as one command a line. The system tests run
 * it against the simulator; by hand it works against any vCenter.
 *
 *   vc_live url=... user=... password=FILE [ca=FILE] [insecure=1]
 *           dc=... folder=... store=... cluster=NAME[/POOL] network=...
 *           template=... [read_only=1] [timeout_ms=N] [wait=S] [max_body=BYTES]
 *
 *   clone NAME template=I host=M [uuid=U] [key=value ...]
 *   reconfigure VM | power_on VM [host=M] | power_off VM | shutdown VM
 *   destroy VM | relocate VM host=M | cancel TASK | adopt TASK
 *   retry | slow | calm 0|1|2 | stats | quit
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
#include "vc_live.h"

#define MAX_WORDS 32

static struct {
	char *moid, *switch_uuid, *portgroup_key;
} net[8];
static struct { char *name, *moid; } template[8];
static char *folder, *store, *pool;
static struct vs_vc *vc;

void live_up(const struct vs_vc_found *f)
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
	for (size_t i = 0; i < f->ntemplates && i < VS_COUNT(template); i++) {
		vs_str_replace(&template[i].name, f->templates[i].name);
		vs_str_replace(&template[i].moid, f->templates[i].moid);
	}
}

void live_template(const struct vs_vc_template *t)
{
	for (size_t i = 0; i < VS_COUNT(template) && template[i].name; i++)
		if (!strcmp(template[i].name, t->name))
			vs_str_replace(&template[i].moid, t->moid);
}

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

static void read_nic(const struct words *w, struct vs_vc_hw *hw,
		      struct vs_vc_nic_spec *nic)
{
	const char *kind = word(w, "nic");
	size_t i = number(w, "network", 0);

	if (!kind)
		return;
	nic->kind = !strcmp(kind, "pvrdma") ? VS_VC_NET_PVRDMA :
		!strcmp(kind, "vmxnet3") ? VS_VC_NET_VMXNET3 : VS_VC_NET_SRIOV;
	nic->mac = word(w, "mac");
	nic->pci = word(w, "pci");
	nic->mtu_change_allowed = number(w, "mtu", 1);
	nic->network = net[i].moid;
	nic->switch_uuid = net[i].switch_uuid;
	nic->portgroup_key = net[i].portgroup_key;
	hw->nics = nic;
	hw->nnics = 1;
}

static void read_hw(const struct words *w, struct vs_vc_hw *hw,
		    struct vs_vc_nic_spec *nic, struct vs_vc_kv *kv)
{
	static int gone;
	static const char *const keys[] = { VS_KEY_OWNER, VS_KEY_PROFILE,
		"slurm.vsphere.job", "guestinfo.slurm.node" };

	hw->vcpus = (int)number(w, "vcpus", 0);
	hw->memory_mb = number(w, "memory_mb", 0);
	hw->memory_locked = number(w, "locked", 0);
	hw->cpu_reserved_mhz = number(w, "cpu_mhz", 0);
	hw->latency_high = number(w, "latency_high", 0);
	hw->exact = number(w, "exact", 0);
	gone = (int)number(w, "remove", 0);
	hw->gone = &gone;
	hw->ngone = gone != 0;
	hw->mgmt_mac = word(w, "mgmt");
	hw->mgmt_key = (int)number(w, "mgmt_key", 0);
	hw->extra = kv;
	for (size_t i = 0; i < VS_COUNT(keys); i++) {
		const char *v = word(w, keys[i]);

		if (v)
			kv[hw->nextra++] = (struct vs_vc_kv){ keys[i], v };
	}
	read_nic(w, hw, nic);
}

static int64_t do_clone(const struct words *w, struct vs_err *err)
{
	struct vs_vc_nic_spec nic = { 0 };
	struct vs_vc_kv kv[8];
	struct vs_vc_clone c = { .folder = folder, .pool = pool,
				 .datastore = store, .name = w->w[1] };
	char uuid[VS_UUID_LEN];

	vs_uuid_random(uuid);
	c.source = template[number(w, "template", 0)].moid;
	c.host = word(w, "host");
	c.uuid = word(w, "uuid") ? word(w, "uuid") : uuid;
	read_hw(w, &c.hw, &nic, kv);
	return vs_vc_vm_clone(vc, &c, &live_op, err);
}

static int64_t do_reconfigure(const struct words *w, struct vs_err *err)
{
	struct vs_vc_nic_spec nic = { 0 };
	struct vs_vc_kv kv[8];
	struct vs_vc_hw hw = { 0 };

	read_hw(w, &hw, &nic, kv);
	return vs_vc_vm_reconfigure(vc, w->w[1], word(w, "change_version"),
				    &hw, &live_op, err);
}

static int64_t obey_vm(const struct words *w, struct vs_err *err)
{
	const char *verb = w->w[0], *what = w->w[1], *host = word(w, "host");

	if (!strcmp(verb, "clone"))
		return do_clone(w, err);
	if (!strcmp(verb, "reconfigure"))
		return do_reconfigure(w, err);
	if (!strcmp(verb, "power_on"))
		return vs_vc_vm_power_on(vc, what, host, &live_op, err);
	if (!strcmp(verb, "power_off"))
		return vs_vc_vm_power_off(vc, what, &live_op, err);
	if (!strcmp(verb, "shutdown"))
		return vs_vc_vm_shutdown_guest(vc, what, &live_op, err);
	if (!strcmp(verb, "destroy"))
		return vs_vc_vm_destroy(vc, what, &live_op, err);
	if (!strcmp(verb, "relocate"))
		return vs_vc_vm_relocate(vc, what, host, pool, NULL, &live_op,
					 err);
	if (!strcmp(verb, "adopt"))
		return vs_vc_task_adopt(vc, what, &live_op, err);
	if (!strcmp(verb, "cancel"))
		return vs_vc_task_cancel(vc, what, err);
	return vs_err_set(err, VS_E_REQUEST, "no such command: %s", verb);
}

static void do_stats(void)
{
	struct json_object *o = live_event("stats");
	struct vs_vc_stats s;

	vs_vc_stats_get(vc, &s);
	vs_jb_int(o, "calls", (int64_t)s.calls);
	vs_jb_int(o, "mutating", (int64_t)s.mutating);
	vs_jb_int(o, "logins", (int64_t)s.logins);
	vs_jb_int(o, "errors", (int64_t)s.errors);
	vs_jb_int(o, "updates", (int64_t)s.updates);
	vs_jb_bool(o, "up", vs_vc_is_up(vc));
	live_say(o);
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
		vs_vc_retry(vc);
	else if (!strcmp(w.w[0], "slow"))
		vs_vc_poll_request(vc);
	else if (!strcmp(w.w[0], "stats"))
		do_stats();
	else if (!strcmp(w.w[0], "calm") && w.n == 2)
		vs_vc_poll_set(vc, (enum vs_vc_poll)strtol(w.w[1], NULL, 10));
	if (w.n < 2 || !strcmp(w.w[0], "calm"))
		return true;
	id = obey_vm(&w, &err);
	o = live_event("sent");
	vs_jb_str(o, "verb", w.w[0]);
	vs_jb_int(o, "id", id);
	live_put_err(o, id < 0 ? &err : NULL);
	live_say(o);
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

		vs_vc_iterate(vc, vs_now_ms(), 1000, 0);
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
	const char *clusters[8], *pools[8] = { 0 }, *nets[8], *templates[8];
	struct words w = { 0 };
	struct vs_err err = { 0 };

	for (int i = 1; i < argc && w.n < MAX_WORDS; i++)
		w.w[w.n++] = argv[i];
	every(&w, "cluster", clusters, 8);
	every(&w, "network", nets, 8);
	every(&w, "template", templates, 8);
	for (size_t i = 0; clusters[i]; i++) {
		char *slash = strchr((char *)clusters[i], '/');

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
		.read_only = number(&w, "read_only", 0),
		.call_timeout_ms = (int)number(&w, "timeout_ms", 60000),
		.wait_seconds = (int)number(&w, "wait", 20),
		.max_body = (size_t)number(&w, "max_body", 64 << 20),
		.names = { .datacenter = word(&w, "dc"),
			   .folder = word(&w, "folder"),
			   .datastore = word(&w, "store"),
			   .clusters = clusters, .pools = pools,
			   .networks = nets, .templates = templates },
	}, &live_events, NULL, &err);
	if (!vc) {
		struct json_object *o = live_event("refused");

		live_put_err(o, &err);
		live_say(o);
		return 1;
	}
	loop();
	vs_vc_free(vc, 5000);
	live_say(live_event("end"));
	return 0;
}
