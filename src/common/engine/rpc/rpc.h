/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside the control channel's server. */
#ifndef VS_ENGINE_RPC_H
#define VS_ENGINE_RPC_H

#include "engine/state/config.h"
#include "util/err.h"

/* A listening, non-blocking socket at ControlAddr:ControlPort, its port written
 * to STATE_DIR/vsphere_control.port; -1 VS_E_CONFIG. */
int vs_control_listen(const struct vs_conf *conf, struct vs_err *err);

/* The same at any address, with nothing written; whose: "Control" or "Metrics",
 * for the words of what fails. */
int vs_listen_at(const char *whose, const char *addr, int port,
		 struct vs_err *err);

#endif
