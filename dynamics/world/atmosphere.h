/*
 * US standard atmosphere 1976, from 5 km below the sea to 86 km.
 *
 * Seven layers in geopotential height, in each of which the temperature is a straight line.  The
 * temperature is that of the molecular scale: above 80 km it exceeds the kinetic one, by 0.04 % at
 * 86 km.  Beyond 86 km the pressure decays at the last temperature, which is not part of the
 * standard but leaves a satellite in a vacuum.
 */
#pragma once

struct dyn_air {
    double pressure;    /* Pa */
    double density;     /* kg/m^3 */
    double temperature; /* K */
    double sound_speed; /* speed, m/s */
};

/* At a height above the sea, m.  Context: frame. */
struct dyn_air dyn_air_at(double height);

/* Geopotential height, in which the layers are given, m.  Context: frame. */
double dyn_air_geopotential(double height);
