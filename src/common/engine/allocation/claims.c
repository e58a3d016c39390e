/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Holds and where they lie: taking them for a gang or for one node, moving
 * them to where vCenter shows the NIC, letting them go. The sums are
 * plan/allocation/ledger's. The lock is held throughout.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/allocation/allocation.h"
#include "engine/hosts/hosts.h"
#include "engine/inventory/inventory.h"
#include "engine/state/state.h"
#include "engine/tasks/tasks.h"
#include "engine/vmspec/vmspec.h"
#include "util/crash.h"
#include "util/mem.h"
#include "util/time.h"

static uint64_t questions, question;	/* the number of all; of this one, 0: none */

uint64_t vs_question(void)
{
	return question;
}

/* ---- who hears of claims ---------------------------------------------------- */

static vs_claim_fn *const *subscribers;
static size_t nsubscribers;

void vs_claims_subscribe(vs_claim_fn *const *list, size_t n)
{
	subscribers = list;
	nsubscribers = n;
}

void vs_claim_changed(struct vs_core *c, struct vs_node *n,
		      enum vs_claim_event e, const struct vs_claim *before)
{
	for (size_t i = 0; i < nsubscribers; i++)
		subscribers[i](c, n, e, before);
}

/* ---- placement ------------------------------------------------------------ */

static enum vs_policy policy_of(const struct vs_conf *conf)
{
	const char *p = conf->placement ? conf->placement : "";

	return !strcasecmp(p, "pack") ? VS_PLACE_PACK :
	       !strcasecmp(p, "spread") ? VS_PLACE_SPREAD : VS_PLACE_BALANCE;
}

static struct vs_free_capacity sums;

struct vs_free_capacity *vs_free_capacity_cached(void)
{
	return &sums;
}

struct vs_free_capacity *vs_free_capacity_get(struct vs_core *c)
{
	vs_assert_locked();
	vs_free_capacity_update(&sums, &c->ledger, &c->inv, c->folder,
				c->cluster_id);
	return &sums;
}

void vs_env_fill(struct vs_core *c, struct vs_place_env *env)
{
	vs_assert_locked();
	*env = (struct vs_place_env) {
		.inv = &c->inv,
		.ledger = &c->ledger,
		.sums = vs_free_capacity_get(c),
		.folder = c->folder,
		.cluster_id = c->cluster_id,
		.policy = policy_of(c->conf),
		.rails = c->rails,
		.nrails = c->nrails,
		.store = c->store[0] ? c->store : NULL,
		.clusters = (const char **)c->cluster_moids,
		.avoid = vs_exclusion_explain,
		.arg = c,
		.bars = vs_exclusion_blocks(c),
		.bare = vs_clone_hosts_bare(c),
		.profiles = c->profiles,
	};
}

struct vs_place_tables vs_tables_get(const struct vs_core *c)
{
	vs_assert_locked();
	return (struct vs_place_tables) {
		.adapters = c->adapters,
		.nets = c->nets,
		.profiles = c->profiles,
		.nadapters = c->conf->nadapters,
		.nprofiles = c->nprofiles,
	};
}

void vs_env_budget(struct vs_core *c, struct vs_place_env *env)
{
	vs_assert_locked();
	env->ops = vs_tasks_by_host(c);
	env->ops_max = c->conf->max_ops_per_host;
}

void vs_place_node_fill(struct vs_core *c, const struct vs_node *n,
			struct vs_place_node *to)
{
	struct vs_vm *vm = vs_node_vm(c, n);
	const char *wish = vs_node_preferred_host(n, vm);

	*to = (struct vs_place_node) {
		.node = n->name,
		.profile = n->profile,
		.net = n->net,
		.prefer_host = wish ? wish : vm ? vm->host :
			n->op.kind == VS_OP_CLONE ? n->op.host : NULL,
		.wished = wish != NULL,
		.exists = vm && (n->profile->clone != VS_CLONE_INSTANT ||
				 vm->power != VS_POWER_OFF), /* recreated */
		.store = vs_vm_datastore(c, vm),
	};
}

