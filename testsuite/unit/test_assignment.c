/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a job got, on its way: into the job's record and its SPANK environment,
 * out of that on a node, from the node's files into a task's environment.
 */
#include "guest_stage.h"
#include "plugins/job_assignment.h"
#include "plugins/guest_files.h"
#include "plugins/spank/task_env.h"

#define PF "0000:3b:00.0"
#define PF2 "0000:5e:00.0"

static char *join(const char *const *names, size_t n)
{
	char *all = vs_strdup(names[0]);

	for (size_t i = 1; i < n; i++) {
		VS_FREE char *before = all;

		all = vs_asprintf("%s+%s", before, names[i]);
	}
	return all;
}

static struct vs_slurm_assignment row(const char *node, const char *adapter,
				      const char *host, const char *pfs)
{
	return (struct vs_slurm_assignment) {
		.node = (char *)node, .adapter = (char *)adapter,
		.host = (char *)host, .pfs = (char *)pfs,
	};
}

/* ---- the record ----------------------------------------------------------------- */

static void the_record_names_each_place_once(void **state)
{
	const struct vs_slurm_assignment rows[] = {
		row("vm1", "roce", "esx1", PF), row("vm2", "roce", "esx2", PF),
		row("vm3", "roce", "esx1", PF), row("vm4", "eth", "esx1", NULL),
		row("vm5", "eth", NULL, NULL),
	};
	VS_FREE char *text = vs_assignment_text(rows, VS_COUNT(rows), join);

	(void)state;
	assert_string_equal(text, "vsphere: adapter=roce vm1+vm3=esx1/" PF
			    " vm2=esx2/" PF " adapter=eth vm4=esx1 vm5=?");
}

static void a_record_too_long_ends_after_a_whole_word(void **state)
{
	static char hosts[100][32];
	struct vs_slurm_assignment rows[100];
	VS_FREE char *text = NULL;

	(void)state;
	for (size_t i = 0; i < VS_COUNT(rows); i++) {
		snprintf(hosts[i], sizeof(hosts[i]), "esx%03zu", i);
		rows[i] = row("vm", "roce", hosts[i], PF);
	}
	text = vs_assignment_text(rows, VS_COUNT(rows), join);
	assert_uint_in_range(strlen(text), VS_ASSIGNMENT_TEXT - 40,
			     VS_ASSIGNMENT_TEXT);
	assert_string_equal(text + strlen(text) - 9, ":00.0 ...");
}

static void what_a_job_waited_for_ends_the_record_however_long(void **state)
{
	static char took[] = "waited_s=0.0 provision_s=12.3 cold=2";
	static char hosts[100][32];
	struct vs_slurm_assignment rows[100];
	char *text;

	(void)state;
	for (size_t i = 0; i < VS_COUNT(rows); i++)
		rows[i] = row("vm", i % 2 ? "roce" : "eth", "esx1", PF);
	rows[0].took = took;
	text = vs_assignment_text(rows, 1, join);
	assert_string_equal(text, "vsphere: adapter=eth vm=esx1/" PF
			    " waited_s=0.0 provision_s=12.3 cold=2");
	free(text);
	for (size_t i = 0; i < VS_COUNT(rows); i++) {
		snprintf(hosts[i], sizeof(hosts[i]), "esx%03zu", i);
		rows[i].host = hosts[i];
	}
	text = vs_assignment_text(rows, VS_COUNT(rows), join);
	assert_uint_in_range(strlen(text), 1, VS_ASSIGNMENT_TEXT);
	assert_string_equal(text + strlen(text) - strlen(took) - 5,
			    " ... waited_s=0.0 provision_s=12.3 cold=2");
	free(text);
}

/* ---- to the nodes ----------------------------------------------------------------- */

static void env_free(char **env, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(env[i]);
	free(env);
}

