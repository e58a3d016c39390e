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
#define NICS 3
#define NODES 16
#define CLASSES 4
#define POOLS 2		/* one per cluster */
#define OPS_MAX 3
#define M_UNKNOWN INT64_MAX

#define NO (-1)

enum m_nic_kind { M_NONE, M_SRIOV, M_FIXED, M_DYNAMIC, M_VMXNET3 };

struct m_pf { int bus, sw, vfs; bool link, avoided; };
struct m_host {
	bool there, usable, avoided;
	int npfs, cores, mhz, cluster, hw, ops;
	int64_t mem;
	int leaf;
	struct m_pf pf[PFS];
};
/* bus NO: no address told; sw NO: no switch told */
struct m_nic { enum m_nic_kind kind; int bus, sw; };
/* what a VM takes; pool NO: of none */
struct m_share { bool there; int pool; int64_t cpu, mem, swap; };
struct m_vm {
	bool there, readable, ours, latency;
	int power;		/* 0 unknown, 1 off, 2 on, 3 suspended */
	int host;		/* may be one that isn't there; NO: none */
	int vcpus;
	int64_t mem, mem_res, cpu_res;
	bool locked;
	struct m_share told, telling;
	int nnics;
	struct m_nic nic[NICS];
};
struct m_held { int bus; bool automatic; };	/* bus NO: not told */
struct m_hold {
	bool there;
	int state, host, vm;		/* vm NO */
	int nnics;			/* 0: takes none */
	struct m_held nic[NICS];
	int64_t cpu, mem, disk, swap;
};
/* sw: what the adapter's network is on; named: a bus, or NO */
struct m_class {
	bool vf, latency, ib, rails;
	int vfs;			/* of each VM */
	int sw, named, vcpus, hw;
	int64_t mem, disk;
};
/* -1: not known */
struct m_pool { bool there; int64_t cpu, mem; };
struct model {
	struct m_host host[HOSTS];
	struct m_vm vm[VMS];
	struct m_hold hold[NODES];
	struct m_class cls[CLASSES];
	struct m_pool pool[POOLS];
	int64_t store;
};

struct m_use { int ours, others, held, free; };
void m_use(const struct model *m, int host, int pf, struct m_use *out);
bool m_unknown(const struct model *m, int host);
void m_room(const struct model *m, int host, int64_t *cpu, int64_t *mem);
int64_t m_cpu_need(const struct m_class *c, int mhz);
int64_t m_mem_need(const struct m_class *c);
/* The hardware version that the kind, the latency or the template asks for. */
int m_hw(const struct m_class *c);
bool m_reaches(const struct m_host *h, const struct m_class *c, int pf,
	       bool ever);
/* MB of the datastore */
int64_t m_store_need(const struct m_class *c, bool exists);
/* What is left; M_UNKNOWN if that is unknown. */
void m_pool_left(const struct model *m, int pool, int64_t *cpu, int64_t *mem);
int64_t m_store_left(const struct model *m);
struct m_share m_share(const struct model *m, int vm);
/* The pool of a host, NO if there is none. */
int m_pool_of(const struct model *m, int host);
/* How many of a class alone fit on all hosts, pools considered. */
int m_fits_all(const struct model *m, const struct m_class *c);
/* How many of a class alone fit on a host, by its own room. */
int m_fits(const struct model *m, int host, const struct m_class *c,
	   bool ever);

#endif
