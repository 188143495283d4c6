#include "rt/executive/arm/arm_record.h"

#include <stdio.h>
#include <string.h>

#include "rt/check.h"

enum {
    COUNTS = 2,       /* uint64 in front */
    JOINT_ARRAYS = 4, /* float64[n] each */
    HAND = 7 + 6 + 6, /* float64 behind them, of the hand, */
    GAP = 5 + 6,      /* and of what it takes */
    BYTES = 9,        /* uint8 at the end, besides the brakes */
};

size_t sim_arm_record_size(int joints)
{
    return (size_t)(COUNTS + JOINT_ARRAYS * joints + HAND + GAP) * 8 + 4 + (size_t)joints + BYTES;
}

const char *sim_arm_record_text(int joints)
{
    static char text[2048];
    const int length =
        snprintf(text, sizeof text,
                 "# An arm that a person flies.\n"
                 "uint64 board_us # of the newest command that the servos saw: the sender's clock\n"
                 "uint64 commands # latched so far\n"
                 "float64[%d] position # rad\n"
                 "float64[%d] rate # rad/s\n"
                 "float64[%d] rate_command # rad/s\n"
                 "float64[%d] torque # N m, of the motors, behind their gears\n"
                 "float64[7] pose # hand in base axes: x y z qw qx qy qz\n"
                 "float64[6] twist # hand against base, base axes, angular first: rad/s, m/s\n"
                 "float64[6] twist_command # asked for, base axes\n"
                 "float64 reach # m, hand to the nearest fixture, or its payload to its berth; -1: "
                 "none\n"
                 "float64 tilt # rad, misalignment there\n"
                 "float64 closing # m/s, speed against it\n"
                 "float64 blow # J, energy lost in the last grapple, or release into a berth\n"
                 "float64 delay # s, put between hand and arm on purpose\n"
                 "float64[6] impulse # on the payload in that blow, at the hand and in its "
                 "axes, angular first: N m s, N s\n"
                 "uint32 flags # 1 singular 2 joint limit 4 slowed 8 link lost 16 safed 32 vernier "
                 "64 inside the capture envelope 128 auto under way 256 torque limit "
                 "512 in its berth: a release latches it\n"
                 "uint8[%d] brake # 0 off 1 slipping 2 holding\n"
                 "uint8 mode # 0 hold 1 joint 2 end-effector 3 base 4 payload 5 auto\n"
                 "uint8 joint # selected in mode joint\n"
                 "uint8 payload # 0 none, else 1 + index\n"
                 "uint8 pose_index # auto: 1 + index of the pose it goes to, 0 none\n"
                 "uint8 near # which payload reach speaks of: 1 + index, 0 none\n"
                 "uint8 grapples # modulo 256, as the next two\n"
                 "uint8 releases\n"
                 "uint8 refused # grapples asked for outside the envelope\n"
                 "uint8 latched # bit i: payload i to its bay\n",
                 joints, joints, joints, joints, joints);
    RT_CHECK(length > 0 && (size_t)length < sizeof text);
    return text;
}

static unsigned char *put_bytes(unsigned char *out, const void *from, size_t size)
{
    memcpy(out, from, size);
    return out + size;
}

static unsigned char *put_number(unsigned char *out, double number)
{
    return put_bytes(out, &number, sizeof number);
}

static unsigned char *put_joints(const struct sim_vehicle *vehicle, unsigned char *out)
{
    const size_t size = (size_t)vehicle->spec->arm.joint_count * sizeof(double);
    const double *v = vehicle->x + dyn_model_nq(vehicle->plant.model);
    for (int n = 0; n < vehicle->spec->arm.joint_count; n++)
        out = put_number(out, vehicle->x[vehicle->kinematics.q_at[n]]);
    for (int n = 0; n < vehicle->spec->arm.joint_count; n++)
        out = put_number(out, v[vehicle->kinematics.v_at[n]]);
    out = put_bytes(out, vehicle->arm->command, size);
    return put_bytes(out, vehicle->arm->torque, size);
}

static unsigned char *put_hand(const struct sim_vehicle *vehicle, unsigned char *out)
{
    const struct dyn_state state = {vehicle->x, vehicle->x + dyn_model_nq(vehicle->plant.model)};
    struct dyn_pose pose;
    double place[7], twist[6];
    dyn_arm_hand_motion(&vehicle->kinematics, &state, vehicle->arm_work, &pose, twist);
    dyn_vec3_store(pose.origin, place);
    dyn_quat_store(pose.turn, place + 3);
    out = put_bytes(out, place, sizeof place);
    out = put_bytes(out, twist, sizeof twist);
    return put_bytes(out, vehicle->arm->asked, sizeof vehicle->arm->asked);
}

void sim_arm_record_fill(const struct sim_vehicle *vehicle, unsigned char *out)
{
    const struct sim_arm_state *now = vehicle->arm;
    const struct sim_link_state *link = &vehicle->link[vehicle->spec->arm.translation.link];
    const double delay =
        vehicle->h * vehicle->spec->links[vehicle->spec->arm.translation.link].delay;
    const double gap[5] = {now->reach, now->tilt, now->closing, now->blow, delay};
    const uint32_t flags = (uint32_t)now->flags;
    out = put_bytes(out, &now->newest_stick_us, sizeof now->newest_stick_us);
    out = put_bytes(out, &link->commands, sizeof link->commands);
    out = put_joints(vehicle, out);
    out = put_hand(vehicle, out);
    out = put_bytes(out, gap, sizeof gap);
    out = put_bytes(out, now->impulse, sizeof now->impulse);
    out = put_bytes(out, &flags, sizeof flags);
    for (int n = 0; n < vehicle->spec->arm.joint_count; n++)
        *out++ = (unsigned char)now->brake[n];
    const unsigned char rest[BYTES] = {
        (unsigned char)now->panel.mode,    (unsigned char)now->panel.joint,
        (unsigned char)now->configuration, (unsigned char)now->panel.pose,
        (unsigned char)now->near,          (unsigned char)now->grapples,
        (unsigned char)now->releases,      (unsigned char)now->refused,
        (unsigned char)now->latched};
    _Static_assert(SIM_PAYLOAD_MAX <= 8, "a bit each");
    memcpy(out, rest, sizeof rest);
}

/* ---- back again ------------------------------------------------------------------------ */

struct sim_arm_summary sim_arm_record_read(int joints, const unsigned char *image)
{
    struct sim_arm_summary told = {0};
    const unsigned char *gap = image + (size_t)(COUNTS + JOINT_ARRAYS * joints + HAND) * 8;
    const unsigned char *flags = gap + GAP * sizeof(double);
    const unsigned char *brake = flags + sizeof told.flags, *rest = brake + joints;
    memcpy(&told.reach, gap, sizeof told.reach);
    memcpy(&told.blow, gap + 3 * sizeof(double), sizeof told.blow);
    memcpy(&told.flags, flags, sizeof told.flags);
    for (int n = 0; n < joints; n++)
        told.braked = told.braked || brake[n] != SIM_ARM_BRAKE_OFF;
    told.mode = rest[0];
    told.payload = rest[2];
    told.grapples = rest[5];
    told.releases = rest[6];
    told.refused = rest[7];
    told.latched = rest[8];
    return told;
}
