#include "tools/airbearing/page.h"

static const char index_page[] =
    "<!doctype html>\n"
    "<html lang=\"en\">\n"
    "<meta charset=\"utf-8\">\n"
    "<title>Airbearing</title>\n"
    "<h1>Airbearing</h1>\n"
    "<p>This run is live. Open a connection of the kind \"Foxglove WebSocket\" to this address,\n"
    "with <code>ws://</code> for <code>http://</code>, in Foxglove, Lichtblick or PlotJuggler,\n"
    "or call <code>airbearing top</code>.</p>\n"
    "</html>\n";

const struct io_page pages[] = {
    {"/index.html", "text/html; charset=utf-8", index_page, sizeof index_page - 1},
};
const int page_count = sizeof pages / sizeof *pages;
