/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The VMs that nodes' VMs are cloned from (Clone=linked, instant;
 * plan/inventory/clone_source.h says what they are). The module owns their records.
 * The caller holds the core's lock.
 */
#ifndef VS_ENGINE_CLONE_SOURCE_H
#define VS_ENGINE_CLONE_SOURCE_H

#include "engine/allocation/allocation.h"
#include "engine/state/state.h"
#include "util/hash.h"

enum vs_clone_source_op {
	VS_CLONE_SOURCE_IDLE,
	VS_CLONE_SOURCE_CLONES,
	VS_CLONE_SOURCE_SNAPS,
	VS_CLONE_SOURCE_DESTROYS,
	VS_CLONE_SOURCE_ADOPTED,
	VS_CLONE_SOURCE_BOOTS,
	VS_CLONE_SOURCE_GOES_OFF,
	VS_CLONE_SOURCE_OPS
};

/* As svf says it, and metrics. */
enum vs_clone_source_state {
	VS_CLONE_SOURCE_IS_CLONING,
	VS_CLONE_SOURCE_IS_SNAPPED,
	VS_CLONE_SOURCE_IS_DESTROYED,
	VS_CLONE_SOURCE_IS_ON,
	VS_CLONE_SOURCE_IS_AWAY,
	VS_CLONE_SOURCE_IS_BARE,
	VS_CLONE_SOURCE_IS_OFF,
	VS_CLONE_SOURCE_IS_BOOTING,
	VS_CLONE_SOURCE_IS_READY,
	VS_CLONE_SOURCE_STATES
};
extern const char *const vs_clone_source_states[VS_CLONE_SOURCE_STATES];

/* One that is asked for, by its key; or one that is there, by its moId. */
struct vs_clone_source {
	char id[3 * VS_MOID_LEN];
	struct vs_clone_source_key key;	/* of one that is asked for */
	char name[VS_NAME_LEN];		/* of the VM that is made, */
	char node[VS_NAME_LEN];		/* for this node */
	unsigned int skip;		/* names that vCenter says are taken */
	enum vs_clone_source_op op;
	uint64_t op_id;			/* the client's; 0: done, settling */
	char task[VS_MOID_LEN], vm[VS_MOID_LEN], host[VS_MOID_LEN];
	int64_t since_ms;		/* of op */
	bool lost;			/* the reply to a clone */
	uint64_t look_after;		/* wait for this slow beat's number */
	int tries;
	int64_t not_before_ms, away_ms, asked_ms;
	int64_t boots_ms;		/* on, and not frozen yet; 0: not so */
	char why[320];			/* what keeps those that ask, "" */
	char born[VS_MOID_LEN];		/* the VM that was made last, */
	int64_t born_ms;		/* then; "": none since the start */
	bool astray;			/* and is not what was asked for */
	int64_t begun_ms;		/* its clone was sent; 0: it is ready,
					 * or no node asked for a while */
	/* of one that is there */
	uint64_t judged_after;		/* this slow beat is too old */
	int64_t unwanted_ms;		/* since then; 0: it is wanted */
	int64_t copied_until_ms;	/* a clone of it is done, and not shown */
	bool told;
	enum vs_removal_state braked;
	/* as of this pass: what keeps it; clones are made of another one */
	bool copied, made, has_children, worse;
	UT_hash_handle hh;
};

/* Why no clone of this version of a template can be had. */
struct vs_clone_block {
	struct vs_clone_source_tag of;
	bool on;			/* else it was, lately */
	int64_t until_ms;
	char why[256];
};

struct vs_clone_sources {
	struct vs_clone_source *all;
	int64_t scan_ms;
	struct vs_clone_block *bars;
	size_t nbars, cap_bars;
	/* as of this pass: a clone's node is unknown; a node's VM is missed; a
	 * VM that may be a child can't be read, its name or moId */
	bool copies_lost, missing;
	char unread[VS_NAME_LEN], unread_said[VS_NAME_LEN];
};
/* All of it, to be read. */
const struct vs_clone_sources *vs_clone_sources_all(void);

/* select.c
 * What the node's VM is to be cloned from, at its hold's place. NULL: there is
 * none yet, and it is on its way (err VS_OK; n->parent->why says how far), or
 * err says why there can be none. */
const struct vs_vm *vs_clone_source_get(struct vs_core *c, struct vs_node *n,
					const struct vs_claim *h,
					int64_t now_ms, struct vs_err *err);
/* The same for a step that only sees to it: 0 or -1. */
int vs_clone_source_prepare(struct vs_core *c, struct vs_node *n,
			    const struct vs_claim *h, int64_t now_ms,
			    struct vs_err *err);
/* Why the node has to wait for its parent, NULL: it doesn't. */
const char *vs_clone_source_waits(const struct vs_node *n);
void vs_clone_sources_forget_calls(struct vs_core *c);	/* the client is gone */
void vs_clone_sources_clear(struct vs_core *c);
/* A call of theirs that has no task yet; one of which the reply is lost; is this
 * task one of theirs? */
bool vs_clone_sources_unanswered(void);
bool vs_clone_sources_unconfirmed(void);
bool vs_clone_sources_task(const char *task);
/* Notes an unfinished task on a clone source, of any user. */
void vs_clone_source_busy(struct vs_core *c, const struct vs_vm *vm,
			  const struct vs_vc_task *task);
/* build.c. False: a call of it is under way, or its effect isn't shown
 * yet. Then: the next call, -1 with err if it can't be sent; destroy it, its
 * record being r. */
