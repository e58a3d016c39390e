/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parser of vsphere.conf. Slurm's own tells neither where a key stood nor
 * that one was given twice, and svf and svf-probe run where no Slurm is. This one
 * reads lines and values by the same rules (comments from '#' on, a backslash
 * joins lines, values may be quoted), and refuses what the table doesn't know.
 *
 * Never prints a value that isn't a key's or record's name: a password put into
 * the wrong place must not end in a log.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "util/mem.h"
#include "conf.h"

#define LINE_MAX_BYTES 4000
#define INCLUDE_DEPTH 8
#define INCLUDE_FILES 256
#define BLANKS " \t\r\n\v\f"
#define ALL_SCOPES ((1u << VS_SCOPES) - 1)

static const char *base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The path of the included file that the line is in, NULL: f->path itself. */
static const char *file_at(const struct vs_conf_file *f, int line)
{
	size_t file = (size_t)line / VS_CONF_LINES;

	return file && file <= f->nfiles ? f->files[file - 1] : NULL;
}

int vs_conf_err(const struct vs_conf_file *f, int line, struct vs_err *err,
		const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (!line)
		return vs_err_set(err, VS_E_CONFIG, "%s: %s", f->path, text);
	return vs_err_set(err, VS_E_CONFIG, "%s line %d: %s",
			  file_at(f, line) ? file_at(f, line) : base(f->path),
			  vs_conf_line_number(line), text);
}

int vs_conf_line_number(int line)
{
	return line & (VS_CONF_LINES - 1);
}

char *vs_conf_line_name(const struct vs_conf_file *f, int line, int from)
{
	const char *path = file_at(f, line);

	if (line / VS_CONF_LINES == from / VS_CONF_LINES)
		return vs_asprintf("line %d", vs_conf_line_number(line));
	return vs_asprintf("%s line %d", path ? path : base(f->path),
			   vs_conf_line_number(line));
}

static struct vs_conf_record *record_add(struct vs_conf_file *f,
					 enum vs_conf_scope scope, int line)
{
	struct vs_conf_record *r;

	VS_GROW(f->records, f->cap, f->nrecords + 1);
	r = &f->records[f->nrecords++];
	memset(r, 0, sizeof(*r));
	r->scope = scope;
	r->line = line;
	return r;
}

/* '#' ends a line unless an odd number of backslashes stands before it; so
 * does white space at the end. Returns the length. */
static size_t cut_comment(char *s)
{
	bool escaped = false;
	char *end = s;

	for (; *end && (escaped || *end != '#'); end++)
		escaped = *end == '\\' && !escaped;
	while (end > s && isspace((unsigned char)end[-1]))
		end--;
	*end = '\0';
	return (size_t)(end - s);
}

/* A backslash goes, what stands after it stays. */
static void unescape(char *s)
{
	char *to = s;

	for (; *s; s++) {
		if (*s == '\\' && s[1])
			s++;
		*to++ = *s;
	}
	*to = '\0';
}

/* Ends with an odd number of backslashes: the next line belongs to it. */
static bool goes_on(const char *s, size_t len)
{
	size_t n = 0;

	while (n < len && s[len - 1 - n] == '\\')
		n++;
	return n % 2;
}

static int key_unknown(struct vs_conf_file *f, int line, const char *key,
		       size_t len, enum vs_conf_scope scope, struct vs_err *err)
{
	unsigned int mask = 1u << scope;
	const char *near = vs_conf_key_near(key, len, mask);
	const char *instead = vs_conf_key_removed(key, len);
	const char *write = vs_conf_key_renamed(key, len);
	int elsewhere = vs_conf_key_find(key, len, ALL_SCOPES);
	const struct vs_conf_key *k;

	if (instead)
		return vs_conf_err(f, line, err, "%.*s= was removed: %s",
				   (int)len, key, instead);
	if (write)
		return vs_conf_err(f, line, err, "%.*s= was renamed: write %s",
				   (int)len, key, write);
	if (len == 7 && !strncasecmp(key, "include", 7))
		return vs_conf_err(f, line, err,
			"Include takes no \"=\": write Include FILE");
	if (elsewhere >= 0) {
		k = &vs_conf_keys[elsewhere];
		if (k->type == VS_CONF_NAME)
			return vs_conf_err(f, line, err,
				"%s must begin a line of its own", k->key);
		if (k->scope == VS_SCOPE_TOP)
			return vs_conf_err(f, line, err,
				"%s is a global key: write it in a line without %s=",
				k->key, vs_conf_opener(scope));
		return vs_conf_err(f, line, err,
			"%s belongs to a line that begins with %s=", k->key,
			vs_conf_opener(k->scope));
	}
	if (!near)
		near = vs_conf_key_near(key, len, ALL_SCOPES);
	if (near)
		return vs_conf_err(f, line, err,
			"unknown key \"%.*s\": did you mean %s?",
			(int)(len > 40 ? 40 : len), key, near);
	return vs_conf_err(f, line, err, "unknown key \"%.*s\"",
			   (int)(len > 40 ? 40 : len), key);
}

