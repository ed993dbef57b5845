/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_text - a Node as kubelet registers it; see own_node.h
 */
#include "cluster/own_node.h"

#include "build-config.h"
#include "object/json/json.h"
#include "object/timestamp.h"

#include <inttypes.h>
#include <string.h>
#include <sys/utsname.h>
#include <systemd/sd-id128.h>
#include <unistd.h>

enum { PODS_MAX = 110 }; /* kubelet's maxPods */

/* An id of this program on this machine that does not give the machine's own away. */
#define APPLICATION SD_ID128_MAKE(5d, 0c, 1f, 9b, 77, 4e, 4a, 02, 9c, 51, 6e, 8d, 20, b3, f4, a9)

void node_holder(char ret[NODE_HOLDER_BYTES])
{
	sd_id128_t id = SD_ID128_NULL;

	(void) sd_id128_get_machine_app_specific(APPLICATION, &id);
	(void) snprintf(ret, NODE_HOLDER_BYTES, "podvold-" SD_ID128_FORMAT_STR,
			SD_ID128_FORMAT_VAL(id));
}

static void begin(struct cJSON *tree, const char *version, const char *kind)
{
	(void) json_set_string(tree, "apiVersion", version);
	(void) json_set_string(tree, "kind", kind);
}

char *node_text(const char *name, const struct labels *labels)
{
	cleanup_json struct cJSON *tree = json_new_object();
	struct cJSON *metadata, *to;

	begin(tree, "v1", "Node");
	metadata = json_add_object(tree, "metadata");
	(void) json_set_string(metadata, "name", name);
	to = json_add_object(metadata, "labels");
	for (size_t i = 0; i < labels->count; i++)
		(void) json_set_string(to, labels->labels[i].key, labels->labels[i].value);
	return json_print(tree);
}

char *node_labels_patch(const struct object *node, const struct labels *labels)
{
	cleanup_json struct cJSON *tree = json_new_object(), *present = object_tree(node);
	struct cJSON *to = json_add_object(json_add_object(tree, "metadata"), "labels");
	const struct cJSON *has = json_get_path(present, "metadata.labels");
	bool differs = false;

	for (size_t i = 0; i < labels->count; i++) {
		const struct label *label = &labels->labels[i];

		if (json_text_is(has, label->key, label->value))
			continue;
		(void) json_set_string(to, label->key, label->value);
		differs = true;
	}
	return differs ? json_print(tree) : strdup("");
}

/* ---- status ---- */

static bool is_ready(const struct cJSON *condition)
{
	return json_text_is(condition, "status", "True") &&
	       json_text_is(condition, "reason", NODE_READY_REASON);
}

void node_read_heartbeat(const struct cJSON *node, char ret[NODE_HEARTBEAT_BYTES])
{
	const struct cJSON *ready =
		json_find(json_get_path(node, "status.conditions"), "type", "Ready");
	const char *reason = json_text(ready, "reason");

	ret[0] = '\0';
	if (strcmp(reason, NODE_READY_REASON) != 0 &&
	    strcmp(json_string(json_get(ready, "status"), "Unknown"), "Unknown") != 0)
		(void) snprintf(ret, NODE_HEARTBEAT_BYTES, "Ready by '%.60s' at %.40s; ", reason,
				json_text(ready, "lastHeartbeatTime"));
}

bool node_is_reported(const struct object *node, const char *address)
{
	cleanup_json struct cJSON *tree = object_tree(node);
	const struct cJSON *status = json_get(tree, "status"), *known;

	known = json_find(json_get(status, "addresses"), "type", "InternalIP");
	return is_ready(json_find(json_get(status, "conditions"), "type", "Ready")) &&
	       (*address == '\0' || json_text_is(known, "address", address));
}

/* What the scheduler counts with. */
static void add_resources(struct cJSON *status, const char *key)
{
	struct cJSON *to = json_add_object(status, key);
	char text[32];

	(void) snprintf(text, sizeof(text), "%ld", sysconf(_SC_NPROCESSORS_ONLN));
	(void) json_set_string(to, "cpu", text);
	(void) snprintf(text, sizeof(text), "%" PRIu64 "Ki",
			(uint64_t) sysconf(_SC_PHYS_PAGES) * (uint64_t) sysconf(_SC_PAGESIZE) /
				1024);
	(void) json_set_string(to, "memory", text);
	(void) snprintf(text, sizeof(text), "%d", PODS_MAX);
	(void) json_set_string(to, "pods", text);
}

