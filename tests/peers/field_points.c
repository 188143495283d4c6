/*
 * Our side of the magnetic field that geomagnetism_peer.mjs judges.
 *
 *   field_points WMM.COF    from the standard input: year, latitude, longitude (deg), height (m);
 *                           to the standard output: north, east, down (nT), a line for a line
 */
#include <stdio.h>

#include "config/import/wmm.h"
#include "config/scenario.h"
#include "dynamics/world/earth.h"
#include "tests/config/wmm_file.h"

static void print_field(const struct cfg_wmm *wmm, double year, const struct dyn_geodetic *at)
{
    struct dyn_magnetic_field field;
    dyn_magnetic_field_at_date(&wmm->model, year, &field);
    const struct dyn_home home = dyn_home_at(at);
    const struct dyn_vec3 ned = dyn_mul(&home.E, dyn_magnetic_field_at(&field, home.origin));
    printf("%.17g %.17g %.17g\n", 1e9 * ned.x, 1e9 * ned.y, 1e9 * ned.z);
}

int main(int argc, char **argv)
{
    const double degree = 3.141592653589793 / 180.0;
    struct cfg_wmm wmm;
    char error[CFG_ERROR_MAX];
    double year, latitude, longitude, height;
    if (argc != 2)
        return 64;
    if (load_wmm(argv[1], &wmm, error) != 0) {
        (void)fprintf(stderr, "%s\n", error);
        return 2;
    }
    while (scanf("%lf %lf %lf %lf", &year, &latitude, &longitude, &height) == 4) {
        const struct dyn_geodetic at = {latitude * degree, longitude * degree, height};
        print_field(&wmm, year, &at);
    }
    return 0;
}
