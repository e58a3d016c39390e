/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A host's properties into our record of it, and the record into the typed
 * event. A PF is joined from four places: pciPassthruInfo (VFs), pnic (device
 * name, link), proxySwitch (which distributed switch it is an uplink of) and
 * numaInfo (its node).
 *
 * Rules: VFs count only while SR-IOV is active on the PF. A PF without a
 * physical NIC is no network device and is left out. Link is told, not judged:
 * an InfiniBand port shows none.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "vcenter/decode/inventory.h"

/* The first are asked for only where devices are wanted: see vs_inv_paths(). */
const char *const vs_inv_host_paths[] = {
	"hardware.pciDevice", "hardware.dvxClasses", "config.graphicsInfo",
	"config.sharedPassthruGpuTypes", "config.sharedGpuCapabilities",
	"name", "parent", "runtime.connectionState", "runtime.powerState",
	"runtime.inMaintenanceMode", "runtime.inQuarantineMode",
	"hardware.cpuInfo", "hardware.memorySize", "hardware.numaInfo",
	"config.product", "config.pciPassthruInfo", "config.network.pnic",
	"config.network.proxySwitch", "network", "datastore",
	"config.powerSystemInfo", "config.dateTimeInfo.ntpConfig",
	"config.dateTimeInfo.systemClockProtocol", "summary.rebootRequired",
	"config.virtualNicManagerInfo.netConfig",
	NULL
};

static char *opt_str(struct vs_j j, const char *key)
{
	return vs_strdup(vs_j_str_or(vs_j_opt(j, key), ""));
}

static void clear_pts(struct vcx_host *h)
{
	for (size_t i = 0; i < h->npts; i++)
		free(h->pts[i].pci);
	free(h->pts);
	h->pts = NULL;
	h->npts = 0;
}

static void set_pts(struct vcx_host *h, struct vs_j list)
{
	size_t n = vs_j_len(list);

	clear_pts(h);
	h->pts = n ? vs_calloc(n, sizeof(*h->pts)) : NULL;
	for (size_t i = 0; i < n; i++) {
		struct vs_j p = vs_j_at(list, i);
		struct vcx_pt *pt = &h->pts[h->npts];

		if (strcmp(vs_j_type(p), "HostSriovInfo") ||
		    !vs_j_bool_or(vs_j_opt(p, "sriovCapable"), false))
			continue;
		pt->pci = vs_str_lower(vs_j_str(vs_j_get(p, "id")));
		if (vs_j_bool_or(vs_j_opt(p, "sriovActive"), false))
			pt->vfs = (int)vs_j_int_or(vs_j_opt(p,
						"numVirtualFunction"), 0);
		pt->enabled = vs_j_bool_or(vs_j_opt(p, "sriovEnabled"), false);
		pt->asked = (int)vs_j_int_or(vs_j_opt(p,
					"numVirtualFunctionRequested"), 0);
		pt->most = (int)vs_j_int_or(vs_j_opt(p,
					"maxVirtualFunctionSupported"), 0);
		h->npts++;
	}
}

static void clear_pnics(struct vcx_host *h)
{
	for (size_t i = 0; i < h->npnics; i++) {
		free(h->pnics[i].key);
		free(h->pnics[i].device);
		free(h->pnics[i].pci);
		free(h->pnics[i].driver);
		free(h->pnics[i].version);
		free(h->pnics[i].firmware);
	}
	free(h->pnics);
	h->pnics = NULL;
	h->npnics = 0;
}

static void set_pnics(struct vcx_host *h, struct vs_j list)
{
	size_t n = vs_j_len(list);

	clear_pnics(h);
	h->pnics = n ? vs_calloc(n, sizeof(*h->pnics)) : NULL;
	for (size_t i = 0; i < n; i++) {
		struct vs_j p = vs_j_at(list, i);
		struct vcx_pnic *nic = &h->pnics[h->npnics++];

		nic->key = opt_str(p, "key");
		nic->device = opt_str(p, "device");
		nic->pci = vs_str_lower(vs_j_str_or(vs_j_opt(p, "pci"), ""));
		nic->driver = opt_str(p, "driver");
		nic->version = opt_str(p, "driverVersion");
		nic->firmware = opt_str(p, "firmwareVersion");
		nic->link = !vs_j_null(vs_j_opt(p, "linkSpeed"));
	}
}

static void clear_proxies(struct vcx_host *h)
{
	for (size_t i = 0; i < h->v.nswitches; i++)
		vs_strs_free(h->proxies[i].pnics, h->proxies[i].npnics);
	free(h->proxies);
	free((void *)h->v.switches);
	h->proxies = NULL;
	h->v.switches = NULL;
	h->v.nswitches = 0;
}

