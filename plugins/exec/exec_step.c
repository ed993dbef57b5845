/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec_step - what all steps of volumes of executable plugins have in common: the request, the call
 * and what its answer means; see exec.h
 *
 * A request is one JSON object, so is an answer. What a plugin says is for people and goes into
 * texts; only "ok", "failed" and "unsupported" are acted upon.
 */
#include "plugins/exec/exec.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fnv1a.h"
#include "base/text.h"
#include "object/json/json.h"
#include "object/kinds/volume_source.h"
#include "plugins/layout.h"
#include "plugins/pod_target.h"

#include <assert.h>
#include <string.h>

#define EXEC_STATS "stats"

enum { REQUEST_VERSION = 1 };

/* "podvol.io/exec/<name>^<handle>" taken apart. Return: 0; -EINVAL it is none; -ENOMEM. */
static int split_unique_name(const char *unique_name, char **ret_name, char **ret_handle)
{
	static const char prefix[] = EXEC_PLUGIN_NAME "/";
	const char *name, *caret;

	assert(unique_name && ret_name && ret_handle);
	name = unique_name + strlen(prefix);
	if (strncmp(unique_name, prefix, strlen(prefix)) != 0)
		return -EINVAL;
	caret = strchr(name, '^'); /* a plugin's name has none */
	if (!caret || caret == name || caret[1] == '\0')
		return -EINVAL;
	*ret_name = strndup(name, (size_t) (caret - name));
	*ret_handle = strdup(caret + 1);
	return *ret_name && *ret_handle ? 0 : -ENOMEM;
}

/* ---- the request ---- */

static void add_volume(struct cJSON *facts, const struct persistent_volume *pv)
{
	struct cJSON *mount_options = json_add_array(facts, "mountOptions");

	for (size_t i = 0; i < pv->mount_option_count; i++)
		(void) json_append_string(mount_options, NULL, pv->mount_options[i]);
	(void) json_set_int(facts, "capacityBytes", quantity_value(&pv->capacity));
}

static void add_pod(struct cJSON *facts, const struct object *pod)
{
	struct cJSON *member = json_add_object(facts, "pod");

	(void) json_set_string(member, "namespace", pod->meta.name_space);
	(void) json_set_string(member, "name", pod->meta.name);
}

static int gather_facts(struct exec_step *step, const struct volume_request *request,
			struct failure *reterr)
{
	const struct volume_spec *spec = request->spec;
	const struct persistent_volume *pv = spec_pv(spec);
	const struct flex_source *flex = pv ? pv->program.flex : spec->source->flex;

	if (flex->has_secret)
		return failed_plain(reterr, -EOPNOTSUPP,
				    "volume '%s': secretRef is not supported: name a file that "
				    "only root can read in the options",
				    spec->name);
	step->is_inline = !pv;
	step->expand_bytes = pod_target_growth(request);
	step->read_only = spec->read_only;
	step->facts = json_new_object();
	(void) json_set_bool(step->facts, "readOnly", spec->read_only);
	(void) json_set_string(step->facts, "fsType", flex->fs_type);
	(void) json_set(step->facts, "options", flex_source_options(flex));
	if (pv)
		add_volume(step->facts, pv);
	if (request->pod && request->pod_uid)
		add_pod(step->facts, request->pod);
	return step->facts ? 0 : failed(reterr, -ENOMEM, "cannot request volume '%s'", spec->name);
}

int exec_step_init(struct exec_step *step, const struct volume_request *request, bool sets_up,
		   struct failure *reterr)
{
	cleanup_free char *directory = NULL;
	int r;

	assert(step && request && request->host && request->unique_name);
	step->host = request->host;
	r = split_unique_name(request->unique_name, &step->name, &step->handle);
	if (r < 0)
		return failed(reterr, r, "volume '%s' names no plugin", request->unique_name);
	step->unique_name = strdup(request->unique_name);
	step->pod_uid = strdup(request->pod_uid ?: "");
	if (!step->unique_name || !step->pod_uid ||
	    !(directory = new_text("%s^%s", step->name, step->handle)))
		return failed(reterr, -ENOMEM, "cannot request volume '%s'", request->unique_name);
	r = layout_child(EXEC_STAGING_BASE, directory, &step->staging_path, reterr);
	if (r == 0 && request->pod_uid)
		r = layout_pod_path(request->pod_uid, "volumes", EXEC_PLUGIN_NAME,
				    request->volume_name, &step->target_path, reterr);
	return r == 0 && sets_up ? gather_facts(step, request, reterr) : r;
}

