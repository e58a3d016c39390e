/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Devices by their address: what is asked of a host before a clone, what an
 * answer leads to, and how a VM that is off goes to another host's device. And DVX
 * devices, of whose parameters a host says the types.
 */
#include "engine_stage.h"

#define HERE "0000:65:00.0"
#define THERE "0000:ca:00.0"

/* One FPGA, beside the host's PF, at this address. */
static void offers(const char *host, const char *pci)
{
	struct vs_vc_pf pf = { .pci = "0000:3b:00.0", .pnic = "vmnic4",
		.facts.driver = "nmlx5", .switch_uuid = "sw", .numa = -1, .vfs = 4,
		.link_up = true };
	struct vs_vc_device fpga = { .pci = pci, .name = "U250", .label = "",
		.vendor = 0x10ee, .device = 0x5000, .numa = -1, .active = true };
	struct vs_vc_host h = { .moid = host, .has = VS_VC_HOST_PFS,
		.pfs = &pf, .npfs = 1, .devices = &fpga,
		.ndevices = pci != NULL };

	fake_host(&h);
	turn();
}

/* Two nodes; host-1 has a device, host-2 another. */
static void fpgas(void)
{
	struct vs_conf *conf = conf_make(2, "power_off", 1024);
	struct vs_conf_adapter *a = conf_other_from(conf, 0, "directpath");

	a->vendor = 0x10ee;
	a->device = 0x5000;
	begin(2, 2, 4, "power_off");
	begin_as(conf);
	ready();
	offers("host-1", HERE);
	offers("host-2", THERE);
}

static void due(const char *node)
{
	assert_int_equal(job_begin(7, node, NULL), 0);
	flags(node, BOOT);
	turns(2);
}

static const struct vs_claim *hold_of(const char *node)
{
	return vs_ledger_get(core_ledger(), node);
}

static void the_host_is_asked_before_the_clone_and_once(void **state)
{
	(void)state;
	fpgas();
	due("vm1");
	assert_int_equal(fake_target.asked, 1);
	assert_string_equal(fake_target.host, "host-1");
	turns(5);
	assert_int_equal(fake_target.asked, 1);
	assert_int_equal(fake_sent[FAKE_CLONE], 0);
	fake_offers(1, HERE, "the-system", NULL);
	turn();
	assert_int_equal(fake_sent[FAKE_CLONE], 1);
	assert_true(fake_finish(FAKE_CLONE));
	assert_string_equal(fake_get("vm1")->pci, HERE);
	assert_string_equal(fake_get("vm1")->system, "the-system");
	turns(2);
	assert_int_equal(fake_sent[FAKE_RECONFIGURE], 0);
	assert_true(fake_finish(FAKE_POWER_ON));
	assert_string_equal(hold_of("vm1")->vfs[0].pf, HERE);
	turn();
	assert_int_equal(hold_of("vm1")->state, VS_CLAIM_IN_USE);
	assert_int_equal(fake_target.asked, 1);
}

static void a_host_that_does_not_offer_it_is_left_out(void **state)
{
	(void)state;
	fpgas();
	due("vm1");
	fake_offers(1, NULL, NULL, NULL);
	turns(20);
	assert_string_equal(hold_of("vm1")->host, "host-2");
	assert_string_equal(hold_of("vm1")->vfs[0].pf, THERE);
	assert_int_equal(fake_target.asked, 2);
	assert_string_equal(fake_target.host, "host-2");
	fake_offers(2, THERE, "other", NULL);
	turns(10);
	assert_int_equal(fake_sent[FAKE_CLONE], 1);
}

static void a_question_without_an_answer_is_asked_again(void **state)
{
	struct vs_err err = { 0 };

	(void)state;
	fpgas();
	due("vm1");
	vs_err_set(&err, VS_E_RETRY, "timed out");
	fake_offers(1, NULL, NULL, &err);
	turns(3);
	assert_int_equal(fake_sent[FAKE_CLONE], 0);
	assert_non_null(strstr(node_error(vs_node_named(&vs_core, "vm1"))->text,
			       "host esx1 is not read (QueryConfigTarget)"));
	turns(100);		/* ten seconds */
	assert_int_equal(fake_target.asked, 2);
	assert_string_equal(hold_of("vm1")->host, "host-1");
	fake_offers(2, HERE, "s", NULL);
	turns(40);
	assert_int_equal(fake_sent[FAKE_CLONE], 1);
	assert_null(heard(VS_REQUEST_FAIL, NULL));
}

