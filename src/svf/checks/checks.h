/* SPDX-License-Identifier: GPL-2.0-or-later */
/* svf: what can be found of a site's set-up. */
#ifndef SVF_CHECKS_H
#define SVF_CHECKS_H

#include "svf/list/list.h"

/* The codes of findings, by -O and --sort of s, those named in s alone if any.
 * Returns an exit code. */
int svf_codes_print(const struct svf *s);
extern const struct svf_list svf_codes;
/* What is wrong with the words of s, which must be codes; NULL: nothing. The caller
 * frees it. */
char *svf_codes_wrong(const struct svf *s);
/* Are the words of s codes, or objects of the answer or of slurmctld? Returns SVF_OK.
 * Returns SVF_USAGE with a text in *wrong, which the caller frees, if one is not.
 * Returns another exit code after its line if slurmctld can't be asked. */
int svf_check_words(const struct svf *s, struct vs_jdoc *answer, char **wrong);

#endif
