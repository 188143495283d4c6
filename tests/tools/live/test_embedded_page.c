/*
 * The pages that a run serves; those that could not be built are none.
 */
#include "tools/airbearing/live/embedded_page.h"

#include "unity.h"

extern const char cockpit_html[], cockpit_script[], cockpit_style[], cockpit_icon[];
extern const size_t cockpit_html_size, cockpit_script_size, cockpit_style_size, cockpit_icon_size;
const char cockpit_html[] = "html", cockpit_script[] = "script", cockpit_style[] = "",
           cockpit_icon[] = "icon";
const size_t cockpit_html_size = 4, cockpit_script_size = 6, cockpit_style_size = 0,
             cockpit_icon_size = 3;

void setUp(void)
{
}

void tearDown(void)
{
}

static void check(const struct io_page *page, const char *path, const char *type, const char *bytes,
                  size_t size)
{
    TEST_ASSERT_EQUAL_STRING(path, page->path);
    TEST_ASSERT_EQUAL_STRING(type, page->media_type);
    TEST_ASSERT_EQUAL_PTR(bytes, page->bytes);
    TEST_ASSERT_EQUAL_size_t(size, page->size);
}

static void test_the_cockpit_is_what_was_built(void)
{
    struct io_page pages[PAGE_MAX];
    TEST_ASSERT_EQUAL_INT(3, embedded_page_cockpit(pages));
    check(&pages[0], "/index.html", "text/html; charset=utf-8", cockpit_html, 4);
    check(&pages[1], "/cockpit.js", "text/javascript; charset=utf-8", cockpit_script, 6);
    check(&pages[2], "/icon.svg", "image/svg+xml", cockpit_icon, 3);
}

static void test_the_model_is_the_urdf_as_it_was_read(void)
{
    char text[] = "<robot/>";
    const struct cfg_file urdf = {.text = text, .size = 8};
    const struct io_page page = embedded_page_urdf(&urdf);
    check(&page, "/model.urdf", "application/xml", text, 8);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_the_cockpit_is_what_was_built);
    RUN_TEST(test_the_model_is_the_urdf_as_it_was_read);
    return UNITY_END();
}
