/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_container_plan - pods with hostile paths, in the words of every container runtime
 *
 * The input is the path of the volumes on the host, on a line of its own, and a pod as YAML. A
 * runtime gets either a refusal with a text, or words that it reads as they were meant: JSON that
 * reads back, or one word on each line, of which no path of a pod makes two.
 */
#include "fuzz.h"

#include "base/cleanup.h"
#include "container/format.h"
#include "object/json/json.h"

#include <string.h>

enum { VOLUMES_MAX = 16 };

static const struct json_limits limits = { .bytes = 1 << 26, .depth = OBJECT_DEPTH_MAX };

/* Inside a container a path is absolute and has one spelling: nothing leads out of it. */
static void check_container_path(const char *path)
{
	HOLDS(path[0] == '/' && !strstr(path, "//") && !strstr(path, "/./"));
	for (const char *at = strstr(path, "/.."); at; at = strstr(at + 1, "/.."))
		HOLDS(at[3] != '\0' && at[3] != '/');
}

static size_t check_plan(const struct container_plan *plan)
{
	size_t count = 0;

	for (size_t i = 0; i < plan->container_count; i++) {
		const struct planned_container *container = &plan->containers[i];

		for (size_t j = 0; j < container->mount_count; j++)
			check_container_path(container->mounts[j].container_path);
		count += container->mount_count + container->device_count;
	}
	return count;
}

static size_t count_lines(const char *text)
{
	size_t lines = 0;

	for (; *text; text++)
		lines += *text == '\n';
	return lines;
}

/* At most an option and its argument for each mount, device and group. */
static void check_words(const struct container_plan *plan, const char *text, size_t mounts)
{
	size_t length = strlen(text);

	HOLDS(length == 0 || text[length - 1] == '\n');
	HOLDS(count_lines(text) <= 2 * (mounts + plan->group_count + 1));
}

static void check_format(const struct container_format *format, const struct container_plan *plan,
			 size_t mounts)
{
	struct cJSON *tree = NULL;
	struct failure why = { 0 };
	char *text = NULL;

	if (container_format_print(format, plan, &text, &why) < 0) {
		HOLDS(why.text[0] != '\0');
		return;
	}
	if (format->tree) {
		HOLDS(json_parse(text, strlen(text), &limits, &tree, NULL) == 0);
		json_free(tree);
	} else {
		check_words(plan, text, mounts);
	}
	free(text);
}

static void check_pod(const struct object *pod, const char *host_path)
{
	struct container_volume volumes[VOLUMES_MAX];
	struct container_plan_request request = { .pod = pod, .volumes = volumes };
	struct container_plan *plan = NULL;
	struct failure why = { 0 };

	for (size_t i = 0; i < pod->pod->volume_count && i < VOLUMES_MAX; i++)
		volumes[request.volume_count++] = (struct container_volume){
			.name = pod->pod->volumes[i].name,
			.path = host_path,
			.relabel = i % 3 == 1,
			.read_only = i % 4 == 2,
			.block = pod_volume_use(pod->pod, pod->pod->volumes[i].name).as_device,
			.noexec = i % 2 == 1,
		};
	if (container_plan_make(&request, &plan, &why) < 0) {
		HOLDS(why.text[0] != '\0');
		return;
	}
	for (const struct container_format *format = container_formats; format->name; format++)
		check_format(format, plan, check_plan(plan));
	(void) container_plan_free(plan);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *) data;
	const char *line = size > 0 ? memchr(text, '\n', size) : NULL;
	struct document_list list;
	char *host_path;

	if (!line || memchr(text, '\0', (size_t) (line - text)))
		return 0;
	host_path = strndup(text, (size_t) (line - text));
	HOLDS(host_path);
	HOLDS(documents_parse(line + 1, size - (size_t) (line - text) - 1, &list, NULL) == 0);
	for (size_t i = 0; i < list.count; i++)
		if (list.documents[i].object && list.documents[i].object->kind == KIND_POD)
			check_pod(list.documents[i].object, host_path);
	document_list_done(&list);
	free(host_path);
	return 0;
}
