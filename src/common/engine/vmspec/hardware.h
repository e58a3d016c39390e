/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The hardware part of profiles: from the configuration, into specs, and is a
 * VM's what it is to be on its host? */
#ifndef VS_ENGINE_HARDWARE_H
#define VS_ENGINE_HARDWARE_H

#include "engine/state/core_i.h"

/* What the line says; what is so anyway is as if it said nothing. p has its
 * adapter and latency_high. */
void vs_hardware_set(struct vs_profile *p, const struct vs_conf_partition *part);
/* What VMs have of their template where nothing is said. */
void vs_hardware_template(struct vs_profile *p, const struct vs_vc_template *t);
/* Into a spec: sizes, reservations, shares, latency, firmware. */
void vs_hardware_fill(const struct vs_core *c, const struct vs_node *n,
		      const struct vs_hold *h, struct vs_vc_hw *hw);
/* A VM that exists may have another than the template's by now. */
void vs_hardware_again(const struct vs_profile *p, struct vs_vc_hw *hw);
/* numa.nodeAffinity of a VM that is placed so, "": none. Returns out. */
const char *vs_hardware_numa(const struct vs_core *c, const struct vs_node *n,
			     const struct vs_hold *h, char out[VS_NUMA_LEN]);
/* Is what depends on the host right for where it lies, and its hold (or NULL)?
 * Of a VM that is off; the rest is in the profile's hash. */
bool vs_hardware_right(const struct vs_core *c, const struct vs_node *n,
		       const struct vs_vm *vm, const struct vs_hold *h);
/* Does the VM show all that the node's finished reconfigure (n->op) was to do?
 * Also true of one that has gone to another host, and may. */
bool vs_hardware_settled(struct vs_core *c, const struct vs_node *n,
			 const struct vs_vm *vm);

#endif
