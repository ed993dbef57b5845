/* SPDX-License-Identifier: Apache-2.0 */
/*
 * head - is a request's head one that every reader would understand alike?
 *
 * The library takes the first of two lengths, and a name with a blank before its colon for another
 * name. What two readers could take apart in two ways is refused here, and the connection with it:
 * what follows may be no request at all.
 */
#pragma once

#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>

/* A sentence for the client when the head is refused; NULL: it is sound. Static. @method, @version:
 * the request line's, as the library gives them: @method is where the head begins in its memory. */
const char *head_problem(struct MHD_Connection *connection, const char *method,
			 const char *version);

/* The same of the request line. The library ends method and URI at their first NUL, so each must
 * reach to the one blank before the next part. @uri: in the same memory; @uri_bytes: of it as it
 * was sent, before the library decoded it in place. */
const char *head_line_problem(const char *method, const char *uri, size_t uri_bytes,
			      const char *version);

/* Does the Host header name this machine's loopback, or is there none? A page in a browser that
 * resolves its own name to 127.0.0.1 says another name here. */
bool head_host_is_local(struct MHD_Connection *connection);
