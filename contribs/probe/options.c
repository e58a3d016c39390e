/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command line, completed from a vsphere.conf if there is one. The folder
 * and nothing but it must be said: it is where VMs come and go.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plugins/conf/conf.h"
#include "probe.h"
#include "util/mem.h"
#include "vs_config.h"

#define AT(member) offsetof(struct options, member)

static const struct row {
	const char *name, *arg;
	size_t slot;
	enum vs_conf_scope scope;	/* where vsphere.conf has it, */
	const char *key;		/* NULL: nowhere */
	bool required;
	const char *what;
} rows[] = {
	{ "--folder", "NAME", AT(folder), 0, NULL, true,
	  "an empty VM folder, for the probe alone" },
	{ "--conf", "FILE", AT(conf), 0, NULL, false,
	  "take what follows from this vsphere.conf (/etc/slurm's)" },
	{ "--vcenter", "URL", AT(vcenter), VS_SCOPE_TOP, "VCenter", true,
	  "https://vc.example.org" },
	{ "--username", "USER", AT(username), VS_SCOPE_TOP, "VCenterUser", true,
	  "" },
	{ "--password-file", "FILE", AT(password_file), VS_SCOPE_TOP,
	  "VCenterPasswordFile", true, "yours alone, mode 0600" },
	{ "--ca-file", "FILE", AT(ca_file), VS_SCOPE_TOP, "VCenterCAFile", false,
	  "the CA of vCenter's certificate (the system's)" },
	{ "--datacenter", "NAME", AT(datacenter), VS_SCOPE_TOP, "Datacenter",
	  true, "" },
	{ "--datastore", "NAME", AT(datastore), VS_SCOPE_TOP, "Datastore", true,
	  "" },
	{ "--cluster", "NAME", AT(cluster), VS_SCOPE_CLUSTER, "VSphereCluster",
	  true, "" },
	{ "--pool", "NAME", AT(pool), VS_SCOPE_CLUSTER, "ResourcePool", false,
	  "" },
	{ "--network", "NAME", AT(network), VS_SCOPE_ADAPTER, "Network", true,
	  "with SR-IOV, for the NICs" },
	{ "--template", "NAME", AT(template_name), VS_SCOPE_PARTITION,
	  "Template", true, "small; it is cloned, never changed" },
	{ "--only", "IDS", AT(only), 0, NULL, false,
	  "these questions alone, with commas (--plan lists them)" },
	{ "--json", "FILE", AT(json_file), 0, NULL, false,
	  "the report as JSON too (- for standard output)" },
	{ "--record", "DIR", AT(record), 0, NULL, false,
	  "each answer of vCenter, without names, in a new directory" },
};

static const struct {
	const char *name;
	size_t slot;
	const char *what;
} flags[] = {
	{ "--plan", AT(plan), "say what would be done, and do nothing" },
	{ "--read-only", AT(read_only), "leave out what makes VMs" },
	{ "--hosts", AT(hosts),
	  "with questions for which you handle a host or vCenter" },
	{ "--yes", AT(yes), "don't ask before the first VM is made" },
	{ "--names", AT(names), "keep names in the report" },
	{ "--quick", AT(quick), "less patience: a poll of 3 s, HA 5 s, first contact 15 s" },
	{ "--verbose", AT(verbose), "the client's log on standard error" },
};

static char **text_at(struct options *o, size_t slot)
{
	return (char **)((char *)o + slot);
}

static void usage(FILE *f)
{
	fputs("usage: svf-probe --folder NAME [OPTION...]\n\n"
	      "Asks a real vCenter what slurm-vsphere takes for granted, with at most four\n"
	      "VMs in an empty folder, and prints a report. Attach it to an issue where you\n"
	      "got the source.\n\n", f);
	for (size_t i = 0; i < VS_COUNT(rows); i++)
		fprintf(f, "  %-15s %-5s %s\n", rows[i].name, rows[i].arg,
			rows[i].what);
	fputs("  --memory        MB    of a VM (1024)\n", f);
	for (size_t i = 0; i < VS_COUNT(flags); i++)
		fprintf(f, "  %-21s %s\n", flags[i].name, flags[i].what);
	fputs("  --help, --version\n\n"
	      "Exit, as svf: 0 the report is complete; 1 it is not, vCenter is too old, a name\n"
	      "is unknown, or a VM remains in the folder; 2 usage; 3 vCenter gives no usable\n"
	      "answer; 4 vCenter refuses the login; 5 a file is wrong or can't be written.\n", f);
}

static int wrong(const char *what, const char *arg)
{
	fprintf(stderr, "svf-probe: %s %s\nTry 'svf-probe --help' for more information.\n",
		what, arg);
	return PROBE_USAGE + 1;
}

