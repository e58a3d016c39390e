/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One template, as vCenter has it: which VM it is, its disks (what a clone of
 * them takes, their keys for a clone's storage policy, whether they or its files
 * are encrypted), its first NIC, and what the preflight asks: its guest, what is
 * in it that no template should have, whether VMware Tools were ever seen in it.
 *
 * It is found by its name in the client (templates.c), which also says why it
 * can't be cloned.
 */
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "vcenter/decode/objects.h"
#include "vcenter/spec/spec.h"

const char *const vs_vcx_template_paths[] = {
	"name", "config.template", "config.version", "config.changeVersion",
	"runtime.host", "runtime.connectionState", "config.hardware.device",
	"summary.storage.committed", "network", "config.guestId",
	"config.cpuHotAddEnabled", "config.memoryHotAddEnabled", "snapshot",
	"guest.toolsVersionStatus2", "config.keyId", "config.firmware",
	"config.bootOptions", "config.hardware.numCoresPerSocket",
	"config.hardware.autoCoresPerSocket", NULL
};

/* ---- disks -------------------------------------------------------------- */

/*
 * What a clone of these disks takes: as much as they take themselves, which for
 * thin ones is less than they may grow to. Where that isn't told, what is
 * certain: the thick ones.
 */
static int64_t disks_mb(struct vs_j dev, struct vs_j committed)
{
	int64_t all = 0, thick = 0, bytes, has = vs_j_int_or(committed, 0);
	size_t n = vs_j_len(dev);

	for (size_t i = 0; i < n; i++) {
		struct vs_j d = vs_j_at(dev, i);

		if (strcmp(vs_j_type(d), "VirtualDisk"))
			continue;
		bytes = vs_j_int_or(vs_j_opt(d, "capacityInBytes"),
				    vs_j_int_or(vs_j_opt(d, "capacityInKB"),
						0) * 1024);
		all += bytes;
		if (!vs_j_bool_or(vs_j_opt(vs_j_opt(d, "backing"),
					   "thinProvisioned"), true))
			thick += bytes;
	}
	bytes = has < all ? has : all;
	return (bytes > thick ? bytes : thick) >> 20;
}

static void disks_set(struct vcx_template *t, struct vs_j dev)
{
	size_t n = vs_j_len(dev);

	free(t->disks);
	t->disks = vs_calloc(n + 1, sizeof(*t->disks));
	t->ndisks = 0;
	for (size_t i = 0; i < n; i++) {
		struct vs_j d = vs_j_at(dev, i);

		if (!strcmp(vs_j_type(d), "VirtualDisk"))
			t->disks[t->ndisks++] =
				(int)vs_j_int_or(vs_j_opt(d, "key"), 0);
	}
}

/* Its files, or a disk, have a key (vSphere API, CryptoKeyId). */
static void keys_set(struct vcx_template *t, struct vs_j props,
		     struct vs_j dev)
{
	bool tpm = false;
	bool key = !vs_j_null(vs_vcx_prop(props, "config.keyId"));

	for (size_t i = 0, n = vs_j_len(dev); i < n; i++) {
		struct vs_j d = vs_j_at(dev, i);

		tpm |= !strcmp(vs_j_type(d), "VirtualTPM");
		key |= !strcmp(vs_j_type(d), "VirtualDisk") &&
			!vs_j_null(vs_j_opt(vs_j_opt(d, "backing"), "keyId"));
	}
	t->changed |= t->tpm != tpm || t->encrypted != key;
	t->tpm = tpm;
	t->encrypted = key;
}

static void template_disks(struct vcx_template *t, struct vs_j props,
			   struct vs_j dev)
{
	t->disk_mb = disks_mb(dev, vs_vcx_prop(props,
					       "summary.storage.committed"));
	disks_set(t, dev);
	keys_set(t, props, dev);
}

/* ---- for the preflight alone -------------------------------------------- */

/* Of one physical machine, or of a kind that each clone gets by itself. */
static bool passes_through(struct vs_j dev)
{
	static const char *const types[] = { "VirtualSriovEthernetCard",
		"VirtualVmxnet3Vrdma", "VirtualPCIPassthrough" };

	for (size_t i = 0; i < VS_COUNT(types); i++)
		if (!strcmp(vs_j_type(dev), types[i]))
			return true;
	return false;
}

static enum vs_vc_auto hot_add(struct vs_j cpu, struct vs_j memory)
{
	if (vs_j_null(cpu) && vs_j_null(memory))
		return VS_VC_AUTO_UNKNOWN;
	return vs_j_bool_or(cpu, false) || vs_j_bool_or(memory, false) ?
		VS_VC_AUTO_YES : VS_VC_AUTO_NO;
}

/* What VMs have that aren't told otherwise. */
static void hardware(struct vcx_template *t, struct vs_j props)
{
	struct vs_j secure = vs_j_opt(vs_vcx_prop(props, "config.bootOptions"),
				      "efiSecureBootEnabled");

	t->secure_boot = vs_j_null(secure) ? VS_VC_AUTO_UNKNOWN :
		vs_j_bool_or(secure, false) ? VS_VC_AUTO_YES : VS_VC_AUTO_NO;
	t->cores_per_socket = vs_j_bool_or(
		vs_vcx_prop(props, "config.hardware.autoCoresPerSocket"),
		false) ? -1 : (int)vs_j_int_or(vs_vcx_prop(props,
			"config.hardware.numCoresPerSocket"), 0);
}

