/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is sent to vCenter for a node: the specs of a clone or a
 * reconfiguration, made from profile and hold, and the choice between asking
 * a guest and switching it off. The mark and the profile's hash are in the
 * spec itself, so that no VM of ours ever exists without them. The lock is
 * held; the client only queues here.
 */
#include <stdlib.h>
#include <string.h>
#include "engine/core_i.h"
#include "engine/devices_i.h"
#include "engine/guest_words.h"
#include "engine/hardware_i.h"
#include "util/mem.h"

#define KV_MAX 48
struct spec {			/* memory behind a vs_vc_hw */
	struct vs_vc_card_spec cards[VS_CARDS_MAX];
	int ncards;
	int gone[VS_VM_CARDS];		/* keys of those that go */
	char macs[VS_MACS_LEN];
	struct vs_vc_kv kv[KV_MAX];
	size_t nkv;
	char *owned[KV_MAX];
	size_t nowned;
	char hash[VS_PROFILE_HASH_LEN];
	char numa[VS_NUMA_LEN];
};

static void spec_free(struct spec *s)
{
	for (size_t i = 0; i < s->nowned; i++)
		free(s->owned[i]);
}
#define SPEC_FREE __attribute__((cleanup(spec_free)))

/* NULL: the key is taken away, in case that the VM or its template has it. */
static void kv(struct spec *s, const char *key, const char *value)
{
	s->kv[s->nkv++] = (struct vs_vc_kv) { key, value ? value : "" };
}

static void kv_take(struct spec *s, const char *key, char *value)
{
	if (value)
		s->owned[s->nowned++] = value;
	kv(s, key, value);
}

/* Large BARs want a window above 4 GB; peers talk past the root complex. What is
 * not wanted (any more) is taken away. */
static void spec_pci(const struct vs_adapter *a, struct spec *s)
{
	int mmio = vs_adapter_mmio(a);

	if (vs_adapter_takes(a) == (vs_adapter_nics(a) ? vs_adapter_vfs(a) : 0))
		return;			/* no device: as the template has it */
	kv(s, "pciPassthru.use64bitMMIO", mmio ? "TRUE" : "");
	kv_take(s, "pciPassthru.64bitMMIOSizeGB",
		mmio ? vs_asprintf("%d", mmio) : NULL);
	kv(s, "pciPassthru.allowP2P", vs_adapter_p2p(a) ? "TRUE" : "");
	kv(s, "pciPassthru.RelaxACSforP2P",
	   vs_adapter_relaxes_acs(a) ? "TRUE" : "");
}

/* What the guest and later ourselves find in extraConfig. */
static void spec_extra(struct vs_core *c, const struct vs_node *n,
		       const char *uuid, struct spec *s)
{
	struct vs_guest_words words;

	kv_take(s, VS_KEY_OWNER, vs_owner_mark(c, n->name, uuid));
	kv(s, VS_KEY_PARENT, "");	/* it is made of one, and none itself */
	if (!vs_profile_hash(n->profile, s->hash))
		kv(s, VS_KEY_PROFILE, s->hash);
	kv_take(s, "slurm.vsphere.job",
		n->profile->retention == VS_RETAIN_DESTROY && n->job ?
		vs_asprintf("%u.%u", n->job, n->restart) : NULL);
	spec_pci(n->profile->adapter, s);
	vs_guest_words_make(c, n, &words);
	for (int i = 0; i < VS_VC_NGUEST; i++)
		kv_take(s, vs_vc_guest_keys[i], words.of[i]);
}

/* The client's name for what vCenter will show. */
static const enum vs_vc_net_kind net_kinds[] = {
	[VS_CARD_VMXNET3] = VS_VC_NET_VMXNET3,
	[VS_CARD_PVRDMA] = VS_VC_NET_PVRDMA,
	[VS_CARD_SRIOV] = VS_VC_NET_SRIOV,
};

