/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_world - one CSI volume and a driver with scripted answers; see csi_world.h
 */
#include "csi_world.h"

#include "base/cleanup.h"
#include "message_text.h"
#include "tests/unit/object/object_text.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

struct csi_world csi_world;

/* ---- objects ---- */

static const struct object *make_object(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

static const struct object *make_object(const char *format, ...)
{
	char yaml[4096];
	va_list arguments;

	va_start(arguments, format);
	(void) vsnprintf(yaml, sizeof(yaml), format, arguments);
	va_end(arguments);
	return object_of(yaml);
}

static void replace(const struct object **object, const struct object *with)
{
	object_unref(*object);
	*object = with;
}

void csi_world_volume(const char *more_csi, const char *more_spec)
{
	replace(&csi_world.pv, make_object("apiVersion: v1\nkind: PersistentVolume\n"
					   "metadata: {name: pv1}\nspec:\n"
					   "  capacity: {storage: 1Gi}\n%s"
					   "  csi: {driver: d, volumeHandle: vol-1%s}\n",
					   more_spec, more_csi));
	csi_world.spec = (struct volume_spec){ .name = "pv1",
					       .pv = csi_world.pv,
					       .block = csi_world.pv->persistent_volume->mode ==
							VOLUME_MODE_BLOCK };
	csi_world.request.volume_name = "pv1";
	(void) snprintf(csi_world.unique_name, sizeof(csi_world.unique_name),
			"kubernetes.io/csi/d^vol-1");
}

static void make_pod(const char *volume, const char *group)
{
	replace(&csi_world.pod,
		make_object(
			"apiVersion: v1\nkind: Pod\nmetadata: {namespace: ns, name: p, "
			"uid: u1}\nspec:\n  serviceAccountName: acc\n%s"
			"  containers: [{name: c, image: i}]\n  volumes:\n  - name: v\n    %s\n",
			group, volume));
	csi_world.request.pod = csi_world.pod;
}

void csi_world_inline(const char *more_csi)
{
	char volume[512];

	(void) snprintf(volume, sizeof(volume), "csi: {driver: d%s}", more_csi);
	make_pod(volume, "");
	csi_world.spec = (struct volume_spec){ .name = "v",
					       .pod = csi_world.pod,
					       .source = &csi_world.pod->pod->volumes[0] };
	csi_world.spec.read_only = csi_world.spec.source->csi->read_only;
	csi_world.request.volume_name = "v";
	(void) snprintf(csi_world.unique_name, sizeof(csi_world.unique_name),
			"kubernetes.io/csi/u1-v");
}

void csi_world_fs_group(void)
{
	char group[64];

	(void) snprintf(group, sizeof(group), "  securityContext: {fsGroup: %lu}\n",
			(unsigned long) getgid());
	make_pod("emptyDir: {}", group);
}

void csi_world_security(const char *context)
{
	char line[256];

	(void) snprintf(line, sizeof(line), "  securityContext: %s\n", context);
	make_pod("emptyDir: {}", line);
}

void csi_world_claim(const char *size)
{
	replace(&csi_world.claim, make_object("apiVersion: v1\nkind: PersistentVolumeClaim\n"
					      "metadata: {namespace: ns, name: c}\nspec:\n"
					      "  accessModes: [ReadWriteOnce]\n  volumeName: pv1\n"
					      "  resources: {requests: {storage: 1Gi}}\n"
					      "status: {phase: Bound, capacity: {storage: %s}}\n",
					      size));
	csi_world.request.claim = csi_world.claim;
}

void csi_world_driver(const char *spec)
{
	replace(&csi_world.driver, make_object("apiVersion: storage.k8s.io/v1\nkind: CSIDriver\n"
					       "metadata: {name: d}\nspec: %s\n",
					       spec));
}

void csi_world_attach(const char *status)
{
	replace(&csi_world.attachment,
		make_object("apiVersion: storage.k8s.io/v1\nkind: VolumeAttachment\nmetadata:\n"
			    "  name: csi-dd56c8ae9f1f8dd1a80cfb1f18c6c38b35f6a9cac3bebd1325ddc6868"
			    "faaf9cf\nspec: {attacher: d, nodeName: 'n', source: "
			    "{persistentVolumeName: pv1}}\nstatus: %s\n",
			    status));
}

static const struct object *find_object(void *userdata, const struct object_reference *reference)
{
	const struct object *all[] = { csi_world.driver, csi_world.attachment, csi_world.secret,
				       csi_world.account };

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (all[i] && all[i]->kind == reference->kind &&
		    strcmp(all[i]->meta.name, reference->name) == 0 &&
		    strcmp(all[i]->meta.name_space, reference->name_space) == 0)
			return all[i];
	return NULL;
}

/* ---- the directory ---- */

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

static void absolute(const char *path, char ret[512])
{
	(void) snprintf(ret, 512, "%s/%s", csi_world.root, path);
}

bool csi_world_has(const char *path)
{
	struct stat st;
	char name[512];

	absolute(path, name);
	return lstat(name, &st) == 0;
}

void csi_world_make(const char *path)
{
	char name[512];

	absolute(path, name);
	for (char *slash = strchr(name + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		assert_true(mkdir(name, 0750) == 0 || errno == EEXIST);
		*slash = '/';
	}
	assert_true(mkdir(name, 0750) == 0 || errno == EEXIST);
}

const char *csi_world_read(const char *path)
{
	static char bytes[4096];
	char name[512];
	cleanup_fclose FILE *file = NULL;

	absolute(path, name);
	file = fopen(name, "re");
	bytes[file ? fread(bytes, 1, sizeof(bytes) - 1, file) : 0] = '\0';
	return bytes;
}

/* ---- the driver ---- */

/* The root directory has another name each time. */
static void note(const char *text)
{
	char *diary = csi_world.diary + strlen(csi_world.diary);
	size_t root = strlen(csi_world.root);

	while (*text) {
		assert_true(diary < csi_world.diary + sizeof(csi_world.diary) - 2);
		if (strncmp(text, csi_world.root, root) == 0) {
			*diary++ = 'R';
			text += root;
		} else {
			*diary++ = *text++;
		}
	}
	*diary = '\0';
}

static void act_publish(const char *path)
{
	if (csi_world.target == TARGET_DIRECTORY)
		assert_true(mkdir(path, 0755) == 0 || errno == EEXIST);
	else if (csi_world.target == TARGET_LINK)
		assert_int_equal(symlink("/", path), 0);
	else if (csi_world.target == TARGET_FILE)
		assert_true(close(open(path, O_CREAT | O_CLOEXEC, 0600)) == 0);
}

static void act(const ProtobufCMessage *message)
{
	if (message->descriptor == &csi__v1__node_publish_volume_request__descriptor)
		act_publish(((const Csi__V1__NodePublishVolumeRequest *) message)->target_path);
	if (message->descriptor == &csi__v1__node_unpublish_volume_request__descriptor &&
	    !csi_world.keeps_target)
		(void) remove(((const Csi__V1__NodeUnpublishVolumeRequest *) message)->target_path);
}

int __wrap_csi_drivers_call(struct csi_drivers *drivers, const struct csi_call_request *request,
			    struct csi_call **ret, struct failure *reterr);
int __wrap_csi_drivers_call(struct csi_drivers *drivers, const struct csi_call_request *request,
			    struct csi_call **ret, struct failure *reterr)
{
	char text[4096] = "";

	assert_ptr_equal(drivers, csi_world.host.csi_drivers);
	assert_string_equal(request->driver, "d");
	assert_string_equal(request->about, csi_world.unique_name);
	assert_false(csi_world.is_pending);
	csi_world.calls++;
	csi_world.timeouts[request->method] = request->timeout_usec;
	if (csi_world.is_gone)
		return failed_plain(reterr, -ENOTCONN, "driver 'd' is not registered");
	if (request->method != CSI_NODE_GET_CAPABILITIES) {
		(void) snprintf(text, sizeof(text), "%s%s", *csi_world.diary ? "\n" : "",
				csi_method_row(request->method)->name);
		message_text(request->message, text, sizeof(text));
		note(text);
	}
	if (csi_world.answers[request->method].code == GRPC_OK)
		act(request->message);
	csi_world.pending = *request;
	csi_world.is_pending = true;
	*ret = (struct csi_call *) &csi_world;
	return 0;
}

struct csi_call *__wrap_csi_call_cancel(struct csi_call *call);
struct csi_call *__wrap_csi_call_cancel(struct csi_call *call)
{
	if (call) {
		csi_world.cancels++;
		csi_world.is_pending = false;
	}
	return NULL;
}

static const ProtobufCMessage *capabilities_reply(void)
{
	static Csi__V1__NodeServiceCapability__RPC rpcs[32];
	static Csi__V1__NodeServiceCapability capabilities[32], *pointers[32];
	static Csi__V1__NodeGetCapabilitiesResponse reply;

	csi__v1__node_get_capabilities_response__init(&reply);
	reply.capabilities = pointers;
	for (unsigned int bit = 0; bit < 32; bit++) {
		size_t at = reply.n_capabilities;

		if (!(csi_world.capabilities & (1U << bit)))
			continue;
		csi__v1__node_service_capability__rpc__init(&rpcs[at]);
		csi__v1__node_service_capability__init(&capabilities[at]);
		rpcs[at].type = (Csi__V1__NodeServiceCapability__RPC__Type) bit;
		capabilities[at].type_case = CSI__V1__NODE_SERVICE_CAPABILITY__TYPE_RPC;
		capabilities[at].rpc = &rpcs[at];
		pointers[reply.n_capabilities++] = &capabilities[at];
	}
	return &reply.base;
}

/* The answer to the call that waits; it may lead to another one. */
static void answer(void)
{
	const struct csi_call_request request = csi_world.pending;
	struct csi_reply reply = {
		.status = { .code = csi_world.answers[request.method].code,
			    .was_sent = !csi_world.answers[request.method].not_sent,
			    .from_server = true },
		.message = request.method == CSI_NODE_GET_VOLUME_STATS ? csi_world.stats
								       : capabilities_reply(),
	};

	(void) snprintf(reply.status.text, sizeof(reply.status.text), "told so");
	csi_world.is_pending = false;
	request.done(request.userdata, &reply);
}

void csi_world_answer(void)
{
	while (csi_world.is_pending)
		answer();
}

/* ---- lists of stages ---- */

struct ending {
	bool is_over;
	int result;
};

static void finish(void *token, int result)
{
	struct ending *ending = token;

	assert_false(ending->is_over);
	*ending = (struct ending){ true, result };
}

static int run_stage(const struct stage *stage, void *data, struct stage_report *report)
{
	struct ending ending = { .is_over = false };
	int r;

	if (stage->place != STAGE_LOOP)
		return stage->run(data, report);
	r = stage->start(data, report, finish, &ending);
	assert_false(ending.is_over); /* never from inside */
	if (r < 0)
		return r;
	while (!ending.is_over) {
		assert_true(csi_world.is_pending);
		answer();
	}
	assert_false(csi_world.is_pending);
	return ending.result;
}

struct csi_ran csi_world_run(stage_list_fn *slot)
{
	struct csi_ran ran = { .last_stage = "" };
	struct stage_list list = { .count = 0 };
	size_t at = 0;

	csi_world.request.unique_name = csi_world.unique_name;
	assert_int_equal(slot(&csi_world.request, &list, &ran.report.failure), 0);
	while (ran.result == STAGE_NEXT && at < list.count) {
		ran.last_stage = list.stages[at].name;
		ran.report.failure.error = 0;
		ran.result = run_stage(&list.stages[at++], list.data, &ran.report);
	}
	if (ran.result < 0)
		assert_int_equal(ran.report.failure.error, ran.result);
	stage_list_done(&list);
	return ran;
}

struct csi_ran csi_world_publish(void)
{
	return csi_world_run(csi_world.plugin->new_mounter);
}

struct csi_ran csi_world_unpublish(void)
{
	struct csi_ran ran;
	const struct object_finder *objects = csi_world.request.objects;

	csi_world.request.objects = NULL;
	ran = csi_world_run(csi_world.plugin->new_unmounter);
	csi_world.request.objects = objects;
	return ran;
}

void csi_world_assert_volume(const char *directory, bool data, bool target)
{
	char path[256];

	(void) snprintf(path, sizeof(path), "%s/vol_data.json", directory);
	assert_int_equal(csi_world_has(path), data);
	(void) snprintf(path, sizeof(path), "%s/mount", directory);
	assert_int_equal(csi_world_has(path), target);
}

void csi_world_run_and_leave(stage_list_fn *slot)
{
	struct ending ending = { .is_over = false };
	struct stage_report report = { .device_path = "" };
	struct stage_list list = { .count = 0 };
	size_t at = 0;

	csi_world.request.unique_name = csi_world.unique_name;
	assert_int_equal(slot(&csi_world.request, &list, NULL), 0);
	while (list.stages[at].place != STAGE_LOOP)
		assert_int_equal(list.stages[at++].run(list.data, &report), STAGE_NEXT);
	assert_int_equal(list.stages[at].start(list.data, &report, finish, &ending), 0);
	stage_list_done(&list);
	assert_false(ending.is_over);
}

/* ---- the world ---- */

int csi_world_setup(void **state)
{
	static const struct object_finder finder = { .find = find_object };

	csi_world =
		(struct csi_world){ .root = "/tmp/csi-world-XXXXXX", .capabilities = CAN_STAGE };
	if (!mkdtemp(csi_world.root))
		return -1;
	csi_world.plugin = plugin_by_name("kubernetes.io/csi");
	csi_world.host = (struct plugin_host){
		.root_dir = csi_world.root,
		.root_fd = open(csi_world.root, O_PATH | O_DIRECTORY | O_CLOEXEC),
		.node_name = "n",
		.csi_drivers = (struct csi_drivers *) &csi_world,
	};
	csi_world.request = (struct volume_request){ .host = &csi_world.host,
						     .plugin = csi_world.plugin,
						     .spec = &csi_world.spec,
						     .pod_uid = "u1",
						     .device_path = "",
						     .device_mount_path = "",
						     .objects = &finder };
	make_pod("emptyDir: {}", "");
	csi_world_volume("", "  accessModes: [ReadWriteOnce]\n");
	csi_world_driver("{attachRequired: false}");
	return csi_world.host.root_fd < 0 ? -1 : 0;
}

int csi_world_teardown(void **state)
{
	replace(&csi_world.pv, NULL);
	replace(&csi_world.pod, NULL);
	replace(&csi_world.driver, NULL);
	replace(&csi_world.attachment, NULL);
	replace(&csi_world.secret, NULL);
	replace(&csi_world.account, NULL);
	replace(&csi_world.claim, NULL);
	(void) close(csi_world.host.root_fd);
	return nftw(csi_world.root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}
