/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See capability.h. A NIC of which no type of the table is (an emulated NIC of the
 * template's) forbids nothing: VMware's restrictions are of devices that are a
 * host's. Never knows which type it speaks of.
 */
#include "plan/inventory/capability.h"

/* Up to two digits; where they end, NULL: there are none, or more. */
static const char *number(const char *at, int *out)
{
	int n = 0;

	for (*out = 0; at[n] >= '0' && at[n] <= '9' && n < 3; n++)
		*out = *out * 10 + (at[n] - '0');
	return n && n < 3 ? at + n : NULL;
}

int vs_release_parse(const char *words)
{
	const char *at = words;
	int part[3] = { 0 };

	for (int i = 0; i < 3; i++) {
		at = number(at, &part[i]);
		if (!at)
			return 0;
		if (*at != '.')
			break;
		at++;
	}
	return VS_RELEASE(part[0], part[1], part[2]);
}

int vs_release_older(int a, int b)
{
	a = a ? a : VS_RELEASE_OLDEST;
	b = b ? b : VS_RELEASE_OLDEST;
	return a < b ? a : b;
}

static int forbidden(const struct vs_adapter_type_info *k,
		     enum vs_operation deed, int release, struct vs_err *err)
{
	const struct vs_can *can = &k->can[deed];
	char from[VS_RELEASE_LEN], is[VS_RELEASE_LEN];

	if (!can->from)
		return vs_err_set(err, VS_E_REQUEST,
				  "%s: type %s allows it in no release",
				  vs_operation_names[deed], k->name);
	if (can->vendor)
		return vs_err_set(err, VS_E_REQUEST,
				  "%s: type %s allows it only with support of the vendor's driver, which slurm-vsphere does not use",
				  vs_operation_names[deed], k->name);
	return vs_err_set(err, VS_E_REQUEST,
			  "%s: type %s allows it from vSphere %s on, this is %s",
			  vs_operation_names[deed], k->name,
			  vs_release_words(can->from, from),
			  vs_release_words(release, is));
}

static int type_may(enum vs_adapter_type type, enum vs_operation deed,
		    int release, struct vs_err *err)
{
	return vs_adapter_can(type, deed, release) ? 0 :
		forbidden(&vs_adapter_kinds[type], deed, release, err);
}

/* Several types may be shown alike: all of them must allow it. */
static int nic_may(const struct vs_nic *nic, enum vs_operation deed,
		    int release, struct vs_err *err)
{
	if (nic->kind == VS_NIC_OTHER || nic->kind == VS_NIC_ETHERNET)
		return 0;
	for (int i = 0; i < VS_ADAPTER_TYPES; i++)
		if (vs_adapter_kinds[i].nic == nic->kind &&
		    type_may((enum vs_adapter_type)i, deed, release, err))
			return -1;
	return 0;
}

/* What a host's driver says of a profile (sharedGpuCapabilities). One that
 * doesn't offer it says nothing. */
static int driver_may(const struct vs_host *h, const struct vs_nic *nic,
		      enum vs_operation deed, struct vs_err *err)
{
	if (nic->kind != VS_NIC_PCI_VGPU || !h ||
	    deed != VS_OPERATION_VMOTION)
		return 0;
	for (int i = 0; i < h->npfs; i++) {
		const struct vs_devices *of = h->pfs[i].of;

		if (of && of->named == VS_NIC_PCI_VGPU &&
		    !strcmp(of->label, nic->network) &&
		    !(of->can >> deed & 1))
			return vs_err_set(err, VS_E_REQUEST,
				"%s: the GPU driver of host %s does not support it with %s",
				vs_operation_names[deed], h->name, of->label);
	}
	return 0;
}

int vs_operation_allowed(const struct vs_adapter *a, const struct vs_vm *vm,
			 const struct vs_host *to, enum vs_operation deed,
			 int release, struct vs_err *err)
{
	release = release ? release : VS_RELEASE_OLDEST;
	if (a && type_may(a->type, deed, release, err))
		return -1;
	if (a && a->with && type_may(a->with->type, deed, release, err))
		return -1;
	for (int i = 0; vm && i < vm->nnics; i++)
		if (nic_may(&vm->nics[i], deed, release, err) ||
		    driver_may(vm->host_ptr, &vm->nics[i], deed, err) ||
		    driver_may(to, &vm->nics[i], deed, err))
			return -1;
	return 0;
}
