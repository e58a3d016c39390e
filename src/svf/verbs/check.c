/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * svf check: errors in the site's set-up, and the commands that fix them. For
 * an operator all is read again first; findings about hosts come from what
 * vCenter has streamed. Exits 1 if a hard finding is listed.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "verbs.h"
#include "svf/checks/checks.h"
#include "svf/local/local.h"
#include "util/buf.h"
#include "util/mem.h"
#include "util/name.h"
#include "util/time.h"

enum { STANDALONE, NAGIOS, OPTIONS };	/* svf.own[] */

#define FRESH_MS 10000
#define AGAIN_MS 200

/* ---- findings --------------------------------------------------------------- */

static const char *str_of(struct vs_j f, const char *key)
{
	return vs_j_str_or(vs_j_opt(f, key), "");
}

static void put_object(struct svf_table *t, const struct svf_row *row)
{
	const char *pf = str_of(row->j, "pf");

	svf_cell(t, "%s%s%s", str_of(row->j, "object"), pf[0] ? " " : "", pf);
}

static const struct svf_col cols[] = {
	{ .name = "severity", .how = SVF_STATE, .key = "severity",
	  .what = "hard (the object takes no job), warning or unknown" },
	{ .name = "code", .key = "code", .what = "the code of the finding" },
	{ .name = "object", .put = put_object,
	  .what = "the host, with or without one PF of it, the template, or slurm.conf" },
	{ .name = "actual", .key = "actual", .what = "the actual state" },
	{ .name = "expected", .key = "expected", .what = "the expected state" },
	{ .name = "reason", .how = SVF_EXTRA, .key = "reason",
	  .what = "why it matters" },
	{ .name = "fix", .how = SVF_EXTRA, .key = "fix",
	  .what = "the commands that fix it, for operators" },
};
static const struct svf_list list = SVF_LIST(cols);

static bool wanted(const struct svf *s, struct vs_j f)
{
	return svf_column_shown(s, str_of(f, "code")) ||
		svf_column_shown(s, str_of(f, "object"));
}

static void print_fix(struct vs_j f)
{
	const char *fix = str_of(f, "fix"), *pf = str_of(f, "pf");
	VS_FREE char *head = vs_asprintf("%s %s%s%s", str_of(f, "code"),
		str_of(f, "object"), pf[0] ? " " : "", pf);

	if (!fix[0])
		return;
	printf("\n# %s\n", svf_clean(head));
	while (*fix) {
		size_t len = strcspn(fix, "\n");
		VS_FREE char *line = vs_asprintf("%.*s", (int)len, fix);

		puts(svf_clean(line));
		fix += len + !!fix[len];
	}
}

static void print_list(const struct svf *s, struct vs_j all)
{
	struct svf_table *t = svf_table_build(&list, s);

	for (size_t i = 0; i < vs_j_len(all); i++)
		if (wanted(s, vs_j_at(all, i)))
			svf_row_add(t, &(struct svf_row){
				.j = vs_j_at(all, i) });
	if (!all.doc->err.code)
		svf_table_print(t, s->no_header);
	svf_table_free(t);
	for (size_t i = 0; i < vs_j_len(all) && !s->format; i++)
		if (wanted(s, vs_j_at(all, i)))
			print_fix(vs_j_at(all, i));
}

/* How many of the listed findings have which severity. */
struct sums { int hard, warning, unknown; };

static struct sums sums_of(const struct svf *s, struct vs_j all)
{
	struct sums n = { 0 };

	for (size_t i = 0; i < vs_j_len(all); i++) {
		const char *sev = str_of(vs_j_at(all, i), "severity");

		if (!wanted(s, vs_j_at(all, i)))
			continue;
		if (!strcmp(sev, "hard"))
			n.hard++;
		else if (!strcmp(sev, "warning"))
			n.warning++;
		else
			n.unknown++;
	}
	return n;
}

/* A word that can be in no finding is refused, before anything is printed. */
static int words_check(const struct svf *s, struct vs_jdoc *doc)
{
	VS_FREE char *wrong = NULL;
	int rc = svf_check_words(s, doc, &wrong);

	return wrong ? svf_wrong("check", "%s", wrong) : rc;
}

static int print(const struct svf *s, struct vs_jdoc *doc)
{
	struct vs_j top = vs_j_root(doc), all = vs_j_get(top, "findings");
	struct sums sums = sums_of(s, all);
	int n = sums.hard + sums.warning + sums.unknown, rc;
	int64_t hosts = vs_j_int_or(vs_j_opt(top, "hosts"), 0);
	char age[16];

	if (!s->json && n)
		print_list(s, all);
	rc = svf_read_failed(doc);
	if (rc)
		return rc;
	svf_age(vs_j_int_or(vs_j_opt(top, "read"), 0), age);
	if (!s->json && !s->no_header && !s->format)
		printf("%s%d finding%s, %" PRId64 " host%s%s%s%s\n",
		       n ? "\n" : "", n, vs_plural((uint64_t)n), hosts,
		       vs_plural((uint64_t)hosts),
		       age[0] ? ", read " : "", age, age[0] ? " ago" : "");
	return sums.hard || (s->also && sums.warning) ? SVF_NO : SVF_OK;
}

