/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What an AdapterName= line may say, by the table of plan/devices/adapter_type: no
 * type is named here. Reads values that have been checked by their rows.
 */
#include <string.h>
#include <strings.h>
#include "plan/devices/adapter_type.h"
#include "plan/devices/vgpu_name.h"
#include "util/mem.h"
#include "conf_i.h"

/* "sriov", "sriov or vgpu": those for which `has` is true. */
static char *types_that(bool (*has)(const struct vs_adapter_type_info *k))
{
	char *out = NULL;

	for (int i = 0; i < VS_ADAPTER_TYPES; i++) {
		const struct vs_adapter_type_info *k = &vs_adapter_kinds[i];
		VS_FREE char *had = out;

		out = !has(k) || !k->offered ? vs_strdup(had ? had : "") :
			vs_asprintf("%s%s%s", had ? had : "",
				    had && *had ? " or " : "", k->name);
	}
	return out;
}

static bool has_pfs(const struct vs_adapter_type_info *k)
{
	return k->takes_vf && k->network;
}

static bool has_infiniband(const struct vs_adapter_type_info *k)
{
	return k->infiniband;
}

static bool has_network(const struct vs_adapter_type_info *k)
{
	return k->network;
}

static bool is_device(const struct vs_adapter_type_info *k)
{
	return !k->network;
}

static bool is_fixed(const struct vs_adapter_type_info *k)
{
	return k->fixed;
}

static bool by_ids(const struct vs_adapter_type_info *k)
{
	return !k->network && !k->by_class && !k->by_profile;
}

static bool has_ids(const struct vs_adapter_type_info *k)
{
	return by_ids(k) || k->by_class;
}

static bool by_class(const struct vs_adapter_type_info *k)
{
	return k->by_class;
}

static bool by_profile(const struct vs_adapter_type_info *k)
{
	return k->by_profile;
}

/* The key goes with some types alone, and is given with another. */
static int misplaced(const struct vs_conf_adapter *a,
		     const struct vs_conf_file *f,
		     const struct vs_conf_record *r, const char *key,
		     const char *words,
		     bool (*has)(const struct vs_adapter_type_info *k),
		     struct vs_err *err)
{
	VS_FREE char *types = types_that(has);

	return vs_conf_err(f, vs_conf_key_line(r, key), err,
		"%s is allowed with Type=%s, not with Type=%s", words, types,
		a->type);
}

/* Keys that hang on what the type is. */
static const struct vs_conf_type_key {
	const char *key;
	bool (*has)(const struct vs_adapter_type_info *k);
	bool (*needs)(const struct vs_adapter_type_info *k);	/* or NULL */
} of_types[] = {
	{ "Network", has_network, has_network },
	{ "MTU", has_network, NULL },
	{ "AdapterAddresses", has_network, NULL },
	{ "PF", has_pfs, NULL },
	{ "DistinctPFs", has_pfs, NULL },
	{ "Vendor", has_ids, by_ids },
	{ "Device", has_ids, by_ids },
	{ "HardwareLabel", by_ids, NULL },
	{ "Address", is_fixed, NULL },
	{ "DeviceClass", by_class, by_class },
	{ "Parameters", by_class, NULL },
	{ "Instances", by_class, NULL },
	{ "Profile", by_profile, by_profile },
	{ "PerGPU", by_profile, NULL },
	{ "MMIOSizeGB", is_device, NULL },
};

static int check_keys(const struct vs_conf_adapter *a,
		      const struct vs_adapter_type_info *k,
		      const struct vs_conf_file *f,
		      const struct vs_conf_record *r, struct vs_err *err)
{
	for (size_t i = 0; i < VS_COUNT(of_types); i++) {
		const struct vs_conf_type_key *o = &of_types[i];
		int at = vs_conf_key_find(o->key, strlen(o->key),
					  1u << VS_SCOPE_ADAPTER);
		VS_FREE char *words = vs_asprintf("%s=", o->key);

		if (r->values[at] && !o->has(k))
			return misplaced(a, f, r, o->key, words, o->has, err);
		if (!r->values[at] && o->needs && o->needs(k))
			return vs_conf_err(f, r->line, err,
				"%s= is missing in this AdapterName= line, of Type=%s",
				o->key, k->name);
	}
	return 0;
}

/* "key=value,key=value" */
static bool params_valid(const char *s)
{
	while (*s) {
		size_t len = strcspn(s, ","), eq = strcspn(s, "=,");

		if (!eq || eq >= len || (s[len] && !s[len + 1]))
			return false;
		s += len + !!s[len];
	}
	return true;
}

