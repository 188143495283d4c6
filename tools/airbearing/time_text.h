/*
 * A time in the unit that a person would choose: ns, us, ms or s.
 */
#pragma once

enum { TIME_TEXT_MAX = 24 };

/* Returns text. */
const char *time_text(double ns, char text[TIME_TEXT_MAX]);
