/* AGREED SEAM between branch operator (implements it as tools/airbearing/operator.{c,h}) and branch
 * serve (calls it from tools/airbearing/serve.c). Extend it if you must, keep these names. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum operator_act {
    OPERATOR_PAUSE,
    OPERATOR_RESUME,
    OPERATOR_STEP, /* value: frames */
    OPERATOR_RESET,
    OPERATOR_CHECKPOINT, /* path */
    OPERATOR_RESTORE,    /* path */
    OPERATOR_FAULT,      /* index of the scenario's fault; value: 1 begins now, 0 ends now */
    OPERATOR_TUNE,       /* index of the parameter; value: SI */
    OPERATOR_ACT_COUNT
};
struct operator_request {
    uint64_t ticket; /* the asker's own number, given back with the answer */
    enum operator_act act;
    uint32_t index;
    double value;
    char path[256];
};
struct operator_answer {
    uint64_t ticket;
    uint64_t frame; /* at whose boundary it was carried out */
    bool done;
    char text[192]; /* why not, or what was done */
};
struct operator_parameter { /* what the scenario marks tunable */
    char name[64];          /* "devices.gyro.bias" */
    char unit[16];
    double low, high;
};
struct operator_desk;

/* Context: one asking thread (the server's).  False: too many are waiting. */
bool operator_ask(struct operator_desk *desk, const struct operator_request *request);
/* The next answer, if any.  Context: the asking thread. */
bool operator_answers(struct operator_desk *desk, struct operator_answer *answer);
/* Context: any. */
int operator_parameter_count(const struct operator_desk *desk);
const struct operator_parameter *operator_parameter(const struct operator_desk *desk, int index);
double operator_value(const struct operator_desk *desk, int index); /* in force now */
int operator_fault_count(const struct operator_desk *desk);
const char *operator_fault_name(const struct operator_desk *desk, int index); /* "gyro stuck" */
bool operator_paused(const struct operator_desk *desk);
