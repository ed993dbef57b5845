/* SPDX-License-Identifier: Apache-2.0 */
/*
 * archive_locale - names in an archive are UTF-8 where they can be, in whatever locale we run
 *
 * libarchive reads names by the locale of its thread. Only archive_write.c and archive_read.c use
 * it.
 */
#pragma once

#include <locale.h>

struct archive_locale {
	locale_t made, before;
};

static inline struct archive_locale archive_locale_enter(void)
{
	struct archive_locale locale = { .made = newlocale(LC_CTYPE_MASK, "C.UTF-8", NULL) };

	if (locale.made)
		locale.before = uselocale(locale.made);
	return locale;
}

static inline void archive_locale_leave(struct archive_locale *locale)
{
	if (!locale->made)
		return;
	(void) uselocale(locale->before);
	freelocale(locale->made);
}