/* A refusal is believed from when it came, however long that took. */
static void a_slow_refusal_is_believed_as_long(void **state)
{
	struct vs_err err = { 0 };

	(void)state;
	fpgas();
	due("vm1");
	turns(100);
	vs_err_set(&err, VS_E_RETRY, "timed out");
	fake_offers(1, NULL, NULL, &err);
	turns(20);
	assert_int_equal(fake_target.asked, 1);
	turns(80);
	assert_int_equal(fake_target.asked, 2);
}

/* The host's devices changed while it was asked: the answer may be of before. */
static void an_answer_that_a_change_overtook_is_not_taken(void **state)
{
	(void)state;
	fpgas();
	due("vm1");
	assert_int_equal(fake_target.asked, 1);
	offers("host-1", HERE);
	turns(3);
	assert_int_equal(fake_target.asked, 1);	/* never a second at a time */
	fake_offers(1, HERE, "before", NULL);
	turns(2);
	assert_int_equal(fake_sent[FAKE_CLONE], 0);
	assert_int_equal(fake_target.asked, 2);
	fake_offers(2, HERE, "after", NULL);
	turns(2);
	assert_true(fake_finish(FAKE_CLONE));
	assert_string_equal(fake_get("vm1")->system, "after");
}

/* What was told may be another host's after a reload. */
static void a_lost_connection_forgets_question_and_answer(void **state)
{
	(void)state;
	fpgas();
	due("vm1");
	fake_down(VS_E_RETRY);
	turn();
	fake_load();
	fake_slow(NULL, 0);
	offers("host-1", HERE);
	offers("host-2", THERE);
	fake_offers(1, HERE, "old", NULL);
	turns(10);
	assert_int_equal(fake_sent[FAKE_CLONE], 0);
	assert_int_equal(fake_target.asked, 2);
	fake_offers(2, HERE, "new", NULL);
	turns(2);
	assert_int_equal(fake_sent[FAKE_CLONE], 1);
	assert_true(fake_finish(FAKE_CLONE));
	assert_string_equal(fake_get("vm1")->system, "new");
}

/* The device of its host is gone: it comes out of the VM there, the VM moves,
 * and gets the other host's. I7: four calls. */
static void a_vm_that_moves_leaves_its_device_behind(void **state)
{
	(void)state;
	fpgas();
	due("vm1");
	fake_offers(1, HERE, "one", NULL);
	turn();
	assert_true(fake_finish(FAKE_CLONE));
	flags("vm1", DOWN);
	end_job(7, "vm1");
	turns(5);
	assert_null(hold_of("vm1"));
	offers("host-1", NULL);
	due("vm1");
	assert_string_equal(hold_of("vm1")->host, "host-2");
	assert_int_equal(fake_sent[FAKE_RELOCATE], 0);
	assert_int_equal(fake_sent[FAKE_RECONFIGURE], 1);
	assert_true(fake_finish(FAKE_RECONFIGURE));
	assert_int_equal(fake_get("vm1")->removed, 1);
	assert_false(fake_get("vm1")->has_nic);
	/* nor is anything said that is the other host's */
	assert_int_equal(fake_get("vm1")->asked.nnics, 0);
	assert_int_equal(fake_get("vm1")->asked.nextra, 0);
	assert_int_equal(fake_get("vm1")->asked.cpu_reserved_mhz, 0);
	assert_false(fake_get("vm1")->asked.exact);
	turns(2);
	assert_true(fake_finish(FAKE_RELOCATE));
	turns(2);
	assert_int_equal(fake_sent[FAKE_RECONFIGURE], 1);
	assert_int_equal(fake_target.asked, 2);
	fake_offers(2, THERE, "two", NULL);
	turns(2);
	assert_true(fake_finish(FAKE_RECONFIGURE));
	assert_string_equal(fake_get("vm1")->pci, THERE);
	assert_string_equal(fake_get("vm1")->system, "two");
	turns(2);
	assert_true(fake_finish(FAKE_POWER_ON));
	assert_int_equal(fake_sent[FAKE_CLONE], 1);
	assert_int_equal(fake_sent[FAKE_RELOCATE], 1);
	assert_int_equal(fake_sent[FAKE_RECONFIGURE], 2);
	turns(3);
	assert_int_equal(hold_of("vm1")->state, VS_CLAIM_IN_USE);
}

/* A PF that is named is one of the host that the VM is on, whichever has that
 * address there. */
