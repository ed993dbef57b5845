/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gnutls_begin - GnuTLS, initialized when it is first needed
 *
 * Its own constructor and libmicrohttpd's would do it at each start: 1.4 MiB of an idle process,
 * of which a node without TLS, tokens and CSI drivers uses nothing. A file that calls GnuTLS calls
 * this before its first object of that library is made.
 */
#pragma once

/**
 * gnutls_begin - initialize GnuTLS; again is fine
 *
 * Any thread. Later calls cost next to nothing.
 *
 * Return: 0, or a negative code of GnuTLS.
 */
int gnutls_begin(void);
