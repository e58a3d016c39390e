/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * svf: what people see, and its exit codes. Expected texts are written by hand
 * from svf(1).
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "engine/rpc/message.h"
#include "svf_stage.h"
#include "util/json.h"
#include "util/mem.h"

/* ---- what people see --------------------------------------------------- */

static const char hosts_text[] =
"{\"hosts\":["
" {\"host\":\"esx01\",\"cluster\":\"HPC1\",\"state\":\"UP\",\"pfs\":["
"   {\"pci\":\"0000:3b:00.0\",\"nic\":\"vmnic4\",\"network\":\"ROCE\","
"    \"total\":8,\"managed\":2,\"foreign\":1,\"unverified\":1,\"reserved\":1,\"free\":3},"
"   {\"pci\":\"0000:5e:00.0\",\"total\":4,\"managed\":0,\"foreign\":0,"
"    \"unverified\":0,\"reserved\":0,\"free\":4}],"
"  \"pfs_total\":2,\"vfs_total\":12,\"vfs_managed\":2,"
"  \"vfs_foreign\":2,\"vfs_reserved\":1,\"vfs_free\":7,"
"  \"cpu_mhz_total\":96000,\"cpu_mhz_free\":48500,"
"  \"memory_mb_total\":524288,\"memory_mb_free\":262144,"
"  \"vms_managed\":2,\"vms_foreign\":5},"
" {\"host\":\"esx02.example.org\",\"state\":\"EXCLUDED\",\"pfs\":["
"   {\"pci\":\"0000:3b:00.0\",\"total\":8,\"unknown\":true}],"
"  \"pfs_total\":1,\"vfs_total\":8,\"vfs_managed\":0,"
"  \"vfs_foreign\":0,\"vfs_reserved\":0,"
"  \"reasons\":[\"no VF\",\"second\"]}],"
" \"notes\":[\"vCenter is away\"]}";

static void hosts_are_a_table_of_sums(void **state)
{
	(void)state;
	stage_report_text[HOSTS] = hosts_text;
	assert_int_equal(svf("hosts"), 0);
	assert_string_equal(out,
"HOST               STATE     PFS  VFS  MANAGED  FOREIGN  RESERVED  FREE  REASON\n"
"esx01              UP          2   12        2        2         1     7\n"
"esx02.example.org  EXCLUDED    1    8        0        0         0     ?  no VF; second\n");
	assert_string_equal(errs, "note: vCenter is away\n");
	assert_int_equal(svf("hosts -O host,cluster,cpu_ghz,mem_gb,vms"), 0);
	assert_string_equal(out,
"HOST               CLUSTER  CPU_GHZ(FREE/TOTAL)  MEM_GB(FREE/TOTAL)  VMS(MANAGED/OTHER)\n"
"esx01              HPC1                   48/96             256/512                 2/5\n"
"esx02.example.org  -                          -                   -                 0/0\n");
	/* the header's own words are the field's */
	assert_int_equal(svf("hosts -h -O host,CPU_GHZ(FREE/TOTAL) esx01"), 0);
	assert_string_equal(out, "esx01  48/96\n");
}

static void hosts_fit_into_86_columns_but_for_a_reason(void **state)
{
	(void)state;
	stage_report_text[HOSTS] =
"{\"hosts\":["
" {\"host\":\"esx01.example.org\",\"cluster\":\"HPC1\","
"  \"state\":\"ENTERING_MAINTENANCE\",\"pfs\":["
"   {\"pci\":\"0000:3b:00.0\",\"total\":8,\"managed\":2,\"foreign\":1,"
"    \"unverified\":0,\"reserved\":1,\"free\":4}],"
"  \"pfs_total\":1,\"vfs_total\":8,\"vfs_managed\":2,"
"  \"vfs_foreign\":1,\"vfs_reserved\":1,\"vfs_free\":4,"
"  \"cpu_mhz_total\":96000,\"cpu_mhz_free\":48500,"
"  \"memory_mb_total\":524288,\"memory_mb_free\":262144},"
" {\"host\":\"esx02.example.org\",\"state\":\"QUARANTINED\",\"pfs\":["
"   {\"pci\":\"0000:3b:00.0\",\"total\":1,\"managed\":3,\"foreign\":0,"
"    \"unverified\":0,\"reserved\":0,\"free\":-2}],"
"  \"pfs_total\":1,\"vfs_total\":1,\"vfs_managed\":3,"
"  \"vfs_foreign\":0,\"vfs_reserved\":0,\"vfs_free\":-2,"
"  \"reasons\":[\"3 nodes in a row failed to start: the NIC in the second slot is broken\"]}]}";
	setenv("COLUMNS", "10", 1);	/* nothing is left out */
	assert_int_equal(svf("hosts"), 0);
	unsetenv("COLUMNS");
	assert_string_equal(out,
"HOST               STATE                 PFS  VFS  MANAGED  FOREIGN  RESERVED  FREE  REASON\n"
"esx01.example.org  ENTERING_MAINTENANCE    1    8        2        1         1     4\n"
"esx02.example.org  QUARANTINED             1    1        3        0         0     0  3 nodes in a row failed to start: the NIC in the second slot is broken\n");
}

