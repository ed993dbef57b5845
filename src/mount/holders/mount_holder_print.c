/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mount_holder_print - a sentence that names who keeps a file system mounted; see mount_holders.h
 */
#include "mount/holders/mount_holders.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* " (uid 1000, user namespace 4026532 of uid 1000)"; "" for root of our own user namespace. */
static void print_owner(const struct mount_holder *holder, char *text, size_t size)
{
	text[0] = '\0';
	if (holder->pid > 0 && holder->uid != 0)
		(void) snprintf(text, size, " (uid %u)", (unsigned int) holder->uid);
	if (!holder->has_owner || holder->user_namespace == 0)
		return;
	if (holder->pid > 0)
		(void) snprintf(text, size, " (uid %u, user namespace %llu of uid %u)",
				(unsigned int) holder->uid,
				(unsigned long long) holder->user_namespace,
				(unsigned int) holder->owner);
	else
		(void) snprintf(text, size, " (user namespace %llu of uid %u)",
				(unsigned long long) holder->user_namespace,
				(unsigned int) holder->owner);
}

static void print_unread(const struct mount_holder *holder, const char *owner,
			 char text[MOUNT_HOLDER_TEXT_BYTES])
{
	char one[160] = "";

	if (holder->pid > 0)
		(void) snprintf(one, sizeof(one), ", one of process %d '%s'%s", (int) holder->pid,
				holder->command, owner);
	(void) snprintf(text, MOUNT_HOLDER_TEXT_BYTES,
			"uid %u has more mount namespaces than are searched for one user (%d, or "
			"%d MiB of mount tables), and any may have it mounted: %zu were not "
			"searched%s",
			(unsigned int) holder->owner, OWNER_NAMESPACES_MAX,
			MOUNT_TABLE_BYTES_MAX / 1024 / 1024, holder->unread, one);
}

static void print_unsearched(const struct mount_holder *holder, const char *owner,
			     char text[MOUNT_HOLDER_TEXT_BYTES])
{
	if (holder->undecided < 0)
		(void) snprintf(text, MOUNT_HOLDER_TEXT_BYTES,
				"what process %d '%s'%s has open cannot be read, and may be in the "
				"volume: %s",
				(int) holder->pid, holder->command, owner,
				strerror(-holder->undecided));
	else
		(void) snprintf(
			text, MOUNT_HOLDER_TEXT_BYTES,
			"processes of uid %u have more open than is searched for one user (%d "
			"seconds of a processor; %d for all users), and any of it may be in the "
			"volume: %zu were not "
			"searched, one of them is process %d '%s'%s",
			(unsigned int) holder->owner, OWNER_OPEN_USEC_MAX / 1000000,
			OPEN_USEC_MAX / 1000000, holder->unread, (int) holder->pid, holder->command,
			owner);
}

static void print_detached(const struct mount_holder *holder, const char *owner,
			   char text[MOUNT_HOLDER_TEXT_BYTES])
{
	const char *mounted = holder->unread > 0 ? "nowhere any more, or where was not searched"
						 : "nowhere any more";
	int pid = (int) holder->pid;

	if (holder->undecided < 0)
		(void) snprintf(text, MOUNT_HOLDER_TEXT_BYTES,
				"process %d '%s'%s uses '%s' of the same file system, mounted %s, "
				"and the kernel does not say whether that is in it: %s",
				pid, holder->command, owner, holder->where, mounted,
				strerror(-holder->undecided));
	else
		(void) snprintf(text, MOUNT_HOLDER_TEXT_BYTES,
				"process %d '%s'%s uses '%s' of it, which is mounted %s", pid,
				holder->command, owner, holder->where, mounted);
}

void mount_holder_print(const struct mount_holder *holder, char text[MOUNT_HOLDER_TEXT_BYTES])
{
	unsigned long long mount_namespace = holder->mount_namespace;
	int pid = (int) holder->pid;
	char owner[96];

	print_owner(holder, owner, sizeof(owner));
	switch (holder->how) {
	case HELD_BY_PROCESS:
		(void) snprintf(text, MOUNT_HOLDER_TEXT_BYTES,
				"process %d '%s'%s has it mounted at '%s' in mount namespace %llu",
				pid, holder->command, owner, holder->where, mount_namespace);
		return;
	case HELD_BY_DESCRIPTOR:
		(void) snprintf(text, MOUNT_HOLDER_TEXT_BYTES,
				"process %d '%s'%s keeps mount namespace %llu, which has it "
				"mounted at '%s'",
				pid, holder->command, owner, mount_namespace, holder->where);
		return;
	case HELD_BY_MOUNT:
		(void) snprintf(text, MOUNT_HOLDER_TEXT_BYTES,
				"mount namespace %llu%s, kept at '%s', has it mounted at '%s'",
				mount_namespace, owner, holder->kept_at, holder->where);
		return;
	case HELD_UNSEEN:
		(void) snprintf(text, MOUNT_HOLDER_TEXT_BYTES,
				"mount namespace %llu%s, of a process that cannot be seen, has it "
				"mounted at '%s'",
				mount_namespace, owner, holder->where);
		return;
	case HELD_HERE:
		(void) snprintf(text, MOUNT_HOLDER_TEXT_BYTES,
				"it is mounted at '%s' as well, and not by podvold", holder->where);
		return;
	case HELD_UNREAD:
		print_unread(holder, owner, text);
		return;
	case HELD_UNSEARCHED:
		print_unsearched(holder, owner, text);
		return;
	case HELD_DETACHED:
		print_detached(holder, owner, text);
		return;
	}
	assert(false);
}
