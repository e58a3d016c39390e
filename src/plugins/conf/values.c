/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From the texts of vsphere.conf to a checked struct vs_conf: first every value
 * by its row of the table, then what the lines say together. Each error names
 * the line and what was expected. Of files it reads VCenterCAFile and the metadata of
 * the password file. It never prints a value that could be a secret.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE	/* memmem */
#endif
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>
#include "util/mem.h"
#include "util/ipv4.h"
#include "util/name.h"
#include "util/secret_file.h"
#include "conf_i.h"

static int number(const struct vs_conf_file *f, int line,
		  const struct vs_conf_key *k, const char *s, long *out,
		  struct vs_err *err)
{
	char *end;

	errno = 0;
	*out = strtol(s, &end, k->type == VS_CONF_HEX ? 16 : 10);
	if (k->type == VS_CONF_HEX &&
	    (strncasecmp(s, "0x", 2) || *end || *out < k->min ||
	     *out > k->max))
		return vs_conf_err(f, line, err,
			"%s=%.40s: expected a PCI id such as 0x10de (lspci -nn)",
			k->key, s);
	if (errno || end == s || *end || *out < k->min || *out > k->max)
		return vs_conf_err(f, line, err,
			"%s=%.40s: expected a number%s from %ld to %ld", k->key,
			s, k->type == VS_CONF_MB ? " of MB" : "", k->min,
			k->max);
	return 0;
}

int vs_conf_number(const struct vs_conf_file *f, enum vs_conf_scope scope,
		   const char *key, long *out, struct vs_err *err)
{
	const char *s = vs_conf_value(f, scope, key);
	int k = vs_conf_key_find(key, strlen(key), 1u << scope);

	return s ? number(f,
			  vs_conf_key_line(vs_conf_record_get(f, scope, 0),
					   key),
			  &vs_conf_keys[k], s, out, err) :
		   0;
}

static int choice(const struct vs_conf_file *f, int line,
		  const struct vs_conf_key *k, const char *s, char **out,
		  struct vs_err *err)
{
	const char *at = k->choices, *now = vs_conf_value_renamed(k->key, s);

	if (now)
		return vs_conf_err(f, line, err, "%s=%s was renamed: write %s=%s",
				   k->key, s, k->key, now);
	while (*at) {
		size_t len = strcspn(at, "|");

		if (strlen(s) == len && !strncasecmp(at, s, len)) {
			VS_FREE char *word = strndup(at, len);

			vs_str_replace(out, word);
			return 0;
		}
		at += len + !!at[len];
	}
	return vs_conf_err(f, line, err, "%s=%.40s: expected one of %s", k->key,
			   s, k->choices);
}

/* Which of "a|b" it is, -1: none. */
static int choice_index(const char *choices, const char *name, size_t len)
{
	for (int i = 0; *choices; i++) {
		size_t n = strcspn(choices, "|");

		if (n == len && !strncasecmp(choices, name, len))
			return i;
		choices += n + !!choices[n];
	}
	return -1;
}

/* "a=1,b=2" into the ints at out. One that is not named keeps its value. */
static int options(const struct vs_conf_file *f, int line,
		   const struct vs_conf_key *k, const char *s, int *out,
		   struct vs_err *err)
{
	for (size_t len; *s; s += len + !!s[len]) {
		size_t name = strcspn(s, "=,");
		int at = choice_index(k->choices, s, name);
		VS_FREE char *word = NULL, *value = NULL;
		struct vs_conf_key one = *k;
		long n;

		len = strcspn(s, ",");
		if (at < 0 || s[name] != '=')
			return vs_conf_err(f, line, err,
				"%s=%.*s: expected NAME=NUMBER, or several with commas; NAME is one of %s",
				k->key, (int)(len > 40 ? 40 : len), s,
				k->choices);
		word = vs_asprintf("%s=%.*s", k->key, (int)name, s);
		value = strndup(s + name + 1, len - name - 1);
		one.key = word;
		if (number(f, line, &one, value, &n, err))
			return -1;
		out[at] = (int)n;
	}
	return 0;
}

