/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What of each module the state file keeps: what neither Slurm nor vCenter knows,
 * so that a restart doesn't forget it. Hosts and PFs that failed lately or were
 * drained by an operator, breakers, what each PF was, the removal limit, an
 * operator's pause, how many VMs were made in the last hour, and whether vCenter takes
 * clones with devices. A member that a release does not know is passed over.
 *
 * Rules: the file is never trusted. A file that can't be read, or an entry that
 * isn't as expected, is left out, and nothing else follows from it. A file of a
 * newer format is neither read nor written, and vCenter is not logged in to. The
 * order of writing is that of reading.
 */
#include <string.h>
#include "engine/hosts/hosts.h"
#include "engine/maintenance/maintenance.h"
#include "engine/persist/persist.h"
#include "engine/run/run.h"
#include "engine/state/state.h"
#include "engine/tasks/tasks.h"
#include "util/json.h"
#include "util/mem.h"

#define SAVE_MS 1000

/* Of the file. It rises when a release of before must not run without what is new in
 * it; keys that such a release may leave out do not change it. A file without the
 * key "format" has format 1. */
#define FORMAT 1

static struct json_object *to_json(struct vs_core *c)
{
	struct json_object *top = vs_jb_obj(NULL);

	vs_jb_int(top, "format", FORMAT);
	vs_jb_put(top, "avoid", vs_avoids_json());
	vs_jb_put(top, "windows", vs_windows_json());
	vs_jb_put(top, "drains", vs_health_json(c));
	vs_jb_int(top, "health_drains", c->conf->host_drain_threshold);
	vs_jb_put(top, "breakers", vs_breakers_json());
	vs_jb_put(top, "pfs", vs_prints_json());
	vs_jb_put(top, "brake", vs_removal_limit_json());
	vs_jb_put(top, "paused", vs_pause_json());
	vs_jb_put(top, "clones", vs_clones_json());
	vs_jb_put(top, "clone_devices_taken", vs_clone_taken_json());
	vs_jb_put(top, "clone_devices_refused", vs_clone_refused_json());
	vs_jb_put(top, "vmotions", vs_vmotions_json(c));
	vs_jb_put(top, "orders", vs_vm_actions_json(c)); /* lends the lock: last */
	return top;
}

struct json_object *vs_state_file_snapshot(struct vs_core *c, int64_t now_ms,
					   char **dir)
{
	uint64_t epoch = c->epoch;
	struct json_object *top;

	vs_assert_locked();
	if (!vs_state_file_due(now_ms, SAVE_MS))
		return NULL;
	*dir = vs_strdup(c->conf->state_dir);
	top = to_json(c);
	/* Half of it is of the configuration before: soon again. */
	if (epoch != c->epoch)
		vs_state_file_dirty();
	return top;
}

/* What is wrong with one part says nothing of the next. */
static struct vs_j part(struct vs_jdoc *doc, const char *name)
{
	doc->err.code = VS_OK;
	return vs_j_opt(vs_j_root(doc), name);
}

static void load(struct vs_core *c, struct vs_jdoc *doc)
{
	vs_avoids_read(c, part(doc, "avoid"));
	vs_windows_read(c, part(doc, "windows"));
	vs_health_read(c, part(doc, "drains"));
	vs_health_limit(c, (int)vs_j_int_or(part(doc, "health_drains"), -1));
	vs_breakers_read(part(doc, "breakers"));
	vs_prints_read(part(doc, "pfs"));
	vs_removal_limit_read(part(doc, "brake"));
	vs_pause_read(part(doc, "paused"));
	vs_clones_read(part(doc, "clones"));
	vs_clone_taken_read(part(doc, "clone_devices_taken"));
	vs_clone_refused_read(part(doc, "clone_devices_refused"));
	vs_vmotions_read(c, part(doc, "vmotions"));
	vs_vm_actions_read(c, part(doc, "orders"));
}

int vs_state_file_load(struct vs_core *c, const char *text, struct vs_err *err)
{
	struct vs_err why = { 0 };
	struct vs_jdoc doc;
	int64_t format;

	if (vs_state_file_is_read())
		return 0;
	if (!text) {
		vs_state_file_read_done(true);
		return 0;
	}
	if (vs_jdoc_parse(&doc, text, strlen(text), &why)) {
		vs_info("the state file is not valid (%s): ignored", why.text);
		vs_state_file_read_done(true);
		return 0;
	}
	format = vs_j_int_or(part(&doc, "format"), FORMAT);
	if (format > FORMAT) {
		vs_jdoc_free(&doc);
		return vs_err_set(err, VS_E_CONFIG,
			"%s/slurm_vsphere.hints has format %lld, this release reads format %d: install the newer slurm-vsphere again, or move the file away and lose its drains and limits",
			c->conf->state_dir, (long long)format, FORMAT);
	}
	vs_state_file_read_done(true);
	load(c, &doc);
	vs_jdoc_free(&doc);
	return 0;
}
