/*
 * NASTRAN bulk data and punch files read back in every way that they are written, and mistakes in
 * them, each refused with the line that names its place.
 */
#include "config/import/nastran.h"
#include "config/scenario.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/import/nastran_bulk.h"
#include "config/import/nastran_columns.h"
#include "unity.h"

/*
 * Three grids along x, a lump of 2 kg on the second and of 0.5 kg on the third.  Mode 1 is of the
 * rigid body.  With modal masses of one: 2 * 0.5^2 + 0.5 * 1^2 = 1 for mode 2, in y, and for mode
 * 3, in z; mode 4 has 2 * 0.5^2 + 0.5 * (-1)^2 = 1, in y, and shares 0.5 - 0.5 = 0 with mode 2.
 */
// clang-format off
static const char deck[] =
    "SOL 103\n"
    "CEND\n"
    "BEGIN BULK\n"
    "$ a comment, GRID,9\n"
    "GRID           1             0.0     0.0     0.0\n"
    "GRID           2            1.25     0.0     0.0\n"
    "GRID           3             2.5     0.0     0.0\n"
    "CBAR           1       1       1       2      0.      1.      0.\n"
    "CONM2          7       2             2.0\n"
    "CONM2          8       3             0.5\n"
    "ENDDATA\n"
    "GRID           1             0.0     0.0     0.0\n";

static const char modes[] =
    "$TITLE   = THREE GRIDS                                                         1\n"
    "$EIGENVECTOR                                                                   2\n"
    "$REAL OUTPUT                                                                   3\n"
    "$SUBCASE ID =           1                                                      4\n"
    "$EIGENVALUE = -0.1234567E-07  MODE =     1                                     5\n"
    "         1       G      0.000000E+00      6.324555E-01      0.000000E+00       6\n"
    "-CONT-                  0.000000E+00      0.000000E+00      0.000000E+00       7\n"
    "         2       G      0.000000E+00      6.324555E-01      0.000000E+00       8\n"
    "-CONT-                  0.000000E+00      0.000000E+00      0.000000E+00       9\n"
    "         3       G      0.000000E+00      6.324555E-01      0.000000E+00      10\n"
    "-CONT-                  0.000000E+00      0.000000E+00      0.000000E+00      11\n"
    "$TITLE   = THREE GRIDS                                                        12\n"
    "$EIGENVECTOR                                                                  13\n"
    "$REAL OUTPUT                                                                  14\n"
    "$SUBCASE ID =           1                                                     15\n"
    "$EIGENVALUE =  0.4000000E+03  MODE =     2                                    16\n"
    "         1       G      0.000000E+00      0.000000E+00      0.000000E+00      17\n"
    "-CONT-                  0.000000E+00      0.000000E+00      0.000000E+00      18\n"
    "         2       G      0.000000E+00      5.000000E-01      0.000000E+00      19\n"
    "-CONT-                  0.000000E+00      0.000000E+00      2.500000E-01      20\n"
    "         3       G      0.000000E+00      1.000000E+00      0.000000E+00      21\n"
    "-CONT-                  0.000000E+00      0.000000E+00      3.750000E+00      22\n"
    "$TITLE   = THREE GRIDS                                                        23\n"
    "$EIGENVECTOR                                                                  24\n"
    "$REAL OUTPUT                                                                  25\n"
    "$SUBCASE ID =           1                                                     26\n"
    "$EIGENVALUE =  0.9000000E+03  MODE =     3                                    27\n"
    "         1       G      0.000000E+00      0.000000E+00      0.000000E+00      28\n"
    "-CONT-                  0.000000E+00      0.000000E+00      0.000000E+00      29\n"
    "         2       G      0.000000E+00      0.000000E+00      5.000000E-01      30\n"
    "-CONT-                  0.000000E+00     -2.500000E-01      0.000000E+00      31\n"
    "         3       G      0.000000E+00      0.000000E+00      1.000000E+00      32\n"
    "-CONT-                  0.000000E+00     -3.750000E+00      0.000000E+00      33\n"
    "$TITLE   = THREE GRIDS                                                        34\n"
    "$EIGENVECTOR                                                                  35\n"
    "$REAL OUTPUT                                                                  36\n"
    "$SUBCASE ID =           1                                                     37\n"
    "$EIGENVALUE =  0.1600000E+05  MODE =     4                                    38\n"
    "         1       G      0.000000E+00      0.000000E+00      0.000000E+00      39\n"
    "-CONT-                  0.000000E+00      0.000000E+00      0.000000E+00      40\n"
    "         2       G      0.000000E+00      5.000000E-01      0.000000E+00      41\n"
    "-CONT-                  0.000000E+00      0.000000E+00      1.500000E+00      42\n"
    "         3       G      0.000000E+00     -1.000000E+00      0.000000E+00      43\n"
    "-CONT-                  0.000000E+00      0.000000E+00     -3.750000E+00      44\n";

struct mistake {
    const char *good, *bad;
    const char *complaint; /* behind the file's name: line:column: what */
};

