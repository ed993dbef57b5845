/* SPDX-License-Identifier: Apache-2.0 */
/*
 * patch_json - JSON patch (RFC 6902) with JSON pointers (RFC 6901); see patch.h
 *
 * All operations or none: the caller throws the tree away after a failure.
 */
#include "object/patch/patch_work.h"

#include "base/cleanup.h"
#include "object/object.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct operation {
	const char *op, *path, *from; /* from NULL: none */
	const struct cJSON *value;    /* NULL: none */
};

/* Where a pointer leads: the place in a container, whether something is there or not. */
struct spot {
	struct cJSON *parent; /* NULL: the pointer is "", the whole document */
	char *token;          /* unescaped; points into @text */
	struct cJSON *item;   /* what is there, or NULL */
	size_t depth;         /* of the place: 1 for the document */
	char *text;           /* owned */
};

static void spot_done(struct spot *spot)
{
	free(spot->text);
}

#define cleanup_spot cleanup(spot_done)

/* "~1" is "/", "~0" is "~", in place. */
static int unescape(struct patch_work *work, char *token)
{
	char *to = token;

	for (const char *from = token; *from; from++) {
		if (*from != '~') {
			*to++ = *from;
			continue;
		}
		from++;
		if (*from != '0' && *from != '1')
			return failed_plain(work->reterr, -EBADMSG,
					    "a JSON pointer holds '~' without 0 or 1 behind it");
		*to++ = *from == '0' ? '~' : '/';
	}
	*to = '\0';
	return 0;
}

/* An index without leading zeros. False: it is none. */
static bool read_index(const char *token, size_t *ret)
{
	size_t digits = strspn(token, "0123456789");

	if (digits == 0 || digits > 9 || token[digits] != '\0' || (token[0] == '0' && digits > 1))
		return false;
	*ret = strtoul(token, NULL, 10);
	return true;
}

static int find_element(struct patch_work *work, struct cJSON *list, const char *token,
			struct cJSON **ret)
{
	struct cJSON *item = list->child;
	size_t index, i = 0;

	*ret = NULL;
	if (strcmp(token, "-") == 0)
		return 0; /* behind the last one: nothing is there */
	if (!read_index(token, &index))
		return failed_plain(work->reterr, -EINVAL, "'%.64s' is not an index of a list",
				    token);
	for (; item && i < index; i++)
		item = item->next;
	*ret = item;
	return patch_charge(work, i + 1);
}

static int find_child(struct patch_work *work, struct cJSON *container, const char *token,
		      struct cJSON **ret)
{
	if (json_is_object(container))
		return patch_member(work, container, token, NULL, ret);
	if (json_is_array(container))
		return find_element(work, container, token, ret);
	return failed_plain(work->reterr, -EINVAL, "'%.64s' lies in neither a map nor a list",
			    token);
}

/* @ret is to be given to spot_done(), whatever this returned. */
static int find_spot(struct patch_work *work, struct cJSON *root, const char *pointer,
		     struct spot *ret)
{
	char *at;
	int r = 0;

	*ret = (struct spot){ .item = root, .depth = 1 };
	if (*pointer == '\0')
		return 0;
	if (*pointer != '/')
		return failed_plain(work->reterr, -EBADMSG,
				    "the JSON pointer '%.64s' does not begin with '/'", pointer);
	ret->text = strdup(pointer);
	if (!ret->text)
		return failed(work->reterr, -ENOMEM, "cannot apply the patch");
	r = patch_charge(work, strlen(pointer) / CHARGE_BYTES);
	for (at = ret->text; at && r == 0;) {
		ret->parent = ret->item;
		ret->token = at + 1;
		at = strchr(ret->token, '/');
		if (at)
			*at = '\0';
		r = unescape(work, ret->token);
		if (r == 0 && !ret->parent)
			r = failed_plain(work->reterr, -EINVAL, "the path '%.128s' does not exist",
					 pointer);
		if (r == 0)
			r = find_child(work, ret->parent, ret->token, &ret->item);
		ret->depth++;
	}
	return r;
}

/* A spot at which something is. */
static int find_present(struct patch_work *work, struct cJSON *root, const char *pointer,
			struct spot *ret)
{
	int r = find_spot(work, root, pointer, ret);

	if (r == 0 && !ret->item)
		r = failed_plain(work->reterr, -EINVAL, "the path '%.128s' does not exist",
				 pointer);
	return r;
}

/* ---- changes; @value is taken ---- */