static int url(const struct vs_conf_file *f, int line,
	       const struct vs_conf_key *k, const char *s, struct vs_err *err)
{
	const char *host = s + strlen("https://");
	size_t len;

	/* Whatever else is wrong: it may hold a password, so isn't printed. */
	if (strchr(s, '@'))
		return vs_conf_err(f, line, err, "%s: expected https://host or "
			"https://host:port, without a user or password in it "
			"(they go into VCenterUser= and VCenterPasswordFile=)", k->key);
	if (strchr(s, ','))
		return vs_conf_err(f, line, err, "%s=%.80s: expected one vCenter: "
			"hosts of another, linked or not, need a Slurm cluster "
			"of their own", k->key, s);
	if (strncasecmp(s, "https://", strlen("https://")))
		return vs_conf_err(f, line, err, "%s=%.80s: expected "
			"https://host or https://host:port", k->key, s);
	len = strcspn(host, "/?#");
	if (!len || (host[len] && strcmp(host + len, "/")))
		return vs_conf_err(f, line, err, "%s=%.80s: expected "
			"https://host or https://host:port, without a path",
			k->key, s);
	return 0;
}

static int set_number(const struct vs_conf_file *f, int line,
		      const struct vs_conf_key *k, const char *s, void *slot,
		      struct vs_err *err)
{
	long n;

	if (number(f, line, k, s, &n, err))
		return -1;
	if (k->type == VS_CONF_MB)
		*(int64_t *)slot = n;
	else
		*(int *)slot = (int)n;
	return 0;
}

static int set_value(const struct vs_conf_file *f, int line,
		     const struct vs_conf_key *k, const char *s, void *base,
		     struct vs_err *err)
{
	void *slot = (char *)base + k->offset;
	struct vs_err why = { 0 };
	char pci[VS_PCI_LEN];

	switch (k->type) {
	case VS_CONF_INT:
	case VS_CONF_HEX:
	case VS_CONF_MB:
		return set_number(f, line, k, s, slot, err);
	case VS_CONF_AMOUNT:
	case VS_CONF_SHARES:
		if (k->type == VS_CONF_AMOUNT ?
		    vs_conf_amount(k, s, slot, &why) :
		    vs_conf_shares(k, s, slot, &why))
			return vs_conf_err(f, line, err, "%s=%s", k->key,
					   why.text);
		return 0;
	case VS_CONF_BOOL:
		if (strcasecmp(s, "yes") && strcasecmp(s, "no"))
			return vs_conf_err(f, line, err,
				"%s=%.40s: expected yes or no", k->key, s);
		*(bool *)slot = !strcasecmp(s, "yes");
		return 0;
	case VS_CONF_CHOICE:
		return choice(f, line, k, s, slot, err);
	case VS_CONF_OPTIONS:
		return options(f, line, k, s, slot, err);
	case VS_CONF_PCI:
		if (vs_pci_parse(s, pci, &why))
			return vs_conf_err(f, line, err, "%s: %s", k->key,
					   why.text);
		vs_str_replace(slot, pci);
		return 0;
	case VS_CONF_POOLS:
	case VS_CONF_IPS:
	case VS_CONF_DOMAINS:
		if (!vs_conf_net_value(k, s, &why))
			break;
		return vs_conf_err(f, line, err, "%s=%s", k->key, why.text);
	case VS_CONF_PATH:
		if (*s != '/')
			return vs_conf_err(f, line, err,
				"%s: expected a path that begins with /",
				k->key);
		break;
	case VS_CONF_URL:
		if (url(f, line, k, s, err))
			return -1;
		break;
	case VS_CONF_NAME:
	case VS_CONF_TEXT:
		break;
	}
	vs_str_replace(slot, s);
	return 0;
}

