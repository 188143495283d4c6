#include "io/live/admission.h"

#include <stddef.h>

static struct io_door_guest *find(const struct io_door *door, const void *connection)
{
    for (int i = 0; i < IO_DOOR_MAX; i++)
        if (door->guest[i].connection == connection)
            return (struct io_door_guest *)&door->guest[i];
    return NULL;
}

static bool is_loopback(uint32_t address)
{
    return address >> 24 == 127;
}

/* May this one be sent away? */
static bool stands(const struct io_door_guest *guest)
{
    return guest->connection && !guest->dismissed && guest->standing <= IO_DOOR_ASKED;
}

static int count_standing(const struct io_door *door, const uint32_t *address)
{
    int count = 0;
    for (int i = 0; i < IO_DOOR_MAX; i++)
        count += stands(&door->guest[i]) && (!address || door->guest[i].address == *address);
    return count;
}

/* The address that has the most connections which may be sent away. */
static uint32_t crowd(const struct io_door *door)
{
    uint32_t address[IO_DOOR_MAX];
    int count[IO_DOOR_MAX], known = 0, most = 0;
    for (int i = 0; i < IO_DOOR_MAX; i++) {
        int k = 0;
        if (!stands(&door->guest[i]))
            continue;
        while (k < known && address[k] != door->guest[i].address)
            k++;
        if (k == known) {
            address[known] = door->guest[i].address;
            count[known++] = 0;
        }
        count[k]++;
        most = count[k] > count[most] ? k : most;
    }
    return known > 0 ? address[most] : 0;
}

/* Who goes first: those without a request, then those whose request was answered, then those whose
 * request waits to be read. */
static int rank_of(const struct io_door_guest *guest, bool (*has_said)(void *connection))
{
    if (guest->standing == IO_DOOR_ASKED)
        return 1;
    return has_said(guest->connection) ? 2 : 0;
}

static struct io_door_guest *choose(struct io_door *door, uint32_t address, const void *newest,
                                    bool (*has_said)(void *connection))
{
    struct io_door_guest *best = NULL;
    int best_rank = 0;
    for (int i = 0; i < IO_DOOR_MAX; i++) {
        struct io_door_guest *guest = &door->guest[i];
        if (!stands(guest) || guest->address != address || guest->connection == newest)
            continue;
        if (best && best_rank == 0 && best->came < guest->came)
            continue; /* it cannot be better, and looking costs */
        const int rank = rank_of(guest, has_said);
        if (!best || rank < best_rank || (rank == best_rank && guest->came < best->came)) {
            best = guest;
            best_rank = rank;
        }
    }
    return best;
}

static void *dismiss(struct io_door *door, struct io_door_guest *guest)
{
    guest->dismissed = true;
    door->dismissed++;
    return guest->connection;
}

void *io_door_come(struct io_door *door, void *connection, uint32_t address,
                   bool (*has_said)(void *connection))
{
    struct io_door_guest *place = find(door, NULL);
    if (!place) {
        door->dismissed++;
        return connection;
    }
    *place = (struct io_door_guest){
        .connection = connection, .address = address, .came = ++door->arrivals};
    struct io_door_guest *victim = NULL;
    if (!is_loopback(address) && count_standing(door, &address) > IO_DOOR_ADDRESS_MAX)
        victim = choose(door, address, connection, has_said);
    else if (count_standing(door, NULL) > IO_DOOR_STANDING_MAX)
        victim = choose(door, crowd(door), connection, has_said);
    return victim ? dismiss(door, victim) : NULL;
}

bool io_door_ask(struct io_door *door, void *connection, bool has_token)
{
    struct io_door_guest *guest = find(door, connection);
    if (!guest)
        return true;
    if (guest->standing <= IO_DOOR_ASKED)
        guest->standing = has_token ? IO_DOOR_KNOWN : IO_DOOR_ASKED;
    if (has_token)
        guest->dismissed = false; /* it was as quick as it could be */
    return !guest->dismissed;
}

bool io_door_has_seat(const struct io_door *door, const void *connection, bool is_operator)
{
    const struct io_door_guest *own = find(door, connection);
    int count = 0;
    if (!own || is_operator || is_loopback(own->address))
        return true;
    for (int i = 0; i < IO_DOOR_MAX; i++) {
        const struct io_door_guest *guest = &door->guest[i];
        count += guest->connection && guest->standing == IO_DOOR_SEATED && !guest->is_operator &&
                 guest->address == own->address;
    }
    return count < IO_DOOR_SEATS_MAX;
}

void io_door_sit(struct io_door *door, void *connection, bool is_operator)
{
    struct io_door_guest *guest = find(door, connection);
    if (!guest)
        return;
    guest->standing = IO_DOOR_SEATED;
    guest->is_operator = is_operator;
}

void io_door_leave(struct io_door *door, const void *connection)
{
    struct io_door_guest *guest = find(door, connection);
    if (connection && guest)
        *guest = (struct io_door_guest){0};
}

int io_door_tick(struct io_door *door, uint64_t served_ns, void *overdue[IO_DOOR_MAX])
{
    int count = 0;
    for (int i = 0; i < IO_DOOR_MAX; i++) {
        struct io_door_guest *guest = &door->guest[i];
        if (!guest->connection)
            continue;
        if (guest->standing == IO_DOOR_SILENT)
            guest->waited_ns += served_ns;
        if (guest->waited_ns > IO_DOOR_PATIENCE_NS && guest->standing == IO_DOOR_SILENT &&
            !guest->dismissed)
            (void)dismiss(door, guest);
        if (guest->dismissed)
            overdue[count++] = guest->connection;
    }
    return count;
}