static void no_pf_of_another_host_is_said_before_it_is_there(void **state)
{
	struct vs_conf *conf = conf_make(2, "power_off", 1024);
	struct vs_conf_adapter *a = conf_other_from(conf, 2, "directpath");

	(void)state;
	a->vendor = 0x10ee;
	a->device = 0x5000;
	conf->adapters[0].pf = vs_strdup("0000:3b:00.0");
	conf->adapters[0].with = vs_strdup("other");
	begin(2, 2, 4, "power_off");
	begin_as(conf);
	ready();
	offers("host-1", HERE);
	offers("host-2", THERE);
	due("vm1");
	fake_offers(1, HERE, "one", NULL);
	turn();
	assert_true(fake_finish(FAKE_CLONE));
	assert_int_equal(fake_get("vm1")->asked.nnics, 2);
	flags("vm1", DOWN);
	end_job(7, "vm1");
	turns(5);
	offers("host-1", NULL);
	due("vm1");
	assert_string_equal(hold_of("vm1")->host, "host-2");
	assert_int_equal(fake_sent[FAKE_RECONFIGURE], 1);
	assert_true(fake_finish(FAKE_RECONFIGURE));
	assert_int_equal(fake_get("vm1")->asked.nnics, 0);
	assert_int_equal(fake_get("vm1")->removed, 1);
	turns(2);
	assert_int_equal(fake_sent[FAKE_RELOCATE], 1);
	assert_int_equal(fake_sent[FAKE_RECONFIGURE], 1);
}

/* ---- which are counted -------------------------------------------------------- */

#define MANY 70

/* One kind of device on host-1, so many of them. */
static const struct vs_host *alike(int n)
{
	static char pcis[MANY][VS_PCI_LEN];
	static struct vs_vc_device all[MANY];

	for (int i = 0; i < n; i++) {
		snprintf(pcis[i], sizeof(pcis[i]), "0000:%02x:00.0", 0x40 + i);
		all[i] = (struct vs_vc_device) { .pci = pcis[i], .name = "U250",
			.label = "", .vendor = 0x10ee, .device = 0x5000,
			.numa = -1, .active = true };
	}
	fake_host(&(struct vs_vc_host) { .moid = "host-1",
		.has = VS_VC_HOST_PFS, .devices = all, .ndevices = (size_t)n });
	return vs_host_get(core_inv(), "host-1");
}

/* A second row of the same would promise what the first has. */
static void devices_alike_are_one_row_however_many(void **state)
{
	struct vs_conf *conf = conf_make(1, "power_off", 1024);
	struct vs_conf_adapter *a =
		conf_other_from(conf, 0, "dynamic-directpath");

	(void)state;
	a->vendor = 0x10ee;
	a->device = 0x5000;
	begin(1, 1, 4, "power_off");
	begin_as(conf);
	ready();
	assert_int_equal(alike(20)->npfs, 1);
	assert_int_equal(alike(20)->pfs[0].vfs, 20);
	assert_int_equal(alike(64)->pfs[0].vfs, 64);
	assert_int_equal(alike(MANY)->npfs, 1);
	assert_int_equal(alike(MANY)->pfs[0].vfs, 64);
	assert_int_equal(alike(MANY)->nleft, MANY - 64);
	assert_string_equal(alike(MANY)->pfs[0].of->pci[63], "0000:7f:00.0");
}

/* vmnic4's second port, given whole: no VF of the first, though on its bus. */
static void another_port_of_a_nic_is_no_vf(void **state)
{
	struct vs_vc_pf pf = { .pci = "0000:3b:00.0", .pnic = "vmnic4",
		.switch_uuid = "sw", .numa = -1, .vfs = 4, .link_up = true };
	struct vs_vc_device on_bus[] = {
		{ .pci = "0000:3b:00.1", .name = "port", .label = "",
		  .vendor = 0x10ee, .device = 0x5000, .numa = -1,
		  .active = true, .sriov = true },
		{ .pci = "0000:3b:00.2", .name = "VF", .label = "",
		  .vendor = 0x10ee, .device = 0x5000, .numa = -1,
		  .active = true },
	};
	struct vs_vc_host h = { .moid = "host-1", .has = VS_VC_HOST_PFS,
		.pfs = &pf, .npfs = 1, .devices = on_bus, .ndevices = 2 };
	const struct vs_host *to;

	(void)state;
	fpgas();
	fake_host(&h);
	to = vs_host_get(core_inv(), "host-1");
	assert_int_equal(to->npfs, 2);
	assert_string_equal(to->pfs[1].pci, "0000:3b:00.1");
	/* its driver has it: there is nothing to give */
	on_bus[1] = on_bus[0];
	on_bus[1].pci = pf.pci;
	fake_host(&h);
	assert_int_equal(to->npfs, 2);
}

