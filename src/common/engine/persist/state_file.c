/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The hints file in StateSaveLocation: what neither Slurm nor vCenter knows,
 * so that a restart doesn't forget it: hosts and PFs that failed lately or were
 * drained by an operator, breakers, what each PF was, the removal limit, how
 * many VMs were made in the last hour, and whether vCenter takes clones with
 * devices. Never trusted: a file that can't be read, or an entry that isn't as
 * expected, is left out, and nothing else follows from it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "engine/state/core_i.h"
#include "engine/persist/persist.h"
#include "util/buf.h"
#include "util/json.h"
#include "util/mem.h"
#include "util/time.h"

#define HINTS_MAX (8 << 20)
#define SAVE_MS 1000

static char *hints_path(const char *state_dir)
{
	return vs_asprintf("%s/slurm_vsphere.hints", state_dir);
}

/* ---- writing ---------------------------------------------------------------- */

static const char *const causes[] = {
	[VS_AVOID_FAILED] = "failed", [VS_AVOID_BROKEN] = "broken",
	[VS_AVOID_DRAINED] = "drained", [VS_AVOID_SICK] = "sick",
	[VS_AVOID_LICENCE] = "licence",
};

static struct json_object *avoids_json(const struct vs_core *c)
{
	int64_t epoch_ms = vs_wall_ms() - vs_clock();
	struct json_object *arr = vs_jb_arr();

	for (const struct vs_avoid *a = c->avoids; a; a = a->next) {
		struct json_object *o;

		if (a->cause == VS_AVOID_DRIFTED)
			continue;	/* found again by the PFs */
		o = vs_jb_obj(NULL);
		vs_jb_str(o, "cause", causes[a->cause]);
		vs_jb_str(o, "host", a->moid);
		vs_jb_str(o, "pf", a->pf);
		if (a->until_ms != VS_AVOID_FOREVER)
			vs_jb_int(o, "until", (epoch_ms + a->until_ms) / 1000);
		vs_jb_str(o, "why", a->why);
		if (a->requeue)
			vs_jb_bool(o, "requeue", true);
		vs_jb_add(arr, o);
	}
	return arr;
}

static struct json_object *breakers_json(const struct vs_core *c)
{
	struct json_object *arr = vs_jb_arr();

	for (const struct vs_breaker *b = c->breakers; b; b = b->next) {
		struct json_object *o;

		if (!b->trips)
			continue;
		o = vs_jb_obj(NULL);
		vs_jb_str(o, "host", b->host);
		vs_jb_int(o, "trips", b->trips);
		vs_jb_add(arr, o);
	}
	return arr;
}

static struct json_object *prints_json(const struct vs_core *c)
{
	struct json_object *arr = vs_jb_arr();

	for (const struct vs_print *p = c->prints; p; p = p->hh.next) {
		struct json_object *o = vs_jb_obj(NULL), *pfs = vs_jb_arr();

		vs_jb_str(o, "host", p->host);
		for (int i = 0; i < p->npfs; i++) {
			struct json_object *pf = vs_jb_obj(NULL);

			vs_jb_str(pf, "pci", p->pfs[i].pci);
			vs_jb_str(pf, "pnic", p->pfs[i].pnic);
			vs_jb_int(pf, "vfs", p->pfs[i].vfs);
			vs_jb_add(pfs, pf);
		}
		vs_jb_put(o, "pfs", pfs);
		vs_jb_add(arr, o);
	}
	return arr;
}

static struct json_object *brake_json(const struct vs_core *c)
{
	struct json_object *brake = vs_jb_obj(NULL), *ends = vs_jb_arr();
	struct json_object *asked = vs_jb_arr();

