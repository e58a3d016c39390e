/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * svf: what slurm-vsphere does, for people. This file reads the command line;
 * each verb has a file of its own. --help and --version work everywhere,
 * options may stand before or after the verb. It never talks to vCenter and
 * needs no password.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "svf.h"
#include "util/mem.h"
#include "vs_config.h"

static const struct svf_verb *const verbs[] = {
	&svf_hosts, &svf_nodes, &svf_why, &svf_status, &svf_reconcile,
	&svf_adopt, &svf_vm, &svf_host, &svf_conf, &svf_plan,
};

static void usage(FILE *f)
{
	fputs("usage: svf [--json] [--noheader] VERB [ARGUMENT...]\n\n", f);
	for (size_t i = 0; i < VS_COUNT(verbs); i++)
		fprintf(f, "  %-10s%-18s%s\n", verbs[i]->name, verbs[i]->args,
			verbs[i]->what);
	fputs("\n"
	      "  -j, --json      the whole answer as JSON\n"
	      "  -n, --noheader  tables without their first line\n"
	      "  -h, --help      this, or after a verb what it prints\n"
	      "  -V, --version\n\n"
	      "slurmctld is asked, at SVF_CONTROL=HOST:PORT or where vsphere.conf and\n"
	      "slurm.conf say. Exit: 0 done, 1 the answer is no, 2 usage, 3 nobody\n"
	      "answers, 4 munge, 5 vsphere.conf has an error. See svf(1).\n", f);
}

static void verb_usage(FILE *f, const struct svf_verb *v)
{
	fprintf(f, "usage: svf %s [--json] [--noheader]%s%s%s%s%s\n\n%s.\n%s",
		v->name, v->flag ? " [" : "", v->flag ? v->flag : "",
		v->flag ? "]" : "", v->args[0] ? " " : "", v->args, v->what,
		v->help);
}

static const struct svf_verb *verb_named(const char *name)
{
	for (size_t i = 0; i < VS_COUNT(verbs); i++)
		if (!strcmp(verbs[i]->name, name))
			return verbs[i];
	return NULL;
}

static bool is(const char *arg, const char *brief, const char *full)
{
	return !strcmp(arg, brief) || !strcmp(arg, full);
}

/* Help and version, wherever they stand; -1 if neither is asked for. */
static int asked_for_help(int argc, char **argv)
{
	const struct svf_verb *v = NULL;

	for (int i = 1; i < argc && strcmp(argv[i], "--"); i++) {
		if (argv[i][0] != '-' && !v)
			v = verb_named(argv[i]);
		if (is(argv[i], "-V", "--version")) {
			puts("svf " PACKAGE_VERSION);
			return SVF_OK;
		}
		if (!is(argv[i], "-h", "--help"))
			continue;
		for (int k = i + 1; k < argc && !v; k++)
			v = verb_named(argv[k]);
		if (v)
			verb_usage(stdout, v);
		else
			usage(stdout);
		return SVF_OK;
	}
	return -1;
}

static int wrong(const char *what, const char *arg)
{
	fprintf(stderr, "svf: %s '%s' (try svf --help)\n", what, arg);
	return SVF_USAGE;
}

int main(int argc, char **argv)
{
	VS_FREE char **rest = vs_calloc((size_t)argc + 1, sizeof(*rest));
	struct svf s = { .argv = rest };
	const struct svf_verb *v = NULL;
	const char *own = NULL;
	bool options = true;
	int rc = asked_for_help(argc, argv);

	if (rc >= 0)
		return rc;
	for (int i = 1; i < argc; i++) {
		bool raw = v && v->raw;

		if (options && !strcmp(argv[i], "--"))
			options = false;
		else if (options && is(argv[i], raw ? "--json" : "-j", "--json"))
			s.json = true;
		else if (options && is(argv[i], raw ? "--noheader" : "-n",
				       "--noheader"))
			s.no_header = true;
		else if (options && argv[i][0] == '-' && !raw)
			own = own ? "" : argv[i];
		else if (v)
			s.argv[s.argc++] = argv[i];
		else if (!(v = verb_named(argv[i])))
			return wrong("there is no verb", argv[i]);
	}
	if (!v) {
		usage(stderr);
		return SVF_USAGE;
	}
	if (own && (!v->flag || strcmp(own, v->flag)))
		return wrong("this verb has no option", own[0] ? own : "twice");
	s.flag = own != NULL;
	return v->run(&s);
}
