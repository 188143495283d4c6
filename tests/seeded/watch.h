#pragma once

struct rt_frame *watch_frame(void); /* NULL: not yet */
