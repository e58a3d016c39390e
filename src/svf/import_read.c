/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads vHPC-toolkit's cluster files as Python's configparser takes them:
 * sections of KEY: VALUE (or KEY=VALUE), lines that begin with # or ; are
 * comments, lines that begin with a blank go on. Names of VMs and switches keep
 * their case (before 1.0 the toolkit made them small), keys are small.
 *
 * Rules: every character has its line and column; a text of any content ends
 * in sections or in an error.
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "import_i.h"
#include "util/mem.h"

int svf_bad(struct vs_err *err, struct svf_pos at, const char *fmt, ...)
{
	char text[200];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return vs_err_set(err, VS_E_CONFIG, "line %d column %d: %s", at.line,
			  at.col, text);
}

void svf_text_add(struct text *t, char c, struct svf_pos at)
{
	VS_GROW(t->s, t->cap, t->len + 2);
	VS_GROW(t->at, t->cap_at, t->len + 2);
	t->at[t->len] = at;
	t->s[t->len++] = c;
	t->s[t->len] = '\0';
	t->at[t->len] = (struct svf_pos){ at.line, at.col + 1 };
}

void svf_text_free(struct text *t)
{
	free(t->s);
	free(t->at);
}

static void text_trim(struct text *t)
{
	while (t->len && t->s[t->len - 1] == ' ')
		t->s[--t->len] = '\0';
}

/* ---- lines, sections, items ---------------------------------------------------- */

/* The next line without its end, blanks at its end and %%; 1, 0 at the file's
 * end, -1. */
static int line_get(struct file *f, struct text *out)
{
	int col = 0;

	memset(out, 0, sizeof(*out));
	if (f->p == f->end)
		return 0;
	f->line++;
	svf_text_add(out, ' ', (struct svf_pos){ f->line, 1 });
	out->len = 0;
	while (f->p < f->end && *f->p != '\n') {
		char c = *f->p++ == '\t' ? ' ' : f->p[-1];
		struct svf_pos at = { f->line, ++col };

		if (c == '\r' && (f->p == f->end || *f->p == '\n'))
			break;
		if ((unsigned char)c < ' ' || c == 0x7f)
			return svf_bad(f->err, at, "a control character (0x%02x)",
				   (unsigned char)c);
		svf_text_add(out, c, at);
	}
	f->p += f->p < f->end;
	out->s[out->len] = '\0';
	text_trim(out);
	return 1;
}

struct section *svf_section_named(struct file *f, const char *name)
{
	for (size_t i = 0; i < f->nsections; i++)
		if (!strcmp(f->sections[i].name, name))
			return &f->sections[i];
	return NULL;
}

static int section_begin(struct file *f, const struct text *l, size_t from)
{
	char *end = strchr(l->s + from, ']');
	VS_FREE char *name = NULL;
	struct section *s;

	if (!end || end == l->s + from + 1)
		return svf_bad(f->err, l->at[from], "[NAME] is expected");
	if (end[1])
		return svf_bad(f->err, l->at[end + 1 - l->s],
			   "nothing is expected after ]");
	name = vs_asprintf("%.*s", (int)(end - l->s - (long)from - 1),
			   l->s + from + 1);
	if (!strcmp(name, "DEFAULT"))
		return svf_bad(f->err, l->at[from],
			   "[DEFAULT] would be part of every section: write out what it says");
	if (svf_section_named(f, name))
		return svf_bad(f->err, l->at[from], "[%.60s] is there twice", name);
	VS_GROW(f->sections, f->cap, f->nsections + 1);
	s = &f->sections[f->nsections++];
	*s = (struct section){ .name = vs_strdup(name) };
	return 0;
}

/* Where the key ends; a range in it has a colon of its own. 0: nowhere. */
static size_t key_end(const struct text *l, size_t i)
{
	for (; i < l->len; i++) {
		const char *close = l->s[i] == '{' ? strchr(l->s + i, '}') : NULL;

		if (close)
			i = (size_t)(close - l->s);
		else if (l->s[i] == ':' || l->s[i] == '=')
			return i;
	}
	return 0;
}

/* Into the value; "%%" is %, and what else % means is not for us. */
static int value_add(struct file *f, struct item *it, const struct text *l,
		     size_t i)
{
	while (i < l->len && l->s[i] == ' ')
		i++;
	if (it->value.len && i < l->len)
		svf_text_add(&it->value, ' ', l->at[i]);
	for (; i < l->len; i++) {
		if (l->s[i] == '%' && l->s[++i] != '%')
			return svf_bad(f->err, l->at[i - 1],
				   "%% stands for nothing here; %%%% is %%");
		svf_text_add(&it->value, l->s[i], l->at[i]);
	}
	return 0;
}

static int item_begin(struct file *f, const struct text *l, size_t from)
{
	size_t end = key_end(l, from), len = end - from;
	struct section *s;
	struct item *it;

	if (!f->nsections)
		return svf_bad(f->err, l->at[from], "[SECTION] is expected first");
	s = &f->sections[f->nsections - 1];
	while (end > from && len && l->s[from + len - 1] == ' ')
		len--;
	if (end <= from || !len)
		return svf_bad(f->err, l->at[from], "KEY: VALUE is expected");
	VS_GROW(s->items, s->cap, s->nitems + 1);
	it = &s->items[s->nitems++];
	*it = (struct item){ .at = l->at[from],
		.key = vs_asprintf("%.*s", (int)len, l->s + from) };
	svf_text_add(&it->value, ' ', l->at[end]);
	it->value.s[it->value.len = 0] = '\0';
	for (char *p = it->key; *p && s->name[0] != '_'; p++)
		*p = (char)tolower((unsigned char)*p);
	for (size_t i = 0; i + 1 < s->nitems; i++)
		if (!strcmp(s->items[i].key, it->key))
			return svf_bad(f->err, it->at, "%.60s is there twice in [%.60s]",
				   it->key, s->name);
	return value_add(f, it, l, end + 1);
}

static int line_take(struct file *f, const struct text *l)
{
	struct section *s = f->nsections ? &f->sections[f->nsections - 1] : NULL;
	size_t from = strspn(l->s, " ");

	if (from == l->len || l->s[from] == '#' || l->s[from] == ';')
		return 0;
	if (from && s && s->nitems)	/* goes on */
		return value_add(f, &s->items[s->nitems - 1], l, from);
	if (l->s[from] == '[')
		return section_begin(f, l, from);
	return item_begin(f, l, from);
}

int svf_file_read(struct file *f)
{
	struct text l;
	int rc;

	while ((rc = line_get(f, &l)) > 0) {
		rc = line_take(f, &l);
		svf_text_free(&l);
		if (rc)
			return -1;
	}
	if (rc)
		svf_text_free(&l);
	return rc;
}

void svf_file_free(struct file *f)
{
	for (size_t i = 0; i < f->nsections; i++) {
		struct section *s = &f->sections[i];

		for (size_t k = 0; k < s->nitems; k++) {
			free(s->items[k].key);
			svf_text_free(&s->items[k].value);
		}
		free(s->items);
		free(s->name);
	}
	free(f->sections);
}
