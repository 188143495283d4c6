/*
 * YAML as a tree: the forms that a scenario may be written in, and where each piece stands.
 */
#include "config/scenario.h"
#include "config/yaml/document.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unity.h"

static struct cfg_load_arena pool;
static char error[CFG_ERROR_MAX];

void setUp(void)
{
}

void tearDown(void)
{
    cfg_load_arena_free(&pool);
    pool = (struct cfg_load_arena){0};
}

/* A copy of exact size, so that a sanitizer sees a read behind the end. */
static struct cfg_node *parse_bytes(const char *text, size_t size)
{
    struct cfg_complaint report = {.path = "d.yaml", .line = error};
    error[0] = '\0';
    char *copy = malloc(size > 0 ? size : 1);
    TEST_ASSERT_NOT_NULL(copy);
    memcpy(copy, text, size);
    struct cfg_node *root = cfg_document_parse(&pool, copy, size, NULL, &report);
    free(copy);
    return root;
}

static struct cfg_node *parse(const char *text)
{
    struct cfg_node *root = parse_bytes(text, strlen(text));
    TEST_ASSERT_EQUAL_STRING_MESSAGE("", error, text);
    TEST_ASSERT_NOT_NULL(root);
    return root;
}

static void write_node(const struct cfg_node *node, char *out, size_t room)
{
    size_t at = 0;
    if (node->key != NULL)
        at += (size_t)snprintf(out, room, "%s@%d:%d ", node->key, node->key_mark.line,
                               node->key_mark.column);
    at += (size_t)snprintf(out + at, room - at, "%d:%d", node->mark.line, node->mark.column);
    if (node->kind == CFG_NODE_SCALAR) {
        snprintf(out + at, room - at, node->empty ? "=" : "=%s", node->text);
        return;
    }
    at += (size_t)snprintf(out + at, room - at, "%c", node->kind == CFG_NODE_LIST ? '[' : '{');
    for (const struct cfg_node *child = node->first; child != NULL; child = child->next) {
        write_node(child, out + at, room - at);
        at += strlen(out + at);
        at += (size_t)snprintf(out + at, room - at, "%s", child->next != NULL ? ", " : "");
    }
    snprintf(out + at, room - at, "%c", node->kind == CFG_NODE_LIST ? ']' : '}');
}

/* The tree as key@line:column line:column=text; a value that is empty has no text. */
static void expect_tree(const char *text, const char *tree)
{
    char written[1024];
    write_node(parse(text), written, sizeof written);
    TEST_ASSERT_EQUAL_STRING_MESSAGE(tree, written, text);
}

static void test_lists_and_mappings_know_where_they_begin(void)
{
    expect_tree("a: 1\nb: x y\n", "1:1{a@1:1 1:4=1, b@2:1 2:4=x y}");
    expect_tree("a:\n  - 1\n  - - 2\n", "1:1{a@1:1 2:3[2:5=1, 3:5[3:7=2]]}");
    expect_tree("a:\n- b: 1\n  c: 2\n- d\n",
                "1:1{a@1:1 2:1[2:3{b@2:3 2:6=1, c@3:3 3:6=2}, 4:3=d]}");
    expect_tree("[1, [2], {a: 3}]", "1:1[1:2=1, 1:5[1:6=2], 1:10{a@1:11 1:14=3}]");
    expect_tree("{a: {b: 1},\n c: [2,\n 3]}",
                "1:1{a@1:2 1:5{b@1:6 1:9=1}, c@2:2 2:5[2:6=2, 3:2=3]}");
    expect_tree("[a: 1, 'b': 2]", "1:1[1:2{a@1:2 1:5=1}, 1:8{b@1:8 1:13=2}]");
    expect_tree("---\n? a\n: 1\n...\n", "2:1{a@2:3 3:3=1}");
    expect_tree("[]", "1:1[]");
    expect_tree("{}", "1:1{}");
}

static void test_a_text_begins_at_its_quote_or_indicator(void)
{
    expect_tree("'a': \"b\"\n\"c\": 'it''s'\n", "1:1{a@1:1 1:6=b, c@2:1 2:6=it's}");
    expect_tree("a: |\n  x\n   y\nb: >-\n  x\n  y\n", "1:1{a@1:1 1:4=x\n y\n, b@4:1 4:4=x y}");
    expect_tree("a: x\n  y\n z\nb: 'x\n  y'\n", "1:1{a@1:1 1:4=x y z, b@4:1 4:4=x y}");
    expect_tree("a: # why\n  x # not\nb: x#y\n", "1:1{a@1:1 2:3=x, b@3:1 3:4=x#y}");
    expect_tree("a: \"\\u00e9\\x41\\t\\\\\\/\"", "1:1{a@1:1 1:4=\303\251A\t\\/}");
}

static void test_colons_and_signs_inside_a_scalar_stay(void)
{
    expect_tree("[tcp://1.2.3.4:4560, -5, a::b, x?y, 5 %, --set]",
                "1:1[1:2=tcp://1.2.3.4:4560, 1:22=-5, 1:26=a::b, 1:32=x?y, 1:37=5 %, 1:42=--set]");
    expect_tree("{a: tcp://1.2.3.4:4560, b: 10:20}",
                "1:1{a@1:2 1:5=tcp://1.2.3.4:4560, b@1:25 1:28=10:20}");
    expect_tree("a: tcp://1.2.3.4:4560\nb: -c\n",
                "1:1{a@1:1 1:4=tcp://1.2.3.4:4560, b@2:1 2:4=-c}");
}

