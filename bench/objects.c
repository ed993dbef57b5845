/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects - the pods, claims and volumes of a measurement, and the configuration of its agent
 */
#include "bench/bench.h"

#include "base/cleanup.h"
#include "config.h"
#include "object/object.h"
#include "state/actual.h"
#include "store/embedded.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

unsigned int bench_published, bench_unpublished;

/* Counted where every result arrives, by the linker: the program itself has no such hook. */
void __real_actual_apply(struct actual *actual, const struct step_result *result);
void __wrap_actual_apply(struct actual *actual, const struct step_result *result);
void __wrap_actual_apply(struct actual *actual, const struct step_result *result)
{
	if (result->kind == STEP_PUBLISH && result->error == 0)
		bench_published++;
	if (result->kind == STEP_UNPUBLISH && result->error == 0)
		bench_unpublished++;
	__real_actual_apply(actual, result);
}

/* ---- objects as text ---- */

static const char volume_format[] =
	"{\"apiVersion\":\"v1\",\"kind\":\"PersistentVolume\",\"metadata\":{\"name\":\"%s\"},"
	"\"spec\":{\"capacity\":{\"storage\":\"1Gi\"},\"accessModes\":[\"ReadWriteOnce\"],"
	"\"persistentVolumeReclaimPolicy\":\"Retain\",\"storageClassName\":\"\","
	"\"volumeMode\":\"Filesystem\",\"local\":{\"path\":\"%s/%s\"},"
	"\"claimRef\":{\"namespace\":\"default\",\"name\":\"%s\"%s},"
	"\"nodeAffinity\":{\"required\":{\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":"
	"\"kubernetes.io/hostname\",\"operator\":\"In\",\"values\":[\"bench\"]}]}]}}}%s}";

static const char claim_format[] =
	"{\"apiVersion\":\"v1\",\"kind\":\"PersistentVolumeClaim\",\"metadata\":{\"name\":\"%s\","
	"\"namespace\":\"default\",\"uid\":\"%s\"%s},\"spec\":{\"accessModes\":[\"ReadWriteOnce\"],"
	"\"storageClassName\":\"\",\"volumeMode\":\"Filesystem\",\"volumeName\":\"%s\","
	"\"resources\":{\"requests\":{\"storage\":\"1Gi\"}}}%s}";

static const char pod_format[] =
	"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"pod-%05u\","
	"\"namespace\":\"default\",\"uid\":\"%s\"},\"spec\":{\"nodeName\":\"bench\","
	"\"containers\":[{\"name\":\"main\",\"image\":\"none\",\"volumeMounts\":[{\"name\":"
	"\"data\",\"mountPath\":\"/data\"}]}],\"volumes\":[{\"name\":\"data\","
	"\"persistentVolumeClaim\":{\"claimName\":\"%s\"}}]}}";

const char *bench_object_json(const struct bench_place *place, enum bench_object kind,
			      unsigned int index, bool bound)
{
	static char text[2048];
	char uid[40], name[16], claim_uid[64] = "";

	bench_pod_uid(uid, index);
	bench_volume_name(name, index);
	if (bound)
		(void) snprintf(claim_uid, sizeof(claim_uid), ",\"uid\":\"%s\"", uid);
	if (kind == BENCH_VOLUME)
		(void) snprintf(text, sizeof(text), volume_format, name, place->sources, name, name,
				claim_uid, bound ? ",\"status\":{\"phase\":\"Bound\"}" : "");
	else if (kind == BENCH_CLAIM)
		(void) snprintf(text, sizeof(text), claim_format, name, uid,
				bound ? ",\"annotations\":{\"pv.kubernetes.io/bind-completed\":"
					"\"yes\"}"
				      : "",
				name,
				bound ? ",\"status\":{\"phase\":\"Bound\",\"accessModes\":"
					"[\"ReadWriteOnce\"],\"capacity\":{\"storage\":\"1Gi\"}}"
				      : "");
	else
		(void) snprintf(text, sizeof(text), pod_format, index, uid, name);
	return text;
}

