/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What svf says of itself, from the tables: --help, and all of it for the man
 * page (man1.awk).
 */
#include <stdio.h>
#include <string.h>

#include "plan/checks/check_codes.h"
#include "verb_table.h"
#include "util/mem.h"

#define WIDE 79
#define BELOW "\n                                   "

const struct svf_opt svf_opts[] = {
	{ NULL, "--json", NULL,
	  "print the whole answer as JSON, in the form of the files in " SVF_PKGDATADIR "/schema. Fields that are not known, or that you may not see, are absent. Times are seconds since the epoch",
	  SVF_OPT_JSON },
	{ "-h", "--noheader", NULL, "print tables without their header",
	  SVF_OPT_NOHEADER },
	{ "-l", "--long", NULL,
	  "print all columns (as -O ALL), and wrap none of them",
	  SVF_OPT_LONG },
	{ "-O", "--Format", "FIELDS",
	  "columns to print, as squeue -O takes them: field[:[.]width] with commas between, or ALL. A width cuts off and fills up, a dot aligns right; the default is the widest cell",
	  SVF_OPT_FORMAT },
	{ "-S", "--sort", "FIELDS",
	  "sort lines by these fields, shown or not; -field sorts from the greatest down",
	  SVF_OPT_SORT },
	{ NULL, "--color", "=WHEN",
	  "colour states that need attention: auto (on a terminal, unless NO_COLOR is set), always or never",
	  SVF_OPT_COLOR },
	{ "-i", "--iterate", "SECONDS",
	  "print the answer every SECONDS until ^C, as squeue -i does. The time comes first, except with --noheader or --json. svf continues while slurmctld does not answer. Only verbs that change nothing take this option",
	  SVF_OPT_ITERATE },
	{ NULL, "--help", NULL, "print this text, or after a verb its own",
	  SVF_OPT_HELP },
	{ NULL, "--usage", NULL,
	  "print the synopsis, or after a verb its own",
	  SVF_OPT_USAGE },
	{ "-V", "--version", NULL, "print the release", SVF_OPT_VERSION },
	{ 0 }
};

static const struct { int code; const char *what; } exits[] = {
	{ SVF_OK, "done" },
	{ SVF_NO, "the answer is no: there is no such job, host or node, you may not see it, or the request was refused; svf check: an error was found" },
	{ SVF_USAGE, "the command line is wrong" },
	{ SVF_AWAY, "slurmctld or vCenter does not answer, or not in time" },
	{ SVF_AUTH, "authentication is refused (munge, or vCenter's login)" },
	{ SVF_CONF, "a file has an error (vsphere.conf; slurm.conf without ClusterName or with an unknown SlurmUser), or can't be written (svf map)" },
};

/* Broken between words; all lines but the first begin with `indent` blanks,
 * where the first is already. */
static void wrap(FILE *f, int indent, const char *text)
{
	int at = indent;

	while (*text) {
		int len = (int)strcspn(text, " ");
		bool fresh = at == indent;

		if (!fresh && at + 1 + len > WIDE) {
			fprintf(f, "\n%*s", indent, "");
			at = indent;
			fresh = true;
		}
		fprintf(f, "%s%.*s", fresh ? "" : " ", len, text);
		at += len + !fresh;
		text += len;
		text += strspn(text, " ");
	}
	putc('\n', f);
}

char *svf_opt_title(const struct svf_opt *o)
{
	return vs_asprintf("%s%s%s%s%s%s",
		o->brief ? o->brief : "", o->brief ? ", " : "    ", o->name,
		!o->arg ? "" : o->arg[0] == '=' ? "[" : "=",
		o->arg ? o->arg : "", o->arg && o->arg[0] == '=' ? "]" : "");
}

static void print_opt(FILE *f, const struct svf_opt *o)
{
	VS_FREE char *name = svf_opt_title(o);

	fprintf(f, "  %-22s", name);
	wrap(f, 24, o->what);
}

static void print_call(FILE *f)
{
	fputs("usage: svf [OPTION...] VERB [ARGUMENT...]\n", f);
}

void svf_usage(FILE *f)
{
	print_call(f);
	fputs("\nsvf (Slurm VF) shows the VMs of Slurm's nodes, their hosts and virtual\n"
	      "functions, and why jobs wait for them.\n\n", f);
	for (const struct svf_verb *const *v = svf_verbs; *v; v++)
		fprintf(f, "  %-14s%-18s%s%s\n", (*v)->name, (*v)->args,
			strlen((*v)->args) > 18 ? BELOW : " ", (*v)->what);
	fprintf(f, "  %-14s%-18s %s\n", "help", "[VERB]",
		"describe a verb, as VERB --help does");
	putc('\n', f);
	for (const struct svf_opt *o = svf_opts; o->name; o++)
		print_opt(f, o);
	fputs("\n"
	      "svf asks slurmctld, at SVF_CONTROL=HOST:PORT or where vsphere.conf and\n"
	      "slurm.conf say. svf help VERB describes a verb, svf(1) all of them.\n"
	      "Exit status:\n\n",
	      f);
	for (size_t i = 0; i < VS_COUNT(exits); i++) {
		fprintf(f, "  %d  ", exits[i].code);
		wrap(f, 5, exits[i].what);
	}
}

