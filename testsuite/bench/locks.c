/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long slurmctld's threads are kept by the core at 10,000 nodes, 1,000
 * hosts and 4,000 VMs: a scheduler's questions and a job's begin and end,
 * timed as slurmctld feels them (waits for the core's lock included), while the
 * engine's thread passes over changes and svf asks for everything again and
 * again; then an operator's order for all nodes, a reading of the metrics, 1,200 VMs
 * that are to leave their hosts, and the search for jobs that end for another one. Lines: name value unit bar pass|fail.
 *
 * locks [cpu]: only what the calls themselves cost, without waits; for a machine
 * that has other work.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE	/* RTLD_NEXT */
#endif
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "bench/locks_world.h"
#include "util/json.h"
#include "util/mem.h"
#include "util/time.h"

#define ROUNDS 400
#define GANG 16
#define PREEMPTIONS 20
#define DEVICE_BAR 1.5
#define P99_BAR_US 1000
#define WORST_BAR_US 10000

static atomic_bool over;
static clockid_t clock_used = CLOCK_MONOTONIC;

static int64_t now_us(void)
{
	struct timespec t;

	clock_gettime(clock_used, &t);
	return t.tv_sec * 1000000LL + t.tv_nsec / 1000;
}

/* ---- the other threads ------------------------------------------------------------ */

/* Twenty VMs change per turn, a hundred turns a second at most. */
static void *engine(void *arg)
{
	unsigned int next = 0;

	(void)arg;
	while (!atomic_load(&over)) {
		for (int i = 0; i < 20; i++) {
			char name[16];

			snprintf(name, sizeof(name), "vm%u", next++ % VMS + 1);
			fake_show(fake_get(name));
		}
		turn();
		ntold = 0;
		nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
	}
	return NULL;
}

static void *people(void *arg)
{
	(void)arg;
	for (int i = 0; !atomic_load(&over); i++) {
		vs_jb_free(vs_core_report(i % 2 ? "hosts" : "nodes", 0, 0,
					  NULL));
		nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
	}
	return NULL;
}

/* ---- slurmctld ------------------------------------------------------------------- */

enum { ROOM, SPARE, CHECK, BEGIN, END, WHEN, PLANNED, KINDS };
static const char *const names[KINDS] = {
	"room_all_nodes", "spare_all_nodes", "check_gang", "job_begin",
	"job_end", "when_all_nodes", "planned_gang",
};
static int64_t took[KINDS][ROUNDS];

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

static void scheduler(int round, const int *all, enum vs_avail *avail)
{
	const struct vs_core_api *api = vs_core_api_get();
	const int *gang = all + VMS + round * GANG % (NODES - VMS - GANG);
	size_t surplus[GANG], nsurplus, left;
	struct vs_err err = { 0 };
	char why[200];
	int64_t t[KINDS + 1], now_s = time(NULL);
	const struct vs_requesting_job asker = { .job = 100 + (uint32_t)round,
					.rank = 1, .now = now_s, .lasts = 3600 };
	const struct vs_requesting_job waits = {
		.job = 1, .rank = 2, .now = now_s, .lasts = 3600
	};

	t[ROOM] = now_us();
	api->room(all, NODES, avail, why, sizeof(why));
	t[SPARE] = now_us();
	api->spare(&asker, all, NODES, avail, &left);
	t[CHECK] = now_us();
	api->check(gang, GANG, surplus, &nsurplus, &err);
	t[BEGIN] = now_us();
	if (api->job_begin(100 + (uint32_t)round, 0, gang, GANG, &err))
		fprintf(stderr, "job_begin: %s\n", err.text);
	t[END] = now_us();
	api->job_end(100 + (uint32_t)round, gang, GANG, false);
	/* one waits for all that are down: its way is looked for */
	api->refused(&waits, all + VMS, NODES - VMS, NODES, 0, "needs more");
	t[WHEN] = now_us();
	api->when(&waits, all, NODES, now_s);
	t[PLANNED] = now_us();
	api->planned(&waits, gang, GANG, now_s + 600);
	t[KINDS] = now_us();
	for (int k = 0; k < KINDS; k++)
		took[k][round] = t[k + 1] - t[k];
}

static bool line(const char *name, const char *what, int64_t us, int64_t bar)
{
	printf("%s_%s %lld us %lld %s\n", name, what, (long long)us,
	       (long long)bar, us <= bar ? "pass" : "fail");
	return us <= bar;
}

/* ---- devices ------------------------------------------------------------------------ */

/* The median time of a round's queries while no other thread works, in us. */
static int64_t quiet(const int *all, enum vs_avail *avail)
{
	static int64_t sums[ROUNDS];

	world(16);
	if (device_rows() != (devices ? HOSTS : 0))
		fprintf(stderr, "%d rows of devices\n", device_rows());
	for (int i = 0; i < ROUNDS; i++) {
		scheduler(i, all, avail);
		sums[i] = 0;
		for (int k = 0; k < KINDS; k++)
			sums[i] += took[k][i];
		ntold = 0;
	}
	qsort(sums, ROUNDS, sizeof(sums[0]), by_value);
	return sums[ROUNDS / 2];
}

/* What devices add to a scheduler's questions: in turn with and without, so that
 * the machine's other work is in both; the thread's own time alone. */
static bool with_devices(const int *all, enum vs_avail *avail)
{
	clockid_t was = clock_used;
	int64_t us[2] = { INT64_MAX, INT64_MAX };
	double ratio;

	clock_used = CLOCK_THREAD_CPUTIME_ID;
	for (int i = 0; i < 6; i++) {
		int64_t took_us;

		devices = i % 2;
		took_us = quiet(all, avail);
		if (took_us < us[i % 2])
			us[i % 2] = took_us;
	}
	devices = false;
	clock_used = was;
	ratio = (double)us[1] / (double)us[0];
	printf("# a scheduler's round: %lld us, %lld us with %d devices on each host, %d nodes theirs\n",
	       (long long)us[0], (long long)us[1], DEVICES, DEVICE_NODES);
	printf("with_devices_ratio %.2f x %.1f %s\n", ratio, DEVICE_BAR,
	       ratio <= DEVICE_BAR ? "pass" : "fail");
	return ratio <= DEVICE_BAR;
}

/* ---- orders ------------------------------------------------------------------------- */

static int64_t waited_us;	/* the longest, of the probe */
static atomic_bool probed;

static void *probe(void *arg)
{
	(void)arg;
	while (!atomic_load(&over)) {
		int64_t began = now_us(), took_us;

		vs_core_api_get()->asks(0, VS_QUERY_OTHER);
		took_us = now_us() - began;
		if (took_us > waited_us)
			waited_us = took_us;
		atomic_store(&probed, true);
	}
	return NULL;
}

static bool probed_line(int rounds, const char *name)
{
	char what[48];

	qsort(took[0], (size_t)rounds, sizeof(took[0][0]), by_value);
	snprintf(what, sizeof(what), "%s_waits", name);
	return line(what, "median", took[0][rounds / 2], P99_BAR_US) &
		line(what, "worst", took[0][rounds - 1], WORST_BAR_US);
}

/* What is done meanwhile: an order, its saving, a reading of the metrics. */
enum { EVICT, SAVE, METRICS, TURN, PLAN };
static int64_t scrape_us, scrape_lock_us, text_us;	/* of the last one */
static size_t page_len;

static void scrape(struct vs_err *err)
{
	struct vs_buf page = VS_BUF_INIT(24 * 1024 * 1024);
	struct vs_metrics_facts f;
	int64_t began = now_us();

	int rc;

	vs_lock();
	rc = vs_metrics_read(&vs_core, &f, err);
	vs_unlock();
	if (rc)
		return;
	scrape_us = now_us() - began;
	scrape_lock_us = f.lock_us;
	began = now_us();
	vs_metrics_text(&f, true, &page, err);
	text_us = now_us() - began;
	page_len = page.len;
	vs_metrics_facts_free(&f);
	vs_buf_free(&page);
}

static void waits_for(int round, int what)
{
	struct vs_err err = { 0 };
	pthread_t t;

	atomic_store(&over, false);
	atomic_store(&probed, false);
	waited_us = 0;
	pthread_create(&t, NULL, probe, NULL);
	while (!atomic_load(&probed))
		sched_yield();
	if (what == SAVE)
		vs_state_file_save(&vs_core, INT64_MAX / 2);
	else if (what == METRICS)
		scrape(&err);
	else if (what == TURN)
		turn();
	else if (what == PLAN)
		vs_jb_free(vs_core_plan("vm[1-10000]", 0, &err));
	else
		vs_jb_free(vs_core_request("evict", "vm[1-10000]", "bench", 0,
					   &err));
	if (err.code)
		fprintf(stderr, "%d: %s\n", what, err.text);
	atomic_store(&over, true);
	pthread_join(t, NULL);
	took[what][round] = waited_us;
}

/* How long a thread of slurmctld's waits at worst while an operator orders all
 * 10,000 nodes' VMs off, and while that is saved for a restart. */
static bool orders(void)
{
	struct vs_core *c = &vs_core;
	char dir[] = "/tmp/vs-bench-XXXXXX", file[64];
	bool good;

	world(16);
	if (!mkdtemp(dir))
		return false;
	free(c->conf->state_dir);
	c->conf->state_dir = vs_strdup(dir);
	for (int i = 0; i < PREEMPTIONS; i++) {
		for (size_t k = 0; k < c->nnodes; k++)
			memset(&c->nodes[k].orders, 0,
			       sizeof(c->nodes[k].orders));
		waits_for(i, EVICT);
		vs_state_file_urgent();
		waits_for(i, SAVE);
	}
	good = probed_line(PREEMPTIONS, "order_all_nodes");
	memcpy(took[0], took[1], sizeof(took[0]));
	good &= probed_line(PREEMPTIONS, "order_saved");
	snprintf(file, sizeof(file), "%s/slurm_vsphere.hints", dir);
	unlink(file);
	rmdir(dir);
	return good;
}

/* ---- metrics ------------------------------------------------------------------------ */

/* The same while Prometheus reads all of it. */
static bool metrics(void)
{
	int64_t worst_us = 0;
	bool good;

	world(16);
	for (int i = 0; i < PREEMPTIONS; i++) {
		waits_for(i, METRICS);
		if (scrape_lock_us > worst_us)
			worst_us = scrape_lock_us;
	}
	printf("# metrics: %zu bytes, read in %lld us, written in %lld us\n",
	       page_len, (long long)scrape_us, (long long)text_us);
	memcpy(took[0], took[METRICS], sizeof(took[0]));
	good = probed_line(PREEMPTIONS, "metrics");
	return line("metrics_lock_held", "worst", worst_us, P99_BAR_US) & good;
}

/* ---- how long the lock is held ------------------------------------------------------ */

/*
 * The longest piece for which the calling thread holds a mutex, in us of its own
 * CPU time, so that the machine's other work is not in the figure. The core's
 * lock is taken through these two, and lent as if one of slurmctld's threads
 * wanted it all the time.
 */
static _Thread_local bool measured;
static _Thread_local int64_t held_since_ns, held_ns;

static int64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

int pthread_mutex_lock(pthread_mutex_t *m)
{
	static int (*real)(pthread_mutex_t *);
	int rc;

	if (!real)
		real = (int (*)(pthread_mutex_t *))dlsym(RTLD_NEXT,
							 "pthread_mutex_lock");
	rc = real(m);
	if (measured)
		held_since_ns = cpu_ns();
	return rc;
}

int pthread_mutex_unlock(pthread_mutex_t *m)
{
	static int (*real)(pthread_mutex_t *);

	if (!real)
		real = (int (*)(pthread_mutex_t *))dlsym(RTLD_NEXT,
							 "pthread_mutex_unlock");
	if (measured) {
		int64_t ns = cpu_ns() - held_since_ns;

		if (ns > held_ns)
			held_ns = ns;
	}
	return real(m);
}

/* vs_lock_yield() yields. While the time that the lock is held is measured
 * there is no other thread: the lock counts as had at once. */
int sched_yield(void)
{
	if (!measured)
		return (int)syscall(SYS_sched_yield);
	atomic_fetch_add(&vs_lock_had, 1);
	return 0;
}

/* ---- svf plan ----------------------------------------------------------------------- */

static bool plan_held(const char *name, int64_t bar)
{
	struct vs_err err = { 0 };

	atomic_fetch_add(&vs_lock_waiting, 1);
	for (int i = 0; i < PREEMPTIONS; i++) {
		measured = true;
		held_ns = 0;
		vs_jb_free(vs_core_plan("vm[1-10000]", 0, &err));
		measured = false;
		if (err.code)
			fprintf(stderr, "plan: %s\n", err.text);
		took[0][i] = held_ns / 1000;
	}
	atomic_fetch_sub(&vs_lock_waiting, 1);
	qsort(took[0], PREEMPTIONS, sizeof(took[0][0]), by_value);
	return line(name, "median", took[0][PREEMPTIONS / 2], bar) &
		line(name, "worst", took[0][PREEMPTIONS - 1], bar);
}

/* One VF too few: whether idle VMs could give way is asked, too. */
static bool refused_held(void)
{
	struct fake_vm *vm;

	world(NODES / HOSTS);
	vm = fake_add_vm("other", "group-other", "host-1", true);
	vm->has_nic = true;
	vs_strlcpy(vm->pci, "0000:3b:00.0", sizeof(vm->pci));
	fake_show(vm);
	return plan_held("plan_refused_held", WORST_BAR_US);
}

/* The same while svf plan asks about all 10,000 nodes. */
static bool plans(void)
{
	bool good;

	world(16);
	for (int i = 0; i < PREEMPTIONS; i++)
		waits_for(i, PLAN);
	memcpy(took[0], took[PLAN], sizeof(took[0]));
	good = probed_line(PREEMPTIONS, "plan_all_nodes");
	good &= plan_held("plan_all_nodes_held", P99_BAR_US);
	return good & refused_held();
}

/* ---- vMotion ------------------------------------------------------------------------ */

/* The same while a target is looked for, for each VM of 300 hosts. */
static bool vmotions(const int *all)
{
	moves = true;
	world(16);
	hosts_drained(all, VMS, FIRST_JOB);
	for (int i = 0; i < PREEMPTIONS; i++) {
		waits_for(i, TURN);
		ntold = 0;
	}
	if (!fake_sent[FAKE_RELOCATE])
		fprintf(stderr, "no VM moves\n");
	moves = false;
	memcpy(took[0], took[TURN], sizeof(took[0]));
	return probed_line(PREEMPTIONS, "vmotions");
}

/* ---- preemption --------------------------------------------------------------------- */

/* No VF is left and each VM has a job: which of 4,000 jobs end for a job of
 * `gang` nodes? No other thread works. */
static bool make_room(const int *all, size_t gang)
{
	const struct vs_core_api *api = vs_core_api_get();
	static struct vs_victim victims[VMS];
	static bool take[VMS];
	char name[32];

	for (size_t i = 0; i < VMS; i++)
		victims[i] = (struct vs_victim) { .ids = &all[i], .n = 1 };
	for (int i = 0; i < PREEMPTIONS; i++) {
		int64_t began = now_us();
		int ended = api->make_room(9, all + VMS, gang, victims, VMS,
					   take);

		took[0][i] = now_us() - began;
		if (ended != (int)gang)
			fprintf(stderr, "make_room: %d end\n", ended);
		for (size_t k = 0; k < VMS; k++) {	/* and none does */
			vs_core.nodes[all[k]].claims.promised_ms = 0;
			vs_node_mark_changed(&vs_core.nodes[all[k]]);
		}
	}
	qsort(took[0], PREEMPTIONS, sizeof(took[0][0]), by_value);
	snprintf(name, sizeof(name), "make_room_for_%zu", gang);
	return line(name, "worst", took[0][PREEMPTIONS - 1], WORST_BAR_US);
}

static bool preemption(const int *all)
{
	const struct vs_core_api *api = vs_core_api_get();
	bool good = true;

	jobs_run = true;
	world(VMS / HOSTS);
	for (int i = 0; i < VMS; i++) {
		api->job_claim(FIRST_JOB + (uint32_t)i, 0, &all[i], 1, true);
		api->job_until(FIRST_JOB + (uint32_t)i, time(NULL) + 3600 + i);
	}
	turns(3);
	for (size_t gang = 1; gang <= 256; gang *= 16)
		good &= make_room(all, gang);
	return good;
}

int main(int argc, char **argv)
{
	static enum vs_avail avail[NODES];
	static int all[NODES];
	pthread_t threads[2];
	bool good = true;
	char name[16];

	if (argc > 1 && !strcmp(argv[1], "cpu"))
		clock_used = CLOCK_THREAD_CPUTIME_ID;
	vs_log_to(NULL);
	world(16);
	for (int i = 0; i < NODES; i++) {
		snprintf(name, sizeof(name), "vm%d", i + 1);
		all[i] = vs_node_named(&vs_core, name)->id;
	}
	pthread_create(&threads[0], NULL, engine, NULL);
	pthread_create(&threads[1], NULL, people, NULL);
	for (int i = 0; i < ROUNDS; i++) {
		scheduler(i, all, avail);
		nanosleep(&(struct timespec){ .tv_nsec = 5000000 }, NULL);
	}
	atomic_store(&over, true);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	for (int k = 0; k < KINDS; k++) {
		qsort(took[k], ROUNDS, sizeof(took[k][0]), by_value);
		good &= line(names[k], "p99", took[k][ROUNDS * 99 / 100],
			     P99_BAR_US);
		good &= line(names[k], "worst", took[k][ROUNDS - 1],
			     WORST_BAR_US);
	}
	good &= with_devices(all, avail);
	good &= orders();
	good &= metrics();
	good &= plans();
	good &= vmotions(all);
	good &= preemption(all);
	return good ? 0 : 1;
}
