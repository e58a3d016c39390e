/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzzes the requests that come to the metrics port.
 *
 * The program must not crash. The answer is one of the known ones, and its head
 * fits. A request is whole at one length only; any shorter one needs more
 * bytes. OpenMetrics is sent only to a client that names it.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engine/metrics/metrics_i.h"
#include "util/mem.h"

static void must(bool good)
{
	if (!good)
		abort();
}

static bool names_it(const char *text, size_t size)
{
	static const char word[] = "openmetrics-text";

	for (size_t i = 0; i + sizeof(word) - 1 <= size; i++)
		if (!strncasecmp(text + i, word, sizeof(word) - 1))
			return true;
	return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct vs_metrics_request r = { 0 }, shorter;
	char head[VS_METRICS_HEAD_MAX];
	VS_FREE char *copy = NULL;
	size_t len;

	if (size > VS_METRICS_REQUEST_MAX)
		size = VS_METRICS_REQUEST_MAX;
	copy = vs_calloc(1, size + 1);	/* its own bounds */
	memcpy(copy, data, size);
	if (vs_metrics_request_parse(copy, size, &r)) {
		must(size < VS_METRICS_REQUEST_MAX);
		return 0;
	}
	must(r.status == 200 || r.status == 400 || r.status == 404 ||
	     r.status == 405 || r.status == 431 || r.status == 505);
	must(r.status != 200 || (size > 20 && !memcmp(copy, "GET /metrics", 12)));
	must(!r.openmetrics || names_it(copy, size));
	len = vs_metrics_head(r.status, vs_metrics_type(r.openmetrics),
			      SIZE_MAX, head);
	must(len < sizeof(head) && strlen(head) == len &&
	     !strcmp(head + len - 4, "\r\n\r\n"));
	/* bytes behind a whole request are what makes it a bad one */
	for (size_t n = 0; n < size && size < 1024; n++)
		if (!vs_metrics_request_parse(copy, n, &shorter))
			must(r.status == 400);
	return 0;
}

#define FUZZ_CORPUS "metrics"
#include "fuzz_main.h"
