/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own_objects - see own_objects.h
 */
#include "csinode/own_objects.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/timer.h"
#include "build-config.h"
#include "object/json/json.h"
#include "object/kind.h"
#include "object/kinds/node.h"
#include "object/kinds/pod.h"
#include "object/kinds/root_ca.h"
#include "object/timestamp.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { RETRY_FIRST_MSEC = 100, RETRY_LAST_MSEC = 60 * 1000 };

struct own_objects {
	struct store *store;
	struct store_watch *watch;
	char *asked; /* the last namespace requested; saves repeats in a burst */
	/* Runs from the first request until every requested object exists. */
	sd_event_source *timer;
	uint64_t delay_msec;
	bool is_missing; /* a request came since the last check */
};

/* ---- retries ---- */

/* A reply may come after this was freed: so the store is read instead. */
static void retry_later(struct own_objects *own)
{
	own->is_missing = true;
	if (!timer_is_set(own->timer))
		timer_set_in(own->timer, own->delay_msec * USEC_PER_MSEC);
}

/* ---- the node ---- */

/* The first line of a small file without its end; "" when there is none. */
static void read_line(const char *path, char *line, size_t size)
{
	FILE *file = fopen(path, "re");

	line[0] = '\0';
	if (!file)
		return;
	if (fgets(line, (int) size, file))
		line[strcspn(line, "\n")] = '\0';
	else
		line[0] = '\0';
	(void) fclose(file);
}

/* The value of PRETTY_NAME in os-release(5), which has the shell's quotes. */
static void read_os_name(char *name, size_t size)
{
	static const char key[] = "PRETTY_NAME=";
	FILE *file = fopen("/etc/os-release", "re");
	char line[256];

	(void) snprintf(name, size, "Linux");
	while (file && fgets(line, sizeof(line), file)) {
		const char *value = line + strlen(key);

		if (strncmp(line, key, strlen(key)) != 0)
			continue;
		value += strspn(value, "\"'");
		(void) snprintf(name, size, "%.*s", (int) strcspn(value, "\"'\n"), value);
	}
	if (file)
		(void) fclose(file);
}

static void set_from_file(struct cJSON *info, const char *key, const char *path)
{
	char line[128];

	read_line(path, line, sizeof(line));
	(void) json_set_string(info, key, line);
}

/* As the label has it. */
static const char *label_of(const struct labels *labels, const char *key)
{
	for (size_t i = 0; i < labels->count; i++) {
		if (strcmp(labels->labels[i].key, key) == 0)
			return labels->labels[i].value;
	}
	return "";
}

/* Every member is there, as Kubernetes requires; what does not exist here is "". */
static void add_info(struct cJSON *status, const struct config *config)
{
	struct cJSON *info = json_add_object(status, "nodeInfo");
	struct utsname kernel;
	char name[128];

	read_os_name(name, sizeof(name));
	set_from_file(info, "machineID", "/etc/machine-id");
	set_from_file(info, "systemUUID", "/sys/class/dmi/id/product_uuid");
	set_from_file(info, "bootID", "/proc/sys/kernel/random/boot_id");
	(void) json_set_string(info, "kernelVersion", uname(&kernel) == 0 ? kernel.release : "");
	(void) json_set_string(info, "osImage", name);
	(void) json_set_string(info, "operatingSystem", "linux");
	(void) json_set_string(info, "architecture",
			       label_of(&config->labels, "kubernetes.io/arch"));
	(void) json_set_string(info, "containerRuntimeVersion", "");
	(void) json_set_string(info, "kubeletVersion", "podvold-" PACKAGE_VERSION);
	(void) json_set_string(info, "kubeProxyVersion", "");
}

/* What is unknown is left out. */
static void add_capacity(struct cJSON *status, const char *key)
{
	struct cJSON *capacity = json_add_object(status, key);
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	struct sysinfo memory;
	char text[32];

	if (processors > 0) {
		(void) snprintf(text, sizeof(text), "%ld", processors);
		(void) json_set_string(capacity, "cpu", text);
	}
	if (sysinfo(&memory) == 0) {
		(void) snprintf(text, sizeof(text), "%lluKi",
				(unsigned long long) memory.totalram * memory.mem_unit / 1024);
		(void) json_set_string(capacity, "memory", text);
	}
}

/* Without what others wrote, but with what the volumes of this node were before the start: those
 * that are staged still are. */
static struct cJSON *new_status(struct cJSON *tree)
{
	static const char *const kept[] = { "volumesAttached", "volumesInUse" };
	struct cJSON *status = json_new_object();

	for (size_t i = 0; i < ARRAY_SIZE(kept); i++) {
		const struct cJSON *list = json_get(json_get(tree, "status"), kept[i]);

		if (json_is_array(list))
			(void) json_set(status, kept[i], json_copy(list));
	}
	(void) json_set(tree, "status", status);
	return status;
}

