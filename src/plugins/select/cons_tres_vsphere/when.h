/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When the VFs that a job lacks now may be back. */
#ifndef VS_WHEN_H
#define VS_WHEN_H

#include "../../slurm_compat.h"

/*
 * The candidates, idle or not, are short of `missing` VFs; 0: there are enough,
 * but idle warm VMs or running jobs hold them. Always later than now; more than
 * a month if they are with foreign VMs or on lost hosts. JOB R at least.
 */
time_t vs_when(const bitstr_t *given, size_t missing);

#endif
