/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What mutate.py writes into the copies of sources that it changes. Each
 * change has a number. The environment variable VS_MUTANT names the one that
 * is in force; without it the program behaves as its source says.
 *
 * Rules: every operand is evaluated once and in the source's order. If
 * VS_MUTANT_REACHED names a file, the numbers of the changes that the process
 * came by are appended to it at its end.
 */
#ifndef VS_MUTATION_H
#define VS_MUTATION_H

#include <stdio.h>
#include <stdlib.h>

#define VS_MUTANTS_MAX 65536

/* Weak: each changed source defines them, and the linker keeps one. */
__attribute__((weak)) int vs_mutant;
__attribute__((weak)) unsigned char vs_mutant_reached[VS_MUTANTS_MAX];

/* Reads which change is in force, at the start of a program. */
__attribute__((weak, constructor)) void vs_mutant_named(void)
{
	const char *text = getenv("VS_MUTANT");

	vs_mutant = text ? (int)strtol(text, NULL, 10) : 0;
}

/* Writes the numbers of the changes that were reached, at its end. */
__attribute__((weak, destructor)) void vs_mutants_write(void)
{
	const char *path = getenv("VS_MUTANT_REACHED");
	FILE *f = path ? fopen(path, "a") : NULL;

	for (int i = 1; f && i < VS_MUTANTS_MAX; i++)
		if (vs_mutant_reached[i])
			fprintf(f, "%d\n", i);
	if (f)
		fclose(f);
}

/* Is the change with this number in force? Notes that it was reached. */
static inline int vs_mut(int number)
{
	vs_mutant_reached[number] = 1;
	return vs_mutant == number;
}

/* Two operands, compared or calculated by OP, or by OTHER if the change is in
 * force. "+ 0" makes a bit-field an operand that has a type. */
#define VS_MUT_OP(number, l, op, other, r) __extension__ ({		\
	__auto_type vs_l_ = (l) + 0;					\
	__auto_type vs_r_ = (r) + 0;					\
	vs_mut(number) ? (vs_l_ other vs_r_) : (vs_l_ op vs_r_); })

/* The same for pointers, whose target may be of unknown size. */
#define VS_MUT_POINTERS(number, l, op, other, r) __extension__ ({	\
	__auto_type vs_l_ = (l);					\
	__auto_type vs_r_ = (r);					\
	vs_mut(number) ? (vs_l_ other vs_r_) : (vs_l_ op vs_r_); })

/* A && B becomes A || B, and the reverse: ORIGINAL is 0 for &&, 1 for ||. */
#define VS_MUT_LOGIC(number, original, l, r) __extension__ ({		\
	_Bool vs_l_ = !!(l);						\
	_Bool vs_o_ = (original) ^ vs_mut(number);			\
	vs_l_ != vs_o_ ? (_Bool)!!(r) : vs_l_; })

#endif
