/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The two halves of vc_live: commands in (vc_live.c), events out. */
#ifndef VC_LIVE_H
#define VC_LIVE_H

#include "util/json.h"
#include "vcenter/calls/calls.h"

extern const struct vs_vc_op live_op;
extern const struct vs_vc_events live_events;

struct json_object *live_event(const char *name);
void live_say(struct json_object *o);	/* takes o */
void live_put_err(struct json_object *o, const struct vs_err *err);
/* Keep what commands need of what was resolved. */
void live_up(const struct vs_vc_found *f);
void live_template(const struct vs_vc_template *t);

#endif
