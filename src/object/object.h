/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object - Kubernetes objects as immutable, reference-counted values
 *
 * An object is its canonical JSON bytes (what SQLite keeps and HTTP sends; fields we do not know
 * survive) plus one typed struct decoded from them once. It never changes: a new version is a new
 * object. Text comes in as YAML or JSON of any origin and is not trusted: sizes, depth,
 * duplicate keys, UTF-8, NUL and numbers are checked before anything looks at it. Only this folder
 * touches cJSON and libyaml.
 *
 * References are atomic, so a worker may decode what the loop will own; the contents need no lock.
 */
#pragma once

#include "base/cleanup.h"
#include "base/failure.h"
#include "object/select/selector.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cJSON;

enum object_kind {
	KIND_POD,
	KIND_PERSISTENT_VOLUME,
	KIND_PERSISTENT_VOLUME_CLAIM,
	KIND_STORAGE_CLASS,
	KIND_CONFIG_MAP,
	KIND_SECRET,
	KIND_NODE,
	KIND_NAMESPACE,
	KIND_EVENT,
	KIND_SERVICE_ACCOUNT,
	KIND_CSI_DRIVER,
	KIND_CSI_NODE,
	KIND_VOLUME_ATTACHMENT,
	KIND_CSI_STORAGE_CAPACITY,
	KIND_VOLUME_SNAPSHOT,
	KIND_VOLUME_SNAPSHOT_CLASS,
	KIND_VOLUME_SNAPSHOT_CONTENT,
	KIND_VOLUME_GROUP_SNAPSHOT,
	KIND_VOLUME_GROUP_SNAPSHOT_CLASS,
	KIND_VOLUME_GROUP_SNAPSHOT_CONTENT,
	KIND_LEASE,
	KIND_CLUSTER_TRUST_BUNDLE,
	KIND_VOLUME_ATTRIBUTES_CLASS,
	KIND_COUNT
};

/* metadata, decoded; strings are "" where absent, never NULL, and live as long as the object. */
struct object_meta {
	const char *name_space; /* "" for kinds without namespaces ("namespace" is a word of C++) */
	const char *name;
	const char *uid;
	const char *deletion_timestamp; /* "" unless being deleted */
	uint64_t resource_version;      /* 0: never stored */
	uint64_t generation;
	uint64_t creation_usec; /* real time; 0: never stored */
	struct labels labels;
	bool deletes; /* deletion_timestamp is set */
};

struct object_span {
	uint32_t at, length; /* in an object's text; length 0: there is no such member */
};

struct object {
	enum object_kind kind;
	struct object_span metadata, spec; /* see object_text.h */
	struct object_meta meta;
	const char *json; /* canonical bytes, NUL-terminated */
	size_t json_length;
	/* The same, of a proposal until it is admitted; object/'s own; or NULL. */
	struct cJSON *tree;
	/* The member named by kind; decoded, defaults applied. Borrowed: lives as long as the
	 * object. NULL for kinds that nothing here acts upon: their JSON is all there is. */
	union {
		const struct pod *pod;
		const struct persistent_volume *persistent_volume;
		const struct persistent_volume_claim *claim;
		const struct storage_class *storage_class;
		const struct csi_driver_spec *csi_driver;
		const struct node *node;
		const struct volume_attachment *volume_attachment;
		const struct volume_snapshot
			*volume_snapshot; /* of a group, too; so the next two */
		const struct volume_snapshot_class *volume_snapshot_class;
		const struct volume_snapshot_content *volume_snapshot_content;
		const struct cluster_trust_bundle *cluster_trust_bundle;
	};
};

/**
 * object_ref, object_unref - share an object; any thread
 *
 * Return: object_ref the same pointer; object_unref NULL. Both accept NULL.
 */
const struct object *object_ref(const struct object *object);
const struct object *object_unref(const struct object *object);
/* For cleanup_object: variables that hold a reference. */
void object_unref_pointer(const struct object **object);
#define cleanup_object cleanup(object_unref_pointer)

/**
 * object_from_json - one object from a parsed tree, with defaults, validated and decoded
 * @tree:   read only; stays the caller's
 * @ret:    a new reference
 * @reterr: names the field: "spec.volumes[2].hostPath.type: unsupported value \"Dir\": ..."
 *
 * Unknown kinds are -EOPNOTSUPP. Defaults are those of the API machinery (spec: Kubernetes 1.32);
 * uid, resourceVersion and status are kept when present. Pure; any thread.
 *
 * Return: 0; -EINVAL invalid, -EOPNOTSUPP kind or version not served, -ENOMEM.
 */
int object_from_json(const struct cJSON *tree, const struct object **ret, struct failure *reterr);

/* The same for a write, which keeps a tree for admission: a copy, or @tree, NULL after success. */
int object_propose(const struct cJSON *tree, const struct object **ret, struct failure *reterr);
int object_propose_taken(struct cJSON **tree, const struct object **ret, struct failure *reterr);

/**
 * object_parse_json - the same from canonical bytes, for what was stored before
 * @length: bytes; at most OBJECT_BYTES_MAX
 */
int object_parse_json(const char *text, size_t length, const struct object **ret,
		      struct failure *reterr);

/* The same for bytes that this very program made and stored: no types, defaults and rules are
 * looked at, and the bytes are kept as they are. */
int object_parse_own(const char *text, size_t length, const struct object **ret,
		     struct failure *reterr);

/**
 * object_edit - a changed copy: the one way to make the next version of an object
 * @edit: gets a mutable tree; returns 0 or a negative errno, which object_edit returns
 *
 * Return: 0, what @edit returned, -EINVAL when the result is no valid object, -ENOMEM.
 */
