/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A job as it comes in, or as it would be after an update, against what nodes and
 * hosts there are: not against what is free, up, reserved or allowed.
 *
 * Rules: a job is refused only if it can certainly never run as it is; one
 * partition of several is enough; the limits of partitions (EnforcePartLimits)
 * and unmanaged nodes are Slurm's part. Cheap tests come first: a job for
 * unmanaged nodes without a constraint passes after a comparison of bitmaps.
 */
#include "feasibility.h"
#include "plugins/slurm/bitmap_iter.h"
#include "plugins/license_text.h"
#include "util/mem.h"

/* ---- names --------------------------------------------------------------------- */

struct names {
	const struct vs_case *c;
	bool ours;		/* one of them is an adapter's */
	const char *unknown;	/* the first that no node has */
	size_t len;
};

static bool name_look(void *arg, const char *name, size_t len)
{
	struct names *n = arg;
	VS_FREE char *copy = vs_asprintf("%.*s", (int)len, name);

	n->ours |= vs_node_map_adapter(n->c->o, copy) >= 0;
	if (!n->unknown && !vs_feature_known(name, len)) {
		n->unknown = name;
		n->len = len;
	}
	return true;
}

/* Slurm refuses it too, unless it was told not to. */
static int unknown_name(const struct vs_case *c, const struct names *n,
			const char *unless, bool ours,
			char sentence[VS_SENTENCE])
{
	const char *near;

	if (!n->unknown || xstrcasestr(slurm_conf.sched_params, unless))
		return 0;
	near = vs_feature_near(n->unknown, n->len);
	if (!ours && (!near || vs_node_map_adapter(c->o, near) < 0))
		return 0;
	return vs_message_unknown(c, n->unknown, n->len, near, sentence);
}

/* ---- a partition ----------------------------------------------------------------- */

struct look {
	const struct vs_case *c;
	struct vs_finding f;		/* the most telling of all */
	bool goes;
};

static bool part_look(void *arg, part_record_t *part_ptr)
{
	struct look *l = arg;
	struct vs_finding f;

	/* Slurm takes the other one then. */
	l->goes = (part_ptr->alternate &&
		   !(part_ptr->state_up & PARTITION_SUBMIT)) ||
		vs_partition_check(l->c, part_ptr, &f) <= VS_GOES_UNMANAGED;
	if (l->goes)
		return false;
	/* the first, unless that has nothing of what is asked for */
	if (!l->f.part || (l->f.verdict == VS_NONE && f.verdict != VS_NONE))
		l->f = f;
	return true;
}

/* ---- a job ----------------------------------------------------------------------- */

/* As select/cons_tres_vsphere counts: a license of all VFs, or of one adapter's
 * VMs (vf_accounting.c). */
static bitstr_t *counted_nodes(const struct vs_node_map *o)
{
	bool all = vs_license_listed(slurm_conf.licenses, VS_LICENSE_ALL);
	bitstr_t *nodes = bit_alloc(bit_size(o->nodes));

	VS_EACH_BIT(i, o->nodes) {
		const struct vs_vm_type *k = &o->kinds[i];

		if ((all && k->vfs) ||
		    vs_license_listed(slurm_conf.licenses,
				      o->adapters[k->adapter]))
			bit_set(nodes, i);
	}
	return nodes;
}

static int judge(struct vs_case *c, bool ours, char sentence[VS_SENTENCE])
{
	const struct vs_request *w = c->w;
	struct names names = { .c = c }, prefers = { .c = c };
	struct look l = { .c = c };
	int rc;

	vs_features_each(w->features, name_look, &names);
	vs_features_each(w->prefer, name_look, &prefers);
	rc = unknown_name(c, &names, "ignore_constraint_validation", ours,
			  sentence);
	if (!rc)
		rc = unknown_name(c, &prefers, "ignore_prefer_validation", ours,
				  sentence);
	if (rc || names.unknown || !(ours || names.ours))
		return rc;
	rc = vs_constraint_make(&c->c, w->features, w->user);
	if (rc)
		return vs_message_unread(c, sentence);
	if (w->named && w->features)
		c->named = vs_nodes_bitmap(w->named);
	if (w->excluded)
		c->excluded = vs_nodes_bitmap(w->excluded);
	if (vs_license_alternatives(w->licenses) && slurm_conf.licenses)
		c->counted = counted_nodes(c->o);
	if (!vs_parts_each(w, part_look, &l) || l.goes)
		return 0;
	return vs_message_write(c, &l.f, sentence);
}

/* Slurm asks job_submit first and looks at lengths afterwards
 * (validate_job_create_req() in job_mgr.c, 22.05 to 26.05). What it is about
 * to refuse for its length is not read here: slurmctld's locks are held. */
static bool too_long(const struct vs_request *w)
{
	const struct { const char *text; size_t most; } fields[] = {
		{ w->features, 1024 }, { w->prefer, 1024 },
		{ w->partition, 1024 }, { w->licenses, 1024 },
		{ w->named, 64 * 1024 }, { w->excluded, 64 * 1024 },
	};

	for (size_t i = 0; i < VS_COUNT(fields); i++)
		if (fields[i].text && strnlen(fields[i].text,
					      fields[i].most + 1) > fields[i].most)
			return true;
	return false;
}

int vs_feasibility_check(const struct vs_request *w, char sentence[VS_SENTENCE])
{
	struct vs_case c = { .w = w };
	bool ours;
	int rc = 0;

	if (too_long(w))
		return 0;
	/* a reservation may bring its own partition */
	if (vs_federated() || (w->reserved && !w->partition))
		return 0;
	c.o = vs_node_map_get();
	if (!c.o)
		return 0;
	ours = !vs_parts_each(w, vs_part_unmanaged, &c);
	if (ours || w->features)
		rc = judge(&c, ours, sentence);
	vs_constraint_clear(&c.c);
	FREE_NULL_BITMAP(c.named);
	FREE_NULL_BITMAP(c.excluded);
	FREE_NULL_BITMAP(c.counted);
	vs_node_map_put();
	return rc;
}