void vs_vcx_template_facts(struct vcx_template *t, struct vs_j props)
{
	struct vs_j dev = vs_vcx_prop(props, "config.hardware.device");
	const char *tools = vs_j_str_or(
		vs_vcx_prop(props, "guest.toolsVersionStatus2"), "");
	size_t n = vs_j_len(dev);

	vs_str_replace(&t->guest, vs_j_str_or(
			vs_vcx_prop(props, "config.guestId"), ""));
	t->bios = !strcmp(vs_j_str_or(vs_vcx_prop(props, "config.firmware"),
				      ""), "bios");
	t->passthrough = 0;
	for (size_t i = 0; i < n; i++)
		t->passthrough += passes_through(vs_j_at(dev, i));
	t->hot_add = hot_add(vs_vcx_prop(props, "config.cpuHotAddEnabled"),
			     vs_vcx_prop(props, "config.memoryHotAddEnabled"));
	t->snapshot = vs_j_null(vs_vcx_prop(props, "snapshot")) ?
		VS_VC_AUTO_NO : VS_VC_AUTO_YES;
	hardware(t, props);
	t->tools = !*tools ? VS_VC_AUTO_UNKNOWN :
		strcmp(tools, "guestToolsNotInstalled") ? VS_VC_AUTO_YES :
		VS_VC_AUTO_NO;
}

/* ---- all of it ---------------------------------------------------------- */

static void nets_free(struct vcx_template *t)
{
	for (size_t i = 0; i < t->nnets; i++) {
		free(t->nets[i].type);
		free(t->nets[i].moid);
	}
	free(t->nets);
	t->nets = NULL;
	t->nnets = 0;
}

static bool is_nic(struct vs_j dev)
{
	return !vs_j_null(vs_j_opt(dev, "addressType"));
}

static void nets_set(struct vcx_template *t, struct vs_j nets)
{
	size_t n = vs_j_len(nets);

	nets_free(t);
	t->nets = vs_calloc(n + 1, sizeof(*t->nets));
	for (; t->nnets < n; t->nnets++) {
		const char *type, *moid = vs_j_ref(vs_j_at(nets, t->nnets),
						   &type);

		t->nets[t->nnets].moid = vs_strdup(moid);
		t->nets[t->nnets].type = vs_strdup(type);
	}
}

static enum vs_vc_auto link_of(struct vs_j props)
{
	const char *state = vs_j_str_or(
		vs_vcx_prop(props, "runtime.connectionState"), "");

	return !*state ? VS_VC_AUTO_UNKNOWN :
		strcmp(state, "connected") ? VS_VC_AUTO_NO : VS_VC_AUTO_YES;
}

static const char *host_of(struct vs_j props)
{
	return vs_j_ref(vs_vcx_prop(props, "runtime.host"), NULL);
}

bool vs_vcx_template_moved(const struct vcx_template *t, struct vs_j props)
{
	return strcmp(t->host, host_of(props)) || t->link != link_of(props);
}

void vs_vcx_template_set(struct vcx_template *t, struct vs_j props)
{
	struct vs_j dev = vs_vcx_prop(props, "config.hardware.device");
	const char *hw = vs_j_str_or(vs_vcx_prop(props, "config.version"), "");
	size_t n = vs_j_len(dev);
	bool is = vs_j_bool_or(vs_vcx_prop(props, "config.template"), false);

	t->changed |= t->is_template != is || t->link != link_of(props);
	t->changed |= vs_str_replace(&t->change_version, vs_j_str_or(
			vs_vcx_prop(props, "config.changeVersion"), ""));
	t->changed |= vs_str_replace(&t->host, host_of(props));
	t->link = link_of(props);
	t->is_template = is;
	t->hw = !strncmp(hw, "vmx-", 4) ? (int)strtol(hw + 4, NULL, 10) : 0;
	template_disks(t, props, dev);
	vs_vcx_template_facts(t, props);
	nets_set(t, vs_vcx_prop(props, "network"));
	vs_jb_free(t->nic);
	t->nic = NULL;
	for (size_t i = 0; i < n && !t->nic; i++)
		if (is_nic(vs_j_at(dev, i)))
			t->nic = vs_spec_nic(vs_j_at(dev, i));
}

bool vs_vcx_template_named(const struct vcx_template *t, const char *name)
{
	const char *last = strrchr(t->name, '/');

	return vs_vcx_same_name(name, t->name) ||
		(last && vs_vcx_same_name(name, last + 1));
}

void vs_vcx_template_forget(struct vcx_template *t)
{
	if (t->moid && *t->moid) {
		vs_str_replace(&t->missing, NULL);
		t->changed = true;
	}
	vs_str_replace(&t->moid, "");
	vs_str_replace(&t->change_version, "");
	vs_str_replace(&t->host, "");
	t->is_template = t->stale = false;
}

void vs_vcx_template_wipe(struct vcx_template *t)
{
	free(t->name);
	free(t->moid);
	free(t->change_version);
	free(t->host);
	free(t->missing);
	free(t->guest);
	vs_jb_free(t->nic);
	free(t->disks);
	nets_free(t);
}

struct vs_vc_template vs_vcx_template_view(const struct vcx_template *t)
{
	return (struct vs_vc_template){ .name = t->name,
		.moid = t->missing ? "" : t->moid,
		.change_version = t->missing ? "" : t->change_version,
		.host = t->host, .is_template = t->is_template, .hw = t->hw,
		.disk_mb = t->disk_mb, .missing = t->missing,
		.lack = t->missing ? t->lack : VS_VC_TEMPLATE_NONE,
		.guest = t->guest, .passthrough = t->passthrough,
		.bios = t->bios,
		.snapshot = t->snapshot, .hot_add = t->hot_add,
		.cores_per_socket = t->cores_per_socket,
		.secure_boot = t->secure_boot, .link = t->link,
		.tools = t->tools, .nets = t->nets, .nnets = t->nnets };
}
