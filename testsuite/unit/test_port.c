/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slurm-vsphere-port's own judgement; with a libibverbs: testsuite/guest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "util/mem.h"
#include "contribs/guest/port.h"

#define ETH IBV_LINK_LAYER_ETHERNET
#define IB IBV_LINK_LAYER_INFINIBAND

static void an_active_mtu_fits_what_the_interface_has(void **state)
{
	static const struct { uint8_t layer; int mtu, want; } rows[] = {
		{ ETH, 0, 0 }, { ETH, 9000, 4096 }, { ETH, 4192, 4096 },
		{ ETH, 4191, 2048 }, { ETH, 2144, 2048 }, { ETH, 1500, 1024 },
		{ ETH, 1280, 1024 }, { ETH, 100, 0 }, { IB, 0, 0 },
		{ IB, 4092, 4096 }, { IB, 2044, 2048 }, { IB, 2045, 4096 },
		{ IB, 4093, 0 }, { IB, 65520, 0 },
	};

	(void)state;
	for (size_t i = 0; i < VS_COUNT(rows); i++)
		assert_int_equal(port_mtu_for(rows[i].layer, rows[i].mtu),
				 rows[i].want);
}

static void a_guid_is_of_a_mac_but_for_its_middle_and_one_bit(void **state)
{
	uint8_t mac[6];

	(void)state;
	assert_int_equal(port_mac_parse("00:50:56:0A:02:03", mac), 0);
	assert_true(port_guid_is_of(0x005056fffe0a0203, mac));
	assert_true(port_guid_is_of(0x025056fffe0a0203, mac));
	assert_true(port_guid_is_of(0x00505600000a0203, mac));
	assert_false(port_guid_is_of(0x015056fffe0a0203, mac));
	assert_false(port_guid_is_of(0x005056fffe0a0204, mac));
	assert_false(port_guid_is_of(0x005057fffe0a0203, mac));
	assert_false(port_guid_is_of(0, mac));
}

static void what_is_no_mac_is_refused(void **state)
{
	static const char *const bad[] = {
		"", "00:50:56:01:02", "00:50:56:01:02:0g", "00-50-56-01-02-03",
		"00:50:56:01:02:03:04", "000:50:56:01:02:3",
	};
	uint8_t mac[6];

	(void)state;
	for (size_t i = 0; i < VS_COUNT(bad); i++)
		assert_int_equal(port_mac_parse(bad[i], mac), -1);
}

static void a_port_comes_back_from_its_word(void **state)
{
	struct port_seen seen = {
		.device = "mlx5_1", .port = 2, .gid_index = 3,
		.attr.active_mtu = IBV_MTU_4096,
		.gid.raw = { [10] = 0xff, 0xff, 10, 1, 0, 7 },
	};
	char word[PORT_SPEC_LEN];
	struct port_spec spec;

	(void)state;
	port_spec_format(&seen, word);
	assert_string_equal(word, "mlx5_1/2/4096/3/::ffff:10.1.0.7");
	assert_int_equal(port_spec_parse(word, &spec), 0);
	assert_string_equal(spec.device, "mlx5_1");
	assert_int_equal(spec.port, 2);
	assert_int_equal(spec.mtu, 4096);
	assert_int_equal(spec.gid_index, 3);
	assert_memory_equal(&spec.gid, &seen.gid, sizeof(spec.gid));
	assert_int_equal(port_spec_parse("mlx5_1/1/2048/-/-", &spec), 0);
	assert_int_equal(spec.gid_index, -1);
	assert_true(!spec.node_guid && !spec.port_guid);
	seen.gid_index = -1;
	seen.node_guid = 0x005056fffe010203;
	seen.port_guid = 0xf;
	port_spec_format(&seen, word);
	assert_string_equal(word,
		"mlx5_1/2/4096/-/-/005056fffe010203/000000000000000f");
	assert_int_equal(port_spec_parse(word, &spec), 0);
	assert_true(spec.node_guid == seen.node_guid &&
		    spec.port_guid == seen.port_guid);
}