static void pfs_have_a_line_each_and_names_choose(void **state)
{
	(void)state;
	stage_report_text[HOSTS] = hosts_text;
	assert_int_equal(svf("hosts --pfs --noheader esx01 esx99"), 1);
	assert_string_equal(out,
"esx01  UP  0000:3b:00.0  vmnic4  ROCE  8  2  2  1  3\n"
"esx01  UP  0000:5e:00.0  -       -     4  0  0  0  4\n");
	assert_string_equal(errs, "svf: no such host: esx99\n"
			    "note: vCenter is away\n");
}

/* A second may pass between the report and the answer: `later` counts as `then`. */
static void second_forgive(const char *later, const char *then)
{
	char *at;

	while ((at = strstr(out, later)))
		memcpy(at, then, strlen(then));
}

static void nodes_show_what_is_done_and_since_when(void **state)
{
	VS_FREE char *text = vs_asprintf(
"{\"nodes\":["
" {\"node\":\"vm001\",\"vm_state\":\"ON\",\"node_state\":\"ALLOCATED\","
"  \"host\":\"esx01\",\"pf\":\"0000:3b:00.0\",\"mac\":\"00:50:56:01:02:03\","
"  \"adapter\":\"sriov-roce\",\"partition\":\"roce\",\"job\":4711,"
"  \"action\":\"nothing\"},"
" {\"node\":\"vm002\",\"vm_state\":\"STARTING\",\"adapter\":\"sriov-roce\","
"  \"action\":\"power-on\",\"since\":%lld,\"last_error\":\"no VF free\"}],"
" \"unverified\":[{\"vm\":\"vm009\",\"reason\":\"a copy\"}]}",
		(long long)time(NULL) - 3600 * 5 - 60 * 7 - 2);

	(void)state;
	stage_report_text[NODES] = text;
	assert_int_equal(svf("nodes"), 0);
	second_forgive("05:07:03", "05:07:02");
	assert_string_equal(out,
"NODE   VM_STATE  NODE_STATE  HOST   PF            MAC                ADAPTER     JOBID  ACTION             ERROR\n"
"vm001  ON        ALLOCATED   esx01  0000:3b:00.0  00:50:56:01:02:03  sriov-roce   4711  -\n"
"vm002  STARTING  -           -      -             -                  sriov-roce      -  power-on 05:07:02  no VF free\n"
"\n"
"UNVERIFIED_VM  REASON\n"
"vm009          a copy\n");
	assert_int_equal(svf("nodes vm003"), 1);
	assert_string_equal(errs, "svf: no such node: vm003\n");
	assert_int_equal(svf("-h nodes vm002"), 0);
	second_forgive("05:07:03", "05:07:02");
	assert_string_equal(out, "vm002  STARTING  -  -  -  -  sriov-roce  -  power-on 05:07:02  no VF free\n");
}

