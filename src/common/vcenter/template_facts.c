/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the preflight asks of a template: its guest, what is in it that no
 * template should have, whether VMware Tools were ever seen in it.
 */
#include <string.h>

#include "util/mem.h"
#include "vcenter/vc_i.h"

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
