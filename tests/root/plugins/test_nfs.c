/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_nfs - the nfs plugin, with a stand-in for mount.nfs
 *
 * No kernel at hand has an NFS client. The stand-in shows which call would have been made, and
 * binds a directory where the export would be; all around it is real.
 */
#include "tests/root/sandbox.h"
#include "tests/root/volume.h"

#include "base/cleanup.h"
#include "mount/filesystem/tool.h"
#include "object/kinds/volume_source.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>

#define TARGET "root/pods/u1/volumes/kubernetes.io~nfs/pv1"

static struct {
	char call[512];
	int status; /* what the program ends with */
	bool lies;  /* 0, and nothing is mounted */
	uint64_t limit_usec;
} helper;

int __wrap_tool_run(const char *const *argv, const struct tool_terms *terms,
		    char ret_output[TOOL_OUTPUT_BYTES]);

int __wrap_tool_run(const char *const *argv, const struct tool_terms *terms,
		    char ret_output[TOOL_OUTPUT_BYTES])
{
	size_t used = 0;

	helper.call[0] = '\0';
	for (const char *const *word = argv; *word; word++)
		used += (size_t) snprintf(helper.call + used, sizeof(helper.call) - used, "%s%s",
					  word == argv ? "" : " ",
					  strcmp(*word, sandbox_path(TARGET)) == 0 ? "TARGET"
										   : *word);
	helper.limit_usec = terms->limit_usec;
	(void) snprintf(ret_output, TOOL_OUTPUT_BYTES, "mount.nfs: access denied by server");
	if (!helper.lies && helper.status <= 0)
		assert_return_code(mount(sandbox_path("export"), argv[2], NULL, MS_BIND, NULL),
				   errno);
	return helper.status;
}

struct fixture {
	struct test_volume volume;
	struct nfs_source nfs;
	const char *options[4];
};

static void begin(struct fixture *fixture)
{
	memset(&helper, 0, sizeof(helper));
	*fixture = (struct fixture){
		.nfs = { .server = "server", .path = "/srv/a", .export = "server:/srv/a" }
	};
	if (access(sandbox_path("export"), F_OK) < 0) {
		sandbox_mkdir("export", 0755);
		sandbox_write("export/file", "data");
	}
	test_volume_init(&fixture->volume, "kubernetes.io/nfs", true);
	fixture->volume.pv.source = PV_SOURCE_NFS;
	fixture->volume.pv.program.nfs = &fixture->nfs;
	fixture->volume.pv.mount_options = fixture->options;
	fixture->volume.host.tool_limit_usec = 7000000;
}

static void end(struct fixture *fixture)
{
	test_volume_done(&fixture->volume);
}

static int set_up(struct fixture *fixture)
{
	return test_volume_run(&fixture->volume, fixture->volume.plugin->new_mounter);
}

static int tear_down(struct fixture *fixture)
{
	return test_volume_run(&fixture->volume, fixture->volume.plugin->new_unmounter);
}

static bool is_there(void)
{
	return access(sandbox_path(TARGET), F_OK) == 0;
}

static void a_whole_life(void **state)
{
	struct fixture fixture;

	begin(&fixture);
	assert_int_equal(set_up(&fixture), STAGE_NEXT);
	assert_string_equal(helper.call, "mount.nfs server:/srv/a TARGET");
	assert_int_equal(helper.limit_usec, 7000000);
	assert_int_not_equal(fixture.volume.report.mount_id, 0);
	assert_true(sandbox_has(TARGET "/file", "data"));

	/* Mounted is done: no second call. */
	helper.call[0] = '\0';
	assert_int_equal(set_up(&fixture), STAGE_LIST_DONE);
	assert_string_equal(helper.call, "");
	assert_int_not_equal(fixture.volume.report.mount_id, 0);

	assert_int_equal(tear_down(&fixture), STAGE_NEXT);
	assert_false(is_there());
	assert_true(sandbox_has("export/file", "data"));
	assert_int_equal(tear_down(&fixture), STAGE_NEXT);
	end(&fixture);
}

