/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options - mount options: joining them, and separating those of the mount from those of the file
 * system
 *
 * libmount's maps define the options; nothing of libmount's user-space table (utab) is written or
 * read. Options that only mount(8), fstab or systemd act on ("defaults", "noauto", "x-...") are
 * dropped; those that would make mount(8) do something else than mount (loop=, remount) are
 * refused.
 */
#include "mount/bind/options.h"

#include "base/cleanup.h"
#include "mount/mount.h"

#include <assert.h>
#include <libmount.h>
#include <string.h>
#include <sys/mount.h>

/* ---- joining ---- */

struct words {
	char **items;
	size_t count;
};

static void words_done(struct words *words)
{
	for (size_t i = 0; i < words->count; i++)
		free(words->items[i]);
	free(words->items);
}

/* Blanks around an option and empty options are ignored. */
static int words_add(struct words *words, const char *text, size_t length)
{
	char **items;
	char *word;

	while (length > 0 && strchr(" \t", *text)) {
		text++;
		length--;
	}
	while (length > 0 && strchr(" \t", text[length - 1]))
		length--;
	if (length == 0)
		return 0;

	items = reallocarray(words->items, words->count + 1, sizeof(*items));
	if (!items)
		return -ENOMEM;
	words->items = items;
	word = strndup(text, length);
	if (!word)
		return -ENOMEM;
	items[words->count++] = word;
	return 0;
}

/* Bytes up to the next comma that is not between two double quotes. */
static size_t word_length(const char *text)
{
	const char *at = text;

	while (*at && *at != ',') {
		const char *closing = *at == '"' ? strchr(at + 1, '"') : NULL;

		at = closing ? closing + 1 : at + 1;
	}
	return (size_t) (at - text);
}

/* An unpaired quote would swallow the options that follow it, "ro" among them. */
static bool has_unpaired_quote(const char *text, size_t length)
{
	bool quoted = false;

	for (size_t i = 0; i < length; i++)
		quoted ^= text[i] == '"';
	return quoted;
}

static int words_add_all(struct words *words, const char *text);

/* Without its quotes, so that the parser refuses this option and no other is lost. */
static int words_add_bare(struct words *words, const char *text, size_t length)
{
	cleanup_free char *bare = malloc(length + 1);
	size_t kept = 0;

	if (!bare)
		return -ENOMEM;
	for (size_t i = 0; i < length; i++)
		if (text[i] != '"')
			bare[kept++] = text[i];
	bare[kept] = '\0';
	return words_add_all(words, bare); /* a comma between quotes separates now */
}

static int words_add_all(struct words *words, const char *text)
{
	while (text && *text) {
		size_t length = word_length(text);
		int result = has_unpaired_quote(text, length) ? words_add_bare(words, text, length)
							      : words_add(words, text, length);

		if (result < 0)
			return result;
		text += length;
		text += *text == ',';
	}
	return 0;
}

static int compare_words(const void *a, const void *b)
{
	return strcmp(*(char *const *) a, *(char *const *) b);
}

/* One comma-separated string; repeats of the previous option are left out. */
static char *words_join(const struct words *words)
{
	size_t bytes = 1;
	char *joined, *end;

	for (size_t i = 0; i < words->count; i++)
		bytes += strlen(words->items[i]) + 1;
	joined = malloc(bytes);
	if (!joined)
		return NULL;
	end = joined;
	for (size_t i = 0; i < words->count; i++) {
		if (i > 0 && strcmp(words->items[i - 1], words->items[i]) == 0)
			continue;
		if (end > joined)
			*end++ = ',';
		end = mempcpy(end, words->items[i], strlen(words->items[i]));
	}
	*end = '\0';
	return joined;
}

char *mount_options_join(const char *const *options, size_t count, const char *plugin_options)
{
	cleanup(words_done) struct words words = { 0 };

	assert(options || count == 0);
	for (size_t i = 0; i < count; i++)
		if (words_add_all(&words, options[i]) < 0)
			return NULL;
	if (words_add_all(&words, plugin_options) < 0)
		return NULL;
	if (words.count > 1)
		qsort(words.items, words.count, sizeof(*words.items), compare_words);
	return words_join(&words);
}

/* ---- splitting ---- */

static const struct {
	unsigned long mount_flag;
	uint64_t attribute;
} attribute_rows[] = {
	{ MS_RDONLY, MOUNT_ATTR_RDONLY },
	{ MS_NOSUID, MOUNT_ATTR_NOSUID },
	{ MS_NODEV, MOUNT_ATTR_NODEV },
	{ MS_NOEXEC, MOUNT_ATTR_NOEXEC },
	{ MS_NODIRATIME, MOUNT_ATTR_NODIRATIME },
	{ 256 /* MS_NOSYMFOLLOW */, MOUNT_ATTR_NOSYMFOLLOW },
};

/* Access times are one choice of several, not a bit each. */
static bool split_atime(unsigned long flag, bool inverted, struct mount_attributes *attributes)
{
	uint64_t choice;

	switch (flag) {
	case MS_NOATIME:
		choice = inverted ? MOUNT_ATTR_RELATIME : MOUNT_ATTR_NOATIME;
		break;
	case MS_STRICTATIME:
		choice = inverted ? MOUNT_ATTR_RELATIME : MOUNT_ATTR_STRICTATIME;
		break;
	case MS_RELATIME:
		if (inverted)
			return true;
		choice = MOUNT_ATTR_RELATIME;
		break;
	default:
		return false;
	}
	attributes->clear |= MOUNT_ATTR__ATIME;
	attributes->set = (attributes->set & ~(uint64_t) MOUNT_ATTR__ATIME) | choice;
	return true;
}

