/* SPDX-License-Identifier: Apache-2.0 */
/*
 * podvol - the C interface to podvold: hand over manifests, wait until a pod's volumes are mounted,
 * ask what is mounted where
 *
 * A handle is one connection to the daemon. Calls block until they are answered or
 * their time is over. A handle belongs to one thread at a time; different handles do not know each
 * other. The library never prints, never aborts, starts no thread and leaves signals alone. It
 * does not trust its arguments: what cannot be right is -EINVAL.
 *
 * Functions return 0 or a positive fact, else a negative errno; podvol_error() has the sentence for
 * people. Whatever the daemon refused comes as one of
 *   -ENOENT        no such object, pod, volume or path
 *   -EEXIST        it is there already
 *   -EBUSY         a conflict: it changed meanwhile, or a manifest still holds the pod
 *   -EBADMSG       the request or an object in it is not valid; the sentence names the field
 *   -EACCES        the caller may not use the socket
 *   -E2BIG         the request is too large
 *   -ETIMEDOUT     it was not done in time; the sentence says what is missing and why
 *   -EAGAIN        the daemon has too much to do, or is stopping: try again later
 *   -EIO           any other refusal, see podvol_status()
 * and what the way to it can bring:
 *   -ECONNREFUSED  no daemon answers on the socket, or it is not there
 *   -EPROTO        what answers there is no podvold
 *   -ENOMEM
 *
 * Example: store what a file holds, wait for the pod, print where its volumes are.
 *
 *	struct podvol *podvol = NULL;
 *	struct podvol_table *volumes = NULL;
 *	int r = podvol_connect(NULL, &podvol);
 *
 *	if (r == 0)
 *		r = podvol_apply(podvol, manifest, strlen(manifest), NULL);
 *	if (r == 0)
 *		r = podvol_pod_mount(podvol, "default/web", 30000, &volumes);
 *	for (size_t i = 0; r == 0 && i < podvol_table_rows(volumes); i++)
 *		puts(podvol_table_cell(volumes, i, podvol_table_find(volumes, "Path")));
 *	if (r < 0)
 *		fprintf(stderr, "%s\n", podvol ? podvol_error(podvol) : strerror(-r));
 *	podvol_table_free(volumes);
 *	podvol_free(podvol);
 */
#ifndef PODVOL_H
#define PODVOL_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PODVOL_PUBLIC __attribute__((visibility("default")))
/* Where the daemon listens by default. */
#define PODVOL_SOCKET_DEFAULT "/run/podvol/podvol.sock"

struct podvol;
struct podvol_table;
struct podvol_watch;

/**
 * podvol_connect - make a handle
 * @socket_path: absolute path of the socket; NULL means $PODVOL_SOCKET, or PODVOL_SOCKET_DEFAULT
 * @ret:         the caller's; given to podvol_free()
 *
 * Nothing is sent yet. Return: 0; -EINVAL; -ENAMETOOLONG; -ENOMEM.
 */
PODVOL_PUBLIC int podvol_connect(const char *socket_path, struct podvol **ret);

/**
 * podvol_connect_tls - make a handle for a podvold that listens on TCP (podvold.conf(5): listen)
 * @url:        "https://example.com:8443", without a path
 * @ca_file:    authorities in PEM that may have signed its certificate; NULL: the system's
 * @token_file: holds a bearer token and is read for each request; NULL: none is sent
 * @ret:        the caller's; given to podvol_free()
 *
 * TLS 1.2 or later; no proxy is used. An untrusted certificate is -EACCES, a token that cannot be
 * read the errno of that. Return: as podvol_connect().
 */
PODVOL_PUBLIC int podvol_connect_tls(const char *url, const char *ca_file, const char *token_file,
				     struct podvol **ret);

/* podvol_free - close the connection and free the handle, which may be NULL */
PODVOL_PUBLIC void podvol_free(struct podvol *podvol);

