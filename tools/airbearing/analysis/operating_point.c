#include "tools/airbearing/analysis/operating_point.h"
#include "config/scenario.h"

#include <getopt.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/yaml/document.h"
#include "config/yaml/suggest.h"
#include "config/yaml/text_file.h"
#include "config/yaml/unit.h"
#include "dynamics/analysis/rnea.h"
#include "tools/airbearing/analysis/gravity_option.h"
#include "tools/airbearing/command.h"

static const char options_usage[] =
    "A scenario gives the point its gravity, its start without the speeds, and its locked and\n"
    "prescribed joints; a URDF is in its zero pose under 0,0,-9.81.  Other points:\n"
    "\n"
    "  --at FILE.json     an object with any of\n"
    "                       \"q\", \"v\", \"tau\"       as eval takes them; tau \"hold\" stands "
    "for "
    "the\n"
    "                                           forces that leave no acceleration (default 0)\n"
    "                       \"gravity\"           three numbers, m/s^2, world axes\n"
    "                       \"base_acceleration\" of the world, six numbers, angular first\n"
    "                       \"locked\"            list of joints that stand still\n"
    "                       \"prescribed\"        {JOINT: {\"v\": 0, \"a\": 0}}: joints moved from "
    "outside\n"
    "                     Joints go by their name, a scenario's by that of their body.  Those "
    "that\n"
    "                     are locked or prescribed are not states; with one of these two keys "
    "only\n"
    "                     joints it names are held, none of the scenario's own.\n"
    "  --gravity X,Y,Z    m/s^2, world axes, before that of the file and of the model\n"
    "  --base BASE        of a URDF: fixed (default) welds the root link to the world, free lets\n"
    "                     it fly\n"
    "  --json             one JSON object, 17 significant digits\n";

/* ---- options --------------------------------------------------------------------------- */

static int usage_error(const char *command, const char *what, const char *value)
{
    fprintf(stderr, "airbearing %s: %s \"%s\"; see airbearing %s --help\n", command, what, value,
            command);
    return EXIT_USAGE;
}

static int take_option(const char *command, struct operating_point_options *options, int option,
                       const char *value)
{
    switch (option) {
    case 'a':
        options->at = value;
        return 0;
    case 'j':
        options->json = true;
        return 0;
    case 'g':
        options->gravity_given = true;
        return gravity_option_parse(value, options->gravity)
                   ? 0
                   : usage_error(command, "--gravity needs three numbers x,y,z, not", value);
    case 'b':
        options->base = strcmp(value, "fixed") == 0  ? CFG_BASE_FIXED
                        : strcmp(value, "free") == 0 ? CFG_BASE_FREE
                                                     : CFG_BASE_UNSAID;
        return options->base != CFG_BASE_UNSAID
                   ? 0
                   : usage_error(command, "--base is fixed or free, not", value);
    default:
        return EXIT_USAGE;
    }
}

int operating_point_read_options(int argc, char **argv, const char *usage,
                                 struct operating_point_options *options, bool *done)
{
    static const struct option table[] = {
        {"at", required_argument, NULL, 'a'},   {"gravity", required_argument, NULL, 'g'},
        {"base", required_argument, NULL, 'b'}, {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},       {0},
    };
    *options = (struct operating_point_options){0};
    *done = false;
    for (int option; (option = getopt_long(argc, argv, "h", table, NULL)) != -1;) {
        if (option == 'h') {
            printf("%s\n%s\n"
                   "Exit: 0 ok, 2 one line file:line:column: what is wrong, 64 usage.\n",
                   usage, options_usage);
            *done = true;
            return 0;
        }
        const int code = take_option(argv[0], options, option, optarg);
        if (code)
            return code;
    }
    if (optind != argc - 1) {
        fprintf(stderr,
                optind == argc ? "airbearing %s: which model? Name a URDF or a scenario\n"
                               : "airbearing %s: one model at a time\n",
                argv[0]);
        return EXIT_USAGE;
    }
    options->model = argv[optind];
    return 0;
}

/* ---- the file ---------------------------------------------------------------------------- */

/* Read a finite number; key and number are for the error message. */
static bool read_number(const struct cfg_node *node, const char *key, struct cfg_complaint *report,
                        double *out)
{
    const char *rest = NULL;
    if (node->kind == CFG_NODE_SCALAR && !node->empty)
        rest = cfg_number_parse(node->text, out);
    if (rest == NULL || *rest != '\0' || !isfinite(*out))
        return cfg_fail_at(report, node, NULL, "\"%s\" needs numbers here", key);
    return true;
}