static const struct mistake deck_mistakes[] = {
    /* numbers */
    {"1.25", " 1 5", "6:30: X1 of GRID wants a number; here is \"1 5\""},
    {"1.25", " nan", "6:30: X1 of GRID wants a number; here is \"nan\""},
    {"1.25", "0x1p", "6:29: X1 of GRID wants a number; here is \"0x1p\""},
    {"  1.25", "1.5E+E", "6:27: X1 of GRID wants a number; here is \"1.5E+E\""},
    {"  1.25", "1.+400", "6:27: X1 of GRID wants a number; here is \"1.+400\""},
    {"GRID           2            1.25     0.0     0.0", "GRID,2,,1.2.5",
     "6:9: X1 of GRID wants a number; here is \"1.2.5\""},
    {"GRID           2", "GRID           0",
     "6:16: ID of GRID wants a whole number, 1 or more; here is \"0\""},
    {"GRID           2", "GRID          2.",
     "6:15: ID of GRID wants a whole number, 1 or more; here is \"2.\""},
    {"GRID           2            1.25     0.0     0.0", "GRID,1234567890",
     "6:6: ID of GRID wants a whole number, 1 or more; here is \"1234567890\""},
    {"GRID           2", "GRID            ", "6:1: GRID has no ID; add it"},
    {"CONM2          8       3             0.5", "CONM2          8       3            -0.5",
     "10:37: M of CONM2 must not be negative; here is -0.5"},
    {"CONM2          8       3             0.5", "CONM2          8                     0.5",
     "10:1: CONM2 has no G; add it"},
    {"CONM2          8       3             0.5", "CONM2,8,3,,.5,,,,,\n,1.,0.,-1.",
     "10:1: no mass has the inertia of this CONM2: moments are not negative, a product's square "
     "is at most that of its two moments; check I11 to I33"},
    {"CONM2          8       3             0.5", "CONM2,8,3,,.5,,,,,\n,1.,1.01,1.",
     "10:1: no mass has the inertia of this CONM2: moments are not negative, a product's square "
     "is at most that of its two moments; check I11 to I33"},
    /* lines */
    {"GRID           2            1.25     0.0     0.0", "GRID,2,,1.25,0.,0.,,,,,7",
     "6:24: more than 8 fields in a line of GRID; go on in a line below that begins with ,"},
    {"GRID           2            1.25     0.0     0.0", "GRID*,2,,1.25,0.,*A,0.",
     "6:21: more than 4 fields in a line of GRID; go on in a line below that begins with *,"},
    {"GRID           2            1.25     0.0     0.0",
     "GRID,2,,1.2500000000000000000000000000000000000",
     "6:9: a field of GRID is longer than 31 characters; shorten it"},
    {"CONM2          8       3             0.5", "CONM2,8,3,,.5,,,,,+A\n+A\n+,,,,,,\n,5",
     "13:2: CONM2 has no more than 16 fields; remove the rest"},
    {"CONM2          8       3             0.5", "CONM2,8,3,,.5,,,,,+A\n+B,1.,,1.,,,1.",
     "11:1: this goes on with another card: CONM2 asks for \"+A\", here is \"+B\"; put each "
     "continuation behind its card"},
    {"CBAR ", "=    ", "8:1: cards that repeat others (=) are not read; write them out"},
    {"CBAR           1       1       1       2      0.      1.      0.", "INCLUDE 'grids.bdf'",
     "8:1: INCLUDE is not followed; put the lines of that file here"},
    {"CBAR           1       1       1       2      0.      1.      0.", "BEGIN SUPER=1",
     "8:1: a second BEGIN: superelements are not read; give one model a file"},
    /* what belongs together */
    {"GRID           2", "GRID           1", "6:1: there is already a GRID 1 in line 5; remove one"},
    {"CONM2          8", "CONM2          7",
     "10:1: there is already a CONM2 7 in line 9; remove one"},
    {"CONM2          8       3", "CONM2          8       4",
     "10:24: CONM2 8 sits on grid 4, which has no GRID card"},
    {"CBAR ", "GRID,4\nCONM2,9,4,,1.\n$",
     "9:1: CONM2 9 sits on grid 4, which has no rows in m.pch; punch all grids with mass"},
    {"CONM2          7       2             2.0\nCONM2          8       3             0.5\n", "",
     " no CONM2 card in this file; lump the model's mass on its grids"},
    /* coordinate systems */
    {"GRID           2        ", "GRID           2       5",
     "6:24: there is no CORD2R 5; other coordinate systems are not read"},
    {"CBAR ", "GRDSET,,,,,,6\n$",
     "8:1: there is no CORD2R 6; other coordinate systems are not read"},
    {"CBAR ", "GRDSET,,0\nGRDSET,,0\n$",
     "9:1: a second GRDSET; the first is in line 8, remove one"},
    {"CBAR ", "CORD2R,4,5,0.,0.,0.,0.,0.,1.\n,1.,0.,0.\n$",
     "8:10: CORD2R 4: there is no CORD2R 5; other coordinate systems are not read"},
    {"CBAR ", "CORD2R,4,5,0.,0.,0.,0.,0.,1.\n,1.,0.,0.\nCORD2R,5,4,0.,0.,0.,0.,0.,1.\n,1.,0.,0.\n$",
     "10:10: CORD2R 5, by its RID 4, hangs on itself; let one RID be blank"},
    {"CBAR ", "CORD2R,4,,0.,0.,0.,0.,0.,1.\n,0.,0.,3.\n$",
     "8:1: the three points of CORD2R 4 lie on one line; move C off the z axis"},
    {"CBAR ", "CORD2R,4,,0.,0.,0.,0.,0.,1.\n,1.\nCORD2R,4,,0.,0.,0.,0.,0.,1.\n,1.\n$",
     "10:1: there is already a CORD2R 4 in line 8; remove one"},
    {"GRID           2            1.25", "GRID           2          1.+300",
     "6:1: grid 2 lies too far away for a number; check its coordinates"},
    {"CBAR ", "PARAM,WTMASS,0.\n$", "8:14: WTMASS of PARAM must be positive"},
};

