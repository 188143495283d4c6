#include "config/flex.h"
bool cfg_draft_nastran(struct cfg_flex_draft *draft)
{
    return cfg_fail_at(draft->resolve->report, draft->keys->node, NULL, "TODO");
}
