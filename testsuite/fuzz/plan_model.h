/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A second, naive opinion on what plan says: plain arrays, everything
 * recounted from scratch for every question, no code shared with plan.
 */
#ifndef VS_FUZZ_PLAN_MODEL_H
#define VS_FUZZ_PLAN_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#define HOSTS 5
#define PFS 3
#define VMS 12
#define CARDS 3
#define NODES 16
#define CLASSES 4

#define NO (-1)

enum m_card_kind { M_NONE, M_SRIOV, M_FIXED, M_DYNAMIC, M_VMXNET3 };

struct m_pf { int bus, sw, vfs; bool link, avoided; };
struct m_host {
	bool there, usable, avoided;
	int npfs, cores, mhz;
	int64_t mem;
	int leaf;
	struct m_pf pf[PFS];
};
/* bus NO: no address told; sw NO: no switch told */
struct m_card { enum m_card_kind kind; int bus, sw; };
struct m_vm {
	bool there, readable, ours, latency;
	int power;		/* 0 unknown, 1 off, 2 on, 3 suspended */
	int host;		/* may be one that isn't there; NO: none */
	int vcpus;
	int64_t mem, mem_res, cpu_res;
	bool locked;
	int ncards;
	struct m_card card[CARDS];
};
struct m_hold {
	bool there, automatic;
	int state, host, bus, vm;	/* bus NO: takes none; vm NO */
	int64_t cpu, mem;
};
/* sw: what the adapter's network is on; named: a bus, or NO */
struct m_class {
	bool vf, latency, ib;
	int sw, named, vcpus;
	int64_t mem;
};
struct model {
	struct m_host host[HOSTS];
	struct m_vm vm[VMS];
	struct m_hold hold[NODES];
	struct m_class cls[CLASSES];
};

struct m_use { int ours, others, held, free; };
void m_use(const struct model *m, int host, int pf, struct m_use *out);
bool m_unknown(const struct model *m, int host);
void m_room(const struct model *m, int host, int64_t *cpu, int64_t *mem);
int64_t m_cpu_need(const struct m_class *c, int mhz);
int64_t m_mem_need(const struct m_class *c);
bool m_reaches(const struct m_host *h, const struct m_class *c, int pf,
	       bool ever);
/* How many of a class alone fit on a host. */
int m_fits(const struct model *m, int host, const struct m_class *c,
	   bool ever);

#endif
