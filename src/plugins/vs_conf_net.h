/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Addresses in vsphere.conf. No Slurm here. */
#ifndef VS_CONF_NET_H
#define VS_CONF_NET_H

#include <stdint.h>
#include "engine/core.h"
#include "util/name.h"
#include "vs_conf_file.h"

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
