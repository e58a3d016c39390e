/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The messages: what is there, what was requested, and what to do, for users
 * who know sbatch and not this plugin. They go to the user's terminal and into
 * slurmctld's log, so what users wrote is cut short and cleaned; of partitions
 * those alone are named that are open to all.
 */
#include <stdarg.h>
#include "feasibility.h"
#include "plugins/slurm/bitmap_iter.h"
#include "util/mem.h"
#include "util/name.h"

#define PARTS 4				/* named at most */

static void add(char sentence[VS_SENTENCE], const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void add(char sentence[VS_SENTENCE], const char *fmt, ...)
{
	size_t len = strlen(sentence);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(sentence + len, VS_SENTENCE - len, fmt, ap);
	va_end(ap);
}

static const char *constraint(const struct vs_finding *f,
			      char out[VS_NAME_CLEAN_LEN])
{
	const char *words = f->words ? f->words : "";

	return vs_name_clean(words, strlen(words), out);
}

/* ---- what there is ---------------------------------------------------------------- */

/* The adapters of these nodes: "sriov-roce, vmxnet3"; how many. */
static int adapters_add(const struct vs_node_map *o, bitstr_t *nodes,
			char sentence[VS_SENTENCE])
{
	VS_FREE bool *seen = NULL;
	int count = 0, n = 0;

	while (o->adapters[count])
		count++;
	seen = vs_calloc((size_t)count + 1, sizeof(*seen));
	VS_EACH_BIT(i, nodes)
		if (i < o->size && o->kinds[i].adapter >= 0)
			seen[o->kinds[i].adapter] = true;
	for (int a = 0; a < count; a++)
		if (seen[a])
			add(sentence, "%s%s", n++ ? ", " : "", o->adapters[a]);
	return n;
}

static bool is_open(const part_record_t *part_ptr)
{
	return !(part_ptr->flags & PART_FLAG_HIDDEN) &&
	       !part_ptr->allow_groups && !part_ptr->allow_accounts &&
	       !part_ptr->allow_qos && part_ptr->state_up == PARTITION_UP;
}

struct listing {
	const struct vs_case *c;
	char *sentence;
	int n;
};

static int part_add(void *x, void *arg)
{
	part_record_t *part_ptr = x;
	struct listing *l = arg;
	struct vs_finding f;

	if (l->n >= PARTS || !is_open(part_ptr) ||
	    vs_partition_check(l->c, part_ptr, &f) != VS_GOES)
		return 0;
	add(l->sentence, "%s-p %s", l->n++ ? " or " : "", part_ptr->name);
	return 0;
}

/* ": -p roce or -p both has", or what else is to be done. */
static void elsewhere(const struct vs_case *c, char sentence[VS_SENTENCE])
{
	struct listing l = { .c = c, .sentence = sentence };
	size_t len = strlen(sentence);

	add(sentence, ": use ");
	list_for_each(part_list, part_add, &l);
	if (l.n) {
		add(sentence, "%s", c->w->job ?
		    " (one update may change several fields)" : "");
		return;
	}
	sentence[len] = '\0';
	add(sentence, ": no partition that is open to all users can run the "
		      "job; ask for fewer nodes, or for another adapter");
}

/* ---- sentences -------------------------------------------------------------------- */

struct parts { const struct vs_case *c; bitstr_t *nodes; char *names; };

static bool part_join(void *arg, part_record_t *part_ptr)
{
	struct parts *p = arg;
	char *names;

	if (part_ptr->node_bitmap &&
	    bit_size(part_ptr->node_bitmap) == bit_size(p->nodes))
		bit_or(p->nodes, part_ptr->node_bitmap);
	names = vs_asprintf("%s%s%s", p->names ? p->names : "",
			    p->names ? "," : "", part_ptr->name);
	free(p->names);
	p->names = names;
	return true;
}

/* "; partition roce has sriov-roce". */
static void choice_add(const struct vs_case *c, char sentence[VS_SENTENCE])
{
	struct parts p = { .c = c, .nodes = bit_alloc(node_record_count) };
	size_t len = strlen(sentence);
	char names[VS_NAME_CLEAN_LEN];

	vs_parts_each(c->w, part_join, &p);
	if (p.names) {
		add(sentence, " (adapters of partition %s: ",
		    vs_name_clean(p.names, strlen(p.names), names));
		if (adapters_add(c->o, p.nodes, sentence))
			add(sentence, ")");
		else
			sentence[len] = '\0';
	}
	free(p.names);
	FREE_NULL_BITMAP(p.nodes);
}

int vs_message_unknown(const struct vs_case *c, const char *name, size_t len,
		       const char *near, char sentence[VS_SENTENCE])
{
	char wrong[VS_NAME_CLEAN_LEN];

	snprintf(sentence, VS_SENTENCE, "no node has the feature \"%s\"",
		 vs_name_clean(name, len, wrong));
	if (near)
		add(sentence, ": did you mean %s?", near);
	choice_add(c, sentence);
	if (!near)
		add(sentence, ": ask for a feature that sinfo -o %%f lists");
	return ESLURM_INVALID_FEATURE;
}

int vs_message_unread(const struct vs_case *c, char sentence[VS_SENTENCE])
{
	struct vs_finding f = { .words = c->w->features };
	char words[VS_NAME_CLEAN_LEN];

	snprintf(sentence, VS_SENTENCE, "the constraint \"%s\" cannot be read: "
		 "write counts in one pair of brackets, one for each feature "
		 "(\"[a*2&b*1]\"), and alternatives that are the same for all "
		 "nodes without counts (\"[a|b]\")", constraint(&f, words));
	return ESLURM_INVALID_FEATURE;
}

struct two { const struct vs_node_map *o; int first, second; };

static bool two_look(void *arg, const char *name, size_t len)
{
	struct two *t = arg;
	VS_FREE char *copy = vs_asprintf("%.*s", (int)len, name);
	int a = vs_node_map_adapter(t->o, copy);

	if (a >= 0 && t->first < 0)
		t->first = a;
	else if (a >= 0 && a != t->first && t->second < 0)
		t->second = a;
	return true;
}

/* "a&b": of two adapters. */
static bool say_two(const struct vs_case *c, const struct vs_finding *f,
		    char sentence[VS_SENTENCE])
{
	struct two t = { .o = c->o, .first = -1, .second = -1 };
	const char *a, *b;
	char words[VS_NAME_CLEAN_LEN];

	vs_features_each(c->w->features, two_look, &t);
	if (t.second < 0 || bit_ffs(c->c.nodes) >= 0)
		return false;
	a = c->o->adapters[t.first];
	b = c->o->adapters[t.second];
	add(sentence, "\"%s\" asks each node for both %s and %s, but a node has "
	    "one adapter: ask for either (\"%s|%s\"), or for nodes of both "
	    "kinds (\"[%s*1&%s*1]\")", constraint(f, words), a, b, a, b, a, b);
	return true;
}

static void say_none(const struct vs_case *c, const struct vs_finding *f,
		     char sentence[VS_SENTENCE])
{
	char words[VS_NAME_CLEAN_LEN];

	if (!c->c.n && say_two(c, f, sentence))
		return;
	add(sentence, "no node of partition %s has \"%s\"", f->part->name,
	    constraint(f, words));
	elsewhere(c, sentence);
}

/* The number that is too large comes from the tasks, not from -N. */
static bool by_tasks(const struct vs_case *c, const struct vs_finding *f)
{
	return !f->counted && f->need > MAX(c->w->min, 1);
}

static const char *asked(const struct vs_case *c, const struct vs_finding *f)
{
	return f->counted ? "are counted" : by_tasks(c, f) ?
		"are needed for its tasks" : "are asked for";
}

/* What will do. Fewer nodes by -N would not hold the same tasks. With
 * --ntasks-per-node commands since 23.02 ask for nodes where -n alone was given,
 * and for tasks where -N alone was: then both numbers are to be smaller. */
static void at_most(const struct vs_case *c, const struct vs_finding *f,
		    char sentence[VS_SENTENCE])
{
	if (f->counted)
		add(sentence, "count %u at most", f->have);
	else if (by_tasks(c, f))
		add(sentence, "ask for no more tasks than %u node%s hold%s",
		    f->have, vs_plural(f->have), f->have == 1 ? "s" : "");
	else
		add(sentence, "ask for %u at most (-N%u)%s", f->have, f->have,
		    vs_request_by_tasks(c->w) <= f->have ? "" : f->have == 1 ?
		    ", with no more tasks than it holds" :
		    ", with no more tasks than they hold");
}

static void say_few(const struct vs_case *c, const struct vs_finding *f,
		    char sentence[VS_SENTENCE])
{
	char words[VS_NAME_CLEAN_LEN];

	add(sentence, "partition %s has %u node%s with \"%s\", and %u %s",
	    f->part->name, f->have, vs_plural(f->have), constraint(f, words),
	    f->need, asked(c, f));
	if (f->verdict != VS_FEW) {
		elsewhere(c, sentence);
		return;
	}
	add(sentence, ": ");
	at_most(c, f, sentence);
}

static void say_hosts(const struct vs_case *c, const struct vs_finding *f,
		      char sentence[VS_SENTENCE])
{
	const struct vs_vm_type *k = f->kind;

	if (!f->have) {
		add(sentence, "no vSphere host can ever run a VM of partition "
			      "%s%s%s: use another partition, or ask your "
			      "administrator (svf hosts --pfs shows why)", f->part->name,
		    k ? ", adapter " : "", k ? c->o->adapters[k->adapter] : "");
		return;
	}
	add(sentence, "%u nodes of partition %s %s, but the vSphere hosts can "
		      "run %u", f->need, f->part->name, asked(c, f), f->have);
	if (k && k->vfs > 1)
		add(sentence, " (%d VFs of %s each)", k->vfs,
		    c->o->adapters[k->adapter]);
	else if (k && k->vfs)
		add(sentence, " (a VF of %s each)", c->o->adapters[k->adapter]);
	add(sentence, " when all of them are free: ");
	at_most(c, f, sentence);
}

static void say_named(const struct vs_case *c, const struct vs_finding *f,
		      char sentence[VS_SENTENCE])
{
	const struct vs_vm_type *k = &c->o->kinds[f->node];
	char words[VS_NAME_CLEAN_LEN];

	add(sentence, "node %s, which the job names, does not have \"%s\" "
		      "(its adapter is %s): name other nodes (-w), or none",
	    node_record_table_ptr[f->node]->name, constraint(f, words),
	    c->o->adapters[k->adapter]);
}

int vs_message_write(const struct vs_case *c, const struct vs_finding *f,
		     char sentence[VS_SENTENCE])
{
	char words[VS_NAME_CLEAN_LEN];

	sentence[0] = '\0';
	switch (f->verdict) {
	case VS_NONE:
		say_none(c, f, sentence);
		break;
	case VS_FEW:
	case VS_FEW_COUNTED:
		say_few(c, f, sentence);
		break;
	case VS_UNREAD:
		return vs_message_unread(c, sentence);
	case VS_COUNTS:
		add(sentence, "\"%s\" counts %u nodes, and the job may have %u: "
		    "ask for -N%u, or count fewer", constraint(f, words),
		    f->need, f->have, f->need);
		break;
	case VS_HOSTS:
		say_hosts(c, f, sentence);
		break;
	case VS_NAMED:
		say_named(c, f, sentence);
		break;
	case VS_SHARED:
		add(sentence, "a VM of partition %s is for one job alone "
		    "(Retention=destroy), but the partition lets jobs share "
		    "nodes: submit with --exclusive", f->part->name);
		break;
	case VS_LICENSES:
		add(sentence, "the VFs of partition %s are counted by "
			      "licenses, so alternative licenses are not "
			      "possible: ask for one of \"%s\" (-L)", f->part->name,
		    vs_name_clean(c->w->licenses, strlen(c->w->licenses),
				  words));
		return ESLURM_INVALID_LICENSES;
	case VS_GOES:
	case VS_GOES_UNMANAGED:
		return 0;
	}
	return ESLURM_REQUESTED_NODE_CONFIG_UNAVAILABLE;
}
