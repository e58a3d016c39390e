/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See fake_vc.h: the NICs of its VMs. */
#include <string.h>
#include "fake_vc_i.h"
#include "util/mem.h"

static void nic_take(struct fake_nic *to, const struct vs_vc_nic_spec *c)
{
	*to = (struct fake_nic) { .kind = c->kind, .vendor = c->vendor,
				   .device = c->device,
				   .noptions = c->noptions };
	if (c->noptions)
		to->option = c->options[0].type;
	vs_strlcpy(to->mac, c->mac ? c->mac : "", sizeof(to->mac));
	vs_strlcpy(to->pci, c->pci ? c->pci : "", sizeof(to->pci));
	vs_strlcpy(to->label, c->label ? c->label : "", sizeof(to->label));
}

/* Of several the first one goes last. */
static void nic_goes(struct fake_vm *vm, int key)
{
	int at = key - (vm->key ? vm->key : 13031) - 1;

	if (at < 0 || at >= vm->nmore) {
		vm->has_nic = false;
		return;
	}
	for (vm->nmore--; at < vm->nmore; at++)
		vm->more[at] = vm->more[at + 1];
}

void fake_nics_apply(struct fake_vm *vm, const struct vs_vc_hw *hw)
{
	vm->removed_key = hw->ngone ? hw->gone[0] : 0;
	vm->removed = hw->ngone;
	for (int i = 0; i < hw->ngone && !hw->nnics; i++)
		nic_goes(vm, hw->gone[i]);
	if (!hw->nnics)
		return;
	vm->has_nic = true;
	vm->kind = hw->nics->kind;
	vm->mtu_change = hw->nics->mtu_change_allowed;
	vs_strlcpy(vm->mac, hw->nics->mac ? hw->nics->mac : "",
		   sizeof(vm->mac));
	vs_strlcpy(vm->system, hw->nics->system ? hw->nics->system : "",
		   sizeof(vm->system));
	vm->automatic = !hw->nics->pci;
	vs_strlcpy(vm->pci, hw->nics->pci ? hw->nics->pci : "",
		   sizeof(vm->pci));
	nic_take(&vm->first, hw->nics);
	for (vm->nmore = 0; vm->nmore < hw->nnics - 1; vm->nmore++)
		nic_take(&vm->more[vm->nmore], &hw->nics[vm->nmore + 1]);
}

/* VS_NIC_OTHER: none, but a NIC on a network. */
static enum vs_nic_type device_kind(enum vs_vc_net_type kind)
{
	static const enum vs_nic_type shown[] = {
		[VS_VC_PCI_DYNAMIC] = VS_NIC_PCI_DYNAMIC,
		[VS_VC_PCI_FIXED] = VS_NIC_PCI_FIXED,
		[VS_VC_PCI_DVX] = VS_NIC_PCI_DVX,
		[VS_VC_PCI_VGPU] = VS_NIC_PCI_VGPU,
	};

	return kind < VS_COUNT(shown) ? shown[kind] : VS_NIC_OTHER;
}

/* A device; false: it is a NIC on a network. */
static bool device_show(const struct fake_nic *from, struct vs_nic *to)
{
	enum vs_nic_type kind = device_kind(from->kind);

	if (kind == VS_NIC_OTHER)
		return false;
	*to = (struct vs_nic) {
		.kind = kind, .key = to->key,
		.vendor = (uint16_t)from->vendor,
		.device = (uint16_t)from->device,
	};
	vs_strlcpy(to->network, from->label, sizeof(to->network));
	vs_strlcpy(to->pci, from->pci, sizeof(to->pci));
	return true;
}

int fake_nics_show(const struct fake_vm *vm,
		    struct vs_nic out[FAKE_NICS + 1])
{
	static const enum vs_nic_type shown[] = {
		[VS_VC_NET_SRIOV] = VS_NIC_SRIOV,
		[VS_VC_NET_PVRDMA] = VS_NIC_PVRDMA,
		[VS_VC_NET_VMXNET3] = VS_NIC_VMXNET3,
	};
	bool vf = device_kind(vm->kind) || vm->kind == VS_VC_NET_SRIOV;
	struct vs_nic nic = {
		.kind = vf ? VS_NIC_SRIOV : shown[vm->kind], .key = vm->key ? vm->key : 13031,
		.network = "dvportgroup-1", .switch_uuid = "sw",
		.automatic = vf && vm->automatic, .mtu_change_allowed = true,
	};
	int n = 0;

	vs_strlcpy(nic.mac, vm->mac, sizeof(nic.mac));
	vs_strlcpy(nic.pci, vm->pci, sizeof(nic.pci));
	if (vm->other_key) {
		out[n] = nic;
		out[n].key = vm->other_key;
		vs_strlcpy(out[n++].mac, "00:50:56:aa:bb:cc", VS_MAC_LEN);
	}
	out[n] = nic;
	device_show(&vm->first, &out[n]);
	n += vm->has_nic;
	for (int i = 0; vm->has_nic && i < vm->nmore; i++) {
		out[n] = nic;
		out[n].key += i + 1;
		if (device_show(&vm->more[i], &out[n++]))
			continue;
		vs_strlcpy(out[n - 1].mac, vm->more[i].mac, VS_MAC_LEN);
		out[n - 1].automatic = !vm->more[i].pci[0];
		vs_strlcpy(out[n - 1].pci, vm->more[i].pci, VS_PCI_LEN);
	}
	return n;
}
