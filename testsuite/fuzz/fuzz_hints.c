/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The hints file: whatever stands in it, nobody is avoided for longer than by
 * a failure or a breaker of now (but for what an operator drained), and the
 * next text is read as if there had been none. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "engine/core_i.h"
#include "util/mem.h"

static void quiet(enum vs_log_level level, const char *line)
{
	(void)level;
	(void)line;
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
	c->conf->health_drains = (int)(size % 3);
	c->hints_loaded = false;
	vs_brake_clear(&c->brake);
	vs_hints_load(c, text);
	now_ms = vs_clock();
	for (const struct vs_avoid *a = c->avoids; a; a = a->next)
		if (a->cause != VS_AVOID_DRAINED && a->cause != VS_AVOID_SICK &&
		    a->until_ms > now_ms + VS_BREAKER_MAX_MS)
			abort();
	for (const struct vs_breaker *b = c->breakers; b; b = b->next)
		if (b->trips < 1)
			abort();
	while (c->breakers)
		vs_breaker_end(c, c->breakers->host);
	while (c->prints) {
		struct vs_print *p = c->prints;

		HASH_DEL(c->prints, p);
		free(p);
	}
	while (c->avoids)
		vs_avoid_expire(c, INT64_MAX);
	free(text);
	return 0;
}

#define FUZZ_CORPUS "hints"
#include "fuzz_main.h"