static const struct mistake mode_mistakes[] = {
    /* numbers */
    {"0.4000000E+03", "0.4000000E+XX", "16:16: EIGENVALUE wants a number; here is \"0.4000000E+XX\""},
    {"MODE =     2", "MODE =     0", "16:42: MODE wants a whole number, 1 or more; here is \"0\""},
    {"MODE =     2", "            ", "16:1: this mode has no number; add MODE = n to the line"},
    {"2.500000E-01      20", "         NaN      20", "20:70: an eigenvector has numbers; here is \"NaN\""},
    {"2.500000E-01      20", "2.500000+400      20",
     "20:61: an eigenvector has numbers; here is \"2.500000+400\""},
    {"2.500000E-01      20", "                  20",
     "20:1: a row of an eigenvector has three numbers in columns 19 to 72; here are 2"},
    {"         2       G      0.000000E+00      5.000000E-01      0.000000E+00      19",
     "        2x       G      0.000000E+00      5.000000E-01      0.000000E+00      19",
     "19:9: a grid has a number; here is \"2x\""},
    {"         2       G      0.000000E+00      5.000000E-01      0.000000E+00      19",
     "  grid 2         G      0.000000E+00      5.000000E-01      0.000000E+00      19",
     "19:3: a row of an eigenvector begins with a grid's number and G, or with -CONT-; here is "
     "\"grid\""},
    /* blocks */
    {"$EIGENVALUE =  0.4000000E+03  MODE =     2                                    16\n", "",
     "16:1: no $EIGENVALUE stands above this eigenvector; punch the modes of SOL 103"},
    {"$REAL OUTPUT                                                                  14",
     "$REAL-IMAGINARY OUTPUT", "14:1: only real modes are read; take those of SOL 103"},
    {"$SUBCASE ID =           1                                                     15",
     "$POINT ID =         2", "15:1: modes are read mode by mode, not point by point; ask for SORT1"},
    {"MODE =     3", "MODE =     2", "27:1: there is already a mode 2 in line 16; keep one subcase"},
    {"0.4000000E+03", "-.4000000E+03",
     "16:1: mode 2 has the eigenvalue -400: no model at rest has a negative one"},
    /* rows */
    {"-CONT-                  0.000000E+00      0.000000E+00      2.500000E-01      20\n", "",
     "19:10: grid 2 has no -CONT- line below it; is the file complete?"},
    {"         3       G      0.000000E+00      1.000000E+00      0.000000E+00      21",
     "         2       G      0.000000E+00      1.000000E+00      0.000000E+00      21",
     "21:10: there is already a grid 2 in line 19 of this mode; remove one"},
    {"         3       G      0.000000E+00      1.000000E+00      0.000000E+00      21",
     "         4       G      0.000000E+00      1.000000E+00      0.000000E+00      21",
     "21:10: grid 4 has no GRID card in m.bdf; do the files belong together?"},
    {"         1       G      0.000000E+00      0.000000E+00      0.000000E+00      28\n"
     "-CONT-                  0.000000E+00      0.000000E+00      0.000000E+00      29\n", "",
     "27:1: mode 3 has 2 grids, mode 2 has 3; punch the same for all"},
    {"         3       G      0.000000E+00      0.000000E+00      1.000000E+00      32",
     "         4       G      0.000000E+00      0.000000E+00      1.000000E+00      32",
     "32:10: mode 3 lacks grid 3 or has a grid 4 that mode 2 lacks; punch the same for all"},
    /* mass: 2 * 0.25 + 0.5 * 1.21 = 1.105 */
    {"1.000000E+00      0.000000E+00      21", "1.100000E+00      0.000000E+00      21",
     "16:1: mode 2 has a modal mass of 1.105 by the CONM2 cards, and 1 by its scale; lump the "
     "whole mass on CONM2 cards, scale modes with NORM=MASS"},
    {"0.000000E+00      0.000000E+00      1.000000E+00      32",
     "0.000000E+00      1.000000E+00      0.000000E+00      32",
     "27:1: modes 2 and 3 share 0.5 of their mass by the CONM2 cards; lump the whole mass on CONM2 "
     "cards"},
};
// clang-format on

static struct cfg_load_arena pool;
static char error[CFG_ERROR_MAX];

void setUp(void)
{
    pool = (struct cfg_load_arena){0};
}

void tearDown(void)
{
    cfg_load_arena_free(&pool);
}

/* A text with one piece exchanged, which must be in it exactly once. */
static const char *edit(const char *text, const char *good, const char *bad)
{
    const char *at = strstr(text, good);
    TEST_ASSERT_NOT_NULL_MESSAGE(at, good);
    TEST_ASSERT_NULL_MESSAGE(strstr(at + 1, good), good);
    char *changed = cfg_load_arena_take(&pool, strlen(text) + strlen(bad) + 1);
    sprintf(changed, "%.*s%s%s", (int)(at - text), text, bad, at + strlen(good));
    return changed;
}

/* Both texts end where the heap does, so that a sanitizer sees a read beyond them. */
static const struct cfg_nastran *parse(const char *bulk, const char *punch,
                                       const struct cfg_nastran_choice *choice)
{
    const size_t bulk_size = strlen(bulk), punch_size = strlen(punch);
    char *b = malloc(bulk_size + 1), *p = malloc(punch_size + 1);
    memcpy(b + 1, bulk, bulk_size);
    memcpy(p + 1, punch, punch_size);
    const struct cfg_nastran_text first = {"m.bdf", b + 1, bulk_size};
    const struct cfg_nastran_text second = {"m.pch", p + 1, punch_size};
    const struct cfg_nastran *body = cfg_nastran_parse(&pool, &first, &second, choice, error);
    free(b);
    free(p);
    return body;
}

