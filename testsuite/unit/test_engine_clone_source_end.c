/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The end of a parent: what has to be known first. */
#include "engine/control/control.h"
#include "engine/vmspec/vmspec.h"
#include "clone_source_stage.h"
#include "util/log.h"

static int said;

static void count(enum vs_log_level level, const char *line)
{
	said += level == VS_LOG_ERROR && strstr(line, "stays");
}

/* Its last child is gone, and it is wanted still. */
static void childless(void)
{
	begin_linked(2, 1);
	ready();
	first_child();
	fake_remove(fake_get("vm1"));
	flags("vm1", DOWN);
	time_passes();
	assert_int_equal(fake_sent[FAKE_DESTROY], 0);
}

static void a_beat_since_it_is_unwanted_is_waited_for(void **st)
{
	(void)st;
	childless();
	fake_template("vm-tpl2", NULL);
	turns(80);
	assert_int_equal(fake_sent[FAKE_DESTROY], 0);
	fake_slow(NULL, 0);
	turns(5);
	assert_int_equal(fake_sent[FAKE_DESTROY], 1);
}

/* Its end, and the steps to it: svf pause. */
static void a_pause_keeps_it_and_stops_its_making(void **st)
{
	(void)st;
	childless();
	fake_template("vm-tpl2", NULL);
	vs_pause_begin(&vs_core, "root", 0, "why");
	time_passes();
	assert_int_equal(fake_sent[FAKE_DESTROY], 0);
	vs_pause_end(&vs_core);
	time_passes();
	assert_int_equal(fake_sent[FAKE_DESTROY], 1);
	begin_linked(2, 1);
	ready();
	wants(7, "vm1");
	vs_pause_begin(&vs_core, "root", 0, "why");
	assert_true(fake_finish(FAKE_CLONE));
	time_passes();
	assert_int_equal(fake_sent[FAKE_SNAPSHOT], 0);
	assert_int_equal(fake_while_paused, 0);
	vs_pause_end(&vs_core);
	turns(2);
	assert_int_equal(fake_sent[FAKE_SNAPSHOT], 1);
}

/* A child that is away: its node is missed, and nothing goes before that is known. */
static void after_an_outage_nothing_goes_before_all_is_known(void **st)
{
	(void)st;
	begin_linked(2, 1);
	ready();
	first_child();
	assert_true(fake_finish(FAKE_POWER_ON));
	turns(2);
	flags("vm1", VS_NODE_UP | VS_NODE_ALLOCATED);
	fake_template("vm-tpl2", NULL);
	time_passes();
	assert_int_equal(fake_sent[FAKE_DESTROY], 0);
	fake_down(VS_E_RETRY);
	fake_get("vm1")->used = false;
	now += 10000;
	fake_load();
	fake_template("vm-tpl2", NULL);
	vs_pass_run(&vs_core, now);
	fake_slow(NULL, 0);
	vs_pass_run(&vs_core, now);
	assert_int_equal(fake_sent[FAKE_DESTROY], 0);
	turns(5);
	assert_true(node_missing(&core_nodes()[0]));
	assert_int_equal(fake_sent[FAKE_DESTROY], 0);
}

/* The time since which the clone source isn't needed is counted from zero. */
static void an_outage_and_a_new_term_forget_since_when(void **st)
{
	struct vs_clone_source *r;

	(void)st;
	childless();
	fake_template("vm-tpl2", NULL);
	turns(20);
	r = vs_clone_source_record(&vs_core, fake_parent("")->moid, false);
	assert_true(r->unwanted_ms > 0);
	fake_down(VS_E_RETRY);
	assert_int_equal(r->unwanted_ms, 0);
	vs_leadership_begin(&vs_core);
	assert_null(vs_clone_sources_all()->all);
	vs_client_renew_clear();	/* of the next test too */
}

static void a_template_with_a_passthrough_nic_is_told(void **st)
{
	struct vs_vc_template t = {
		.name = "tpl", .moid = "vm-tpl", .change_version = "x",
		.host = "host-1", .link = VS_VC_AUTO_YES, .is_template = true,
		.hw = fake_hw,
		.disk_mb = 20480, .passthrough = 1,
	};

	(void)st;
	begin_linked(2, 1);
	ready();
	fake_tell(template_changed, &t);
	assert_non_null(strstr(core_capacity()[0].missing,
			       "Clone=linked does not allow"));
	assert_int_equal(job_begin(7, "vm1", NULL), -1);
	t.passthrough = 0;
	fake_tell(template_changed, &t);
	assert_string_equal(core_capacity()[0].missing, "");
}