static int spec_cards(struct vs_core *c, const struct vs_node *n,
		      const struct vs_hold *h, int64_t now_ms,
		      struct spec *s, struct vs_err *err)
{
	const struct vs_adapter *a = n->profile->adapter;

	for (s->ncards = 0; s->ncards < vs_adapter_nics(a); s->ncards++) {
		const struct vs_hold_card *held = vs_adapter_vfs(a) &&
			s->ncards < h->ncards ? &h->cards[s->ncards] : NULL;

		s->cards[s->ncards] = (struct vs_vc_card_spec) {
			.kind = net_kinds[vs_adapter_kind(a)->card],
			.mac = n->macs[s->ncards],
			.network = n->net->moid,
			.network_name = a->network,
			.switch_uuid = n->net->switch_uuid,
			.portgroup_key = n->net->portgroup_key,
			.pci = held && !held->automatic && held->pf[0] ?
				held->pf : NULL,
			.mtu_change_allowed = a->mtu != 0,
		};
	}
	return vs_spec_devices(c, n, h, now_ms, s->cards, &s->ncards, err);
}

static void hw_fill(const struct vs_core *c, const struct vs_node *n,
		    const struct vs_hold *h, struct spec *s,
		    struct vs_vc_hw *hw)
{
	/* "" takes it away, in case that the VM or its template has it */
	kv(s, "numa.nodeAffinity", vs_hardware_numa(c, n, h, s->numa));
	*hw = (struct vs_vc_hw) {
		.cards = s->cards, .ncards = s->ncards,
		.extra = s->kv, .nextra = s->nkv,
	};
	vs_hardware_fill(c, n, h, hw);
}

const char *vs_pool_of(const struct vs_core *c, const struct vs_host *host)
{
	int at = host ? vs_host_cluster(c, host) : -1;

	return at < 0 ? NULL : c->pool_moids[at];
}

char *vs_owner_mark(const struct vs_core *c, const char *name,
		    const char *uuid)
{
	struct vs_mark mark;

	vs_strlcpy(mark.cluster, c->cluster_id, sizeof(mark.cluster));
	vs_strlcpy(mark.node, name, sizeof(mark.node));
	vs_strlcpy(mark.uuid, uuid, sizeof(mark.uuid));
	return vs_mark_format(&mark);
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
		.pool = vs_pool_of(c, vs_host_get(&c->inv, host)),
		.host = host,
		.policy = p->storage_policy[0] ? p->storage_policy : NULL,
		.annotation = p->annotation,
	};
}

/* What a device needs is being asked for, or can't be had. */
static int64_t not_yet(const struct vs_err *err)
{
	return err->code == VS_OK ? 0 : -1;
}

static int64_t send_clone(struct vs_core *c, struct vs_node *n,
			  const struct vs_hold *h, int64_t now_ms,
			  const struct vs_vc_op *op, struct vs_err *err)
{
	SPEC_FREE struct spec s = { .nkv = 0 };
	char uuid[VS_UUID_LEN] = "";
	struct vs_vc_clone cl = vs_clone_base(c, n->profile, n->name, uuid,
					      h->host);

	cl.datastore = c->inv.nuses ? h->store : c->store[0] ? c->store : NULL;

	if (!vs_stores_right(c, h))
		return vs_err_set(err, VS_E_RETRY,
			"of the datastores of Datastore= none that host %s sees is known yet: the VM is made when one is",
			h->host);

	if (n->profile->clone != VS_CLONE_FULL) {
		const struct vs_vm *parent = vs_parent_for(c, n, h, now_ms,
							   err);

		if (!parent)
			return err->code == VS_OK ? 0 : -1;
		cl.source = parent->moid;
		cl.like = n->profile->template_moid;
		cl.snapshot = parent->snapshot;
		kv(&s, VS_KEY_FROM, parent->uuid);
	} else {
		kv(&s, VS_KEY_FROM, "");
	}
	if (spec_cards(c, n, h, now_ms, &s, err))
		return not_yet(err);
	vs_uuid_random(uuid);
	spec_extra(c, n, uuid, &s);
	hw_fill(c, n, h, &s, &cl.hw);
	if (vs_node_clone_plain(c, n))
		cl.hw.ncards = 0;	/* a reconfiguration adds them */
	cl.hw.mgmt_mac = n->mgmt_mac;
	vs_guest_words_asked(n, NULL);
	return vs_vc_vm_clone(c->vc, &cl, op, err);
}