static const struct cfg_nastran *read_body(const char *bulk, const char *punch,
                                           const struct cfg_nastran_choice *choice)
{
    const struct cfg_nastran *body = parse(bulk, punch, choice);
    TEST_ASSERT_NOT_NULL_MESSAGE(body, error);
    TEST_ASSERT_EQUAL_STRING("", error);
    return body;
}

/* By the defaults of the keys. */
static const struct cfg_nastran_choice three = {
    .modes = 3, .slowest = 0.01, .length = 1.0, .mass = 1.0, .tolerance = 0.05};

static struct cfg_nastran_choice choose(int count, const int *numbers)
{
    struct cfg_nastran_choice choice = three;
    choice.modes = count;
    choice.numbers = numbers;
    return choice;
}

static void expect_complaint(const char *bulk, const char *punch,
                             const struct cfg_nastran_choice *choice, const char *complaint)
{
    const size_t known = strcspn(complaint, "~");
    TEST_ASSERT_NULL_MESSAGE(parse(bulk, punch, choice), complaint);
    TEST_ASSERT_EQUAL_STRING_LEN(complaint, error, known);
    if (complaint[known] == '\0')
        TEST_ASSERT_EQUAL_STRING(complaint, error);
    TEST_ASSERT_NULL(strchr(error, '\n'));
}

static const char *behind(const char *name, const char *complaint)
{
    char *line = cfg_load_arena_take(&pool, strlen(name) + strlen(complaint) + 1);
    return strcat(strcpy(line, name), complaint);
}

/* ---- numbers ---- */

static void test_reals_are_read_as_nastran_writes_them(void)
{
    static const struct {
        const char *text;
        double value;
    } good[] = {
        {"7.0", 7.0},    {".7E1", 7.0},       {"0.7+1", 7.0},      {"70.-1", 7.0},
        {".70+1", 7.0},  {"-1.5-3", -1.5e-3}, {"+1.5D+3", 1500.0}, {"1.d-2", 0.01},
        {"1.e2", 100.0}, {"5", 5.0},          {"-.5", -0.5},       {"0.1529862E+06", 152986.2},
    };
    static const char *const bad[] = {"",        ".",     "-",   "1.5-",   "1.5E", "E5",
                                      "1.5-3-3", "inf",   "nan", "0x1",    "+-1.", "1,5",
                                      "1.E+999", "1.5 3", "--1", "1.5e+-3"};
    for (size_t k = 0; k < sizeof good / sizeof *good; k++) {
        double real;
        TEST_ASSERT_TRUE_MESSAGE(cfg_columns_real(good[k].text, &real), good[k].text);
        TEST_ASSERT_EQUAL_DOUBLE(good[k].value, real);
    }
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        double real;
        TEST_ASSERT_FALSE_MESSAGE(cfg_columns_real(bad[k], &real), bad[k]);
    }
}

static void test_lines_keep_their_columns_and_lose_their_ends(void)
{
    static const char text[] = "GRID\t1\r\n\nlast";
    struct cfg_columns columns = {text, text + sizeof text - 1, 0};
    struct cfg_line line;
    TEST_ASSERT_TRUE(cfg_columns_next(&columns, &line));
    TEST_ASSERT_EQUAL_STRING("GRID    1", line.text);
    TEST_ASSERT_TRUE(cfg_columns_next(&columns, &line));
    TEST_ASSERT_EQUAL_STRING("", line.text);
    TEST_ASSERT_TRUE(cfg_columns_next(&columns, &line));
    TEST_ASSERT_EQUAL_STRING("last", line.text);
    TEST_ASSERT_EQUAL_INT(3, line.number);
    TEST_ASSERT_FALSE(cfg_columns_next(&columns, &line));
}

/* ---- bulk data ---- */

static const struct cfg_bulk *read_bulk(const char *text)
{
    struct cfg_complaint report = {.path = "m.bdf", .line = error};
    error[0] = '\0';
    const struct cfg_bulk *bulk = cfg_bulk_parse(&pool, text, strlen(text), &report);
    TEST_ASSERT_NOT_NULL_MESSAGE(bulk, error);
    return bulk;
}

static void expect_vector(double x, double y, double z, struct dyn_vec3 is)
{
    const double tolerance = 1e-14;
    TEST_ASSERT_DOUBLE_WITHIN(tolerance, x, is.x);
    TEST_ASSERT_DOUBLE_WITHIN(tolerance, y, is.y);
    TEST_ASSERT_DOUBLE_WITHIN(tolerance, z, is.z);
}

/* The same card eight times, as people and programs write it. */
static void test_a_card_may_be_written_in_any_format(void)
{
    static const char *const cards[] = {
        "GRID          12           1.5-3     -2.     3.5\n",
        "grid,12,,1.5-3,-2.,3.5\n",
        "GRID, 12 , , 1.5E-3 , -2. , 3.5 $ here\n",
        "GRID\t12\t\t1.5-3\t-2.\t3.5\r\n",
        "GRID*                 12                          1.5D-3             -2.*A\n"
        "*A                   3.5\n",
        "GRID*                 12                          1.5D-3             -2.\n"
        "$ between\n\n"
        "*                    3.5",
        "GRID*,12,,1.5-3,-2.,*B\n*B,3.5\n",
        "GRID*   ,12,,1.5-3,-2.\n*,3.5,\n",
        "GRID          12           1.5-3     -2.     3.5                         12345\n",
    };
    for (size_t k = 0; k < sizeof cards / sizeof *cards; k++) {
        const struct cfg_bulk *bulk = read_bulk(cards[k]);
        TEST_ASSERT_EQUAL_INT_MESSAGE(1, bulk->grid_count, cards[k]);
        TEST_ASSERT_EQUAL_INT(12, bulk->grids[0].id);
        expect_vector(1.5e-3, -2.0, 3.5, bulk->grids[0].r);
    }
}

