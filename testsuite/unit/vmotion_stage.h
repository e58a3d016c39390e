/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the tests of VMs that leave a host begin: jobs on host-1. */
#ifndef VMOTION_STAGE_H
#define VMOTION_STAGE_H

#include "engine_stage.h"
#include "util/json.h"

/* Job 7 runs on vm1 (and 8 on vm2), on host-1. */
STAGE void run(const char *type, int nodes, int hosts)
{
	struct vs_conf *conf = conf_make(3, "warm", 1024);

	begin(1, hosts, 3, "warm");
	free(conf->adapters[0].type);
	conf->adapters[0].type = vs_strdup(type);
	if (strcmp(type, "sriov"))
		conf->adapters[0].mtu = 0;
	free(conf->placement);
	conf->placement = vs_strdup("pack");
	begin_as(conf);
	ready();
	bring_up(7, "vm1");
	if (nodes > 1)
		bring_up(8, "vm2");
	assert_string_equal(fake_get("vm1")->host, "host-1");
	assert_string_equal(fake_get(nodes > 1 ? "vm2" : "vm1")->host,
			    "host-1");
	ntold = 0;
}

STAGE void drain(const char *host)
{
	struct vs_err err = { 0 };

	vs_jb_free(vs_core_request("drain", host, "", 0, &err));
	assert_int_equal(err.code, VS_OK);
}

STAGE struct vs_node *node(const char *name)
{
	return vs_node_named(&vs_core, name);
}

STAGE const char *held_on(const char *hold)
{
	const struct vs_claim *h = vs_ledger_get(core_ledger(), hold);

	return h ? h->host : "";
}

STAGE void maintenance(int i, bool is)
{
	char moid[32];
	struct vs_vc_host h = {
		.moid = moid, .has = VS_VC_HOST_STATE, .connected = true,
		.powered_on = true, .maintenance = is,
	};

	snprintf(moid, sizeof(moid), "host-%d", i);
	fake_host(&h);
}

#endif
