/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guestinfo is how slurm-vsphere tells a guest which node it is, and root in the
 * guest acts on it at each boot. VMware lets every user of a guest write
 * guestinfo, and keeps it over reboots, unless the VM has
 * guest_rpc.rpci.auth.cmd.info-set=TRUE (open-vm-tools issue 288). So each VM
 * gets that key, all values are watched, and a VM whose values are others than
 * those that were set is not used before they are set again.
 *
 * Rules: a VM that is off is reconfigured before it is switched on; one that is
 * on and idle is switched off first, as one with a wrong NIC is; an instant
 * clone is made again. Under a running job nothing is done: the guest reads them
 * at boot alone. vCenter may show a value otherwise than it was set. What it shows
 * after the engine's own call, and before a guest runs, counts as right. That the
 * call succeeded and that the VM's changeVersion is another one tells it from what
 * was there before.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

#include "engine/state/state.h"
#include "engine/vmspec/vmspec.h"
#include "util/log.h"
#include "util/mem.h"
#include "util/name.h"
#include "util/time.h"

/* A node keeps its machine-id over every rebuild, as it keeps its MACs. */
static bool users_write;	/* some VM's guest may, when it was seen */

static char *machine_id(const struct vs_core *c, const struct vs_node *n)
{
	uint64_t a = vs_hash_str(VS_HASH_START, c->cluster_id);
	uint64_t b;

	a = vs_hash_str(a, n->name);
	b = vs_hash_str(a, "machine-id");
	return vs_asprintf("%016llx%016llx", (unsigned long long)a,
			   (unsigned long long)b);
}

static char *copy(const char *s)
{
	return s ? vs_strdup(s) : NULL;
}

/* The first NIC is the template's own. Its address is set only where
 * vsphere.conf gives one. */
static void words_net(const struct vs_core *c, const struct vs_node *n,
		      char **of)
{
	const struct vs_conf_partition *p =
		vs_conf_partition_named(c->conf, n->conf->partition);

	of[VS_VC_G_ADDRESS] = copy(n->conf->address);
	of[VS_VC_G_FIRST_ADDRESS] = copy(n->conf->first_address);
	if (!p || !n->conf->first_address)
		return;
	of[VS_VC_G_FIRST_MAC] = copy(n->mgmt_mac);
	of[VS_VC_G_GATEWAY] = copy(p->gateway);
	of[VS_VC_G_DNS] = copy(p->dns);
	of[VS_VC_G_DNS_SEARCH] = copy(p->dns_search);
}

void vs_guest_info_make(const struct vs_core *c, const struct vs_node *n,
			struct vs_guest_info *w)
{
	const struct vs_adapter *a = n->profile->adapter;
	char macs[VS_MACS_LEN];

	*w = (struct vs_guest_info) { .of = {
		[VS_VC_G_ROOT_WRITES] = vs_strdup("TRUE"),
		[VS_VC_G_NODE] = vs_strdup(n->name),
		[VS_VC_G_ADAPTER] = vs_strdup(a->name),
		[VS_VC_G_MAC] = copy(vs_node_macs(n, macs)),
		[VS_VC_G_LINK_LAYER] = vs_strdup(
			!vs_adapter_kinds[a->type].rdma ? "none" :
			a->link == VS_LINK_INFINIBAND ? "InfiniBand" :
			"Ethernet"),
		[VS_VC_G_DEVICE] = vs_node_device_ids(n),
		[VS_VC_G_MTU] = a->mtu ? vs_asprintf("%d", a->mtu) : NULL,
		[VS_VC_G_MACHINE_ID] = machine_id(c, n),
		[VS_VC_G_CLUSTER] = copy(c->conf->slurm.cluster),
		[VS_VC_G_CONF_SERVER] = copy(c->conf->slurm.conf_server),
		[VS_VC_G_DYNAMIC] = n->profile->dynamic ?
			vs_strdup("yes") : NULL,
	} };
	words_net(c, n, w->of);
}

void vs_guest_info_free(struct vs_guest_info *w)
{
	for (int i = 0; i < VS_VC_NGUEST; i++)
		free(w->of[i]);
}

/* A user who writes a value must not be able to choose one that has the right
 * hash: where the hash starts is this process' secret. */
static uint64_t start(void)
{
	static uint64_t secret;

	if (!secret && getrandom(&secret, sizeof(secret), 0) < 0)
		secret = VS_HASH_START ^ (uint64_t)vs_now_ms();
	return secret;
}

