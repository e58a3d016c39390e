/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What reads the answers to questions, for the files of this folder and their
 * tests.
 */
#ifndef VS_VCENTER_CALLS_CALLS_I_H
#define VS_VCENTER_CALLS_CALLS_I_H

#include "util/json.h"
#include "vcenter/calls/calls.h"
#include "vcenter/client/client_i.h"

/* ---- PlaceVm (place_vm.c) ---------------------------------------------------- */
struct json_object *vs_vcx_where_spec(const struct vs_vc_where *w);
/* The moId of the host that is recommended most, or "". */
const char *vs_vcx_where_read(struct vs_j placement_result);
/* No host is recommended: sets err to VS_E_SHORTAGE, with drsFault's reason and
 * the first fault of its faultsByVm, flat or wrapped. Never fails the document. */
void vs_vcx_where_none(struct vs_j placement_result, struct vs_err *err);

/* ---- QueryConfigTarget (config_target.c) ----------------------------------------- */
/* Those that say their systemId; good while the reply is. free() it. */
struct vs_vc_target *vs_vcx_target_read(struct vs_j config_target, size_t *n);
/* The parameters of its DVX classes. The caller frees the result. */
struct vs_vc_option *vs_vcx_options_read(struct vs_j config_target, size_t *n);

#endif
