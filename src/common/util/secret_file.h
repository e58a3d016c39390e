/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a file that holds a password is its owner's alone. */
#ifndef VS_UTIL_SECRET_FILE_H
#define VS_UTIL_SECRET_FILE_H

#include "util/err.h"

struct stat;

/*
 * Judge a file by its stat record. Returns 0 if it is a regular file of uid that
 * its owner alone may read, and that no user may execute. Returns -1 and sets err
 * (VS_E_CONFIG) if it is not: the text follows the file's name, and says what is
 * wrong and what to do.
 */
int vs_secret_file_check(const struct stat *st, unsigned int uid,
			 struct vs_err *err);

#endif
