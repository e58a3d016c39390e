/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Request bodies: session, views, filters, property reads. The bodies that
 * change VMs are in vm.c.
 *
 * Rules: _typeName stands first wherever a declared type has subtypes; members
 * that are not said are left out; strings go into JSON only as strings.
 */
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "vcenter/spec/spec.h"

struct json_object *vs_spec_hello(const char *const *releases, size_t n)
{
	struct json_object *o = vs_jb_obj(NULL), *a = vs_jb_arr();

	for (size_t i = 0; i < n; i++)
		vs_jb_add_str(a, releases[i]);
	vs_jb_put(o, "api_releases", a);
	return o;
}

/* A JSON string's inside; at most 6 bytes for each of s. Returns its end. */
static char *put_escaped(char *p, const char *s)
{
	static const char hex[] = "0123456789abcdef";

	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c == '"' || c == '\\') {
			*p++ = '\\';
			*p++ = *s;
		} else if (c < ' ') {
			memcpy(p, "\\u00", 4);
			p[4] = hex[c >> 4];
			p[5] = hex[c & 15];
			p += 6;
		} else {
			*p++ = *s;
		}
	}
	return p;
}

char *vs_spec_login(const char *user, const char *password)
{
	static const char first[] = "{\"userName\":\"",
		second[] = "\",\"password\":\"",
		/* fault texts are matched */
		third[] = "\",\"locale\":\"en\"}";
	char *text = vs_calloc(1, 6 * (strlen(user) + strlen(password)) +
			       sizeof(first) + sizeof(second) + sizeof(third));
	char *p = text;

	p = stpcpy(p, first);
	p = put_escaped(p, user);
	p = stpcpy(p, second);
	p = put_escaped(p, password);
	stpcpy(p, third);
	return text;
}

/* In inventory paths vCenter keeps % / \ of a name as %25 %2f %5c. */
static char *escape_name(const char *s)
{
	char *out = vs_calloc(1, strlen(s) * 3 + 1), *p = out;

	for (; *s; s++) {
		if (*s == '%')
			p = stpcpy(p, "%25");
		else if (*s == '\\')
			p = stpcpy(p, "%5c");
		else
			*p++ = *s;
	}
	return out;
}

/*
 * A slash inside the last name stays one: "Templates/rhel9" is a path below
 * the folder, as people write it.
 */
struct json_object *vs_spec_path(const char *const *names)
{
	struct json_object *o = vs_jb_obj(NULL);
	char *path = vs_strdup("");

	for (size_t i = 0; names[i]; i++) {
		VS_FREE char *name = escape_name(names[i]);
		VS_FREE char *old = path;

		path = vs_asprintf("%s%s%s", old, i ? "/" : "", name);
	}
	vs_jb_str(o, "inventoryPath", path);
	free(path);
	return o;
}

static struct json_object *strings(const char *const *list)
{
	struct json_object *a = vs_jb_arr();

	for (size_t i = 0; list[i]; i++)
		vs_jb_add_str(a, list[i]);
	return a;
}

struct json_object *vs_spec_container_view(const char *type, const char *moid,
					   const char *const *types)
{
	struct json_object *o = vs_jb_obj(NULL);

	vs_jb_ref(o, "container", type, moid);
	vs_jb_put(o, "type", strings(types));
	vs_jb_bool(o, "recursive", true);
	return o;
}

struct json_object *vs_spec_list_view(struct json_object *refs_take)
{
	struct json_object *o = vs_jb_obj(NULL);

	vs_jb_put(o, "obj", refs_take);
	return o;
}

struct json_object *vs_spec_modify_list(struct json_object *add_take,
					struct json_object *remove_take)
{
	struct json_object *o = vs_jb_obj(NULL);

	vs_jb_put(o, "add", add_take);
	vs_jb_put(o, "remove", remove_take);
	return o;
}

struct json_object *vs_spec_props(const char *type, const char *const *paths)
{
	struct json_object *o = vs_jb_obj("PropertySpec");

	vs_jb_str(o, "type", type);
	vs_jb_bool(o, "all", false);
	vs_jb_put(o, "pathSet", strings(paths));
	return o;
}

struct json_object *vs_spec_view_members(const char *view_type,
					 const char *view)
{
	struct json_object *o = vs_jb_obj("ObjectSpec");
	struct json_object *t = vs_jb_obj("TraversalSpec"), *a = vs_jb_arr();

	vs_jb_ref(o, "obj", view_type, view);
	vs_jb_bool(o, "skip", true);
	vs_jb_str(t, "name", "members");
	vs_jb_str(t, "type", view_type);
	vs_jb_str(t, "path", "view");
	vs_jb_bool(t, "skip", false);
	vs_jb_add(a, t);
	vs_jb_put(o, "selectSet", a);
	return o;
}

struct json_object *vs_spec_object(const char *type, const char *moid)
{
	struct json_object *o = vs_jb_obj("ObjectSpec");

	vs_jb_ref(o, "obj", type, moid);
	vs_jb_bool(o, "skip", false);
	return o;
}

struct json_object *vs_spec_filter(struct json_object *props_take,
				   struct json_object *objects_take)
{
	struct json_object *o = vs_jb_obj("PropertyFilterSpec");

	vs_jb_put(o, "propSet", props_take);
	vs_jb_put(o, "objectSet", objects_take);
	/* One vanished object must not fail the whole call. */
	vs_jb_bool(o, "reportMissingObjectsInResults", true);
	return o;
}

struct json_object *vs_spec_create_filter(struct json_object *filter_take)
{
	struct json_object *o = vs_jb_obj(NULL);

	vs_jb_put(o, "spec", filter_take);
	vs_jb_bool(o, "partialUpdates", false);
	return o;
}

struct json_object *vs_spec_retrieve(struct json_object *filter_take)
{
	struct json_object *o = vs_jb_obj(NULL), *set = vs_jb_arr();

	vs_jb_add(set, filter_take);
	vs_jb_put(o, "specSet", set);
	vs_jb_put(o, "options", vs_jb_obj("RetrieveOptions"));
	return o;
}

struct json_object *vs_spec_continue(const char *token)
{
	struct json_object *o = vs_jb_obj(NULL);

	vs_jb_str(o, "token", token);
	return o;
}

struct json_object *vs_spec_config_target(const char *host)
{
	struct json_object *o = vs_jb_obj(NULL);

	vs_jb_ref(o, "host", "HostSystem", host);
	return o;
}

struct json_object *vs_spec_wait(const char *version, int wait_seconds)
{
	struct json_object *o = vs_jb_obj(NULL);
	struct json_object *w = vs_jb_obj("WaitOptions");

	vs_jb_str(o, "version", version);
	vs_jb_int(w, "maxWaitSeconds", wait_seconds);
	vs_jb_int(w, "maxObjectUpdates", 500);
	vs_jb_put(o, "options", w);
	return o;
}
