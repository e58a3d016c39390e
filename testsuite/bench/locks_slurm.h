/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Slurm, as far as locks.c is asked for it: VMS of its nodes have VMs. */
#ifndef VS_BENCH_LOCKS_SLURM_H
#define VS_BENCH_LOCKS_SLURM_H

static void nodes_read(void *ctx, struct vs_port_node *rows, size_t n)
{
	(void)ctx;
	for (size_t i = 0; i < n; i++)
		rows[i].flags = 0;
}

static bool jobs_run;		/* one on each VM, of id FIRST_JOB and more */

static void nodes_jobs(void *ctx, struct vs_port_job *rows, size_t n)
{
	(void)ctx;
	for (size_t i = 0; i < n; i++) {
		unsigned int number = 0;

		sscanf(rows[i].node, "vm%u", &number);
		rows[i].job = jobs_run && number <= VMS ?
			FIRST_JOB + number - 1 : 0;
		rows[i].uid = 0;
	}
}

static bool sees(void *ctx, uint32_t uid)
{
	(void)ctx;
	(void)uid;
	return true;
}

static const struct vs_port port = {
	.nodes_read = nodes_read, .nodes_jobs = nodes_jobs,
	.sees_jobs = sees, .sees_nodes = sees,
};

#endif
