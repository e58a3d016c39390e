/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The checks of a host's physical functions: VFs, link, MTU, driver, firmware.
 * Only those that some adapter draws on are looked at.
 *
 * Rules: one cause is told once, the first in the order in which an
 * administrator fixes them: SR-IOV off before its VFs are counted. InfiniBand
 * ports show no link and no MTU of theirs to vCenter: the guest checks those.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "plan/checks/checks_i.h"
#include "util/mem.h"

#define VFS_ANY 8	/* to be asked for where no other host says how many */

/* VMware's drivers of vendor id 15b3: mlxconfig and NUM_OF_VFS are theirs. */
static bool is_nvidia(const char *driver)
{
	return !strncmp(driver, "nmlx", 4);
}

/* Are the adapter's VFs of this PF? */
static bool draws(const struct vs_check_site *s, const struct vs_host *h,
		  const struct vs_pf *pf, size_t a)
{
	return vs_check_takes_vf(&s->adapters[a]) &&
	       vs_host_has_net(h, s->nets[a].moid) &&
	       vs_pf_reaches(&s->adapters[a], &s->nets[a], pf);
}

/* The first adapter with VFs that draws on the PF; NULL: none. */
static const struct vs_adapter *drawn_by(const struct vs_check_site *s,
					 const struct vs_host *h,
					 const struct vs_pf *pf)
{
	for (size_t a = 0; a < s->nadapters; a++)
		if (draws(s, h, pf, a))
			return &s->adapters[a];
	return NULL;
}

/* ---- what is usual ------------------------------------------------------- */

/*
 * Cards of one kind, as far as their firmware tells: NVIDIA's versions begin
 * with the family's number (20: ConnectX-6, 28: ConnectX-7). Of others, the
 * driver alone.
 */
static const char *firmware_kind(const struct vs_pf_facts *f, char out[64])
{
	size_t len = strspn(f->firmware, "0123456789");

	snprintf(out, 64, "%s %.*s", f->driver, is_nvidia(f->driver) ?
		 (int)len : 0, f->firmware);
	return out;
}

void vs_usual_count_pfs(struct vs_usual *u, const struct vs_check_site *s,
			const struct vs_host *h)
{
	char text[64];

	for (int i = 0; i < h->npfs; i++) {
		const struct vs_pf_facts *f = &h->facts->pfs[i];
		const struct vs_adapter *a = drawn_by(s, h, &h->pfs[i]);

		for (size_t k = 0; k < s->nadapters; k++)
			if (draws(s, h, &h->pfs[i], k))
				vs_usual_add(u, "card", s->adapters[k].name,
					     f->driver);
		if (!a)
			continue;
		vs_usual_add(u, "driver", f->driver, f->version);
		vs_usual_add(u, "firmware", firmware_kind(f, text),
			     f->firmware);
		snprintf(text, sizeof(text), "%d", f->asked);
		vs_usual_add(u, "vfs", a->name, f->asked > 0 ? text : "");
	}
}

/* ---- VFs ------------------------------------------------------------------ */

static struct vs_found *add(struct vs_found_list *l, enum vs_check code,
			    const struct vs_host *h, const struct vs_pf *pf,
			    char *is, char *should, char *fix)
{
	struct vs_found *f = vs_found_add(l, code, h->name, is, should, fix);

	vs_strlcpy(f->pf, pf->pci, sizeof(f->pf));
	return f;
}

static int usual_vfs(const struct vs_usual *u, const struct vs_adapter *a)
{
	int n, others, vfs = 0;
	const char *most = vs_usual_value(u, "vfs", a->name, &n, &others);

	for (; most && *most >= '0' && *most <= '9'; most++)
		vfs = vfs * 10 + *most - '0';
	return vfs > 0 ? vfs : VFS_ANY;
}

/* max_vfs of the driver: a number for each of its ports, in PCI order. The
 * driver's other parameters stay as they are (-a). */
static char *set_vfs(const struct vs_host *h, int which, int vfs)
{
	const char *driver = h->facts->pfs[which].driver;
	int order[VS_HOST_PFS], n = 0, k;
	char list[VS_HOST_PFS * 5 + 1] = "";
	size_t len = 0;

	for (int i = 0; i < h->npfs; i++) {
		if (strcmp(h->facts->pfs[i].driver, driver))
			continue;
		for (k = n++; k > 0 && strcmp(h->pfs[order[k - 1]].pci,
					      h->pfs[i].pci) > 0; k--)
			order[k] = order[k - 1];
		order[k] = i;
	}
	for (k = 0; k < n && len < sizeof(list); k++) {
		int asked = order[k] == which ? vfs :
			h->facts->pfs[order[k]].asked;

		len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%d",
					k ? "," : "", asked > 999 ? 999 :
					asked > 0 ? asked : 0);
	}
	return vs_asprintf("govc host.esxcli -host %s system module parameters set -a -m %s -p max_vfs=%s",
			   h->name, driver[0] ? driver : "DRIVER", list);
}