/* ---- the store ---- */

struct filling {
	unsigned int left;
};

static void stored(void *userdata, int error, const struct object *result,
		   const struct failure *why)
{
	struct filling *filling = userdata;

	if (error < 0)
		bench_fail("cannot store an object: %s", why->text);
	filling->left--;
}

static void create(struct store *store, const struct object *object, struct filling *filling)
{
	int r = store_create(store, object, stored, filling);

	if (r < 0)
		bench_fail("cannot store an object: %s", strerror(-r));
	filling->left++;
	object_unref(object);
}

static double fill_store(const struct bench_place *place, unsigned int first, unsigned int count,
			 unsigned int kinds)
{
	char state_dir[BENCH_PATH_BYTES];
	struct filling filling = { 0 };
	struct failure why = { 0 };
	double parse_usec = 0;
	struct store *store;
	sd_event *event;

	bench_path(state_dir, place->directory, "state");
	(void) mkdir(state_dir, 0700);
	if (sd_event_new(&event) < 0 ||
	    store_open_embedded(event, store_open_begin(state_dir), &store, &why) < 0)
		bench_fail("cannot open the store: %s", why.text);
	for (unsigned int i = first; i < first + count; i++)
		for (unsigned int kind = 0; kind < BENCH_OBJECT_COUNT; kind++) {
			const char *json = bench_object_json(place, kind, i, true);
			const struct object *object;
			double begun = bench_now_usec();

			if (!(kinds & 1u << kind))
				continue;
			if (object_parse_json(json, strlen(json), &object, &why) < 0)
				bench_fail("%s: %s", why.text, json);
			parse_usec += bench_now_usec() - begun;
			create(store, object, &filling);
		}
	while (filling.left > 0)
		if (sd_event_run(event, UINT64_MAX) < 0)
			bench_fail("the loop failed");
	(void) store_free(store);
	sd_event_unref(event);
	return parse_usec;
}

/* In a process of its own, so that its memory is not the agent's. */
double bench_fill_store(const struct bench_place *place, unsigned int first, unsigned int count,
			unsigned int kinds)
{
	double parse_usec = 0;
	int ends[2], status;
	pid_t child;

	if (pipe2(ends, O_CLOEXEC) < 0)
		bench_fail("no pipe: %s", strerror(errno));
	child = fork();
	if (child == 0) {
		parse_usec = fill_store(place, first, count, kinds);
		_exit(write(ends[1], &parse_usec, sizeof(parse_usec)) < 0);
	}
	(void) close(ends[1]);
	if (child < 0 || read(ends[0], &parse_usec, sizeof(parse_usec)) != sizeof(parse_usec) ||
	    waitpid(child, &status, 0) != child || status != 0)
		bench_fail("the store cannot be filled");
	(void) close(ends[0]);
	return parse_usec;
}

/* ---- the agent's configuration ---- */

void bench_config(const struct bench_place *place, struct config *ret)
{
	static const char *const options[] = { "root-dir", "state-dir", "run-dir", "manifest-dir" };
	static const char *const directories[] = { "disk/root", "state", "run", "manifests" };
	char arguments[ARRAY_SIZE(options)][BENCH_PATH_BYTES + 32];
	char *argv[ARRAY_SIZE(options) + 5] = { (char *) "bench" };
	struct failure why = { 0 };
	int argc = 1;

	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		char path[BENCH_PATH_BYTES];

		bench_path(path, place->directory, "%s", directories[i]);
		(void) mkdir(path, 0750);
		(void) snprintf(arguments[i], sizeof(arguments[i]), "--%s=%s", options[i], path);
		argv[argc++] = arguments[i];
	}
	argv[argc++] = (char *) "--node-name=bench";
	argv[argc++] = (char *) "--log-level=warning";
	argv[argc++] = (char *) "--waits-max=20000";
	if (config_load(argc, argv, ret, &why) < 0)
		bench_fail("%s", why.text);
}
