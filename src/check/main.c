/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurm-vsphere-check: the checks of slurm-vsphere without slurmctld, for
 * `svf check --standalone`. svf links no client of vCenter, so that a login node needs
 * none. This program links it, and lies beside the core, on the controller.
 *
 * It reads slurm.conf by Slurm's own code and vsphere.conf by the plugins', logs in to
 * vCenter, and prints one JSON document: what was tried, step by step, and the findings
 * as `svf check` has them. It changes nothing in vCenter. It writes one file: a login
 * that vCenter refused is noted for slurmctld, which would try it again at its start.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "check.h"
#include "engine/persist/persist.h"
#include "engine/run/run.h"
#include "util/json.h"
#include "util/log.h"
#include "util/mem.h"

#define PATIENCE_MS 60000

/* svf's exit codes. */
enum { DONE = 0, FOUND = 1, WRONG_USE = 2, NO_ANSWER = 3, REFUSED = 4, BAD_FILE = 5 };

static struct json_object *top, *steps;
static bool reading;			/* slurm.conf, and exit() may be called */

static void step(const char *name, const char *result, const char *text,
		 const char *fix)
{
	struct json_object *o = vs_jb_obj(NULL);

	vs_jb_str(o, "step", name);
	vs_jb_str(o, "result", result);
	vs_jb_str(o, "text", text);
	vs_jb_str(o, "fix", fix);
	vs_jb_add(steps, o);
}

static void print(void)
{
	VS_FREE char *text = NULL;

	vs_jb_put(top, "steps", steps);
	text = vs_jb_text_free(top);
	puts(text);
	fflush(stdout);
}

/* ---- slurm.conf ------------------------------------------------------------- */

/* Slurm's parser ends the process after its own line on standard error. */
static void at_exit(void)
{
	if (!reading)
		return;
	step("slurm.conf", "failed", "Slurm can't read slurm.conf, as it says above",
	     "correct slurm.conf, or set SLURM_CONF to the right file");
	print();
	_exit(BAD_FILE);
}

static int slurm_read(void)
{
	unsigned int slurm_user;
	const char *path;

	atexit(at_exit);
	reading = true;
	path = check_slurm_read(&slurm_user);
	reading = false;
	if (geteuid() && geteuid() != slurm_user) {
		step("slurm.conf", "failed", "the password file of vsphere.conf may be read by SlurmUser and root alone",
		     "run svf check --standalone as root");
		return BAD_FILE;
	}
	step("slurm.conf", "ok", path, NULL);
	return DONE;
}

static void viewer(void *ctx, struct vs_viewer *v)
{
	(void)ctx;
	v->is_operator = v->sees_jobs = v->sees_nodes = true;
}

static const struct vs_slurm_ops port = {
	.viewer = viewer, .slurm_check = check_slurm_conf,
};

/* ---- vsphere.conf ----------------------------------------------------------- */

static struct vs_conf *conf_read(void)
{
	struct vs_err err = { 0 };
	VS_FREE char *path = NULL;
	struct vs_conf *conf = check_conf_read(&path, &err);

	if (conf)
		step("vsphere.conf", "ok", path, NULL);
	else
		step("vsphere.conf", "failed", err.text,
		     "correct vsphere.conf; svf conf shows it as it is read");
	return conf;
}

/* ---- vCenter ---------------------------------------------------------------- */

static const struct {
	const char *name, *fix;
	int code;
} vcenter_steps[VS_STEPS] = {
	[VS_STEP_CONNECTION] = { "connection",
		"look at VCenter= and the CA file of vsphere.conf, at name resolution, and at firewalls between this host and vCenter",
		NO_ANSWER },
	[VS_STEP_LOGIN] = { "login",
		"correct the user of vsphere.conf or the password in its password file; wait 5 minutes if the account is locked",
		REFUSED },
	[VS_STEP_NAMES] = { "names",
		"correct the name in vsphere.conf, create the object in vCenter, or give the account the right to read it",
		FOUND },
	[VS_STEP_INVENTORY] = { "inventory",
		"look at the account's rights and at vCenter's health", NO_ANSWER },
};

/* What slurmctld's own login has in its note. */
struct login { char *dir, *user, *file; unsigned int slurm_user; };

/* As SlurmUser, also if root runs this: slurmctld has to read the file, and to
 * remove it. StateSaveLocation may be on a share that gives root no rights. */
static void login_note(const struct login *l, bool refused)
{
	uid_t own = geteuid();

	if (!l->dir || (own != l->slurm_user && seteuid(l->slurm_user)))
		return;
	if (refused)
		vs_login_refused(l->dir, l->user, l->file);
	else
		vs_login_taken(l->dir);
	if (own != l->slurm_user && seteuid(own))
		fprintf(stderr, "slurm-vsphere-check: seteuid: %s\n",
			strerror(errno));
}

static int vcenter_read(struct vs_conf *conf)
{
	struct vs_standalone s;
	VS_FREE char *url = vs_strdup(conf->vcenter);
	VS_FREE char *dir = vs_strdup(conf->state_dir);
	VS_FREE char *user = vs_strdup(conf->username ? conf->username : "");
	VS_FREE char *file = vs_strdup(conf->password_file);
	const struct login login = { dir, user, file, conf->password_uid };
	struct json_object *found = vs_standalone_check(conf, &port,
							PATIENCE_MS, &s);
	const char *texts[VS_STEPS] = { s.about[0] ? s.about : url, s.user,
		"each name of vsphere.conf stands for one object", NULL };

	if (s.failed >= VS_STEP_LOGIN)
		login_note(&login, s.failed == VS_STEP_LOGIN &&
			   s.err.code == VS_E_LOGIN);
	for (int i = 0; i < VS_STEPS && i < (int)s.failed; i++)
		step(vcenter_steps[i].name, "ok", texts[i], NULL);
	if (s.failed < VS_STEPS)
		step(vcenter_steps[s.failed].name, "failed", s.err.text,
		     vcenter_steps[s.failed].fix);
	if (!found)
		return vcenter_steps[s.failed].code;
	vs_jb_free(top);
	top = found;
	return DONE;
}

static void log_line(enum vs_log_level level, const char *line)
{
	if (getenv("SVF_CHECK_VERBOSE"))
		fprintf(stderr, "%d: %s\n", level, line);
}

int main(int argc, char **argv)
{
	struct vs_conf *conf;
	int rc;

	if (argc > 1) {
		fprintf(stderr, "usage: %s\nsvf check --standalone runs it.\n",
			argv[0]);
		return WRONG_USE;
	}
	vs_log_to(log_line);
	top = vs_jb_obj(NULL);
	steps = vs_jb_arr();
	rc = slurm_read();
	if (!rc) {
		conf = conf_read();
		rc = conf ? vcenter_read(conf) : BAD_FILE;
	}
	print();
	return rc;
}
