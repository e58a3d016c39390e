/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See vf_accounting.h. Slurm's own code keeps the sums, judges the limits and writes
 * the database: a license of a job is a TRES of it. What is told is what the job
 * gets, node by node, whatever it asked for: alternatives, ranges of nodes,
 * partitions in turn, adapters of several VFs.
 *
 * Rules: a job that waits carries none of these licenses, so it can't wait for
 * one; how many Licenses= names bounds nothing. Only by those three names and
 * numbers is a job changed. Not a GRES: see doc/dev/decisions.md.
 */
#include "vf_accounting.h"
#include "controller.h"
#include "plugins/slurm/bitmap_iter.h"
#include "plugins/license_text.h"
#include "util/mem.h"

static struct {
	uint64_t epoch;
	int size;			/* nodes */
	struct vs_vm_type *kinds;		/* by their indexes */
	char **names;			/* of licenses; NULL at the end */
	int *adapters;			/* of each name; -1: of all */
	size_t n;
} site;

/* ---- what is counted ---------------------------------------------------------- */

static void name_add(const char *name, int adapter)
{
	if (!vs_license_listed(slurm_conf.licenses, name) || strpbrk(name, VS_LICENSE_ENDS "|("))
		return;
	site.names = vs_realloc(site.names, site.n + 2, sizeof(*site.names));
	site.adapters = vs_realloc(site.adapters, site.n + 1,
				   sizeof(*site.adapters));
	site.adapters[site.n] = adapter;
	site.names[site.n++] = vs_strdup(name);
	site.names[site.n] = NULL;
}

static void clear(void)
{
	for (size_t i = 0; i < site.n; i++)
		free(site.names[i]);
	free(site.names);
	free(site.adapters);
	free(site.kinds);
	memset(&site, 0, sizeof(site));
}

static void kinds_renew(const struct vs_core_api *core, char ***names)
{
	bitstr_t *every = bit_alloc(site.size);
	VS_FREE int *ids = NULL, *at = NULL;
	VS_FREE struct vs_vm_type *kinds = NULL;
	size_t n;

	bit_set_all(every);
	n = vs_cluster_ids(every, &ids, &at);
	FREE_NULL_BITMAP(every);
	kinds = vs_calloc(n + 1, sizeof(*kinds));
	core->kinds(ids, n, kinds, names);
	site.kinds = vs_calloc((size_t)site.size + 1, sizeof(*site.kinds));
	for (int i = 0; i < site.size; i++)
		site.kinds[i].adapter = -1;
	for (size_t i = 0; i < n; i++)
		site.kinds[at[i]] = kinds[i];
}

/* False: nothing is counted here. */
static bool counts(void)
{
	const struct vs_core_api *core = vs_cluster_core();
	char **names = NULL;

	if (!core || !slurm_conf.licenses || node_record_count <= 0)
		return false;
	if (site.kinds && site.epoch == core->epoch() &&
	    site.size == node_record_count)
		return site.n;
	clear();
	site.epoch = core->epoch();
	site.size = node_record_count;
	kinds_renew(core, &names);
	name_add(VS_LICENSE_ALL, -1);
	for (int a = 0; names && names[a]; a++) {
		if (strcmp(names[a], VS_LICENSE_ALL))
			name_add(names[a], a);
		free(names[a]);
	}
	free(names);
	return site.n;
}

/* Of that name, on that node: VFs; or VMs, of an adapter without. */
static uint32_t on_node(size_t name, int node)
{
	const struct vs_vm_type *k = &site.kinds[node];
	bool its = site.adapters[name] == k->adapter;

	if (k->adapter < 0 || !(its || site.adapters[name] < 0))
		return 0;
	return its && !k->vfs ? 1 : (uint32_t)k->vfs;
}

static uint32_t sum(size_t name, const bitstr_t *nodes, int but)
{
	bitstr_t *bits = (bitstr_t *)nodes;
	uint32_t n = 0;

	VS_EACH_BIT(i, bits)
		if (i < site.size && i != but)
			n += on_node(name, i);
	return n;
}

