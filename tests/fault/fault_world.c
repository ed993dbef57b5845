/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fault_world - see fault_world.h
 */
#include "fault_world.h"

#include "faults.h"
#include "tests/csi/driver_model.h"
#include "tests/root/user_trees.h"

#include "agent/parts.h"
#include "api/http/listen.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "object/json/json.h"
#include "state/ledger.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

/* In a build with address sanitizer: reports what cannot be reached any more. */
extern int __lsan_do_recoverable_leak_check(void) __attribute__((weak));

enum { PATIENCE_MSEC = 20000, STARTS_MAX = 4, DEVICE_MEBIBYTES = 16 };

#define FOREIGN       "root/pods/foreign-uid/volumes/kubernetes.io~empty-dir"
#define FOREIGN_MOUNT FOREIGN "/mounted"

static const char *const tree_names[] = { "theirs", FOREIGN, FOREIGN_MOUNT };
enum { FOREIGN_MOUNT_TREE = 2 };
_Static_assert(ARRAY_SIZE(tree_names) == WORLD_TREES, "each is compared");

static uint64_t now_msec(void)
{
	struct timespec now;

	(void) clock_gettime(CLOCK_BOOTTIME, &now); /* the one that does not run faster */
	return (uint64_t) now.tv_sec * 1000 + (uint64_t) now.tv_nsec / 1000000;
}

/* ---- what is there before ---- */

static void make_parents(const char *relative)
{
	char path[PATH_MAX];

	(void) snprintf(path, sizeof(path), "%s", relative);
	for (char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		(void) mkdir(sandbox_path(path), 0755);
		*slash = '/';
	}
	(void) mkdir(sandbox_path(path), 0755);
}

/* Another agent's pod, and trees of users, of which volumes show "data" and "owned". */
static void make_trees(struct fault_world *world)
{
	make_parents(FOREIGN);
	user_trees_make(FOREIGN "/kept");
	if (world->kind & WORLD_FOREIGN_MOUNT) {
		make_parents(FOREIGN_MOUNT);
		assert_return_code(mount("foreign", sandbox_path(FOREIGN_MOUNT), "tmpfs", 0, NULL),
				   errno);
		user_trees_make(FOREIGN_MOUNT "/kept");
	}
	user_trees_make("theirs");
	user_trees_make("theirs/data");
	user_trees_make("owned");
}

