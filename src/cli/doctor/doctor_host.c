/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor_host - the node: kernel, system calls, mount propagation, capabilities, helper programs,
 * quotas, other agents
 *
 * Calls are tried with arguments that cannot succeed: the error says whether the kernel has them
 * and a filter lets them through. Mounts and capabilities are the daemon's, where it is seen.
 */
#include "cli/doctor/doctor.h"

#include "base/cleanup.h"
#include "base/directory.h"
#include "base/syscalls.h"

#include <inttypes.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

static const unsigned int KERNEL_MIN[2] = { 5, 12 };

static void check_kernel(struct doctor *doctor)
{
	struct utsname name;
	unsigned int major = 0, minor = 0;
	bool is_old;

	if (uname(&name) < 0 || sscanf(name.release, "%u.%u", &major, &minor) != 2)
		return;
	is_old = major < KERNEL_MIN[0] || (major == KERNEL_MIN[0] && minor < KERNEL_MIN[1]);
	doctor_found(doctor, is_old ? HEALTH_FAILED : HEALTH_OK, "kernel",
		     is_old ? "boot a newer kernel" : NULL, "Linux %s; 5.12 or later is needed",
		     name.release);
}

/* ---- system calls ---- */

enum { NR_STATMOUNT = 457 /* the same everywhere; older headers lack it */ };

