/* SPDX-License-Identifier: Apache-2.0 */
/*
 * archive_parts - a full backup and its increments, in order; see volume_archive.h
 *
 * Read twice. At first each part is followed through in memory, entry by entry: an increment must
 * begin at the state that the parts before it lead to, and lead to the state that it names, so that
 * a part that is missing, damaged or out of order is found before anything is written. Then
 * each entry that is left at the end is restored from the part that has it, and nothing else is:
 * in the volume nothing is ever removed or replaced.
 */
#include "mount/archive/archive_reader.h"

#include "base/cleanup.h"
#include "mount/archive/archive_locale.h"
#include "mount/archive/tree_make.h"
#include "mount/archive/tree_state.h"
#include "mount/bind/attributes.h"

#include <assert.h>
#include <string.h>

enum { PARENT_MODE = 0700 };

struct part_reader {
	struct archive_reader reader;
	struct tree_state *state;
	struct content_digest *content;
	size_t part;
	uint64_t entry;
	bool has_head, has_end;
	char *end; /* the text of the last member */
	size_t end_length;
};

static void part_reader_done(struct part_reader *parts)
{
	archive_reader_done(&parts->reader);
	tree_state_freep(&parts->state);
	content_digest_freep(&parts->content);
	free(parts->end);
}

static int open_part(struct archive_reader *reader, size_t part, struct failure *reterr)
{
	int fd = reader->request->parts[part].fd;

	if (lseek(fd, 0, SEEK_SET) < 0)
		return failed_plain(reterr, -ESPIPE, "this is not a file: parts are read twice");
	return archive_reader_open(reader, fd, reterr);
}

static int in_part(const struct archive_reader *reader, size_t part, struct failure *reterr)
{
	return failure_prefix(reterr, "'%.100s'", reader->request->parts[part].name);
}

/* ---- entries, in memory ---- */

static int read_content(struct part_reader *parts, struct failure *reterr)
{
	const void *block;
	size_t length;
	uint64_t offset;
	int r;

	while ((r = archive_reader_block(&parts->reader, &block, &length, &offset, reterr)) > 0)
		if (content_digest_add(parts->content, offset, block, length) < 0)
			return failed_plain(reterr, -EBADMSG, "its blocks are out of order");
	return r;
}

static int put_entry(struct part_reader *parts, struct archive_entry *entry, const char *path,
		     struct failure *reterr)
{
	cleanup(attributes_done) struct attributes attributes = { .extended = NULL };
	struct state_node node = { .part = parts->part, .entry = parts->entry };
	struct entry_facts facts = { .attributes = &attributes };
	int r = archive_reader_attributes(entry, &attributes, reterr);
	bool is_file = S_ISREG(attributes.mode);

	if (r < 0)
		return r;
	node.mode = attributes.mode;
	if (*path == '\0' && !S_ISDIR(node.mode))
		return failed_plain(reterr, -EINVAL, "the root of the archive is not a directory");
	if (S_ISLNK(node.mode)) {
		facts.target = archive_entry_symlink(entry) ?: "";
		node.leads_out = tree_link_leads_out(path, facts.target);
	}
	if (S_ISCHR(node.mode) || S_ISBLK(node.mode))
		facts.device = archive_entry_rdev(entry);
	if (is_file) {
		facts.size = (uint64_t) archive_entry_size(entry);
		r = read_content(parts, reterr);
	}
	if (r == 0 && entry_digest(&facts, is_file ? parts->content : NULL, node.digest) < 0)
		r = failed(reterr, -ENOMEM, "cannot compute its digest");
	return r < 0 ? r : tree_state_put(parts->state, path, &node, NULL, reterr);
}

static int put_link(struct part_reader *parts, const char *path, const char *original,
		    struct failure *reterr)
{
	cleanup_free char *clean = NULL;
	int r = tree_path_clean(original, &clean, reterr);
	struct state_node *node = r < 0 ? NULL : tree_state_find(parts->state, clean);

