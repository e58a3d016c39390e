/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The checked door to json-c: readers that say the path of what is wrong, and
 * builders that keep the order of insertion (vCenter wants _typeName first).
 *
 * Rules: no accessor of json-c is called before the type was tested, because
 * several of them abort the process otherwise. The first failure of a document
 * is kept, later ones are its consequences. What does not exist gives a null
 * cursor; reading on from there stays null and is quiet until a value is
 * demanded. A string with a NUL inside is refused: strcmp() could not compare
 * it.
 *
 * It never lets a json_object out of its builders half made: no memory aborts.
 */
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <json-c/json.h>

#include "util/json.h"
#include "util/mem.h"

/* A fault with its chain of causes inside an update set is about 30 deep. */
#define MAX_DEPTH 96

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/*
 * What json-c will need for a text, in bytes, by what stands outside of its
 * strings. Measured on json-c 0.16: an object is a table for 16 members, about
 * 760 bytes even if it is empty; any other value is less than 120.
 */
#define OBJECT_BYTES 800
#define VALUE_BYTES 120

/* strict: only '"' begins a string, and there are no comments. Else what stands
 * in strings is counted too, for it can't be told apart without parsing. */
static size_t memory_of(const char *text, size_t len, bool strict)
{
	size_t objects = 0, values = 1;
	bool quoted = false;

	for (size_t i = 0; i < len; i++) {
		if (quoted && text[i] == '\\')
			i++;
		else if (text[i] == '"')
			quoted = strict && !quoted;
		else if (!quoted && text[i] == '{')
			objects++;
		else if (!quoted && (text[i] == ',' || text[i] == '['))
			values++;
	}
	return objects * OBJECT_BYTES + values * VALUE_BYTES;
}

/* A list of object references needs 15 times its length. A text that needs
 * far more than that, or more than any answer may, is not parsed. */
static int memory_check(const char *text, size_t len, bool strict,
			struct vs_err *err)
{
	size_t need = memory_of(text, len, strict);
	size_t most = VS_JSON_SMALL + len * VS_JSON_TIMES;

	if (most > VS_JSON_MOST)
		most = VS_JSON_MOST;
	if (need <= most)
		return 0;
	return vs_err_set(err, VS_E_RETRY,
			  "JSON of %zu bytes has so many values that it would need %zu MiB of memory, %zu MiB are allowed",
			  len, need >> 20, most >> 20);
}

static int parse_one(struct json_tokener *tok, const char *text, size_t len,
		     struct json_object **root, struct vs_err *err)
{
	enum json_tokener_error why;
	size_t end;

	*root = json_tokener_parse_ex(tok, text, (int)len);
	why = json_tokener_get_error(tok);
	end = json_tokener_get_parse_end(tok);
	if (why == json_tokener_continue) {
		/* A bare number or literal ends only with what follows it. */
		*root = json_tokener_parse_ex(tok, " ", 1);
		why = json_tokener_get_error(tok);
		end = len;
		if (why == json_tokener_continue)
			return vs_err_set(err, VS_E_RETRY,
					  "JSON is incomplete: it ends after %zu bytes",
					  len);
	}
	if (why != json_tokener_success)
		return vs_err_set(err, VS_E_RETRY,
				  "not JSON at byte %zu: %s", end,
				  json_tokener_error_desc(why));
	if (end != len) {
		json_object_put(*root);
		*root = NULL;
		return vs_err_set(err, VS_E_RETRY,
				  "more than one JSON value (byte %zu)", end);
	}
	return 0;
}

/* json-c 0.18 is strict with what is no ASCII too: it takes such a string for
 * one with a control character in it. */
static bool strict_takes_utf8;

static void try_strict(void)
{
	struct json_tokener *tok = json_tokener_new();
	struct json_object *o;

	if (!tok)
		abort();
	json_tokener_set_flags(tok, JSON_TOKENER_STRICT);
	o = json_tokener_parse_ex(tok, "\"\xc3\xa9\"", 4);
	strict_takes_utf8 = o != NULL;
	json_object_put(o);
	json_tokener_free(tok);
}

static bool strict_for(const char *text, size_t len)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, try_strict);
	for (size_t i = 0; !strict_takes_utf8 && i < len; i++)
		if ((unsigned char)text[i] >= 0x80)
			return false;
	return true;
}

