/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * PFs that aren't what they were (Broadcom KB 309346: max_vfs is per driver in
 * PCI order, a NIC that is added moves VFs), and VFs that go while in use.
 */
#include "engine_stage.h"
#include "util/json.h"

#define A "0000:3b:00.0"
#define B "0000:5e:00.0"
#define C "0000:18:00.0"

/* esx1 shows these PFs. */
static void pfs(const struct vs_vc_pf *list, size_t n)
{
	fake_host(&(struct vs_vc_host){
		.moid = "host-1", .has = VS_VC_HOST_PFS | VS_VC_HOST_STATE,
		.connected = true, .powered_on = true,
		.pfs = list, .npfs = n,
	});
	turn();
}
#define PFS(...)							\
	do {								\
		const struct vs_vc_pf list_[] = { __VA_ARGS__ };	\
		pfs(list_, VS_COUNT(list_));				\
	} while (0)
#define PF(addr, nic, n)						\
	{ .pci = (addr), .pnic = (nic), .switch_uuid = "sw",		\
	  .vfs = (n), .link_up = true }

static bool quarantined(const char *pci)
{
	for (const struct vs_exclusion *a = vs_avoids(); a; a = a->next)
		if (a->cause == VS_EXCLUDED_PF_CHANGE && !strcmp(a->pf, pci))
			return true;
	return false;
}

static void two_pfs(int a, int b)
{
	begin(2, 1, 2, "warm");
	ready();
	PFS(PF(A, "vmnic4", a), PF(B, "vmnic6", b));
	assert_false(quarantined(A) || quarantined(B));
}

static void vfs_that_moved_to_another_pf_are_not_used(void **st)
{
	(void)st;
	two_pfs(8, 0);
	PFS(PF(A, "vmnic4", 0), PF(B, "vmnic6", 8));
	assert_true(quarantined(B));
	assert_int_equal(job_begin(7, "vm1", NULL), -1);
}

static void a_nic_that_is_added_may_take_anothers_vfs(void **st)
{
	(void)st;
	two_pfs(4, 4);
	PFS(PF(C, "vmnic8", 4), PF(A, "vmnic4", 4), PF(B, "vmnic6", 0));
	assert_true(quarantined(C));
	assert_false(quarantined(A));
	/* A is what it was, and serves. */
	assert_int_equal(job_begin(7, "vm1", NULL), 0);
	assert_string_equal(vs_ledger_get(core_ledger(), "vm1")->vfs[0].pf,
			    A);
}

static void a_new_nic_with_vfs_of_its_own_is_welcome(void **st)
{
	(void)st;
	two_pfs(4, 0);
	PFS(PF(C, "vmnic8", 4), PF(A, "vmnic4", 4), PF(B, "vmnic6", 0));
	assert_false(quarantined(C));
}

static void a_nic_at_another_address_is_not_used(void **st)
{
	(void)st;
	two_pfs(4, 0);
	PFS(PF(C, "vmnic4", 4), PF(B, "vmnic6", 0));
	assert_true(quarantined(C));
	assert_non_null(strstr(vs_exclusion_get(&vs_core, "host-1", C)->why,
			       "vmnic4 was at " A));
	assert_int_equal(job_begin(7, "vm1", NULL), -1);
}

static void another_nic_at_the_address_is_not_used(void **st)
{
	(void)st;
	two_pfs(4, 0);
	PFS(PF(A, "vmnic9", 4), PF(B, "vmnic6", 0));
	assert_true(quarantined(A));
}

static void what_is_as_it_was_again_is_used_again(void **st)
{
	(void)st;
	two_pfs(4, 0);
	PFS(PF(C, "vmnic4", 4), PF(B, "vmnic6", 0));
	PFS(PF(A, "vmnic4", 4), PF(B, "vmnic6", 0));
	assert_false(quarantined(A) || quarantined(C));
	assert_int_equal(job_begin(7, "vm1", NULL), 0);
}

static void an_operator_says_that_it_is_right(void **st)
{
	struct vs_err err = { 0 };

	(void)st;
	two_pfs(8, 0);
	PFS(PF(A, "vmnic4", 0), PF(B, "vmnic6", 8));
	assert_true(quarantined(B));
	vs_jb_free(vs_core_request("resume", "esx1", "", 0, &err));
	assert_int_equal(err.code, VS_OK);
	assert_false(quarantined(B));
	assert_int_equal(job_begin(7, "vm1", NULL), 0);
	PFS(PF(A, "vmnic4", 0), PF(B, "vmnic6", 8));
	assert_false(quarantined(B));
}

static void vfs_lowered_and_raised_again_are_no_drift(void **st)
{
	(void)st;
	two_pfs(8, 4);
	PFS(PF(A, "vmnic4", 2), PF(B, "vmnic6", 4));
	PFS(PF(A, "vmnic4", 2), PF(B, "vmnic6", 1));
	PFS(PF(A, "vmnic4", 8), PF(B, "vmnic6", 1));
	PFS(PF(A, "vmnic4", 8), PF(B, "vmnic6", 4));
	assert_null(vs_avoids());
}