static void jobs_show_what_they_have_and_wait_for(void **state)
{
	VS_FREE char *text = vs_asprintf(
"{\"jobs\":["
" {\"job\":12,\"id\":\"12\",\"uid\":0,\"partition\":\"roce\","
"  \"state\":\"CONFIGURING\",\"adapters\":[\"sriov-roce\"],"
"  \"nodes\":[\"vm001\",\"vm002\",\"vm004\"],\"hosts\":[\"esx9.x\",\"esx10.x\"],"
"  \"vfs\":3,\"provisioning\":2,\"phase\":\"clone\",\"since\":%lld},"
" {\"job\":15,\"id\":\"14+1\",\"uid\":4000000000,\"state\":\"PENDING\","
"  \"adapters\":[\"sriov-ib\",\"sriov-roce\"],\"need\":4,"
"  \"reason\":\"needs 4 VFs, 3 free\",\"start_time\":1789000000},"
" {\"job\":20,\"id\":\"20_[3-5]\",\"state\":\"PENDING\"}]}",
		(long long)time(NULL) - 12);

	(void)state;
	setenv("TZ", "UTC", 1);
	stage_report_text[JOBS] = text;
	assert_int_equal(svf("jobs"), 0);
	second_forgive("00:00:13", "00:00:12");
	assert_string_equal(out,
"JOBID     USER        PARTITION  STATE        ADAPTER              NODES            HOSTS           VFS  PROVISIONING      START_TIME           REASON\n"
"12        root        roce       CONFIGURING  sriov-roce           vm[001-002,004]  esx9.x,esx10.x    3  2 clone 00:00:12  -                    -\n"
"14+1      4000000000  -          PENDING      sriov-ib,sriov-roce  -                -                 -  -                 2026-09-10T00:26:40  needs 4 VFs, 3 free\n"
"20_[3-5]  -           -          PENDING      -                    -                -                 -  -                 -                    -\n");
	assert_int_equal(svf("-h -O jobid,need jobs 14 20"), 0);
	assert_string_equal(out, "14+1      4\n20_[3-5]  -\n");
	assert_int_equal(svf("-h -O jobid jobs 1 14+1 2"), 1);
	assert_string_equal(out, "14+1\n");
	expect_in(errs, "svf: job 1 has no VM, and waits for none (svf why 1)\n");
	expect_in(errs, "svf: job 2 has no VM, and waits for none (svf why 2)\n");
}

static void why_says_it_in_words(void **state)
{
	(void)state;
	stage_report_text[WHY] =
"{\"job\":4711,\"state\":\"PENDING\",\"reason\":\"Resources\","
" \"text\":\"waits for 2 VFs of sriov-roce\",\"nodes\":[]}";
	assert_int_equal(svf("why 4711"), 0);
	assert_string_equal(out, "JobId=4711 PENDING (Resources)\n"
			    "waits for 2 VFs of sriov-roce\n");
	assert_int_equal(svf("why 4712"), 1);
	assert_string_equal(out, "");
	assert_string_equal(errs, "svf: no such job: 4712 (sacct shows jobs that ended long ago)\n");
	assert_int_equal(svf("why 4000_3"), 0);
	expect_in(out, "JobId=4711");
	assert_int_equal(svf("why 4710+1"), 0);
	expect_in(out, "JobId=4711");
	assert_int_equal(svf("why 4710+2"), 1);
	assert_string_equal(errs, "svf: no such job: 4710+2 (sacct shows jobs that ended long ago)\n");
	assert_int_equal(svf("why 4000_4"), 1);
	assert_string_equal(errs, "svf: no such job: 4000_4 (sacct shows jobs that ended long ago)\n");
	/* hidden, and not absent: no user can tell */
	assert_int_equal(svf("why 4000_5"), 1);
	assert_string_equal(errs, "svf: no such job: 4000_5 (sacct shows jobs that ended long ago)\n");
	assert_int_equal(svf("why 4710+7"), 1);
	assert_string_equal(errs, "svf: no such job: 4710+7 (sacct shows jobs that ended long ago)\n");
}

static void status_is_one_line_per_fact(void **state)
{
	(void)state;
	stage_report_text[STATUS] =
"{\"vcenter\":\"https://vc.example.org\",\"up\":false,"
" \"error\":\"certificate\",\"mode\":\"manage\",\"calls\":12,"
" \"refused_events\":3,\"removal_limit_reached\":true}";
	assert_int_equal(svf("status"), 0);
	assert_string_equal(out,
"vCenter                       https://vc.example.org\n"
"connection                    down\n"
"error                         certificate\n"
"mode                          manage\n"
"calls to vCenter              12\n"
"refused client events         3\n"
"removal limit                 reached: removals wait for svf reconcile --confirm\n");
}