/* ---- asking ------------------------------------------------------------------ */

static void pause_ms(int ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000L };

	nanosleep(&ts, NULL);
}

/* Waits until the new values are there, vCenter is away, or the time is
 * over. */
static int ask(struct vs_jdoc *doc)
{
	int64_t end_ms = vs_now_ms() + FRESH_MS, was;
	bool asked;
	int rc = svf_ask("recheck", 0, "", doc);

	if (rc)
		return rc;
	was = vs_j_int_or(vs_j_opt(vs_j_root(doc), "seq"), 0);
	asked = vs_j_bool_or(vs_j_opt(vs_j_root(doc), "asked"), false);
	vs_jdoc_free(doc);
	for (;;) {
		struct vs_j top;

		rc = svf_ask("check", 0, "", doc);
		if (rc)
			return rc;
		top = vs_j_root(doc);
		if (!asked || vs_now_ms() >= end_ms ||
		    !vs_j_bool_or(vs_j_opt(top, "up"), false) ||
		    vs_j_int_or(vs_j_opt(top, "seq"), 0) > was)
			return SVF_OK;
		vs_jdoc_free(doc);
		pause_ms(AGAIN_MS);
	}
}

/* Without slurmctld. What failed is more than what was found. */
static int standalone(const struct svf *s)
{
	struct vs_jdoc doc;
	struct vs_j found;
	int status, rc = svf_standalone(&doc, &status);

	if (rc)
		return rc;
	found = vs_j_opt(vs_j_root(&doc), "findings");
	if (!vs_j_null(found) && (rc = words_check(s, &doc))) {
		vs_jdoc_free(&doc);
		return rc;
	}
	if (!s->json)
		svf_steps_print(vs_j_opt(vs_j_root(&doc), "steps"));
	if (!vs_j_null(found)) {
		if (!s->json)
			putchar('\n');
		rc = print(s, &doc);
	}
	if (s->json)
		svf_print_json(s, &doc);
	vs_jdoc_free(&doc);
	return status ? status : rc;
}

/* ---- for Nagios ----------------------------------------------------------------- */

enum { NAGIOS_OK, NAGIOS_WARNING, NAGIOS_CRITICAL, NAGIOS_UNKNOWN };
#define NO_CHECK "svf check is not possible"
#define NAGIOS_TEXT 1024	/* bytes of the findings' names */

/* Prints the one line that Nagios reads. Returns state, its exit code. */
static int nagios_line(int state, const char *text, const struct sums *n)
{
	static const char *const names[] = { "OK", "WARNING", "CRITICAL",
					     "UNKNOWN" };
	VS_FREE char *line = vs_asprintf("SVF %s - %s", names[state], text);

	/* What follows | is for Nagios's graphs. */
	for (char *p = strchr(line, '|'); p; p = strchr(p, '|'))
		*p = '/';
	printf("%s | hard=%d warning=%d unknown=%d\n", svf_clean(line),
	       n->hard, n->warning, n->unknown);
	return state;
}

/* "2 hard, 1 warning, 0 unknown: mtu esx01 0000:3b:00.0; ..." */
static char *nagios_text(const struct svf *s, struct vs_j all,
			 const struct sums *n)
{
	struct vs_buf b = VS_BUF_INIT(NAGIOS_TEXT);
	const char *between = ":";
	char *text;

	for (size_t i = 0; i < vs_j_len(all); i++) {
		struct vs_j f = vs_j_at(all, i);
		const char *pf = str_of(f, "pf");

		if (!wanted(s, f) ||
		    vs_buf_printf(&b, "%s %s %s%s%s", between,
				  str_of(f, "code"), str_of(f, "object"),
				  pf[0] ? " " : "", pf))
			continue;	/* there is no space for its name */
		between = ";";
	}
	text = vs_asprintf("%d hard, %d warning, %d unknown%s", n->hard,
			   n->warning, n->unknown, b.data ? b.data : "");
	vs_buf_free(&b);
	return text;
}

