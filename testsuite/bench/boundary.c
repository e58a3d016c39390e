/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What crosses from one module of the core to another at 10,000 nodes, 1,000 hosts and
 * 4,000 VMs: the calls, and the records that change. boundary.py builds this program
 * and the core with -finstrument-functions, and reads the lines:
 *   event NAME TIMES			what follows is for so many events
 *   edge CALLER CALLEE CALLS		addresses in this program; 0: the event itself
 *   facts RECORD SIZE ALL CHANGED BYTES	records that the events changed, of all that
 *					exist, and the bytes that differ in them
 *   trip BYTES MEDIAN P99		ns of a request and its answer between processes
 * Without that option there are no edges.
 */
#include <time.h>
#include <unistd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include "bench/locks_world.h"
#include "engine/metrics/metrics_i.h"
#include "engine/run/run_i.h"
#include "util/json.h"

#define EDGES 65536	/* a power of two, many more than there are */
#define DEEP 1024
#define GANG 16
#define TRIPS 2000
#define QUIET __attribute__((no_instrument_function))

/* ---- calls ---------------------------------------------------------------------- */

static struct { const char *caller, *callee; unsigned long calls; } edges[EDGES];
static const char *stack[DEEP];
static int depth;
static bool counting;

void QUIET __cyg_profile_func_enter(void *function, void *site);
void QUIET __cyg_profile_func_exit(void *function, void *site);

void __cyg_profile_func_enter(void *function, void *site)
{
	const char *caller = depth ? stack[depth - 1] : NULL;
	size_t i = ((size_t)caller * 31 + (size_t)function) / 4 % EDGES;

	(void)site;
	if (!counting || depth == DEEP)
		return;
	while (edges[i].calls &&
	       (edges[i].caller != caller || edges[i].callee != function))
		i = (i + 1) % EDGES;
	edges[i].caller = caller;
	edges[i].callee = function;
	edges[i].calls++;
	stack[depth++] = function;
}

void __cyg_profile_func_exit(void *function, void *site)
{
	(void)site;
	if (depth && stack[depth - 1] == function)
		depth--;
}

/* ---- records --------------------------------------------------------------------- */

enum { NODE, SUMMARY, HOST, VM, CLAIM, FREE, RECORDS };
static struct records {
	const char *name;
	size_t size, n;
	char *were, *are;	/* before an event, after it */
	size_t nwere, changed, bytes;
} records[RECORDS] = {
	[NODE] = { .name = "node", .size = sizeof(struct vs_node) },
	[SUMMARY] = { .name = "node-summary",
		      .size = sizeof(struct vs_node_summary) },
	/* without what links them to others */
	[HOST] = { .name = "host", .size = offsetof(struct vs_host, vms) },
	[VM] = { .name = "vm", .size = offsetof(struct vs_vm, share) },
	[CLAIM] = { .name = "claim", .size = offsetof(struct vs_claim, hh) },
	[FREE] = { .name = "free-capacity",
		   .size = sizeof(struct vs_host_sum) },
};

static QUIET void record(struct records *r, const void *one)
{
	if (r->n < NODES)
		memcpy(r->are + r->n++ * r->size, one, r->size);
}

static QUIET void read_records(void)
{
	struct vs_core *c = &vs_core;
	const struct vs_free_capacity *sums = vs_free_capacity_get(c);

	for (int k = 0; k < RECORDS; k++)
		records[k].n = 0;
	for (size_t i = 0; i < c->nnodes; i++) {
		record(&records[NODE], &c->nodes[i]);
		record(&records[SUMMARY], &c->kept[i]);
	}
	for (int i = 0; i < c->inv.nhosts; i++)
		record(&records[HOST], c->inv.by_index[i]);
	for (const struct vs_vm *vm = c->inv.vms; vm; vm = vm->hh.next)
		record(&records[VM], vm);
	for (const struct vs_claim *h = c->ledger.holds; h; h = h->hh.next)
		record(&records[CLAIM], h);
	for (size_t i = 0; i < sums->nhosts; i++)
		record(&records[FREE], &sums->hosts[i]);
}

