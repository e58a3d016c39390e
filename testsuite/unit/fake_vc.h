/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A vCenter in memory behind the client's own prototypes (vcenter/calls/calls.h), for
 * the engine's tests: calls queue up until the test finishes or fails them,
 * so that every instant can be looked at. It counts and never helps: what a
 * power-on needs is checked here by its own sums.
 */
#ifndef FAKE_VC_H
#define FAKE_VC_H

#include <stdio.h>
#include "core_access.h"
#include "engine/allocation/allocation.h"
#include "engine/checks/checks.h"
#include "engine/clone_source/clone_source.h"
#include "engine/control/control.h"
#include "engine/forecast/forecast.h"
#include "engine/hosts/hosts.h"
#include "engine/inventory/inventory.h"
#include "engine/jobs/jobs.h"
#include "engine/maintenance/maintenance.h"
#include "engine/metrics/metrics_i.h"
#include "engine/metrics/metrics.h"
#include "engine/persist/persist.h"
#include "engine/preemption/preemption.h"
#include "engine/prefetch/prefetch.h"
#include "engine/provision/provision.h"
#include "engine/reconcile/reconcile.h"
#include "engine/report/report.h"
#include "engine/run/api.h"
#include "engine/run/run.h"
#include "engine/slurm/lookup.h"
#include "engine/slurm/outbox.h"
#include "engine/slurm/slurm_ops.h"
#include "engine/state/config.h"
#include "engine/state/state.h"
#include "engine/tasks/tasks.h"
#include "engine/vmspec/vmspec.h"

enum fake_kind { FAKE_CLONE, FAKE_RECONFIGURE, FAKE_RELOCATE, FAKE_POWER_ON,
		 FAKE_POWER_OFF, FAKE_SHUTDOWN, FAKE_DESTROY, FAKE_ADOPT,
		 FAKE_SNAPSHOT, FAKE_INSTANT, FAKE_KINDS };

#define FAKE_NICS VS_NICS_MAX
struct fake_nic {
	enum vs_vc_net_type kind;
	char mac[20], pci[16], label[64];	/* label: of a device */
	int vendor, device;
	size_t noptions;		/* that were said of its parameters */
	enum vs_vc_value option;	/* the first one's */
};

struct fake_vm {
	bool used, on, tools, disks_own, is_template, unreadable;
	char moid[32], name[64], folder[32], host[32], pool[32], uuid[40];
	char store[32];			/* moId that it was cloned or moved to */
	char mark[160], profile[32], tag[48];
	char parent[40], from[40], snapshot[32];	/* "": none */
	char base[64];			/* the directory of its parent */
	char bios[40];			/* config.uuid, "": not told */
	bool frozen, suspended;		/* suspended: it is not on */
	bool has_nic;
	int key;			/* of its NIC; 0: 13031 */
	int other_key;			/* 0, or another NIC like it, before it */
	int removed_key;		/* by the last reconfigure */
	int removed;			/* how many, by it */
	char mac[20], pci[16];
	char system[40];		/* of a device by its address */
	struct fake_nic first;		/* the first NIC, if it is a device */
	bool automatic;
	struct fake_nic more[FAKE_NICS - 1];	/* its NICs beside the first */
	int nmore;
	int64_t memory_mb;
	/* as asked for */
	enum vs_vc_net_type kind;
	bool mem_locked, latency_high, mtu_change;
	char mtu[8], source[32];
	int64_t cpu_reserved_mhz;
	char numa[16];
	struct vs_vc_hw asked;		/* its numbers; pointers are void */
	const char *guest_state, *guest_reason;
	char guest[VS_VC_NGUEST][64];	/* by vs_vc_guest_keys[] */
	int version;			/* changeVersion: reconfigurations */
};

extern int fake_sent[FAKE_KINDS];	/* calls by kind, since reset */
extern int fake_cancels;
extern int fake_while_paused;	/* changing calls sent during svf pause */
extern int fake_overfull;		/* power-ons sent to a full PF */
extern bool fake_slow_asked;
extern struct vs_vc_stats fake_stats;	/* as the client counts */
/* Are VMs' values of guestinfo shown? False after a reset: VMs that a test adds
 * have none. */