	for (const struct vs_brake_end *e = c->brake.ends; e; e = e->hh.next) {
		struct json_object *o = vs_jb_obj(NULL);

		vs_jb_str(o, "vm", e->vm);
		vs_jb_int(o, "minute", e->minute);
		vs_jb_bool(o, "confirmed", e->confirmed);
		vs_jb_add(ends, o);
	}
	for (const struct vs_brake_asked *a = c->brake.asked; a;
	     a = a->hh.next) {
		struct json_object *o = vs_jb_obj(NULL);

		vs_jb_str(o, "node", a->node);
		vs_jb_str(o, "vm", a->vm);
		vs_jb_int(o, "minute", a->minute);
		vs_jb_add(asked, o);
	}
	vs_jb_bool(brake, "on", c->brake.on);
	vs_jb_put(brake, "ends", ends);
	vs_jb_put(brake, "asked", asked);
	return brake;
}

static struct json_object *clones_json(const struct vs_core *c)
{
	const struct vs_clones *k = &c->clones;
	struct json_object *arr = vs_jb_arr();

	for (int i = VS_CLONES_MINUTES - 1; i >= 0; i--) {
		int64_t minute = k->minute - i;
		struct json_object *o;

		if (minute <= 0 || !k->made[minute % VS_CLONES_MINUTES])
			continue;
		o = vs_jb_obj(NULL);
		vs_jb_int(o, "minute", minute);
		vs_jb_int(o, "made", k->made[minute % VS_CLONES_MINUTES]);
		vs_jb_add(arr, o);
	}
	return arr;
}

static struct json_object *to_json(const struct vs_core *c)
{
	struct json_object *top = vs_jb_obj(NULL);

	vs_jb_put(top, "avoid", avoids_json(c));
	vs_jb_put(top, "windows", vs_windows_json(c));
	vs_jb_put(top, "drains", vs_health_json(c));
	vs_jb_int(top, "health_drains", c->conf->health_drains);
	vs_jb_put(top, "breakers", breakers_json(c));
	vs_jb_put(top, "pfs", prints_json(c));
	vs_jb_put(top, "brake", brake_json(c));
	vs_jb_put(top, "clones", clones_json(c));
	vs_jb_put(top, "clone_devices_refused", vs_clone_way_json(c));
	vs_jb_put(top, "vmotions", vs_vmotions_json(c));
	vs_jb_put(top, "orders", vs_orders_json(c));	/* lends the lock: last */
	return top;
}

struct json_object *vs_hints_due(struct vs_core *c, int64_t now_ms,
				 char **path)
{
	uint64_t epoch = c->epoch;
	struct json_object *top;

	vs_assert_locked();
	if (!c->hints_dirty || !c->hints_loaded || now_ms < c->hints_save_ms)
		return NULL;
	c->hints_dirty = false;
	c->hints_save_ms = now_ms + SAVE_MS;
	*path = hints_path(c->conf->state_dir);
	top = to_json(c);
	/* Half of it is of the configuration before: soon again. */
	if (epoch != c->epoch)
		c->hints_dirty = true;
	return top;
}

void vs_hints_write(struct json_object *top_take, char *path_take)
{
	VS_FREE char *path = path_take, *text = vs_jb_text_free(top_take);
	struct vs_err err = { 0 };

	if (text && vs_file_replace(path, text, &err))
		vs_error("hints are not saved: %s", err.text);
}

/* ---- reading ----------------------------------------------------------------- */

static enum vs_avoid_cause cause_of(const char *name)
{
	for (size_t i = 0; i < VS_COUNT(causes); i++)
		if (!strcmp(causes[i], name))
			return (enum vs_avoid_cause)i;
	return VS_AVOID_FAILED;
}

/* Until somebody says so. */
static bool lasting(enum vs_avoid_cause cause)
{
	return cause == VS_AVOID_DRAINED || cause == VS_AVOID_SICK;
}

/* A clock that was set must not lock a host out for years. */
static bool sane(enum vs_avoid_cause cause, int64_t left_ms)
{
	return lasting(cause) || (left_ms > 0 &&
		left_ms <= (cause == VS_AVOID_BROKEN ? VS_BREAKER_MAX_MS :
			    VS_AVOID_HOST_MS));
}