/* All values of one record into its struct; what is required must be there. */
static int fill_record(const struct vs_conf_file *f,
		       const struct vs_conf_record *r, void *base,
		       struct vs_err *err)
{
	for (size_t i = 0; i < vs_conf_nkeys; i++) {
		const struct vs_conf_key *k = &vs_conf_keys[i];
		const char *s = r->values[i];

		if (k->scope != r->scope)
			continue;
		if (!s && k->required && r->line)
			return vs_conf_err(f, r->line, err,
				"%s= is missing in this %s= line", k->key,
				vs_conf_opener(r->scope));
		if (!s && k->required)
			return vs_conf_err(f, 0, err, "%s= is missing", k->key);
		if (!s)
			s = k->dflt;
		if (s && set_value(f, r->lines[i] ? r->lines[i] : r->line, k, s,
				   base, err))
			return -1;
	}
	return 0;
}

/* A feature must be one word of Slurm's constraint language. */
static bool feature_valid(const char *s)
{
	if (!isalpha((unsigned char)*s) || strlen(s) > 63)
		return false;
	for (; *s; s++)
		if (!isalnum((unsigned char)*s) && !strchr("_-.", *s))
			return false;
	return true;
}

int vs_conf_key_line(const struct vs_conf_record *r, const char *key)
{
	int k = vs_conf_key_find(key, strlen(key), 1u << r->scope);

	return k >= 0 && r->lines[k] ? r->lines[k] : r->line;
}

static int add_adapter(struct vs_conf *conf, const struct vs_conf_file *f,
		       const struct vs_conf_record *r, struct vs_err *err)
{
	struct vs_conf_adapter *a;

	conf->adapters = vs_realloc(conf->adapters, conf->nadapters + 1,
				    sizeof(*a));
	a = &conf->adapters[conf->nadapters++];
	memset(a, 0, sizeof(*a));
	if (fill_record(f, r, a, err))
		return -1;
	if (!feature_valid(a->name))
		return vs_conf_err(f, r->line, err, "AdapterName=%.63s: expected "
			"a letter, then letters, digits, '-', '_' or '.' (it is "
			"a Slurm feature)", a->name);
	for (size_t i = 0; i + 1 < conf->nadapters; i++)
		if (!strcmp(conf->adapters[i].name, a->name))
			return vs_conf_err(f, r->line, err,
				"AdapterName=%s is given twice", a->name);
	return vs_conf_adapter_check(a, f, r, err);
}

static int add_partition(struct vs_conf *conf, const struct vs_conf_file *f,
			 const struct vs_conf_record *r, struct vs_err *err)
{
	struct vs_conf_partition *p;

	conf->partitions = vs_realloc(conf->partitions, conf->npartitions + 1,
				      sizeof(*p));
	p = &conf->partitions[conf->npartitions++];
	memset(p, 0, sizeof(*p));
	p->memory_overhead_mb = -1;
	if (fill_record(f, r, p, err))
		return -1;
	if (p->storage_policy && !vs_uuid_valid(p->storage_policy))
		return vs_conf_err(f, vs_conf_key_line(r, "StoragePolicy"), err,
			"StoragePolicy=%.80s: expected the policy's id, a UUID "
			"(govc storage.policy.info NAME prints it), not its name",
			p->storage_policy);
	for (size_t i = 0; i + 1 < conf->npartitions; i++)
		if (!strcmp(conf->partitions[i].name, p->name))
			return vs_conf_err(f, r->line, err,
				"PartitionName=%s is given twice", p->name);
	return 0;
}

