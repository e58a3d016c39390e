/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The judges of a host's physical functions: VFs, link, MTU, driver, firmware.
 * The table asks them only of PFs that some adapter draws on.
 *
 * Rules: InfiniBand ports show no link and no MTU of theirs to vCenter: the
 * guest checks those.
 */
#include <stdio.h>
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

const struct vs_adapter *vs_check_drawn_by(const struct vs_check_site *s,
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
 * NICs of one kind, as far as their firmware tells: NVIDIA's versions begin
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
	char text[16];

	for (int i = 0; h->facts && i < h->npfs; i++) {
		const struct vs_pf_facts *f = &h->facts->pfs[i];
		const struct vs_adapter *a = vs_check_drawn_by(s, h, &h->pfs[i]);

		for (size_t k = 0; k < s->nadapters; k++)
			if (draws(s, h, &h->pfs[i], k))
				vs_usual_add(u, "nic", s->adapters[k].name,
					     f->driver);
		snprintf(text, sizeof(text), "%d", f->asked);
		if (a)
			vs_usual_add(u, "vfs", a->name,
				     f->asked > 0 ? text : "");
	}
}

/* ---- VFs ------------------------------------------------------------------ */

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

static bool same_nic(const char *a, const char *b)
{
	const char *dot = strchr(a, '.');

	return dot && !strncmp(a, b, (size_t)(dot - a) + 1);
}

/* Of all ports of its NIC. */
static int asked_of_nic(const struct vs_host *h, const char *pci)
{
	int sum = 0;

	for (int i = 0; i < h->npfs; i++)
		if (same_nic(pci, h->pfs[i].pci))
			sum += h->facts->pfs[i].asked;
	return sum;
}

/* On the host itself: no API of vSphere's speaks to a NIC's firmware. */
static char *mlxconfig(const struct vs_host *h, const char *pci, int num)
{
	return vs_asprintf("ssh -n root@%s /opt/mellanox/bin/mlxconfig -y -d %s set SRIOV_EN=1 NUM_OF_VFS=%d",
			   h->name, pci, num);
}

/* The firmware's part, which comes before the driver's: `vfs` more than are
 * asked of the NIC's other ports, and as many of each that is incapable. */