static void read_avoids(struct vs_core *c, struct vs_j list)
{
	int64_t epoch_ms = vs_wall_ms() - vs_clock(), now_ms = vs_clock();

	for (size_t i = 0; i < vs_j_len(list); i++) {
		struct vs_j j = vs_j_at(list, i);
		const char *host = vs_j_str(vs_j_get(j, "host"));
		const char *pf = vs_j_str_or(vs_j_opt(j, "pf"), "");
		const char *why = vs_j_str_or(vs_j_opt(j, "why"), "");
		const char *cause = vs_j_str_or(vs_j_opt(j, "cause"), "");
		int64_t until = vs_j_int_or(vs_j_opt(j, "until"), 0);
		enum vs_avoid_cause which = cause_of(cause);

		if (list.doc->err.code)
			return;
		if (until < 0 || until > INT64_MAX / 2000)
			continue;
		until = until * 1000 - epoch_ms;
		if (sane(which, until - now_ms))
			vs_avoid_put(c, which, host, pf,
				     lasting(which) ?
				     VS_AVOID_FOREVER : until, why);
		if (vs_j_bool_or(vs_j_opt(j, "requeue"), false))
			vs_avoid_requeue(c, host);
	}
}

static void read_breakers(struct vs_core *c, struct vs_j list)
{
	for (size_t i = 0; i < vs_j_len(list); i++) {
		struct vs_j j = vs_j_at(list, i);
		const char *host = vs_j_str(vs_j_get(j, "host"));
		int64_t trips = vs_j_int(vs_j_get(j, "trips"));

		if (list.doc->err.code)
			return;
		if (trips > 0)
			vs_breaker_make(c, host)->trips =
				trips < 100 ? (int)trips : 100;
	}
}

static void read_prints(struct vs_core *c, struct vs_j list)
{
	for (size_t i = 0; i < vs_j_len(list); i++) {
		struct vs_j j = vs_j_at(list, i), pfs = vs_j_get(j, "pfs");
		const char *host = vs_j_str(vs_j_get(j, "host"));
		struct vs_print now = { 0 }, *p;
		size_t n = vs_j_len(pfs);

		for (size_t k = 0; k < n && now.npfs < VS_HOST_PFS; k++) {
			struct vs_pf_print *pf = &now.pfs[now.npfs++];
			struct vs_j jp = vs_j_at(pfs, k);
			int64_t vfs = vs_j_int(vs_j_get(jp, "vfs"));

			vs_strlcpy(pf->pci, vs_j_str(vs_j_get(jp, "pci")),
				   sizeof(pf->pci));
			vs_strlcpy(pf->pnic, vs_j_str(vs_j_get(jp, "pnic")),
				   sizeof(pf->pnic));
			pf->vfs = vfs < 0 ? 0 : vfs > 65536 ? 65536 : (int)vfs;
		}
		if (list.doc->err.code)
			return;
		p = vs_print_make(c, host);
		p->npfs = now.npfs;
		memcpy(p->pfs, now.pfs, sizeof(p->pfs));
	}
}

static void read_brake(struct vs_core *c, struct vs_j j)
{
	bool on = vs_j_bool_or(vs_j_opt(j, "on"), false);
	struct vs_j list = vs_j_opt(j, "ends");

	for (size_t i = 0; i < vs_j_len(list); i++) {
		struct vs_j e = vs_j_at(list, i);
		const char *vm = vs_j_str(vs_j_get(e, "vm"));
		int64_t minute = vs_j_int(vs_j_get(e, "minute"));

		if (j.doc->err.code)
			break;
		vs_brake_count(&c->brake, vm, minute,
			       vs_j_bool_or(vs_j_opt(e, "confirmed"), false));
	}
	list = vs_j_opt(j, "asked");
	for (size_t i = 0; i < vs_j_len(list) && !j.doc->err.code; i++) {
		struct vs_j e = vs_j_at(list, i);
		const char *node = vs_j_str(vs_j_get(e, "node"));
		const char *vm = vs_j_str(vs_j_get(e, "vm"));
		int64_t minute = vs_j_int(vs_j_get(e, "minute"));

		if (!j.doc->err.code)
			vs_brake_asked_at(&c->brake, node, vm, minute);
	}
	if (j.doc->err.code)
		vs_brake_clear(&c->brake);
	else
		c->brake.on = on;
	if (c->brake.on)
		vs_error("the brake is on since before the restart: look with svf reconcile, go on with svf reconcile --confirm");
}