int vs_jdoc_parse(struct vs_jdoc *doc, const char *text, size_t len,
		  struct vs_err *err)
{
	struct json_tokener *tok;
	bool strict;
	int rc;

	memset(doc, 0, sizeof(*doc));
	while (len > 0 && is_space(*text)) {
		text++;
		len--;
	}
	while (len > 0 && is_space(text[len - 1]))
		len--;
	if (len == 0)
		return 0;
	if (len >= INT_MAX)
		return vs_err_set(err, VS_E_RETRY, "JSON of %zu bytes is too long",
				  len);
	if (memchr(text, '\0', len))
		return vs_err_set(err, VS_E_RETRY, "not JSON: it has a NUL byte");
	strict = strict_for(text, len);
	if (memory_check(text, len, strict, err))
		return -1;
	if (!(tok = json_tokener_new_ex(MAX_DEPTH)))
		abort();
	json_tokener_set_flags(tok, JSON_TOKENER_VALIDATE_UTF8 |
			       (strict ? JSON_TOKENER_STRICT : 0));
	rc = parse_one(tok, text, len, &doc->root, err);
	json_tokener_free(tok);
	return rc;
}

void vs_jdoc_free(struct vs_jdoc *doc)
{
	if (!doc)
		return;
	json_object_put(doc->root);
	memset(doc, 0, sizeof(*doc));
}

bool vs_json_failed(const struct vs_jdoc *doc, struct vs_err *err)
{
	if (doc->err.code == VS_OK)
		return false;
	if (err)
		*err = doc->err;
	return true;
}

bool vs_json_failure_take(struct vs_jdoc *doc, struct vs_err *err)
{
	if (!vs_json_failed(doc, err))
		return false;
	memset(&doc->err, 0, sizeof(doc->err));
	return true;
}

/* ---- readers ------------------------------------------------------------ */

static const char *path_of(const struct vs_j *j)
{
	return j->where[0] ? j->where : "the reply";
}

static void fail(struct vs_j j, const char *what)
{
	if (j.doc && j.doc->err.code == VS_OK)
		vs_err_set(&j.doc->err, VS_E_RETRY, "%s: %s", path_of(&j),
			   what);
}

/* Any slots box what is no object: {"_typeName":"string","_value":"a"}. */
static struct json_object *unbox(struct json_object *o)
{
	struct json_object *v;

	if (o && json_object_is_type(o, json_type_object) &&
	    json_object_object_get_ex(o, "_value", &v))
		return v;
	return o;
}

static void path_key(struct vs_j *j, const char *key)
{
	size_t n = strlen(j->where);

	if (n && n < sizeof(j->where) - 1)
		j->where[n++] = '.';
	vs_strlcpy(j->where + n, key, sizeof(j->where) - n);
}

struct vs_j vs_j_root(struct vs_jdoc *doc)
{
	struct vs_j j = { .doc = doc, .obj = unbox(doc->root) };

	return j;
}

bool vs_j_null(struct vs_j j)
{
	return !j.obj;
}

bool vs_j_is_obj(struct vs_j j)
{
	return json_object_is_type(j.obj, json_type_object);
}

struct vs_j vs_j_quiet(struct vs_j j)
{
	j.doc = NULL;
	return j;
}

struct vs_j vs_j_opt(struct vs_j j, const char *key)
{
	struct json_object *v = NULL;

	if (j.obj && !json_object_is_type(j.obj, json_type_object))
		fail(j, "expected an object");
	else if (j.obj)
		json_object_object_get_ex(j.obj, key, &v);
	path_key(&j, key);
	j.obj = unbox(v);
	return j;
}

struct vs_j vs_j_get(struct vs_j j, const char *key)
{
	bool had = j.obj != NULL;

	j = vs_j_opt(j, key);
	if (had && !j.obj)
		fail(j, "missing");
	return j;
}

size_t vs_j_len(struct vs_j j)
{
	if (!j.obj)
		return 0;
	if (!json_object_is_type(j.obj, json_type_array)) {
		fail(j, "expected an array");
		return 0;
	}
	return json_object_array_length(j.obj);
}

