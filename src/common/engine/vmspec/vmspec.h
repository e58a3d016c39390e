/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a node's VM must be like: does a VM match (match.c), which devices it has
 * (vm_devices.c), and the specs that make one (build.c). The lock is held.
 *
 * Rules: nothing here decides when a VM is made or changed.
 */
#ifndef VS_ENGINE_VMSPEC_H
#define VS_ENGINE_VMSPEC_H

#include "engine/state/state.h"

/* ---- nics.c -------------------------------------------------------------- */

/* Which of the node's NICs is it, by its MAC: -1, none. */
int vs_node_nic(const struct vs_node *n, const struct vs_nic *nic);
#define VS_MACS_LEN (VS_NICS_MAX * VS_MAC_LEN)
const char *vs_node_macs(const struct vs_node *n, char out[VS_MACS_LEN]);
/* The PFs of its VM's VFs ("": not shown), in the order of the node's NICs. */
int vs_node_nics(const struct vs_node *n, const struct vs_vm *vm,
		 struct vs_claim_vf to[VS_NICS_MAX]);
/* Has it exactly one NIC with each of our MACs, of the right kind, on the
 * right network, and on the PF that is held if that was an explicit choice? */
bool vs_node_nics_right(const struct vs_node *n, const struct vs_vm *vm,
			const struct vs_claim *h);
bool vs_node_shared_well(struct vs_core *c, const struct vs_node *n);

/* ---- match.c: is this VM what its node needs? ------------------------------ */

/* Does the VM fit the node's profile, but for its devices and its place? Returns
 * VS_FIT_RIGHT where the template isn't known. */
enum vs_profile_fit vs_node_fit(const struct vs_core *c,
				const struct vs_node *n,
				const struct vs_vm *vm);
/* Does the VM fit, with its devices, and for this run of the job (0: none)? */
bool vs_node_vm_right(struct vs_core *c, const struct vs_node *n,
		      const struct vs_vm *vm, uint32_t job, uint32_t restart);
/* Returns true if the VM is in a resource pool in which the configuration wants
 * no managed VM. */
bool vs_node_pool_wrong(const struct vs_core *c, const struct vs_vm *vm);
/* A managed VM that is off, for a job that has this hold (NULL: none yet). */
enum vs_observed vs_node_observed_off(const struct vs_core *c,
				      const struct vs_node *n,
				      const struct vs_vm *vm,
				      const struct vs_claim *h, uint32_t job,
				      uint32_t restart);
/* Its parent is gone, or another VM by now: it can't start. */
bool vs_clone_source_lost(const struct vs_core *c, const struct vs_vm *child);

/* ---- vm_devices.c: devices that the VM gets whole --------------------------- */

/* A node's devices in its VM: there are as many as its adapter, and the one
 * beside it, say, and they are those; h: while it is off, those held for it
 * (NULL: whichever). */
bool vs_node_devices_right(const struct vs_node *n, const struct vs_vm *vm,
			   const struct vs_claim *h);
/* The rows that they are counted on, in the order of the node's slots, into
 * to[*count], and behind those that are there. */
void vs_node_devices(const struct vs_node *n, const struct vs_vm *vm,
		     struct vs_claim_vf to[VS_NICS_MAX], int *count);
/* Has it a device by its address? Then it can be registered on no other host,
 * before that was taken out of it. */
bool vs_vm_bound(const struct vs_vm *vm);
/* Queue the call that takes those out, and changes nothing else: a device, a
 * PF, a NUMA node of another host would mean one of the host that the VM is on.
 * The call's id, or -1. */
struct vs_vc_op;
int64_t vs_vm_unbind(struct vs_core *c, const struct vs_vm *vm,
		     const struct vs_vc_op *op, struct vs_err *err);
/* The same for a spec: NICs s[*count] on, by what is held. -1: not now, and
 * why; VS_OK: it is being asked for (inventory.h). */
int vs_spec_devices(struct vs_core *c, const struct vs_node *n,
		    const struct vs_claim *h, int64_t now_ms,
		    struct vs_vc_nic_spec *s, int *count, struct vs_err *err);
