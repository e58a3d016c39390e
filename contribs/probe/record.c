/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --record DIR: each answer of vCenter in a file of its own, and an index. What
 * is written is described in README.md.
 *
 * Rules: nothing is written before all is known that must not be in it: answers
 * stay in memory, bounded, until the end, and the directory never holds a text
 * that wasn't scrubbed. Of JSON, a string stays only if its member is one of
 * those that are known to hold vSphere's own words, or if it has the form of a
 * number, a date or an address of a device. Any other string is replaced as a
 * whole. What is no JSON is searched for names and addresses.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <dirent.h>
#include <unistd.h>

#include "probe.h"
#include "util/mem.h"
#include "util/name.h"

#define ANSWERS_MAX 4000
#define BODY_MAX ((size_t)16 << 20)	/* bytes of one file */
#define BYTES_MAX ((size_t)256 << 20)	/* of all */

struct exchange {
	enum stage stage;
	const char *question;		/* the probe's question, or NULL */
	char *method, *path, *sent, *head, *text, *error;
	size_t len;			/* of text, though it be left out */
	long status;
	int64_t us;
	const char *left_out;		/* why there is no file */
};

struct record {
	int dir;
	struct exchange *list;
	size_t n, cap, bytes, more;	/* more: that were too many */
};

/* ---- the directory ------------------------------------------------------- */

static int wrong_dir(const char *dir, const char *why)
{
	fprintf(stderr, "svf-probe: --record %s: %s\n", dir, why);
	return -1;
}

static bool is_empty(int fd)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	DIR *d = copy < 0 ? NULL : fdopendir(copy);
	size_t n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return d && n <= 2;		/* . and .. */
}

int record_open(struct probe *p)
{
	const char *dir = p->o.record;
	struct stat st;
	int fd;

	if (!dir)
		return 0;
	if (mkdir(dir, 0700) && errno != EEXIST)
		return wrong_dir(dir, strerror(errno));
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return wrong_dir(dir, errno == ELOOP || errno == ENOTDIR ?
			"it is no directory; a symbolic link isn't followed" :
			strerror(errno));
	if (fstat(fd, &st) || st.st_uid != geteuid() || st.st_mode & 077) {
		close(fd);
		return wrong_dir(dir, "it must be yours alone, mode 0700");
	}
	if (!is_empty(fd)) {
		close(fd);
		return wrong_dir(dir, "it is not empty: name a new directory");
	}
	p->record = vs_calloc(1, sizeof(*p->record));
	p->record->dir = fd;
	return 0;
}

static void exchange_free(struct exchange *x)
{
	char *strs[] = { x->method, x->path, x->sent, x->head, x->text,
		x->error };

	for (size_t i = 0; i < VS_COUNT(strs); i++)
		free(strs[i]);
}

void record_free(struct probe *p)
{
	struct record *r = p->record;

	if (!r)
		return;
	for (size_t i = 0; i < r->n; i++)
		exchange_free(&r->list[i]);
	free(r->list);
	close(r->dir);
	free(r);
	p->record = NULL;
}

/* ---- while it lasts ------------------------------------------------------ */

/* A text, unless there is no room left for it. */
static char *kept(struct record *r, const char *text, size_t len,
		  const char **left_out)
{
	if (!text || !len)
		return NULL;
	if (len > BODY_MAX)
		*left_out = "larger than 16 MiB";
	else if (r->bytes + len > BYTES_MAX)
		*left_out = "more than 256 MiB in all";
	else {
		r->bytes += len;
		return vs_strdup(text);
	}
	return NULL;
}

void record_add(struct probe *p, enum stage stage,
		const struct vs_vc_exchange *x)
{
	struct record *r = p->record;
	const char *no_request = NULL;
	struct exchange *e;

	if (!r)
		return;
	if (r->n >= ANSWERS_MAX) {
		r->more++;
		return;
	}
	VS_GROW(r->list, r->cap, r->n + 1);
	e = &r->list[r->n++];
	*e = (struct exchange) { .stage = stage, .question = p->asking,
		.method = vs_strdup(x->method), .path = vs_strdup(x->path),
		.status = x->status, .us = x->us, .len = x->len };
	e->head = vs_strdup(x->head);
	e->error = x->err ? vs_strdup(x->err->text) : NULL;
	e->text = kept(r, x->text, x->len, &e->left_out);
	e->sent = x->sent ? kept(r, x->sent, strlen(x->sent), &no_request) :
		NULL;
}