/* Counts what has changed since the call before, if it is asked for. */
static QUIET void compare_records(bool count)
{
	read_records();
	for (int k = 0; k < RECORDS; k++) {
		struct records *r = &records[k];
		size_t both = r->n < r->nwere ? r->n : r->nwere;
		size_t more = r->n + r->nwere - 2 * both;
		char *were = r->were;

		for (size_t i = 0; count && i < both * r->size; i += r->size) {
			size_t before = r->bytes;

			for (size_t b = i; b < i + r->size; b++)
				r->bytes += r->are[b] != r->were[b];
			r->changed += r->bytes > before;
		}
		if (count) {
			r->changed += more;
			r->bytes += more * r->size;
		}
		r->were = r->are;
		r->are = were;
		r->nwere = r->n;
	}
}

/* ---- events ---------------------------------------------------------------------- */

extern const char __executable_start;
static int all[NODES];

static QUIET void event(const char *name, void (*happens)(int time), int times)
{
	for (int k = 0; k < RECORDS; k++)
		records[k].changed = records[k].bytes = 0;
	memset(edges, 0, sizeof(edges));
	for (int i = 0; i < times; i++) {
		compare_records(false);
		depth = 0;
		counting = true;
		happens(i);
		counting = false;
		compare_records(true);
		ntold = 0;
	}
	printf("event %s %d\n", name, times);
	for (size_t i = 0; i < EDGES; i++)
		if (edges[i].calls)
			printf("edge %#tx %#tx %lu\n", edges[i].caller ?
			       edges[i].caller - &__executable_start : 0,
			       edges[i].callee - &__executable_start,
			       edges[i].calls);
	for (int k = 0; k < RECORDS; k++)
		printf("facts %s %zu %zu %zu %zu\n", records[k].name,
		       records[k].size, records[k].n, records[k].changed,
		       records[k].bytes);
}

static void pass(int time)
{
	(void)time;
	some_turn();
}

static void pass_over_all(int time)
{
	(void)time;
	vs_passes.full_ms = INT64_MIN / 2;
	some_turn();
}

static void vms_change(int time)
{
	for (int i = 0; i < 20; i++) {
		char name[16];

		snprintf(name, sizeof(name), "vm%d", (time * 20 + i) % VMS + 1);
		fake_get(name)->tools = !fake_get(name)->tools;
		fake_show(fake_get(name));
	}
	some_turn();
}

static void periodic_poll(int time)
{
	(void)time;
	fake_slow(NULL, 0);
	some_turn();
}

/* As select/cons_tres_vsphere asks: for all nodes, then for a job of 16. */
static void scheduler_round(int time)
{
	static enum vs_avail avail[NODES];
	const struct vs_core_api *api = vs_core_api_get();
	const int *gang = all + VMS + time * GANG;
	size_t surplus[GANG], nsurplus, left;
	struct vs_err err = { 0 };
	const struct vs_requesting_job a = { .job = 100 + (uint32_t)time,
					     .rank = 1,
					     .now = 1000,
					     .lasts = 3600 };
	char why[200];

	api->room(all, NODES, avail, why, sizeof(why));
	api->spare(&a, all, NODES, avail, &left);
	api->check(gang, GANG, surplus, &nsurplus, &err);
	api->refused(&a, all + VMS, NODES - VMS, NODES, 0, "needs more");
	api->when(&a, all, NODES, 1000);
	api->planned(&a, gang, GANG, 1600);
}

static void all_flags(const int *gang, uint32_t f)
{
	for (int i = 0; i < GANG; i++)
		vs_node_flags(&vs_core, &vs_core.nodes[gang[i]], f);
	some_turn();
	some_turn();
}