struct vs_j vs_j_at(struct vs_j j, size_t i)
{
	size_t len = vs_j_len(j), n = strlen(j.where);
	struct json_object *o = j.obj;

	snprintf(j.where + n, sizeof(j.where) - n, "[%zu]", i);
	j.obj = i < len ? unbox(json_object_array_get_idx(o, i)) : NULL;
	if (o && !j.obj)
		fail(j, "missing");
	return j;
}

/* A string without a NUL inside, or NULL with the failure noted. */
static const char *string_of(struct vs_j j)
{
	const char *s;

	if (!json_object_is_type(j.obj, json_type_string)) {
		fail(j, "expected a string");
		return NULL;
	}
	s = json_object_get_string(j.obj);
	if (strlen(s) != (size_t)json_object_get_string_len(j.obj)) {
		fail(j, "a NUL inside a string");
		return NULL;
	}
	return s;
}

const char *vs_j_type(struct vs_j j)
{
	struct json_object *v;

	if (!j.obj || !json_object_is_type(j.obj, json_type_object) ||
	    !json_object_object_get_ex(j.obj, "_typeName", &v) || !v ||
	    !json_object_is_type(v, json_type_string))
		return "";
	return json_object_get_string(v);
}

const char *vs_j_str_or(struct vs_j j, const char *dflt)
{
	const char *s = j.obj ? string_of(j) : NULL;

	return s ? s : dflt;
}

const char *vs_j_str(struct vs_j j)
{
	if (!j.obj)
		fail(j, "missing");
	return vs_j_str_or(j, "");
}

int64_t vs_j_int_or(struct vs_j j, int64_t dflt)
{
	if (!j.obj)
		return dflt;
	if (!json_object_is_type(j.obj, json_type_int)) {
		fail(j, "expected a whole number");
		return dflt;
	}
	return json_object_get_int64(j.obj);
}

int64_t vs_j_int(struct vs_j j)
{
	if (!j.obj)
		fail(j, "missing");
	return vs_j_int_or(j, 0);
}

bool vs_j_bool_or(struct vs_j j, bool dflt)
{
	if (!j.obj)
		return dflt;
	if (!json_object_is_type(j.obj, json_type_boolean)) {
		fail(j, "expected true or false");
		return dflt;
	}
	return json_object_get_boolean(j.obj);
}

bool vs_j_bool(struct vs_j j)
{
	if (!j.obj)
		fail(j, "missing");
	return vs_j_bool_or(j, false);
}

const char *vs_j_ref(struct vs_j j, const char **type)
{
	if (type)
		*type = j.obj ? vs_j_str_or(vs_j_opt(j, "type"), "") : "";
	return j.obj ? vs_j_str(vs_j_get(j, "value")) : "";
}

/* ---- builders ----------------------------------------------------------- */

static struct json_object *made(struct json_object *o)
{
	if (!o)
		abort();
	return o;
}

static struct json_object *new_str(const char *s)
{
	return made(json_object_new_string(s));
}

struct json_object *vs_jb_obj(const char *type_name)
{
	struct json_object *o = made(json_object_new_object());

	if (type_name)
		vs_jb_str(o, "_typeName", type_name);
	return o;
}

struct json_object *vs_jb_arr(void)
{
	return made(json_object_new_array());
}

struct json_object *vs_jb_member(struct json_object *o, const char *key)
{
	return json_object_object_get(o, key);
}

void vs_jb_put(struct json_object *o, const char *key, struct json_object *v)
{
	if (v && json_object_object_add(o, key, v) < 0)
		abort();
}

struct json_object *vs_jb_first(struct json_object *o, const char *key,
				struct json_object *v)
{
	struct json_object *all;

	if (!json_object_is_type(o, json_type_object)) {
		json_object_put(o);
		json_object_put(v);
		return NULL;
	}
	all = vs_jb_obj(NULL);
	vs_jb_put(all, key, v);
	json_object_object_foreach(o, name, value) {
		if (!strcmp(name, key))
			continue;
		/* null is a member too: vs_jb_put() would leave it out */
		if (json_object_object_add(all, name, json_object_get(value)))
			abort();
	}
	json_object_put(o);
	return all;
}

