/*
 * Numbers out of a message by its schema's text.
 */
#include "tools/airbearing/cdr_decode.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "unity.h"

static struct cdr_layout decode;

void setUp(void)
{
}

void tearDown(void)
{
}

static double number(const char *name, int index, const void *bytes, size_t size)
{
    const struct cdr_field *field = cdr_layout_find(&decode, name);
    TEST_ASSERT_NOT_NULL_MESSAGE(field, name);
    return cdr_field_number(field, index, bytes, size);
}

static void test_fields_lie_where_cdr_has_them(void)
{
    const struct __attribute__((packed)) {
        unsigned char head[4];
        uint8_t small, pad[3];
        float f;
        int16_t steps[3];
        uint8_t pad2[2];
        double d;
        int8_t minus;
    } m = {{0, 1, 0, 0}, 7, {0}, 0.5f, {1, -2, 3}, {0}, 1e300, -1};
    cdr_layout_parse(&decode,
                     "# a comment\nuint8 small\nuint8 CONSTANT=3\nfloat32 f # rad/s, told\n"
                     "int16[3] steps # counts so far: none\n\nfloat64 d\nint8 minus\n");
    TEST_ASSERT_EQUAL_INT(5, decode.field_count);
    TEST_ASSERT_EQUAL_DOUBLE(7.0, number("small", 0, &m, sizeof m));
    TEST_ASSERT_EQUAL_DOUBLE(0.5, number("f", 0, &m, sizeof m));
    TEST_ASSERT_EQUAL_DOUBLE(-2.0, number("steps", 1, &m, sizeof m));
    TEST_ASSERT_EQUAL_DOUBLE(1e300, number("d", 0, &m, sizeof m));
    TEST_ASSERT_EQUAL_DOUBLE(-1.0, number("minus", 0, &m, sizeof m));
    TEST_ASSERT_EQUAL_STRING("rad/s", cdr_layout_find(&decode, "f")->unit);
    TEST_ASSERT_EQUAL_STRING("", cdr_layout_find(&decode, "steps")->unit);
}

static void test_what_is_not_there_is_not_a_number(void)
{
    const unsigned char bytes[12] = {0, 1, 0, 0};
    cdr_layout_parse(&decode, "float64 a\nfloat64[2] b\n");
    TEST_ASSERT_EQUAL_DOUBLE(0.0, number("a", 0, bytes, 12));
    TEST_ASSERT_TRUE(isnan(number("a", 0, bytes, 11)));
    TEST_ASSERT_TRUE(isnan(number("b", 0, bytes, 12)));
    TEST_ASSERT_TRUE(isnan(number("a", 1, bytes, 12)));
    TEST_ASSERT_TRUE(isnan(number("a", -1, bytes, 12)));
    TEST_ASSERT_NULL(cdr_layout_find(&decode, "c"));
}

static void test_the_first_field_of_no_fixed_size_ends_the_list(void)
{
    static const char *const ends[] = {"string s",     "float64[] s",     "p/T s",
                                       "float64[x] s", "float64[0] s",    "float64[5000] s",
                                       "float64",      "float64 na\033me"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        char text[128] = "uint8 a\n";
        strcat(strcat(text, ends[i]), "\nuint8 b\n");
        cdr_layout_parse(&decode, text);
        TEST_ASSERT_EQUAL_INT_MESSAGE(1, decode.field_count, ends[i]);
    }
    char many[CDR_FIELD_MAX * 16] = "";
    for (int i = 0; i < CDR_FIELD_MAX + 3; i++)
        strcat(many, "uint8 a\n");
    cdr_layout_parse(&decode, many);
    TEST_ASSERT_EQUAL_INT(CDR_FIELD_MAX, decode.field_count);
}

static const char *unit_of(const char *comment)
{
    char text[128] = "float64 x #";
    cdr_layout_parse(&decode, strcat(strcat(text, comment), "\n"));
    return cdr_layout_find(&decode, "x")->unit;
}

