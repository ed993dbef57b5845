/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server_tokens - tokens of service accounts, from the server by TokenRequest
 *
 * A worker that needs one waits for the loop, which asks; not longer than a request may take. A
 * token is bound to its pod, and kept until it is to be replaced, so that the volumes of a pod and
 * its containers ask once. Texts are overwritten before they are freed.
 */
#define HASH_NONFATAL_OOM 1 /* a failed insertion is an error code, not the end of the process */

#include "cluster/cluster_internal.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "object/json/json.h"
#include "object/kinds/pod.h"
#include "object/timestamp.h"

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>
#include <utlist.h>

enum {
	KEPT_MAX = 10000, /* tokens; more are asked for each time */
	WAIT_SECONDS = REQUEST_SECONDS + 30,
	DAY_SECONDS = 86400,
};

struct kept {
	UT_hash_handle hh;
	struct issued_token token;
	char key[];
};

/* What a worker waits for; it lies on the worker's stack. */
struct wish {
	struct wish *prev, *next;
	struct tokens *tokens;
	struct request *request;
	const char *path, *body;
	struct issued_token token;
	struct failure why;
	int error;
	bool is_done, is_asked;
};

struct tokens {
	struct cluster *cluster;
	struct token_source source;
	sd_event_source *woken;
	int fd;
	pthread_mutex_t lock; /* of all below, and of every wish */
	pthread_cond_t done;
	struct wish *wishes;
	struct kept *kept;
	bool is_closing;
};

/* ---- on the loop ---- */

static void finish(struct wish *wish, int error)
{
	struct tokens *tokens = wish->tokens;

	wish->error = error;
	wish->is_done = true;
	DL_DELETE(tokens->wishes, wish);
	(void) pthread_cond_broadcast(&tokens->done);
}

/* At 80 % of its life or after a day, as kubelet, and a little earlier. Its life are the seconds
 * that the server granted: when it expires is by the server's clock, which may differ from this
 * one. */
static uint64_t refresh_at(uint64_t now_usec, int64_t life_seconds)
{
	uint64_t after = DAY_SECONDS * USEC_PER_SEC;
	uint32_t random = 0;

	(void) getrandom(&random, sizeof(random), GRND_NONBLOCK);
	if (life_seconds / 5 * 4 < DAY_SECONDS)
		after = (uint64_t) life_seconds * USEC_PER_SEC / 5 * 4;
	return now_usec + after - after / 20 * (random >> 8) / (UINT32_MAX >> 8);
}

static int read_token(struct wish *wish, const struct http_answer *answer)
{
	const struct json_limits limits = { .bytes = answer->length + 1, .depth = 64 };
	cleanup_json_secret struct cJSON *tree = NULL;
	const struct cJSON *status;
	int64_t life_seconds = 0;
	const char *text;
	int r = json_parse(answer->body, answer->length, &limits, &tree, &wish->why);

	if (r < 0)
		return r;
	status = json_get(tree, "status");
	text = json_text(status, "token");
	wish->token.expires_usec = timestamp_parse(json_text(status, "expirationTimestamp"));
	if (*text == '\0' || strlen(text) > TOKEN_BYTES_MAX || wish->token.expires_usec == 0 ||
	    !json_int64(json_get(json_get(tree, "spec"), "expirationSeconds"), &life_seconds) ||
	    life_seconds <= 0)
		return failed_plain(&wish->why, -EPROTO,
				    "the answer of the kube-apiserver has no token");
	wish->token.text = strdup(text);
	wish->token.refresh_usec = refresh_at(realtime_usec(), life_seconds);
	return wish->token.text ? 0 : failed(&wish->why, -ENOMEM, "cannot keep a token");
}

