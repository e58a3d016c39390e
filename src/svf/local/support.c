/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * svf support: what a person needs who looks into a problem of this site, as one
 * archive: versions, the configuration, the end of slurmctld's log, svf's states.
 *
 * Rules: each text passes scrub.c, and the comments of configuration files stay here.
 * Of slurm.conf only keys that are named below are taken. A file that can't be had is
 * left out, and the archive says why. The archive is its owner's alone.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "local.h"
#include "scrub.h"
#include "svf/list/list.h"
#include "svf/rpc/rpc.h"
#include "util/mem.h"
#include "vs_config.h"

#define TEXT_MAX ((size_t)64 << 20)	/* of one file */
#define LOG_TAIL ((long)4 << 20)
#define FILES_MAX 16
#define FOLDER "svf-support"

struct support {
	struct svf_where where;
	char *dir, *folder;		/* the folder is in dir */
	char *files[FILES_MAX];
	size_t nfiles;
	struct vs_buf left_out;		/* "FILE: why" lines */
	char *log;			/* SlurmctldLogFile, NULL: not known */
	char *password;			/* NULL: it can't be read */
};

static void leave_out(struct support *p, const char *name, const char *why)
{
	VS_FREE char *line = vs_asprintf("%s is left out: %s", name, why);

	line[strcspn(line, "\r\n")] = '\0';
	fprintf(stderr, "svf: support: %s\n", svf_clean(line));
	vs_buf_printf(&p->left_out, "%s\n", line);
}

/* Writes the text, scrubbed, as a file of the archive. */
static void put(struct support *p, const char *name, const char *text)
{
	VS_FREE char *path = vs_asprintf("%s/%s", p->folder, name);
	const char *given[] = { p->password, NULL };
	struct vs_buf clean = VS_BUF_INIT(2 * TEXT_MAX);
	FILE *f;

	svf_scrub(text, p->password ? given : NULL, &clean);
	f = fopen(path, "wxe");
	if (f && clean.len)
		fwrite(clean.data, 1, clean.len, f);
	vs_buf_free(&clean);
	if (!f || fclose(f))
		leave_out(p, name, strerror(errno));
	else if (p->nfiles < FILES_MAX)
		p->files[p->nfiles++] = vs_strdup(name);
}

/* ---- configuration ----------------------------------------------------------- */

/* What decides how slurmctld and slurm-vsphere work together. */
static const char *const slurm_keys[] = {
	"AccountingStorageTRES", "ClusterName", "CompleteWait", "DebugFlags",
	"DefMemPerCPU", "DefMemPerNode", "GresTypes", "InactiveLimit",
	"JobRequeue", "JobSubmitPlugins", "KillWait", "Licenses",
	"MaxNodeCount", "MessageTimeout", "NodeName", "NodeSet",
	"PartitionName", "PreemptMode", "PreemptType", "PrEpPlugins",
	"PrivateData", "PrologFlags", "ResumeFailProgram", "ResumeProgram",
	"ResumeRate", "ResumeTimeout", "ReturnToService",
	"SchedulerParameters", "SchedulerType", "SelectType",
	"SelectTypeParameters", "SlurmctldDebug", "SlurmctldHost",
	"SlurmctldLogFile", "SlurmctldParameters", "SlurmctldPort",
	"SlurmctldTimeout", "SlurmdParameters", "SlurmdPort", "SlurmdTimeout",
	"SlurmUser", "StateSaveLocation", "SuspendExcNodes",
	"SuspendExcParts", "SuspendExcStates", "SuspendProgram",
	"SuspendRate", "SuspendTime", "SuspendTimeout", "TCPTimeout",
	"TopologyPlugin", "TreeWidth",
};

static bool is_slurm_key(const char *line, size_t len)
{
	for (size_t i = 0; i < VS_COUNT(slurm_keys); i++)
		if (strlen(slurm_keys[i]) == len &&
		    !strncasecmp(line, slurm_keys[i], len))
			return true;
	return false;
}

static void log_found(struct support *p, const char *value)
{
	value += strspn(value, "= \t\"");
	free(p->log);
	p->log = vs_asprintf("%.*s", (int)strcspn(value, " \t\r\n\""), value);
}

static void put_slurm_conf(struct support *p)
{
	struct vs_buf all = VS_BUF_INIT(TEXT_MAX), text = VS_BUF_INIT(TEXT_MAX);

	if (svf_conf_text(p->where.slurm_conf, &all)) {
		leave_out(p, "slurm.conf", "it can't be read");
		return;
	}
	for (const char *line = all.data; line && *line;
	     line += strcspn(line, "\n") + 1) {
		size_t len = strcspn(line, "= \t\n");

		if (!is_slurm_key(line, len))
			continue;
		vs_buf_add(&text, line, strcspn(line, "\n") + 1);
		if (!strncasecmp(line, "SlurmctldLogFile", len))
			log_found(p, line + len);
	}
	put(p, "slurm.conf", text.len ? text.data : "");
	vs_buf_free(&all);
	vs_buf_free(&text);
}

