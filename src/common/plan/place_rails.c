/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * VFs for VMs that take several: how many such VMs a host's PFs serve.
 *
 * Rules: a VM's cards are all on one host; its rails, where they matter, each
 * on a PF of their own. Never says which PFs: place_fit.c does.
 */
#include "plan/place_i.h"
#include "plan/shared.h"

int vs_row_free(const struct vs_site *s, int row)
{
	int free = s->sum->pf[row].free;

	for (int i = 0; free > 0 && s->brief->shared >> row & 1 &&
	     i < s->brief->npfs; i++) {
		int gpu = vs_row_crowds(s->host, i, row), left;

		if (!gpu || s->sum->pf[i].held <= 0)
			continue;
		left = s->sum->pf[i].free > 0 ? s->sum->pf[i].free / gpu : 0;
		free = left < free ? left : free;
	}
	return free;
}

size_t vs_vf_free(const struct vs_site *s, uint32_t pfs)
{
	size_t n = 0;

	for (int i = 0; i < s->brief->npfs; i++) {
		if ((pfs & 1u << i) && s->sum->pf[i].free > 0)
			n += vs_row_free(s, i);
	}
	return n;
}

/* How many VMs that take `vfs` each of these. */
static size_t room_on(const struct vs_site *s, uint32_t pfs, int vfs,
		      bool rails)
{
	int free[VS_HOST_PFS], n = 0;

	if (vfs == 1)
		return vs_vf_free(s, pfs);
	for (int i = 0; i < s->brief->npfs; i++) {
		if (pfs & 1u << i)
			free[n++] = vs_row_free(s, i);
	}
	return (size_t)vs_rails_room(free, n, vfs, rails);
}

/* No row is both a VF's and a device's, nor of two kinds of devices: so the
 * lesser of the two is what there is room for. */
size_t vs_vf_room(const struct vs_class *c, const struct vs_site *s,
		  const struct vs_fit *f, uint32_t not_these)
{
	size_t own = c->vfs ? room_on(s, f->pfs & ~not_these, c->vfs,
				      c->rails) : VS_ROOM_MAX;
	size_t beside = c->beside ? room_on(s, f->beside & ~not_these,
					    c->beside, false) : VS_ROOM_MAX;

	return own < beside ? own : beside;
}

enum vs_refusal vs_vf_short(const struct vs_class *c, const struct vs_site *s,
			    const struct vs_fit *f)
{
	if (!c->vfs || room_on(s, f->pfs, c->vfs, c->rails))
		return VS_REFUSE_DEVICE;
	if (c->vfs > 1 && vs_vf_free(s, f->pfs))
		return VS_REFUSE_VFS;
	return vs_adapter_nics(c->profile->adapter) ? VS_REFUSE_VF :
		VS_REFUSE_DEVICE;
}

static bool holds_one(const struct vs_rail_kind *k, const struct vs_site *s)
{
	int free[VS_HOST_PFS], n = 0;

	for (int i = 0; i < s->host->npfs; i++) {
		if (vs_pf_reaches(k->adapter, k->net, &s->host->pfs[i]))
			free[n++] = s->sum->pf[i].free;
	}
	return vs_rails_room(free, n, vs_adapter_vfs(k->adapter),
			     k->adapter->rails) > 0;
}

bool vs_site_whole(const struct vs_work *w, const struct vs_class *c,
		   const struct vs_site *s)
{
	for (size_t i = 0; c->vfs && i < w->env->nrails; i++) {
		const struct vs_rail_kind *k = &w->env->rails[i];

		if (vs_adapter_vfs(k->adapter) > c->vfs && holds_one(k, s))
			return true;
	}
	return false;
}
