/* SPDX-License-Identifier: GPL-2.0-or-later */
/* svf support: which secrets are taken out of a text, and what stays. */
#include "cmocka_range.h"
#include <stdlib.h>
#include <string.h>
#include "svf/local/scrub.h"

static void becomes(const char *text, const char *expected)
{
	static const char *const given[] = { "p4ss w0rd", NULL };
	struct vs_buf out = VS_BUF_INIT(65536);

	svf_scrub(text, given, &out);
	assert_non_null(out.data);
	assert_string_equal(out.data, expected);
	vs_buf_free(&out);
}

static void values_of_secret_keys_are_hidden(void **state)
{
	(void)state;
	becomes("AccountingStoragePass=hunter2 Port=1",
		"AccountingStoragePass=HIDDEN Port=1");
	becomes("StorePass = 'two words' x", "StorePass = 'HIDDEN' x");
	becomes("VCenterPassword=\"a \\\" b\" y", "VCenterPassword=\"HIDDEN\" y");
	becomes("{\"password\": \"a\\\"b\", \"n\": 1}",
		"{\"password\": \"HIDDEN\", \"n\": 1}");
	becomes("<password>abc</password>", "<password>HIDDEN</password>");
	becomes("vmware-api-session-id: 0123abc\nnext",
		"vmware-api-session-id: HIDDEN\nnext");
	becomes("key session[52a0-11] is gone", "key session[HIDDEN] is gone");
	becomes("Cookie: a=b; c=d\nnext", "Cookie: HIDDEN\nnext");
	becomes("Authorization: Basic dXNlcjpw", "Authorization: HIDDEN");
	becomes("client_secret=x&grant=y", "client_secret=HIDDEN&grant=y");
}

static void so_are_urls_credentials_and_long_keys(void **state)
{
	(void)state;
	becomes("http://me:pw@proxy:3128/x", "http://HIDDEN@proxy:3128/x");
	becomes("ftp://a:b@c@host", "ftp://HIDDEN@host");
	becomes("got MUNGE:AwQDAAB+/x=: at", "got HIDDEN: at");
	becomes("id 0123456789abcdef0123456789abcdef.",
		"id HIDDEN.");
	becomes("x eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9abcdefghij y",
		"x HIDDEN y");
}

static void a_given_secret_is_found_wherever_it_stands(void **state)
{
	(void)state;
	becomes("xp4ss w0rdy, Notes=p4ss w0rd",
		"xHIDDENy, Notes=HIDDEN");
}

static void all_else_stays(void **state)
{
	static const char *const texts[] = {
		"VCenterPasswordFile=/etc/slurm/vcenter.password",
		"VCenter=https://vc.example.org:443/sdk",
		"NodeName=vm[001-016] CPUs=4 Feature=sriov-roce State=CLOUD",
		"uuid 11111111-2222-4333-8444-555555555555 vm-42 0000:3b:00.0",
		"{\"tokens\":5,\"sessions\":{\"n\":1},\"passes\":2,\"at\":1789000000}",
		"bypass the compass: a password is needed",
		"/usr/lib/x86_64-linux-gnu/slurm-wlm/select_cons_tres_vsphere.so",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		becomes(texts[i], texts[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_of_secret_keys_are_hidden),
		cmocka_unit_test(so_are_urls_credentials_and_long_keys),
		cmocka_unit_test(a_given_secret_is_found_wherever_it_stands),
		cmocka_unit_test(all_else_stays),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