/* Said before anything is sent, as when vCenter says so. */
static void a_nic_in_the_parent_is_no_nodes_fault(void **st)
{
	struct vs_vm *vm;

	(void)st;
	begin_linked(2, 1);
	ready();
	wants(7, "vm1");
	assert_true(fake_finish(FAKE_CLONE));
	vm = vs_vm_get(core_inv(), fake_parent("")->moid);
	vm->nnics = 1;
	vm->nics[0].kind = VS_NIC_SRIOV;
	turns(20);
	assert_int_equal(fake_sent[FAKE_SNAPSHOT], 0);
	assert_true(core_capacity()[0].missing[0]);
	assert_null(heard(VS_REQUEST_FAIL, "vm1"));
	assert_int_equal(job_begin(8, "vm2", NULL), -1);
}

/* One outside of the folder may stand on it too. */
static void who_may_stand_on_it_is_asked_everywhere(void **st)
{
	struct fake_vm *vm;

	(void)st;
	childless();
	vm = fake_add_vm("other", "group-v9", "host-1", false);
	snprintf(vm->base, sizeof(vm->base), "[s] %s/", fake_parent("")->moid);
	fake_show(vm);
	fake_template("vm-tpl2", NULL);
	time_passes();
	assert_int_equal(fake_sent[FAKE_DESTROY], 0);
	vm->base[0] = '\0';
	fake_show(vm);
	time_passes();
	assert_int_equal(fake_sent[FAKE_DESTROY], 1);
}

static void a_vm_whose_disks_nobody_knows_keeps_it(void **st)
{
	const struct vs_vc_vm v = {
		.moid = "vm-900", .has = VS_VC_VM_HOST, .host = "host-1",
		.unreadable = true,
	};

	(void)st;
	childless();
	fake_tell(vm, &v);
	fake_template("vm-tpl2", NULL);
	time_passes();
	assert_int_equal(fake_sent[FAKE_DESTROY], 0);
	fake_tell(gone, VS_VC_VM, v.moid);
	time_passes();
	assert_int_equal(fake_sent[FAKE_DESTROY], 1);
}

static void nodes_read(void *ctx, struct vs_slurm_node *nodes, size_t n)
{
	(void)ctx;
	for (size_t i = 0; i < n; i++)
		nodes[i].flags = 0;
}

/* A user removed the clone source's tag: it is an orphan, with clones. */
static void an_orphan_that_others_stand_on_stays(void **st)
{
	static const struct vs_slurm_ops port = { .nodes_read = nodes_read };
	const struct vs_slurm_ops *was;
	struct fake_vm *vm, *old;

	(void)st;
	begin_linked(1, 1);
	was = core_port();
	core_set_port(&port);
	vs_orphans_clear();
	vs_removal_clear();
	old = fake_add_vm("old1", "group-v1", "host-1", false);
	snprintf(old->mark, sizeof(old->mark), "%s/old1/%s",
		 core_cluster_id(), old->uuid);
	vm = fake_add_vm("other", "group-v9", "host-1", true);
	vs_strlcpy(vm->base, "[s] d/", sizeof(vm->base));
	ready();
	said = 0;
	vs_log_to(count);
	for (int i = 0; i < 8; i++) {
		turns(11);
		vs_orphans_query_slurm(&vs_core);
		fake_slow(NULL, 0);
	}
	vs_log_to(NULL);
	assert_int_equal(fake_sent[FAKE_DESTROY], 0);
	assert_int_equal(said, 1);
	fake_remove(vm);
	turns(60);
	assert_int_equal(fake_sent[FAKE_DESTROY], 1);
	core_set_port(was);
}

/* vm2's job ends while its VM is cloned from the source, which no job needs
 * then. */
static void leaves_its_clone(void)
{
	wants(8, "vm2");
	assert_int_equal(fake_waiting(FAKE_CLONE), 1);
	vs_job_end(&vs_core, 8, &(int) { id("vm2") }, 1, false);
	flags("vm2", DOWN);
	fake_template("vm-tpl2", NULL);
}