void exec_step_done(struct exec_step *step)
{
	assert(step);
	free(step->unique_name);
	free(step->name);
	free(step->handle);
	free(step->pod_uid);
	free(step->staging_path);
	free(step->target_path);
	json_free(step->facts);
}

static void step_free(void *data)
{
	exec_step_done(data);
	free(data);
}

int exec_step_begin(const struct volume_request *request, const struct stage *stages, size_t count,
		    bool sets_up, struct stage_list *ret, struct failure *reterr)
{
	struct exec_step *step = calloc(1, sizeof(*step));
	int r;

	assert(request && stages && ret);
	if (!step)
		return failed(reterr, -ENOMEM, "cannot work on volume '%s'", request->volume_name);
	*ret = (struct stage_list){ stages, count, step, step_free };
	r = exec_step_init(step, request, sets_up, reterr);
	if (r < 0)
		stage_list_done(ret);
	return r;
}

static void set_path(struct cJSON *tree, const char *key, const struct exec_step *step,
		     const char *relative)
{
	cleanup_free char *path = layout_absolute(step->host->root_dir, relative);

	if (path)
		(void) json_set_string(tree, key, path);
}

/* One line. NULL: no memory. */
static char *print_request(const struct exec_step *step, const char *call)
{
	cleanup_json struct cJSON *tree = step->facts ? json_copy(step->facts) : json_new_object();
	cleanup_free char *text = NULL;
	char *line;

	(void) json_set_int(tree, "version", REQUEST_VERSION);
	(void) json_set_string(tree, "call", call);
	(void) json_set_string(tree, "plugin", step->name);
	if (step->handle)
		(void) json_set_string(tree, "volume", step->handle);
	if (*step->pod_uid)
		(void) json_set_string(tree, "podUid", step->pod_uid);
	set_path(tree, "staging", step, step->staging_path);
	set_path(tree, "target", step, step->target_path);
	text = tree ? json_print(tree) : NULL;
	return text && asprintf(&line, "%s\n", text) >= 0 ? line : NULL;
}

/* ---- the answer ---- */

static int fail_call(struct stage_report *report, enum error_class error_class, int error,
		     const char *text)
{
	report->error_class = error_class;
	return failed_plain(&report->failure, error, "%s", text);
}

/* @ret: with EXEC_DONE */
static int check_answer(const struct plugin_answer *answer, struct cJSON **ret,
			struct stage_report *report)
{
	static const struct json_limits limits = { .bytes = PLUGIN_ANSWER_BYTES_MAX, .depth = 8 };
	cleanup_json struct cJSON *tree = NULL;
	const char *status, *message;

	if (answer->status != 0) {
		report->error_class = ERROR_UNCERTAIN;
		return failed_plain(&report->failure, -EIO, "it ended with status %d: %s",
				    answer->status, answer->errors);
	}
	if (json_parse(answer->text, answer->length, &limits, &tree, &report->failure) < 0) {
		report->error_class = ERROR_UNCERTAIN;
		return failure_prefix(&report->failure, "its answer is not JSON");
	}
	status = json_text(tree, "status");
	message = json_string(json_get(tree, "message"), answer->errors);
	if (strcmp(status, "ok") == 0) {
		*ret = TAKE_PTR(tree);
		return EXEC_DONE;
	}
	if (strcmp(status, "unsupported") == 0)
		return EXEC_UNSUPPORTED;
	if (strcmp(status, "failed") == 0)
		return fail_call(report, ERROR_FINAL, -EIO, message);
	return fail_call(report, ERROR_UNCERTAIN, -EPROTO,
			 "its answer has no status ok, failed or unsupported");
}

/* ---- the call ---- */

/* They hold no other call up: a file system that hangs would. */
static bool is_stats(const struct exec_call *call)
{
	return strcmp(call->name, EXEC_STATS) == 0;
}

int exec_step_lock(const struct exec_step *step, uint64_t key, bool is_shared,
		   struct failure *reterr)
{
	cleanup(place_done) struct place file = PLACE_EMPTY;
	int r = place_make(step->host->root_fd, step->host->root_dir, EXEC_BASE "/lock", 0750,
			   &file, reterr);

	return r < 0 ? r : plugin_call_lock(&file, key, is_shared, reterr);
}

static int take_lock(const struct exec_step *step, const struct exec_call *call,
		     struct failure *reterr)
{
	uint64_t key =
		fnv1a_add_text(fnv1a_add_text(FNV1A_FIRST, step->unique_name), step->pod_uid);

	if (is_stats(call))
		key = fnv1a_add_text(key, EXEC_STATS);
	return exec_step_lock(step, key, false, reterr);
}