static bool same_card(const char *a, const char *b)
{
	const char *dot = strchr(a, '.');

	return dot && !strncmp(a, b, (size_t)(dot - a) + 1);
}

/* Of all ports of its card. */
static int asked_of_card(const struct vs_host *h, const struct vs_pf *pf)
{
	int sum = 0;

	for (int i = 0; i < h->npfs; i++)
		if (same_card(pf->pci, h->pfs[i].pci))
			sum += h->facts->pfs[i].asked;
	return sum;
}

/* On the host itself: no API of vSphere's speaks to a card's firmware. */
static char *mlxconfig(const struct vs_host *h, const char *pci, int num)
{
	return vs_asprintf("ssh -n root@%s /opt/mellanox/bin/mlxconfig -y -d %s set SRIOV_EN=1 NUM_OF_VFS=%d",
			   h->name, pci, num);
}

/* The firmware's part, which comes before the driver's: `vfs` more than are
 * asked of the card's other ports, and as many of each that is incapable. */
static char *firmware_on(const struct vs_host *h, const struct vs_pf *pf,
			 const char *driver, int asked, int vfs)
{
	int sum = asked_of_card(h, pf) - asked + vfs;

	if (!is_nvidia(driver))
		return vs_asprintf("# SR-IOV on in the firmware of %s, by its vendor's tool",
				   pf->pci);

	for (size_t i = 0; i < h->facts->nincapable; i++)
		if (strcmp(pf->pci, h->facts->incapable[i].pci) &&
		    same_card(pf->pci, h->facts->incapable[i].pci))
			sum += vfs;
	return mlxconfig(h, pf->pci, sum + 1);
}

bool vs_check_has_pf(const struct vs_check_site *s, const struct vs_host *h,
		     size_t a, const char *driver)
{
	for (int i = 0; i < h->npfs; i++)
		if (vs_pf_reaches(&s->adapters[a], &s->nets[a], &h->pfs[i]) &&
		    (!driver[0] ||
		     !strcmp(driver, h->facts->pfs[i].driver)))
			return true;
	return false;
}

bool vs_check_nic_adapter(const struct vs_usual *u, const struct vs_adapter *a,
			  const char *driver)
{
	int n, others;

	return !vs_usual_value(u, "card", a->name, &n, &others) ||
	       vs_usual_has(u, "card", a->name, driver);
}

bool vs_check_surplus(const struct vs_check_site *s, const struct vs_usual *u,
		      const struct vs_host *h, size_t a)
{
	for (int i = 0; i < h->npfs; i++) {
		struct vs_pf pf = h->pfs[i];

		if (drawn_by(s, h, &pf) ||
		    !vs_check_nic_adapter(u, &s->adapters[a], h->facts ?
					  h->facts->pfs[i].driver : ""))
			continue;
		vs_strlcpy(pf.switch_uuid, s->nets[a].switch_uuid,
			   sizeof(pf.switch_uuid));
		if (vs_pf_reaches(&s->adapters[a], &s->nets[a], &pf))
			return true;
	}
	return false;
}

/* Two adapters may draw on the same one. */
static bool told_of(const struct vs_found_list *l, const struct vs_host *h,
		    const char *pci)
{
	for (size_t i = l->n; i-- && !strcmp(l->f[i].object, h->name);)
		if (l->f[i].code == VS_CHECK_VF_INCAPABLE &&
		    !strcmp(l->f[i].pf, pci))
			return true;
	return false;
}

bool vs_check_incapable(const struct vs_check_site *s, const struct vs_usual *u,
			const struct vs_host *h, size_t a,
			struct vs_found_list *l)
{
	const struct vs_adapter *ad = &s->adapters[a];
	bool none = !vs_check_has_pf(s, h, a, ""), some = false;
	int vfs = usual_vfs(u, ad);

