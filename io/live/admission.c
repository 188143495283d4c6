#include "io/live/admission.h"

#include <stddef.h>

static struct io_admission_entry *find(const struct io_admission *admission, const void *connection)
{
    for (int i = 0; i < IO_ADMISSION_MAX; i++)
        if (admission->entry[i].connection == connection)
            return (struct io_admission_entry *)&admission->entry[i];
    return NULL;
}

static bool is_loopback(uint32_t address)
{
    return address >> 24 == 127;
}

/* True when this connection may be closed for another. */
static bool is_evictable(const struct io_admission_entry *entry)
{
    return entry->connection && !entry->dismissed && entry->stage <= IO_ADMISSION_REQUESTED;
}

static int count_evictable(const struct io_admission *admission, const uint32_t *address)
{
    int count = 0;
    for (int i = 0; i < IO_ADMISSION_MAX; i++)
        count += is_evictable(&admission->entry[i]) &&
                 (!address || admission->entry[i].address == *address);
    return count;
}

/* The address that has the most connections that may be closed. */
static uint32_t busiest_address(const struct io_admission *admission)
{
    uint32_t address[IO_ADMISSION_MAX];
    int count[IO_ADMISSION_MAX], known = 0, most = 0;
    for (int i = 0; i < IO_ADMISSION_MAX; i++) {
        int k = 0;
        if (!is_evictable(&admission->entry[i]))
            continue;
        while (k < known && address[k] != admission->entry[i].address)
            k++;
        if (k == known) {
            address[known] = admission->entry[i].address;
            count[known++] = 0;
        }
        count[k]++;
        most = count[k] > count[most] ? k : most;
    }
    return known > 0 ? address[most] : 0;
}

/* The order of closing: connections without a request, then those whose request was answered,
 * then those whose request waits to be read. */
static int eviction_rank(const struct io_admission_entry *entry,
                         bool (*has_request)(void *connection))
{
    if (entry->stage == IO_ADMISSION_REQUESTED)
        return 1;
    return has_request(entry->connection) ? 2 : 0;
}

static struct io_admission_entry *choose_victim(struct io_admission *admission, uint32_t address,
                                                const void *newest,
                                                bool (*has_request)(void *connection))
{
    struct io_admission_entry *best = NULL;
    int best_rank = 0;
    for (int i = 0; i < IO_ADMISSION_MAX; i++) {
        struct io_admission_entry *entry = &admission->entry[i];
        if (!is_evictable(entry) || entry->address != address || entry->connection == newest)
            continue;
        if (best && best_rank == 0 && best->arrival < entry->arrival)
            continue; /* it cannot rank higher, and the check costs a system call */
        const int rank = eviction_rank(entry, has_request);
        if (!best || rank < best_rank || (rank == best_rank && entry->arrival < best->arrival)) {
            best = entry;
            best_rank = rank;
        }
    }
    return best;
}

static void *evict(struct io_admission *admission, struct io_admission_entry *entry)
{
    entry->dismissed = true;
    admission->dismissed++;
    return entry->connection;
}

void *io_admission_add(struct io_admission *admission, void *connection, uint32_t address,
                       bool (*has_request)(void *connection))
{
    struct io_admission_entry *place = find(admission, NULL);
    if (!place) {
        admission->dismissed++;
        return connection;
    }
    *place = (struct io_admission_entry){
        .connection = connection, .address = address, .arrival = ++admission->arrivals};
    struct io_admission_entry *victim = NULL;
    if (!is_loopback(address) && count_evictable(admission, &address) > IO_ADMISSION_ADDRESS_MAX)
        victim = choose_victim(admission, address, connection, has_request);
    else if (count_evictable(admission, NULL) > IO_ADMISSION_WAITING_MAX)
        victim = choose_victim(admission, busiest_address(admission), connection, has_request);
    return victim ? evict(admission, victim) : NULL;
}

bool io_admission_note_request(struct io_admission *admission, void *connection, bool has_token)
{
    struct io_admission_entry *entry = find(admission, connection);
    if (!entry)
        return true;
    if (entry->stage <= IO_ADMISSION_REQUESTED)
        entry->stage = has_token ? IO_ADMISSION_AUTHENTICATED : IO_ADMISSION_REQUESTED;
    if (has_token)
        entry->dismissed = false; /* its request arrived in time */
    return !entry->dismissed;
}

bool io_admission_allows_session(const struct io_admission *admission, const void *connection,
                                 bool is_operator)
{
    const struct io_admission_entry *own = find(admission, connection);
    int count = 0;
    if (!own || is_operator || is_loopback(own->address))
        return true;
    for (int i = 0; i < IO_ADMISSION_MAX; i++) {
        const struct io_admission_entry *entry = &admission->entry[i];
        count += entry->connection && entry->stage == IO_ADMISSION_IN_SESSION &&
                 !entry->is_operator && entry->address == own->address;
    }
    return count < IO_ADMISSION_SESSIONS_MAX;
}

void io_admission_note_session(struct io_admission *admission, void *connection, bool is_operator)
{
    struct io_admission_entry *entry = find(admission, connection);
    if (!entry)
        return;
    entry->stage = IO_ADMISSION_IN_SESSION;
    entry->is_operator = is_operator;
}

void io_admission_remove(struct io_admission *admission, const void *connection)
{
    struct io_admission_entry *entry = find(admission, connection);
    if (connection && entry)
        *entry = (struct io_admission_entry){0};
}

int io_admission_tick(struct io_admission *admission, uint64_t served_ns,
                      void *overdue[IO_ADMISSION_MAX])
{
    int count = 0;
    for (int i = 0; i < IO_ADMISSION_MAX; i++) {
        struct io_admission_entry *entry = &admission->entry[i];
        if (!entry->connection)
            continue;
        if (entry->stage == IO_ADMISSION_SILENT)
            entry->waited_ns += served_ns;
        if (entry->waited_ns > IO_ADMISSION_REQUEST_LIMIT_NS &&
            entry->stage == IO_ADMISSION_SILENT && !entry->dismissed)
            (void)evict(admission, entry);
        if (entry->dismissed)
            overdue[count++] = entry->connection;
    }
    return count;
}
