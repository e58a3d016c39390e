/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The world of locks.c and boundary.c: 10,000 nodes and 1,000 hosts in memory, behind
 * fakes of Slurm and of vCenter. The first VMS nodes have VMs.
 */
#ifndef VS_BENCH_LOCKS_WORLD_H
#define VS_BENCH_LOCKS_WORLD_H

#include <string.h>
#include "bench/locks_devices.h"
#include "bench/locks_vmotion.h"
#include "util/mem.h"

#define NODES 10000
#define HOSTS 1000
#define VMS 4000
#define FIRST_JOB 1000

/* ---- Slurm --------------------------------------------------------------------- */

static void nodes_read(void *ctx, struct vs_slurm_node *rows, size_t n)
{
	(void)ctx;
	for (size_t i = 0; i < n; i++)
		rows[i].flags = 0;
}

static bool jobs_run;		/* one on each VM, of id FIRST_JOB and more */

static void nodes_jobs(void *ctx, struct vs_slurm_node_job *rows, size_t n)
{
	(void)ctx;
	for (size_t i = 0; i < n; i++) {
		unsigned int number = 0;

		sscanf(rows[i].node, "vm%u", &number);
		rows[i].job = jobs_run && number <= VMS ?
			FIRST_JOB + number - 1 : 0;
		rows[i].uid = 0;
	}
}

static const struct vs_slurm_ops port = {
	.nodes_read = nodes_read, .nodes_jobs = nodes_jobs,
	.viewer = viewer,
};

/* ---- vCenter ------------------------------------------------------------------- */

static void vm_make(int i)
{
	struct vs_core *c = &vs_core;
	struct fake_vm *vm;
	struct vs_node *n;
	VS_FREE char *mark = NULL;
	char name[16], host[16];

	snprintf(name, sizeof(name), "vm%d", i + 1);
	snprintf(host, sizeof(host), "host-%d", i % HOSTS + 1);
	n = vs_node_named(c, name);
	vm = fake_add_vm(name, "group-v1", host, true);
	mark = vs_asprintf("%s/%s/%s", c->cluster_id, name, vm->uuid);
	vs_strlcpy(vm->mark, mark, sizeof(vm->mark));
	vm->has_nic = true;
	vm->kind = moves ? VS_VC_NET_VMXNET3 : VS_VC_NET_SRIOV;
	vs_strlcpy(vm->mac, n->macs[0], sizeof(vm->mac));
	vs_strlcpy(vm->pci, moves ? "" : "0000:3b:00.0", sizeof(vm->pci));
	vs_node_flags(c, n, moves ? BUSY : UP);
}

static bool devices;		/* there are some */

static void world(int vfs)
{
	struct vs_core *c = &vs_core;

	begin(NODES, HOSTS, vfs, "warm");
	if (devices)
		device_nodes(NODES);
	if (moves)
		of_a_type_that_moves(NODES);
	c->port = &port;
	all_jobs = all_nodes = true;
	for (int i = 0; i < VMS; i++)
		vm_make(i);
	fake_load();
	for (int i = 0; i < VMS; i++) {
		char name[16];
		struct fake_vm *vm;

		snprintf(name, sizeof(name), "vm%d", i + 1);
		vm = fake_get(name);
		vs_strlcpy(vm->profile, c->now[0].hash, sizeof(vm->profile));
		fake_show(vm);
	}
	fake_slow(NULL, 0);
	if (devices)
		device_hosts(HOSTS, vfs);
	turn();
}

#endif
