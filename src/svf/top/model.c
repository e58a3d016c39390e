/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The picture of a site from slurmctld's answers (shape:
 * engine/report/report.h). Any process may answer: missing values are left out,
 * names are cleaned, amounts are bounded. Users' names are this machine's.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "top.h"
#include "util/hash.h"
#include "util/mem.h"

static char *text_of(struct vs_j j, const char *key)
{
	return svf_clean(vs_strdup(vs_j_str_or(vs_j_opt(j, key), "")));
}

static int small(struct vs_j j, const char *key)
{
	int64_t n = vs_j_int_or(vs_j_opt(j, key), 0);

	return n < 0 ? 0 : n > 1000000 ? 1000000 : (int)n;
}

static int64_t number(struct vs_j j, const char *key)
{
	return vs_j_int_or(vs_j_opt(j, key), -1);
}

/* ---- hosts -------------------------------------------------------------------- */

/* What is shown first where trouble comes first. */
static int trouble_of(const char *state)
{
	static const char *const worse[] = {
		"UP", "ON_TRIAL", "STANDBY", "MAINTENANCE", "DRAINED",
		"DRAINING", "ENTERING_MAINTENANCE", "EXCLUDED", "QUARANTINED",
		"UNKNOWN", "DISCONNECTED",
	};

	for (size_t i = 0; i < VS_COUNT(worse); i++)
		if (!strcmp(state, worse[i]))
			return (int)i;
	return (int)VS_COUNT(worse);
}

static void host_read(struct top_host *h, struct vs_j j)
{
	struct vs_j pfs = vs_j_opt(j, "pfs");

	h->name = svf_clean(vs_strdup(vs_j_str(vs_j_get(j, "host"))));
	h->cluster = text_of(j, "cluster");
	h->state = svf_clean(vs_strdup(vs_j_str(vs_j_get(j, "state"))));
	h->reason = svf_clean(svf_join(vs_j_opt(j, "reasons"), "; "));
	h->trouble = trouble_of(h->state);
	h->npfs = (int)vs_j_len(pfs);
	h->pfs = vs_calloc((size_t)h->npfs + 1, sizeof(*h->pfs));
	for (int i = 0; i < h->npfs; i++) {
		struct vs_j pf = vs_j_at(pfs, (size_t)i);
		struct top_pf *p = &h->pfs[i];

		p->pci = svf_clean(vs_strdup(vs_j_str(vs_j_get(pf, "pci"))));
		p->label = text_of(pf, "nic");
		p->device = vs_j_str_or(vs_j_opt(pf, "device"), NULL) != NULL;
		if (!p->label[0]) {	/* handed out whole, or no NIC */
			free(p->label);
			p->label = text_of(pf, "device");
		}
		if (!p->label[0])
			vs_str_replace(&p->label, p->pci);
	}
}

/* ---- jobs --------------------------------------------------------------------- */

static void job_read(struct top_job *job, struct vs_j j)
{
	job->number = (uint32_t)vs_j_int(vs_j_get(j, "job"));
	job->id = svf_clean(vs_strdup(vs_j_str(vs_j_get(j, "id"))));
	job->user = svf_clean(svf_user(number(j, "uid")));
	job->partition = text_of(j, "partition");
	job->state = text_of(j, "state");
	job->text = text_of(j, "reason");
	job->phase = text_of(j, "phase");
	job->vfs = small(j, "vfs");
	job->devices = small(j, "devices");
	job->making = small(j, "provisioning");
	job->need = small(j, "need");
	job->since = vs_j_int_or(vs_j_opt(j, "since"), 0);
	job->expected = vs_j_int_or(vs_j_opt(j, "start_time"), 0);
	job->waits = !vs_j_len(vs_j_opt(j, "nodes")) && !job->vfs && !job->devices &&
		(job->text[0] || job->need);
}

static int by_number(const void *a, const void *b)
{
	uint32_t m = ((const struct top_job *)a)->number;
	uint32_t n = ((const struct top_job *)b)->number;

	return m < n ? -1 : m > n;
}

int top_job_at(const struct top_model *m, int64_t n)
{
	struct top_job key = { .number = (uint32_t)n };
	const struct top_job *j;

	if (n <= 0 || n > UINT32_MAX || !m->njobs)
		return -1;
	j = bsearch(&key, m->jobs, m->njobs, sizeof(key), by_number);
	return j ? (int)(j - m->jobs) : -1;
}

static void job_free(struct top_job *j)
{
	free(j->id);
	free(j->user);
	free(j->partition);
	free(j->state);
	free(j->text);
	free(j->phase);
}

static void jobs_read(struct top_model *m, struct vs_j jobs)
{
	size_t n = vs_j_len(jobs), kept = 0;

	m->jobs = vs_calloc(n + 1, sizeof(*m->jobs));
	for (size_t i = 0; i < n; i++)
		job_read(&m->jobs[i], vs_j_at(jobs, i));
	qsort(m->jobs, n, sizeof(*m->jobs), by_number);
	for (size_t i = 0; i < n; i++)	/* each once */
		if (kept && m->jobs[kept - 1].number == m->jobs[i].number)
			job_free(&m->jobs[i]);
		else
			m->jobs[kept++] = m->jobs[i];
	m->njobs = kept;
}

/* ---- letters ---------------------------------------------------------------------- */

static bool has_vfs(const struct top_job *j)
{
	return j->vfs || j->devices || j->making;
}

static void letter_take(struct top_job *j, unsigned int want, bool taken[26])
{
	unsigned int at = want % 26;

	for (int i = 0; i < 26 && taken[at]; i++)
		at = (at + 1) % 26;
	if (taken[at])			/* more jobs than letters: one again */
		at = want % 26;
	taken[at] = true;
	j->letter = (char)('A' + at);
	j->colour = (int)(at % TOP_COLOURS);
}