/**
 * podvol_error - what went wrong in the last call with this handle, for people
 * @podvol: may be NULL
 * Return: one sentence without a newline, "" after success; valid until the next call.
 */
PODVOL_PUBLIC const char *podvol_error(const struct podvol *podvol);

/* podvol_status - HTTP status of the last answer: 200, 404, ...; 0 when there was none, or for NULL
 */
PODVOL_PUBLIC int podvol_status(const struct podvol *podvol);

/* podvol_socket - the path of the socket, or URL, of a handle, valid as long as it; "" for NULL */
PODVOL_PUBLIC const char *podvol_socket(const struct podvol *podvol);

/* One HTTP request. Strings and bytes are read during the call only. */
struct podvol_request {
	const char *method;       /* "GET", "POST", "PUT", "DELETE" */
	const char *path;         /* "/api/v1/pods?..."; escaped by the caller */
	const char *content_type; /* of @body; NULL: "application/json" */
	const char *accept;       /* NULL: "application/json" */
	const void *body;         /* may be NULL */
	size_t body_length;
	unsigned int timeout_msec; /* for the whole call; 0: none */
};

/* Its answer. Give it to podvol_reply_done(). */
struct podvol_reply {
	int status; /* HTTP's */
	char *body; /* NUL-terminated */
	size_t length;
};

/**
 * podvol_request - send any request of the daemon's API
 * @podvol:  the handle
 * @request: what is sent
 * @ret:     the answer; written for every HTTP status, also when this function says that the daemon
 *           refused; untouched when there was no answer; may be NULL
 *
 * Return: 0 for statuses below 400, else an errno as above.
 */
PODVOL_PUBLIC int podvol_request(struct podvol *podvol, const struct podvol_request *request,
				 struct podvol_reply *ret);

/* podvol_reply_done - free what an answer holds, which may be NULL or empty */
PODVOL_PUBLIC void podvol_reply_done(struct podvol_reply *reply);

/* podvol_escape - make any text, such as a volume's unique name, fit into one part of a path or
 * query. Return: the caller's, freed with free(); NULL: no memory, or @text is NULL. */
PODVOL_PUBLIC char *podvol_escape(const char *text);

/**
 * podvol_apply - store every document of a stream: create what is new, update what differs
 * @podvol:    the handle
 * @documents: YAML or JSON, any number of documents; all are checked before the first is stored
 * @length:    bytes
 * @ret:       columns Kind, Namespace, Name, UID, Result (created, configured, unchanged); may be
 *             NULL; given to podvol_table_free()
 *
 * Return: 0; -EBADMSG names document, line and field; other errors as above.
 */
PODVOL_PUBLIC int podvol_apply(struct podvol *podvol, const void *documents, size_t length,
			       struct podvol_table **ret);

/**
 * podvol_pod_mount - wait until every volume of a stored pod is mounted
 * @podvol:       the handle
 * @pod:          "namespace/name", "name" (namespace "default") or uid
 * @timeout_msec: 0 asks for the present state and does not wait
 * @ret:          its volumes, see podvol_volumes(); may be NULL
 *
 * Return: 0; -ETIMEDOUT says which volumes are missing, at which step, with which error, after how
 * many attempts and when the next comes; -EBADMSG no waiting helps: an unsupported kind of volume,
 * a pod of another node, one that has finished; -ENOENT.
 */
PODVOL_PUBLIC int podvol_pod_mount(struct podvol *podvol, const char *pod,
				   unsigned int timeout_msec, struct podvol_table **ret);

/**
 * podvol_pod_unmount - delete a pod and wait until none of its volumes is mounted
 * @podvol:       the handle
 * @pod:          as above; also a pod that is deleted and not yet down
 * @timeout_msec: 0 deletes and does not wait
 *
 * Claims, volumes and data stay. A pod that is gone is unmounted: that is success.
 * Return: 0; -EBUSY a manifest still holds the pod, and which; -ETIMEDOUT.
 */
