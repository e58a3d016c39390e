/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Everything that the plugins write into slurmctld's own records, by random
 * sequences of what the engine and users do, against Slurm's own functions of
 * the installed libslurmfull. ASan ends the program at a read or write behind an
 * array, at a double free and at a leak. VS_SEED=N repeats a run.
 *
 * Memory of job records, each written here by the plugins' own code:
 *   spank_job_env, _size	slurm_ops/job_record.c
 *   system_comment		slurm_ops/ops.c, slurm_ops/job_record.c
 *   admin_comment		slurm_ops/job_record.c
 *   state_desc			slurm_ops/ops.c
 *   licenses, license_list	vf_accounting.c: test_account_random.c
 *   details->features		slurm/compat.c, in a record made up for it
 * Of node records:
 *   reason			slurm_ops/node_state.c
 *   mcs_label			slurm_ops/node_repair.c, which frees it
 * Of messages, which Slurm frees:
 *   agent_arg			slurm/compat.c
 *   resv_desc: name, users, node_list, comment	slurm_ops/reservations.c
 *   job_desc: spank_job_env	job_submit_vsphere.c: test_job_env.c, the same
 *				function; err_msg: test_submit.c
 * Numbers, which hold no memory: job_state, priority, wait_all_nodes,
 * begin_time and start_time of jobs; node_state, owner, weight, sched_weight,
 * boot_req_time, last_busy, last_response, not_responding of nodes; tres_req_cnt
 * by Slurm's license_set_job_tres_cnt(). Their tests: test_job_test.c,
 * test_job_start_time.c, test_account.c. job_resrcs is freed by Slurm's
 * free_job_resources() alone.
 */
#include "plugins/slurm/compat.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "src/common/env.h"
#include "plugins/job_assignment.h"
#include "plugins/slurm_ops/ops.h"
#include "plugins/slurm_ops/ops_i.h"
#include "util/mem.h"

#define ROUNDS 4000
#define NODES 3
#define COMMENT_MOST VS_ASSIGNMENT_TEXT
#define WORDS_MOST 600			/* of a reason; the engine's are shorter */
#define REASON_MOST (2 * WORDS_MOST + 64)	/* "slurm-vsphere: (before: )" */

static unsigned int seed;
static job_record_t job;
static vs_job_details_t details;
static node_record_t nodes[NODES];
static node_record_t *table[NODES];
static char *names[NODES] = { (char *)"vm001", (char *)"vm002",
			      (char *)"vm003" };
static uint32_t users;			/* entries of theirs */
static int locked;
static bool resv_made;

/* ---- slurmctld's part ------------------------------------------------------------ */

slurmctld_config_t slurmctld_config;
bitstr_t *avail_node_bitmap, *idle_node_bitmap, *booting_node_bitmap;
bitstr_t *power_node_bitmap, *power_down_node_bitmap, *power_up_node_bitmap;
bitstr_t *share_node_bitmap, *up_node_bitmap;
time_t last_job_update, last_node_update;
vs_list_t avail_feature_list, job_list, part_list, resv_list;
part_record_t *default_part_loc;

void lock_slurmctld(slurmctld_lock_t levels)
{
	(void)levels;
	assert_int_equal(locked++, 0);
}

void unlock_slurmctld(slurmctld_lock_t levels)
{
	(void)levels;
	assert_int_equal(--locked, 0);
}

job_record_t *find_job_record(uint32_t id)
{
	return id == job.job_id ? &job : NULL;
}

node_record_t *find_node_record2(char *name)
{
	for (int i = 0; i < NODES; i++)
		if (!strcmp(names[i], name))
			return &nodes[i];
	return NULL;
}

void make_node_avail(node_record_t *n)
{
	bit_set(avail_node_bitmap, n->index);
}

/* As Slurm's: the node has a copy. */
void set_node_down_ptr(node_record_t *n, char *reason)
{
	assert_null(n->reason);
	n->reason = xstrdup(reason);
	n->node_state = NODE_STATE_DOWN;
}

