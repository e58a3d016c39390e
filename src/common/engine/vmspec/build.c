/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The specs of clones and reconfigurations, made from profile and hold, and of
 * which VM a clone is made. The mark and the profile's hash are in the spec
 * itself, so that no managed VM ever exists without them. The lock is held.
 */
#include <stdlib.h>
#include <string.h>
#include "engine/state/state.h"
#include "engine/vmspec/vmspec.h"
#include "util/mem.h"

void vs_spec_free(struct vs_spec *s)
{
	for (size_t i = 0; i < s->nowned; i++)
		free(s->owned[i]);
}

void vs_spec_kv(struct vs_spec *s, const char *key, const char *value)
{
	s->kv[s->nkv++] = (struct vs_vc_kv) { key, value ? value : "" };
}

void vs_spec_kv_take(struct vs_spec *s, const char *key, char *value)
{
	if (value)
		s->owned[s->nowned++] = value;
	vs_spec_kv(s, key, value);
}

/* Large BARs want a window above 4 GB; peers talk past the root complex. What is
 * not wanted (any more) is taken away. */
static void spec_pci(const struct vs_adapter *a, struct vs_spec *s)
{
	int mmio = vs_adapter_mmio(a);

	if (vs_adapter_takes(a) == (vs_adapter_nics(a) ? vs_adapter_vfs(a) : 0))
		return;			/* no device: as the template has it */
	vs_spec_kv(s, "pciPassthru.use64bitMMIO", mmio ? "TRUE" : "");
	vs_spec_kv_take(s, "pciPassthru.64bitMMIOSizeGB",
			mmio ? vs_asprintf("%d", mmio) : NULL);
	vs_spec_kv(s, "pciPassthru.allowP2P", vs_adapter_p2p(a) ? "TRUE" : "");
	vs_spec_kv(s, "pciPassthru.RelaxACSforP2P",
		   vs_adapter_relaxes_acs(a) ? "TRUE" : "");
}

void vs_spec_extra(struct vs_core *c, const struct vs_node *n, const char *uuid,
		   struct vs_spec *s)
{
	struct vs_guest_info words;

	vs_spec_kv_take(s, VS_KEY_OWNER, vs_vm_owner_tag(c, n->name, uuid));
	vs_spec_kv(s, VS_KEY_CLONE_SOURCE, ""); /* it is made of one, and none itself */
	if (!vs_profile_hash(n->profile, s->hash))
		vs_spec_kv(s, VS_KEY_PROFILE, s->hash);
	vs_spec_kv_take(s, "slurm.vsphere.job",
			n->profile->retention == VS_RETAIN_DESTROY && n->claims.job ?
			vs_asprintf("%u.%u", n->claims.job, n->claims.restart) : NULL);
	spec_pci(n->profile->adapter, s);
	vs_guest_info_make(c, n, &words);
	for (int i = 0; i < VS_VC_NGUEST; i++)
		vs_spec_kv_take(s, vs_vc_guest_keys[i], words.of[i]);
}

/* The client's name for what vCenter will show. */
static const enum vs_vc_net_type net_kinds[] = {
	[VS_NIC_VMXNET3] = VS_VC_NET_VMXNET3,
	[VS_NIC_PVRDMA] = VS_VC_NET_PVRDMA,
	[VS_NIC_SRIOV] = VS_VC_NET_SRIOV,
};

int vs_spec_nics(struct vs_core *c, const struct vs_node *n,
		 const struct vs_claim *h, int64_t now_ms, struct vs_spec *s,
		 struct vs_err *err)
{
	const struct vs_adapter *a = n->profile->adapter;

	for (s->nnics = 0; s->nnics < vs_adapter_nics(a); s->nnics++) {
		const struct vs_claim_vf *held = vs_adapter_vfs(a) &&
			s->nnics < h->nvfs ? &h->vfs[s->nnics] : NULL;

		s->nics[s->nnics] = (struct vs_vc_nic_spec) {
			.kind = net_kinds[vs_adapter_type_info(a)->nic],
			.mac = n->macs[s->nnics],
			.network = n->net->moid,
			.network_name = a->network,
			.switch_uuid = n->net->switch_uuid,
			.portgroup_key = n->net->portgroup_key,
			.pci = held && !held->automatic && held->pf[0] ?
				held->pf : NULL,
			.mtu_change_allowed = a->mtu != 0,
		};
	}
	return vs_spec_devices(c, n, h, now_ms, s->nics, &s->nnics, err);
}

