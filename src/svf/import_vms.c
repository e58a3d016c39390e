/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a cluster file of vHPC-toolkit says of VMs: in [_VMS_] a line per VM or
 * range of VMs, whose words are sections (put in their place) or KEY:VALUE; of
 * a key that stands twice the last counts, but for those that the toolkit
 * appends: they are one more card, or one more script.
 *
 * Rules: lists are read, not run; what the toolkit would stumble over is an
 * error with its place.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "import_i.h"
#include "util/mem.h"

enum kind { TEXT, INT, FLOAT, BOOL, LIST };
static const struct { const char *name; enum kind kind; } keys[SVF_KEYS] = {
	[SVF_K_TEMPLATE] = { "template" }, [SVF_K_CPU] = { "cpu", INT },
	[SVF_K_MEMORY] = { "memory", FLOAT },
	[SVF_K_DATACENTER] = { "datacenter" },
	[SVF_K_VM_FOLDER] = { "vm_folder" }, [SVF_K_CLUSTER] = { "cluster" },
	[SVF_K_RESOURCE_POOL] = { "resource_pool" },
	[SVF_K_DATASTORE] = { "datastore" },
	[SVF_K_SRIOV] = { "sriov_port_group" },
	[SVF_K_PVRDMA] = { "pvrdma_port_group" },
	[SVF_K_PORT_GROUP] = { "port_group" }, [SVF_K_PF] = { "pf" },
	[SVF_K_LATENCY] = { "latency" }, [SVF_K_HOST] = { "host" },
	[SVF_K_CPU_RESERVATION] = { "cpu_reservation", BOOL },
	[SVF_K_MEMORY_RESERVATION] = { "memory_reservation", BOOL },
	[SVF_K_LINKED] = { "linked", BOOL }, [SVF_K_INSTANT] = { "instant", BOOL },
	[SVF_K_POWER] = { "power" }, [SVF_K_DEVICE] = { "device", LIST },
	[SVF_K_VGPU] = { "vgpu" }, [SVF_K_MMIO] = { "mmio_size", INT },
	[SVF_K_CPU_SHARES] = { "cpu_shares", INT },
	[SVF_K_MEMORY_SHARES] = { "memory_shares", INT },
	[SVF_K_ADAPTER_NUMBER] = { "adapter_number" },
	[SVF_K_DVS_NAME] = { "dvs_name" }, [SVF_K_DHCP] = { "is_dhcp", BOOL },
	[SVF_K_IP] = { "ip" }, [SVF_K_NETMASK] = { "netmask" },
	[SVF_K_GATEWAY] = { "gateway" }, [SVF_K_DNS] = { "dns", LIST },
	[SVF_K_DOMAIN] = { "domain" }, [SVF_K_HOSTNAME] = { "guest_hostname" },
	[SVF_K_USERNAME] = { "guest_username" },
	[SVF_K_PASSWORD] = { "guest_password" }, [SVF_K_SCRIPT] = { "script" },
	[SVF_K_BARRIER] = { "barrier", INT },
	[SVF_K_SEQUENCE] = { "sequence", INT },
	[SVF_K_CORES] = { "cores_per_socket", INT },
	[SVF_K_SECURE_BOOT] = { "secure_boot", BOOL },
	[SVF_K_GUEST_MTU] = { "allow_guest_mtu_change", BOOL },
	[SVF_K_SRIOV_DVS] = { "sriov_dvs_name" },
	[SVF_K_SVS_NAME] = { "svs_name" }, [SVF_K_NAME] = { "name" },
	[SVF_K_PNIC] = { "pnic", LIST }, [SVF_K_MTU] = { "mtu", INT },
};

const char *svf_key_name(enum svf_key k)
{
	return keys[k].name;
}

/* ---- several in one -------------------------------------------------------------- */

size_t svf_lines(const char *v)
{
	size_t n = v != NULL;

	for (; v && *v; v++)
		n += *v == '\n';
	return n;
}

char *svf_line(const char *v, size_t i)
{
	while (v && i--) {
		v = strchr(v, '\n');
		v += v != NULL;
	}
	return v ? vs_asprintf("%.*s", (int)strcspn(v, "\n"), v) : NULL;
}

