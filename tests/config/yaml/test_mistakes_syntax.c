/*
 * Mistakes in the text itself: what is no YAML, what a scenario does not read of it, and bytes that
 * are no text.
 */
#include "tests/config/mistakes.h"

// clang-format off
static const struct mistake mistakes[] = {
    /* slips in the syntax */
    {"pace: real", "pace: \"real",
     "5:7: YAML syntax: this text is not closed; add the quote at its end"},
    {"pace: real", "pace: 'real\n---",
     "5:7: YAML syntax: this text is not closed; add the quote at its end"},
    {"gravity: [0, 0, 9.81 m/s^2]", "gravity: [0, 0, 9.81 m/s^2",
     "14:17: YAML syntax: the list that begins in line 13 wants a , or its ] here"},
    {"overrun: {policy: catch-up, max_catch_up: 5}", "overrun: {policy: catch-up, max_catch_up: 5",
     "8:8: YAML syntax: the mapping that begins in line 7 wants a , or its } here"},
    {"pace: real", "pace: real: fast",
     "5:11: YAML syntax: this : has no key; check the indentation and the line above, or put "
     "quotes around the text"},
    {"seed: 7", "seed: 7\n  pace: fast",
     "5:7: YAML syntax: this : has no key; check the indentation and the line above, or put quotes "
     "around the text"},
    {"pace: real", "pace:real",
     "5:1: YAML syntax: a key wants a : and a space behind it, on the same line"},
    {"pace: real", "pace real",
     "5:1: YAML syntax: a key wants a : and a space behind it, on the same line"},
    {"log: {every: 10}", "log: {every:[10]}",
     "77:12: YAML syntax: a : wants a space behind it; or put quotes around the text"},
    {"  magnetic_field: 0.215", "\t magnetic_field: 0.215",
     "14:1: YAML syntax: a tab cannot indent; use spaces"},
    {"pace: real", "pace: real\n\t# hurry",
     "6:1: YAML syntax: a tab cannot indent; use spaces"},
    {"pace: real", "pace: |\n  real\n\tfast",
     "7:1: YAML syntax: a tab cannot indent; use spaces"},
    {"commit: early\n", "commit:\n\tearly\n",
     "7:1: YAML syntax: a tab cannot indent; use spaces"},
    {"pace: real", "pace: @real",
     "5:7: YAML syntax: no value begins with @; put quotes around the text"},
    {"pace: real", "# \303\251\303\251\r\npace: `real`",
     "6:7: YAML syntax: no value begins with `; put quotes around the text"},
    {"seed: 7", "seed: \"\\q\"",
     "4:8: YAML syntax: there is no such escape; write \\\\ for a backslash, or use single quotes"},
    {"seed: 7", "seed: \"\\x7\"",
     "4:10: YAML syntax: the escape lacks digits; write as many as \\x41, \\u0041 and \\U00000041 "
     "have"},
    {"seed: 7", "seed: \"\\ud800\"",
     "4:10: YAML syntax: found invalid Unicode character escape code"},
    {"seed: 7", "seed: > 7",
     "4:9: YAML syntax: text behind | or > begins on the next line; or put quotes around all of "
     "it"},
    {"seed: 7", "seed: - 7",
     "4:7: YAML syntax: a list of - begins on a line of its own"},
    {"seed: 7", "seed: [7,, 8]",
     "4:10: YAML syntax: a value is missing before this; write one or remove this"},
    {"seed: 7", "seed: 7\n}",
     "5:1: YAML syntax: the mapping that begins in line 1 wants a key here; check the indentation, "
     "quotes and brackets"},
    {"mass: 120 kg", " mass: 120 kg",
     "30:6: YAML syntax: the mapping that begins in line 23 wants a key here; check the "
     "indentation, quotes and brackets"},
    {"    mass: 120 kg", "   mass: 120 kg",
     "30:4: YAML syntax: the list that begins in line 17 wants a - here; check the indentation, "
     "quotes and brackets"},
    {"log: {every: 10}", "log: {every: 10}\n- more",
     "78:1: YAML syntax: the mapping that begins in line 1 wants a key here; check the "
     "indentation, quotes and brackets"},
    {"log: {every: 10}", "log: {every: 10}\n...\nname: second",
     "79:1: YAML syntax: this stands behind the end of the document; remove it, or check the "
     "indentation"},
    /* what a scenario does not read, though YAML has it */
    {"pace: real", "pace: &p real",
     "5:7: anchors (&name) are not read in a scenario; remove it"},
    {"pace: real", "pace: &p !!str real",
     "5:7: anchors (&name) and tags (!name) are not read in a scenario; remove them"},
    {"pace: real", "&p pace: real",
     "5:1: anchors (&name) are not read in a scenario; remove it"},
    {"pace: real", "pace: & real",
     "5:7: anchors (&name) are not read in a scenario; remove it"},
    {"pace: real", "pace: *",
     "5:7: aliases (*name) are not read in a scenario; write the value out"},
    {"pace: real", "pace: *p",
     "5:7: aliases (*name) are not read in a scenario; write the value out"},
    {"pace: real", "pace: !!str real",
     "5:7: tags (!name) are not read in a scenario; remove it"},
    {"pace: real", "pace: !own!word real",
     "5:7: tags (!name) are not read in a scenario; remove it"},
    {"pace: real", "pace: &p !own!word real",
     "5:10: tags (!name) are not read in a scenario; remove it"},
    {"pace: real", "pace: !<word real",
     "5:7: tags (!name) are not read in a scenario; remove it"},
    {"pace: real", "pace: !a%zz real",
     "5:7: tags (!name) are not read in a scenario; remove it"},
    {"log: {every: 10}", "log: {every: 10}\n---\nname: second",
     "78:1: a second document begins here; a scenario is one, remove the ---"},
    {"seed: 7", "[seed]: 7",
     "4:1: a key is a plain word, not a list or a mapping; put quotes around text that begins "
     "with [ or {"},
    {"seed: 7", "seed: 7\nseed: 8",
     "5:1: \"seed\" is given twice; it already stands in line 4, remove one"},
    {"mass: 120 kg", "mass: 120 kg\n    mass: 80 kg",
     "31:5: \"mass\" is given twice; it already stands in line 30, remove one"},
    {"gravity: [0, 0, 9.81 m/s^2]", "gravity: [[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]",
     "13:26: more than 16 lists and mappings inside each other; no scenario needs that"},
    {"pace: real", "pace: \001",
     "5:7: control character U+0001; remove it"},
    {"pace: real", "pace: r\351el",
     "5:8: byte 0xe9 is not UTF-8 text; save the file as UTF-8"},
    {"pace: real", "pace: \"\\0\"",
     "5:7: NUL inside a text; remove it"},
    {"pace: real", "pace: r\342\200\250l",
     "5:8: control character U+2028; remove it"},
    {"pace: real", "pace: r\357\273\277l",
     "5:8: control character U+FEFF; remove it"},
    {"pace: real", "pace: r\357\277\277l",
     "5:8: control character U+FFFF; remove it"},
    {"pace: real", "pace: real\r%YAML 1.1",
     "6:1: directives (%NAME) are not read in a scenario; remove the line"},
    {"pace: real", "%YAML 1.1",
     "5:1: directives (%NAME) are not read in a scenario; remove the line"},
};

