/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers, and the report made of them: as text, and as JSON for whoever
 * collects reports.
 *
 * Rules: no secret is ever in reach here. Names are replaced by a kind and a
 * number (host-1) unless --names was given, and so are addresses and uuids,
 * for faults quote all of them. One line per answer, printable.
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "probe.h"
#include "util/mem.h"
#include "util/name.h"
#include "vs_config.h"

#define SEEN_MAX 4000

void saw(struct answer *a, const char *fmt, ...)
{
	VS_FREE char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		abort();
	va_end(ap);
	a->seen.max = SEEN_MAX;
	vs_buf_printf(&a->seen, "%s%s", a->seen.len ? "; " : "",
		      vs_one_line(text));
}

/* One thing that differs is enough. */
void judge(struct answer *a, bool agrees)
{
	if (a->verdict != DIFFERS)
		a->verdict = agrees ? AGREES : DIFFERS;
}

void saw_err(struct answer *a, const char *what, const struct vs_err *err)
{
	saw(a, "%s: %s%s%s (%s)", what, err->fault[0] ? err->fault : "",
	    err->fault[0] ? ": " : "", err->text, vs_code_name(err->code));
}

/* ---- without names --------------------------------------------------------------- */

static void alias_one(struct probe *p, const char *name, const char *alias)
{
	for (size_t i = 0; i < p->naliases; i++)
		if (!strcasecmp(p->aliases[i].name, name))
			return;
	VS_GROW(p->aliases, p->cap_aliases, p->naliases + 1);
	p->aliases[p->naliases].name = vs_strdup(name);
	p->aliases[p->naliases++].alias = vs_strdup(alias);
}

static int number_after(const char *alias, size_t len)
{
	return alias[len] == '-' ? (int)strtol(alias + len + 1, NULL, 10) : 0;
}

void alias_add(struct probe *p, const char *name, const char *kind)
{
	const char *dot;
	int n = 1;
	size_t len = strlen(kind);
	VS_FREE char *alias = NULL, *brief = NULL;

	if (!name || strlen(name) < 2)
		return;
	for (size_t i = 0; i < p->naliases; i++) {
		const char *had = p->aliases[i].alias;

		if (!strcasecmp(p->aliases[i].name, name))
			return;
		if (!strncmp(had, kind, len) && number_after(had, len) >= n)
			n = number_after(had, len) + 1;
	}
	alias = vs_asprintf("%s-%d", kind, n);
	alias_one(p, name, alias);
	/* esx01.example.org is esx01 to many a fault. */
	dot = strchr(name, '.');
	if (dot && dot - name > 2 && !isdigit((unsigned char)name[0])) {
		brief = strndup(name, (size_t)(dot - name));
		alias_one(p, brief, alias);
	}
}

static bool word_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* The longest name that stands at s as a word of its own. */
static size_t name_at(const struct probe *p, const char *text, const char *s,
		      const char **alias)
{
	size_t best = 0;

	for (size_t i = 0; i < p->naliases; i++) {
		const char *name = p->aliases[i].name;
		size_t len = strlen(name);

		if (len <= best || strncasecmp(s, name, len) ||
		    (s > text && word_char(s[-1]) && word_char(*s)) ||
		    (word_char(s[len]) && word_char(name[len - 1])))
			continue;
		best = len;
		*alias = p->aliases[i].alias;
	}
	return best;
}

/* An IPv4 address, a MAC address or a uuid; its length, and what it is. */
static size_t address_at(const struct probe *p, const char *s,
			 const char **what)
{
	size_t hex = strspn(s, "0123456789abcdefABCDEF-: "), n;
	char uuid[VS_UUID_LEN];
	int a, b, c, d, len = 0;

	/* An API release looks like one. */
	if (sscanf(s, "%3d.%3d.%3d.%3d%n", &a, &b, &c, &d, &len) == 4 && len &&
	    (!p->release || strncmp(s, p->release, (size_t)len))) {
		*what = "ADDRESS";
		return (size_t)len;
	}
	n = strspn(s, "0123456789abcdefABCDEF:");
	if (n >= 17 && s[2] == ':' && s[5] == ':' && s[14] == ':') {
		*what = "MAC";
		return 17;
	}
	if (hex >= VS_UUID_LEN - 1) {
		vs_strlcpy(uuid, s, sizeof(uuid));
		for (char *at = uuid; *at; at++)
			*at = (char)tolower((unsigned char)*at);
		*what = "UUID";
		if (vs_uuid_valid(uuid))
			return VS_UUID_LEN - 1;
	}
	return 0;
}