static void on_answer(void *userdata, const struct http_answer *answer)
{
	struct wish *wish = userdata;
	struct tokens *tokens = wish->tokens;
	int r;

	contact_note(tokens->cluster, answer);
	(void) pthread_mutex_lock(&tokens->lock);
	wish->request = NULL;
	if (answer->error == 0 && (answer->status == 200 || answer->status == 201))
		r = read_token(wish, answer);
	else
		r = contact_explain(wish->path, answer, &wish->why);
	finish(wish, r);
	(void) pthread_mutex_unlock(&tokens->lock);
}

static void send_request(struct wish *wish)
{
	const struct http_request request = { .method = "POST",
					      .path = wish->path,
					      .body = wish->body,
					      .content_type = "application/json",
					      .done = on_answer,
					      .userdata = wish };
	int r = requests_send(wish->tokens->cluster->requests, &request, &wish->request);

	wish->is_asked = true;
	if (r < 0)
		finish(wish, failed(&wish->why, r, "cannot ask for a token"));
}

static int on_woken(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct tokens *tokens = userdata;
	struct wish *wish, *next;
	uint64_t count;

	(void) !read(fd, &count, sizeof(count));
	(void) pthread_mutex_lock(&tokens->lock);
	DL_FOREACH_SAFE (tokens->wishes, wish, next)
		if (!wish->is_asked)
			send_request(wish);
	(void) pthread_mutex_unlock(&tokens->lock);
	return 0;
}

/* ---- on a worker ---- */

/* Its pod and account are of the same namespace. NULL: no memory. */
static char *print_key(const struct token_order *want)
{
	char *key;

	if (asprintf(&key, "%s/%s/%s/%lld", want->pod->meta.uid, want->service_account->meta.name,
		     want->audience, (long long) want->seconds) < 0)
		return NULL;
	return key;
}

static int copy_token(const struct issued_token *from, struct issued_token *ret)
{
	char *text = strdup(from->text);

	if (!text)
		return -ENOMEM;
	*ret = *from;
	ret->text = text;
	return 0;
}

static void drop_kept(struct tokens *tokens, struct kept *kept)
{
	HASH_DEL(tokens->kept, kept);
	issued_token_done(&kept->token);
	free(kept);
}

static void drop_due(struct tokens *tokens, uint64_t now_usec)
{
	struct kept *kept, *next;

	HASH_ITER (hh, tokens->kept, kept, next)
		if (kept->token.refresh_usec <= now_usec)
			drop_kept(tokens, kept);
}

/* 0: there is none. */
static int find_kept(struct tokens *tokens, const char *key, struct issued_token *ret)
{
	struct kept *kept;

	drop_due(tokens, realtime_usec());
	HASH_FIND_STR(tokens->kept, key, kept);
	return kept && copy_token(&kept->token, ret) == 0;
}

static void keep(struct tokens *tokens, const char *key, const struct issued_token *token)
{
	size_t length = strlen(key);
	struct kept *kept;

	if (HASH_COUNT(tokens->kept) >= KEPT_MAX)
		return;
	kept = calloc(1, sizeof(*kept) + length + 1);
	if (!kept)
		return;
	memcpy(kept->key, key, length);
	if (copy_token(token, &kept->token) == 0) {
		HASH_ADD_KEYPTR(hh, tokens->kept, kept->key, length, kept);
		if (kept->hh.tbl)
			return;
	}
	issued_token_done(&kept->token);
	free(kept);
}

static char *print_body(const struct token_order *want)
{
	cleanup_json struct cJSON *tree = json_new_object();
	struct cJSON *spec, *bound;

	(void) json_set_string(tree, "apiVersion", "authentication.k8s.io/v1");
	(void) json_set_string(tree, "kind", "TokenRequest");
	spec = json_add_object(tree, "spec");
	if (*want->audience)
		(void) json_set_string(json_add_array(spec, "audiences"), NULL, want->audience);
	(void) json_set_int(spec, "expirationSeconds", want->seconds);
	bound = json_add_object(spec, "boundObjectRef");
	(void) json_set_string(bound, "apiVersion", "v1");
	(void) json_set_string(bound, "kind", "Pod");
	(void) json_set_string(bound, "name", want->pod->meta.name);
	(void) json_set_string(bound, "uid", want->pod->meta.uid);
	return json_print(tree);
}