void vs_claim_fill(const struct vs_profile *profile,
		   const struct vs_place_node *at, uint32_t job,
		   struct vs_claim *out)
{
	*out = (struct vs_claim) {
		.id = -1,
		.nvfs = at->npfs,
		.state = VS_CLAIM_RESERVED,
		.cpu_mhz = vs_profile_cpu_mhz(profile, at->host->core_mhz),
		.mem_mb = vs_profile_reserved_mb(profile) +
			vs_profile_overhead_mb(profile),
		.disk_mb = at->moves ? vs_profile_moved_mb(profile) :
			profile->disk_mb,
		.swap_mb = vs_profile_swap_mb(profile),
		.moves = at->moves,
		.job = job,
		.vcpus = profile->vcpus,
		.memory_mb = profile->memory_mb,
	};
	vs_strlcpy(out->host, at->host->moid, sizeof(out->host));
	vs_strlcpy(out->store, at->to_store ? at->to_store : "",
		   sizeof(out->store));
	for (int i = 0; i < at->npfs; i++) {
		vs_strlcpy(out->vfs[i].pf, at->pfs[i]->pci, VS_PCI_LEN);
		out->vfs[i].automatic = at->pf_automatic && !at->pfs[i]->of;
	}
}

void vs_claim_build(struct vs_core *c, const struct vs_node *n,
		    const struct vs_place_node *at, uint32_t job,
		    struct vs_claim *out)
{
	struct vs_vm *vm = vs_node_vm(c, n);

	vs_claim_fill(n->profile, at, job, out);
	vs_strlcpy(out->node, n->name, sizeof(out->node));
	out->id = n->id;
	vs_strlcpy(out->vm, vm ? vm->moid : "", sizeof(out->vm));
}

/* Returns 0. Returns -1, with the cause logged, if the ledger refuses it: the
 * node has a hold already, or one that can't be. Nothing is held then. */
static int hold_take(struct vs_core *c, struct vs_node *n,
		     const struct vs_place_node *at, uint32_t job)
{
	bool made = vs_clones_needed(c, n, job);
	struct vs_claim hold;
	char pfs[VS_PFS_LEN];
	struct vs_err err;

	vs_crash_before("hold", "take");
	vs_claim_build(c, n, at, job, &hold);
	if (vs_ledger_take(&c->ledger, &hold, &err)) {
		vs_error("bug: %s node=%s", err.text, n->name);
		return -1;
	}
	vs_node_mark_changed(n);
	vs_clones_owe(n, made);
	vs_stores_disks(c, n, 0);
	vs_claim_changed(c, n, VS_CLAIM_TAKEN, NULL);
	vs_debug("claim taken JobId=%u node=%s host=%s pf=%s", job, n->name,
		 at->host->name, hold.nvfs ? vs_claim_pfs(&hold, pfs) : "-");
	vs_crash_after("hold", "take");
	return 0;
}

int vs_claim_request(struct vs_core *c, const struct vs_node *n,
		     struct vs_place_node *to, struct vs_err *err)
{
	const char *lacks = vs_clone_blocked(c, n);

	vs_assert_locked();
	if (lacks)
		return vs_err_set(err, VS_E_SHORTAGE, "%s", lacks);
	vs_place_node_fill(c, n, to);
	return 0;
}

static int places(struct vs_core *c, const struct vs_place_env *env,
		  struct vs_node **nodes, size_t n, struct vs_place_node *out,
		  struct vs_err *err)
{
	for (size_t i = 0; i < n; i++)
		if (vs_claim_request(c, nodes[i], &out[i], err))
			return -1;
	return vs_place(env, out, n, err);
}

static int hold_placed(struct vs_core *c, const struct vs_place_env *env,
		       struct vs_node **nodes, size_t n, uint32_t job,
		       struct vs_err *err)
{
	VS_FREE struct vs_place_node *place = vs_calloc(n + 1, sizeof(*place));

	if (places(c, env, nodes, n, place, err))
		return -1;
	for (size_t i = 0; i < n; i++) {
		if (hold_take(c, nodes[i], &place[i], job)) {
			vs_err_set(err, VS_E_BUG, "no claim could be taken for %s",
				   nodes[i]->name);
			while (i)
				vs_claim_release(c, nodes[--i]);
			return -1;
		}
		vs_breaker_tried(place[i].host, nodes[i]->name);
	}
	vs_clones_assess(c);
	return 0;
}

