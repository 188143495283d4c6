/*
 * Betaflight's readiness for its first motion packet, and its version.
 *
 * It binds its UDP ports before it has its virtual gyro: 2026.6 crashes on a motion packet that
 * comes between the two.  By MSP, the protocol of its configurator on TCP 5761, it answers with
 * its version once it has booted.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "io/protocol/betaflight.h"

struct betaflight_version {
    int number[3]; /* 4.5.5, 2026.6.1; all 0: not known */
};

/* The state of the firmware on the other end. */
enum betaflight_state {
    BETAFLIGHT_NO_PORT, /* its ports are not bound */
    BETAFLIGHT_BOOTING, /* its motion port is bound, and MSP does not answer */
    BETAFLIGHT_BOOTED,  /* MSP has answered with the version */
};

/* Query once; motion: the IPv4 address and port of the motion packets (9003; MSP is on the port
 * 3242 below).  Takes up to half a second.  Context: setup. */
enum betaflight_state betaflight_query(const char *motion, struct betaflight_version *version);

/* True when motion packets may be sent: after the boot, or some seconds after the port was bound,
 * for stand-ins without MSP. */
struct betaflight_gate {
    uint64_t bound_since_ns; /* 0: the port is not bound */
    struct betaflight_version version;
};
/* Context: setup. */
bool betaflight_gate_opens(struct betaflight_gate *gate, enum betaflight_state stand,
                           uint64_t now_ns);

/* The packet variant of this version. */
enum io_betaflight_variant betaflight_variant_of(const struct betaflight_version *version);
/* Parse one complete and valid answer to MSP_FC_VERSION. */
bool betaflight_read_version(const unsigned char *bytes, int size,
                             struct betaflight_version *version);