static int check_class(const struct vs_conf_adapter *a,
		       const struct vs_conf_file *f,
		       const struct vs_conf_record *r, struct vs_err *err)
{
	if (strlen(a->device_class) >= VS_DEVICE_LABEL)
		return vs_conf_err(f, vs_conf_key_line(r, "DeviceClass"), err,
			"DeviceClass= is longer than %d characters",
			VS_DEVICE_LABEL - 1);
	if (a->parameters && (strlen(a->parameters) >= VS_DEVICE_PARAMS ||
			      !params_valid(a->parameters)))
		return vs_conf_err(f, vs_conf_key_line(r, "Parameters"), err,
			"Parameters=%.80s: expected \"key=value,key=value\", of %d characters at most",
			a->parameters, VS_DEVICE_PARAMS - 1);
	if (!a->vendor != !a->device)
		return vs_conf_err(f, r->line, err,
			"Vendor= and Device= must be set together");
	if (!a->instances && !a->vendor)
		return vs_conf_err(f, r->line, err,
			"Instances= is missing in this AdapterName= line, of Type=%s: how many devices of the class does a host give? Or Vendor= and Device= of the functions it is made of",
			a->type);
	return 0;
}

static int check_named(const struct vs_conf_adapter *a,
		       const struct vs_adapter_type_info *k,
		       const struct vs_conf_file *f,
		       const struct vs_conf_record *r, struct vs_err *err)
{
	struct vs_vgpu v;

	if (k->by_class)
		return check_class(a, f, r, err);
	if (!k->by_profile || vs_vgpu_parse(a->profile, &v))
		return 0;
	return vs_conf_err(f, vs_conf_key_line(r, "Profile"), err,
		"Profile=%.80s: expected a vGPU profile's name as the host has it, such as nvidia_a100-4c (4 GB of an A100) or nvidia_a100-1-5c",
		a->profile);
}

int vs_conf_adapter_check(const struct vs_conf_adapter *a,
			  const struct vs_conf_file *f,
			  const struct vs_conf_record *r, struct vs_err *err)
{
	const struct vs_adapter_type_info *k;
	enum vs_adapter_type type;
	struct vs_err why = { 0 };

	if (vs_adapter_type_parse(a->type, &type, &why))
		return vs_conf_err(f, vs_conf_key_line(r, "Type"), err,
				   "Type=: %s", why.text);
	k = &vs_adapter_kinds[type];
	if (check_keys(a, k, f, r, err))
		return -1;
	if (a->label && strlen(a->label) >= VS_DEVICE_LABEL)
		return vs_conf_err(f, vs_conf_key_line(r, "HardwareLabel"), err,
			"HardwareLabel= is longer than %d characters",
			VS_DEVICE_LABEL - 1);
	if (a->address && vs_address_check(a->address, &why))
		return vs_conf_err(f, vs_conf_key_line(r, "Address"), err,
				   "Address=: %s", why.text);
	if (check_named(a, k, f, r, err))
		return -1;
	if (a->pf && a->per_node > 1 && strcmp(a->distinct_pfs, "no"))
		return vs_conf_err(f, vs_conf_key_line(r, "PF"), err,
			"PF= is one PF, and NICsPerNode=%d takes VFs of as many: "
			"leave PF= out, or set DistinctPFs=no", a->per_node);
	if (!strcmp(a->link_layer, "InfiniBand") && !has_infiniband(k))
		return misplaced(a, f, r, "LinkLayer", "LinkLayer=InfiniBand",
				 has_infiniband, err);
	return 0;
}

static const struct vs_adapter_type_info *kind_of(
	const struct vs_conf_adapter *a)
{
	enum vs_adapter_type type = VS_ADAPTER_VMXNET3;

	vs_adapter_type_parse(a->type, &type, NULL);
	return &vs_adapter_kinds[type];
}

static bool same_text(const char *a, const char *b)
{
	return a && b && !strcmp(a, b);
}

static bool same_devices(const struct vs_conf_adapter *a,
			 const struct vs_conf_adapter *b)
{
	if (same_text(a->device_class, b->device_class) ||
	    same_text(a->profile, b->profile))
		return true;
	if (a->device_class || b->device_class)
		return false;
	return a->vendor && a->vendor == b->vendor && a->device == b->device;
}

static int check_with(const struct vs_conf *conf,
		      const struct vs_conf_adapter *a,
		      const struct vs_conf_file *f, int line,
		      struct vs_err *err)
{
	const struct vs_conf_adapter *w = vs_conf_adapter_named(conf, a->with);

