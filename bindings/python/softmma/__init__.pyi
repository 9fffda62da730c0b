from softmma import jax as jax
from softmma import recipes as recipes
from softmma import torch as torch
from softmma._campaign import (
    Campaign as Campaign,
    NextRows as NextRows,
    OpenAnswers as OpenAnswers,
    Recording as Recording,
    Verification as Verification,
    campaign as campaign,
    merge as merge,
    next as next,
    record as record,
    verify as verify,
)
from softmma._checkpoint import (
    StoredWeight as StoredWeight,
    load_weight as load_weight,
)
from softmma._close import (
    assert_close as assert_close,
)
from softmma._compare import (
    ComparedUnit as ComparedUnit,
    Comparison as Comparison,
    compare as compare,
)
from softmma._coverage import (
    Coverage as Coverage,
    coverage as coverage,
    coverage_files as coverage_files,
)
from softmma._equal import (
    Equality as Equality,
    Permutation as Permutation,
    equal as equal,
    permute as permute,
)
from softmma._facts import (
    Experiment as Experiment,
    ExperimentRun as ExperimentRun,
    Question as Question,
    UnitKind as UnitKind,
    convert as convert,
    experiment as experiment,
    experiments as experiments,
    facts as facts,
    gen as gen,
    questions as questions,
    units as units,
)
from softmma._gemm import (
    Gemm as Gemm,
    gemm as gemm,
)
from softmma._infer import (
    Inference as Inference,
    infer as infer,
)
from softmma._match import (
    Candidate as Candidate,
    Claim as Claim,
    Match as Match,
    MatchDifference as MatchDifference,
    MatchingLibrary as MatchingLibrary,
    claim as claim,
    match as match,
)
from softmma._plans import (
    Plan as Plan,
    plan as plan,
    plan_libraries as plan_libraries,
)
from softmma._products import (
    Flag as Flag,
    Flagged as Flagged,
    Multiplier as Multiplier,
    dot as dot,
    dot_flags as dot_flags,
    matmul as matmul,
    round as round,
    rows as rows,
    rtl_text as rtl_text,
)
from softmma._quantization import (
    QUANTIZED_FORMATS as QUANTIZED_FORMATS,
    Quantized as Quantized,
    quantize as quantize,
)
from softmma._scaled import (
    scaled_matmul as scaled_matmul,
    swizzle_scales as swizzle_scales,
    unswizzle_scales as unswizzle_scales,
)
from softmma._self_test import (
    SelfTest as SelfTest,
    self_test as self_test,
)
from softmma._sparse import (
    compress as compress,
    sparse_matmul as sparse_matmul,
)
from softmma._study import (
    Difference as Difference,
    Differences as Differences,
    Examination as Examination,
    Explanation as Explanation,
    Finding as Finding,
    diff as diff,
    differences as differences,
    explain as explain,
    probe as probe,
)
from softmma._sweep import (
    Sweep as Sweep,
    SweepRow as SweepRow,
    sweep as sweep,
)
from softmma._tolerance import (
    Accepted as Accepted,
    TargetError as TargetError,
    Tolerance as Tolerance,
    Verdict as Verdict,
    tolerance as tolerance,
)
from softmma._trace import (
    SumDivergence as SumDivergence,
    Trace as Trace,
    TracedTarget as TracedTarget,
    trace as trace,
)
from softmma._tree import (
    Tree as Tree,
    tree as tree,
)
from softmma._unit_tree import (
    UnitTree as UnitTree,
    unit_tree as unit_tree,
)
from softmma._units import (
    BlockFormatFacts as BlockFormatFacts,
    Custom as Custom,
    Format as Format,
    FormatFacts as FormatFacts,
    Gpu as Gpu,
    Instruction as Instruction,
    InstructionList as InstructionList,
    Listing as Listing,
    dtype as dtype,
    find as find,
    format as format,
    formats as formats,
    gpu as gpu,
    gpus as gpus,
    instruction as instruction,
    instructions as instructions,
)

__version__: str
