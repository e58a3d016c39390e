/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stages of first contact, as the client's own calls go through them: what
 * each was answered, how long that took, and at which one it ended.
 */
#include <stdlib.h>
#include <string.h>

#include "probe.h"
#include "util/mem.h"

static const char *const stages[STAGE_OTHER + 1] = {
	[STAGE_TLS] = "TLS", [STAGE_HELLO] = "hello",
	[STAGE_VERSIONS] = "versions", [STAGE_CONTENT] = "ServiceContent",
	[STAGE_LOGIN] = "Login", [STAGE_NAMES] = "names",
	[STAGE_READ] = "RetrievePropertiesEx",
	[STAGE_FILTER] = "CreateFilter", [STAGE_WAIT] = "WaitForUpdatesEx",
	[STAGE_OTHER] = "other",
};

const char *stage_name(enum stage stage)
{
	return stages[stage];
}

enum stage stage_of(const char *path)
{
	static const struct { const char *ends; enum stage stage; } list[] = {
		{ "/vcenter/system?action=hello", STAGE_HELLO },
		{ "/vimServiceVersions.xml", STAGE_VERSIONS },
		{ "/ServiceInstance/content", STAGE_CONTENT },
		{ "/Login", STAGE_LOGIN },
		{ "/FindByInventoryPath", STAGE_NAMES },
		{ "RetrievePropertiesEx", STAGE_READ },
		{ "/CreateFilter", STAGE_FILTER },
		{ "/WaitForUpdatesEx", STAGE_WAIT },
	};
	size_t len = strlen(path);

	for (size_t i = 0; i < VS_COUNT(list); i++) {
		size_t n = strlen(list[i].ends);

		if (len >= n && !strcmp(path + len - n, list[i].ends))
			return list[i].stage;
	}
	return STAGE_OTHER;
}

static void note(struct contact *c, const struct vs_vc_exchange *x)
{
	c->answers++;
	c->status = x->status;
	c->us = x->us;
	c->bytes = x->len;
	c->err = x->err ? *x->err : (struct vs_err) { 0 };
}

/* Every call says something of TLS: it was set up, or that failed. */
static void note_tls(struct contact *c, const struct vs_vc_exchange *x)
{
	if (x->tls_us || x->status) {
		if (!c->answers || c->err.code)
			c->us = x->tls_us;
		c->answers++;
		c->err = (struct vs_err) { 0 };
	} else if (x->err) {
		c->answers++;
		c->us = x->us;
		c->err = *x->err;
	}
}

void contact_seen(void *arg, const struct vs_vc_exchange *x)
{
	struct probe *p = arg;
	enum stage stage = stage_of(x->path);

	record_add(p, stage, x);
	if (strstr(x->text, "\"truncated\":true"))
		p->truncated = true;
	if (x->err && x->status)
		p->refused = *x->err;
	if (p->met)
		return;
	note_tls(&p->contact[STAGE_TLS], x);
	if (!x->status && !x->tls_us)
		stage = STAGE_TLS;
	else
		note(&p->contact[stage], x);
	/* the versions are asked beside what the client asks */
	if (stage != STAGE_VERSIONS || !p->contact[STAGE_HELLO].answers ||
	    p->contact[STAGE_HELLO].err.code)
		p->at = stage;
}

/* The client tells of its end before anything else is answered: it ended at the
 * last answer; or for a file that the login needs; or, if that answer was good,
 * because what it says lacks a name. */
static enum stage end_of(const struct probe *p, const struct vs_err *err)
{
	bool good = !p->contact[p->at].err.code;

	if (!strncmp(err->text, "VCenterPasswordFile ", 20))
		return STAGE_LOGIN;
	if (good && err->code == VS_E_CONFIG && p->at > STAGE_LOGIN)
		return STAGE_NAMES;
	return p->at;
}

void contact_down(struct probe *p, const struct vs_err *err)
{
	struct vs_err *of;

	if (p->met)
		return;
	p->ended = end_of(p, err);
	of = &p->contact[p->ended].err;
	of->code = err->code;
	vs_strlcpy(of->text, err->text, sizeof(of->text));
	if (err->fault[0])
		vs_strlcpy(of->fault, err->fault, sizeof(of->fault));
}

/* ---- the list ------------------------------------------------------------ */

static const char *word_of(const struct contact *c)
{
	return c->err.code ? "failed" : c->answers ? "ok" : "not reached";
}

static char *said_of(struct probe *p, enum stage stage)
{
	const struct contact *c = &p->contact[stage];
	VS_FREE char *why = scrub(p, c->err.text);
	char *others = strstr(why, "; there are: ");
	VS_FREE char *status = c->status ?
		vs_asprintf("HTTP %ld, ", c->status) : vs_strdup("");

	/* These names are not in the map, so the report leaves them out. */
	if (others && !p->o.names)
		*others = '\0';
	if (c->err.code)
		return vs_asprintf("%s%s%s%s", status, c->err.fault,
				   c->err.fault[0] ? ": " : "", why);
	if (stage == STAGE_TLS || !c->answers)
		return vs_strdup("");
	return vs_asprintf("%s%zu bytes, %d answers%s", status, c->bytes,
			   c->answers, stage != STAGE_WAIT ? "" : p->truncated ?
			   ", a truncated set among them" :
			   ", no truncated set");
}

void contact_text(struct probe *p, FILE *f)
{
	fputs("First contact:\n", f);
	for (int i = 0; i < STAGE_OTHER; i++) {
		const struct contact *c = &p->contact[i];
		VS_FREE char *said = said_of(p, (enum stage)i);

		fprintf(f, "  %-21s %-11s", stages[i], word_of(c));
		if (c->answers)
			fprintf(f, " %6lld ms", (long long)(c->us / 1000));
		fprintf(f, "%s%s\n", *said ? "  " : "", said);
	}
	if (!p->met)
		fprintf(f, "It ended at %s.\n", stages[p->ended]);
	fputc('\n', f);
}

struct json_object *contact_json(struct probe *p)
{
	struct json_object *a = vs_jb_arr();

	for (int i = 0; i < STAGE_OTHER; i++) {
		struct json_object *o = vs_jb_obj(NULL);
		VS_FREE char *said = said_of(p, (enum stage)i);

		vs_jb_str(o, "stage", stages[i]);
		vs_jb_str(o, "result", word_of(&p->contact[i]));
		vs_jb_int(o, "ms", p->contact[i].us / 1000);
		vs_jb_str(o, "seen", said);
		vs_jb_add(a, o);
	}
	return a;
}

int contact_exit(const struct probe *p)
{
	const struct vs_err *err = &p->contact[p->ended].err;

	if (p->ended == STAGE_VERSIONS || p->ended == STAGE_NAMES)
		return PROBE_NO;
	if (err->code == VS_E_LOGIN)
		return PROBE_AUTH;
	return p->ended == STAGE_LOGIN && err->code == VS_E_CONFIG ?
		PROBE_FILE : PROBE_AWAY;
}
