/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Logging goes to the process that the core runs in: slurmctld's log in the
 * plugins, stderr elsewhere. One sentence, then fields in a stable order with
 * Slurm's spelling (JobId=4711 node=vm003 host=esx07 task=task-88 ms=41250).
 * error: a person must act. info: a VM's transition. debug: a request. Never a
 * body, a header or a secret.
 */
#ifndef VS_UTIL_LOG_H
#define VS_UTIL_LOG_H

enum vs_log_level { VS_LOG_ERROR, VS_LOG_INFO, VS_LOG_DEBUG };

typedef void vs_log_sink(enum vs_log_level level, const char *line);

/* Who gets the lines from now on; NULL: stderr. Set once, before threads. */
void vs_log_to(vs_log_sink *sink);

void vs_log(enum vs_log_level level, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
#define vs_error(...) vs_log(VS_LOG_ERROR, __VA_ARGS__)
#define vs_info(...) vs_log(VS_LOG_INFO, __VA_ARGS__)
#define vs_debug(...) vs_log(VS_LOG_DEBUG, __VA_ARGS__)

#endif