/* ---- what may stay ------------------------------------------------------- */

/* Members whose strings are vSphere's own words, or ids that mean nothing
 * outside of this vCenter. Names and addresses in them are still replaced. */
static const char *const own_words[] = {
	"accessMode", "action", "addressType", "apiType", "api_release",
	"api_releases", "backingType", "behavior", "build",
	"compatibilityMode", "connectionCookie", "connectionState", "cpuID",
	"cpuModel", "defaultDpmBehavior", "defaultVmBehavior", "descriptionId",
	"device", "deviceClass", "deviceId", "deviceProtocol", "diskMode",
	"diskMoveType", "driver", "error_type", "existingState", "faultstring",
	"fileOperation", "firmware", "guestFamily", "guestId", "guestState",
	"hostMonitoring", "id", "invalidProperty", "key", "kind", "level",
	"licenseProductName", "linkSpeed", "locale", "localeBuild",
	"localizedMessage", "message", "messageLocale", "method", "mode",
	"model", "nicType", "op", "operation", "orientation", "osType",
	"overallStatus", "pci", "pciId", "physicalFunction", "placementType",
	"pnic", "pnicDevice", "portKey", "portgroupKey", "portgroupType",
	"powerState", "privId", "privilegeId", "privilegeIds", "productLineId",
	"protocol", "rdmaDevice", "reason", "requestedState",
	"restartPriority", "selectedVnic", "severity", "sharedBus", "sharing",
	"shortName", "standbyMode", "state", "status", "systemId", "testType",
	"token", "toolsInstallType", "toolsRunningStatus", "toolsStatus",
	"toolsVersionStatus2", "type", "typeId", "vendor", "vendorName",
	"vgpu", "vnic",
};

/* Members that hold people's words: these are searched for in texts too. */
static const char *const people[] = {
	"datacenterName", "datastoreName", "dvsName", "entityName",
	"fullName", "hostName", "hostname", "inventoryPath", "name",
	"networkName", "userName", "vmName",
};

static bool is_among(const char *const *list, size_t n, const char *s)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(list[i], s))
			return true;
	return false;
}

/* Out of arrays and boxes: the object that has the string as a member. */
static const struct vs_jpos *member_at(const struct vs_jpos *at)
{
	while (at && (!at->key || !strcmp(at->key, "_value")))
		at = at->up;
	return at;
}

/* Its name: of what a property collector brings, the path's last part. */
static const char *member_name(const struct vs_jpos *at)
{
	const char *path, *dot;

	if (!at)
		return "";
	if (strcmp(at->key, "val"))
		return at->key;
	path = vs_jpos_str(at, "name");
	if (strchr(path, '['))
		return "val";		/* one key of a list: anything */
	dot = strrchr(path, '.');
	return dot ? dot + 1 : path;
}

/* What a host offers is often called by it. */
static bool is_pci(const char *s)
{
	char pci[VS_PCI_LEN];

	return !vs_pci_parse(s, pci, NULL);
}

/* A small number, true or false, a date, a hardware version. */
static bool is_harmless(const char *s)
{
	size_t digits = strspn(s, "0123456789.-");

	if (!*s || !strcasecmp(s, "true") || !strcasecmp(s, "false"))
		return true;
	if (!s[digits] && digits <= 6)
		return true;
	if (digits == 10 && s[4] == '-' && s[10] == 'T')
		return !s[strspn(s, "0123456789:.-+TZ")];
	return !strncmp(s, "vmx-", 4) &&
		!s[4 + strspn(s + 4, "0123456789")];
}

/* What a task is called by: CloneVM_Task. */
static bool is_method(const char *s)
{
	size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz"
			     "ABCDEFGHIJKLMNOPQRSTUVWXYZ");

	return n && !strcmp(s + n, "_Task");
}

/* Paths of properties, versions, methods, slurm-vsphere's own keys. No name is
 * searched for in them, because a site may have a VM of the name "config". */