/* An older release's word has none. */
static void guids_are_compared_if_they_were_kept(void **state)
{
	struct port_seen seen = {
		.node_guid = 1, .port_guid = 2,
		.attr = { .state = IBV_PORT_ACTIVE,
			  .link_layer = IBV_LINK_LAYER_INFINIBAND },
	};
	struct port_spec spec = { .device = "mlx5_1", .port = 1 };
	struct vs_err err = { 0 };

	(void)state;
	assert_int_equal(port_judge_again(IB, &spec, &seen, &err), 0);
	spec.node_guid = 1;
	spec.port_guid = 2;
	assert_int_equal(port_judge_again(IB, &spec, &seen, &err), 0);
	spec.port_guid = 3;
	assert_int_equal(port_judge_again(IB, &spec, &seen, &err), -1);
	spec.node_guid = 3;
	spec.port_guid = 2;
	seen.attr.state = IBV_PORT_INIT;	/* that is what follows */
	assert_int_equal(port_judge_again(IB, &spec, &seen, &err), -1);
	assert_non_null(strstr(err.text,
		"node GUID 0000000000000001 and the port GUID 0000000000000002, at boot they were 0000000000000003 and 0000000000000002"));
}

static void a_word_that_is_no_port_is_refused(void **state)
{
	static const char *const bad[] = {
		"", "mlx5_1", "mlx5_1/1/4096/3", "mlx5_1/0/4096/-/-",
		"mlx5_1/300/4096/-/-", "mlx5_1/1/-4/-/-", "mlx5_1/1/4096/3/-",
		"mlx5_1/1/4096/-/::1", "mlx5_1/1/4096/3x/::1",
		"mlx5_1/1/4096/3/::g", "mlx5_1/1/4096/3/::1 ",
		"../x/1/4096/-/-", "mlx5_1/1/4096/--1/::1",
		"mlx5_1/1/4096/-/-/", "mlx5_1/1/4096/-/-/1/2",
		"mlx5_1/1/4096/-/-/0000000000000000/0000000000000000",
		"mlx5_1/1/4096/-/-/000000000000001/00000000000000002",
		"mlx5_1/1/4096/-/-/0000000000000001/000000000000000g",
		"mlx5_1/1/4096/-/-/0000000000000001/0000000000000002/",
		"mlx5_1/1/4096/3/::1/0000000000000001/0000000000000002",
	};
	struct port_spec spec;

	(void)state;
	for (size_t i = 0; i < VS_COUNT(bad); i++)
		assert_int_equal(port_spec_parse(bad[i], &spec), -1);
}

static void a_port_at_its_devices_best_is_right(void **state)
{
	struct port_want want = { .layer = ETH, .mtu = 9000 };
	struct port_seen seen = {
		.device = "vmw_pvrdma0", .port = 1,
		.attr = { .state = IBV_PORT_ACTIVE, .link_layer = ETH,
			  .active_mtu = IBV_MTU_2048,
			  .max_mtu = IBV_MTU_2048 },
	};
	struct vs_err err = { 0 };

	(void)state;
	assert_int_equal(port_judge(&want, &seen, &err), 0);
	seen.attr.max_mtu = IBV_MTU_4096;
	assert_int_equal(port_judge(&want, &seen, &err), -1);
	assert_int_equal(err.code, VS_E_RETRY);
}

/* A newer driver may report an MTU that libibverbs here doesn't know. */
static void an_mtu_that_is_unknown_has_no_bytes(void **state)
{
	(void)state;
	assert_int_equal(port_mtu_bytes(IBV_MTU_256), 256);
	assert_int_equal(port_mtu_bytes(IBV_MTU_4096), 4096);
	assert_int_equal(port_mtu_bytes((enum ibv_mtu)0), 0);
	assert_int_equal(port_mtu_bytes((enum ibv_mtu)6), 0);
	assert_int_equal(port_mtu_bytes((enum ibv_mtu)40), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_active_mtu_fits_what_the_interface_has),
		cmocka_unit_test(a_guid_is_of_a_mac_but_for_its_middle_and_one_bit),
		cmocka_unit_test(what_is_no_mac_is_refused),
		cmocka_unit_test(a_port_comes_back_from_its_word),
		cmocka_unit_test(guids_are_compared_if_they_were_kept),
		cmocka_unit_test(a_word_that_is_no_port_is_refused),
		cmocka_unit_test(a_port_at_its_devices_best_is_right),
		cmocka_unit_test(an_mtu_that_is_unknown_has_no_bytes),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
