/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stage of the control channel's tests. munged is real, everything around
 * it is made up: this file's vs_core_report() and vs_now_ms() take the place of
 * the core's. Ends only what it has started, by its pid.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "control_stage.h"
#include "scratch.h"
#include "engine/slurm/lookup.h"
#include "util/json.h"
#include "util/log.h"
#include "util/mem.h"
#include "util/seal.h"
#include "util/time.h"

#define PATIENCE_MS 30000

char stage_dir[SCRATCH_LEN];
char stage_socket[SCRATCH_FILE];
_Atomic size_t stage_big;
const char *_Atomic stage_report_text[8];
static char stranger_socket[SCRATCH_FILE];
static pid_t munged_pid, stranger_pid;
static atomic_llong clock_offset_ms, clock_stopped_ms;

/* ---- in the place of the core ------------------------------------------ */

static int64_t real_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

int64_t vs_now_ms(void)
{
	int64_t stopped_ms = atomic_load(&clock_stopped_ms);

	return (stopped_ms ? stopped_ms : real_ms()) +
		atomic_load(&clock_offset_ms);
}

void stage_clock_stop(void)
{
	atomic_store(&clock_stopped_ms, real_ms());
}

void stage_clock_go(void)
{
	atomic_store(&clock_stopped_ms, 0);
}

int64_t vs_wall_ms(void)
{
	return (int64_t)time(NULL) * 1000;
}

void stage_clock_forward(int64_t ms)
{
	atomic_fetch_add(&clock_offset_ms, ms);
}

static struct json_object *from_text(const char *text)
{
	struct json_object *root;
	struct vs_jdoc doc;

	if (vs_jdoc_parse(&doc, text, strlen(text), NULL))
		abort();
	root = doc.root;
	doc.root = NULL;
	vs_jdoc_free(&doc);
	return root;
}

/* Task 3 of array 4000 is job 4711, and so is component 1 of 4710. */
uint32_t vs_core_part(uint32_t job, const char *part)
{
	if ((job == 4000 && !strcmp(part, "5")) ||
	    (job == 4710 && !strcmp(part, "+7")))
		return 4799;		/* another user's */
	return (job == 4000 && !strcmp(part, "3")) ||
	       (job == 4710 && !strcmp(part, "+1")) ? 4711 : 0;
}

struct json_object *vs_core_report(const char *what, uint32_t job,
				   uint32_t uid, struct vs_err *err)
{
	static const char *const verbs[] = { "hosts", "nodes", "why",
						"status", "", "jobs", "check", "objects" };
	struct json_object *o;

	if (!strcmp(what, "why") && job != 4711) {
		vs_err_set(err, VS_E_GONE, "no such job: %u", job);
		return NULL;
	}
	for (size_t i = 0; i < VS_COUNT(verbs); i++)
		if (!strcmp(what, verbs[i]) && stage_report_text[i])
			return from_text(stage_report_text[i]);
	o = vs_jb_obj(NULL);
	vs_jb_int(o, "uid", uid);
	if (!strcmp(what, "nodes")) {
		struct json_object *arr = vs_jb_arr();

		/* every element is another: a part lost or doubled shows */
		for (size_t n = 0, i = 0; n < stage_big; n += 12, i++) {
			char s[16];

			snprintf(s, sizeof(s), "%010zu", i);
			vs_jb_add_str(arr, s);
		}
		vs_jb_put(o, "nodes", arr);
	}
	return o;
}

struct json_object *vs_core_plan(const char *nodes, uint32_t uid,
				 struct vs_err *err)
{
	struct json_object *o;

	(void)err;
	if (stage_report_text[4])
		return from_text(stage_report_text[4]);
	o = vs_jb_obj(NULL);
	vs_jb_int(o, "uid", uid);
	vs_jb_int(o, "time", 1);
	vs_jb_bool(o, "served", true);
	vs_jb_str(o, "asked", nodes);
	return o;
}

/* What was ordered comes back; root alone may order. */
struct json_object *vs_core_request(const char *what, const char *name,
				    const char *text, uint32_t uid,
				    struct vs_err *err)
{
	struct json_object *o = vs_jb_obj(NULL);

	(void)err;
	vs_jb_str(o, "did", what);
	vs_jb_str(o, "name", name);
	vs_jb_str(o, "text", text);
	vs_jb_int(o, "uid", uid);
	if (!strcmp(text, "again")) {
		struct json_object *was = vs_jb_obj(NULL);

		vs_jb_str(was, "user", "bob");
		vs_jb_int(was, "since", 1789000000);
		vs_jb_str(was, "reason", "upgrade");
		vs_jb_put(o, "replaced", was);
	}
	if (!strncmp(what, "pause", 5)) {
		struct json_object *paused = vs_jb_obj(NULL);

		vs_jb_str(paused, "user", "alice");
		vs_jb_str(paused, "reason", text);
		vs_jb_put(o, "paused", paused);
		vs_jb_int(o, "in_flight", 2);
	}
	return o;
}

