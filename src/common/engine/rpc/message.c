/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Texts inside the sealed frames of the control channel, both ways. Strict:
 * a text that isn't exactly such a message is refused. No I/O, no munge, no
 * state: the fuzzer calls the parsers as they are.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engine/rpc/message.h"
#include "util/json.h"
#include "util/mem.h"

static const enum vs_code codes[] = {
	VS_E_RETRY, VS_E_LOGIN, VS_E_SHORTAGE, VS_E_REQUEST, VS_E_CONFIG,
	VS_E_GONE, VS_E_STATE, VS_E_BUG,
};

static enum vs_code code_of(const char *name)
{
	for (size_t i = 0; i < VS_COUNT(codes); i++)
		if (!strcmp(vs_code_name(codes[i]), name))
			return codes[i];
	return VS_E_RETRY;
}

/* A string that must be there and fit. */
static int get_text(struct vs_j j, const char *key, char *out, size_t size,
		    struct vs_err *err)
{
	const char *s = vs_j_str(vs_j_get(j, key));

	if (vs_json_failed(j.doc, err))
		return -1;
	if (!s[0] || strlen(s) >= size)
		return vs_err_set(err, VS_E_REQUEST,
				  "%s: expected 1 to %zu bytes", key,
				  size - 1);
	vs_strlcpy(out, s, size);
	return 0;
}

/* The same for one that may be missing. */
static int get_text_if(struct vs_j j, const char *key, char *out, size_t size,
		       struct vs_err *err)
{
	return vs_j_null(vs_j_opt(j, key)) ? 0 :
		get_text(j, key, out, size, err);
}

static int get_u32(struct vs_j j, const char *key, int64_t max, uint32_t *out,
		   struct vs_err *err)
{
	int64_t v = vs_j_int_or(vs_j_opt(j, key), 0);

	if (vs_json_failed(j.doc, err))
		return -1;
	if (v < 0 || v > max)
		return vs_err_set(err, VS_E_REQUEST,
				  "%s: expected 0 to %lld", key,
				  (long long)max);
	*out = (uint32_t)v;
	return 0;
}

static int get_protocol(struct vs_j j, uint32_t *out, struct vs_err *err)
{
	if (get_u32(j, "protocol", UINT32_MAX, out, err))
		return -1;
	if (!*out)
		*out = 1;	/* releases before 0.1.0 did not name it */
	return 0;
}

static int get_at(struct vs_j j, int64_t *out, struct vs_err *err)
{
	int64_t v = vs_j_int_or(vs_j_opt(j, "at"), 0);

	if (vs_json_failed(j.doc, err))
		return -1;
	if (v < 0 || v > VS_CTL_AT_MAX)
		return vs_err_set(err, VS_E_REQUEST,
				  "at: expected seconds since 1970");
	*out = v;
	return 0;
}

char *vs_ctl_request_format(const struct vs_ctl_request *r)
{
	struct json_object *o = vs_jb_obj(NULL);

	vs_jb_int(o, "protocol", VS_CTL_PROTOCOL);
	vs_jb_str(o, "verb", r->verb);
	if (r->job)
		vs_jb_int(o, "job", r->job);
	if (r->name[0])
		vs_jb_str(o, "name", r->name);
	if (r->text[0])
		vs_jb_str(o, "text", r->text);
	if (r->at)
		vs_jb_int(o, "at", r->at);
	if (r->nodes[0])
		vs_jb_str(o, "nodes", r->nodes);
	if (r->to[0])
		vs_jb_str(o, "to", r->to);
	if (r->cluster[0])
		vs_jb_str(o, "cluster", r->cluster);
	vs_jb_str(o, "id", r->id);
	return vs_jb_text_free(o);
}

/* Of a newer protocol only the id is known, for the refusal. */
static int request_read(struct vs_j root, struct vs_ctl_request *r,
			struct vs_err *err)
{
	if (get_protocol(root, &r->protocol, err) ||
	    get_text(root, "id", r->id, sizeof(r->id), err))
		return -1;
	if (r->protocol > VS_CTL_PROTOCOL)
		return 0;
	return get_text(root, "verb", r->verb, sizeof(r->verb), err) ||
		get_u32(root, "job", UINT32_MAX, &r->job, err) ||
		get_text_if(root, "name", r->name, sizeof(r->name), err) ||
		get_at(root, &r->at, err) ||
		get_text_if(root, "text", r->text, sizeof(r->text), err) ||
		get_text_if(root, "to", r->to, sizeof(r->to), err) ||
		get_text_if(root, "cluster", r->cluster, sizeof(r->cluster),
			    err) ||
		get_text_if(root, "nodes", r->nodes, sizeof(r->nodes), err) ?
		-1 : 0;
}

int vs_ctl_request_parse(const char *text, size_t len,
			 struct vs_ctl_request *out, struct vs_err *err)
{
	struct vs_ctl_request r = { 0 };
	struct vs_jdoc doc;
	int rc;

	if (vs_jdoc_parse(&doc, text, len, err))
		return -1;
	rc = request_read(vs_j_root(&doc), &r, err);
	vs_jdoc_free(&doc);
	if (!rc)
		*out = r;
	return rc;
}

/* The len bytes at name are the host's name, with or without its domain:
 * Slurm's rule for which SlurmctldHost it is (_controller_index()). */
static bool host_is(const char *host, const char *name, size_t len)
{
	size_t full = strlen(host), brief = strcspn(host, ".");

	return len && (len == full || len == brief) &&
		!strncasecmp(host, name, len);
}

