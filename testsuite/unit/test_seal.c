/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * util/seal: what is a frame, and what munge's credentials let through. Calls of
 * libmunge that fail when memory is out can be made to fail here.
 */
#include <dlfcn.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>
#include <munge.h>

#include "control_stage.h"
#include "util/mem.h"
#include "util/seal.h"

#define MAX 64
#define HEAD VS_FRAME_HEAD

/* ---- libmunge ----------------------------------------------------------- */

static bool no_context, no_socket, no_text;
static int contexts;		/* created and not destroyed */

munge_ctx_t munge_ctx_create(void)
{
	munge_ctx_t (*real)(void) = (munge_ctx_t (*)(void))
		dlsym(RTLD_NEXT, "munge_ctx_create");

	if (no_context)
		return NULL;
	contexts++;
	return real();
}

void munge_ctx_destroy(munge_ctx_t ctx)
{
	void (*real)(munge_ctx_t) = (void (*)(munge_ctx_t))
		dlsym(RTLD_NEXT, "munge_ctx_destroy");

	contexts--;
	real(ctx);
}

/* Three options are set here, each of another type. */
munge_err_t munge_ctx_set(munge_ctx_t ctx, int opt, ...)
{
	munge_err_t (*real)(munge_ctx_t, int, ...) =
		(munge_err_t (*)(munge_ctx_t, int, ...))
		dlsym(RTLD_NEXT, "munge_ctx_set");
	munge_err_t rc;
	va_list ap;

	va_start(ap, opt);
	if (opt == MUNGE_OPT_SOCKET)
		rc = no_socket ? EMUNGE_NO_MEMORY :
			real(ctx, opt, va_arg(ap, const char *));
	else if (opt == MUNGE_OPT_TTL)
		rc = real(ctx, opt, va_arg(ap, int));
	else
		rc = real(ctx, opt, va_arg(ap, uid_t));
	va_end(ap);
	return rc;
}

const char *munge_ctx_strerror(munge_ctx_t ctx)
{
	const char *(*real)(munge_ctx_t) = (const char *(*)(munge_ctx_t))
		dlsym(RTLD_NEXT, "munge_ctx_strerror");

	return no_text ? NULL : no_socket ? "Out of memory" : real(ctx);
}

/* ---- frames ------------------------------------------------------------- */

/* The head for n bytes, "MUNGE:" and as many 'a' as there is room for. */
static void frame(unsigned char out[HEAD + MAX + 1], size_t n)
{
	vs_frame_head(out, n);
	memset(out + HEAD, 'a', MAX + 1);
	memcpy(out + HEAD, "MUNGE:", 6);
}

static void a_length_begins_with_its_highest_byte(void **state)
{
	static const unsigned char want[HEAD] = { 1, 2, 3, 4 };
	unsigned char head[HEAD];

	(void)state;
	vs_frame_head(head, 0x01020304);
	assert_memory_equal(head, want, HEAD);
}

static void a_frame_is_whole_with_its_last_byte(void **state)
{
	unsigned char in[HEAD + MAX + 1];
	size_t len;

	(void)state;
	for (size_t n = 7; n <= MAX; n++) {
		frame(in, n);
		for (size_t have = 0; have < HEAD + n; have++)
			assert_int_equal(vs_frame_check(in, have, MAX, &len,
							NULL), 1);
		len = 0;
		assert_int_equal(vs_frame_check(in, HEAD + n, MAX, &len, NULL),
				 0);
		assert_int_equal(len, n);
		/* what comes behind it is none of it */
		in[HEAD + n] = '\0';
		len = 0;
		assert_int_equal(vs_frame_check(in, HEAD + n + 1, MAX, &len,
						NULL), 0);
		assert_int_equal(len, n);
	}
}

/* Its length is all that is needed to refuse it. */
static void a_frame_of_no_size_for_it_is_refused_at_once(void **state)
{
	static const size_t sizes[] = { 0, 1, 6, MAX + 1, 0xffffffff };
	unsigned char in[HEAD + MAX + 1];
	struct vs_err err;
	size_t len;

	(void)state;
	for (size_t i = 0; i < VS_COUNT(sizes); i++) {
		frame(in, sizes[i]);
		assert_int_equal(vs_frame_check(in, HEAD, MAX, &len, &err), -1);
		assert_int_equal(err.code, VS_E_REQUEST);
		if (sizes[i] == MAX + 1)
			assert_string_equal(err.text,
				"a frame of 65 bytes, at most 64 is allowed");
	}
}

