/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is sent to vCenter for a node: a clone or a reconfiguration (build.c makes
 * the specs), and the choice between asking a guest and switching it off. The
 * lock is held; the client only queues here.
 */
#include <string.h>
#include "engine/clone_source/clone_source.h"
#include "engine/inventory/inventory.h"
#include "engine/provision/provision.h"
#include "engine/state/state.h"
#include "engine/tasks/tasks.h"
#include "engine/vmspec/vmspec.h"
#include "util/mem.h"

/* What a device needs is being asked for, or can't be had. */
static int64_t not_yet(const struct vs_err *err)
{
	return err->code == VS_OK ? 0 : -1;
}

static int64_t send_clone(struct vs_core *c, struct vs_node *n,
			  const struct vs_claim *h, int64_t now_ms,
			  const struct vs_vc_op *op, struct vs_err *err)
{
	VS_SPEC_FREE struct vs_spec s = { .nkv = 0 };
	char uuid[VS_UUID_LEN] = "";
	struct vs_vc_clone cl = vs_clone_base(c, n->profile, n->name, uuid,
					      h->host);

	cl.datastore = c->inv.nuses ? h->store : c->store[0] ? c->store : NULL;

	if (!vs_stores_right(c, h))
		return vs_err_set(err, VS_E_RETRY,
			"no datastore of Datastore= that host %s mounts is known yet: the VM is created when one is",
			h->host);

	if (n->profile->clone != VS_CLONE_FULL) {
		const struct vs_vm *parent = vs_clone_source_get(c, n, h,
								 now_ms, err);

		if (!parent)
			return err->code == VS_OK ? 0 : -1;
		cl.source = parent->moid;
		cl.like = n->profile->template_moid;
		cl.snapshot = parent->clone.snapshot;
		vs_spec_kv(&s, VS_KEY_FROM, parent->uuid);
	} else {
		vs_spec_kv(&s, VS_KEY_FROM, "");
	}
	if (vs_spec_nics(c, n, h, now_ms, &s, err))
		return not_yet(err);
	vs_uuid_random(uuid);
	vs_spec_extra(c, n, uuid, &s);
	vs_spec_hardware(c, n, h, &s, &cl.hw);
	if (vs_node_clone_plain(n))
		cl.hw.nnics = 0;	/* a reconfiguration adds them */
	cl.hw.mgmt_mac = n->mgmt_mac;
	vs_guest_info_requested(n, NULL);
	return vs_vc_vm_clone(c->vc, &cl, op, err);
}

/* The parent's NICs of our adapter, in the order of its MACs: their keys. */
static int parent_keys(const struct vs_core *c, const struct vs_node *n,
		       const struct vs_vm *parent, int keys[VS_NICS_MAX])
{
	char mac[VS_MAC_LEN];
	int found = 0, want = vs_adapter_nics(n->profile->adapter);

	for (int k = 0; k < want; k++) {
		vs_mac_make(c->cluster_id, parent->name, (unsigned int)k + 1, 0,
			    mac);
		for (int i = 0; i < parent->nnics; i++)
			if (!strcasecmp(parent->nics[i].mac, mac)) {
				keys[k] = parent->nics[i].key;
				found++;
				break;
			}
	}
	return found == want ? found : -1;
}

/* Of the parent on the host of its place: on when the call is over. */
static int64_t send_instant(struct vs_core *c, struct vs_node *n,
			    const struct vs_claim *h, int64_t now_ms,
			    const struct vs_vc_op *op, struct vs_err *err)
{
	const struct vs_vm *parent = vs_clone_source_get(c, n, h, now_ms, err);
	VS_SPEC_FREE struct vs_spec s = { .nkv = 0 };
	int keys[VS_NICS_MAX];
	char uuid[VS_UUID_LEN] = "";
	struct vs_vc_instant in = {
		.folder = c->folder, .name = n->name, .bios_uuid = uuid,
		.pool = vs_host_pool(c, vs_host_get(&c->inv, h->host)),
		.like = n->profile->template_moid, .mgmt_mac = n->mgmt_mac,
		.nics = s.nics, .keys = keys, .extra = s.kv,
	};

	if (!parent)
		return err->code == VS_OK ? 0 : -1;
	in.source = parent->moid;
	if (parent_keys(c, n, parent, keys) < 0) {
		vs_clone_source_changed(c, n, parent, now_ms);
		return 0;
	}
	vs_spec_kv(&s, VS_KEY_FROM, parent->uuid);
	vs_uuid_random(uuid);
	vs_spec_extra(c, n, uuid, &s);
	/* what it has from its parent */
	vs_spec_kv(&s, "guestinfo.slurm.parent", "no");
	vs_spec_kv(&s, "guestinfo.slurm.state", "");
	vs_spec_kv(&s, "guestinfo.slurm.reason", "");
	if (vs_spec_nics(c, n, h, now_ms, &s, err))
		return not_yet(err);
	in.nnics = s.nnics;
	in.nextra = s.nkv;
	vs_guest_info_requested(n, NULL);
	return vs_vc_vm_instant(c->vc, &in, op, err);
}

/* One of an earlier configuration, with more NICs. */
static bool was_ours(const struct vs_core *c, const struct vs_node *n,
		     const struct vs_nic *nic)
{
	char mac[VS_MAC_LEN];

	for (int k = vs_adapter_nics(n->profile->adapter); k < VS_NICS_MAX;
	     k++) {
		vs_mac_make(c->cluster_id, n->name, (unsigned int)k + 1, 0,
			    mac);
		if (!strcasecmp(nic->mac, mac))
			return true;
	}
	return false;
}

/* Fills gone with the keys of the node's NICs, or of one of their kind that must go for
 * them. Returns how many. */