static void a_pause_is_ordered_shown_and_ended(void **state)
{
	(void)state;
	assert_int_equal(svf("pause vCenter is upgraded"), 0);
	assert_string_equal(out, "slurm-vsphere is paused by alice: vCenter is upgraded; 2 operations in flight end by themselves\n");
	assert_int_equal(svf("pause again"), 0);
	expect_in(out, "slurm-vsphere is paused by alice: again; 2 operations in flight end by themselves; this replaces the pause by bob since 2026-09-");
	expect_in(out, ":40: upgrade\n");
	assert_int_equal(svf("pause --json why not"), 0);
	expect_in(out, "\"pause\"");
	expect_in(out, "\"why not\"");
	assert_int_equal(svf("resume"), 0);
	assert_string_equal(out, "slurm-vsphere changes vCenter again; it was paused by alice\n");
	assert_int_equal(svf("pause"), 2);
	expect_in(errs, "svf: pause: a reason is expected");
	assert_int_equal(svf("resume now"), 2);
	as_nobody = true;
	assert_int_equal(svf("pause for fun"), 1);
	expect_in(errs, "pause: only root, SlurmUser and operators of Slurm may do that");
	assert_int_equal(svf("resume"), 1);
	as_nobody = false;
	stage_report_text[STATUS] =
"{\"up\":true,\"mode\":\"manage\",\"paused\":{\"user\":\"alice\","
" \"since\":1789000000,\"reason\":\"a\\u001bb\"}}";
	assert_int_equal(svf("status"), 0);
	expect_in(out, "\npaused                        by alice since 2026-09-");
	expect_in(out, ": a?b\n");
}

static void json_is_the_whole_answer_after_a_meta_block(void **state)
{
	static const char meta[] =
"\"meta\":{\"plugin\":{\"type\":\"svf\",\"name\":\"slurm-vsphere\"},"
"\"command\":\"svf hosts\",\"version\":\"0.1.0\",\"schema\":1}";
	VS_FREE char *x = NULL, *y = NULL, *all = NULL;
	struct vs_jdoc a, b;

	(void)state;
	stage_report_text[HOSTS] = hosts_text;
	all = vs_asprintf("{%s,%s", meta, hosts_text + 1);
	assert_int_equal(svf("--json hosts"), 0);
	assert_int_equal(vs_jdoc_parse(&a, out, strlen(out), NULL), 0);
	assert_int_equal(vs_jdoc_parse(&b, all, strlen(all), NULL), 0);
	x = vs_jb_text_free(a.root);
	y = vs_jb_text_free(b.root);
	assert_string_equal(x, y);
	assert_int_equal(svf("--json host drain esx1"), 0);
	expect_in(out, "\"command\": \"svf host drain\"");
	assert_int_equal(svf("hosts -h --json"), 0);
	assert_int_equal(out[0], '{');
}

/* Their texts are svf check's: here they would stand before each answer. */
static void findings_are_one_line_of_other_verbs(void **state)
{
#define FOUND(stops) "{\"text\":\"the account has privileges\",\"stops_jobs\":" stops "}"
	static const struct { const char *found, *line; } t[] = {
		{ FOUND("false"), "1 finding about vCenter: see svf check" },
		{ FOUND("true"), "1 finding about vCenter keeps jobs pending: see svf check" },
		{ FOUND("true") "," FOUND("true"), "2 findings about vCenter keep jobs pending: see svf check" },
		{ FOUND("true") "," FOUND("false"), "2 findings about vCenter, one of which keeps jobs pending: see svf check" },
		{ FOUND("false") "," FOUND("false"), "2 findings about vCenter: see svf check" },
	};

	(void)state;
	for (size_t i = 0; i < VS_COUNT(t); i++) {
		VS_FREE char *text = vs_asprintf(
			"{\"up\":true,\"mode\":\"manage\",\"findings\":[%s]}",
			t[i].found);
		VS_FREE char *says = vs_asprintf("note: %s\n", t[i].line);

		stage_report_text[STATUS] = text;
		assert_int_equal(svf("status"), 0);
		assert_string_equal(errs, says);
		assert_null(strstr(out, "privileges"));
		stage_report_text[STATUS] = NULL;
	}
}

static void names_from_vcenter_cannot_steer_the_terminal(void **state)
{
	(void)state;
	stage_report_text[HOSTS] =
"{\"hosts\":[{\"host\":\"a\\u001b[31mb\\u009b\",\"state\":\"UP\\u0007\"}],"
" \"notes\":[\"x\\ny\"]}";
	assert_int_equal(svf("-h hosts --pfs"), 0);
	assert_int_equal(svf("-h hosts"), 0);
	expect_in(out, "a?[31mb??  UP?");
	assert_string_equal(errs, "note: x?y\n");
}

