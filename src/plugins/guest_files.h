/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a node's own files say of its VM: RUN/ready, which the guest's start-up
 * script writes, and RUN/place, which a job's prolog writes. RUN is
 * /run/slurm-vsphere, or what the environment's SLURM_VSPHERE_RUN says.
 * libc only: slurmd and steps read them.
 */
#ifndef VS_PLUGINS_GUEST_FILES_H
#define VS_PLUGINS_GUEST_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include "job_assignment.h"

#define VS_GUEST_LIST 512

/* Several NICs: lists with commas, in the order of the NICs. "": not known,
 * or there is none. */
struct vs_guest {
	bool ready;			/* a managed VM, and its script said ok */
	char node[VS_ASSIGNMENT_WORD], adapter[VS_ASSIGNMENT_WORD];
	char macs[VS_GUEST_LIST];
	char devices[VS_GUEST_LIST];	/* "mlx5_0" */
	char ports[VS_GUEST_LIST];	/* "mlx5_0:1" */
	char gid_indexes[VS_GUEST_LIST], gids[VS_GUEST_LIST];
	/* The GID index of all NICs, if it is one and of IPv4 addresses. */
	char gid_index[8];
	struct vs_assignment_place place;
};

/* RUN/name into path. */
void vs_guest_path(const char *name, char *path, size_t size);

/* Reads all of it again. */
void vs_guest_read(struct vs_guest *g);

/* RUN/place, for steps to read; place NULL: what was there is true no more. On
 * a machine without RUN nothing is done. 0, or -1 with errno. */
int vs_guest_place_write(const struct vs_assignment_place *place);

#endif