static uint32_t least(size_t name, const bitstr_t *nodes)
{
	bitstr_t *bits = (bitstr_t *)nodes;
	uint32_t n = UINT32_MAX;

	VS_EACH_BIT(i, bits) {
		n = MIN(n, i < site.size ? on_node(name, i) : 0);
		if (!n)
			break;
	}
	return n == UINT32_MAX ? 0 : n;
}

static void word_add(char **text, size_t name, uint32_t n)
{
	char *more = vs_asprintf("%s%s%s:%u", *text ? *text : "",
				 *text ? "," : "", site.names[name], n);

	free(*text);
	*text = more;
}

/* ---- what the limits are judged by ---------------------------------------------- */

static bool is_asked(const struct vs_test *t)
{
	return t->job_ptr->job_id && t->job_ptr->tres_req_cnt &&
	       t->mode != SELECT_MODE_TEST_ONLY && counts();
}

/* Those that it asks none of, too: the last test's number may stand there. By
 * text newer Slurm would drop them. */
static void ask(vs_list_t list, size_t name, uint32_t n)
{
	licenses_t *one = xmalloc(sizeof(*one));

	one->name = xstrdup(site.names[name]);
	one->total = n;
	list_append(list, one);
}

void vs_account_least(const struct vs_test *t, const bitstr_t *bitmap)
{
	vs_list_t list;

	if (!is_asked(t))
		return;
	list = list_create(license_free_rec);
	for (size_t i = 0; i < site.n; i++)
		ask(list, i, least(i, bitmap) * MAX(t->min, 1));
	license_set_job_tres_cnt(list, t->job_ptr->tres_req_cnt, false);
	FREE_NULL_LIST(list);
}

void vs_accounting_request(const struct vs_test *t, const bitstr_t *bitmap)
{
	vs_list_t list;

	if (!is_asked(t))
		return;
	list = list_create(license_free_rec);
	for (size_t i = 0; i < site.n; i++)
		ask(list, i, sum(i, bitmap, -1));
	license_set_job_tres_cnt(list, t->job_ptr->tres_req_cnt, false);
	FREE_NULL_LIST(list);
}

/* Alternatives ("a|b") leave no room for a license that is had besides, and a job
 * that is not counted would pass each limit: it gets no node that counts. */
void vs_accounting_block(const struct vs_test *t, bitstr_t *bitmap)
{
	if (!t->job_ptr->job_id ||
	    !vs_license_alternatives(t->job_ptr->licenses) || !counts())
		return;
	for (int i = 0; i < MIN(site.size, (int)bit_size(bitmap)); i++)
		for (size_t l = 0; l < site.n; l++)
			if (on_node(l, i))
				bit_clear(bitmap, i);
}

/* ---- what it has ---------------------------------------------------------------- */

static int is_ours(void *x, void *key)
{
	const licenses_t *license = x;

	(void)key;
	for (size_t i = 0; i < site.n; i++)
		if (!xstrcmp(license->name, site.names[i]))
			return 1;
	return 0;
}

/* "a:1,vf:2" is "a:1" then. In place, once over the text: an update's may be as
 * long as its message, and slurmctld's locks are held. */
static void words_drop(job_record_t *job_ptr)
{
	char *text = job_ptr->licenses, *to = text;

	for (const char *at = text; at && *at; at += !!*at) {
		size_t len = strcspn(at, ",;");
		bool ours = false;

		for (size_t i = 0; i < site.n; i++)
			ours |= vs_license_named(at, site.names[i]);
		if (len && !ours) {
			if (to > text)
				*to++ = ',';
			memmove(to, at, len);
			to += len;
		}
		at += len;
	}
	if (to == text)
		xfree(job_ptr->licenses);
	else
		*to = '\0';
}

/* Takes the licenses of VFs out of the job's list; NULL: there are none. */
static vs_list_t list_drop(job_record_t *job_ptr)
{
	vs_list_t ours = NULL;
	void *one;

	while (job_ptr->license_list &&
	       (one = list_remove_first(job_ptr->license_list, is_ours, NULL))) {
		if (!ours)
			ours = list_create(license_free_rec);
		list_append(ours, one);
	}
	if (job_ptr->license_list && !list_count(job_ptr->license_list))
		FREE_NULL_LIST(job_ptr->license_list);
	return ours;
}

