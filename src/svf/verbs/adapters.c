/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * svf adapters: the capability table of adapter types (plan/devices/adapter_type),
 * and which of them the site's vsphere.conf has. Connects to no controller: the
 * table is the one that the core uses, the file is read as svf conf reads it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/devices/adapter_type.h"
#include "plugins/conf/conf.h"
#include "verbs.h"
#include "util/hostlist.h"
#include "util/mem.h"

struct site {
	struct vs_conf *conf;
	struct vs_conf_file file;
	char *unread;		/* why nothing is known of it, or NULL */
};

/* A row: a type, or (a is set) an adapter of it. */
struct row {
	const struct vs_adapter_type_info *kind;
	const struct vs_conf_adapter *a;
	const struct site *site;
};

static void site_read(struct site *t)
{
	struct vs_err err = { 0 };
	struct svf_where w;

	memset(t, 0, sizeof(*t));
	t->conf = vs_conf_new();
	svf_where(&w, &err);	/* for the path alone */
	if (vs_conf_scan(&t->file, w.vsphere_conf, &err) ||
	    vs_conf_fill(t->conf, &t->file, vs_hostlist_expand, &err))
		t->unread = vs_strdup(err.text);
	svf_where_free(&w);
}

static void site_free(struct site *t)
{
	vs_conf_file_free(&t->file);
	vs_conf_free(t->conf);
	free(t->unread);
}

static const struct vs_adapter_type_info *kind_of(
	const struct vs_conf_adapter *a)
{
	enum vs_adapter_type type;

	return vs_adapter_type_parse(a->type, &type, NULL) ? NULL :
		&vs_adapter_kinds[type];
}

/* ---- cells --------------------------------------------------------------- */

static void put_type(struct svf_table *t, const struct svf_row *row)
{
	svf_cell(t, "%s", ((const struct row *)row->p)->kind->name);
}

/* "sriov-roce,sriov-ib", to be free()d; "": it has none. */
static char *adapters_of(const struct site *site,
			 const struct vs_adapter_type_info *k)
{
	char *out = vs_strdup("");

	for (size_t i = 0; !site->unread && i < site->conf->nadapters; i++) {
		VS_FREE char *had = NULL;

		if (kind_of(&site->conf->adapters[i]) != k)
			continue;
		had = out;
		out = vs_asprintf("%s%s%s", had, *had ? "," : "",
				  site->conf->adapters[i].name);
	}
	return out;
}

static void put_site(struct svf_table *t, const struct svf_row *row)
{
	const struct row *r = row->p;
	VS_FREE char *names = adapters_of(r->site, r->kind);

	svf_cell(t, "%s", *names ? names : r->site->unread ? "?" :
		 r->kind->offered ? "-" : "(not offered)");
}

static void put_can(struct svf_table *t, const struct svf_row *row,
		    enum vs_operation deed)
{
	char words[VS_RELEASE_LEN];

	svf_cell(t, "%s", vs_can_words(
		&((const struct row *)row->p)->kind->can[deed], words));
}

#define PUT(name, deed)							\
static void put_##name(struct svf_table *t, const struct svf_row *row)	\
{									\
	put_can(t, row, deed);						\
}
PUT(vmotion, VS_OPERATION_VMOTION)
PUT(snapshot, VS_OPERATION_SNAPSHOT)
PUT(ha, VS_OPERATION_HA)
PUT(drs_place, VS_OPERATION_DRS_PLACE)
PUT(drs_move, VS_OPERATION_DRS_MOVE)
PUT(hot_add, VS_OPERATION_HOT_ADD)
PUT(instant, VS_OPERATION_INSTANT)

static void put_memory(struct svf_table *t, const struct svf_row *row)
{
	svf_cell(t, "%s", ((const struct row *)row->p)->kind->full_memory ?
		 "full" : "-");
}

static void put_hw(struct svf_table *t, const struct svf_row *row)
{
	svf_cell(t, "%d", ((const struct row *)row->p)->kind->min_hw);
}

static void put_since(struct svf_table *t, const struct svf_row *row)
{
	char words[VS_RELEASE_LEN];

	svf_cell(t, "%s", vs_release_words(
		((const struct row *)row->p)->kind->since, words));
}

/* What else it wants, for people. */
static char *needs_of(const struct vs_adapter_type_info *k)
{
	return vs_asprintf("%s%s%s", !k->network ? "" : k->needs_dvs ?
			   "a distributed port group" : "a port group",
			   k->network && k->needs ? ", " : "",
			   k->needs ? k->needs : "");
}

