/*
 *      count_flops MODEL [free]
 *
 * prints what forward dynamics of one state of the model take, whole and per degree of freedom.
 */
#include <stdio.h>
#include <string.h>

#include "config/model.h"
#include "tools/count_flops.h"

static void print(const struct flop_count *count, int nv)
{
    const long sum = count->multiplications + count->additions + count->divisions;
    printf("multiplications %ld\nadditions %ld\ndivisions %ld\n", count->multiplications,
           count->additions, count->divisions);
    printf("sum %ld, per dof %.1f\n", sum, (double)sum / nv);
    printf("functions %ld\n", count->functions);
}

int main(int argc, char **argv)
{
    const enum cfg_base base =
        argc > 2 && strcmp(argv[2], "free") == 0 ? CFG_BASE_FREE : CFG_BASE_UNSAID;
    struct cfg_model *model;
    struct flop_count count;
    char error[CFG_ERROR_MAX];

    if (argc < 2) {
        fprintf(stderr, "count_flops MODEL [free]\n");
        return 2;
    }
    if (cfg_model_load(argv[1], base, &model, error) < 0) {
        fprintf(stderr, "%s\n", error);
        return 1;
    }
    const int failed = count_flops(model->tree, &count) < 0;
    if (!failed)
        print(&count, dyn_model_nv(model->tree));
    cfg_model_free(model);
    return failed;
}
