/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vCenter's events into the inventory: the one file that knows both the
 * client's types and the plan's. Callbacks run in the engine's thread without
 * the lock, take it, and change memory only.
 */
#include <stdlib.h>
#include <string.h>
#include "engine/state/core_i.h"
#include "engine/vmspec/guest_words.h"
#include "engine/vmspec/hardware.h"
#include "engine/inventory/inventory.h"
#include "engine/inventory/device_ids.h"
#include "engine/persist/login_backoff.h"
#include "engine/clone_source/clone_source.h"
#include "plan/allocation/shared_capacity.h"
#include "util/mem.h"
#include "util/time.h"

static void strings_free(char ***list)
{
	for (char **s = *list; s && *s; s++)
		free(*s);
	free(*list);
	*list = NULL;
}

/* ---- names ---------------------------------------------------------------- */

static void found_clusters(struct vs_core *c, const struct vs_vc_found *f)
{
	strings_free(&c->cluster_moids);
	strings_free(&c->pool_moids);
	c->cluster_moids = vs_calloc(f->nclusters + 1, sizeof(char *));
	c->pool_moids = vs_calloc(f->nclusters + 1, sizeof(char *));
	for (size_t i = 0; i < f->nclusters; i++) {
		c->cluster_moids[i] = vs_strdup(f->clusters[i].moid);
		c->pool_moids[i] = vs_strdup(f->clusters[i].pool_moid);
	}
	vs_guards_set(c, f->clusters, f->nclusters);
}

static void template_apply(struct vs_core *c, const struct vs_vc_template *t)
{
	for (size_t i = 0; i < c->nprofiles; i++) {
		struct vs_profile *p = &c->profiles[i];

		if (strcmp(p->template_name, t->name))
			continue;
		vs_strlcpy(p->template_moid, t->moid,
			   sizeof(p->template_moid));
		vs_strlcpy(p->template_version, t->change_version,
			   sizeof(p->template_version));
		p->template_hw = t->hw;
		vs_hardware_template(p, t);
		vs_strlcpy(c->now[i].missing, t->missing ? t->missing : "",
			   sizeof(c->now[i].missing));
		vs_parent_template(c, i, t);	/* may add to it */
		vs_template_host_told(c, i, t);	/* likewise */
		c->now[i].sums = 0;	/* more or less may fit */
	}
	vs_checks_template(c, t);
	if (t->missing)
		vs_error("%s", t->missing);
	c->vf_freed = true;
	vs_profiles_changed(c);
}

/* For the next slurmctld, which may come soon. */
static void note_login(struct vs_core *c, bool taken)
{
	VS_FREE char *dir = NULL, *user = NULL, *file = NULL;

	vs_lock();
	dir = vs_strdup(c->conf->state_dir ? c->conf->state_dir : "");
	user = vs_strdup(c->conf->username ? c->conf->username : "");
	file = vs_strdup(c->conf->password_file ? c->conf->password_file : "");
	vs_unlock();
	if (taken)
		vs_login_taken(dir);
	else
		vs_login_refused(dir, user, file);
}

static void ev_up(void *arg, const struct vs_vc_found *f)
{
	struct vs_core *c = arg;

	note_login(c, true);
	vs_lock();
	found_clusters(c, f);
	vs_strlcpy(c->folder, f->folder, sizeof(c->folder));
	vs_stores_found(c, f);
	vs_strlcpy(c->vc_user, f->user, sizeof(c->vc_user));
	for (size_t i = 0; i < c->conf->nadapters; i++)
		for (size_t k = 0; k < f->nnetworks; k++) {
			const struct vs_vc_network *net = &f->networks[k];
			struct vs_network *to = &c->nets[i];

			if (strcmp(net->name, c->adapters[i].network))
				continue;
			vs_strlcpy(to->moid, net->moid, sizeof(to->moid));
			vs_strlcpy(to->switch_uuid, net->switch_uuid,
				   sizeof(to->switch_uuid));
			vs_strlcpy(to->portgroup_key, net->portgroup_key,
				   sizeof(to->portgroup_key));
			to->nsx = net->nsx;
			to->opaque = net->opaque;
			to->accepts = net->accepts;
		}
	for (size_t k = 0; k < f->ntemplates; k++)
		template_apply(c, &f->templates[k]);
	c->vmotions.release = vs_release_parse(f->release);
	vs_clone_way_found(c, f);
	c->found = true;
	vs_nodes_touch(c);
	vs_unlock();
	vs_info("vCenter is there: %s release=%s", f->about, f->release);
}