/* With the lock, which is given up meanwhile. */
static int wait_for(struct tokens *tokens, struct wish *wish)
{
	const uint64_t one = 1;

	if (tokens->is_closing)
		return failed_plain(&wish->why, -ECANCELED, "podvold is shutting down");
	DL_APPEND(tokens->wishes, wish);
	(void) !write(tokens->fd, &one, sizeof(one));
	while (!wish->is_done)
		(void) pthread_cond_wait(&tokens->done, &tokens->lock);
	return wish->error;
}

static int issue(void *userdata, const struct token_order *want, struct issued_token *ret,
		 struct failure *reterr)
{
	struct tokens *tokens = userdata;
	cleanup_free char *key = print_key(want), *body = print_body(want);
	struct wish wish = { .tokens = tokens, .body = body };
	char path[CLUSTER_PATH_BYTES];
	int r = 0;

	if (!key || !body)
		return failed(reterr, -ENOMEM, "cannot ask for a token");
	if (want->seconds < TOKEN_SECONDS_LEAST)
		return failed_plain(reterr, -EINVAL, "a token of %lld seconds is too short",
				    (long long) want->seconds);
	if (!cluster_path(kind_row(KIND_SERVICE_ACCOUNT), want->pod->meta.name_space,
			  want->service_account->meta.name, "/token", path))
		return failed_plain(reterr, -EINVAL, "service account '%s' has no name",
				    want->service_account->meta.name);
	wish.path = path;
	(void) pthread_mutex_lock(&tokens->lock);
	if (!find_kept(tokens, key, ret)) {
		r = wait_for(tokens, &wish);
		if (r == 0) {
			keep(tokens, key, &wish.token);
			*ret = wish.token;
		}
	}
	(void) pthread_mutex_unlock(&tokens->lock);
	if (r < 0 && reterr)
		*reterr = wish.why;
	return r;
}

/* ---- life ---- */

const struct token_source *tokens_source(const struct tokens *tokens)
{
	return &tokens->source;
}

int tokens_new(struct cluster *cluster)
{
	struct tokens *tokens = calloc(1, sizeof(*tokens));
	int r;

	if (!tokens)
		return -ENOMEM;
	tokens->cluster = cluster;
	cluster->tokens = tokens;
	tokens->source = (struct token_source){ .issue = issue, .userdata = tokens };
	(void) pthread_mutex_init(&tokens->lock, NULL);
	(void) pthread_cond_init(&tokens->done, NULL);
	tokens->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (tokens->fd < 0)
		return -errno;
	r = sd_event_add_io(cluster->options.event, &tokens->woken, tokens->fd, EPOLLIN, on_woken,
			    tokens);
	return r < 0 ? r : 0;
}

void tokens_stop(struct tokens *tokens)
{
	if (!tokens)
		return;
	(void) pthread_mutex_lock(&tokens->lock);
	tokens->is_closing = true;
	while (tokens->wishes) {
		tokens->wishes->request = request_cancel(tokens->wishes->request);
		finish(tokens->wishes,
		       failed_plain(&tokens->wishes->why, -ECANCELED, "podvold is shutting down"));
	}
	(void) pthread_mutex_unlock(&tokens->lock);
}

struct tokens *tokens_free(struct tokens *tokens)
{
	struct kept *kept, *next;

	if (!tokens)
		return NULL;
	tokens_stop(tokens);
	HASH_ITER (hh, tokens->kept, kept, next)
		drop_kept(tokens, kept);
	(void) sd_event_source_disable_unref(tokens->woken);
	if (tokens->fd >= 0)
		(void) close(tokens->fd);
	(void) pthread_mutex_destroy(&tokens->lock);
	(void) pthread_cond_destroy(&tokens->done);
	free(tokens);
	return NULL;
}
