/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The specs that the product sends for a clone of a recorded template: with an
 * SR-IOV NIC in the clone, in the clone-then-reconfigure form, and as an instant
 * clone. clones.py says what must be in them.
 */
#include <stdlib.h>
#include <string.h>

#include "replay.h"
#include "util/mem.h"
#include "vcenter/spec/spec.h"

#define MGMT_MAC "00:50:56:10:00:01"
#define NIC_MAC "00:50:56:10:00:02"

static const struct vs_vc_nic_spec sriov = { .kind = VS_VC_NET_SRIOV,
	.portgroup_key = "dvportgroup-replay", .switch_uuid = "replay-switch",
	.mac = NIC_MAC };

/* The template's NICs with a VF, as a clone would have them: keys and types. */
static int gone_of(struct vs_inv *inv, const char *moid, int **keys,
		   const char ***types)
{
	const struct vcx_vm *vm = vs_inv_vm(inv, moid);
	size_t most = vm ? vm->v.nnics : 0;
	int n = 0;

	*keys = vs_calloc(most + 1, sizeof(**keys));
	*types = vs_calloc(most + 1, sizeof(**types));
	for (size_t i = 0; i < most; i++)
		if (vm->v.nics[i].kind == VS_NIC_SRIOV) {
			(*keys)[n] = vm->v.nics[i].key;
			(*types)[n++] = vm->nic_types[i];
		}
	return n;
}

static struct json_object *reconfigure(struct vs_inv *inv,
				       const struct vcx_template *t,
				       const char *mac)
{
	VS_FREE int *gone = NULL;
	VS_FREE const char **types = NULL;
	int n = gone_of(inv, t->moid, &gone, &types);
	struct vs_vc_hw hw = { .nics = &sriov, .nnics = 1, .gone = gone,
		.ngone = n, .mgmt_mac = mac };
	struct vs_spec_types of = { .gone = types };
	struct vs_jdoc doc = { .root = t->nic };

	if (mac) {
		hw.mgmt_key = (int)vs_j_int_or(
			vs_j_opt(vs_j_root(&doc), "key"), 0);
		of.mgmt = vs_j_type(vs_j_root(&doc));
	}
	return vs_spec_reconfigure(t->change_version, &hw, &of);
}

void replay_clone(struct vs_inv *inv, const struct vcx_template *t)
{
	const char *mac = t->nic ? MGMT_MAC : NULL;
	struct vs_vc_clone c = { .source = t->moid, .folder = "group-v1",
		.name = "vm001", .uuid = "uuid", .pool = "resgroup-1",
		.host = "host-1", .datastore = "datastore-1",
		.policy = "policy-1", .disks = t->disks, .ndisks = t->ndisks,
		.hw = { .nics = &sriov, .nnics = 1, .mgmt_mac = mac } };
	struct vs_vc_instant instant = { .source = t->moid, .name = "vm001",
		.folder = "group-v1", .pool = "resgroup-1",
		.bios_uuid = "uuid", .mgmt_mac = mac };
	struct json_object *o = vs_jb_obj(NULL);

	vs_jb_str(o, "clone", t->moid);
	vs_jb_put(o, "whole", vs_spec_clone(&c, t->nic));
	c.hw.nnics = 0;
	vs_jb_put(o, "plain", vs_spec_clone(&c, t->nic));
	vs_jb_put(o, "reconfigure", reconfigure(inv, t, NULL));
	vs_jb_put(o, "address", reconfigure(inv, t, mac));
	vs_jb_put(o, "instant", vs_spec_instant(&instant, t->nic));
	replay_print(o);
}