static char *firmware_on(const struct vs_host *h, const char *pci,
			 const char *driver, int asked, int vfs)
{
	int sum = asked_of_nic(h, pci) - asked + vfs;

	if (!is_nvidia(driver))
		return vs_asprintf("# SR-IOV on in the firmware of %s, by its vendor's tool",
				   pci);
	for (size_t i = 0; i < h->facts->nincapable; i++)
		if (strcmp(pci, h->facts->incapable[i].pci) &&
		    same_nic(pci, h->facts->incapable[i].pci))
			sum += vfs;
	return mlxconfig(h, pci, sum + 1);
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

/* A NIC of a kind by which this adapter's VMs get to its network on other
 * hosts; where none is known, any. */
static bool is_usual_nic(const struct vs_usual *u, const struct vs_adapter *a,
			  const char *driver)
{
	int n, others;

	return !vs_usual_value(u, "nic", a->name, &n, &others) ||
	       vs_usual_has(u, "nic", a->name, driver);
}

bool vs_check_would_reach(const struct vs_check_site *s, size_t a,
			  const struct vs_pf *pf)
{
	struct vs_pf moved = *pf;

	vs_strlcpy(moved.switch_uuid, s->nets[a].switch_uuid,
		   sizeof(moved.switch_uuid));
	return vs_pf_reaches(&s->adapters[a], &s->nets[a], &moved);
}

bool vs_check_surplus(const struct vs_check_site *s, const struct vs_usual *u,
		      const struct vs_host *h, size_t a)
{
	for (int i = 0; i < h->npfs; i++)
		if (!vs_check_drawn_by(s, h, &h->pfs[i]) &&
		    is_usual_nic(u, &s->adapters[a], h->facts ?
				  h->facts->pfs[i].driver : "") &&
		    vs_check_would_reach(s, a, &h->pfs[i]))
			return true;
	return false;
}

bool vs_check_incapable(const struct vs_check_site *s, const struct vs_usual *u,
			const struct vs_host *h, size_t a,
			const struct vs_incapable_facts *f)
{
	const struct vs_adapter *ad = &s->adapters[a];
	struct vs_pf pf = { .vfs = 0 };

	vs_strlcpy(pf.pci, f->pci, sizeof(pf.pci));
	vs_strlcpy(pf.pnic, f->pnic, sizeof(pf.pnic));
	vs_strlcpy(pf.switch_uuid, f->switch_uuid, sizeof(pf.switch_uuid));
	if (!vs_pf_reaches(ad, &s->nets[a], &pf))
		return false;
	return vs_check_has_pf(s, h, a, "") ?
		f->driver[0] && vs_check_has_pf(s, h, a, f->driver) :
		is_usual_nic(u, ad, f->driver);
}

/* Two adapters may draw on the same one: the first is named. */
bool vs_judge_vf_incapable(struct vs_subject *k)
{
	const struct vs_check_site *s = k->site;
	const struct vs_incapable_facts *f =
		&k->host->facts->incapable[k->i];

	for (size_t a = 0; a < s->nadapters; a++) {
		VS_FREE char *firmware = NULL;

		if (!vs_check_wants_uplink(s, k->host, a) ||
		    !vs_check_incapable(s, k->usual, k->host, a, f))
			continue;
		firmware = firmware_on(k->host, f->pci, f->driver, 0,
				       usual_vfs(k->usual, &s->adapters[a]));
		return vs_check_find(k, "%s has no SR-IOV capability"
			SHOULD "SR-IOV on in firmware and BIOS (adapter %s)"
			FIX REBOOT("%s\n# as it starts: SR-IOV and IOMMU on in the host's BIOS\n"),
			f->pnic, s->adapters[a].name, firmware);
	}
	return false;
}

static const struct vs_pf *pf_of(const struct vs_subject *k)
{
	return &k->host->pfs[k->i];
}

static const struct vs_pf_facts *facts_of(const struct vs_subject *k)
{
	return &k->host->facts->pfs[k->i];
}

bool vs_judge_vf_off(struct vs_subject *k)
{
	const struct vs_pf_facts *f = facts_of(k);
	int vfs = usual_vfs(k->usual, vs_check_drawn_by(k->site, k->host,
							pf_of(k)));
	VS_FREE char *firmware = NULL, *driver = NULL;

	if (f->enabled)
		return false;
	firmware = firmware_on(k->host, pf_of(k)->pci, f->driver, f->asked,
			       vfs);
	driver = set_vfs(k->host, (int)k->i, vfs);
	return vs_check_find(k, "SR-IOV is off" SHOULD "on, with %d VFs"
		FIX REBOOT("%s\n%s\n"), vfs, firmware, driver);
}

bool vs_judge_vf_inactive(struct vs_subject *k)
{
	return !pf_of(k)->vfs && vs_check_find(k,
		"%d VFs asked for, none active" SHOULD "active" FIX REBOOT(""),
		facts_of(k)->asked);
}

/* mlx5's rule. Of other drivers nothing like it is known. */
bool vs_judge_vf_count(struct vs_subject *k)
{
	const struct vs_pf_facts *f = facts_of(k);
	int sum = asked_of_nic(k->host, pf_of(k)->pci);
	VS_FREE char *set = mlxconfig(k->host, pf_of(k)->pci, sum + 1);

	return f->enabled && pf_of(k)->vfs && is_nvidia(f->driver) &&
		f->most > 0 && sum + 1 > f->most &&
		vs_check_find(k, "NUM_OF_VFS=%d, %d VFs asked of the NIC"
			SHOULD "NUM_OF_VFS=%d at least" FIX REBOOT("%s\n"),
			f->most, sum, sum + 1, set);
}

bool vs_judge_vf_fewer(struct vs_subject *k)
{
	int vfs = pf_of(k)->vfs, asked = facts_of(k)->asked;

	return vfs < asked && vs_check_find(k, "%d VFs"
		SHOULD "%d, as asked for" FIX REBOOT(""), vfs, asked);
}

bool vs_judge_vf_lost(struct vs_subject *k)
{
	int vfs = pf_of(k)->vfs, had = facts_of(k)->had;
	VS_FREE char *set = set_vfs(k->host, (int)k->i, had);

	return vfs < had && vs_check_find(k, "%d VFs" SHOULD "%d, as before"
		FIX REBOOT("%s\n")
		"\n# or, if the change is intended: svf host resume {}",
		vfs, had, set);
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
bool vs_judge_pf_mtu(struct vs_subject *k)
{
	const struct vs_check_site *s = k->site;
	const struct vs_switch_facts *of = NULL;
	const struct vs_adapter *most = NULL;
	bool serves = false;
	struct vs_found *f;

	for (size_t a = 0; pf_of(k)->vfs && a < s->nadapters; a++) {
		const struct vs_adapter *ad = &s->adapters[a];
		const struct vs_switch_facts *sw;

		if (!port_serves(s, k->host, pf_of(k), a))
			continue;
		sw = vs_check_switch(k->host, &s->nets[a]);
		if (!ad->mtu || !sw || !sw->mtu || sw->mtu >= ad->mtu) {
			serves = true;
		} else if (!most || ad->mtu > most->mtu) {
			most = ad;
			of = sw;
		}
	}
	if (!most)
		return false;
	f = vs_check_find(k, SMALL_MTU, of->mtu, of->name, most->mtu, most->name,
			  most->mtu, of->name);
	if (serves)
		f->severity = VS_WARNING;
	else
		vs_strlcpy(f->bars, k->host->moid, sizeof(f->bars));
	return true;
}

bool vs_judge_link(struct vs_subject *k)
{
	const struct vs_pf *pf = pf_of(k);
	bool serves = false;
	struct vs_found *f;

	for (size_t a = 0; a < k->site->nadapters && !serves; a++)
		serves = port_serves(k->site, k->host, pf, a);
	if (!serves || !pf->vfs || pf->link_up)
		return false;
	f = vs_check_find(k, "%s has no link" SHOULD "up"
			  FIX ESXCLI "network nic up -n %s", pf->pnic, pf->pnic);
	vs_strlcpy(f->bars, k->host->moid, sizeof(f->bars));
	return true;
}

bool vs_judge_driver(struct vs_subject *k)
{
	const struct vs_pf_facts *f = facts_of(k);

	return vs_check_odd(k, f->driver, f->version) &&
		vs_check_find(k, "%s %s" SHOULD "%s, as %d PFs have it"
			FIX REBOOT(ESXCLI "software vib update -d DEPOT\n"),
			f->driver, f->version, k->most, k->nmost);
}

bool vs_judge_firmware(struct vs_subject *k)
{
	const struct vs_pf_facts *f = facts_of(k);
	VS_FREE char *flash = NULL;
	char kind[64];

	if (!vs_check_odd(k, firmware_kind(f, kind), f->firmware))
		return false;
	flash = is_nvidia(f->driver) ?
		vs_asprintf("ssh -n root@%s /opt/mellanox/bin/mlxfwmanager -y -d %s -u -i FIRMWARE.mfa",
			    k->host->name, pf_of(k)->pci) :
		vs_asprintf("# firmware %s for %s, by its vendor's tool",
			    k->most, pf_of(k)->pci);
	return vs_check_find(k, "%s" SHOULD "%s, as %d PFs have it"
		FIX REBOOT("%s\n"), f->firmware, k->most, k->nmost, flash);
}
