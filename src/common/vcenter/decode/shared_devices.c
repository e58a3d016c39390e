/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a host has by name: GPUs that VMs share (config.graphicsInfo), the
 * vGPU profiles that its driver offers and what it can do with each
 * (sharedPassthruGpuTypes, sharedGpuCapabilities), and the classes of DVX
 * devices (hardware.dvxClasses, 8.0). Read only if an adapter of the
 * configuration needs devices. Rules: a value that isn't sent is not there;
 * nothing is judged here.
 */
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "vcenter/decode/inventory.h"

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
	for (size_t i = 0; i < h->named.ngpus; i++) {
		free((char *)h->named.gpus[i].pci);
		free((char *)h->named.gpus[i].name);
		free((char *)h->named.gpus[i].vendor);
		free((char *)h->named.gpus[i].type);
		free((char *)h->named.gpus[i].mode);
	}
	free(h->named.gpus);
	h->named.gpus = NULL;
	h->named.ngpus = 0;
}

/* "pciId" is documented as "bus:slot.function"; hosts write the segment, too. */
static char *address(const char *s)
{
	VS_FREE char *low = vs_str_lower(s);

	return strlen(low) == strlen("3b:00.0") ? vs_asprintf("0000:%s", low) :
		vs_strdup(low);
}

static void set_gpus(struct vcx_host *h, struct vs_j list)
{
	size_t n = vs_j_len(list);

	clear_gpus(h);
	h->named.gpus = n ? vs_calloc(n, sizeof(*h->named.gpus)) : NULL;
	for (; h->named.ngpus < n; h->named.ngpus++) {
		struct vs_j g = vs_j_at(list, h->named.ngpus);

		h->named.gpus[h->named.ngpus] = (struct vs_vc_gpu) {
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

	clear_named(&h->named.able, &h->named.nable);
	h->named.able = n ? vs_calloc(n, sizeof(*h->named.able)) : NULL;
	for (; h->named.nable < n; h->named.nable++) {
		struct vs_j p = vs_j_at(list, h->named.nable);

		h->named.able[h->named.nable] = (struct vs_vc_named) {
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

	clear_named(&h->named.dvx, &h->named.ndvx);
	h->named.dvx = n ? vs_calloc(n, sizeof(*h->named.dvx)) : NULL;
	for (; h->named.ndvx < n; h->named.ndvx++) {
		struct vs_j c = vs_j_at(list, h->named.ndvx);
		bool saves = yes(c, "checkpointSupported");

		h->named.dvx[h->named.ndvx] = (struct vs_vc_named) {
			.name = vs_strdup(opt(c, "deviceClass")),
			.moves = saves && yes(c, "swDMATracingSupported"),
			.snapshots = saves,
			.nic = yes(c, "sriovNic"),
		};
	}
}

static void set_profiles(struct vcx_host *h, struct vs_j list)
{
	vs_strs_free(h->named.profiles, h->named.nprofiles);
	h->named.profiles = vs_strs_read(list, false, &h->named.nprofiles);
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
	for (size_t i = 0; i < h->named.nprofiles; i++) {
		profiles[i] =
			(struct vs_vc_named) { .name = h->named.profiles[i] };
		for (size_t k = 0; k < h->named.nable; k++)
			if (!strcmp(h->named.able[k].name,
				    h->named.profiles[i])) {
				profiles[i] = h->named.able[k];
				profiles[i].name = h->named.profiles[i];
			}
	}
	for (size_t i = 0; i < h->named.ngpus; i++)
		h->named.gpus[i].numa = vs_inv_pci_numa(h, h->named.gpus[i].pci,
						 &h->named.gpus[i].numa_cores,
						 &h->named.gpus[i].numa_mb);
	out->profiles = profiles;
	out->nprofiles = h->named.nprofiles;
	out->gpus = h->named.gpus;
	out->ngpus = h->named.ngpus;
	out->dvx = h->named.dvx;
	out->ndvx = h->named.ndvx;
	out->functions = h->passthrough.devices;
	out->nfunctions = h->passthrough.ndevices;
}

void vs_inv_host_named_free(struct vcx_host *h)
{
	clear_gpus(h);
	clear_named(&h->named.able, &h->named.nable);
	clear_named(&h->named.dvx, &h->named.ndvx);
	vs_strs_free(h->named.profiles, h->named.nprofiles);
	h->named.profiles = NULL;
	h->named.nprofiles = 0;
}