	if (!node || S_ISDIR(node->mode) || *path == '\0')
		return failed_plain(reterr, -EBADMSG,
				    "it is a link to '%.80s', which is not a file", original);
	return tree_state_link(parts->state, path, node, reterr);
}

static int take_entry(struct part_reader *parts, struct archive_entry *entry,
		      struct failure *reterr)
{
	const char *original = archive_entry_hardlink(entry);
	cleanup_free char *path = NULL;
	int r = archive_reader_path(entry, &path, reterr);

	if (r < 0)
		return r;
	r = original ? put_link(parts, path, original, reterr)
		     : put_entry(parts, entry, path, reterr);
	return r < 0 ? failure_prefix(reterr, "entry '%.100s'", path) : 0;
}

/* ---- members of podvold's own ---- */

static int read_text(struct part_reader *parts, struct archive_entry *entry, char **ret,
		     size_t *ret_length, struct failure *reterr)
{
	la_int64_t size = archive_entry_size(entry);
	cleanup_free char *text = NULL;
	la_ssize_t n;

	if (size < 0 || size > REMOVED_LIST_BYTES_MAX + BUFSIZ)
		return failed_plain(reterr, -EBADMSG, "it has a list of more than %d bytes",
				    REMOVED_LIST_BYTES_MAX);
	text = calloc(1, (size_t) size + 1);
	if (!text)
		return failed(reterr, -ENOMEM, "cannot read it");
	n = archive_read_data(parts->reader.archive, text, (size_t) size);
	if (n != size)
		return failed_plain(reterr, -EBADMSG, "it is damaged");
	*ret = TAKE_PTR(text);
	*ret_length = (size_t) size;
	return 0;
}

/* The digest behind the words that a member begins with; NULL: it begins otherwise. */
static const char *digest_in(const char *text, size_t length, const char *word)
{
	const size_t head = strlen(INCREMENT_TEXT), before = head + strlen(word);

	return length > before + ENTRY_DIGEST_TEXT - 1 &&
			       strncmp(text, INCREMENT_TEXT, head) == 0 &&
			       strncmp(text + head, word, strlen(word)) == 0 &&
			       text[before + ENTRY_DIGEST_TEXT - 1] == '\n'
		       ? text + before
		       : NULL;
}

static bool is_state(const char *digest, const char state[ENTRY_DIGEST_TEXT])
{
	return digest && strncmp(digest, state, ENTRY_DIGEST_TEXT - 1) == 0;
}

/* An increment begins where the parts before it ended. */
static int take_head(struct part_reader *parts, struct archive_entry *entry, struct failure *reterr)
{
	char state[ENTRY_DIGEST_TEXT];
	cleanup_free char *text = NULL;
	const char *base;
	size_t length = 0;
	int r;

	if (parts->part == 0)
		return failed_plain(reterr, -EBADMSG,
				    "this is an increment: the first part must be a full backup");
	r = read_text(parts, entry, &text, &length, reterr);
	if (r == 0)
		r = tree_state_digest(parts->state, state, reterr);
	if (r < 0)
		return r;
	base = digest_in(text, length, "base ");
	if (!base)
		return failed_plain(reterr, -EBADMSG, "it is an increment of a kind unknown here");
	if (!is_state(base, state))
		return failed_plain(reterr, -EBADMSG,
				    "it follows state %.12s, but the parts before it lead to "
				    "%.12s: one is missing, damaged or of another volume",
				    base, state);
	parts->has_head = true;
	return 0;
}

static int take_mark(struct part_reader *parts, struct archive_entry *entry, const char *mark,
		     size_t length, struct failure *reterr)
{
	if (parts->entry == 0 && length == strlen(INCREMENT_HEAD) &&
	    memcmp(mark, INCREMENT_HEAD, length) == 0)
		return take_head(parts, entry, reterr);
	if (!parts->has_head || length != strlen(INCREMENT_END) ||
	    memcmp(mark, INCREMENT_END, length) != 0)
		return failed_plain(reterr, -EBADMSG, "its members are out of order");
	parts->has_end = true;
	return read_text(parts, entry, &parts->end, &parts->end_length, reterr);
}

