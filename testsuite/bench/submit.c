/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Submits many batch jobs to slurmctld from one process, for measurements that
 * need a long queue: an sbatch for each takes minutes. One job per line of the
 * standard input: partition, features ("-": none), nodes, minutes, priority.
 * Exclusive nodes, no output, a script that does nothing.
 *
 * Slurm's public API alone; the first job that is refused ends it with 1.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>

static int submit(const char *partition, const char *features,
		  unsigned int nodes, unsigned int minutes,
		  unsigned int priority)
{
	static char *env[] = { (char *)"PATH=/usr/bin:/bin", NULL };
	submit_response_msg_t *answer = NULL;
	job_desc_msg_t job;

	slurm_init_job_desc_msg(&job);
	job.name = (char *)"queue";
	job.partition = (char *)partition;
	job.features = strcmp(features, "-") ? (char *)features : NULL;
	job.min_nodes = job.max_nodes = nodes;
	job.time_limit = minutes;
	job.priority = priority;
	job.user_id = getuid();
	job.group_id = getgid();
	job.shared = 0;
	job.script = (char *)"#!/bin/sh\n";
	job.std_out = job.std_in = (char *)"/dev/null";
	job.work_dir = (char *)"/";
	job.environment = env;
	job.env_size = 1;
	if (slurm_submit_batch_job(&job, &answer))
		return -1;
	slurm_free_submit_response_response_msg(answer);
	return 0;
}

int main(void)
{
	char partition[64], features[64];
	unsigned int nodes, minutes, priority, n = 0;

	slurm_init(NULL);
	while (scanf("%63s %63s %u %u %u", partition, features, &nodes,
		     &minutes, &priority) == 5) {
		if (submit(partition, features, nodes, minutes, priority)) {
			slurm_perror((char *)"submit");
			return 1;
		}
		n++;
	}
	printf("%u\n", n);
	return 0;
}