char *svf_commas(const char *v)
{
	char *out = vs_strdup(v ? v : "");

	for (char *p = out; *p; p++)
		if (*p == '\n')
			*p = ',';
	return out;
}

/* ---- variables ------------------------------------------------------------------- */

/* How long the ${...} is that begins here; 0: none does. */
static size_t variable_len(const char *s)
{
	const char *end = s[0] == '$' && s[1] == '{' ? strchr(s, '}') : NULL;

	return end && !isdigit((unsigned char)s[2]) ?
		(size_t)(end - s) + 1 : 0;
}

bool svf_variable(const char *s)
{
	for (; *s; s++)
		if (variable_len(s))
			return true;
	return false;
}

char *svf_filled(const char *s)
{
	char *out = vs_strdup("");

	while (*s) {
		size_t len = variable_len(s);
		char *more = vs_asprintf(len ? "%sCHANGE-ME" : "%s%c", out, *s);

		free(out);
		out = more;
		s += len ? len : 1;
	}
	return out;
}

/* The first brace that is none of a variable. */
static const char *brace(const char *s)
{
	while (*s && *s != '{' && *s != '}') {
		size_t len = variable_len(s);

		s += len ? len : 1;
	}
	return *s ? s : NULL;
}

/* ---- ranges ---------------------------------------------------------------------- */

/* Where "{x:y}" begins, how long it is, and its bounds; false: no such. */
static bool range_parse(const char *s, size_t *at, size_t *len, long *x,
			long *y, bool *doubled)
{
	const char *open = brace(s), *p;
	char *end;

	if (!open || *open != '{')
		return false;
	*doubled = open[1] == '{';
	p = open + 1 + *doubled;
	if (!isdigit((unsigned char)*p))
		return false;
	*x = strtol(p, &end, 10);
	if (*end != ':' || !isdigit((unsigned char)end[1]))
		return false;
	*y = strtol(end + 1, &end, 10);
	if (*end != '}' || (*doubled && end[1] != '}'))
		return false;
	end += 1 + *doubled;
	*at = (size_t)(open - s);
	*len = (size_t)(end - open);
	return !brace(end) && *y >= *x && *x >= 0 &&
		*y - *x < SVF_IMPORT_VMS_MAX && *y < 1000000000;
}

int svf_range(const char *s, bool *doubled)
{
	size_t at, len;
	long x, y;

	*doubled = false;
	if (!brace(s))
		return 0;
	return range_parse(s, &at, &len, &x, &y, doubled) ?
		(int)(y - x + 1) : -1;
}

char *svf_range_at(const char *s, int i)
{
	size_t at, len;
	bool doubled;
	long x, y;

	if (!range_parse(s, &at, &len, &x, &y, &doubled))
		return vs_strdup(s);
	return vs_asprintf("%.*s%ld%s", (int)at, s, x + i, s + at + len);
}

/* ---- values ---------------------------------------------------------------------- */

/* ['a', "b"]; -1: something else. */
static int list_check(const char *s)
{
	if (*s++ != '[')
		return -1;
	s += strspn(s, " ");
	while (*s != ']') {
		char quote = *s;
		const char *end = quote == '\'' || quote == '"' ?
			strchr(s + 1, quote) : NULL;

		if (!end || memchr(s, '\\', (size_t)(end - s)))
			return -1;
		s = end + 1;
		s += strspn(s, " ");
		if (*s == ',')
			s++;
		else if (*s != ']')
			return -1;
		s += strspn(s, " ");
	}
	return s[1] ? -1 : 0;
}

static bool is_bool(const char *s)
{
	static const char *const words[] = { "y", "yes", "t", "true", "on", "1",
		"n", "no", "f", "false", "off", "0" };

	for (size_t i = 0; i < VS_COUNT(words); i++)
		if (!strcasecmp(s, words[i]))
			return true;
	return false;
}

static int value_check(enum kind kind, const char *s, struct svf_pos at,
		       struct vs_err *err)
{
	char *end = NULL;

