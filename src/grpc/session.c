/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session - one call as bytes of HTTP/2: sent and received
 *
 * nghttp2 knows the frames and refuses what breaks HTTP/2; what the headers and data mean is
 * reply.c's. A call that ended stays so: later frames change nothing.
 */
#include "grpc/session.h"

#include "base/cleanup.h"
#include "grpc/reply.h"
#include "grpc/status.h"

#include <assert.h>
#include <inttypes.h>
#include <nghttp2/nghttp2.h>
#include <string.h>

enum {
	PREFIX_BYTES = 5,
	FRAME_HEAD_BYTES = 9, /* its length in three of them, type, flags, stream */
	GATHER_BYTES = 4096,  /* small frames leave together */
};

struct grpc_session {
	nghttp2_session *http2;
	int32_t stream_id;

	uint8_t *message; /* with its prefix */
	size_t length, sent;

	struct {
		size_t parts, bytes; /* frames and header fields so far */
		uint8_t head[3];     /* a frame's length; the next bytes are of it, then skipped */
		size_t head_length, payload_left;
	} received;

	bool broken; /* the connection is of no use any more */
	/* The peer's violation, or the reason of its GOAWAY, in nghttp2's or its own words; NULL
	 * none. */
	char *complaint;

	const uint8_t *held; /* a frame that did not fit behind the gathered ones */
	size_t held_length, gathered_length;
	uint8_t *gathered; /* NULL while there is nothing to send: a call that waits needs none */

	struct grpc_reply reply; /* not cleared as a whole: most calls have no text */
};

void grpc_timeout_format(uint64_t timeout_usec, char ret[GRPC_TIMEOUT_BYTES])
{
	static const struct {
		uint64_t usec;
		char name;
	} units[] = {
		{ 1, 'u' }, { 1000, 'm' }, { 1000000, 'S' }, { 60000000, 'M' }, { 3600000000, 'H' },
	};
	uint64_t count = 0;

	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		count = timeout_usec / units[i].usec + (timeout_usec % units[i].usec != 0);
		if (count > 99999999 && i + 1 < ARRAY_SIZE(units))
			continue;
		(void) snprintf(ret, GRPC_TIMEOUT_BYTES, "%" PRIu32 "%c",
				(uint32_t) (count > 99999999 ? 99999999 : count), units[i].name);
		return;
	}
}

/* Not a promise of a push, which carries our stream's number too. */
static bool is_our_headers(const struct grpc_session *session, const nghttp2_frame *frame)
{
	return frame->hd.type == NGHTTP2_HEADERS && frame->hd.stream_id == session->stream_id;
}

static int on_begin_headers(nghttp2_session *http2, const nghttp2_frame *frame, void *userdata)
{
	struct grpc_session *session = userdata;

	if (is_our_headers(session, frame))
		grpc_reply_block(&session->reply);
	return 0;
}

static int on_header(nghttp2_session *http2, const nghttp2_frame *frame, const uint8_t *name,
		     size_t name_length, const uint8_t *value, size_t value_length, uint8_t flags,
		     void *userdata)
{
	struct grpc_session *session = userdata;

	if (++session->received.parts > GRPC_PARTS_MAX)
		return NGHTTP2_ERR_CALLBACK_FAILURE;
	if (is_our_headers(session, frame))
		grpc_reply_header(&session->reply, (const char *) name, name_length,
				  (const char *) value, value_length);
	/* Once refused, the rest of the block is decoded for nothing: give the stream up. */
	return session->reply.over ? NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE : 0;
}

/* @complaint: NULL: no memory for it */
static void take_complaint(struct grpc_session *session, char *complaint)
{
	free(session->complaint);
	session->complaint = complaint;
}

/* The call may still get its reply; the text is for the case that it does not. */
static void on_goaway(struct grpc_session *session, const nghttp2_goaway *goaway)
{
	char text[GRPC_STATUS_TEXT_BYTES], *complaint;

	grpc_text_decode((const char *) goaway->opaque_data, goaway->opaque_data_len, text);
	if (asprintf(&complaint, "GOAWAY: %s%s%.900s", nghttp2_http2_strerror(goaway->error_code),
		     text[0] ? ", " : "", text) >= 0)
		take_complaint(session, complaint);
}

