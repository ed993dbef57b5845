/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sequence_wraps - see sequence_wraps.h
 *
 * Wrapped at link time: the code under test is as it is shipped.
 */
#include "sequence_wraps.h"

#include "sequence_world.h"

#include "agent/parts.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

#pragma GCC diagnostic ignored "-Wunused-parameter"

static char pool_stand_in;
struct worker_pool *const sequence_pool = (struct worker_pool *) &pool_stand_in;

/* ---- threads ---- */

static struct worker_job *first_done, **last_done = &first_done;

void __wrap_worker_submit(struct worker_pool *pool, struct worker_job *job);
void __wrap_worker_submit(struct worker_pool *pool, struct worker_job *job)
{
	job->run(job);
	job->next = NULL;
	*last_done = job;
	last_done = &job->next;
}

void sequence_wraps_run(void)
{
	while (first_done) {
		struct worker_job *job = first_done;

		first_done = job->next;
		if (!first_done)
			last_done = &first_done;
		job->done(job);
	}
}

void sequence_wraps_kill(void)
{
	first_done = NULL;
	last_done = &first_done;
}

/* ---- a kill before a call that changes files ---- */

static void count_call(void)
{
	if (world.calls_left > 0 && --world.calls_left == 0)
		siglongjmp(world.killed, 1);
}

#define KILLED_BEFORE(type, name, parameters, arguments)                                           \
	type __real_##name parameters;                                                             \
	type __wrap_##name parameters;                                                             \
	type __wrap_##name parameters                                                              \
	{                                                                                          \
		count_call();                                                                      \
		return __real_##name arguments;                                                    \
	}

KILLED_BEFORE(int, mkdirat, (int fd, const char *name, mode_t mode), (fd, name, mode))
KILLED_BEFORE(int, unlinkat, (int fd, const char *name, int flags), (fd, name, flags))
KILLED_BEFORE(int, renameat, (int from, const char *name, int to, const char *to_name),
	      (from, name, to, to_name))
KILLED_BEFORE(int, fchmod, (int fd, mode_t mode), (fd, mode))
KILLED_BEFORE(int, symlinkat, (const char *to, int fd, const char *name), (to, fd, name))
KILLED_BEFORE(int, move_mount,
	      (int from, const char *from_name, int to, const char *to_name, unsigned int flags),
	      (from, from_name, to, to_name, flags))

/* ---- devices that nothing is behind ---- */

/* What is bound is opened for its loop device, which there is none of. */
int __real_open_beneath(int root_fd, const char *path, int flags, enum path_policy policy,
			struct failure *reterr);
int __wrap_open_beneath(int root_fd, const char *path, int flags, enum path_policy policy,
			struct failure *reterr);
int __wrap_open_beneath(int root_fd, const char *path, int flags, enum path_policy policy,
			struct failure *reterr)
{
	int fd = __real_open_beneath(root_fd, path, flags, policy, reterr);

	return fd == -ENXIO || fd == -EACCES
		       ? __real_open_beneath(root_fd, path, O_PATH, policy, reterr)
		       : fd;
}

int __wrap_loop_device_attach(int file_fd, const char *file_path, char **ret_path,
			      struct failure *reterr);
int __wrap_loop_device_attach(int file_fd, const char *file_path, char **ret_path,
			      struct failure *reterr)
{
	*ret_path = strdup("/dev/none");
	return *ret_path ? 0 : -ENOMEM;
}

/* ---- boxes that are not looked at ---- */

#define PASSED_OVER(name, parameters)                                                              \
	void __wrap_##name parameters;                                                             \
	void __wrap_##name parameters                                                              \
	{                                                                                          \
	}

#define ANSWERED(type, name, parameters, answer)                                                   \
	type __wrap_##name parameters;                                                             \
	type __wrap_##name parameters                                                              \
	{                                                                                          \
		return answer;                                                                     \
	}

ANSWERED(int, loop_device_detach, (int file_fd, const char *file_path, struct failure *reterr), 0)
ANSWERED(bool, drift_passes, (void *drift, const struct step *step), true)
PASSED_OVER(drift_step_ended, (void *drift, const struct operation_ended *ended))
PASSED_OVER(drift_forget, (void *drift, const char *unique_name, const char *pod_uid))
PASSED_OVER(mount_waiters_pod_changed, (struct waits * waits, const char *pod_uid))
ANSWERED(bool, subpaths_pass, (void *subpaths, const struct step *step), true)
ANSWERED(bool, unstage_gate_passes, (void *gate, const struct step *step), true)
PASSED_OVER(unstage_gate_search, (struct unstage_gate * gate))
ANSWERED(enum unmount_manner, stuck_policy_manner,
	 (struct inuse * inuse, const struct step *step, uint64_t now_usec), 0)
PASSED_OVER(walks_expect, (struct walks * walks))
PASSED_OVER(busy_watch_search, (struct busy_watch * watch))
PASSED_OVER(foreign_volumes_settled, (struct foreign_volumes * foreign_volumes))
PASSED_OVER(agent_check_drained, (struct agent * agent))
PASSED_OVER(volume_events_note, (void *events, const struct operation_ended *ended))
PASSED_OVER(step_log_note, (void *log, const struct operation_ended *ended))
PASSED_OVER(metrics_note, (void *metrics, const struct operation_ended *ended))
PASSED_OVER(volume_users_note, (void *inuse, const struct operation_ended *ended))
PASSED_OVER(events_record, (struct events * events, const struct object *about, const char *type,
			    const char *reason, const char *text, uint64_t now_usec))
PASSED_OVER(log_message, (int level, const char *format, ...))
PASSED_OVER(log_about, (int level, const struct log_subject *subject, const char *format, ...))

/* ---- registration: the test says when a driver is there ---- */

struct csi_registration_options sequence_registration;

int __wrap_csi_registration_new(const struct csi_registration_options *options,
				struct csi_registration **ret, struct failure *reterr);
int __wrap_csi_registration_new(const struct csi_registration_options *options,
				struct csi_registration **ret, struct failure *reterr)
{
	sequence_registration = *options;
	*ret = NULL;
	return 0;
}

const struct csi_driver *__wrap_csi_drivers_find(const struct csi_drivers *drivers,
						 const char *name);
const struct csi_driver *__wrap_csi_drivers_find(const struct csi_drivers *drivers,
						 const char *name)
{
	static const struct csi_driver driver = { .name = "d" };

	return model.is_there ? &driver : NULL;
}
