/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The end of every fuzz target. With -fsanitize=fuzzer it is nothing: libFuzzer
 * has its own main. With -DVS_FUZZ_STANDALONE it is a test of the normal run:
 * replay the corpus, then VS_FUZZ_ROUNDS (FUZZ_ROUNDS, 20000) mutations of it,
 * always the same ones. Define FUZZ_CORPUS (a directory below testsuite/fuzz/corpus) and
 * LLVMFuzzerTestOneInput before.
 */
#ifdef VS_FUZZ_STANDALONE

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FUZZ_MAX 65536
#ifndef FUZZ_ROUNDS
#define FUZZ_ROUNDS 20000
#endif

#ifndef FUZZ_REACHED
#define FUZZ_REACHED true	/* or what says how far the corpus got */
#endif

static struct { unsigned char *data; size_t len; } seeds[512];
static size_t nseeds;
static uint64_t fuzz_state = 0x9e3779b97f4a7c15ULL;

static uint32_t fuzz_random(uint32_t below)
{
	fuzz_state ^= fuzz_state << 13;
	fuzz_state ^= fuzz_state >> 7;
	fuzz_state ^= fuzz_state << 17;
	return (uint32_t)(fuzz_state >> 32) % below;
}

static void fuzz_load(const char *path)
{
	FILE *f = fopen(path, "rb");

	if (!f || nseeds == sizeof(seeds) / sizeof(seeds[0])) {
		if (f)
			fclose(f);
		return;
	}
	seeds[nseeds].data = calloc(1, FUZZ_MAX + 1);
	seeds[nseeds].len = fread(seeds[nseeds].data, 1, FUZZ_MAX, f);
	nseeds++;
	fclose(f);
}

static int fuzz_by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* In the order of names, so that the mutations are the same everywhere. */
static void fuzz_load_all(const char *dir)
{
	char *names[512], *path;
	DIR *d = opendir(dir);
	struct dirent *e;
	size_t n = 0;

	while (d && n < 512 && (e = readdir(d)))
		if (e->d_name[0] != '.')
			names[n++] = strdup(e->d_name);
	if (d)
		closedir(d);
	qsort(names, n, sizeof(names[0]), fuzz_by_name);
	for (size_t i = 0; i < n; i++) {
		if (asprintf(&path, "%s/%s", dir, names[i]) < 0)
			abort();
		fuzz_load(path);
		free(path);
		free(names[i]);
	}
}

static size_t fuzz_mutate(unsigned char *buf, size_t len)
{
	size_t at = len ? fuzz_random((uint32_t)len) : 0, n, from;
	size_t s = fuzz_random((uint32_t)nseeds);

	switch (fuzz_random(5)) {
	case 0:				/* another byte */
		if (len)
			buf[at] = (unsigned char)fuzz_random(256);
		return len;
	case 1:				/* a character JSON cares about */
		if (len)
			buf[at] = "{}[]\",:0-\\n"[fuzz_random(11)];
		return len;
	case 2:				/* a piece less */
		n = len ? fuzz_random(64) + 1 : 0;
		if (n > len - at)
			n = len - at;
		memmove(buf + at, buf + at + n, len - at - n);
		return len - n;
	case 3:				/* broken off */
		return at;
	default:			/* a piece of another seed */
		if (!seeds[s].len)
			return len;
		from = fuzz_random((uint32_t)seeds[s].len);
		n = fuzz_random(256) + 1;
		if (n > seeds[s].len - from)
			n = seeds[s].len - from;
		if (len + n > FUZZ_MAX)
			return len;
		memmove(buf + at + n, buf + at, len - at);
		memcpy(buf + at, seeds[s].data + from, n);
		return len + n;
	}
}

int main(int argc, char **argv)
{
	/* automake's `make check` says where the source is */
	const char *top = getenv("srcdir"), *r = getenv("VS_FUZZ_ROUNDS");
	long rounds = r ? strtol(r, NULL, 10) : FUZZ_ROUNDS;
	unsigned char *buf = malloc(FUZZ_MAX);
	char dir[4096];

	printf("1..2\n");
	if (argc > 1) {
		for (int i = 1; i < argc; i++)
			fuzz_load(argv[i]);
		rounds = 0;
	} else {
		snprintf(dir, sizeof(dir), "%s/testsuite/fuzz/corpus/"
			 FUZZ_CORPUS, top ? top : ".");
		fuzz_load_all(dir);
	}
	if (!nseeds) {
		printf("not ok 1 - the corpus is found\n");
		return 1;
	}
	for (size_t i = 0; i < nseeds; i++)
		LLVMFuzzerTestOneInput(seeds[i].data, seeds[i].len);
	if (argc == 1 && !(FUZZ_REACHED)) {
		printf("not ok 1 - the corpus gets as far as it should\n");
		return 1;
	}
	printf("ok 1 - the corpus is survived (%zu files)\n", nseeds);
	for (long k = 0; k < rounds; k++) {
		size_t s = fuzz_random((uint32_t)nseeds), len = seeds[s].len;

		memcpy(buf, seeds[s].data, len);
		for (uint32_t i = fuzz_random(8) + 1; i; i--)
			len = fuzz_mutate(buf, len);
		LLVMFuzzerTestOneInput(buf, len);
	}
	printf("ok 2 - %ld mutations are survived\n", rounds);
	for (size_t i = 0; i < nseeds; i++)
		free(seeds[i].data);
	free(buf);
	return 0;
}

#endif