static void add_address(struct cJSON *addresses, const char *type, const char *address)
{
	struct cJSON *item;

	if (*address == '\0')
		return;
	item = json_add_object(addresses, NULL);
	(void) json_set_string(item, "type", type);
	(void) json_set_string(item, "address", address);
}

static void add_ready(struct cJSON *status, const struct cJSON *before, uint64_t now_usec)
{
	struct cJSON *ready = json_add_object(json_add_array(status, "conditions"), NULL);
	char now[TIMESTAMP_BYTES];

	timestamp_print(now_usec, now);
	(void) json_set_string(ready, "type", "Ready");
	(void) json_set_string(ready, "status", "True");
	(void) json_set_string(ready, "reason", NODE_READY_REASON);
	(void) json_set_string(ready, "message", "podvold mounts the volumes of pods");
	(void) json_set_string(ready, "lastHeartbeatTime", now);
	(void) json_set_string(ready, "lastTransitionTime",
			       json_text_is(before, "status", "True")
				       ? json_string(json_get(before, "lastTransitionTime"), now)
				       : now);
}

static void set_id(struct cJSON *info, const char *key, int error, sd_id128_t id)
{
	char text[SD_ID128_STRING_MAX];

	(void) json_set_string(info, key, error < 0 ? "" : sd_id128_to_string(id, text));
}

/* The server wants all of these; what podvold does not know is "". */
static void add_info(struct cJSON *status, const struct cJSON *labels, const struct utsname *host)
{
	struct cJSON *info = json_add_object(status, "nodeInfo");
	sd_id128_t id = SD_ID128_NULL;

	set_id(info, "machineID", sd_id128_get_machine(&id), id);
	set_id(info, "bootID", sd_id128_get_boot(&id), id);
	(void) json_set_string(info, "systemUUID", "");
	(void) json_set_string(info, "kernelVersion", host->release);
	(void) json_set_string(info, "osImage", host->sysname);
	(void) json_set_string(info, "operatingSystem", "linux");
	(void) json_set_string(info, "architecture",
			       json_string(json_get(labels, "kubernetes.io/arch"), host->machine));
	(void) json_set_string(info, "kubeletVersion", "podvol-" PACKAGE_VERSION);
	(void) json_set_string(info, "kubeProxyVersion", "");
	(void) json_set_string(info, "containerRuntimeVersion", "");
}

char *node_status_patch(const struct object *node, const char *address, uint64_t now_usec)
{
	cleanup_json struct cJSON *tree = json_new_object(), *present = object_tree(node);
	struct cJSON *status = json_add_object(tree, "status"), *addresses;
	struct utsname host;

	if (uname(&host) < 0)
		return NULL;
	add_resources(status, "capacity");
	add_resources(status, "allocatable");
	addresses = json_add_array(status, "addresses");
	add_address(addresses, "InternalIP", address);
	add_address(addresses, "Hostname", host.nodename);
	add_ready(status, json_find(json_get_path(present, "status.conditions"), "type", "Ready"),
		  now_usec);
	add_info(status, json_get_path(present, "metadata.labels"), &host);
	return json_print(tree);
}

/* ---- lease ---- */

char *node_lease_text(const char *name, const char *node_uid, const char *version,
		      const char *renew_time)
{
	cleanup_json struct cJSON *tree = json_new_object();
	struct cJSON *metadata, *owner, *spec;
	char holder[NODE_HOLDER_BYTES];

	node_holder(holder);
	begin(tree, "coordination.k8s.io/v1", "Lease");
	metadata = json_add_object(tree, "metadata");
	(void) json_set_string(metadata, "name", name);
	(void) json_set_string(metadata, "namespace", "kube-node-lease");
	if (*version)
		(void) json_set_string(metadata, "resourceVersion", version);
	owner = json_add_object(json_add_array(metadata, "ownerReferences"), NULL);
	begin(owner, "v1", "Node");
	(void) json_set_string(owner, "name", name);
	(void) json_set_string(owner, "uid", node_uid);
	spec = json_add_object(tree, "spec");
	(void) json_set_string(spec, "holderIdentity", holder);
	(void) json_set_int(spec, "leaseDurationSeconds", NODE_LEASE_SECONDS);
	(void) json_set_string(spec, "renewTime", renew_time);
	return json_print(tree);
}
