/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A job, the core and Slurm's licenses, as vf_accounting.c meets them: of test_account
 * and test_account_grows. Lists are libslurmfull's, licenses are played by hand. */
#ifndef ACCOUNT_STAGE_H
#define ACCOUNT_STAGE_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include "cmocka_range.h"
#include "plugins/select/cons_tres_vsphere/vf_accounting.h"
#include "plugins/select/cons_tres_vsphere/controller.h"
#include "util/mem.h"

/* 0-3 sriov-roce, a VF each; 4, 5 pair, two VFs each; 6 vmxnet3; 7 unmanaged */
#define NODES 8
static const struct vs_vm_type kinds[NODES] = {
	{ .adapter = 0, .vfs = 1 }, { .adapter = 0, .vfs = 1 },
	{ .adapter = 0, .vfs = 1 }, { .adapter = 0, .vfs = 1 },
	{ .adapter = 1, .vfs = 2 }, { .adapter = 1, .vfs = 2 },
	{ .adapter = 2 },
};
#define OURS 7

static struct {
	uint64_t epoch;
	int roce_vfs;
	char asked[200], taken[200], returned[200];
	int changed;
} w;
static job_record_t job, other;
static uint64_t tres[4];
static struct vs_core_api api;

/* ---- the core -------------------------------------------------------------- */

static inline uint64_t epoch(void)
{
	return w.epoch;
}

static inline void kinds_of(const int *ids, size_t n, struct vs_vm_type *out,
		     char ***names)
{
	char **all = vs_calloc(4, sizeof(*all));

	for (size_t i = 0; i < n; i++) {
		out[i] = kinds[ids[i] - 100];
		if (!out[i].adapter)
			out[i].vfs = w.roce_vfs;
	}
	all[0] = vs_strdup("sriov-roce");
	all[1] = vs_strdup("pair");
	all[2] = vs_strdup("vmxnet3");
	*names = all;
}

const struct vs_core_api *vs_cluster_core(void)
{
	return &api;
}

size_t vs_cluster_ids(const bitstr_t *bitmap, int **ids, int **at)
{
	size_t n = 0;

	*ids = vs_calloc(NODES, sizeof(**ids));
	*at = vs_calloc(NODES, sizeof(**at));
	for (int i = 0; i < MIN(OURS, bit_size((bitstr_t *)bitmap)); i++) {
		if (!bit_test((bitstr_t *)bitmap, i))
			continue;
		(*ids)[n] = i + 100;
		(*at)[n++] = i;
	}
	return n;
}

/* ---- Slurm's licenses ------------------------------------------------------ */

void license_free_rec(void *x)
{
	licenses_t *one = x;

	if (one)
		xfree(one->name);
	xfree(one);
}

static inline int say(void *x, void *arg)
{
	licenses_t *one = x;
	char *out = arg;
	size_t len = strlen(out);

	snprintf(out + len, 200 - len, "%s%s:%u", len ? "," : "", one->name,
		 one->total);
	return 0;
}

static inline const char *words(vs_list_t list)
{
	static char out[200];

	out[0] = '\0';
	if (list)
		list_for_each(list, say, out);
	return out;
}

void license_set_job_tres_cnt(vs_list_t list, uint64_t *cnt, bool locked)
{
	assert_ptr_equal(cnt, tres);
	assert_false(locked);
	vs_strlcpy(w.asked, words(list), sizeof(w.asked));
}

vs_list_t vs_licenses_read(const char *text)
{
	vs_list_t list = list_create(license_free_rec);

	for (const char *at = text; *at; at += !!*at) {
		size_t len = strcspn(at, ",");
		const char *colon = memchr(at, ':', len);
		licenses_t *one = xmalloc(sizeof(*one));

		assert_non_null(colon);
		one->name = xstrndup(at, (size_t)(colon - at));
		one->total = (uint32_t)strtoul(colon + 1, NULL, 10);
		list_append(list, one);
		at += len;
	}
	return list;
}

void vs_licenses_take(job_record_t *job_ptr, vs_list_t list)
{
	assert_ptr_equal(job_ptr, &job);
	vs_strlcpy(w.taken, words(list), sizeof(w.taken));
}

void vs_licenses_return(job_record_t *job_ptr, vs_list_t list)
{
	size_t len = strlen(w.returned);

	assert_true(job_ptr == &job || job_ptr == &other);
	if (job_ptr == &job)
		len = 0;
	snprintf(w.returned + len, sizeof(w.returned) - len, "%s%s",
		 len ? " " : "", words(list));
}

void vs_licenses_changed(job_record_t *job_ptr)
{
	assert_true(job_ptr == &job || job_ptr == &other);
	if (job_ptr == &job)
		w.changed++;
}

bool vs_licenses_same(const licenses_t *a, const licenses_t *b)
{
	return !strcmp(a->name, b->name);
}

char *license_list_to_string(vs_list_t list)
{
	return list && list_count(list) ? xstrdup(words(list)) : NULL;
}

/* ---- the stage -------------------------------------------------------------- */

static inline bitstr_t *nodes(const char *digits)
{
	bitstr_t *bits = bit_alloc(NODES);

	for (; *digits; digits++)
		bit_set(bits, *digits - '0');
	return bits;
}

static inline int up(void **state)
{
	(void)state;
	w.epoch++;
	w.roce_vfs = 1;
	w.changed = 0;
	w.asked[0] = w.taken[0] = w.returned[0] = '\0';
	api.epoch = epoch;
	api.kinds = kinds_of;
	node_record_count = NODES;
	slurm_conf.licenses = xstrdup("vf:8,pair:4,vmxnet3:9,other:3");
	memset(&job, 0, sizeof(job));
	memset(&other, 0, sizeof(other));
	job.job_id = 7;
	job.tres_req_cnt = tres;
	return 0;
}

static inline int down(void **state)
{
	(void)state;
	xfree(slurm_conf.licenses);
	xfree(job.licenses);
	FREE_NULL_LIST(job.license_list);
	FREE_NULL_BITMAP(job.node_bitmap);
	xfree(other.licenses);
	FREE_NULL_LIST(other.license_list);
	FREE_NULL_BITMAP(other.node_bitmap);
	return 0;
}

/* What its limits are judged by, if it gets these. */
static inline const char *asks(const char *digits, uint16_t mode)
{
	struct vs_test t = { .job_ptr = &job, .mode = mode };
	bitstr_t *bits = nodes(digits);

	w.asked[0] = '\0';
	vs_accounting_request(&t, bits);
	FREE_NULL_BITMAP(bits);
	return w.asked;
}

static inline const char *at_least(uint32_t min, const char *digits)
{
	struct vs_test t = { .job_ptr = &job, .min = min };
	bitstr_t *bits = nodes(digits);

	w.asked[0] = '\0';
	vs_account_least(&t, bits);
	FREE_NULL_BITMAP(bits);
	return w.asked;
}

static inline void begin(const char *digits)
{
	FREE_NULL_BITMAP(job.node_bitmap);
	job.node_bitmap = nodes(digits);
	vs_account_begin(&job);
}

static inline void loses(int i)
{
	node_record_t lost = { .index = i };

	vs_account_resized(&job, &lost);
	bit_clear(job.node_bitmap, i);
}

/* "other:2", as its submission leaves it. */
static inline void has_its_own(const char *text)
{
	job.licenses = xstrdup(text);
	job.license_list = vs_licenses_read(text);
}

#define ACCOUNT(name) cmocka_unit_test_setup_teardown(name, up, down)

#endif