static int on_error(nghttp2_session *http2, int code, const char *text, size_t length,
		    void *userdata)
{
	char decoded[GRPC_STATUS_TEXT_BYTES];

	grpc_text_decode(text, length, decoded);
	take_complaint(userdata, strdup(decoded));
	return 0;
}

static int on_frame(nghttp2_session *http2, const nghttp2_frame *frame, void *userdata)
{
	struct grpc_session *session = userdata;
	bool last = frame->hd.flags & NGHTTP2_FLAG_END_STREAM;

	if (frame->hd.type == NGHTTP2_GOAWAY)
		on_goaway(session, &frame->goaway);
	if (frame->hd.stream_id != session->stream_id)
		return 0;
	if (is_our_headers(session, frame))
		grpc_reply_block_end(&session->reply, last);
	else if (frame->hd.type == NGHTTP2_DATA && last)
		grpc_reply_data_end(&session->reply);
	return 0;
}

static int on_data(nghttp2_session *http2, uint8_t flags, int32_t stream_id, const uint8_t *bytes,
		   size_t length, void *userdata)
{
	struct grpc_session *session = userdata;

	if (stream_id == session->stream_id)
		grpc_reply_data(&session->reply, bytes, length);
	return 0;
}

/* Also after RST_STREAM sent here, and for a GOAWAY whose last stream is before this one. */
static int on_stream_close(nghttp2_session *http2, int32_t stream_id, uint32_t error,
			   void *userdata)
{
	struct grpc_session *session = userdata;

	if (stream_id != session->stream_id)
		return 0;
	if (!session->reply.over && error == NGHTTP2_REFUSED_STREAM)
		session->reply.result.was_sent = false;
	grpc_reply_fail(&session->reply, grpc_code_of_reset(error), "the server ended the call: %s",
			nghttp2_http2_strerror(error));
	return 0;
}

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Of the next frame. No byte of the message gets into nghttp2's memory, which is not overwritten:
 * send_message() copies it. */
static ssize_t on_message(nghttp2_session *http2, int32_t stream_id, uint8_t *buffer, size_t size,
			  uint32_t *flags, nghttp2_data_source *source, void *userdata)
{
	const struct grpc_session *session = userdata;
	size_t left = session->length - session->sent;
	size_t part = smaller(left, smaller(size, GATHER_BYTES - FRAME_HEAD_BYTES));

	*flags |= NGHTTP2_DATA_FLAG_NO_COPY | (part == left ? NGHTTP2_DATA_FLAG_EOF : 0);
	return (ssize_t) part;
}

static void gather(struct grpc_session *session, const uint8_t *bytes, size_t length)
{
	memcpy(session->gathered + session->gathered_length, bytes, length);
	session->gathered_length += length;
}

static int send_message(nghttp2_session *http2, nghttp2_frame *frame, const uint8_t *head,
			size_t length, nghttp2_data_source *source, void *userdata)
{
	struct grpc_session *session = userdata;

	if (FRAME_HEAD_BYTES + length > GATHER_BYTES - session->gathered_length)
		return NGHTTP2_ERR_WOULDBLOCK;
	gather(session, head, FRAME_HEAD_BYTES);
	gather(session, session->message + session->sent, length);
	session->sent += length;
	return 0;
}

static int make_http2(struct grpc_session *session)
{
	nghttp2_session_callbacks *callbacks;
	nghttp2_option *option;
	int r;

	if (nghttp2_session_callbacks_new(&callbacks) != 0)
		return -ENOMEM;
	if (nghttp2_option_new(&option) != 0) {
		nghttp2_session_callbacks_del(callbacks);
		return -ENOMEM;
	}
	nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin_headers);
	nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
	nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
	nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_stream_close);
	nghttp2_session_callbacks_set_error_callback2(callbacks, on_error);
	nghttp2_session_callbacks_set_send_data_callback(callbacks, send_message);
	/* There is one stream: nothing of a closed one is kept. */
	nghttp2_option_set_no_closed_streams(option, 1);
	r = nghttp2_session_client_new2(&session->http2, callbacks, session, option);
	nghttp2_option_del(option);
	nghttp2_session_callbacks_del(callbacks);
	return r == 0 ? 0 : -ENOMEM;
}