static void ev_template(void *arg, const struct vs_vc_template *t)
{
	vs_lock();
	template_apply(arg, t);
	vs_unlock();
	if (!t->missing)
		vs_info("template %s has changed: warm VMs are rebuilt when next used",
			t->name);
}

static void ev_down(void *arg, const struct vs_err *err)
{
	struct vs_core *c = arg;
	VS_FREE char *text = NULL;	/* for those who don't know paths */

	vs_lock();
	c->loaded = c->ready = false;
	if (!c->vc_state[0])
		c->vc_since_ms = vs_wall_ms();
	vs_vc_state_set(c, err->text);
	if (!strstr(c->vc_state, "vCenter")) {
		text = vs_asprintf("vCenter: %s", err->text);
		vs_vc_state_set(c, text);
	}
	vs_op_forget_all(c);
	vs_offers_down(c);
	vs_nodes_touch(c);
	vs_unlock();
	if (err->code == VS_E_RETRY || err->code == VS_E_RELOGIN)
		vs_info("vCenter is away: %s", err->text);
	else
		vs_error("%s", err->text);
	if (err->code == VS_E_LOGIN)
		note_login(c, false);
}

/* ---- the load: what is not delivered until its end has gone --------------- */

static void ev_load_begin(void *arg)
{
	struct vs_core *c = arg;
	struct vs_host *h, *ht;
	struct vs_vm *vm, *vt;

	vs_lock();
	c->loaded = c->ready = false;
	vs_nodes_touch(c);
	c->load_seq++;
	for (h = c->inv.hosts; h; h = ht) {
		ht = h->hh.next;
		vs_inventory_remove_host(&c->inv, h->moid);
	}
	for (vm = c->inv.vms; vm; vm = vt) {
		vt = vm->hh.next;
		vs_inventory_remove_vm(&c->inv, vm->moid);
	}
	vs_room_forget(&c->inv);
	vs_unlock();
}

static void ev_load_end(void *arg)
{
	struct vs_core *c = arg;

	vs_lock();
	c->loaded = true;
	vs_nodes_touch(c);
	c->vc_state[0] = '\0';
	c->vc_since_ms = vs_wall_ms();
	/* Tasks under way are adopted before anything is begun. */
	c->slow_want = c->slow_seq + 1;
	vs_unlock();
	vs_vc_slow_now(c->vc);
	vs_info("inventory loaded: hosts=%d vms=%u", c->inv.nhosts,
		HASH_COUNT(c->inv.vms));
}

/* ---- hosts ---------------------------------------------------------------- */

static bool net_asked(const struct vs_core *c, const char *moid)
{
	for (size_t i = 0; i < c->conf->nadapters; i++)
		if (!strcmp(c->nets[i].moid, moid))
			return true;
	return false;
}

/* A host may have hundreds; those that placement asks for are never the ones
 * that find no room in our table. */
static int list_copy(const struct vs_core *c,
		     bool (*asked)(const struct vs_core *, const char *),
		     const char *const *from, size_t n,
		     char to[][VS_MOID_LEN], int max)
{
	int kept = 0;

	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < n && kept < max; i++)
			if (asked(c, from[i]) == !pass)
				vs_strlcpy(to[kept++], from[i], VS_MOID_LEN);
	return kept;
}

