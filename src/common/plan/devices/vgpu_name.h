/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names of vGPU profiles, as GPUs' vendors give them. Pure functions of
 * their arguments. A name that is not understood is no error: it is false, or 0.
 */
#ifndef VS_PLAN_VGPU_NAME_H
#define VS_PLAN_VGPU_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* "nvidia_a100-4c" is 4 GB of an a100's framebuffer, "nvidia_a100-1-5c" one of
 * seven slices with 5 GB (MIG). */
struct vs_vgpu {
	size_t model;			/* so long is the GPU's name: "nvidia_a100" */
	int slices;			/* 0: the GPU is shared by time */
	int gb;				/* 1 at least */
	bool special;			/* with engines that a GPU has one of */
};
/* False: it is no name of a profile as the vendor gives them. */
bool vs_vgpu_parse(const char *profile, struct vs_vgpu *out);
bool vs_vgpu_same_model(const char *profile, const char *other);

/* The PCI vendor that its guest sees, 0: not known. */
unsigned int vs_vgpu_vendor(const char *profile);

#endif