static nghttp2_nv header(const char *name, const char *value)
{
	return (nghttp2_nv){
		.name = (uint8_t *) name,
		.namelen = strlen(name),
		.value = (uint8_t *) value,
		.valuelen = strlen(value),
	};
}

static int submit(struct grpc_session *session, const struct grpc_request *request)
{
	static const nghttp2_settings_entry settings[] = {
		{ NGHTTP2_SETTINGS_ENABLE_PUSH, 0 },
		{ NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, GRPC_HEADER_BYTES_MAX },
	};
	const nghttp2_data_provider provider = { .read_callback = on_message };
	char timeout[GRPC_TIMEOUT_BYTES];

	grpc_timeout_format(request->timeout_usec, timeout);
	const nghttp2_nv headers[] = {
		header(":method", "POST"),
		header(":scheme", "http"),
		header(":path", request->method),
		header(":authority", "localhost"), /* some servers refuse anything else */
		header("te", "trailers"),
		header("content-type", "application/grpc"),
		header("user-agent", "podvol"),
		header("grpc-timeout", timeout),
	};

	if (nghttp2_submit_settings(session->http2, NGHTTP2_FLAG_NONE, settings,
				    ARRAY_SIZE(settings)) != 0)
		return -ENOMEM;
	session->stream_id = nghttp2_submit_request(session->http2, NULL, headers,
						    ARRAY_SIZE(headers), &provider, NULL);
	return session->stream_id < 0 ? -ENOMEM : 0;
}

static int copy_message(struct grpc_session *session, const struct grpc_request *request)
{
	uint32_t length = (uint32_t) request->message_length;
	const uint8_t prefix[PREFIX_BYTES] = { 0, (uint8_t) (length >> 24),
					       (uint8_t) (length >> 16), (uint8_t) (length >> 8),
					       (uint8_t) length };

	session->length = PREFIX_BYTES + request->message_length;
	session->message = wipe_malloc(session->length);
	if (!session->message)
		return -ENOMEM;
	memcpy(session->message, prefix, sizeof(prefix));
	if (length > 0)
		memcpy(session->message + PREFIX_BYTES, request->message, length);
	return 0;
}

int grpc_session_new(const struct grpc_request *request, struct grpc_session **ret)
{
	struct grpc_session *session = malloc(sizeof(*session));

	assert(request->message_length <= GRPC_MESSAGE_BYTES_MAX);

	if (!session)
		return -ENOMEM;
	memset(session, 0, offsetof(struct grpc_session, reply));
	grpc_reply_init(&session->reply);
	session->reply.result.was_sent = true;
	if (copy_message(session, request) < 0 || make_http2(session) < 0 ||
	    submit(session, request) < 0) {
		(void) grpc_session_free(session);
		return -ENOMEM;
	}
	*ret = session;
	return 0;
}

/* All of it was sent. */
static void drop_gathered(struct grpc_session *session)
{
	if (!session->gathered)
		return;
	explicit_bzero(session->gathered, session->gathered_length);
	free(session->gathered);
	session->gathered = NULL;
	session->gathered_length = 0;
}

struct grpc_session *grpc_session_free(struct grpc_session *session)
{
	if (!session)
		return NULL;
	nghttp2_session_del(session->http2);
	grpc_reply_done(&session->reply);
	wipe_free(session->message);
	drop_gathered(session);
	free(session->complaint);
	free(session);
	return NULL;
}

static void break_off(struct grpc_session *session, enum grpc_code code, const char *why)
{
	session->broken = true;
	if (session->complaint)
		grpc_reply_fail(&session->reply, code, "%s: %.960s", why, session->complaint);
	else
		grpc_reply_fail(&session->reply, code, "%s", why);
}

/* The next frame of nghttp2's. Return: its length; 0 there is none, or the session broke. */
static size_t next_frame(struct grpc_session *session, const uint8_t **ret)
{
	ssize_t length;

	if (session->held_length > 0) {
		length = (ssize_t) session->held_length;
		*ret = session->held;
		session->held_length = 0;
		return (size_t) length;
	}
	length = session->broken ? 0 : nghttp2_session_mem_send(session->http2, ret);
	if (length < 0)
		break_off(session, GRPC_INTERNAL, nghttp2_strerror((int) length));
	else if (length == 0 && !session->broken && !nghttp2_session_want_read(session->http2))
		break_off(session, GRPC_INTERNAL, "the server violated HTTP/2");
	return length > 0 ? (size_t) length : 0;
}

