/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The VMs of a cluster file as vsphere.conf: partitions of VMs that are alike,
 * adapters by their port groups, nodes for slurm.conf, and a note for each key
 * that has no counterpart.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "import.h"
#include "util/buf.h"
#include "util/hostlist.h"
#include "util/mem.h"
#include "util/name.h"

#define NETWORK_UNKNOWN "CHANGE-ME"

struct partition {
	char *name;
	const struct svf_imported *first;
	size_t adapter;
	char *nodes;			/* as Slurm lists them */
};
struct adapter { char *name; const struct svf_imported *first; };
struct out {
	struct vs_buf b;
	struct partition *parts;
	size_t nparts, cap_parts;
	struct adapter *adapters;
	size_t nadapters, cap_adapters;
};

/* ---- of one VM -------------------------------------------------------------------- */

static const char *value(const struct svf_imported *vm, enum svf_key k)
{
	return vm->values[k] ? vm->values[k] : "";
}

static bool same(const struct svf_imported *a, const struct svf_imported *b,
		 enum svf_key k)
{
	return !strcmp(value(a, k), value(b, k));
}

/* The card that jobs use: its port group's key. */
static enum svf_key card_of(const struct svf_imported *vm)
{
	return vm->values[SVF_K_SRIOV] ? SVF_K_SRIOV :
		vm->values[SVF_K_PVRDMA] ? SVF_K_PVRDMA : SVF_K_PORT_GROUP;
}

static long megabytes(const struct svf_imported *vm)
{
	double gb = strtod(value(vm, SVF_K_MEMORY), NULL);

	return (long)(gb * 1024 + 3) / 4 * 4;
}

/* Said, and no ${...}: for keys that are left out then. */
static bool given(const struct svf_imported *vm, enum svf_key k)
{
	return vm->values[k] && !svf_variable(vm->values[k]);
}

/* Values with blanks in quotes, as Slurm's parser needs them. */
static void pair(struct out *o, const char *before, const char *key,
		 const char *v)
{
	VS_FREE char *filled = svf_filled(v);

	vs_buf_printf(&o->b, strchr(filled, ' ') ? "%s%s=\"%s\"" : "%s%s=%s",
		      before, key, filled);
}

/* ---- what is alike ---------------------------------------------------------------- */

/* The first VM that says something of this; NULL: none does. */
static const struct svf_imported *first_with(const struct svf_cluster *im,
					     enum svf_key k)
{
	for (size_t i = 0; i < im->nvms; i++)
		if (im->vms[i].values[k])
			return &im->vms[i];
	return NULL;
}

static size_t adapter_of(struct out *o, const struct svf_imported *vm)
{
	static const struct { enum svf_key k; const char *name; } kinds[] = {
		{ SVF_K_SRIOV, "sriov" }, { SVF_K_PVRDMA, "pvrdma" },
		{ SVF_K_PORT_GROUP, "vmxnet3" } };
	enum svf_key card = card_of(vm);
	struct adapter *a;
	size_t i, nth = 1, kind = 0;

	for (i = 0; i < o->nadapters; i++) {
		const struct svf_imported *of = o->adapters[i].first;

		if (card_of(of) != card)
			continue;
		if (same(of, vm, card) && (card != SVF_K_SRIOV ||
					   same(of, vm, SVF_K_PF)))
			return i;
		nth++;
	}
	while (kinds[kind].k != card)
		kind++;
	VS_GROW(o->adapters, o->cap_adapters, o->nadapters + 1);
	a = &o->adapters[o->nadapters++];
	a->first = vm;
	a->name = nth == 1 ? vs_strdup(kinds[kind].name) :
		vs_asprintf("%s%zu", kinds[kind].name, nth);
	return i;
}

