/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_PLACE_H
#define BENCH_PLACE_H

#include <stdbool.h>
#include <stdint.h>

/* A line of the benchmark; is it within its bar? */
bool bench_line(const char *name, double value, const char *unit,
		const char *sense, double bar);
/* Lines for what placement places and how well; true: all bars are met. */
bool place_quality(uint64_t seed, int instances);

#endif