/* Place and hold all of these, which have no hold yet; all or none. */
int vs_claim_take_gang(struct vs_core *c, struct vs_node **nodes, size_t n,
		       uint32_t job, struct vs_err *err)
{
	struct vs_place_env env;

	vs_env_fill(c, &env);
	vs_env_budget(c, &env);
	return hold_placed(c, &env, nodes, n, job, err);
}

/* For a job that has begun: its call waits for the host's budget itself. */
int vs_claim_take(struct vs_core *c, struct vs_node *n, struct vs_err *err)
{
	struct vs_place_env env;

	vs_env_fill(c, &env);
	return hold_placed(c, &env, &n, 1, n->claims.job, err);
}

void vs_claim_release(struct vs_core *c, struct vs_node *n)
{
	struct vs_claim *h = vs_ledger_get(&c->ledger, n->name), was;
	char pfs[VS_PFS_LEN];

	if (!h)
		return;
	was = *h;
	vs_crash_before("hold", "drop");
	vs_debug("claim released node=%s host=%s pf=%s", n->name, h->host,
		 h->nvfs ? vs_claim_pfs(h, pfs) : "-");
	vs_stores_disks(c, n, h->disk_mb);
	vs_ledger_release(&c->ledger, n->name);
	vs_clones_owe(n, false);
	vs_node_mark_changed(n);
	vs_claim_changed(c, n, VS_CLAIM_RELEASED, &was);
	vs_capacity_freed();
	vs_crash_after("hold", "drop");
}

/* The node's own place counts as free meanwhile, other hosts as left out. The
 * node keeps the hold that it has unless the new one is taken. */
int vs_claim_move(struct vs_core *c, struct vs_node *n,
		  const struct vs_host *to)
{
	struct vs_claim *h = vs_ledger_get(&c->ledger, n->name), was;
	struct vs_place_node at;
	struct vs_place_env env;
	struct vs_err err = { 0 };

	if (!h || h->state != VS_CLAIM_RESERVED)
		return -1;
	was = *h;
	vs_ledger_release(&c->ledger, n->name);
	vs_env_fill(c, &env);
	for (int i = 0; i < c->inv.nhosts; i++)
		vs_exclusion_blocks_cached()[i].avoided |= i != to->index;
	vs_place_node_fill(c, n, &at);
	if (vs_place(&env, &at, 1, &err) ||
	    hold_take(c, n, &at, was.job)) {
		if (vs_ledger_take(&c->ledger, &was, &err))
			vs_error("bug: %s", err.text);
		return -1;
	}
	vs_breaker_tried(to, n->name);
	vs_capacity_freed();
	return 0;
}

/* ---- keeping holds true to what vCenter shows ------------------------------ */

/* Some NIC's PF isn't shown, or it is where the hold says. */
static bool nics_agree(const struct vs_claim *h,
			const struct vs_claim_vf *vfs, int n)
{
	for (int i = 0; i < n; i++)
		if (!vfs[i].pf[0])
			return true;
	return !n || vs_claim_is_on(h, vfs, n);
}

static bool power_on_unfinished(const struct vs_node *n)
{
	return n->op.kind == VS_OP_POWER_ON ||
	       (n->op.kind == VS_OP_ADOPTED && n->op.id);
}

/* The VM is on: its hold is where it runs, even if another user moved it. */
static void hold_seen(struct vs_core *c, struct vs_node *n, struct vs_vm *vm)
{
	struct vs_claim *h = vs_ledger_get(&c->ledger, n->name), was;
	struct vs_place_node at = { .host = vm->host_ptr };
	struct vs_claim_vf vfs[VS_NICS_MAX];
	int nvfs = vs_node_nics(n, vm, vfs);

	if (!vm->host_ptr)
		return;
	if (!h) {
		hold_take(c, n, &at, n->claims.job);
		h = vs_ledger_get(&c->ledger, n->name);
		if (!h)
			return;
		if (nvfs && vfs[0].pf[0])
			vs_ledger_move(&c->ledger, h, vm->host, vfs, nvfs);
	}
	if (strcmp(h->host, vm->host) || !nics_agree(h, vfs, nvfs)) {
		was = *h;
		vs_ledger_move(&c->ledger, h, vm->host, vfs, nvfs);
		vs_node_mark_changed(n);
		if (strcmp(was.host, vm->host))
			vs_claim_changed(c, n, VS_CLAIM_MOVED, &was);
	}
	vs_ledger_set_vm(&c->ledger, h, vm->moid);
	vs_datastores_claimed(c, h, vm);
	if (h->state == VS_CLAIM_RESERVED)
		vs_ledger_set_state(&c->ledger, h, VS_CLAIM_STARTING);
	if (h->state == VS_CLAIM_STARTING)
		vs_ledger_set_state(&c->ledger, h, VS_CLAIM_IN_USE);
}