static bool is_vocabulary(const char *type, const char *member, const char *s)
{
	static const struct { const char *type, *member; } list[] = {
		{ "DynamicProperty", "name" }, { "PropertyChange", "name" },
		{ "MissingProperty", "path" }, { "PropertySpec", "pathSet" },
		{ "PropertySpec", "type" }, { "TraversalSpec", "path" },
		{ "TraversalSpec", "type" }, { "TraversalSpec", "name" },
		{ "SelectionSpec", "name" }, { "AboutInfo", "name" },
		{ "AboutInfo", "fullName" }, { "AboutInfo", "vendor" },
		{ "ManagedObjectReference", "type" },
		{ "HostPciDevice", "deviceName" }, { "Description", "label" },
	};
	size_t n = strlen(member);

	for (size_t i = 0; i < VS_COUNT(list); i++)
		if (!strcmp(list[i].type, type) &&
		    !strcmp(list[i].member, member))
			return true;
	if (!strcmp(type, "OptionValue") && !strcmp(member, "key"))
		return !strncmp(s, "slurm.", 6) ||
			!strncmp(s, "guestinfo.slurm.", 16);
	return (n >= 6 && !strcmp(member + n - 6, "ersion")) ||
		is_method(s);
}

enum fate { STAYS, SEARCHED, NAMED, REPLACED };

static enum fate fate_of(const struct vs_jpos *at, const char *s,
			 const char **member)
{
	const struct vs_jpos *m = member_at(at);
	bool value = m && !strcmp(m->key, "val");
	const char *type = m && !value ? vs_jpos_str(m, "_typeName") : "";

	*member = member_name(m);
	if (at && at->key && !strcmp(at->key, "_typeName"))
		return STAYS;
	if (!strcmp(type, "UserSession") && !strcmp(*member, "key"))
		return NAMED;
	if (is_vocabulary(type, *member, s))
		return STAYS;
	if (is_pci(s) || (!strncmp(s, "probe-", 6) && !strcmp(*member, "name")))
		return SEARCHED;
	if (is_among(people, VS_COUNT(people), *member))
		return NAMED;
	if (is_harmless(s) || (!strcmp(type, "ManagedObjectReference") &&
			       !strcmp(*member, "value")))
		return SEARCHED;
	return is_among(own_words, VS_COUNT(own_words), *member) ? SEARCHED :
		REPLACED;
}

static char *learn_one(void *arg, const struct vs_jpos *at, const char *s)
{
	struct probe *p = arg;
	const char *member;

	if (fate_of(at, s, &member) == NAMED && !address_alias(p, s))
		alias_add(p, s, strcmp(member, "key") ? member : "session");
	return NULL;
}

static char *replace_one(void *arg, const struct vs_jpos *at, const char *s)
{
	struct probe *p = arg;
	const char *member, *with;
	enum fate fate = fate_of(at, s, &member);

	if (fate == STAYS)
		return NULL;
	if ((with = names_get(&p->names, s)) || (with = address_alias(p, s)))
		return vs_strdup(with);
	if (fate == REPLACED)
		return vs_strdup(value_alias(p, s, *member ? member : "text"));
	return scrub_numbered(p, s);
}

/* ---- writing ------------------------------------------------------------- */

/* No file if the text is no JSON value. */
static bool parsed(const char *text, struct vs_jdoc *doc)
{
	struct vs_err err;

	*doc = (struct vs_jdoc) { 0 };
	while (isspace((unsigned char)*text))
		text++;
	return (*text == '{' || *text == '[' || *text == '"') &&
		!vs_jdoc_parse(doc, text, strlen(text), &err);
}

static void learn(struct probe *p, const char *text)
{
	struct vs_jdoc doc;

	if (text && parsed(text, &doc)) {
		vs_jb_each_str(doc.root, learn_one, p);
		vs_jdoc_free(&doc);
	}
}

/* Whatever --names says: a session's key and the password never stay. */
static void drop_secrets(const struct probe *p, char *text)
{
	const char *secret = p->secret ? p->secret : "";
	size_t n = strlen(secret);

	for (char *at = text; n > 3 && (at = strstr(at, secret));)
		memset(at, 'x', n);
}

static char *keys_only(void *arg, const struct vs_jpos *at, const char *s)
{
	const struct vs_jpos *m = member_at(at);

	(void)arg;
	(void)s;
	return m && !strcmp(m->key, "key") &&
		!strcmp(vs_jpos_str(m, "_typeName"), "UserSession") ?
		vs_strdup("session-1") : NULL;
}

static char *clean(struct probe *p, const char *text, bool *json)
{
	struct vs_jdoc doc;
	char *out;

	*json = parsed(text, &doc);
	if (*json) {
		vs_jb_each_str(doc.root, p->o.names ? keys_only : replace_one,
			       p);
		out = vs_jb_text_free(doc.root);
	} else {
		out = scrub_numbered(p, text);
	}
	drop_secrets(p, out);
	return out;
}

