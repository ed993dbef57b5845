/* SPDX-License-Identifier: Apache-2.0 */
/*
 * format - the table of formats; see format.h
 */
#include "container/format.h"

#include "base/cleanup.h"
#include "container/words.h"
#include "object/json/json.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

const struct container_format container_formats[] = {
	{ .name = "json", .help = "the plan of all containers", .tree = json_format_tree },
	{ .name = "table", .help = "the same as lines for people", .tree = table_format_tree },
	{
		.name = "oci",
		.help = "parts of a config.json for crun and runc",
		.of_one = true,
		.tree = oci_format_tree,
		.refuses_images = true,
	},
	{
		.name = "cri",
		.help = "parts of a ContainerConfig",
		.of_one = true,
		.tree = cri_format_tree,
		.no_idmap = "needs the host ids of the pod's sandbox, as userNamespace=FIRST:COUNT",
		.takes_id_range = true,
	},
	{
		.name = "podman",
		.help = "arguments for podman run",
		.of_one = true,
		.words = podman_format_words,
	},
	{
		.name = "kube",
		.help = "the pod for podman kube play",
		.tree = kube_format_tree,
		.refuses_images = true,
		.refuses_devices = true,
		.refuses_colons = true,
		.refuses_recursive = true,
		.no_idmap = "podman kube play cannot idmap a mount",
	},
	{
		.name = "docker",
		.help = "arguments for docker run",
		.of_one = true,
		.words = docker_format_words,
		.refuses_images = true,
		.no_idmap = "docker cannot idmap a mount",
	},
	{
		.name = "nspawn",
		.help = "arguments for systemd-nspawn",
		.of_one = true,
		.words = nspawn_format_words,
		.refuses_images = true,
	},
	{ 0 },
};

const struct container_format *container_format_find(const char *name)
{
	assert(name);
	for (const struct container_format *format = container_formats; format->name; format++)
		if (strcmp(format->name, name) == 0)
			return format;
	return NULL;
}

static int check_mount(const struct container_format *format,
		       const struct planned_container *container, const struct planned_mount *mount,
		       bool can_idmap, struct failure *reterr)
{
	if (mount->image && format->refuses_images)
		return failed_plain(reterr, -EOPNOTSUPP,
				    "container '%s': format '%s' cannot express image volumes, "
				    "which '%s' asks for: '%s'",
				    container->name, format->name, mount->container_path,
				    mount->image);
	if (mount->recursive_read_only == RECURSIVE_READ_ONLY_ENABLED && format->refuses_recursive)
		return failed_plain(reterr, -EOPNOTSUPP,
				    "container '%s': format '%s' cannot express recursiveReadOnly "
				    "Enabled, which '%s' asks for",
				    container->name, format->name, mount->container_path);
	if (format->refuses_colons && strchr(mount->container_path, ':'))
		return failed_plain(reterr, -EOPNOTSUPP,
				    "container '%s': format '%s' cannot write the colon of '%s'",
				    container->name, format->name, mount->container_path);
	if (mount->idmap && !can_idmap)
		return failed_plain(reterr, -EOPNOTSUPP,
				    "container '%s': format '%s' cannot express idmapped mounts, "
				    "which hostUsers: false asks for at '%s': %s",
				    container->name, format->name, mount->container_path,
				    format->no_idmap);
	return 0;
}

static int check_mounts(const struct container_format *format, const struct container_plan *plan,
			const struct planned_container *container, struct failure *reterr)
{
	bool can_idmap =
		!format->no_idmap || (format->takes_id_range && plan->user_namespace.count > 0);
	int r = 0;

	if (format->refuses_devices && container->device_count > 0)
		return failed_plain(reterr, -EOPNOTSUPP,
				    "container '%s': format '%s' cannot express block devices, "
				    "which '%s' asks for",
				    container->name, format->name,
				    container->devices[0].container_path);
	for (size_t i = 0; i < container->mount_count && r == 0; i++)
		r = check_mount(format, container, &container->mounts[i], can_idmap, reterr);
	return r;
}

static int refuse_several(const struct container_plan *plan, struct failure *reterr)
{
	char names[FAILURE_TEXT_BYTES / 2] = "";
	size_t used = 0;

	for (size_t i = 0; i < plan->container_count && used < sizeof(names); i++) {
		int written = snprintf(names + used, sizeof(names) - used, "%s%s",
				       i > 0 ? ", " : "", plan->containers[i].name);

		used += written > 0 ? (size_t) written : 0;
	}
	return failed_plain(reterr, -EINVAL, "this format is for one container, name it: %s",
			    names);
}

int container_format_choose(const struct container_format *format,
			    const struct container_plan *plan, const struct planned_container **ret,
			    struct failure *reterr)
{
	int r = 0;

	assert(format && plan && ret);
	if (format->of_one && plan->container_count != 1)
		return refuse_several(plan, reterr);
	for (size_t i = 0; i < plan->container_count && r == 0; i++)
		r = check_mounts(format, plan, &plan->containers[i], reterr);
	if (r == 0)
		*ret = format->of_one ? &plan->containers[0] : NULL;
	return r;
}

static int print_words(const struct container_format *format, const struct container_plan *plan,
		       const struct planned_container *container, char **ret,
		       struct failure *reterr)
{
	struct words words = { 0 };
	int r = format->words(plan, container, &words, reterr);

	if (r == 0 && !words.text) {
		words.text = strdup("");
		r = words.text ? 0 : failed(reterr, -ENOMEM, "cannot write an argument");
	}
	if (r == 0)
		*ret = TAKE_PTR(words.text);
	words_done(&words);
	if (r < 0)
		(void) failure_prefix(reterr, "container '%s'", container->name);
	return r;
}

int container_format_print(const struct container_format *format, const struct container_plan *plan,
			   char **ret, struct failure *reterr)
{
	const struct planned_container *container = NULL;
	cleanup_json struct cJSON *tree = NULL;
	char *text;
	int r;

	assert(format && format->name && plan && ret);
	r = container_format_choose(format, plan, &container, reterr);
	if (r < 0)
		return r;
	if (format->words)
		return print_words(format, plan, container, ret, reterr);
	tree = format->tree(plan, container);
	text = tree ? json_print(tree) : NULL;
	if (!text)
		return failed(reterr, -ENOMEM, "cannot print a plan of mounts");
	*ret = text;
	return 0;
}