/* A job of 16 nodes without VMs: from job_begin until its VMs idle again. */
static void job_of_16(int time)
{
	const struct vs_core_api *api = vs_core_api_get();
	const int *gang = all + NODES - (time + 1) * GANG;
	uint32_t job = 7000 + (uint32_t)time;
	struct vs_err err = { 0 };

	if (api->job_begin(job, 0, gang, GANG, &err))
		fprintf(stderr, "job_begin: %s\n", err.text);
	vs_job_wait(&vs_core, job, 0, gang, GANG);
	all_flags(gang, BOOT);
	while (fake_finish(FAKE_CLONE))
		;
	all_flags(gang, BOOT);
	while (fake_finish(FAKE_POWER_ON))
		;
	all_flags(gang, BUSY);
	vs_job_started(&vs_core, &(struct vs_wait) { .job = job, .ids = all +
			NODES - (time + 1) * GANG, .n = GANG });
	api->job_end(job, gang, GANG, false);
	all_flags(gang, UP);
}

static void svf_nodes(int time)
{
	(void)time;
	vs_jb_free(vs_core_report("nodes", 0, 0, NULL));
}

static void svf_hosts(int time)
{
	(void)time;
	vs_jb_free(vs_core_report("hosts", 0, 0, NULL));
}

static void metrics(int time)
{
	struct vs_buf page = VS_BUF_INIT(24 * 1024 * 1024);
	struct vs_metrics_facts f;
	struct vs_err err;

	(void)time;
	if (vs_metrics_read(&vs_core, &f, &err))
		return;
	vs_metrics_text(&f, true, &page, &err);
	vs_metrics_facts_free(&f);
	vs_buf_free(&page);
}

/* ---- between two processes ------------------------------------------------------- */

static bool whole(int fd, char *buf, size_t len, bool reads)
{
	for (size_t at = 0; at < len; ) {
		ssize_t n = reads ? read(fd, buf + at, len - at) :
			write(fd, buf + at, len - at);

		if (n <= 0)
			return false;
		at += (size_t)n;
	}
	return true;
}

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* A child answers each message with one of the same size. */
static void round_trips(size_t len)
{
	static char buf[NODES * sizeof(int)];
	static int64_t took[TRIPS];
	int fds[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds))
		return;
	pid = fork();
	if (!pid) {
		close(fds[0]);
		while (whole(fds[1], buf, len, true) &&
		       whole(fds[1], buf, len, false))
			;
		_exit(0);
	}
	close(fds[1]);
	for (int i = 0; i < TRIPS; i++) {
		int64_t began = now_ns();

		if (!whole(fds[0], buf, len, false) ||
		    !whole(fds[0], buf, len, true))
			break;
		took[i] = now_ns() - began;
	}
	close(fds[0]);
	waitpid(pid, NULL, 0);
	qsort(took, TRIPS, sizeof(took[0]), by_value);
	printf("trip %zu %lld %lld\n", len, (long long)took[TRIPS / 2],
	       (long long)took[TRIPS * 99 / 100]);
}

int main(void)
{
	for (int k = 0; k < RECORDS; k++) {
		records[k].were = vs_calloc(NODES, records[k].size);
		records[k].are = vs_calloc(NODES, records[k].size);
	}
	vs_log_to(NULL);
	world(16);
	for (int i = 0; i < NODES; i++) {
		char name[16];

		snprintf(name, sizeof(name), "vm%d", i + 1);
		all[i] = vs_node_named(&vs_core, name)->id;
	}
	pass_over_all(0);
	event("pass", pass, 30);
	event("pass-over-all-nodes", pass_over_all, 10);
	event("20-vms-change", vms_change, 20);
	event("periodic-poll", periodic_poll, 10);
	event("job-of-16", job_of_16, 10);
	event("scheduler-round", scheduler_round, 20);
	event("pass-while-20-jobs-wait", pass, 10);
	event("svf-nodes", svf_nodes, 2);
	event("svf-hosts", svf_hosts, 2);
	event("metrics", metrics, 2);
	round_trips(64);
	round_trips(sizeof(all));
	return 0;
}