static void test_json_is_read_too(void)
{
    expect_tree("{\"q\":[1,-2e3],\n\t\"v\" : {\"a\":\"x\"}}",
                "1:1{q@1:2 1:6[1:7=1, 1:9=-2e3], v@2:2 2:8{a@2:9 2:13=x}}");
}

static void test_nothing_stands_where_its_key_or_list_stands(void)
{
    expect_tree("a:\nb: ~\nc: null\nd:\n", "1:1{a@1:1 1:1=, b@2:1 2:4=, c@3:1 3:4=, d@4:1 4:1=}");
    expect_tree("x:\n  -\n  - 1\n", "1:1{x@1:1 2:3[2:3=, 3:5=1]}");
    expect_tree("{a, b: , c: 1}", "1:1{a@1:2 1:2=, b@1:5 1:5=, c@1:10 1:13=1}");
    expect_tree("a: ''\nb: |\n", "1:1{a@1:1 1:4=, b@2:1 2:4=}");
    TEST_ASSERT_TRUE(parse("a:")->first->empty);
    TEST_ASSERT_FALSE(parse("a: ''")->first->empty);
    TEST_ASSERT_FALSE(parse("a: '~'")->first->empty);
    TEST_ASSERT_FALSE(parse("a: \"null\"")->first->empty);
    TEST_ASSERT_FALSE(parse("a: |\n")->first->empty);
}

static void test_columns_count_characters(void)
{
    expect_tree("\303\251: [\342\202\254, '\360\220\215\210', x]",
                "1:1{\303\251@1:1 1:4[1:5=\342\202\254, 1:8=\360\220\215\210, 1:13=x]}");
}

static void test_every_line_end_ends_a_line(void)
{
    static const char *const ends[] = {"\n", "\r\n", "\r"};
    for (int i = 0; i < 3; i++) {
        const char *end = ends[i];
        char text[64];
        snprintf(text, sizeof text, "\357\273\277a: 1%sb: 'x%s  y'%sc: 2", end, end, end);
        expect_tree(text, "1:1{a@1:1 1:4=1, b@2:1 2:4=x y, c@4:1 4:4=2}");
    }
}

static size_t encode(unsigned point, char out[4])
{
    static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    const size_t size = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    for (size_t i = size - 1; i > 0; i--, point >>= 6)
        out[i] = (char)(0x80 | (point & 0x3f));
    out[0] = (char)(lead[size] | point);
    return size;
}

/* libyaml would refuse some of them without a place.  69: the control characters but tab and line
 * ends, five from further up, and the quote and the backslash, which are syntax here. */
static void test_every_character_is_read_or_refused_at_its_place(void)
{
    int refused = 0;
    for (unsigned point = 0; point < 0x110000; point += point < 0x11000 ? 1 : 0xfff) {
        if (point >= 0xd800 && point < 0xe000)
            continue;
        char text[16] = "- \"x";
        size_t size = 4 + encode(point, text + 4);
        memcpy(text + size, "y\"", 2);
        const struct cfg_node *root = parse_bytes(text, size + 2);
        refused += root == NULL;
        char refusal[64];
        snprintf(refusal, sizeof refusal, "d.yaml:1:5: control character U+%04X; remove it", point);
        if (root == NULL && point != '"' && point != '\\')
            TEST_ASSERT_EQUAL_STRING(refusal, error);
        if (root != NULL && point > ' ')
            TEST_ASSERT_EQUAL_MEMORY(text + 4, root->first->text + 1, size - 4);
        tearDown();
    }
    TEST_ASSERT_EQUAL_INT(69, refused);
}

/* A hostile file ends early: sixteen megabytes of brackets, of one word, of one key. */
static void test_a_huge_text_is_read_or_refused_quickly(void)
{
    char *text = malloc(CFG_TEXT_MAX + 1);
    TEST_ASSERT_NOT_NULL(text);
    memset(text, '[', CFG_TEXT_MAX + 1);
    TEST_ASSERT_NULL(parse_bytes(text, CFG_TEXT_MAX));
    TEST_ASSERT_EQUAL_STRING("d.yaml:1:17: more than 16 lists and mappings inside each other; no "
                             "scenario needs that",
                             error);
    TEST_ASSERT_NULL(parse_bytes(text, CFG_TEXT_MAX + 1));
    TEST_ASSERT_EQUAL_STRING("d.yaml: more than 16777216 bytes; no scenario is that long, is this "
                             "the right file?",
                             error);
    memset(text, 'x', CFG_TEXT_MAX);
    TEST_ASSERT_EQUAL_size_t(CFG_TEXT_MAX, strlen(parse_bytes(text, CFG_TEXT_MAX)->text));
    free(text);
}

static void test_many_escapes_leave_nothing_behind(void)
{
    const struct cfg_node *root = parse("\"\\t\\t\\t\\t\\t\\t\\t\\t\\t\\t\\t\\t\\t\\t\\t\\t\"");
    TEST_ASSERT_EQUAL_STRING("\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t", root->text);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_lists_and_mappings_know_where_they_begin);
    RUN_TEST(test_a_text_begins_at_its_quote_or_indicator);
    RUN_TEST(test_colons_and_signs_inside_a_scalar_stay);
    RUN_TEST(test_json_is_read_too);
    RUN_TEST(test_nothing_stands_where_its_key_or_list_stands);
    RUN_TEST(test_columns_count_characters);
    RUN_TEST(test_every_line_end_ends_a_line);
    RUN_TEST(test_every_character_is_read_or_refused_at_its_place);
    RUN_TEST(test_a_huge_text_is_read_or_refused_quickly);
    RUN_TEST(test_many_escapes_leave_nothing_behind);
    return UNITY_END();
}