static void each_of_many_nodes_finds_its_own(void **state)
{
	static char names[2000][16], hosts[2000][32];
	static struct vs_slurm_assignment rows[2000];
	struct vs_assignment_place place;
	size_t n;
	char **env;

	(void)state;
	for (size_t i = 0; i < VS_COUNT(rows); i++) {
		snprintf(names[i], sizeof(names[i]), "vm%zu", i);
		snprintf(hosts[i], sizeof(hosts[i]), "esx%zu.example.org", i);
		rows[i] = row(names[i], "roce", hosts[i], PF "," PF2);
	}
	env = vs_assignment_env(rows, VS_COUNT(rows), &n);
	assert_uint_in_range(n, 2, 10);
	for (size_t i = 0; i < n; i++) {
		assert_true(vs_assignment_env_managed(env[i]));
		assert_uint_in_range(strlen(env[i]), 1, 16384);
	}
	for (size_t i = 0; i < VS_COUNT(rows); i++) {
		assert_int_equal(vs_assignment_find(env, n, names[i], &place),
				 0);
		assert_string_equal(place.host, hosts[i]);
		assert_string_equal(place.pfs, PF "," PF2);
	}
	assert_int_equal(vs_assignment_find(env, n, "vm2000", &place), -1);
	assert_int_equal(vs_assignment_find(env, n, "", &place), -1);
	env_free(env, n);
}

static void a_hosts_odd_name_breaks_no_text(void **state)
{
	const struct vs_slurm_assignment rows[] = {
		row("vm1", "roce", "esx 1=\"a/b\"", PF),
		row("vm2", "roce", NULL, NULL), row("vm3", "eth", "esx3", NULL),
	};
	struct vs_assignment_place place;
	size_t n;
	char **env = vs_assignment_env(rows, VS_COUNT(rows), &n);

	(void)state;
	assert_int_equal(n, 1);
	assert_int_equal(vs_assignment_find(env, n, "vm1", &place), 0);
	assert_string_equal(place.host, "esx_1__a_b_");
	assert_string_equal(place.pfs, PF);
	assert_int_equal(vs_assignment_find(env, n, "vm2", &place), -1);
	assert_int_equal(vs_assignment_find(env, n, "vm3", &place), 0);
	assert_string_equal(place.host, "esx3");
	assert_string_equal(place.pfs, "");
	env_free(env, n);
}

static void what_makes_no_sense_is_no_place(void **state)
{
	static const char *const bad[] = {
		"SPANK_VSPHERE_0=vm1=", "SPANK_VSPHERE_0=vm1=/" PF,
		"SPANK_VSPHERE_0=vm1=a\tb", "SPANK_VSPHERE_0", "HOME=vm1=esx1",
		"SPANK_VSPHERE_0=vm11=esx1", "SPANK_VSPHERE_0=xvm1=esx1",
	};
	struct vs_assignment_place place = { "kept", "" };

	(void)state;
	for (size_t i = 0; i < VS_COUNT(bad); i++) {
		char *env[] = { (char *)bad[i] };

		assert_int_equal(vs_assignment_find(env, 1, "vm1", &place), -1);
	}
	assert_string_equal(place.host, "kept");
}

/* ---- on the node ------------------------------------------------------------------ */

#define READY "ok\nport /sys/class/infiniband/mlx5_0/ports/1\nnode vm1\n" \
	"adapter roce\ndevice mlx5_0\nnetdev eth1\nmac 00:50:56:00:00:01\n"

static void a_node_knows_its_nic_and_its_place(void **state)
{
	const struct vs_assignment_place place = { "esx1", PF };
	struct vs_guest g;

	(void)state;
	put("ready", READY);
	assert_int_equal(vs_guest_place_write(&place), 0);
	vs_guest_read(&g);
	assert_true(g.ready);
	assert_string_equal(g.node, "vm1");
	assert_string_equal(g.adapter, "roce");
	assert_string_equal(g.macs, "00:50:56:00:00:01");
	assert_string_equal(g.devices, "mlx5_0");
	assert_string_equal(g.ports, "mlx5_0:1");
	assert_string_equal(g.place.host, "esx1");
	assert_string_equal(g.place.pfs, PF);
	assert_int_equal(vs_guest_place_write(NULL), 0);
	vs_guest_read(&g);
	assert_string_equal(g.place.host, "");
	assert_int_equal(vs_guest_place_write(NULL), 0);
}

