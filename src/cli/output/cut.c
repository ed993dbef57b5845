/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cut - where the texts of a column are cut, so that two of them still look different
 *
 * All of a column are cut at the same place: at their end, a path in its middle. Where that makes
 * two texts alike, a place is taken that keeps what differs, if there is one.
 */
#include "cli/output/screen.h"

#include "base/cleanup.h"

#include <stdlib.h>
#include <string.h>

enum { TEXTS_MAX = 10000 }; /* compared; those of larger tables are cut without */

struct shown {
	char *cut;
	const char *whole;
};

static int compare(const void *a, const void *b)
{
	const struct shown *one = a, *other = b;
	int r = strcmp(one->cut, other->cut);

	return r != 0 ? r : strcmp(one->whole, other->whole);
}

static char *cut(const char *text, size_t width, size_t tail)
{
	char *ret = NULL;
	size_t length;
	FILE *to = open_memstream(&ret, &length);

	if (!to)
		return NULL;
	(void) text_print_cut(to, text, width, tail);
	if (fclose(to) == 0)
		return ret;
	free(ret);
	return NULL;
}

/* How many texts look like another one that they are not. */
static size_t count_alike(struct shown *shown, size_t count, size_t width, size_t tail)
{
	size_t alike = 0, made;

	for (made = 0; made < count; made++) {
		shown[made].cut = cut(shown[made].whole, width, tail);
		if (!shown[made].cut)
			break;
	}
	if (made == count)
		qsort(shown, count, sizeof(*shown), compare);
	for (size_t i = 1; i < made; i++)
		alike += strcmp(shown[i - 1].cut, shown[i].cut) == 0 &&
			 strcmp(shown[i - 1].whole, shown[i].whole) != 0;
	for (size_t i = 0; i < made; i++)
		free(shown[i].cut);
	return alike;
}

size_t cut_choose(char *const *texts, size_t count, size_t stride, size_t width)
{
	const size_t rest = width > 0 ? width - 1 : 0;
	const size_t tails[] = { 0, rest * 2 / 3, rest / 3, rest };
	const size_t first = count > 0 && text_is_path(texts[0]) ? 1 : 0;
	cleanup_free struct shown *shown = NULL;
	size_t best = SIZE_MAX, ret = tails[first];

	if (count > TEXTS_MAX || !(shown = calloc(count + 1, sizeof(*shown))))
		return ret;
	for (size_t i = 0; i < count; i++)
		shown[i].whole = texts[i * stride];
	for (size_t i = 0; i < ARRAY_SIZE(tails) && best > 0; i++) {
		size_t tail = tails[(first + i) % ARRAY_SIZE(tails)];
		size_t alike = count_alike(shown, count, width, tail);

		if (alike >= best)
			continue;
		best = alike;
		ret = tail;
	}
	return ret;
}