static void set_proxies(struct vcx_host *h, struct vs_j list)
{
	size_t n = vs_j_len(list);
	struct vs_switch_facts *s;

	clear_proxies(h);
	if (!n)
		return;
	h->proxies = vs_calloc(n, sizeof(*h->proxies));
	h->v.switches = s = vs_calloc(n, sizeof(*s));
	h->v.nswitches = n;
	for (size_t i = 0; i < n; i++) {
		struct vs_j p = vs_j_at(list, i);

		vs_strlcpy(s[i].uuid, vs_j_str_or(vs_j_opt(p, "dvsUuid"), ""),
			   sizeof(s[i].uuid));
		vs_strlcpy(s[i].name, vs_j_str_or(vs_j_opt(p, "dvsName"), ""),
			   sizeof(s[i].name));
		s[i].mtu = (int)vs_j_int_or(vs_j_opt(p, "mtu"), 0);
		h->proxies[i].pnics = vs_strs_read(vs_j_opt(p, "pnic"), false,
						   &h->proxies[i].npnics);
	}
}

static void clear_numas(struct vcx_host *h)
{
	for (size_t i = 0; i < h->nnumas; i++)
		free(h->numas[i].pci);
	free(h->numas);
	h->numas = NULL;
	h->nnumas = 0;
	h->v.numa_nodes = 0;
}

/* All of it; what VMs can have of it is told by vs_inv_pci_numa. */
static int64_t numa_mb(struct vs_j node)
{
	int64_t bytes = vs_j_int_or(vs_j_opt(node, "memorySize"), 0);

	/* Before 8.0; a host of one node may give a size of one page. */
	if (!bytes)
		bytes = vs_j_int_or(vs_j_opt(node, "memoryRangeLength"), 0);
	return bytes >> 20;
}

static void set_numas(struct vcx_host *h, struct vs_j info)
{
	struct vs_j nodes = vs_j_opt(info, "numaNode");
	size_t n = vs_j_len(nodes), cap = 0;

	clear_numas(h);
	h->v.numa_nodes = (int)vs_j_int_or(vs_j_opt(info, "numNodes"),
					   (int64_t)n);
	for (size_t i = 0; i < n; i++) {
		struct vs_j node = vs_j_at(nodes, i);
		struct vs_j pci = vs_j_opt(node, "pciId");
		size_t m = vs_j_len(pci);

		for (size_t k = 0; k < m; k++) {
			struct vcx_numa *u;

			VS_GROW(h->numas, cap, h->nnumas + 1);
			u = &h->numas[h->nnumas++];
			u->pci = vs_str_lower(vs_j_str(vs_j_at(pci, k)));
			u->node = (int)vs_j_int_or(vs_j_opt(node, "typeId"),
						   (int64_t)i);
			u->threads = (int)vs_j_len(vs_j_opt(node, "cpuID"));
			u->mb = numa_mb(node);
		}
	}
}

/* The newest virtual hardware of an ESXi release (Broadcom KB 315655). */
static int max_hw(const char *version, long build)
{
	static const struct { int major, minor, patch, hw; long build; } t[] = {
		{ 9, 0, 0, 22, 0 }, { 8, 0, 2, 21, 0 }, { 8, 0, 0, 20, 0 },
		{ 7, 0, 2, 19, 0 }, { 7, 0, 1, 18, 0 }, { 7, 0, 0, 17, 0 },
		/* Update 2 and later of 6.7 call themselves 6.7.0. */
		{ 6, 7, 0, 15, 13006603 },
		{ 6, 7, 0, 14, 0 }, { 6, 5, 0, 13, 0 },
	};
	int v[3] = { 0 };

	if (sscanf(version, "%d.%d.%d", &v[0], &v[1], &v[2]) < 2)
		return 0;
	for (size_t i = 0; i < VS_COUNT(t); i++) {
		if (v[0] != t[i].major ? v[0] > t[i].major :
		    v[1] != t[i].minor ? v[1] > t[i].minor :
		    v[2] >= t[i].patch && build >= t[i].build)
			return t[i].hw;
	}
	return 0;
}

static void set_cpu(struct vcx_host *h, struct vs_j info)
{
	vs_capacity_size(h, h->capacity.memory_mb,
			 (int)vs_j_int_or(vs_j_opt(info, "numCpuCores"), 0));
	h->threads = (int)vs_j_int_or(vs_j_opt(info, "numCpuThreads"), 0);
	h->v.core_mhz = (int)(vs_j_int_or(vs_j_opt(info, "hz"), 0) / 1000000);
}

static void set_text(const char **slot, const char *s)
{
	char *text = (char *)*slot;

	vs_str_replace(&text, s);
	*slot = text;
}

static void set_refs(const char *const **slot, size_t *n, struct vs_j list)
{
	vs_strs_free((char **)*slot, *n);
	*slot = (const char *const *)vs_strs_read(list, true, n);
}

