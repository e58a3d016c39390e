/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The stage of the tests of linked and instant clones. Included by each test program. */
#ifndef CLONE_SOURCE_STAGE_H
#define CLONE_SOURCE_STAGE_H

#include "engine_stage.h"

STAGE void begin_linked(int nodes, int hosts)
{
	struct vs_conf *conf = conf_make(nodes, "warm", 1024);

	begin(nodes, hosts, 8, "warm");
	conf->partitions[0].clone = vs_strdup("linked");
	begin_as(conf);
	fake_disk_mb = 20480;
}

STAGE void per_host(void)
{
	core_profiles()[0].clone_per_host = true;
}

STAGE void wants(uint32_t job, const char *node)
{
	assert_int_equal(job_begin(job, node, NULL), 0);
	flags(node, BOOT);
	turns(2);
}

STAGE const char *waits(const char *node)
{
	const char *why = vs_clone_source_waits(vs_node_named(&vs_core, node));

	return why ? why : "(it doesn't)";
}

/* vm1 has its VM, and the parent is there. */
STAGE void first_child(void)
{
	wants(7, "vm1");
	assert_true(fake_finish(FAKE_CLONE));
	turns(2);
	assert_true(fake_finish(FAKE_SNAPSHOT));
	turns(2);
	assert_true(fake_finish(FAKE_CLONE));
	turns(2);
}

/* Two slow beats after it, and some seconds. */
STAGE void time_passes(void)
{
	for (int i = 0; i < 3; i++) {
		fake_slow(NULL, 0);
		turns(60);
	}
}

/* ---- instant clones ------------------------------------------------------- */

STAGE void begin_instant_of(int nodes, int hosts, int64_t memory_mb)
{
	struct vs_conf *conf = conf_make(nodes, "warm", memory_mb);

	begin(nodes, hosts, 8, "warm");
	conf->partitions[0].clone = vs_strdup("instant");
	free(conf->adapters[0].type);
	conf->adapters[0].type = vs_strdup("vmxnet3");
	conf->partitions[0].memory_reservation = -1;
	begin_as(conf);
	ready();
}

STAGE void begin_instant(int nodes, int hosts)
{
	begin_instant_of(nodes, hosts, 1024);
}

STAGE void freeze(void)
{
	struct fake_vm *p = fake_parent("parent-");

	p->frozen = true;
	fake_show(p);
	turns(2);
}

/* The job's node is allocated, and its parent stands. */
STAGE void parent_stands(uint32_t job, const char *node)
{
	assert_int_equal(job_begin(job, node, NULL), 0);
	flags(node, WANTED);
	turns(2);
	assert_true(fake_finish(FAKE_CLONE));
	turns(2);
	assert_true(fake_finish(FAKE_POWER_ON));
	turns(2);
	freeze();
}

STAGE void comes_up(const char *node)
{
	flags(node, BOOT);
	turns(2);
	assert_true(fake_finish(FAKE_INSTANT));
	turns(2);
	flags(node, BUSY);
	turns(2);
}

#endif
