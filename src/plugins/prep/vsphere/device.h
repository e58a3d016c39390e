/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The RDMA device of the machine that slurmd runs on. */
#ifndef VS_PREP_DEVICE_H
#define VS_PREP_DEVICE_H

#include <stddef.h>

/*
 * Is this node's device as the guest's start-up script found it? 0, also on a
 * machine that is no VM of ours; -1 with a sentence in why.
 *
 * The script leaves RUN/ready (RUN: /run/slurm-vsphere, or what the
 * environment's SLURM_VSPHERE_RUN says). Its first line is "ok" or "failed:
 * REASON"; each further line "port DIR" names a directory such as
 * /sys/class/infiniband/mlx5_0/ports/1, whose state must still be ACTIVE.
 */
int vs_device_check(char *why, size_t size);

#endif