static unsigned int set_state(struct vcx_host *h, const char *path,
			      struct vs_j val)
{
	if (!strcmp(path, "runtime.connectionState")) {
		h->v.connected = !strcmp(vs_j_str_or(val, ""), "connected");
		h->capacity.read_at = 0;	/* it may have been rebuilt */
	} else if (!strcmp(path, "runtime.powerState")) {
		h->v.powered_on = !strcmp(vs_j_str_or(val, ""), "poweredOn");
		h->v.standby = !strcmp(vs_j_str_or(val, ""), "standBy");
	} else if (!strcmp(path, "runtime.inMaintenanceMode")) {
		h->v.maintenance = vs_j_bool_or(val, false);
	} else if (!strcmp(path, "runtime.inQuarantineMode")) {
		h->v.quarantine = vs_j_bool_or(val, false);
	} else {
		return 0;
	}
	return VS_VC_HOST_STATE;
}

static unsigned int set_hardware(struct vcx_host *h, const char *path,
				 struct vs_j val)
{
	if (!strcmp(path, "hardware.cpuInfo")) {
		set_cpu(h, val);
		return VS_VC_HOST_HW | VS_VC_HOST_PFS;	/* NUMA nodes' cores */
	}
	if (!strcmp(path, "hardware.memorySize"))
		vs_capacity_size(h, vs_j_int_or(val, 0) >> 20, h->v.cores);
	else if (!strcmp(path, "config.product")) {
		h->v.max_hw = max_hw(vs_j_str_or(vs_j_opt(val, "version"), ""),
			strtol(vs_j_str_or(vs_j_opt(val, "build"), ""), NULL,
			       10));
		return VS_VC_HOST_HW | vs_inv_host_fact(h, path, val);
	} else
		return 0;
	return VS_VC_HOST_HW | VS_VC_HOST_PFS;	/* NUMA nodes' memory */
}

static unsigned int set_devices(struct vcx_host *h, const char *path,
				struct vs_j val)
{
	if (!strcmp(path, "config.pciPassthruInfo")) {
		set_pts(h, val);
		h->pts_read = !vs_j_null(val);
		vs_inv_set_gives(h, val);
	} else if (!strcmp(path, "hardware.pciDevice")) {
		vs_inv_set_devices(h, val);
	} else if (!strcmp(path, "config.network.pnic")) {
		set_pnics(h, val);
		h->pnics_read = !vs_j_null(val);
	} else if (!strcmp(path, "config.network.proxySwitch")) {
		set_proxies(h, val);
	} else if (!strcmp(path, "hardware.numaInfo")) {
		set_numas(h, val);
		return VS_VC_HOST_PFS | VS_VC_HOST_HW;
	} else {
		return vs_inv_host_named(h, path, val);
	}
	return VS_VC_HOST_PFS;
}

static unsigned int set_place(struct vcx_host *h, const char *path,
			      struct vs_j val)
{
	if (!strcmp(path, "name")) {
		set_text(&h->v.name, vs_j_str_or(val, NULL));
		/* devices may be meant by their host's name */
		return VS_VC_HOST_NAME | VS_VC_HOST_PFS;
	}
	if (!strcmp(path, "parent")) {
		set_text(&h->v.cluster, vs_j_ref(val, NULL));
		return VS_VC_HOST_PARENT;
	}
	if (!strcmp(path, "network")) {
		set_refs(&h->v.nets, &h->v.nnets, val);
		return VS_VC_HOST_NETS;
	}
	if (!strcmp(path, "datastore")) {
		set_refs(&h->v.stores, &h->v.nstores, val);
		return VS_VC_HOST_STORES;
	}
	return 0;
}

bool vs_inv_host_prop(struct vcx_host *h, const char *path, struct vs_j val)
{
	unsigned int bit = set_state(h, path, val);

	if (!bit)
		bit = set_hardware(h, path, val);
	if (!bit)
		bit = set_devices(h, path, val);
	if (!bit)
		bit = set_place(h, path, val);
	if (!bit)
		bit = vs_inv_host_fact(h, path, val);
	h->v.has |= bit;
	return bit != 0;
}

void vs_inv_host_reset(struct vcx_host *h)
{
	struct vs_j unset = { 0 };

	for (size_t i = 0; vs_inv_host_paths[i]; i++)
		vs_inv_host_prop(h, vs_inv_host_paths[i], unset);
	h->barred = false;
	h->held = 0;
}

/* How a host is set up, its checks ask; nothing is placed by it. */
bool vs_inv_host_unreadable(const struct vcx_host *h)
{
	return h->held & ~(unsigned int)VS_VC_HOST_FACTS;
}

static const struct vcx_pnic *pnic_of(const struct vcx_host *h,
				      const char *pci)
{
	for (size_t i = 0; i < h->npnics; i++)
		if (!strcmp(h->pnics[i].pci, pci))
			return &h->pnics[i];
	return NULL;
}