int vs_conf_pair(const struct vs_conf_file *f, int line, const char **at,
		 const char **key, size_t *len, char **value, struct vs_err *err)
{
	const char *p = *at, *from;

	while (isspace((unsigned char)*p))
		p++;
	*at = p;
	if (!*p)
		return 0;
	*key = p;
	while (isalnum((unsigned char)*p) || *p == '_' || *p == '.')
		p++;
	*len = (size_t)(p - *key);
	while (isblank((unsigned char)*p))
		p++;
	if (!*len)
		return vs_conf_err(f, line, err, "expected Key=Value after "
			"column %d", (int)(*at - *key) + 1);
	/* the word may be a password, if the wrong file was included */
	if (*p != '=' && line >= VS_CONF_LINES)
		return vs_conf_err(f, line, err, "expected Key=Value");
	if (*p != '=')
		return vs_conf_err(f, line, err, "expected \"=\" after \"%.*s\"",
			(int)(*len > 40 ? 40 : *len), *key);
	for (p++; isblank((unsigned char)*p); p++)
		;
	if (*p == '"') {
		from = ++p;
		while (*p && *p != '"')
			p++;
		if (!*p)
			return vs_conf_err(f, line, err,
				"the quotes after %.*s= are never closed",
				(int)*len, *key);
		*value = strndup(from, (size_t)(p++ - from));
		if (*p && !isspace((unsigned char)*p)) {
			free(*value);
			return vs_conf_err(f, line, err,
				"expected a blank after the quoted value of %.*s",
				(int)*len, *key);
		}
	} else {
		for (from = p; *p && !isspace((unsigned char)*p); p++)
			;
		*value = strndup(from, (size_t)(p - from));
	}
	if (!**value) {
		free(*value);
		return vs_conf_err(f, line, err, "%.*s= has no value",
				   (int)*len, *key);
	}
	*at = p;
	return 1;
}

/* No FIFO, and no device that never ends. */
static FILE *regular_open(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		errno = EINVAL;
		return NULL;
	}
	return fdopen(fd, "r");
}

/* The lines of a file, to fn. at: the file's number, as part of each line; from: the
 * Include line, 0: none. */
static int lines_read(const struct vs_conf_file *f, const char *path, int at,
		      int from, vs_conf_line_fn *fn, void *arg,
		      struct vs_err *err)
{
	VS_FCLOSE FILE *in = from ? regular_open(path) : fopen(path, "re");
	VS_FREE char *text = NULL, *whole = NULL;
	size_t size = 0, used = 0, cap = 0;
	int line = 0, first_line = 0;
	bool going = false;
	ssize_t got;

	if (!in && from)
		return vs_conf_err(f, from, err, "Include %s: %s", path,
				   errno == EINVAL ? "not a regular file" :
				   strerror(errno));
	if (!in)
		return vs_conf_err(f, 0, err, "%s (it belongs beside slurm.conf)",
				   strerror(errno));
	while ((got = getline(&text, &size, in)) >= 0) {
		size_t len;

		if (++line == VS_CONF_LINES)
			return vs_conf_err(f, at + 1, err, "the file has more than %d lines",
					   VS_CONF_LINES - 1);
		if (strlen(text) != (size_t)got)
			return vs_conf_err(f, at + line, err, "a NUL byte");
		len = cut_comment(text);
		if (!going)
			first_line = line;
		going = goes_on(text, len);
		if (going)
			text[--len] = '\0';
		VS_GROW(whole, cap, used + len + 1);
		memcpy(whole + used, text, len + 1);
		used += len;
		if (going)
			continue;
		unescape(whole);
		used = 0;
		if (fn(arg, at + first_line, whole, err))
			return -1;
	}
	if (going)
		return vs_conf_err(f, at + line, err,
				   "the last line ends with a backslash");
	return 0;
}

int vs_conf_lines(const struct vs_conf_file *f, vs_conf_line_fn *fn, void *arg,
		  struct vs_err *err)
{
	return lines_read(f, f->path, 0, 0, fn, arg, err);
}

static vs_conf_line_fn scan_line;

static bool is_include(const char *p)
{
	p += strspn(p, BLANKS);
	return !strncasecmp(p, "Include", 7) && (!p[7] || strchr(BLANKS, p[7]));
}

/* "Include FILE": its lines are read in the place of this one. */
static int include(struct vs_conf_file *f, int line, const char *p,
		   struct vs_err *err)
{
	const char *from = file_at(f, line) ? file_at(f, line) : f->path;
	const char *slash = strrchr(from, '/');
	const char *name = p + strspn(p, BLANKS) + 7;
	VS_FREE char *path = NULL;
	int rc, len;

