/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * svf map: svf top's picture once. As text (all hosts, the jobs, what the signs
 * mean) for a terminal or a file, or as SVG for a ticket. A file is written when
 * there is an answer, and not before.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "map.h"
#include "util/mem.h"

static int width_of(FILE *f)
{
	const char *told = getenv("COLUMNS");
	struct winsize ws;
	long n = told ? strtol(told, NULL, 10) : 0;

	if (n <= 0 && f == stdout && isatty(STDOUT_FILENO) &&
	    !ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws))
		n = ws.ws_col;
	return n <= 0 || n > 100000 ? 0 : n < 40 ? 40 : (int)n;
}

/* Colours of old for jobs, as any pager knows them. */
static void sgr(FILE *f, int style)
{
	static const char *const plain[TOP_JOB0] = {
		[TOP_BAR] = "7", [TOP_HEAD] = "1", [TOP_DIM] = "2",
		[TOP_BAD] = "31", [TOP_WARN] = "33",
	};
	static const int jobs[] = { 42, 46, 43, 45, 44 };

	if (style >= TOP_JOB0)
		fprintf(f, "\033[0;30;%dm",
			jobs[(size_t)(style - TOP_JOB0) % VS_COUNT(jobs)]);
	else
		fprintf(f, "\033[0%s%sm", plain[style] ? ";" : "",
			plain[style] ? plain[style] : "");
}

static void put_utf8(FILE *f, uint32_t ch)
{
	if (ch >= 0x80)
		putc((int)(0xc0 | ch >> 6), f);
	putc((int)(ch >= 0x80 ? 0x80 | (ch & 0x3f) : ch), f);
}

static void print_line(FILE *f, const struct top_line *l, bool colour)
{
	int style = TOP_PLAIN, n = l->n;

	while (n && l->g[n - 1].ch == ' ')
		n--;
	for (int i = 0; i < n; i++) {
		if (colour && l->g[i].style != style)
			sgr(f, style = l->g[i].style);
		put_utf8(f, l->g[i].ch);
	}
	fputs(style != TOP_PLAIN ? "\033[0m\n" : "\n", f);
}

static void print_cluster(const char *name, struct top_lines *out)
{
	top_line_new(out);
	top_put(top_line_new(out), TOP_HEAD, "%s%s", name[0] ? "cluster " : "",
		name[0] ? name : "no cluster told");
}

static void map_text(const struct top_model *m, FILE *f, bool colour)
{
	VS_FREE size_t *order = top_order_of(m, TOP_BY_NAME);
	struct top_view v = { .now = m->at };
	struct top_lines out = { .width = width_of(f) };
	const char *cluster = NULL;
	char day[32];

	top_put(top_line_new(&out), TOP_HEAD, "%s  %s", m->site,
		svf_clock(m->at, SVF_DAY, day));
	top_engine_lines(m, m->at, 20, &out);
	top_sum_lines(m, &out);
	for (size_t i = 0; i < m->nhosts; i++) {
		const struct top_host *h = &m->hosts[order[i]];

		if (!cluster || strcmp(cluster, h->cluster)) {
			print_cluster(h->cluster, &out);
			top_hosts_head(m, &out);
		}
		cluster = h->cluster;
		top_host_lines(m, NULL, order[i], &out);
	}
	top_line_new(&out);
	top_job_lines(m, &v, &out);
	top_line_new(&out);
	top_legend_lines(m, false, &out);
	for (size_t i = 0; i < out.n; i++)
		print_line(f, &out.l[i], colour);
	top_lines_free(&out);
}

/* ---- the verb ---------------------------------------------------------------------- */

static int write_out(const struct svf *s, const struct top_model *m)
{
	const char *path = s->own[0];
	FILE *f = path ? fopen(path, "we") : stdout;
	bool failed;

	if (!f) {
		fprintf(stderr, "svf: map: %s can't be written: %s\n", path,
			strerror(errno));
		return SVF_CONF;
	}
	if (s->flag)
		map_svg(m, f);
	else
		map_text(m, f, s->colour && !path);
	failed = ferror(f) || fflush(f);
	if (path && fclose(f))
		failed = true;
	if (!failed)
		return SVF_OK;
	fprintf(stderr, "svf: map: %s can't be written: %s\n",
		path ? path : "the output", strerror(errno));
	return SVF_CONF;
}

static int run(const struct svf *s)
{
	struct json_object *all;
	struct vs_jdoc doc = { 0 };
	struct top_model *m;
	int rc;

	if (s->argc)
		return svf_wrong("map", "nothing is expected after it, not '%s'",
				 s->argv[0]);
	if (s->json && (s->flag || s->own[0]))
		return svf_wrong("map", "--json goes with neither --svg nor -o");
	rc = top_ask(&all);
	if (rc)
		return rc;
	doc.root = all;
	if (s->json)
		return svf_print_json(s, &doc);
	m = top_model_new(&doc, NULL);
	rc = svf_read_failed(&doc);
	if (!rc)
		rc = write_out(s, m);
	top_model_free(m);
	vs_jdoc_free(&doc);
	return rc;
}

static const struct svf_opt own[] = {
	{ "-o", "--output", "FILE",
	  "into this file, instead of standard output", SVF_OPT_OWN },
	{ 0 }
};

const struct svf_verb svf_map = {
	.name = "map", .args = "", .run = run, .reads = true, .own = own,
	.flag = "--svg", .flag_what = "as a picture (SVG) for a ticket",
	.what = "hosts, VFs and jobs as a picture, once",
	.help =
"The map shows what svf top shows, as text or with --svg as a picture. A picture\n"
"has a legend, the date and the site's name: ClusterName of slurm.conf, or\n"
"vCenter's address. It contains the names of users and jobs that you may see, so\n"
"mind who reads it. --json prints the four answers of which the map is made.\n",
};
