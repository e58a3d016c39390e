/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The way from the plugins to the core that they share. */
#ifndef VS_PLUGINS_CORE_LOADER_H
#define VS_PLUGINS_CORE_LOADER_H

#include "engine/run/api.h"

/*
 * The core's functions: libslurm_vsphere.so beside this plugin, opened by its
 * absolute path and never closed, so that both plugins of a process get the same
 * instance. Only to be called in slurmctld. NULL with err.
 */
const struct vs_core_api *vs_core_open(struct vs_err *err);

#endif
