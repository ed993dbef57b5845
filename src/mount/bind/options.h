/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options - mount options as words: joining them, and splitting a mount's from a file system's
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct failure;
struct mount_attributes;

/**
 * mount_options_join - PV options and plugin options as one sorted set: "fsid=100,hard,ro" (cases
 * 96 to 98)
 *
 * Empty words and unpaired quotes are dropped, duplicates collapse. Return: NULL when out of
 * memory; free with free().
 */
char *mount_options_join(const char *const *options, size_t count, const char *plugin_options);

/* Is the word one of options that are separated by commas? */
bool mount_options_have(const char *options, const char *word);

/**
 * mount_options_split - the words that are attributes of a mount, and those that are the file
 * system's
 * @options:    comma separated; libmount's maps decide
 * @ret_data:   what the file system gets; "" when nothing; free with free()
 *
 * An option that has no meaning on a bind mount is left in @ret_data, not refused. Of words that
 * contradict each other ("ro,rw") the stricter one wins, because joining sorted them. Words for
 * mount(8), fstab and systemd alone are dropped.
 *
 * Return: 0; -EINVAL a word that would make mount(8) do something else (loop=, remount), or an
 * unpaired quote; -ENOMEM.
 */
int mount_options_split(const char *options, struct mount_attributes *ret_attributes,
			char **ret_data, struct failure *reterr);