static void set_root(struct cJSON **root, struct cJSON *value)
{
	(void) json_set_key(value, NULL);
	json_free(*root);
	*root = value;
}

/* By hand: cJSON_InsertItemInArray() of 1.7.15 refuses every place but the first. */
static void link_before(struct cJSON *list, struct cJSON *next, struct cJSON *item)
{
	item->next = next;
	item->prev = next->prev;
	if (list->child == next)
		list->child = item;
	else
		next->prev->next = item;
	next->prev = item;
}

static int insert(struct patch_work *work, const struct spot *spot, struct cJSON *value)
{
	size_t index = 0, count = json_count(spot->parent);

	(void) json_set_key(value, NULL);
	if (strcmp(spot->token, "-") == 0 || (read_index(spot->token, &index) && index == count)) {
		json_append(spot->parent, value);
	} else if (spot->item) {
		link_before(spot->parent, spot->item, value);
	} else {
		json_free(value);
		return failed_plain(work->reterr, -EINVAL,
				    "the index %.16s is behind the end of the list", spot->token);
	}
	return patch_charge(work, count);
}

/* A tree grows deeper only here: moved and copied into itself it would outgrow any stack. */
static int check_depth(struct patch_work *work, const struct spot *spot, const struct cJSON *value)
{
	size_t nodes = 0;
	size_t depth = spot->depth + patch_depth(value, &nodes);

	if (depth > OBJECT_DEPTH_MAX + 1)
		return failed_plain(work->reterr, -E2BIG,
				    "the result would be nested deeper than %d", OBJECT_DEPTH_MAX);
	return patch_charge(work, nodes);
}

static int put(struct patch_work *work, struct cJSON **root, const char *pointer,
	       struct cJSON *value)
{
	cleanup_spot struct spot spot = { 0 };
	int r = find_spot(work, *root, pointer, &spot);

	if (r == 0)
		r = check_depth(work, &spot, value);
	if (r < 0) {
		json_free(value);
		return r;
	}
	if (!spot.parent) {
		set_root(root, value);
		return 0;
	}
	if (json_is_array(spot.parent))
		return insert(work, &spot, value);
	return patch_put(work, spot.parent, spot.token, spot.item, value);
}

static int copied(struct patch_work *work, const struct cJSON *item, size_t *bytes,
		  struct cJSON **ret)
{
	int r = patch_charge_tree(work, item, bytes);

	if (r < 0)
		return r;
	*ret = json_copy(item);
	return *ret ? 0 : failed(work->reterr, -ENOMEM, "cannot apply the patch");
}

/* ---- operations ---- */

static int need_value(struct patch_work *work, const struct operation *operation)
{
	if (operation->value)
		return 0;
	return failed_plain(work->reterr, -EBADMSG, "a '%s' operation has no value", operation->op);
}

static int need_from(struct patch_work *work, const struct operation *operation)
{
	if (operation->from)
		return 0;
	return failed_plain(work->reterr, -EBADMSG, "a '%s' operation has no 'from'",
			    operation->op);
}

static int op_add(struct patch_work *work, struct cJSON **root, const struct operation *operation)
{
	struct cJSON *value;
	size_t bytes = 0;
	int r = need_value(work, operation);

	if (r == 0)
		r = copied(work, operation->value, &bytes, &value);
	return r < 0 ? r : put(work, root, operation->path, value);
}

static int take_out(struct patch_work *work, struct cJSON **root, const char *pointer,
		    struct cJSON **ret)
{
	cleanup_spot struct spot spot = { 0 };
	int r = find_present(work, *root, pointer, &spot);

	if (r < 0)
		return r;
	if (!spot.parent)
		return failed_plain(work->reterr, -EINVAL, "the whole object cannot be removed");
	*ret = cJSON_DetachItemViaPointer(spot.parent, spot.item);
	return 0;
}

static int op_remove(struct patch_work *work, struct cJSON **root,
		     const struct operation *operation)
{
	struct cJSON *item = NULL;
	int r = take_out(work, root, operation->path, &item);

	json_free(item);
	return r;
}

static int op_replace(struct patch_work *work, struct cJSON **root,
		      const struct operation *operation)
{
	cleanup_spot struct spot spot = { 0 };
	struct cJSON *value;
	size_t bytes = 0;
	int r = need_value(work, operation);

	if (r == 0)
		r = find_present(work, *root, operation->path, &spot);
	if (r < 0)
		return r;
	if (!spot.parent || json_is_object(spot.parent))
		return op_add(work, root, operation);
	r = check_depth(work, &spot, operation->value);
	if (r == 0)
		r = copied(work, operation->value, &bytes, &value);
	if (r == 0) {
		(void) json_set_key(value, NULL);
		(void) cJSON_ReplaceItemViaPointer(spot.parent, spot.item, value);
	}
	return r;
}