/* An option of the mount, not of the file system. */
static bool split_propagation(unsigned long flag, struct mount_attributes *attributes)
{
	unsigned long propagation = flag & (MS_SHARED | MS_PRIVATE | MS_SLAVE | MS_UNBINDABLE);

	if (propagation == 0)
		return false;
	attributes->propagation = propagation;
	return true;
}

/* What mount_setattr(2) can set by itself, without a remount. */
static bool split_attribute(unsigned long flag, bool inverted, struct mount_attributes *attributes)
{
	for (size_t i = 0; i < ARRAY_SIZE(attribute_rows); i++) {
		if (attribute_rows[i].mount_flag != flag)
			continue;
		if (inverted)
			attributes->clear |= attribute_rows[i].attribute;
		else
			attributes->set |= attribute_rows[i].attribute;
		return true;
	}
	return false;
}

/* An option of the kernel's map: 1 consumed, 0 the file system's, or -EINVAL. */
static int split_kernel_word(const struct libmnt_optmap *entry, struct mount_attributes *attributes)
{
	unsigned long flag = (unsigned long) entry->id;
	bool inverted = entry->mask & MNT_INVERT;

	if (flag & MS_REMOUNT)
		return -EINVAL;
	if (flag & MS_BIND) {
		attributes->recursive |= (flag & MS_REC) != 0;
		return 1;
	}
	if (split_propagation(flag, attributes) || split_atime(flag, inverted, attributes) ||
	    split_attribute(flag, inverted, attributes) || flag == MS_SILENT ||
	    (flag == MS_I_VERSION && inverted))
		return 1;
	return 0;
}

/* Options that make mount(8) do more than mount; they cannot be ignored. */
static bool is_unsupported_word(const char *name, size_t length)
{
	static const char *const words[] = { "loop",   "offset",  "sizelimit", "encryption",
					     "helper", "uhelper", "subdir" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strlen(words[i]) == length && strncmp(words[i], name, length) == 0)
			return true;
	return strncmp(name, "verity.", 7) == 0;
}

/* An option of mount(8)'s own map. "user" and "owner" imply what mount(8) makes them imply. */
static int split_user_word(const struct libmnt_optmap *entry, const char *name, size_t length,
			   struct mount_attributes *attributes)
{
	if (is_unsupported_word(name, length))
		return -EINVAL;
	if (entry->mask & MNT_INVERT)
		return 1;
	if (entry->id == MNT_MS_USER || entry->id == MNT_MS_USERS)
		attributes->set |= MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC;
	if (entry->id == MNT_MS_OWNER || entry->id == MNT_MS_GROUP)
		attributes->set |= MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
	return 1;
}

static const struct libmnt_optmap *find_in_map(int map_id, const char *name, size_t length,
					       bool has_value)
{
	const struct libmnt_optmap *entry = mnt_get_builtin_optmap(map_id);

	for (; entry && entry->name; entry++) {
		size_t bare = strcspn(entry->name, "=[");

		if (entry->name[bare] == '\0' && has_value)
			continue; /* "ro=recursive" is not "ro" */
		if (bare == length && strncmp(entry->name, name, length) == 0)
			return entry;
	}
	return NULL;
}

static bool begins_with(const char *name, size_t length, const char *prefix)
{
	return length >= strlen(prefix) && strncmp(name, prefix, strlen(prefix)) == 0;
}

/* 1 consumed, 0 the file system's, -EINVAL it cannot be honoured. */
static int split_word(const char *name, size_t length, bool has_value,
		      struct mount_attributes *attributes)
{
	const struct libmnt_optmap *entry;

	if (begins_with(name, length, "x-") || begins_with(name, length, "X-"))
		return 1;
	entry = find_in_map(MNT_LINUX_MAP, name, length, has_value);
	if (entry)
		return split_kernel_word(entry, attributes);
	entry = find_in_map(MNT_USERSPACE_MAP, name, length, has_value);
	if (entry)
		return split_user_word(entry, name, length, attributes);
	return 0;
}

bool mount_options_have(const char *options, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = options; *at; at += strcspn(at, ","), at += *at == ',')
		if (strncmp(at, word, length) == 0 && (at[length] == ',' || at[length] == '\0'))
			return true;
	return false;
}

int mount_options_split(const char *options, struct mount_attributes *ret_attributes,
			char **ret_data, struct failure *reterr)
{
	cleanup(words_done) struct words data = { 0 };
	struct mount_attributes attributes = { 0 };

	assert(options && ret_attributes && ret_data);
	while (*options) {
		size_t length = word_length(options);
		size_t name_length = strcspn(options, "=");
		bool has_value = name_length < length;
		int result = has_unpaired_quote(options, length)
				     ? -EINVAL
				     : split_word(options, has_value ? name_length : length,
						  has_value, &attributes);

		if (result == 0)
			result = words_add(&data, options, length);
		if (result < 0)
			return result == -EINVAL ? failed_plain(reterr, result,
								"mount option '%.*s' is not "
								"supported here",
								(int) length, options)
						 : failed(reterr, result, "cannot split options");
		options += length;
		options += *options == ',';
	}

	/* The options are sorted, so their order means nothing: the stricter one wins. */
	attributes.clear &= ~(attributes.set & ~(uint64_t) MOUNT_ATTR__ATIME);
	*ret_data = words_join(&data);
	if (!*ret_data)
		return failed(reterr, -ENOMEM, "cannot split options");
	*ret_attributes = attributes;
	return 0;
}
