/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Judges what check_rows.h says, row by row. A row is judged for each of its
 * units, such as each PF of a host.
 *
 * Rules: a row whose facts are unknown is not judged, which is no sign that all
 * is well: "host-unread" names such facts. One cause is one finding: the first
 * row of a chain that finds something ends the chain for its unit. So rows of a
 * chain stand in the order in which an administrator fixes their causes. What a
 * host that is not connected says is outdated, and is not judged.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "plan/checks/checks_i.h"
#include "util/buf.h"
#include "util/mem.h"

/* What a row is judged for. */
enum unit { HOST, ADAPTER, SWITCH, PF, INCAPABLE, DEVICE,	/* of a host */
	    TEMPLATE, STORE, POOL, SITE_PROFILE, UNITS };

/* Facts. If one of the first is unknown, "host-unread" names it. */
enum { POWER = 1, BUILD = 2, CLOCKS = 4, PFS = 8, NEED_OF_REBOOT = 16,
       FACTS = 32, NETS = 64, STORES = 128, MAX_HW = 256, CORES = 512,
       MEMORY = 1024, HW = 2048, HOT_ADD = 4096, SNAPSHOT = 8192,
       TOOLS = 16384, ACCESS = 32768, FREE = 65536 };

static const char *const reported[] = { "power policy", "product",
	"time servers", "PFs", "reboot required" };

/* Chains, and: the first pass counts what is usual. */
enum { ESXI = 1, VFS = 2, NICS = 4, SPACE = 8, COUNTED = 16 };

struct vs_check_row {
	enum vs_check code;
	enum unit unit;
	unsigned int needs, flags;
	bool (*judge)(struct vs_subject *k);
	const char *text;		/* of a FLAG */
};

static vs_judge judge_flag;