/* So that the password is found wherever it stands. Not by the parser: a file with an
 * error is what people ask about. */
static void password_read(struct support *p, const char *conf)
{
	static const char key[] = "VCenterPasswordFile=";
	const char *value = conf ? strcasestr(conf, key) : NULL;
	VS_FREE char *path = NULL;
	char line[1024] = "";
	FILE *in = NULL;

	if (value) {
		value += strlen(key);
		value += strspn(value, " \t\"");
		path = vs_asprintf("%.*s", (int)strcspn(value, " \t\r\n\""),
				   value);
		in = fopen(path, "re");
	}
	if (in && fgets(line, sizeof(line), in)) {
		line[strcspn(line, "\r\n")] = '\0';
		p->password = vs_strdup(line);
	}
	if (in)
		fclose(in);
	explicit_bzero(line, sizeof(line));
}

/* A line that is no Key=Value may be a password, if the wrong file is included. */
static void put_vsphere_conf(struct support *p)
{
	struct vs_buf all = VS_BUF_INIT(TEXT_MAX), text = VS_BUF_INIT(TEXT_MAX);

	if (svf_conf_text(p->where.vsphere_conf, &all)) {
		leave_out(p, "vsphere.conf", "it can't be read");
		return;
	}
	password_read(p, all.data);
	for (const char *line = all.data; line && *line;
	     line += strcspn(line, "\n") + 1)
		if (memchr(line, '=', strcspn(line, "\n")))
			vs_buf_add(&text, line, strcspn(line, "\n") + 1);
	put(p, "vsphere.conf", text.len ? text.data : "");
	vs_buf_free(&all);
	vs_buf_free(&text);
}

/* ---- the log ------------------------------------------------------------------ */

static void put_log(struct support *p)
{
	VS_FCLOSE FILE *in = p->log ? fopen(p->log, "re") : NULL;
	VS_FREE char *text = NULL;
	char *from;
	size_t n;
	long size;

	if (!in || fseek(in, 0, SEEK_END) || (size = ftell(in)) < 0) {
		leave_out(p, "slurmctld.log", !p->log ?
			  "slurm.conf has no SlurmctldLogFile" : strerror(errno));
		return;
	}
	if (size > LOG_TAIL)
		fseek(in, -LOG_TAIL, SEEK_END);
	else
		rewind(in);
	text = vs_calloc(1, (size_t)LOG_TAIL + 1);
	n = fread(text, 1, (size_t)LOG_TAIL, in);
	for (size_t i = 0; i < n; i++)
		if (!text[i])
			text[i] = ' ';
	from = size > LOG_TAIL ? strchr(text, '\n') : NULL;
	put(p, "slurmctld.log", from ? from + 1 : text);
}

/* ---- versions, states --------------------------------------------------------- */

static void add_run(struct vs_buf *to, const char *a, const char *b)
{
	char *const argv[] = { "/usr/bin/env", (char *)a, (char *)b, NULL };
	struct vs_buf said = VS_BUF_INIT(65536);

	if (svf_program_run(argv, true, &said, NULL) >= 0 && said.len)
		vs_buf_printf(to, "%s %s: %s", a, b, said.data);
	vs_buf_free(&said);
}

static void put_versions(struct support *p)
{
	struct vs_buf text = VS_BUF_INIT(TEXT_MAX);
	VS_FCLOSE FILE *os = fopen("/etc/os-release", "re");
	struct utsname u;
	char line[256];

	vs_buf_printf(&text, "slurm-vsphere %s, for Slurm %s\n", PACKAGE_VERSION,
		      VS_SLURM_RELEASE);
	if (!uname(&u))
		vs_buf_printf(&text, "%s %s %s\n", u.sysname, u.release,
			      u.machine);
	while (os && fgets(line, sizeof(line), os))
		if (!strncmp(line, "PRETTY_NAME=", 12))
			vs_buf_printf(&text, "%s", line);
	add_run(&text, "sinfo", "--version");
	add_run(&text, "munge", "--version");
	put(p, "versions.txt", text.data);
	vs_buf_free(&text);
}

/* Returns false if no slurmctld answers: it need not be asked again. */
static bool put_state(struct support *p, const char *verb)
{
	VS_FREE char *svf = svf_own_path(), *name = vs_asprintf("%s.json", verb);
	char *const argv[] = { svf, "--json", (char *)verb, NULL };
	struct vs_buf said = VS_BUF_INIT(TEXT_MAX);
	struct vs_err err = { 0 };
	int rc = svf_program_run(argv, true, &said, &err);
	bool answered = said.len && (said.data[0] == '{');

	if (answered)
		put(p, name, said.data);
	else
		leave_out(p, name, rc < 0 ? err.text : said.len ? said.data :
			  "no answer");
	vs_buf_free(&said);
	return rc != SVF_AWAY && rc != SVF_AUTH;
}

