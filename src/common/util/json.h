/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The only door to json-c (whose accessors abort on surprises). Readers carry
 * the path of what they read, so that an error says `hosts[3].memoryMB:
 * missing`; builders keep the order of insertion.
 *
 * A reader is a cursor by value: it owns nothing, and points into the
 * document. A failed step gives a cursor whose `obj` is NULL and whose error
 * is already in the document's box; all later steps from it fail quietly, so
 * that a whole record can be read and checked once (vs_json_failed).
 */
#ifndef VS_UTIL_JSON_H
#define VS_UTIL_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "util/err.h"

struct json_object;

struct vs_jdoc {
	struct json_object *root;
	struct vs_err err;	/* first failure, code VS_OK if none */
};

struct vs_j {			/* a cursor */
	struct vs_jdoc *doc;
	struct json_object *obj;
	char where[160];
};

/*
 * Bounds, in bytes of memory, of what a text may become: VS_JSON_SMALL and
 * VS_JSON_TIMES its length, at most VS_JSON_MOST. Object references take 15 times
 * their length; "{}," without end takes 250 times. The longest honest answer has
 * 500 objects (maxObjectUpdates), which take less than half of VS_JSON_MOST. The
 * estimate is at most a tenth too low (json-c 0.16).
 */
#define VS_JSON_SMALL ((size_t)4 << 20)
#define VS_JSON_TIMES 32
#define VS_JSON_MOST ((size_t)512 << 20)

/*
 * Parses len bytes. Returns 0 on success; empty input and `null` give root ==
 * NULL. Returns -1 and sets err on anything else than exactly one JSON value,
 * on more than 96 levels, and on a text that would need more memory than the
 * bounds above: that is found before anything is allocated.
 */
int vs_jdoc_parse(struct vs_jdoc *doc, const char *text, size_t len,
		  struct vs_err *err);
void vs_jdoc_free(struct vs_jdoc *doc);
bool vs_json_failed(const struct vs_jdoc *doc, struct vs_err *err);
/* Moves the document's failure into err: what comes next is read as if there had
 * been none. Returns false if there is none. */
bool vs_json_failure_take(struct vs_jdoc *doc, struct vs_err *err);

struct vs_j vs_j_root(struct vs_jdoc *doc);
bool vs_j_null(struct vs_j j);			/* absent or null */
bool vs_j_is_obj(struct vs_j j);
/* Returns a cursor on the same value. A failure below this cursor is not noted
 * in the document. Used for values whose types this program may not demand. */
struct vs_j vs_j_quiet(struct vs_j j);
/* Required and optional members; opt gives a null cursor without an error.
 * Both look through vCenter's boxes ({"_typeName":..., "_value":...}). */
struct vs_j vs_j_get(struct vs_j j, const char *key);
struct vs_j vs_j_opt(struct vs_j j, const char *key);
size_t vs_j_len(struct vs_j j);			/* of an array; null: 0 */
struct vs_j vs_j_at(struct vs_j j, size_t i);
const char *vs_j_type(struct vs_j j);		/* _typeName or "" */
/* Values; *_or give the default for null. Strings live as long as the doc. */
const char *vs_j_str(struct vs_j j);		/* "" on failure */
const char *vs_j_str_or(struct vs_j j, const char *dflt);
int64_t vs_j_int(struct vs_j j);
int64_t vs_j_int_or(struct vs_j j, int64_t dflt);
bool vs_j_bool(struct vs_j j);
bool vs_j_bool_or(struct vs_j j, bool dflt);
/* vCenter's reference: its value ("vm-42") or ""; type into *type if asked. */
const char *vs_j_ref(struct vs_j j, const char **type);

/* Builders. All take ownership of what is put in (as json-c does). A NULL
 * string or value is left out; a key that is there gets the new value. */
struct json_object *vs_jb_obj(const char *type_name);	/* NULL: no _typeName */
struct json_object *vs_jb_arr(void);
void vs_jb_str(struct json_object *o, const char *key, const char *s);
void vs_jb_int(struct json_object *o, const char *key, int64_t v);
void vs_jb_real(struct json_object *o, const char *key, double v);	/* finite */
void vs_jb_bool(struct json_object *o, const char *key, bool v);
void vs_jb_put(struct json_object *o, const char *key, struct json_object *v);
/* Returns o with v as its first member, whose earlier value is dropped. o and v are
 * taken. Returns NULL, and drops both, if o is no object. */
struct json_object *vs_jb_first(struct json_object *o, const char *key,
				struct json_object *v);
/* What was put in, still o's; NULL if nothing was. */
struct json_object *vs_jb_member(struct json_object *o, const char *key);
void vs_jb_ref(struct json_object *o, const char *key, const char *type,
	       const char *value);
void vs_jb_add(struct json_object *arr, struct json_object *v);
void vs_jb_add_str(struct json_object *arr, const char *s);
struct json_object *vs_jb_new_ref(const char *type, const char *value);
struct json_object *vs_jb_boxed_str(const char *s);	/* an Any slot */
/* Deep copies: of what a cursor stands on (NULL for null), of what was built. */
struct json_object *vs_jb_copy(struct vs_j j);
struct json_object *vs_jb_clone(struct json_object *o);
char *vs_jb_text_free(struct json_object *o);	/* serialise, drop o; free() */
char *vs_jb_pretty_free(struct json_object *o);
void vs_jb_free(struct json_object *o);

/*
 * Where a string stands: in obj, as its member key, or as an element (key
 * NULL); up is what obj stands in, NULL at the root.
 */
struct vs_jpos {
	const struct vs_jpos *up;
	struct json_object *obj;
	const char *key;
};
/*
 * Calls fn for each string below root, members' names aside. What fn returns
 * takes the string's place (it is taken and freed); NULL leaves the string as
 * it is. fn must not change the document otherwise.
 */
void vs_jb_each_str(struct json_object *root,
		    char *(*fn)(void *arg, const struct vs_jpos *at,
				const char *s), void *arg);
/* The string member key of the object at->obj; "" if there is none. Lives as
 * long as that member does. */
const char *vs_jpos_str(const struct vs_jpos *at, const char *key);

#endif