int drain_nodes(char *name, char *reason, uint32_t uid)
{
	node_record_t *n = find_node_record2(name);

	(void)uid;
	assert_null(n->reason);
	n->reason = xstrdup(reason);
	n->node_state |= NODE_STATE_DRAIN;
	return SLURM_SUCCESS;
}

int update_node(update_node_msg_t *msg, uid_t uid)
{
	node_record_t *n = find_node_record2(msg->node_names);

	(void)uid;
	if (msg->reason) {
		xfree(n->reason);
		n->reason = xstrdup(msg->reason);
	}
	n->node_state &= ~NODE_STATE_DRAIN;
	return SLURM_SUCCESS;
}

void schedule_job_save(void) { }
void set_job_prio(job_record_t *job_ptr) { job_ptr->priority = 7; }

/* What is in the message goes over the wire and is freed by Slurm. */
int played_create_resv(resv_desc_msg_t *desc) __asm__("create_resv");
int played_create_resv(resv_desc_msg_t *desc)
{
	assert_int_equal(xsize(desc->name), strlen(desc->name) + 1);
	assert_string_equal(desc->users, "root");
	assert_true(xsize(desc->node_list) > strlen(desc->node_list));
	resv_made = true;
	return SLURM_SUCCESS;
}

slurmctld_resv_t *find_resv_name(char *name)
{
	assert_string_equal(name, "vsphere_esx01");
	return NULL;
}

static uint32_t messages;

/* As slurmctld's agent: the hosts are counted, all of it is freed. */
void agent_queue_request(agent_arg_t *args)
{
	assert_int_equal(hostlist_count(args->hostlist), args->node_count);
	assert_null(args->msg_args);
	hostlist_destroy(args->hostlist);
	assert_true(xsize(args) >= sizeof(*args));
	xfree(args);
	messages++;
}

void set_agent_arg_r_uid(agent_arg_t *args, uid_t uid)
{
	args->r_uid = uid;
	args->r_uid_set = true;
}

