/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The core's one struct, its mutex, its clock, and the signal that wakes the
 * engine's thread.
 *
 * Rules: the mutex is lent only by the thread that holds it. The clock and the
 * wake-up need no lock. Which thread holds it is noted in builds for developers
 * alone.
 */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "engine/state/state.h"
#include "util/log.h"
#include "util/time.h"

#define LEND_YIELDS 1000
#define LEND_SLEEPS 100
#define LEND_SLEEP_NS 50000

struct vs_core vs_core = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.wake_fd = -1,
	.facts_epoch = 1,
	.inv.by_change = TAILQ_HEAD_INITIALIZER(vs_core.inv.by_change),
	.ledger.by_change = TAILQ_HEAD_INITIALIZER(vs_core.ledger.by_change),
	.busy = LIST_HEAD_INITIALIZER(vs_core.busy),
};

atomic_int vs_lock_waiting;
atomic_uint vs_lock_had;

#ifdef VS_DEBUG
_Thread_local bool vs_lock_not_needed;
static _Atomic pthread_t holder;	/* 0: no thread */

static void holder_set(pthread_t thread)
{
	atomic_store_explicit(&holder, thread, memory_order_relaxed);
}

void vs_assert_locked_in(const char *function)
{
	/* Only this thread writes its own name there, and takes it away. */
	if (vs_lock_not_needed ||
	    pthread_equal(atomic_load_explicit(&holder, memory_order_relaxed),
			  pthread_self()))
		return;
	vs_error("bug: %s() is called without the core's lock", function);
	abort();
}
#else
#define holder_set(thread) ((void)0)
#endif

void vs_lock(void)
{
	pthread_mutex_lock(&vs_core.lock);
	holder_set(pthread_self());
}

void vs_unlock(void)
{
	holder_set(0);
	pthread_mutex_unlock(&vs_core.lock);
}

/* A mutex is not fair: a thread that releases it and takes it again at once
 * gets it before a thread that is just being woken. To yield is not enough
 * where no other thread wants this processor, and that one takes longer to
 * wake. */
void vs_lock_yield(void)
{
	const struct timespec moment = { .tv_nsec = LEND_SLEEP_NS };
	unsigned int had = atomic_load(&vs_lock_had);

	if (!atomic_load(&vs_lock_waiting))
		return;
	vs_unlock();
	for (int i = 0; i < LEND_YIELDS && atomic_load(&vs_lock_waiting); i++)
		sched_yield();
	for (int i = 0; i < LEND_SLEEPS && atomic_load(&vs_lock_waiting) &&
	     atomic_load(&vs_lock_had) == had; i++)
		nanosleep(&moment, NULL);
	vs_lock();
}

void vs_lock_yield_to(void (*work)(void *arg), void *arg)
{
	vs_unlock();
	work(arg);
	vs_lock();
}

int64_t vs_clock(void)
{
	return vs_core.clock ? vs_core.clock() : vs_now_ms();
}

void vs_wake(void)
{
	uint64_t one = 1;

	/* A full counter wakes as well; nothing is lost with it. */
	if (vs_core.wake_fd >= 0 &&
	    write(vs_core.wake_fd, &one, sizeof(one)) < 0 && errno != EAGAIN)
		vs_debug("engine: wake failed: %s", strerror(errno));
}
