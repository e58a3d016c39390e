/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rows of a host's table (its PFs, and the devices that it hands out) that
 * a VM's NIC or a hold may take one of.
 *
 * Rules: what can't be told is each row that it may be; a device that no row
 * has may still be a VF that is handed out like one.
 */
#include <string.h>
#include "plan/allocation/ledger.h"
#include "plan/inventory/shared_devices.h"

#define PCI_BUS_LEN 7		/* "0000:3b" */

static uint32_t all_rows(const struct vs_host *h)
{
	return (1u << h->npfs) - 1;
}

static uint32_t all_pfs(const struct vs_host *h)
{
	uint32_t mask = 0;

	for (int i = 0; i < h->npfs; i++)
		mask |= h->pfs[i].of ? 0 : 1u << i;
	return mask;
}

uint32_t vs_entries_nodes(const struct vs_host *h, uint32_t rows)
{
	uint32_t nodes = 0;

	for (int i = 0; i < h->npfs; i++)
		if (rows >> i & 1 && h->pfs[i].numa >= 0 &&
		    h->pfs[i].numa < VS_HOST_NODES)
			nodes |= 1u << h->pfs[i].numa;
	return nodes;
}

void vs_sum_nodes(struct vs_host_sum *sum, uint32_t nodes, int sign,
		  int64_t mem_mb, int vcpus)
{
	for (; nodes; nodes &= nodes - 1) {
		int k = __builtin_ctz(nodes);

		sum->node_mem_mb[k] += sign * (int32_t)mem_mb;
		sum->node_vcpus[k] += sign * vcpus;
	}
}

static uint32_t pf_bit(const struct vs_host *h, const char *pci)
{
	for (int i = 0; i < h->npfs; i++) {
		if (!strcmp(h->pfs[i].pci, pci))
			return 1u << i;
	}
	return 0;
}

static uint32_t switch_pfs(const struct vs_host *h, const char *uuid)
{
	uint32_t mask = 0;

	for (int i = 0; uuid[0] && i < h->npfs; i++) {
		if (!strcmp(h->pfs[i].switch_uuid, uuid))
			mask |= 1u << i;
	}
	return mask;
}

static uint32_t bus_pfs(const struct vs_host *h, const char *pci)
{
	uint32_t mask = 0;

	for (int i = 0; i < h->npfs; i++) {
		if (!h->pfs[i].of &&
		    !strncmp(h->pfs[i].pci, pci, PCI_BUS_LEN))
			mask |= 1u << i;
	}
	return mask;
}

/* A device by its address, or a VF that is handed out like one. */
static uint32_t fixed_rows(const struct vs_host *h, const struct vs_nic *c)
{
	const struct vs_pf *row = vs_host_device(h, c->pci);

	if (row)
		return 1u << (row - h->pfs);
	return c->pci[0] ? bus_pfs(h, c->pci) : all_rows(h);
}

/* Devices of its kind, those that are handed out by their address too: vCenter
 * doesn't say which of them the NIC has. If there are none, the NIC may have
 * a VF of any PF. */
static uint32_t dynamic_rows(const struct vs_host *h, const struct vs_nic *c)
{
	uint32_t mask = 0;

	for (int i = 0; i < h->npfs; i++)
		if (h->pfs[i].of && !h->pfs[i].of->named &&
		    vs_devices_match(h->pfs[i].of, c->vendor, c->device,
				     c->network))
			mask |= 1u << i;
	if (!c->vendor)
		mask |= all_pfs(h);
	return mask ? mask : all_pfs(h);
}

/* Those of its class or profile. A DVX device of a class that is not counted may
 * be a VF of any PF; a vGPU is no VF. */
static uint32_t named_rows(const struct vs_host *h, const struct vs_nic *c)
{
	for (int i = 0; i < h->npfs; i++)
		if (h->pfs[i].of && h->pfs[i].of->named == c->kind &&
		    !strcmp(h->pfs[i].of->label, c->network))
			return 1u << i;
	return c->kind == VS_NIC_PCI_DVX ? all_pfs(h) : 0;
}

/* The rows of its host that a powered-on VM's NIC may take one of. */
uint32_t vs_nic_entries(const struct vs_host *h, const struct vs_nic *c)
{
	uint32_t mask;

	switch (c->kind) {
	case VS_NIC_SRIOV:
		/* "" is no PF's address, a vanished one isn't either */
		mask = pf_bit(h, c->pci);
		if (!mask)
			mask = switch_pfs(h, c->switch_uuid);
		return mask ? mask : all_pfs(h);
	case VS_NIC_PCI_FIXED:
		return fixed_rows(h, c);
	case VS_NIC_PCI_DYNAMIC:
		return dynamic_rows(h, c);
	case VS_NIC_PCI_DVX:
	case VS_NIC_PCI_VGPU:
		return named_rows(h, c);
	default:
		return 0;
	}
}

uint32_t vs_claim_entries(const struct vs_host *h,
			  const struct vs_claim_vf *nic)
{
	uint32_t mask = pf_bit(h, nic->pf);

	if (!mask)
		return all_rows(h);	/* renumbered, or a guess */
	if (nic->automatic)
		mask |= switch_pfs(h, h->pfs[__builtin_ctz(mask)].switch_uuid);
	return mask;
}

/* Of the row i; rows: those that it may be on, which is one of each. */
int vs_nic_takes(const struct vs_host *h, uint32_t rows, int i,
		 const struct vs_nic *c)
{
	return rows >> i & 1 ? 1 : c->kind == VS_NIC_PCI_VGPU ?
		vs_vgpu_crowds(h, i, c->network) : 0;
}

int vs_claim_takes(const struct vs_host *h, uint32_t rows, int i)
{
	/* several rows are PFs, and a PF crowds no other row */
	return rows >> i & 1 ? 1 : vs_entry_crowds(h, i, __builtin_ctz(rows));
}

/* ---- what stands for a hold ------------------------------------------------ */

/* A hold on a PF is for an SR-IOV NIC, one on a row of devices for a device. */
static bool is_for(const struct vs_nic *c, bool device)
{
	return device ? vs_nic_is_device(c) : c->kind == VS_NIC_SRIOV;
}

/* Does the VM have what the hold is for? All its NICs are shown at once. */
bool vs_vm_has_nics(const struct vs_vm *vm, const struct vs_host *h,
		    const struct vs_claim *hold)
{
	bool device = h->devices != NULL;

	for (int c = 0; c < hold->nvfs && device; c++)
		device = vs_host_device(h, hold->vfs[c].pf) != NULL;
	for (int i = 0; i < vm->nnics; i++)
		if (is_for(&vm->nics[i], device))
			return true;
	return false;
}

/* On how many of its NICs' behalf a VF of this PF may be in use. */
int vs_vm_nics_on(const struct vs_vm *vm, int pf)
{
	const struct vs_host *h = vm->host_ptr;
	int n = 0;

	for (int i = 0; i < vm->nnics; i++) {
		const struct vs_nic *c = &vm->nics[i];

		if (is_for(c, h->pfs[pf].of))
			n += vs_nic_takes(h, vs_nic_entries(h, c), pf, c);
	}
	return n;
}