static void expect_inertia(const struct dyn_sym3 *I, double xx, double yy, double zz, double xy,
                           double xz, double yz)
{
    const double want[6] = {xx, yy, zz, xy, xz, yz};
    const double is[6] = {I->xx, I->yy, I->zz, I->xy, I->xz, I->yz};
    for (int k = 0; k < 6; k++)
        TEST_ASSERT_DOUBLE_WITHIN(1e-14, want[k], is[k]);
}

/* Continuations by label, by a blank field, and wide; products change their sign in the tensor. */
static void test_lumps_have_offset_and_inertia(void)
{
    static const char *const cards[] = {
        "CONM2         20       1             3.0     0.1     0.2     0.3        +C1\n"
        "+C1          5.0    -0.5     6.0     0.2     0.1     7.0\n",
        "CONM2,20,1,,3.0,.1,.2,.3\n,5.,-.5,6.,.2,.1,7.\n",
        "CONM2         20       1             3.0     0.1     0.2     0.3\n"
        "             5.0    -0.5     6.0     0.2     0.1     7.0\n",
        "CONM2*                20               1                             3.0\n"
        "*                    0.1             0.2             0.3\n"
        "*                    5.0            -0.5             6.0             0.2\n"
        "*                    0.1             7.0\n",
        "CONM2*                20               1                             3.0\n"
        "*                    0.1             0.2             0.3\n"
        "+            5.0    -0.5     6.0     0.2     0.1     7.0\n",
    };
    for (size_t k = 0; k < sizeof cards / sizeof *cards; k++) {
        const struct cfg_bulk *bulk = read_bulk(behind("GRID,1,,1.,1.,1.\n", cards[k]));
        const struct cfg_bulk_lump *lump = &bulk->lumps[0];
        TEST_ASSERT_EQUAL_INT(1, bulk->lump_count);
        TEST_ASSERT_EQUAL_DOUBLE(3.0, lump->mass);
        expect_vector(0.1, 0.2, 0.3, lump->offset);
        expect_inertia(&lump->inertia, 5.0, 6.0, 7.0, 0.5, -0.2, -0.1);
    }
}

/* One wide line is half of the first eight fields; the narrow one begins with the ninth. */
static void test_a_narrow_line_may_follow_a_lone_wide_one(void)
{
    const struct cfg_bulk *bulk =
        read_bulk("GRID,1\n"
                  "CONM2*                20               1                             3.0\n"
                  "+            5.0    -0.5     6.0     0.2     0.1     7.0\n");
    expect_vector(0.0, 0.0, 0.0, bulk->lumps[0].offset);
    expect_inertia(&bulk->lumps[0].inertia, 5.0, 6.0, 7.0, 0.5, -0.2, -0.1);
}

static void test_a_lump_may_name_its_mass_centre_in_basic_coordinates(void)
{
    const struct cfg_bulk *bulk = read_bulk("GRID,1,,1.,2.,3.\nCONM2,2,1,-1,5.,1.5,2.,2.\n");
    expect_vector(0.5, 0.0, -1.0, bulk->lumps[0].offset);
}

static void test_wtmass_scales_mass_and_inertia(void)
{
    const struct cfg_bulk *bulk =
        read_bulk("CONM2,2,1,,8.,,,,\n,4.,,4.,,,4.\nGRID,1\nPARAM,WTMASS,.25\nPARAM,POST,-1\n");
    TEST_ASSERT_EQUAL_DOUBLE(2.0, bulk->lumps[0].mass);
    expect_inertia(&bulk->lumps[0].inertia, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0);
}

/*
 * System 3 has its origin at (1, 0, 0), z along x and x along y, so y along z.  System 2, by its
 * id before it, sits in 3 at (0, 0, 2), which is (3, 0, 0), with z along 3's x: y; x along 3's y:
 * z.
 */
static const char systems[] = "CORD2R,2,3,0.,0.,2.,1.,0.,2.\n"
                              ",0.,1.,2.\n"
                              "CORD2R,3,,1.,0.,0.,2.,0.,0.\n"
                              ",1.,1.,0.\n";

static void test_coordinate_systems_hang_on_each_other(void)
{
    const struct cfg_bulk *bulk =
        read_bulk(behind(systems, "GRID,1,3,10.,20.,30.,2\nGRID,2,2,10.,20.,30.\n"));
    expect_vector(31.0, 10.0, 20.0, bulk->grids[0].r);
    expect_vector(23.0, 30.0, 10.0, bulk->grids[1].r);
    TEST_ASSERT_EQUAL_INT(2, bulk->systems[bulk->grids[0].system].id);
    expect_vector(0.0, 0.0, 1.0, bulk->systems[bulk->grids[0].system].axes.row[0]);
    expect_vector(1.0, 0.0, 0.0, bulk->systems[bulk->grids[0].system].axes.row[1]);
    expect_vector(0.0, 1.0, 0.0, bulk->systems[bulk->grids[0].system].axes.row[2]);
}

