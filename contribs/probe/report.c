/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers, and the report made of them: as text, and as JSON for programs that
 * collect reports.
 *
 * Rules: no secret is ever in reach here. Names are replaced (scrub.c). One line
 * per answer, printable.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "probe.h"
#include "util/mem.h"
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

void report_text(struct probe *p, FILE *f)
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

int report_json(struct probe *p, const char *path)
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
	vs_jb_put(top, "contact", contact_json(p));
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
	puts("First contact comes before the questions: TLS, hello, vimServiceVersions.xml, ServiceContent, Login, the names' objects, RetrievePropertiesEx, CreateFilter, WaitForUpdatesEx.");
	if (p->o.record)
		printf("Each answer of vCenter goes into %s, without names, addresses and sessions.\n",
		       p->o.record);
	putchar('\n');
	for (size_t i = 0; all_questions[i]; i++)
		for (const struct question *q = all_questions[i]; q->id; q++)
			printf("%-14s %s%s\n", q->id, q->does ? q->does :
			       "reads", is_wanted(&p->o, q) ? "" :
			       "  [left out]");
}
