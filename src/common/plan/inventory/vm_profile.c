/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Profiles: their hash, and what one VM of them costs a host.
 *
 * Rules: the hash is the same on every machine and for every host (numbers
 * are hashed as text, the MHz of a CPU reservation not at all); whatever a
 * running VM can't have changed under it is in it. Never guesses: a template
 * that isn't resolved has no hash.
 */
#include <stdio.h>
#include <string.h>
#include "plan/inventory/vm_profile.h"
#include "util/mem.h"

#define HALF 8		/* hex digits on each side of the dash */

static uint32_t fold(uint64_t h)
{
	return (uint32_t)(h >> 32 ^ h);
}

/* What a NIC has none of is not said: see below. */
static uint64_t hash_device(uint64_t s, const struct vs_adapter *a)
{
	char text[96];

	if (vs_adapter_type_info(a)->network)
		return s;
	snprintf(text, sizeof(text), "device %d %x %x %d %d", (int)a->type,
		 (unsigned int)a->vendor, (unsigned int)a->device,
		 vs_adapter_total(a), a->mmio_gb);
	s = vs_hash_str(s, text);
	if (a->params[0])
		s = vs_hash_str(s, a->params);
	return vs_hash_str(vs_hash_str(s, a->label), a->pf);
}

int vs_profile_hash(const struct vs_profile *p, char out[VS_PROFILE_HASH_LEN])
{
	const struct vs_adapter *a = p->adapter;
	uint64_t t = VS_HASH_START, s = VS_HASH_START;
	char numbers[96];

	if (!p->template_moid[0])
		return -1;
	t = vs_hash_str(t, p->template_moid);
	t = vs_hash_str(t, p->template_version);
	if (p->storage_policy[0])	/* disks are placed by it */
		t = vs_hash_str(t, p->storage_policy);
	snprintf(numbers, sizeof(numbers), "%d %d %d %d %lld %d", (int)a->type,
		 (int)a->link, a->mtu, p->vcpus, (long long)p->memory_mb,
		 (int)p->latency_high);
	s = vs_hash_str(s, a->name);
	s = vs_hash_str(s, a->network);
	s = vs_hash_str(s, a->pf);
	s = vs_hash_str(s, numbers);
	if (a->subnet[0])
		s = vs_hash_str(s, a->subnet);
	if (p->net) {
		snprintf(numbers, sizeof(numbers), "net %llx",
			 (unsigned long long)p->net);
		s = vs_hash_str(s, numbers);
	}
	if (p->dynamic)
		s = vs_hash_str(s, "dynamic");
	/* a single NIC is not said: VMs of before have such hashes */
	if (a->per_node > 1) {
		snprintf(numbers, sizeof(numbers), "nics %d%s", a->per_node,
			 a->rails ? " rails" : "");
		s = vs_hash_str(s, numbers);
	}
	s = vs_hardware_hash(&p->hw, s);
	s = hash_device(s, a);
	if (a->with) {
		s = vs_hash_str(s, a->strict_acs && vs_adapter_p2p(a) ?
				"strict with" : "with");
		s = vs_hash_str(s, a->with->name);
		s = hash_device(s, a->with);
	}
	snprintf(out, VS_PROFILE_HASH_LEN, "%08x-%08x",
		 (unsigned int)fold(t), (unsigned int)fold(s));
	return 0;
}

static bool hash_valid(const char *s)
{
	if (!s || strlen(s) != VS_PROFILE_HASH_LEN - 1 || s[HALF] != '-')
		return false;
	return strspn(s, "0123456789abcdef") == HALF &&
	       strspn(s + HALF + 1, "0123456789abcdef") == HALF;
}

enum vs_profile_fit vs_profile_fit(const char *have, const char *want)
{
	if (!hash_valid(have) || !hash_valid(want) || memcmp(have, want, HALF))
		return VS_FIT_REBUILD;
	return strcmp(have, want) ? VS_FIT_RECONFIGURE : VS_FIT_RIGHT;
}

/* Latency sensitivity "high" is refused without a full CPU and memory
 * reservation: vCPUs x the host's MHz (vSphere's resource management). */
int64_t vs_profile_cpu_mhz(const struct vs_profile *p, int host_core_mhz)
{
	int64_t full = (int64_t)p->vcpus * host_core_mhz;

	if (p->latency_high || p->hw.cpu_mhz == VS_RESERVE_FULL)
		return full;
	/* a vCPU has a core at most */
	return full && p->hw.cpu_mhz > full ? full : p->hw.cpu_mhz;
}

bool vs_profile_reserves_cpu(const struct vs_profile *p)
{
	return p->latency_high || p->hw.cpu_mhz;
}

bool vs_profile_mem_locked(const struct vs_profile *p)
{
	return p->latency_high || vs_adapter_pins(p->adapter) ||
	       p->hw.mem_mb == VS_RESERVE_FULL;
}

int64_t vs_profile_reserved_mb(const struct vs_profile *p)
{
	if (vs_profile_mem_locked(p) || p->hw.mem_mb > p->memory_mb)
		return p->memory_mb;
	return p->hw.mem_mb;
}

bool vs_profile_efi(const struct vs_profile *p)
{
	return vs_adapter_mmio(p->adapter) > 0 ||
	       p->hw.secure_boot == VS_HW_YES;
}

bool vs_profile_cold(const struct vs_profile *p)
{
	return vs_profile_mem_locked(p) || p->hw.numa_pf;
}

int64_t vs_profile_swap_mb(const struct vs_profile *p)
{
	return p->memory_mb - vs_profile_reserved_mb(p);
}

int64_t vs_profile_moved_mb(const struct vs_profile *p)
{
	return p->clone == VS_CLONE_FULL ? p->disk_mb : p->template_mb;
}

int64_t vs_overhead_mb(int vcpus, int64_t memory_mb)
{
	/* VMware's table of overhead memory: 20 MB + 4 per vCPU + 0.7 % of
	 * the VM's memory; rounded up by half for devices and DMA maps. */
	return 64 + 8 * (int64_t)vcpus + (memory_mb + 99) / 100;
}

int64_t vs_profile_overhead_mb(const struct vs_profile *p)
{
	return vs_overhead_mb(p->vcpus, p->memory_mb);
}
