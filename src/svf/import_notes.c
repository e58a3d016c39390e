/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a cluster file says and vsphere.conf doesn't have: a note for each key,
 * with what to do instead. Passwords are not among what is said.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "import.h"
#include "util/hostlist.h"
#include "util/mem.h"

#define VALUES_MAX 200		/* bytes of them in a note */

/* What to do about a key that vsphere.conf doesn't have. */
static const struct { enum svf_key key; const char *todo; } notes[] = {
	{ SVF_K_HOST, "VMs go to whichever host of the cluster has room, as Placement says; svf host drain keeps one out" },
	{ SVF_K_PORT_GROUP, "the first card is the template's own and is not changed: attach the template's to this port group" },
	{ SVF_K_INSTANT, "no instant clone has a VF: VMs are full clones; Retention=warm keeps them on for the next job" },
	{ SVF_K_POWER, "Slurm's power saving decides what is on" },
	{ SVF_K_DEVICE, "an AdapterName line with Type=directpath and Address= gives this very device, one with Type=dynamic-directpath, Vendor= and Device= one of its kind; With= of the card's line puts it beside the card" },
	{ SVF_K_VGPU, "a vGPU is an adapter of its own: AdapterName=vgpu Type=vgpu with this Profile=, alone as the partition's Adapter=, or With=vgpu in the card's line" },
	{ SVF_K_MMIO, "MMIO= on the AdapterName line of the device" },
	{ SVF_K_ADAPTER_NUMBER, "a node's cards are found by their MAC addresses" },
	{ SVF_K_DVS_NAME, "the switch is found by its port group" },
	{ SVF_K_DHCP, "the first card is configured as in the template, unless its PartitionName line has Addresses=" },
	{ SVF_K_IP, "Addresses=FIRST-LAST/BITS on the PartitionName line gives the node with number 1 the first, and so on; without it the template or DHCP gives them" },
	{ SVF_K_NETMASK, "it is the /BITS of Addresses=" },
	{ SVF_K_GATEWAY, "Gateway= on the PartitionName line, with Addresses=" },
	{ SVF_K_DNS, "DNS= on the PartitionName line, with Addresses=" },
	{ SVF_K_DOMAIN, "DNSSearch= on the PartitionName line, with Addresses=" },
	{ SVF_K_HOSTNAME, "a guest's host name is its node's name" },
	{ SVF_K_USERNAME, "nobody logs in to guests: what scripts did belongs to the template" },
	{ SVF_K_PASSWORD, "nobody logs in to guests, and no password is needed" },
	{ SVF_K_SCRIPT, "put what it does into the template, or into slurm.conf's Prolog" },
	{ SVF_K_BARRIER, "nodes come up side by side; a job begins when all of its own are up" },
	{ SVF_K_SEQUENCE, "nodes come up side by side, and no script waits for another VM's: what must come first belongs to the template, the rest to slurm.conf's Prolog" },
	{ SVF_K_CORES, "CPUs= must be a multiple; slurm.conf's NodeName may say Sockets= and CoresPerSocket=" },
	{ SVF_K_GUEST_MTU, "cards allow it where the AdapterName line has MTU=, and not elsewhere" },
	{ SVF_K_SRIOV_DVS, "the switch is found by its port group" },
	{ SVF_K_SVS_NAME, "the switch is found by its port group, and must be a distributed one" },
};

/* Keys that become vsphere.conf's: a ${...} in them is yours to fill in. */
#define PUT_IN "CHANGE-ME is in its place: put in yours"
#define LEFT_OUT "it is left out: put in yours"
static const struct { enum svf_key key; const char *todo; } filled[] = {
	{ SVF_K_TEMPLATE, PUT_IN }, { SVF_K_DATACENTER, PUT_IN },
	{ SVF_K_VM_FOLDER, PUT_IN },
	{ SVF_K_CLUSTER, PUT_IN ", each on a line of its own" },
	{ SVF_K_RESOURCE_POOL, PUT_IN },
	{ SVF_K_DATASTORE, PUT_IN ", several with commas" },
	{ SVF_K_SRIOV, PUT_IN }, { SVF_K_PVRDMA, PUT_IN },
	{ SVF_K_PORT_GROUP, PUT_IN }, { SVF_K_CPU, LEFT_OUT },
	{ SVF_K_MEMORY, LEFT_OUT }, { SVF_K_PF, LEFT_OUT },
	{ SVF_K_LATENCY, LEFT_OUT }, { SVF_K_CPU_RESERVATION, LEFT_OUT },
	{ SVF_K_MEMORY_RESERVATION, LEFT_OUT }, { SVF_K_CPU_SHARES, LEFT_OUT },
	{ SVF_K_MEMORY_SHARES, LEFT_OUT }, { SVF_K_CORES, LEFT_OUT },
	{ SVF_K_SECURE_BOOT, LEFT_OUT }, { SVF_K_LINKED, LEFT_OUT },
};

/* ---- switches --------------------------------------------------------------------- */

