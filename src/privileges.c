/* SPDX-License-Identifier: Apache-2.0 */
/*
 * privileges - the capabilities that podvold needs; see privileges.h
 */
#include "privileges.h"

#include "base/cleanup.h"

#include <sys/capability.h>
#include <stdbool.h>

/* Each with the one thing that fails first without it. */
static const cap_value_t needed[] = {
	CAP_SYS_ADMIN,       /* mount, umount, loop devices */
	CAP_CHOWN,           /* fsGroup */
	CAP_FOWNER,          /* chmod of files that users own */
	CAP_FSETID,          /* keep setgid on directories of other groups */
	CAP_DAC_OVERRIDE,    /* directories that users closed */
	CAP_DAC_READ_SEARCH, /* the same for reading */
	CAP_SYS_CHROOT,      /* look into mount namespaces that no process is in */
	CAP_SYS_PTRACE,      /* see the mounts of other processes before a device is taken away */
};

/* Kept where there are any and the configuration allows pods a map of groups: mount/bind/idmap.h.
 */
static const cap_value_t for_maps[] = { CAP_SETUID, CAP_SETGID, CAP_SETFCAP };

/* Kept where there are any: an image with ext4 grows while it is mounted nowhere else. */
static const cap_value_t useful[] = { CAP_SYS_RESOURCE };

static bool has(cap_t present, cap_value_t cap)
{
	cap_flag_value_t value = CAP_CLEAR;

	return cap_get_flag(present, cap, CAP_PERMITTED, &value) == 0 && value == CAP_SET;
}

static bool is_among(cap_value_t cap, const cap_value_t *caps, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (caps[i] == cap)
			return true;
	return false;
}

static int check(cap_t present, struct failure *reterr)
{
	for (size_t i = 0; i < ARRAY_SIZE(needed); i++) {
		char *name;

		if (has(present, needed[i]))
			continue;
		name = cap_to_name(needed[i]);
		(void) failed_plain(reterr, -EPERM,
				    "podvold lacks the capability %s; run it as root or as the "
				    "service podvol.service does",
				    name ?: "it needs");
		cap_free(name);
		return -EPERM;
	}
	return 0;
}

static int cut(cap_t present, bool maps_groups, struct failure *reterr)
{
	cap_t kept = cap_init();
	int r = 0;

	if (!kept)
		return failed(reterr, -ENOMEM, "cannot give up capabilities");
	for (cap_value_t cap = 0; cap <= cap_max_bits() - 1; cap++) {
		bool keep = is_among(cap, needed, ARRAY_SIZE(needed)) ||
			    (is_among(cap, useful, ARRAY_SIZE(useful)) && has(present, cap)) ||
			    (maps_groups && is_among(cap, for_maps, ARRAY_SIZE(for_maps)) &&
			     has(present, cap));

		if (keep) {
			(void) cap_set_flag(kept, CAP_PERMITTED, 1, &cap, CAP_SET);
			(void) cap_set_flag(kept, CAP_EFFECTIVE, 1, &cap, CAP_SET);
		} else if (cap_get_bound(cap) == 1) {
			/* Not allowed to: then the bounding set is the service manager's business.
			 */
			(void) cap_drop_bound(cap);
		}
	}
	if (cap_set_proc(kept) < 0)
		r = failed(reterr, -errno, "cannot give up capabilities");
	cap_free(kept);
	return r;
}

int privileges_check_and_cut(bool maps_groups, struct failure *reterr)
{
	cap_t present = cap_get_proc();
	int r;

	if (!present)
		return failed(reterr, -errno, "cannot read the capabilities of this process");
	r = check(present, reterr);
	if (r == 0)
		r = cut(present, maps_groups, reterr);
	cap_free(present);
	return r;
}
