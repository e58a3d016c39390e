/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Request bodies that change VMs: clone, reconfigure, relocate, power on, and
 * the NICs in them (vSphere's VirtualDevice types).
 *
 * Rules: a clone is never powered on by its own task (VF exhaustion must be a
 * power-on's fault of a VM we know). The existing NIC comes first in a
 * change, SR-IOV NICs last. New devices have negative keys, distinct in one
 * spec.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "vcenter/spec/spec.h"

#define LINKED "createNewChildDiskBacking"
#define KEY_NEW_NIC (-101)	/* the first one's, and down from there */

static struct json_object *change(const char *operation,
				  struct json_object *device_take)
{
	struct json_object *o = vs_jb_obj("VirtualDeviceConfigSpec");

	vs_jb_str(o, "operation", operation);
	vs_jb_put(o, "device", device_take);
	return o;
}

static struct json_object *network_backing(const struct vs_vc_nic_spec *c)
{
	struct json_object *o, *port;

	if (!c->portgroup_key || !*c->portgroup_key) {
		o = vs_jb_obj("VirtualEthernetCardNetworkBackingInfo");
		/* The host finds it by its name: `network` is not used there
		 * (VirtualEthernetCardNetworkBackingInfo). */
		vs_jb_str(o, "deviceName", c->network_name);
		vs_jb_ref(o, "network", "Network", c->network);
		return o;
	}
	o = vs_jb_obj("VirtualEthernetCardDistributedVirtualPortBackingInfo");
	port = vs_jb_obj("DistributedVirtualSwitchPortConnection");
	vs_jb_str(port, "switchUuid", c->switch_uuid);
	vs_jb_str(port, "portgroupKey", c->portgroup_key);
	vs_jb_put(o, "port", port);
	return o;
}

/* The VF is ESXi's choice alone, so only the PF is ever named. */
static struct json_object *pf_backing(const char *pci)
{
	struct json_object *o =
		vs_jb_obj("VirtualSriovEthernetCardSriovBackingInfo");
	struct json_object *pf =
		vs_jb_obj("VirtualPCIPassthroughDeviceBackingInfo");

	vs_jb_str(pf, "deviceName", "");
	vs_jb_str(pf, "id", pci);
	vs_jb_str(pf, "deviceId", "0");
	vs_jb_str(pf, "systemId", "BYPASS");
	vs_jb_int(pf, "vendorId", 0);
	vs_jb_put(o, "physicalFunctionBacking", pf);
	return o;
}

static void address(struct json_object *nic, const char *mac)
{
	vs_jb_str(nic, "addressType", mac && *mac ? "manual" : "assigned");
	if (mac && *mac)
		vs_jb_str(nic, "macAddress", mac);
}

/* Any device of these ids: which one is ESXi's choice at power-on. */
static struct json_object *dynamic_backing(const struct vs_vc_nic_spec *c)
{
	struct json_object *backing =
		vs_jb_obj("VirtualPCIPassthroughDynamicBackingInfo");
	struct json_object *allowed =
		vs_jb_obj("VirtualPCIPassthroughAllowedDevice");
	struct json_object *list = vs_jb_arr();

	vs_jb_int(allowed, "vendorId", c->vendor);
	vs_jb_int(allowed, "deviceId", c->device);
	vs_jb_add(list, allowed);
	vs_jb_str(backing, "deviceName", "");
	vs_jb_put(backing, "allowedDevice", list);
	if (c->label && *c->label)
		vs_jb_str(backing, "customLabel", c->label);
	return backing;
}

static enum vs_vc_value type_of(const struct vs_vc_nic_spec *c,
				const char *key)
{
	for (size_t i = 0; i < c->noptions; i++)
		if (!strcmp(c->options[i].class, c->label) &&
		    !strcmp(c->options[i].key, key))
			return c->options[i].type;
	return VS_VC_VALUE_UNKNOWN;
}

/*
 * A parameter's value, as its type wants it (OptionValue.value is any). Of an
 * unknown type digits are a long. What is no value of the type goes as text: for
 * vCenter to refuse.
 */
static struct json_object *typed(const char *value, enum vs_vc_value type)
{
	bool yes = !strcasecmp(value, "true");
	char *end_int, *end_real;
	struct json_object *o;
	long long whole;
	double real;

	errno = 0;
	whole = strtoll(value, &end_int, 10);
	if (errno)
		end_int = NULL;
	real = strtod(value, &end_real);
	if (type == VS_VC_VALUE_BOOL && (yes || !strcasecmp(value, "false"))) {
		o = vs_jb_obj("boolean");
		vs_jb_bool(o, "_value", yes);
	} else if (type == VS_VC_VALUE_FLOAT && *value && !*end_real &&
		   isfinite(real)) {
		o = vs_jb_obj("float");
		vs_jb_real(o, "_value", real);
	} else if ((type == VS_VC_VALUE_INT || type == VS_VC_VALUE_LONG ||
		    type == VS_VC_VALUE_UNKNOWN) &&
		   *value && end_int && !*end_int) {
		o = vs_jb_obj(type == VS_VC_VALUE_INT ? "int" : "long");
		vs_jb_int(o, "_value", whole);
	} else {
		o = vs_jb_boxed_str(value);
	}
	return o;
}

/* Any device of the class, with "key=value,key=value". */
static struct json_object *dvx_backing(const struct vs_vc_nic_spec *c)
{
	struct json_object *backing =
		vs_jb_obj("VirtualPCIPassthroughDvxBackingInfo");
	struct json_object *list = vs_jb_arr();
	VS_FREE char *params = vs_strdup(c->params ? c->params : "");
	char *more, *one = strtok_r(params, ",", &more);

	vs_jb_str(backing, "deviceClass", c->label);
	for (; one; one = strtok_r(NULL, ",", &more)) {
		struct json_object *o = vs_jb_obj("OptionValue");
		char *value = one + strcspn(one, "=");

		if (*value)
			*value++ = '\0';
		vs_jb_str(o, "key", one);
		vs_jb_put(o, "value", typed(value, type_of(c, one)));
		vs_jb_add(list, o);
	}
	vs_jb_put(backing, "configParams", list);
	return backing;
}

static struct json_object *vgpu_backing(const struct vs_vc_nic_spec *c)
{
	struct json_object *backing =
		vs_jb_obj("VirtualPCIPassthroughVmiopBackingInfo");

	vs_jb_str(backing, "vgpu", c->label);
	return backing;
}

/*
 * The device itself. Ids are as the host has them: the vendor's is a short with
 * its sign, the device's is hex in a string, without leading zeros (VHPC and the
 * Terraform provider write it so).
 */
static struct json_object *fixed_backing(const struct vs_vc_nic_spec *c)
{
	struct json_object *backing =
		vs_jb_obj("VirtualPCIPassthroughDeviceBackingInfo");
	char device[8];

	snprintf(device, sizeof(device), "%x", (unsigned int)c->device & 0xffff);
	vs_jb_str(backing, "deviceName", c->name ? c->name : "");
	vs_jb_str(backing, "id", c->pci);
	vs_jb_str(backing, "deviceId", device);
	vs_jb_str(backing, "systemId", c->system);
	vs_jb_int(backing, "vendorId", (int16_t)c->vendor);
	return backing;
}

static struct json_object *new_device(struct json_object *backing_take,
				      int key)
{
	struct json_object *o = vs_jb_obj("VirtualPCIPassthrough");

	vs_jb_int(o, "key", key);
	vs_jb_put(o, "backing", backing_take);
	return o;
}

/* No `connectable`: a new NIC is connected at power-on without it, and setting it
 * takes VirtualMachine.Interact.DeviceConnection (vSphere API,
 * VirtualMachineConfigSpec.deviceChange). */
static struct json_object *new_nic(const struct vs_vc_nic_spec *c, int key)
{
	static const char *const types[] = {
		[VS_VC_NET_SRIOV] = "VirtualSriovEthernetCard",
		[VS_VC_NET_PVRDMA] = "VirtualVmxnet3Vrdma",
		[VS_VC_NET_VMXNET3] = "VirtualVmxnet3",
	};
	struct json_object *o = vs_jb_obj(types[c->kind]);

	vs_jb_int(o, "key", key);
	vs_jb_put(o, "backing", network_backing(c));
	address(o, c->mac);
	if (c->kind == VS_VC_NET_PVRDMA)
		vs_jb_str(o, "deviceProtocol", "rocev2");
	if (c->kind == VS_VC_NET_SRIOV) {
		vs_jb_bool(o, "allowGuestOSMtuChange", c->mtu_change_allowed);
		if (c->pci && *c->pci)
			vs_jb_put(o, "sriovBacking", pf_backing(c->pci));
	}
	return o;
}

static struct json_object *new_of(const struct vs_vc_nic_spec *c, int key)
{
	switch (c->kind) {
	case VS_VC_PCI_DYNAMIC:
		return new_device(dynamic_backing(c), key);
	case VS_VC_PCI_FIXED:
		return new_device(fixed_backing(c), key);
	case VS_VC_PCI_DVX:
		return new_device(dvx_backing(c), key);
	case VS_VC_PCI_VGPU:
		return new_device(vgpu_backing(c), key);
	default:
		return new_nic(c, key);
	}
}

static struct json_object *extra(const struct vs_vc_kv *kv, size_t n)
{
	struct json_object *a = vs_jb_arr();

	for (size_t i = 0; i < n; i++) {
		struct json_object *o = vs_jb_obj("OptionValue");

		vs_jb_str(o, "key", kv[i].key);
		vs_jb_put(o, "value", vs_jb_boxed_str(kv[i].value));
		vs_jb_add(a, o);
	}
	return a;
}

/*
 * A NIC's network, without its port: that one is connected to the VM that the
 * NIC was read from, and the switch chooses one for each VM (vSphere API,
 * DistributedVirtualSwitchPortConnection).
 */
static struct json_object *network_only(struct vs_j backing)
{
	static const char *const keep[] = { "deviceName", "network",
		"opaqueNetworkId", "opaqueNetworkType" };
	struct vs_j port = vs_j_opt(backing, "port");
	struct json_object *o, *p;

	if (vs_j_null(backing))
		return NULL;
	o = vs_jb_obj(vs_j_type(backing));
	for (size_t i = 0; i < VS_COUNT(keep); i++)
		vs_jb_put(o, keep[i], vs_jb_copy(vs_j_opt(backing, keep[i])));
	if (vs_j_null(port))
		return o;
	p = vs_jb_obj("DistributedVirtualSwitchPortConnection");
	vs_jb_str(p, "switchUuid", vs_j_str_or(vs_j_opt(port, "switchUuid"),
					       NULL));
	vs_jb_str(p, "portgroupKey", vs_j_str_or(vs_j_opt(port, "portgroupKey"),
						 NULL));
	vs_jb_put(o, "port", p);
	return o;
}

struct json_object *vs_spec_nic(struct vs_j nic)
{
	struct json_object *o = vs_jb_obj(vs_j_type(nic));

	vs_jb_int(o, "key", vs_j_int_or(vs_j_opt(nic, "key"), 0));
	vs_jb_put(o, "backing", network_only(vs_j_opt(nic, "backing")));
	return o;
}

/* The NIC that is there gets a new address. vCenter keeps what isn't said. */
static struct json_object *mgmt_nic(const struct vs_vc_hw *hw,
				     struct json_object *nic,
				     const char *mgmt_type)
{
	struct json_object *o = vs_jb_clone(nic);

	if (!o) {
		if (!hw->mgmt_key || !mgmt_type)
			return NULL;
		o = vs_jb_obj(mgmt_type);
		vs_jb_int(o, "key", hw->mgmt_key);
	}
	address(o, hw->mgmt_mac);
	return o;
}

static struct json_object *device_changes(const struct vs_vc_hw *hw,
					  struct json_object *nic,
					  const struct vs_spec_types *t)
{
	struct json_object *a = vs_jb_arr(), *o;
	bool any = false;

	if (hw->mgmt_mac && (o = mgmt_nic(hw, nic, t->mgmt))) {
		vs_jb_add(a, change("edit", o));
		any = true;
	}
	for (int i = 0; i < hw->ngone; i++) {
		o = vs_jb_obj(t->gone[i]);
		vs_jb_int(o, "key", hw->gone[i]);
		vs_jb_add(a, change("remove", o));
		any = true;
	}
	for (int i = 0; i < hw->nnics; i++) {
		vs_jb_add(a, change("add", new_of(&hw->nics[i],
						  KEY_NEW_NIC - i)));
		any = true;
	}
	if (any)
		return a;
	vs_jb_free(a);
	return NULL;
}

static void put_hw(struct json_object *o, const struct vs_vc_hw *hw,
		   struct json_object *nic, const struct vs_spec_types *t)
{
	vs_spec_hw(o, hw);
	vs_jb_put(o, "deviceChange", device_changes(hw, nic, t));
	if (hw->nextra)
		vs_jb_put(o, "extraConfig", extra(hw->extra, hw->nextra));
}

static void put_policy(struct json_object *o, const char *policy)
{
	struct json_object *list = vs_jb_arr();
	struct json_object *p = vs_jb_obj("VirtualMachineDefinedProfileSpec");

	vs_jb_str(p, "profileId", policy);
	vs_jb_add(list, p);
	vs_jb_put(o, "profile", list);
}

/* A profile of the whole is the home directory's alone: each disk has its own
 * (vSphere API, VirtualMachineRelocateSpec). */
static void put_policies(struct json_object *to, const struct vs_vc_clone *c)
{
	struct json_object *disks = vs_jb_arr();

	put_policy(to, c->policy);
	for (size_t i = 0; i < c->ndisks && c->datastore; i++) {
		struct json_object *d = vs_jb_obj(
			"VirtualMachineRelocateSpecDiskLocator");

		vs_jb_int(d, "diskId", c->disks[i]);
		vs_jb_ref(d, "datastore", "Datastore", c->datastore);
		if (c->snapshot)
			vs_jb_str(d, "diskMoveType", LINKED);
		put_policy(d, c->policy);
		vs_jb_add(disks, d);
	}
	vs_jb_put(to, "disk", disks);
}

struct json_object *vs_spec_clone(const struct vs_vc_clone *c,
				  struct json_object *nic)
{
	const struct vs_spec_types none = { .mgmt = NULL };
	struct json_object *o = vs_jb_obj(NULL);
	struct json_object *spec = vs_jb_obj("VirtualMachineCloneSpec");
	struct json_object *to = vs_jb_obj("VirtualMachineRelocateSpec");
	struct json_object *config = vs_jb_obj("VirtualMachineConfigSpec");

	vs_jb_ref(o, "folder", "Folder", c->folder);
	vs_jb_str(o, "name", c->name);
	vs_jb_ref(to, "datastore", "Datastore", c->datastore);
	if (c->snapshot)
		vs_jb_str(to, "diskMoveType", LINKED);
	vs_jb_ref(to, "pool", "ResourcePool", c->pool);
	vs_jb_ref(to, "host", "HostSystem", c->host);
	if (c->policy)
		put_policies(to, c);
	vs_jb_put(spec, "location", to);
	vs_jb_bool(spec, "template", false);
	vs_jb_str(config, "instanceUuid", c->uuid);
	if (c->annotation)
		vs_jb_str(config, "annotation", c->annotation);
	put_hw(config, &c->hw, nic, &none);
	vs_jb_put(spec, "config", config);
	vs_jb_bool(spec, "powerOn", false);
	vs_jb_ref(spec, "snapshot", "VirtualMachineSnapshot", c->snapshot);
	vs_jb_put(o, "spec", spec);
	return o;
}

/* NICs may be edited there and nothing else. The memory has the old address:
 * the guest binds its drivers again. */
struct json_object *vs_spec_instant(const struct vs_vc_instant *c,
				    struct json_object *nic)
{
	struct json_object *o = vs_jb_obj(NULL), *edit;
	struct json_object *spec = vs_jb_obj("VirtualMachineInstantCloneSpec");
	struct json_object *to = vs_jb_obj("VirtualMachineRelocateSpec");
	struct json_object *nics = vs_jb_arr();

	vs_jb_str(spec, "name", c->name);
	vs_jb_ref(to, "folder", "Folder", c->folder);
	vs_jb_ref(to, "pool", "ResourcePool", c->pool);
	if (nic && c->mgmt_mac) {
		edit = vs_jb_clone(nic);
		address(edit, c->mgmt_mac);
		vs_jb_add(nics, change("edit", edit));
	}
	for (int i = 0; i < c->nnics; i++)
		vs_jb_add(nics, change("edit", new_nic(&c->nics[i],
							 c->keys[i])));
	vs_jb_put(to, "deviceChange", nics);
	vs_jb_put(spec, "location", to);
	vs_jb_put(spec, "config", extra(c->extra, c->nextra));
	vs_jb_str(spec, "biosUuid", c->bios_uuid);
	vs_jb_put(o, "spec", spec);
	return o;
}

struct json_object *vs_spec_reconfigure(const char *change_version,
					const struct vs_vc_hw *hw,
					const struct vs_spec_types *types)
{
	struct json_object *o = vs_jb_obj(NULL);
	struct json_object *spec = vs_jb_obj("VirtualMachineConfigSpec");

	if (change_version && *change_version)
		vs_jb_str(spec, "changeVersion", change_version);
	put_hw(spec, hw, NULL, types);
	vs_jb_put(o, "spec", spec);
	return o;
}

struct json_object *vs_spec_relocate(const char *host, const char *pool,
				     const char *store)
{
	struct json_object *o = vs_jb_obj(NULL);
	struct json_object *spec = vs_jb_obj("VirtualMachineRelocateSpec");

	vs_jb_ref(spec, "datastore", "Datastore", store);
	vs_jb_ref(spec, "pool", "ResourcePool", pool);
	vs_jb_ref(spec, "host", "HostSystem", host);
	vs_jb_put(o, "spec", spec);
	return o;
}

/* Off it has no memory to be kept, nor a guest to be asked. */
struct json_object *vs_spec_snapshot(const char *name)
{
	struct json_object *o = vs_jb_obj(NULL);

	vs_jb_str(o, "name", name);
	vs_jb_bool(o, "memory", false);
	vs_jb_bool(o, "quiesce", false);
	return o;
}

struct json_object *vs_spec_power_on(const char *host)
{
	struct json_object *o;

	if (!host || !*host)
		return NULL;
	o = vs_jb_obj(NULL);
	vs_jb_ref(o, "host", "HostSystem", host);
	return o;
}