/* As large as its clones and with cards like theirs, whose keys they have; its
 * own MACs, for the template's guest may use them until it is frozen. */
int64_t vs_send_instant_parent(struct vs_core *c, const struct vs_node *n,
			       const struct vs_hold *h,
			       const struct vs_parent *p,
			       const struct vs_vc_op *op, struct vs_err *err)
{
	SPEC_FREE struct spec s = { .nkv = 0 };
	struct vs_node as = *n;
	char uuid[VS_UUID_LEN] = "";
	struct vs_vc_clone cl = vs_clone_base(c, n->profile, p->name, uuid,
					      h->host);

	cl.datastore = p->key.store;
	as.name = p->name;
	vs_mac_of(c->cluster_id, p->name, 0, 0, as.mgmt_mac);
	for (unsigned int k = 0; k < VS_CARDS_MAX; k++)
		vs_mac_of(c->cluster_id, p->name, k + 1, 0, as.macs[k]);
	vs_uuid_random(uuid);
	kv_take(&s, VS_KEY_OWNER, vs_owner_mark(c, p->name, uuid));
	kv_take(&s, VS_KEY_PARENT, vs_parent_mark_format(&p->key.mark));
	kv(&s, VS_KEY_FROM, "");
	kv(&s, "slurm.vsphere.job", "");
	kv(&s, "guestinfo.slurm.node", "");
	kv(&s, "guestinfo.slurm.parent", "yes");
	kv(&s, vs_vc_guest_keys[VS_VC_G_ROOT_WRITES], "TRUE");
	if (spec_cards(c, &as, h, 0, &s, err))
		return -1;
	hw_fill(c, &as, h, &s, &cl.hw);
	cl.hw.mgmt_mac = as.mgmt_mac;
	return vs_vc_vm_clone(c->vc, &cl, op, err);
}

/* The parent's cards of our adapter, in the order of its MACs: their keys. */
static int parent_keys(const struct vs_core *c, const struct vs_node *n,
		       const struct vs_vm *parent, int keys[VS_CARDS_MAX])
{
	char mac[VS_MAC_LEN];
	int found = 0, want = vs_adapter_nics(n->profile->adapter);

	for (int k = 0; k < want; k++) {
		vs_mac_of(c->cluster_id, parent->name, (unsigned int)k + 1, 0,
			  mac);
		for (int i = 0; i < parent->ncards; i++)
			if (!strcasecmp(parent->cards[i].mac, mac)) {
				keys[k] = parent->cards[i].key;
				found++;
				break;
			}
	}
	return found == want ? found : -1;
}