struct json_object *vs_core_drain_at(const char *name, const char *text,
				     int64_t at, bool requeue, uint32_t uid,
				     struct vs_err *err)
{
	struct json_object *o = vs_core_request(
		requeue ? "drain-requeue" : "drain", name, text, uid, err);

	vs_jb_int(o, "maintenance_at", at);
	return o;
}

struct vs_viewer vs_lookup_viewer(uint32_t uid)
{
	return (struct vs_viewer) { .uid = uid };
}

/* ---- daemons ----------------------------------------------------------- */

void stage_dies_with_parent(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
}

pid_t stage_fork(void)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0)
		stage_dies_with_parent();
	return pid;
}

static pid_t run_munged(const char *name, const char *socket)
{
	char arg[5][SCRATCH_FILE + 20], path[SCRATCH_FILE], key[64];
	char *argv[] = { "munged", "--foreground", "--force", arg[0], arg[1],
			 arg[2], arg[3], arg[4], NULL };
	int fd;
	pid_t pid;

	snprintf(path, sizeof(path), "%s/%s.key", stage_dir, name);
	assert_int_equal(getrandom(key, sizeof(key), 0), sizeof(key));
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, key, sizeof(key)), sizeof(key));
	close(fd);
	snprintf(arg[0], sizeof(arg[0]), "--socket=%s", socket);
	snprintf(arg[1], sizeof(arg[1]), "--key-file=%s", path);
	snprintf(arg[2], sizeof(arg[2]), "--pid-file=%s/%s.pid", stage_dir, name);
	snprintf(arg[3], sizeof(arg[3]), "--log-file=%s/%s.log", stage_dir, name);
	snprintf(arg[4], sizeof(arg[4]), "--seed-file=%s/%s.seed", stage_dir,
		 name);
	pid = stage_fork();
	if (pid == 0) {
		int null = open("/dev/null", O_RDWR);

		dup2(null, 1);
		dup2(null, 2);
		setenv("PATH", "/usr/sbin:/sbin:/usr/bin:/bin:/usr/local/sbin", 1);
		execvp(argv[0], argv);
		_exit(127);
	}
	return pid;
}

/* It answers, or the set-up fails. */
static int munged_up(const char *socket)
{
	int64_t end = vs_now_ms() + PATIENCE_MS;
	char *cred;

	while (vs_now_ms() < end) {
		struct timespec nap = { .tv_nsec = 20 * 1000 * 1000 };

		if (!access(socket, F_OK) &&
		    !vs_seal(socket, VS_SEAL_ANYBODY, "x", 1, &cred, NULL)) {
			free(cred);
			return 0;
		}
		nanosleep(&nap, NULL);
	}
	print_error("# munged (is it installed?) did not start: see %s\n",
		    stage_dir);
	return -1;
}

static void end(pid_t *pid)
{
	if (*pid > 0) {
		kill(*pid, SIGTERM);
		waitpid(*pid, NULL, 0);
	}
	*pid = 0;
}

static struct { atomic_uint_fast64_t served, refused, expired; } logged;

static void count_line(enum vs_log_level level, const char *line)
{
	(void)level;
	atomic_fetch_add(&logged.served, !strncmp(line, "control: verb=", 14));
	atomic_fetch_add(&logged.refused,
			 !!strstr(line, "control: connection refused"));
	atomic_fetch_add(&logged.expired, !!strstr(line, "control: too slow"));
	if (getenv("VS_TEST_VERBOSE"))
		fprintf(stderr, "# %s\n", line);
}

int stage_open(void **state)
{
	(void)state;
	vs_log_to(count_line);
	if (!mkdtemp(scratch_path(stage_dir, "control")) || chmod(stage_dir, 0755))
		return -1;
	snprintf(stage_socket, sizeof(stage_socket), "%s/munge.sock", stage_dir);
	munged_pid = run_munged("munge", stage_socket);
	return munged_up(stage_socket);
}

const char *stage_stranger(void)
{
	snprintf(stranger_socket, sizeof(stranger_socket), "%s/other.sock",
		 stage_dir);
	if (!stranger_pid) {
		stranger_pid = run_munged("other", stranger_socket);
		assert_int_equal(munged_up(stranger_socket), 0);
	}
	return stranger_socket;
}

int stage_close(void **state)
{
	char cmd[] = "rm";
	char *argv[] = { cmd, "-rf", stage_dir, NULL };
	pid_t pid;

	(void)state;
	vs_control_stop();
	end(&munged_pid);
	end(&stranger_pid);
	pid = fork();
	if (pid == 0) {
		execvp(argv[0], argv);
		_exit(127);
	}
	waitpid(pid, NULL, 0);
	return 0;
}