static int write_file(const struct record *r, const char *name,
		      const char *text)
{
	VS_CLOSE int fd = openat(r->dir, name, O_WRONLY | O_CREAT | O_EXCL |
				 O_NOFOLLOW | O_CLOEXEC, 0600);
	size_t len = strlen(text), done = 0;

	while (fd >= 0 && done < len) {
		ssize_t n = write(fd, text + done, len - done);

		if (n < 0 && errno != EINTR)
			return -1;
		done += n > 0 ? (size_t)n : 0;
	}
	return fd < 0 ? -1 : 0;
}

/* Text as a file: its name goes into o, null if there is none. */
static int put_file(struct probe *p, struct json_object *o, const char *key,
		    const char *text, size_t number, const char *what)
{
	VS_FREE char *name = NULL, *out = NULL;
	bool json;

	if (!text)
		return 0;
	out = clean(p, text, &json);
	name = vs_asprintf("%04zu%s.%s", number, what, json ? "json" :
			   *out == '<' ? "xml" : "txt");
	vs_jb_str(o, key, name);
	return write_file(p->record, name, out);
}

static struct json_object *headers(struct probe *p, const char *head)
{
	struct json_object *a = vs_jb_arr();
	VS_FREE char *copy = vs_strdup(head ? head : "");
	char *more, *line = strtok_r(copy, "\r\n", &more);

	for (; line; line = strtok_r(NULL, "\r\n", &more)) {
		VS_FREE char *out = scrub_numbered(p, line);

		/* of what came, not of the file: "bytes" says it */
		if (!strncasecmp(line, "Content-Length:", 15))
			continue;
		drop_secrets(p, out);
		vs_jb_add_str(a, out);
	}
	return a;
}

static void put_text(struct probe *p, struct json_object *o, const char *key,
		     const char *text)
{
	VS_FREE char *out = text ? scrub_numbered(p, text) : NULL;

	if (out)
		drop_secrets(p, out);
	vs_jb_str(o, key, out);
}

static int write_one(struct probe *p, struct exchange *e, size_t number,
		     FILE *index)
{
	struct json_object *o = vs_jb_obj(NULL);
	VS_FREE char *line = NULL, *path = NULL;
	int rc;

	vs_jb_int(o, "number", (int64_t)number);
	vs_jb_str(o, "stage", stage_name(e->stage));
	vs_jb_str(o, "question", e->question);
	vs_jb_str(o, "method", e->method);
	path = scrub_path(p, e->path);
	vs_jb_str(o, "path", path);
	vs_jb_int(o, "status", e->status);
	vs_jb_put(o, "headers", headers(p, e->head));
	rc = put_file(p, o, "file", e->text, number, "");
	rc |= put_file(p, o, "request", e->sent, number, "-request");
	vs_jb_int(o, "bytes", (int64_t)e->len);
	vs_jb_int(o, "ms", e->us / 1000);
	vs_jb_str(o, "left_out", e->left_out);
	put_text(p, o, "error", e->error);
	line = vs_jb_text_free(o);
	return fprintf(index, "%s\n", line) < 0 ? -1 : rc;
}

static FILE *index_new(const struct record *r)
{
	int fd = openat(r->dir, "index.jsonl", O_WRONLY | O_CREAT | O_EXCL |
			O_NOFOLLOW | O_CLOEXEC, 0600);

	return fd < 0 ? NULL : fdopen(fd, "w");
}

int record_write(struct probe *p)
{
	struct record *r = p->record;
	FILE *index;
	int rc = 0;

	if (!r)
		return 0;
	for (size_t i = 0; i < r->n; i++) {
		learn(p, r->list[i].text);
		learn(p, r->list[i].sent);
	}
	index = index_new(r);
	for (size_t i = 0; index && i < r->n; i++)
		rc |= write_one(p, &r->list[i], i + 1, index);
	if (!index || fclose(index) || rc) {
		fprintf(stderr, "svf-probe: --record %s can't be written\n",
			p->o.record);
		return -1;
	}
	fprintf(stderr, "svf-probe: %zu answers are in %s%s: read them before you send them (man svf-probe, RECORDING)\n",
		r->n, p->o.record, r->more ? ", later ones were too many" : "");
	return 0;
}
