/* SPDX-License-Identifier: GPL-2.0-or-later */
/* svf reconcile, adopt: what an operator looks at and orders. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "verbs.h"
#include "util/mem.h"

static int no_arguments(const struct svf *s, const char *verb)
{
	if (!s->argc)
		return SVF_OK;
	fprintf(stderr, "svf: %s: nothing is expected after it, not %s\n", verb,
		s->argv[0]);
	return SVF_USAGE;
}

/* The end of every order: print what came back in one line or as JSON. */
int svf_finish(const struct svf *s, struct vs_jdoc *doc, char *line)
{
	VS_FREE char *text = line;
	int rc;

	if (s->json)
		return svf_print_json(doc);
	rc = svf_read_failed(doc);
	if (!rc)
		puts(svf_clean(text));
	vs_jdoc_free(doc);
	return rc;
}

/* ---- reconcile --------------------------------------------------------------- */

static bool is_suspect(const struct svf_row *row)
{
	return vs_j_null(vs_j_opt(row->j, "what"));
}

static void put_waits(struct svf_table *t, const struct svf_row *row)
{
	svf_cell(t, "%s", vs_j_bool_or(vs_j_opt(row->j, "waits"), false) ?
		 "yes" : "no");
}

static void put_what(struct svf_table *t, const struct svf_row *row)
{
	if (is_suspect(row))
		svf_cell(t, "suspect, never touched: %s",
			 vs_j_str_or(vs_j_opt(row->j, "why"), "?"));
	else
		svf_cell(t, "%s", vs_j_str(vs_j_get(row->j, "what")));
}

static const struct svf_col cols[] = {
	{ .name = "vm", .how = SVF_NEED, .key = "vm", .what = "the VM" },
	{ .name = "state", .key = "state", .what = "on or off, as vCenter shows it" },
	{ .name = "waits", .how = SVF_STATE, .put = put_waits,
	  .what = "yes: the brake holds it back until you confirm" },
	{ .name = "what", .put = put_what,
	  .what = "what is wrong with it, and what is done about it" },
};
static const struct svf_list list = SVF_LIST(cols);

static void print(const struct svf *s, struct vs_jdoc *doc)
{
	struct vs_j top = vs_j_root(doc), vms = vs_j_opt(top, "vms");
	struct vs_j suspect = vs_j_opt(top, "suspect");
	struct svf_table *t = svf_table_build(&list, s);
	size_t n = svf_rows_add(t, vms);

	n += svf_rows_add(t, suspect);
	if (n)
		svf_table_print(t, s->no_header);
	else
		puts("nothing is to be mended");
	svf_table_free(t);
	if (vs_j_bool(vs_j_get(top, "brake")))
		puts("the brake is on: svf reconcile --confirm lets those that wait go");
}

static int confirm(const struct svf *s)
{
	struct vs_jdoc doc;
	int rc = svf_request("confirm", "", "", &doc);

	if (rc)
		return rc;
	return svf_finish(s, &doc, vs_asprintf("%" PRId64 " VMs are confirmed",
		vs_j_int(vs_j_get(vs_j_root(&doc), "confirmed"))));
}

static int run_reconcile(const struct svf *s)
{
	int rc = no_arguments(s, "reconcile");

	return rc ? rc : s->flag ? confirm(s) :
		svf_show(s, "reconcile", 0, "", print);
}

const struct svf_verb svf_reconcile = {
	.name = "reconcile", .args = "", .run = run_reconcile,
	.flag = "--confirm", .flag_orders = true,
	.flag_what = "let those go that wait now (root, SlurmUser, operators)",
	.list = &list,
	.what = "what is mended by itself, and what waits for you",
	.help =
"VMs that no node stands for (switched off and destroyed, unless Slurm still has\n"
"a node of that name), VMs that run under nodes which are powered down, VMs that\n"
"are missing, and suspects, which are never touched. Outside of jobs' ends and\n"
"Slurm's own power-downs, 3 VMs may be switched off or destroyed within ten\n"
"minutes, or 5 % of all managed VMs where that is more. Removals beyond that\n"
"limit wait, also over restarts, until an operator has looked at this list and\n"
"says --confirm.\n",
};

/* ---- adopt ------------------------------------------------------------------- */

static int run_adopt(const struct svf *s)
{
	struct vs_jdoc doc;
	struct vs_j top;
	int rc = no_arguments(s, "adopt");

	if (rc || (rc = svf_request("adopt", "", "", &doc)))
		return rc;
	top = vs_j_root(&doc);
	return svf_finish(s, &doc, vs_asprintf(
		"%" PRId64 " VMs are adopted with cluster id %s",
		vs_j_int(vs_j_get(top, "vms")),
		vs_j_str(vs_j_get(top, "cluster_id"))));
}

const struct svf_verb svf_adopt = {
	.name = "adopt", .args = "", .run = run_adopt,
	.what = "take over the VMs of this cluster's lost id",
	.help =
"The cluster id lies in StateSaveLocation and in each VM. After a loss of\n"
"StateSaveLocation the VMs carry an id that nobody knows: nothing is served, and\n"
"none is touched. If no other cluster uses the folder they are yours: adopt\n"
"takes the id that they carry. (root, SlurmUser, operators)\n",
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
	fprintf(stderr, "svf: %s: a reason of %d bytes at most\n", verb,
		SVF_REASON_MAX - 1);
	return false;
}
