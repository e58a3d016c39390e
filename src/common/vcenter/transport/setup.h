/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a process does once, before it has a client (http.c). */
#ifndef VS_VCENTER_TRANSPORT_SETUP_H
#define VS_VCENTER_TRANSPORT_SETUP_H

#include "util/err.h"

/*
 * Set libcurl up for this process, at the first call. libcurl before 7.84 is not
 * thread-safe there: in a process with other users of libcurl call it before
 * they start a thread. vs_vc_new() calls it where that was not done. Returns 0,
 * or -1 and sets err (VS_E_BUG).
 */
int vs_vc_setup(struct vs_err *err);

#endif
