/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * svf import: a cluster file of vHPC-toolkit as vsphere.conf, with what slurm.conf
 * needs as comments. VMs that are alike are a partition; each thing that has no
 * counterpart is a note that says what to do instead.
 *
 * What is printed passes `svf conf`: it is read by the plugins' own parser
 * before. No password is ever printed.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE	/* memfd_create */
#endif
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "import.h"
#include "plugins/vs_conf_file.h"
#include "svf.h"
#include "util/buf.h"
#include "util/hostlist.h"
#include "util/mem.h"

/* ---- the file ------------------------------------------------------------------ */

static int file_text(const char *path, struct vs_buf *out, struct vs_err *err)
{
	VS_CLOSE int fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) :
		dup(STDIN_FILENO);
	char part[65536];
	ssize_t n;

	if (fd < 0)
		return vs_err_set(err, VS_E_CONFIG, "%s", strerror(errno));
	while ((n = read(fd, part, sizeof(part))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return vs_err_set(err, VS_E_CONFIG, "%s",
					  strerror(errno));
		if (vs_buf_add(out, part, (size_t)n))
			return vs_err_set(err, VS_E_CONFIG,
				"longer than %d bytes: this is no cluster file",
				SVF_IMPORT_TEXT_MAX);
	}
	return 0;
}

/* As slurmctld's plugins would read it. */
int svf_import_check(const char *conf, struct vs_err *err)
{
	VS_CLOSE int fd = memfd_create("vsphere.conf", MFD_CLOEXEC);
	struct vs_conf *c = vs_conf_new();
	struct vs_conf_file f = { 0 };
	size_t len = strlen(conf);
	char path[64];
	int rc;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	rc = fd < 0 || write(fd, conf, len) != (ssize_t)len ?
		vs_err_set(err, VS_E_CONFIG, "%s", strerror(errno)) :
		vs_conf_scan(&f, path, err) ||
		vs_conf_fill(c, &f, vs_hostlist_expand, err);
	vs_conf_file_free(&f);
	vs_conf_free(c);
	return rc ? -1 : 0;
}

/* ---- the verb ------------------------------------------------------------------ */

static void print_json(const char *conf)
{
	struct json_object *top = vs_jb_obj(NULL), *notes = vs_jb_arr();
	VS_FREE char *copy = vs_strdup(conf), *text = NULL;
	char *save = NULL;

	for (char *l = strtok_r(copy, "\n", &save); l;
	     l = strtok_r(NULL, "\n", &save))
		if (!strncmp(l, "# note: ", 8))
			vs_jb_add_str(notes, l + 8);
	vs_jb_str(top, "conf", conf);
	vs_jb_put(top, "notes", notes);
	text = vs_jb_pretty_free(top);
	puts(text);
}

static int import(const char *path, char **conf, struct vs_err *err)
{
	struct vs_buf text = VS_BUF_INIT(SVF_IMPORT_TEXT_MAX);
	struct svf_cluster im = { 0 };
	struct vs_err why = { 0 };
	int rc = file_text(path, &text, err) ||
		svf_import_parse(&im, text.data ? text.data : "", text.len,
				 err) ||
		svf_import_conf(&im, conf, err);

	if (!rc && svf_import_check(*conf, &why))
		rc = vs_err_set(err, VS_E_CONFIG,
				"vsphere.conf can't have what it says: %s",
				why.text);
	svf_import_free(&im);
	vs_buf_free(&text);
	return rc ? -1 : 0;
}

static int run(const struct svf *s)
{
	VS_FREE char *conf = NULL;
	struct vs_err err = { 0 };

	if (s->argc != 1) {
		fputs("svf: import: one cluster file is expected (-: standard input)\n",
		      stderr);
		return SVF_USAGE;
	}
	if (import(s->argv[0], &conf, &err)) {
		fprintf(stderr, "svf: %s: %s\n", s->argv[0],
			svf_clean(err.text));
		return SVF_CONF;
	}
	if (s->json)
		print_json(conf);
	else
		fputs(conf, stdout);
	return SVF_OK;
}

const struct svf_verb svf_import = {
	.name = "import", .args = "FILE", .run = run,
	.names = SVF_NAMES_FILE,
	.what = "vsphere.conf from a cluster file of vHPC-toolkit",
	.help =
"Sections, macros and ranges ({1:8}, {{5:8}}) are read as the toolkit reads\n"
"them. VMs that are alike become a partition; lines for slurm.conf follow as\n"
"comments. What has no counterpart is a line that begins with \"# note:\" and says\n"
"what to do instead; the placeholders example.org and CHANGE-ME are yours to\n"
"fill in. The result passes svf conf. An error names line and column, and\n"
"nothing is printed. Needs neither slurmctld nor vCenter.\n",
};