/* More PFs than rows: the VFs of the last one are no devices either. */
static void a_vf_of_a_pf_that_found_no_row_is_no_device(void **state)
{
	static char pcis[VS_HOST_PFS + 1][VS_PCI_LEN];
	struct vs_vc_pf pfs[VS_HOST_PFS + 1];
	struct vs_vc_device vf = { .pci = "0000:58:00.2", .name = "VF",
		.label = "", .vendor = 0x10ee, .device = 0x5000, .numa = -1,
		.active = true };
	struct vs_vc_host h = { .moid = "host-1", .has = VS_VC_HOST_PFS,
		.pfs = pfs, .npfs = VS_HOST_PFS + 1, .devices = &vf,
		.ndevices = 1 };
	const struct vs_host *to;

	(void)state;
	for (int i = 0; i <= VS_HOST_PFS; i++) {
		snprintf(pcis[i], sizeof(pcis[i]), "0000:%02x:00.0", 0x40 + i);
		pfs[i] = (struct vs_vc_pf) { .pci = pcis[i], .pnic = "vmnic4",
			.switch_uuid = "sw", .numa = -1, .vfs = 4,
			.link_up = true };
	}
	fpgas();
	fake_host(&h);
	to = vs_host_get(core_inv(), "host-1");
	assert_int_equal(to->nleft, 1);
	assert_string_equal(to->left, "0000:58:00.0");
	/* on no PF's bus it is one, for which there is no row */
	vf.pci = "0000:59:00.2";
	fake_host(&h);
	assert_int_equal(to->nleft, 2);
}

static char left_line[256];

static void keep_left(enum vs_log_level level, const char *line)
{
	(void)level;
	if (strstr(line, " not counted"))
		vs_strlcpy(left_line, line, sizeof(left_line));
}

static void one_that_is_left_out_has_no_others(void **state)
{
	(void)state;
	fpgas();
	vs_log_to(keep_left);
	alike(VS_HOST_PFS + 1);
	assert_non_null(strstr(left_line, " 1 is not counted (0000:58:00.0): "));
	alike(VS_HOST_PFS + 2);
	assert_non_null(strstr(left_line,
			       " 2 are not counted (0000:58:00.0 and others): "));
	vs_log_to(NULL);
}

/* Each device needs a device entry: those without one are reported. */
static void what_finds_no_row_is_counted_as_left_out(void **state)
{
	const struct vs_host *h;

	(void)state;
	fpgas();
	h = alike(VS_HOST_PFS);
	assert_int_equal(h->npfs, VS_HOST_PFS);
	assert_int_equal(h->nleft, 0);
	alike(VS_HOST_PFS + 3);
	assert_int_equal(h->npfs, VS_HOST_PFS);
	assert_int_equal(h->nleft, 3);
	assert_string_equal(h->left, "0000:58:00.0");
	sums_are_true();
	assert_int_equal(vs_free_capacity_get(&vs_core)->hosts[h->index]
			 .pf[VS_HOST_PFS - 1].free, 1);
	alike(2);
	assert_int_equal(h->nleft, 0);
}

static void what_is_passed_through_is_no_device_of_a_class(void **state)
{
	static struct vs_vc_function f[] = {
		{ .pci = HERE, .name = "U250", .vendor = 0x10ee, .device = 0x5000 },
		{ .pci = THERE, .name = "U250", .vendor = 0x10ee, .device = 0x5000 },
	};
	static const struct vs_vc_named dvx = { .name = "com.vendor.fpga" };
	struct vs_vc_device d = { .pci = THERE, .name = "U250", .label = "",
		.vendor = 0x10ee, .device = 0x5000, .numa = -1 };
	struct vs_vc_host h = { .moid = "host-1", .has = VS_VC_HOST_PFS,
		.functions = f, .nfunctions = 2, .dvx = &dvx, .ndvx = 1,
		.devices = &d, .ndevices = 1 };
	struct vs_conf *conf = conf_make(1, "power_off", 1024);
	struct vs_conf_adapter *a = conf_other_from(conf, 0, "dvx");

	(void)state;
	a->vendor = 0x10ee;
	a->device = 0x5000;
	a->device_class = vs_strdup("com.vendor.fpga");
	begin(1, 1, 4, "power_off");
	begin_as(conf);
	ready();
	fake_host(&h);
	assert_int_equal(vs_host_get(core_inv(), "host-1")->pfs[0].vfs, 2);
	d.active = true;
	fake_host(&h);
	assert_int_equal(vs_host_get(core_inv(), "host-1")->pfs[0].vfs, 1);
}

/* ---- what goes wrong ---------------------------------------------------------- */

