/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Request bodies, as JSON. Pure: what goes in is all that comes out. Where a
 * parameter may be NULL, the member is left out.
 */
#ifndef VS_VCENTER_SPEC_SPEC_H
#define VS_VCENTER_SPEC_SPEC_H

#include "util/json.h"
#include "vcenter/spec/vm_spec.h"

struct json_object *vs_spec_hello(const char *const *releases, size_t n);
/* The body of Login, as text: json-c would keep copies of the password that
 * can't be wiped. The caller wipes and frees it. */
char *vs_spec_login(const char *user, const char *password);
struct json_object *vs_spec_path(const char *const *names);	/* escaped */
struct json_object *vs_spec_container_view(const char *type, const char *moid,
					   const char *const *types);
struct json_object *vs_spec_list_view(struct json_object *refs_take);
struct json_object *vs_spec_modify_list(struct json_object *add_take,
					struct json_object *remove_take);
/* Pieces of a PropertyFilterSpec. */
struct json_object *vs_spec_props(const char *type, const char *const *paths);
struct json_object *vs_spec_view_members(const char *view_type,
					 const char *view);
struct json_object *vs_spec_object(const char *type, const char *moid);
struct json_object *vs_spec_filter(struct json_object *props_take,
				   struct json_object *objects_take);
struct json_object *vs_spec_create_filter(struct json_object *filter_take);
struct json_object *vs_spec_retrieve(struct json_object *filter_take);
struct json_object *vs_spec_continue(const char *token);
struct json_object *vs_spec_wait(const char *version, int wait_seconds);
/* hardware.c: CPU, memory and firmware of a VirtualMachineConfigSpec. */
void vs_spec_hw(struct json_object *config, const struct vs_vc_hw *hw);
/*
 * What an edit says of a NIC that vCenter shows, beside its address: type,
 * key and network. Port, slot and state are left out: they belong to the VM that
 * the NIC was read from. The caller frees the result.
 */
struct json_object *vs_spec_nic(struct vs_j nic);
/* nic: vs_spec_nic() of the template's first NIC (not taken), or NULL. */
struct json_object *vs_spec_clone(const struct vs_vc_clone *c,
				  struct json_object *nic);
/* The wire's types of devices that a VM has, as vCenter shows them. */
struct vs_spec_types {
	const char *mgmt;		/* of the NIC hw->mgmt_key, or NULL */
	const char *const *gone;	/* of hw->gone, one for each */
};
/*
 * A remove names the device's own type, as VMware's and other clients do; whether
 * the base type VirtualDevice is enough is not documented. types: not NULL.
 */
struct json_object *vs_spec_reconfigure(const char *change_version,
					const struct vs_vc_hw *hw,
					const struct vs_spec_types *types);
struct json_object *vs_spec_relocate(const char *host, const char *pool,
				     const char *store);
/* nic: as of a clone. */
struct json_object *vs_spec_instant(const struct vs_vc_instant *c,
				    struct json_object *nic);
struct json_object *vs_spec_snapshot(const char *name);
struct json_object *vs_spec_power_on(const char *host);
struct json_object *vs_spec_config_target(const char *host);

#endif
