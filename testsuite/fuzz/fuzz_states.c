/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The vCenter client's states: each byte of the input says which answer of
 * scripted_bad[] a call gets, or (from 128 on) the right one. When the input
 * ends all answers are right.
 *
 * What must hold: nothing crashes, no request lacks its object's id, no event is
 * refused, and at the end the client is up, or it waits for its password file
 * because a login was refused.
 */
#define CURL_DISABLE_TYPECHECK
#include <stdint.h>
#include <sys/stat.h>
#include "util/log.h"
#include "scripted_vc.h"
#include "testsuite/unit/scratch.h"

static const uint8_t *bytes;
static size_t left;
static bool refused;
static unsigned int ups;
static char file[SCRATCH_LEN];

static int spoil(unsigned int call)
{
	uint8_t b = left ? *bytes : 255;

	(void)call;
	if (!left)
		return -1;
	bytes++;
	left--;
	return b < 128 ? b % (int)VS_COUNT(scripted_bad) : -1;
}

static void on_down(void *arg, const struct vs_err *err)
{
	(void)arg;
	if (!err->text[0])
		abort();
	refused = err->code == VS_E_LOGIN;
}

static void quiet(enum vs_log_level level, const char *line)
{
	(void)level;
	if (strchr(line, '\n'))
		abort();
}

static void clean(void)
{
	script_free();
	unlink(file);
}

static void set_up(void)
{
	int fd = mkstemp(scratch_path(file, "fuzz"));

	if (fd < 0 || write(fd, "secret\n", 7) != 7)
		abort();
	close(fd);
	script_load(VS_SESSION);
	script.spoil = spoil;
	vs_log_to(quiet);
	atexit(clean);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct vs_vc_events events = { .down = on_down };
	struct vs_vc_stats stats;
	struct vs_vc *vc;
	int64_t now = 1000;

	if (!script.n)
		set_up();
	bytes = data;
	left = size < 512 ? size : 512;
	refused = false;
	vc = script_client(file, NULL, &events);
	if (!vc)
		abort();
	/* each wait is at most a minute */
	for (int n = 0; n < 2000 && (left || !vs_vc_is_up(vc)); n++)
		vs_vc_iterate(vc, now += 61000, 0, -1);
	vs_vc_stats_get(vc, &stats);
	if (script.lost_id || script.mistyped || stats.refused_events ||
	    (!vs_vc_is_up(vc) && !refused))
		abort();
	ups += vs_vc_is_up(vc);
	vs_vc_free(vc, 0);
	return 0;
}

#define FUZZ_CORPUS "states"
#define FUZZ_ROUNDS 4000
#define FUZZ_REACHED (ups > 1)
#include "fuzz_main.h"
