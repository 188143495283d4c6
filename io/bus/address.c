#include "io/bus/address.h"

#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>

enum { HOST_MAX = 256, PORT_DIGITS_MAX = 5 };

struct sockaddr_in io_address_to_kernel(struct io_address address)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET,
        .sin_port = htons(address.port),
        .sin_addr.s_addr = htonl(address.ip),
    };
}

struct io_address io_address_from_kernel(const struct sockaddr_in *name)
{
    return (struct io_address){.ip = ntohl(name->sin_addr.s_addr), .port = ntohs(name->sin_port)};
}

static int parse_port(const char *text, uint16_t *port)
{
    const size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > PORT_DIGITS_MAX || text[digits] != '\0')
        return -EINVAL;
    const unsigned long value = strtoul(text, NULL, 10);
    if (value > UINT16_MAX)
        return -EINVAL;
    *port = (uint16_t)value;
    return 0;
}

static int resolve(const char *host, uint32_t *ip)
{
    const struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_DGRAM};
    struct addrinfo *found;
    if (getaddrinfo(host, NULL, &hints, &found) != 0)
        return -EINVAL;
    struct sockaddr_in name;
    memcpy(&name, found->ai_addr, sizeof name);
    freeaddrinfo(found);
    *ip = ntohl(name.sin_addr.s_addr);
    return 0;
}

int io_address_parse(const char *text, struct io_address *address)
{
    char host[HOST_MAX];
    const char *colon = strrchr(text, ':');
    if (!colon || colon == text || (size_t)(colon - text) >= sizeof host)
        return -EINVAL;
    memcpy(host, text, (size_t)(colon - text));
    host[colon - text] = '\0';
    const int status = parse_port(colon + 1, &address->port);
    return status ? status : resolve(host, &address->ip);
}