static bool elsewhere(void *arg, const struct vs_host *h,
		      const struct vs_pf *pf, char *why, size_t size)
{
	(void)pf;
	(void)why;
	(void)size;
	return strcmp(h->moid, arg) != 0;
}

/* For its VM, which isn't on, where it is. NULL: there is no room. */
static struct vs_claim *hold_here(struct vs_core *c, struct vs_node *n,
				  const struct vs_vm *vm)
{
	struct vs_err err = { 0 };
	struct vs_place_node at;
	struct vs_place_env env;

	vs_env_fill(c, &env);
	env.avoid = elsewhere;
	env.arg = (void *)vm->host;
	env.bars = NULL;
	vs_place_node_fill(c, n, &at);
	if (vs_place(&env, &at, 1, &err))
		return NULL;
	hold_take(c, n, &at, n->claims.job);
	return vs_ledger_get(&c->ledger, n->name);
}

/*
 * A task of before us is under way on this VM. On one that is off it may be a
 * power-on, whose VF nothing shows yet: where no place can be had on that host
 * no other VM is placed there either. One that is on may move.
 */
void vs_claim_adopt(struct vs_core *c, struct vs_node *n, struct vs_vm *vm)
{
	struct vs_claim_vf vfs[VS_NICS_MAX];
	int nvfs = vs_node_nics(n, vm, vfs);
	struct vs_claim *h;

	if (vm->power == VS_POWER_ON)
		vs_claim_changed(c, n, VS_CLAIM_ADOPTED, NULL);
	if (vm->power == VS_POWER_ON || vs_ledger_get(&c->ledger, n->name))
		return;
	h = hold_here(c, n, vm);
	if (!h)
		return;
	if (nvfs && vfs[0].pf[0])
		vs_ledger_move(&c->ledger, h, vm->host, vfs, nvfs);
	vs_ledger_set_state(&c->ledger, h, VS_CLAIM_STARTING);
}

/* Returns true if the node still needs a VM. */
static bool hold_needed(const struct vs_node *n)
{
	return n->wanted == VS_DESIRED_READY || n->wanted == VS_DESIRED_ON ||
	       n->wanted == VS_DESIRED_RENEW;
}

void vs_claim_sync(struct vs_core *c, struct vs_node *n)
{
	struct vs_vm *vm = vs_node_vm(c, n);
	struct vs_claim *h;
	struct vs_claim again;
	struct vs_err err;

	if (n->absent.how ||
	    (vm && (!vm->readable || vm->power == VS_POWER_UNKNOWN)))
		return;		/* unknown is never gone */
	if (vm && vm->power == VS_POWER_ON &&
	    vs_vm_owner(vm, c->folder, c->cluster_id) == VS_OWNER_MANAGED) {
		hold_seen(c, n, vm);
		return;
	}
	h = vs_ledger_get(&c->ledger, n->name);
	if (!h)
		return;
	/* A clone that is there: its disks need no room any more. */
	if (vm && vs_vm_owner(vm, c->folder, c->cluster_id) == VS_OWNER_MANAGED)
		vs_ledger_set_vm(&c->ledger, h, vm->moid);
	if (power_on_unfinished(n))
		return;
	/* The call was sent, and its outcome is unknown. */
	if (h->state == VS_CLAIM_STARTING && n->retry.look_after > c->slow_seq)
		return;
	if (!hold_needed(n)) {
		/* Our own clone or reconfiguration may still need the place. */
		if (!n->op.id)
			vs_claim_release(c, n);
		return;
	}
	if (h->state == VS_CLAIM_IN_USE &&
	    (h->nvfs != vs_adapter_takes(n->profile->adapter) ||
	     !vs_stores_right(c, h))) {
		/* No PF was ever shown, or it had another number of NICs, or
		 * no datastore: find a place again. */
		vs_claim_release(c, n);
	} else if (h->state == VS_CLAIM_IN_USE) {
		/* Off for a rebuild: what it had is promised to it again. */
		again = *h;
		again.state = VS_CLAIM_RESERVED;
		vs_ledger_release(&c->ledger, n->name);
		if (vs_ledger_take(&c->ledger, &again, &err))
			vs_error("bug: %s", err.text);
	} else if (h->state == VS_CLAIM_STARTING) {
		vs_ledger_set_state(&c->ledger, h, VS_CLAIM_RESERVED);
	}
}

