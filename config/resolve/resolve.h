/*
 * From the keys to a scenario: names become indices, rates become frames, and everything that would
 * fail in a frame is refused.
 */
#pragma once

#include "config/keys/keys.h"
#include "config/scenario.h"

struct cfg_resolve {
    const struct cfg_keys_scenario *keys;
    struct cfg_scenario *scenario;
    struct cfg_complaint *report;
    const struct cfg_file_source *source; /* NULL: files are on disk */
};

/* The links of the URDF that the scenario names become bodies among its keys, before all others.
 * Their memory is the pool's.  false with the complaint in report.  Context: setup. */
bool cfg_take_urdf(const struct cfg_resolve *resolve, struct cfg_keys_scenario *keys,
                   struct cfg_load_arena *pool);

/* In this order; each false with the complaint in report.  Context: setup. */
bool cfg_resolve_run(const struct cfg_resolve *resolve);
bool cfg_resolve_bodies(const struct cfg_resolve *resolve);
/* The body that flies the orbit starts on it; nothing in other worlds. */
bool cfg_resolve_orbit(const struct cfg_resolve *resolve);
bool cfg_resolve_links(const struct cfg_resolve *resolve);
bool cfg_resolve_devices(const struct cfg_resolve *resolve);
/* The arm and its payloads; after bodies and links. */
bool cfg_resolve_arm(const struct cfg_resolve *resolve);
/* The board's clock that the frames follow, and the sync pulses for an external clock. */
bool cfg_resolve_clock(const struct cfg_resolve *resolve);
/* The predictor: how far ahead and how often; after the links. */
bool cfg_resolve_predictor(const struct cfg_resolve *resolve);
/* Of one link: its ground station. */
bool cfg_resolve_ground(const struct cfg_resolve *resolve, const struct cfg_keys_link *keys,
                        struct sim_link *link);
/* The rate of each message of a link, by its protocol and the sensors of the vehicle. */
bool cfg_resolve_message_rates(const struct cfg_resolve *resolve);
bool cfg_resolve_faults(const struct cfg_resolve *resolve);
bool cfg_resolve_expects(const struct cfg_resolve *resolve);
/* The parameters, and where the frame reads them. */
bool cfg_resolve_tunables(const struct cfg_resolve *resolve);
/* The decimation of the channels of sensors, actuators and the plant. */
bool cfg_resolve_log(const struct cfg_resolve *resolve);
/* The cameras. */
bool cfg_resolve_cameras(const struct cfg_resolve *resolve);
/* The frame table: few enough jobs, and a pattern that repeats soon enough. */
bool cfg_resolve_frame_table(const struct cfg_resolve *resolve);
/* The tree as the kernel will see it, rotors taken out. */
bool cfg_resolve_model(const struct cfg_resolve *resolve);

/* Gravity, magnetic field, air and ground, and the place on the Earth; part of cfg_resolve_run().
 * false with the complaint in report.  Context: setup. */
bool cfg_resolve_world(const struct cfg_resolve *resolve);

/* One body's joint, without the joint that it mimics.  false with the complaint in report. Context:
 * setup.
 */
bool cfg_resolve_joint(const struct cfg_resolve *resolve, const struct cfg_keys_joint *joint,
                       struct sim_body *body);

/* The flexible part of a body, and its mass where the flexible part has it. keys->flex is given.
 * false with the complaint in report.  Context: setup. */
bool cfg_resolve_flex(const struct cfg_resolve *resolve, const struct cfg_keys_body *keys,
                      struct sim_body *body);

/* The node of the parent at which a body's joint is.  false with the complaint in report.
 * Context: setup. */
bool cfg_resolve_parent_node(const struct cfg_resolve *resolve, const struct cfg_keys_body *keys,
                             struct sim_body *body);

/* The nodes of a flexible body that carry something, for the kernel; after all parent nodes.
 * Context: setup. */
void cfg_gather_nodes(const struct cfg_resolve *resolve, struct sim_body *body);

/* Check the modes for the kernel and the integrator; after the rotors are taken out of the body.
 * false with the complaint in report.  Context: setup. */
bool cfg_check_flex(const struct cfg_resolve *resolve, const struct cfg_keys_body *keys,
                    struct sim_body *body);

/* The solids of a body; after its flexible part.  false with the complaint in report.  Context:
 * setup. */
bool cfg_resolve_solids(const struct cfg_resolve *resolve, const struct cfg_keys_body *keys,
                        struct sim_body *body);

/* True when there is a mass distribution with this inertia.  Context: setup. */
bool cfg_is_physical(const double inertia[6]);

/* The body that `key` of the mapping at node names.  Context: setup. */
bool cfg_find_body(const struct cfg_resolve *resolve, const struct cfg_node *node, const char *key,
                   const char *name, int *index);

/* The link that key "link" of the mapping at node names.  Context: setup. */
bool cfg_find_link(const struct cfg_resolve *resolve, const struct cfg_node *node, const char *name,
                   int *index);

/* True for an IPv4 address with a port, such as 127.0.0.1:14560.  Context: setup. */
bool cfg_is_address(const char *text);

/* Frames between two events at rate.  Context: setup. */
bool cfg_frames_per(const struct cfg_resolve *resolve, const struct cfg_node *node, const char *key,
                    double rate_hz, uint32_t *every);

/* A time as a whole number of steps of so many frames, less than limit of them.  Context: setup. */
bool cfg_whole_steps(const struct cfg_resolve *resolve, const struct cfg_node *node,
                     const char *key, double seconds, uint32_t step_frames, uint32_t limit,
                     uint32_t *count);