/* What these plugins call elsewhere: not in what is tested here. */
#define NEVER(name)							\
	void never_##name(void) __asm__(#name);				\
	void never_##name(void)						\
	{								\
		fail_msg("%s() is called", #name);			\
	}
NEVER(delete_resv)
NEVER(find_het_job_record)
NEVER(find_job_array_rec)
NEVER(find_part_record)
NEVER(job_state_set_flag)
NEVER(license_job_get)
NEVER(license_job_return)
NEVER(license_list_to_string)
NEVER(license_validate)
NEVER(slurm_job_state_set_flag)
NEVER(update_resv)
NEVER(valid_feature_counts)
NEVER(validate_operator)

static int queued;

int played_queue(void) __asm__("queue_job_scheduler");
int played_queue(void)
{
	return queued++;
}

/* Slurm reads all of the text. */
static size_t bytes_read;

int played_feature_list(job_record_t *job_ptr) __asm__("build_feature_list");
int played_feature_list(job_record_t *job_ptr)
{
	bytes_read += strlen(job_ptr->details->features);
	return SLURM_SUCCESS;
}

/* ---- what is random -------------------------------------------------------------- */

static uint32_t any(uint32_t n)
{
	return (uint32_t)rand_r(&seed) % n;
}

/* Bytes of any kind, as vCenter, guests and users may send them. */
static char *bytes(size_t most)
{
	size_t n = any((uint32_t)most + 1);
	char *text = vs_calloc(n + 1, 1);

	for (size_t i = 0; i < n; i++)
		text[i] = any(4) ? (char)(' ' + any(95)) :
			(char)(1 + any(255));
	return text;
}

/* As the engine hands texts out: one line (vs_outbox_post()). */
static char *words(size_t most)
{
	char *text = bytes(most);

	vs_one_line(text);
	return text;
}

/* ---- what Slurm makes of it ------------------------------------------------------ */

/* A string of Slurm's heap, of one line, that it packs and reads back. */
static void string_is_right(char *text, size_t most)
{
	buf_t *buffer;
	char *back = NULL;
	uint32_t n;

	if (!text)
		return;
	assert_true(xsize(text) > strlen(text));
	assert_true(strlen(text) <= most);
	for (const char *c = text; *c; c++)
		assert_false((unsigned char)*c < ' ' || *c == 0x7f);
	buffer = init_buf(64);
	packstr(text, buffer);
	set_buf_offset(buffer, 0);
	assert_int_equal(unpackstr_xmalloc(&back, &n, buffer), SLURM_SUCCESS);
	if (back)
		assert_string_equal(back, text);
	else
		assert_int_equal(text[0], 0);
	xfree(back);
	free_buf(buffer);
}

static void env_is_right(void)
{
	char **merged = env_array_create(), **back = NULL;
	buf_t *buffer = init_buf(64);
	uint32_t n = 0, at = 0;

	if (job.spank_job_env)
		env_array_merge(&merged, (const char **)job.spank_job_env);
	for (char **e = job.spank_job_env; e && *e; e++, n++) {
		assert_true(xsize(*e) > strlen(*e));
		if (vs_assignment_env_managed(*e))
			continue;
		assert_int_equal(strtoul(*e + strlen("SPANK_U"), NULL, 10),
				 at++);
	}
	assert_int_equal(at, users);
	assert_int_equal(n, job.spank_job_env_size);
	packstr_array(job.spank_job_env, n, buffer);
	set_buf_offset(buffer, 0);
	assert_int_equal(unpackstr_array(&back, &n, buffer), SLURM_SUCCESS);
	assert_int_equal(n, job.spank_job_env_size);
	for (uint32_t i = 0; i < n; i++) {
		assert_string_equal(back[i], job.spank_job_env[i]);
		xfree(back[i]);
	}
	xfree(back);
	env_array_free(merged);
	free_buf(buffer);
}

static void records_are_right(void)
{
	env_is_right();
	string_is_right(job.system_comment, COMMENT_MOST);
	string_is_right(job.admin_comment, COMMENT_MOST);
	string_is_right(job.state_desc, 4096);
	for (int i = 0; i < NODES; i++)
		string_is_right(nodes[i].reason, REASON_MOST);
	assert_int_equal(locked, 0);
}

/* ---- what is done ---------------------------------------------------------------- */

static void gets_entry(bool moved)
{
	struct vs_slurm_assignment rows[NODES] = { 0 };
	size_t n = 1 + any(NODES);
	VS_FREE char *took = words(60);

	for (size_t i = 0; i < n; i++) {
		rows[i].node = names[i];
		rows[i].adapter = (char *)(any(2) ? "sriov-roce" : "vmxnet3");
		rows[i].host = any(5) ? bytes(300) : NULL;
		rows[i].pfs = any(3) ? bytes(300) : NULL;
	}
	rows[0].admin_comment = any(2);
	rows[0].moved = moved;
	rows[0].took = any(2) ? took : NULL;
	vs_slurm_job_assignment(NULL, any(20) ? 7 : 8, rows, n);
	for (size_t i = 0; i < n; i++) {
		free(rows[i].host);
		free(rows[i].pfs);
	}
}

static void state_changes(void)
{
	static const uint32_t states[] = {
		JOB_PENDING, JOB_RUNNING, JOB_RUNNING | JOB_CONFIGURING,
		JOB_SUSPENDED,
	};

	job.job_state = states[any(4)];
	job.restart_cnt += !any(8);
	job.state_reason = any(2) ? WAIT_RESOURCES : WAIT_HELD;
	if (!any(4)) {		/* an administrator's own */
		VS_FREE char *text = words(80);

		xfree(job.admin_comment);
		job.admin_comment = xstrdup(text);
	}
}

static void jobs_words(void)
{
	VS_FREE char *text = words(400);

	job.job_state = any(4) ? JOB_PENDING : job.job_state;
	if (any(2))
		vs_slurm_job_requeued(NULL, 7, text);
	else
		vs_slurm_ops_table.job_reason(NULL, 7, any(4) ? text : "");
	if (any(2))
		vs_slurm_wait_renew(&job);
}

static void nodes_words(void)
{
	static const enum vs_slurm_request changes[] = {
		VS_REQUEST_FAIL, VS_REQUEST_DRAIN, VS_REQUEST_UNDRAIN,
		VS_REQUEST_RELEASE,
	};
	const char *name = names[any(NODES)];
	VS_FREE char *text = words(WORDS_MOST);
	node_record_t *n = find_node_record2((char *)name);

	if (!any(3)) {		/* an administrator's */
		xfree(n->reason);
		n->reason = any(2) ? xstrdup(text) : NULL;
		n->node_state = any(2) ? NODE_STATE_IDLE :
			NODE_STATE_IDLE | NODE_STATE_DRAIN;
	}
	vs_slurm_node_set(NULL, name, changes[any(VS_COUNT(changes))],
			  VS_JOB_ANY, text);
}

/* Left behind by a forced power-down, with a label of the job that had it. */
static void node_is_put_right(void)
{
	node_record_t *n = &nodes[any(NODES)];

	n->node_state = NODE_STATE_POWERED_DOWN | NODE_STATE_CLOUD |
		(any(2) ? NODE_STATE_ALLOCATED : NODE_STATE_IDLE);
	xfree(n->mcs_label);
	n->mcs_label = any(2) ? xstrdup("label") : NULL;
	n->owner = any(100);
	if (vs_slurm_node_stuck(n)) {
		vs_slurm_nodes_repair((const char *const *)names, NODES);
		assert_null(n->mcs_label);
		assert_int_equal(n->owner, NO_VAL);
	}
	xfree(n->mcs_label);
}

static void messages_are_sent(void)
{
	uint32_t before = messages, boots = 0;

	for (int i = 0; i < NODES; i++) {
		nodes[i].node_state = NODE_STATE_CLOUD | (any(2) ?
			NODE_STATE_IDLE | NODE_STATE_POWERING_UP :
			NODE_STATE_DOWN);
		boots += !!(nodes[i].node_state & NODE_STATE_POWERING_UP);
		vs_slurm_node_booted(NULL, names[i],
				     any(2) ? (int64_t)any(9) : -1, true);
	}
	assert_int_equal(messages, before + boots);
}

static void one_thing(void)
{
	switch (any(9)) {
	case 0:
	case 1:
		gets_entry(false);
		break;
	case 2:
		gets_entry(true);
		break;
	case 3:
		vs_slurm_job_assignment(NULL, 7, NULL, 0);
		break;
	case 4:
		jobs_words();
		break;
	case 5:
		nodes_words();
		break;
	case 6:
		node_is_put_right();
		break;
	case 7:
		messages_are_sent();
		break;
	default:
		state_changes();
	}
}

/* ---- the tests ------------------------------------------------------------------- */

static int up(void **state)
{
	const char *given = getenv("VS_SEED");

	(void)state;
	seed = given ? (unsigned int)strtoul(given, NULL, 10) :
		(unsigned int)time(NULL);
	print_message("VS_SEED=%u\n", seed);
	node_record_count = NODES;
	node_record_table_ptr = table;
	avail_node_bitmap = bit_alloc(NODES);
	up_node_bitmap = bit_alloc(NODES);
	idle_node_bitmap = bit_alloc(NODES);
	share_node_bitmap = bit_alloc(NODES);
	power_node_bitmap = bit_alloc(NODES);
	power_down_node_bitmap = bit_alloc(NODES);
	power_up_node_bitmap = bit_alloc(NODES);
	booting_node_bitmap = bit_alloc(NODES);
	for (int i = 0; i < NODES; i++) {
		nodes[i].name = names[i];
		nodes[i].index = i;
		table[i] = &nodes[i];
	}
	return 0;
}

static int down(void **state)
{
	(void)state;
	for (int i = 0; i < NODES; i++)
		xfree(nodes[i].reason);
	FREE_NULL_BITMAP(avail_node_bitmap);
	FREE_NULL_BITMAP(up_node_bitmap);
	FREE_NULL_BITMAP(idle_node_bitmap);
	FREE_NULL_BITMAP(share_node_bitmap);
	FREE_NULL_BITMAP(power_node_bitmap);
	FREE_NULL_BITMAP(power_down_node_bitmap);
	FREE_NULL_BITMAP(power_up_node_bitmap);
	FREE_NULL_BITMAP(booting_node_bitmap);
	return 0;
}

/* A user's entries, some with names that are slurm-vsphere's, in any order. */
static void job_comes(void)
{
	uint32_t n = any(12), at = 0;

	memset(&details, 0, sizeof(details));
	memset(&job, 0, sizeof(job));
	job.job_id = 7;
	job.job_state = JOB_PENDING;
	job.priority = 1;
	job.details = &details;
	job.node_bitmap = bit_alloc(NODES);
	users = 0;
	job.spank_job_env = n ? xcalloc(n + 1, sizeof(char *)) : NULL;
	while (at < n)
		job.spank_job_env[at++] = any(2) ?
			xstrdup_printf("SPANK_U%u=x", users++) :
			xstrdup_printf(VS_ASSIGNMENT_ENV "%s=%u/%u",
				       any(2) ? "MOVED" : "0", any(3),
				       any(3));
	job.spank_job_env_size = n;
}

static void job_goes(void)
{
	for (uint32_t i = 0; i < job.spank_job_env_size; i++)
		xfree(job.spank_job_env[i]);
	xfree(job.spank_job_env);
	xfree(job.system_comment);
	xfree(job.admin_comment);
	xfree(job.state_desc);
	FREE_NULL_BITMAP(job.node_bitmap);
}

static void records_stay_right_whatever_comes(void **state)
{
	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		job_comes();
		for (uint32_t n = any(16); n; n--) {
			one_thing();
			records_are_right();
		}
		job_goes();
	}
}