	for (size_t i = 0; h->facts && i < h->facts->nincapable; i++) {
		const struct vs_incapable_facts *f = &h->facts->incapable[i];
		VS_FREE char *set = NULL, *all = NULL;
		struct vs_pf pf = { .vfs = 0 };

		vs_strlcpy(pf.pci, f->pci, sizeof(pf.pci));
		vs_strlcpy(pf.pnic, f->pnic, sizeof(pf.pnic));
		vs_strlcpy(pf.switch_uuid, f->switch_uuid,
			   sizeof(pf.switch_uuid));
		if (!vs_pf_reaches(ad, &s->nets[a], &pf) ||
		    !(none ? vs_check_nic_adapter(u, ad, f->driver) :
		      f->driver[0] && vs_check_has_pf(s, h, a, f->driver)))
			continue;
		some = true;
		if (told_of(l, h, f->pci))
			continue;
		set = firmware_on(h, &pf, f->driver, 0, vfs);
		all = vs_asprintf("%s\n# as it starts: SR-IOV and IOMMU on in the host's BIOS",
				  set);
		add(l, VS_CHECK_VF_INCAPABLE, h, &pf,
		    vs_asprintf("%s has no SR-IOV capability", f->pnic),
		    vs_asprintf("SR-IOV on in firmware and BIOS (adapter %s)",
				ad->name),
		    vs_check_reboot(h, all));
	}
	return some;
}

static void off(const struct vs_check_site *s, const struct vs_usual *u,
		const struct vs_host *h, int i, struct vs_found_list *l)
{
	const struct vs_pf *pf = &h->pfs[i];
	int vfs = usual_vfs(u, drawn_by(s, h, pf));
	const struct vs_pf_facts *f = &h->facts->pfs[i];
	VS_FREE char *set = set_vfs(h, i, vfs);
	VS_FREE char *firmware = firmware_on(h, pf, f->driver, f->asked, vfs);
	VS_FREE char *all = vs_asprintf("%s\n%s", firmware, set);

	add(l, VS_CHECK_VF_OFF, h, pf, vs_strdup("SR-IOV is off"),
	    vs_asprintf("on, with %d VFs", vfs), vs_check_reboot(h, all));
}

/* mlx5's rule. Of other drivers nothing like it is known. */
static void check_num(const struct vs_host *h, int i, struct vs_found_list *l)
{
	const struct vs_pf *pf = &h->pfs[i];
	const struct vs_pf_facts *f = &h->facts->pfs[i];
	int sum = asked_of_card(h, pf);
	VS_FREE char *set = NULL;

	if (!is_nvidia(f->driver) || f->most <= 0 || sum + 1 <= f->most)
		return;
	set = mlxconfig(h, pf->pci, sum + 1);
	add(l, VS_CHECK_VF_COUNT, h, pf,
	    vs_asprintf("NUM_OF_VFS=%d, %d VFs asked of the card", f->most,
			sum),
	    vs_asprintf("NUM_OF_VFS=%d at least", sum + 1),
	    vs_check_reboot(h, set));
}

static void check_fewer(const struct vs_host *h, int i,
			struct vs_found_list *l)
{
	const struct vs_pf *pf = &h->pfs[i];
	const struct vs_pf_facts *f = &h->facts->pfs[i];
	VS_FREE char *set = NULL, *mend = NULL;

	if (pf->vfs < f->asked) {
		add(l, VS_CHECK_VF_FEWER, h, pf, vs_asprintf("%d VFs", pf->vfs),
		    vs_asprintf("%d, as asked for", f->asked),
		    vs_check_reboot(h, ""));
		return;
	}
	if (pf->vfs >= f->had)
		return;
	set = set_vfs(h, i, f->had);
	mend = vs_check_reboot(h, set);
	add(l, VS_CHECK_VF_LOST, h, pf, vs_asprintf("%d VFs", pf->vfs),
	    vs_asprintf("%d, as before", f->had),
	    vs_asprintf("%s\n# or, if it is meant to be so: svf host resume %s",
			mend, h->name));
}

static void check_vfs(const struct vs_check_site *s, const struct vs_usual *u,
		      const struct vs_host *h, int i, struct vs_found_list *l)
{
	const struct vs_pf *pf = &h->pfs[i];
	const struct vs_pf_facts *f = &h->facts->pfs[i];

	if (!f->enabled) {
		off(s, u, h, i, l);
	} else if (!pf->vfs) {
		add(l, VS_CHECK_VF_INACTIVE, h, pf,
		    vs_asprintf("%d VFs asked for, none active", f->asked),
		    vs_strdup("active"), vs_check_reboot(h, ""));
	} else {
		check_num(h, i, l);
		check_fewer(h, i, l);
	}
}

/* ---- the port, the driver -------------------------------------------------- */

static bool adapter_used(const struct vs_check_site *s, size_t a)
{
	for (size_t p = 0; p < s->nprofiles; p++)
		if (s->nodes[p] && s->profiles[p].adapter == &s->adapters[a])
			return true;
	return false;
}