/* A star before what is shown without -O. */
static void print_fields(FILE *f, const struct svf_list *l, const char *head)
{
	fprintf(f, "\n%s\n", head);
	for (size_t i = 0; i < l->ncols; i++) {
		const char *name = l->cols[i].name;

		fprintf(f, "  %s%-11s%s", l->cols[i].how & SVF_EXTRA ? " " : "*",
			name, strlen(name) > 11 ? "\n               " : " ");
		wrap(f, 15, l->cols[i].what);
	}
}

/* A line for each order of the verb, or one. */
static void print_synopsis(FILE *f, const struct svf_verb *v)
{
	const char *head = "usage:";

	for (const struct svf_word *w = v->words; w && w->name; w++) {
		fprintf(f, "%-6s svf %s [OPTION...] %s %s\n", head, v->name,
			w->name, w->args);
		head = "";
	}
	if (!v->words)
		fprintf(f, "%s svf %s [OPTION...]%s%s%s%s%s%s%s%s\n", head,
			v->name, v->flag ? " [" : "", v->flag ? v->flag : "",
			v->flag ? "]" : "", v->also ? " [" : "",
			v->also ? v->also : "", v->also ? "]" : "",
			v->args[0] ? " " : "", v->args);
}

void svf_synopsis(FILE *f, const struct svf_verb *v)
{
	if (v)
		print_synopsis(f, v);
	else
		print_call(f);
}

void svf_verb_usage(FILE *f, const struct svf_verb *v)
{
	VS_FREE char *head = v->flag ? vs_asprintf(
		"Fields of -O and --sort with %s:", v->flag) : NULL;

	print_synopsis(f, v);
	fprintf(f, "\n%s.\n", v->what);
	if (v->flag && v->flag_what) {
		fprintf(f, "\n  %-11s", v->flag);
		wrap(f, 13, v->flag_what);
	}
	if (v->also) {
		fprintf(f, "  %-11s", v->also);
		wrap(f, 13, v->also_what);
	}
	if (v->own)
		putc('\n', f);
	for (const struct svf_opt *o = v->own; o && o->name; o++)
		print_opt(f, o);
	for (const struct svf_word *w = v->words; w && w->name; w++) {
		fprintf(f, "\n%s %s\n        ", w->name, w->args);
		wrap(f, 8, w->what);
	}
	if (v->help[0])
		fprintf(f, "%s%s", v->help[0] == '\n' ? "" : "\n", v->help);
	if (v->list)
		print_fields(f, v->list,
			     "Fields of -O and --sort (*: shown without them):");
	if (v->flagged && v->flagged != v->list)
		print_fields(f, v->flagged, head);
}

/* ---- for the man page ------------------------------------------------------------ */

/* Lines of its own; one that begins with a blank stays as it is. */
static void table_text(FILE *f, const char *text)
{
	while (text && *text) {
		size_t len = strcspn(text, "\n");

		fprintf(f, "text\t%.*s\n", (int)len, text);
		text += len + !!text[len];
	}
}

/* The first verb that has these columns. */
static const struct svf_verb *owner(const struct svf_list *l)
{
	const struct svf_verb *const *v = svf_verbs;

	while ((*v)->list != l && (*v)->flagged != l)
		v++;
	return *v;
}

static void table_cols(FILE *f, const struct svf_list *l, const char *flag,
		       const struct svf_verb *of)
{
	if (owner(l) != of) {
		fprintf(f, "same\t%s\n", owner(l)->name);
		return;
	}
	fprintf(f, "list\t%s\n", flag);
	for (size_t i = 0; i < l->ncols; i++)
		fprintf(f, "field\t%s\t%d\t%s\n", l->cols[i].name,
			!(l->cols[i].how & SVF_EXTRA), l->cols[i].what);
}

static void table_verb(FILE *f, const struct svf_verb *v)
{
	fprintf(f, "verb\t%s\t%s\t%s\t%s\n", v->name, v->flag ? v->flag : "",
		v->args, v->what);
	if (v->flag && v->flag_what)
		fprintf(f, "flag\t%s\t%s\n", v->flag, v->flag_what);
	if (v->also)
		fprintf(f, "flag\t%s\t%s\n", v->also, v->also_what);
	for (const struct svf_opt *o = v->own; o && o->name; o++) {
		VS_FREE char *title = svf_opt_title(o);

		fprintf(f, "flag\t%s\t%s\n", title, o->what);
	}
	for (const struct svf_word *w = v->words; w && w->name; w++)
		fprintf(f, "word\t%s %s\t%s\t%s\n", v->name, w->name, w->args,
			w->what);
	table_text(f, v->help[0] == '\n' ? v->help + 1 : v->help);
	if (v->list)
		table_cols(f, v->list, "", v);
	if (v->flagged && v->flagged != v->list)
		table_cols(f, v->flagged, v->flag, v);
}

void svf_tables(FILE *f)
{
	for (const struct svf_verb *const *v = svf_verbs; *v; v++)
		table_verb(f, *v);
	for (const struct svf_opt *o = svf_opts; o->name; o++)
		fprintf(f, "option\t%s\t%s\t%s\t%s\n", o->brief ? o->brief : "",
			o->name, o->arg ? o->arg : "", o->what);
	for (size_t i = 0; i < VS_COUNT(exits); i++)
		fprintf(f, "exit\t%d\t%s\n", exits[i].code, exits[i].what);
	for (int i = 0; i < VS_CHECKS; i++)
		fprintf(f, "code\t%s\t%s\t%s\t%s\t%s\n",
			vs_check_kinds[i].code,
			vs_severity_name(vs_check_kinds[i].severity),
			vs_check_kinds[i].of, vs_check_kinds[i].what,
			vs_check_kinds[i].why);
}