/* The record's line after the end of a run from second 100 on, in which the node got
 * this reason at that second, and booted at that one. */
static const char *after_a_run(uint32_t state, const char *reason, time_t at,
			       time_t boot)
{
	static char line[VS_ASSIGNMENT_TEXT + 1];

	job_comes();
	bit_set(job.node_bitmap, 1);
	job.start_time = 100;
	job.system_comment = xstrdup("vsphere: adapter=sriov-roce vm002=esx1");
	xfree(nodes[1].reason);
	nodes[1].reason = xstrdup(reason);
	nodes[1].reason_time = at;
	nodes[1].boot_time = boot;
	nodes[1].node_state = state;
	vs_slurm_job_assignment(NULL, 7, NULL, 0);
	vs_slurm_wait_renew(&job);	/* for BeginTime */
	snprintf(line, sizeof(line), "%s",
		 job.system_comment ? job.system_comment : "");
	job_goes();
	xfree(nodes[1].reason);
	nodes[1].boot_time = 0;
	return line;
}

static void a_requeued_job_says_what_its_nodes_tell(void **state)
{
	const uint32_t up = NODE_STATE_IDLE;
	const uint32_t drained = up | NODE_STATE_DRAIN;
	const char *gone = "prep/vsphere: ens4 is gone";

	(void)state;
	assert_string_equal(after_a_run(drained, gone, 100, 90),
			    "vsphere: requeued: node vm002: ens4 is gone");
	assert_string_equal(after_a_run(drained, gone, 99, 90), "");
	assert_string_equal(after_a_run(up, gone, 100, 90), "");
	assert_string_equal(after_a_run(drained, "by hand", 100, 90), "");
	assert_string_equal(after_a_run(up, NULL, 0, 101),
			    "vsphere: requeued: node vm002 booted again while the job ran: its VM was reset, or its guest rebooted");
	assert_string_equal(after_a_run(up, NULL, 0, 100), "");
}

