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

static struct json_object *to_json(const struct vs_core *c)
{
	struct json_object *top = vs_jb_obj(NULL);

	vs_jb_put(top, "avoid", vs_avoids_json());
	vs_jb_put(top, "windows", vs_windows_json());
	vs_jb_put(top, "drains", vs_health_json(c));
	vs_jb_int(top, "health_drains", c->conf->health_drains);
	vs_jb_put(top, "breakers", vs_breakers_json());
	vs_jb_put(top, "pfs", vs_prints_json());
	vs_jb_put(top, "brake", vs_brake_json());
	vs_jb_put(top, "clones", vs_clones_json());
	vs_jb_put(top, "clone_devices_refused", vs_clone_way_json());
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
	if (!vs_state_file_due(now_ms, SAVE_MS))
		return NULL;
	*path = hints_path(c->conf->state_dir);
	top = to_json(c);
	/* Half of it is of the configuration before: soon again. */
	if (epoch != c->epoch)
		vs_state_file_dirty();
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

	if (vs_state_file_is_read())
		return;
	vs_state_file_read_done(true);
	if (!text)
		return;
	if (vs_jdoc_parse(&doc, text, strlen(text), &err)) {
		vs_info("the hints file is none (%s): left out", err.text);
		return;
	}
	vs_avoids_read(c, vs_j_opt(vs_j_root(&doc), "avoid"));
	doc.err.code = VS_OK;
	vs_windows_read(c, vs_j_opt(vs_j_root(&doc), "windows"));
	doc.err.code = VS_OK;
	vs_health_read(c, vs_j_opt(vs_j_root(&doc), "drains"));
	doc.err.code = VS_OK;
	vs_health_limit(c, (int)vs_j_int_or(
		vs_j_opt(vs_j_root(&doc), "health_drains"), -1));
	doc.err.code = VS_OK;
	vs_breakers_read(vs_j_opt(vs_j_root(&doc), "breakers"));
	doc.err.code = VS_OK;
	vs_prints_read(vs_j_opt(vs_j_root(&doc), "pfs"));
	doc.err.code = VS_OK;
	vs_brake_read(vs_j_opt(vs_j_root(&doc), "brake"));
	doc.err.code = VS_OK;
	vs_clones_read(vs_j_opt(vs_j_root(&doc), "clones"));
	doc.err.code = VS_OK;
	vs_clone_way_read(vs_j_opt(vs_j_root(&doc),
				      "clone_devices_refused"));
	doc.err.code = VS_OK;
	vs_vmotions_read(c, vs_j_opt(vs_j_root(&doc), "vmotions"));
	doc.err.code = VS_OK;
	vs_orders_read(c, vs_j_opt(vs_j_root(&doc), "orders"));
	vs_jdoc_free(&doc);
}
