/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reservations that show Slurm's users which nodes' hosts go into maintenance,
 * and until when their jobs keep them: made, changed and deleted by slurmctld's
 * own functions, as if by scontrol.
 *
 * Rules: slurm-vsphere owns a reservation by its name, its flags, its user and
 * (since 23.02) its comment together. One that an administrator changed in any
 * of these is left alone. What shall be is compared under a read lock first, so
 * that nothing is written while nothing has changed; each is written under a
 * lock of its own, because Slurm walks over all jobs and nodes each time.
 */
#include "ops.h"
#include "ops_i.h"
#include "util/mem.h"

#define NAME_TAG "vsphere_"
#define OWNER "root"
/* Over running jobs, beside others' reservations, and no job is held for it. */
#define FLAGS (RESERVE_FLAG_MAINT | RESERVE_FLAG_IGN_JOBS | \
	       RESERVE_FLAG_OVERLAP | RESERVE_FLAG_NO_HOLD_JOBS)
#define MOVED_S 60		/* an end that moves less is let be */
#define REFUSED_S 600
#define SOON_S 30		/* before Slurm takes it for over */

static bool ours(const slurmctld_resv_t *r)
{
	return !xstrncmp(r->name, NAME_TAG, strlen(NAME_TAG)) &&
	       (r->flags & FLAGS) == FLAGS && !xstrcmp(r->users, OWNER) &&
	       !r->accounts &&
	       (!VS_RESV_COMMENTS ||
		!xstrncmp(vs_resv_comment(r), VS_REASON_TAG,
			  strlen(VS_REASON_TAG)));
}

/* Nodes that are no more are left out. NODE R; NULL: none is left. */
static bitstr_t *nodes_of(const struct vs_slurm_resv *row)
{
	vs_hostlist_t names = hostlist_create(row->nodes);
	bitstr_t *bits = bit_alloc(node_record_count);
	char *name;

	while ((name = hostlist_shift(names))) {
		const node_record_t *n = find_node_record2(name);

		if (n)
			bit_set(bits, n->index);
		free(name);
	}
	hostlist_destroy(names);
	if (bit_ffs(bits) < 0)
		FREE_NULL_BITMAP(bits);
	return bits;
}

static bool nodes_differ(const slurmctld_resv_t *r,
			 const struct vs_slurm_resv *row)
{
	bitstr_t *bits = nodes_of(row);
	bool differ = bits && (!r->node_bitmap ||
			       !bit_equal(bits, r->node_bitmap));

	FREE_NULL_BITMAP(bits);
	return differ;
}

static bool start_differs(const slurmctld_resv_t *r,
			  const struct vs_slurm_resv *row)
{
	return r->start_time > time(NULL) && r->start_time != row->start;
}

/* It has begun, and shall begin later: Slurm moves no such start. */
static bool too_early(const slurmctld_resv_t *r,
		      const struct vs_slurm_resv *row)
{
	return r->start_time <= time(NULL) && row->start > time(NULL);
}

static bool end_differs(const slurmctld_resv_t *r,
			const struct vs_slurm_resv *row)
{
	return r->end_time - row->end >= MOVED_S ||
	       row->end - r->end_time >= MOVED_S ||
	       r->end_time < time(NULL) + SOON_S;
}

static bool comment_differs(const slurmctld_resv_t *r,
			    const struct vs_slurm_resv *row)
{
	return VS_RESV_COMMENTS && xstrcmp(vs_resv_comment(r), row->comment);
}

static bool differs(const slurmctld_resv_t *r, const struct vs_slurm_resv *row)
{
	return too_early(r, row) || start_differs(r, row) ||
	       end_differs(r, row) || nodes_differ(r, row) ||
	       comment_differs(r, row);
}

static slurmctld_resv_t *named(const char *name)
{
	return resv_list ? find_resv_name((char *)name) : NULL;
}

static const struct vs_slurm_resv *row_of(const struct vs_slurm_resv *rows,
					  size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!xstrcmp(rows[i].name, name))
			return &rows[i];
	return NULL;
}

