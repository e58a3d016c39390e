/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How hosts are set up, from vCenter's events into the inventory, for the
 * checks. What changes while it is known is told once, when it changes:
 * whether it is right is judged by the checks, and told by them.
 *
 * The lock is held.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include "engine/inventory/inventory.h"
#include "engine/state/state.h"
#include "util/mem.h"

static void changed(const struct vs_host *h, const char *pf, const char *what,
		    const char *was, const char *is)
{
	if (was[0] && is[0] && strcmp(was, is))
		vs_info("host=%s%s%s %s was %s, is %s now", h->name,
			pf[0] ? " pf=" : "", pf, what, was, is);
}

static int mtu_of(const struct vs_host_facts *f, const char *uuid)
{
	for (size_t i = 0; i < f->nswitches; i++)
		if (!strcmp(f->switches[i].uuid, uuid))
			return f->switches[i].mtu;
	return 0;
}

static void compare(const struct vs_host *h, const struct vs_host_facts *was,
		    const struct vs_host_facts *is)
{
	char a[16], b[16];

	changed(h, "", "power policy", was->setup.power,
		is->setup.power);
	changed(h, "", "ESXi build", was->setup.build,
		is->setup.build);
	for (size_t i = 0; i < is->nswitches; i++) {
		int mtu = mtu_of(was, is->switches[i].uuid);

		snprintf(a, sizeof(a), "%d", mtu);
		snprintf(b, sizeof(b), "%d", is->switches[i].mtu);
		if (mtu && is->switches[i].mtu)
			changed(h, "", "MTU of a switch", a, b);
	}
	/* Beside h->pfs, which is of now: a PF that moved is pf_drift.c's. */
	for (int i = 0; i < h->npfs; i++) {
		const struct vs_pf_facts *p = &was->pfs[i], *q = &is->pfs[i];

		if (strcmp(p->driver, q->driver))
			continue;
		changed(h, h->pfs[i].pci, "driver", p->version, q->version);
		changed(h, h->pfs[i].pci, "firmware", p->firmware,
			q->firmware);
		snprintf(a, sizeof(a), "%d", p->asked);
		snprintf(b, sizeof(b), "%d", q->asked);
		if (p->asked && q->asked)
			changed(h, h->pfs[i].pci, "max_vfs", a, b);
	}
}

/* A board's own graphics is none of these: their profiles are NVIDIA's. */
static void fill_gpus(struct vs_host_facts *f, const struct vs_vc_host *h)
{
	for (size_t i = 0; i < h->ngpus && f->ngpus < VS_HOST_GPUS; i++) {
		const struct vs_vc_gpu *g = &h->gpus[i];

		if (strncasecmp(g->vendor, "NVIDIA", strlen("NVIDIA")))
			continue;
		vs_strlcpy(f->gpus[f->ngpus].pci, g->pci,
			   sizeof(f->gpus[0].pci));
		vs_strlcpy(f->gpus[f->ngpus++].type, g->type,
			   sizeof(f->gpus[0].type));
	}
}

static void *copy_of(const void *list, size_t n, size_t size)
{
	void *copy = vs_calloc(n + 1, size);

	if (n)
		memcpy(copy, list, n * size);
	return copy;
}

static struct vs_host_facts *facts_of(const struct vs_vc_host *h)
{
	struct vs_host_facts *f = vs_host_facts_new();

	f->setup = *h->setup;
	for (size_t i = 0; i < h->npfs && i < VS_HOST_PFS; i++)
		f->pfs[i] = h->pfs[i].facts;
	f->nincapable = h->nincapable;
	f->incapable = copy_of(h->incapable, f->nincapable,
			       sizeof(*f->incapable));
	f->nswitches = h->nswitches;
	f->switches = copy_of(h->switches, f->nswitches, sizeof(*f->switches));
	fill_gpus(f, h);
	return f;
}

void vs_facts_set(struct vs_core *c, struct vs_host *to,
		  const struct vs_vc_host *h)
{
	struct vs_host_facts *was = to->facts;

	if (!(h->has & (VS_VC_HOST_FACTS | VS_VC_HOST_PFS)) || !h->setup)
		return;
	to->facts = facts_of(h);
	vs_devices_idle(c, to, h, to->facts);
	if (was && c->ready)
		compare(to, was, to->facts);
	vs_host_facts_free(was);
}

char *vs_template_fix(const char *name, enum vs_vc_template_fault lack,
		      const char *user)
{
	const char *last = strrchr(name, '/');

	switch (lack) {
	case VS_VC_TEMPLATE_ABSENT:
		return vs_asprintf("govc find / -type m -name '%s'	# clone it into the datacenter, or correct Template=",
				   last ? last + 1 : name);
	case VS_VC_TEMPLATE_UNREAD:
		return vs_check_readonly(user);
	case VS_VC_TEMPLATE_TPM:
		return vs_asprintf("govc vm.markasvm -host HOST %s\ngovc device.ls -vm %s	# which is the TPM\ngovc device.remove -vm %s DEVICE\ngovc vm.markastemplate %s",
				   name, name, name, name);
	case VS_VC_TEMPLATE_KEY:
		return vs_asprintf("govc vm.markasvm -host HOST %s\n# vSphere Client: VM Policies, Edit VM Storage Policies: an unencrypted one for it and its disks\ngovc vm.markastemplate %s",
				   name, name);
	case VS_VC_TEMPLATE_VM:
	case VS_VC_TEMPLATE_NONE:
		break;
	}
	return vs_asprintf("govc vm.markastemplate %s", name);
}