static void the_call(void **state)
{
	static const struct {
		const char *export, *options[3], *call;
		bool read_only;
	} rows[] = {
		/* case 95 */
		{ "server:/srv/a", { NULL }, "mount.nfs server:/srv/a TARGET -o ro", true },
		{ "server:/srv/a",
		  { "nfsvers=3", "hard" },
		  "mount.nfs server:/srv/a TARGET -o hard,nfsvers=3",
		  false },
		{ "server:/srv/a",
		  { "ro", "nfsvers=3" },
		  "mount.nfs server:/srv/a TARGET -o ro,nfsvers=3",
		  true },
		{ "server:/srv/a",
		  { "noexec", "nosuid", "nodev" },
		  "mount.nfs server:/srv/a TARGET -o noexec,nodev,nosuid",
		  false },
		{ "[fd00::1]:/srv/a", { NULL }, "mount.nfs [fd00::1]:/srv/a TARGET", false },
		{ "10.0.0.1:/srv/a", { NULL }, "mount.nfs 10.0.0.1:/srv/a TARGET", false },
		/* Not for a helper. */
		{ "server:/srv/a",
		  { "x-systemd.automount", "_netdev", "soft" },
		  "mount.nfs server:/srv/a TARGET -o soft",
		  false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct fixture fixture;

		begin(&fixture);
		fixture.nfs.export = rows[i].export;
		for (size_t n = 0; n < 3 && rows[i].options[n]; n++) {
			fixture.options[n] = rows[i].options[n];
			fixture.volume.pv.mount_option_count = n + 1;
		}
		fixture.volume.spec.read_only = rows[i].read_only;
		if (set_up(&fixture) != STAGE_NEXT)
			fail_msg("row %zu: %s", i, fixture.volume.report.failure.text);
		assert_string_equal(helper.call, rows[i].call);
		assert_int_equal(tear_down(&fixture), STAGE_NEXT);
		end(&fixture);
	}
}

static void what_would_be_another_call_is_refused(void **state)
{
	static const struct {
		const char *export, *option, *says;
	} rows[] = {
		{ "-oremount,rw:/", "hard", "not the name of a server" },
		{ "a b:/", "hard", "not the name of a server" },
		{ "server", "bg", "it mounts in the background" },
		{ "server", "remount", "remount" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct fixture fixture;

		begin(&fixture);
		fixture.nfs.export = rows[i].export;
		fixture.options[0] = rows[i].option;
		fixture.volume.pv.mount_option_count = 1;
		assert_int_equal(set_up(&fixture), -EINVAL);
		if (!strstr(fixture.volume.report.failure.text, rows[i].says))
			fail_msg("row %zu: %s", i, fixture.volume.report.failure.text);
		assert_string_equal(helper.call, "");
		assert_false(is_there());
		end(&fixture);
	}
}

static void a_failure_leaves_nothing(void **state)
{
	static const struct {
		int status, error;
		bool lies;
		const char *says;
	} rows[] = {
		{ 32, -EIO, false, "status 32: mount.nfs: access denied by server" },
		{ -ENOENT, -ENOENT, true, "no mount.nfs here" },
		{ -ETIMEDOUT, -ETIMEDOUT, true, "was ended after 7 s" },
		{ 0, -ENODEV, true, "nothing is mounted" },
		/* It was ended too late: what it had mounted goes. */
		{ -ECANCELED, -ECANCELED, false, "no longer wanted" },
		{ -ETIMEDOUT, -ETIMEDOUT, false, "was ended after 7 s" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct fixture fixture;

		begin(&fixture);
		helper.status = rows[i].status;
		helper.lies = rows[i].lies;
		assert_int_equal(set_up(&fixture), rows[i].error);
		if (!strstr(fixture.volume.report.failure.text, rows[i].says))
			fail_msg("row %zu: %s", i, fixture.volume.report.failure.text);
		assert_int_equal(fixture.volume.report.error_class, ERROR_FINAL);
		assert_false(is_there());
		assert_int_equal(sandbox_mounts_below(sandbox_path("root")), 0);
		end(&fixture);
	}
}

static void what_somebody_put_there_stays(void **state)
{
	struct fixture fixture;

	begin(&fixture);
	assert_int_equal(set_up(&fixture), STAGE_NEXT);
	assert_return_code(umount(sandbox_path(TARGET)), errno);
	sandbox_write(TARGET "/precious", "data");
	assert_int_equal(tear_down(&fixture), -ENOTEMPTY);
	assert_true(sandbox_has(TARGET "/precious", "data"));
	end(&fixture);
}

static void what_it_says_of_itself(void **state)
{
	struct fixture fixture;
	struct nfs_source inline_source = { "server", "/srv/a", "server:/srv/a", true };
	cleanup_free char *name = NULL, *path = NULL;
	struct volume_spec rebuilt;

	begin(&fixture);
	assert_true(fixture.volume.plugin->can_support(&fixture.volume.spec));
	assert_int_equal(fixture.volume.plugin->get_volume_name(&fixture.volume.spec, &name, NULL),
			 0);
	assert_string_equal(name, "server//srv/a");
	fixture.volume.pv.source = PV_SOURCE_LOCAL;
	assert_false(fixture.volume.plugin->can_support(&fixture.volume.spec));
	fixture.volume.spec.pv = NULL;
	fixture.volume.spec.source = &fixture.volume.source;
	fixture.volume.source.source = SOURCE_NFS;
	fixture.volume.source.nfs = &inline_source;
	assert_true(fixture.volume.plugin->can_support(&fixture.volume.spec));
	path = fixture.volume.plugin->get_path(&fixture.volume.request);
	assert_string_equal(path, sandbox_path(TARGET));
	assert_int_equal(fixture.volume.plugin->construct_volume_spec(&fixture.volume.host, "u1",
								      "v", false, &rebuilt, NULL),
			 0);
	assert_string_equal(rebuilt.name, "v");
	assert_int_equal(fixture.volume.plugin->construct_volume_spec(&fixture.volume.host, "u1",
								      "..", false, &rebuilt, NULL),
			 -EINVAL);
	end(&fixture);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		SANDBOX_TEST(a_whole_life),
		SANDBOX_TEST(the_call),
		SANDBOX_TEST(what_would_be_another_call_is_refused),
		SANDBOX_TEST(a_failure_leaves_nothing),
		SANDBOX_TEST(what_somebody_put_there_stays),
		SANDBOX_TEST(what_it_says_of_itself),
	};

	return sandbox_run("nfs", tests, ARRAY_SIZE(tests));
}