	if (!w || !is_device(kind_of(w)) || w->with)
		return vs_conf_err(f, line, err,
			"ExtraDevice=%.63s: expected the name of an AdapterName= line of devices that has no ExtraDevice= of its own",
			a->with);
	if (w == a || same_devices(a, w))
		return vs_conf_err(f, line, err,
			"ExtraDevice=%s are the devices of AdapterName=%s itself: set NICsPerNode=",
			a->with, a->name);
	if (a->profile && w->profile)
		return vs_conf_err(f, line, err,
			"ExtraDevice=%s: a VM has vGPUs of one profile: set NICsPerNode=",
			a->with);
	if (a->per_node + w->per_node > VS_NICS_MAX)
		return vs_conf_err(f, line, err,
			"AdapterName=%s has NICsPerNode=%d, and %d of ExtraDevice=%s: a VM has %d at most",
			a->name, a->per_node, w->per_node, w->name,
			VS_NICS_MAX);
	return 0;
}

/*
 * Who gets which of the same devices must be told from what the lines say. Where
 * one takes them by address and another whichever ESXi gives, no device could be
 * promised to the first.
 */
static int check_both(const struct vs_conf_adapter *a,
		      const struct vs_conf_adapter *b,
		      const struct vs_conf_file *f, int line,
		      struct vs_err *err)
{
	const char *words = NULL;

	if (!a->device_class != !b->device_class && a->vendor &&
	    a->vendor == b->vendor && a->device == b->device)
		return vs_conf_err(f, line, err,
			"AdapterName=%s and AdapterName=%s have the same Vendor= and Device=, and only one has DeviceClass=: each device would be reserved twice; give that one Instances= instead, or leave one line out",
			a->name, b->name);
	if (!same_devices(a, b))
		return 0;
	if (kind_of(a)->fixed != kind_of(b)->fixed &&
	    (!a->label || !b->label || !strcmp(a->label, b->label)))
		return vs_conf_err(f, line, err,
			"AdapterName=%s is Type=%s and AdapterName=%s is Type=%s, of the same Vendor= and Device=: ESXi may assign a device of one to the other; give each a HardwareLabel= of its own, or both one Type=",
			a->name, a->type, b->name, b->type);
	if (a->profile && a->per_gpu != b->per_gpu)
		words = "Profile=, and not the same PerGPU=: give both the same";
	else if (a->device_class && (a->instances != b->instances ||
				     a->vendor != b->vendor ||
				     a->device != b->device))
		words = "DeviceClass=, and not the same Instances=, Vendor= and Device=: give both the same";
	else if (!kind_of(a)->fixed && !a->label != !b->label)
		words = "Vendor= and Device=, and one of them a HardwareLabel=: give both one, or none";
	if (words)
		return vs_conf_err(f, line, err,
			"AdapterName=%s and AdapterName=%s have the same %s",
			a->name, b->name, words);
	return 0;
}

static bool allows_instant(const struct vs_conf_adapter *a)
{
	return vs_adapter_can((enum vs_adapter_type)(kind_of(a) -
						     vs_adapter_kinds),
			      VS_OPERATION_INSTANT, 0);
}

int vs_conf_clone_check(const struct vs_conf *conf,
			const struct vs_conf_partition *p,
			const struct vs_conf_file *f,
			const struct vs_conf_record *r, struct vs_err *err)
{
	const struct vs_conf_adapter *a = vs_conf_adapter_named(conf,
								p->adapter);
	const struct vs_conf_adapter *with = a->with ?
		vs_conf_adapter_named(conf, a->with) : NULL;

	if (!p->clone || strcasecmp(p->clone, "instant"))
		return 0;
	if (with && !allows_instant(with))
		a = with;
	if (!allows_instant(a))
		return vs_conf_err(f, vs_conf_key_line(r, "Clone"), err,
			"Clone=instant: AdapterName=%s is of Type=%s, which allows no instant clones (svf adapters): expected linked or full",
			a->name, a->type);
	if (p->storage_policy)
		return vs_conf_err(f, vs_conf_key_line(r, "Clone"), err,
			"Clone=instant and StoragePolicy= exclude each other: vCenter takes no policy for an instant clone");
	return 0;
}

int vs_conf_adapters_check(const struct vs_conf *conf,
			   const struct vs_conf_file *f, struct vs_err *err)
{
	size_t n = 0, fixed = 0;

	for (size_t i = 0; i < f->nrecords; i++) {
		const struct vs_conf_record *r = &f->records[i];
		const struct vs_conf_adapter *a;

		if (r->scope != VS_SCOPE_ADAPTER)
			continue;
		a = &conf->adapters[n++];
		if (a->with && check_with(conf, a, f,
					  vs_conf_key_line(r, "ExtraDevice"), err))
			return -1;
		for (size_t k = 0; k + 1 < n; k++)
			if (check_both(&conf->adapters[k], a, f, r->line, err))
				return -1;
		fixed += kind_of(a)->fixed;
		if (fixed > VS_FIXED_LINES)
			return vs_conf_err(f, r->line, err,
				"AdapterName=%s: there are more than %d lines of Type=%s",
				a->name, VS_FIXED_LINES, a->type);
	}
	return 0;
}
