/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Small worlds for the tests of plan: hosts, PFs, VMs and NICs in a line
 * each, all of them sound unless the test says otherwise. */
#ifndef VS_TEST_PLAN_WORLD_H
#define VS_TEST_PLAN_WORLD_H

#include "plan/placement/placement.h"

#define W_FOLDER "group-v7"
#define W_CLUSTER_ID "3c9d1f00"
#define W_SWITCH "50 2a switch A"
#define W_NET "dvportgroup-30"
#define W_STORE "datastore-1"
#define W_PF0 "0000:3b:00.0"
#define W_PF1 "0000:5e:00.0"

struct world {
	struct vs_inventory inv;
	struct vs_ledger ledger;
	struct vs_network net;
	struct vs_adapter roce, eth;
	struct vs_profile p_roce, p_eth;	/* 4 vCPUs, 8 GB */
	struct vs_place_env env;
};

/* Empty, with an sriov adapter (roce), a vmxnet3 one (eth), a profile each. */
void w_init(struct world *w);
void w_clear(struct world *w);
/* Removes all hosts and VMs, and frees what the inventory points to. */
void w_inventory_clear(struct vs_inventory *inv);
/* moId "host-NAME"; 48 cores of 2000 MHz, 256 GB, net and store reached. */
struct vs_host *w_host(struct world *w, const char *name);
/* On the world's switch, with link, NUMA node unknown. */
struct vs_pf *w_pf(struct vs_host *h, const char *pci, int vfs);
/* Name and moId as given, off, foreign, 4 vCPUs, 8 GB, nothing reserved. */
struct vs_vm *w_vm(struct world *w, const char *moid, const char *name,
		   const char *host);
void w_ours(struct world *w, struct vs_vm *vm);
struct vs_nic *w_nic(struct vs_vm *vm, enum vs_nic_type kind,
		      const char *pci);
/* On, with one sriov NIC on that PF. */
struct vs_vm *w_vm_on(struct world *w, const char *moid, const char *host,
		      const char *pci);
/* A hold in that state; host by name. */
struct vs_claim *w_hold(struct world *w, const char *node, const char *host,
			const char *pf, enum vs_claim_state state);
/* n of them, named "n00" ..., of profile p_roce on the world's network. */
void w_gang(struct world *w, struct vs_place_node *gang, size_t n);
/* vs_place_count() without its reason. */
size_t w_count(const struct vs_place_env *env, const struct vs_place_node *like,
	       size_t limit);
/* The reason that a refusal's text gives for this host. VS_REFUSE_NONE if the
 * text does not name the host. */
enum vs_refusal w_refusal(const struct vs_err *err, const char *host);
int w_free(struct world *w, const char *host, const char *pci);

#endif
