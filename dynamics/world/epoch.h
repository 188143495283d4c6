/*
 * Instants in two numbers, so that a microsecond survives a century: whole days since J2000.0
 * (2000-01-01 12:00) and seconds after that.  A run keeps the days and counts the seconds on.
 *
 * The scale is UT1.  UTC may be used instead: it differs by less than 0.9 s, or 0.004 deg of the
 * Earth's turn.
 */
#pragma once

struct dyn_epoch {
    double days;    /* whole */
    double seconds; /* any number of them */
};

/* Of a date of the Gregorian calendar from the year 1583 on, and the seconds since its midnight.
 * Context: any. */
struct dyn_epoch dyn_epoch_of_date(int year, int month, int day, double seconds);

/* Days since J2000.0 in one number, good for half a microsecond in this century.  Context: any. */
double dyn_epoch_days(const struct dyn_epoch *epoch);

/* The year and the part of it that has gone, as 2025.5: as models of the magnetic field need it.
 * Context: any. */
double dyn_epoch_year(const struct dyn_epoch *epoch);