static int nagios(const struct svf *s)
{
	const struct sums none = { 0 };
	VS_FREE char *text = NULL;
	struct vs_jdoc doc;
	struct sums n;
	int rc, state;
	bool up;

	/* Nagios reads 2, the exit code of a wrong command line, as CRITICAL. */
	if (s->json || s->flag || s->format || s->own[STANDALONE])
		return nagios_line(NAGIOS_UNKNOWN, "--nagios takes no --json, --codes, --standalone or -O",
				   &none);
	rc = ask(&doc);
	if (rc)
		return nagios_line(NAGIOS_UNKNOWN, rc == SVF_AUTH ?
				   "authentication refused" :
				   rc == SVF_AWAY ? "slurmctld does not answer" :
				   NO_CHECK, &none);
	rc = svf_check_words(s, &doc, &text);
	if (rc) {
		vs_jdoc_free(&doc);
		return nagios_line(NAGIOS_UNKNOWN, text ? text : NO_CHECK,
				   &none);
	}
	up = vs_j_bool_or(vs_j_opt(vs_j_root(&doc), "up"), false);
	n = sums_of(s, vs_j_get(vs_j_root(&doc), "findings"));
	text = nagios_text(s, vs_j_opt(vs_j_root(&doc), "findings"), &n);
	state = n.hard ? NAGIOS_CRITICAL : n.warning ? NAGIOS_WARNING :
		n.unknown || !up ? NAGIOS_UNKNOWN : NAGIOS_OK;
	if (svf_read_failed(&doc))
		rc = nagios_line(NAGIOS_UNKNOWN, "the answer can't be read",
				 &none);
	else
		rc = nagios_line(state, !up && state == NAGIOS_UNKNOWN ?
				 "slurmctld is not connected to vCenter" : text,
				 &n);
	vs_jdoc_free(&doc);
	return rc;
}

static int run(const struct svf *s)
{
	struct vs_jdoc doc;
	int rc;

	if (s->own[NAGIOS])
		return nagios(s);
	if (s->flag)
		return svf_codes_print(s);
	if (s->own[STANDALONE])
		return standalone(s);
	rc = ask(&doc);
	if (rc)
		return rc;
	rc = words_check(s, &doc);
	if (rc) {
		vs_jdoc_free(&doc);
		return rc;
	}
	rc = print(s, &doc);
	if (s->json && (rc == SVF_OK || rc == SVF_NO))
		svf_print_json(s, &doc);
	vs_jdoc_free(&doc);
	return rc;
}

static const struct svf_opt own[] = {
	[STANDALONE] = { NULL, "--standalone", NULL,
	  "without slurmctld, before its first start: configuration, connection, login, names and rights (on the controller, as root or SlurmUser)",
	  SVF_OPT_OWN },
	[NAGIOS] = { NULL, "--nagios", NULL,
		"print one line and exit as Nagios expects: 0 OK, 1 WARNING, 2 CRITICAL (a hard finding), 3 UNKNOWN",
		SVF_OPT_OWN },
	[OPTIONS] = { 0 }
};

const struct svf_verb svf_check = {
	.name = "check", .args = "[CODE|OBJECT...]", .run = run, .reads = true,
	.flag = "--codes",
	.flag_what = "print every code that there is: severity, description and reason",
	.also = "--strict", .also_what = "exit with 1 for warnings too",
	.own = own, .list = &list, .flagged = &svf_codes, .names = SVF_NAMES_HOST,
	.what = "errors of hosts, templates and slurm.conf, with their fixes",
	.help =
"CODE (svf-check-codes(7)) or OBJECT (a host, a node, a template) restricts the\n"
"list. A word that is neither is refused. Each finding is followed by the\n"
"commands that fix it. svf does not run them, because neither svf nor its account\n"
"in vCenter may change a host. svf exits with 1 if a hard finding is listed.\n"
"\n"
"  hard     the object takes no job until the error is fixed\n"
"  warning  jobs run, but slower or less safely\n"
"  unknown  vCenter does not show it\n"
"\n"
"For operators slurmctld reads vCenter again first. vCenter streams the state of\n"
"hosts, so that slurmctld knows a change within seconds. slurmctld's log has\n"
"each finding when it appears and when it ends. A driver, firmware or ESXi build\n"
"is compared with those of most hosts.\n"
"\n"
"A hard finding of a physical function (mtu, link-down) keeps new VMs off it,\n"
"and svf hosts shows the reason. A hard finding of a template or datastore keeps\n"
"jobs pending, with the finding as their reason.\n"
"\n"
"--standalone does not ask slurmctld. It reads slurm.conf and vsphere.conf, logs\n"
"in to vCenter, looks each configured name up, and reads the account's rights.\n"
"It changes nothing. Its exit status is 0 if nothing hard is found, and 1 if a name\n"
"is missing or something hard is found. It is 3 if vCenter does not answer or its\n"
"certificate is not verified, and 4 if vCenter refuses the login. It is 5 if\n"
"slurm.conf or vsphere.conf is wrong.\n",
};
