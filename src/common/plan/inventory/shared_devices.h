/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Devices that hosts have by name: vGPUs of a profile, which share GPUs, and
 * devices of a DVX class. How many there are, and what those of one profile
 * take of another's.
 *
 * A GPU runs vGPUs of one profile at a time (that is what ESXi keeps to, but for
 * the mixed mode, where more than counted here may fit), and ESXi says not to
 * which of its GPUs a VM will come: so each vGPU of another profile counts as if
 * it had a GPU to itself.
 *
 * Pure functions of their arguments, without errors or locks.
 */
#ifndef VS_PLAN_SHARED_DEVICES_H
#define VS_PLAN_SHARED_DEVICES_H

#include "plan/inventory/inventory.h"
#include "plan/devices/vgpu_name.h"

/* A GPU of a host. mode: HostGraphicsInfo.vgpuMode, "" before 8.0 U3. */
struct vs_gpu { const char *name, *type, *mode; };
/* Is it in the mode for vGPUs ("sharedDirect") of this sort? */
bool vs_gpu_serves(const struct vs_gpu *g, const char *profile);
/* vGPUs of the profile that one GPU takes, by its name and by those of all the
 * host offers: the greatest of a model is the whole GPU. most: what the site
 * says, 0: nothing. 0 if the host doesn't offer it. */
int vs_vgpu_per_gpu(const char *profile, const char *const *offered, size_t n,
		    bool mixed, int most);
/* Of so many GPUs, those that are of the profile's model; *one_model: all that
 * are in the mode for vGPUs are alike. Where they are not, names decide; what no name tells counts
 * as none. Bits of an index below 32. */
uint32_t vs_vgpu_gpus(const char *profile, const struct vs_gpu *gpus, size_t n,
		      bool *one_model);

/* The made-up address of such a row: "vgpu:1a2b3c4", "dvx:1a2b3c4d". */
void vs_shared_pci(enum vs_nic_type kind, const char *name,
		   char out[VS_PCI_LEN]);
/* Of the row `at` (an index), what a vGPU of this profile takes: a GPU's worth
 * where it is another's profile on the same GPUs, else 0. */
int vs_vgpu_crowds(const struct vs_host *h, int at, const char *profile);
/* The same of what is held on the row `from`. */
int vs_entry_crowds(const struct vs_host *h, int at, int from);

#endif