/* As many numbers as wanted; number k goes to at[k], or to k where at is NULL. */
static bool read_list(const struct cfg_node *node, const char *key, int count, const int *at,
                      struct cfg_complaint *report, double *out)
{
    int k = 0;
    if (node->kind != CFG_NODE_LIST)
        return cfg_fail_at(report, node, NULL, "\"%s\" needs a list of %d numbers", key, count);
    if (node->count != count)
        return cfg_fail_at(report, node, NULL, "\"%s\" has %d numbers, this model needs %d", key,
                           node->count, count);
    for (const struct cfg_node *item = node->first; item != NULL; item = item->next, k++)
        if (!read_number(item, key, report, &out[at != NULL ? at[k] : k]))
            return false;
    return true;
}

/* The velocities of a joint, in the order of the file. */
static int joint_nv(const struct operating_point *point, int joint)
{
    return dyn_joint_nv(&point->model->specs[point->model->joints[joint].body]);
}

static bool is_fixed(const struct operating_point *point, int joint)
{
    return point->model->specs[point->model->joints[joint].body].joint == DYN_JOINT_FIXED;
}

/* Find a joint by its name; one that mimics another has no motion of its own to hold. */
static bool find_joint(const struct operating_point *point, const char *name, struct cfg_mark mark,
                       struct cfg_complaint *report, int *joint)
{
    const struct cfg_model *model = point->model;
    struct cfg_suggestion suggestion = cfg_suggest_begin(name);
    for (*joint = 0; *joint < model->joint_count; ++*joint) {
        if (strcmp(model->joints[*joint].name, name) == 0)
            return joint_nv(point, *joint) > 0 ||
                   cfg_fail(report, NULL, mark,
                            is_fixed(point, *joint) ? "joint %s is fixed, it cannot move anyway"
                                                    : "joint %s mimics another; name that one",
                            cfg_quote(name).text);
        cfg_suggest_offer(&suggestion, model->joints[*joint].name);
    }
    if (suggestion.best != NULL)
        return cfg_fail(report, NULL, mark, "no joint that moves is called %s; did you mean %s?",
                        cfg_quote(name).text, cfg_quote(suggestion.best).text);
    return cfg_fail(report, NULL, mark, "no joint that moves is called %s", cfg_quote(name).text);
}

/* Remove a joint from the states: clear its accelerations, and its velocities unless they are
 * kept. */
static void hold(struct operating_point *point, int joint, const double *v, const double *a)
{
    const int *at = point->model->v_at + point->model->joints[joint].v_first;
    for (int k = 0; k < joint_nv(point, joint); k++) {
        point->held[at[k]] = 1;
        point->v[at[k]] = v[k];
        point->held_a[at[k]] = a[k];
    }
}

/* Apply the joints that the model itself holds, whatever velocities were given. */
static void hold_as_model(struct operating_point *point)
{
    for (int j = 0; j < point->model->joint_count; j++) {
        const struct cfg_model_start *start = &point->model->joints[j].start;
        const int *at = point->model->v_at + point->model->joints[j].v_first;
        for (int k = 0; k < joint_nv(point, j); k++)
            if (start->held[k]) {
                point->held[at[k]] = 1;
                point->v[at[k]] = start->v[k];
                point->held_a[at[k]] = start->a[k];
            }
    }
}

static bool read_locked(struct operating_point *point, const struct cfg_node *node,
                        struct cfg_complaint *report)
{
    const double still[DYN_JOINT_DOF_MAX] = {0.0};
    if (node->kind != CFG_NODE_LIST)
        return cfg_fail_at(report, node, NULL, "\"locked\" needs a list of joints");
    for (const struct cfg_node *item = node->first; item != NULL; item = item->next) {
        int joint;
        if (item->kind != CFG_NODE_SCALAR || item->empty)
            return cfg_fail_at(report, item, NULL, "\"locked\" needs the names of joints");
        if (!find_joint(point, item->text, item->mark, report, &joint))
            return false;
        hold(point, joint, still, still);
    }
    return true;
}

/* One number for a joint of one velocity, else a list. */
static bool read_motion(const struct cfg_node *node, int nv, struct cfg_complaint *report,
                        double *out)
{
    if (nv == 1 && node->kind == CFG_NODE_SCALAR)
        return read_number(node, node->key, report, out);
    return read_list(node, node->key, nv, NULL, report, out);
}