/* Names that the part itself brought cannot be gone as well. */
static int remove_listed(struct part_reader *parts, struct failure *reterr)
{
	const size_t head = strlen(INCREMENT_TEXT "state ") + ENTRY_DIGEST_TEXT;
	const char *end = parts->end + parts->end_length;

	for (const char *path = parts->end + head; path < end; path += strlen(path) + 1) {
		if (tree_state_remove(parts->state, path) < 0)
			return failed_plain(reterr, -EBADMSG,
					    "it removes '%.100s', which is not there", path);
	}
	return 0;
}

static int end_increment(struct part_reader *parts, struct failure *reterr)
{
	char state[ENTRY_DIGEST_TEXT];
	const char *wanted =
		parts->has_end ? digest_in(parts->end, parts->end_length, "state ") : NULL;
	int r;

	if (!parts->has_head)
		return failed_plain(reterr, -EBADMSG,
				    "this is not an increment: only the first part is a full "
				    "backup");
	if (!wanted)
		return failed_plain(reterr, -EBADMSG, "the increment has no end");
	r = remove_listed(parts, reterr);
	if (r == 0)
		r = tree_state_digest(parts->state, state, reterr);
	if (r < 0)
		return r;
	if (!is_state(wanted, state))
		return failed_plain(reterr, -EBADMSG,
				    "it is damaged: it leads to state %.12s, not to %.12s", state,
				    wanted);
	return 0;
}

/* ---- the first pass ---- */

static int follow(struct part_reader *parts, struct failure *reterr)
{
	struct archive_entry *entry = NULL;
	int r;

	parts->has_head = parts->has_end = false;
	free(TAKE_PTR(parts->end));
	parts->entry = 0;
	while ((r = archive_reader_next(&parts->reader, &entry, reterr)) > 0) {
		size_t length = 0;
		const char *mark = archive_reader_mark(entry, &length);

		if (parts->has_end)
			return failed_plain(reterr, -EBADMSG, "its members are out of order");
		r = mark ? take_mark(parts, entry, mark, length, reterr)
			 : take_entry(parts, entry, reterr);
		if (r < 0)
			return r;
		parts->entry++;
	}
	if (r == 0 && parts->part > 0)
		r = end_increment(parts, reterr);
	return r < 0 ? r : tree_state_check(parts->state, reterr);
}

int archive_parts_read(const struct archive_request *request, struct tree_state **ret,
		       struct failure *reterr)
{
	cleanup(part_reader_done) struct part_reader parts = {
		.reader = { .request = request },
		.state = tree_state_new(),
		.content = content_digest_new(),
	};
	cleanup(archive_locale_leave) struct archive_locale locale = archive_locale_enter();
	int r = 0;

	(void) locale;
	assert(request && request->parts && ret && reterr);
	if (!parts.state || !parts.content)
		return failed(reterr, -ENOMEM, "cannot read the parts");
	if (request->part_count > ARCHIVE_PARTS_MAX)
		return failed_plain(reterr, -E2BIG, "a backup has at most %d parts",
				    ARCHIVE_PARTS_MAX);
	for (; r == 0 && parts.part < request->part_count; parts.part++) {
		r = open_part(&parts.reader, parts.part, reterr);
		if (r == 0)
			r = follow(&parts, reterr);
		if (r < 0)
			return in_part(&parts.reader, parts.part, reterr);
	}
	*ret = TAKE_PTR(parts.state);
	return r;
}

/* ---- the second pass ---- */

int archive_parts_check(const struct archive_request *request, const struct tree_state *state,
			struct failure *reterr)
{
	cleanup_free struct state_name **names = NULL;
	size_t count = 0;