static void test_grdset_fills_blank_fields_only(void)
{
    const struct cfg_bulk *bulk =
        read_bulk(behind(systems, "GRID,1,,10.,20.,30.\nGRID,2,0,10.,20.,30.,0\nGRDSET,,3,,,,2\n"));
    expect_vector(31.0, 10.0, 20.0, bulk->grids[0].r);
    expect_vector(10.0, 20.0, 30.0, bulk->grids[1].r);
    TEST_ASSERT_EQUAL_INT(2, bulk->systems[bulk->grids[0].system].id);
    TEST_ASSERT_EQUAL_INT(0, bulk->systems[bulk->grids[1].system].id);
}

/* In system 3 of above: its x is y, its y is z, its z is x. */
static void test_a_lump_is_turned_out_of_its_system(void)
{
    const struct cfg_bulk *bulk =
        read_bulk(behind(systems, "GRID,1,3,10.,20.,30.\nCONM2,1,1,3,2.,.1,.2,.3,,\n"
                                  ",4.,.5,5.,.25,.125,6.\n"));
    expect_vector(0.3, 0.1, 0.2, bulk->lumps[0].offset);
    expect_inertia(&bulk->lumps[0].inertia, 6.0, 4.0, 5.0, -0.25, -0.125, -0.5);
}

/* ---- bodies ---- */

static void test_the_first_modes_are_the_first_elastic_ones(void)
{
    const struct cfg_nastran *body = read_body(deck, modes, &three);
    const double eigenvalues[3] = {400.0, 900.0, 16000.0};
    TEST_ASSERT_EQUAL_INT(3, body->mode_count);
    for (int p = 0; p < 3; p++) {
        TEST_ASSERT_EQUAL_INT(p + 2, body->modes[p].number);
        TEST_ASSERT_EQUAL_DOUBLE(eigenvalues[p], body->modes[p].eigenvalue);
        TEST_ASSERT_EQUAL_DOUBLE(1.0, body->modes[p].mass);
    }
    TEST_ASSERT_EQUAL_INT(16, body->modes[0].mark.line);
}

static void test_listed_modes_come_in_the_order_of_the_list(void)
{
    const int numbers[2] = {4, 2};
    const struct cfg_nastran_choice choice = choose(2, numbers);
    const struct cfg_nastran *body = read_body(deck, modes, &choice);
    TEST_ASSERT_EQUAL_INT(4, body->modes[0].number);
    TEST_ASSERT_EQUAL_INT(2, body->modes[1].number);
    TEST_ASSERT_EQUAL_DOUBLE(-1.0, body->stations[1].psi[1]);
    TEST_ASSERT_EQUAL_DOUBLE(1.0, body->stations[1].psi[4]);
}

static void test_stations_and_nodes_carry_the_shapes(void)
{
    const struct cfg_nastran *body = read_body(deck, modes, &three);
    const double psi[9] = {0.0, 0.5, 0.0, 0.0, 0.0, 0.5, 0.0, 0.5, 0.0};
    const double theta[9] = {0.0, 0.0, 0.25, 0.0, -0.25, 0.0, 0.0, 0.0, 1.5};
    const double at[3] = {1.25, 0.0, 0.0};
    const struct dyn_node *node = cfg_nastran_find(body, 2);
    TEST_ASSERT_EQUAL_INT(2, body->station_count);
    TEST_ASSERT_EQUAL_INT(3, body->node_count);
    TEST_ASSERT_EQUAL_DOUBLE(2.0, body->stations[0].mass);
    TEST_ASSERT_EQUAL_DOUBLE_ARRAY(at, body->stations[0].r, 3);
    TEST_ASSERT_EQUAL_DOUBLE_ARRAY(psi, body->stations[0].psi, 9);
    TEST_ASSERT_EQUAL_DOUBLE_ARRAY(theta, body->stations[0].theta, 9);
    TEST_ASSERT_NULL(body->stations[0].psi2);
    TEST_ASSERT_NOT_NULL(node);
    TEST_ASSERT_EQUAL_DOUBLE_ARRAY(at, node->r, 3);
    TEST_ASSERT_EQUAL_DOUBLE_ARRAY(psi, node->psi, 9);
    TEST_ASSERT_EQUAL_DOUBLE_ARRAY(theta, node->theta, 9);
    TEST_ASSERT_NULL(cfg_nastran_find(body, 4));
}

/* Grid 2 speaks in system 3 of above: what it calls y is z, what it calls z is x. */
static void test_shapes_are_turned_out_of_the_grids_axes(void)
{
    const char *bulk = edit(deck, "GRID           2            1.25     0.0     0.0",
                            "GRID,2,,1.25,0.,0.,3\nCORD2R,3,,1.,0.,0.,2.,0.,0.\n,1.,1.,0.");
    const int numbers[1] = {2};
    const struct cfg_nastran_choice choice = choose(1, numbers);
    const struct cfg_nastran *body = read_body(bulk, modes, &choice);
    const double psi[3] = {0.0, 0.0, 0.5}, theta[3] = {0.25, 0.0, 0.0};
    TEST_ASSERT_EQUAL_DOUBLE_ARRAY(psi, body->stations[0].psi, 3);
    TEST_ASSERT_EQUAL_DOUBLE_ARRAY(theta, body->stations[0].theta, 3);
}

/* Grid 2 turns by 0.25 about z in mode 2, so 0.4 beside it along x moves 0.1 further along y; the
 * modal mass is 2 * 0.6^2 + 0.5 + 0.8 * 0.25^2. */
