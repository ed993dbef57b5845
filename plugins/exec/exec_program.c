/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec_program - which program a plugin's name means, and what root grants it; see exec.h
 *
 * A program runs with rights of podvold's, so its file, its settings and the directories of its
 * path must be root's, writable by none else and no symbolic links: what was checked can then be
 * opened by its path. Settings that are not understood grant nothing.
 */
#include "plugins/exec/exec.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "base/trusted_path.h"
#include "object/json/json.h"

#include <assert.h>
#include <fcntl.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/stat.h>

#define DRIVER_PREFIX "podvol.io/"

static bool is_name(const char *name)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
	size_t length = strspn(name, allowed);

	return length > 0 && length <= EXEC_NAME_BYTES_MAX && name[length] == '\0' &&
	       name[0] != '-';
}

const char *exec_name_of(const char *driver)
{
	size_t length = strlen(DRIVER_PREFIX);

	assert(driver);
	return strncmp(driver, DRIVER_PREFIX, length) == 0 && is_name(driver + length)
		       ? driver + length
		       : NULL;
}

/* ---- who may change it ---- */

static int check_file(const char *path, struct failure *reterr)
{
	struct stat status;
	int r = trusted_path_check(path, TRUST_ROOT, reterr);

	if (r < 0)
		return r;
	if (stat(path, &status) < 0)
		return failed(reterr, -errno, "'%s'", path);
	return S_ISREG(status.st_mode)
		       ? 0
		       : failed_plain(reterr, -EPERM, "'%s' is not a regular file", path);
}

/* ---- what it is granted ---- */

static int take_capabilities(const struct cJSON *list, uint64_t *ret, struct failure *reterr)
{
	JSON_FOREACH (item, list) {
		const char *name = json_string(item, "");
		cap_value_t value;

		if (cap_from_name(name, &value) < 0)
			return failed_plain(reterr, -EINVAL,
					    "capabilities: unknown capability '%s'", name);
		*ret |= UINT64_C(1) << value;
	}
	return 0;
}

const char *exec_slot_name(enum exec_slot slot)
{
	static const char *const names[] = {
		[EXEC_CREATE] = "create",     [EXEC_CLONE] = "clone",
		[EXEC_DELETE] = "delete",     [EXEC_EXPAND] = "expand",
		[EXEC_SNAPSHOT] = "snapshot", [EXEC_DELETE_SNAPSHOT] = "delete-snapshot",
	};

	static_assert(ARRAY_SIZE(names) == EXEC_SLOT_COUNT, "name every slot");
	assert(slot < EXEC_SLOT_COUNT);
	return names[slot];
}

static int take_slots(const struct cJSON *list, unsigned int *ret, struct failure *reterr)
{
	JSON_FOREACH (item, list) {
		enum exec_slot slot = 0;

		while (slot < EXEC_SLOT_COUNT &&
		       strcmp(json_string(item, ""), exec_slot_name(slot)) != 0)
			slot++;
		if (slot == EXEC_SLOT_COUNT)
			return failed_plain(reterr, -EINVAL, "slots: '%s' is not one",
					    json_string(item, ""));
		*ret |= 1U << slot;
	}
	return 0;
}

static int take_setting(const struct cJSON *item, struct exec_program *program,
			struct failure *reterr)
{
	const char *key = json_key(item);
	int64_t seconds;

	if (strcmp(key, "capabilities") == 0 && json_is_array(item))
		return take_capabilities(item, &program->capabilities, reterr);
	if (strcmp(key, "slots") == 0 && json_is_array(item))
		return take_slots(item, &program->slots, reterr);
	if (strcmp(key, "inline") == 0 && json_is_bool(item)) {
		program->allows_inline = json_bool(item, false);
		return 0;
	}
	if (strcmp(key, "stats") == 0 && json_is_bool(item)) {
		program->gives_stats = json_bool(item, false);
		return 0;
	}
	if (strcmp(key, "limitSeconds") == 0 && json_int64(item, &seconds) && seconds > 0 &&
	    seconds <= EXEC_LIMIT_SECONDS_MAX) {
		program->limit_usec = (uint64_t) seconds * USEC_PER_SEC;
		return 0;
	}
	return failed_plain(reterr, -EINVAL,
			    "%s: only capabilities and slots (lists of names), inline and stats "
			    "(true or false) and limitSeconds (1 to %d) can be set",
			    key, EXEC_LIMIT_SECONDS_MAX);
}

static int take_settings(const char *text, size_t length, struct exec_program *program,
			 struct failure *reterr)
{
	static const struct json_limits limits = { .bytes = EXEC_SETTINGS_BYTES_MAX, .depth = 4 };
	cleanup_json struct cJSON *tree = NULL;
	int r = json_parse(text, length, &limits, &tree, reterr);

	if (r == 0 && !json_is_object(tree))
		return failed_plain(reterr, -EINVAL, "not a JSON object");
	for (const struct cJSON *item = json_first(tree); item && r == 0; item = json_next(item))
		r = take_setting(item, program, reterr);
	return r;
}

/* Without a file it is granted nothing. */
static int read_settings(struct exec_program *program, struct failure *reterr)
{
	cleanup_free char *path = NULL;
	char text[EXEC_SETTINGS_BYTES_MAX];
	struct failure failure = { .error = 0 };
	cleanup_close int fd = -EBADF;
	ssize_t length;
	int r;

	if (asprintf(&path, "%s.json", program->path) < 0)
		return failed(reterr, -ENOMEM, "cannot read the settings of '%s'", program->path);
	r = check_file(path, &failure);
	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return failed_plain(reterr, r, "%s", failure.text);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return failed(reterr, -errno, "cannot open '%s'", path);
	length = read(fd, text, sizeof(text));
	if (length < 0)
		return failed(reterr, -errno, "cannot read '%s'", path);
	r = take_settings(text, (size_t) length, program, reterr);
	return r < 0 ? failure_prefix(reterr, "'%s'", path) : 0;
}

int exec_program_find(const char *name, struct exec_program *ret, struct failure *reterr)
{
	cleanup(exec_program_done) struct exec_program program = {
		.limit_usec = EXEC_LIMIT_SECONDS * USEC_PER_SEC,
	};
	int r;

	assert(name && ret);
	if (!is_name(name))
		return failed_plain(reterr, -EINVAL, "'%s' is not the name of a plugin", name);
	program.path = new_text(EXEC_DIRECTORY "/%s", name);
	if (!program.path)
		return failed(reterr, -ENOMEM, "cannot find plugin '%s'", name);
	r = check_file(program.path, reterr);
	if (r == 0)
		r = read_settings(&program, reterr);
	if (r < 0)
		return r;
	*ret = program;
	program.path = NULL;
	return 0;
}

void exec_program_done(struct exec_program *program)
{
	assert(program);
	free(program->path);
	program->path = NULL;
}