extern bool fake_guest;
/* The CPU reservation that all VMs show, -1: what they have. */
extern int64_t fake_shown_mhz;
extern enum vs_vc_poll fake_calm;	/* as the client was told last */
/* What the slow beat brings; unknown (-1), 1 TiB and 0 after a reset. */
extern int64_t fake_pool_mhz, fake_pool_mb, fake_store_mb;
extern enum vs_vc_auto fake_drs, fake_ha;	/* no, no */
extern const char *fake_cluster_name;
extern bool fake_moves;				/* DRS, VMs that are on */
extern struct vs_vc_override fake_override;	/* vm NULL: none */
extern bool fake_rights_known;			/* true */
extern struct vs_vc_missing_privilege fake_lack;	/* key NULL: none */
extern const char *fake_excess;
void fake_beat_reset(void);
/* Two datastores, s and t (datastore-1 and -2), instead of the one: all hosts
 * see both, or esx1 s and the others t. fake_t_mb: what is free on t. */
extern enum fake_stores { FAKE_ONE, FAKE_BOTH, FAKE_LOCAL } fake_stores;
extern int64_t fake_t_mb;
/* PlaceVm: how often it was asked since the reset, and the last question. */
extern struct fake_where {
	int asked;
	char name[64], cluster[32], hosts[256];
} fake_where;
void fake_recommend(int question, const char *host, const struct vs_err *err);
/* QueryConfigTarget: the same. One device, none (pci NULL), or err. */
extern struct fake_target { int asked; char host[32]; } fake_target;
void fake_offers(int question, const char *pci, const char *system,
		 const struct vs_err *err);
void fake_offers_options(int question, const struct vs_vc_option *o, size_t n);
extern int64_t fake_disk_mb;		/* of the template, at the next load */
extern const char *fake_about;		/* at the next load */
extern int fake_hw;			/* its hardware version */
extern const char *fake_template_host;	/* moId; as begun none of the hosts here */
extern enum vs_vc_auto fake_template_link;

/* hosts esx1..N in cluster domain-c1, each with one PF 0000:3b:00.0 */
void fake_reset(int hosts, int vfs);
struct fake_vm *fake_add_vm(const char *name, const char *folder,
			    const char *host, bool on);
struct fake_vm *fake_get(const char *name);
int fake_count(void);			/* VMs in the slurm folder */
/* An event of vs_vc_events, as the client calls it back. */
#define fake_tell(event, ...) do { \
	vs_watch_events.together(&vs_core, true); \
	vs_watch_events.event(&vs_core, ##__VA_ARGS__); \
	vs_watch_events.together(&vs_core, false); \
} while (0)

void fake_load(void);			/* up, everything, load_end, slow */
/* The template is another one (which has its moid as version), or none. */
void fake_template(const char *moid, const char *missing);
void fake_down(enum vs_code code);
void fake_slow(const struct vs_vc_task *tasks, size_t n);
void fake_host(const struct vs_vc_host *h);	/* deliver that of a host */
void fake_show(struct fake_vm *vm);	/* deliver its present state */
void fake_remove(struct fake_vm *vm);	/* gone, delivered */
int fake_waiting(enum fake_kind kind);
/* The oldest of a kind has become a task; false: none, or already. */
bool fake_accept(enum fake_kind kind);
/* Finish the oldest of a kind: effect shown first, then done (as vCenter may);
 * false: there is none. */
bool fake_finish(enum fake_kind kind);
bool fake_fail(enum fake_kind kind, enum vs_code code, const char *text);
/* The same by a fault of vCenter's, as the client says it. */
bool fake_fault(enum fake_kind kind, enum vs_code code, const char *fault,
		const char *text);
/* The oldest power-on finds no VF, said as the client says it. */
bool fake_no_vf(void);
/* The reply is lost: the effect happens if `happens`, done says unknown. */
bool fake_lose(enum fake_kind kind, bool happens);
/* The oldest call of the kind continues in vCenter though its answer is lost.
 * fake_late_task() gives its task, and fake_late_happens() is its effect. */
bool fake_late(enum fake_kind kind);
bool fake_late_task(struct vs_vc_task *t);
void fake_late_happens(void);

/* fake_vc_trace.c: from now on a line for each call that is sent, into this file;
 * NULL: no longer. */
void fake_trace_to(FILE *file);
/* A line of the caller's own in it. */
void fake_trace_line(const char *fmt, ...)
	__attribute__((format(printf, 1, 2)));

/* fake_vc_clone_sources.c: the parent whose name holds part, NULL: none. */
struct fake_vm *fake_parent(const char *part);
int fake_parents(void);

#endif
