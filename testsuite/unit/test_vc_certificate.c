/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is said of a certificate that can't be verified: the words are those that
 * libcurl 7.88.1, 8.14.1 and 8.22.0 gave with OpenSSL 3.0, 3.5 and 3.6. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "util/mem.h"
#include "vcenter/client/client_i.h"

#define NAME "subject name does not match"
#define CUT "Recv failure: Connection reset by peer"

static const struct saying {
	CURLcode rc;
	const char *why;
	long verified;
	const char *cause, *fix;	/* parts of them */
} sayings[] = {
	{ 60, "SSL certificate problem: certificate has expired", 10,
	  "certificate has expired", "renew vCenter's certificate, or" },
	{ 60, "SSL certificate OpenSSL verify result: certificate has expired (10)",
	  10, "certificate has expired (10)", "renew vCenter's certificate, or" },
	{ 60, "SSL certificate problem: certificate is not yet valid", 9,
	  "not yet valid", "correct slurmctld's clock, or vCenter's" },
	{ 60, "SSL certificate problem: unable to get local issuer certificate",
	  20, "local issuer", "put the CA that signed it into VCenterCAFile" },
	{ 60, "SSL: no alternative certificate subject name matches target host name 'vc'",
	  0, "subject name matches", "set VCenter= to a name" },
	{ 60, "SSL certificate OpenSSL verify result: certificate signature failure (7)",
	  7, "signature failure (7)", "another CA of the same name" },
	/* a handshake that failed over the signature: nothing was verified */
	{ 35, "error:03000072:digital envelope routines::EVP lib", 1,
	  "EVP lib", "another CA of the same name" },
	{ 35, "TLS connect error: error:030000EA:digital envelope routines::provider signature failure",
	  1, "provider signature failure", "another CA of the same name" },
	{ 35, "error:02000068:rsa routines::bad signature", 1,
	  "bad signature", "another CA of the same name" },
	{ 35, "error:0200008A:rsa routines::invalid padding", 1,
	  "invalid padding", "another CA of the same name" },
	/* the first error of the call was another connection's */
	{ 60, CUT, 10, "certificate has expired", "renew vCenter's certificate" },
	{ 60, CUT, 23, "certificate revoked", "renew vCenter's certificate" },
	{ 60, CUT, 7, "signature failure", "another CA of the same name" },
	{ 60, CUT, 19, "self-signed", "put the CA that signed it into VCenterCAFile" },
	{ 60, CUT, 0, NAME, "set VCenter= to a name" },
	{ 60, CUT, 1, NAME, "set VCenter= to a name" },
	{ 60, CUT, 4711, "peer certificate", "put the CA that signed it" },
};

static void holds(const char *said, const char *part, const char *why)
{
	if (!strstr(said, part))
		fail_msg("\"%s\": said \"%s\", expected \"%s\"", why, said, part);
}

static void each_cause_is_named_and_has_its_fix(void **state)
{
	(void)state;
	for (size_t i = 0; i < VS_COUNT(sayings); i++) {
		const struct saying *s = &sayings[i];
		const char *cause;

		assert_true(vs_vcx_certificate_is_it(s->rc, s->why));
		cause = vs_vcx_certificate_cause(s->rc, s->why, s->verified);
		holds(cause, s->cause, s->why);
		holds(vs_vcx_certificate_fix(cause), s->fix, s->why);
	}
}

static void other_trouble_is_no_certificate_s(void **state)
{
	static const struct { CURLcode rc; const char *why; } others[] = {
		{ 35, "TLS connect error: error:0A00010B:SSL routines::wrong version number" },
		{ 35, CUT },
		{ 7, "Failed to connect to 127.0.0.1 port 1" },
		{ 56, "certificate" },
	};

	(void)state;
	for (size_t i = 0; i < VS_COUNT(others); i++)
		assert_false(vs_vcx_certificate_is_it(others[i].rc,
						      others[i].why));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_cause_is_named_and_has_its_fix),
		cmocka_unit_test(other_trouble_is_no_certificate_s),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
