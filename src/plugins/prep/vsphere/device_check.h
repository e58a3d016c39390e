/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The NICs of the machine that slurmd runs on. */
#ifndef VS_PLUGINS_PREP_VSPHERE_DEVICE_CHECK_H
#define VS_PLUGINS_PREP_VSPHERE_DEVICE_CHECK_H

#include <stddef.h>

/*
 * Checks that this node's NICs are as the guest's start-up script found them.
 * Returns 0 if they are, and on a machine that is no managed VM. Returns -1
 * with a sentence in why if not. Takes no longer than 10 s where the script can
 * be asked, 20 if only the program can.
 *
 * The script leaves RUN/ready (RUN: /run/slurm-vsphere, or what the
 * environment's SLURM_VSPHERE_RUN says). Its first line is "ok" or "failed:
 * REASON". With a line "guest-check PATH" the script is asked (PATH check). Where
 * it can't be, "rdma SPEC" of each port, "link-layer LAYER" and "checker PATH"
 * have slurm-vsphere-port asked whether the ports are as they were; without it the
 * directories of lines "port DIR", such as /sys/class/infiniband/mlx5_0/ports/1,
 * must still have the state ACTIVE.
 */
int vs_device_check(char *why, size_t size);

#endif
