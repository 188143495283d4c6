/*
 * NASTRAN bulk data as cards: a name and its fields, in any of the three formats.
 *
 *      GRID           1               1.5     0.0     2.5-3      eight columns a field
 *      GRID*                  1                             1.5             0.0*G1       sixteen
 *      *G1                2.5-3
 *      GRID,1,,1.5,,2.5-3                                        commas
 *
 * A line that begins with +, * or a blank field continues the card before it.  `$` begins a
 * comment.  Cards of other names are ignored.
 *
 * Tested by tests/config/import/test_nastran.c.
 */
#pragma once

#include "config/import/nastran_columns.h"
#include "config/yaml/complaint.h"

enum { CFG_CARD_FIELDS_MAX = 16, CFG_FIELD_MAX = 31, CFG_CARD_NAME_MAX = 8 };

struct cfg_field {
    struct cfg_mark mark;         /* its first character; that of the card where it is blank */
    char text[CFG_FIELD_MAX + 1]; /* without blanks around it */
};

struct cfg_card {
    char name[CFG_CARD_NAME_MAX + 1]; /* upper case, without the star */
    struct cfg_mark mark;
    struct cfg_field field[CFG_CARD_FIELDS_MAX]; /* the first is what NASTRAN calls field 2 */
};

struct cfg_deck {
    struct cfg_columns columns;
    const char *const *names; /* of the cards that are wanted, NULL behind the last */
    struct cfg_complaint *report;
    bool has_line; /* a line was read that is not used yet */
    struct cfg_line line;
};

/* Begin at the first card: behind BEGIN BULK where the text has such a line.  Context: setup. */
void cfg_deck_open(struct cfg_deck *deck, const char *text, size_t size, const char *const *names,
                   struct cfg_complaint *report);

/* The next wanted card.  false: ENDDATA, the end of the text, or a complaint.  Context: setup. */
bool cfg_deck_next(struct cfg_deck *deck, struct cfg_card *card);

/* True when the field is not blank.  Context: any. */
bool cfg_card_has(const struct cfg_card *card, int field);

/* A field as a number, 0 when blank, or as a whole number from least on; false with a complaint
 * that names the field `name`.  Context: setup. */
bool cfg_card_real(const struct cfg_card *card, int field, const char *name, double *real,
                   struct cfg_complaint *report);
bool cfg_card_whole(const struct cfg_card *card, int field, const char *name, int least, int *whole,
                    struct cfg_complaint *report);
