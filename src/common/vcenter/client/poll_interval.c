/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decides how often vCenter is asked: as often as jobs need the answer. A
 * single change is always delivered at once, because a waiting call is open.
 * Changes in a stream are gathered for a time that the caller sets, and for less
 * while tasks of the caller are under way.
 *
 * This file sends nothing; it only says when to send.
 */
#include "vcenter/client/client_i.h"

#define STREAM_MS 1000
/* The next call for a VM waits for the end of the one before. */
#define TASKS_GATHER_MS 50

static const struct { int gather_ms, beat_ms; } table[VS_VC_POLLS] = {
	[VS_VC_POLL_HIGH] = { 200, 15000 },
	[VS_VC_POLL_LOW] = { 5000, 15000 },
	[VS_VC_POLL_LOWEST] = { 10000, 30000 },
};

/* A wait that ends within a second of the one before is a stream of changes, or
 * is of a vCenter, or a proxy, that does not wait: then it must not be asked
 * again at once either. */
int vs_vcx_gather_ms(const struct vs_vc *vc, bool news)
{
	bool stream = vc->now - vc->watch.told_at < STREAM_MS;
	int ms = table[vc->calm].gather_ms;

	if (vc->calm == VS_VC_POLL_HIGH) {
		news = false;
		if (vc->tasks.by_task)
			ms = TASKS_GATHER_MS;
	}
	return news || stream ? ms : 0;
}

int vs_vcx_poll_ms(const struct vs_vc *vc)
{
	return table[vc->calm].beat_ms;
}

void vs_vc_poll_set(struct vs_vc *vc, enum vs_vc_poll calm)
{
	enum vs_vc_poll was = vc->calm;

	vc->calm = calm;
	if (calm >= was)
		return;
	/* As if it had been so when they were set. */
	if (vc->watch.gathers)
		vc->watch.poll_at = vc->watch.told_at + table[calm].gather_ms;
	vc->slow_at -= table[was].beat_ms - table[calm].beat_ms;
}
