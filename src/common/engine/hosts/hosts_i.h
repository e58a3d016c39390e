/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of hosts/ keep together: no other module includes this. The lock is
 * held. */
#ifndef VS_ENGINE_HOSTS_I_H
#define VS_ENGINE_HOSTS_I_H

#include "engine/hosts/hosts.h"

/* A host of which something takes no VM: entries like those of the exclusions, kept
 * by host, for all hosts may fail the same check. */
struct vs_template_fault {
	char moid[VS_MOID_LEN];
	struct vs_exclusion *avoids;
	UT_hash_handle hh;
};

/* A host on which others drained nodes, or set them down. */
struct vs_drain_count {
	char host[VS_MOID_LEN];
	int nodes;			/* that still are */
	UT_hash_handle hh;
};

struct vs_hosts {
	struct vs_exclusion *avoids;
	struct vs_template_fault *unfit;		/* uthash by moid */
	struct vs_breaker *breakers;
	struct vs_host_fingerprint *prints;	/* uthash by host */
	struct vs_drain_count *sick;		/* uthash by host */
	struct vs_maintenance_window *windows;
	/* When the job ends for which VMs are placed now, in s since the epoch;
	 * 0: unknown. */
	int64_t until;
	uint64_t avoid_gen;		/* moves when other hosts are left out */
	char avoid_note[192];		/* see vs_exclusion_note, of */
	uint64_t avoid_note_gen;	/* this generation and */
	int avoid_note_hosts;		/* so many hosts */
	struct vs_host_block *bars;		/* of vs_exclusion_blocks() */
	size_t cap_bars;
};
extern struct vs_hosts vs_hosts;

/* Other hosts are left out than before. */
static inline void vs_avoids_changed(void)
{
	vs_hosts.avoid_gen++;
}

#endif