	if (tree_state_sort(state, &names, &count) < 0)
		return failed(reterr, -ENOMEM, "cannot inspect the entries");
	for (size_t i = 0; i < count; i++) {
		const struct state_node *node = names[i]->node;

		if ((S_ISCHR(node->mode) || S_ISBLK(node->mode)) && !request->allow_devices)
			return failed_plain(reterr, -EPERM, "entry '%.100s': it is a device",
					    names[i]->path);
		if (node->leads_out && !request->allow_links_out)
			return failed_plain(reterr, -EPERM,
					    "entry '%.100s': it is a symbolic link that leads out "
					    "of the volume",
					    names[i]->path);
	}
	return 0;
}

static int by_place(const void *left, const void *right)
{
	const struct state_node *const *a = left, *const *b = right;

	if ((*a)->part != (*b)->part)
		return (*a)->part < (*b)->part ? -1 : 1;
	if ((*a)->entry != (*b)->entry)
		return (*a)->entry < (*b)->entry ? -1 : 1;
	return 0;
}

struct restore_plan {
	struct state_node **nodes; /* in the order in which the parts have them */
	size_t count, next;
};

static void restore_plan_done(struct restore_plan *plan)
{
	free(plan->nodes);
}

static int make_plan(const struct tree_state *state, struct restore_plan *ret,
		     struct failure *reterr)
{
	cleanup_free struct state_name **names = NULL;
	size_t count = 0;
	int r = tree_state_sort(state, &names, &count);

	ret->nodes = r < 0 ? NULL : calloc(count + 1, sizeof(struct state_node *));
	if (!ret->nodes)
		return failed(reterr, -ENOMEM, "cannot order the entries");
	for (size_t i = 0; i < count; i++)
		if (names[i]->node->names == names[i])
			ret->nodes[ret->count++] = names[i]->node;
	qsort(ret->nodes, ret->count, sizeof(struct state_node *), by_place);
	return 0;
}

static int restore_node(struct archive_reader *reader, struct archive_entry *entry,
			const struct state_node *node, struct failure *reterr)
{
	const char *first = node->names->path;
	int r = archive_reader_restore(reader, entry, first, reterr);

	reader->counts.entries++;
	for (const struct state_name *name = node->names->next; r == 0 && name; name = name->next) {
		r = tree_make_link(reader->maker, name->path, first, reterr);
		reader->counts.entries++;
	}
	return r < 0 ? failure_prefix(reterr, "entry '%.100s'", first) : 0;
}

static int restore_part(struct archive_reader *reader, size_t part, struct restore_plan *plan,
			struct failure *reterr)
{
	struct archive_entry *entry = NULL;
	uint64_t number = 0;
	int r = open_part(reader, part, reterr);

	if (r < 0)
		return r;
	for (; (r = archive_reader_next(reader, &entry, reterr)) > 0; number++) {
		const struct state_node *node =
			plan->next < plan->count ? plan->nodes[plan->next] : NULL;

		if (!node || node->part != part || node->entry != number)
			continue;
		plan->next++;
		r = restore_node(reader, entry, node, reterr);
		if (r < 0)
			return r;
	}
	return r;
}

int archive_parts_restore(struct archive_reader *reader, const struct tree_state *state,
			  struct failure *reterr)
{
	cleanup(restore_plan_done) struct restore_plan plan = { .nodes = NULL };
	int r = make_plan(state, &plan, reterr);

	if (r < 0)
		return r;
	tree_maker_set_parent_mode(reader->maker, PARENT_MODE);
	for (size_t i = 0; i < reader->request->part_count; i++)
		if (restore_part(reader, i, &plan, reterr) < 0)
			return in_part(reader, i, reterr);
	return plan.next == plan.count
		       ? 0
		       : failed_plain(reterr, -EBADMSG, "a part changed while it was read");
}