static void a_report_of_many_parts_arrives(void **state)
{
	(void)state;
	stage_big = 2 * VS_CTL_PART_MAX;		/* the array is of no use to a table */
	assert_int_equal(svf("nodes --json"), 0);
	assert_int_equal(svf("nodes"), 3);
	expect_in(errs, "slurmctld's answer: nodes[0]");
}

static void an_answer_that_is_no_object_is_an_error(void **state)
{
	static const char *const bad[] = { "[]", "7", "\"hosts\"" };

	(void)state;
	for (size_t i = 0; i < VS_COUNT(bad); i++) {
		stage_report_text[HOSTS] = bad[i];
		assert_int_equal(svf("--json hosts"), 3);
		assert_string_equal(out, "");
		expect_in(errs, "svf: slurmctld's answer is not a JSON object");
		assert_int_equal(svf("hosts"), 3);
		assert_string_equal(out, "");
		assert_true(errs[0]);
	}
}

static void any_user_may_ask(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();
	write_file("out", "%s", "");
	write_file("err", "%s", "");
	as_nobody = true;
	assert_int_equal(svf("--json hosts"), 0);
	expect_in(out, "65534");
}

/* ---- the command line -------------------------------------------------- */

#define TRY "Try 'svf --help' for more information.\n"

/* One form for all: what is wrong, then where help is. */
static void ends_as_getopt_does(const char *words)
{
	const char *last = strstr(errs, "\n" TRY);

	if (strncmp(errs, "svf: ", 5) || !last || last[1 + strlen(TRY)])
		fail_msg("svf %s: %s", words, errs);
}

static void a_wrong_command_line_is_exit_2(void **state)
{
	static const char *const bad[] = {
		"", "nonsense", "hosts --nodes", "nodes --pfs", "--pfs", "why",
		"why x", "why 1 2", "why -1", "why 0", "why 12_", "why 12_x", "why 12_-1", "why _3", "why 12+", "why 12+x", "why 12+_3", "why +1", "why 99999999999",
		"status x", "conf a b", "help hosts x", "help nonsense",
		"host plan esx1", "vm evict vm1 --on esx1", "vm move vm1",
		"vm forget vm1 --on esx1", "vm rebuild vm1 --requeue",
		"host resume esx1 --requeue", "host drain --dry-run --at now esx1",
		"hosts --pfs=1", "hosts -l1", "resume now", "pause", "adopt now",
		"top x", "top --json", "map x", "map --json --svg", "support a b",
		"vm evict vm[001-", "vm evict --requeue vm[1", "vm rebuild vm1 vm[",
		"vm move vm[ --on esx1", "plan", "plan -N1 job.sh", "hosts -t good", "nodes -w vm[1",
		"hosts -O nic", "hosts -i x", "status -O x", "adopt -i 5",
		"host drain --at soon esx1",
	};

	(void)state;
	for (size_t i = 0; i < VS_COUNT(bad); i++) {
		if (svf(bad[i]) != 2)
			fail_msg("svf %s: not 2: %s", bad[i], errs);
		assert_string_equal(out, "");
		ends_as_getopt_does(bad[i]);
	}
}

