/*
 * What Betaflight wants before its first motion packet, and which Betaflight it is.
 *
 * It binds its UDP ports first and its virtual gyro later: 2026.6 dies of a motion packet that
 * comes between the two.  By MSP, the protocol of its configurator on TCP 5761, it answers when it
 * has booted, and tells its version.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "io/protocol/betaflight.h"

struct betaflight_version {
    int number[3]; /* 4.5.5, 2026.6.1; all 0: not told */
};

/* How the firmware on the other end stands. */
enum betaflight_state {
    BETAFLIGHT_NO_PORT, /* nobody is on its ports */
    BETAFLIGHT_BOOTING, /* its motion port is bound, and MSP is silent */
    BETAFLIGHT_BOOTED,  /* MSP told the version */
};

/* Ask once; motion: the IPv4 address and port that hear the motion (9003; MSP is on the port
 * 3242 below).  Takes up to half a second.  Context: setup. */
enum betaflight_state betaflight_query(const char *motion, struct betaflight_version *version);

/* Whether motion packets may leave: when it has booted, or some seconds after its port was bound,
 * for whoever stands in for it without MSP. */
struct betaflight_gate {
    uint64_t bound_since_ns; /* 0: it is not bound */
    struct betaflight_version version;
};
/* Context: setup. */
bool betaflight_gate_opens(struct betaflight_gate *gate, enum betaflight_state stand,
                           uint64_t now_ns);

/* Whose wire this version speaks. */
enum io_betaflight_variant betaflight_variant_of(const struct betaflight_version *version);
/* One answer to MSP_FC_VERSION, whole and sound. */
bool betaflight_read_version(const unsigned char *bytes, int size,
                             struct betaflight_version *version);
