/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a host has by name: GPUs that VMs share (config.graphicsInfo), the
 * vGPU profiles that its driver offers and what it can do with each
 * (sharedPassthruGpuTypes, sharedGpuCapabilities), and the classes of DVX
 * devices (hardware.dvxClasses, 8.0). Read only where somebody wants devices.
 *
 * Rules: what isn't said is not there; nothing is judged here.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "vcenter/inv.h"

static char *lower(const char *s)
{
	char *out = vs_strdup(s);

	for (char *p = out; *p; p++)
		*p = (char)tolower((unsigned char)*p);
	return out;
}

static const char *opt(struct vs_j j, const char *key)
{
	return vs_j_str_or(vs_j_opt(j, key), "");
}

static bool yes(struct vs_j j, const char *key)
{
	return vs_j_bool_or(vs_j_opt(j, key), false);
}

static void clear_gpus(struct vcx_host *h)
{
	for (size_t i = 0; i < h->ngpus; i++) {
		free((char *)h->gpus[i].pci);
		free((char *)h->gpus[i].name);
		free((char *)h->gpus[i].vendor);
		free((char *)h->gpus[i].type);
		free((char *)h->gpus[i].mode);
	}
	free(h->gpus);
	h->gpus = NULL;
	h->ngpus = 0;
}

/* "pciId" is documented as "bus:slot.function"; hosts write the segment, too. */
static char *address(const char *s)
{
	VS_FREE char *low = lower(s);

	return strlen(low) == strlen("3b:00.0") ? vs_asprintf("0000:%s", low) :
		vs_strdup(low);
}

static void set_gpus(struct vcx_host *h, struct vs_j list)
{
	size_t n = vs_j_len(list);

	clear_gpus(h);
	h->gpus = n ? vs_calloc(n, sizeof(*h->gpus)) : NULL;
	for (; h->ngpus < n; h->ngpus++) {
		struct vs_j g = vs_j_at(list, h->ngpus);

		h->gpus[h->ngpus] = (struct vs_vc_gpu) {
			.pci = address(opt(g, "pciId")),
			.name = vs_strdup(opt(g, "deviceName")),
			.vendor = vs_strdup(opt(g, "vendorName")),
			.type = vs_strdup(opt(g, "graphicsType")),
			.mode = vs_strdup(opt(g, "vgpuMode")),
		};
	}
}

static void clear_named(struct vs_vc_named **list, size_t *n)
{
	for (size_t i = 0; i < *n; i++)
		free((char *)(*list)[i].name);
	free(*list);
	*list = NULL;
	*n = 0;
}

static void set_able(struct vcx_host *h, struct vs_j list)
{
	size_t n = vs_j_len(list);

	clear_named(&h->able, &h->nable);
	h->able = n ? vs_calloc(n, sizeof(*h->able)) : NULL;
	for (; h->nable < n; h->nable++) {
		struct vs_j p = vs_j_at(list, h->nable);

		h->able[h->nable] = (struct vs_vc_named) {
			.name = vs_strdup(opt(p, "vgpu")),
			.moves = yes(p, "migrateSupported"),
			.snapshots = yes(p, "memorySnapshotSupported"),
		};
	}
}

/* A class whose state can be saved can have snapshots; to move it, its DMA must be
 * traced, too. */
static void set_dvx(struct vcx_host *h, struct vs_j list)
{
	size_t n = vs_j_len(list);

	clear_named(&h->dvx, &h->ndvx);
	h->dvx = n ? vs_calloc(n, sizeof(*h->dvx)) : NULL;
	for (; h->ndvx < n; h->ndvx++) {
		struct vs_j c = vs_j_at(list, h->ndvx);
		bool saves = yes(c, "checkpointSupported");

		h->dvx[h->ndvx] = (struct vs_vc_named) {
			.name = vs_strdup(opt(c, "deviceClass")),
			.moves = saves && yes(c, "swDMATracingSupported"),
			.snapshots = saves,
			.nic = yes(c, "sriovNic"),
		};
	}
}

static void set_profiles(struct vcx_host *h, struct vs_j list)
{
	vs_strs_free(h->profiles, h->nprofiles);
	h->profiles = vs_strs_read(list, false, &h->nprofiles);
}

unsigned int vs_inv_host_named(struct vcx_host *h, const char *path,
			       struct vs_j val)
{
	static const struct {
		const char *path;
		void (*set)(struct vcx_host *h, struct vs_j val);
	} sets[] = {
		{ "config.graphicsInfo", set_gpus },
		{ "config.sharedPassthruGpuTypes", set_profiles },
		{ "config.sharedGpuCapabilities", set_able },
		{ "hardware.dvxClasses", set_dvx },
	};

	for (size_t i = 0; i < VS_COUNT(sets); i++) {
		if (strcmp(sets[i].path, path))
			continue;
		sets[i].set(h, val);
		return VS_VC_HOST_PFS;
	}
	return 0;
}

/* What the host can do with a profile is told beside the profiles. */
void vs_inv_host_named_put(struct vcx_host *h, struct vs_vc_host *out,
			   struct vs_vc_named *profiles)
{
	for (size_t i = 0; i < h->nprofiles; i++) {
		profiles[i] = (struct vs_vc_named) { .name = h->profiles[i] };
		for (size_t k = 0; k < h->nable; k++)
			if (!strcmp(h->able[k].name, h->profiles[i])) {
				profiles[i] = h->able[k];
				profiles[i].name = h->profiles[i];
			}
	}
	for (size_t i = 0; i < h->ngpus; i++)
		h->gpus[i].numa = vs_inv_numa_of(h, h->gpus[i].pci,
						 &h->gpus[i].numa_cores,
						 &h->gpus[i].numa_mb);
	out->profiles = profiles;
	out->nprofiles = h->nprofiles;
	out->gpus = h->gpus;
	out->ngpus = h->ngpus;
	out->dvx = h->dvx;
	out->ndvx = h->ndvx;
	out->functions = h->devices;
	out->nfunctions = h->ndevices;
}

void vs_inv_host_named_free(struct vcx_host *h)
{
	clear_gpus(h);
	clear_named(&h->able, &h->nable);
	clear_named(&h->dvx, &h->ndvx);
	vs_strs_free(h->profiles, h->nprofiles);
	h->profiles = NULL;
	h->nprofiles = 0;
}