/* In the order of time; of the future there are none. */
static void read_clones(struct vs_core *c, struct vs_j list)
{
	int64_t now = vs_wall_ms() / 60000;

	for (size_t i = 0; i < vs_j_len(list); i++) {
		struct vs_j j = vs_j_at(list, i);
		int64_t minute = vs_j_int(vs_j_get(j, "minute"));
		int64_t made = vs_j_int(vs_j_get(j, "made"));

		if (list.doc->err.code)
			return;
		if (minute > now - VS_CLONES_MINUTES && minute <= now &&
		    made > 0 && made < 1000000)
			vs_clones_note(&c->clones, minute, (int)made);
	}
}

static int read_file(const char *path, struct vs_buf *buf)
{
	VS_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	char part[4096];
	ssize_t n;

	if (fd < 0)
		return errno == ENOENT ? 0 : -1;
	while ((n = read(fd, part, sizeof(part))) > 0)
		if (vs_buf_add(buf, part, (size_t)n))
			return -1;
	return n < 0 ? -1 : 0;
}

/* The file's text, NULL if there is none that can be read. */
char *vs_hints_read(const char *state_dir)
{
	VS_FREE char *path = hints_path(state_dir);
	struct vs_buf buf = VS_BUF_INIT(HINTS_MAX);

	if (!read_file(path, &buf))
		return buf.data;
	vs_info("%s can't be read: its hints are left out", path);
	vs_buf_free(&buf);
	return NULL;
}

/* Once, before the first comparison. */
void vs_hints_load(struct vs_core *c, const char *text)
{
	struct vs_err err = { 0 };
	struct vs_jdoc doc;

	if (c->hints_loaded)
		return;
	c->hints_loaded = true;
	if (!text)
		return;
	if (vs_jdoc_parse(&doc, text, strlen(text), &err)) {
		vs_info("the hints file is none (%s): left out", err.text);
		return;
	}
	read_avoids(c, vs_j_opt(vs_j_root(&doc), "avoid"));
	doc.err.code = VS_OK;
	vs_windows_read(c, vs_j_opt(vs_j_root(&doc), "windows"));
	doc.err.code = VS_OK;
	vs_health_read(c, vs_j_opt(vs_j_root(&doc), "drains"));
	doc.err.code = VS_OK;
	vs_health_limit(c, (int)vs_j_int_or(
		vs_j_opt(vs_j_root(&doc), "health_drains"), -1));
	doc.err.code = VS_OK;
	read_breakers(c, vs_j_opt(vs_j_root(&doc), "breakers"));
	doc.err.code = VS_OK;
	read_prints(c, vs_j_opt(vs_j_root(&doc), "pfs"));
	doc.err.code = VS_OK;
	read_brake(c, vs_j_opt(vs_j_root(&doc), "brake"));
	doc.err.code = VS_OK;
	read_clones(c, vs_j_opt(vs_j_root(&doc), "clones"));
	doc.err.code = VS_OK;
	vs_clone_way_read(c, vs_j_opt(vs_j_root(&doc),
				      "clone_devices_refused"));
	doc.err.code = VS_OK;
	vs_vmotions_read(c, vs_j_opt(vs_j_root(&doc), "vmotions"));
	doc.err.code = VS_OK;
	vs_orders_read(c, vs_j_opt(vs_j_root(&doc), "orders"));
	vs_jdoc_free(&doc);
}
