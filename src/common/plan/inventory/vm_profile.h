/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A profile: all that makes a VM what it is, but nothing that depends on the
 * host. A VM carries the hash of the profile it was built with in
 * slurm.vsphere.profile. The hash has two halves, so that a VM that needs a
 * reconfiguration differs from one that must be recreated:
 *   "TTTTTTTT-HHHHHHHH"   T: template (moId and changeVersion), H: the rest.
 *
 * A profile is the caller's, and so is the adapter that it points to: this
 * header's functions read them alone, and take no lock.
 */
#ifndef VS_PLAN_VM_PROFILE_H
#define VS_PLAN_VM_PROFILE_H

#include <stdbool.h>
#include <stdint.h>
#include "plan/devices/vm_hardware.h"
#include "plan/inventory/clone_source.h"

#define VS_PROFILE_HASH_LEN 18

enum vs_retention { VS_RETAIN_WARM, VS_RETAIN_OFF, VS_RETAIN_DESTROY };

enum vs_placement {		/* Placement= of a partition */
	VS_PLACEMENT_GLOBAL,	/* it has none of its own */
	VS_PLACEMENT_BALANCE, VS_PLACEMENT_PACK, VS_PLACEMENT_SPREAD,
	VS_PLACEMENT_DRS
};

struct vs_profile {
	const struct vs_adapter *adapter;
	char template_name[VS_LABEL_LEN];
	char template_moid[VS_MOID_LEN];	/* "" until resolved */
	char template_version[64];		/* its changeVersion */
	int template_hw;			/* hardware version, 0 unknown */
	int64_t disk_mb;			/* that a new VM's disks need, 0 unknown:
						 * of a linked clone a share */
	int64_t template_mb;			/* the template's, 0 unknown */
	enum vs_clone_type clone;		/* not hashed: a VM is right
						 * however it was made */
	bool clone_per_host;			/* each host has a clone source */
	int vcpus;
	int64_t memory_mb;
	bool latency_high;
	struct vs_hardware hw;
	/* the template's own: cores per socket (0 unknown, -1 automatic) and
	 * secure boot; not hashed, its changeVersion is */
	int template_cores;
	enum vs_hw_word template_secure;
	uint64_t net;		/* what its partition says of addresses, 0: nothing */
	bool dynamic;		/* its slurmd finds no node of its name in slurm.conf */
	char storage_policy[VS_UUID_LEN];	/* its id, "": none */
	enum vs_retention retention;		/* not hashed */
	const char *annotation;			/* nor is this; NULL: none */
	enum vs_placement placement;		/* nor is this */
};

/* Needs template_moid; -1 if it is not resolved yet. */
int vs_profile_hash(const struct vs_profile *p, char out[VS_PROFILE_HASH_LEN]);

enum vs_profile_fit {
	VS_FIT_RIGHT,		/* same hash */
	VS_FIT_RECONFIGURE,	/* same template, other settings */
	VS_FIT_REBUILD,		/* other template, or no readable hash */
};
enum vs_profile_fit vs_profile_fit(const char *have, const char *want);

/* What admission has to reserve for one VM of this profile on a host. */
int64_t vs_profile_cpu_mhz(const struct vs_profile *p, int host_core_mhz);
/* Some, on whichever host. */
bool vs_profile_reserves_cpu(const struct vs_profile *p);
/* All its memory is reserved, and stays so whatever its size. */
bool vs_profile_mem_locked(const struct vs_profile *p);
int64_t vs_profile_reserved_mb(const struct vs_profile *p);
/* The swap file of one that is on: memory that isn't reserved. */
int64_t vs_profile_swap_mb(const struct vs_profile *p);
/* Returns the size of the disks of a VM that moves to another datastore, in MB,
 * or 0 if unknown. A linked clone shares no disk there and is as large as its
 * template. */
int64_t vs_profile_moved_mb(const struct vs_profile *p);
/* It must boot by EFI. */
bool vs_profile_efi(const struct vs_profile *p);
/* CPU and memory can't be added while it is on: what is reserved in full or
 * bound to NUMA nodes forbids it. */
bool vs_profile_cold(const struct vs_profile *p);
/* VM overhead, MB, on top of the reservation (an upper estimate). */
int64_t vs_overhead_mb(int vcpus, int64_t memory_mb);
int64_t vs_profile_overhead_mb(const struct vs_profile *p);

#endif