static void test_a_unit_is_short_and_printable(void)
{
    TEST_ASSERT_EQUAL_STRING("m", unit_of(" m"));
    TEST_ASSERT_EQUAL_STRING("m", unit_of("m; of the hand"));
    TEST_ASSERT_EQUAL_STRING("N m", unit_of("   N m, about x: y"));
    TEST_ASSERT_EQUAL_STRING("~", unit_of(" ~"));
    TEST_ASSERT_EQUAL_STRING("kg m^2/s^2/", unit_of(" kg m^2/s^2/"));
    TEST_ASSERT_EQUAL_STRING("", unit_of(" kg m^2/s^2/K"));
    TEST_ASSERT_EQUAL_STRING("", unit_of(" m: how far"));
    TEST_ASSERT_EQUAL_STRING("", unit_of(" \033[1m"));
    TEST_ASSERT_EQUAL_STRING("", unit_of(" \177"));
    TEST_ASSERT_EQUAL_STRING("", unit_of(""));
}

static void test_every_type_has_its_size_and_sign(void)
{
    unsigned char bytes[4 + 16];
    static const struct {
        const char *type;
        double all_ones;
        size_t size;
    } table[] = {{"uint64", 0x1p64, 8}, {"int64", -1.0, 8}, {"uint32", 0x1p32 - 1.0, 4},
                 {"int32", -1.0, 4},    {"int16", -1.0, 2}, {"uint16", 65535.0, 2},
                 {"uint8", 255.0, 1},   {"int8", -1.0, 1},  {"bool", 255.0, 1},
                 {"byte", 255.0, 1}};
    memset(bytes, 0xff, sizeof bytes);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char text[64];
        snprintf(text, sizeof text, "byte a\n%s az_AZ09\n", table[i].type);
        cdr_layout_parse(&decode, text);
        const struct cdr_field *field = cdr_layout_find(&decode, "az_AZ09");
        TEST_ASSERT_NOT_NULL_MESSAGE(field, table[i].type);
        TEST_ASSERT_EQUAL_size_t(table[i].size, field->at);
        TEST_ASSERT_EQUAL_DOUBLE(table[i].all_ones,
                                 cdr_field_number(field, 0, bytes, 4 + 2 * table[i].size));
        TEST_ASSERT_TRUE(isnan(cdr_field_number(field, 0, bytes, 3 + 2 * table[i].size)));
    }
}

static void test_how_long_a_name_a_line_and_an_array_may_be(void)
{
    char text[400], name[CDR_FIELD_NAME_MAX + 1];
    for (int more = 0; more < 2; more++) {
        memset(name, 'n', sizeof name);
        name[CDR_FIELD_NAME_MAX - 1 + more] = '\0';
        snprintf(text, sizeof text, "uint8 %s\n", name);
        cdr_layout_parse(&decode, text);
        TEST_ASSERT_EQUAL_INT(1 - more, decode.field_count);
        snprintf(text, sizeof text, "uint8[%d] x\nuint8 CONSTANT = 3\nuint8 y\n",
                 CDR_ARRAY_MAX + more);
        cdr_layout_parse(&decode, text);
        TEST_ASSERT_EQUAL_INT(2 - 2 * more, decode.field_count);
        snprintf(text, sizeof text, "uint8 x\n#%*s\nuint8 y", 254 + more, "");
        cdr_layout_parse(&decode, text);
        TEST_ASSERT_EQUAL_INT(2 - more, decode.field_count);
    }
    cdr_layout_parse(&decode, "uint8[1] one\nuint8[-1] none\n");
    TEST_ASSERT_EQUAL_INT(1, decode.field_count);
    TEST_ASSERT_EQUAL_INT(1, cdr_layout_find(&decode, "one")->count);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_fields_lie_where_cdr_has_them);
    RUN_TEST(test_what_is_not_there_is_not_a_number);
    RUN_TEST(test_the_first_field_of_no_fixed_size_ends_the_list);
    RUN_TEST(test_a_unit_is_short_and_printable);
    RUN_TEST(test_every_type_has_its_size_and_sign);
    RUN_TEST(test_how_long_a_name_a_line_and_an_array_may_be);
    return UNITY_END();
}