static bool target_is(const char *to, const struct vs_ctl_self *self)
{
	if (self->addr[0] && !strcmp(to, self->addr))
		return true;
	for (const char *p = to; *p; p += strspn(p, ",")) {
		size_t len = strcspn(p, ",");

		if (host_is(self->host, p, len))
			return true;
		p += len;
	}
	return false;
}

int vs_ctl_request_check(const struct vs_ctl_request *r,
			 const struct vs_ctl_self *self, bool *elsewhere,
			 struct vs_err *err)
{
	*elsewhere = false;
	if (r->protocol > VS_CTL_PROTOCOL)
		return vs_err_set(err, VS_E_REQUEST,
				  "svf speaks protocol %u, slurmctld's slurm-vsphere %d: install the svf of slurmctld's release",
				  r->protocol, VS_CTL_PROTOCOL);
	if (!r->to[0])
		return vs_err_set(err, VS_E_REQUEST,
				  "the request names no controller: install the svf of slurmctld's release");
	if (target_is(r->to, self) && !strcasecmp(r->cluster, self->cluster))
		return 0;
	*elsewhere = true;
	return vs_err_set(err, VS_E_REQUEST,
			  "the request is for controller %s of cluster %s, but controller %s of cluster %s received it",
			  r->to, r->cluster, self->host, self->cluster);
}

bool vs_ctl_addr_format(const struct sockaddr *sa, char *out, size_t size)
{
	const struct sockaddr_in *in4 = (const struct sockaddr_in *)sa;
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)sa;
	struct in_addr v4;

	out[0] = '\0';
	if (sa->sa_family == AF_INET6) {
		if (!IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr)) {
			inet_ntop(AF_INET6, &in6->sin6_addr, out,
				  (socklen_t)size);
			return IN6_IS_ADDR_LOOPBACK(&in6->sin6_addr);
		}
		memcpy(&v4, &in6->sin6_addr.s6_addr[12], sizeof(v4));
	} else if (sa->sa_family == AF_INET) {
		v4 = in4->sin_addr;
	} else {
		return false;
	}
	inet_ntop(AF_INET, &v4, out, (socklen_t)size);
	return ntohl(v4.s_addr) >> 24 == IN_LOOPBACKNET;
}

char *vs_ctl_part_format(const struct vs_ctl_part *p, size_t *len)
{
	struct json_object *o = vs_jb_obj(NULL);
	VS_FREE char *head = NULL;
	size_t n;
	char *out;

	vs_jb_int(o, "protocol", VS_CTL_PROTOCOL);
	vs_jb_str(o, "id", p->id);
	if (p->refused) {
		vs_jb_str(o, "error", p->err.text);
		vs_jb_str(o, "code", vs_code_name(p->err.code));
		if (p->elsewhere)
			vs_jb_bool(o, "elsewhere", true);
	} else {
		vs_jb_int(o, "part", p->part);
		vs_jb_int(o, "of", p->of);
	}
	head = vs_jb_text_free(o);
	n = strlen(head);
	out = vs_realloc(NULL, 1, n + 1 + p->len);
	memcpy(out, head, n);
	out[n] = '\n';		/* JSON has no bare newline inside a string */
	if (p->len)
		memcpy(out + n + 1, p->bytes, p->len);
	*len = n + 1 + p->len;
	return out;
}

static int head_parse(struct vs_j root, struct vs_ctl_part *p,
		      struct vs_err *err)
{
	const uint32_t max = (VS_CTL_REPORT_MAX + VS_CTL_PART_MAX - 1) /
		VS_CTL_PART_MAX;

	uint32_t protocol;

	if (get_protocol(root, &protocol, err) ||
	    get_text(root, "id", p->id, sizeof(p->id), err))
		return -1;
	if (!vs_j_null(vs_j_opt(root, "error"))) {
		char code[32];

		if (get_text(root, "error", p->err.text, sizeof(p->err.text),
			     err) ||
		    get_text(root, "code", code, sizeof(code), err))
			return -1;
		p->elsewhere = vs_j_bool_or(vs_j_opt(root, "elsewhere"), false);
		if (vs_json_failed(root.doc, err))
			return -1;
		p->refused = true;
		p->err.code = code_of(code);
		return 0;
	}
	if (protocol > VS_CTL_PROTOCOL)
		return vs_err_set(err, VS_E_REQUEST,
				  "slurmctld's slurm-vsphere speaks protocol %u, svf %d: install the svf of slurmctld's release",
				  protocol, VS_CTL_PROTOCOL);
	if (get_u32(root, "part", max, &p->part, err) ||
	    get_u32(root, "of", max, &p->of, err))
		return -1;
	if (p->part >= p->of)
		return vs_err_set(err, VS_E_REQUEST, "part %u of %u", p->part,
				  p->of);
	return 0;
}

int vs_ctl_part_parse(const char *text, size_t len, struct vs_ctl_part *out,
		      struct vs_err *err)
{
	const char *nl = memchr(text, '\n', len);
	struct vs_ctl_part p = { 0 };
	struct vs_jdoc doc;
	int rc;

	if (!nl)
		return vs_err_set(err, VS_E_REQUEST, "a reply without a header");
	p.bytes = nl + 1;
	p.len = len - (size_t)(p.bytes - text);
	if (p.len > VS_CTL_PART_MAX)
		return vs_err_set(err, VS_E_REQUEST, "a part of %zu bytes",
				  p.len);
	if (vs_jdoc_parse(&doc, text, (size_t)(nl - text), err))
		return -1;
	rc = head_parse(vs_j_root(&doc), &p, err);
	vs_jdoc_free(&doc);
	if (!rc)
		*out = p;
	return rc;
}