static void several_nics_are_lists_in_their_order(void **state)
{
	struct vs_guest g;

	(void)state;
	put("ready", READY "port /sys/class/infiniband/mlx5_3/ports/2\n"
	    "device mlx5_3\nmac 00:50:56:00:00:02\n");
	vs_guest_read(&g);
	assert_string_equal(g.macs, "00:50:56:00:00:01,00:50:56:00:00:02");
	assert_string_equal(g.devices, "mlx5_0,mlx5_3");
	assert_string_equal(g.ports, "mlx5_0:1,mlx5_3:2");
}

static void a_gid_index_is_told_if_it_is_one_and_of_ipv4(void **state)
{
	static const struct { const char *indexes, *gids, *want; } rows[] = {
		{ "3", "::ffff:10.1.0.7", "3" },
		{ "3,3", "::ffff:10.1.0.7,::ffff:10.2.0.7", "3" },
		{ "3,5", "::ffff:10.1.0.7,::ffff:10.2.0.7", "" },
		{ "3,31", "::ffff:10.1.0.7,::ffff:10.2.0.7", "" },
		{ "1", "fe80::250:56ff:fe00:1", "" },
		{ "3,3", "::ffff:10.1.0.7,fe80::1", "" },
		{ "x", "::ffff:10.1.0.7", "" },
	};

	(void)state;
	for (size_t i = 0; i < VS_COUNT(rows); i++) {
		VS_FREE char *text = vs_asprintf(READY "gid-index %s\ngid %s\n",
						 rows[i].indexes, rows[i].gids);
		struct vs_guest g;

		put("ready", text);
		vs_guest_read(&g);
		assert_string_equal(g.gid_index, rows[i].want);
	}
}

static void a_nic_that_failed_is_nobodys(void **state)
{
	struct vs_guest g;

	(void)state;
	put("ready", "failed: no link\nnode vm1\n");
	vs_guest_read(&g);
	assert_false(g.ready);
	assert_string_equal(g.node, "");
	setenv("SLURM_VSPHERE_RUN", "/nonexistent", 1);
	vs_guest_read(&g);
	assert_false(g.ready);
	/* not a managed VM: no file is written, and that is no error */
	assert_int_equal(
		vs_guest_place_write(&(struct vs_assignment_place) { "e", "" }),
		0);
	setenv("SLURM_VSPHERE_RUN", dir, 1);
}

/* ---- in the task -------------------------------------------------------------------- */

static struct { char name[32], value[8192]; } vars[16];

static int var(const char *name)
{
	for (int i = 0; i < (int)VS_COUNT(vars); i++)
		if (!strcmp(vars[i].name, name))
			return i;
	return -1;
}

spank_err_t spank_getenv(spank_t sp, const char *name, char *value, int size)
{
	int i = var(name);

	(void)sp;
	if (i < 0)
		return ESPANK_ENV_NOEXIST;
	vs_strlcpy(value, vars[i].value, (size_t)size);
	return strlen(vars[i].value) < (size_t)size ? ESPANK_SUCCESS :
						      ESPANK_NOSPACE;
}

static void set(const char *name, const char *value)
{
	int i = var(name) < 0 ? var("") : var(name);

	vs_strlcpy(vars[i].name, name, sizeof(vars[i].name));
	vs_strlcpy(vars[i].value, value, sizeof(vars[i].value));
}

spank_err_t spank_setenv(spank_t sp, const char *name, const char *value,
			 int overwrite)
{
	(void)sp;
	assert_int_equal(overwrite, 1);
	set(name, value);
	return ESPANK_SUCCESS;
}

