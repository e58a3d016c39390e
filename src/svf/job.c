/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The job that is asked about, as sbatch would read it: words of the command
 * line, variables, the script's #SBATCH lines, and that script on stdin if none
 * is named. sbatch itself knows all of its options; here only single ones are
 * looked for, so a word that is another option's value may be taken for one.
 *
 * Never waits for a script that nobody sends: sbatch would, but `svf plan -N4`
 * needs none.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE	/* strchrnul */
#endif
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sbatch.h"
#include "util/buf.h"
#include "util/mem.h"

#define SCRIPT_MAX (4 * 1024 * 1024)	/* Slurm's own max_script_size */
#define STDIN_MS 3000

/* ---- one option ---------------------------------------------------------------- */

/* getopt takes any beginning of a long name that is nobody else's. */
static const char *long_end(const char *word, const char *name)
{
	size_t n = strcspn(word, "=");

	return n > 2 && !strncmp(word, name, n) ? word + n : NULL;
}

int svf_option_at(const struct svf_option *o, const char *word,
		  const char *next, const char **value)
{
	size_t n = o->brief ? strlen(o->brief) : 0;
	const char *end = long_end(word, o->name);

	*value = NULL;
	if (!o->takes) {
		*value = "";
		return (end && !*end) || (n && !strcmp(word, o->brief));
	}
	if (end && *end)
		*value = end + 1;
	else if (!end && n && !strncmp(word, o->brief, n) && word[n])
		*value = word + n;
	if (*value)
		return 1;
	if (!end && !(n && !strcmp(word, o->brief)))
		return 0;
	*value = next;
	return next ? 2 : 0;
}

/* #SBATCH lines end at the first command; of several options the last counts. */
static char *in_script(const struct svf_option *o, const char *script)
{
	char *found = NULL;

	for (const char *s = script, *end; *s; s = end + !!*end) {
		VS_FREE char *line = NULL;
		char *save = NULL, *word, *next;
		const char *value;

		end = strchrnul(s, '\n');
		line = strndup(s, (size_t)(end - s));
		if (!line || !strchr("#", line[strspn(line, " \t\r")]))
			break;
		if (strncmp(line, "#SBATCH", 7))
			continue;
		word = strtok_r(line + 7, " \t\r", &save);
		for (; word; word = next) {
			next = strtok_r(NULL, " \t\r", &save);
			if (svf_option_at(o, word, next, &value)) {
				free(found);
				found = vs_strdup(value);
			}
		}
	}
	return found;
}

char *svf_option(const struct svf_job *j, const struct svf_option *o)
{
	const char *env = o->env ? getenv(o->env) : NULL;
	const char *given = NULL, *value;

	for (int i = 0, used; i < j->noptions; i += used ? used : 1) {
		used = svf_option_at(o, j->words[i], i + 1 < j->noptions ?
				     j->words[i + 1] : NULL, &value);
		given = used ? value : given;
	}
	if (!given && env && env[0])
		given = env;
	if (given)
		return vs_strdup(given);
	return j->script ? in_script(o, j->script) : NULL;
}

/* ---- its script ---------------------------------------------------------------- */

/* Until it ends or is longer than any script may be. */
static char *all_of(int fd)
{
	struct vs_buf b = VS_BUF_INIT(SCRIPT_MAX);
	char part[65536];
	ssize_t n;

	while ((n = read(fd, part, sizeof(part))) > 0 ||
	       (n < 0 && errno == EINTR))
		if (n > 0 && vs_buf_add(&b, part, (size_t)n))
			break;
	if (!b.len)
		vs_buf_free(&b);
	return b.data;
}

static char *script_named(const char *word)
{
	FILE *f = word[0] == '-' ? NULL : fopen(word, "re");
	char *text = f ? all_of(fileno(f)) : NULL;

	if (f)
		fclose(f);
	if (text && !strncmp(text, "#!", 2))
		return text;
	free(text);
	return NULL;
}

/* A terminal's user has something else in mind, /dev/null has none. */
static int script_on_stdin(struct svf_job *j, struct vs_err *err)
{
	struct pollfd p = { .fd = 0, .events = POLLIN };
	struct stat st;

	if (fstat(0, &st) || !(S_ISREG(st.st_mode) || S_ISFIFO(st.st_mode) ||
			       S_ISSOCK(st.st_mode)))
		return 0;
	if (poll(&p, 1, STDIN_MS) <= 0)
		return vs_err_set(err, VS_E_REQUEST,
			"sbatch would read a script from stdin, and none comes there: name it, or give </dev/null for options alone");
	j->script = all_of(0);
	j->on_stdin = j->script != NULL;
	return 0;
}

int svf_job_read(struct svf_job *j, char **words, int n, struct vs_err *err)
{
	static const struct svf_option wrap = { .name = "--wrap",
						.takes = true };
	VS_FREE char *wrapped = NULL;

	*j = (struct svf_job) { .words = words, .n = n };
	while (j->noptions < n &&
	       !(j->script = script_named(words[j->noptions])))
		j->noptions++;
	if (j->script)
		return 0;
	wrapped = svf_option(j, &wrap);
	return wrapped ? 0 : script_on_stdin(j, err);
}

void svf_job_free(struct svf_job *j)
{
	free(j->script);
}