static bool read_prescribed_joint(struct operating_point *point, const struct cfg_node *node,
                                  struct cfg_complaint *report)
{
    double v[DYN_JOINT_DOF_MAX] = {0.0}, a[DYN_JOINT_DOF_MAX] = {0.0};
    int joint;
    if (!find_joint(point, node->key, node->key_mark, report, &joint))
        return false;
    if (node->kind != CFG_NODE_MAP)
        return cfg_fail_at(report, node, NULL, "a prescribed joint needs {\"v\": 0, \"a\": 0}");
    if (point->held[point->model->v_at[point->model->joints[joint].v_first]])
        return cfg_fail(report, NULL, node->key_mark, "joint %s is locked as well",
                        cfg_quote(node->key).text);
    for (const struct cfg_node *item = node->first; item != NULL; item = item->next) {
        const bool is_v = strcmp(item->key, "v") == 0;
        if (!is_v && strcmp(item->key, "a") != 0)
            return cfg_fail(report, NULL, item->key_mark,
                            "a prescribed joint has \"v\" and \"a\", no %s",
                            cfg_quote(item->key).text);
        if (!read_motion(item, joint_nv(point, joint), report, is_v ? v : a))
            return false;
    }
    hold(point, joint, v, a);
    return true;
}

static bool read_prescribed(struct operating_point *point, const struct cfg_node *node,
                            struct cfg_complaint *report)
{
    if (node->kind != CFG_NODE_MAP)
        return cfg_fail_at(report, node, NULL,
                           "\"prescribed\" needs {JOINT: {\"v\": 0, \"a\": 0}, ...}");
    for (const struct cfg_node *item = node->first; item != NULL; item = item->next)
        if (!read_prescribed_joint(point, item, report))
            return false;
    return true;
}

/* The kernel normalizes quaternions; one that is far from unit length is an error. */
static bool check_quaternions(const struct operating_point *point, const struct cfg_node *node,
                              struct cfg_complaint *report)
{
    const struct cfg_model *model = point->model;
    for (int k = 0; k < model->joint_count; k++) {
        const struct cfg_model_joint *joint = &model->joints[k];
        const enum dyn_joint_type type = model->specs[joint->body].joint;
        const int first = joint->q_first + (type == DYN_JOINT_FREE ? 3 : 0);
        if (type != DYN_JOINT_FREE && type != DYN_JOINT_SPHERICAL)
            continue;
        const struct dyn_quat turn = dyn_quat_load(point->q + model->q_at[first]);
        const double length = sqrt(dyn_quat_square(turn));
        if (!(fabs(length - 1.0) <= 1e-6))
            return cfg_fail_at(report, node, NULL,
                               "the quaternion of %s (numbers %d to %d of \"q\") has length %.9g, "
                               "not 1",
                               cfg_quote(joint->name).text, first + 1, first + 4, length);
    }
    return true;
}

static const char *const keys[] = {"q",      "v",          "tau", "gravity", "base_acceleration",
                                   "locked", "prescribed", NULL};

static bool check_keys(const struct cfg_node *root, struct cfg_complaint *report)
{
    if (root->kind != CFG_NODE_MAP)
        return cfg_fail_at(report, root, NULL, "a point is an object, {\"q\":[],\"v\":[],...}");
    for (const struct cfg_node *item = root->first; item != NULL; item = item->next) {
        struct cfg_suggestion suggestion = cfg_suggest_begin(item->key);
        int k = 0;
        while (keys[k] != NULL && strcmp(keys[k], item->key) != 0)
            cfg_suggest_offer(&suggestion, keys[k++]);
        if (keys[k] == NULL)
            return cfg_fail(report, NULL, item->key_mark, "there is no key %s; %s%s",
                            cfg_quote(item->key).text,
                            suggestion.best != NULL ? "did you mean " : "see --help",
                            suggestion.best != NULL ? suggestion.best : "");
    }
    return true;
}

static bool is_hold(const struct cfg_node *node)
{
    return node->kind == CFG_NODE_SCALAR && !node->empty && strcmp(node->text, "hold") == 0;
}

static bool read_held(struct operating_point *point, const struct cfg_node *root,
                      struct cfg_complaint *report)
{
    const struct cfg_node *locked = cfg_node_find(root, "locked");
    const struct cfg_node *prescribed = cfg_node_find(root, "prescribed");
    if (locked == NULL && prescribed == NULL)
        hold_as_model(point);
    return (locked == NULL || read_locked(point, locked, report)) &&
           (prescribed == NULL || read_prescribed(point, prescribed, report));
}

