/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A VM's properties, as vCenter streams them, into our record of it, and the
 * record into the typed event.
 *
 * Rules: a property that is unset clears what it filled; a path that is not in
 * the table is not guessed (the caller reads the object again). An automatic PF
 * that is not resolved yet reads "Automatic-0000:00:00.0" and gives no PF;
 * "Automatic-<pf>" gives that PF.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "util/name.h"
#include "vcenter/decode/inventory.h"

#define KEYED(key) "config.extraConfig[\"" key "\"]"

#define GUEST_KEYS							\
	X(ROOT_WRITES, "guest_rpc.rpci.auth.cmd.info-set")		\
	X(NODE, "guestinfo.slurm.node")					\
	X(ADAPTER, "guestinfo.slurm.adapter")				\
	X(MAC, "guestinfo.slurm.mac")					\
	X(LINK_LAYER, "guestinfo.slurm.link-layer")			\
	X(DEVICE, "guestinfo.slurm.device")				\
	X(MTU, "guestinfo.slurm.mtu")					\
	X(ADDRESS, "guestinfo.slurm.address")				\
	X(FIRST_ADDRESS, "guestinfo.slurm.first-address")		\
	X(FIRST_MAC, "guestinfo.slurm.first-mac")			\
	X(GATEWAY, "guestinfo.slurm.gateway")				\
	X(DNS, "guestinfo.slurm.dns")					\
	X(DNS_SEARCH, "guestinfo.slurm.dns-search")			\
	X(MACHINE_ID, "guestinfo.slurm.machine-id")			\
	X(CLUSTER, "guestinfo.slurm.cluster")				\
	X(CONF_SERVER, "guestinfo.slurm.conf-server")			\
	X(DYNAMIC, "guestinfo.slurm.dynamic")				\
	X(PARENT, "guestinfo.slurm.parent")

const char *const vs_inv_vm_paths[] = {
	"runtime.powerState", "runtime.host", "runtime.connectionState",
	"config.template", "config.hardware.device", "config.hardware.numCPU",
	"config.hardware.memoryMB", "config.memoryAllocation",
	"config.cpuAllocation", "config.memoryReservationLockedToMax",
	"config.latencySensitivity", "config.files.vmPathName",
	KEYED(VS_KEY_OWNER), NULL
};

const char *const vs_inv_managed_paths[] = {
	"name", "parent", "resourcePool", "config.instanceUuid", "config.changeVersion",
	"config.files.vmPathName", "guest.toolsRunningStatus",
	KEYED(VS_KEY_OWNER), KEYED(VS_KEY_PROFILE), KEYED(VCX_KEY_JOB),
	KEYED(VCX_KEY_STATE), KEYED(VCX_KEY_REASON), KEYED(VCX_KEY_NUMA),
	KEYED(VCX_KEY_CLONE_SOURCE), KEYED(VCX_KEY_FROM), "snapshot",
#define X(key, name) KEYED(name),
	GUEST_KEYS
#undef X
	"config.uuid", "runtime.instantCloneFrozen", NULL
};

const char *const vs_vc_guest_keys[VS_VC_NGUEST] = {
#define X(key, name) [VS_VC_G_##key] = name,
	GUEST_KEYS
#undef X
};

static void set_str(char **slot, struct vs_j val)
{
	vs_str_replace(slot, vs_j_str_or(val, NULL));
}

static void set_ref(char **slot, struct vs_j val)
{
	const char *s = vs_j_ref(val, NULL);

	vs_str_replace(slot, *s ? s : NULL);
}

/* An OptionValue, or its value; the empty string is how a key is deleted. */
static void set_option(char **slot, struct vs_j val)
{
	const char *s;

	if (!strcmp(vs_j_type(val), "OptionValue"))
		val = vs_j_opt(val, "value");
	s = vs_j_str_or(val, "");
	vs_str_replace(slot, *s ? s : NULL);
}

/* ---- devices -------------------------------------------------------------- */

static void clear_devices(struct vcx_vm *vm)
{
	free(vm->v.nics);
	vs_strs_free(vm->nic_types, vm->v.nnics);
	vs_inv_clear_disks(vm);
	vm->v.nics = NULL;
	vm->nic_types = NULL;
	vm->v.nnics = 0;
}

static void copy_lower(char *to, const char *s, size_t size)
{
	vs_strlcpy(to, s, size);
	for (; *to; to++)
		*to = (char)tolower((unsigned char)*to);
}

static enum vs_nic_type kind_of(struct vs_j dev, const char *type)
{
	const char *backing = vs_j_type(vs_j_opt(dev, "backing"));