static int nics_gone(const struct vs_core *c, const struct vs_node *n,
		      const struct vs_vm *vm, int gone[VS_VM_NICS])
{
	int count = 0;

	for (int i = 0; i < vm->nnics; i++)
		if (vs_node_nic(n, &vm->nics[i]) >= 0 ||
		    vs_nic_is_device(&vm->nics[i]) ||
		    was_ours(c, n, &vm->nics[i]))
			gone[count++] = vm->nics[i].key;
	for (int i = 0; i < vm->nnics && !count; i++)
		if (vm->nics[i].kind == VS_NIC_SRIOV)
			gone[count++] = vm->nics[i].key;
	return count;
}

static int64_t send_reconfigure(struct vs_core *c, struct vs_node *n,
				const struct vs_claim *h, struct vs_vm *vm,
				int64_t now_ms, const struct vs_vc_op *op,
				struct vs_err *err)
{
	VS_SPEC_FREE struct vs_spec s = { .nkv = 0 };
	struct vs_vc_hw hw;

	if (strcmp(vm->host, h->host))	/* what it gets, it gets there */
		return vs_vm_unbind(c, vm, op, err);
	if (vs_spec_nics(c, n, h, now_ms, &s, err))
		return not_yet(err);
	vs_spec_extra(c, n, vm->uuid, &s);
	vs_spec_hardware(c, n, h, &s, &hw);
	vs_hardware_again(n->profile, &hw);
	hw.ngone = nics_gone(c, n, vm, s.gone);
	hw.gone = s.gone;
	vs_guest_info_requested(n, vm);
	return vs_vc_vm_reconfigure(c->vc, vm->moid, vm->change_version, &hw,
				    op, err);
}

static int64_t send_power_on(struct vs_core *c, struct vs_node *n,
			     struct vs_claim *h, struct vs_vm *vm,
			     const struct vs_vc_op *op, struct vs_err *err)
{
	int64_t id = vs_vc_vm_power_on(c->vc, vm->moid, h->host, op,
				       err);

	if (id > 0) {
		vs_guest_info_stale(n);	/* its guest may write now */
		vs_strlcpy(h->vm, vm->moid, sizeof(h->vm));
		vs_ledger_set_state(&c->ledger, h, VS_CLAIM_STARTING);
		n->power.on_ms = 0;
	}
	return id;
}

/*
 * The guest is asked first where a job may be in it and there is time; a VM
 * whose node Slurm has already powered down is switched off at once, before
 * it can register.
 */
static int64_t send_shutdown(struct vs_core *c, struct vs_node *n,
			     struct vs_vm *vm, int64_t now_ms,
			     enum vs_op_type *kind, const struct vs_vc_op *op, struct vs_err *err)
{
	int64_t grace = (int64_t)c->conf->shutdown_grace_s * 1000;

	if (vm->power == VS_POWER_ON && vm->tools_running &&
	    (n->flags & VS_NODE_POWERING_DOWN)) {
		if (!n->power.shutdown_ms) {
			*kind = VS_OP_SHUTDOWN;
			return vs_vc_vm_shutdown_guest(c->vc, vm->moid,
						       op, err);
		}
		if (now_ms - n->power.shutdown_ms < grace)
			return 0;
	}
	*kind = VS_OP_POWER_OFF;
	return vs_vc_vm_power_off(c->vc, vm->moid, op, err);
}

static int64_t send_destroy(struct vs_core *c, struct vs_vm *vm,
			    const struct vs_vc_op *op, struct vs_err *err)
{
	if (!vm->disks.own)
		return vs_err_set(err, VS_E_CONFIG,
			"VM %s has a disk outside its own directory: the VM is not destroyed (Destroy_Task would delete that disk); detach that disk",
			vm->name);
	return vs_vc_vm_destroy(c->vc, vm->moid, op, err);
}

/*
 * Queue the call of an action. Its id; 0 if nothing is to be sent yet; -1 with
 * err. The kind says which call it became.
 */
int64_t vs_op_send(struct vs_core *c, struct vs_node *n, struct vs_claim *h,
		   struct vs_vm *vm, enum vs_action action, int64_t now_ms,
		   const struct vs_vc_op *op, enum vs_op_type *kind,
		   struct vs_err *err)
{
	switch (action) {
	case VS_DO_CLONE:
		*kind = VS_OP_CLONE;
		return send_clone(c, n, h, now_ms, op, err);
	case VS_DO_PREPARE:
		*kind = VS_OP_NONE;
		return vs_clone_source_prepare(c, n, h, now_ms, err);
	case VS_DO_INSTANT:
		*kind = VS_OP_CLONE;
		if (vs_capability_check(c, n, NULL, VS_OPERATION_INSTANT,
					vs_host_get(&c->inv, h->host), err))
			return -1;
		return send_instant(c, n, h, now_ms, op, err);
	case VS_DO_RELOCATE:
		*kind = vm->power == VS_POWER_ON ? VS_OP_VMOTION :
			VS_OP_RELOCATE;
		if (*kind == VS_OP_VMOTION &&
		    vs_capability_check(c, n, vm, VS_OPERATION_VMOTION,
					vs_host_get(&c->inv, h->host), err))
			return -1;
		return vs_vc_vm_relocate(c->vc, vm->moid, h->host,
			vs_host_pool(c, vs_host_get(&c->inv, h->host)),
			h->moves ? h->store : NULL, op, err);
	case VS_DO_RECONFIGURE:
		*kind = VS_OP_RECONFIGURE;
		if (vm->power == VS_POWER_ON &&
		    vs_capability_check(c, n, vm, VS_OPERATION_HOT_ADD, NULL,
					err))
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