/* "10de:20b0,10de:any,none" for the guest, to be free()d; NULL: it has none. */
char *vs_node_device_ids(const struct vs_node *n);

/* ---- build.c: specs --------------------------------------------------------- */

#define VS_SPEC_KV_MAX 48
struct vs_spec {		/* memory behind a vs_vc_hw */
	struct vs_vc_nic_spec nics[VS_NICS_MAX];
	int nnics;
	int gone[VS_VM_NICS];		/* keys of those that go */
	char macs[VS_MACS_LEN];
	struct vs_vc_kv kv[VS_SPEC_KV_MAX];
	size_t nkv;
	char *owned[VS_SPEC_KV_MAX];
	size_t nowned;
	char hash[VS_PROFILE_HASH_LEN];
	char numa[VS_NUMA_LEN];
};
void vs_spec_free(struct vs_spec *s);	/* the strings that it owns */
#define VS_SPEC_FREE __attribute__((cleanup(vs_spec_free)))

/* Adds a key of extraConfig, borrowed. value NULL: the key is taken away, in case
 * that the VM or its template has it. */
void vs_spec_kv(struct vs_spec *s, const char *key, const char *value);
/* The same with a value that the spec owns from now on. */
void vs_spec_kv_take(struct vs_spec *s, const char *key, char *value);
/* Fills what the guest and later ourselves find in extraConfig. */
void vs_spec_extra(struct vs_core *c, const struct vs_node *n, const char *uuid,
		   struct vs_spec *s);
/* Fills the node's NICs and devices, by what is held. Returns 0. Returns -1 as
 * vs_spec_devices() does. */
int vs_spec_nics(struct vs_core *c, const struct vs_node *n,
		 const struct vs_claim *h, int64_t now_ms, struct vs_spec *s,
		 struct vs_err *err);
/* Fills hw with what is in s and with the profile's hardware; it borrows s. */
void vs_spec_hardware(const struct vs_core *c, const struct vs_node *n,
		      const struct vs_claim *h, struct vs_spec *s,
		      struct vs_vc_hw *hw);
/* The resource pool (moId) of VMs on this host; NULL: the host is NULL, or of no
 * cluster that the configuration names. */
const char *vs_host_pool(const struct vs_core *c, const struct vs_host *host);
/* Returns the ownership tag of a managed VM of that name and instance UUID, to
 * be free()d. */
char *vs_vm_owner_tag(const struct vs_core *c, const char *name,
		      const char *uuid);
/* A clone of the profile's template on that host, as to its name and place; the
 * datastore, and what is in the VM, are the caller's. It borrows all strings. */
struct vs_vc_clone vs_clone_base(const struct vs_core *c,
				 const struct vs_profile *p, const char *name,
				 const char *uuid, const char *host);
/* Queues a full clone of that name that will be frozen, by key, for such VMs as n's.
 * Returns the call's id. Returns -1 and sets err if it can't be sent. */
int64_t vs_spec_send_instant(struct vs_core *c, const struct vs_node *n,
			     const struct vs_claim *h,
			     const char *name,
			     const struct vs_clone_source_key *key,
			     const struct vs_vc_op *op, struct vs_err *err);
/* What a profile asks for there; -1: nothing, or nothing that is known. */
int vs_clone_source_key_fill(const struct vs_core *c,
			     const struct vs_profile *p, const char *host,
			     const char *store,
			     struct vs_clone_source_key *out);

/* ---- move.c: a VM that is off and whose place is elsewhere --------------------- */

/* A relocation of this VM failed (vm: NULL if it is gone). Returns true if the VM stays
 * where it is for good, and nothing else has to be blamed. */
bool vs_move_failed(struct vs_node *n, const struct vs_vm *vm,
		    const struct vs_err *err);
/* A relocation of its VM is done: what failed before counts no more. */
void vs_move_done(struct vs_node *n);
/* Can it be moved at all, as far as we know? */
bool vs_move_may(const struct vs_node *n, const struct vs_vm *vm);

/* ---- mac_shared.c, capability.c ------------------------------------------------ */

