/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A submitter of its own, as any user can write one with libslurm: sends a
 * SPANK environment that sbatch would not send. Prints the job's id.
 *
 * submit_env batch|alloc NODES OWN NULLS USERS: OWN entries with names that
 * only slurm-vsphere may write, NULLS entries without a byte, then USERS
 * others.
 * JOB_ID: where an answer has the job's number, by the release (submitter.py).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>

static char **entries(int ours, int nulls, int users)
{
	int n = ours + nulls + users;
	char **env = calloc((size_t)n + 1, sizeof(*env));

	for (int i = 0; env && i < n; i++) {
		const char *name = i < ours ? "SPANK_VSPHERE_" : "SPANK_U";
		int nr = i < ours ? i : i - ours - nulls;

		if (i >= ours && nr < 0)
			continue;
		env[i] = malloc(64);
		if (env[i])
			snprintf(env[i], 64, "%s%d=forged", name, nr);
	}
	return env;
}

static int batch(job_desc_msg_t *desc)
{
	submit_response_msg_t *answer = NULL;

	desc->script = (char *)"#!/bin/sh\ntrue\n";
	if (slurm_submit_batch_job(desc, &answer) || !answer)
		return 1;
	printf("%u\n", answer->JOB_ID);
	return 0;
}

/* Given at once, so that the scheduler asks for nodes in the submission. */
static int alloc(job_desc_msg_t *desc)
{
	resource_allocation_response_msg_t *answer = NULL;

	if (slurm_allocate_resources(desc, &answer) || !answer)
		return 1;
	printf("%u\n", answer->JOB_ID);
	return 0;
}

int main(int argc, char **argv)
{
	char *path[] = { (char *)"PATH=/usr/bin:/bin", NULL };
	job_desc_msg_t desc;
	int n[3], rc;

	if (argc != 6)
		return 2;
	for (int i = 0; i < 3; i++)
		n[i] = (int)strtol(argv[i + 3], NULL, 10);
	slurm_init(NULL);
	slurm_init_job_desc_msg(&desc);
	desc.user_id = getuid();
	desc.group_id = getgid();
	desc.name = (char *)"submit_env";
	desc.req_nodes = argv[2];
	desc.min_nodes = 1;
	desc.work_dir = (char *)"/tmp";
	desc.std_out = desc.std_err = (char *)"/dev/null";
	desc.environment = path;
	desc.env_size = 1;
	/* --mail-type=ALL */
	desc.mail_type = MAIL_JOB_BEGIN | MAIL_JOB_END | MAIL_JOB_FAIL |
		MAIL_JOB_REQUEUE;
	desc.spank_job_env = entries(n[0], n[1], n[2]);
	desc.spank_job_env_size = (uint32_t)(n[0] + n[1] + n[2]);
	rc = strcmp(argv[1], "alloc") ? batch(&desc) : alloc(&desc);
	if (rc)
		fprintf(stderr, "%s\n", slurm_strerror(errno));
	return rc;
}
