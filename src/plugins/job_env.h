/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The SPANK environment of a job, in its record or in a submission: an array of
 * entries on Slurm's heap, with its size beside it. Slurm itself reads it in
 * two ways: by the size (it is packed so), and up to the first NULL
 * (env_array_merge()). So both must hold at all times.
 */
#ifndef VS_PLUGINS_JOB_ENV_H
#define VS_PLUGINS_JOB_ENV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Drops the entries that drop() names, and appends copies of the nadd entries
 * of add. The others keep their order. A submitter can send an entry that is
 * NULL: it is dropped too, and drop() never sees one. Afterwards entry[size]
 * is NULL and the array holds no other NULL; it is NULL itself if it is empty.
 * Returns how many entries were dropped. In a job's record: under JOB W.
 */
uint32_t vs_job_env_replace(char ***entries, uint32_t *size,
			    bool (*drop)(const char *entry),
			    char *const *add, uint32_t nadd);

#endif