struct all {
	const struct vs_slurm_resv *rows;
	size_t n;
	bool *differ;		/* of rows, those that are to be written */
	char **gone;		/* managed ones that are not needed */
	size_t ngone, cap;
};

static int note_gone(void *x, void *arg)
{
	const slurmctld_resv_t *r = x;
	struct all *all = arg;

	if (ours(r) && !row_of(all->rows, all->n, r->name)) {
		VS_GROW(all->gone, all->cap, all->ngone + 1);
		all->gone[all->ngone++] = vs_strdup(r->name);
	}
	return 0;
}

/* CONF R, JOB R, NODE R. */
static void compare(struct all *all)
{
	if (resv_list)
		list_for_each(resv_list, note_gone, all);
	for (size_t i = 0; i < all->n; i++) {
		const slurmctld_resv_t *r = named(all->rows[i].name);

		all->differ[i] = !r || !ours(r) || differs(r, &all->rows[i]);
	}
}

static void describe(resv_desc_msg_t *desc, const struct vs_slurm_resv *row,
		     const slurmctld_resv_t *was)
{
	bitstr_t *bits = nodes_of(row);

	slurm_init_resv_desc_msg(desc);
	desc->name = xstrdup(row->name);
	if (!was || start_differs(was, row))
		desc->start_time = (time_t)MAX(row->start, time(NULL));
	desc->end_time = (time_t)row->end;
	if (bits && (!was || nodes_differ(was, row)))
		desc->node_list = bitmap2node_name(bits);
	if (!was) {
		desc->flags = FLAGS;
		desc->users = xstrdup(OWNER);
	}
	vs_resv_comment_set(desc, row->comment);
	FREE_NULL_BITMAP(bits);
}

/* Said once in a while, not every two seconds. */
static void refused(const char *name, const char *why)
{
	static time_t told;

	if (time(NULL) - told < REFUSED_S)
		return;
	told = time(NULL);
	error("slurm-vsphere: reservation %s: %s", name, why);
}

static void delete(const char *name)
{
	reservation_name_msg_t msg = { .name = (char *)name };
	const slurmctld_resv_t *r = named(name);

	if (r && ours(r) && !delete_resv(&msg))
		info("slurm-vsphere: reservation %s is deleted", name);
}

/* Under vs_lock_resvs_write(). */
static void set(const struct vs_slurm_resv *row)
{
	resv_desc_msg_t *desc = xmalloc(sizeof(*desc));
	slurmctld_resv_t *r = named(row->name);
	int rc = 0;

	if (r && ours(r) && too_early(r, row)) {
		delete(row->name);
		r = named(row->name);
	}
	describe(desc, row, r);
	if (!r && desc->node_list) {
		rc = vs_resv_create(desc);
		if (!rc)
			info("slurm-vsphere: reservation %s shows what its host waits for: %s",
			     row->name, row->comment);
	} else if (r && ours(r) && differs(r, row)) {
		rc = vs_resv_update(desc);
	}
	if (rc)
		refused(row->name, slurm_strerror(rc));
	else if (r && !ours(r))
		refused(row->name, "it exists and differs from what slurm-vsphere creates: left alone");
	slurm_free_resv_desc_msg(desc);
}

void vs_slurm_resvs_set(void *ctx, const struct vs_slurm_resv *rows, size_t n)
{
	struct all all = { .rows = rows, .n = n };

	(void)ctx;
	all.differ = vs_calloc(n + 1, sizeof(*all.differ));
	vs_lock_jobs_read();
	compare(&all);
	vs_unlock_jobs_read();
	for (size_t i = 0; i < all.ngone; i++) {
		vs_lock_resvs_write();
		delete(all.gone[i]);
		vs_unlock_resvs_write();
		free(all.gone[i]);
	}
	for (size_t i = 0; i < n; i++) {
		if (!all.differ[i])
			continue;
		vs_lock_resvs_write();
		set(&rows[i]);
		vs_unlock_resvs_write();
	}
	free(all.gone);
	free(all.differ);
}
