/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * GET /metrics, as RFC 9112 has it, and nothing else: a request line, headers of
 * which only Accept and those of a body count, an empty line. What isn't that is
 * refused by the status that says why. No I/O, no state: the fuzzer calls it as it
 * is.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "engine/metrics/metrics_i.h"
#include "util/mem.h"

#define OPENMETRICS "application/openmetrics-text"

struct span { const char *at; size_t len; };

/* The next line, without its end; false: it isn't whole. */
static bool line_next(struct span *rest, struct span *line)
{
	const char *nl = memchr(rest->at, '\n', rest->len);

	if (!nl)
		return false;
	line->at = rest->at;
	line->len = (size_t)(nl - rest->at);
	rest->len -= line->len + 1;
	rest->at = nl + 1;
	if (line->len && line->at[line->len - 1] == '\r')
		line->len--;
	return true;
}

static bool is(struct span s, const char *word)
{
	return s.len == strlen(word) && !memcmp(s.at, word, s.len);
}

static bool is_word(struct span s, const char *word)
{
	return s.len == strlen(word) && !strncasecmp(s.at, word, s.len);
}

static struct span trim(struct span s)
{
	for (; s.len && (*s.at == ' ' || *s.at == '\t'); s.at++)
		s.len--;
	while (s.len && (s.at[s.len - 1] == ' ' || s.at[s.len - 1] == '\t'))
		s.len--;
	return s;
}

/* What stands before c, which goes too; all of it where there is none. */
static struct span cut(struct span *rest, char c)
{
	const char *at = memchr(rest->at, c, rest->len);
	struct span s = *rest;

	if (at)
		s.len = (size_t)(at - rest->at);
	rest->at += s.len + (at != NULL);
	rest->len -= s.len + (at != NULL);
	return s;
}

static bool printable(struct span line)
{
	for (size_t i = 0; i < line.len; i++)
		if ((unsigned char)line.at[i] < ' ' && line.at[i] != '\t')
			return false;
	return true;
}

/* ---- Accept ------------------------------------------------------------ */

struct wish { int openmetrics, text; };	/* thousandths, -1: not named */

static int quality(struct span params)
{
	while (params.len) {
		struct span p = trim(cut(&params, ';'));
		int q = 0, unit = 100;

		if (p.len < 3 || (p.at[0] != 'q' && p.at[0] != 'Q') ||
		    p.at[1] != '=')
			continue;
		if (p.at[2] == '1')
			return 1000;
		for (size_t i = 4; i < p.len && isdigit((unsigned char)p.at[i]);
		     i++, unit /= 10)
			q += (p.at[i] - '0') * unit;
		return q;
	}
	return 1000;
}

static void accept_read(struct span value, struct wish *w)
{
	while (value.len) {
		struct span range = cut(&value, ',');
		struct span type = trim(cut(&range, ';'));
		int q = quality(range);

		if (is_word(type, OPENMETRICS) && q > w->openmetrics)
			w->openmetrics = q;
		else if (is_word(type, "text/plain") && q > w->text)
			w->text = q;
	}
}

/* ---- the request ------------------------------------------------------- */

static int first_line(struct span line)
{
	struct span method = cut(&line, ' '), path = cut(&line, ' ');
	struct span page = cut(&path, '?');

	if (!method.len || !page.len || line.len < 8 ||
	    memcmp(line.at, "HTTP/", 5))
		return 400;
	if (line.len != 8 || line.at[5] != '1' || line.at[6] != '.' ||
	    !isdigit((unsigned char)line.at[7]))
		return 505;
	if (!is(page, "/metrics"))
		return 404;
	return is(method, "GET") ? 200 : 405;
}

/* 0, or the status that refuses it. */
static int header(struct span line, struct wish *w)
{
	struct span value = line, name = cut(&value, ':');

	if (!name.len || name.len == line.len || !printable(line) ||
	    memchr(name.at, ' ', name.len) || memchr(name.at, '\t', name.len))
		return 400;
	value = trim(value);
	if (is_word(name, "Accept"))
		accept_read(value, w);
	/* No body is read: what would come is no request. */
	if (is_word(name, "Transfer-Encoding") ||
	    (is_word(name, "Content-Length") && !is(value, "0")))
		return 400;
	return 0;
}

int vs_metrics_request_parse(const char *text, size_t len,
			     struct vs_metrics_request *out)
{
	struct span rest = { text, len }, line;
	struct wish w = { -1, -1 };
	int refused = 0, status = 0, rc;

	while (line_next(&rest, &line) && line.len) {
		if (!status) {
			status = printable(line) ? first_line(line) : 400;
			continue;
		}
		rc = header(line, &w);
		refused = refused ? refused : rc;
	}
	if (rest.at == text || rest.at[-1] != '\n' || line.len) {
		/* not at its end, and there is one */
		if (len < VS_METRICS_REQUEST_MAX)
			return 1;
		refused = 431;
	} else if (!status || rest.len) {
		refused = 400;
	}
	*out = (struct vs_metrics_request) {
		.status = refused ? refused : status,
		.openmetrics = w.openmetrics > 0 && w.openmetrics >= w.text,
	};
	return 0;
}

/* ---- the answer -------------------------------------------------------- */

const char *vs_metrics_type(bool openmetrics)
{
	return openmetrics ? OPENMETRICS "; version=1.0.0; charset=utf-8" :
		"text/plain; version=0.0.4; charset=utf-8";
}

static const char *status_words(int status)
{
	static const struct { int status; const char *words; } all[] = {
		{ 200, "OK" }, { 400, "Bad Request" }, { 404, "Not Found" },
		{ 405, "Method Not Allowed" },
		{ 431, "Request Header Fields Too Large" },
		{ 505, "HTTP Version Not Supported" },
	};

	for (size_t i = 0; i < VS_COUNT(all); i++)
		if (all[i].status == status)
			return all[i].words;
	return "Service Unavailable";
}

size_t vs_metrics_head(int status, const char *type, size_t body,
		       char out[VS_METRICS_HEAD_MAX])
{
	int len = snprintf(out, VS_METRICS_HEAD_MAX,
			   "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n%sCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n",
			   status, status_words(status), type, body,
			   status == 405 ? "Allow: GET\r\n" : "");

	return len < 0 ? 0 : (size_t)len;
}
