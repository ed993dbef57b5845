/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec - volumes of executable plugins: a program of root's in /etc/podvol/plugins, one process for
 * each call
 *
 * A volume is one for all pods of the node, by the plugin's name and a handle: the
 * PersistentVolume's name, or pod and volume where a pod writes it out. Its unique name holds both,
 * so a teardown needs nothing else. What a plugin mounts podvold takes over
 * (mount/filesystem/plugin_call.h).
 */
#pragma once

#include "mount/filesystem/plugin_call.h"
#include "plugins/exec_class.h"
#include "plugins/plugin.h"

#define EXEC_PLUGIN_NAME  "podvol.io/exec"
#define EXEC_DIRECTORY    "/etc/podvol/plugins"
#define EXEC_BASE         "plugins/podvol.io~exec"
#define EXEC_STAGING_BASE EXEC_BASE "/mounts"

enum {
	EXEC_NAME_BYTES_MAX = 63,
	EXEC_SETTINGS_BYTES_MAX = 16 * 1024,
	EXEC_LIMIT_SECONDS = 60, /* of a call, where its settings say nothing */
	EXEC_LIMIT_SECONDS_MAX = 3600,
	EXEC_STATS_SECONDS = 5, /* of a call for statistics: at most */
};

/* ---- exec_program.c ---- */

/* What root grants a plugin in EXEC_DIRECTORY/NAME.json. */
struct exec_program {
	char *path;
	uint64_t capabilities;
	uint64_t limit_usec;
	bool allows_inline; /* in a pod, whose author chooses its options */
	bool gives_stats;   /* a process each time that they are asked for */
	unsigned int slots; /* for StorageClasses: a bit for each enum exec_slot */
};

/* What a slot's call is called, in requests and in settings. */
const char *exec_slot_name(enum exec_slot slot);

/* "luks" of "podvol.io/luks"; NULL: no name of a plugin. Borrowed. */
const char *exec_name_of(const char *driver);

/**
 * exec_program_find - the program of a name, when none but root can change it [worker]
 * @ret: to be given to exec_program_done(); written on success only
 *
 * Return: 0; -ENOENT; -EPERM it or a directory of its path is not root's alone; -EINVAL its
 * settings cannot be understood; else as the calls.
 */
int exec_program_find(const char *name, struct exec_program *ret, struct failure *reterr);
void exec_program_done(struct exec_program *program);

/* ---- exec_step.c ---- */

/* What every list of stages here has; copies. */
struct exec_step {
	const struct plugin_host *host;
	char *unique_name, *name, *handle, *pod_uid; /* pod_uid: "" of a stage */
	/* Relative; target_path NULL of a stage, both of a call for a StorageClass. */
	char *staging_path, *target_path;
	struct cJSON *facts;  /* members that all requests of a set-up have; NULL of a teardown */
	int64_t expand_bytes; /* to make it so large; 0: it is, or nothing is set up */
	bool is_inline, read_only;
};

int exec_step_init(struct exec_step *step, const struct volume_request *request, bool sets_up,
		   struct failure *reterr);
void exec_step_done(struct exec_step *step);
/* A list of stages whose data is such a step and no more. */
int exec_step_begin(const struct volume_request *request, const struct stage *stages, size_t count,
		    bool sets_up, struct stage_list *ret, struct failure *reterr);

enum { EXEC_DONE = 0, EXEC_UNSUPPORTED = 1 };

struct exec_call {
	const char *name;           /* "publish" */
	const struct place *target; /* what it may mount on; NULL: nothing */
	int *ret_mount_fd;         /* with EXEC_DONE what it mounted, else -EBADF; NULL: unwanted */
	struct cJSON **ret_answer; /* with EXEC_DONE, for json_free(); NULL: unwanted */
	unsigned int slot; /* the bit that its settings need, else EXEC_UNSUPPORTED; 0: none */
};

/**
 * exec_step_invoke - one call of the step's plugin [worker]
 *
 * A plugin that says "failed" is final; one that is killed, or whose answer is none, uncertain;
 * what keeps it from running at all changes nothing.
 *
 * Return: EXEC_DONE, EXEC_UNSUPPORTED; a negative errno with @report's failure and class.
 */
int exec_step_invoke(const struct exec_step *step, const struct exec_call *call,
		     struct stage_report *report);
/* The same of a call that mounts nothing. */
int exec_step_call(const struct exec_step *step, const char *name, struct stage_report *report);

/* Of one thing that calls exclude each other by, across podvold's restarts. Return: a descriptor
 * that holds it; -EBUSY; else as the calls. [worker] */
int exec_step_lock(const struct exec_step *step, uint64_t key, bool is_shared,
		   struct failure *reterr);

/* Is there such a plugin, may the volume be of it, and does it say that it is ready? A stage. */
int exec_step_probe(void *data, struct stage_report *report);

/* The place of what is mounted, its directory made. @ret_fd: O_PATH, -EBADF where something is
 * mounted already, which the report then has. 0, else as place_make(). [worker] */
int exec_step_make_place(const struct exec_step *step, const char *path, struct place *ret,
			 int *ret_fd, struct stage_report *report);

/* Unmount and remove what is at a path; what is missing is fine. [worker] */
int exec_step_unmount(const struct exec_step *step, const char *path, struct stage_report *report);

/* Has a plugin make a published volume larger, where that is due. A stage. */
int exec_step_expand(void *data, struct stage_report *report);

/* Slot ask_metrics: -EOPNOTSUPP unless its settings say that it gives them. */
int exec_request_metrics(const struct volume_request *request, struct volume_metrics *ret,
			 struct failure *reterr);

/* ---- exec_device.c, exec_mounter.c ---- */

stage_list_fn exec_new_device_mounter, exec_new_device_unmounter, exec_new_mounter,
	exec_new_unmounter;

/* ---- exec_life.c: the life of one volume, to find out what its plugin does wrong ---- */

/* Once for each call and for each thing that is wrong. @text: borrowed. */
typedef void exec_life_fn(void *userdata, bool is_wrong, const char *call, const char *text);

/**
 * exec_life_run - probe, stage, publish, stats, expand, unpublish, unstage [blocks]; before and
 * after it the slots for StorageClasses that its settings grant
 * @request: as for a set-up of a PersistentVolume's volume; its host's root directory is used by
 *           nothing else, in a mount namespace of the caller's
 *
 * What sets up or takes down is called twice, as after a kill of podvold. The life goes on to its
 * end after a failure, so that nothing is left.
 *
 * Return: how many things are wrong; a negative errno where the life could not begin.
 */
int exec_life_run(const struct volume_request *request, exec_life_fn *say, void *userdata,
		  struct failure *reterr);
