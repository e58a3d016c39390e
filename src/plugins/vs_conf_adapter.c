/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What an AdapterName= line may say, by the table of plan/adapter: no type is
 * named here. Reads values that have been checked by their rows.
 */
#include <string.h>
#include <strings.h>
#include "plan/adapter.h"
#include "util/mem.h"
#include "vs_conf_adapter.h"

/* "sriov", "sriov or vgpu": those for which `has` is true. */
static char *types_that(bool (*has)(const struct vs_adapter_kind *k))
{
	char *out = NULL;

	for (int i = 0; i < VS_ADAPTER_TYPES; i++) {
		const struct vs_adapter_kind *k = &vs_adapter_kinds[i];
		VS_FREE char *had = out;

		out = !has(k) || !k->offered ? vs_strdup(had ? had : "") :
			vs_asprintf("%s%s%s", had ? had : "",
				    had && *had ? " or " : "", k->name);
	}
	return out;
}

static bool has_pfs(const struct vs_adapter_kind *k)
{
	return k->takes_vf && k->network;
}

static bool has_infiniband(const struct vs_adapter_kind *k)
{
	return k->infiniband;
}

/* The key goes with some types alone, and is given with another. */
static int misplaced(const struct vs_conf_adapter *a,
		     const struct vs_conf_file *f,
		     const struct vs_conf_record *r, const char *key,
		     const char *words,
		     bool (*has)(const struct vs_adapter_kind *k),
		     struct vs_err *err)
{
	VS_FREE char *types = types_that(has);

	return vs_conf_err(f, vs_conf_line_of(r, key), err,
		"%s goes with Type=%s, not with Type=%s", words, types,
		a->type);
}

int vs_conf_adapter_check(const struct vs_conf_adapter *a,
			  const struct vs_conf_file *f,
			  const struct vs_conf_record *r, struct vs_err *err)
{
	const struct vs_adapter_kind *k;
	enum vs_adapter_type type;
	struct vs_err why = { 0 };

	if (vs_adapter_type_parse(a->type, &type, &why))
		return vs_conf_err(f, vs_conf_line_of(r, "Type"), err,
				   "Type=: %s", why.text);
	k = &vs_adapter_kinds[type];
	if (a->pf && !has_pfs(k))
		return misplaced(a, f, r, "PF", "PF=", has_pfs, err);
	if (a->pf && a->per_node > 1 && strcmp(a->rails, "any"))
		return vs_conf_err(f, vs_conf_line_of(r, "PF"), err,
			"PF= is one PF, and PerNode=%d takes VFs of as many: "
			"leave PF= out, or set Rails=any", a->per_node);
	if (!strcmp(a->link_layer, "InfiniBand") && !has_infiniband(k))
		return misplaced(a, f, r, "LinkLayer", "LinkLayer=InfiniBand",
				 has_infiniband, err);
	return 0;
}