/* mac_shared.c: other VMs with a node's MAC; lock held. */
void vs_macs_check(struct vs_core *c);
/* The VM is not this cluster's, and has a MAC that a node's VM could have. */
bool vs_mac_may_be_shared(const struct vs_core *c, const struct vs_vm *vm);

/* capability.c: 0, or -1 with VS_E_REQUEST and why it is forbidden: by what the node's
 * VM is made of (vm: as it is there, or NULL) and the oldest of the releases of
 * vCenter, of its host and of the one that it is to go to (NULL: none). */
int vs_capability_check(const struct vs_core *c, const struct vs_node *n,
			const struct vs_vm *vm, enum vs_operation deed,
			const struct vs_host *to, struct vs_err *err);

/* ---- hardware.c: the hardware part of profiles ------------------------- */

/* What the line says; what is so anyway is as if it said nothing. p has its
 * adapter and latency_high. */
void vs_hardware_set(struct vs_profile *p, const struct vs_conf_partition *part);
/* What VMs have of their template where nothing is said. */
void vs_hardware_template(struct vs_profile *p, const struct vs_vc_template *t);
/* Into a spec: sizes, reservations, shares, latency, firmware. */
void vs_hardware_fill(const struct vs_core *c, const struct vs_node *n,
		      const struct vs_claim *h, struct vs_vc_hw *hw);
/* A VM that exists may have another than the template's by now. */
void vs_hardware_again(const struct vs_profile *p, struct vs_vc_hw *hw);
/* numa.nodeAffinity of a VM that is placed so, "": none. Returns out. */
const char *vs_hardware_numa(const struct vs_core *c, const struct vs_node *n,
			     const struct vs_claim *h, char out[VS_NUMA_LEN]);
/* Is what depends on the host right for where it lies, and its hold (or NULL)?
 * Of a VM that is off; the rest is in the profile's hash. */
bool vs_hardware_right(const struct vs_core *c, const struct vs_node *n,
		       const struct vs_vm *vm, const struct vs_claim *h);
/* Does the VM show all that the node's finished reconfigure (n->op) was to do?
 * Also true of one that has gone to another host, and may. */
bool vs_hardware_settled(struct vs_core *c, const struct vs_node *n,
			 const struct vs_vm *vm);

/* ---- guest_info.c: what a guest reads at boot ------------------------- */

/* By enum vs_vc_guest_key; NULL: the key is taken away. */
struct vs_guest_info { char *of[VS_VC_NGUEST]; };

/* What this node's VM must have. The caller frees it. Holds the core's lock. */
void vs_guest_info_make(const struct vs_core *c, const struct vs_node *n,
			struct vs_guest_info *w);
void vs_guest_info_free(struct vs_guest_info *w);

/* A hash of VS_VC_NGUEST values, never 0. "" is as NULL, and so is "no" of
 * VS_VC_G_PARENT, which instant clones have. */
uint64_t vs_guest_info_hash(const char *const *of);

/* What vCenter shows of a VM, VS_VC_NGUEST values. The caller holds the core's
 * lock. */
void vs_guest_info_observed(struct vs_vm *vm, const char *const *of);

/* The finding of VMs without VS_VC_G_ROOT_WRITES, for vs_preflight(). */
void vs_guest_info_check(struct vs_core *c);

/* All nodes' expected hashes, after their addresses were chosen. */
void vs_guest_info_expect(struct vs_core *c);

/* Are the VM's values those that were set? True also where it is unknown. */
bool vs_guest_info_is_current(const struct vs_node *n, const struct vs_vm *vm);

/*
 * The values that a node's VM shows after a call that sets them are learned in
 * three steps. asked: the call was sent; vm is as it was before, NULL for a
 * clone. done: the call ended, ok if it succeeded. learn: takes what vm shows for
 * right if the call succeeded, vm has another changeVersion since, and no user of
 * its guest can have written. The caller holds the core's lock.
 */
void vs_guest_info_requested(struct vs_node *n, const struct vs_vm *vm);
void vs_guest_info_done(struct vs_node *n, bool ok);
/* The guest may write from now on: what was shown may be its own. */
void vs_guest_info_stale(struct vs_node *n);
void vs_guest_info_learn(struct vs_node *n, const struct vs_vm *vm);

#endif