/* So does the first byte that is no credential's. */
static void what_does_not_begin_like_a_credential_is_refused(void **state)
{
	unsigned char in[HEAD + MAX + 1];
	struct vs_err err;
	size_t len;

	(void)state;
	for (size_t at = 0; at < 6; at++) {
		frame(in, MAX);
		in[HEAD + at] ^= 1;
		assert_int_equal(vs_frame_check(in, HEAD + at, MAX, &len, NULL),
				 1);
		assert_int_equal(vs_frame_check(in, HEAD + at + 1, MAX, &len,
						&err), -1);
		assert_int_equal(err.code, VS_E_REQUEST);
	}
	frame(in, MAX);
	in[HEAD + 6] ^= 1;
	assert_int_equal(vs_frame_check(in, HEAD + MAX, MAX, &len, NULL), 0);
}

/* libmunge takes a string: it would see less than was measured. */
static void a_frame_with_a_nul_is_refused(void **state)
{
	unsigned char in[HEAD + MAX + 1];
	struct vs_err err;
	size_t len;

	(void)state;
	for (size_t at = 6; at < MAX; at++) {
		frame(in, MAX);
		in[HEAD + at] = '\0';
		assert_int_equal(vs_frame_check(in, HEAD + MAX, MAX, &len,
						&err), -1);
		assert_int_equal(err.code, VS_E_REQUEST);
	}
}

/* ---- seals -------------------------------------------------------------- */

static void expect_opened(const char *cred, const void *want, size_t n)
{
	struct vs_err err = { 0 };
	VS_FREE char *data = NULL;
	uint32_t uid = 54321;
	size_t len = 99;

	if (vs_unseal(stage_socket, cred, &data, &len, &uid, &err))
		fail_msg("%s", err.text);
	assert_int_equal(len, n);
	assert_memory_equal(data, want, n);
	assert_int_equal(data[n], '\0');
	assert_int_equal(uid, geteuid());
}

static void expect_refused(const char *socket, const char *cred,
			   enum vs_code code, const char *why)
{
	VS_FREE char *data = NULL;
	struct vs_err err = { 0 };
	uint32_t uid = 54321;
	size_t len = 99;

	assert_int_equal(vs_unseal(socket, cred, &data, &len, &uid, &err), -1);
	assert_int_equal(err.code, code);
	assert_non_null(strstr(err.text, why));
	/* nothing that could be taken for an answer */
	assert_null(data);
	assert_int_equal(len, 99);
	assert_int_equal(uid, 54321);
}

static char *sealed(int64_t only, const void *data, size_t len)
{
	struct vs_err err = { 0 };
	char *cred = NULL;

	if (vs_seal(stage_socket, only, data, len, &cred, &err))
		fail_msg("%s", err.text);
	return cred;
}

static void what_was_sealed_comes_out_once(void **state)
{
	static const char data[] = "a\0b";
	VS_FREE char *any = sealed(VS_SEAL_ANYBODY, data, sizeof(data));
	VS_FREE char *own = sealed(geteuid(), data, sizeof(data));
	VS_FREE char *empty = sealed(VS_SEAL_ANYBODY, "", 0);
	VS_FREE char *one = sealed(VS_SEAL_ANYBODY, "x", 1);

	(void)state;
	expect_opened(any, data, sizeof(data));
	expect_opened(own, data, sizeof(data));
	expect_opened(empty, "", 0);
	expect_opened(one, "x", 1);
	expect_refused(stage_socket, any, VS_E_REQUEST, "munge says: ");
	expect_refused(stage_socket, empty, VS_E_REQUEST, "munge says: ");
}

static void what_is_for_another_user_stays_shut(void **state)
{
	VS_FREE char *cred = sealed((int64_t)geteuid() + 1, "x", 1);

	(void)state;
	expect_refused(stage_socket, cred, VS_E_REQUEST, "nauthorized");
}

/* Sealed by another's program, for this many seconds. */
static char *lasting(const char *socket, int ttl)
{
	munge_ctx_t ctx = munge_ctx_create();
	char *cred = NULL;

	assert_int_equal(munge_ctx_set(ctx, MUNGE_OPT_SOCKET, socket), 0);
	assert_int_equal(munge_ctx_set(ctx, MUNGE_OPT_TTL, ttl), 0);
	assert_int_equal(munge_encode(&cred, ctx, "x", 1), 0);
	munge_ctx_destroy(ctx);
	return cred;
}

static int ttl_of(const char *cred)
{
	munge_ctx_t ctx = munge_ctx_create();
	void *data = NULL;
	int ttl = 0, n;

	assert_int_equal(munge_ctx_set(ctx, MUNGE_OPT_SOCKET, stage_socket), 0);
	assert_int_equal(munge_decode(cred, ctx, &data, &n, NULL, NULL), 0);
	assert_int_equal(munge_ctx_get(ctx, MUNGE_OPT_TTL, &ttl), 0);
	munge_ctx_destroy(ctx);
	free(data);
	return ttl;
}

static void a_credential_lasts_a_minute_at_most(void **state)
{
	VS_FREE char *fine = lasting(stage_socket, 60);
	VS_FREE char *lasts = lasting(stage_socket, 61);
	VS_FREE char *own = sealed(VS_SEAL_ANYBODY, "x", 1);

	(void)state;
	expect_opened(fine, "x", 1);
	expect_refused(stage_socket, lasts, VS_E_REQUEST,
		       "a credential good for 61 s, at most 60 is allowed");
	assert_int_equal(ttl_of(own), 60);
}