/* The device alone, and not its whole host. */
static void a_device_that_somebody_else_has_is_avoided(void **state)
{
	const struct vs_exclusion *a;

	(void)state;
	fpgas();
	due("vm1");
	fake_offers(1, HERE, "one", NULL);
	turn();
	assert_true(fake_finish(FAKE_CLONE));
	turns(2);
	assert_true(fake_fault(FAKE_POWER_ON, VS_E_OTHER_HOST,
			       VS_VC_FAULT_NO_DEVICE,
			       "Device 65:00.0 is already in use."));
	for (a = vs_avoids(); a && strcmp(a->pf, HERE); a = a->next)
		;
	assert_non_null(a);
	assert_string_equal(a->moid, "host-1");
	turns(20);
	assert_string_equal(hold_of("vm1")->host, "host-2");
	assert_null(heard(VS_REQUEST_FAIL, NULL));
}

#define T(f) cmocka_unit_test(f)

/* ---- DVX classes ------------------------------------------------------------ */

#define CLASS "com.vendor.fpga"

static void classes(const char *params)
{
	struct vs_conf *conf = conf_make(1, "power_off", 1024);
	struct vs_conf_adapter *a = conf_other_from(conf, 0, "dvx");
	struct vs_vc_named dvx = { .name = CLASS };
	struct vs_vc_host h = { .moid = "host-1", .has = VS_VC_HOST_PFS,
		.dvx = &dvx, .ndvx = 1 };

	a->device_class = vs_strdup(CLASS);
	a->instances = 2;
	a->parameters = params ? vs_strdup(params) : NULL;
	begin(1, 1, 4, "power_off");
	begin_as(conf);
	ready();
	fake_host(&h);
	turn();
	due("vm1");
}

static void the_types_of_a_classs_parameters_are_asked_for_once(void **state)
{
	const struct vs_vc_option said[] = {
		{ "com.vendor.other", "queues", VS_VC_VALUE_STRING },
		{ CLASS, "queues", VS_VC_VALUE_LONG },
	};

	(void)state;
	classes("queues=8");
	turns(5);
	assert_int_equal(fake_target.asked, 1);
	assert_int_equal(fake_sent[FAKE_CLONE], 0);
	fake_offers_options(1, said, VS_COUNT(said));
	turns(2);
	assert_int_equal(fake_sent[FAKE_CLONE], 1);
	assert_true(fake_finish(FAKE_CLONE));
	assert_int_equal(fake_get("vm1")->first.noptions, 1);
	assert_int_equal(fake_get("vm1")->first.option, VS_VC_VALUE_LONG);
	turns(100);
	assert_int_equal(fake_target.asked, 1);
}

static void a_class_without_parameters_needs_no_question(void **state)
{
	(void)state;
	classes(NULL);
	assert_int_equal(fake_target.asked, 0);
	assert_int_equal(fake_sent[FAKE_CLONE], 1);
}

/* It is asked again while an answer may come, and done without after a refusal. */
static void where_a_host_does_not_say_the_types_they_are_guessed(void **state)
{
	struct vs_err err = { 0 };

	(void)state;
	classes("queues=8");
	vs_err_set(&err, VS_E_RETRY, "timed out");
	fake_offers(1, NULL, NULL, &err);
	turns(20);
	assert_int_equal(fake_sent[FAKE_CLONE], 0);
	turns(80);
	assert_int_equal(fake_target.asked, 2);
	vs_err_set(&err, VS_E_CONFIG, "NoPermission");
	fake_offers(2, NULL, NULL, &err);
	turns(40);
	assert_int_equal(fake_sent[FAKE_CLONE], 1);
	assert_true(fake_finish(FAKE_CLONE));
	assert_int_equal(fake_get("vm1")->first.noptions, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(the_host_is_asked_before_the_clone_and_once),
		T(a_host_that_does_not_offer_it_is_left_out),
		T(a_question_without_an_answer_is_asked_again),
		T(a_slow_refusal_is_believed_as_long),
		T(an_answer_that_a_change_overtook_is_not_taken),
		T(a_lost_connection_forgets_question_and_answer),
		T(a_vm_that_moves_leaves_its_device_behind),
		T(no_pf_of_another_host_is_said_before_it_is_there),
		T(devices_alike_are_one_row_however_many),
		T(another_port_of_a_nic_is_no_vf),
		T(a_vf_of_a_pf_that_found_no_row_is_no_device),
		T(one_that_is_left_out_has_no_others),
		T(what_finds_no_row_is_counted_as_left_out),
		T(what_is_passed_through_is_no_device_of_a_class),
		T(a_device_that_somebody_else_has_is_avoided),
		T(the_types_of_a_classs_parameters_are_asked_for_once),
		T(a_class_without_parameters_needs_no_question),
		T(where_a_host_does_not_say_the_types_they_are_guessed),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
