/* SPDX-License-Identifier: GPL-2.0-or-later */
/* AdapterName= lines of vsphere.conf. No Slurm here. */
#ifndef VS_CONF_ADAPTER_H
#define VS_CONF_ADAPTER_H

#include "vs_conf_file.h"

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

#endif
