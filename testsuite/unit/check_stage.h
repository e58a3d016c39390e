/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stage of the tests of the pure checks: four sound hosts, one adapter, one
 * profile. Included by each test program.
 */
#ifndef CHECK_STAGE_H
#define CHECK_STAGE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>
#include "plan/checks/checks.h"
#include "plan_world.h"
#include "util/mem.h"

#define HOSTS 4

static struct vs_inventory inv;
static struct vs_adapter adapter;
static struct vs_network net;
static struct vs_profile profile;
static int nodes;
static struct vs_check_site site;
static struct vs_found_list found;

static struct vs_host *host(int i)
{
	char moid[32];

	snprintf(moid, sizeof(moid), "host-%d", i);
	return vs_inventory_host(&inv, moid);
}

static __attribute__((unused)) void sound_host(int i)
{
	struct vs_host *h = host(i);
	struct vs_host_facts *f = vs_host_facts_new();
	char name[32];

	snprintf(name, sizeof(name), "esx%d", i);
	vs_host_set_name(&inv, h, name);
	vs_strlcpy(h->cluster, "domain-c1", sizeof(h->cluster));
	vs_strlcpy(h->nets[0], "pg-1", VS_MOID_LEN);
	vs_strlcpy(h->stores[0], "ds-1", VS_MOID_LEN);
	h->nnets = h->nstores = 1;
	h->connected = h->powered_on = h->pfs_known = h->stores_known = true;
	h->cores = 32;
	h->core_mhz = 2400;
	h->cpu_mhz = 28 * 2400;		/* ESXi has the rest */
	h->memory_mb = 64 * 1024;
	h->max_hw = 21;
	h->npfs = 1;
	h->pfs[0] = (struct vs_pf) { .vfs = 8, .link_up = true };
	vs_strlcpy(h->pfs[0].pci, "0000:3b:00.0", VS_PCI_LEN);
	vs_strlcpy(h->pfs[0].pnic, "vmnic4", 32);
	vs_strlcpy(h->pfs[0].switch_uuid, "sw", VS_LABEL_LEN);
	vs_strlcpy(f->setup.version, "8.0.3", sizeof(f->setup.version));
	vs_strlcpy(f->setup.build, "100", sizeof(f->setup.build));
	vs_strlcpy(f->setup.power, "static", sizeof(f->setup.power));
	f->setup.clocks = 1;
	f->setup.reboot = 0;
	f->pfs[0] = (struct vs_pf_facts) { .enabled = true, .asked = 8,
					   .most = 16, .had = 8 };
	vs_strlcpy(f->pfs[0].driver, "nmlx5_core", 32);
	vs_strlcpy(f->pfs[0].version, "4.23", 48);
	vs_strlcpy(f->pfs[0].firmware, "22.39.1", 48);
	f->switches = vs_calloc(1, sizeof(*f->switches));
	f->nswitches = 1;
	vs_strlcpy(f->switches[0].uuid, "sw", VS_LABEL_LEN);
	vs_strlcpy(f->switches[0].name, "dvs", VS_LABEL_LEN);
	f->switches[0].mtu = 9000;
	h->facts = f;
}

static __attribute__((unused)) int up(void **state)
{
	(void)state;
	vs_inventory_init(&inv);
	adapter = (struct vs_adapter) { .type = VS_ADAPTER_SRIOV, .mtu = 9000 };
	vs_strlcpy(adapter.name, "roce", sizeof(adapter.name));
	vs_strlcpy(adapter.network, "PG", sizeof(adapter.network));
	memset(&net, 0, sizeof(net));
	vs_strlcpy(net.moid, "pg-1", sizeof(net.moid));
	vs_strlcpy(net.switch_uuid, "sw", sizeof(net.switch_uuid));
	profile = (struct vs_profile) { .adapter = &adapter, .vcpus = 16,
		.memory_mb = 32 * 1024, .template_hw = 20,
		.latency_high = true };
	vs_strlcpy(profile.template_name, "tpl",
		   sizeof(profile.template_name));
	nodes = 1;
	site = (struct vs_check_site) { .inv = &inv, .adapters = &adapter,
		.nets = &net, .nadapters = 1, .profiles = &profile,
		.nodes = &nodes, .nprofiles = 1, .store = "ds-1",
		.store_name = "vsan", .user = "slurm@v" };
	for (int i = 1; i <= HOSTS; i++)
		sound_host(i);
	return 0;
}

static __attribute__((unused)) int down(void **state)
{
	(void)state;
	vs_found_clear(&found);
	w_inventory_clear(&inv);
	return 0;
}

static __attribute__((unused)) void look(void)
{
	struct vs_usual *u = vs_usual_new();

	vs_found_clear(&found);
	for (struct vs_host *h = inv.hosts; h; h = h->hh.next) {
		vs_usual_count(u, &site, h);
		vs_usual_count_capacity(u, &site, h);
	}
	for (struct vs_host *h = inv.hosts; h; h = h->hh.next)
		vs_check_host(&site, u, h, &found);
	vs_usual_free(u);
	vs_found_sort(&found);
}

/* One finding, of this code, with this in its command. */
static __attribute__((unused)) void finds(enum vs_check code, const char *command)
{
	look();
	for (size_t i = 0; i < found.n; i++)
		if (found.n != 1 || found.f[i].code != code)
			print_message("%s %s: %s\n",
				      vs_check_kinds[found.f[i].code].code,
				      found.f[i].object, found.f[i].is);
	assert_int_equal(found.n, 1);
	assert_int_equal(found.f[0].code, code);
	assert_string_equal(found.f[0].object, "esx2");
	if (!strstr(found.f[0].fix, command))
		fail_msg("%s: no %s", found.f[0].fix, command);
}

#define T(f) cmocka_unit_test_setup_teardown(f, up, down)

#endif