/* As getopt_long(3) words them. */
static void an_option_that_is_none_is_refused_as_getopt_does(void **state)
{
	static const struct { const char *words, *says; } bad[] = {
		{ "", "svf: a verb is expected, such as hosts, nodes or jobs\n" },
		{ "hosts --jsn", "svf: unrecognized option '--jsn'\n" },
		{ "--jsn hosts", "svf: unrecognized option '--jsn'\n" },
		{ "hosts -Q", "svf: invalid option -- 'Q'\n" },
		{ "hosts -j", "svf: invalid option -- 'j'\n"
		  "svf: -j was removed: --json has no short form\n" },
		{ "-n hosts", "svf: invalid option -- 'n'\n"
		  "svf: -n was removed: --noheader is -h, as in sinfo and squeue\n" },
		{ "hosts --sort", "svf: option '--sort' requires an argument\n" },
		{ "hosts --sort=", "svf: option '--sort' requires an argument\n" },
		{ "hosts -S", "svf: option requires an argument -- 'S'\n" },
		{ "hosts --json=1", "svf: option '--json' doesn't allow an argument\n" },
		{ "jobs --s=x", "svf: option '--s=x' is ambiguous; possibilities: '--states' '--sort'\n" },
		{ "adopt -u x", "svf: invalid option -- 'u'\n" },
		{ "nonsense", "svf: there is no verb 'nonsense'\n" },
		{ "hsots", "svf: there is no verb 'hsots'; did you mean 'hosts'?\n" },
		{ "help statux", "svf: there is no verb 'statux'; did you mean 'status'?\n" },
		{ "parents", "svf: parents was removed: it is svf clone-sources\n" },
		{ "host plan esx1", "svf: host: plan was removed: svf host drain --dry-run esx1\n" },
	};

	(void)state;
	for (size_t i = 0; i < VS_COUNT(bad); i++) {
		VS_FREE char *says = vs_asprintf("%s" TRY, bad[i].says);

		assert_int_equal(svf(bad[i].words), 2);
		assert_string_equal(out, "");
		assert_string_equal(errs, says);
	}
	assert_int_equal(svf("vm evict vm1 --on esx1"), 2);
	assert_string_equal(errs, "svf: vm: evict --on was removed: svf vm move vm1 --on esx1\n" TRY);
	/* -- ends options, long ones may be shortened, short ones grouped */
	stage_report_text[HOSTS] = hosts_text;
	assert_int_equal(svf("hosts -- -j"), 1);
	assert_string_equal(errs, "svf: no such host: -j\nnote: vCenter is away\n");
	assert_int_equal(svf("hosts --noh --Form host esx01"), 0);
	assert_string_equal(out, "esx01\n");
	assert_int_equal(svf("-hOhost hosts -- esx01"), 0);
	assert_string_equal(out, "esx01\n");
}

static void help_and_version_work_everywhere_without_slurmctld(void **state)
{
	(void)state;
	vs_control_stop();
	assert_int_equal(svf("--help"), 0);
	expect_in(out, "usage: svf ");
	assert_int_equal(svf("why --help"), 0);
	expect_in(out, "usage: svf why [OPTION...] JOBID[_TASK|+N]\n");
	assert_int_equal(svf("--help hosts"), 0);
	expect_in(out, "usage: svf hosts [OPTION...] [--pfs] [HOST...]\n");
	assert_int_equal(svf("help hosts"), 0);
	expect_in(out, "usage: svf hosts [OPTION...] [--pfs] [HOST...]\n");
	assert_int_equal(svf("help"), 0);
	expect_in(out, "usage: svf [OPTION...] VERB");
	assert_int_equal(svf("help vm"), 0);
	expect_in(out, "usage: svf vm [OPTION...] evict [--requeue] NODES [REASON...]\n"
		  "       svf vm [OPTION...] move NODES --on HOST\n");
	assert_int_equal(svf("host --help"), 0);
	expect_in(out, "drain [--at TIME] [--requeue] [--dry-run] HOST");
	assert_int_equal(svf("nodes --version"), 0);
	expect_in(out, "svf ");
	assert_int_equal(svf("--usage"), 0);
	assert_string_equal(out, "usage: svf [OPTION...] VERB [ARGUMENT...]\n");
	assert_int_equal(svf("why --usage"), 0);
	assert_string_equal(out, "usage: svf why [OPTION...] JOBID[_TASK|+N]\n");
}

/* ---- svf conf ---------------------------------------------------------- */

#define GOOD_CONF \
	"VCenter=https://vc.example.org VCenterUser=s@x\n" \
	"VCenterPasswordFile=/etc/slurm/pw\nDatacenter=DC0 Folder=slurm\n" \
	"Datastore=\"my store\"\nVSphereCluster=HPC1\n" \
	"AdapterName=eth Type=vmxnet3 Network=VM\n" \
	"PartitionName=p Adapter=eth Template=t\n"