static void put_needs(struct svf_table *t, const struct svf_row *row)
{
	VS_FREE char *needs = needs_of(((const struct row *)row->p)->kind);

	svf_cell(t, "%s", needs);
}

static void put_adapter(struct svf_table *t, const struct svf_row *row)
{
	svf_cell(t, "%s", ((const struct row *)row->p)->a->name);
}

static void put_network(struct svf_table *t, const struct svf_row *row)
{
	const char *net = ((const struct row *)row->p)->a->network;

	svf_cell(t, "%s", net ? net : "-");
}

static void put_nics(struct svf_table *t, const struct svf_row *row)
{
	svf_cell(t, "%d", ((const struct row *)row->p)->a->per_node);
}

#define CAN_COLS							\
	{ .name = "vmotion", .put = put_vmotion,			\
	  .what = "can a VM with it move to another host while it is on: yes, no, from a release on (8.0U2+), or vendor: if the device's driver can" }, \
	{ .name = "snapshot", .how = SVF_EXTRA, .put = put_snapshot,	\
	  .what = "can the VM have snapshots" },			\
	{ .name = "ha", .put = put_ha,					\
	  .what = "can HA start the VM again on another host" },	\
	{ .name = "drs-place", .how = SVF_EXTRA, .put = put_drs_place,	\
	  .what = "can DRS choose its host at power-on" },		\
	{ .name = "drs-move", .how = SVF_EXTRA, .put = put_drs_move,	\
	  .what = "can DRS move the VM while it is on" },		\
	{ .name = "hot-add", .how = SVF_EXTRA, .put = put_hot_add,	\
	  .what = "can the device be added to a VM that is on" },	\
	{ .name = "instant", .put = put_instant,			\
	  .what = "can it be in an instant clone (Clone=instant)" },	\
	{ .name = "memory", .put = put_memory,				\
	  .what = "full: all memory of its VM is reserved" }

static const struct svf_col cols[] = {
	{ .name = "type", .put = put_type, .what = "Type= of vsphere.conf(5)" },
	{ .name = "site", .put = put_site,
	  .what = "the adapters of vsphere.conf with this type; ? if the file can't be read" },
	CAN_COLS,
	{ .name = "hw", .how = SVF_RIGHT, .put = put_hw,
	  .what = "the least VM hardware version" },
	{ .name = "release", .how = SVF_EXTRA, .put = put_since,
	  .what = "the first release of vSphere that has it" },
	{ .name = "requirements", .how = SVF_WRAP, .put = put_needs,
	  .what = "what else it requires" },
};
static const struct svf_list types = SVF_LIST(cols);

static const struct svf_col site_cols[] = {
	{ .name = "adapter", .put = put_adapter,
	  .what = "AdapterName= of vsphere.conf(5), the Slurm feature" },
	{ .name = "type", .put = put_type, .what = "its type" },
	{ .name = "network", .put = put_network, .what = "its port group" },
	{ .name = "nics", .how = SVF_RIGHT, .put = put_nics,
	  .what = "the number of these NICs or devices in each VM" },
	CAN_COLS,
};
static const struct svf_list adapters = SVF_LIST(site_cols);

/* ---- the verb ------------------------------------------------------------- */

static struct json_object *kind_json(const struct vs_adapter_type_info *k)
{
	struct json_object *o = vs_jb_obj(NULL), *can = vs_jb_obj(NULL);
	VS_FREE char *needs = needs_of(k);
	char words[VS_RELEASE_LEN];

	vs_jb_str(o, "type", k->name);
	vs_jb_bool(o, "offered", k->offered);
	vs_jb_str(o, "release", vs_release_words(k->since, words));
	vs_jb_int(o, "hw", k->min_hw);
	vs_jb_bool(o, "full_memory", k->full_memory);
	vs_jb_bool(o, "counted", k->takes_vf);
	vs_jb_bool(o, "rdma", k->rdma);
	for (int d = 0; d < VS_OPERATIONS; d++)
		vs_jb_str(can, vs_operation_names[d],
			  vs_can_words(&k->can[d], words));
	vs_jb_put(o, "operations", can);
	vs_jb_str(o, "requirements", needs);
	return o;
}

static struct json_object *adapter_json(const struct vs_conf_adapter *a)
{
	struct json_object *o = vs_jb_obj(NULL);

	vs_jb_str(o, "adapter", a->name);
	vs_jb_str(o, "type", a->type);
	vs_jb_str(o, "network", a->network);
	vs_jb_int(o, "nics", a->per_node);
	return o;
}