static void test_a_lump_beside_its_grid_moves_with_the_turn(void)
{
    const char *bulk = edit(deck, "CONM2          7       2             2.0",
                            "CONM2,7,2,,2.,.4,0.,0.\n,.6,.0,.6,,,.8");
    const int numbers[1] = {2};
    struct cfg_nastran_choice choice = choose(1, numbers);
    choice.tolerance = 0.3;
    const struct cfg_nastran *body = read_body(bulk, modes, &choice);
    const double psi[3] = {0.0, 0.6, 0.0}, r[3] = {1.65, 0.0, 0.0};
    const double inertia[6] = {0.6, 0.6, 0.8, 0.0, 0.0, 0.0};
    TEST_ASSERT_EQUAL_DOUBLE_ARRAY(psi, body->stations[0].psi, 3);
    TEST_ASSERT_EQUAL_DOUBLE_ARRAY(r, body->stations[0].r, 3);
    TEST_ASSERT_EQUAL_DOUBLE_ARRAY(inertia, body->stations[0].inertia, 6);
    TEST_ASSERT_DOUBLE_WITHIN(1e-15, 1.27, body->modes[0].mass);
    TEST_ASSERT_EQUAL_DOUBLE(0.5, cfg_nastran_find(body, 2)->psi[1]);
}

/* Millimetres, tonnes: a length is a thousandth, a turn a thousand times as much. */
static void test_other_units_become_si(void)
{
    const char *bulk =
        edit(deck, "CONM2          7       2             2.0", "CONM2,7,2,,2.,,,,\n,.6,.0,.6,,,.0");
    struct cfg_nastran_choice choice = choose(1, NULL);
    choice.length = 1e-3;
    choice.mass = 1e3;
    const struct cfg_nastran *body = read_body(bulk, modes, &choice);
    TEST_ASSERT_DOUBLE_WITHIN(1e-15, 1.25e-3, body->stations[0].r[0]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 2000.0, body->stations[0].mass);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 6e-4, body->stations[0].inertia[0]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-15, 0.5, body->stations[0].psi[1]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-10, 250.0, body->stations[0].theta[2]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, 1000.0, body->modes[0].mass);
    TEST_ASSERT_EQUAL_DOUBLE(400.0, body->modes[0].eigenvalue);
}

/* Mode 2 with its greatest component, the turn of grid 3, made one: 1 / 3.75^2. */
static void test_modes_scaled_by_their_peak_have_the_mass_of_the_lumps(void)
{
    const char *punch = edit(modes, "5.000000E-01      0.000000E+00      19",
                             "1.333333E-01      0.000000E+00      19");
    punch = edit(punch, "2.500000E-01      20", "6.666667E-02      20");
    punch = edit(punch, "1.000000E+00      0.000000E+00      21",
                 "2.666667E-01      0.000000E+00      21");
    const struct cfg_nastran_choice choice = choose(1, NULL);
    expect_complaint(deck, edit(punch, "3.750000E+00      22", "9.990000E-01      22"), &choice,
                     "m.pch:16:1: mode 2 has a modal mass of 0.07111 by the CONM2 cards, and 1 by "
                     "its scale; lump the whole mass on CONM2 cards, scale modes with NORM=MASS");
    punch = edit(punch, "3.750000E+00      22", "1.000000E+00      22");
    const struct cfg_nastran *body = read_body(deck, punch, &choice);
    TEST_ASSERT_DOUBLE_WITHIN(1e-7, 1.0 / 14.0625, body->modes[0].mass);
}

static void test_rows_may_come_in_any_order_and_with_scalar_points(void)
{
    const char *two =
        "         2       G      0.000000E+00      5.000000E-01      0.000000E+00     "
        " 41\n"
        "-CONT-                  0.000000E+00      0.000000E+00      1.500000E+00     "
        " 42\n";
    const char *last =
        "-CONT-                  0.000000E+00      0.000000E+00     -3.750000E+00    "
        "  44\n";
    const char *punch = edit(edit(modes, two, ""), last,
                             behind(behind(last, two), "        99       S      1.0\n"
                                                       "-CONT-\n\n"));
    const struct cfg_nastran *body = read_body(deck, punch, &three);
    TEST_ASSERT_EQUAL_DOUBLE(0.5, cfg_nastran_find(body, 2)->psi[7]);
    TEST_ASSERT_EQUAL_DOUBLE(-1.0, cfg_nastran_find(body, 3)->psi[7]);
}

static void test_other_results_between_the_modes_are_passed_over(void)
{
    const char *punch = behind("$TITLE   = X\n$ELEMENT STRESSES\n$REAL OUTPUT\n"
                               "$EIGENVALUE = 1.0  MODE = 2\n   1 G 7.0\nrubbish\n",
                               modes);
    TEST_ASSERT_EQUAL_DOUBLE(400.0, read_body(deck, punch, &three)->modes[0].eigenvalue);
}

static void test_a_mode_may_have_its_number_on_a_line_of_its_own(void)
{
    const char *punch =
        edit(modes, "0.4000000E+03  MODE =     2                ", "4.+2\n$MODE = 2");
    TEST_ASSERT_EQUAL_DOUBLE(400.0, read_body(deck, punch, &three)->modes[0].eigenvalue);
}

static void test_a_deck_without_begin_bulk_is_all_cards(void)
{
    const char *bulk = strstr(deck, "$ a comment");
    TEST_ASSERT_EQUAL_INT(3, read_body(bulk, modes, &three)->node_count);
}

/* ---- mistakes ---- */

static void test_mistakes_in_a_deck_are_named_with_their_place(void)
{
    for (size_t k = 0; k < sizeof deck_mistakes / sizeof *deck_mistakes; k++) {
        const struct mistake *mistake = &deck_mistakes[k];
        expect_complaint(edit(deck, mistake->good, mistake->bad), modes, &three,
                         behind("m.bdf:", mistake->complaint));
    }
}

