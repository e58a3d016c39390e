/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Constraints are read and matched by Slurm's own functions, of the release that
 * runs, so that what is refused here is what it would refuse. What these leave
 * out is brackets and counts, of which each part is taken by itself; and names,
 * which must be told apart before Slurm says that one of them is wrong.
 */
#include "constraint.h"
#include "util/mem.h"
#include "util/name.h"

/* ---- names --------------------------------------------------------------------- */

struct asked { const char *name; size_t len; const char *near; unsigned best; };

static int is_feature(void *x, void *key)
{
	const node_feature_t *f = x;
	const struct asked *a = key;

	return f->name && strlen(f->name) == a->len &&
	       !strncmp(f->name, a->name, a->len);
}

bool vs_feature_known(const char *name, size_t len)
{
	struct asked a = { .name = name, .len = len };

	return avail_feature_list &&
	       list_find_first(avail_feature_list, is_feature, &a);
}

static int nearer(void *x, void *arg)
{
	const node_feature_t *f = x;
	struct asked *a = arg;
	unsigned int d;

	if (!f->name)
		return 0;
	d = vs_name_distance(a->name, a->len, f->name, strlen(f->name));
	if (d <= a->best && (d < a->best || !a->near)) {
		a->best = d;
		a->near = f->name;
	}
	return 0;
}

const char *vs_feature_near(const char *name, size_t len)
{
	struct asked a = { .name = name, .len = len, .best = len / 3 + 1 };

	if (avail_feature_list && len <= VS_DISTANCE_MAX)
		list_for_each(avail_feature_list, nearer, &a);
	return a.near;
}

/* ---- groups -------------------------------------------------------------------- */

struct walk {
	struct vs_constraint *c;
	struct vs_group now;		/* begun while words */
	int last_op;			/* within it */
	bool in_brackets;		/* the group before this one was */
	bool one_of;			/* and of which kind */
	bool any_or;			/* "|" outside of them */
};

static void part_take(struct walk *w, const job_feature_t *f)
{
	struct vs_group *g = &w->now;
	char *words;

	if (!g->words) {
		g->words = vs_strdup(f->name);
		g->nodes = bit_copy(f->node_bitmap_avail);
		return;
	}
	/* no more than can be printed: thousands of names stay linear */
	if (strlen(g->words) < VS_NAME_CLEAN_LEN) {
		words = vs_asprintf("%s%s%s", g->words,
				    w->last_op == FEATURE_OP_OR ? "|" : "&",
				    f->name);
		free(g->words);
		g->words = words;
	}
	if (w->last_op == FEATURE_OP_OR)
		bit_or(g->nodes, f->node_bitmap_avail);
	else
		bit_and(g->nodes, f->node_bitmap_avail);
}

static void groups_clear(struct vs_constraint *c)
{
	for (size_t i = 0; i < c->n; i++) {
		free(c->groups[i].words);
		FREE_NULL_BITMAP(c->groups[i].nodes);
	}
	free(c->groups);
	c->groups = NULL;
	c->n = 0;
}

static void group_keep(struct walk *w)
{
	struct vs_constraint *c = w->c;

	c->groups = vs_realloc(c->groups, c->n + 1, sizeof(*c->groups));
	c->groups[c->n++] = w->now;
}

static void group_end(struct walk *w, const job_feature_t *f)
{
	bool one_of = f->op_code == VS_FEATURE_XOR;
	bool counts = f->op_code == FEATURE_OP_XAND;
	struct vs_group *g = &w->now;

	g->count = f->count;
	/* the last one in brackets has the operator that follows them */
	g->one_of = one_of || (w->in_brackets && !counts && w->one_of);
	g->plain = !one_of && !counts && !w->in_brackets;
	if (g->one_of || g->count) {
		group_keep(w);
	} else {
		free(g->words);
		FREE_NULL_BITMAP(g->nodes);
	}
	w->in_brackets = one_of || counts;
	w->one_of = one_of;
	w->any_or |= f->op_code == FEATURE_OP_OR;
	w->now = (struct vs_group) { 0 };
}

/* Of a or [b*2&c*2] nothing is certain. */
static void groups_check(struct vs_constraint *c, bool any_or)
{
	bool mixed = any_or;

	for (size_t i = 1; i < c->n; i++)
		mixed |= c->groups[i].one_of != c->groups[0].one_of;
	if (!mixed || !c->n)
		return;
	groups_clear(c);
	bit_set_all(c->nodes);
}

/* What is in parentheses ends with the first that isn't. */
static int walk(void *x, void *arg)
{
	const job_feature_t *f = x;
	struct walk *w = arg;

	if (!f->node_bitmap_avail)
		return 0;
	part_take(w, f);
	if (!f->paren)
		group_end(w, f);
	w->last_op = f->op_code;
	return 0;
}

int vs_constraint_make(struct vs_constraint *c, const char *text, uint32_t user)
{
	struct walk w = { .c = c };
	job_record_t *read = NULL;
	int rc = 0;

	*c = (struct vs_constraint) { .nodes = bit_alloc(node_record_count) };
	bit_set_all(c->nodes);
	if (!text)
		return 0;
	rc = vs_constraint_read(text, user, &read);
	if (!rc && read->details->feature_list) {
		vs_constraint_nodes(read, c->nodes);
		list_for_each(read->details->feature_list, walk, &w);
		free(w.now.words);
		FREE_NULL_BITMAP(w.now.nodes);
		groups_check(c, w.any_or);
	}
	vs_constraint_free(read);
	return rc;
}

void vs_constraint_clear(struct vs_constraint *c)
{
	groups_clear(c);
	FREE_NULL_BITMAP(c->nodes);
}