static void a_removed_verb_is_refused_with_what_replaces_it(void **state)
{
	static const char *const words[] = { "import", "import FILE",
		"--json import FILE", "import --help", "--help import",
		"help import" };

	(void)state;
	for (size_t i = 0; i < VS_COUNT(words); i++) {
		assert_int_equal(svf(words[i]), 2);
		assert_string_equal(out, "");
		assert_int_equal(strncmp(errs, "svf: import was removed: ", 25), 0);
		expect_in(errs, "/slurm-vsphere/vhpc-import/vhpc-import FILE makes a vsphere.conf");
		expect_in(errs, "contribs/vhpc-import");
		expect_in(errs, "\n" TRY);
	}
	/* a host of that name is none */
	assert_int_equal(svf("hosts import --help"), 0);
}

static void conf_prints_what_is_in_force(void **state)
{
	(void)state;
	write_file("vsphere.conf", GOOD_CONF
		   "ESXiHost=esx[01-03,7],other Switch=leaf1\n");
	assert_int_equal(svf("conf"), 0);
	expect_in(out, "\nVCenter=https://vc.example.org\n");
	expect_in(out, "\nDatastore=\"my store\"\n");
	expect_in(out, "\nSvfPort=6828\t# default\n");
	expect_in(out, "\nESXiHost=esx[01-03,7],other Switch=leaf1\n");
	assert_int_equal(svf("--json conf"), 0);
	expect_in(out, "\"SvfPort\"");
	assert_int_equal(svf("conf --keys -hl"), 0);
	expect_in(out, "MetricsAddr");
	assert_true(strstr(out, "required") < strstr(out, "common"));
	assert_true(strstr(out, "Switch") < strstr(out, "advanced"));
	assert_true(strstr(out, "advanced") < strstr(out, "MetricsAddr"));
	expect_in(out, "InfiniBand with Type=sriov alone. One of Ethernet|InfiniBand.");
	expect_in(out, "The TCP port of SvfListenAddr. From 1 to 65535.");
}

static void conf_names_the_line_of_an_error(void **state)
{
	static const struct { const char *line, *says; } bad[] = {
		{ "Datastor=x", "Datastor" },
		{ "ESXiHost=esx[01-03],esx02 Switch=a",
		  "ESXiHost=esx02 is given twice" },
		{ "ESXiHost=esx[03-01] Switch=a", "expected a host list" },
		{ "ESXiHost=esx[1-2 Switch=a", "expected a host list" },
		{ "ESXiHost=a,,b Switch=a", "expected a host list" },
		{ "ESXiHost=a[1][2] Switch=a", "expected a host list" },
		{ "ESXiHost=a[1-999999999] Switch=a", "expected a host list" },
	};
	VS_FREE char *path = path_of("new.conf");
	VS_FREE char *cmd = vs_asprintf("conf %s", path);

	(void)state;
	for (size_t i = 0; i < VS_COUNT(bad); i++) {
		write_file("new.conf", GOOD_CONF "%s\n", bad[i].line);
		assert_int_equal(svf(cmd), 5);
		assert_string_equal(out, "");
		expect_in(errs, "new.conf line 8: ");
		expect_in(errs, bad[i].says);
	}
	assert_int_equal(svf("conf /nonexistent/vsphere.conf"), 5);
	expect_in(errs, "/nonexistent/vsphere.conf: No such file");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup(f, restart)
		T(hosts_are_a_table_of_sums),
		T(hosts_fit_into_86_columns_but_for_a_reason),
		T(pfs_have_a_line_each_and_names_choose),
		T(nodes_show_what_is_done_and_since_when),
		T(jobs_show_what_they_have_and_wait_for),
		T(why_says_it_in_words),
		T(status_is_one_line_per_fact),
		T(a_pause_is_ordered_shown_and_ended),
		T(json_is_the_whole_answer_after_a_meta_block),
		T(findings_are_one_line_of_other_verbs),
		T(names_from_vcenter_cannot_steer_the_terminal),
		T(a_report_of_many_parts_arrives),
		T(an_answer_that_is_no_object_is_an_error),
		T(any_user_may_ask),
		T(a_wrong_command_line_is_exit_2),
		T(an_option_that_is_none_is_refused_as_getopt_does),
		T(help_and_version_work_everywhere_without_slurmctld),
		T(a_removed_verb_is_refused_with_what_replaces_it),
		T(conf_prints_what_is_in_force),
		T(conf_names_the_line_of_an_error),
	};

	signal(SIGPIPE, SIG_IGN);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	unsetenv("COLUMNS");
	return cmocka_run_group_tests(tests, stage_open, stage_close);
}