static void test_mistakes_in_a_punch_file_are_named_with_their_place(void)
{
    for (size_t k = 0; k < sizeof mode_mistakes / sizeof *mode_mistakes; k++) {
        const struct mistake *mistake = &mode_mistakes[k];
        expect_complaint(deck, edit(modes, mistake->good, mistake->bad), &three,
                         behind("m.pch:", mistake->complaint));
    }
}

static void test_modes_that_are_not_there_are_refused(void)
{
    const int missing[2] = {2, 9}, rigid[1] = {1}, twice[2] = {2, 2};
    struct cfg_nastran_choice choice = choose(4, NULL);
    expect_complaint(deck, modes, &choice,
                     "m.pch: 4 modes are wanted; of the 4 in this file 3 are not below 0.01 Hz");
    choice = choose(2, missing);
    expect_complaint(deck, modes, &choice,
                     "m.pch: there is no mode 9; this file has 4, from 1 to 4");
    choice = choose(2, twice);
    expect_complaint(deck, modes, &choice, "m.pch: mode 2 is wanted twice; name each once");
    choice = choose(1, rigid);
    expect_complaint(deck, modes, &choice,
                     "m.pch:5:1: mode 1 has -1.76839e-05 Hz: below 0.01 Hz it counts as one of the "
                     "rigid body; leave it out");
    choice = choose(3, NULL);
    choice.slowest = 4.0;
    expect_complaint(deck, modes, &choice,
                     "m.pch: 3 modes are wanted; of the 4 in this file 2 are not below 4 Hz");
    choice = choose(1, NULL);
    choice.slowest = 1e6;
    expect_complaint(deck, modes, &choice,
                     "m.pch: 1 mode is wanted; of the 4 in this file 0 are not below 1e+06 Hz");
}

static void test_files_of_another_kind_are_refused(void)
{
    expect_complaint("", modes, &three,
                     "m.bdf: no CONM2 card in this file; lump the model's mass on its grids");
    expect_complaint(deck, "", &three,
                     "m.pch: no eigenvectors in this file; ask NASTRAN for "
                     "DISPLACEMENT(PUNCH)=ALL");
    expect_complaint(deck, deck, &three,
                     "m.pch: no eigenvectors in this file; ask NASTRAN for "
                     "DISPLACEMENT(PUNCH)=ALL");
}

/* Cut anywhere, either file is refused or still whole in what was asked for; nothing crashes. */
static void test_truncated_files_are_refused(void)
{
    const struct cfg_nastran_choice one = choose(1, NULL);
    const size_t whole_deck = (size_t)(strstr(deck, "ENDDATA") - deck) - 1;
    for (size_t size = 0; size < whole_deck; size++) {
        char *cut = cfg_load_arena_copy(&pool, deck, size);
        TEST_ASSERT_NULL_MESSAGE(parse(cut, modes, &one), cut);
        TEST_ASSERT_EQUAL_STRING_LEN("m.", error, 2);
    }
    const size_t whole_mode = (size_t)(strstr(modes, "      22") - modes);
    for (size_t size = 0; size < whole_mode - 12; size++) {
        char *cut = cfg_load_arena_copy(&pool, modes, size);
        TEST_ASSERT_NULL_MESSAGE(parse(deck, cut, &one), cut);
        TEST_ASSERT_EQUAL_STRING_LEN("m.", error, 2);
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_reals_are_read_as_nastran_writes_them);
    RUN_TEST(test_lines_keep_their_columns_and_lose_their_ends);
    RUN_TEST(test_a_card_may_be_written_in_any_format);
    RUN_TEST(test_lumps_have_offset_and_inertia);
    RUN_TEST(test_a_narrow_line_may_follow_a_lone_wide_one);
    RUN_TEST(test_a_lump_may_name_its_mass_centre_in_basic_coordinates);
    RUN_TEST(test_wtmass_scales_mass_and_inertia);
    RUN_TEST(test_coordinate_systems_hang_on_each_other);
    RUN_TEST(test_grdset_fills_blank_fields_only);
    RUN_TEST(test_a_lump_is_turned_out_of_its_system);
    RUN_TEST(test_the_first_modes_are_the_first_elastic_ones);
    RUN_TEST(test_listed_modes_come_in_the_order_of_the_list);
    RUN_TEST(test_stations_and_nodes_carry_the_shapes);
    RUN_TEST(test_shapes_are_turned_out_of_the_grids_axes);
    RUN_TEST(test_a_lump_beside_its_grid_moves_with_the_turn);
    RUN_TEST(test_other_units_become_si);
    RUN_TEST(test_modes_scaled_by_their_peak_have_the_mass_of_the_lumps);
    RUN_TEST(test_rows_may_come_in_any_order_and_with_scalar_points);
    RUN_TEST(test_other_results_between_the_modes_are_passed_over);
    RUN_TEST(test_a_mode_may_have_its_number_on_a_line_of_its_own);
    RUN_TEST(test_a_deck_without_begin_bulk_is_all_cards);
    RUN_TEST(test_mistakes_in_a_deck_are_named_with_their_place);
    RUN_TEST(test_mistakes_in_a_punch_file_are_named_with_their_place);
    RUN_TEST(test_modes_that_are_not_there_are_refused);
    RUN_TEST(test_files_of_another_kind_are_refused);
    RUN_TEST(test_truncated_files_are_refused);
    return UNITY_END();
}
