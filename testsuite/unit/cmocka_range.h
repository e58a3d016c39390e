/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmocka, of any release. cmocka 2 deprecates assert_in_range(), and 1.1 has not
 * yet what takes its place.
 */
#ifndef VS_CMOCKA_RANGE_H
#define VS_CMOCKA_RANGE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#ifndef assert_uint_in_range
#define assert_uint_in_range(value, minimum, maximum) \
	assert_in_range(value, minimum, maximum)
#endif

#endif