/* Ethernet adapters of nodes that there are, and this PF is an uplink of. */
static bool port_serves(const struct vs_check_site *s, const struct vs_host *h,
			const struct vs_pf *pf, size_t a)
{
	return draws(s, h, pf, a) &&
	       s->adapters[a].link == VS_LINK_ETHERNET && adapter_used(s, a);
}

/* A PF is barred for all adapters: only if it can serve none of them. */
static void check_mtu(const struct vs_check_site *s, const struct vs_host *h,
		      const struct vs_pf *pf, struct vs_found_list *l)
{
	const struct vs_switch_facts *of = NULL;
	const struct vs_adapter *most = NULL;
	bool serves = false;
	struct vs_found *f;

	for (size_t a = 0; a < s->nadapters; a++) {
		const struct vs_adapter *ad = &s->adapters[a];
		const struct vs_switch_facts *sw;

		if (!port_serves(s, h, pf, a))
			continue;
		sw = vs_check_switch(h, &s->nets[a]);
		if (!ad->mtu || !sw || !sw->mtu || sw->mtu >= ad->mtu) {
			serves = true;
		} else if (!most || ad->mtu > most->mtu) {
			most = ad;
			of = sw;
		}
	}
	if (!most)
		return;
	f = add(l, VS_CHECK_MTU, h, pf,
		vs_asprintf("MTU %d on %s", of->mtu, of->name),
		vs_asprintf("%d (adapter %s)", most->mtu, most->name),
		vs_asprintf("govc dvs.change -mtu %d %s", most->mtu, of->name));
	if (serves)
		f->severity = VS_WARNING;
	else
		vs_strlcpy(f->bars, h->moid, sizeof(f->bars));
}

static void check_port(const struct vs_check_site *s, const struct vs_host *h,
		       const struct vs_pf *pf, struct vs_found_list *l)
{
	struct vs_found *f;
	bool serves = false;

	check_mtu(s, h, pf, l);
	for (size_t a = 0; a < s->nadapters && !serves; a++)
		serves = port_serves(s, h, pf, a);
	if (!serves || pf->link_up)
		return;
	f = add(l, VS_CHECK_LINK_DOWN, h, pf,
		vs_asprintf("%s has no link", pf->pnic), vs_strdup("up"),
		vs_asprintf("govc host.esxcli -host %s network nic up -n %s",
			    h->name, pf->pnic));
	vs_strlcpy(f->bars, h->moid, sizeof(f->bars));
}

static void check_versions(const struct vs_usual *u, const struct vs_host *h,
			   int i, struct vs_found_list *l)
{
	const struct vs_pf_facts *f = &h->facts->pfs[i];
	const struct vs_pf *pf = &h->pfs[i];
	VS_FREE char *update = NULL, *flash = NULL;
	const char *most;
	char kind[64];
	int n, others;

	most = vs_usual_value(u, "driver", f->driver, &n, &others);
	if (f->version[0] && most && strcmp(most, f->version)) {
		update = vs_asprintf("govc host.esxcli -host %s software vib update -d DEPOT",
				     h->name);
		add(l, VS_CHECK_DRIVER_ODD, h, pf,
		    vs_asprintf("%s %s", f->driver, f->version),
		    vs_asprintf("%s, as %d PFs have it", most, n),
		    vs_check_reboot(h, update));
	}
	most = vs_usual_value(u, "firmware", firmware_kind(f, kind), &n,
			      &others);
	if (!f->firmware[0] || !most || !strcmp(most, f->firmware))
		return;
	flash = is_nvidia(f->driver) ?
		vs_asprintf("ssh -n root@%s /opt/mellanox/bin/mlxfwmanager -y -d %s -u -i FIRMWARE.mfa",
			    h->name, pf->pci) :
		vs_asprintf("# firmware %s for %s, by its vendor's tool", most,
			    pf->pci);
	add(l, VS_CHECK_FIRMWARE_ODD, h, pf, vs_strdup(f->firmware),
	    vs_asprintf("%s, as %d PFs have it", most, n),
	    vs_check_reboot(h, flash));
}

void vs_check_pfs(const struct vs_check_site *s, const struct vs_usual *u,
		  const struct vs_host *h, struct vs_found_list *l)
{
	for (int i = 0; h->facts && i < h->npfs; i++) {
		const struct vs_pf *pf = &h->pfs[i];

		if (!drawn_by(s, h, pf))
			continue;
		check_vfs(s, u, h, i, l);
		if (pf->vfs)
			check_port(s, h, pf, l);
		check_versions(u, h, i, l);
	}
}
