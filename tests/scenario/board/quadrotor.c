#include "tests/scenario/board/quadrotor.h"

#include <math.h>
#include <string.h>

enum { VELOCITY = 3, ATTITUDE = 6, RATE = 10, MOTOR = 13 };

static const double gravity = 9.80665;
static const double foot[4][3] = {
    {0.15, 0.15, 0.1}, {-0.15, -0.15, 0.1}, {0.15, -0.15, 0.1}, {-0.15, 0.15, 0.1}};
static const double ground_stiffness = 2000.0, ground_damping = 40.0, ground_friction = 0.8;

void quadrotor_place(struct quadrotor *quadrotor, double heading)
{
    *quadrotor = (struct quadrotor){.mass = 1.5,
                                    .inertia = {0.029, 0.029, 0.055},
                                    .max_thrust = 7.0,
                                    .arm = {0.22, 0.20},
                                    .drag_ratio = 0.016,
                                    .lag = 0.025,
                                    .air = 0.3};
    quadrotor->state[2] = -0.1 + quadrotor->mass * gravity / (4.0 * ground_stiffness);
    quadrotor->state[ATTITUDE] = cos(0.5 * heading);
    quadrotor->state[ATTITUDE + 3] = sin(0.5 * heading);
}

/* Columns are the body axes in world coordinates. */
static void matrix(const double *q, double R[3][3])
{
    const double w = q[0], x = q[1], y = q[2], z = q[3];
    R[0][0] = w * w + x * x - y * y - z * z;
    R[1][1] = w * w - x * x + y * y - z * z;
    R[2][2] = w * w - x * x - y * y + z * z;
    R[0][1] = 2.0 * (x * y - w * z);
    R[1][0] = 2.0 * (x * y + w * z);
    R[0][2] = 2.0 * (x * z + w * y);
    R[2][0] = 2.0 * (x * z - w * y);
    R[1][2] = 2.0 * (y * z - w * x);
    R[2][1] = 2.0 * (y * z + w * x);
}