static void who_is_refused_is_told_what_to_look_at(void **state)
{
	VS_FREE char *key = lasting(stage_stranger(), 30);
	VS_FREE char *late = lasting(stage_socket, 1);
	VS_FREE char *cred = sealed(VS_SEAL_ANYBODY, "x", 1);
	time_t begun = time(NULL);

	(void)state;
	expect_refused(stage_socket, key, VS_E_REQUEST,
		       " (do both machines have the same munge key?)");
	expect_refused("/nonexistent/munge.socket", cred, VS_E_RETRY,
		       " (is munged running here?)");
	expect_refused("/nonexistent/munge.socket", cred, VS_E_RETRY,
		       "/nonexistent/munge.socket");
	while (time(NULL) < begun + 3)		/* its second is over then */
		nanosleep(&(struct timespec) { .tv_nsec = 50000000 }, NULL);
	expect_refused(stage_socket, late, VS_E_REQUEST,
		       " (do the clocks of both machines agree?)");
	expect_opened(cred, "x", 1);
}

static void what_cannot_be_sealed_gives_no_credential(void **state)
{
	size_t bytes = 1024 * 1024 + 1;		/* more than munge takes */
	VS_FREE char *data = vs_calloc(bytes, 1);
	struct vs_err err = { 0 };
	char *cred = NULL;

	(void)state;
	assert_int_equal(vs_seal(stage_socket, VS_SEAL_ANYBODY, data, bytes,
				 &cred, &err), -1);
	assert_int_equal(err.code, VS_E_REQUEST);
	assert_null(strstr(err.text, "(is munged running here?)"));
	assert_null(cred);
	assert_int_equal(vs_seal("/nonexistent/munge.socket", VS_SEAL_ANYBODY,
				 "x", 1, &cred, &err), -1);
	assert_int_equal(err.code, VS_E_RETRY);
	assert_non_null(strstr(err.text, "(is munged running here?)"));
	assert_null(cred);
}

/* munged's own socket would take what was meant for another one. */
static void without_its_socket_nothing_is_sealed_or_opened(void **state)
{
	VS_FREE char *cred = sealed(VS_SEAL_ANYBODY, "x", 1);
	struct vs_err err = { 0 };
	char *none = NULL;

	(void)state;
	no_socket = true;
	assert_int_equal(vs_seal(stage_socket, VS_SEAL_ANYBODY, "x", 1, &none,
				 &err), -1);
	assert_int_equal(err.code, VS_E_CONFIG);
	assert_string_equal(err.text, "munge: Out of memory");
	assert_null(none);
	expect_refused(stage_socket, cred, VS_E_CONFIG, "munge: Out of memory");
	no_socket = false;
	assert_int_equal(contexts, 0);
	expect_opened(cred, "x", 1);
	assert_int_equal(contexts, 0);
}

static void a_failure_without_a_text_has_its_codes(void **state)
{
	VS_FREE char *cred = sealed((int64_t)geteuid() + 1, "x", 1);

	(void)state;
	no_text = true;
	expect_refused(stage_socket, cred, VS_E_REQUEST,
		       munge_strerror(EMUNGE_CRED_UNAUTHORIZED));
	no_text = false;
}

static void without_memory_for_a_context_it_ends(void **state)
{
	struct vs_err err = { 0 };
	char *cred = NULL;
	int status;
	pid_t child = fork();

	(void)state;
	assert_true(child >= 0);
	if (!child) {
		signal(SIGABRT, SIG_DFL);
		setrlimit(RLIMIT_CORE, &(struct rlimit) { 0, 0 });
		no_context = true;
		vs_seal(stage_socket, VS_SEAL_ANYBODY, "x", 1, &cred, &err);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_length_begins_with_its_highest_byte),
		cmocka_unit_test(a_frame_is_whole_with_its_last_byte),
		cmocka_unit_test(a_frame_of_no_size_for_it_is_refused_at_once),
		cmocka_unit_test(what_does_not_begin_like_a_credential_is_refused),
		cmocka_unit_test(a_frame_with_a_nul_is_refused),
		cmocka_unit_test(what_was_sealed_comes_out_once),
		cmocka_unit_test(what_is_for_another_user_stays_shut),
		cmocka_unit_test(a_credential_lasts_a_minute_at_most),
		cmocka_unit_test(who_is_refused_is_told_what_to_look_at),
		cmocka_unit_test(what_cannot_be_sealed_gives_no_credential),
		cmocka_unit_test(without_its_socket_nothing_is_sealed_or_opened),
		cmocka_unit_test(a_failure_without_a_text_has_its_codes),
		cmocka_unit_test(without_memory_for_a_context_it_ends),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, stage_open, stage_close);
}