static int take(struct options *o, int argc, char **argv, int *i)
{
	const char *a = argv[*i], *value = *i + 1 < argc ? argv[*i + 1] : NULL;
	char *end;

	for (size_t k = 0; k < VS_COUNT(flags); k++) {
		if (!strcmp(a, flags[k].name)) {
			*(bool *)((char *)o + flags[k].slot) = true;
			return 0;
		}
	}
	for (size_t k = 0; k < VS_COUNT(rows); k++) {
		if (strcmp(a, rows[k].name))
			continue;
		if (!value || !*value)
			return wrong("a value is missing after", a);
		vs_str_replace(text_at(o, rows[k].slot), value);
		++*i;
		return 0;
	}
	if (strcmp(a, "--memory"))
		return wrong("there is no option", a);
	o->memory_mb = value ? (int)strtol(value, &end, 10) : 0;
	if (o->memory_mb < 4 || *end || o->memory_mb % 4)
		return wrong("a multiple of 4 (MB) is expected after", a);
	++*i;
	return 0;
}

/* What wasn't said on the command line. */
static int from_conf(struct options *o)
{
	const char *path = o->conf ? o->conf : "/etc/slurm/vsphere.conf";
	struct vs_conf_file f = { 0 };
	struct vs_err err = { 0 };
	int rc = 0;

	if (!o->conf && access(path, R_OK))
		return 0;
	if (vs_conf_scan(&f, path, &err)) {
		fprintf(stderr, "svf-probe: %s\n", err.text);
		rc = PROBE_FILE + 1;
	}
	for (size_t k = 0; !rc && k < VS_COUNT(rows); k++) {
		const struct row *r = &rows[k];
		char **slot = text_at(o, r->slot);

		if (r->key && !*slot)
			vs_str_replace(slot, vs_conf_value(&f, r->scope, r->key));
	}
	if (!rc)
		vs_str_replace(&o->taken_folder,
			       vs_conf_value(&f, VS_SCOPE_TOP, "Folder"));
	vs_conf_file_free(&f);
	return rc;
}

static bool same_folder(const char *a, const char *b)
{
	while (*a == '/')
		a++;
	while (*b == '/')
		b++;
	return !strcmp(a, b);
}

/* Is id one of the words of list? */
static bool is_among(const char *list, const char *id, size_t len)
{
	while (*list) {
		size_t n = strcspn(list, ",");

		if (n == len && !strncmp(list, id, n))
			return true;
		list += n + !!list[n];
	}
	return false;
}

bool is_wanted(const struct options *o, const struct question *q)
{
	if (o->only && !is_among(o->only, q->id, strlen(q->id)))
		return false;
	return q->kind == READ || (!o->read_only &&
				   (q->kind != WATCH || o->hosts));
}

static bool is_question(const char *id, size_t len)
{
	for (size_t i = 0; all_questions[i]; i++)
		for (const struct question *q = all_questions[i]; q->id; q++)
			if (strlen(q->id) == len && !strncmp(q->id, id, len))
				return true;
	return false;
}

static int check(struct options *o)
{
	for (const char *s = o->only; s && *s;) {
		size_t n = strcspn(s, ",");

		if (!is_question(s, n))
			return wrong("there is no such question:", s);
		s += n + !!s[n];
	}
	for (size_t k = 0; k < VS_COUNT(rows); k++)
		if (rows[k].required && !*text_at(o, rows[k].slot))
			return wrong("this is needed:", rows[k].name);
	if (o->taken_folder && same_folder(o->folder, o->taken_folder)) {
		fprintf(stderr, "svf-probe: folder %s is the cluster's own (Folder= of vsphere.conf): make one for the probe\n",
			o->folder);
		return PROBE_USAGE + 1;
	}
	return 0;
}

int options_read(struct options *o, int argc, char **argv)
{
	int rc = 0;

	memset(o, 0, sizeof(*o));
	o->memory_mb = 1024;
	for (int i = 1; i < argc && !rc; i++) {
		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
			usage(stdout);
			return 1;
		}
		if (!strcmp(argv[i], "--version")) {
			puts("svf-probe " PACKAGE_VERSION);
			return 1;
		}
		rc = take(o, argc, argv, &i);
	}
	if (!rc)
		rc = from_conf(o);
	o->poll_seconds = o->quick ? 3 : 120;
	return rc ? rc : check(o);
}

void options_free(struct options *o)
{
	for (size_t k = 0; k < VS_COUNT(rows); k++)
		free(*text_at(o, rows[k].slot));
	free(o->taken_folder);
}
