/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The objects that the configuration names, as far as their properties are read
 * here: clusters and templates. Which VM or cluster a name stands for, the client
 * finds out.
 */
#ifndef VS_VCENTER_DECODE_OBJECTS_H
#define VS_VCENTER_DECODE_OBJECTS_H

#include "util/json.h"
#include "vcenter/decode/inventory.h"
#include "vcenter/decode/records.h"

/* ---- properties (property.c) ----------------------------------------------- */
/* The value of path among DynamicProperty's, or a null cursor. */
struct vs_j vs_vcx_prop(struct vs_j prop_set, const char *path);
/* Does an object's name in vCenter stand for what people wrote? */
bool vs_vcx_same_name(const char *actual, const char *wanted);

/* ---- clusters (cluster.c) ------------------------------------------------ */
struct vcx_cluster {
	char *name, *pool, *moid, *pool_moid;
	char *browser;		/* its environment browser, see config_target.c */
	struct vcx_effective effective;	/* see host_capacity.c */
	bool read, pool_seen, dpm, moves;
	enum vs_vc_auto drs, ha;
	struct vs_vc_override *overrides;
	size_t noverrides, capoverrides;
};

void vs_vcx_cluster_set(struct vcx_cluster *c, struct vs_j configuration_ex);
void vs_vcx_cluster_forget(struct vcx_cluster *c);	/* all is unknown */
struct vs_vc_cluster vs_vcx_cluster_view(const struct vcx_cluster *c);

/* ---- templates (template.c) ----------------------------------------------- */
struct vcx_template {
	char *name, *moid, *change_version, *host;	/* moid "": not found */
	char *missing;		/* why it can't be cloned, or NULL */
	bool is_template;
	bool tpm, encrypted;
	enum vs_vc_template_fault lack;		/* beside missing */
	bool seen;		/* in this slow beat */
	bool stale;		/* has to be read (again) */
	bool changed;		/* to be told */
	int hw;
	int64_t disk_mb;
	char *guest;
	int passthrough;
	bool bios;
	enum vs_vc_auto snapshot, hot_add, tools, secure_boot;
	enum vs_vc_auto link;		/* as in vs_vc_template */
	int cores_per_socket;		/* as in vs_vc_template */
	struct json_object *nic;	/* vs_spec_nic() of its first NIC */
	int *disks;			/* keys of its virtual disks */
	size_t ndisks;
	struct vs_vc_ref *nets;		/* of its own NICs */
	size_t nnets;
};

/* Its name was this one in the slow beat. */
bool vs_vcx_template_named(const struct vcx_template *t, const char *name);
void vs_vcx_template_set(struct vcx_template *t, struct vs_j props);
void vs_vcx_template_forget(struct vcx_template *t);
/* Is it on another host than was read, or its link another? */
bool vs_vcx_template_moved(const struct vcx_template *t, struct vs_j props);
/* All that it owns. */
void vs_vcx_template_wipe(struct vcx_template *t);
struct vs_vc_template vs_vcx_template_view(const struct vcx_template *t);
/* For the preflight alone: its guest, what no template should have. */
void vs_vcx_template_facts(struct vcx_template *t, struct vs_j props);
extern const char *const vs_vcx_template_paths[];

#endif
