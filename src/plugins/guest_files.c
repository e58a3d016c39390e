/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See guest_files.h. A file is written beside its place and put there whole, for steps
 * may read it at any time. What isn't understood is left out: these facts help
 * a job, and no job fails for want of them.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "guest_files.h"

#define RUN_DIR "/run/slurm-vsphere"

void vs_guest_path(const char *name, char *path, size_t size)
{
	const char *run = getenv("SLURM_VSPHERE_RUN");

	snprintf(path, size, "%s/%s", run && *run ? run : RUN_DIR, name);
}

/* One word, printable, or nothing. */
static bool is_word(const char *s)
{
	size_t len = strlen(s);

	for (size_t i = 0; i < len; i++)
		if (s[i] <= ' ' || s[i] > '~')
			return false;
	return len && len < VS_ASSIGNMENT_WORD;
}

static void list_add(char list[VS_GUEST_LIST], const char *word)
{
	size_t len = strlen(list);

	if (len + 1 + strlen(word) < VS_GUEST_LIST)
		snprintf(list + len, VS_GUEST_LIST - len, "%s%s",
			 len ? "," : "", word);
}

/* ".../infiniband/mlx5_0/ports/1" */
static void port_add(struct vs_guest *g, const char *dir)
{
	char device[64], port[8], both[80];
	const char *at = strstr(dir, "/infiniband/");

	if (!at || sscanf(at, "/infiniband/%63[^/]/ports/%7[0-9]", device,
			  port) != 2 || !is_word(device))
		return;
	snprintf(both, sizeof(both), "%s:%s", device, port);
	list_add(g->devices, device);
	list_add(g->ports, both);
}

static void word_set(char *to, const char *word)
{
	snprintf(to, VS_ASSIGNMENT_WORD, "%s", is_word(word) ? word : "");
}

static void fact(struct vs_guest *g, const char *key, const char *value)
{
	if (!strcmp(key, "node"))
		word_set(g->node, value);
	else if (!strcmp(key, "adapter"))
		word_set(g->adapter, value);
	else if (!strcmp(key, "mac") && is_word(value))
		list_add(g->macs, value);
	else if (!strcmp(key, "port"))
		port_add(g, value);
	else if (!strcmp(key, "gid-index") && is_word(value))
		list_add(g->gid_indexes, value);
	else if (!strcmp(key, "gid") && is_word(value))
		list_add(g->gids, value);
	else if (!strcmp(key, "host"))
		word_set(g->place.host, value);
	else if (!strcmp(key, "pf"))
		word_set(g->place.pfs, value);
}

/* Lines "KEY VALUE"; the first one alone is no such line where it must be
 * `first`. False: it isn't, or the file isn't there. */
static bool facts_read(struct vs_guest *g, const char *name, const char *first)
{
	char path[1024], line[1024];
	bool good = true;
	FILE *in;

	vs_guest_path(name, path, sizeof(path));
	in = fopen(path, "re");
	if (!in)
		return false;
	for (int n = 0; good && fgets(line, sizeof(line), in); n++) {
		char *value;

		line[strcspn(line, "\n")] = '\0';
		value = strchr(line, ' ');
		if (!n && first)
			good = !strcmp(line, first);
		else if (value)
			*value++ = '\0', fact(g, line, value);
	}
	fclose(in);
	return good;
}

/*
 * Libraries take one index for all devices. One of an IPv6 address, or another on
 * each NIC, is better left to what they find out themselves.
 */
static void gid_settle(struct vs_guest *g)
{
	size_t len = strcspn(g->gid_indexes, ",");

	if (!len || len >= sizeof(g->gid_index) ||
	    strspn(g->gid_indexes, "0123456789") != len)
		return;
	for (const char *at = g->gid_indexes; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (strncmp(at, g->gid_indexes, len) ||
		    (at[len] && at[len] != ','))
			return;
	}
	for (const char *at = g->gids; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (strncmp(at, "::ffff:", 7) ||
		    memchr(at, '.', strcspn(at, ",")) == NULL)
			return;
	}
	snprintf(g->gid_index, sizeof(g->gid_index), "%.*s", (int)len,
		 g->gid_indexes);
}

void vs_guest_read(struct vs_guest *g)
{
	memset(g, 0, sizeof(*g));
	g->ready = facts_read(g, "ready", "ok");
	gid_settle(g);
	if (g->ready)
		facts_read(g, "place", NULL);
}

int vs_guest_place_write(const struct vs_assignment_place *place)
{
	char path[1024], new[1024];
	FILE *out;
	int rc;

	vs_guest_path("place", path, sizeof(path));
	vs_guest_path("place.new", new, sizeof(new));
	if (!place)
		return unlink(path) && errno != ENOENT ? -1 : 0;
	out = fopen(new, "we");
	if (!out)
		return errno == ENOENT ? 0 : -1;
	fchmod(fileno(out), 0644);
	fprintf(out, "host %s\n", place->host);
	if (place->pfs[0])
		fprintf(out, "pf %s\n", place->pfs);
	rc = ferror(out);
	rc |= fclose(out);
	return rc || rename(new, path) ? -1 : 0;
}