void vs_jb_str(struct json_object *o, const char *key, const char *s)
{
	if (s)
		vs_jb_put(o, key, new_str(s));
}

void vs_jb_int(struct json_object *o, const char *key, int64_t v)
{
	vs_jb_put(o, key, made(json_object_new_int64(v)));
}

void vs_jb_real(struct json_object *o, const char *key, double v)
{
	vs_jb_put(o, key, made(json_object_new_double(v)));
}

void vs_jb_bool(struct json_object *o, const char *key, bool v)
{
	vs_jb_put(o, key, made(json_object_new_boolean(v)));
}

struct json_object *vs_jb_new_ref(const char *type, const char *value)
{
	struct json_object *o = vs_jb_obj("ManagedObjectReference");

	vs_jb_str(o, "type", type);
	vs_jb_str(o, "value", value);
	return o;
}

void vs_jb_ref(struct json_object *o, const char *key, const char *type,
	       const char *value)
{
	if (value)
		vs_jb_put(o, key, vs_jb_new_ref(type, value));
}

void vs_jb_add(struct json_object *arr, struct json_object *v)
{
	if (json_object_array_add(arr, v) < 0)
		abort();
}

void vs_jb_add_str(struct json_object *arr, const char *s)
{
	vs_jb_add(arr, new_str(s));
}

struct json_object *vs_jb_boxed_str(const char *s)
{
	struct json_object *o = vs_jb_obj("string");

	vs_jb_str(o, "_value", s);
	return o;
}

struct json_object *vs_jb_clone(struct json_object *o)
{
	struct json_object *copy = NULL;

	if (o && json_object_deep_copy(o, &copy, NULL) < 0)
		abort();
	return copy;
}

struct json_object *vs_jb_copy(struct vs_j j)
{
	return vs_jb_clone(j.obj);
}

static char *text_of(struct json_object *o, int flags)
{
	const char *s = json_object_to_json_string_ext(o, flags);
	char *copy;

	if (!s)
		abort();
	copy = vs_strdup(s);
	json_object_put(o);
	return copy;
}

char *vs_jb_text_free(struct json_object *o)
{
	return text_of(o, JSON_C_TO_STRING_PLAIN |
		       JSON_C_TO_STRING_NOSLASHESCAPE);
}

char *vs_jb_pretty_free(struct json_object *o)
{
	return text_of(o, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED |
		       JSON_C_TO_STRING_NOSLASHESCAPE);
}

void vs_jb_free(struct json_object *o)
{
	json_object_put(o);
}

/* ---- strings, wherever they stand ---------------------------------------- */

typedef char *each_fn(void *arg, const struct vs_jpos *at, const char *s);

static void each_in(struct json_object *o, const struct vs_jpos *up,
		    each_fn *fn, void *arg);

static void each_at(struct json_object *value, const struct vs_jpos *at,
		    each_fn *fn, void *arg)
{
	char *with;

	if (!json_object_is_type(value, json_type_string)) {
		each_in(value, at, fn, arg);
		return;
	}
	with = fn(arg, at, json_object_get_string(value));
	if (with && !json_object_set_string(value, with))
		abort();
	free(with);
}

/* The parser bounds the levels, and so this recursion. */
static void each_in(struct json_object *o, const struct vs_jpos *up,
		    each_fn *fn, void *arg)
{
	struct vs_jpos at = { .up = up, .obj = o };

	if (json_object_is_type(o, json_type_array)) {
		for (size_t i = 0; i < json_object_array_length(o); i++)
			each_at(json_object_array_get_idx(o, i), &at, fn, arg);
		return;
	}
	if (!json_object_is_type(o, json_type_object))
		return;
	json_object_object_foreach(o, key, value) {
		at.key = key;
		each_at(value, &at, fn, arg);
	}
}

void vs_jb_each_str(struct json_object *root, each_fn *fn, void *arg)
{
	each_at(root, NULL, fn, arg);
}

const char *vs_jpos_str(const struct vs_jpos *at, const char *key)
{
	struct json_object *v;

	if (!json_object_is_type(at->obj, json_type_object) ||
	    !json_object_object_get_ex(at->obj, key, &v) ||
	    !json_object_is_type(v, json_type_string))
		return "";
	return json_object_get_string(v);
}