static int print_json(const struct svf *s, const struct site *site)
{
	struct json_object *top = vs_jb_obj(NULL), *kinds = vs_jb_arr();
	struct json_object *list = vs_jb_arr();

	for (int i = 0; i < VS_ADAPTER_TYPES; i++)
		if (s->flag || svf_column_shown(s, vs_adapter_kinds[i].name))
			vs_jb_add(kinds, kind_json(&vs_adapter_kinds[i]));
	vs_jb_put(top, "types", kinds);
	for (size_t i = 0; !site->unread && i < site->conf->nadapters; i++)
		if (!s->flag ||
		    svf_column_shown(s, site->conf->adapters[i].name))
			vs_jb_add(list, adapter_json(&site->conf->adapters[i]));
	if (site->unread)
		vs_jb_str(top, "error", site->unread);
	else
		vs_jb_put(top, "adapters", list);
	if (site->unread)
		vs_jb_free(list);
	return svf_print_object(s, top);
}

static size_t add_types(const struct svf *s, const struct site *site,
			struct svf_table *t, struct row *rows)
{
	size_t n = 0;

	for (int i = 0; i < VS_ADAPTER_TYPES; i++) {
		if (!svf_column_shown(s, vs_adapter_kinds[i].name))
			continue;
		rows[n] = (struct row) { .kind = &vs_adapter_kinds[i],
					 .site = site };
		svf_row_add(t, &(struct svf_row){ .p = &rows[n++] });
	}
	return n;
}

static size_t add_adapters(const struct svf *s, const struct site *site,
			   struct svf_table *t, struct row *rows)
{
	size_t n = 0;

	for (size_t i = 0; !site->unread && i < site->conf->nadapters; i++) {
		const struct vs_conf_adapter *a = &site->conf->adapters[i];

		if (!svf_column_shown(s, a->name))
			continue;
		rows[n] = (struct row) { .kind = kind_of(a), .a = a,
					 .site = site };
		svf_row_add(t, &(struct svf_row){ .p = &rows[n++] });
	}
	return n;
}

static int print_table(const struct svf *s, const struct site *site)
{
	VS_FREE struct row *rows = vs_calloc(VS_ADAPTER_TYPES +
				site->conf->nadapters, sizeof(*rows));
	struct svf_table *t = svf_table_build(s->flag ? &adapters : &types, s);
	size_t n = s->flag ? add_adapters(s, site, t, rows) :
		add_types(s, site, t, rows);

	if (n || !s->argc)
		svf_table_print(t, s->no_header);
	svf_table_free(t);
	return SVF_OK;
}

/* A line for each name that is no type, or with --site no adapter. */
static int names_check(const struct svf *s, const struct site *site)
{
	int rc = SVF_OK;

	for (int i = 0; i < s->argc; i++) {
		bool known = false;

		for (int k = 0; k < VS_ADAPTER_TYPES && !s->flag; k++)
			known |= !strcmp(vs_adapter_kinds[k].name, s->argv[i]);
		for (size_t k = 0; k < site->conf->nadapters && s->flag; k++)
			known |= !strcmp(site->conf->adapters[k].name,
					 s->argv[i]);
		if (!known)
			rc = svf_no_such(s->flag ? "AdapterName= in vsphere.conf" :
					 "adapter type", s->argv[i]);
	}
	return rc;
}

static int run(const struct svf *s)
{
	struct site site;
	int rc = SVF_OK;

	site_read(&site);
	if (site.unread && s->flag) {
		fprintf(stderr, "svf: %s\n", svf_clean(site.unread));
		rc = SVF_CONF;
	} else {
		int wrong = names_check(s, &site);

		rc = s->json ? print_json(s, &site) : print_table(s, &site);
		rc = rc ? rc : wrong;
	}
	if (site.unread && rc == SVF_OK && !s->json)
		fprintf(stderr, "svf: the site's adapters aren't known: %s\n",
			svf_clean(site.unread));
	site_free(&site);
	return rc;
}

const struct svf_verb svf_adapters = {
	.name = "adapters", .args = "[NAME...]", .run = run,
	.flag = "--site",
	.flag_what = "print one line per AdapterName= of vsphere.conf, instead of per type",
	.list = &types, .flagged = &adapters,
	.what = "what each type of adapter permits and requires",
	.help =
"slurm-vsphere uses the same table. \"8.0U2+\" means from that release of vSphere\n"
"on, \"vendor\" if the device's driver can. --long prints all columns. svf adapters\n"
"does not ask slurmctld.\n",
};
