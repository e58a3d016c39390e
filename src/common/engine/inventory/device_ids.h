/* SPDX-License-Identifier: GPL-2.0-or-later */
/* device_ids.c: what hosts offer by its address. The lock is held. */
#ifndef VS_ENGINE_DEVICE_IDS_H
#define VS_ENGINE_DEVICE_IDS_H

#include <stddef.h>
#include <stdint.h>
#include "util/err.h"

struct vs_core;
struct vs_host;
struct vs_vc_option;
struct vs_vc_targets;

/* The systemId that a spec must say of this device of the host, good until the
 * next update of it. NULL with err VS_OK: vCenter is being asked, and the nodes
 * that have a hold there are looked at when it has said so; else why not. */
const char *vs_offer_system(struct vs_core *c, struct vs_host *h,
			    const char *pci, int64_t now_ms,
			    struct vs_err *err);
/*
 * What the parameters of its DVX classes must be, good as long. Returns 0, with
 * *n 0 where the host doesn't say it. Returns -1 as above: err VS_OK while vCenter
 * is being asked, else it is to be asked again (VS_E_RETRY).
 */
int vs_offer_options(struct vs_core *c, struct vs_host *h, int64_t now_ms,
		     const struct vs_vc_option **to, size_t *n,
		     struct vs_err *err);
/* It may be another now: ask anew. */
void vs_offer_forget(struct vs_host *h);
/* The client is down: no answer comes. */
void vs_offers_down(struct vs_core *c);
/* vCenter's answer; err is NULL on success. */
void vs_offer_answered(struct vs_core *c, uint64_t id,
		       const struct vs_vc_targets *t, const struct vs_err *err);

#endif
