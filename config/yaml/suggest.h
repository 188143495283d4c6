/*
 * "Did you mean": the candidate nearest to a misspelt word, only when it is close.
 */
#pragma once

struct cfg_suggestion {
    const char *word; /* as the user wrote it */
    const char *best; /* NULL: nothing is close */
    int distance;
};

/* Context: setup. */
struct cfg_suggestion cfg_suggest_begin(const char *word);
void cfg_suggest_offer(struct cfg_suggestion *suggestion, const char *candidate);
