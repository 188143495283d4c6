/*
 * The files of the page, by HTTP.
 *
 * Tested by tests/scenario/live/test_serve.py and test_authority.py.
 */
#include <string.h>

#include "io/live/server_private.h"

enum { CHUNK = 16 * 1024 };

static const struct io_page *page_of(const struct io_server *server, const char *path)
{
    if (strcmp(path, "/") == 0)
        path = "/index.html";
    for (int i = 0; i < server->spec.page_count; i++) {
        if (strcmp(server->spec.pages[i].path, path) == 0)
            return &server->spec.pages[i];
    }
    const struct io_page *guarded = server->spec.guarded;
    return guarded && strcmp(guarded->path, path) == 0 ? guarded : NULL;
}

static bool is_gzip(const struct io_page *page)
{
    return page->size > 2 && memcmp(page->bytes, "\x1f\x8b", 2) == 0;
}

static int add_header(struct lws *wsi, const char *name, const char *value, unsigned char **at,
                      unsigned char *end)
{
    return lws_add_http_header_by_name(wsi, (const unsigned char *)name,
                                       (const unsigned char *)value, (int)strlen(value), at, end);
}

static int begin_page(struct lws *wsi, struct io_server_page_transfer *page_transfer)
{
    static const char policy[] =
        "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
        "connect-src 'self' ws: wss:; frame-ancestors 'none'";
    unsigned char headers[LWS_PRE + 2048];
    unsigned char *at = headers + LWS_PRE, *end = headers + sizeof headers;
    const struct io_page *page = page_transfer->page;
    if (lws_add_http_common_headers(wsi, HTTP_STATUS_OK, page->media_type, page->size, &at, end) ||
        (is_gzip(page) && add_header(wsi, "content-encoding:", "gzip", &at, end)) ||
        add_header(wsi, "content-security-policy:", policy, &at, end) ||
        add_header(wsi, "x-content-type-options:", "nosniff", &at, end) ||
        add_header(wsi, "referrer-policy:", "no-referrer", &at, end) ||
        add_header(wsi, "cache-control:", "no-cache", &at, end) ||
        lws_finalize_write_http_header(wsi, headers + LWS_PRE, &at, end))
        return -1;
    lws_callback_on_writable(wsi);
    return 0;
}

/* The guarded page.  The page of another site can reach this machine by a DNS name of that site
 * and read the reply, so the host must be a loopback name. */
static int check_guarded(struct io_server *server, struct lws *wsi)
{
    char host[IO_SERVER_NAME_MAX];
    if (server->spec.token)
        return io_server_has_token(wsi, server->spec.token)
                   ? 0
                   : io_server_refuse(server, wsi, HTTP_STATUS_UNAUTHORIZED,
                                      "a token is required: add ?token=TOKEN to the address");
    if (lws_hdr_copy(wsi, host, sizeof host, WSI_TOKEN_HOST) > 0 &&
        io_server_is_loopback_name(host))
        return 0;
    return io_server_refuse(server, wsi, HTTP_STATUS_FORBIDDEN,
                            "this file is only served at 127.0.0.1 or localhost");
}

static int open_page(struct lws *wsi, struct io_server_page_transfer *page_transfer,
                     const char *path)
{
    struct io_server *server = io_server_of(wsi);
    const struct io_page *page = page_of(server, path);
    *page_transfer = (struct io_server_page_transfer){0};
    if (!io_server_note_request(server, wsi))
        return -1;
    if (page && page == server->spec.guarded && check_guarded(server, wsi) < 0)
        return -1;
    page_transfer->page = page;
    if (page_transfer->page && lws_hdr_total_length(wsi, WSI_TOKEN_GET_URI) > 0)
        return begin_page(wsi, page_transfer);
    if (lws_return_http_status(wsi, HTTP_STATUS_NOT_FOUND, NULL))
        return -1;
    return lws_http_transaction_completed(wsi) ? -1 : 0;
}

static int write_page(struct lws *wsi, struct io_server_page_transfer *page_transfer)
{
    unsigned char buffer[LWS_PRE + CHUNK];
    const struct io_page *page = page_transfer->page;
    if (!page)
        return 0;
    const size_t left = page->size - page_transfer->at;
    const size_t size = left < CHUNK ? left : CHUNK;
    const bool last = size == left;
    memcpy(buffer + LWS_PRE, (const unsigned char *)page->bytes + page_transfer->at, size);
    if (lws_write(wsi, buffer + LWS_PRE, size, last ? LWS_WRITE_HTTP_FINAL : LWS_WRITE_HTTP) < 0)
        return -1;
    page_transfer->at += size;
    if (!last) {
        lws_callback_on_writable(wsi);
        return 0;
    }
    page_transfer->page = NULL;
    return lws_http_transaction_completed(wsi) ? -1 : 0;
}

int io_server_on_page(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                      size_t size)
{
    switch ((int)reason) {
    case LWS_CALLBACK_SERVER_NEW_CLIENT_INSTANTIATED:
        return io_server_accept(io_server_of(wsi), wsi);
    case LWS_CALLBACK_WSI_DESTROY:
        io_admission_remove(&io_server_of(wsi)->admission, wsi);
        return 0;
    case LWS_CALLBACK_HTTP:
        return open_page(wsi, user, in);
    case LWS_CALLBACK_HTTP_WRITEABLE:
        return write_page(wsi, user);
    case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION: /* a WebSocket that offers no known subprotocol */
        return io_server_refuse(io_server_of(wsi), wsi, HTTP_STATUS_BAD_REQUEST,
                                "the client must offer the subprotocol foxglove.sdk.v1");
    default:
        return lws_callback_http_dummy(wsi, reason, user, in, size);
    }
}
