/* SPDX-License-Identifier: GPL-2.0-or-later */
/* svf: what it does on this machine without slurmctld: svf support, and the checks of
 * svf check --standalone. */
#ifndef SVF_LOCAL_H
#define SVF_LOCAL_H

#include "svf/list/command.h"
#include "util/buf.h"
#include "util/err.h"
#include "util/json.h"

extern const struct svf_verb svf_support;

/* ---- program.c ----------------------------------------------------------- */
/* Runs argv[0], a path. Adds what it prints to out: with `errors` what it says on
 * standard error too. Returns its exit status. Returns -1 and sets err if it can't be
 * run (VS_E_GONE), or if its answer is not whole. */
int svf_program_run(char *const argv[], bool errors, struct vs_buf *out,
		    struct vs_err *err);
/* The path of svf itself, and of a program in libexec. The caller frees them. */
char *svf_own_path(void);
char *svf_helper_path(const char *name);

/* ---- standalone.c -------------------------------------------------------- */
/* The answer of the checks without slurmctld. Returns 0, and sets *status to the exit
 * status of the program that made them. Returns an exit code after a line if there is
 * no answer. */
int svf_standalone(struct vs_jdoc *doc, int *status);
/* What was tried, a line for each; of a failure also what to do. */
void svf_steps_print(struct vs_j steps);

#endif
