/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a PartitionName= line says of its VMs' hardware: values, and whether
 * they go together. No Slurm here. */
#ifndef VS_CONF_HARDWARE_H
#define VS_CONF_HARDWARE_H

#include "vs_conf_file.h"

/* VS_CONF_AMOUNT: "full" (-1) or a number; VS_CONF_SHARES: low, normal, high
 * (-1, 0, -2) or a number. -1 with what was expected. */
int vs_conf_amount(const struct vs_conf_key *k, const char *s, int64_t *out,
		   struct vs_err *err);
int vs_conf_shares(const struct vs_conf_key *k, const char *s, int *out,
		   struct vs_err *err);
/* All lines are filled: what a line's adapter and latency demand stays, and
 * what contradicts it is refused. -1 with line and reason. */
int vs_conf_hardware_check(const struct vs_conf *conf,
			   const struct vs_conf_file *f, struct vs_err *err);
/* For a node of this size; -1 with why not. */
int vs_conf_hardware_node(const struct vs_conf_partition *p, int vcpus,
			  int64_t memory_mb, struct vs_err *err);
/* Do two lines say the same of it? */
bool vs_conf_hardware_same(const struct vs_conf_partition *a,
			   const struct vs_conf_partition *b);

#endif
