/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Slurm's nodes and vsphere.conf's lines brought together: which node is
 * managed, with which adapter and size. A node must be unambiguous: exactly one
 * adapter among its Features, the one of every line that speaks for it.
 *
 * Under slurmctld's NODE and PART locks; keeps no pointer into Slurm's tables.
 */
#include "plugins/slurm/compat.h"
#include <uthash.h>
#include "util/mem.h"
#include "util/name.h"
#include "util/ipv4.h"
#include "conf_i.h"
#include "load.h"

#define MEMORY_MIN_MB 512

static bool has_feature(const char *features, const char *name)
{
	size_t len = strlen(name);
	const char *at = features;

	while (at && *at) {
		size_t n = strcspn(at, ",");

		if (n == len && !strncmp(at, name, len))
			return true;
		at += n + !!at[n];
	}
	return false;
}

static bool same_word(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool same_rules(const struct vs_conf_partition *a,
		       const struct vs_conf_partition *b)
{
	return !strcmp(a->adapter, b->adapter) &&
	       !strcmp(a->template_name, b->template_name) &&
	       !strcmp(a->retention, b->retention) &&
	       !strcmp(a->latency, b->latency) &&
	       same_word(a->clone, b->clone) &&
	       same_word(a->placement, b->placement) &&
	       same_word(a->subnet, b->subnet) &&
	       same_word(a->addresses, b->addresses) &&
	       same_word(a->gateway, b->gateway) &&
	       same_word(a->dns, b->dns) &&
	       same_word(a->dns_search, b->dns_search) &&
	       a->memory_overhead_mb == b->memory_overhead_mb &&
	       vs_conf_hardware_same(a, b);
}

static bool all_exclusive(const node_record_t *node_ptr, const char **not_so)
{
	for (int i = 0; i < node_ptr->part_cnt; i++) {
		part_record_t *part_ptr = node_ptr->part_pptr[i];

		if (part_ptr->max_share) {
			*not_so = part_ptr->name;
			return false;
		}
	}
	return true;
}

static int check_features(const struct vs_conf *conf,
			  const struct vs_conf_file *f, int line,
			  const struct vs_conf_partition *p,
			  const node_record_t *node_ptr, struct vs_err *err)
{
	const char *features = node_ptr->config_ptr->feature, *first = NULL;

	for (size_t i = 0; i < conf->nadapters; i++) {
		const char *name = conf->adapters[i].name;

		if (!has_feature(features, name))
			continue;
		if (first)
			return vs_conf_err(f, line, err, "node %s has two "
				"adapters among its Features, %s and %s: "
				"expected exactly one", node_ptr->name, first,
				name);
		first = name;
	}
	if (!first)
		return vs_conf_err(f, line, err, "node %s has no adapter among "
			"its Features: expected %s (slurm.conf: NodeName=%s "
			"Feature=%s)", node_ptr->name, p->adapter,
			node_ptr->name, p->adapter);
	if (strcmp(first, p->adapter))
		return vs_conf_err(f, line, err, "node %s has the Feature %s, but "
			"this line of its partition %s says Adapter=%s",
			node_ptr->name, first, p->name, p->adapter);
	return 0;
}

/* Names that end with one number have one address: whose is it already? */
struct taken {
	char address[VS_IPV4_LEN];
	char node[64];
	UT_hash_handle hh;
};

static void taken_free(struct taken **all)
{
	struct taken *t, *next;

	HASH_ITER(hh, *all, t, next) {
		HASH_DEL(*all, t);
		free(t);
	}
}

static int take(struct taken **all, const char *list, const char *node,
		struct vs_err *err)
{
	for (size_t len; list && *list; list += len + !!list[len]) {
		char address[VS_IPV4_LEN] = "";
		struct taken *t;

		len = strcspn(list, ",");
		snprintf(address, sizeof(address), "%.*s", (int)len, list);
		if (!strcmp(address, "dhcp"))
			continue;
		HASH_FIND_STR(*all, address, t);
		if (t && strcmp(t->node, node))
			return vs_err_set(err, VS_E_CONFIG,
				"node %s would have the address %s of node %s, whose name ends with the same number: expected pools of their own (AdapterAddresses= or ManagementAddresses= in the partition's line)",
				node, address, t->node);
		if (t)
			continue;
		t = vs_calloc(1, sizeof(*t));
		vs_strlcpy(t->address, address, sizeof(t->address));
		vs_strlcpy(t->node, node, sizeof(t->node));
		HASH_ADD_STR(*all, address, t);
	}
	return 0;
}

static int add_addresses(const struct vs_conf *conf,
			 const struct vs_conf_partition *p,
			 struct vs_conf_node *n, struct taken **taken,
			 struct vs_err *err)
{
	return vs_conf_net_node(conf, p, n, err) ||
		take(taken, n->address, n->name, err) ||
		take(taken, n->first_address, n->name, err) ? -1 : 0;
}

static int add_node(struct vs_conf *conf, const struct vs_conf_file *f,
		    int line, const struct vs_conf_partition *p,
		    const node_record_t *node_ptr, struct taken **taken,
		    struct vs_err *err)
{
	const config_record_t *config = node_ptr->config_ptr;
	struct vs_err why = { 0 };
	const char *shared = NULL;
	bool exclusive = all_exclusive(node_ptr, &shared);
	struct vs_conf_node *n;

	if (check_features(conf, f, line, p, node_ptr, err))
		return -1;
	if (!vs_node_name_valid(node_ptr->name))
		return vs_conf_err(f, line, err, "node name \"%.80s\" cannot "
						 "be a VM's name: expected up "
						 "to 63 letters, digits, '.', "
						 "'_' or '-'", node_ptr->name);
	if (config->real_memory < MEMORY_MIN_MB)
		return vs_conf_err(f, line, err, "node %s has no usable "
			"RealMemory in slurm.conf (%lu MB): expected at least %d",
			node_ptr->name, (unsigned long)config->real_memory,
			MEMORY_MIN_MB);
	if (!strcmp(p->retention, "destroy") && !exclusive)
		return vs_conf_err(f, line, err, "Retention=destroy needs "
						 "exclusive nodes, but "
						 "partition %s may share node "
						 "%s: expected "
						 "OverSubscribe=EXCLUSIVE "
						 "there", shared,
			node_ptr->name);
	conf->nodes = vs_realloc(conf->nodes, conf->nnodes + 1, sizeof(*n));
	n = &conf->nodes[conf->nnodes++];
	memset(n, 0, sizeof(*n));
	n->name = vs_strdup(node_ptr->name);
	n->partition = vs_strdup(p->name);
	n->adapter = vs_strdup(p->adapter);
	n->vcpus = config->cpus;
	n->memory_mb = vs_conf_memory_mb(p, config->real_memory);
	n->exclusive = exclusive;
	n->dynamic = IS_NODE_DYNAMIC_NORM(node_ptr);
	if (!vs_conf_hardware_node(p, n->vcpus, n->memory_mb, &why) &&
	    !add_addresses(conf, p, n, taken, &why))
		return 0;
	vs_conf_node_clear(n);
	conf->nnodes--;
	return vs_conf_err(f, line, err, "%s", why.text);
}

/* Whose node is whose, while the lines are gone through. */
struct adding {
	struct vs_conf *conf;
	const struct vs_conf_file *f;
	int line;
	int *owner;		/* by node index: index into conf->nodes, or: */
	struct vs_conf_refused *refused;
	struct taken *taken;
};

#define NOBODY (-1)
#define REFUSED (-2)

static void drop(struct adding *a, const node_record_t *node_ptr)
{
	struct vs_conf *conf = a->conf;
	int at = a->owner[node_ptr->index], last = (int)--conf->nnodes;

	vs_conf_node_clear(&conf->nodes[at]);
	conf->nodes[at] = conf->nodes[last];
	for (int i = 0; i < node_record_count; i++)
		if (a->owner[i] == last)
			a->owner[i] = at;
}

/* An administrator can fix slurm.conf's nodes before a start, but not nodes
 * that were created at run time. Such a node must not keep slurmctld from
 * starting. */
static int unfit(struct adding *a, node_record_t *node_ptr, struct vs_err *err)
{
	struct vs_conf_refused *to = a->refused;

	if (!IS_NODE_DYNAMIC_NORM(node_ptr))
		return -1;
	if (a->owner[node_ptr->index] >= 0)
		drop(a, node_ptr);
	a->owner[node_ptr->index] = REFUSED;
	VS_GROW(to->nodes, to->cap, to->n + 1);
	to->nodes[to->n++] = (struct vs_conf_refusal) {
		node_ptr, vs_strdup(err->text),
	};
	memset(err, 0, sizeof(*err));
	return 0;
}

static int add_to(struct adding *a, const struct vs_conf_partition *p,
		  node_record_t *node_ptr, struct vs_err *err)
{
	int *owner = &a->owner[node_ptr->index];
	const struct vs_conf_node *have;

	if (*owner == REFUSED)
		return 0;
	if (*owner == NOBODY) {
		if (add_node(a->conf, a->f, a->line, p, node_ptr, &a->taken,
			     err))
			return unfit(a, node_ptr, err);
		*owner = (int)a->conf->nnodes - 1;
		return 0;
	}
	have = &a->conf->nodes[*owner];
	if (same_rules(vs_conf_partition_named(a->conf, have->partition), p))
		return 0;
	vs_conf_err(a->f, a->line, err, "node %s is in the partitions %s and %s, "
		    "whose lines disagree: expected the same Adapter, Template, "
		    "Retention, Clone, Placement, LatencySensitivity, "
		    "MemoryOverhead, hardware and addresses",
		    node_ptr->name, have->partition, p->name);
	return unfit(a, node_ptr, err);
}

/* MaxNodeCount leaves room for nodes that are yet to be created. */
static bool more_may_come(void)
{
	for (int i = 0; i < node_record_count; i++)
		if (!node_record_table_ptr[i])
			return true;
	return false;
}

static int add_partition(struct adding *a, const struct vs_conf_partition *p,
			 struct vs_err *err)
{
	part_record_t *part_ptr = find_part_record(p->name);
	const char *untested;
	node_record_t *node_ptr;
	int ours = 0;

	if (!part_ptr)
		return vs_conf_err(a->f, a->line, err, "PartitionName=%s: there "
			"is no such partition in slurm.conf", p->name);
	untested = vs_select_untested(part_ptr->cr_type);
	if (untested)
		return vs_conf_err(a->f, a->line, err, "PartitionName=%s: "
			"slurm.conf gives it SelectTypeParameters=%s, which is not tested with slurm-vsphere: expected CR_Core, CR_Core_Memory or CR_Socket_Memory",
			p->name, untested);
	for (int i = 0; (node_ptr = next_node(&i)); i++) {
		if (!part_ptr->node_bitmap ||
		    !bit_test(part_ptr->node_bitmap, node_ptr->index) ||
		    !IS_NODE_CLOUD(node_ptr))
			continue;
		ours++;
		if (add_to(a, p, node_ptr, err))
			return -1;
	}
	if (!ours && !more_may_come())
		return vs_conf_err(a->f, a->line, err, "PartitionName=%s: expected "
			"nodes with State=CLOUD in that partition, found none",
			p->name);
	return 0;
}

void vs_conf_refused_free(struct vs_conf_refused *refused)
{
	for (size_t i = 0; i < refused->n; i++)
		free(refused->nodes[i].why);
	free(refused->nodes);
	*refused = (struct vs_conf_refused) { 0 };
}

int vs_conf_add_nodes(struct vs_conf *conf, struct vs_conf_file *f,
		      struct vs_conf_refused *refused, struct vs_err *err)
{
	VS_FREE int *owner = vs_calloc((size_t)node_record_count + 1,
				       sizeof(*owner));
	struct adding a = {
		.conf = conf, .f = f, .owner = owner, .refused = refused,
	};
	int rc = 0;

	for (int i = 0; i <= node_record_count; i++)
		owner[i] = NOBODY;
	for (size_t i = 0; !rc && i < conf->npartitions; i++) {
		struct vs_conf_record *r =
			vs_conf_record_get(f, VS_SCOPE_PARTITION, i);

		a.line = r ? r->line : 0;
		rc = add_partition(&a, &conf->partitions[i], err);
	}
	taken_free(&a.taken);
	return rc;
}

/* ---- equal or not ------------------------------------------------------------ */

static uint64_t add_str(uint64_t h, const char *s)
{
	return vs_hash_str(h, s ? s : "\001");
}

static uint64_t add_int(uint64_t h, int64_t n)
{
	return vs_hash(h, &n, sizeof(n));
}

/* What a line of this kind says: by the table, so that no key is forgotten. */
static uint64_t add_line(uint64_t h, enum vs_conf_scope scope, const void *line)
{
	for (size_t i = 0; i < vs_conf_nkeys; i++) {
		const struct vs_conf_key *k = &vs_conf_keys[i];
		const void *slot = (const char *)line + k->offset;

		if (k->scope != scope)
			continue;
		if (k->type == VS_CONF_INT || k->type == VS_CONF_HEX ||
		    k->type == VS_CONF_SHARES)
			h = add_int(h, *(const int *)slot);
		else if (k->type == VS_CONF_MB || k->type == VS_CONF_AMOUNT)
			h = add_int(h, *(const int64_t *)slot);
		else if (k->type == VS_CONF_BOOL)
			h = add_int(h, *(const bool *)slot);
		else if (k->type == VS_CONF_OPTIONS)
			h = vs_hash(h, slot, vs_conf_options(k) * sizeof(int));
		else
			h = add_str(h, *(char *const *)slot);
	}
	return h;
}

/* What comes from slurm.conf. */
static uint64_t add_slurm(uint64_t h, const struct vs_conf *c)
{
	h = add_str(add_str(add_str(h, c->state_dir), c->slurm.cluster),
		    c->slurm.conf_server);
	h = add_int(add_int(h, c->password_uid), c->slurm.resume_timeout_s);
	return add_int(h, c->slurm.kill_tries_s);
}

uint64_t vs_conf_hash(const struct vs_conf *c)
{
	uint64_t h = add_slurm(add_line(VS_HASH_START, VS_SCOPE_TOP, c), c);

	for (size_t i = 0; i < c->nadapters; i++)
		h = add_line(h, VS_SCOPE_ADAPTER, &c->adapters[i]);
	for (size_t i = 0; i < c->npartitions; i++)
		h = add_line(h, VS_SCOPE_PARTITION, &c->partitions[i]);
	for (size_t i = 0; i < c->nclusters; i++)
		h = add_line(h, VS_SCOPE_CLUSTER, &c->clusters[i]);
	for (size_t i = 0; i < c->nhosts; i++)
		h = add_line(h, VS_SCOPE_HOST, &c->hosts[i]);
	for (size_t i = 0; i < c->nnodes; i++) {
		const struct vs_conf_node *n = &c->nodes[i];

		h = add_str(add_str(add_str(h, n->name), n->partition),
			    n->adapter);
		h = add_int(add_int(h, n->vcpus), n->memory_mb);
		h = add_int(add_int(h, n->exclusive), n->dynamic);
	}
	return h;
}