	if (svf_variable(s))
		return 0;
	if (kind == INT && (!isdigit((unsigned char)*s) ||
			    strtol(s, &end, 10) > 100000000 || *end))
		return svf_bad(err, at, "a number is expected, not %.60s", s);
	if (kind == FLOAT && (!isdigit((unsigned char)*s) ||
			      strspn(s, "0123456789.") != strlen(s) ||
			      !(strtod(s, &end) <= 1e6) || *end))
		return svf_bad(err, at, "an amount is expected, not %.60s", s);
	if (kind == BOOL && !is_bool(s))
		return svf_bad(err, at, "yes or no is expected, not %.60s", s);
	if (kind == LIST && *s == '[' && list_check(s))
		return svf_bad(err, at, "a list ['a', 'b'] is expected, not %.60s",
			   s);
	return 0;
}

static int key_find(const char *name, bool of_switch)
{
	for (int k = 0; k < SVF_KEYS; k++) {
		bool both = k == SVF_K_PORT_GROUP || k == SVF_K_HOST ||
			k == SVF_K_DATACENTER;

		if (!strcmp(keys[k].name, name) &&
		    (both || (k >= SVF_K_NAME) == of_switch))
			return k;
	}
	return -1;
}

static bool appended(int k)
{
	return k == SVF_K_SCRIPT || k == SVF_K_SEQUENCE || k == SVF_K_PF ||
		k == SVF_K_SRIOV || k == SVF_K_SRIOV_DVS;
}

static int value_set(struct svf_imported *vm, const char *key,
		     const char *value, struct svf_pos key_at,
		     struct svf_pos at, bool of_switch, struct vs_err *err)
{
	int k = key_find(key, of_switch);
	char *had;

	if (k < 0)
		return svf_bad(err, key_at, "there is no key %.60s%s", key,
			   of_switch ? " of a switch" : "");
	if (!*value)
		return 0;		/* as if it weren't there */
	if (value_check(keys[k].kind, value, at, err))
		return -1;
	had = vm->values[k];
	vm->values[k] = appended(k) && had ?
		vs_asprintf("%s\n%s", had, value) : vs_strdup(value);
	vm->at[k] = at;
	free(had);
	return 0;
}

/* ---- VMs ------------------------------------------------------------------------- */

static void vm_free(struct svf_imported *vm)
{
	for (int k = 0; k < SVF_KEYS; k++)
		free(vm->values[k]);
	free(vm->name);
}

/* Blanks around : and , go, so that words are what is between blanks. */
static void squeeze(const struct text *from, struct text *to)
{
	for (size_t i = 0; i < from->len; i++) {
		size_t k = i + strspn(from->s + i, " ");
		bool glued = from->s[k] == ':' || from->s[k] == ',';

		if (from->s[i] == ' ' && (glued || !to->len ||
					  strchr(":, ", to->s[to->len - 1])))
			continue;
		svf_text_add(to, from->s[i], from->at[i]);
	}
}

/* at: of each of its characters. */
static int word_take(struct file *f, struct svf_imported *vm, char *word,
		     const struct svf_pos *at, bool of_switch)
{
	struct section *s = svf_section_named(f, word);
	char *colon = strchr(word, ':');

	for (size_t i = 0; s && i < s->nitems; i++) {
		struct item *it = &s->items[i];

		if (value_set(vm, it->key, it->value.s, it->at,
			      it->value.at[0], of_switch, f->err))
			return -1;
	}
	if (s)
		return 0;
	if (!colon)
		return svf_bad(f->err, at[0], "%.60s is neither a section nor KEY:VALUE",
			   word);
	*colon = '\0';
	return value_set(vm, word, colon + 1, at[0], at[colon + 1 - word],
			 of_switch, f->err);
}

static int words_take(struct file *f, struct svf_imported *vm,
		      const struct item *it, bool of_switch)
{
	struct text words = { 0 };
	int rc = 0;

	squeeze(&it->value, &words);
	for (size_t i = 0; i < words.len && !rc; ) {
		size_t len = strcspn(words.s + i, " ");
		VS_FREE char *word = vs_asprintf("%.*s", (int)len, words.s + i);

		if (len)
			rc = word_take(f, vm, word, &words.at[i],
				       of_switch);
		i += len + 1;
	}
	svf_text_free(&words);
	return rc;
}