/* It was never heard of again: two beats have shown no clone. */
static void a_lost_reply_keeps_it_no_longer_than_nobody_knows(void **st)
{
	(void)st;
	childless();
	leaves_its_clone();
	assert_true(fake_lose(FAKE_CLONE, false));
	turns(80);
	fake_slow(NULL, 0);
	turns(20);
	assert_true(vs_node_is(&core_nodes()[1], VS_COND_CLONE_UNCONFIRMED));
	assert_int_equal(fake_sent[FAKE_DESTROY], 0);
	time_passes();
	assert_false(vs_node_is(&core_nodes()[1], VS_COND_CLONE_UNCONFIRMED));
	assert_int_equal(fake_sent[FAKE_DESTROY], 1);
}

/* The same of a parent's own clone: its record is no longer kept for that. */
static void a_lost_parent_is_looked_for_not_for_ever(void **st)
{
	struct vs_clone_source *p;

	(void)st;
	begin_linked(2, 1);
	ready();
	wants(7, "vm1");
	p = vs_node_named(&vs_core, "vm1")->parent;
	vs_job_end(&vs_core, 7, &(int) { id("vm1") }, 1, false);
	flags("vm1", DOWN);
	assert_true(fake_lose(FAKE_CLONE, false));
	turns(12);
	assert_true(p->lost);
	time_passes();
	assert_false(p->lost);
	assert_false(vs_clone_unconfirmed(&vs_core));
}

static void one_that_is_done_and_not_shown_keeps_it(void **st)
{
	struct fake_vm *vm;

	(void)st;
	childless();
	leaves_its_clone();
	assert_true(fake_finish(FAKE_CLONE));
	vm = fake_get("vm2");
	fake_tell(gone, VS_VC_VM, vm->moid);
	now += VS_AWAIT_MS;
	turns(20);
	for (int i = 0; i < 3; i++)
		time_passes();
	assert_int_equal(fake_sent[FAKE_DESTROY], 0);
	/* shown, and seen to stand on it */
	fake_show(vm);
	now += 600000;
	time_passes();
	assert_int_equal(fake_sent[FAKE_DESTROY], 0);
	fake_remove(vm);
	time_passes();
	assert_int_equal(fake_sent[FAKE_DESTROY], 1);
}

/* ---- it is said ---------------------------------------------------------------- */

static void what_keeps_all_of_them_is_said_once(void **st)
{
	struct fake_vm *vm;

	(void)st;
	childless();
	vm = fake_add_vm("odd", "group-v9", "host-1", false);
	vm->unreadable = true;
	fake_show(vm);
	vs_vm_get(core_inv(), vm->moid)->disks.bases_told = false;
	fake_template("vm-tpl2", NULL);
	said = 0;
	vs_log_to(count);
	for (int i = 0; i < 5; i++)
		time_passes();
	vs_log_to(NULL);
	assert_int_equal(said, 1);
	assert_int_equal(fake_sent[FAKE_DESTROY], 0);
	assert_string_equal(vs_clone_sources_all()->unread, "odd");
	assert_non_null(strstr(vs_clone_source_stays(&vs_core,
		vs_vm_get(core_inv(), fake_parent("")->moid)),
		"cannot be read"));
}

/* Of all at once it is judged as of the one that a clone asks for. */
static void choices_are_true(void)
{
	struct vs_core *c = &vs_core;
	const struct vs_vm *vm;

	LIST_FOREACH(vm, &core_inv()->parents, with_parents) {
		const struct vs_clone_source *r =
			vs_clone_source_record(c, vm->moid, false);
		struct vs_clone_source_key key;

		assert_int_equal(vs_clone_source_key_fill(c, &core_profiles()[0],
							  vm->host, c->store,
							  &key),
				 0);
		assert_non_null(r);
		assert_int_equal(r->worse, vs_clone_source_choose(core_inv(), &key,
			core_folder(), core_cluster_id()) != vm);
	}
}

static void of_two_alike_one_goes(void **st)
{
	struct fake_vm *p, *twin;
	char moid[32];

	(void)st;
	childless();
	p = fake_parent("");
	twin = fake_add_vm("a-twin", "group-v1", "host-1", false);
	vs_strlcpy(twin->parent, p->parent, sizeof(twin->parent));
	vs_strlcpy(twin->snapshot, "s", sizeof(twin->snapshot));
	snprintf(twin->mark, sizeof(twin->mark), "%s/a-twin/%s",
		 core_cluster_id(), twin->uuid);
	fake_show(twin);
	turns(25);
	choices_are_true();
	vs_strlcpy(moid, p->moid, sizeof(moid));
	time_passes();
	assert_true(fake_finish(FAKE_DESTROY));
	assert_false(fake_finish(FAKE_DESTROY));
	assert_string_equal(fake_parent("")->name, "a-twin");
	assert_null(vs_vm_get(core_inv(), moid));
}

