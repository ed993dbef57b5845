/* SPDX-License-Identifier: Apache-2.0 */
/*
 * status - which gRPC code an answer of HTTP/2 amounts to, and a server's words made fit to print
 *
 * The tables are those of "gRPC over HTTP/2"; a number that is in no table is GRPC_UNKNOWN. Pure.
 */
#pragma once

#include "grpc/grpc.h"

/* Of a response without a grpc-status: 404 is GRPC_UNIMPLEMENTED. */
enum grpc_code grpc_code_of_http(unsigned int http_status);

/* Of a stream that was reset: REFUSED_STREAM is GRPC_UNAVAILABLE. */
enum grpc_code grpc_code_of_reset(uint32_t http2_error);

/**
 * grpc_code_parse - read a grpc-status
 *
 * Return: 0; -EINVAL no decimal number of at most four digits. A number above 16 is GRPC_UNKNOWN.
 */
int grpc_code_parse(const char *value, size_t length, enum grpc_code *ret);

/* Bytes of the UTF-8 character that begins at @text; 0: none does within @length, which is not 0.
 */
size_t grpc_utf8_length(const unsigned char *text, size_t length);

/**
 * grpc_text_decode - a grpc-message as a line for people
 * @ret: ends with NUL; what does not fit is cut between two characters
 *
 * Percent sequences are decoded, wrong ones stay as they are. Line ends and tabs become spaces;
 * other control characters and what is no UTF-8 become '?'.
 */
void grpc_text_decode(const char *value, size_t length, char ret[GRPC_STATUS_TEXT_BYTES]);