char *scrub(const struct probe *p, const char *text)
{
	struct vs_buf out = VS_BUF_INIT(4 * SEEN_MAX);
	const char *with = "";

	vs_buf_add(&out, "", 0);
	for (const char *s = text; *s;) {
		size_t n = p->o.names ? 0 : name_at(p, text, s, &with);

		if (!n && !p->o.names && (s == text || !word_char(s[-1])))
			n = address_at(p, s, &with);
		if (n)
			vs_buf_printf(&out, "%s", with);
		else
			vs_buf_add(&out, s, 1);
		s += n ? n : 1;
	}
	return out.data ? out.data : vs_strdup("");
}

/* ---- the report -------------------------------------------------------------------- */

static const char *const verdicts[] = { [UNKNOWN] = "unknown",
	[AGREES] = "yes", [DIFFERS] = "NO" };
static const char *const kinds[] = { [READ] = "read", [CHANGE] = "change",
	[WATCH] = "watch" };

static void wrap(FILE *f, const char *label, const char *text)
{
	size_t col = 12;

	fprintf(f, "  %-9s", label);
	while (*text) {
		size_t n = strcspn(text, " ");

		if (col + n > 78 && col > 12) {
			fprintf(f, "\n%11s", "");
			col = 12;
		}
		fprintf(f, " %.*s", (int)n, text);
		col += n + 1;
		text += n + !!text[n];
	}
	fputc('\n', f);
}

void report_text(const struct probe *p, FILE *f)
{
	int n[3] = { 0 };

	fprintf(f, "\nsvf-probe " PACKAGE_VERSION ": %s, API %s, %zu hosts\n\n",
		p->about ? p->about : "no vCenter", p->release ? p->release :
		"?", p->nhosts);
	for (size_t i = 0; i < p->nanswers; i++) {
		const struct question *q = p->answers[i].q;
		const struct answer *a = &p->answers[i].a;
		VS_FREE char *seen = scrub(p, a->seen.data ? a->seen.data :
					   "nothing");

		fprintf(f, "%-14s as assumed: %s\n", q->id,
			verdicts[a->verdict]);
		wrap(f, "asked", q->asked);
		wrap(f, "seen", seen);
		wrap(f, "assumed", q->assumed);
		fputc('\n', f);
		n[a->verdict]++;
	}
	fprintf(f, "%zu questions: %d as assumed, %d not, %d unknown\n",
		p->nanswers, n[AGREES], n[DIFFERS], n[UNKNOWN]);
}

int report_json(const struct probe *p, const char *path)
{
	struct json_object *top = vs_jb_obj(NULL), *arr = vs_jb_arr();
	VS_FREE char *text = NULL;
	VS_FCLOSE FILE *f = NULL;

	vs_jb_int(top, "report", 1);
	vs_jb_str(top, "probe", PACKAGE_VERSION);
	vs_jb_int(top, "time", (int64_t)time(NULL));
	vs_jb_str(top, "vcenter", p->about);
	vs_jb_str(top, "release", p->release);
	vs_jb_int(top, "hosts", (int64_t)p->nhosts);
	for (size_t i = 0; i < p->nanswers; i++) {
		const struct question *q = p->answers[i].q;
		const struct answer *a = &p->answers[i].a;
		struct json_object *o = vs_jb_obj(NULL);
		VS_FREE char *seen = scrub(p, a->seen.data ? a->seen.data :
					   "nothing");

		vs_jb_str(o, "id", q->id);
		vs_jb_str(o, "kind", kinds[q->kind]);
		vs_jb_str(o, "asked", q->asked);
		vs_jb_str(o, "seen", seen);
		vs_jb_str(o, "assumed", q->assumed);
		vs_jb_str(o, "agrees", a->verdict == DIFFERS ? "no" :
			  verdicts[a->verdict]);
		vs_jb_add(arr, o);
	}
	vs_jb_put(top, "answers", arr);
	text = vs_jb_pretty_free(top);
	f = strcmp(path, "-") ? fopen(path, "we") : NULL;
	if (!f && strcmp(path, "-"))
		return -1;
	return fprintf(f ? f : stdout, "%s\n", text) < 0 ? -1 : 0;
}

void print_plan(const struct probe *p)
{
	printf("svf-probe makes at most %d VMs at a time, named probe-..., from template %s in folder %s, and removes them. It touches no other VM, no host and no setting.\n\n",
	       PROBE_VMS, p->o.template_name, p->o.folder);
	for (size_t i = 0; all_questions[i]; i++)
		for (const struct question *q = all_questions[i]; q->id; q++)
			printf("%-14s %s%s\n", q->id, q->does ? q->does :
			       "reads", is_wanted(&p->o, q) ? "" :
			       "  [left out]");
}