static time_t start_after(enum job_state_reason reason, time_t in_s)
{
	time_t at = time(NULL) + in_s, left;

	job_comes();
	job.state_reason = reason;
	job.start_time = at;
	vs_slurm_ops_table.job_reason(NULL, 7, "needs 8 VFs, 4 free");
	left = job.start_time;
	job_goes();
	return left == at ? in_s : left;
}

/* The core says it as a time in a year, which squeue would show as a date. */
static void a_start_that_nobody_knows_is_no_date(void **state)
{
	const time_t year = 365 * 24 * 3600;

	(void)state;
	assert_int_equal(start_after(WAIT_RESOURCES, year), 0);
	assert_int_equal(start_after(WAIT_RESOURCES, year - 3600), 0);
	assert_int_equal(start_after(WAIT_RESOURCES, 3600), 3600);
	assert_int_equal(start_after(WAIT_RESOURCES, year / 2), year / 2);
	/* what a user has asked for stays */
	assert_int_equal(start_after(WAIT_TIME, year), year);
}

static void both_schedulers_are_told_that_capacity_came_free(void **state)
{
	time_t now = time(NULL);

	(void)state;
	queued = 0;
	last_job_update = now - 100;
	vs_slurm_ops_table.schedule(NULL);
	assert_int_equal(queued, 1);
	assert_true(last_job_update >= now);
}