/* Into itself would make a loop: RFC 6902, 4.4. */
static int op_move(struct patch_work *work, struct cJSON **root, const struct operation *operation)
{
	struct cJSON *item = NULL;
	size_t length;
	int r = need_from(work, operation);

	if (r < 0)
		return r;
	length = strlen(operation->from);
	if (strcmp(operation->from, operation->path) == 0) {
		cleanup_spot struct spot spot = { 0 };

		return find_present(work, *root, operation->from, &spot);
	}
	if (strncmp(operation->path, operation->from, length) == 0 &&
	    operation->path[length] == '/')
		return failed_plain(work->reterr, -EINVAL, "'%.128s' cannot be moved into itself",
				    operation->from);
	r = take_out(work, root, operation->from, &item);
	return r < 0 ? r : put(work, root, operation->path, item);
}

static int op_copy(struct patch_work *work, struct cJSON **root, const struct operation *operation)
{
	cleanup_spot struct spot spot = { 0 };
	struct cJSON *value;
	int r = need_from(work, operation);

	if (r == 0)
		r = find_present(work, *root, operation->from, &spot);
	if (r < 0)
		return r;
	r = copied(work, spot.item, &work->copied_bytes, &value);
	if (r < 0)
		return r;
	if (work->copied_bytes <= PATCH_COPY_BYTES_MAX)
		return put(work, root, operation->path, value);
	json_free(value);
	return failed_plain(work->reterr, -E2BIG,
			    "the copy operations of the patch add more than %d bytes",
			    PATCH_COPY_BYTES_MAX);
}

static int op_test(struct patch_work *work, struct cJSON **root, const struct operation *operation)
{
	cleanup_spot struct spot spot = { 0 };
	size_t bytes = 0;
	int r = need_value(work, operation);

	if (r == 0)
		r = find_present(work, *root, operation->path, &spot);
	if (r == 0) /* a comparison walks no further than the shorter of the two */
		r = patch_charge_tree(work, operation->value, &bytes);
	if (r == 0 && !json_equal(spot.item, operation->value))
		r = failed_plain(work->reterr, -EINVAL, "testing value '%.128s' failed",
				 operation->path);
	return r;
}

static const struct {
	const char *op;
	int (*apply)(struct patch_work *work, struct cJSON **root,
		     const struct operation *operation);
} operations[] = {
	{ "add", op_add },   { "remove", op_remove }, { "replace", op_replace },
	{ "move", op_move }, { "copy", op_copy },     { "test", op_test },
};

static int apply_one(struct patch_work *work, struct cJSON **root, const struct cJSON *item)
{
	const struct operation operation = {
		.op = json_string(json_get(item, "op"), NULL),
		.path = json_string(json_get(item, "path"), NULL),
		.from = json_string(json_get(item, "from"), NULL),
		.value = json_get(item, "value"),
	};

	if (!operation.op || !operation.path)
		return failed_plain(work->reterr, -EBADMSG,
				    "an operation of a JSON patch is a map with 'op' and 'path'");
	for (size_t i = 0; i < ARRAY_SIZE(operations); i++)
		if (strcmp(operations[i].op, operation.op) == 0)
			return operations[i].apply(work, root, &operation);
	return failed_plain(work->reterr, -EBADMSG, "unexpected kind: %.64s", operation.op);
}

int patch_json(struct patch_work *work, struct cJSON **tree, const struct cJSON *patch)
{
	size_t index = 0;

	if (!json_is_array(patch))
		return failed_plain(work->reterr, -EBADMSG,
				    "a JSON patch must be a list of operations");
	if (json_count(patch) > PATCH_OPERATIONS_MAX)
		return failed_plain(work->reterr, -E2BIG,
				    "the allowed maximum operations in a JSON patch is %d, got %zu",
				    PATCH_OPERATIONS_MAX, json_count(patch));
	for (const struct cJSON *item = patch->child; item; item = item->next, index++) {
		int r = apply_one(work, tree, item);

		if (r < 0) {
			(void) failure_prefix(work->reterr, "operation %zu", index);
			return r;
		}
	}
	if (!json_is_object(*tree))
		return failed_plain(work->reterr, -EINVAL, "the patch leaves no object");
	return 0;
}
