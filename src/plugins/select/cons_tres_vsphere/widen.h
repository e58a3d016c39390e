/* SPDX-License-Identifier: GPL-2.0-or-later */
/* More candidates for a question about a job that names some of its nodes. */
#ifndef VS_WIDEN_H
#define VS_WIDEN_H

#include "job_test.h"

void vs_widen(const struct vs_test *t, bitstr_t *bitmap);

#endif
