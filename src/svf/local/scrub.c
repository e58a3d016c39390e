/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Takes secrets out of a text that leaves the site: values of keys whose name says
 * that they are secret, users and passwords in URLs, credentials of munge, long words
 * that look like keys, and given secrets wherever they stand.
 *
 * Rules: a secret that is no key's value and looks like a word is found only if it is
 * given. A name of a file stays (VCenterPasswordFile=). JSON stays JSON.
 */
#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "scrub.h"
#include "util/mem.h"

#define HIDDEN "HIDDEN"
#define HEX_MIN 32		/* digits: a session's key, a digest */
#define MIXED_MIN 40		/* letters of both cases and digits */

static void add(struct vs_buf *out, const char *text, size_t len)
{
	vs_buf_add(out, text, len);
}

static void hide(struct vs_buf *out)
{
	add(out, HIDDEN, strlen(HIDDEN));
}

static size_t name_length(const char *s)
{
	size_t n = 0;

	while (isalnum((unsigned char)s[n]) || s[n] == '_' || s[n] == '-')
		n++;
	return n;
}

static bool ends_with(const char *s, size_t len, const char *end)
{
	size_t n = strlen(end);

	return len >= n && !strncasecmp(s + len - n, end, n);
}

/* StorePass, store_pass and pass, but not compass. */
static bool ends_with_word(const char *s, size_t len, const char *word)
{
	size_t n = strlen(word);

	return ends_with(s, len, word) &&
	       (len == n || isupper((unsigned char)s[len - n]) ||
		strchr("_-", s[len - n - 1]));
}

static bool has(const char *s, size_t len, const char *part)
{
	size_t n = strlen(part);

	for (size_t i = 0; i + n <= len; i++)
		if (!strncasecmp(s + i, part, n))
			return true;
	return false;
}

/* Is the value of a key of this name secret? */
static bool is_secret(const char *s, size_t len)
{
	static const char *const within[] = { "password", "passwd",
		"passphrase", "secret", "token", "credential", "session",
		"cookie", "apikey", "privatekey", "authorization" };

	if (ends_with(s, len, "file"))
		return false;
	for (size_t i = 0; i < VS_COUNT(within); i++)
		if (has(s, len, within[i]))
			return true;
	return ends_with_word(s, len, "pass") || ends_with_word(s, len, "pwd");
}

/* Headers of HTTP: the rest of the line is the value. */
static bool is_header(const char *s, size_t len)
{
	return ends_with(s, len, "cookie") || ends_with(s, len, "authorization");
}

/* What stands between a key's name and its value: "=", ": ", "\": \"", ">", "[". 0:
 * no value follows. */
static size_t gap_length(const char *s)
{
	size_t n = strspn(s, "\"'");

	n += strspn(s + n, " \t");
	if (!s[n] || !strchr("=:>[", s[n]))
		return 0;
	n++;
	n += strspn(s + n, " \t");
	return n + strspn(s + n, "\"'");
}

/* Up to the quote that ends it; a backslash keeps the character after it. */
static size_t quoted_length(const char *value, char quote)
{
	size_t n = 0;

	while (value[n] && value[n] != quote && value[n] != '\n')
		n += value[n] == '\\' && value[n + 1] ? 2 : 1;
	return n;
}

static size_t value_length(const char *value, bool header)
{
	char quote = value[-1];

	if (quote == '"' || quote == '\'')
		return quoted_length(value, quote);
	if (header)
		return strcspn(value, "\r\n\"");
	return strcspn(value, " \t\r\n,;&<>)]}\"'");
}

/* A member of JSON whose value is no text: a number, or what has members itself. */
static bool is_no_text(const char *after_name, const char *value)
{
	return *after_name == '"' && value[-1] != '"';
}

/* The name at *at with its value, hidden if it is secret. */
static void name_take(const char **at, struct vs_buf *out)
{
	size_t len = name_length(*at), gap = gap_length(*at + len), n;
	const char *value = *at + len + gap;

	if (!gap || !is_secret(*at, len) || !*value ||
	    is_no_text(*at + len, value)) {
		add(out, *at, len);
		*at += len;
		return;
	}
	n = value_length(value, is_header(*at, len));
	add(out, *at, len + gap);
	if (n)
		hide(out);
	*at = value + n;
}

/* Does a word look like a key? */
static bool looks_secret(const char *s, size_t len)
{
	size_t hex = 0, upper = 0, lower = 0, digits = 0;

	for (size_t i = 0; i < len; i++) {
		hex += isxdigit((unsigned char)s[i]) != 0;
		upper += isupper((unsigned char)s[i]) != 0;
		lower += islower((unsigned char)s[i]) != 0;
		digits += isdigit((unsigned char)s[i]) != 0;
	}
	return (len >= HEX_MIN && hex == len) ||
	       (len >= MIXED_MIN && upper && lower && digits);
}

static size_t word_length(const char *s)
{
	size_t n = 0;

	while (isalnum((unsigned char)s[n]) || (s[n] && strchr("+=", s[n])))
		n++;
	return n;
}

/* "://user:password@": what stands before the last @ of the host's part. */
static void url_take(const char **at, struct vs_buf *out)
{
	const char *host = *at + 3;
	size_t len = strcspn(host, "/ \t\r\n\"'<>"), user = 0;

	for (size_t i = 0; i < len; i++)
		if (host[i] == '@')
			user = i;
	add(out, *at, 3);
	if (user)
		hide(out);
	*at = host + user;
}

/* One of the given secrets, if it stands here; its length. */
static size_t given_at(const char *s, const char *const *given)
{
	for (; given && *given; given++)
		if (**given && !strncmp(s, *given, strlen(*given)))
			return strlen(*given);
	return 0;
}

static void hide_given(const char *text, const char *const *given,
		       struct vs_buf *out)
{
	while (*text) {
		size_t n = given_at(text, given);

		if (n)
			hide(out);
		else
			add(out, text, 1);
		text += n ? n : 1;
	}
}

static void hide_patterns(const char *text, struct vs_buf *out)
{
	const char *at = text;

	while (*at) {
		bool begins = at == text ||
			!(isalnum((unsigned char)at[-1]) || at[-1] == '_');

		if (!strncmp(at, "MUNGE:", 6)) {
			hide(out);
			at += 6 + strcspn(at + 6, ": \r\n\"");
		} else if (!strncmp(at, "://", 3)) {
			url_take(&at, out);
		} else if (begins && looks_secret(at, word_length(at))) {
			hide(out);
			at += word_length(at);
		} else if (begins && name_length(at)) {
			name_take(&at, out);
		} else {
			add(out, at++, 1);
		}
	}
}

void svf_scrub(const char *text, const char *const *given, struct vs_buf *out)
{
	struct vs_buf plain = VS_BUF_INIT(out->max);

	hide_given(text, given, &plain);
	if (plain.len)
		hide_patterns(plain.data, out);
	vs_buf_free(&plain);
}
