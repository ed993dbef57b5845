/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_world - one CSI volume, its objects, a driver with scripted answers, and a real directory
 *
 * A test that links this wraps csi_drivers_call and csi_call_cancel. Each call is written into a
 * diary as "Method{fields}", with the root directory as "R"; the answer comes after the stage's
 * start() returned, as it does in life. Needs no root.
 */
#pragma once

#include "csi/csi.pb-c.h"
#include "csi/csi_drivers.h"
#include "plugins/plugin.h"

enum {
	CAN_STAGE = 1 << 1,
	CAN_STATS = 1 << 2,
	CAN_EXPAND = 1 << 3,
	CAN_SINGLE_NODE = 1 << 5,
	CAN_GROUP = 1 << 6,
};

#define VOL_1_HASH "d2e8363faaac7ae76def3b14091d8eb5755f6b92e9531627aeec833a8731cc49" /* vol-1 */
#define STAGING    "plugins/kubernetes.io/csi/d/" VOL_1_HASH
#define TARGET     "pods/u1/volumes/kubernetes.io~csi/pv1"

/* What the driver puts at the target of a publish. */
enum target { TARGET_DIRECTORY, TARGET_NOTHING, TARGET_LINK, TARGET_FILE };

struct csi_world {
	char root[64];
	struct plugin_host host;
	const struct volume_plugin *plugin;
	const struct object *pv, *pod, *driver, *attachment, *secret, *account,
		*claim; /* NULL: missing */
	struct volume_spec spec;
	struct volume_request request;
	char unique_name[256];

	uint32_t capabilities;
	struct {
		enum grpc_code code;
		bool not_sent;
	} answers[CSI_METHOD_COUNT];
	bool is_gone; /* not registered */
	enum target target;
	bool keeps_target; /* an unpublish leaves it */
	bool keeps_staging_full;
	uint64_t timeouts[CSI_METHOD_COUNT];
	char diary[8192];
	unsigned int calls, cancels;

	const ProtobufCMessage *stats; /* what NodeGetVolumeStats answers */

	/* The call that waits for its answer. */
	struct csi_call_request pending;
	bool is_pending;
};

extern struct csi_world csi_world;

int csi_world_setup(void **state);
int csi_world_teardown(void **state);

/* A PersistentVolume by the lines of its spec behind "csi: {driver: d, volumeHandle: vol-1". */
void csi_world_volume(const char *more_csi, const char *more_spec);
/* The pod's volume "v" itself is one of the driver. */
void csi_world_inline(const char *more_csi);
void csi_world_driver(const char *spec);
void csi_world_attach(const char *status);
void csi_world_fs_group(void);
/* The pod's securityContext, as flow YAML. */
void csi_world_security(const char *context);
/* A claim whose volume has this size on the node, as its status says. */
void csi_world_claim(const char *size);

/* What a list came to. */
struct csi_ran {
	int result;
	const char *last_stage;
	struct stage_report report;
};
struct csi_ran csi_world_run(stage_list_fn *slot);
/* The same, up to a stage whose answer does not come before the list is freed. */
void csi_world_run_and_leave(stage_list_fn *slot);
/* SetUpAt, and TearDownAt, which sees no objects. */
struct csi_ran csi_world_publish(void);
struct csi_ran csi_world_unpublish(void);

/* Answers the call that waits, and those that follow from it. */
void csi_world_answer(void);

/* Below the root directory. */
bool csi_world_has(const char *path);
void csi_world_make(const char *path);
/* A volume's directory: its file, and what is to be mounted there. */
void csi_world_assert_volume(const char *directory, bool data, bool target);
/* A file's bytes, in a buffer that the next call uses again; "" there is none. */
const char *csi_world_read(const char *path);

#define assert_calls(text) assert_string_equal(csi_world.diary, text)
