/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The whole vCenter client, with a libcurl that has no network: every answer
 * it gets is a line of the input. Its first byte is the HTTP status (2: 200,
 * 4: 404, 5: 500, 3: 503, A: 401, R: 302, L: 200 with a session's header, 0: the
 * connection breaks, 1: the name doesn't resolve), the rest the body. The first line is
 * the password file.
 *
 * What must hold: nothing crashes; the login says the file's first line and
 * nothing else; each operation is done once, with a code and a text if it
 * failed; nothing that was announced as loaded is announced twice.
 */
#define CURL_DISABLE_TYPECHECK
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/log.h"
#include "util/mem.h"
#include "vcenter/calls/calls_i.h"

#include "fake_curl.h"
#include "testsuite/unit/scratch.h"

static char *input, *input_end;
static char password[4096];

/* What we say when we log in is the file's line, whatever stands in it. */
static void check_login(const char *body)
{
	struct vs_jdoc doc;
	struct vs_err err;
	size_t len = strcspn(password, "\r\n");
	VS_FREE char *line = vs_asprintf("%.*s", (int)len, password);

	if (!body || !strstr(body, "\"password\""))
		return;
	if (vs_jdoc_parse(&doc, body, strlen(body), &err) ||
	    strcmp(vs_j_str(vs_j_get(vs_j_root(&doc), "password")), line))
		abort();
	vs_jdoc_free(&doc);
}

static CURLcode fake_answer(struct fake_easy *e)
{
	char *nl = memchr(input, '\n', (size_t)(input_end - input));
	char *end = nl ? nl : input_end, *p = input;

	check_login(e->body);
	input = nl ? nl + 1 : input_end;
	return fake_deliver(e, p, (size_t)(end - p));
}

static bool fake_more(void)
{
	return input < input_end;
}

/* ---- who listens ------------------------------------------------------------ */

struct run {
	struct vs_vc *vc;
	bool loading;
	bool together;			/* between together()'s two calls */
	int asked, done;
};

static void on_together(void *arg, bool begins)
{
	struct run *r = arg;

	if (r->together == begins)
		abort();
	r->together = begins;
}

/* Every callback comes with the listener's lock. */
static struct run *run_of(void *arg)
{
	struct run *r = arg;

	if (!r->together)
		abort();
	return r;
}

static void on_load_begin(void *arg)
{
	run_of(arg)->loading = true;
}

static void on_load_end(void *arg)
{
	struct run *r = run_of(arg);

	if (!r->loading)
		abort();
	r->loading = false;
}

static void on_down(void *arg, const struct vs_err *err)
{
	run_of(arg)->loading = false;
	if (err->code == VS_OK || !err->text[0] || strchr(err->text, '\n'))
		abort();
}

static void on_done(void *arg, uint64_t id, const char *result,
		    const struct vs_err *err)
{
	struct run *r = run_of(arg);

	if (!id || !result || ++r->done > r->asked)
		abort();
	if (err && (err->code == VS_OK || !err->text[0]))
		abort();
}

/* Counts how far the inputs got. If the client repeats a query, and the corpus
 * has no answer to it, no input reaches the later code. */
static int hosts_with_gpus, targets;

static void on_host(void *arg, const struct vs_vc_host *h)
{
	run_of(arg);
	hosts_with_gpus += h->ngpus && h->nprofiles && h->ndevices;
}

static void on_target(void *arg, uint64_t id, const struct vs_vc_targets *t,
		      const struct vs_err *err)
{
	run_of(arg);
	targets += t->ndevices > 0;
	if (!id || (err && (err->code == VS_OK || !err->text[0])))
		abort();
	for (size_t i = 0; i < t->ndevices; i++)
		if (!t->devices[i].pci[0] || !t->devices[i].system[0])
			abort();
	for (size_t i = 0; i < t->noptions; i++)
		if (!t->options[i].class[0] || !t->options[i].key[0])
			abort();
}

static void quiet(enum vs_log_level level, const char *line)
{
	(void)level;
	if (strchr(line, '\n'))
		abort();
}

/* One of each kind, where it is possible. */
static void ask(struct run *r)
{
	static const struct vs_vc_clone clone = { .source = "vm-9",
		.folder = "group-v9", .name = "vm1", .uuid = "u", .pool = "p",
		.host = "host-1", .datastore = "ds", .hw.mgmt_mac = "m" };
	struct vs_vc_op op = { .done = on_done, .arg = r };
	struct vs_err err;

	/* Counted before: a refusal may come at once. */
	r->asked += 4;
	r->asked -= vs_vc_vm_clone(r->vc, &clone, &op, &err) < 0;
	r->asked -= vs_vc_vm_power_on(r->vc, "vm-1", "host-1", &op, &err) < 0;
	r->asked -= vs_vc_vm_shutdown_guest(r->vc, "vm-1", &op, &err) < 0;
	r->asked -= vs_vc_task_adopt(r->vc, "task-1", &op, &err) < 0;
	vs_vc_target(r->vc, "domain-c1", "host-1", &err);
}

/* ---- the target -------------------------------------------------------------- */

static char file[SCRATCH_LEN];

static void clean(void)
{
	unlink(file);
}

static void put_password(void)
{
	char *nl = memchr(input, '\n', (size_t)(input_end - input));
	size_t len = (size_t)((nl ? nl : input_end) - input);
	FILE *f;

	if (!file[0]) {
		int fd = mkstemp(scratch_path(file, "fuzz"));

		if (fd < 0)
			abort();
		close(fd);
		atexit(clean);
	}
	memset(password, 0, sizeof(password));
	memcpy(password, input, len < 1023 ? len : 1023);
	f = fopen(file, "w");
	if (!f || fwrite(input, 1, len, f) != len || fclose(f))
		abort();
	input = nl ? nl + 1 : input_end;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const clusters[] = { "HPC1", NULL };
	static const char *const pools[] = { "slurm", NULL };
	static const char *const nets[] = { "SRIOV-ROCE-PG", "VM-PG", NULL };
	static const char *const templates[] = { "rhel9-ofed", NULL };
	static const struct vs_vc_events ev = { .together = on_together,
		.load_begin = on_load_begin, .load_end = on_load_end, .down = on_down, .host = on_host,
		.target = on_target };
	VS_FREE char *text = vs_calloc(size + 1, 1);
	struct vs_vc_conf conf = { .url = "https://vc", .username = "u",
		.password_file = file, .password_uid = geteuid(),
		.max_body = 1 << 16, .devices = true, .names = { "DC0", "slurm",
			"vsanDatastore", clusters, pools, nets, templates } };
	struct vs_err err;
	struct run r = { 0 };

	vs_log_to(quiet);
	memcpy(text, data, size);
	input = text;
	input_end = text + size;
	put_password();
	r.vc = vs_vc_new(&conf, &ev, &r, &err);
	if (!r.vc)
		abort();
	for (int64_t now = 1000, n = 0; n < 400 && input < input_end;
	     n++, now += 2000) {
		vs_vc_iterate(r.vc, now, 0, -1);
		if (vs_vc_is_up(r.vc) && n % 4 == 3)
			ask(&r);
	}
	vs_vc_free(r.vc, 0);
	if (r.done > r.asked)
		abort();
	return 0;
}

#define FUZZ_CORPUS "client"
#define FUZZ_ROUNDS 2000		/* each writes a file */
#define FUZZ_REACHED (hosts_with_gpus && targets)
#include "fuzz_main.h"
