/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long clones, power-ons and boots take here: durations.c. Included by core_i.h,
 * of which it is a part; the lock is held.
 */
#ifndef VS_ENGINE_DURATIONS_H
#define VS_ENGINE_DURATIONS_H

#define VS_DURATION_BOOT VS_OPS		/* from on to registered */
#define VS_DURATION_CLONE_SOURCE (VS_OPS + 1) /* a parent, until clones are made of it */
#define VS_DURATIONS (VS_DURATION_CLONE_SOURCE + 1)

struct vs_durations {
	char template_moid[VS_MOID_LEN], name[VS_LABEL_LEN];
	uint32_t known;			/* a bit for each of ms[] */
	int64_t ms[VS_DURATIONS];	/* by enum vs_op_type, VS_DURATION_ */
	UT_hash_handle hh;
};

/* One more was measured, of an enum vs_op_type or VS_DURATION_. */
void vs_duration_note(const struct vs_profile *p, int what,
		      int64_t ms);
/* The moving mean; -1: none was measured for this template. */
int64_t vs_duration_ms(const struct vs_profile *p,
		       int what);
void vs_paces_clear(void);
void vs_report_paces(struct json_object *top);

#endif