static void host_lists(const struct vs_core *c, struct vs_host *to,
		       const struct vs_vc_host *h)
{
	if (h->has & VS_VC_HOST_NETS)
		to->nnets = list_copy(c, net_asked, h->nets, h->nnets,
				      to->nets, VS_HOST_NETS);
	if (!(h->has & VS_VC_HOST_STORES))
		return;
	to->stores_known = true;
	to->nstores = list_copy(c, vs_stores_asked, h->stores, h->nstores,
				to->stores, VS_HOST_STORES);
}

static int host_vfs(const struct vs_host *h)
{
	int vfs = 0;

	for (int i = 0; i < h->npfs; i++)
		vfs += h->pfs[i].vfs;
	return vfs;
}

static const char *leaf_of(const struct vs_core *c, const char *host)
{
	for (size_t i = 0; i < c->conf->nhosts; i++)
		if (!strcmp(c->conf->hosts[i].name, host))
			return c->conf->hosts[i].leaf;
	return NULL;
}

static void ev_host(void *arg, const struct vs_vc_host *h)
{
	struct vs_core *c = arg;
	struct vs_host *to;
	const char *leaf;
	int vfs;

	vs_lock();
	to = vs_inventory_host(&c->inv, h->moid);
	vfs = host_vfs(to);
	if (h->has & VS_VC_HOST_NAME) {
		vs_host_set_name(&c->inv, to, h->name);
		leaf = leaf_of(c, h->name);
		vs_strlcpy(to->leaf, leaf ? leaf : "", sizeof(to->leaf));
	}
	if (h->has & VS_VC_HOST_PARENT)
		vs_strlcpy(to->cluster, h->cluster, sizeof(to->cluster));
	if (h->has & VS_VC_HOST_STATE) {
		to->connected = h->connected;
		to->powered_on = h->powered_on;
		to->maintenance = h->maintenance;
		to->quarantine = h->quarantine;
		to->standby = h->standby;
	}
	if (h->has & VS_VC_HOST_HW) {
		if (to->core_mhz != h->core_mhz)
			vs_hosts_reordered(&c->inv);
		to->cores = h->cores;
		to->core_mhz = h->core_mhz;
		to->cpu_mhz = h->cpu_mhz;
		to->memory_mb = h->memory_mb;
		to->numa_nodes = h->numa_nodes;
		to->max_hw = h->max_hw;
	}
	if (h->has & VS_VC_HOST_PFS)
		vs_host_rows(c, to, h);
	if (h->unreadable)	/* until all of it is told again */
		to->pfs_known = false;
	host_lists(c, to, h);
	vs_facts_set(c, to, h);
	vs_drift_look(c, to);
	if (host_vfs(to) < vfs)
		vs_drift_overcommit(c, to);
	vs_nodes_touch_on(c, to);
	vs_host_changed(&c->inv, to);
	c->vf_freed = true;
	vs_unlock();
}

static void ev_host_gone(void *arg, const char *moid)
{
	struct vs_core *c = arg;
	const struct vs_host *h;

	vs_lock();
	h = vs_host_get(&c->inv, moid);
	if (h)
		vs_nodes_touch_on(c, h);
	vs_inventory_remove_host(&c->inv, moid);
	vs_unlock();
}

/* ---- VMs ------------------------------------------------------------------ */

