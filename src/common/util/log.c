/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One log line to the process that the core runs in.
 *
 * Rules: names of VMs and texts of faults come from outside, so that nothing
 * in a line may start another one: control characters become blanks. A line
 * has a maximum. Never opens, buffers or rotates anything.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "util/log.h"
#include "util/mem.h"

#define LINE_MAX_LEN 2048

static void to_stderr(enum vs_log_level level, const char *line)
{
	static const char *const prefix[] = {
		[VS_LOG_ERROR] = "error: ",
		[VS_LOG_INFO] = "",
		[VS_LOG_DEBUG] = "debug: ",
	};

	fprintf(stderr, "%s%s\n", prefix[level], line);
}

static vs_log_sink *sink_now = to_stderr;

void vs_log_to(vs_log_sink *sink)
{
	sink_now = sink ? sink : to_stderr;
}

void vs_log(enum vs_log_level level, const char *fmt, ...)
{
	char line[LINE_MAX_LEN];
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (len < 0)
		return;
	if ((size_t)len >= sizeof(line))
		memcpy(line + sizeof(line) - 4, "...", 4);
	vs_one_line(line);
	sink_now(level, line);
}