static void a_constraint_is_read_to_its_end_and_freed(void **state)
{
	size_t sent = 0;

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		VS_FREE char *text = bytes(300);
		job_record_t *read = NULL;

		sent += strlen(text);
		assert_int_equal(vs_constraint_read(text, 1000, &read), 0);
		assert_true(xsize(read->details->features) > strlen(text));
		vs_constraint_free(read);
	}
	assert_int_equal(bytes_read, sent);
}

/* As a user may write it: 64 kB that stand for 400 million names. */
static void a_list_of_more_names_than_nodes_is_not_expanded(void **state)
{
	static char many[64 * 1024];
	bitstr_t *three;
	size_t at = 0;

	(void)state;
	while (at + 12 < sizeof(many))
		at += (size_t)snprintf(many + at, sizeof(many) - at, "%s%s",
				       at ? "," : "", "a[0-65535]");
	rehash_node();
	alarm(20);		/* expanded, it takes minutes */
	assert_null(vs_nodes_bitmap(many));
	alarm(0);
	assert_null(vs_nodes_bitmap("vm[001"));
	assert_null(vs_nodes_bitmap("vm004"));
	assert_null(vs_nodes_bitmap("vm[001-003],vm001"));
	three = vs_nodes_bitmap("vm[001-003]");
	assert_non_null(three);
	assert_int_equal(bit_set_count(three), 3);
	FREE_NULL_BITMAP(three);
}

static void a_reservation_is_described_in_slurms_memory(void **state)
{
	(void)state;
	resv_list = list_create(NULL);
	for (int round = 0; round < ROUNDS / 10; round++) {
		VS_FREE char *comment = words(300);
		const struct vs_slurm_resv row = {
			.name = (char *)"vsphere_esx01",
			.nodes = (char *)(any(2) ? "vm001" : "vm001,vm003"),
			.comment = comment, .start = time(NULL) + any(100),
			.end = time(NULL) + 1000,
		};

		resv_made = false;
		vs_slurm_resvs_set(NULL, &row, 1);
		assert_true(resv_made);
	}
	FREE_NULL_LIST(resv_list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_stay_right_whatever_comes),
		cmocka_unit_test(a_requeued_job_says_what_its_nodes_tell),
		cmocka_unit_test(a_start_that_nobody_knows_is_no_date),
		cmocka_unit_test(both_schedulers_are_told_that_capacity_came_free),
		cmocka_unit_test(a_constraint_is_read_to_its_end_and_freed),
		cmocka_unit_test(a_list_of_more_names_than_nodes_is_not_expanded),
		cmocka_unit_test(a_reservation_is_described_in_slurms_memory),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, up, down);
}
