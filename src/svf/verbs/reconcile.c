/* SPDX-License-Identifier: GPL-2.0-or-later */
/* svf reconcile, adopt: requests of an operator for the whole cluster. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "verbs.h"
#include "util/mem.h"
#include "util/name.h"

int svf_no_arguments(const struct svf *s, const char *verb)
{
	if (!s->argc)
		return SVF_OK;
	return svf_wrong(verb, "nothing is expected after it, not '%s'",
			 s->argv[0]);
}

/* The end of every order: print what came back in one line or as JSON. */
int svf_finish(const struct svf *s, struct vs_jdoc *doc, char *line)
{
	VS_FREE char *text = line;
	int rc;

	if (s->json)
		return svf_print_json(s, doc);
	rc = svf_read_failed(doc);
	if (!rc)
		puts(svf_clean(text));
	vs_jdoc_free(doc);
	return rc;
}

/* ---- reconcile --------------------------------------------------------------- */

static bool is_suspect(const struct svf_row *row)
{
	return vs_j_null(vs_j_opt(row->j, "description"));
}

static void put_confirmation(struct svf_table *t, const struct svf_row *row)
{
	svf_cell(t, "%s", vs_j_bool_or(vs_j_opt(row->j, "confirmation_required"), false) ?
		 "required" : "-");
}

static void put_description(struct svf_table *t, const struct svf_row *row)
{
	if (is_suspect(row))
		svf_cell(t, "unverified, never changed: %s",
			 vs_j_str_or(vs_j_opt(row->j, "reason"), "?"));
	else
		svf_cell(t, "%s", vs_j_str(vs_j_get(row->j, "description")));
}

static const struct svf_col cols[] = {
	{ .name = "vm", .how = SVF_NEED, .key = "vm", .what = "the VM" },
	{ .name = "state", .key = "state",
	  .what = "ON or OFF, as vCenter shows it" },
	{ .name = "confirmation", .how = SVF_STATE, .put = put_confirmation,
	  .what = "required: the removal limit holds it until you confirm" },
	{ .name = "description", .put = put_description,
	  .what = "what is wrong with it, and what slurm-vsphere does about it" },
};
static const struct svf_list list = SVF_LIST(cols);

static void print(const struct svf *s, struct vs_jdoc *doc)
{
	struct vs_j top = vs_j_root(doc), vms = vs_j_opt(top, "vms");
	struct vs_j suspect = vs_j_opt(top, "unverified");
	struct svf_table *t = svf_table_build(&list, s);
	size_t n = svf_rows_add(t, vms);

	n += svf_rows_add(t, suspect);
	if (n)
		svf_table_print(t, s->no_header);
	else
		puts("nothing to fix");
	svf_table_free(t);
	if (vs_j_bool(vs_j_get(top, "removal_limit_reached")))
		puts("the removal limit is reached: svf reconcile --confirm permits the removals");
}

static int confirm(const struct svf *s)
{
	struct vs_jdoc doc;
	int64_t n;
	int rc = svf_request("confirm", "", "", &doc);

	if (rc)
		return rc;
	n = vs_j_int(vs_j_get(vs_j_root(&doc), "confirmed"));
	return svf_finish(s, &doc, n ? vs_asprintf(
		"the removal of %" PRId64 " VM%s is confirmed", n,
		vs_plural((uint64_t)n)) :
		vs_strdup("no removal waits for a confirmation"));
}

static int run_reconcile(const struct svf *s)
{
	int rc = svf_no_arguments(s, "reconcile");

	return rc ? rc : s->flag ? confirm(s) :
		svf_show(s, "reconcile", 0, "", print);
}

const struct svf_verb svf_reconcile = {
	.name = "reconcile", .args = "", .run = run_reconcile,
	.flag = "--confirm", .flag_orders = true,
	.flag_what = "permit the removals that wait now (root, SlurmUser, operators)",
	.list = &list,
	.what = "VMs that slurm-vsphere repairs or removes by itself",
	.help =
"The list has VMs without a node, VMs that run although their nodes are powered\n"
"down, missing VMs, and unverified VMs. slurm-vsphere destroys VMs without a\n"
"node, and never changes unverified VMs. The removal limit is 3 VMs within ten\n"
"minutes, or 5 % of all managed VMs if that is more. Removals beyond the limit\n"
"wait, also after a restart, until an operator runs svf reconcile --confirm.\n"
"\n"
"A VM is kept if Slurm still has a node of its name. VMs that are powered off at\n"
"a job's end or by Slurm do not count for the limit.\n",
};

/* ---- adopt ------------------------------------------------------------------- */

static int run_adopt(const struct svf *s)
{
	struct vs_jdoc doc;
	struct vs_j top;
	int64_t n;
	int rc = svf_no_arguments(s, "adopt");

	if (rc || (rc = svf_request("adopt", "", "", &doc)))
		return rc;
	top = vs_j_root(&doc);
	n = vs_j_int(vs_j_get(top, "vms"));
	return svf_finish(s, &doc, vs_asprintf(
		"%" PRId64 " VM%s adopted with cluster id %s", n,
		n == 1 ? " is" : "s are",
		vs_j_str(vs_j_get(top, "cluster_id"))));
}

const struct svf_verb svf_adopt = {
	.name = "adopt", .args = "", .run = run_adopt,
	.what = "take over the VMs of this cluster's lost id",
	.help =
"The cluster id is in StateSaveLocation and in each VM. After a loss of\n"
"StateSaveLocation the VMs have an unknown id: jobs get no VMs, and slurm-vsphere\n"
"changes no VM. If no other cluster uses the folder, svf adopt takes the id that\n"
"the VMs have. (root, SlurmUser, operators)\n",
};

/* ---- words of orders -------------------------------------------------------- */

char *svf_args_join(const struct svf *s, int from, const char *between)
{
	char *text = vs_strdup("");

	for (int i = from; i < s->argc; i++) {
		VS_FREE char *had = text;

		text = vs_asprintf("%s%s%s", had, had[0] ? between : "",
				   s->argv[i]);
	}
	return text;
}

bool svf_reason_fits(const char *verb, const char *text)
{
	if (strlen(text) < SVF_REASON_MAX)
		return true;
	svf_wrong(verb, "a reason of %d bytes at most", SVF_REASON_MAX - 1);
	return false;
}