	name += strspn(name, BLANKS);
	len = (int)strcspn(name, BLANKS);
	if (!len || name[len + (int)strspn(name + len, BLANKS)])
		return vs_conf_err(f, line, err, "expected one file after Include");
	path = vs_asprintf("%.*s%.*s", name[0] != '/' && slash ?
			   (int)(slash - from) + 1 : 0, from, len, name);
	if (f->known_only && access(path, R_OK))
		return 0;
	if (f->depth == INCLUDE_DEPTH)
		return vs_conf_err(f, line, err,
			"Include %.*s: files are included in each other more than %d deep",
			len, name, INCLUDE_DEPTH);
	if (f->nfiles == INCLUDE_FILES)
		return vs_conf_err(f, line, err,
			"Include %.*s: more than %d files are included", len,
			name, INCLUDE_FILES);
	VS_GROW(f->files, f->files_cap, f->nfiles + 1);
	f->files[f->nfiles++] = path;
	f->depth++;
	rc = lines_read(f, path, (int)f->nfiles * VS_CONF_LINES, line, scan_line,
			f, err);
	path = NULL;
	f->depth--;
	return rc;
}

static int scan_line(void *arg, int line, const char *p, struct vs_err *err)
{
	struct vs_conf_file *f = arg;
	size_t at = 0;		/* records move: an index, no pointer */
	bool first = true;
	const char *key;
	char *value;
	size_t len;
	int rc;

	if (strlen(p) > LINE_MAX_BYTES)
		return vs_conf_err(f, line, err, "the line has more than %d bytes",
				   LINE_MAX_BYTES);
	if (is_include(p))
		return include(f, line, p, err);
	while ((rc = vs_conf_pair(f, line, &p, &key, &len, &value, err)) > 0) {
		enum vs_conf_scope scope = f->records[at].scope;
		struct vs_conf_record *r;
		int k = vs_conf_key_find(key, len, first ? ALL_SCOPES :
					 1u << scope);
		bool opens = first && k >= 0 &&
			vs_conf_keys[k].type == VS_CONF_NAME;

		if (k < 0 || (!opens && vs_conf_keys[k].scope != scope)) {
			free(value);
			if (!f->known_only || vs_conf_key_renamed(key, len) ||
			    vs_conf_key_removed(key, len) ||
			    (len == 7 && !strncasecmp(key, "include", 7)))
				return key_unknown(f, line, key, len, scope,
						   err);
			if (first)
				return 0;	/* a line of which kind? */
			continue;
		}
		if (opens) {
			record_add(f, vs_conf_keys[k].scope, line);
			at = f->nrecords - 1;
		}
		first = false;
		r = &f->records[at];
		if (r->values[k]) {
			VS_FREE char *first_at =
				vs_conf_line_name(f, r->lines[k], line);

			free(value);
			return vs_conf_err(f, line, err,
				"%s is given twice, first in %s",
				vs_conf_keys[k].key, first_at);
		}
		r->values[k] = value;
		r->lines[k] = line;
	}
	return rc;
}

static int scan(struct vs_conf_file *f, const char *path, bool known_only,
		struct vs_err *err)
{
	*f = (struct vs_conf_file) { .path = vs_strdup(path),
				     .known_only = known_only };
	record_add(f, VS_SCOPE_TOP, 0);
	return vs_conf_lines(f, scan_line, f, err);
}

int vs_conf_scan(struct vs_conf_file *f, const char *path, struct vs_err *err)
{
	return scan(f, path, false, err);
}

int vs_conf_scan_known(struct vs_conf_file *f, const char *path,
		       struct vs_err *err)
{
	return scan(f, path, true, err);
}

char *vs_conf_munge_socket(const char *auth_info)
{
	const char *at = auth_info ? strstr(auth_info, "socket=") : NULL;

	if (!at)
		return NULL;
	at += strlen("socket=");
	return strndup(at, strcspn(at, ","));
}

void vs_conf_file_free(struct vs_conf_file *f)
{
	for (size_t i = 0; i < f->nrecords; i++)
		for (size_t k = 0; k < vs_conf_nkeys; k++)
			free(f->records[i].values[k]);
	for (size_t i = 0; i < f->nfiles; i++)
		free(f->files[i]);
	free(f->files);
	free(f->records);
	free(f->path);
	memset(f, 0, sizeof(*f));
}

struct vs_conf_record *vs_conf_record_get(const struct vs_conf_file *f,
					  enum vs_conf_scope scope, size_t n)
{
	for (size_t i = 0; i < f->nrecords; i++)
		if (f->records[i].scope == scope && !n--)
			return &f->records[i];
	return NULL;
}

const char *vs_conf_value(const struct vs_conf_file *f,
			  enum vs_conf_scope scope, const char *key)
{
	struct vs_conf_record *r = vs_conf_record_get(f, scope, 0);
	int k = vs_conf_key_find(key, strlen(key), 1u << scope);

	return r && k >= 0 ? r->values[k] : NULL;
}