void vs_spec_hardware(const struct vs_core *c, const struct vs_node *n,
		      const struct vs_claim *h, struct vs_spec *s,
		      struct vs_vc_hw *hw)
{
	/* "" takes it away, in case that the VM or its template has it */
	vs_spec_kv(s, "numa.nodeAffinity", vs_hardware_numa(c, n, h, s->numa));
	*hw = (struct vs_vc_hw) {
		.nics = s->nics, .nnics = s->nnics,
		.extra = s->kv, .nextra = s->nkv,
	};
	vs_hardware_fill(c, n, h, hw);
}

const char *vs_host_pool(const struct vs_core *c, const struct vs_host *host)
{
	int at = host ? vs_host_cluster(c, host) : -1;

	vs_assert_locked();
	return at < 0 ? NULL : c->pool_moids[at];
}

char *vs_vm_owner_tag(const struct vs_core *c, const char *name,
		      const char *uuid)
{
	struct vs_owner_tag mark;

	vs_strlcpy(mark.cluster, c->cluster_id, sizeof(mark.cluster));
	vs_strlcpy(mark.node, name, sizeof(mark.node));
	vs_strlcpy(mark.uuid, uuid, sizeof(mark.uuid));
	return vs_owner_tag_format(&mark);
}

struct vs_vc_clone vs_clone_base(const struct vs_core *c,
				 const struct vs_profile *p, const char *name,
				 const char *uuid, const char *host)
{
	return (struct vs_vc_clone) {
		.source = p->template_moid,
		.folder = c->folder,
		.name = name,
		.uuid = uuid,
		.pool = vs_host_pool(c, vs_host_get(&c->inv, host)),
		.host = host,
		.policy = p->storage_policy[0] ? p->storage_policy : NULL,
		.annotation = p->annotation,
	};
}

/* As large as its clones and with NICs like theirs, whose keys they have; its
 * own MACs, for the template's guest may use them until it is frozen. */
int64_t vs_spec_send_instant(struct vs_core *c, const struct vs_node *n,
			     const struct vs_claim *h,
			     const char *name,
			     const struct vs_clone_source_key *key,
			     const struct vs_vc_op *op, struct vs_err *err)
{
	VS_SPEC_FREE struct vs_spec s = { .nkv = 0 };
	struct vs_node as = *n;
	char uuid[VS_UUID_LEN] = "";
	struct vs_vc_clone cl = vs_clone_base(c, n->profile, name, uuid,
					      h->host);

	cl.datastore = key->store;
	as.name = name;
	vs_mac_make(c->cluster_id, name, 0, 0, as.mgmt_mac);
	for (unsigned int k = 0; k < VS_NICS_MAX; k++)
		vs_mac_make(c->cluster_id, name, k + 1, 0, as.macs[k]);
	vs_uuid_random(uuid);
	vs_spec_kv_take(&s, VS_KEY_OWNER, vs_vm_owner_tag(c, name, uuid));
	vs_spec_kv_take(&s, VS_KEY_CLONE_SOURCE,
			vs_clone_source_tag_format(&key->mark));
	vs_spec_kv(&s, VS_KEY_FROM, "");
	vs_spec_kv(&s, "slurm.vsphere.job", "");
	vs_spec_kv(&s, "guestinfo.slurm.node", "");
	vs_spec_kv(&s, "guestinfo.slurm.parent", "yes");
	vs_spec_kv(&s, vs_vc_guest_keys[VS_VC_G_ROOT_WRITES], "TRUE");
	if (vs_spec_nics(c, &as, h, 0, &s, err))
		return -1;
	vs_spec_hardware(c, &as, h, &s, &cl.hw);
	cl.hw.mgmt_mac = as.mgmt_mac;
	return vs_vc_vm_clone(c->vc, &cl, op, err);
}

int vs_clone_source_key_fill(const struct vs_core *c,
			     const struct vs_profile *p, const char *host,
			     const char *store, struct vs_clone_source_key *out)
{
	vs_assert_locked();
	*out = (struct vs_clone_source_key) { .store = "" };
	if (vs_clone_source_tag_fill(p->clone, c->now[p - c->profiles].hash,
				     &out->mark))
		return -1;
	vs_strlcpy(out->store, store, sizeof(out->store));
	if (p->clone_per_host)
		vs_strlcpy(out->host, host, sizeof(out->host));
	return 0;
}