/* *holds: tau is to be found. */
static bool read_root(struct operating_point *point, const struct cfg_node *root,
                      struct cfg_complaint *report, bool *holds)
{
    const struct cfg_model *model = point->model;
    struct dyn_input *input = &point->input;
    const struct cfg_node *node;
    if (!check_keys(root, report))
        return false;
    if ((node = cfg_node_find(root, "q")) != NULL &&
        (!read_list(node, "q", model->nq, model->q_at, report, point->q) ||
         !check_quaternions(point, node, report)))
        return false;
    if ((node = cfg_node_find(root, "v")) != NULL &&
        !read_list(node, "v", model->nv, model->v_at, report, point->v))
        return false;
    if ((node = cfg_node_find(root, "tau")) != NULL && !(*holds = is_hold(node)) &&
        !read_list(node, "tau", model->nv, model->v_at, report, point->tau))
        return false;
    if ((node = cfg_node_find(root, "gravity")) != NULL &&
        !read_list(node, "gravity", 3, NULL, report, input->gravity))
        return false;
    if ((node = cfg_node_find(root, "base_acceleration")) != NULL &&
        !read_list(node, "base_acceleration", 6, NULL, report, input->base_acceleration))
        return false;
    return read_held(point, root, report);
}

/* YAML reads "1" like 1, so a string where a number belongs is reported here, with its place. */
static bool check_numbers(const struct cfg_node *node, const json_t *json, const char *key,
                          struct cfg_complaint *report)
{
    size_t k = 0;
    for (const struct cfg_node *item = node->first; item != NULL; item = item->next, k++) {
        const json_t *value =
            item->key != NULL ? json_object_get(json, item->key) : json_array_get(json, k);
        const char *of = item->key != NULL ? item->key : key;
        if (json_is_string(value))
            return cfg_fail_at(report, item, NULL, "\"%s\" needs numbers here", of);
        if (!check_numbers(item, value, of, report))
            return false;
    }
    return true;
}

static bool check_all_numbers(const struct cfg_node *root, const json_t *json,
                              struct cfg_complaint *report)
{
    if (root->kind != CFG_NODE_MAP)
        return true; /* reported later */
    for (const struct cfg_node *item = root->first; item != NULL; item = item->next)
        if (strcmp(item->key, "locked") != 0 &&
            !check_numbers(item, json_object_get(json, item->key), item->key, report))
            return false;
    return true;
}

/* jansson finds text that is not JSON; only the YAML reader has the places of the parts. */
static const struct cfg_node *parse_file(const char *text, size_t size, struct cfg_load_arena *pool,
                                         struct cfg_complaint *report)
{
    json_error_t error;
    json_t *json = json_loadb(text, size, JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL, &error);
    if (json == NULL) {
        const struct cfg_mark mark = {error.line > 0 ? error.line : 1,
                                      error.column > 0 ? error.column : 1};
        (void)cfg_fail(report, NULL, mark, "JSON: %s", error.text);
        return NULL;
    }
    const struct cfg_node *root = cfg_document_parse(pool, text, size, NULL, report);
    if (root != NULL && !check_all_numbers(root, json, report))
        root = NULL;
    json_decref(json);
    return root;
}

static bool read_file(const char *path, struct operating_point *point, bool *holds,
                      char error[CFG_ERROR_MAX])
{
    struct cfg_complaint report = {.path = path, .line = error};
    struct cfg_load_arena pool = {0};
    char *text;
    size_t size;
    error[0] = '\0';
    if (cfg_file_read(path, "point", CFG_TEXT_MAX, &text, &size, error))
        return false;
    const struct cfg_node *root = parse_file(text, size, &pool, &report);
    const bool good = root != NULL && read_root(point, root, &report, holds);
    cfg_load_arena_free(&pool);
    free(text);
    return good;
}

/* ---- the point --------------------------------------------------------------------------- */

static void alloc_arrays(struct operating_point *point)
{
    struct cfg_model *model = point->model;
    struct cfg_load_arena *pool = &model->pool;
    const size_t nv = (size_t)model->nv;
    point->q = cfg_load_arena_take(pool, (size_t)model->nq * sizeof *point->q);
    point->v = cfg_load_arena_take(pool, nv * sizeof *point->v);
    point->tau = cfg_load_arena_take(pool, nv * sizeof *point->tau);
    point->held = cfg_load_arena_take(pool, nv * sizeof *point->held);
    point->held_a = cfg_load_arena_take(pool, nv * sizeof *point->held_a);
    point->free_v = cfg_load_arena_take(pool, nv * sizeof *point->free_v);
    for (int k = 0; k < model->joint_count; k++) {
        const struct cfg_model_joint *joint = &model->joints[k];
        for (int i = 0; i < dyn_joint_nq(&model->specs[joint->body]); i++)
            point->q[model->q_at[joint->q_first + i]] = joint->start.q[i];
        for (int i = 0; i < joint->modes; i++)
            point->q[dyn_model_eta_index(model->tree, joint->body) + i] = joint->start.eta[i];
    }
    point->input =
        (struct dyn_input){.tau = point->tau, .held = point->held, .held_a = point->held_a};
}