spank_err_t spank_unsetenv(spank_t sp, const char *name)
{
	(void)sp;
	assert_true(var(name) >= 0);
	vars[var(name)].name[0] = '\0';
	return ESPANK_SUCCESS;
}

static const char *is(const char *name)
{
	return var(name) < 0 ? NULL : vars[var(name)].value;
}

static const struct vs_guest here = {
	.ready = true, .adapter = "roce", .macs = "m1,m2",
	.devices = "mlx5_0,mlx5_3", .ports = "mlx5_0:1,mlx5_3:2",
	.place = { "esx1", PF "," PF2 }, .gid_index = "3",
};

static int no_vars(void **state)
{
	(void)state;
	memset(vars, 0, sizeof(vars));
	return 0;
}

static void a_task_reads_all_of_it(void **state)
{
	(void)state;
	vs_env_make(NULL, &here);
	assert_string_equal(is("SLURM_VSPHERE_ADAPTER"), "roce");
	assert_string_equal(is("SLURM_VSPHERE_HOST"), "esx1");
	assert_string_equal(is("SLURM_VSPHERE_PF"), PF "," PF2);
	assert_string_equal(is("SLURM_VSPHERE_MAC"), "m1,m2");
	assert_string_equal(is("SLURM_VSPHERE_DEVICE"), "mlx5_0,mlx5_3");
	assert_string_equal(is("UCX_NET_DEVICES"), "mlx5_0:1,mlx5_3:2");
	assert_string_equal(is("NCCL_IB_HCA"), "mlx5_0,mlx5_3");
	assert_string_equal(is("UCX_IB_GID_INDEX"), "3");
	assert_string_equal(is("NCCL_IB_GID_INDEX"), "3");
}

static void another_nodes_values_give_way(void **state)
{
	const struct vs_guest other = {
		.ready = true, .adapter = "roce", .macs = "m9",
		.devices = "mlx5_9", .ports = "mlx5_9:1",
	}, eth = { .ready = true, .adapter = "eth", .macs = "m7" };

	(void)state;
	vs_env_make(NULL, &here);
	vs_env_make(NULL, &other);
	assert_string_equal(is("UCX_NET_DEVICES"), "mlx5_9:1");
	assert_string_equal(is("NCCL_IB_HCA"), "mlx5_9");
	assert_null(is("SLURM_VSPHERE_HOST"));
	assert_null(is("UCX_IB_GID_INDEX"));
	vs_env_make(NULL, &eth);
	assert_null(is("UCX_NET_DEVICES"));
	assert_null(is("NCCL_IB_HCA"));
	assert_null(is("SLURM_VSPHERE_SET"));
	assert_string_equal(is("SLURM_VSPHERE_ADAPTER"), "eth");
	vs_env_make(NULL, NULL);
	for (size_t i = 0; i < VS_COUNT(vars); i++)
		assert_string_equal(vars[i].name, "");
}

static void what_the_user_says_stays(void **state)
{
	(void)state;
	set("UCX_NET_DEVICES", "mlx5_0:1");
	vs_env_make(NULL, &here);
	assert_string_equal(is("UCX_NET_DEVICES"), "mlx5_0:1");
	assert_string_equal(is("NCCL_IB_HCA"), "mlx5_0,mlx5_3");
	/* the script set it later: a prefix of slurm-vsphere's value is the
	 * user's value */
	set("NCCL_IB_HCA", "mlx5_0");
	vs_env_make(NULL, &here);
	assert_string_equal(is("NCCL_IB_HCA"), "mlx5_0");
	vs_env_make(NULL, NULL);
	assert_string_equal(is("UCX_NET_DEVICES"), "mlx5_0:1");
	assert_string_equal(is("NCCL_IB_HCA"), "mlx5_0");
	assert_null(is("SLURM_VSPHERE_SET"));
}

