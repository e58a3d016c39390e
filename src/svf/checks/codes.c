/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of codes: every error that svf check can find, and why it matters. */
#include <stdio.h>

#include "plan/checks/check_codes.h"
#include "checks.h"
#include "util/mem.h"

static void put_severity(struct svf_table *t, const struct svf_row *row)
{
	const struct vs_check_kind *k = row->p;

	svf_cell(t, "%s", vs_severity_name(k->severity));
}

#define AT(member) .at = offsetof(struct vs_check_kind, member)
static const struct svf_col code_cols[] = {
	{ .name = "code", .how = SVF_AT, AT(code),
	  .what = "the code of the finding" },
	{ .name = "severity", .put = put_severity,
	  .what = "hard, warning or unknown" },
	{ .name = "object", .how = SVF_AT, AT(of), .what = "the type of object" },
	{ .name = "description", .how = SVF_AT | SVF_WRAP, AT(what),
	  .what = "the error" },
	{ .name = "reason", .how = SVF_AT | SVF_WRAP | SVF_EXTRA, AT(why),
	  .what = "why it matters" },
};
const struct svf_list svf_codes = SVF_LIST(code_cols);

static int print_codes_json(const struct svf *s)
{
	struct json_object *top = vs_jb_obj(NULL), *arr = vs_jb_arr();

	for (int i = 0; i < VS_CHECKS; i++) {
		const struct vs_check_kind *k = &vs_check_kinds[i];
		struct json_object *o;

		if (!svf_column_shown(s, k->code))
			continue;
		o = vs_jb_obj(NULL);
		vs_jb_str(o, "code", k->code);
		vs_jb_str(o, "severity", vs_severity_name(k->severity));
		vs_jb_str(o, "object_type", k->of);
		vs_jb_str(o, "description", k->what);
		vs_jb_str(o, "reason", k->why);
		vs_jb_add(arr, o);
	}
	vs_jb_put(top, "codes", arr);
	return svf_print_object(s, top);
}

int svf_codes_print(const struct svf *s)
{
	VS_FREE char *wrong = svf_codes_wrong(s);
	struct svf_table *t;

	if (wrong)
		return svf_wrong("check", "%s", wrong);
	if (s->json)
		return print_codes_json(s);
	t = svf_table_build(&svf_codes, s);
	for (int i = 0; i < VS_CHECKS; i++)
		if (svf_column_shown(s, vs_check_kinds[i].code))
			svf_row_add(t, &(struct svf_row){
				.p = &vs_check_kinds[i] });
	svf_table_print(t, s->no_header);
	svf_table_free(t);
	return SVF_OK;
}