/*
 * Those that had one keep it, so that no letter moves while one looks; the
 * others follow one another by their numbers. Where there are more jobs than
 * letters colours still tell two of a letter apart, as far as they go.
 */
void top_letters(struct top_model *m, const struct top_model *was)
{
	bool taken[26] = { false };
	unsigned int next = 0, again = 0;

	for (size_t i = 0; i < m->njobs; i++) {
		int had = was ? top_job_at(was, m->jobs[i].number) : -1;

		if (had < 0 || !was->jobs[had].letter || !has_vfs(&m->jobs[i]))
			continue;
		m->jobs[i].letter = was->jobs[had].letter;
		m->jobs[i].colour = was->jobs[had].colour;
		taken[m->jobs[i].letter - 'A'] = true;
		next = (unsigned int)(m->jobs[i].letter - 'A') + 1;
	}
	for (size_t i = 0; i < m->njobs; i++) {
		bool full = true;

		if (m->jobs[i].letter || !has_vfs(&m->jobs[i]))
			continue;
		for (int k = 0; k < 26; k++)
			full &= taken[k];
		again += full;
		letter_take(&m->jobs[i], next++, taken);
		if (full)
			m->jobs[i].colour = (m->jobs[i].colour +
					     1 + (int)(again / 26) * 5) %
				TOP_COLOURS;
	}
}

/* ---- the engine ------------------------------------------------------------------ */

static void engine_read(struct top_engine *e, struct vs_j st)
{
	e->vcenter = text_of(st, "vcenter");
	e->error = text_of(st, "error");
	e->mode = text_of(st, "mode");
	e->up = vs_j_bool_or(vs_j_opt(st, "up"), false);
	e->brake = vs_j_bool_or(vs_j_opt(st, "removal_limit_reached"), false);
	e->since = vs_j_int_or(vs_j_opt(st, "since"), 0);
	e->in_flight = number(st, "in_flight");
	e->calls = number(st, "calls");
	e->mutating = number(st, "mutating");
	e->nodes = number(st, "nodes");
	e->on = number(st, "vms_on");
	e->off = number(st, "vms_off");
	e->suspect = number(st, "unverified");
	e->starts = number(st, "starts");
	e->failures = number(st, "failures");
	e->clones_hour = number(st, "clones_hour");
	e->clones_max = number(st, "clones_max");
}

/* Each once. */
static void note_add(struct top_model *m, const char *text)
{
	VS_FREE char *s = vs_strdup(text);
	size_t k = 0;

	svf_clean(s);
	while (k < m->nnotes && strcmp(m->notes[k], s))
		k++;
	if (k < m->nnotes)
		return;
	m->notes = vs_realloc(m->notes, m->nnotes + 1, sizeof(*m->notes));
	m->notes[m->nnotes++] = vs_strdup(s);
}

static void notes_read(struct top_model *m, struct vs_j of)
{
	struct vs_j list = vs_j_opt(of, "notes");

	for (size_t i = 0; i < vs_j_len(list) && i < 50; i++)
		note_add(m, vs_j_str(vs_j_at(list, i)));
}

/* Of the status alone: the other answers have some of the same. */
static void findings_read(struct top_model *m, struct vs_j status)
{
	VS_FREE char *line = svf_findings_line(status);

	if (line)
		note_add(m, line);
}

struct top_model *top_model_new(struct vs_jdoc *doc,
				const struct top_model *was)
{
	struct top_model *m = vs_calloc(1, sizeof(*m));
	struct vs_j top = vs_j_root(doc);
	struct vs_j hosts = vs_j_opt(vs_j_opt(top, "hosts"), "hosts");

	m->at = vs_j_int_or(vs_j_opt(top, "at"), 0);
	engine_read(&m->engine, vs_j_opt(top, "status"));
	m->site = text_of(top, "site");
	if (!m->site[0])
		vs_str_replace(&m->site, m->engine.vcenter);
	jobs_read(m, vs_j_opt(vs_j_opt(top, "jobs"), "jobs"));
	top_letters(m, was);
	m->nhosts = vs_j_len(hosts);
	m->hosts = vs_calloc(m->nhosts + 1, sizeof(*m->hosts));
	for (size_t i = 0; i < m->nhosts; i++)
		host_read(&m->hosts[i], vs_j_at(hosts, i));
	top_cells(m, hosts, vs_j_opt(vs_j_opt(top, "nodes"), "nodes"));
	notes_read(m, vs_j_opt(top, "status"));
	notes_read(m, vs_j_opt(top, "hosts"));
	findings_read(m, vs_j_opt(top, "status"));
	return m;
}

static void host_free(struct top_host *h)
{
	for (int i = 0; i < h->npfs; i++) {
		free(h->pfs[i].pci);
		free(h->pfs[i].label);
		free(h->pfs[i].cells);
	}
	free(h->pfs);
	free(h->name);
	free(h->cluster);
	free(h->state);
	free(h->reason);
}

void top_model_free(struct top_model *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->nhosts; i++)
		host_free(&m->hosts[i]);
	for (size_t i = 0; i < m->njobs; i++)
		job_free(&m->jobs[i]);
	for (size_t i = 0; i < m->nnotes; i++)
		free(m->notes[i]);
	free(m->hosts);
	free(m->jobs);
	free(m->notes);
	free(m->site);
	free(m->engine.vcenter);
	free(m->engine.error);
	free(m->engine.mode);
	free(m);
}