PODVOL_PUBLIC int podvol_pod_unmount(struct podvol *podvol, const char *pod,
				     unsigned int timeout_msec);

enum podvol_wait_for {
	PODVOL_MOUNTED,
	PODVOL_UNMOUNTED,
};

/**
 * podvol_pod_wait - wait and change nothing
 * @podvol:       the handle
 * @pod:          as above
 * @what:         PODVOL_MOUNTED, or PODVOL_UNMOUNTED (true also for an unknown pod)
 * @timeout_msec: 0 asks once
 *
 * Return: 0; -ENOENT; -ETIMEDOUT and -EBADMSG as podvol_pod_mount().
 */
PODVOL_PUBLIC int podvol_pod_wait(struct podvol *podvol, const char *pod, enum podvol_wait_for what,
				  unsigned int timeout_msec);

/**
 * podvol_volumes - the volumes of one pod, or of all
 * @podvol: the handle
 * @pod:    as above; NULL: all
 * @ret:    columns Pod, Volume, Plugin, Source, Path, Access, State, Took, and more that are for
 *          those who look closer; given to podvol_table_free()
 *
 * Return: 0; -ENOENT.
 */
PODVOL_PUBLIC int podvol_volumes(struct podvol *podvol, const char *pod, struct podvol_table **ret);

/**
 * podvol_container_mounts - what a container of a mounted pod is to be given
 * @podvol:       the handle
 * @pod:          as above
 * @container:    its name; NULL: of every container of the pod
 * @timeout_msec: how long to wait for the pod's volumes; 0 does not wait
 * @ret:          a row for each mount and device, parents before children, with the columns
 *                PODVOL_MOUNT_...; given to podvol_table_free()
 *
 * Sub-paths are made and bound before the answer; call it before each start of a container.
 * Return: 0; -EBUSY not mounted, the sentence says why; -ETIMEDOUT; -ENOENT; -EBADMSG.
 */
PODVOL_PUBLIC int podvol_container_mounts(struct podvol *podvol, const char *pod,
					  const char *container, unsigned int timeout_msec,
					  struct podvol_table **ret);

#define PODVOL_MOUNT_CONTAINER      "Container"
#define PODVOL_MOUNT_CONTAINER_PATH "Container Path"
#define PODVOL_MOUNT_VOLUME         "Volume"
#define PODVOL_MOUNT_ACCESS         "Access" /* rw, ro, rro: recursively, ro+: where it can be */
#define PODVOL_MOUNT_PROPAGATION    "Propagation" /* None, HostToContainer, Bidirectional */
#define PODVOL_MOUNT_HOST_PATH      "Host Path"
#define PODVOL_MOUNT_SUB_PATH       "Sub Path"
#define PODVOL_MOUNT_OPTIONS        "Options" /* any of idmap,noexec,nosuid,nodev,relabel */
#define PODVOL_MOUNT_TYPE           "Type"    /* of the container: init, sidecar, ... */

/**
 * podvol_container_mounts_as - the same in the words of a container runtime
 * @format: "oci", "cri", "kube", "json": JSON; "podman", "docker", "nspawn": one word of a command
 * on each line
 * @ret:    given to podvol_reply_done()
 *
 * Return: as podvol_container_mounts(); -EBADMSG also for what the runtime has no words for.
 */
PODVOL_PUBLIC int podvol_container_mounts_as(struct podvol *podvol, const char *pod,
					     const char *container, const char *format,
					     unsigned int timeout_msec, struct podvol_reply *ret);

/* Who holds a pod's volumes. At most one of @pid and @cgroup. */
struct podvol_hold {
	const char *container; /* its name in the pod */
	int pid;               /* of its first process; 0: none */
	const char *cgroup;    /* absolute path of its cgroup (version 2); NULL: none */
};