static void put_states(struct support *p)
{
	static const char *const verbs[] = { "status", "hosts", "nodes", "jobs",
		"reconcile", "check" };

	for (size_t i = 0; i < VS_COUNT(verbs); i++)
		if (!put_state(p, verbs[i]))
			return;
}

/* ---- the archive -------------------------------------------------------------- */

static int open_folder(struct support *p)
{
	const char *tmp = getenv("TMPDIR");

	p->dir = vs_asprintf("%s/svf-support.XXXXXX",
			     tmp && tmp[0] ? tmp : "/tmp");
	if (!mkdtemp(p->dir)) {
		fprintf(stderr, "svf: support: %s: %s\n", p->dir,
			strerror(errno));
		return SVF_CONF;
	}
	p->folder = vs_asprintf("%s/" FOLDER, p->dir);
	return mkdir(p->folder, 0700) ? SVF_CONF : SVF_OK;
}

static void close_folder(struct support *p)
{
	for (size_t i = 0; i < p->nfiles; i++) {
		VS_FREE char *path = vs_asprintf("%s/%s", p->folder,
						 p->files[i]);

		unlink(path);
		free(p->files[i]);
	}
	if (p->folder)
		rmdir(p->folder);
	if (p->dir)
		rmdir(p->dir);
	free(p->folder);
	free(p->dir);
	free(p->log);
	if (p->password)
		explicit_bzero(p->password, strlen(p->password));
	free(p->password);
	vs_buf_free(&p->left_out);
	svf_where_free(&p->where);
}

/* An own file, new: nothing that is there is replaced. */
static int make_archive(struct support *p, const char *file)
{
	char *const argv[] = { "/usr/bin/env", "tar", "--force-local", "-C",
		p->dir, "-cz", "-f", (char *)file, FOLDER, NULL };
	struct vs_buf said = VS_BUF_INIT(65536);
	struct vs_err err = { 0 };
	int fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	int rc;

	if (fd < 0) {
		fprintf(stderr, "svf: support: %s: %s\n", file, strerror(errno));
		return SVF_CONF;
	}
	close(fd);
	rc = svf_program_run(argv, true, &said, &err);
	if (rc) {
		fprintf(stderr, "svf: support: tar could not write %s: %s\n",
			file, rc < 0 ? err.text : said.len ?
			svf_clean(said.data) : "no reason given");
		unlink(file);
	}
	vs_buf_free(&said);
	return rc ? SVF_CONF : SVF_OK;
}

static char *default_file(void)
{
	char host[256] = "", when[32];

	gethostname(host, sizeof(host) - 1);
	svf_clock((int64_t)time(NULL), "%Y-%m-%dT%H%M%S", when);
	return vs_asprintf("svf-support-%s-%s.tar.gz", host, when);
}

static void collect(struct support *p)
{
	put_vsphere_conf(p);
	put_versions(p);
	put_slurm_conf(p);
	put_log(p);
	put_states(p);
	if (p->left_out.len)
		put(p, "left-out.txt", p->left_out.data);
}

static void print_done(const struct svf *s, const struct support *p,
		       const char *file)
{
	struct json_object *top, *arr;

	if (!s->json) {
		printf("%s has %zu files. Read them before you send it: names of hosts, users and networks are in it\n",
		       file, p->nfiles);
		return;
	}
	top = vs_jb_obj(NULL);
	arr = vs_jb_arr();
	for (size_t i = 0; i < p->nfiles; i++)
		vs_jb_add_str(arr, p->files[i]);
	vs_jb_str(top, "file", file);
	vs_jb_put(top, "files", arr);
	svf_print_object(s, top);
}

static int run(const struct svf *s)
{
	VS_FREE char *file = s->argc ? vs_strdup(s->argv[0]) : default_file();
	struct support p = { .left_out = VS_BUF_INIT(65536) };
	struct vs_err err = { 0 };
	int rc;

	if (s->argc > 1)
		return svf_wrong("support", "one FILE at most is expected, not '%s'",
				 s->argv[1]);
	umask(077);
	svf_where(&p.where, &err);	/* its paths; an error is in the file */
	rc = open_folder(&p);
	if (!rc) {
		collect(&p);
		rc = make_archive(&p, file);
	}
	if (!rc)
		print_done(s, &p, file);
	close_folder(&p);
	return rc;
}

const struct svf_verb svf_support = {
	.name = "support", .args = "[FILE]", .run = run,
	.names = SVF_NAMES_FILE,
	.what = "write an archive for those who look into a problem",
	.help =
"The .tar.gz has versions, vsphere.conf, keys of slurm.conf, the end of slurmctld's\n"
"log if you may read it, and svf's answers as JSON. Passwords, keys and session ids\n"
"are replaced by HIDDEN. Names of hosts, users and networks stay, so read the files\n"
"before you send them.\n"
"\n"
"The answers are those of status, hosts, nodes, jobs, reconcile and check. Comments\n"
"of the files are left out. Run it as root on the controller for all files. No file\n"
"is replaced. Without FILE the archive is svf-support-HOST-TIME.tar.gz in this\n"
"folder.\n",
};
