/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the preflight and the checks have found. What they keep: checks_i.h.
 */
#ifndef VS_ENGINE_SITE_CHECKS_H
#define VS_ENGINE_SITE_CHECKS_H

#include "plan/checks/checks.h"
#include "vcenter/calls/calls.h"

struct vs_core;
struct json_object;

/* The findings of the last pass. The list doesn't change any more, and its
 * readers need no lock. */
struct vs_checked { struct vs_found_list l; int users; };

/* site_checks.c: in the engine's turn; lock held */
void vs_checks_update(struct vs_core *c, int64_t now_ms);
void vs_checks_template(const struct vs_vc_template *t);
void vs_checks_slow(const struct vs_vc_slow *s);
/* Jobs wait for what a hard finding speaks of: in the preflight. */
void vs_checks_block(struct vs_core *c);
/* A reading of what vCenter doesn't stream has begun. */
void vs_checks_reading(void);
/* Which reading that was, and up to which one all is judged, with the hosts of
 * that time; when vCenter told the last one, 0: never. */
uint64_t vs_checks_begun(void);
uint64_t vs_checks_judged(void);
int64_t vs_checks_read_ms(void);
/* What was found last; NULL: not checked yet. In use: vs_checked_drop() both. */
void vs_checks_found(struct vs_checked **site, struct vs_checked **hosts);
/* An operator asks that vCenter is read now. Taken: by run/loop.c. */
void vs_checks_look(void);
bool vs_checks_look_taken(void);
/* Another configuration is in force. */
void vs_checks_renew(void);
/* Of each profile. The caller's. */
int *vs_checks_nodes(const struct vs_core *c);
struct vs_check_site vs_checks_site(const struct vs_core *c, const int *nodes,
				    const char *names);
/* In the place of what was found before, and said. */
void vs_checked_set(struct vs_checked **slot, struct vs_found_list *take);
/* shared_checks.c: what hosts share; false: the pass has to restart. */
bool vs_checks_share(struct vs_core *c);
bool vs_stores_away(void);
/* To be read without the lock until it is dropped, with the lock. */
struct vs_checked *vs_checked_use(struct vs_checked *k);
void vs_checked_drop(struct vs_checked *k);
/* findings_log.c: what came and what went; lock held */
void vs_checks_publish(const struct vs_found_list *old,
		       const struct vs_found_list *now);
#endif
