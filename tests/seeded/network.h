/*
 * The calls of libwebsockets that the server makes.
 */
#pragma once

#include <libwebsockets.h>

int __wrap_lws_service(struct lws_context *context, int timeout_ms);
void __wrap_lws_cancel_service(struct lws_context *context);
void __wrap_lws_sul_schedule(struct lws_context *context, int thread, lws_sorted_usec_list_t *timer,
                             sul_cb_t call, lws_usec_t us);
int __wrap_lws_write(struct lws *wsi, unsigned char *bytes, size_t size,
                     enum lws_write_protocol protocol);
int __wrap_lws_send_pipe_choked(struct lws *wsi);
int __wrap_lws_callback_on_writable(struct lws *wsi);
const char *__wrap_lws_get_urlarg_by_name(struct lws *wsi, const char *name, char *text, int size);
int __wrap_lws_hdr_copy(struct lws *wsi, char *text, int size, enum lws_token_indexes header);
int __wrap_lws_hdr_total_length(struct lws *wsi, enum lws_token_indexes header);
int __wrap_lws_return_http_status(struct lws *wsi, unsigned code, const char *text);
int __wrap_lws_is_first_fragment(struct lws *wsi);
int __wrap_lws_is_final_fragment(struct lws *wsi);
int __wrap_lws_frame_is_binary(struct lws *wsi);
void __wrap_lws_validity_confirmed(struct lws *wsi);
void __wrap_lws_close_reason(struct lws *wsi, enum lws_close_status status, unsigned char *text,
                             size_t size);
void __wrap_lws_set_timeout(struct lws *wsi, enum pending_timeout reason, int seconds);
int __wrap_lws_is_ssl(struct lws *wsi);
ssize_t __wrap_recv(int fd, void *bytes, size_t size, int flags);
ssize_t __real_recv(int fd, void *bytes, size_t size, int flags);
int __wrap_getpeername(int fd, struct sockaddr *address, socklen_t *size);
lws_sockfd_type __wrap_lws_get_socket_fd(struct lws *wsi);
struct lws_context *__wrap_lws_create_context(const struct lws_context_creation_info *info);
struct lws_vhost *__wrap_lws_create_vhost(struct lws_context *context,
                                          const struct lws_context_creation_info *info);
int __wrap_lws_get_vhost_listen_port(struct lws_vhost *vhost);
void *__wrap_lws_context_user(struct lws_context *context);
struct lws_context *__wrap_lws_get_context(const struct lws *wsi);
void __wrap_lws_context_destroy(struct lws_context *context);
void __wrap_lws_set_log_level(int level, void (*emit)(int level, const char *line));