bool vs_clone_source_await(struct vs_core *c, struct vs_clone_source *p,
			   int64_t now_ms);
/* Returns true for an error that an administrator must fix, and that is no
 * node's fault. */
bool vs_clone_source_is_setting(const struct vs_err *err);
int vs_clone_source_make(struct vs_core *c, struct vs_clone_source *p,
			 const struct vs_node *n, const struct vs_claim *h,
			 int64_t now_ms, struct vs_err *err);
int vs_clone_source_snap(struct vs_core *c, struct vs_clone_source *p,
			 const struct vs_vm *vm, int64_t now_ms,
			 struct vs_err *err);
/* Those of instant clones are switched on, and off. */
int vs_clone_source_power(struct vs_core *c, struct vs_clone_source *p,
			  const struct vs_vm *vm, bool on, int64_t now_ms,
			  struct vs_err *err);
void vs_clone_source_destroy(struct vs_core *c, struct vs_clone_source *r,
			     const struct vs_vm *vm, int64_t now_ms);
struct vs_clone_source *vs_clone_source_record(struct vs_core *c,
					       const char *id, bool make);
/* "linked/3f0a11c2 datastore-1 host-2" */
void vs_clone_source_key_id(const struct vs_clone_source_key *key,
			    char out[3 * VS_MOID_LEN]);

/* collect.c: which are wanted, and the end of those that aren't */
void vs_clone_sources_update(struct vs_core *c, int64_t now_ms);
/* usage.c: what keeps each that has a record; what a pass asks for. */
void vs_clone_sources_observe(struct vs_core *c, int64_t now_ms);
/* vCenter's word of a VM; of a template, for a profile (its index). */
void vs_clone_source_received(struct vs_core *c, struct vs_vm *vm,
			      const char *mark);
void vs_clone_source_template(struct vs_core *c, size_t profile,
			      const struct vs_vc_template *t);
/* blocked.c: until then there are no clones of that version of a template,
 * and who asks for one hears why. Ended by time, or by an operator. */
void vs_clone_sources_block(struct vs_core *c,
			    const struct vs_clone_source_key *key,
			    int64_t until_ms, const char *why);
void vs_clone_sources_blocks_end(struct vs_core *c, int64_t now_ms);
void vs_clone_sources_try_again(struct vs_core *c);
/* The one that was made last is there and isn't what was asked for: true, and
 * barred, for another one would go the same way. The same without a bar. */
bool vs_clone_source_misplaced_end(struct vs_core *c, struct vs_clone_source *p,
				   int64_t now_ms);
bool vs_clone_source_misplaced(const struct vs_core *c,
			       const struct vs_clone_source *p);
/* n's parent, which is ready, has lost NICs: barred. */
void vs_clone_source_changed(struct vs_core *c, const struct vs_node *n,
			     const struct vs_vm *parent, int64_t now_ms);
/* Would the clone of a node be made of it, as all is now, or isn't that known? */
bool vs_clone_source_wanted(const struct vs_core *c, const struct vs_vm *vm);
int vs_clone_sources_count(const struct vs_core *c);
size_t vs_clone_sources_confirm(int64_t minute);	/* of the removal
							 * limit */
/* Is there a partition whose VMs have some? */
bool vs_clone_sources_asked(const struct vs_conf *conf);
/* There is no VM, and how it would be made. */
enum vs_observed vs_node_observed_none(const struct vs_node *n);
/* host_cost.c: vs_clone_hosts_bare() is found again. A hold of
 * the memory of one that is switched on, as large as like. */
void vs_clone_sources_absent_update(struct vs_core *c);
/* Those that are being made: for vs_clones_requested_subscribe(). */
vs_clones_requested_fn vs_clone_sources_requested;
void vs_clone_source_claim_again(struct vs_core *c, struct vs_clone_source *p,
				 const struct vs_claim *like,
				 const struct vs_vm *vm);
/* build.c: p->name's on p->host, with so much for its disks. */
void vs_clone_source_capacity_take(struct vs_core *c,
				   const struct vs_clone_source *p,
				   const struct vs_claim *like, int64_t mb);
/* unconfirmed_clones.c. The first returns true if the reply to a clone call was lost, and
 * vs_clone_unanswered() if a call has no task. _unshown: it is done, but not shown yet. */
bool vs_clone_unconfirmed(const struct vs_core *c);
/* The reply to the node's clone call was lost, or what it made is known. */
void vs_clone_unconfirmed_set(struct vs_node *n, bool lost);
bool vs_clone_unanswered(const struct vs_core *c);
void vs_unconfirmed_clones_observe(struct vs_core *c);
void vs_unconfirmed_clones_update(struct vs_core *c);
void vs_clone_unshown(struct vs_core *c, const struct vs_node *n,
		      int64_t now_ms);

/* template_host.c: the host on which a profile's template is registered; lock
 * held. Where it was seen; is it there now; what fixes it, to be free()d. */
void vs_template_host_received(struct vs_core *c, size_t profile,
			       const struct vs_vc_template *t);
void vs_template_hosts_update(struct vs_core *c);
char *vs_template_host_fix(const struct vs_core *c, size_t profile);
/* Did the node's clone on that host (moId) fail because the template's isn't there,
 * or may it have? */
bool vs_template_host_failed(const struct vs_core *c, const struct vs_node *n,
			     const char *host, const struct vs_err *err);

#endif
