/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * svf-probe: asks a real vCenter what no document says and slurm-vsphere takes
 * for granted, and prints a report. It runs slurm-vsphere's own client, so that
 * this too meets the real thing.
 *
 * Rules: it works in one folder that must be empty, with at most four VMs of
 * its own; what it made goes at the end, after Ctrl-C and after an error. It
 * changes no host, no cluster and no setting: where a host must do something,
 * a person is asked to do it (--hosts). Without --names its report has no name,
 * no address and no uuid.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe.h"
#include "util/log.h"
#include "util/mem.h"
#include "util/name.h"

static bool verbose;

static void log_line(enum vs_log_level level, const char *line)
{
	static const char *const words[] = { "error", "info", "debug" };

	if (verbose)
		fprintf(stderr, "%s: %s\n", words[level], line);
}

static void on_signal(int sig)
{
	static const char say[] =
		"\nsvf-probe: stopping, what was made is removed first\n";
	ssize_t n = write(STDERR_FILENO, say, sizeof(say) - 1);

	(void)n;
	(void)sig;
	probe_stop = 1;
}

static void catch_signals(void)
{
	/* Without SA_RESTART: a question on the terminal ends too. */
	struct sigaction sa = { .sa_handler = on_signal };

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGHUP, &sa, NULL);
	signal(SIGPIPE, SIG_IGN);
}

/* The folder has to be empty, because its objects could not be told from those
 * that the probe creates. */
static int folder_is_empty(struct probe *p)
{
	struct reply r;
	int rc = -1;

	if (ask_get(p, &r, "Folder", p->folder, "childEntity"))
		fprintf(stderr, "svf-probe: folder %s can't be read: %s\n",
			p->o.folder, r.err.text);
	else if (vs_j_len(vs_j_root(&r.doc)))
		fprintf(stderr, "svf-probe: folder %s is not empty (%zu objects): the probe takes an empty one alone\n",
			p->o.folder, vs_j_len(vs_j_root(&r.doc)));
	else
		rc = 0;
	reply_free(&r);
	return rc;
}

static bool agreed(struct probe *p)
{
	char line[16] = "";

	if (p->o.yes || p->o.read_only)
		return true;
	print_plan(p);
	fputs("\nGo on? [y/N] ", stdout);
	fflush(stdout);
	return fgets(line, sizeof(line), stdin) &&
		(line[0] == 'y' || line[0] == 'Y');
}

const struct question *const all_questions[] = { read_questions,
	wire_questions, check_questions, vm_questions, power_questions, host_questions, NULL };

static void ask_all(struct probe *p, const struct question *q)
{
	for (; q->id && !probe_stop; q++) {
		struct answer *a;

		if (!is_wanted(&p->o, q))
			continue;
		VS_GROW(p->answers, p->cap_answers, p->nanswers + 1);
		memset(&p->answers[p->nanswers], 0, sizeof(*p->answers));
		p->answers[p->nanswers].q = q;
		a = &p->answers[p->nanswers++].a;
		fprintf(stderr, "svf-probe: %s ...\n", q->id);
		p->asking = q->id;
		q->run(p, a);
		p->asking = NULL;
		if (probe_stop) {
			a->verdict = UNKNOWN;
			saw(a, "it was stopped");
		}
	}
}

static void hide_names(struct probe *p)
{
	const struct options *o = &p->o;
	const char *host = strstr(o->vcenter, "://");
	VS_FREE char *name = host ? vs_strdup(host + 3) : NULL;

	if (name) {
		name[strcspn(name, ":/")] = '\0';
		alias_add(p, name, "vcenter");
	}
	alias_add(p, o->username, "user");
	alias_add(p, o->datacenter, "datacenter");
	alias_add(p, o->folder, "folder");
	alias_add(p, o->datastore, "datastore");
	alias_add(p, o->cluster, "cluster");
	alias_add(p, o->pool, "pool");
	alias_add(p, o->network, "network");
	alias_add(p, o->template_name, "template");
}

/* Keeps the password in memory, so that a recording can be searched for it: a
 * proxy may echo a request. */
static void read_secret(struct probe *p)
{
	VS_FCLOSE FILE *f = p->o.record ? fopen(p->o.password_file, "re") :
		NULL;
	char line[1024] = "";

	if (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\r\n")] = '\0';
		p->secret = vs_strdup(line);
	}
	explicit_bzero(line, sizeof(line));
}

static int ask_and_clean(struct probe *p)
{
	int rc = PROBE_NO;

	if (!folder_is_empty(p) && agreed(p)) {
		for (size_t i = 0; all_questions[i]; i++)
			ask_all(p, all_questions[i]);
		rc = probe_stop ? PROBE_NO : PROBE_OK;
	}
	return vms_end(p) ? rc : PROBE_NO;
}

static int write_reports(struct probe *p, int rc)
{
	contact_text(p, stdout);
	if (p->nanswers)
		report_text(p, stdout);
	if (p->o.json_file && report_json(p, p->o.json_file)) {
		fprintf(stderr, "svf-probe: %s can't be written\n",
			p->o.json_file);
		rc = rc ? rc : PROBE_FILE;
	}
	return rc;
}

static int run(struct probe *p)
{
	struct vs_err err = { 0 };
	int rc;

	if (record_open(p))
		return PROBE_FILE;
	read_secret(p);
	hide_names(p);
	if (!link_open(p, &err)) {
		alias_add(p, p->user, "user");
		rc = write_reports(p, ask_and_clean(p));
	} else {
		fprintf(stderr, "svf-probe: %s: %s\n",
			p->vc ? stage_name(p->ended) : "options", err.text);
		rc = p->vc ? write_reports(p, contact_exit(p)) : PROBE_FILE;
	}
	link_close(p);
	if (record_write(p) && !rc)
		rc = PROBE_FILE;
	record_free(p);
	return rc;
}

static void probe_free(struct probe *p)
{
	char **strs[] = { &p->about, &p->release, &p->user, &p->dc, &p->folder,
		&p->store, &p->cluster, &p->pool, &p->network, &p->switch_uuid,
		&p->portgroup_key, &p->source, &p->source_host,
		&p->drs_behavior };

	for (size_t i = 0; i < VS_COUNT(strs); i++)
		free(*strs[i]);
	for (size_t i = 0; i < p->nops; i++)
		free(p->ops[i]);
	names_free(&p->names);
	names_free(&p->addresses);
	names_free(&p->values);
	if (p->secret)
		explicit_bzero(p->secret, strlen(p->secret));
	free(p->secret);
	for (size_t i = 0; i < p->nanswers; i++)
		vs_buf_free(&p->answers[i].a.seen);
	free(p->ops);
	free(p->answers);
	options_free(&p->o);
}

int main(int argc, char **argv)
{
	struct probe p = { 0 };
	int rc = options_read(&p.o, argc, argv);

	if (rc) {
		probe_free(&p);
		return rc - 1;
	}
	verbose = p.o.verbose;
	vs_log_to(log_line);
	catch_signals();
	vs_uuid_random(p.run_id);
	if (p.o.plan)
		print_plan(&p);
	else
		rc = run(&p);
	probe_free(&p);
	return rc;
}