/* "tp-vm12" is of "tp-vm"; one that is taken gets a number. */
static char *partition_name(const struct out *o, const char *vm)
{
	size_t len = strlen(vm);
	char *name;

	while (len > 1 && strchr("0123456789-_.", vm[len - 1]))
		len--;
	name = vs_asprintf("%.*s", (int)len, vm);
	for (size_t nth = 2, i = 0; i < o->nparts; i++)
		if (!strcmp(o->parts[i].name, name)) {
			free(name);
			name = vs_asprintf("%.*s-%zu", (int)len, vm, nth++);
			i = (size_t)-1;
		}
	return name;
}

static size_t partition_of(struct out *o,
			   const struct svf_imported *vm)
{
	static const enum svf_key alike[] = { SVF_K_TEMPLATE, SVF_K_CPU,
		SVF_K_MEMORY, SVF_K_LATENCY };
	size_t adapter = adapter_of(o, vm), k;
	struct partition *p;

	for (size_t i = 0; i < o->nparts; i++) {
		p = &o->parts[i];
		for (k = 0; k < VS_COUNT(alike); k++)
			if (!same(p->first, vm, alike[k]))
				break;
		if (k == VS_COUNT(alike) && p->adapter == adapter &&
		    svf_import_hardware_same(p->first, vm))
			return i;
	}
	VS_GROW(o->parts, o->cap_parts, o->nparts + 1);
	p = &o->parts[o->nparts];
	*p = (struct partition){ .first = vm, .adapter = adapter,
				 .name = partition_name(o, vm->name) };
	return o->nparts++;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* ---- what can't be --------------------------------------------------------------- */

static int refuse(struct vs_err *err, struct svf_pos at, const char *fmt,
		  const char *a, const char *b)
{
	char text[256];

	snprintf(text, sizeof(text), fmt, a, b);
	return vs_err_set(err, VS_E_CONFIG, "line %d column %d: %s", at.line,
			  at.col, text);
}

/* The toolkit wants a pf for each sriov_port_group; no pf at all will do here. */
static int cards_check(const struct svf_imported *vm, struct vs_err *err)
{
	const char *pfs = vm->values[SVF_K_PF];
	size_t n = svf_lines(pfs), cards = svf_lines(vm->values[SVF_K_SRIOV]);
	char pci[VS_PCI_LEN];
	struct vs_err why;

	for (size_t i = 0; i < n; i++) {
		VS_FREE char *pf = svf_line(pfs, i);

		if (!svf_variable(pf) && vs_pci_parse(pf, pci, &why))
			return refuse(err, vm->at[SVF_K_PF], "%.150s%s",
				      why.text, "");
	}
	if (n && cards && n != cards)
		return vs_err_set(err, VS_E_CONFIG,
			"line %d column %d: %zu pf for %zu sriov_port_group: each is a card of its own, give one of both for each",
			vm->at[SVF_K_PF].line, vm->at[SVF_K_PF].col, n, cards);
	return 0;
}

static int vm_check(const struct svf_cluster *im, const struct svf_imported *vm,
		    struct vs_err *err)
{
	const struct svf_imported *dc = first_with(im, SVF_K_DATACENTER);
	enum svf_key k = SVF_K_DATACENTER;

	if (!vs_node_name_valid(vm->name))
		return vs_err_set(err, VS_E_CONFIG,
				  "%.80s can't be the name of a node", vm->name);
	for (int i = 0; i < SVF_KEYS; i++)
		if (vm->values[i] && strpbrk(vm->values[i], "\"#") &&
		    i <= SVF_K_LATENCY)
			return refuse(err, vm->at[i],
				      "a name with \" or # can't stand in vsphere.conf: %.60s%s",
				      vm->values[i], "");
	if (dc && vm->values[k] && !same(dc, vm, k))
		return refuse(err, vm->at[k],
			      "datacenter %.60s, but %.60s before: a vsphere.conf serves one datacenter, make a file of each",
			      vm->values[k], dc->values[k]);
	if (cards_check(vm, err) || svf_import_hardware_check(vm, err))
		return -1;
	k = SVF_K_LATENCY;
	if (given(vm, k) && strcasecmp(vm->values[k], "high") &&
	    strcasecmp(vm->values[k], "normal"))
		return refuse(err, vm->at[k],
			      "latency is high or normal, not %.60s%s",
			      vm->values[k], "");
	return 0;
}

static int vms_check(const struct svf_cluster *im, struct vs_err *err)
{
	VS_FREE const char **names = vs_calloc(im->nvms + 1, sizeof(*names));

	for (size_t i = 0; i < im->nvms; i++) {
		names[i] = im->vms[i].name;
		if (vm_check(im, &im->vms[i], err))
			return -1;
	}
	qsort(names, im->nvms, sizeof(*names), by_text);
	for (size_t i = 0; i + 1 < im->nvms; i++)
		if (!strcmp(names[i], names[i + 1]))
			return vs_err_set(err, VS_E_CONFIG,
					  "VM %.80s is there twice", names[i]);
	return 0;
}

/* ---- the text --------------------------------------------------------------------- */

/* One value for all; of others a note. */
static void top_key(struct out *o, const struct svf_cluster *im, enum svf_key k,
		    const char *key, const char *dflt)
{
	const struct svf_imported *first = first_with(im, k);

	if (!first)
		vs_buf_printf(&o->b, "# note: no %s is given: put in yours\n",
			      svf_key_name(k));
	for (size_t i = 0; first && i < im->nvms; i++)
		if (im->vms[i].values[k] && !same(first, &im->vms[i], k)) {
			vs_buf_printf(&o->b,
				      "# note: %s %s (%s, maybe others): all VMs share one\n",
				      svf_key_name(k), im->vms[i].values[k],
				      im->vms[i].name);
			break;
		}
	pair(o, "", key, first ? first->values[k] : dflt);
	vs_buf_printf(&o->b, "\n");
}

/* All there are, each once: a VM gets one that its host sees. */
static void datastores(struct out *o, const struct svf_cluster *im)
{
	struct vs_buf list = VS_BUF_INIT(65536);
	enum svf_key s = SVF_K_DATASTORE;
	bool filled = false;	/* one CHANGE-ME will do */

	for (size_t i = 0; i < im->nvms; i++) {
		const struct svf_imported *vm = &im->vms[i];
		size_t k = 0;

		while (k < i && !(im->vms[k].values[s] && vm->values[s] &&
				  same(&im->vms[k], vm, s)))
			k++;
		if (vm->values[s] && k == i && !(filled && !given(vm, s)))
			vs_buf_printf(&list, "%s%s", list.len ? "," : "",
				      vm->values[s]);
		filled = filled || (vm->values[s] && !given(vm, s));
	}
	if (!list.len)
		vs_buf_printf(&o->b, "# note: no datastore is given: put in yours\n");
	pair(o, "", "Datastore", list.len ? list.data : "CHANGE-ME");
	vs_buf_printf(&o->b, "\n");
	vs_buf_free(&list);
}

/* A line for each cluster, with the pool of its first VM. */
static void clusters(struct out *o, const struct svf_cluster *im)
{
	enum svf_key c = SVF_K_CLUSTER, pool = SVF_K_RESOURCE_POOL;
	bool filled = false;	/* one CHANGE-ME will do */

	if (!first_with(im, c))
		vs_buf_printf(&o->b, "# note: no cluster is given: put in yours\n"
			      "ClusterName=CHANGE-ME\n");
	for (size_t i = 0; i < im->nvms; i++) {
		const struct svf_imported *vm = &im->vms[i];
		size_t k = 0;

		while (k < i && !(im->vms[k].values[c] && vm->values[c] &&
				  same(&im->vms[k], vm, c)))
			k++;
		if (!vm->values[c] || k < i || (filled && !given(vm, c)))
			continue;
		filled = filled || !given(vm, c);
		pair(o, "", "ClusterName", vm->values[c]);
		if (vm->values[pool])
			pair(o, " ", "ResourcePool", vm->values[pool]);
		vs_buf_printf(&o->b, "\n");
	}
}

/* Several cards are rails of one port group, on PFs of its uplinks. */
static void rails_note(struct out *o, const struct svf_imported *vm)
{
	VS_FREE char *groups = svf_commas(vm->values[SVF_K_SRIOV]);
	VS_FREE char *pfs = svf_commas(vm->values[SVF_K_PF]);
	VS_FREE char *first = svf_line(vm->values[SVF_K_SRIOV], 0);
	size_t n = svf_lines(vm->values[SVF_K_SRIOV]);

	if (n > 1)
		vs_buf_printf(&o->b,
			      "# note: sriov_port_group %s with pf %s: PerNode=%zu cards are all of one port group, here %s: on each host, give its switch these PFs as uplinks\n",
			      groups, *pfs ? pfs : "(none)", n, first);
}

/* PF= where it is one; of several PFs each card has its own, by Rails=. */
static void cards_of(struct out *o, const struct svf_imported *vm, size_t n)
{
	const char *pfs = card_of(vm) == SVF_K_SRIOV && given(vm, SVF_K_PF) ?
		vm->values[SVF_K_PF] : NULL;
	VS_FREE char *first = svf_line(pfs, 0);
	size_t alike = 0, again = 0;

	for (size_t i = 0; i < svf_lines(pfs); i++) {
		VS_FREE char *pf = svf_line(pfs, i);

		alike += !strcmp(pf, first);
		for (size_t k = 0; k < i; k++) {
			VS_FREE char *before = svf_line(pfs, k);

			again += !strcmp(pf, before);
		}
	}
	if (n > 1)
		vs_buf_printf(&o->b, " PerNode=%zu%s", n,
			      again ? " Rails=any" : "");
	if (pfs && alike == svf_lines(pfs))
		pair(o, " ", "PF", first);
}

static void adapters(struct out *o, const struct svf_cluster *im)
{
	for (size_t i = 0; i < o->nadapters; i++) {
		const struct svf_imported *vm = o->adapters[i].first;
		enum svf_key card = card_of(vm);
		VS_FREE char *network = svf_line(vm->values[card], 0);
		const char *mtu = svf_import_mtu(im, vm, card);

		if (card == SVF_K_SRIOV)
			rails_note(o, vm);
		if (!vm->values[card])
			vs_buf_printf(&o->b,
				      "# note: no port group is given: each node has one card beside the template's own, put in its network\n");
		vs_buf_printf(&o->b, "AdapterName=%s Type=%s", o->adapters[i].name,
			      card == SVF_K_SRIOV ? "sriov" :
			      card == SVF_K_PVRDMA ? "pvrdma" : "vmxnet3");
		pair(o, " ", "Network", network ? network : NETWORK_UNKNOWN);
		cards_of(o, vm, svf_lines(vm->values[card]));
		if (mtu && !svf_variable(mtu))
			pair(o, " ", "MTU", mtu);
		vs_buf_printf(&o->b, "\n");
	}
}

static void partitions(struct out *o)
{
	for (size_t i = 0; i < o->nparts; i++) {
		const struct partition *p = &o->parts[i];
		const struct svf_imported *vm = p->first;
		VS_FREE char *hw = svf_import_hardware(vm);

		if (!vm->values[SVF_K_TEMPLATE])
			vs_buf_printf(&o->b, "# note: no template is given: put in yours\n");
		pair(o, "", "PartitionName", p->name);
		pair(o, " ", "Adapter", o->adapters[p->adapter].name);
		pair(o, " ", "Template", vm->values[SVF_K_TEMPLATE] ?
		     vm->values[SVF_K_TEMPLATE] : "CHANGE-ME");
		if (given(vm, SVF_K_CPU))
			pair(o, " ", "CPUs", vm->values[SVF_K_CPU]);
		if (given(vm, SVF_K_MEMORY))
			vs_buf_printf(&o->b, " Memory=%ld", megabytes(vm));
		if (!strcasecmp(value(vm, SVF_K_LATENCY), "high"))
			pair(o, " ", "LatencySensitivity", "high");
		vs_buf_printf(&o->b, "%s\n", hw);
	}
}

/* RealMemory is what the guest's kernel leaves: of M = R + 256 + R/32. */
static void slurm_lines(struct out *o)
{
	vs_buf_printf(&o->b, "\n# For slurm.conf:\n");
	for (size_t i = 0; i < o->nparts; i++) {
		const struct partition *p = &o->parts[i];
		const struct svf_imported *vm = p->first;
		long mb = (megabytes(vm) - 256) * 32 / 33;

		bool cpu = given(vm, SVF_K_CPU), mem = given(vm, SVF_K_MEMORY);

		if (!cpu || !mem)
			vs_buf_printf(&o->b,
				      "# note: no %s given for %s: put in what the template has\n",
				      cpu ? "memory is" : mem ? "cpu is" :
				      "cpu and memory are", p->nodes);
		vs_buf_printf(&o->b, "#NodeName=%s CPUs=%s ", p->nodes,
			      cpu ? vm->values[SVF_K_CPU] : "CHANGE-ME");
		if (mem)
			vs_buf_printf(&o->b, "RealMemory=%ld ", mb > 1 ? mb : 1);
		else
			vs_buf_printf(&o->b, "RealMemory=CHANGE-ME ");
		vs_buf_printf(&o->b, "Features=%s State=CLOUD\n"
			      "#PartitionName=%s Nodes=%s%s\n",
			      o->adapters[p->adapter].name, p->name,
			      p->nodes, i ? "" : " Default=YES");
	}
}

/* Which partition each VM is of, and its nodes as Slurm lists them. */
static void sort_out(struct out *o, const struct svf_cluster *im)
{
	VS_FREE size_t *part = vs_calloc(im->nvms + 1, sizeof(*part));
	VS_FREE const char **names = vs_calloc(im->nvms + 1, sizeof(*names));

	for (size_t i = 0; i < im->nvms; i++)
		part[i] = partition_of(o, &im->vms[i]);
	for (size_t p = 0; p < o->nparts; p++) {
		size_t n = 0;

		for (size_t i = 0; i < im->nvms; i++)
			if (part[i] == p)
				names[n++] = im->vms[i].name;
		o->parts[p].nodes = vs_hostlist_compress(names, n);
	}
}

static void out_free(struct out *o)
{
	for (size_t i = 0; i < o->nparts; i++) {
		free(o->parts[i].name);
		free(o->parts[i].nodes);
	}
	for (size_t i = 0; i < o->nadapters; i++)
		free(o->adapters[i].name);
	free(o->parts);
	free(o->adapters);
	vs_buf_free(&o->b);
}

int svf_import_conf(const struct svf_cluster *im, char **conf,
		    struct vs_err *err)
{
	struct out o = { .b = VS_BUF_INIT(SVF_IMPORT_CONF_MAX) };

	if (vms_check(im, err))
		return -1;
	sort_out(&o, im);
	vs_buf_printf(&o.b, "# From a cluster file of vHPC-toolkit, by svf import.\n"
		      "# note: vCenter and the account are not in a cluster file: put in yours\n"
		      "VCenter=https://vcenter.example.org\n"
		      "Username=slurm@vsphere.local\n"
		      "PasswordFile=/etc/slurm/vcenter.password\n");
	top_key(&o, im, SVF_K_DATACENTER, "Datacenter", "CHANGE-ME");
	top_key(&o, im, SVF_K_VM_FOLDER, "Folder", "slurm");
	datastores(&o, im);
	clusters(&o, im);
	adapters(&o, im);
	partitions(&o);
	slurm_lines(&o);
	svf_import_notes(&o.b, im);
	*conf = vs_strdup(o.b.data);
	out_free(&o);
	return 0;
}
