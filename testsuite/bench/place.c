/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Placement: how fast job_begin places a gang of as many VMs as there are hosts,
 * how that grows with them, and what is placed of what can be placed, how well
 * (place_quality.c). Times are the thread's CPU time, medians of some rounds.
 * Lines: name value unit bar pass|fail.
 */
#include <math.h>
#include <string.h>
#include <time.h>
#include "place.h"
#include "unit/engine_stage.h"
#include "util/log.h"
#include "util/mem.h"

#define VFS 16
#define ROUNDS 15
#define SEED 20240501
#define INSTANCES 200

bool bench_line(const char *name, double value, const char *unit,
		const char *sense, double bar)
{
	bool good = sense[0] == '<' ? value <= bar : value >= bar;

	printf("%s %.4g %s %s%.4g %s\n", name, value, unit,
	       sense[0] == '<' ? "" : ">=", bar, good ? "pass" : "fail");
	fflush(stdout);
	return good;
}

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1000 + (double)t.tv_nsec / 1e6;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* job_begin for all of them, ms; its end and what follows aren't counted. */
static double begin_all(const int *ids, size_t n, uint32_t job)
{
	const struct vs_core_api *api = vs_core_api_get();
	struct vs_err err = { 0 };
	double t = now_ms();
	int rc = api->job_begin(job, 0, ids, n, &err);

	t = now_ms() - t;
	if (rc) {
		fprintf(stderr, "job_begin: %s\n", err.text);
		abort();
	}
	if (HASH_COUNT(vs_core.ledger.holds) != n)
		abort();	/* that was no placement */
	api->job_end(job, ids, n, false);
	turns(2);
	if (HASH_COUNT(vs_core.ledger.holds))
		abort();
	return t;
}

static double median_for(int hosts)
{
	VS_FREE int *ids = vs_calloc((size_t)hosts, sizeof(*ids));
	double took[ROUNDS];

	begin(hosts, hosts, VFS, "warm");
	ready();
	for (int i = 0; i < hosts; i++)
		ids[i] = vs_core.nodes[i].id;
	for (uint32_t i = 0; i < ROUNDS; i++)
		took[i] = begin_all(ids, (size_t)hosts, i + 1);
	qsort(took, ROUNDS, sizeof(took[0]), by_value);
	return took[ROUNDS / 2];
}

static void quiet(enum vs_log_level level, const char *line)
{
	(void)level;
	(void)line;
}

/* [SEED [INSTANCES]]: other worlds for the quality, or more of them. */
int main(int argc, char **argv)
{
	static const int sizes[] = { 10, 1000, 2000 };
	double ms[VS_COUNT(sizes)], growth;
	bool good = true;

	vs_log_to(quiet);
	for (size_t i = 0; i < VS_COUNT(sizes); i++)
		ms[i] = median_for(sizes[i]);
	good &= bench_line("place_job_begin_1000_on_1000_hosts", ms[1], "ms", "<=", 10);
	/* what n log n allows from 10 to 2,000 */
	growth = 200 * log(2000) / log(10);
	good &= bench_line("place_growth_10_to_2000_hosts", ms[2] / ms[0],
			   "times", "<=", growth);
	good &= place_quality(argc > 1 ? strtoull(argv[1], NULL, 0) : SEED,
			      argc > 2 ? (int)strtol(argv[2], NULL, 0) :
			      INSTANCES);
	return good ? 0 : 1;
}
