/*
 * Access to the live server: tokens, origins, and how many connections there may be.
 *
 * Tested by tests/scenario/live/test_serve.py and test_authority.py.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "io/live/server_private.h"

enum { TEXT_MAX = IO_SERVER_NAME_MAX + 16 /* a token and the scheme before it */ };

void io_server_close_soon(struct lws *wsi)
{
    lws_set_timeout(wsi, PENDING_TIMEOUT_USER_REASON_BASE, LWS_TO_KILL_ASYNC);
}

/* Compares in a time that does not depend on where the first difference is. */
static bool same_secret(const char *given, const char *secret)
{
    const size_t length = strlen(secret);
    unsigned char differs = strlen(given) != length;
    for (size_t i = 0; given[i]; i++)
        differs |= (unsigned char)(given[i] ^ secret[i % length]);
    return differs == 0;
}

/* The operator token that this client gives, in the address or as a header; NULL: none. */
static const char *given_operator_token(struct lws *wsi, char text[TEXT_MAX])
{
    static const char scheme[] = "Operator ";
    const size_t length = sizeof scheme - 1;
    const char *given = lws_get_urlarg_by_name(wsi, "operator=", text, TEXT_MAX);
    if (given)
        return given;
    if (lws_hdr_copy(wsi, text, TEXT_MAX, WSI_TOKEN_HTTP_AUTHORIZATION) <= (int)length)
        return NULL;
    return strncasecmp(text, scheme, length) == 0 ? text + length : NULL;
}

bool io_server_is_operator(const struct io_server *server, struct lws *wsi)
{
    char text[TEXT_MAX];
    if (!server->spec.operator_token)
        return true;
    const char *given = given_operator_token(wsi, text);
    return given && same_secret(given, server->spec.operator_token);
}

/* A client with a wrong operator token is refused rather than admitted as a watcher. */
static bool has_wrong_operator_token(const struct io_server *server, struct lws *wsi)
{
    char text[TEXT_MAX];
    return server->spec.operator_token && given_operator_token(wsi, text) &&
           !io_server_is_operator(server, wsi);
}

bool io_server_has_token(struct lws *wsi, const char *token)
{
    char text[TEXT_MAX];
    const char *given = lws_get_urlarg_by_name(wsi, "token=", text, sizeof text);
    if (given && same_secret(given, token))
        return true;
    const int length = lws_hdr_copy(wsi, text, sizeof text, WSI_TOKEN_HTTP_AUTHORIZATION);
    return length > 7 && strncasecmp(text, "Bearer ", 7) == 0 && same_secret(text + 7, token);
}

bool io_server_is_loopback_name(const char *host)
{
    const size_t length = strcspn(host, ":");
    struct in_addr address;
    char name[IO_SERVER_NAME_MAX];
    snprintf(name, sizeof name, "%.*s", (int)length, host);
    return strcmp(name, "localhost") == 0 ||
           (inet_pton(AF_INET, name, &address) == 1 && ntohl(address.s_addr) >> 24 == 127);
}

static bool is_own_page(const struct io_server *server, const char *origin, const char *host)
{
    const char *scheme = server->spec.certificate ? "https://" : "http://";
    return strncmp(origin, scheme, strlen(scheme)) == 0 &&
           strcmp(origin + strlen(scheme), host) == 0 && io_server_is_loopback_name(host);
}

/* A browser sends the origin of the page; a program sends none, and could send any. */
static bool has_allowed_origin(const struct io_server *server, struct lws *wsi)
{
    char origin[IO_SERVER_NAME_MAX], host[IO_SERVER_NAME_MAX];
    if (lws_hdr_total_length(wsi, WSI_TOKEN_ORIGIN) == 0)
        return true;
    if (lws_hdr_copy(wsi, origin, sizeof origin, WSI_TOKEN_ORIGIN) <= 0 ||
        lws_hdr_copy(wsi, host, sizeof host, WSI_TOKEN_HOST) <= 0)
        return false;
    for (int i = 0; i < IO_SERVER_ORIGIN_MAX && server->spec.origins[i]; i++) {
        if (strcmp(origin, server->spec.origins[i]) == 0)
            return true;
    }
    return is_own_page(server, origin, host);
}

int io_server_refuse(struct io_server *server, struct lws *wsi, unsigned code, const char *why)
{
    server->counts.refused++;
    (void)lws_return_http_status(wsi, code, why);
    return -1;
}

/* Some sessions are reserved for operators, so that watchers cannot lock an operator out. */
static bool has_free_session(const struct io_server *server, struct lws *wsi)
{
    const int left = IO_SERVER_SESSION_MAX - server->viewer_count;
    const bool known = io_server_is_operator(server, wsi);
    return (left > IO_SERVER_OPERATOR_MIN || (left > 0 && known)) &&
           io_admission_allows_session(&server->admission, wsi,
                                       known && server->spec.operator_token);
}

/* ---- connections ------------------------------------------------------------------------- */

/* True when a complete request, or the first record of TLS, waits to be read. */
static bool has_request(void *connection)
{
    unsigned char bytes[4096];
    const ssize_t size =
        recv(lws_get_socket_fd(connection), bytes, sizeof bytes, MSG_PEEK | MSG_DONTWAIT);
    if (lws_is_ssl(connection))
        return size >= 5 && size >= 5 + (bytes[3] << 8 | bytes[4]);
    return size == (ssize_t)sizeof bytes ||
           (size > 0 && memmem(bytes, (size_t)size, "\r\n\r\n", 4));
}

int io_server_accept(struct io_server *server, struct lws *wsi)
{
    struct sockaddr_in address = {0};
    socklen_t size = sizeof address;
    (void)getpeername(lws_get_socket_fd(wsi), (struct sockaddr *)&address, &size);
    struct lws *victim =
        io_admission_add(&server->admission, wsi, ntohl(address.sin_addr.s_addr), has_request);
    if (victim == wsi)
        return -1;
    if (victim)
        io_server_close_soon(victim);
    return 0;
}

bool io_server_note_request(struct io_server *server, struct lws *wsi)
{
    const bool known = (server->spec.operator_token && io_server_is_operator(server, wsi)) ||
                       (server->spec.token && io_server_has_token(wsi, server->spec.token));
    if (known)
        lws_set_timeout(wsi, NO_PENDING_TIMEOUT, 0);
    return io_admission_note_request(&server->admission, wsi, known);
}

int io_server_admit(struct io_server *server, struct lws *wsi)
{
    if (!io_server_note_request(server, wsi))
        return -1;
    if (server->closing || !has_free_session(server, wsi))
        return io_server_refuse(server, wsi, HTTP_STATUS_SERVICE_UNAVAILABLE, "too many clients");
    if (server->spec.token && !io_server_has_token(wsi, server->spec.token))
        return io_server_refuse(server, wsi, HTTP_STATUS_UNAUTHORIZED,
                                "a token is required: add ?token=TOKEN to the address");
    if (has_wrong_operator_token(server, wsi))
        return io_server_refuse(
            server, wsi, HTTP_STATUS_FORBIDDEN,
            "the operator token is not that of this run; use the address that this run "
            "printed, or connect without a token");
    if (!server->spec.token && !has_allowed_origin(server, wsi))
        return io_server_refuse(
            server, wsi, HTTP_STATUS_FORBIDDEN,
            "the origin of this page is not allowed; start the run with --origin and its address");
    return 0;
}