void *operating_point_alloc(size_t size)
{
    void *mem = aligned_alloc(64, (size + 64) / 64 * 64);
    if (mem == NULL) {
        fprintf(stderr, "airbearing: no memory for %zu MiB; close other programs\n", size >> 20);
        exit(EXIT_BAD_INPUT);
    }
    return mem;
}

struct dyn_state operating_point_state(const struct operating_point *point)
{
    return (struct dyn_state){point->q, point->v};
}

/* Find the tau that leaves no acceleration but the prescribed one. */
static void find_tau(struct operating_point *point)
{
    const struct dyn_model *tree = point->model->tree;
    const struct dyn_state state = operating_point_state(point);
    struct dyn_work *work = dyn_work_place(tree, operating_point_alloc(dyn_work_size(tree)));
    dyn_rnea(tree, &state, point->held_a, &point->input, work, point->tau);
    free(work);
}

int operating_point_load(const struct operating_point_options *options,
                         struct operating_point *point)
{
    char error[CFG_ERROR_MAX];
    bool holds = false;
    *point = (struct operating_point){0};
    if (cfg_model_load(options->model, options->base, &point->model, error)) {
        fprintf(stderr, "%s\n", error);
        return EXIT_BAD_INPUT;
    }
    alloc_arrays(point);
    memcpy(point->input.gravity, point->model->gravity, sizeof point->model->gravity);
    if (options->at == NULL)
        hold_as_model(point);
    else if (!read_file(options->at, point, &holds, error)) {
        fprintf(stderr, "%s\n", error);
        operating_point_free(point);
        return EXIT_BAD_INPUT;
    }
    if (options->gravity_given)
        memcpy(point->input.gravity, options->gravity, sizeof options->gravity);
    if (holds)
        find_tau(point);
    for (int k = 0; k < point->model->nv; k++)
        if (!point->held[point->model->v_at[k]])
            point->free_v[point->count++] = k;
    return EXIT_OK;
}

void operating_point_free(struct operating_point *point)
{
    cfg_model_free(point->model);
}

/* ---- names ------------------------------------------------------------------------------- */

static const char *const rigid_suffix[][6] = {
    [POINT_POSITION] = {"rx", "ry", "rz", "x", "y", "z"},
    [POINT_VELOCITY] = {"wx", "wy", "wz", "vx", "vy", "vz"},
    [POINT_FORCE] = {"mx", "my", "mz", "fx", "fy", "fz"},
    [POINT_ACCELERATION] = {"dwx", "dwy", "dwz", "dvx", "dvy", "dvz"},
};
static const char *const joint_suffix[] = {"q", "v", "tau", "a"};
static const char *const mode_suffix[] = {"eta", "xi", "force", "dxi"};

static struct matrix_label mode_name(const struct cfg_model *model,
                                     enum operating_point_signal signal, int v)
{
    struct matrix_label out;
    int joint = 0;
    while (v >= model->joints[joint].mode_first + model->joints[joint].modes)
        joint++;
    snprintf(out.text, sizeof out.text, "%s.%s%d", model->joints[joint].name, mode_suffix[signal],
             v - model->joints[joint].mode_first + 1);
    return out;
}

struct matrix_label operating_point_name(const struct operating_point *point,
                                         enum operating_point_signal signal, int k)
{
    const struct cfg_model *model = point->model;
    const int v = point->free_v[k];
    int joint = 0;
    while (joint < model->joint_count && v >= model->joints[joint].v_first + joint_nv(point, joint))
        joint++;
    if (joint == model->joint_count)
        return mode_name(model, signal, v);
    const char *name = model->joints[joint].name;
    const enum dyn_joint_type type = model->specs[model->joints[joint].body].joint;
    const int of = v - model->joints[joint].v_first;
    struct matrix_label out;
    if (type == DYN_JOINT_FREE || type == DYN_JOINT_SPHERICAL)
        snprintf(out.text, sizeof out.text, "%s.%s", name, rigid_suffix[signal][of]);
    else if (joint_nv(point, joint) == 1)
        snprintf(out.text, sizeof out.text, "%s.%s", name, joint_suffix[signal]);
    else
        snprintf(out.text, sizeof out.text, "%s.%s%d", name, joint_suffix[signal], of + 1);
    return out;
}
