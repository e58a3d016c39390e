/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of conf/ ask of each other. No Slurm here. */
#ifndef VS_PLUGINS_CONF_CONF_I_H
#define VS_PLUGINS_CONF_CONF_I_H

#include <stdint.h>
#include "conf.h"
#include "util/name.h"

/* ---- adapter.c: AdapterName= lines ------------------------------------------ */

/* Do the values of one line go together, by what its type allows? -1 with the
 * line and what was expected. */
int vs_conf_adapter_check(const struct vs_conf_adapter *a,
			  const struct vs_conf_file *f,
			  const struct vs_conf_record *r, struct vs_err *err);

/* Can VMs of this partition be made as its Clone= says, by what the types of its
 * adapter, and of what stands beside it, allow? */
int vs_conf_clone_check(const struct vs_conf *conf,
			const struct vs_conf_partition *p,
			const struct vs_conf_file *f,
			const struct vs_conf_record *r, struct vs_err *err);

/* All of them: adapters beside adapters, and those that want the same devices
 * in two ways. */
int vs_conf_adapters_check(const struct vs_conf *conf,
			   const struct vs_conf_file *f, struct vs_err *err);

/* ---- hardware.c: what a PartitionName= line says of its VMs' hardware -------- */

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

/* ---- network.c: addresses --------------------------------------------------- */

/* A value of the types VS_CONF_POOLS, _IPS and _DOMAINS; the row's max is how
 * many. -1 with what was expected. */
int vs_conf_net_value(const struct vs_conf_key *k, const char *s,
		      struct vs_err *err);

/* All lines together: pools that overlap, gateways outside. -1 with the line. */
int vs_conf_net_check(const struct vs_conf *conf, const struct vs_conf_file *f,
		      struct vs_err *err);

/* Fills the node's addresses from the line that speaks for it. -1: it has none. */
int vs_conf_net_node(const struct vs_conf *conf,
		     const struct vs_conf_partition *p, struct vs_conf_node *n,
		     struct vs_err *err);

#endif
