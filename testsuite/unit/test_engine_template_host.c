/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A template whose ESXi host isn't connected: no clone of it starts, jobs stay
 * pending with this reason, and no node or other host is blamed. Jobs that need
 * no clone start.
 */
#include "engine_stage.h"
#include "clone_source_stage.h"
#include "util/err.h"

#define AWAY "Template=tpl: its host esx2 is not connected: connect it, or register the template on another host"

static void host_is(const char *moid, bool connected)
{
	fake_host(&(struct vs_vc_host) {
		.moid = moid, .has = VS_VC_HOST_STATE, .connected = connected,
		.powered_on = connected });
	turn();
}

/* Two hosts, and the template is on the second. */
static void begin_on_second(int nodes, const char *retention)
{
	begin(nodes, 2, 4, retention);
	fake_template_host = "host-2";
	ready();
}

static void begin_linked_on_second(void)
{
	begin_linked(3, 2);
	fake_template_host = "host-2";
	ready();
}

static void room_says(const char *node, const char *text, size_t room)
{
	char why[400] = "";
	int one = id(node);

	assert_int_equal(
		vs_query_capacity(&vs_core, &one, 1, NULL, why, sizeof(why)),
		room);
	assert_string_equal(why, text);
}

static void no_job_begins_until_its_host_is_back(void **state)
{
	(void)state;
	begin_on_second(1, "warm");
	room_says("vm1", "", 1);
	host_is("host-2", false);
	room_says("vm1", ": " AWAY, 0);
	assert_int_equal(job_begin(7, "vm1", NULL), -1);
	host_is("host-2", true);
	room_says("vm1", "", 1);
	assert_int_equal(job_begin(7, "vm1", NULL), 0);
	flags("vm1", BOOT);
	turn();
	assert_true(fake_finish(FAKE_CLONE));
}

static void another_host_is_no_matter(void **state)
{
	(void)state;
	begin_on_second(1, "warm");
	host_is("host-1", false);
	room_says("vm1", "", 1);
}

static void a_host_that_is_off_is_not_there(void **state)
{
	(void)state;
	begin_on_second(1, "warm");
	fake_host(&(struct vs_vc_host) {
		.moid = "host-2", .has = VS_VC_HOST_STATE, .connected = true,
		.standby = true });
	turn();
	room_says("vm1", ": Template=tpl: its host esx2 is not connected, but in standby or off: connect it, or register the template on another host",
		  0);
}

/* The host is in no configured cluster: the template's connection state
 * counts. */
static void of_a_host_that_is_not_ours_the_template_tells(void **state)
{
	(void)state;
	begin(1, 1, 1, "warm");
	ready();
	room_says("vm1", "", 1);
	fake_template_link = VS_VC_AUTO_NO;
	fake_template("vm-tpl", NULL);
	turn();
	room_says("vm1", ": Template=tpl: its host is not connected: connect it, or register the template on another host",
		  0);
	fake_template_link = VS_VC_AUTO_UNKNOWN;
	fake_template("vm-tpl", NULL);
	turn();
	room_says("vm1", ": Template=tpl: the connection state of its host is unknown: the account of VCenterUser= needs Read-only on the host",
		  0);
	/* registered on another */
	fake_template_host = "host-1";
	fake_template("vm-tpl", NULL);
	turn();
	room_says("vm1", "", 1);
}

static void what_is_missing_else_is_said_first(void **state)
{
	struct vs_vc_template t = {
		.name = "tpl", .moid = "vm-tpl", .change_version = "x",
		.host = "host-2", .link = VS_VC_AUTO_YES, .is_template = true,
		.hw = fake_hw, .passthrough = 1,
	};

	(void)state;
	begin_on_second(1, "warm");
	host_is("host-2", false);
	fake_template("", "Template=tpl: gone");
	turn();
	room_says("vm1", ": Template=tpl: gone", 0);
	host_is("host-2", true);
	room_says("vm1", ": Template=tpl: gone", 0);
	begin_linked_on_second();
	fake_tell(template_changed, &t);
	host_is("host-2", false);
	assert_non_null(strstr(core_capacity()[0].missing, "Clone=linked does not allow"));
	host_is("host-2", true);
	assert_non_null(strstr(core_capacity()[0].missing, "Clone=linked does not allow"));
}

