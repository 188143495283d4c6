#include "io/live/authority.h"

#include <stdio.h>

const char io_authority_topic[] = "/authority";
const char io_authority_schema[] = "airbearing_msgs/msg/Authority";
const char io_authority_definition[] = "uint32 holder # viewer that may command, 0: nobody\n"
                                       "uint32 asking # viewer that asks for it, 0: nobody\n"
                                       "uint32 viewers # connected\n";

const struct io_foxglove_service io_authority_services[IO_AUTHORITY_ACT_COUNT] = {
    [IO_AUTHORITY_TAKE] = {"/authority/take", "std_srvs/srv/Trigger", IO_FOXGLOVE_FORM_EMPTY},
    [IO_AUTHORITY_GIVE] = {"/authority/give", "std_srvs/srv/Trigger", IO_FOXGLOVE_FORM_EMPTY},
    [IO_AUTHORITY_ASK] = {"/authority/ask", "std_srvs/srv/Trigger", IO_FOXGLOVE_FORM_EMPTY},
};

static bool set_text(char text[IO_FOXGLOVE_TEXT_MAX], bool done, const char *what)
{
    snprintf(text, IO_FOXGLOVE_TEXT_MAX, "%s", what);
    return done;
}

static bool set_held_text(const struct io_authority *authority, char text[IO_FOXGLOVE_TEXT_MAX])
{
    snprintf(text, IO_FOXGLOVE_TEXT_MAX, "viewer %llu has authority; it can hand it over, or leave",
             (unsigned long long)authority->holder);
    return false;
}

/* The viewer that asked has authority now; another one may still be asking. */
static void grant(struct io_authority *authority, uint64_t viewer)
{
    authority->holder = viewer;
    if (authority->asking == viewer)
        authority->asking = 0;
}

bool io_authority_command(struct io_authority *authority, uint64_t viewer,
                          char text[IO_FOXGLOVE_TEXT_MAX])
{
    if (authority->holder != 0 && authority->holder != viewer)
        return set_held_text(authority, text);
    grant(authority, viewer);
    return set_text(text, true, "you have authority");
}

static bool give(struct io_authority *authority, uint64_t viewer, char text[IO_FOXGLOVE_TEXT_MAX])
{
    if (authority->holder != viewer)
        return set_text(text, false, "you do not have authority");
    grant(authority, authority->asking);
    if (authority->holder == 0)
        return set_text(text, true, "nobody has authority now");
    snprintf(text, IO_FOXGLOVE_TEXT_MAX, "viewer %llu has authority now",
             (unsigned long long)authority->holder);
    return true;
}

static bool ask(struct io_authority *authority, uint64_t viewer, char text[IO_FOXGLOVE_TEXT_MAX])
{
    if (authority->holder == viewer)
        return set_text(text, false, "you have authority already");
    if (authority->holder == 0)
        return set_text(text, false, "nobody has authority; take it instead of asking");
    authority->asking = viewer;
    snprintf(text, IO_FOXGLOVE_TEXT_MAX, "viewer %llu has been asked for authority",
             (unsigned long long)authority->holder);
    return true;
}

bool io_authority_act(struct io_authority *authority, enum io_authority_act act, uint64_t viewer,
                      char text[IO_FOXGLOVE_TEXT_MAX])
{
    switch (act) {
    case IO_AUTHORITY_TAKE:
        return io_authority_command(authority, viewer, text);
    case IO_AUTHORITY_GIVE:
        return give(authority, viewer, text);
    case IO_AUTHORITY_ASK:
        return ask(authority, viewer, text);
    default:
        return set_text(text, false, "unknown authority request");
    }
}

void io_authority_leave(struct io_authority *authority, uint64_t viewer)
{
    if (authority->holder == viewer)
        authority->holder = 0;
    if (authority->asking == viewer)
        authority->asking = 0;
}