	if (!strcmp(type, "VirtualSriovEthernetCard"))
		return VS_NIC_SRIOV;
	if (!strcmp(type, "VirtualVmxnet3Vrdma"))
		return VS_NIC_PVRDMA;
	if (!strcmp(type, "VirtualVmxnet3"))
		return VS_NIC_VMXNET3;
	if (!strcmp(type, "VirtualPCIPassthrough")) {
		if (!strcmp(backing, "VirtualPCIPassthroughDeviceBackingInfo"))
			return VS_NIC_PCI_FIXED;
		if (!strcmp(backing, "VirtualPCIPassthroughDynamicBackingInfo"))
			return VS_NIC_PCI_DYNAMIC;
		if (!strcmp(backing, "VirtualPCIPassthroughDvxBackingInfo"))
			return VS_NIC_PCI_DVX;
		if (!strcmp(backing, "VirtualPCIPassthroughVmiopBackingInfo"))
			return VS_NIC_PCI_VGPU;
		return VS_NIC_OTHER;
	}
	/* E1000, E1000e, PCNet32, Vmxnet2, ...: all have an address. */
	return vs_j_null(vs_j_opt(dev, "addressType")) ? VS_NIC_OTHER :
		VS_NIC_ETHERNET;
}

static void read_network(struct vs_nic *c, struct vs_j backing)
{
	struct vs_j port = vs_j_opt(backing, "port");
	const char *key = vs_j_str_or(vs_j_opt(port, "portgroupKey"), "");
	const char *network = vs_j_ref(vs_j_opt(backing, "network"), NULL);

	vs_strlcpy(c->switch_uuid, vs_j_str_or(vs_j_opt(port, "switchUuid"), ""),
		   sizeof(c->switch_uuid));
	vs_strlcpy(c->network, *key ? key : network, sizeof(c->network));
}

static void read_pf(struct vs_nic *c, struct vs_j dev)
{
	static const char automatic[] = "automatic-";
	struct vs_j pf = vs_j_opt(vs_j_opt(dev, "sriovBacking"),
				  "physicalFunctionBacking");
	VS_FREE char *id = vs_str_lower(vs_j_str_or(vs_j_opt(pf, "id"), ""));
	const char *pci = id;

	c->automatic = !*id || !strncmp(id, automatic, strlen(automatic));
	if (*id && c->automatic)
		pci = id + strlen(automatic);
	if (c->automatic && !strcmp(pci, "0000:00:00.0"))
		pci = "";
	vs_strlcpy(c->pci, pci, sizeof(c->pci));
	c->mtu_change_allowed =
		vs_j_bool_or(vs_j_opt(dev, "allowGuestOSMtuChange"), false);
}

/* A fixed one has an address; a dynamic one says what it allows, and perhaps a
 * label, others their class or profile. Which device it got the backing doesn't say. */
static void read_device(struct vs_nic *c, struct vs_j backing)
{
	struct vs_j allowed = vs_j_opt(backing, "allowedDevice");
	struct vs_j first;

	vs_strlcpy(c->network, vs_j_str_or(vs_j_opt(backing,
		c->kind == VS_NIC_PCI_DVX ? "deviceClass" :
		c->kind == VS_NIC_PCI_VGPU ? "vgpu" : "customLabel"), ""),
		sizeof(c->network));
	if (c->kind == VS_NIC_PCI_FIXED)
		copy_lower(c->pci, vs_j_str_or(vs_j_opt(backing, "id"), ""),
			   sizeof(c->pci));
	if (c->kind != VS_NIC_PCI_DYNAMIC || vs_j_len(allowed) != 1)
		return;
	first = vs_j_at(allowed, 0);	/* beyond its end would fail the update */
	c->vendor = (uint16_t)vs_j_int_or(vs_j_opt(first, "vendorId"), 0);
	c->device = (uint16_t)vs_j_int_or(vs_j_opt(first, "deviceId"), 0);
}

static void read_nic(struct vcx_vm *vm, struct vs_j dev, const char *type,
		      enum vs_nic_type kind)
{
	struct vs_nic *c = &vm->v.nics[vm->v.nnics];
	struct vs_j backing = vs_j_opt(dev, "backing");

	c->kind = kind;
	c->key = (int)vs_j_int_or(vs_j_opt(dev, "key"), 0);
	copy_lower(c->mac, vs_j_str_or(vs_j_opt(dev, "macAddress"), ""),
		   sizeof(c->mac));
	vm->nic_types[vm->v.nnics++] = vs_strdup(type);
	if (vs_nic_is_device(c)) {
		read_device(c, backing);
		return;
	}
	read_network(c, backing);
	if (kind == VS_NIC_SRIOV)
		read_pf(c, dev);
}

