/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_systems - the kinds of file system that every search and check is tried on; see
 * file_systems.h
 */
#include "file_systems.h"

#include "loop_image.h"

#include "base/cleanup.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>

enum { IMAGE_MEBIBYTES = 320 }; /* sparse; xfs takes no less */

const char *const file_systems[] = { "ext4", "xfs", "btrfs", "overlay", "tmpfs", NULL };

static void mount_image(const char *type, const char *relative)
{
	char program[64];
	struct loop_image image;

	(void) unlink(sandbox_path("file-system.img"));
	image = loop_image_new("file-system.img", IMAGE_MEBIBYTES);
	loop_image_done(&image);
	(void) snprintf(program, sizeof(program), "/usr/sbin/mkfs.%s", type);
	loop_image_format("file-system.img", program);
	image = loop_image_over("file-system.img", false);
	assert_return_code(mount(image.path, sandbox_path(relative), type, 0, NULL), errno);
	loop_image_done(&image);
}

static void mount_overlay(const char *relative)
{
	char options[4096];

	sandbox_mkdir("lower", 0755);
	sandbox_mkdir("layers", 0755);
	assert_return_code(mount("lower", sandbox_path("lower"), "tmpfs", 0, NULL), errno);
	assert_return_code(mount("layers", sandbox_path("layers"), "tmpfs", 0, NULL), errno);
	sandbox_mkdir("layers/upper", 0755);
	sandbox_mkdir("layers/work", 0755);
	sandbox_write("lower/below", "text");
	(void) snprintf(options, sizeof(options), "lowerdir=%s,upperdir=%s,workdir=%s,xino=off",
			sandbox_path("lower"), sandbox_path("layers/upper"),
			sandbox_path("layers/work"));
	assert_return_code(mount("overlay", sandbox_path(relative), "overlay", 0, options), errno);
}

void file_system_mount(const char *type, const char *relative)
{
	if (strcmp(type, "overlay") == 0)
		mount_overlay(relative);
	else if (strcmp(type, "tmpfs") == 0)
		assert_return_code(mount("volume", sandbox_path(relative), "tmpfs", 0, NULL),
				   errno);
	else
		mount_image(type, relative);
}

void file_system_clean(const char *type)
{
	if (strcmp(type, "overlay") != 0)
		return;
	assert_return_code(umount2(sandbox_path("lower"), MNT_DETACH), errno);
	assert_return_code(umount2(sandbox_path("layers"), MNT_DETACH), errno);
	assert_return_code(rmdir(sandbox_path("lower")), errno);
	assert_return_code(rmdir(sandbox_path("layers")), errno);
}
