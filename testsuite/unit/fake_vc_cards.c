/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See fake_vc.h: the cards of its VMs. */
#include <string.h>
#include "fake_vc_i.h"
#include "util/mem.h"

void fake_cards_apply(struct fake_vm *vm, const struct vs_vc_hw *hw)
{
	vm->removed_key = hw->ngone ? hw->gone[0] : 0;
	vm->removed = hw->ngone;
	if (!hw->ncards && hw->ngone)
		vm->has_card = false;
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
	for (vm->nmore = 0; vm->nmore < hw->ncards - 1; vm->nmore++) {
		const struct vs_vc_card_spec *c = &hw->cards[vm->nmore + 1];
		struct fake_card *to = &vm->more[vm->nmore];

		vs_strlcpy(to->mac, c->mac ? c->mac : "", sizeof(to->mac));
		vs_strlcpy(to->pci, c->pci ? c->pci : "", sizeof(to->pci));
	}
}

int fake_cards_show(const struct fake_vm *vm,
		    struct vs_vc_card out[FAKE_CARDS + 1])
{
	static const enum vs_vc_card_kind shown[] = {
		[VS_VC_NET_SRIOV] = VS_VC_CARD_SRIOV,
		[VS_VC_NET_PVRDMA] = VS_VC_CARD_PVRDMA,
		[VS_VC_NET_VMXNET3] = VS_VC_CARD_VMXNET3,
	};
	bool vf = vm->kind > VS_VC_NET_VMXNET3 || vm->kind == VS_VC_NET_SRIOV;
	struct vs_vc_card card = {
		.kind = vf ? VS_VC_CARD_SRIOV : shown[vm->kind], .key = vm->key ? vm->key : 13031,
		.mac = vm->mac,
		.network = "", .portgroup_key = "dvportgroup-1",
		.switch_uuid = "sw", .pci = vm->pci,
		.automatic = vf && vm->automatic, .mtu_change_allowed = true,
	};
	int n = 0;

	if (vm->kind == VS_VC_PCI_FIXED)
		card = (struct vs_vc_card) { .kind = VS_VC_CARD_PCI_FIXED,
			.key = 13000, .mac = "", .network = "",
			.portgroup_key = "", .switch_uuid = "",
			.pci = vm->pci };
	if (vm->other_key) {
		out[n] = card;
		out[n].key = vm->other_key;
		out[n++].mac = "00:50:56:aa:bb:cc";
	}
	if (vm->has_card)
		out[n++] = card;
	for (int i = 0; vm->has_card && i < vm->nmore; i++) {
		out[n] = card;
		out[n].key += i + 1;
		out[n].mac = vm->more[i].mac;
		out[n].automatic = !vm->more[i].pci[0];
		out[n++].pci = vm->more[i].pci;
	}
	return n;
}