static void set_devices(struct vcx_vm *vm, struct vs_j list)
{
	size_t n = vs_j_len(list);

	clear_devices(vm);
	if (!n)
		return;
	vm->v.nics = vs_calloc(n, sizeof(*vm->v.nics));
	vm->nic_types = vs_calloc(n, sizeof(*vm->nic_types));
	vm->disks.files = vs_calloc(n, sizeof(*vm->disks.files));
	for (size_t i = 0; i < n; i++) {
		struct vs_j dev = vs_j_at(list, i);
		const char *type = vs_j_type(dev);
		enum vs_nic_type kind = kind_of(dev, type);

		if (kind != VS_NIC_OTHER)
			read_nic(vm, dev, type, kind);
		else if (!strcmp(type, "VirtualDisk"))
			vs_inv_read_disk(vm, vs_j_opt(dev, "backing"));
	}
}

/* ---- one property --------------------------------------------------------- */

enum how { STR, REF, OPTION, IS, BOOL, INT, LONG, RESERVED, LEVEL, DEVICES,
	   SNAPSHOT };

struct row {
	const char *path;
	enum how how;
	size_t slot;
	const char *is;
	unsigned int bit;
};

#define AT(member) offsetof(struct vcx_vm, v.member)
static const struct row rows[] = {
	{ "runtime.powerState", STR, AT(power), NULL, VS_VC_VM_POWER },
	{ "runtime.host", REF, AT(host), NULL, VS_VC_VM_HOST },
	{ "runtime.connectionState", IS, AT(connected), "connected",
	  VS_VC_VM_CONN },
	{ "config.hardware.device", DEVICES, 0, NULL,
	  VS_VC_VM_NICS | VS_VC_VM_DISKS },
	{ "config.template", BOOL, AT(is_template), NULL, VS_VC_VM_CONFIG },
	{ "config.hardware.numCPU", INT, AT(vcpus), NULL, VS_VC_VM_CONFIG },
	{ "config.hardware.memoryMB", LONG, AT(memory_mb), NULL,
	  VS_VC_VM_CONFIG },
	{ "config.memoryAllocation", RESERVED, AT(mem_reserved_mb), NULL,
	  VS_VC_VM_CONFIG },
	{ "config.cpuAllocation", RESERVED, AT(cpu_reserved_mhz), NULL,
	  VS_VC_VM_CONFIG },
	{ "config.memoryReservationLockedToMax", BOOL, AT(mem_locked), NULL,
	  VS_VC_VM_CONFIG },
	{ "config.latencySensitivity", LEVEL, AT(latency_high), NULL,
	  VS_VC_VM_CONFIG },
	{ "name", STR, AT(name), NULL, VS_VC_VM_NAME },
	{ "parent", REF, AT(folder), NULL, VS_VC_VM_PARENT },
	{ "resourcePool", REF, AT(pool), NULL, VS_VC_VM_POOL },
	{ "config.instanceUuid", STR, AT(uuid), NULL, VS_VC_VM_CONFIG },
	{ "config.uuid", STR, AT(bios_uuid), NULL, VS_VC_VM_CONFIG },
	{ "runtime.instantCloneFrozen", BOOL, AT(frozen), NULL,
	  VS_VC_VM_FROZEN },
	{ "config.changeVersion", STR, AT(change_version), NULL,
	  VS_VC_VM_CONFIG },
	{ "config.files.vmPathName", STR, AT(vmx), NULL, VS_VC_VM_DISKS },
	{ "guest.toolsRunningStatus", IS, AT(tools_running), "guestToolsRunning",
	  VS_VC_VM_TOOLS },
	{ KEYED(VS_KEY_OWNER), OPTION, AT(owner_mark), NULL, VS_VC_VM_MARK },
	{ KEYED(VS_KEY_PROFILE), OPTION, AT(profile), NULL,
	  VS_VC_VM_MARK },
	{ KEYED(VCX_KEY_JOB), OPTION, AT(job_tag), NULL, VS_VC_VM_MARK },
	{ KEYED(VCX_KEY_CLONE_SOURCE), OPTION, AT(parent), NULL,
	  VS_VC_VM_MARK },
	{ KEYED(VCX_KEY_FROM), OPTION, AT(from), NULL, VS_VC_VM_MARK },
	{ "snapshot", SNAPSHOT, AT(snapshot), NULL, VS_VC_VM_SNAPSHOT },
	{ KEYED(VCX_KEY_NUMA), OPTION, AT(numa), NULL, VS_VC_VM_CONFIG },
	{ KEYED(VCX_KEY_STATE), OPTION, AT(guest_state), NULL,
	  VS_VC_VM_GUEST },
	{ KEYED(VCX_KEY_REASON), OPTION, AT(guest_reason), NULL,
	  VS_VC_VM_GUEST },
#define X(key, name)							\
	{ KEYED(name), OPTION,						\
	  offsetof(struct vcx_vm, guest[VS_VC_G_##key]), NULL,		\
	  VS_VC_VM_WORDS },
	GUEST_KEYS
#undef X
};

static void set(struct vcx_vm *vm, const struct row *r, struct vs_j val)
{
	void *slot = (char *)vm + r->slot;

	switch (r->how) {
	case STR:
		set_str(slot, val);
		break;
	case REF:
		set_ref(slot, val);
		break;
	case OPTION:
		set_option(slot, val);
		break;
	case IS:
		*(bool *)slot = !strcmp(vs_j_str_or(val, ""), r->is);
		break;
	case BOOL:
		*(bool *)slot = vs_j_bool_or(val, false);
		break;
	case INT:
		*(int *)slot = (int)vs_j_int_or(val, 0);
		break;
	case LONG:
		*(int64_t *)slot = vs_j_int_or(val, 0);
		break;
	case RESERVED:
		*(int64_t *)slot =
			vs_j_int_or(vs_j_opt(val, "reservation"), 0);
		break;
	case LEVEL:
		*(bool *)slot = !strcmp(vs_j_str_or(vs_j_opt(val, "level"),
						    ""), "high");
		break;
	case SNAPSHOT:
		vs_str_replace(slot, vs_inv_find_snapshot(
				vs_j_opt(val, "rootSnapshotList"), 0));
		break;
	case DEVICES:
		vm->bare = vs_j_null(val);
		set_devices(vm, val);
		break;
	}
}

bool vs_inv_vm_prop(struct vcx_vm *vm, const char *path, struct vs_j val)
{
	for (size_t i = 0; i < VS_COUNT(rows); i++) {
		if (strcmp(rows[i].path, path))
			continue;
		set(vm, &rows[i], val);
		vm->v.has |= rows[i].bit;
		return true;
	}
	return false;
}

/* Whose it says to be, and where it lies, both filters ask. Of a VM in the folder
 * its own one knows; who has left it still says so. */
static bool keeps(const struct vcx_vm *vm, enum vcx_filter f, const char *path)
{
	return (f == VCX_F_MANAGED) != vm->in[VCX_F_MANAGED] &&
	       (!strcmp(path, KEYED(VS_KEY_OWNER)) ||
		!strcmp(path, "config.files.vmPathName"));
}

void vs_inv_vm_reset(struct vcx_vm *vm, enum vcx_filter f)
{
	const char *const *paths = f == VCX_F_MANAGED ? vs_inv_managed_paths :
		vs_inv_vm_paths;
	struct vs_j unset = { 0 };

	for (size_t i = 0; paths[i]; i++)
		if (!keeps(vm, f, paths[i]))
			vs_inv_vm_prop(vm, paths[i], unset);
	vm->barred[f] = false;
	vm->held[f] = 0;
}

bool vs_inv_vm_blocked(const struct vcx_vm *vm)
{
	return vm->barred[VCX_F_VMS] || vm->barred[VCX_F_MANAGED];
}

bool vs_inv_vm_unreadable(const struct vcx_vm *vm)
{
	return vm->bare || vs_inv_vm_blocked(vm);
}

static bool is_text(const struct row *r)
{
	return r->how == STR || r->how == REF || r->how == OPTION ||
		r->how == SNAPSHOT;
}

void vs_inv_vm_publish(struct vcx_vm *vm, const struct vs_vc_events *ev,
		       void *arg)
{
	struct vs_vc_vm *v = &vm->v, out;

	if (v->vmx && v->has & VS_VC_VM_DISKS)
		vs_inv_vm_disks(vm);
	v->unreadable = vs_inv_vm_unreadable(vm);
	v->guest = (const char *const *)vm->guest;
	out = *v;
	v->has = 0;
	/* NULL is a key of extraConfig that isn't set. */
	for (size_t i = 0; i < VS_COUNT(rows); i++)
		if (is_text(&rows[i]) && rows[i].how != OPTION) {
			const char **slot = (void *)((char *)&out + rows[i].slot);

			*slot = *slot ? *slot : "";
		}
	out.has &= ~(vm->held[VCX_F_VMS] | vm->held[VCX_F_MANAGED]);
	/* What is not known is not said, rather than said to be empty. */
	if (vm->bare)
		out.has &= ~(VS_VC_VM_NICS | VS_VC_VM_DISKS |
			     VS_VC_VM_CONFIG | VS_VC_VM_MARK);
	if (!v->power)
		out.has &= ~VS_VC_VM_POWER;
	if (!v->name)
		out.has &= ~VS_VC_VM_NAME;
	if (!v->vmx)
		out.has &= ~VS_VC_VM_DISKS;
	if (ev->vm)
		ev->vm(arg, &out);
}

void vs_inv_vm_free(struct vcx_vm *vm)
{
	clear_devices(vm);
	for (size_t i = 0; i < VS_COUNT(rows); i++)
		if (is_text(&rows[i]))
			free(*(char **)((char *)vm + rows[i].slot));
	free((char *)vm->v.disk_dir);
	free((char *)vm->v.bases);
	free((char *)vm->v.moid);
	free(vm);
}
