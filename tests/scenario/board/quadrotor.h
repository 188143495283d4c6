/*
 * A quadrotor to fly: rigid body, four motors with lag, wind, four feet on the ground.  Written for
 * this test alone with its own mathematics and Runge-Kutta, so that the board is tried against
 * something that shares no code with it nor with the simulator.
 *
 * World axes north, east, down with the ground at 0; body axes forward, right, down.
 */
#pragma once

enum { QUADROTOR_STATES = 17 };

struct quadrotor {
    double mass, inertia[3];
    double max_thrust;              /* N, one motor at speed 1 */
    double arm[2];                  /* m, motors forward and sideways of the centre */
    double drag_ratio;              /* m, torque over thrust */
    double lag;                     /* s, of a motor */
    double air;                     /* N s/m, drag of the body */
    double wind[3];                 /* m/s, world */
    double state[QUADROTOR_STATES]; /* position, velocity, q[4], rate, motor speed[4] */
};

/* An iris of 1.5 kg, standing still at this heading. */
void quadrotor_place(struct quadrotor *quadrotor, double heading);
/* Hold the motor commands for dt seconds. */
void quadrotor_step(struct quadrotor *quadrotor, const double command[4], double dt);

const double *quadrotor_position(const struct quadrotor *quadrotor);
const double *quadrotor_velocity(const struct quadrotor *quadrotor);
const double *quadrotor_attitude(const struct quadrotor *quadrotor);
const double *quadrotor_rate(const struct quadrotor *quadrotor);
/* What an accelerometer feels, m/s^2, body axes. */
void quadrotor_force(const struct quadrotor *quadrotor, double force[3]);
/* A world vector seen in body axes. */
void quadrotor_see(const struct quadrotor *quadrotor, const double world[3], double body[3]);
/* Angle between its z axis and the vertical, rad. */
double quadrotor_tilt(const struct quadrotor *quadrotor);