/* Of the parent on the host of its place: on when the call is over. */
static int64_t send_instant(struct vs_core *c, struct vs_node *n,
			    const struct vs_hold *h, int64_t now_ms,
			    const struct vs_vc_op *op, struct vs_err *err)
{
	const struct vs_vm *parent = vs_parent_for(c, n, h, now_ms, err);
	SPEC_FREE struct spec s = { .nkv = 0 };
	int keys[VS_CARDS_MAX];
	char uuid[VS_UUID_LEN] = "";
	struct vs_vc_instant in = {
		.folder = c->folder, .name = n->name, .bios_uuid = uuid,
		.pool = vs_pool_of(c, vs_host_get(&c->inv, h->host)),
		.like = n->profile->template_moid, .mgmt_mac = n->mgmt_mac,
		.cards = s.cards, .keys = keys, .extra = s.kv,
	};

	if (!parent)
		return err->code == VS_OK ? 0 : -1;
	in.source = parent->moid;
	if (parent_keys(c, n, parent, keys) < 0) {
		vs_parent_changed(c, n, parent, now_ms);
		return 0;
	}
	kv(&s, VS_KEY_FROM, parent->uuid);
	vs_uuid_random(uuid);
	spec_extra(c, n, uuid, &s);
	/* what it has from its parent */
	kv(&s, "guestinfo.slurm.parent", "no");
	kv(&s, "guestinfo.slurm.state", "");
	kv(&s, "guestinfo.slurm.reason", "");
	if (spec_cards(c, n, h, now_ms, &s, err))
		return not_yet(err);
	in.ncards = s.ncards;
	in.nextra = s.nkv;
	vs_guest_words_asked(n, NULL);
	return vs_vc_vm_instant(c->vc, &in, op, err);
}

/* One of an earlier configuration, with more cards. */
static bool was_ours(const struct vs_core *c, const struct vs_node *n,
		     const struct vs_card *card)
{
	char mac[VS_MAC_LEN];

	for (int k = vs_adapter_nics(n->profile->adapter); k < VS_CARDS_MAX;
	     k++) {
		vs_mac_of(c->cluster_id, n->name, (unsigned int)k + 1, 0, mac);
		if (!strcasecmp(card->mac, mac))
			return true;
	}
	return false;
}

/* Our cards, or one of their kind that must go for ours. */
static int cards_gone(const struct vs_core *c, const struct vs_node *n,
		      const struct vs_vm *vm, int gone[VS_VM_CARDS])
{
	int count = 0;

	for (int i = 0; i < vm->ncards; i++)
		if (vs_node_card(n, &vm->cards[i]) >= 0 ||
		    vs_card_is_device(&vm->cards[i]) ||
		    was_ours(c, n, &vm->cards[i]))
			gone[count++] = vm->cards[i].key;
	for (int i = 0; i < vm->ncards && !count; i++)
		if (vm->cards[i].kind == VS_CARD_SRIOV)
			gone[count++] = vm->cards[i].key;
	return count;
}

static int64_t send_reconfigure(struct vs_core *c, struct vs_node *n,
				const struct vs_hold *h, struct vs_vm *vm,
				int64_t now_ms, const struct vs_vc_op *op,
				struct vs_err *err)
{
	SPEC_FREE struct spec s = { .nkv = 0 };
	struct vs_vc_hw hw;

	if (strcmp(vm->host, h->host))	/* what it gets, it gets there */
		return vs_vm_unbind(c, vm, op, err);
	if (spec_cards(c, n, h, now_ms, &s, err))
		return not_yet(err);
	spec_extra(c, n, vm->uuid, &s);
	hw_fill(c, n, h, &s, &hw);
	vs_hardware_again(n->profile, &hw);
	hw.ngone = cards_gone(c, n, vm, s.gone);
	hw.gone = s.gone;
	vs_guest_words_asked(n, vm);
	return vs_vc_vm_reconfigure(c->vc, vm->moid, vm->change_version, &hw,
				    op, err);
}

static int64_t send_power_on(struct vs_core *c, struct vs_node *n,
			     struct vs_hold *h, struct vs_vm *vm,
			     const struct vs_vc_op *op, struct vs_err *err)
{
	int64_t id = vs_vc_vm_power_on(c->vc, vm->moid, h->host, op,
				       err);

	if (id > 0) {
		n->words.state = VS_WORDS_OLD;	/* its guest may write now */
		vs_strlcpy(h->vm, vm->moid, sizeof(h->vm));
		vs_ledger_set_state(&c->ledger, h, VS_HOLD_REQUESTED);
		n->powered_on_ms = 0;
	}
	return id;
}

