"""
What GPU matrix units return for D = A B + C, through SoftMMA's library, which must be where the loader looks:

    include("SoftMMA.jl")
    A, B, C = Float16[-8192 1 1 1], reshape(Float16[1024, -0.5, -0.25, -0.125], 4, 1), fill(Float32(2^23), 1, 1)
    SoftMMA.matmul(A, B, C; on = "H100", instruction = "wgmma.m64n8k16.f32.f16.f16")     # -0.75

Julia has not run this file. tests/julia.py compares its structs and its calls with the C header, and calls the library
through these declarations.
"""
module SoftMMA

export matmul, version

const library = "libsoftmma"
const COLUMN_MAJOR = Cint(1)
const OK = Cint(0)

"smma_gemm_arguments of softmma.h, field for field."
mutable struct GemmArguments
    size::Csize_t
    m::Csize_t
    n::Csize_t
    k::Csize_t
    a::Ptr{Cvoid}
    b::Ptr{Cvoid}
    c::Ptr{Cvoid}
    d::Ptr{Cvoid}
    lda::Csize_t
    ldb::Csize_t
    ldc::Csize_t
    ldd::Csize_t
    order_a::Cint
    order_b::Cint
    order_c::Cint
    order_d::Cint
    scale_a::Ptr{Cvoid}
    scale_b::Ptr{Cvoid}
    alpha::Cdouble
    beta::Cdouble
    scaling::Cint
    plan::Ptr{Cvoid}
    bias::Ptr{Cfloat}
    scale_d::Cdouble
    split_k::Csize_t
    promote_every::Csize_t
    threads::Cint
    kernel::Ptr{Cchar}
    on_device::Bool
    error::Ptr{Cvoid}
    progress::Ptr{Cvoid}
    progress_context::Ptr{Cvoid}
    GemmArguments() = new()
end

"smma_instruction_info of softmma.h, field for field."
mutable struct InstructionInfo
    arch::Ptr{Cchar}
    name::Ptr{Cchar}
    m::Cint
    n::Cint
    k::Cint
    a::Cint
    b::Cint
    c::Cint
    d::Cint
    scale::Cint
    scale_block::Cint
    model::Ptr{Cchar}
    rule::Ptr{Cchar}
    evidence::Ptr{Cvoid}
    questions::Ptr{Cvoid}
    instruction::Ptr{Cvoid}
    InstructionInfo() = new()
end

version() = unsafe_string(ccall((:smma_version, library), Cstring, ()))

"The instruction of a GPU or architecture, by name or alias."
function find(on::AbstractString, instruction::AbstractString)
    why = zeros(UInt8, 4 + 1024)     # smma_error: the status, and behind it the text
    found = ccall((:smma_find, library), Ptr{Cvoid}, (Cstring, Cstring, Ptr{UInt8}), on, instruction, why)
    found == C_NULL && GC.@preserve why throw(ArgumentError(unsafe_string(pointer(why, 5))))
    return found
end

function describe(instruction::Ptr{Cvoid})
    info = InstructionInfo()
    status = ccall((:smma_describe, library), Cint, (Ptr{Cvoid}, Ref{InstructionInfo}, Csize_t), instruction, info,
                   sizeof(info))
    status == OK || error(unsafe_string(ccall((:smma_status_text, library), Cstring, (Cint,), status)))
    return info
end

"The bytes of an element of a format."
bytes(format::Cint) = Int(ccall((:smma_format_bytes, library), Csize_t, (Cint,), format))

is_format(format::Cint, name) = format == ccall((:smma_format_find, library), Cint, (Cstring,), name)

"The type of the elements of D: Float16, Float32 or Float64 for f16, f32 or f64, otherwise an unsigned integer."
function element_type(format::Cint)
    is_format(format, "f16") && return Float16
    is_format(format, "f32") && return Float32
    is_format(format, "f64") && return Float64
    return Dict(1 => UInt8, 2 => UInt16, 4 => UInt32, 8 => UInt64)[bytes(format)]
end

"Throws an ArgumentError unless the elements of a matrix are as large as the format's, which the library reads."
function check_elements(name, X::Matrix, format::Cint)
    isbitstype(eltype(X)) && sizeof(eltype(X)) == bytes(format) ||
        throw(ArgumentError("$name has elements of type $(eltype(X)); the instruction's have $(bytes(format)) bytes"))
end

"""
    matmul(A, B, C; on, instruction)

A B + C as the instruction computes it along K. Elements are the formats' encodings in their order in memory: Float16,
Float32 and Float64 for f16, f32 and f64, UInt16 for bf16, UInt8 for FP8. D has C's type if both have one format, and
otherwise the type of D's format.
"""
function matmul(A::Matrix, B::Matrix, C::Matrix; on::AbstractString, instruction::AbstractString)
    size(A, 2) == size(B, 1) || throw(DimensionMismatch("A has $(size(A, 2)) columns, B $(size(B, 1)) rows"))
    size(C) == (size(A, 1), size(B, 2)) || throw(DimensionMismatch("C is not $(size(A, 1)) x $(size(B, 2))"))
    i = find(on, instruction)
    info = describe(i)
    check_elements("A", A, info.a)
    check_elements("B", B, info.b)
    check_elements("C", C, info.c)
    D = similar(C, info.c == info.d ? eltype(C) : element_type(info.d))
    g = GemmArguments()
    ccall((:smma_gemm_defaults, library), Cvoid, (Ref{GemmArguments}, Csize_t), g, sizeof(g))
    g.m, g.n, g.k = size(A, 1), size(B, 2), size(A, 2)
    g.order_a = g.order_b = g.order_c = g.order_d = COLUMN_MAJOR
    status = GC.@preserve A B C D begin
        g.a, g.b, g.c, g.d = pointer(A), pointer(B), pointer(C), pointer(D)
        ccall((:smma_gemm, library), Cint, (Ptr{Cvoid}, Ref{GemmArguments}), i, g)
    end
    status == OK || error(unsafe_string(ccall((:smma_status_text, library), Cstring, (Cint,), status)))
    return D
end

end
