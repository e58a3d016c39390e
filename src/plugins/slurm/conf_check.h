/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurm.conf against what slurm-vsphere needs of it: in slurmctld, and in
 * slurm-vsphere-check.
 */
#ifndef VS_PLUGINS_SLURM_CONF_CHECK_H
#define VS_PLUGINS_SLURM_CONF_CHECK_H

#include "engine/slurm/slurm_ops.h"
#include "util/err.h"

/* All that is found, at once; under a lock on Slurm's configuration. */
void vs_slurm_checks(const struct vs_slurm_bounds *b, vs_slurm_found *fn,
		     void *arg);

/* What slurm.conf must have for us: -1 with the missing key in err. Things that
 * merely hurt are logged as errors, once per process. */
int vs_conf_check_slurm(struct vs_err *err);

/* SelectTypeParameters of the cluster or of a partition. Returns NULL if the
 * system tests run jobs with it. Returns its name if not. */
const char *vs_select_untested(uint16_t params);

/* The same for vs_slurm_ops.slurm_check, with the nodes that are no VMs and
 * would be powered down. It takes CONF, PART and NODE locks for as long as that
 * takes. */
void vs_slurm_conf_check(void *ctx, const struct vs_slurm_bounds *b,
			 vs_slurm_found *fn, void *arg);

#endif