static void make_device(struct fault_world *world)
{
	int fd = open(sandbox_path("image"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	assert_return_code(fd, errno);
	assert_return_code(ftruncate(fd, (off_t) DEVICE_MEBIBYTES << 20), errno);
	(void) close(fd);
	if (world->kind & WORLD_FULL_DEVICE) {
		const char *const mkfs[] = {
			"/sbin/mkfs.ext4",     "-q", "-d", sandbox_path("disk"),
			sandbox_path("image"), NULL
		};

		sandbox_mkdir("disk", 0755);
		sandbox_write("disk/precious", "keep me");
		loop_image_run(mkfs);
	}
	world->device = loop_image_over("image", false);
	assert_return_code(symlink(world->device.path, sandbox_path("device")), errno);
}

static void violated(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	(void) vfprintf(stderr, format, arguments);
	va_end(arguments);
	fail_msg("the CSI driver was called out of order");
}

static void make_driver(void)
{
	static char storage[PATH_MAX];

	sandbox_mkdir("storage", 0755);
	(void) snprintf(storage, sizeof(storage), "%s", sandbox_path("storage"));
	model_begin();
	model.capabilities = UINT32_C(1) << 1; /* STAGE_UNSTAGE_VOLUME */
	model.storage = storage;
	model.violated = violated;
}

static void load_config(struct fault_world *world)
{
	char words[6][PATH_MAX];
	char *argv[] = {
		"podvold", words[0], words[1], words[2], words[3], words[4], words[5], NULL
	};
	struct failure failure = { .error = 0 };

	sandbox_write("podvold.conf", "log-level: info\n");
	for (size_t i = 0; i < ARRAY_SIZE(words) - 1; i++) {
		static const char *const options[] = { "config=@/podvold.conf", "root-dir=@/root",
						       "state-dir=@/state", "run-dir=@/run",
						       "manifest-dir=@/manifests" };
		const char *at = strchr(options[i], '@');

		(void) snprintf(words[i], sizeof(words[0]), "--%.*s%s%s", (int) (at - options[i]),
				options[i], sandbox_dir(), at + 1);
	}
	(void) snprintf(words[5], sizeof(words[5]), "--node-name=node");
	if (config_load((int) ARRAY_SIZE(argv) - 1, argv, &world->config, &failure) != CONFIG_RUN)
		fail_msg("%s", failure.text);
	log_open(world->config.log_priority);
}

void world_make(struct fault_world *world, unsigned int kind)
{
	static const char *const directories[] = { "root", "state", "run", "manifests" };

	*world = (struct fault_world){ .kind = kind, .device.fd = -EBADF };
	assert_int_equal(sandbox_setup(NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(directories); i++)
		sandbox_mkdir(directories[i], 0755);
	make_trees(world);
	if (kind & (WORLD_EMPTY_DEVICE | WORLD_FULL_DEVICE))
		make_device(world);
	if (kind & WORLD_CSI)
		make_driver();
	load_config(world);
	for (size_t i = 0; i < ARRAY_SIZE(tree_names); i++)
		if (i != FOREIGN_MOUNT_TREE || kind & WORLD_FOREIGN_MOUNT)
			world->trees_before[i] = user_trees_print(sandbox_path(tree_names[i]));
	world->fds_before = sandbox_open_fds();
}

/* ---- the daemon ---- */

static int serve(struct fault_world *world, struct failure *reterr)
{
	struct api_options options = {
		.event = world->event,
		.agent = world->agent,
		.connections_max = 20,
		.request_bytes_max = 1024 * 1024,
		.watches_max = 10,
		.idle_seconds = 60,
		.request_seconds = 60,
	};
	const struct api_listen_options listen = {
		.socket_path = sandbox_path("run/podvol.sock"),
		.tls_address = "",
		.plain_address = "",
		.docker_path = "",
	};
	int r = api_listen(&listen, options.listeners, &options.listener_count, reterr);

	return r < 0 ? r : api_new(&options, &world->api, reterr);
}

/* As podvold.c does it. */
static int start(struct fault_world *world, struct failure *reterr)
{
	int r = sd_event_new(&world->event);

	if (r >= 0)
		r = agent_new(world->event, &world->config, &world->agent, reterr);
	if (r >= 0 && world->kind & WORLD_API && !world->config.drain)
		r = serve(world, reterr);
	return r;
}

void world_stop(struct fault_world *world)
{
	world->api = api_free(world->api);
	world->agent = agent_free(world->agent);
	world->event = sd_event_unref(world->event);
}

bool world_start(struct fault_world *world)
{
	struct failure failure = { .error = 0 };
	int r = -1;

	for (int attempt = 0; r < 0 && attempt < STARTS_MAX; attempt++) {
		faults_exempt_thread(false);
		r = start(world, &failure);
		if (r < 0)
			world_stop(world);
		faults_exempt_thread(true);
		if (r >= 0)
			break;
		world->refused_starts++;
		print_message("refused: %s\n", failure.text);
		if (failure.text[0] == '\0')
			fail_msg("the start was refused without a sentence");
	}
	world->missing = "the start";
	for (uint64_t until = now_msec() + PATIENCE_MSEC;
	     r >= 0 && !agent_is_ready(world->agent);) {
		world_turn(world, 1);
		if (now_msec() > until)
			return false;
	}
	return r >= 0;
}

static struct csi_call_request asked; /* what the driver answers now */

/* The driver is the test, who hears of it is not. */
static void on_answer(void *userdata, const struct csi_reply *reply)
{
	faults_exempt_thread(false);
	asked.done(asked.userdata, reply);
	faults_exempt_thread(true);
}

/* What was asked in this turn of the loop. */
static void let_driver_answer(void)
{
	struct model_call *call;

	faults_exempt_thread(true);
	while ((call = model_call_at(0))) {
		asked = call->request;
		call->request.done = on_answer;
		model_finish(call, MODEL_WORKS, GRPC_OK);
	}
	faults_exempt_thread(false);
}

void world_turn(struct fault_world *world, unsigned int milliseconds)
{
	uint64_t until = now_msec() + milliseconds;
	int r = 0;

	faults_exempt_thread(false);
	do {
		r = sd_event_run(world->event, 1000);
		let_driver_answer();
	} while (r >= 0 && now_msec() < until);
	faults_exempt_thread(true);
	assert_return_code(r, -r);
}

/* ---- the end of it ---- */

static int count_row(const struct ledger_row *row, void *userdata)
{
	print_message("row: %s of %s: %s\n", row->entry.unique_name,
		      row->entry.pod_uid ? row->entry.pod_uid : "-", mount_state_name(row->state));
	++*(unsigned int *) userdata;
	return 0;
}

static unsigned int ledger_rows(struct fault_world *world)
{
	struct ledger *ledger = NULL;
	unsigned int rows = 0;

	assert_int_equal(ledger_open(world->config.run_dir, &ledger, NULL), 0);
	assert_int_equal(ledger_walk(ledger, count_row, &rows), 0);
	(void) ledger_free(ledger);
	return rows;
}

static void on_drained(void *userdata, size_t left)
{
	*(ssize_t *) userdata = (ssize_t) left;
}

bool world_drain(struct fault_world *world)
{
	struct failure failure = { .error = 0 };
	uint64_t until = now_msec() + PATIENCE_MSEC;
	ssize_t left = -1;

	world->ledger_rows = ledger_rows(world);
	world->missing = "the drain";
	world->config.drain = true;
	if (start(world, &failure) < 0) {
		print_message("the drain: %s\n", failure.text);
		return false;
	}
	agent_drain(world->agent, on_drained, &left);
	while (left < 0 && now_msec() < until)
		world_turn(world, 1);
	world_stop(world);
	return left == 0;
}

/* ---- manifests ---- */

static char *with_sandbox(const char *text)
{
	char *result = NULL;
	size_t size;
	FILE *file = open_memstream(&result, &size);

	assert_non_null(file);
	for (; *text; text++)
		(void) (*text == '@' ? fputs(sandbox_dir(), file) : fputc(*text, file));
	assert_int_equal(fclose(file), 0);
	return result;
}

void world_write_manifest(const char *name, const char *text)
{
	cleanup_free char *full = with_sandbox(text);
	char path[256];

	sandbox_write(".manifest", full);
	(void) snprintf(path, sizeof(path), "manifests/%s", name);
	assert_return_code(rename(sandbox_path(".manifest"), sandbox_path(path)), errno);
}

void world_remove_manifest(const char *name)
{
	char path[256];

	(void) snprintf(path, sizeof(path), "manifests/%s", name);
	assert_return_code(unlink(sandbox_path(path)), errno);
}

/* ---- what is to become so ---- */

static bool is_mount_point(const char *relative)
{
	struct statx status;

	if (statx(AT_FDCWD, sandbox_path(relative), AT_SYMLINK_NOFOLLOW, 0, &status) < 0)
		return false;
	return status.stx_attributes & STATX_ATTR_MOUNT_ROOT;
}

static unsigned long volume_rows(struct fault_world *world)
{
	cleanup_json struct cJSON *volumes = agent_view_volumes(world->agent, NULL);

	return json_count(json_get(volumes, "items"));
}

static bool is_so(struct fault_world *world, const char *want)
{
	char verb[16], path[256], relative[300], text[64] = "";
	struct stat status;

	assert_true(sscanf(want, "%15s %255s %63[^\n]", verb, path, text) >= 2);
	(void) snprintf(relative, sizeof(relative), "root/%s", path);
	if (strcmp(verb, "mount") == 0)
		return is_mount_point(relative);
	if (strcmp(verb, "text") == 0)
		return sandbox_has(relative, text);
	if (strcmp(verb, "driver") == 0)
		return model_is_empty();
	if (strcmp(verb, "rows") == 0)
		return volume_rows(world) == strtoul(path, NULL, 10);
	if (lstat(sandbox_path(relative), &status) < 0)
		return strcmp(verb, "none") == 0;
	if (strcmp(verb, "gid") == 0)
		return status.st_gid == (gid_t) strtol(text, NULL, 10);
	return strcmp(verb, "dir") == 0 && S_ISDIR(status.st_mode);
}

static unsigned int mounts_below_root(const struct fault_world *world)
{
	unsigned int count = sandbox_mounts_below(sandbox_path("root"));

	if (is_mount_point("root"))
		count--;
	return count - (world->kind & WORLD_FOREIGN_MOUNT ? 1 : 0);
}

/* Every row is mounted, every manifest was understood, and no step runs or waits for its next try.
 */
static bool is_quiet(struct fault_world *world)
{
	cleanup_json struct cJSON *volumes = agent_view_volumes(world->agent, NULL);
	cleanup_json struct cJSON *operations = agent_view_operations(world->agent);
	cleanup_json struct cJSON *problems = agent_view_manifests(world->agent);
	const struct cJSON *row;

	for (row = json_first(json_get(volumes, "items")); row; row = json_next(row))
		if (strcmp(json_string(json_get(row, "state"), ""), "mounted") != 0)
			return false;
	/* What vanishes while its directory cannot be read is kept, by design. */
	if (agent_must_resync(world->agent) || json_count(json_get(problems, "items")) > 0)
		return false;
	/* A device whose last pod went has no row, but is not forgotten yet. */
	return json_count(json_get(operations, "items")) == 0 &&
	       (json_count(json_get(volumes, "items")) > 0 || !actual_first(world->agent->actual));
}

/* A client that ended badly never comes back. */
static bool client_is_done(struct fault_world *world)
{
	int status = 0;

	if (world->client == 0)
		return true;
	if (waitpid(world->client, &status, WNOHANG) == 0)
		return false;
	world->client = 0;
	if (status != 0)
		fail_msg("the client ended with status %#x", (unsigned int) status);
	return true;
}

static const char *what_is_missing(struct fault_world *world, const char *const *wants)
{
	unsigned int mounts = 0;

	for (; *wants; wants++) {
		if (!is_so(world, *wants))
			return *wants;
		mounts += strncmp(*wants, "mount ", 6) == 0;
	}
	if (mounts_below_root(world) != mounts)
		return "nothing more than this is mounted";
	if (!is_quiet(world))
		return "nothing is under way";
	return client_is_done(world) ? NULL : "the client is done";
}

bool world_until(struct fault_world *world, const char *const *wants)
{
	uint64_t until = now_msec() + PATIENCE_MSEC;

	while ((world->missing = what_is_missing(world, wants)) && now_msec() < until)
		world_turn(world, 1);
	return !world->missing;
}

/* ---- what is left ---- */

static unsigned int pod_directories(void)
{
	DIR *pods = opendir(sandbox_path("root/pods"));
	unsigned int count = 0;

	assert_non_null(pods);
	for (const struct dirent *entry = readdir(pods); entry; entry = readdir(pods))
		count += entry->d_name[0] != '.' && strcmp(entry->d_name, "foreign-uid") != 0;
	(void) closedir(pods);
	return count;
}

static unsigned int trees_changed(struct fault_world *world)
{
	unsigned int changed = 0;

	for (size_t i = 0; i < ARRAY_SIZE(tree_names) && world->trees_before[i]; i++) {
		changed += !user_trees_same(world->trees_before[i], sandbox_path(tree_names[i]));
		free(world->trees_before[i]);
		world->trees_before[i] = NULL;
	}
	/* Its group may change, nothing else. */
	return changed + !sandbox_has("owned/file1", "some text\n");
}

static void print_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");

	assert_non_null(dir);
	for (const struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
		char target[PATH_MAX] = "";

		if (readlinkat(dirfd(dir), entry->d_name, target, sizeof(target) - 1) >= 0)
			print_message("descriptor %s: %s\n", entry->d_name, target);
	}
	(void) closedir(dir);
}

struct fault_damage world_damage(struct fault_world *world)
{
	struct fault_damage damage = {
		.ledger_rows = world->ledger_rows,
		.mounts = mounts_below_root(world),
		.directories = pod_directories(),
		.bytes_changed = trees_changed(world),
	};
	unsigned int fds;

	if (world->device.fd >= 0)
		damage.devices = loop_image_count() - 1;
	fds = sandbox_open_fds();
	if (fds > world->fds_before)
		print_descriptors();
	damage.descriptors = fds > world->fds_before ? fds - world->fds_before : 0;
	config_done(&world->config);
	if (__lsan_do_recoverable_leak_check)
		damage.memory = __lsan_do_recoverable_leak_check() != 0;
	return damage;
}
