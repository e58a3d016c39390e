/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A vCenter that answers each request rightly, as recorded in a file of the
 * client's corpus, but for the calls that the test spoils: one answer of
 * scripted_bad[] instead. For tests that link the real client.
 */
#ifndef VS_SCRIPTED_VC_H
#define VS_SCRIPTED_VC_H

#include <stdio.h>
#include <unistd.h>
#include "fake_curl.h"

#define SCRIPT_LINES 64
#define FAULT(name) "5{\"_typeName\":\"" name "\",\"faultstring\":\"declared\"}"

/* Ways in which an answer can be wrong. The first byte: see fake_deliver(). */
static const char *const scripted_bad[] = {
	"0", "1", "2", "2null", "2[]", "2{}", "27", "2\"text\"", "2not JSON",
	"2{\"_typeName\":\"ServiceContent\",\"about\":", "L", "L{}", "A", "4", "3",
	"R", "5", "5<xml/>", "5{}", "5[]",
	FAULT("NotAuthenticated"), FAULT("InvalidLogin"),
	FAULT("NoPermission"), FAULT("ManagedObjectNotFound"),
	FAULT("SystemError"), FAULT("RuntimeFault"), FAULT("InvalidProperty"),
	FAULT("InvalidCollectorVersion"), FAULT("InvalidArgument"),
	FAULT("RequestCanceled"), FAULT("HostCommunication"),
	FAULT("SecurityError"), FAULT("NoSuchFault"),
};

static struct {
	char *lines[SCRIPT_LINES];
	size_t n, next, updates;
	unsigned int calls;		/* answered so far */
	bool lost_id;			/* a request without an object's id */
	bool mistyped;			/* one of another Content-Type than its
					 * body's; none without a body */
	bool is_login;			/* the call that is being answered */
	bool is_wait, is_first;		/* for updates; for all there is */
	/* Which answer of scripted_bad the call with this number gets; -1: the
	 * right one. */
	int (*spoil)(unsigned int call);
	/* The answer to a call of this URL; NULL: the right one. */
	const char *(*instead)(const char *url);
} script;

static void script_load(const char *path)
{
	char *line = NULL;
	size_t cap = 0;
	FILE *f = fopen(path, "r");
	ssize_t len;

	if (!f)
		abort();
	while ((len = getline(&line, &cap, f)) > 0 && script.n < SCRIPT_LINES) {
		line[strcspn(line, "\n")] = '\0';
		if (strstr(line, "\"UpdateSet\"") && !script.updates)
			script.updates = script.n;
		script.lines[script.n++] = vs_strdup(line);
	}
	free(line);
	fclose(f);
	if (!script.updates)
		abort();
}

static void script_free(void)
{
	while (script.n)
		free(script.lines[--script.n]);
	script.updates = 0;
}

/* The recorded order: password, hello, content, login, then whatever the client
 * asks, then the inventory. */
static const char *right_answer(const struct fake_easy *e)
{
	if (strstr(e->url, "action=hello"))
		return script.lines[1];
	if (strstr(e->url, "vimServiceVersions"))
		return "2<n>urn:vim25</n><version>8.0.3.0</version>";
	if (strstr(e->url, "ServiceInstance/content"))
		return script.lines[2];
	if (strstr(e->url, "/Login")) {
		script.next = 4;
		return script.lines[3];
	}
	if (strstr(e->url, "/WaitForUpdatesEx"))
		return e->body && strstr(e->body, "\"version\":\"\"") ?
			script.lines[script.updates] : "2";
	if (strstr(e->url, "/Logout") || script.next >= script.updates)
		return "2";
	return script.lines[script.next++];
}

static bool has_header(const struct fake_easy *e, const char *line)
{
	const struct curl_slist *l = e->headers;

	while (l && strcmp(l->data, line))
		l = l->next;
	return l != NULL;
}

/* "Content-Type:" keeps libcurl from one of its own. */
static bool mistyped(const struct fake_easy *e)
{
	bool typed = has_header(e, "Content-Type: application/json");

	return e->body && (e->body[0] ? !typed : typed ||
			   !has_header(e, "Content-Type:"));
}

static CURLcode fake_answer(struct fake_easy *e)
{
	const char *line = script.instead ? script.instead(e->url) : NULL;
	int bad;

	if (!line)
		line = right_answer(e);

	script.is_login = strstr(e->url, "/Login");
	script.is_wait = strstr(e->url, "/WaitForUpdatesEx");
	script.is_first = e->body && strstr(e->body, "\"version\":\"\"");
	bad = script.spoil ? script.spoil(script.calls) : -1;

	script.calls++;
	if (strstr(e->url, "(null)") || strstr(e->url, "/?") ||
	    strstr(e->url, "//sdk"))
		script.lost_id = true;
	script.mistyped |= mistyped(e);
	if (bad >= 0)
		line = scripted_bad[bad];
	return fake_deliver(e, line, strlen(line));
}

static bool fake_more(void)
{
	return true;
}

/* A client for it, whose password file is made at path; free with vs_vc_free(). */
static struct vs_vc *script_client(const char *path, void *arg,
				   const struct vs_vc_events *ev)
{
	static const char *const clusters[] = { "HPC1", NULL };
	static const char *const pools[] = { "slurm", NULL };
	static const char *const nets[] = { "SRIOV-ROCE-PG", "VM-PG", NULL };
	static const char *const templates[] = { "rhel9-ofed", NULL };
	struct vs_vc_conf conf = { .url = "https://vc", .username = "u",
		.password_file = path, .password_uid = geteuid(),
		.max_body = 1 << 16, .names = { "DC0", "slurm",
			"vsanDatastore", clusters, pools, nets, templates } };
	struct vs_err err;

	script.calls = 0;
	script.next = 4;
	script.lost_id = script.mistyped = false;
	return vs_vc_new(&conf, ev, arg, &err);
}

#endif
