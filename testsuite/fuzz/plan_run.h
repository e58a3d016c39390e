/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One run of the fuzzer: plan's world and the naive model of it. */
#ifndef VS_FUZZ_PLAN_RUN_H
#define VS_FUZZ_PLAN_RUN_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include "plan/placement/placement.h"
#include "plan/allocation/shared_capacity.h"
#include "plan_model.h"

#define FOLDER "group-v1"
#define CLUSTER "c1"
#define STORE "datastore-1"

#define MUST(x) do {							\
	if (!(x)) {							\
		fprintf(stderr, "%s:%d: broken: %s\n", __FILE__,	\
			__LINE__, #x);					\
		abort();						\
	}								\
} while (0)

struct run {
	const uint8_t *p, *end;
	struct model m;
	struct vs_inventory inv;
	struct vs_ledger ledger;
	struct vs_free_capacity kept;
	struct vs_adapter adapter[CLASSES];
	struct vs_profile profile[CLASSES];
	struct vs_network net[CLASSES];
	struct vs_place_env env;
	int ops[HOSTS];
};

/* The next byte, 0 behind the end; one below n. */
unsigned int byte(struct run *r);
int below(struct run *r, int n);
void host_moid(int i, char out[VS_MOID_LEN]);
struct vs_host *host_get(struct run *r, int i);
/* What is kept is brought up to date; is it what a new sum says? */
void keep(struct run *r);
void check_kept(struct run *r);
void sums_now(struct run *r, struct vs_host_sum *sums);
/* Take, release, take again: the sums must come back. */
void hold_take(struct run *r, int node, struct m_hold m);

void class_read(struct run *r, int i);
void do_host(struct run *r);
void do_host_gone(struct run *r);
void do_vm(struct run *r);
void do_vm_power(struct run *r);
void do_vm_gone(struct run *r);
void do_take(struct run *r);
void do_hold(struct run *r);
void do_class(struct run *r);
void do_begin(struct run *r);
void do_values(struct run *r);
void do_forget(struct run *r);
/* The budget of operations, by host->index. */
void ops_fill(struct run *r);

#endif
