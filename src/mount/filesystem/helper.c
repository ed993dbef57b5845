/* SPDX-License-Identifier: Apache-2.0 */
/*
 * helper - run mount.TYPE; see helper.h
 *
 * Privileged: the program has podvold's rights. The target goes to it as a path, for it takes
 * nothing else: all of it lies below the root directory, where only root may rename. Options are
 * rebuilt from what they mean, so that none reaches the program that mount(8) would keep
 * to itself.
 */
#include "mount/filesystem/helper.h"

#include "base/cleanup.h"
#include "base/text.h"
#include "mount/bind/options.h"

#include <assert.h>
#include <linux/mount.h>
#include <string.h>

/* What a mount's attributes are called on a command line. */
static const struct {
	uint64_t attribute;
	const char *word;
} words[] = {
	{ MOUNT_ATTR_RDONLY, "ro" },
	{ MOUNT_ATTR_NOSUID, "nosuid" },
	{ MOUNT_ATTR_NODEV, "nodev" },
	{ MOUNT_ATTR_NOEXEC, "noexec" },
	{ MOUNT_ATTR_NOATIME, "noatime" },
	{ MOUNT_ATTR_STRICTATIME, "strictatime" },
	{ MOUNT_ATTR_NODIRATIME, "nodiratime" },
};

/* @ret: "" when there are none. */
static int plain_options(const char *options, char **ret, struct failure *reterr)
{
	struct mount_attributes attributes;
	cleanup_free char *data = NULL, *joined = NULL;
	int result = mount_options_split(options, &attributes, &data, reterr);

	if (result < 0)
		return result;
	if (mount_options_have(data, "bg"))
		return failed_plain(
			reterr, -EINVAL,
			"mount option 'bg' is not supported: it mounts in the background");
	joined = strdup(data);
	for (size_t i = 0; i < ARRAY_SIZE(words) && joined; i++) {
		char *longer = NULL;

		if (!(attributes.set & words[i].attribute))
			continue;
		longer = new_text("%s%s%s", words[i].word, *joined ? "," : "", joined);
		free(joined);
		joined = longer;
	}
	if (!joined)
		return failed(reterr, -ENOMEM, "cannot join mount options");
	*ret = TAKE_PTR(joined);
	return 0;
}

static int explain(const struct helper_request *request, const char *program, int status,
		   const char *output, struct failure *reterr)
{
	if (status == -ENOENT)
		return failed_plain(reterr, status, "cannot mount '%s': no %s here",
				    request->source, program);
	if (status == -ETIMEDOUT)
		return failed_plain(reterr, status, "%s %s was ended after %.0f s (tool-seconds)",
				    program, request->source,
				    (double) request->terms.limit_usec / 1e6);
	if (status == -ECANCELED)
		return failed_plain(reterr, status, "%s %s cancelled: no longer wanted", program,
				    request->source);
	if (status < 0)
		return failed(reterr, status, "cannot run %s", program);
	return failed_plain(reterr, -EIO, "%s %s ended with status %d: %s", program,
			    request->source, status, output);
}

static int check_target(const struct helper_request *request, uint64_t *ret_mount_id,
			struct failure *reterr)
{
	struct mount_facts facts;
	int result = place_facts(request->target, &facts, reterr);

	if (result < 0)
		return result;
	if (!facts.is_mount_root)
		return failed_plain(reterr, -ENODEV,
				    "mount.%s says that it mounted '%s', but nothing is mounted at "
				    "'%s'",
				    request->type, request->source, request->target->path);
	*ret_mount_id = facts.mount_id;
	return 0;
}

int mount_by_helper(const struct helper_request *request, uint64_t *ret_mount_id,
		    struct failure *reterr)
{
	char program[32], output[TOOL_OUTPUT_BYTES];
	cleanup_free char *options = NULL;
	const char *argv[6] = { program, request->source, request->target->path };
	int status;

	assert(request->target->name && ret_mount_id);
	if (request->source[0] == '-' || request->source[strcspn(request->source, "\n\t ")])
		return failed_plain(reterr, -EINVAL, "'%s' is not the name of a server and a path",
				    request->source);
	status = plain_options(request->options, &options, reterr);
	if (status < 0)
		return status;
	if (*options) {
		argv[3] = "-o";
		argv[4] = options;
	}
	(void) snprintf(program, sizeof(program), "mount.%s", request->type);
	status = tool_run(argv, &request->terms, output);
	return status == 0 ? check_target(request, ret_mount_id, reterr)
			   : explain(request, program, status, output, reterr);
}
