/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How many devices a host has of a name: see shared_devices.h.
 *
 * Rules: where two answers are possible the smaller one is given.
 */
#include <stdio.h>
#include <string.h>
#include "plan/inventory/shared_devices.h"
#include "util/hash.h"
#include "util/mem.h"

#define BY_TIME_MAX 32		/* vGPUs of a GPU that is shared by time */
#define SLICES 7		/* of a GPU that is divided (MIG) */

bool vs_gpu_serves(const struct vs_gpu *g, const char *profile)
{
	struct vs_vgpu v;

	if (strcmp(g->type, "sharedDirect") || !vs_vgpu_parse(profile, &v))
		return false;
	if (!strcmp(g->mode, "multiInstanceGpu"))
		return v.slices > 0;
	return !v.slices || !g->mode[0] || !strcmp(g->mode, "none");
}

static int below(int n, int most)
{
	return n < most ? n : most;
}

int vs_vgpu_per_gpu(const char *profile, const char *const *offered, size_t n,
		    bool mixed, int most)
{
	struct vs_vgpu v, o;
	int whole = 0, fit, size = 1;
	bool there = false;

	if (!vs_vgpu_parse(profile, &v))
		return 0;
	for (size_t i = 0; i < n; i++) {
		there |= !strcmp(offered[i], profile);
		if (vs_vgpu_same_model(profile, offered[i]) &&
		    vs_vgpu_parse(offered[i], &o) && o.gb > whole)
			whole = o.gb;
	}
	if (!there)
		return 0;
	fit = below(whole / v.gb, v.slices ? SLICES / v.slices : BY_TIME_MAX);
	if (v.special)
		fit = below(fit, 1);
	/* of different sizes each has its place: a half, a quarter, ... */
	for (; mixed && !v.slices && size * 2 <= fit; size *= 2)
		;
	if (mixed && !v.slices)
		fit = below(fit, size);
	return most ? below(fit, most) : fit;
}

static char small(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool in_word(char c)
{
	return (small(c) >= 'a' && small(c) <= 'z') || (c >= '0' && c <= '9');
}

/* Is it in the name as a word: "a100" in "NVIDIA A100-PCIE-40GB"? */
static bool has_word(const char *name, const char *word, size_t len)
{
	for (const char *p = name; *p; p++) {
		size_t n = 0;

		while (n < len && small(p[n]) == small(word[n]))
			n++;
		if (n == len && !(p > name && in_word(p[-1])) &&
		    !in_word(p[len]))
			return true;
	}
	return false;
}

uint32_t vs_vgpu_gpus(const char *profile, const struct vs_gpu *gpus, size_t n,
		      bool *one_model)
{
	const char *word = strchr(profile, '_');
	struct vs_vgpu v = { 0 };
	uint32_t all = 0, named = 0;
	const char *first = NULL;

	*one_model = true;
	if (!vs_vgpu_parse(profile, &v))
		return 0;
	word++;
	v.model -= (size_t)(word - profile);
	for (size_t i = 0; i < n && i < 32; i++) {
		/* a host's console has a GPU too, that takes none */
		if (strcmp(gpus[i].type, "sharedDirect"))
			continue;
		if (!first)
			first = gpus[i].name;
		*one_model &= !strcmp(gpus[i].name, first);
		if (!vs_gpu_serves(&gpus[i], profile))
			continue;
		all |= 1u << i;
		if (has_word(gpus[i].name, word, v.model))
			named |= 1u << i;
	}
	return *one_model ? all : named;
}

void vs_shared_pci(enum vs_nic_type kind, const char *name,
		   char out[VS_PCI_LEN])
{
	uint64_t h = vs_hash_str(VS_HASH_START, name);
	uint32_t n = (uint32_t)(h >> 32 ^ h);

	if (kind == VS_NIC_PCI_VGPU)
		snprintf(out, VS_PCI_LEN, "vgpu:%07x", n & 0xfffffff);
	else
		snprintf(out, VS_PCI_LEN, "dvx:%08x", n);
}

int vs_vgpu_crowds(const struct vs_host *h, int at, const char *profile)
{
	const struct vs_devices *of = h->pfs[at].of;
	struct vs_vgpu v;

	if (!of || of->named != VS_NIC_PCI_VGPU ||
	    !strcmp(of->label, profile))
		return 0;
	/* of no model that is told: of any */
	return of->one_model || !vs_vgpu_parse(profile, &v) ||
	       vs_vgpu_same_model(of->label, profile) ? of->per_gpu : 0;
}

int vs_entry_crowds(const struct vs_host *h, int at, int from)
{
	const struct vs_devices *of = h->pfs[from].of;

	return of && at != from && of->named == VS_NIC_PCI_VGPU ?
		vs_vgpu_crowds(h, at, of->label) : 0;
}