static int add_cluster(struct vs_conf *conf, const struct vs_conf_file *f,
		       const struct vs_conf_record *r, struct vs_err *err)
{
	struct vs_conf_cluster *c;

	conf->clusters = vs_realloc(conf->clusters, conf->nclusters + 1,
				    sizeof(*c));
	c = &conf->clusters[conf->nclusters++];
	memset(c, 0, sizeof(*c));
	if (fill_record(f, r, c, err))
		return -1;
	for (size_t i = 0; i + 1 < conf->nclusters; i++)
		if (!strcmp(conf->clusters[i].name, c->name))
			return vs_conf_err(f, r->line, err,
				"VSphereCluster=%s is given twice", c->name);
	return 0;
}

static int bad_hosts(const struct vs_conf_file *f, int line, const char *list,
		     struct vs_err *err)
{
	return vs_conf_err(f, line, err, "ESXiHost=%.80s: expected a host list "
			   "such as esx[01-16]", list);
}

static int add_hosts(struct vs_conf *conf, const struct vs_conf_file *f,
		     const struct vs_conf_record *r, vs_conf_expand *expand,
		     struct vs_err *err)
{
	struct vs_conf_host one = { 0 };
	char **names = NULL;
	int rc = fill_record(f, r, &one, err);

	if (!rc && !(names = expand(one.name)))
		rc = bad_hosts(f, r->line, one.name, err);
	for (char **n = names; n && *n; n++) {
		struct vs_conf_host *h;

		/* Slurm takes a list with an open bracket for one name */
		if (!rc && strpbrk(*n, "[],"))
			rc = bad_hosts(f, r->line, one.name, err);
		for (size_t i = 0; !rc && i < conf->nhosts; i++)
			if (!strcmp(conf->hosts[i].name, *n))
				rc = vs_conf_err(f, r->line, err,
					"ESXiHost=%s is given twice", *n);
		if (rc) {
			free(*n);
			continue;
		}
		conf->hosts = vs_realloc(conf->hosts, conf->nhosts + 1,
					 sizeof(*h));
		h = &conf->hosts[conf->nhosts++];
		h->name = *n;
		h->leaf = vs_strdup(one.leaf);
	}
	free(names);
	free(one.name);
	free(one.leaf);
	return rc;
}

static int check_metrics(const struct vs_conf *conf,
			 const struct vs_conf_file *f, struct vs_err *err)
{
	const struct vs_conf_record *top = &f->records[0];

	if (vs_addr_is_loopback(conf->metrics.addr) < 0)
		return vs_conf_err(f, vs_conf_key_line(top, "MetricsAddr"), err,
			"MetricsAddr=%.63s: expected a numeric address",
			conf->metrics.addr);
	if (conf->metrics.port == conf->svf_port &&
	    !strcmp(conf->metrics.addr, conf->svf_listen_addr))
		return vs_conf_err(f, vs_conf_key_line(top, "MetricsPort"), err,
			"MetricsPort=%d: expected another port than SvfPort",
			conf->metrics.port);
	return 0;
}

static int check_together(struct vs_conf *conf, const struct vs_conf_file *f,
			  struct vs_err *err)
{
	size_t n = 0;

	for (size_t i = 0; i < f->nrecords; i++) {
		const struct vs_conf_record *r = &f->records[i];
		const struct vs_conf_partition *p;
		const char *adapter;

		if (r->scope != VS_SCOPE_PARTITION)
			continue;
		p = &conf->partitions[n++];
		adapter = p->adapter;
		if (!vs_conf_adapter_named(conf, adapter))
			return vs_conf_err(
				f, vs_conf_key_line(r, "Adapter"), err,
				"Adapter=%.63s: expected the name of an "
				"AdapterName= line",
				adapter);
		if (vs_conf_clone_check(conf, p, f, r, err))
			return -1;
	}
	if (!conf->nadapters || !conf->npartitions || !conf->nclusters)
		return vs_conf_err(f, 0, err, "expected at least one %s= line",
			!conf->nadapters ? "AdapterName" :
			!conf->npartitions ? "PartitionName" : "VSphereCluster");
	for (size_t i = 0; i < conf->nclusters && !conf->datastore; i++)
		if (!conf->clusters[i].datastore)
			return vs_conf_err(f, 0, err,
				"Datastore= is missing: at the top, or in the line of VSphereCluster=%s",
				conf->clusters[i].name);
	if (!conf->verify_tls && conf->ca_file)
		return vs_conf_err(
			f, vs_conf_key_line(&f->records[0], "VCenterVerifyTLS"), err,
			"VCenterVerifyTLS=no and VCenterCAFile= exclude each other");
	if (check_metrics(conf, f, err) ||
	    vs_conf_adapters_check(conf, f, err) ||
	    vs_conf_hardware_check(conf, f, err))
		return -1;
	return vs_conf_net_check(conf, f, err);
}

