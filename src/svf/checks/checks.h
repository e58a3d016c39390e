/* SPDX-License-Identifier: GPL-2.0-or-later */
/* svf: what can be found of a site's set-up. */
#ifndef SVF_CHECKS_H
#define SVF_CHECKS_H

#include "svf/list/list.h"

/* The codes of findings, by -O and --sort of s, those named in s alone if any.
 * Returns an exit code. */
int svf_codes_print(const struct svf *s);
extern const struct svf_list svf_codes;

#endif