static void warm_vms_and_those_that_are_off_serve(void **state)
{
	(void)state;
	begin_on_second(2, "warm");
	bring_up(7, "vm1");
	end_job(7, "vm1");
	host_is("host-2", false);
	assert_int_equal(vs_node_avail(&vs_core, &core_nodes()[id("vm1")]),
			 VS_AVAIL_RUNNING);
	assert_int_equal(vs_node_avail(&vs_core, &core_nodes()[id("vm2")]),
			 VS_AVAIL_NONE);
	flags("vm1", GOING);
	turns(2);
	assert_true(fake_finish(FAKE_POWER_OFF));
	flags("vm1", DOWN);
	turns(2);
	assert_int_equal(job_begin(8, "vm1", NULL), 0);
	flags("vm1", BOOT);
	turns(2);
	assert_true(fake_finish(FAKE_POWER_ON));
	assert_int_equal(fake_sent[FAKE_CLONE], 1);
}

/* Of an older version of the template: it would be destroyed, and none made. */
static void a_vm_that_must_be_made_anew_waits(void **state)
{
	(void)state;
	begin_on_second(1, "warm");
	bring_up(7, "vm1");
	end_job(7, "vm1");
	flags("vm1", GOING);
	turns(2);
	assert_true(fake_finish(FAKE_POWER_OFF));
	flags("vm1", DOWN);
	turns(2);
	fake_template("vm-new", NULL);
	turn();
	room_says("vm1", "", 1);
	host_is("host-2", false);
	room_says("vm1", ": " AWAY, 0);
	assert_int_equal(job_begin(8, "vm1", NULL), -1);
	turns(20);
	assert_int_equal(fake_sent[FAKE_DESTROY], 0);
}

/* ---- clones that fail for it -------------------------------------------------------- */

static void begin_clone(void)
{
	begin_on_second(1, "warm");
	assert_int_equal(job_begin(7, "vm1", NULL), 0);
	flags("vm1", BOOT);
	turn();
	assert_int_equal(fake_waiting(FAKE_CLONE), 1);
}

static void nobody_pays(void)
{
	assert_null(vs_avoids());
	assert_null(heard(VS_REQUEST_FAIL, NULL));
}

static const struct { const char *fault; enum vs_code code; } faults[] = {
	{ "HostNotConnected", VS_E_UNKNOWN },
	{ "HostNotReachable", VS_E_UNKNOWN },
	{ "HostCommunication", VS_E_UNKNOWN },
	{ "NoHost", VS_E_OTHER_HOST },
	{ "InvalidHostConnectionState", VS_E_OTHER_HOST },
};

static void a_job_that_began_goes_back_to_the_queue(void **state)
{
	const struct vs_outbox_request *t;

	(void)state;
	for (size_t i = 0; i < VS_COUNT(faults); i++) {
		begin_clone();
		host_is("host-2", false);
		assert_true(fake_fault(FAKE_CLONE, faults[i].code,
				       faults[i].fault, "no link"));
		fake_slow(NULL, 0);
		turns(200);
		assert_int_equal(fake_sent[FAKE_CLONE], 1);
		nobody_pays();
		t = heard(VS_REQUEST_RELEASE, "vm1");
		assert_non_null(t);
		assert_string_equal(t->text, AWAY);
		assert_int_equal(free_on("host-1"), 4);
	}
}

/* It may have been made: nothing is sent before vCenter was asked. */
static void what_became_of_it_is_looked_at_first(void **state)
{
	(void)state;
	begin_clone();
	host_is("host-2", false);
	assert_true(fake_fault(FAKE_CLONE, VS_E_UNKNOWN, "HostNotConnected",
			       "no link"));
	host_is("host-2", true);
	turns(30);
	assert_int_equal(fake_sent[FAKE_CLONE], 1);
	fake_slow(NULL, 0);
	turns(30);
	assert_int_equal(fake_sent[FAKE_CLONE], 2);
}

/* The last of many faults, and the word of what the node has to pay. */
static void the_last_try_sets_no_node_down(void **state)
{
	(void)state;
	begin_clone();
	host_is("host-2", false);
	vs_retry_spend(&core_nodes()[0]);
	assert_true(fake_fault(FAKE_CLONE, VS_E_UNKNOWN, "HostNotConnected",
			       "no link"));
	turn();
	nobody_pays();
	assert_non_null(heard(VS_REQUEST_RELEASE, "vm1"));
}