const char *svf_import_mtu(const struct svf_cluster *im,
			   const struct svf_imported *vm, enum svf_key card)
{
	VS_FREE char *group = svf_line(vm->values[card], 0);
	VS_FREE char *sriov = card == SVF_K_SRIOV ?
		svf_line(vm->values[SVF_K_SRIOV_DVS], 0) : NULL;
	const char *named = card == SVF_K_SRIOV ? sriov :
		vm->values[SVF_K_DVS_NAME] ? vm->values[SVF_K_DVS_NAME] :
		vm->values[SVF_K_SVS_NAME];

	for (size_t i = 0; i < im->nswitches; i++) {
		const struct svf_imported *s = &im->switches[i];
		const char *of = s->values[SVF_K_PORT_GROUP];
		const char *name = s->values[SVF_K_NAME] ?
			s->values[SVF_K_NAME] : s->name;

		if (named ? !strcmp(name, named) :
		    group && of && !strcmp(of, group))
			return s->values[SVF_K_MTU];
	}
	return NULL;
}

/* ---- notes ------------------------------------------------------------------------ */

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

typedef bool says_fn(const struct svf_imported *vm, enum svf_key k);

/* A ${...} that would stand in vsphere.conf. */
static bool says_variable(const struct svf_imported *vm, enum svf_key k)
{
	if (k == SVF_K_PORT_GROUP && (vm->values[SVF_K_SRIOV] ||
				      vm->values[SVF_K_PVRDMA]))
		return false;
	return vm->values[k] && svf_variable(vm->values[k]);
}

/* Said, and not what is so anyway. */
static bool says_more(const struct svf_imported *vm, enum svf_key k)
{
	const char *v = vm->values[k];

	if (!v)
		return false;
	if (k == SVF_K_PORT_GROUP)	/* it may be the jobs' card */
		return vm->values[SVF_K_SRIOV] || vm->values[SVF_K_PVRDMA];
	if (k == SVF_K_INSTANT && !svf_variable(v) &&
	    !vm->values[SVF_K_SRIOV] && !vm->values[SVF_K_PVRDMA])
		return false;		/* Clone=instant */
	if (k == SVF_K_INSTANT ||
	    k == SVF_K_GUEST_MTU)
		return svf_import_yes(v);
	if (k == SVF_K_CORES)		/* a variable is told of as such */
		return !svf_variable(v);
	return true;
}

/* A key's values, each once, and whose they are if not all VMs'. */
static void note(struct vs_buf *b, const struct svf_cluster *im, enum svf_key k,
		 const char *todo, says_fn *says)
{
	VS_FREE const char **texts = vs_calloc(im->nvms + 1, sizeof(*texts));
	VS_FREE const char **names = vs_calloc(im->nvms + 1, sizeof(*names));
	VS_FREE char *vms = NULL, *lists = NULL, *list = NULL;
	size_t n = 0, distinct = 0;

	for (size_t i = 0; i < im->nvms; i++) {
		if (!says(&im->vms[i], k))
			continue;
		names[n] = im->vms[i].name;
		texts[n++] = im->vms[i].values[k];
	}
	vms = vs_hostlist_compress(names, n);
	qsort(texts, n, sizeof(*texts), by_text);
	for (size_t i = 0; i < n; i++)
		if (!i || strcmp(texts[i - 1], texts[i]))
			texts[distinct++] = texts[i];
	lists = vs_hostlist_compress(texts, distinct);
	if (distinct > 1 && strlen(lists) > VALUES_MAX) {
		free(lists);
		lists = vs_asprintf("%.*s and %zu more", VALUES_MAX, texts[0],
				    distinct - 1);
	}
	list = svf_commas(lists);
	if (n)
		vs_buf_printf(b, "# note: %s%s%s%s%s%s: %s\n",
			      svf_key_name(k), k == SVF_K_PASSWORD ? "" : " ",
			      k == SVF_K_PASSWORD ? "" : list,
			      n < im->nvms ? " (" : "", n < im->nvms ? vms : "",
			      n < im->nvms ? ")" : "", todo);
}

void svf_import_notes(struct vs_buf *b, const struct svf_cluster *im)
{
	vs_buf_printf(b, "\n");
	for (size_t i = 0; i < VS_COUNT(filled); i++)
		note(b, im, filled[i].key, filled[i].todo, says_variable);
	for (size_t i = 0; i < VS_COUNT(notes); i++)
		note(b, im, notes[i].key, notes[i].todo, says_more);
	for (size_t i = 0; i < im->nvms; i++)
		if (strchr(im->vms[i].name, '_')) {
			vs_buf_printf(b, "# note: %s: a name with _ is no host name for DNS; slurm.conf's NodeName may be another\n",
				      im->vms[i].name);
			break;
		}
	for (size_t i = 0; i < im->nswitches; i++) {
		const char *mtu = im->switches[i].values[SVF_K_MTU];

		vs_buf_printf(b,
			      "# note: switch %s: make it yourself, as a distributed one, with these hosts' uplinks%s%s; adapters are found by it\n",
			      im->switches[i].name, mtu ? " and MTU " : "",
			      mtu ? mtu : "");
	}
}
