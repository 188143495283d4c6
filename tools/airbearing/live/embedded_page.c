#include "tools/airbearing/live/embedded_page.h"

#include <stddef.h>

/* Made from tools/cockpit at build time. */
extern const char cockpit_html[], cockpit_script[], cockpit_style[], cockpit_icon[];
extern const size_t cockpit_html_size, cockpit_script_size, cockpit_style_size, cockpit_icon_size;

int embedded_page_cockpit(struct io_page pages[PAGE_MAX])
{
    const struct io_page all[PAGE_MAX] = {
        {"/index.html", "text/html; charset=utf-8", cockpit_html, cockpit_html_size},
        {"/cockpit.js", "text/javascript; charset=utf-8", cockpit_script, cockpit_script_size},
        {"/cockpit.css", "text/css; charset=utf-8", cockpit_style, cockpit_style_size},
        {"/icon.svg", "image/svg+xml", cockpit_icon, cockpit_icon_size},
    };
    int count = 0;
    for (int i = 0; i < PAGE_MAX; i++)
        if (all[i].size > 0)
            pages[count++] = all[i];
    return count;
}

struct io_page embedded_page_urdf(const struct cfg_file *urdf)
{
    return (struct io_page){"/model.urdf", "application/xml", urdf->text, urdf->size};
}
