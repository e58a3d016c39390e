/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The devices that a node's VM gets whole: which it is to have, which it has,
 * and what a spec says of them. A node's slots are its adapter's, then those of
 * the adapter beside it (ExtraDevice=); a device has no MAC, and is known by its ids.
 *
 * Rules: devices in a managed VM were added by slurm-vsphere: its template has
 * none. The lock is held.
 */
#include <string.h>
#include "engine/inventory/inventory.h"
#include "engine/state/state.h"
#include "engine/vmspec/vmspec.h"
#include "plan/inventory/shared_devices.h"
#include "util/mem.h"

/* The adapter of the node's k-th device, and which NIC of the hold it is;
 * NULL: it has no more. */
static const struct vs_adapter *slot(const struct vs_node *n, int k, int *nic)
{
	const struct vs_adapter *a = n->profile->adapter;
	int own = vs_adapter_nics(a) ? 0 : vs_adapter_vfs(a);

	*nic = k < own ? k : vs_adapter_vfs(a) + k - own;
	return k < own				  ? a :
	       k - own < vs_adapter_additional(a) ? a->with :
						    NULL;
}

/* By its address; of a host that isn't known, or doesn't offer it any more, the
 * address says all that there is. */
static bool fixed_is(const struct vs_vm *vm, const struct vs_nic *nic,
		     const struct vs_adapter *a,
		     const struct vs_claim_vf *held)
{
	const struct vs_pf *row = vm->host_ptr ?
		vs_host_device(vm->host_ptr, nic->pci) : NULL;

	if (held)
		return !strcmp(nic->pci, held->pf);
	return row ? vs_pf_reaches(a, NULL, row) : !vm->host_ptr ||
		vs_addresses_has(a->addresses, vm->host_ptr->name,
				 nic->pci);
}

/* held NULL: whichever of its kind. */
static bool nic_is(const struct vs_vm *vm, const struct vs_nic *nic,
		    const struct vs_adapter *a,
		    const struct vs_claim_vf *held)
{
	const struct vs_adapter_type_info *kind = vs_adapter_type_info(a);

	if (nic->kind != kind->nic)
		return false;
	if (vs_adapter_named(a))
		return !strcmp(nic->network, a->label);
	if (kind->fixed)
		return fixed_is(vm, nic, a, held);
	return nic->vendor == a->vendor && nic->device == a->device &&
	       !strcmp(nic->network, a->label);
}

/* The VM's first NIC of that kind that no slot has; -1. */
static int nic_of(const struct vs_vm *vm, unsigned int taken,
		   const struct vs_adapter *a, const struct vs_claim_vf *held)
{
	for (int i = 0; i < vm->nnics; i++)
		if (!(taken & 1u << i) && nic_is(vm, &vm->nics[i], a, held))
			return i;
	return -1;
}

bool vs_node_devices_right(const struct vs_node *n, const struct vs_vm *vm,
			   const struct vs_claim *h)
{
	bool off = vm->power != VS_POWER_ON;
	const struct vs_adapter *a;
	unsigned int taken = 0;
	int nic, at, k = 0;

	for (; (a = slot(n, k, &nic)); k++) {
		if (off && h && nic >= h->nvfs)
			return false;
		at = nic_of(vm, taken, a, off && h ? &h->vfs[nic] : NULL);
		if (at < 0)
			return false;
		taken |= 1u << at;
	}
	for (int i = 0; i < vm->nnics; i++)
		k -= vs_nic_is_device(&vm->nics[i]);
	return !k;
}

void vs_node_devices(const struct vs_node *n, const struct vs_vm *vm,
		     struct vs_claim_vf to[VS_NICS_MAX], int *count)
{
	const struct vs_adapter *a;
	unsigned int taken = 0;
	int nic, at;

	for (int k = 0; (a = slot(n, k, &nic)); k++) {
		uint32_t rows;

		at = nic_of(vm, taken, a, NULL);
		if (at < 0)
			continue;
		taken |= 1u << at;
		rows = vm->host_ptr ?
			vs_nic_entries(vm->host_ptr, &vm->nics[at]) : 0;
		vs_strlcpy(to[*count].pf, rows ?
			   vm->host_ptr->pfs[__builtin_ctz(rows)].pci : "",
			   VS_PCI_LEN);
		(*count)++;
	}
}