uint64_t vs_guest_info_hash(const char *const *of)
{
	uint64_t h = start();

	for (int i = 0; i < VS_VC_NGUEST; i++) {
		const char *value = of[i] ? of[i] : "";

		if (i == VS_VC_G_PARENT && !strcmp(value, "no"))
			value = "";
		h = vs_hash_str(h, value);
	}
	return h ? h : 1;
}

void vs_guest_info_observed(struct vs_vm *vm,
			    const char *const *of)
{
	const char *root = of[VS_VC_G_ROOT_WRITES];
	bool users = !root || strcasecmp(root, "TRUE") != 0;

	vm->words.hash = vs_guest_info_hash(of);
	if (vm->words.users_write != users)
		vs_findings_outdate();
	vm->words.users_write = users;
	users_write |= users;
}

void vs_guest_info_check(struct vs_core *c)
{
	VS_FREE char *is = NULL, *fix = NULL;
	const char *first = "";
	size_t n = 0;

	for (size_t i = 0; users_write && i < c->nnodes; i++) {
		const struct vs_vm *vm = vs_node_vm(c, &c->nodes[i]);

		if (vm && vm->words.users_write &&
		    vs_vm_owner(vm, c->folder, c->cluster_id) ==
		    VS_OWNER_MANAGED && !n++)
			first = c->nodes[i].name;
	}
	users_write = n > 0;
	if (!n)
		return;
	is = vs_asprintf("not set for %zu VM%s: %s%s", n, vs_plural(n),
			 first, n == 1 ? "" : ", ...");
	fix = vs_asprintf("svf vm rebuild %s\t# an idle VM gets the key before its next job, without this",
			  first);
	vs_finding_add(
		VS_STOPS_NOTHING,
		&(struct vs_says) { VS_CHECK_GUEST_WRITES, c->conf->folder, is,
				    "guest_rpc.rpci.auth.cmd.info-set=TRUE",
				    fix },
		"users of guests can write guestinfo, which root reads at boot: guest_rpc.rpci.auth.cmd.info-set=TRUE is %s",
		is);
}

/* With other values than before nothing that was shown is right any more. */
static void want_set(struct vs_node *n, uint64_t want)
{
	if (n->words.want == want)
		return;
	n->words.want = want;
	n->words.shown = 0;
	n->words.state = VS_GUEST_INFO_OLD;
}

void vs_guest_info_expect(struct vs_core *c)
{
	vs_assert_locked();
	for (size_t i = 0; i < c->nnodes; i++) {
		struct vs_guest_info w;

		vs_guest_info_make(c, &c->nodes[i], &w);
		want_set(&c->nodes[i],
			 vs_guest_info_hash((const char *const *)w.of));
		vs_guest_info_free(&w);
	}
}

bool vs_guest_info_is_current(const struct vs_node *n, const struct vs_vm *vm)
{
	return !vm->words.hash || !n->words.want ||
	       vm->words.hash == n->words.want ||
	       vm->words.hash == n->words.shown;
}

void vs_guest_info_requested(struct vs_node *n, const struct vs_vm *vm)
{
	n->words.state = VS_GUEST_INFO_REQUESTED;
	vs_strlcpy(n->words.version, vm ? vm->change_version : "",
		   sizeof(n->words.version));
}

void vs_guest_info_done(struct vs_node *n, bool ok)
{
	if (n->words.state == VS_GUEST_INFO_REQUESTED)
		n->words.state = ok ? VS_GUEST_INFO_SET : VS_GUEST_INFO_OLD;
}

/* Can no user of its guest have written yet? */
static bool is_untouched(const struct vs_node *n, const struct vs_vm *vm)
{
	return vm->power == VS_POWER_OFF ||
	       (n->profile->clone == VS_CLONE_INSTANT &&
		(n->flags & VS_NODE_POWERING_UP));
}

void vs_guest_info_learn(struct vs_node *n, const struct vs_vm *vm)
{
	if (n->words.state != VS_GUEST_INFO_SET || !vm->words.hash ||
	    !strcmp(vm->change_version, n->words.version))
		return;
	n->words.state = VS_GUEST_INFO_OLD;
	if (vm->words.hash == n->words.want || !is_untouched(n, vm))
		return;
	n->words.shown = vm->words.hash;
	vs_info("vCenter shows other extraConfig values than were set node=%s: treated as equal",
		n->name);
}

void vs_guest_info_stale(struct vs_node *n)
{
	n->words.state = VS_GUEST_INFO_OLD;
}