/**
 * podvol_hold_add - say that a container of a pod exists: no volume is taken from it while it lives
 * @podvol: the handle
 * @pod:    as above
 * @hold:   ends by itself with the process or the last process of the cgroup; with neither it lasts
 *          until podvol_hold_remove()
 * @ret_id: names the hold; freed with free(); may be NULL
 *
 * To be called when the process exists and before it looks at a volume: after "create", before
 * "start". Return: 0; -EBUSY the pod is being taken down; -EBADMSG no such process or cgroup;
 * -ENOENT.
 */
PODVOL_PUBLIC int podvol_hold_add(struct podvol *podvol, const char *pod,
				  const struct podvol_hold *hold, char **ret_id);

/**
 * podvol_hold_remove - end a hold
 * @podvol: the handle
 * @pod:    as above
 * @id:     of podvol_hold_add()
 *
 * Return: 0; -ENOENT it had ended before.
 */
PODVOL_PUBLIC int podvol_hold_remove(struct podvol *podvol, const char *pod, const char *id);

struct podvol_call;

/**
 * podvol_call - start a call and return at once, for a program with an event loop of its own
 * @podvol:   the handle; up to 1000 calls may be under way, and blocking calls be made meanwhile
 * @request:  copied
 * @done:     called once, from podvol_process(), when it has ended: 0 or an errno as above, and the
 *            answer, empty when there was none, freed afterwards. podvol_error() and
 * podvol_status() are about this call then. May start, cancel and block; may not free the handle.
 * @userdata: handed to @done
 * @ret:      for podvol_call_cancel() until then; may be NULL
 *
 * Return: 0; -EAGAIN too many are under way; -EINVAL; -ENOMEM.
 */
PODVOL_PUBLIC int podvol_call(struct podvol *podvol, const struct podvol_request *request,
			      void (*done)(void *userdata, int result, struct podvol_reply *reply),
			      void *userdata, struct podvol_call **ret);

/* podvol_call_cancel - forget a call, or NULL; the daemon may have done it, or do it still */
PODVOL_PUBLIC void podvol_call_cancel(struct podvol_call *call);
/* podvol_fd - what to poll for reading, the same as long as the handle lives; or -EMFILE, -ENOMEM
 */
PODVOL_PUBLIC int podvol_fd(struct podvol *podvol);

/* podvol_process - go on with the calls, without blocking; returns how many are under way still */
PODVOL_PUBLIC int podvol_process(struct podvol *podvol);

/* The requests of the calls above, with their arguments and errors, for podvol_call(). The answer
 * of a mount is a table of volumes, that of container_mounts a table when @format is NULL, that of
 * hold_add an object with "id". */
PODVOL_PUBLIC int podvol_pod_mount_request(struct podvol *podvol, const char *pod,
					   unsigned int timeout_msec, struct podvol_request **ret);
PODVOL_PUBLIC int podvol_pod_unmount_request(struct podvol *podvol, const char *pod,
					     unsigned int timeout_msec,
					     struct podvol_request **ret);
PODVOL_PUBLIC int podvol_pod_wait_request(struct podvol *podvol, const char *pod,
					  enum podvol_wait_for what, unsigned int timeout_msec,
					  struct podvol_request **ret);
PODVOL_PUBLIC int podvol_container_mounts_request(struct podvol *podvol, const char *pod,
						  const char *container, const char *format,
						  unsigned int timeout_msec,
						  struct podvol_request **ret);
PODVOL_PUBLIC int podvol_hold_add_request(struct podvol *podvol, const char *pod,
					  const struct podvol_hold *hold,
					  struct podvol_request **ret);
PODVOL_PUBLIC int podvol_hold_remove_request(struct podvol *podvol, const char *pod, const char *id,
					     struct podvol_request **ret);
/* podvol_request_free - free one of them, or NULL */
PODVOL_PUBLIC void podvol_request_free(struct podvol_request *request);

struct podvol_object;

/**
 * podvol_object_get - one object, to be asked for its fields
 * @podvol: the handle
 * @path:   "/api/v1/namespaces/default/pods/web"; escaped by the caller
 * @ret:    given to podvol_object_free()
 *
 * Return: 0; -ENOENT; -EPROTO the answer is no JSON object; other errors as above.
 */