static void vm_cards(struct vs_vm *to, const struct vs_vc_vm *v)
{
	to->ncards = 0;
	for (size_t i = 0; i < v->ncards && to->ncards < VS_VM_CARDS; i++) {
		const struct vs_vc_card *from = &v->cards[i];
		struct vs_card *card = &to->cards[to->ncards++];

		memset(card, 0, sizeof(*card));
		/* Both enums are written in the same order. */
		card->kind = (enum vs_card_kind)from->kind;
		card->key = from->key;
		vs_strlcpy(card->mac, from->mac ? from->mac : "",
			   sizeof(card->mac));
		vs_strlcpy(card->network, from->portgroup_key &&
			   from->portgroup_key[0] ? from->portgroup_key :
			   from->network ? from->network : "",
			   sizeof(card->network));
		vs_strlcpy(card->switch_uuid,
			   from->switch_uuid ? from->switch_uuid : "",
			   sizeof(card->switch_uuid));
		vs_strlcpy(card->pci, from->pci ? from->pci : "",
			   sizeof(card->pci));
		card->vendor = (uint16_t)from->vendor;
		card->device = (uint16_t)from->device;
		card->automatic = from->automatic;
		card->mtu_change_allowed = from->mtu_change_allowed;
	}
}
_Static_assert((int)VS_CARD_PCI_DYNAMIC == (int)VS_VC_CARD_PCI_DYNAMIC &&
	       (int)VS_CARD_PCI_VGPU == (int)VS_VC_CARD_PCI_VGPU &&
	       (int)VS_CARD_SRIOV == (int)VS_VC_CARD_SRIOV &&
	       (int)VS_CARD_VMXNET3 == (int)VS_VC_CARD_VMXNET3,
	       "the client's and the plan's card kinds go together");

static void vm_config(struct vs_core *c, struct vs_vm *to,
		      const struct vs_vc_vm *v)
{
	if (v->has & VS_VC_VM_CONFIG) {
		to->is_template = v->is_template;
		to->vcpus = v->vcpus;
		to->memory_mb = v->memory_mb;
		to->cpu_reserved_mhz = v->cpu_reserved_mhz;
		to->mem_reserved_mb = v->mem_reserved_mb;
		to->mem_locked = v->mem_locked;
		to->latency_high = v->latency_high;
		vs_strlcpy(to->numa, v->numa ? v->numa : "",
			   sizeof(to->numa));
		vs_strlcpy(to->uuid, v->uuid ? v->uuid : "", sizeof(to->uuid));
		vs_strlcpy(to->bios_uuid, v->bios_uuid, sizeof(to->bios_uuid));
		vs_strlcpy(to->change_version,
			   v->change_version ? v->change_version : "",
			   sizeof(to->change_version));
	}
	if (v->has & VS_VC_VM_MARK) {
		vs_vm_set_mark(to, v->owner_mark);
		vs_strlcpy(to->profile, v->profile ? v->profile : "",
			   sizeof(to->profile));
		vs_strlcpy(to->job_tag, v->job_tag ? v->job_tag : "",
			   sizeof(to->job_tag));
		vs_strlcpy(to->from, v->from ? v->from : "", sizeof(to->from));
		vs_parent_told(c, to, v->parent);
	}
	if (v->has & VS_VC_VM_WORDS && v->guest)
		vs_guest_words_seen(c, to, v->guest);
	if (v->has & VS_VC_VM_DISKS) {
		vs_strlcpy(to->disk_dir, v->disk_dir ? v->disk_dir : "",
			   sizeof(to->disk_dir));
		to->disks_own = v->disks_own;
		vs_vm_set_bases(to, v->bases);
	}
	to->frozen = v->has & VS_VC_VM_FROZEN ? v->frozen : to->frozen;
	if (v->has & VS_VC_VM_SNAPSHOT)
		vs_strlcpy(to->snapshot, v->snapshot ? v->snapshot : "",
			   sizeof(to->snapshot));
}

static enum vs_power power_of(const char *s)
{
	return !strcmp(s, "poweredOn") ? VS_POWER_ON :
	       !strcmp(s, "poweredOff") ? VS_POWER_OFF :
	       !strcmp(s, "suspended") ? VS_POWER_SUSPENDED : VS_POWER_UNKNOWN;
}

static void touch_named(struct vs_core *c, const char *name)
{
	struct vs_node *n = vs_node_named(c, name);

	if (n)
		vs_node_touch(n);
}

static void guest_says(struct vs_vm *to, const struct vs_vc_vm *v)
{
	vs_strlcpy(to->guest_state, v->guest_state ? v->guest_state : "",
		   sizeof(to->guest_state));
	vs_strlcpy(to->guest_reason, v->guest_reason ? v->guest_reason : "",
		   sizeof(to->guest_reason));
}

