/* The studies of SoftMMA: what each command computes, as C functions (docs/c.md). A line names the commands and their
   functions, which the header describes. A function whose name ends in _datum returns a result as data;
   smma_datum_write prints these data as `--json` does. A function smma_print_NAME beside it writes the text that the
   command prints.

   The interfaces of these headers may change in any version. Only softmma.h and the headers that it includes are
   frozen. */
#ifndef SMMA_STUDY_H
#define SMMA_STUDY_H

#include "campaign/difference.h"  /* diff: smma_find_unit_difference, smma_unit_difference_datum */
#include "campaign/differences.h" /* diff several: smma_find_differences, smma_differences_datum */
#include "campaign/record.h"      /* record: smma_record, smma_record_datum */
#include "compare/compare.h"      /* compare: smma_compare_run, smma_compare_datum */
#include "compare/files.h"        /* compare, trace, tolerance: matrices of files for several targets */
#include "coverage/coverage.h"    /* coverage: smma_coverage_count, smma_coverage_datum */
#include "coverage/gen.h"         /* gen: smma_gen */
#include "datum/datum.h"          /* --json: smma_datum_write */
#include "equal/apart.h"          /* next: smma_find_apart, smma_apart_datum */
#include "equal/study.h"          /* diff --prove: smma_equal, smma_equal_datum */
#include "experiment/datum.h"     /* experiment: smma_experiment_datum */
#include "experiment/run.h"       /* experiment: smma_experiment_compute */
#include "explain/datum.h"        /* explain: smma_explanations_datum */
#include "facts/facts.h"     /* list, show, units: smma_instructions_datum, smma_instruction_datum, smma_units_datum */
#include "facts/gpu.h"       /* show: smma_gpu_datum */
#include "infer/infer.h"     /* infer: smma_infer */
#include "infer/report.h"    /* infer: smma_inference_datum */
#include "isa/custom.h"      /* custom: smma_custom_read */
#include "match/study.h"     /* match: smma_match_load, smma_match_run, smma_match_check, smma_match_datum */
#include "probe/probe.h"     /* probe: smma_examine, smma_examination_datum */
#include "product/pieces.h"  /* gemm: smma_product_in_pieces */
#include "product/product.h" /* gemm: smma_product_run, smma_product_datum */
#include "question/ask.h"    /* test: smma_ask_questions, smma_open_answers_datum */
#include "report/merge.h"    /* merge: smma_merge_reports */
#include "report/report.h"   /* test: smma_report_run, smma_report_datum */
#include "report/verify.h"   /* verify: smma_verify, smma_verification_datum */
#include "rows/copy.h"       /* convert: smma_vectors_copy */
#include "rows/datum.h"      /* dot: smma_row_datum */
#include "selftest/self_test.h"  /* self-test: smma_self_test_run, smma_self_test_datum */
#include "softmma/rtl.h"         /* rtl: smma_rtl_text */
#include "softmma/softmma.h"     /* plan: smma_plan_for, smma_plan_parse, smma_plan_text */
#include "tolerance/sweep.h"     /* tolerance: smma_sweep_run, smma_sweep_datum */
#include "tolerance/tolerance.h" /* tolerance: smma_tolerance_run, smma_tolerance_datum */
#include "trace/planned.h"       /* explain: smma_planned_run, smma_planned_datum */
#include "trace/trace.h"         /* trace: smma_trace_run, smma_trace_datum */
#include "tree/function.h"       /* tree: smma_find_order_of_function */
#include "tree/unit_order.h"     /* tree: smma_find_unit_order, smma_unit_order_datum */
#include "unit/recording.h"      /* infer: smma_recorded_rows */

#endif