/* spank_getenv() answers ESPANK_NOSPACE and the value's beginning. */
static void a_value_that_is_too_long_is_the_users_too(void **state)
{
	char value[5000];

	(void)state;
	memset(value, 'x', sizeof(value) - 1);
	value[sizeof(value) - 1] = '\0';
	set("SLURM_VSPHERE_SET", value);
	set("UCX_NET_DEVICES", value);
	vs_env_make(NULL, &here);
	assert_string_equal(is("UCX_NET_DEVICES"), value);
	assert_string_equal(is("NCCL_IB_HCA"), "mlx5_0,mlx5_3");
}

static void what_a_job_waits_for_is_told_from_what_it_got(void **state)
{
	static const struct vs_slurm_assignment row = {
		.node = "vm1", .adapter = "roce", .host = "esx1", .pfs = "a",
	};
	VS_FREE char *got = vs_assignment_text(&row, 1, join);

	(void)state;
	assert_true(vs_assignment_is_wait("vsphere: needs 1 node, 0 VFs free"));
	assert_true(vs_assignment_is_wait("vsphere: "));
	assert_false(vs_assignment_is_wait(got));
	assert_false(vs_assignment_is_wait("vsphere: requeued: node vm1: x"));
	assert_false(vs_assignment_is_wait("somebody's"));
	assert_false(vs_assignment_is_wait(""));
	assert_false(vs_assignment_is_wait(NULL));
}

static void why_a_run_was_requeued_stays_beside_what_the_job_waits_for(void **state)
{
	VS_FREE char *first = vs_assignment_wait_text("needs 1 VF",
		"vsphere: requeued: node vm1: off");
	VS_FREE char *second = vs_assignment_wait_text("needs 2 VFs", first);
	VS_FREE char *plain = vs_assignment_wait_text("needs 1 VF",
		"vsphere: adapter=roce vm1=esx1");
	VS_FREE char *none = vs_assignment_wait_text("needs 1 VF", NULL);

	(void)state;
	assert_string_equal(first, "vsphere: needs 1 VF; requeued: node vm1: off");
	assert_string_equal(second, "vsphere: needs 2 VFs; requeued: node vm1: off");
	assert_true(vs_assignment_is_wait(second));
	assert_string_equal(vs_assignment_requeued(second), "node vm1: off");
	assert_string_equal(plain, "vsphere: needs 1 VF");
	assert_string_equal(none, plain);
	assert_string_equal(vs_assignment_requeued(plain), "");
	assert_string_equal(vs_assignment_requeued(NULL), "");
	assert_string_equal(vs_assignment_requeued("x; requeued: y"), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_job_waits_for_is_told_from_what_it_got),
		cmocka_unit_test(why_a_run_was_requeued_stays_beside_what_the_job_waits_for),
		cmocka_unit_test(the_record_names_each_place_once),
		cmocka_unit_test(a_record_too_long_ends_after_a_whole_word),
		cmocka_unit_test(what_a_job_waited_for_ends_the_record_however_long),
		cmocka_unit_test(each_of_many_nodes_finds_its_own),
		cmocka_unit_test(a_hosts_odd_name_breaks_no_text),
		cmocka_unit_test(what_makes_no_sense_is_no_place),
		cmocka_unit_test_setup_teardown(
			a_node_knows_its_nic_and_its_place, up, down),
		cmocka_unit_test_setup_teardown(
			several_nics_are_lists_in_their_order, up, down),
		cmocka_unit_test_setup_teardown(
			a_gid_index_is_told_if_it_is_one_and_of_ipv4, up, down),
		cmocka_unit_test_setup_teardown(
			a_nic_that_failed_is_nobodys, up, down),
		cmocka_unit_test_setup(a_task_reads_all_of_it, no_vars),
		cmocka_unit_test_setup(another_nodes_values_give_way, no_vars),
		cmocka_unit_test_setup(what_the_user_says_stays, no_vars),
		cmocka_unit_test_setup(a_value_that_is_too_long_is_the_users_too,
				       no_vars),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