int object_edit(const struct object *object, int (*edit)(struct cJSON *tree, void *userdata),
		void *userdata, const struct object **ret, struct failure *reterr);

/* The same for an @edit that changes metadata, takes members away that may be absent, and sets what
 * was checked before: defaults are set and metadata is checked, the rules for the rest hold. */
int object_edit_checked(const struct object *object,
			int (*edit)(struct cJSON *tree, void *userdata), void *userdata,
			const struct object **ret, struct failure *reterr);

/* A proposal that becomes what is stored although others hold it: until the store has answered,
 * none of them reads its text, metadata or binding. When the write fails it may have metadata of
 * the store. On the loop. */
void object_hand_over(const struct object *object);

/* The same object with another metadata.resourceVersion. Return: as object_edit(). */
int object_with_version(const struct object *object, uint64_t resource_version,
			const struct object **ret, struct failure *reterr);

/* The object's JSON as a tree again; NULL: no memory. Freed with json_free(). */
struct cJSON *object_tree(const struct object *object);

/* What names the object in others: a core/v1 ObjectReference of all members that it has, into
 * @reference, a map. */
void object_write_reference(const struct object *object, struct cJSON *reference);

/* One document of a manifest. Exactly one of object and failure is set. */
struct document {
	const struct object *object; /* owned by the list */
	/* With the line where the syntax broke; of failure_keep(), for the list; NULL: none. */
	const struct failure *failure;
	unsigned int line; /* where the document begins, from 1 */
	/* As far as they could be read, for messages about a bad document; "" otherwise. */
	char kind[64], name_space[64], name[254];
	/* A kind of Kubernetes that has no meaning on a node, such as a Service: @failure says that
	 * it is not served; a store of documents may pass it over. */
	bool is_foreign_kind;
	/* The fields that no schema names: "spec.a, spec.b"; owned by the list; NULL: none. */
	char *unknown_fields;
	/* The document as it was written, before defaults, as JSON; owned by the list. Only from
	 * documents_parse_sources(), and only with @object. */
	char *source;
};

struct document_list {
	struct document *documents;
	size_t count;
	bool has_empty_list; /* a list object without items: nothing to store, and no mistake */
	/* The stream broke off: later documents are unknown. Where it broke is also the last of the
	 * documents, so that a report of only those misses nothing. */
	struct failure failure;
};

/* What is made of each document before it is an object. */
struct document_edit {
	/* @tree:  valid, with defaults; to be changed in its metadata, or as object_edit_checked()
	 * may
	 * @text:  its canonical bytes as they are, @length of them
	 * @index: of the document in the list
	 * Return: 0; -ENOMEM. */
	int (*edit)(struct cJSON *tree, const char *text, size_t length, size_t index,
		    void *userdata);
	void *userdata;
};

/**
 * documents_parse - every document of a YAML or JSON stream; v1.List items count as documents
 * @text:   need not be NUL-terminated
 * @length: bytes; at most DOCUMENTS_BYTES_MAX
 * @ret:    to be given to document_list_done(), also when it holds failures
 *
 * YAML scalars are resolved as kubelet does (YAML 1.1: yes, on, 0x1F, 012, ~). Anchors and aliases,
 * merge keys and duplicate keys are refused with their line. A document that is empty or only
 * comments is passed over. A bad document does not spoil the others of its file; a syntax error
 * ends the stream at its line.
 *
 * Return: 0 even when documents failed; -E2BIG, -ENOMEM when nothing could be looked at.
 */
int documents_parse(const char *text, size_t length, struct document_list *ret,
		    struct failure *reterr);
/* The same with an edit of each document; the objects are proposals without a tree. */
int documents_parse_edited(const char *text, size_t length, const struct document_edit *edit,
			   struct document_list *ret, struct failure *reterr);
/* Of this process from now on: the most documents in one file instead of DOCUMENTS_COUNT_MAX, and
 * DOCUMENT_NODES_MEAN times as many values. Reading a file takes some 5 KiB for each. */
void documents_set_max(size_t count);
/* What suits a machine: a document for each DOCUMENT_MEMORY_BYTES of its memory (0: unknown), but
 * at least DOCUMENTS_COUNT_LEAST and at most DOCUMENTS_COUNT_MOST. */
size_t documents_max_for(uint64_t memory_bytes);
/* The same on the loop: twice OBJECT_NODES_MAX values in all are the most. */
int documents_parse_few(const char *text, size_t length, struct document_list *ret,
			struct failure *reterr);
/* The same, keeping what the documents said: for who compares it with what they said before. */
int documents_parse_sources(const char *text, size_t length, struct document_list *ret,
			    struct failure *reterr);
/* Drops the objects of the list; an empty list is fine. */
void document_list_done(struct document_list *list);

/* Limits; the table of limits in the manual is made from these. */
enum {
	OBJECT_BYTES_MAX = 3 * 1024 * 1024 / 2, /* one object's JSON: etcd's 1.5 MiB */
	DOCUMENTS_BYTES_MAX = 16 * 1024 * 1024, /* one manifest file */
	DOCUMENTS_COUNT_MAX = 50000, /* in one file, list items included; see documents_set_max() */
	DOCUMENTS_COUNT_LEAST = 30000,     /* what small machines take, too */
	DOCUMENTS_COUNT_MOST = 250000,     /* by themselves; the option may say more */
	DOCUMENT_MEMORY_BYTES = 64 * 1024, /* of a machine, for each document in a file */
	DOCUMENT_NODES_MEAN = 40,   /* values in one file, for each document that may be in it */
	OBJECT_NODES_MAX = 12000,   /* values in one object: 20 ms of the loop */
	OBJECT_DEPTH_MAX = 64,      /* nesting of maps and lists */
	OBJECT_UID_BYTES_MAX = 128, /* chosen by the writer of the object */
};