static void add_status(struct cJSON *tree, const struct config *config)
{
	struct cJSON *status, *item;
	char now[TIMESTAMP_BYTES];

	timestamp_print(realtime_usec(), now);
	status = new_status(tree);
	item = json_add_object(json_add_array(status, "addresses"), NULL);
	(void) json_set_string(item, "type", "Hostname");
	(void) json_set_string(item, "address", config->node_name);
	add_capacity(status, "capacity");
	add_capacity(status, "allocatable");
	item = json_add_object(json_add_array(status, "conditions"), NULL);
	(void) json_set_string(item, "type", "Ready");
	(void) json_set_string(item, "status", "True");
	(void) json_set_string(item, "reason", "PodvoldStarted");
	(void) json_set_string(item, "message", "podvold manages the volumes of this node");
	(void) json_set_string(item, "lastHeartbeatTime", now);
	(void) json_set_string(item, "lastTransitionTime", now);
	add_info(status, config);
}

/* Also of a tree that others wrote into: only podvold's own is replaced. */
static int fill_node(struct cJSON *tree, void *userdata)
{
	const struct config *config = userdata;
	struct cJSON *metadata = json_ensure_object(tree, "metadata");
	struct cJSON *labels = json_ensure_object(metadata, "labels");

	if (!labels)
		return -ENOMEM;
	for (size_t i = 0; i < config->labels.count; i++)
		(void) json_set_string(labels, config->labels.labels[i].key,
				       config->labels.labels[i].value);
	(void) json_set_string(json_ensure_object(metadata, "annotations"),
			       ANNOTATION_MANAGED_ATTACH, "true");
	add_status(tree, config);
	return 0;
}

static struct cJSON *new_tree(const char *kind, const char *name)
{
	struct cJSON *tree = json_new_object();

	(void) json_set_string(tree, "apiVersion", "v1");
	(void) json_set_string(tree, "kind", kind);
	(void) json_set_string(json_add_object(tree, "metadata"), "name", name);
	return tree;
}

static int make_node(const struct config *config, const struct object **ret, struct failure *why)
{
	cleanup_json struct cJSON *tree = new_tree("Node", config->node_name);
	int r = fill_node(tree, (void *) (uintptr_t) config);

	return r < 0 ? failed(why, r, "cannot make it") : object_propose(tree, ret, why);
}

static void write_node(struct store *store, const struct config *config)
{
	const struct object *known = store_get(store, KIND_NODE, "", config->node_name);
	cleanup_object const struct object *node = NULL;
	struct failure why = { .error = 0 };
	int r;

	if (known)
		r = object_edit(known, fill_node, (void *) (uintptr_t) config, &node, &why);
	else
		r = make_node(config, &node, &why);
	if (r == 0 && known)
		r = store_update(store, node, NULL, NULL, NULL);
	else if (r == 0)
		r = store_create(store, node, NULL, NULL);
	if (r < 0)
		log_message(LOG_WARNING, "the Node object '%s' is not up to date: %s",
			    config->node_name, why.text[0] ? why.text : strerror(-r));
}

/* ---- namespaces ---- */

/* Two objects of a new namespace may request it in one turn; the second finds it existing. */
static void on_created(void *userdata, int error, const struct object *result,
		       const struct failure *why)
{
	if (error < 0 && error != -EEXIST && error != -ECANCELED)
		log_message(LOG_WARNING, "a namespace could not be created: %s", why->text);
}

static void ensure_namespace(struct own_objects *own, const char *name)
{
	cleanup_json struct cJSON *tree = NULL;
	cleanup_object const struct object *object = NULL;

	if (store_get(own->store, KIND_NAMESPACE, "", name) ||
	    (own->asked && strcmp(own->asked, name) == 0))
		return;
	retry_later(own);
	tree = new_tree("Namespace", name);
	if (object_propose(tree, &object, NULL) < 0 ||
	    store_create(own->store, object, on_created, NULL) < 0)
		return;
	free(own->asked);
	own->asked = strdup(name);
}

/* ---- service accounts ---- */

static int stop_at_first(const struct object *object, void *userdata)
{
	return 1;
}

/* Drivers request tokens in their CSIDriver; a claim may be bound to such a volume. */
static bool may_have_tokens(const struct own_objects *own, const struct pod *pod)
{
	bool drivers = store_list(own->store, KIND_CSI_DRIVER, NULL, stop_at_first, NULL) != 0;

	for (size_t i = 0; i < pod->volume_count; i++) {
		const struct pod_volume *volume = &pod->volumes[i];

		if (volume->has_tokens ||
		    (drivers && (volume->source == SOURCE_CSI || volume->source == SOURCE_CLAIM ||
				 volume->source == SOURCE_EPHEMERAL)))
			return true;
	}
	return false;
}

static void on_account_created(void *userdata, int error, const struct object *result,
			       const struct failure *why)
{
	if (error < 0 && error != -EEXIST && error != -ECANCELED)
		log_message(LOG_WARNING, "a service account could not be created: %s", why->text);
}

