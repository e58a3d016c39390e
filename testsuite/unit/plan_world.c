/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Small worlds for the tests of plan. Never judges: that is the tests' part. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include "cmocka_range.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "plan_world.h"
#include "util/mem.h"

static void moid_of(const char *name, char out[VS_MOID_LEN])
{
	snprintf(out, VS_MOID_LEN, "host-%.60s", name);
}

void w_init(struct world *w)
{
	memset(w, 0, sizeof(*w));
	vs_inventory_init(&w->inv);
	TAILQ_INIT(&w->ledger.by_change);
	w->net = (struct vs_network) {
		.moid = W_NET, .switch_uuid = W_SWITCH,
		.portgroup_key = W_NET,
	};
	w->roce = (struct vs_adapter) {
		.name = "sriov-roce", .type = VS_ADAPTER_SRIOV,
		.network = "SRIOV-ROCE-PG",
	};
	w->eth = (struct vs_adapter) {
		.name = "vmxnet3", .type = VS_ADAPTER_VMXNET3,
		.network = "VM-PG",
	};
	w->p_roce = (struct vs_profile) {
		.adapter = &w->roce, .template_moid = "vm-1",
		.template_version = "v1", .vcpus = 4, .memory_mb = 8192,
	};
	w->p_eth = w->p_roce;
	w->p_eth.adapter = &w->eth;
	w->env = (struct vs_place_env) {
		.inv = &w->inv, .ledger = &w->ledger, .folder = W_FOLDER,
		.cluster_id = W_CLUSTER_ID,
	};
}

void w_inventory_clear(struct vs_inventory *inv)
{
	while (inv->vms)
		vs_inventory_remove_vm(inv, inv->vms->moid);
	while (inv->hosts)
		vs_inventory_remove_host(inv, inv->hosts->moid);
	free(inv->by_index);
	free(inv->pools);
	free(inv->uses);
	vs_inventory_init(inv);
}

void w_clear(struct world *w)
{
	vs_ledger_clear(&w->ledger);
	w_inventory_clear(&w->inv);
}

struct vs_host *w_host(struct world *w, const char *name)
{
	char moid[VS_MOID_LEN];
	struct vs_host *h;

	moid_of(name, moid);
	h = vs_inventory_host(&w->inv, moid);
	vs_strlcpy(h->name, name, sizeof(h->name));
	vs_strlcpy(h->cluster, "domain-c1", sizeof(h->cluster));
	h->connected = h->powered_on = h->pfs_known = true;
	h->cores = 48;
	h->core_mhz = 2000;
	h->memory_mb = 256 * 1024;
	h->max_hw = 21;
	vs_strlcpy(h->nets[h->nnets++], W_NET, VS_MOID_LEN);
	vs_strlcpy(h->stores[h->nstores++], W_STORE, VS_MOID_LEN);
	return h;
}

struct vs_pf *w_pf(struct vs_host *h, const char *pci, int vfs)
{
	struct vs_pf *pf = &h->pfs[h->npfs++];

	vs_strlcpy(pf->pci, pci, sizeof(pf->pci));
	vs_strlcpy(pf->switch_uuid, W_SWITCH, sizeof(pf->switch_uuid));
	pf->vfs = vfs;
	pf->numa = -1;
	pf->link_up = true;
	return pf;
}

struct vs_vm *w_vm(struct world *w, const char *moid, const char *name,
		   const char *host)
{
	struct vs_vm *vm = vs_inventory_vm(&w->inv, moid);
	char host_moid[VS_MOID_LEN];

	vs_vm_set_name(&w->inv, vm, name);
	vs_vm_set_folder(&w->inv, vm, W_FOLDER);
	moid_of(host, host_moid);
	vs_vm_set_host(&w->inv, vm, host_moid);
	vm->power = VS_POWER_OFF;
	vm->connected = vm->readable = true;
	vm->vcpus = 4;
	vm->memory_mb = 8192;
	return vm;
}

void w_ours(struct world *w, struct vs_vm *vm)
{
	struct vs_owner_tag m = { .cluster = W_CLUSTER_ID };
	VS_FREE char *mark = NULL;

	(void)w;
	vs_strlcpy(vm->uuid, "50211e0a-0000-4000-8000-000000000001",
		   sizeof(vm->uuid));
	vs_strlcpy(m.uuid, vm->uuid, sizeof(m.uuid));
	vs_strlcpy(m.node, vm->name, sizeof(m.node));
	mark = vs_owner_tag_format(&m);
	vs_vm_set_owner_tag(vm, mark);
}

struct vs_nic *w_nic(struct vs_vm *vm, enum vs_nic_type kind,
		      const char *pci)
{
	struct vs_nic *c = &vm->nics[vm->nnics++];

	memset(c, 0, sizeof(*c));
	c->kind = kind;
	vs_strlcpy(c->pci, pci, sizeof(c->pci));
	vs_strlcpy(c->switch_uuid, W_SWITCH, sizeof(c->switch_uuid));
	return c;
}

struct vs_vm *w_vm_on(struct world *w, const char *moid, const char *host,
		      const char *pci)
{
	struct vs_vm *vm = w_vm(w, moid, moid, host);

	vm->power = VS_POWER_ON;
	w_nic(vm, VS_NIC_SRIOV, pci);
	return vm;
}

struct vs_claim *w_hold(struct world *w, const char *node, const char *host,
			const char *pf, enum vs_claim_state state)
{
	struct vs_claim hold = { .cpu_mhz = 100, .mem_mb = 1000 }, *h;

	vs_strlcpy(hold.node, node, sizeof(hold.node));
	vs_strlcpy(hold.vfs[0].pf, pf, sizeof(hold.vfs[0].pf));
	hold.nvfs = pf[0] != '\0';
	moid_of(host, hold.host);
	assert_int_equal(vs_ledger_take(&w->ledger, &hold, NULL), 0);
	h = vs_ledger_get(&w->ledger, node);
	for (int s = VS_CLAIM_STARTING; s <= (int)state; s++)
		assert_int_equal(vs_ledger_set_state(&w->ledger, h, s), 0);
	return h;
}

void w_gang(struct world *w, struct vs_place_node *gang, size_t n)
{
	static char names[64][24];

	assert_uint_in_range(n, 0, 64);
	for (size_t i = 0; i < n; i++) {
		snprintf(names[i], sizeof(names[i]), "n%02zu", i);
		gang[i] = (struct vs_place_node) {
			.node = names[i], .profile = &w->p_roce, .net = &w->net,
		};
	}
}

int w_free(struct world *w, const char *host, const char *pci)
{
	struct vs_host *h = vs_host_get_named(&w->inv, host);
	struct vs_pf_use use;

	vs_ledger_pf_use(&w->ledger, &w->inv, h, vs_host_pf(h, pci), W_FOLDER,
			 W_CLUSTER_ID, &use);
	return use.free;
}

size_t w_count(const struct vs_place_env *env, const struct vs_place_node *like,
	       size_t limit)
{
	char why[8];

	return vs_place_count(env, like, limit, why, sizeof(why));
}

enum vs_refusal w_refusal(const struct vs_err *err, const char *host)
{
	char name[80];
	const char *at;

	snprintf(name, sizeof(name), "%s: ", host);
	at = strstr(err->text, name);
	for (enum vs_refusal r = VS_REFUSE_NONE + 1; at && r < VS_REFUSALS;
	     r++) {
		const char *text = vs_refusal_text(r);
		const char *told = at + strlen(name);

		if (!strncmp(told, text, strlen(text)) &&
		    strchr(";) ", told[strlen(text)]))
			return r;
	}
	return VS_REFUSE_NONE;
}
