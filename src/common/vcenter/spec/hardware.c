/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The part of a VirtualMachineConfigSpec that says of CPU, memory and firmware:
 * sizes, reservations, shares, latency sensitivity, hot-add.
 *
 * Rules: of an exact spec what is not wanted is said, too, for the VM or its
 * template may have it; of another one it is left out.
 */
#include "vcenter/spec/spec.h"

static void put_shares(struct json_object *o, int shares)
{
	struct json_object *s = vs_jb_obj("SharesInfo");

	/* the number counts with "custom" alone, and must be there */
	vs_jb_int(s, "shares", shares > 0 ? shares : 0);
	vs_jb_str(s, "level", shares > 0 ? "custom" :
		  shares == VS_VC_SHARES_LOW ? "low" :
		  shares == VS_VC_SHARES_HIGH ? "high" : "normal");
	vs_jb_put(o, "shares", s);
}

static struct json_object *allocation(int64_t reserved, int shares, bool exact)
{
	struct json_object *o = vs_jb_obj("ResourceAllocationInfo");

	vs_jb_int(o, "reservation", reserved);
	if (shares || exact)
		put_shares(o, shares);
	return o;
}

static void put_sizes(struct json_object *o, const struct vs_vc_hw *hw)
{
	if (hw->vcpus)
		vs_jb_int(o, "numCPUs", hw->vcpus);
	/* 0 on the wire: none of its own */
	if (hw->cores_per_socket)
		vs_jb_int(o, "numCoresPerSocket", hw->cores_per_socket > 0 ?
			  hw->cores_per_socket : 0);
	if (hw->memory_mb)
		vs_jb_int(o, "memoryMB", hw->memory_mb);
}

static void put_memory(struct json_object *o, const struct vs_vc_hw *hw)
{
	int64_t reserved = hw->memory_locked ? hw->memory_mb :
		hw->mem_reserved_mb;

	if (hw->memory_locked || hw->exact)
		vs_jb_bool(o, "memoryReservationLockedToMax",
			   hw->memory_locked);
	if (reserved || hw->mem_shares || hw->exact)
		vs_jb_put(o, "memoryAllocation",
			  allocation(reserved, hw->mem_shares, hw->exact));
}

static void put_cpu(struct json_object *o, const struct vs_vc_hw *hw)
{
	struct json_object *latency;

	if (hw->cpu_reserved_mhz || hw->cpu_shares || hw->exact)
		vs_jb_put(o, "cpuAllocation", allocation(hw->cpu_reserved_mhz,
				hw->cpu_shares, hw->exact));
	if (hw->latency_high || hw->exact) {
		latency = vs_jb_obj("LatencySensitivity");
		vs_jb_str(latency, "level",
			  hw->latency_high ? "high" : "normal");
		vs_jb_put(o, "latencySensitivity", latency);
	}
}

void vs_spec_hw(struct json_object *o, const struct vs_vc_hw *hw)
{
	struct json_object *boot;

	put_sizes(o, hw);
	put_memory(o, hw);
	put_cpu(o, hw);
	if (hw->cold) {
		vs_jb_bool(o, "cpuHotAddEnabled", false);
		vs_jb_bool(o, "memoryHotAddEnabled", false);
	}
	if (hw->secure_boot != VS_VC_AUTO_UNKNOWN) {
		boot = vs_jb_obj("VirtualMachineBootOptions");
		vs_jb_bool(boot, "efiSecureBootEnabled",
			   hw->secure_boot == VS_VC_AUTO_YES);
		vs_jb_put(o, "bootOptions", boot);
	}
}