static uint64_t limit_of(const struct exec_program *program, const struct exec_call *call)
{
	const uint64_t of_stats = EXEC_STATS_SECONDS * USEC_PER_SEC;

	return is_stats(call) && program->limit_usec > of_stats ? of_stats : program->limit_usec;
}

static int run_call(const struct exec_program *program, const char *request, int lock_fd,
		    const struct exec_call *asked, struct stage_report *report)
{
	cleanup(plugin_answer_done) struct plugin_answer answer = PLUGIN_ANSWER_EMPTY;
	cleanup_json struct cJSON *tree = NULL;
	const struct plugin_call call = {
		.program = program->path,
		.request = request,
		.capabilities = program->capabilities,
		.limit_usec = limit_of(program, asked),
		.lock_fd = lock_fd,
		.target = asked->target ? asked->target->path : NULL,
		.pid = report->tool_pid,
	};
	int r = plugin_call_run(&call, &answer, &report->failure);

	if (r < 0) {
		report->error_class = answer.has_run ? ERROR_UNCERTAIN : ERROR_TRANSIENT;
		return r;
	}
	r = check_answer(&answer, &tree, report);
	if (r == EXEC_DONE && asked->ret_mount_fd)
		*asked->ret_mount_fd = TAKE_FD(answer.mount_fd);
	if (r == EXEC_DONE && asked->ret_answer)
		*asked->ret_answer = TAKE_PTR(tree);
	return r;
}

static int find_program(const struct exec_step *step, struct exec_program *ret,
			struct failure *reterr)
{
	int r = exec_program_find(step->name, ret, reterr);

	if (r == 0 && step->is_inline && !ret->allows_inline)
		r = failed_plain(reterr, -EPERM,
				 "its settings do not allow it in a pod, only in a persistent "
				 "volume: '%s.json' says \"inline\": true where they do",
				 ret->path);
	return r;
}

int exec_step_invoke(const struct exec_step *step, const struct exec_call *call,
		     struct stage_report *report)
{
	cleanup(exec_program_done) struct exec_program program = { .path = NULL };
	cleanup_free char *request = print_request(step, call->name);
	cleanup_close int lock_fd = -EBADF;
	int r;

	report->error_class = ERROR_TRANSIENT;
	if (!request)
		return failed(&report->failure, -ENOMEM, "cannot ask plugin '%s'", step->name);
	r = find_program(step, &program, &report->failure);
	if (r == 0 && ((is_stats(call) && !program.gives_stats) ||
		       (program.slots & call->slot) != call->slot))
		return EXEC_UNSUPPORTED;
	if (r == 0)
		r = lock_fd = take_lock(step, call, &report->failure);
	if (r >= 0)
		r = run_call(&program, request, lock_fd, call, report);
	return r < 0 ? failure_prefix(&report->failure, "plugin '%s', %s", step->name, call->name)
		     : r;
}

int exec_step_call(const struct exec_step *step, const char *name, struct stage_report *report)
{
	return exec_step_invoke(step, &(struct exec_call){ .name = name }, report);
}

int exec_step_probe(void *data, struct stage_report *report)
{
	int r = exec_step_call(data, "probe", report);

	if (r < 0)
		report->error_class = ERROR_TRANSIENT; /* it was asked to change nothing */
	return r < 0 ? r : STAGE_NEXT;
}

/* ---- places ---- */

int exec_step_make_place(const struct exec_step *step, const char *path, struct place *ret,
			 int *ret_fd, struct stage_report *report)
{
	const struct plugin_host *host = step->host;
	struct mount_facts facts;
	int r = place_make(host->root_fd, host->root_dir, path, 0750, ret, &report->failure);

	if (r < 0)
		return r;
	r = place_facts(ret, &facts, &report->failure);
	if (r == 0 && facts.is_mount_root) {
		report->mount_id = facts.mount_id;
		return 0;
	}
	if (is_corrupted_mount_error(r)) {
		report->error_class = ERROR_UNCERTAIN;
		return r;
	}
	if (r < 0 && r != -ENOENT)
		return r;
	*ret_fd = make_directory(ret, 0750, NULL, &report->failure);
	return *ret_fd < 0 ? *ret_fd : 0;
}

int exec_step_unmount(const struct exec_step *step, const char *path, struct stage_report *report)
{
	cleanup(place_done) struct place place = PLACE_EMPTY;
	int r = place_open(step->host->root_fd, step->host->root_dir, path, &place,
			   &report->failure);

	if (r == 0)
		r = cleanup_mount_point(&place, &report->failure);
	return r == -ENOENT ? 0 : r;
}
