/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fuzzes the state file. Whatever it contains, no host or PF is excluded for
 * longer than by a present failure or breaker, except what an operator drained.
 * The next text is read as if there had been none before. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "engine/hosts/hosts.h"
#include "engine/hosts/hosts_i.h"
#include "engine/maintenance/maintenance_i.h"
#include "engine/run/run.h"
#include "engine/state/state.h"
#include "engine/tasks/tasks.h"
#include "util/mem.h"

static void quiet(enum vs_log_level level, const char *line)
{
	(void)level;
	(void)line;
}

/* Two nodes, so that a third row of vMotions is one too many. */
static struct vs_node_summary kept[2];
static struct vs_node nodes[2] = {
	{ .name = "vm001", .kept = &kept[0] },
	{ .name = "vm002", .kept = &kept[1] },
};
static bool bound;

static void check_bound(const struct vs_core *c)
{
	size_t n = 0;

	for (const struct vs_bound *b = vs_vmotions.bound; b; b = b->next) {
		bound = true;
		if (++n > c->nnodes ||
		    strnlen(b->node, sizeof(b->node)) == sizeof(b->node) ||
		    strnlen(b->vm, sizeof(b->vm)) == sizeof(b->vm) ||
		    strnlen(b->host, sizeof(b->host)) == sizeof(b->host))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct vs_core *c = &vs_core;
	char *text = vs_calloc(size + 1, 1);
	int64_t now_ms;

	vs_log_to(quiet);
	memcpy(text, data, size);
	if (!c->conf)
		c->conf = vs_conf_new();
	c->conf->host_drain_threshold = (int)(size % 3);
	c->nodes = nodes;
	c->nnodes = VS_COUNT(nodes);
	vs_state_file_read_done(false);
	vs_lock();
	vs_removal_clear();
	/* A newer file counts as not read, and is kept. */
	if ((vs_state_file_load(c, text, NULL) == 0) != vs_state_file_is_read())
		abort();
	now_ms = vs_clock();
	for (const struct vs_exclusion *a = vs_avoids(); a; a = a->next)
		if (a->cause != VS_EXCLUDED_DRAINED &&
		    a->cause != VS_EXCLUDED_DRAINS &&
		    a->until_ms > now_ms + VS_BREAKER_MAX_MS)
			abort();
	for (const struct vs_breaker *b = vs_hosts.breakers; b; b = b->next)
		if (b->trips < 1)
			abort();
	check_bound(c);
	vs_vmotions_forget();
	while (vs_hosts.breakers)
		vs_breaker_end(vs_hosts.breakers->host);
	while (vs_hosts.prints)
		vs_fingerprint_forget(vs_hosts.prints);
	vs_avoids_clear();
	vs_unlock();
	free(text);
	return 0;
}

#define FUZZ_CORPUS "state_file"
#define FUZZ_REACHED bound
#include "fuzz_main.h"