int vs_conf_fill(struct vs_conf *conf, const struct vs_conf_file *f,
		 vs_conf_expand *expand, struct vs_err *err)
{
	for (size_t i = 0; i < f->nrecords; i++) {
		const struct vs_conf_record *r = &f->records[i];
		int rc = 0;

		switch (r->scope) {
		case VS_SCOPE_TOP:
			rc = fill_record(f, r, conf, err);
			break;
		case VS_SCOPE_ADAPTER:
			rc = add_adapter(conf, f, r, err);
			break;
		case VS_SCOPE_PARTITION:
			rc = add_partition(conf, f, r, err);
			break;
		case VS_SCOPE_CLUSTER:
			rc = add_cluster(conf, f, r, err);
			break;
		case VS_SCOPE_HOST:
			rc = add_hosts(conf, f, r, expand, err);
			break;
		case VS_SCOPES:
			break;
		}
		if (rc)
			return -1;
	}
	return check_together(conf, f, err);
}

#define CA_MAX (8 * 1024 * 1024)

/* What is wrong with it, or NULL. */
static const char *ca_fault(FILE *in)
{
	VS_FREE char *text = NULL;
	struct stat st;
	size_t n;

	if (fstat(fileno(in), &st))
		return strerror(errno);
	if (!S_ISREG(st.st_mode))
		return "not a file";
	text = vs_calloc(1, CA_MAX + 1);
	n = fread(text, 1, CA_MAX, in);
	if (ferror(in))
		return strerror(errno);
	if (!memmem(text, n, "-----BEGIN CERTIFICATE-----", 27) &&
	    !memmem(text, n, "-----BEGIN TRUSTED CERTIFICATE-----", 35))
		return "the file has no certificate: expected PEM text (-----BEGIN CERTIFICATE-----)";
	return NULL;
}

int vs_conf_ca_check(const struct vs_conf_file *f, struct vs_err *err)
{
	const char *path = vs_conf_value(f, VS_SCOPE_TOP, "VCenterCAFile"), *fault;
	FILE *in = NULL;
	int fd;

	if (!path)
		return 0;
	/* Opening a FIFO must not wait for its writer. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd >= 0)
		in = fdopen(fd, "r");
	fault = in ? ca_fault(in) : strerror(errno);
	if (fault)
		vs_conf_err(f, vs_conf_key_line(f->records, "VCenterCAFile"), err,
			    "VCenterCAFile=%s: %s", path, fault);
	if (in)
		fclose(in);
	else if (fd >= 0)
		close(fd);
	return fault ? -1 : 0;
}

int vs_conf_password_check(const struct vs_conf_file *f, unsigned int uid,
			   struct vs_err *err)
{
	const char *path = vs_conf_value(f, VS_SCOPE_TOP, "VCenterPasswordFile");
	int line = vs_conf_key_line(f->records, "VCenterPasswordFile");
	struct vs_err why = { 0 };
	struct stat st;

	if (stat(path, &st))
		return vs_conf_err(f, line, err, "VCenterPasswordFile=%s: %s", path,
				   strerror(errno));
	if (vs_secret_file_check(&st, uid, &why))
		return vs_conf_err(f, line, err, "VCenterPasswordFile=%s %s", path,
				   why.text);
	return 0;
}