/* One that runs since before vs_accounting_block(), or was given them while it
 * ran. */
static bool has_alternatives(const job_record_t *job_ptr)
{
	return vs_license_alternatives(job_ptr->licenses);
}

static void set(job_record_t *job_ptr, int but, bool taken)
{
	VS_FREE char *text = NULL;
	vs_list_t list;

	for (size_t i = 0; job_ptr->node_bitmap && i < site.n; i++) {
		uint32_t n = sum(i, job_ptr->node_bitmap, but);

		if (n)
			word_add(&text, i, n);
	}
	list = text ? vs_licenses_read(text) : NULL;
	if (!list)
		return;
	if (taken)
		vs_licenses_take(job_ptr, list);
	if (!job_ptr->license_list) {
		job_ptr->license_list = list;
	} else {
		list_transfer(job_ptr->license_list, list);
		FREE_NULL_LIST(list);
	}
	xstrfmtcat(job_ptr->licenses, "%s%s", job_ptr->licenses ? "," : "",
		   text);
}

void vs_account_begin(job_record_t *job_ptr)
{
	vs_list_t old;

	if (!counts() || has_alternatives(job_ptr))
		return;
	old = list_drop(job_ptr);
	FREE_NULL_LIST(old);
	words_drop(job_ptr);
	set(job_ptr, -1, false);
}

void vs_account_resized(job_record_t *job_ptr, const node_record_t *lost)
{
	vs_list_t old;

	if (!counts() || has_alternatives(job_ptr))
		return;
	/* Its owner may have taken all licenses off it while it ran. */
	if ((old = list_drop(job_ptr)))
		vs_licenses_return(job_ptr, old);
	FREE_NULL_LIST(old);
	words_drop(job_ptr);
	set(job_ptr, (int)lost->index, true);
	vs_licenses_changed(job_ptr);
}

static int is_same(void *x, void *key)
{
	return vs_licenses_same(x, key);
}

/* Moves the licenses that users asked for, after those of slurm-vsphere are
 * gone. Slurm merges the licenses of both jobs next, and finds none left to
 * merge: a newer Slurm joins them as text, and never returns licenses read from
 * text. */
static void own_move(job_record_t *from, job_record_t *to)
{
	licenses_t *one, *same;

	if (from->license_list && !to->license_list)
		to->license_list = list_create(license_free_rec);
	while (from->license_list && (one = list_pop(from->license_list))) {
		same = list_find_first(to->license_list, is_same, one);
		if (!same) {
			list_append(to->license_list, one);
			continue;
		}
		same->total += one->total;
		same->used += one->used;
		license_free_rec(one);
	}
	if (from->license_list) {
		xfree(to->licenses);
		to->licenses = license_list_to_string(to->license_list);
	}
	FREE_NULL_LIST(from->license_list);
	xfree(from->licenses);
}

/* A job with alternatives has no licenses of VFs: what it names is its own choice. */
static void moved_drop(job_record_t *job_ptr)
{
	vs_list_t old;

	if (has_alternatives(job_ptr))
		return;
	if ((old = list_drop(job_ptr)))
		vs_licenses_return(job_ptr, old);
	FREE_NULL_LIST(old);
	words_drop(job_ptr);
}

void vs_account_moved(job_record_t *from, job_record_t *to)
{
	if (!counts())
		return;
	moved_drop(to);
	moved_drop(from);
	if (!has_alternatives(from) && !has_alternatives(to)) {
		own_move(from, to);
		set(to, -1, true);
	}
	if (!has_alternatives(from))
		vs_licenses_changed(from);
	if (!has_alternatives(to))
		vs_licenses_changed(to);
}

void vs_account_end(job_record_t *job_ptr)
{
	vs_list_t old;

	if (!counts() || !(old = list_drop(job_ptr)))
		return;
	vs_licenses_return(job_ptr, old);
	FREE_NULL_LIST(old);
	words_drop(job_ptr);
}
