/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See fake_vc.h: the cards of its VMs. */
#include <string.h>
#include "fake_vc_i.h"
#include "util/mem.h"

static void card_take(struct fake_card *to, const struct vs_vc_nic_spec *c)
{
	*to = (struct fake_card) { .kind = c->kind, .vendor = c->vendor,
				   .device = c->device,
				   .noptions = c->noptions };
	if (c->noptions)
		to->option = c->options[0].type;
	vs_strlcpy(to->mac, c->mac ? c->mac : "", sizeof(to->mac));
	vs_strlcpy(to->pci, c->pci ? c->pci : "", sizeof(to->pci));
	vs_strlcpy(to->label, c->label ? c->label : "", sizeof(to->label));
}

/* Of several the first one goes last. */
static void card_goes(struct fake_vm *vm, int key)
{
	int at = key - (vm->key ? vm->key : 13031) - 1;

	if (at < 0 || at >= vm->nmore) {
		vm->has_card = false;
		return;
	}
	for (vm->nmore--; at < vm->nmore; at++)
		vm->more[at] = vm->more[at + 1];
}

void fake_cards_apply(struct fake_vm *vm, const struct vs_vc_hw *hw)
{
	vm->removed_key = hw->ngone ? hw->gone[0] : 0;
	vm->removed = hw->ngone;
	for (int i = 0; i < hw->ngone && !hw->ncards; i++)
		card_goes(vm, hw->gone[i]);
	if (!hw->ncards)
		return;
	vm->has_card = true;
	vm->kind = hw->cards->kind;
	vm->mtu_change = hw->cards->mtu_change_allowed;
	vs_strlcpy(vm->mac, hw->cards->mac ? hw->cards->mac : "",
		   sizeof(vm->mac));
	vs_strlcpy(vm->system, hw->cards->system ? hw->cards->system : "",
		   sizeof(vm->system));
	vm->automatic = !hw->cards->pci;
	vs_strlcpy(vm->pci, hw->cards->pci ? hw->cards->pci : "",
		   sizeof(vm->pci));
	card_take(&vm->first, hw->cards);
	for (vm->nmore = 0; vm->nmore < hw->ncards - 1; vm->nmore++)
		card_take(&vm->more[vm->nmore], &hw->cards[vm->nmore + 1]);
}

/* VS_NIC_OTHER: none, but a card on a network. */
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

/* A device; false: it is a card on a network. */
static bool device_show(const struct fake_card *from, struct vs_nic *to)
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

int fake_cards_show(const struct fake_vm *vm,
		    struct vs_nic out[FAKE_CARDS + 1])
{
	static const enum vs_nic_type shown[] = {
		[VS_VC_NET_SRIOV] = VS_NIC_SRIOV,
		[VS_VC_NET_PVRDMA] = VS_NIC_PVRDMA,
		[VS_VC_NET_VMXNET3] = VS_NIC_VMXNET3,
	};
	bool vf = device_kind(vm->kind) || vm->kind == VS_VC_NET_SRIOV;
	struct vs_nic card = {
		.kind = vf ? VS_NIC_SRIOV : shown[vm->kind], .key = vm->key ? vm->key : 13031,
		.network = "dvportgroup-1", .switch_uuid = "sw",
		.automatic = vf && vm->automatic, .mtu_change_allowed = true,
	};
	int n = 0;

	vs_strlcpy(card.mac, vm->mac, sizeof(card.mac));
	vs_strlcpy(card.pci, vm->pci, sizeof(card.pci));
	if (vm->other_key) {
		out[n] = card;
		out[n].key = vm->other_key;
		vs_strlcpy(out[n++].mac, "00:50:56:aa:bb:cc", VS_MAC_LEN);
	}
	out[n] = card;
	device_show(&vm->first, &out[n]);
	n += vm->has_card;
	for (int i = 0; vm->has_card && i < vm->nmore; i++) {
		out[n] = card;
		out[n].key += i + 1;
		if (device_show(&vm->more[i], &out[n++]))
			continue;
		vs_strlcpy(out[n - 1].mac, vm->more[i].mac, VS_MAC_LEN);
		out[n - 1].automatic = !vm->more[i].pci[0];
		vs_strlcpy(out[n - 1].pci, vm->more[i].pci, VS_PCI_LEN);
	}
	return n;
}
