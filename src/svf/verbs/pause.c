/* SPDX-License-Identifier: GPL-2.0-or-later */
/* svf pause, resume: stop all calls that change vCenter, and permit them again. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "verbs.h"
#include "util/mem.h"
#include "util/name.h"

char *svf_pause_text(struct vs_j paused)
{
	const char *reason = vs_j_str_or(vs_j_opt(paused, "reason"), "");
	char clock[32];

	svf_clock(vs_j_int_or(vs_j_opt(paused, "since"), 0), SVF_DAY, clock);
	return vs_asprintf("by %s%s%s%s%s",
			   vs_j_str_or(vs_j_opt(paused, "user"), "?"),
			   clock[0] ? " since " : "", clock,
			   reason[0] ? ": " : "", reason);
}

/* ---- pause ------------------------------------------------------------------- */

static char *paused_line(struct vs_j top)
{
	int64_t n = vs_j_int_or(vs_j_opt(top, "in_flight"), 0);
	VS_FREE char *text = svf_pause_text(vs_j_get(top, "paused"));
	struct vs_j was = vs_j_opt(top, "replaced");
	VS_FREE char *had = vs_j_null(was) ? NULL : svf_pause_text(was);
	VS_FREE char *flight = !n ? vs_strdup("") : vs_asprintf(
		"; %" PRId64 " operation%s in flight end%s by %s", n,
		vs_plural((uint64_t)n), n == 1 ? "s" : "",
		n == 1 ? "itself" : "themselves");

	return vs_asprintf("slurm-vsphere is paused %s%s%s%s", text, flight,
			   had ? "; this replaces the pause " : "",
			   had ? had : "");
}

static int run_pause(const struct svf *s)
{
	VS_FREE char *text = svf_args_join(s, 0, " ");
	struct vs_jdoc doc;
	int rc;

	if (!text[strspn(text, " ")])
		return svf_wrong("pause", "a reason is expected, which users see");
	if (!svf_reason_fits("pause", text))
		return SVF_USAGE;
	rc = svf_request("pause", "", text, &doc);
	return rc ? rc : svf_finish(s, &doc, paused_line(vs_j_root(&doc)));
}

const struct svf_verb svf_pause = {
	.name = "pause", .args = "REASON", .run = run_pause,
	.what = "stop all calls that change vCenter",
	.help =
"Until svf resume, no VM is cloned, moved, changed, powered on or off, or\n"
"destroyed. Running jobs continue, and no job begins on a managed node. squeue\n"
"shows \"paused by USER: REASON\". The pause survives restarts and failover of\n"
"slurmctld. A second svf pause replaces user and reason, and its answer shows\n"
"the first ones. (root, SlurmUser, operators)\n"
"\n"
"Operations in flight end by themselves, and vCenter is read as before. A job whose\n"
"VMs are being started waits in its prolog. ProvisionTimeout does not count that\n"
"time.\n",
};

/* ---- resume ------------------------------------------------------------------ */

static int run_resume(const struct svf *s)
{
	VS_FREE char *text = NULL;
	struct vs_jdoc doc;
	int rc = svf_no_arguments(s, "resume");

	if (rc || (rc = svf_request("pause-end", "", "", &doc)))
		return rc;
	text = svf_pause_text(vs_j_get(vs_j_root(&doc), "paused"));
	return svf_finish(s, &doc, vs_asprintf(
		"slurm-vsphere changes vCenter again; it was paused %s", text));
}

const struct svf_verb svf_resume = {
	.name = "resume", .args = "", .run = run_resume,
	.what = "permit all calls that change vCenter again",
	.help =
"Ends svf pause. Jobs that waited for it begin at once. If slurm-vsphere is not\n"
"paused, the command fails and changes nothing. (root, SlurmUser, operators)\n",
};