static void ensure_account(struct own_objects *own, const struct object *pod)
{
	cleanup_json struct cJSON *tree = NULL;
	cleanup_object const struct object *object = NULL;

	if (strcmp(pod->pod->service_account_name, "default") != 0 ||
	    store_get(own->store, KIND_SERVICE_ACCOUNT, pod->meta.name_space, "default") ||
	    !may_have_tokens(own, pod->pod))
		return;
	retry_later(own);
	tree = new_tree("ServiceAccount", "default");
	(void) json_set_string(json_ensure_object(tree, "metadata"), "namespace",
			       pod->meta.name_space);
	if (object_propose(tree, &object, NULL) < 0 ||
	    store_create(own->store, object, on_account_created, NULL) < 0)
		log_message(LOG_WARNING, "out of memory: no service account 'default' in '%s'",
			    pod->meta.name_space);
}

static int visit_pod(const struct object *pod, void *userdata)
{
	ensure_account(userdata, pod);
	return 0;
}

/* ---- what is new ---- */

/* The certificate that podvold publishes in each namespace is no reason for one. */
static int visit(const struct object *object, void *userdata)
{
	if (!root_ca_is_published(object))
		ensure_namespace(userdata, object->meta.name_space);
	return 0;
}

/* A deleted account is created again while a pod uses it, as in a cluster. */
static void sync_change(struct own_objects *own, const struct store_change *change)
{
	const struct object *object = change->object;

	if (change->type == STORE_ADDED && kind_row(object->kind)->namespaced)
		(void) visit(object, own);
	if (change->type != STORE_DELETED && object->kind == KIND_POD)
		ensure_account(own, object);
	else if ((change->type == STORE_ADDED && object->kind == KIND_CSI_DRIVER) ||
		 (change->type == STORE_DELETED && object->kind == KIND_SERVICE_ACCOUNT))
		(void) store_list(own->store, KIND_POD, NULL, visit_pod, own);
}

/* An event must not create a deleted namespace again. */
static bool makes_namespaces(enum object_kind kind)
{
	return kind_row(kind)->namespaced && kind_row(kind)->durability == KIND_SYNCED;
}

static unsigned int kinds_that_make_namespaces(void)
{
	unsigned int kinds = 0;

	for (int kind = 0; kind < KIND_COUNT; kind++)
		kinds |= makes_namespaces((enum object_kind) kind) ? 1U << kind : 0;
	return kinds;
}

static void sync_all(struct own_objects *own);

/* Only a new object can name a new namespace; a deleted one is created with the next object. */
static void on_change(void *userdata)
{
	struct own_objects *own = userdata;
	const struct store_change *change;
	int r;

	free(own->asked);
	own->asked = NULL;
	while ((r = store_watch_next(own->watch, &change)) > 0)
		sync_change(own, change);
	if (r < 0)
		sync_all(own);
}

/* From here on; begins with what is always there. */
static int list_and_watch(struct own_objects *own)
{
	own->watch = store_watch_free(own->watch);
	ensure_namespace(own, "default");
	ensure_namespace(own, "kube-system");
	for (int kind = 0; kind < KIND_COUNT; kind++) {
		if (makes_namespaces((enum object_kind) kind))
			(void) store_list(own->store, (enum object_kind) kind, NULL, visit, own);
	}
	(void) store_list(own->store, KIND_POD, NULL, visit_pod, own);
	return store_watch_new(own->store, kinds_that_make_namespaces() | 1U << KIND_CSI_DRIVER,
			       store_resource_version(own->store), on_change, own, &own->watch);
}

static void sync_all(struct own_objects *own)
{
	if (list_and_watch(own) == 0)
		return;
	log_message(LOG_WARNING, "out of memory: retrying namespaces later");
	retry_later(own);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct own_objects *own = userdata;

	own->delay_msec =
		own->delay_msec * 2 < RETRY_LAST_MSEC ? own->delay_msec * 2 : RETRY_LAST_MSEC;
	own->is_missing = false;
	free(own->asked);
	own->asked = NULL;
	sync_all(own);
	if (!own->is_missing)
		own->delay_msec = RETRY_FIRST_MSEC;
	return 0;
}

int own_objects_new(sd_event *event, struct store *store, const struct config *config,
		    struct own_objects **ret)
{
	struct own_objects *own = calloc(1, sizeof(*own));
	int r;

	assert(event && store && config && ret);
	if (!own)
		return -ENOMEM;
	own->store = store;
	own->delay_msec = RETRY_FIRST_MSEC;
	r = timer_new(event, 0, on_timer, own, &own->timer);
	if (r >= 0) {
		write_node(store, config);
		r = list_and_watch(own);
	}
	if (r < 0) {
		(void) own_objects_free(own);
		return r;
	}
	*ret = own;
	return 0;
}

struct own_objects *own_objects_free(struct own_objects *own)
{
	if (!own)
		return NULL;
	(void) store_watch_free(own->watch);
	(void) sd_event_source_disable_unref(own->timer);
	free(own->asked);
	free(own);
	return NULL;
}
