/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the metrics are served, kept as vsphere.conf says for as long as this
 * slurmctld is in control. A port that another process has is tried again every
 * second: after a failover or a new process it is the one before us, and no page is
 * no reason to stop anything.
 */
#include <stdlib.h>
#include <string.h>
#include "engine/metrics/metrics.h"
#include "engine/metrics/metrics_i.h"
#include "engine/state/state.h"
#include "util/ipv4.h"
#include "util/mem.h"

#define LOOK_MS 1000

int vs_metrics_page(bool openmetrics, struct vs_buf *out, struct vs_err *err)
{
	struct vs_metrics_facts f;
	int rc;

	vs_lock();
	rc = vs_metrics_read(&vs_core, &f, err);
	vs_unlock();
	if (!rc)
		rc = vs_metrics_text(&f, openmetrics, out, err);
	vs_metrics_facts_free(&f);
	return rc;
}

static void tell(const char *at, const char *why)
{
	bool news;

	vs_lock();
	news = vs_metrics_place_set(at, why);
	vs_unlock();
	if (news && *why)
		vs_error("metrics are not served: %s", why);
	else if (news && *at)
		vs_info("metrics are served at %s", at);
}

void vs_metrics_keep(struct vs_core *c, struct vs_metrics_place *p,
		     int64_t now_ms)
{
	VS_FREE char *addr = NULL, *at = NULL;
	struct vs_err err = { 0 };
	bool v6;
	int port;

	if (now_ms - p->looked_ms < LOOK_MS)
		return;
	p->looked_ms = now_ms;
	vs_lock();
	addr = vs_strdup(c->conf->metrics.addr);
	port = c->conf->metrics.port;
	vs_unlock();
	if (!port) {
		vs_metrics_end(p);
		return;
	}
	v6 = strchr(addr, ':') != NULL;
	at = vs_asprintf("http://%s%s%s:%d/metrics", v6 ? "[" : "", addr,
			 v6 ? "]" : "", port);
	if (p->at && !strcmp(p->at, at))
		return;
	if (!vs_metrics_start(addr, port, NULL, &err)) {
		vs_str_replace(&p->at, at);
		tell(at, "");
		if (!vs_addr_is_loopback(addr))
			vs_error("MetricsAddr=%s is not loopback: anyone who reaches it reads the names of ESXi hosts and adapters and all counts, without a password",
				 addr);
	} else {
		vs_str_replace(&p->at, NULL);
		tell("", err.text);
	}
}

void vs_metrics_end(struct vs_metrics_place *p)
{
	vs_metrics_stop();
	vs_str_replace(&p->at, NULL);
	tell("", "");
}