PODVOL_PUBLIC int podvol_object_get(struct podvol *podvol, const char *path,
				    struct podvol_object **ret);

/**
 * podvol_object_parse - the same from JSON text, as of a watch
 * @text:   need not end in NUL
 * @length: bytes
 * @ret:    given to podvol_object_free()
 *
 * Return: 0; -EBADMSG it is no JSON object; -ENOMEM.
 */
PODVOL_PUBLIC int podvol_object_parse(const char *text, size_t length, struct podvol_object **ret);

/* podvol_object_free - free an object, which may be NULL */
PODVOL_PUBLIC void podvol_object_free(struct podvol_object *object);

/**
 * podvol_object_text - the text of a field
 * @object: may be NULL
 * @field:  "spec.containers[0].name", "metadata.annotations['example.com/image']"
 *
 * Return: a text, valid as long as the object; numbers and booleans as they are written; "" for
 * what is not there and for lists and maps.
 */
PODVOL_PUBLIC const char *podvol_object_text(struct podvol_object *object, const char *field);

/**
 * podvol_object_json - a field as JSON text, to be handed on
 * @object: may be NULL
 * @field:  as above; "" is the whole object
 *
 * Return: a text, valid as long as the object; "" for what is not there, and without memory.
 */
PODVOL_PUBLIC const char *podvol_object_json(struct podvol_object *object, const char *field);

/* podvol_object_count - elements of a list or members of a map; 0 for what is neither. */
PODVOL_PUBLIC size_t podvol_object_count(const struct podvol_object *object, const char *field);

/**
 * podvol_table_get - any path that can answer as a Table
 * @podvol: the handle
 * @path:   "/api/v1/namespaces/default/pods", "/podvol/v1/operations", ...; escaped by the caller
 * @ret:    given to podvol_table_free()
 *
 * Return: 0; -EPROTO the answer is no Table; other errors as above.
 */
PODVOL_PUBLIC int podvol_table_get(struct podvol *podvol, const char *path,
				   struct podvol_table **ret);

/**
 * podvol_table_parse - a Table from its JSON text, such as a watch hands over; only the first Table
 * of a watch names its columns, which are "" in the others
 * @text:   need not be NUL-terminated; may go away after the call
 * @length: bytes
 * @ret:    given to podvol_table_free()
 *
 * Return: 0; -EPROTO it is no Table; -EINVAL; -ENOMEM.
 */
PODVOL_PUBLIC int podvol_table_parse(const char *text, size_t length, struct podvol_table **ret);

/* podvol_table_free - free a table; NULL is an empty one, as in all functions below */
PODVOL_PUBLIC void podvol_table_free(struct podvol_table *table);

/* podvol_table_rows, podvol_table_columns - its size. */
PODVOL_PUBLIC size_t podvol_table_rows(const struct podvol_table *table);
PODVOL_PUBLIC size_t podvol_table_columns(const struct podvol_table *table);

/* podvol_table_name - a column's name as the daemon writes it ("Unique Name"); "" outside. */
PODVOL_PUBLIC const char *podvol_table_name(const struct podvol_table *table, size_t column);

/* podvol_table_priority - 0 always shown, 1 in wide output, 2 to look closer; -1 outside. */
PODVOL_PUBLIC int podvol_table_priority(const struct podvol_table *table, size_t column);

/* podvol_table_column - the column of a name in any case: 0, or -EINVAL when there is none */
PODVOL_PUBLIC int podvol_table_column(const struct podvol_table *table, const char *name,
				      size_t *ret);

/* podvol_table_find - the column of a name in any case; podvol_table_columns() when there is none,
 * for which every cell is "". */
PODVOL_PUBLIC size_t podvol_table_find(const struct podvol_table *table, const char *name);