/*
 * I1: a power-on is sent only to a PF that has room for it by what vCenter
 * has delivered and our own unfinished power-ons. Our own hold is in the sum
 * already, so that the sum may be 0.
 */
bool vs_claim_fits(struct vs_core *c, struct vs_node *n)
{
	struct vs_claim *h = vs_ledger_get(&c->ledger, n->name);
	struct vs_host *host = h ? vs_host_get(&c->inv, h->host) : NULL;
	const struct vs_pf_use *use;
	struct vs_pf *pf;

	if (!host || !vs_host_usable(host))
		return false;
	for (int i = 0; i < h->nvfs; i++) {
		pf = vs_host_pf(host, h->vfs[i].pf);
		/* a new configuration may give it to others */
		if (!pf || !vs_pf_serves(n->profile->adapter, n->net, pf))
			return false;
		use = &vs_free_capacity_get(c)->hosts[host->index].pf
			       [pf - host->pfs];
		if (use->unknown || use->free < 0)
			return false;
	}
	return true;
}

const char *vs_clone_blocked(struct vs_core *c, const struct vs_node *n)
{
	const char *missing = c->now[n->profile - c->profiles].missing;

	/* vCenter takes no second one of its name. */
	if (vs_node_is(n, VS_COND_DECLARED_LOST) && vs_node_vm(c, n))
		return "its VM was declared lost but is still registered: unregister the VM first";
	return missing[0] && !vs_node_vm(c, n) ? missing : NULL;
}

/* ---- room, cached per profile ---------------------------------------------- */

const struct vs_profile_capacity *vs_capacity_profile(struct vs_core *c,
						      size_t profile)
{
	struct vs_profile_capacity *r = &c->now[profile];
	struct vs_profile *p = &c->profiles[profile];
	struct vs_place_env env;
	struct vs_place_node node;

	if (vs_question() && r->question == vs_question())
		return r;
	r->question = vs_question();
	if (r->sums == vs_free_capacity_get(c)->generation &&
	    r->seen == r->facts && r->avoid == vs_exclusion_key())
		return r;
	vs_env_fill(c, &env);
	node = (struct vs_place_node) {
		.node = "", .profile = p,
		.net = &c->nets[p->adapter - c->adapters],
	};
	r->room[0] = r->room[1] = vs_place_count(&env, &node, c->nnodes,
						 r->why[0], sizeof(r->why[0]));
	r->why[1][0] = '\0';
	/* those that exist need less of what they share, and no parent */
	node.exists = true;
	if (r->why[0][0] || p->clone == VS_CLONE_INSTANT)
		r->room[1] = vs_place_count(&env, &node, c->nnodes,
					    r->why[1], sizeof(r->why[1]));
	if (r->missing[0]) {
		r->room[0] = 0;
		vs_strlcpy(r->why[0], r->missing, sizeof(r->why[0]));
	}
	r->sums = sums.generation;
	r->seen = r->facts;
	r->avoid = vs_exclusion_key();
	return r;
}

const struct vs_profile_capacity *vs_capacity_get(struct vs_core *c,
						  const struct vs_node *like)
{
	return vs_capacity_profile(c, (size_t)(like->profile - c->profiles));
}

void vs_capacity_recount(struct vs_core *c)
{
	vs_assert_locked();
	for (size_t i = 0; i < c->nprofiles; i++)
		vs_capacity_profile(c, i);
}

size_t vs_capacity_count(struct vs_core *c, const struct vs_node *like)
{
	return vs_capacity_get(c, like)->room[like->kept->exists];
}

/* ---- questions ------------------------------------------------------------------ */

void vs_query_begin(void)
{
	question = ++questions;
}

void vs_query_end(void)
{
	question = 0;
}
