/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The metrics' server: one page for Prometheus, http://ADDR:PORT/metrics.
 */
#ifndef VS_ENGINE_METRICS_H
#define VS_ENGINE_METRICS_H

#include <stdint.h>
#include "util/err.h"

/* Listen on addr:port (0: a free one) and serve in a thread of its own; *bound is
 * the port, bound may be NULL. -1 VS_E_CONFIG, VS_E_RETRY if that can't be. */
int vs_metrics_start(const char *addr, int port, int *bound,
		     struct vs_err *err);
/* End the thread and all connections. Harmless if nothing was started. */
void vs_metrics_stop(void);

/* ---- page_cache.c: the engine's thread, no lock held ------------------ */

struct vs_core;

struct vs_metrics_place {
	char *at;		/* served as this configuration says, NULL: not */
	int64_t looked_ms;
};
/* Serves where the configuration says, once another process has left the
 * port. */
void vs_metrics_keep(struct vs_core *c, struct vs_metrics_place *p,
		     int64_t now_ms);
void vs_metrics_end(struct vs_metrics_place *p);

#endif