static int bound(const struct vs_vm *vm, int keys[VS_VM_NICS])
{
	int n = 0;

	for (int i = 0; i < vm->nnics; i++)
		if (vm->nics[i].kind == VS_NIC_PCI_FIXED)
			keys[n++] = vm->nics[i].key;
	return n;
}

bool vs_vm_bound(const struct vs_vm *vm)
{
	int keys[VS_VM_NICS];

	return bound(vm, keys) > 0;
}

int64_t vs_vm_unbind(struct vs_core *c, const struct vs_vm *vm,
		     const struct vs_vc_op *op, struct vs_err *err)
{
	int keys[VS_VM_NICS];
	struct vs_vc_hw hw = { .gone = keys };

	hw.ngone = bound(vm, keys);
	return vs_vc_vm_reconfigure(c->vc, vm->moid, vm->change_version, &hw,
				    op, err);
}

/* A device by its address, as its host has it. */
static int spec_fixed(struct vs_core *c, const struct vs_claim *h, int nic,
		      int64_t now_ms, struct vs_vc_nic_spec *s,
		      struct vs_err *err)
{
	struct vs_host *host = vs_host_get(&c->inv, h->host);
	const struct vs_pf *row = host && nic < h->nvfs ?
		vs_host_device(host, h->vfs[nic].pf) : NULL;

	if (!row)
		return vs_err_set(err, VS_E_OTHER_HOST,
			"host %s no longer offers the device %s",
			host ? host->name : h->host,
			nic < h->nvfs ? h->vfs[nic].pf : "");
	s->kind = VS_VC_PCI_FIXED;
	s->pci = row->pci;
	s->name = row->pnic;
	s->system = vs_device_ids_system(c, host, row->pci, now_ms, err);
	return s->system ? 0 : -1;
}

/* What its host says of the parameters that the adapter gives its devices. */
static int spec_params(struct vs_core *c, const struct vs_claim *h,
		       int64_t now_ms, struct vs_vc_nic_spec *s,
		       struct vs_err *err)
{
	struct vs_host *host = vs_host_get(&c->inv, h->host);

	return !host || !s->params[0] ?
		       0 :
		       vs_device_ids_options(c, host, now_ms, &s->options,
					     &s->noptions, err);
}

int vs_spec_devices(struct vs_core *c, const struct vs_node *n,
		    const struct vs_claim *h, int64_t now_ms,
		    struct vs_vc_nic_spec *s, int *count, struct vs_err *err)
{
	const struct vs_adapter *a;
	int nic;

	for (int k = 0; (a = slot(n, k, &nic)); k++) {
		struct vs_vc_nic_spec one = {
			.kind = vs_adapter_type_info(a)->by_class ?
					VS_VC_PCI_DVX :
				vs_adapter_type_info(a)->by_profile ?
					VS_VC_PCI_VGPU :
					VS_VC_PCI_DYNAMIC,
			.vendor = a->vendor,
			.device = a->device,
			.label = a->label,
			.params = a->params,
		};

		if (vs_adapter_type_info(a)->fixed &&
		    spec_fixed(c, h, nic, now_ms, &one, err))
			return -1;
		if (vs_adapter_type_info(a)->by_class &&
		    spec_params(c, h, now_ms, &one, err))
			return -1;
		s[(*count)++] = one;
	}
	return 0;
}

/* What a guest sees of one: of DVX devices and vGPUs at most the vendor is
 * known, "any" of it, and "none" says that nothing can be looked for. */
static char *ids_of(const struct vs_adapter *a)
{
	unsigned int vendor = a->vendor;

	if (!vs_adapter_named(a))
		return vs_asprintf("%04x:%04x", vendor,
				   (unsigned int)a->device);
	if (vs_adapter_type_info(a)->by_profile)
		vendor = vs_vgpu_vendor(a->label);
	return vendor ? vs_asprintf("%04x:any", vendor) : vs_strdup("none");
}

char *vs_node_device_ids(const struct vs_node *n)
{
	const struct vs_adapter *a;
	char *out = NULL;
	int nic;

	for (int k = 0; (a = slot(n, k, &nic)); k++) {
		VS_FREE char *had = out, *ids = ids_of(a);

		out = vs_asprintf("%s%s%s", had ? had : "", had ? "," : "",
				  ids);
	}
	return out;
}