static const struct vs_check_row rows[] = {
#define FOUND(...)
#define AGAIN(id, unit, facts, chain, judge) \
	{ VS_CHECK_##id, unit, facts, chain, vs_judge_##judge, NULL },
#define CHECK(id, code, severity, of, unit, facts, chain, judge, what, why) \
	{ VS_CHECK_##id, unit, facts, chain, vs_judge_##judge, NULL },
#define FLAG(id, code, severity, of, unit, fact, chain, what, why, text) \
	{ VS_CHECK_##id, unit, fact, chain, judge_flag, text },
#include "plan/checks/check_rows.h"
};

/* ---- a finding's texts ---------------------------------------------------- */

/* Returns the first part of *text, with the object's name for "{}", and moves
 * *text behind it. */
static char *part_take(char **text, const char *object)
{
	size_t len = strcspn(*text, VS_CHECK_PART);
	struct vs_buf out = VS_BUF_INIT(64 * 1024);
	char *part = *text, *at;

	*text += len + !!part[len];
	part[len] = '\0';
	while ((at = strstr(part, "{}"))) {
		*at = '\0';
		vs_buf_printf(&out, "%s%s", part, object);
		part = at + 2;
	}
	vs_buf_printf(&out, "%s", part);
	return out.data ? out.data : vs_strdup("");
}

static const char *object_of(const struct vs_subject *k)
{
	return k->host ? k->host->name : k->template ? k->template->name :
	       k->store ? k->store->name : k->pool ? k->pool->name : "";
}

static const char *pf_of(const struct vs_subject *k)
{
	return k->row->unit == PF ? k->host->pfs[k->i].pci :
	       k->row->unit == INCAPABLE ? k->host->facts->incapable[k->i].pci :
	       k->row->unit == DEVICE ? k->host->facts->idle[k->i].pci : "";
}

struct vs_found *vs_check_find(struct vs_subject *k, const char *fmt, ...)
{
	VS_FREE char *all = NULL;
	char *rest, *is, *should;
	struct vs_found *f;
	va_list ap;

	va_start(ap, fmt);
	rest = all = vs_vasprintf(fmt, ap);
	va_end(ap);
	is = part_take(&rest, k->object);
	should = part_take(&rest, k->object);
	f = vs_found_add(k->l, k->code, k->object, is, should,
			 part_take(&rest, k->object));
	vs_strlcpy(f->pf, pf_of(k), sizeof(f->pf));
	k->added = true;
	return f;
}

/* ---- what is known, what is usual ----------------------------------------- */

/* A fact that is unknown, known, or known and bad: -1, 0 or 1. */
static void flag(struct vs_subject *k, unsigned int fact, int is, int bad)
{
	if (is >= 0)
		k->known |= fact;
	if (is == bad)
		k->bad |= fact;
}

static void facts_set(struct vs_subject *k)
{
	const struct vs_template_facts *t = k->template;
	const struct vs_host *h = k->host;
	const struct vs_host_facts *f = h ? h->facts : NULL;

	if (f) {
		k->known |= FACTS | (f->setup.power[0] ? POWER : 0) |
			(f->setup.build[0] ? BUILD : 0);
		flag(k, CLOCKS, f->setup.clocks, 0);
		flag(k, NEED_OF_REBOOT, f->setup.reboot, 1);
	}
	if (h)
		k->known |= (h->pfs_known ? PFS : 0) | (h->nnets ? NETS : 0) |
			(h->stores_known ? STORES : 0) |
			(h->max_hw ? MAX_HW : 0) | (h->cores ? CORES : 0) |
			(h->memory_mb ? MEMORY : 0);
	if (t) {
		k->known |= t->hw ? HW : 0;
		flag(k, HOT_ADD, t->hot_add, 1);
		flag(k, SNAPSHOT, t->snapshot, 1);
		flag(k, TOOLS, t->tools, 0);
	}
	if (k->store) {
		k->known |= k->store->free_mb >= 0 ? FREE : 0;
		flag(k, ACCESS, k->store->accessible, 0);
	}
}

bool vs_judge_unread(struct vs_subject *k)
{
	const char *user = k->site->user;
	struct vs_buf is = VS_BUF_INIT(256);

	for (size_t i = 0; i < VS_COUNT(reported); i++)
		if (!(k->known >> i & 1))
			vs_buf_printf(&is, "%s%s", is.len ? ", " : "",
				      reported[i]);
	if (is.len)
		vs_check_find(k, "not read: %s" SHOULD "readable" FIX READONLY,
			      is.data, user && user[0] ? user : "USER");
	vs_buf_free(&is);
	return k->added;
}

static bool judge_flag(struct vs_subject *k)
{
	return (k->bad & k->row->needs) && vs_check_find(k, "%s", k->row->text);
}

bool vs_check_odd(struct vs_subject *k, const char *key, const char *value)
{
	const char *kind = vs_check_kinds[k->code].code;
	int others;

	if (k->counting) {
		vs_usual_add(k->usual, kind, key, value);
		return false;
	}
	k->most = vs_usual_value(k->usual, kind, key, &k->nmost, &others);
	return value[0] && k->most && strcmp(k->most, value);
}

/* ---- judging -------------------------------------------------------------- */

/* How many units of each kind there are. */
static void units_count(const struct vs_subject *k, size_t n[UNITS])
{
	const struct vs_host_facts *f = k->host ? k->host->facts : NULL;

	n[HOST] = k->host != NULL;
	n[ADAPTER] = k->host ? k->site->nadapters : 0;
	n[SWITCH] = f ? f->nswitches : 0;
	n[PF] = f ? (size_t)k->host->npfs : 0;
	n[INCAPABLE] = f ? f->nincapable : 0;
	n[DEVICE] = f ? f->nidle : 0;
	n[TEMPLATE] = k->template != NULL;
	n[STORE] = k->store != NULL;
	n[POOL] = k->pool != NULL;
	n[SITE_PROFILE] = k->host || k->template || k->store || k->pool ? 0 :
		k->site->nprofiles;
}

static void judge(struct vs_subject *k, const struct vs_check_row *row,
		  unsigned int *ended)
{
	if ((row->needs & ~k->known) || (row->flags & *ended) ||
	    (k->counting && !(row->flags & COUNTED)))
		return;
	k->row = row;
	k->code = row->code;
	k->most = NULL;
	k->object = object_of(k);
	k->added = false;
	if (row->judge(k))
		*ended |= row->flags & ~(unsigned int)COUNTED;
}

static void judge_all(struct vs_subject k)
{
	size_t n[UNITS];

	facts_set(&k);
	units_count(&k, n);
	for (enum unit u = 0; u < UNITS; u++)
		for (k.i = 0; k.i < n[u]; k.i++) {
			unsigned int ended = 0;

			if (u == PF && !vs_check_drawn_by(
				    k.site, k.host, &k.host->pfs[k.i]))
				continue;
			for (size_t r = 0; r < VS_COUNT(rows); r++)
				if (rows[r].unit == u)
					judge(&k, &rows[r], &ended);
		}
}

void vs_usual_count(struct vs_usual *u, const struct vs_check_site *s,
		    const struct vs_host *h)
{
	vs_usual_count_networks(u, s, h);
	vs_usual_count_pfs(u, s, h);
	judge_all((struct vs_subject) { .site = s, .usual = u, .host = h,
					.counting = true });
}

void vs_check_host(const struct vs_check_site *s, struct vs_usual *u,
		   const struct vs_host *h, struct vs_found_list *l)
{
	if (h->connected)
		judge_all((struct vs_subject) { .site = s, .usual = u,
						.host = h, .l = l });
}

void vs_check_template(const struct vs_check_site *s,
		       const struct vs_template_facts *t,
		       struct vs_found_list *l)
{
	judge_all((struct vs_subject) { .site = s, .template = t, .l = l });
}

void vs_check_store(const struct vs_store_facts *d, struct vs_found_list *l)
{
	judge_all((struct vs_subject) { .store = d, .l = l });
}

bool vs_check_pool(const struct vs_check_site *s, const struct vs_pool_facts *p,
		   struct vs_found_list *l)
{
	size_t n = l->n;

	judge_all((struct vs_subject) { .site = s, .pool = p, .l = l });
	return l->n > n;
}

void vs_check_apart(const struct vs_check_site *s, struct vs_found_list *l)
{
	judge_all((struct vs_subject) { .site = s, .l = l });
}