static const struct whole wholes[] = {
    {"\xef\xbb\xbf",
     "1:1: nothing is written here; a scenario begins with name: and bodies:"},
    {"\xef\xbb\xbf%YAML 1.1\n---\nname: x\n",
     "1:1: directives (%NAME) are not read in a scenario; remove the line"},
    {"\xef\xbb\xbfname: [x]\n",
     "1:7: name wants a name, e.g. name: satellite; here is a list"},
    {"*a\n", "1:1: aliases (*name) are not read in a scenario; write the value out"},
    {"name: \300\200\n", "1:7: byte 0xc0 is not UTF-8 text; save the file as UTF-8"},
    {"name: \340\200\200\n", "1:7: byte 0xe0 is not UTF-8 text; save the file as UTF-8"},
    {"name: \355\240\200\n", "1:7: byte 0xed is not UTF-8 text; save the file as UTF-8"},
    {"name: \364\220\200\200\n", "1:7: byte 0xf4 is not UTF-8 text; save the file as UTF-8"},
    {"name: x\342\202", "1:8: byte 0xe2 is not UTF-8 text; save the file as UTF-8"},
    {"name: \342\200\251\n", "1:7: control character U+2029; remove it"},
    {"name: \302\205\n", "1:7: control character U+0085; remove it"},
};
// clang-format on

static void test_every_mistake_in_the_syntax_is_refused_at_its_place(void)
{
    REFUSE_EDITS(mistakes);
}

static void test_texts_that_are_no_yaml_are_refused(void)
{
    REFUSE_TEXTS(wholes);
}

/* Windows line ends and a byte order mark move nothing. */
static void test_line_ends_do_not_move_the_place(void)
{
    expect_complaint("name: x\r\nrate: 1 kg\r\n", "2:7: rate wants Hz, not kg");
    expect_complaint("# \303\251\303\251\nname: \303\251",
                     "2:7: name cannot be \"\303\251\"; a name is a letter, "
                     "then letters, digits, _ or -, at most 47 in all");
}

/* Limits that keep a hostile file cheap. */
static void test_endless_lists_and_mappings_are_refused(void)
{
    static char text[1 << 16];
    size_t size = 0;
    for (int i = 0; i < 70; i++)
        size += (size_t)snprintf(text + size, sizeof text - size, "k%d: 1\n", i);
    expect_complaint(text,
                     "65:6: more than 64 entries in one mapping; no scenario needs that many");

    size = (size_t)snprintf(text, sizeof text, "name: [");
    for (int i = 0; i < 20000; i++)
        size += (size_t)snprintf(text + size, sizeof text - size, "1,");
    snprintf(text + size, sizeof text - size, "1]\n");
    expect_complaint(text,
                     "1:32776: more than 16384 entries in one list; no scenario needs that many");
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_every_mistake_in_the_syntax_is_refused_at_its_place);
    RUN_TEST(test_texts_that_are_no_yaml_are_refused);
    RUN_TEST(test_line_ends_do_not_move_the_place);
    RUN_TEST(test_endless_lists_and_mappings_are_refused);
    return UNITY_END();
}