/* podvol_table_cell - one text, valid as long as the table; "" outside of it. */
PODVOL_PUBLIC const char *podvol_table_cell(const struct podvol_table *table, size_t row,
					    size_t column);

/* podvol_table_row_namespace, podvol_table_row_name - of the object that a row shows; "" where it
 * shows none, or one without a namespace. Valid as long as the table. */
PODVOL_PUBLIC const char *podvol_table_row_namespace(const struct podvol_table *table, size_t row);
PODVOL_PUBLIC const char *podvol_table_row_name(const struct podvol_table *table, size_t row);

/* podvol_table_row_labels - of the same object: "app=web,tier=db"; "" for none. Freed with free();
 * NULL: no memory. */
PODVOL_PUBLIC char *podvol_table_row_labels(const struct podvol_table *table, size_t row);

/* ---- watching ---- */

enum podvol_event_type {
	PODVOL_LISTED,      /* all there is; what was known before and is not in it is gone */
	PODVOL_ADDED,       /* one object: made, or fits the selector now */
	PODVOL_MODIFIED,    /* one object: as it is now */
	PODVOL_DELETED,     /* one object: as it was last, or as it no longer fits the selector */
	PODVOL_INTERRUPTED, /* the daemon went away or is busy; the watch goes on trying */
};

/* Strings live during the call only. */
struct podvol_event {
	enum podvol_event_type type;
	const char *object; /* JSON, NUL-terminated: the list, or the object; "" when interrupted */
	size_t length;
	const char *version; /* resourceVersion up to which all is known now */
	const char *error;   /* why it was interrupted, for people; else "" */
};

struct podvol_watch_request {
	const char *path;   /* of a collection, escaped: "/api/v1/pods?labelSelector=..." */
	const char *accept; /* of list and objects; NULL: "application/json" */
	/* Called in order by podvol_watch_process() alone. May use other
	 * handles and watches, but neither process nor free this one. */
	void (*changed)(void *userdata, const struct podvol_event *event);
	void *userdata;
};

/**
 * podvol_watch_open - begin to watch a collection: its list first, then every change
 * @podvol:  says where the daemon is; may be freed before the watch
 * @request: read during the call only
 * @ret:     given to podvol_watch_free()
 *
 * Never blocks: nothing is known before podvol_watch_process(). A daemon that is restarted is asked
 * to go on where the watch was, and for a new PODVOL_LISTED when it cannot.
 *
 * Return: 0; -EINVAL; -ENOMEM; -EMFILE or -ENFILE no more descriptors.
 */
PODVOL_PUBLIC int podvol_watch_open(struct podvol *podvol,
				    const struct podvol_watch_request *request,
				    struct podvol_watch **ret);

/* podvol_watch_fd - the one descriptor of a watch, its own, which stays the same: poll it for
 * POLLIN, nothing else; timers of the watch are behind it, too. -EINVAL for NULL. */
PODVOL_PUBLIC int podvol_watch_fd(const struct podvol_watch *watch);

/**
 * podvol_watch_process - take in what has arrived and tell it
 * @watch: the watch
 *
 * Never blocks. Return: 0 the watch goes on; a negative errno as above: it is over, for good, and
 * podvol_watch_error() says why: the daemon was never reached or refuses (-EACCES, -ENOENT, ...),
 * or what the path names cannot be watched (-EOPNOTSUPP).
 */
PODVOL_PUBLIC int podvol_watch_process(struct podvol_watch *watch);

/* podvol_watch_error, podvol_watch_status - why a watch is over, as podvol_error() and
 * podvol_status() say it; of NULL, too */
PODVOL_PUBLIC const char *podvol_watch_error(const struct podvol_watch *watch);
PODVOL_PUBLIC int podvol_watch_status(const struct podvol_watch *watch);

/* podvol_watch_free - end a watch, which may be NULL; closes its descriptor */
PODVOL_PUBLIC void podvol_watch_free(struct podvol_watch *watch);

#ifdef __cplusplus
}
#endif

#endif