static void a_host_that_is_away_tells_nothing(void **st)
{
	(void)st;
	two_pfs(8, 4);
	fake_host(&(struct vs_vc_host){
		.moid = "host-1", .has = VS_VC_HOST_PFS | VS_VC_HOST_STATE,
		.connected = false });
	PFS(PF(A, "vmnic4", 8), PF(B, "vmnic6", 4));
	assert_null(vs_avoids());
}

static void it_is_found_again_after_a_restart(void **st)
{
	struct vs_host_fingerprint *p;

	(void)st;
	two_pfs(8, 0);
	p = vs_fingerprint_get("esx1");
	assert_non_null(p);
	fake_load();		/* all is read again: one PF, as in the fake */
	fake_slow(NULL, 0);
	turn();
	PFS(PF(A, "vmnic4", 0), PF(B, "vmnic6", 8));
	assert_true(quarantined(B));
}

/* ---- VFs that go while they are in use ---------------------------------------- */

/* sriov-network-device-plugin#565: capacity that is wrong after a change. */
static void vfs_lowered_below_their_use_are_told_and_disturb_nobody(void **st)
{
	VS_FREE char *text = NULL;

	(void)st;
	begin(3, 1, 3, "warm");
	ready();
	bring_up(7, "vm1");
	bring_up(8, "vm2");
	ntold = 0;
	memset(fake_sent, 0, sizeof(fake_sent));
	PFS(PF(A, "vmnic4", 1));
	turns(60);
	assert_int_equal(free_on("host-1"), -1);
	text = vs_jb_text_free(vs_core_report("hosts", 0, 0, NULL));
	assert_non_null(strstr(text, "over-committed, 2 VFs in use or reserved, 1 present"));
	assert_int_equal(ntold, 0);
	for (int k = 0; k < FAKE_KINDS; k++)
		assert_int_equal(fake_sent[k], 0);
	assert_int_equal(job_begin(9, "vm3", NULL), -1);
	end_job(7, "vm1");
	flags("vm1", GOING);
	turns(2);
	assert_true(fake_finish(FAKE_POWER_OFF));
	flags("vm1", DOWN);
	turns(2);
	assert_int_equal(free_on("host-1"), 0);
	assert_int_equal(job_begin(9, "vm3", NULL), -1);
}

static void host_says(const char *sums)
{
	VS_FREE char *text =
		vs_jb_text_free(vs_core_report("hosts", 0, 0, NULL));

	if (!strstr(text, sums))
		fail_msg("not %s, but %s", sums, text);
}

/* What one PF has too few of is not made up by another, and not hidden where there
 * is no other. */
static void a_host_has_the_sums_of_its_pfs(void **st)
{
	(void)st;
	begin(3, 1, 3, "warm");
	ready();
	bring_up(7, "vm1");
	bring_up(8, "vm2");
	PFS(PF(A, "vmnic4", 3), PF(B, "vmnic6", 4));
	turns(2);
	host_says("\"pfs_total\":2,\"vfs_total\":7,\"vfs_managed\":2,"
		  "\"vfs_foreign\":0,\"vfs_reserved\":0,\"vfs_free\":5,");
	PFS(PF(A, "vmnic4", 1), PF(B, "vmnic6", 4));
	turns(2);
	host_says("\"vfs_total\":5,\"vfs_managed\":2,"
		  "\"vfs_foreign\":0,\"vfs_reserved\":0,\"vfs_free\":4,");
	PFS(PF(A, "vmnic4", 1));
	turns(2);
	host_says("\"pfs_total\":1,\"vfs_total\":1,\"vfs_managed\":2,"
		  "\"vfs_foreign\":0,\"vfs_reserved\":0,\"vfs_free\":-1,");
	core_inv()->vms->readable = false;
	vs_vm_changed(core_inv(), core_inv()->vms);
	host_says("\"vfs_reserved\":1,\"cpu_mhz_total\"");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_host_has_the_sums_of_its_pfs),
		cmocka_unit_test(vfs_that_moved_to_another_pf_are_not_used),
		cmocka_unit_test(a_nic_that_is_added_may_take_anothers_vfs),
		cmocka_unit_test(a_new_nic_with_vfs_of_its_own_is_welcome),
		cmocka_unit_test(a_nic_at_another_address_is_not_used),
		cmocka_unit_test(another_nic_at_the_address_is_not_used),
		cmocka_unit_test(what_is_as_it_was_again_is_used_again),
		cmocka_unit_test(an_operator_says_that_it_is_right),
		cmocka_unit_test(vfs_lowered_and_raised_again_are_no_drift),
		cmocka_unit_test(a_host_that_is_away_tells_nothing),
		cmocka_unit_test(it_is_found_again_after_a_restart),
		cmocka_unit_test(vfs_lowered_below_their_use_are_told_and_disturb_nobody),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