int stage_start(void)
{
	char cluster[] = STAGE_CLUSTER;
	struct vs_conf conf = {
		.svf_listen_addr = "127.0.0.1", .munge_socket = stage_socket,
		.state_dir = stage_dir, .password_uid = 12345,
		.slurm.cluster = cluster,
	};
	struct vs_err err = { 0 };
	char path[SCRATCH_FILE];
	int port = 0;
	FILE *f;

	stage_big = 0;
	for (size_t i = 0; i < VS_COUNT(stage_report_text); i++)
		stage_report_text[i] = NULL;
	atomic_store(&logged.served, 0);
	atomic_store(&logged.refused, 0);
	atomic_store(&logged.expired, 0);
	if (vs_control_start(&conf, &err))
		fail_msg("%s", err.text);
	snprintf(path, sizeof(path), "%s/vsphere_control.port", stage_dir);
	f = fopen(path, "re");
	assert_non_null(f);
	assert_int_equal(fscanf(f, "%d", &port), 1);
	fclose(f);
	return port;
}

struct stage_counts counts(void)
{
	return (struct stage_counts) {
		.served = atomic_load(&logged.served),
		.refused = atomic_load(&logged.refused),
		.expired = atomic_load(&logged.expired),
	};
}

/* ---- the client -------------------------------------------------------- */

int dial(int port)
{
	struct sockaddr_in sa = { .sin_family = AF_INET,
				  .sin_port = htons((uint16_t)port),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	if (connect(fd, (struct sockaddr *)&sa, sizeof(sa)))
		fail_msg("connect: %s", strerror(errno));
	return fd;
}

const char *stage_host(void)
{
	static char host[256];

	if (!host[0])
		assert_int_equal(gethostname(host, sizeof(host) - 1), 0);
	return host;
}

char *question(const char *verb, uint32_t job)
{
	return question_to(verb, job, stage_host(), STAGE_CLUSTER);
}

char *question_to(const char *verb, uint32_t job, const char *to,
		  const char *cluster)
{
	struct vs_ctl_request req = { .job = job, .id = "q" };
	VS_FREE char *text = NULL;
	char *cred = NULL;
	struct vs_err err = { 0 };

	vs_strlcpy(req.verb, verb, sizeof(req.verb));
	vs_strlcpy(req.to, to, sizeof(req.to));
	vs_strlcpy(req.cluster, cluster, sizeof(req.cluster));
	text = vs_ctl_request_format(&req);
	if (vs_seal(stage_socket, VS_SEAL_ANYBODY, text, strlen(text), &cred,
		    &err))
		fail_msg("%s", err.text);
	return cred;
}

void send_frame(int fd, const char *cred)
{
	uint32_t n = htonl((uint32_t)strlen(cred));

	assert_int_equal(send(fd, &n, 4, MSG_NOSIGNAL), 4);
	assert_int_equal(send(fd, cred, strlen(cred), MSG_NOSIGNAL),
			 strlen(cred));
}

static bool recv_all(int fd, void *buf, size_t len)
{
	size_t have = 0;

	while (have < len) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		ssize_t n;

		if (poll(&p, 1, PATIENCE_MS) != 1)
			fail_msg("no answer within %d ms", PATIENCE_MS);
		n = recv(fd, (char *)buf + have, len - have, 0);
		if (n <= 0)
			return false;
		have += (size_t)n;
	}
	return true;
}

char *recv_frame(int fd)
{
	uint32_t n;
	char *s;

	if (!recv_all(fd, &n, 4))
		return NULL;
	n = ntohl(n);
	assert_true(n >= 1 && n <= VS_CTL_REPLY_MAX);
	s = vs_calloc(1, n + 1);
	if (!recv_all(fd, s, n)) {
		free(s);
		return NULL;
	}
	return s;
}

char *ask(int port, const char *verb, uint32_t job, struct vs_err *err,
	  unsigned int *parts)
{
	return ask_to(port, verb, job, stage_host(), STAGE_CLUSTER, err, parts);
}

char *ask_to(int port, const char *verb, uint32_t job, const char *to,
	     const char *cluster, struct vs_err *err, unsigned int *parts)
{
	VS_FREE char *cred = question_to(verb, job, to, cluster);
	char *whole = vs_strdup("");
	unsigned int n = 0, of = 1;
	int fd = dial(port);

	send_frame(fd, cred);
	while (whole && n < of) {
		VS_FREE char *frame = recv_frame(fd), *text = NULL;
		struct vs_ctl_part p;
		uint32_t uid;
		size_t len, had = strlen(whole);

		if (!frame)
			vs_err_set(err, VS_E_RETRY, "hung up");
		else if (vs_unseal(stage_socket, frame, &text, &len, &uid,
				   err) ||
			 vs_ctl_part_parse(text, len, &p, err))
			fail_msg("%s", err->text);
		else if (p.refused)
			*err = p.err;
		if (!frame || p.refused) {
			free(whole);
			whole = NULL;
			break;
		}
		assert_string_equal(p.id, "q");
		assert_int_equal(p.part, n);
		assert_int_equal(uid, geteuid());
		of = p.of;
		n++;
		whole = vs_realloc(whole, 1, had + p.len + 1);
		memcpy(whole + had, p.bytes, p.len);
		whole[had + p.len] = '\0';
	}
	close(fd);
	if (parts)
		*parts = n;
	return whole;
}