/* ---- the removal limit
 * ---------------------------------------------------- */

/* Each of five hosts has its parent, which nothing stands on. */
static void five_parents(void)
{
	vs_removal_clear();
	begin_linked(5, 5);
	per_host();
	ready();
	for (int i = 1; i <= 5; i++) {
		char text[16];

		for (int k = 1; k <= 5; k++) {
			snprintf(text, sizeof(text), "host-%d", k);
			if (k != i)
				vs_exclude_failed(text, NULL, INT64_MAX,
						  "not now");
		}
		snprintf(text, sizeof(text), "vm%d", i);
		wants((uint32_t)i, text);
		assert_true(fake_finish(FAKE_CLONE));
		vs_job_end(&vs_core, (uint32_t)i, &(int) { id(text) }, 1, false);
		flags(text, DOWN);
		turns(3);
		vs_avoids_clear();
	}
	assert_int_equal(fake_parents(), 5);
	time_passes();
	choices_are_true();
	assert_int_equal(fake_sent[FAKE_DESTROY], 0);
}

static void passes(void)
{
	for (int i = 0; i < 3; i++) {
		time_passes();
		while (fake_finish(FAKE_DESTROY))
			;
	}
}

/* The new file makes full clones: meant so, or a mistake. */
static void a_wrong_file_costs_no_more_than_the_brake_allows(void **st)
{
	const struct vs_vm *vm;
	size_t stay = 0;

	(void)st;
	five_parents();
	begin_as(conf_make(5, "warm", 1024));
	fake_template("vm-tpl", NULL);
	passes();
	assert_int_equal(fake_parents(), 2);
	assert_true(vs_removal_limit_is_reached());
	LIST_FOREACH(vm, &core_inv()->parents, with_parents)
		stay += !strcmp(vs_clone_source_stays(&vs_core, vm),
				"the removal limit is reached (svf reconcile)");
	assert_int_equal(stay, 2);
	assert_int_equal(vs_removal_confirm(&vs_core), 2);
	passes();
	assert_int_equal(fake_parents(), 0);
	assert_false(vs_removal_limit_is_reached());
}

/* The site's own word, in vCenter: many are of no use, and none is asked for. */
static void another_template_is_no_matter_of_the_brakes(void **st)
{
	(void)st;
	five_parents();
	fake_template("vm-tpl2", NULL);
	passes();
	assert_int_equal(fake_parents(), 0);
	assert_false(vs_removal_limit_is_reached());
}

/* The start has seen none of them wanted. */
static void nor_is_it_after_a_restart(void **st)
{
	struct vs_conf *conf = conf_make(5, "warm", 1024);

	(void)st;
	five_parents();
	conf->partitions[0].clone = vs_strdup("linked");
	begin_as(conf);
	fake_template("vm-tpl2", NULL);
	passes();
	assert_int_equal(fake_parents(), 0);
	assert_false(vs_removal_limit_is_reached());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_beat_since_it_is_unwanted_is_waited_for),
		cmocka_unit_test(a_pause_keeps_it_and_stops_its_making),
		cmocka_unit_test(after_an_outage_nothing_goes_before_all_is_known),
		cmocka_unit_test(an_outage_and_a_new_term_forget_since_when),
		cmocka_unit_test(a_template_with_a_passthrough_nic_is_told),
		cmocka_unit_test(a_nic_in_the_parent_is_no_nodes_fault),
		cmocka_unit_test(who_may_stand_on_it_is_asked_everywhere),
		cmocka_unit_test(a_vm_whose_disks_nobody_knows_keeps_it),
		cmocka_unit_test(an_orphan_that_others_stand_on_stays),
		cmocka_unit_test(a_lost_reply_keeps_it_no_longer_than_nobody_knows),
		cmocka_unit_test(a_lost_parent_is_looked_for_not_for_ever),
		cmocka_unit_test(one_that_is_done_and_not_shown_keeps_it),
		cmocka_unit_test(what_keeps_all_of_them_is_said_once),
		cmocka_unit_test(of_two_alike_one_goes),
		cmocka_unit_test(a_wrong_file_costs_no_more_than_the_brake_allows),
		cmocka_unit_test(another_template_is_no_matter_of_the_brakes),
		cmocka_unit_test(nor_is_it_after_a_restart),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
