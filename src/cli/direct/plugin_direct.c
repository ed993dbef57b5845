/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plugin_direct - looks at executable plugins and tries one, in this process; see direct.h
 */

#include "cli/direct/direct.h"

#include "base/cleanup.h"
#include "base/directory.h"
#include "object/kinds/volume_source.h"
#include "object/object.h"
#include "plugins/exec/exec.h"

#include <assert.h>
#include <fcntl.h>
#include <string.h>

#define POD_UID "plugin-test"

int plugin_direct_list(plugin_direct_fn *fn, void *userdata, struct failure *reterr)
{
	DIR *directory = opendir(EXEC_DIRECTORY);
	const struct dirent *entry;
	int more;

	assert(fn);
	if (!directory)
		return errno == ENOENT ? 0
				       : failed(reterr, -errno, "cannot read '%s'", EXEC_DIRECTORY);
	while ((more = directory_next(directory, &entry)) > 0) {
		cleanup(exec_program_done) struct exec_program program = { .path = NULL };
		struct failure why = { .error = 0 };
		int r;

		if (strchr(entry->d_name, '.'))
			continue; /* settings, or no plugin's name */
		r = exec_program_find(entry->d_name, &program, &why);
		fn(userdata, r < 0, entry->d_name, r < 0 ? why.text : program.path);
	}
	(void) closedir(directory);
	return more < 0 ? failed(reterr, more, "cannot read '%s'", EXEC_DIRECTORY) : 0;
}

static int make_volume(const char *name, const struct object **ret, struct failure *reterr)
{
	static const char format[] =
		"apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: plugin-test}\nspec:\n"
		"  capacity: {storage: 1Gi}\n  accessModes: [ReadWriteOnce]\n"
		"  flexVolume: {driver: podvol.io/%s}\n";
	cleanup(document_list_done) struct document_list list = { 0 };
	cleanup_free char *text = NULL;
	int length = asprintf(&text, format, name), r;

	if (length < 0)
		return failed(reterr, -ENOMEM, "cannot try plugin '%s'", name);
	r = documents_parse(text, (size_t) length, &list, reterr);
	if (r == 0 && (list.count != 1 || !list.documents[0].object))
		r = failed_plain(reterr, -EINVAL, "'%s' is not the name of a plugin", name);
	if (r == 0)
		*ret = object_ref(list.documents[0].object);
	return r;
}

static int check_volume(const struct volume_spec *spec, const char *name, struct failure *reterr)
{
	const struct flex_source *source = spec_pv(spec)->program.flex;
	const char *wanted = source ? exec_name_of(source->driver) : NULL;

	if (wanted && strcmp(wanted, name) == 0)
		return 0;
	return failed_plain(reterr, -EINVAL,
			    "volume '%s' is not of the driver podvol.io/%s, or '%s' is not the "
			    "name of a plugin",
			    spec->name, name, name);
}

static int live(const struct plugin_test *test, const struct volume_spec *spec,
		const struct plugin_host *host, struct failure *reterr)
{
	const struct volume_plugin *plugin = plugin_by_name(EXEC_PLUGIN_NAME);
	cleanup_free char *unique_name = NULL;
	struct volume_request request = { .host = host,
					  .plugin = plugin,
					  .spec = spec,
					  .volume_name = spec->name,
					  .pod_uid = POD_UID };
	int r = plugin_unique_name(plugin, spec, POD_UID, &unique_name, reterr);

	request.unique_name = unique_name;
	return r < 0 ? r : exec_life_run(&request, test->fn, test->userdata, reterr);
}

int plugin_direct_test(const struct plugin_test *test, struct failure *reterr)
{
	cleanup_object const struct object *pv = NULL;
	cleanup_close int root_fd = -EBADF;
	char root_dir[PATH_MAX];
	struct volume_spec spec;
	int r;

	assert(test && test->name && test->directory && test->fn);
	r = test->file ? direct_read_volume(test->file, &pv, reterr)
		       : make_volume(test->name, &pv, reterr);
	if (r < 0)
		return r;
	spec = (struct volume_spec){ .name = pv->meta.name, .pv = pv };
	r = check_volume(&spec, test->name, reterr);
	if (r == 0)
		r = plugin_mounts_leave(reterr);
	if (r == 0) /* opened in there: nothing can be mounted on a place of outside */
		r = root_fd = open_host_path(test->directory, O_PATH | O_DIRECTORY, reterr);
	if (r < 0)
		return r;
	direct_real_path(root_fd, root_dir);
	return live(
		test, &spec,
		&(struct plugin_host){ .node_name = "", .root_dir = root_dir, .root_fd = root_fd },
		reterr);
}