/* Its values of this VM: ranges go round, or (doubled) bunch by bunch. */
static int unfold(const struct svf_imported *all, int i, int n,
		  struct svf_imported *vm, struct vs_err *err)
{
	static const enum svf_key ranged[] = { SVF_K_HOST, SVF_K_DATASTORE,
		SVF_K_HOSTNAME, SVF_K_IP };

	for (size_t r = 0; r < VS_COUNT(ranged); r++) {
		enum svf_key k = ranged[r];
		const char *s = all->values[k];
		bool doubled;
		int m = s ? svf_range(s, &doubled) : 0;

		if (!m)
			continue;
		if (m < 0 || n == 1)
			return svf_bad(err, all->at[k], m < 0 ?
				   "{x:y} or {{x:y}} is expected in %.60s" :
				   "%.60s is a range, and the VM is none", s);
		if (m > n || (doubled && n % m))
			return svf_bad(err, all->at[k], m > n ?
				   "%s: %d values for %d VMs" :
				   "%s: %d values don't divide %d VMs", s, m, n);
		free(vm->values[k]);
		vm->values[k] = svf_range_at(s, doubled ? i / (n / m) : i % m);
	}
	return 0;
}

static int vms_add(struct svf_cluster *im, const struct item *it,
		   const struct svf_imported *all, struct vs_err *err)
{
	bool doubled;
	int n = svf_range(it->key, &doubled), rc = 0;

	if (n < 0 || doubled || it->key[0] == '{')
		return svf_bad(err, it->at, "NAME{x:y} is expected, not %.60s",
			   it->key);
	n = n ? n : 1;
	if (im->nvms + (size_t)n > SVF_IMPORT_VMS_MAX)
		return svf_bad(err, it->at, "more than %d VMs", SVF_IMPORT_VMS_MAX);
	for (int i = 0; i < n && !rc; i++) {
		struct svf_imported *vm;

		VS_GROW(im->vms, im->cap, im->nvms + 1);
		vm = &im->vms[im->nvms++];
		*vm = *all;
		vm->name = svf_range_at(it->key, i);
		for (int k = 0; k < SVF_KEYS; k++)
			vm->values[k] = all->values[k] ?
				vs_strdup(all->values[k]) : NULL;
		rc = unfold(all, i, n, vm, err);
	}
	return rc;
}

static int lines_take(struct svf_cluster *im, struct file *f, const char *name)
{
	struct section *s = svf_section_named(f, name);
	bool of_switch = strcmp(name, "_VMS_") != 0;
	int rc = 0;

	for (size_t i = 0; s && i < s->nitems && !rc; i++) {
		struct svf_imported all = { 0 };

		rc = words_take(f, &all, &s->items[i], of_switch);
		if (!rc && of_switch) {
			VS_GROW(im->switches, im->cap_switches,
				im->nswitches + 1);
			all.name = vs_strdup(s->items[i].key);
			im->switches[im->nswitches++] = all;
			all = (struct svf_imported){ 0 };
		} else if (!rc) {
			rc = vms_add(im, &s->items[i], &all, f->err);
		}
		vm_free(&all);
	}
	return rc;
}

int svf_import_parse(struct svf_cluster *im, const char *text, size_t len,
		     struct vs_err *err)
{
	struct file f = { .p = text, .end = text + len, .err = err };
	int rc;

	memset(im, 0, sizeof(*im));
	rc = svf_file_read(&f) || lines_take(im, &f, "_VMS_") ||
		lines_take(im, &f, "_SVS_") || lines_take(im, &f, "_DVS_");
	if (!rc && !im->nvms)
		rc = svf_bad(err, (struct svf_pos){ f.line + !f.line, 1 },
			 "there is no VM: [_VMS_] with NAME: WORDS is expected");
	svf_file_free(&f);
	return rc ? -1 : 0;
}

void svf_import_free(struct svf_cluster *im)
{
	for (size_t i = 0; i < im->nvms; i++)
		vm_free(&im->vms[i]);
	for (size_t i = 0; i < im->nswitches; i++)
		vm_free(&im->switches[i]);
	free(im->vms);
	free(im->switches);
}