/*
 * The guest is asked first where somebody is in it and there is time; a VM
 * whose node Slurm has already powered down is switched off at once, before
 * it can register.
 */
static int64_t send_shutdown(struct vs_core *c, struct vs_node *n,
			     struct vs_vm *vm, int64_t now_ms,
			     enum vs_op_kind *kind, const struct vs_vc_op *op, struct vs_err *err)
{
	int64_t grace = (int64_t)c->conf->shutdown_grace_s * 1000;

	if (vm->power == VS_POWER_ON && vm->tools_running &&
	    (n->flags & VS_NODE_POWERING_DOWN)) {
		if (!n->shutdown_ms) {
			*kind = VS_OP_SHUTDOWN;
			return vs_vc_vm_shutdown_guest(c->vc, vm->moid,
						       op, err);
		}
		if (now_ms - n->shutdown_ms < grace)
			return 0;
	}
	*kind = VS_OP_POWER_OFF;
	return vs_vc_vm_power_off(c->vc, vm->moid, op, err);
}

static int64_t send_destroy(struct vs_core *c, struct vs_vm *vm,
			    const struct vs_vc_op *op, struct vs_err *err)
{
	if (!vm->disks_own)
		return vs_err_set(err, VS_E_CONFIG,
			"VM %s has a disk outside of its own directory: it is not destroyed (Destroy_Task would delete that disk); detach it",
			vm->name);
	return vs_vc_vm_destroy(c->vc, vm->moid, op, err);
}

/*
 * Queue the call of an action. Its id; 0 if nothing is to be sent yet; -1 with
 * err. The kind says which call it became.
 */
int64_t vs_send(struct vs_core *c, struct vs_node *n, struct vs_hold *h,
		struct vs_vm *vm, enum vs_action action, int64_t now_ms,
		const struct vs_vc_op *op, enum vs_op_kind *kind,
		struct vs_err *err)
{
	switch (action) {
	case VS_DO_CLONE:
		*kind = VS_OP_CLONE;
		return send_clone(c, n, h, now_ms, op, err);
	case VS_DO_PREPARE:
		*kind = VS_OP_NONE;
		return vs_parent_prepare(c, n, h, now_ms, err);
	case VS_DO_INSTANT:
		*kind = VS_OP_CLONE;
		if (vs_door(c, n, NULL, VS_DEED_INSTANT,
			    vs_host_get(&c->inv, h->host), err))
			return -1;
		return send_instant(c, n, h, now_ms, op, err);
	case VS_DO_RELOCATE:
		*kind = vm->power == VS_POWER_ON ? VS_OP_VMOTION :
			VS_OP_RELOCATE;
		if (*kind == VS_OP_VMOTION &&
		    vs_door(c, n, vm, VS_DEED_VMOTION,
			    vs_host_get(&c->inv, h->host), err))
			return -1;
		return vs_vc_vm_relocate(c->vc, vm->moid, h->host,
			vs_pool_of(c, vs_host_get(&c->inv, h->host)),
			h->moves ? h->store : NULL, op, err);
	case VS_DO_RECONFIGURE:
		*kind = VS_OP_RECONFIGURE;
		if (vm->power == VS_POWER_ON &&
		    vs_door(c, n, vm, VS_DEED_HOT_ADD, NULL, err))
			return -1;
		return send_reconfigure(c, n, h, vm, now_ms, op, err);
	case VS_DO_POWER_ON:
		*kind = VS_OP_POWER_ON;
		return send_power_on(c, n, h, vm, op, err);
	case VS_DO_SHUTDOWN:
		return send_shutdown(c, n, vm, now_ms, kind, op, err);
	case VS_DO_DESTROY:
		*kind = VS_OP_DESTROY;
		return send_destroy(c, vm, op, err);
	default:
		*kind = VS_OP_NONE;
		return 0;
	}
}