/* A guest may write its state as often as it likes. While its node is up nothing
 * depends on that, so no node is looked at and no capacity counted again. */
static bool only_guest_says(struct vs_core *c, const struct vs_vm *to,
			    const struct vs_vc_vm *v)
{
	const struct vs_node *n = vs_node_named(c, to->name);

	return v->has == VS_VC_VM_GUEST && !v->unreadable && n &&
	       (n->flags & VS_NODE_UP) && vs_node_vm(c, n) == to;
}

static void ev_vm(void *arg, const struct vs_vc_vm *v)
{
	struct vs_core *c = arg;
	struct vs_vm *to;
	bool unsure;

	vs_lock();
	to = vs_inventory_vm(&c->inv, v->moid);
	if (only_guest_says(c, to, v)) {
		guest_says(to, v);
		vs_unlock();
		return;
	}
	unsure = vs_node_vm_unsure(to);
	touch_named(c, to->name);
	if (v->has & VS_VC_VM_NAME) {
		vs_vm_set_name(&c->inv, to, v->name);
		touch_named(c, to->name);
	}
	if (v->has & VS_VC_VM_PARENT)
		vs_vm_set_folder(&c->inv, to, v->folder ? v->folder : "");
	if (v->has & VS_VC_VM_HOST)
		vs_vm_set_host(&c->inv, to, v->host ? v->host : "");
	if (v->has & VS_VC_VM_POOL)
		vs_strlcpy(to->pool, v->pool, sizeof(to->pool));
	if (v->has & VS_VC_VM_CONN)
		to->connected = v->connected;
	if (v->has & VS_VC_VM_POWER) {
		enum vs_power power = power_of(v->power);

		if (to->power == VS_POWER_ON && power != VS_POWER_ON)
			c->vf_freed = true;
		if (to->power != power)	/* said by an earlier boot */
			to->guest_state[0] = to->guest_reason[0] = '\0';
		to->power = power;
	}
	if (v->has & VS_VC_VM_CARDS)
		vm_cards(to, v);
	if (v->has & VS_VC_VM_GUEST)
		guest_says(to, v);
	if (v->has & VS_VC_VM_TOOLS)
		to->tools_running = v->tools_running;
	vm_config(c, to, v);
	/* Cards that don't fit into our table may hold VFs. */
	if (v->unreadable ||
	    ((v->has & VS_VC_VM_CARDS) && v->ncards > VS_VM_CARDS))
		to->readable = false;
	else if ((v->has & VS_VC_VM_CARDS) && (v->has & VS_VC_VM_POWER))
		to->readable = true;
	/* Its host answers again, which was shown before, perhaps: jobs that
	 * wait for its node may begin. */
	c->vf_freed |= unsure && !vs_node_vm_unsure(to);
	if (v->has & VS_VC_VM_CARDS && vs_mac_may_be_shared(c, to))
		c->unjudged = true;
	vs_vm_changed(&c->inv, to);
	vs_unlock();
}

static void ev_vm_gone(void *arg, const char *moid)
{
	struct vs_core *c = arg;
	const struct vs_vm *vm;

	vs_lock();
	vm = vs_vm_get(&c->inv, moid);
	if (vm) {
		touch_named(c, vm->name);
		c->unjudged |= vs_mac_may_be_shared(c, vm);
	}
	vs_inventory_remove_vm(&c->inv, moid);
	c->vf_freed = true;
	vs_unlock();
}

const struct vs_vc_events vs_watch_events = {
	.up = ev_up,
	.down = ev_down,
	.load_begin = ev_load_begin,
	.load_end = ev_load_end,
	.host = ev_host,
	.vm = ev_vm,
	.host_gone = ev_host_gone,
	.vm_gone = ev_vm_gone,
	.template_changed = ev_template,
	.slow_begin = vs_slow_begin,
	.slow = vs_slow_told,
	.where = vs_drs_told,
	.target = vs_offer_told,
};