static void check_calls(struct doctor *doctor)
{
	static const struct {
		const char *name;
		long number;
		enum health health;
		const char *without;
	} rows[] = {
		{ "open_tree", SYS_open_tree, HEALTH_WARNING, "mounts are made by mount(2)" },
		{ "mount_setattr", SYS_mount_setattr, HEALTH_WARNING,
		  "volumes cannot be id-mapped for pods with user namespaces" },
		{ "openat2", SYS_openat2, HEALTH_WARNING,
		  "paths are opened one component after the other" },
		{ "pidfd_open", SYS_pidfd_open, HEALTH_WARNING, "holds cannot follow processes" },
		{ "quotactl_fd", SYS_quotactl_fd, HEALTH_WARNING,
		  "sizes cannot be enforced by project quotas" },
		{ "statmount", NR_STATMOUNT, HEALTH_OK, "the mount table is read as text" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		bool is_absent = !syscall_is_there(rows[i].number);

		if (is_absent && rows[i].health != HEALTH_OK)
			doctor_found(
				doctor, rows[i].health, "calls",
				"use a newer kernel, or allow the call in the service's filter",
				"%s is not there: %s", rows[i].name, rows[i].without);
		else
			doctor_found(doctor, HEALTH_OK, "calls", NULL, "%s%s%s", rows[i].name,
				     is_absent ? " is not there: " : "",
				     is_absent ? rows[i].without : "");
	}
}

/* ---- mounts ---- */

static FILE *open_proc(pid_t pid, const char *file)
{
	char path[64];

	if (pid > 0)
		(void) snprintf(path, sizeof(path), "/proc/%d/%s", (int) pid, file);
	else
		(void) snprintf(path, sizeof(path), "/proc/self/%s", file);
	return fopen(path, "re");
}

static bool is_below(const char *path, const char *top)
{
	size_t length = strlen(top);

	return strncmp(path, top, length) == 0 &&
	       (length == 1 || path[length] == '/' || path[length] == '\0');
}

/* Of the mount that a path lies on. */
struct place_mount {
	char point[4096], fields[512], super_options[1024], type[64];
};

/* "36 35 98:0 / /mnt rw,noatime shared:1 - ext4 /dev/sda rw,errors=continue" */
static bool find_mount(pid_t pid, const char *path, struct place_mount *ret)
{
	FILE *file = open_proc(pid, "mountinfo");
	struct place_mount mount;
	char *line = NULL;
	size_t size = 0;

	ret->point[0] = '\0';
	while (file && getline(&line, &size, file) > 0) {
		char *rest = strstr(line, " - ");

		if (!rest || sscanf(line, "%*d %*d %*s %*s %4095s %511[^\n]", mount.point,
				    mount.fields) != 2)
			continue;
		if (sscanf(rest, " - %63s %*s %1023s", mount.type, mount.super_options) != 2)
			continue;
		/* The topmost of several at one place is the last. */
		if (is_below(path, mount.point) && strlen(mount.point) >= strlen(ret->point))
			*ret = mount;
	}
	free(line);
	if (file)
		(void) fclose(file);
	return ret->point[0] != '\0';
}

static void check_mounts(struct doctor *doctor)
{
	struct place_mount mount;
	char remedy[4200];
	bool is_shared, has_quota;

	if (!find_mount(doctor->daemon, doctor->root_dir, &mount)) {
		doctor_found(doctor, HEALTH_WARNING, "propagation", "run this as root",
			     "the mounts of podvold cannot be read");
		return;
	}
	is_shared = strstr(mount.fields, "shared:") != NULL;
	(void) snprintf(remedy, sizeof(remedy), "mount --make-rshared %s", mount.point);
	doctor_found(doctor, is_shared ? HEALTH_OK : HEALTH_WARNING, "propagation",
		     is_shared ? NULL : remedy, "'%s', below which '%s' lies, is %s", mount.point,
		     doctor->root_dir,
		     is_shared ? "shared"
			       : "private: other mount namespaces do not see new volumes");
	has_quota = strstr(mount.super_options, "prjquota") || strcmp(mount.type, "btrfs") == 0;
	doctor_found(doctor, HEALTH_OK, "quota", NULL, "%s at '%s' %s", mount.type, mount.point,
		     has_quota ? "can enforce sizes"
			       : "enforces no sizes: a class with quotas needs prjquota or btrfs");
}

/* ---- capabilities ---- */

/* What podvold works without; it does not start without the others. */
static void check_capabilities(struct doctor *doctor)
{
	static const struct {
		unsigned int bit;
		const char *name, *without;
	} rows[] = {
		{ CAP_SYS_RESOURCE, "CAP_SYS_RESOURCE", "ext4 images do not grow while mounted" },
	};
	FILE *file = doctor->daemon > 0 ? open_proc(doctor->daemon, "status") : NULL;
	uint64_t effective = 0;
	bool known = false;
	char line[256];

	while (file && !known && fgets(line, sizeof(line), file))
		known = sscanf(line, "CapEff: %" SCNx64, &effective) == 1;
	if (file)
		(void) fclose(file);
	if (!known)
		return;
	doctor_found(doctor, HEALTH_OK, "capabilities", NULL, "podvold runs with all it needs");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (!(effective >> rows[i].bit & 1))
			doctor_found(doctor, HEALTH_WARNING, "capabilities",
				     "add it to CapabilityBoundingSet= of podvol.service",
				     "%s is missing: %s", rows[i].name, rows[i].without);
}

/* ---- programs ---- */

static bool has_program(const char *name)
{
	static const char *const directories[] = { "/usr/sbin", "/sbin", "/usr/bin", "/bin" };
	char path[256];

	for (size_t i = 0; i < ARRAY_SIZE(directories); i++) {
		(void) snprintf(path, sizeof(path), "%s/%s", directories[i], name);
		if (access(path, X_OK) == 0)
			return true;
	}
	return false;
}

static void check_programs(struct doctor *doctor)
{
	static const struct {
		const char *name, *remedy;
	} rows[] = {
		{ "mkfs.ext4", "install e2fsprogs to format volumes with ext4" },
		{ "fsck", "install util-linux to check file systems before they are mounted" },
		{ "fsck.ext4", "install e2fsprogs to check ext4 before it is mounted" },
		{ "mkfs.xfs", "install xfsprogs to format volumes with xfs" },
		{ "mount.nfs", "install nfs-common or nfs-utils to mount NFS volumes" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		bool is_there = has_program(rows[i].name);

		doctor_found(doctor, is_there ? HEALTH_OK : HEALTH_WARNING, "helpers",
			     is_there ? NULL : rows[i].remedy, "%s is %s", rows[i].name,
			     is_there ? "installed" : "missing");
	}
}

/* ---- other agents ---- */

static void check_agent(struct doctor *doctor, pid_t pid, size_t *count)
{
	FILE *file = open_proc(pid, "comm");
	char name[32] = "";

	if (file && fgets(name, sizeof(name), file) && strcmp(name, "kubelet\n") == 0) {
		(*count)++;
		doctor_found(doctor, HEALTH_WARNING, "agents",
			     "end it, or give podvold another --root-dir",
			     "kubelet runs as process %d: two agents on one root directory "
			     "unmount each other's volumes",
			     (int) pid);
	}
	if (file)
		(void) fclose(file);
}

static void check_agents(struct doctor *doctor)
{
	cleanup_closedir DIR *proc = opendir("/proc");
	const struct dirent *entry;
	size_t count = 0;

	while (proc && directory_next(proc, &entry) > 0) {
		char *end;
		long pid = strtol(entry->d_name, &end, 10);

		if (*end == '\0' && pid > 0)
			check_agent(doctor, (pid_t) pid, &count);
	}
	if (proc && count == 0)
		doctor_found(doctor, HEALTH_OK, "agents", NULL, "no kubelet runs here");
}

void doctor_check_host(struct doctor *doctor)
{
	check_kernel(doctor);
	check_calls(doctor);
	check_mounts(doctor);
	check_capabilities(doctor);
	check_programs(doctor);
	check_agents(doctor);
}