/* vCenter shows the host's end after the fault, or not at all. */
static void what_fails_before_the_host_is_seen_away_is_tried_again(void **state)
{
	(void)state;
	begin_clone();
	for (int i = 0; i < 2; i++) {
		assert_true(fake_fault(FAKE_CLONE, VS_E_OTHER_HOST,
				       "InvalidHostConnectionState", "no link"));
		assert_int_equal(node_error(&core_nodes()[0])->code, VS_E_SHORTAGE);
		nobody_pays();
		turns(40);
		assert_int_equal(fake_waiting(FAKE_CLONE), 1);
	}
	/* it is the other one's, then */
	assert_true(fake_fault(FAKE_CLONE, VS_E_OTHER_HOST,
			       "InvalidHostConnectionState", "no link"));
	assert_non_null(vs_avoids());
}

/* ---- parents ----------------------------------------------------------------------- */

static void linked_clones_of_a_parent_go_on(void **state)
{
	struct fake_vm *p;

	(void)state;
	begin_linked_on_second();
	first_child();
	p = fake_parent("parent-");
	vs_strlcpy(p->host, "host-1", sizeof(p->host));
	fake_show(p);
	host_is("host-2", false);
	room_says("vm2", "", 1);
	wants(8, "vm2");
	assert_true(fake_finish(FAKE_CLONE));
	assert_string_equal(fake_get("vm2")->from, p->uuid);
	/* the source's host is away, too, and no host can make another
	 * source */
	vs_strlcpy(p->host, "host-2", sizeof(p->host));
	fake_show(p);
	turn();
	room_says("vm3", ": " AWAY, 0);
	/* waiting jobs are looked at as soon as it is there */
	vs_strlcpy(p->host, "host-1", sizeof(p->host));
	fake_show(p);
	vs_capacity_freed_clear();
	turn();
	assert_true(vs_capacity_freed_pending());
	room_says("vm3", "", 1);
}

/* It might be placed where there is none; a host that isn't there is no place. */
static void one_missing_parent_keeps_all_linked_clones(void **state)
{
	(void)state;
	begin_linked(3, 3);
	per_host();
	fake_template_host = "host-3";
	ready();
	first_child();
	host_is("host-3", false);
	room_says("vm2", ": Template=tpl: its host esx3 is not connected: connect it, or register the template on another host",
		  0);
	host_is("host-2", false);
	room_says("vm2", "", 1);
	wants(8, "vm2");
	assert_int_equal(fake_waiting(FAKE_CLONE), 1);
}

static void no_parent_is_made_without_its_templates_host(void **state)
{
	(void)state;
	begin_linked_on_second();
	assert_int_equal(job_begin(7, "vm1", NULL), 0);
	host_is("host-2", false);
	room_says("vm2", ": " AWAY, 0);
	flags("vm1", BOOT);
	turns(200);
	assert_int_equal(fake_sent[FAKE_CLONE], 0);
	nobody_pays();
	assert_non_null(heard(VS_REQUEST_RELEASE, "vm1"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_job_begins_until_its_host_is_back),
		cmocka_unit_test(another_host_is_no_matter),
		cmocka_unit_test(a_host_that_is_off_is_not_there),
		cmocka_unit_test(of_a_host_that_is_not_ours_the_template_tells),
		cmocka_unit_test(what_is_missing_else_is_said_first),
		cmocka_unit_test(warm_vms_and_those_that_are_off_serve),
		cmocka_unit_test(a_vm_that_must_be_made_anew_waits),
		cmocka_unit_test(a_job_that_began_goes_back_to_the_queue),
		cmocka_unit_test(what_became_of_it_is_looked_at_first),
		cmocka_unit_test(the_last_try_sets_no_node_down),
		cmocka_unit_test(
			what_fails_before_the_host_is_seen_away_is_tried_again),
		cmocka_unit_test(linked_clones_of_a_parent_go_on),
		cmocka_unit_test(one_missing_parent_keeps_all_linked_clones),
		cmocka_unit_test(no_parent_is_made_without_its_templates_host),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
