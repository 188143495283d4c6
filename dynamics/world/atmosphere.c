#include "dynamics/world/atmosphere.h"

#include <math.h>

static const double RADIUS = 6356766.0; /* at which g is the standard one, m */
static const double G = 9.80665;
static const double R = 8314.32 / 28.9644; /* of air, J/(kg K) */
static const double GAMMA = 1.4;

/* USSA 1976, table 4; the pressures are computed from the first one, layer by layer. */
struct layer {
    double base;        /* geopotential m */
    double temperature; /* there, K */
    double slope;       /* K/m */
    double pressure;    /* there, Pa */
};

enum { LAYERS = 8 };

static const struct layer layers[LAYERS] = {
    {0.0, 288.15, -6.5e-3, 101325.0},
    {11000.0, 216.65, 0.0, 22632.063973462929},
    {20000.0, 216.65, 1e-3, 5474.8886696777799},
    {32000.0, 228.65, 2.8e-3, 868.01868475522735},
    {47000.0, 270.65, 0.0, 110.90630555496588},
    {51000.0, 270.65, -2.8e-3, 66.938873118687269},
    {71000.0, 214.65, -2e-3, 3.9564204280407287},
    {84852.0, 186.946, 0.0, 0.37338358997621579},
};

double dyn_air_geopotential(double height)
{
    return RADIUS * height / (RADIUS + height);
}

struct dyn_air dyn_air_at(double height)
{
    const double H = dyn_air_geopotential(height);
    const struct layer *layer = layers;
    while (layer < layers + LAYERS - 1 && H >= layer[1].base)
        layer++;
    const double rise = H - layer->base, T = layer->temperature + layer->slope * rise;
    const double pressure =
        layer->slope != 0.0 ? layer->pressure * pow(layer->temperature / T, G / (R * layer->slope))
                            : layer->pressure * exp(-G * rise / (R * T));
    return (struct dyn_air){pressure, pressure / (R * T), T, sqrt(GAMMA * R * T)};
}