static const char *switch_of(const struct vcx_host *h, const char *key)
{
	for (size_t i = 0; i < h->v.nswitches; i++)
		for (size_t k = 0; k < h->proxies[i].npnics; k++)
			if (!strcmp(h->proxies[i].pnics[k], key))
				return h->v.switches[i].uuid;
	return "";
}

static void pf_facts(struct vs_pf_facts *f, const struct vcx_pnic *nic)
{
	vs_strlcpy(f->driver, nic->driver, sizeof(f->driver));
	vs_strlcpy(f->version, nic->version, sizeof(f->version));
	vs_strlcpy(f->firmware, nic->firmware, sizeof(f->firmware));
}

static size_t join_pfs(const struct vcx_host *h, struct vs_vc_pf *pfs)
{
	size_t n = 0;

	for (size_t i = 0; i < h->npts; i++) {
		const struct vcx_pnic *nic = pnic_of(h, h->pts[i].pci);

		if (!nic)
			continue;
		pfs[n] = (struct vs_vc_pf){
			.pci = h->pts[i].pci, .pnic = nic->device,
			.switch_uuid = switch_of(h, nic->key),
			.vfs = h->pts[i].vfs,
			.link_up = nic->link,
			.facts = { .enabled = h->pts[i].enabled,
				   .asked = h->pts[i].asked,
				   .most = h->pts[i].most },
		};
		pf_facts(&pfs[n].facts, nic);
		pfs[n].numa = vs_inv_pci_numa(h, pfs[n].pci, &pfs[n].numa_cores,
					      &pfs[n].numa_mb);
		n++;
	}
	return n;
}

/* Uplinks that may be PFs of which SR-IOV is off in the firmware or the BIOS,
 * for the checks alone. */
static size_t join_incapable(const struct vcx_host *h,
			     struct vs_incapable_facts *out)
{
	size_t n = 0, k;

	for (size_t i = 0; i < h->npnics; i++) {
		const struct vcx_pnic *nic = &h->pnics[i];
		const char *uuid = switch_of(h, nic->key);

		for (k = 0; k < h->npts && strcmp(h->pts[k].pci, nic->pci); k++)
			;
		if (k < h->npts || !uuid[0])
			continue;
		vs_strlcpy(out[n].pci, nic->pci, sizeof(out->pci));
		vs_strlcpy(out[n].pnic, nic->device, sizeof(out->pnic));
		vs_strlcpy(out[n].switch_uuid, uuid, sizeof(out->switch_uuid));
		vs_strlcpy(out[n++].driver, nic->driver, sizeof(out->driver));
	}
	return n;
}

void vs_inv_host_publish(struct vcx_host *h, const struct vs_vc_events *ev,
			 void *arg)
{
	VS_FREE struct vs_vc_pf *pfs = vs_calloc(h->npts + 1, sizeof(*pfs));
	VS_FREE struct vs_incapable_facts *incapable =
		vs_calloc(h->npnics + 1, sizeof(*incapable));
	VS_FREE struct vs_vc_device *devices =
		vs_calloc(h->passthrough.ngives + 1, sizeof(*devices));
	VS_FREE struct vs_vc_named *profiles =
		vs_calloc(h->named.nprofiles + 1, sizeof(*profiles));
	struct vs_vc_host out = h->v;

	out.cpu_mhz = vs_capacity_mhz(h);
	out.memory_mb = vs_capacity_mb(h);
	out.pfs = pfs;
	out.npfs = join_pfs(h, pfs);
	out.pfs_unread = !h->pts_read || !h->pnics_read;
	out.devices = devices;
	out.ndevices = vs_inv_host_devices_put(h, devices);
	vs_inv_host_named_put(h, &out, profiles);
	out.incapable = incapable;
	out.nincapable = join_incapable(h, incapable);
	out.unreadable = vs_inv_host_unreadable(h);
	h->v.has = 0;
	out.has &= ~h->held;
	if (out.has & VS_VC_HOST_HW) {
		h->capacity.told_mb = out.memory_mb;
		h->capacity.told_mhz = out.cpu_mhz;
	}
	if (!h->v.name)
		out.has &= ~VS_VC_HOST_NAME;
	if (ev->host)
		ev->host(arg, &out);
}

void vs_inv_host_free(struct vcx_host *h)
{
	clear_pts(h);
	clear_pnics(h);
	clear_proxies(h);
	clear_numas(h);
	vs_inv_host_devices_free(h);
	vs_inv_host_named_free(h);
	vs_strs_free((char **)h->v.nets, h->v.nnets);
	vs_strs_free((char **)h->v.stores, h->v.nstores);
	free((char *)h->v.moid);
	free((char *)h->v.name);
	free((char *)h->v.cluster);
	free(h);
}