size_t grpc_session_next(struct grpc_session *session, const uint8_t **ret)
{
	const uint8_t *frame;
	size_t length;

	drop_gathered(session);
	session->gathered = malloc(GATHER_BYTES);
	if (!session->gathered) {
		break_off(session, GRPC_RESOURCE_EXHAUSTED, "out of memory for the request");
		return 0;
	}
	while ((length = next_frame(session, &frame)) > 0) {
		if (length <= GATHER_BYTES - session->gathered_length) {
			gather(session, frame, length);
			continue;
		}
		if (session->gathered_length == 0) {
			*ret = frame;
			return length;
		}
		/* nghttp2 keeps it until the next is requested. */
		session->held = frame;
		session->held_length = length;
		break;
	}
	if (session->gathered_length == 0)
		drop_gathered(session);
	*ret = session->gathered;
	return session->gathered_length;
}

/* Frames that carry nothing of a reply cost as much as those that do: empty DATA, SETTINGS, PING,
 * CONTINUATION and the like are counted here, for nghttp2 does not report all. */
static void count_frames(struct grpc_session *session, const uint8_t *bytes, size_t length)
{
	while (length > 0) {
		size_t skipped = session->received.payload_left;

		if (session->received.head_length < FRAME_HEAD_BYTES) {
			if (session->received.head_length < 3)
				session->received.head[session->received.head_length] = *bytes;
			skipped = 1;
			if (++session->received.head_length == FRAME_HEAD_BYTES) {
				const uint8_t *head = session->received.head;

				session->received.parts++;
				session->received.payload_left =
					(size_t) head[0] << 16 | (size_t) head[1] << 8 | head[2];
			}
		} else {
			skipped = skipped < length ? skipped : length;
			session->received.payload_left -= skipped;
		}
		if (session->received.head_length == FRAME_HEAD_BYTES &&
		    session->received.payload_left == 0)
			session->received.head_length = 0;
		bytes += skipped;
		length -= skipped;
	}
}

static bool is_flood(const struct grpc_session *session)
{
	return session->received.parts > GRPC_PARTS_MAX || session->received.bytes > GRPC_BYTES_MAX;
}

void grpc_session_receive(struct grpc_session *session, const uint8_t *bytes, size_t length)
{
	ssize_t taken;

	assert(bytes || length == 0);

	if (session->broken || session->reply.over)
		return;
	session->received.bytes += length;
	count_frames(session, bytes, length);
	taken = is_flood(session) ? NGHTTP2_ERR_FLOODED
				  : nghttp2_session_mem_recv(session->http2, bytes, length);
	/* nghttp2 has a limit of its own for what it has to acknowledge. */
	if (taken == NGHTTP2_ERR_FLOODED || (taken < 0 && is_flood(session))) {
		session->broken = true;
		grpc_reply_fail(&session->reply, GRPC_RESOURCE_EXHAUSTED,
				"the server sent more than %d frames and header fields or %d bytes "
				"for one call; call cancelled",
				GRPC_PARTS_MAX, GRPC_BYTES_MAX);
	} else if (taken < 0) {
		break_off(session, GRPC_INTERNAL, nghttp2_strerror((int) taken));
	}
}

void grpc_session_closed(struct grpc_session *session, int error)
{
	char text[128];

	(void) snprintf(text, sizeof(text), "the server closed the connection%s%s",
			error < 0 ? ": " : "", error < 0 ? strerror(-error) : "");
	break_off(session, GRPC_UNAVAILABLE, text);
}

void grpc_session_cancel(struct grpc_session *session, enum grpc_code code, const char *text)
{
	if (session->reply.over)
		return;
	grpc_reply_fail(&session->reply, code, "%s", text);
	if (!session->broken)
		(void) nghttp2_submit_rst_stream(session->http2, NGHTTP2_FLAG_NONE,
						 session->stream_id, NGHTTP2_CANCEL);
}

bool grpc_session_result(const struct grpc_session *session, const struct grpc_result **ret)
{
	*ret = &session->reply.result;
	return session->reply.over;
}