static void cross(const double a[3], const double b[3], double out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

/* Motor 0 front right, 1 rear left: counter-clockwise; 2 front left, 3 rear right: clockwise. */
static void rotors(const struct quadrotor *s, const double *x, double force[3], double torque[3])
{
    static const double forward[4] = {1.0, -1.0, 1.0, -1.0}, right[4] = {1.0, -1.0, -1.0, 1.0};
    static const double clockwise[4] = {-1.0, -1.0, 1.0, 1.0};
    for (int i = 0; i < 4; i++) {
        const double thrust = s->max_thrust * x[MOTOR + i] * x[MOTOR + i];
        const double at[3] = {forward[i] * s->arm[0], right[i] * s->arm[1], 0.0};
        const double push[3] = {0.0, 0.0, -thrust};
        double turn[3];
        cross(at, push, turn);
        force[2] += push[2];
        for (int k = 0; k < 3; k++)
            torque[k] += turn[k];
        torque[2] -= clockwise[i] * s->drag_ratio * thrust; /* the body turns against it */
    }
}

/* Each foot: spring and damper upwards, friction against sliding. */
static void ground(const double *x, double R[3][3], double world[3], double torque[3])
{
    for (int i = 0; i < 4; i++) {
        double sweep[3], speed[3], push[3], arm_push[3], turn[3], depth = x[2];
        cross(x + RATE, foot[i], sweep);
        for (int k = 0; k < 3; k++) {
            depth += R[2][k] * foot[i][k];
            speed[k] =
                x[VELOCITY + k] + R[k][0] * sweep[0] + R[k][1] * sweep[1] + R[k][2] * sweep[2];
        }
        if (depth <= 0.0)
            continue;
        const double normal = fmax(ground_stiffness * depth + ground_damping * speed[2], 0.0);
        const double slide = hypot(speed[0], speed[1]);
        const double grip = ground_friction * normal / fmax(slide, 0.05);
        push[0] = -grip * speed[0];
        push[1] = -grip * speed[1];
        push[2] = -normal;
        for (int k = 0; k < 3; k++) {
            world[k] += push[k];
            arm_push[k] = R[0][k] * push[0] + R[1][k] * push[1] + R[2][k] * push[2];
        }
        cross(foot[i], arm_push, turn);
        for (int k = 0; k < 3; k++)
            torque[k] += turn[k];
    }
}

/* All but gravity, world axes; torque in body axes. */
static void forces(const struct quadrotor *s, const double *x, double world[3], double torque[3])
{
    double R[3][3], body[3] = {0.0, 0.0, 0.0};
    matrix(x + ATTITUDE, R);
    memset(torque, 0, 3 * sizeof torque[0]);
    rotors(s, x, body, torque);
    for (int k = 0; k < 3; k++)
        world[k] = R[k][0] * body[0] + R[k][1] * body[1] + R[k][2] * body[2] +
                   s->air * (s->wind[k] - x[VELOCITY + k]);
    ground(x, R, world, torque);
}

static void derivative(const struct quadrotor *s, const double *x, const double command[4],
                       double *dx)
{
    const double *q = x + ATTITUDE, *w = x + RATE;
    double world[3], torque[3], momentum[3], gyroscopic[3];
    forces(s, x, world, torque);
    for (int k = 0; k < 3; k++) {
        dx[k] = x[VELOCITY + k];
        dx[VELOCITY + k] = world[k] / s->mass + (k == 2 ? gravity : 0.0);
        momentum[k] = s->inertia[k] * w[k];
    }
    dx[ATTITUDE] = -0.5 * (q[1] * w[0] + q[2] * w[1] + q[3] * w[2]);
    dx[ATTITUDE + 1] = 0.5 * (q[0] * w[0] + q[2] * w[2] - q[3] * w[1]);
    dx[ATTITUDE + 2] = 0.5 * (q[0] * w[1] + q[3] * w[0] - q[1] * w[2]);
    dx[ATTITUDE + 3] = 0.5 * (q[0] * w[2] + q[1] * w[1] - q[2] * w[0]);
    cross(w, momentum, gyroscopic);
    for (int k = 0; k < 3; k++)
        dx[RATE + k] = (torque[k] - gyroscopic[k]) / s->inertia[k];
    for (int i = 0; i < 4; i++)
        dx[MOTOR + i] = (command[i] - x[MOTOR + i]) / s->lag;
}

void quadrotor_step(struct quadrotor *quadrotor, const double command[4], double dt)
{
    static const double node[4] = {0.0, 0.5, 0.5, 1.0}, weight[4] = {1.0, 2.0, 2.0, 1.0};
    double *x = quadrotor->state, sum[QUADROTOR_STATES] = {0.0}, slope[QUADROTOR_STATES] = {0.0};

    for (int stage = 0; stage < 4; stage++) {
        double at[QUADROTOR_STATES];
        for (int i = 0; i < QUADROTOR_STATES; i++)
            at[i] = x[i] + node[stage] * dt * slope[i];
        derivative(quadrotor, at, command, slope);
        for (int i = 0; i < QUADROTOR_STATES; i++)
            sum[i] += weight[stage] / 6.0 * slope[i];
    }
    for (int i = 0; i < QUADROTOR_STATES; i++)
        x[i] += dt * sum[i];

    double *q = x + ATTITUDE;
    const double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    for (int i = 0; i < 4; i++)
        q[i] /= length;
}

const double *quadrotor_position(const struct quadrotor *quadrotor)
{
    return quadrotor->state;
}

const double *quadrotor_velocity(const struct quadrotor *quadrotor)
{
    return quadrotor->state + VELOCITY;
}

const double *quadrotor_attitude(const struct quadrotor *quadrotor)
{
    return quadrotor->state + ATTITUDE;
}

const double *quadrotor_rate(const struct quadrotor *quadrotor)
{
    return quadrotor->state + RATE;
}

void quadrotor_see(const struct quadrotor *quadrotor, const double world[3], double body[3])
{
    double R[3][3];
    matrix(quadrotor->state + ATTITUDE, R);
    for (int k = 0; k < 3; k++)
        body[k] = R[0][k] * world[0] + R[1][k] * world[1] + R[2][k] * world[2];
}

void quadrotor_force(const struct quadrotor *quadrotor, double force[3])
{
    double world[3], torque[3];
    forces(quadrotor, quadrotor->state, world, torque);
    quadrotor_see(quadrotor, world, force);
    for (int k = 0; k < 3; k++)
        force[k] /= quadrotor->mass;
}

double quadrotor_tilt(const struct quadrotor *quadrotor)
{
    double R[3][3];
    matrix(quadrotor->state + ATTITUDE, R);
    return acos(fmin(fmax(R[2][2], -1.0), 1.0));
}
