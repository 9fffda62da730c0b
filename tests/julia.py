#!/usr/bin/env python3
"""Compares bindings/julia/SoftMMA.jl with the header, without running Julia. Its structs must have the header's
fields, in order and with their types, and its calls must have the functions' arguments. Called through ctypes with the
declarations of the file, the library must return the results of a GPU.

Usage: julia.py LIBRARY SOURCE
"""

import ctypes
import re
import struct
import sys
from pathlib import Path

library, source = ctypes.CDLL(sys.argv[1]), Path(sys.argv[2])
julia = (source / "bindings/julia/SoftMMA.jl").read_text()
headers = "".join(path.read_text() for path in sorted((source / "include/softmma").glob("*.h")))
header = re.sub(r"/\*.*?\*/", "", headers, flags=re.DOTALL)
size_of_text = int(re.search(r"char text\[(\d+)\];\s*\} smma_error;", header).group(1))

KINDS = {"Csize_t": ctypes.c_size_t, "Cint": ctypes.c_int, "Cdouble": ctypes.c_double, "Bool": ctypes.c_bool}


def kind(c_type):
    """Returns Julia's type of a C declaration without its name."""
    if "*" in c_type or "(" in c_type:
        return "pointer"
    word = c_type.replace("const", "").strip()
    return {"size_t": "Csize_t", "double": "Cdouble", "bool": "Bool"}.get(word, "Cint")  # int and enumerations


def fields_of_header(struct):
    for part in re.search(rf"typedef struct \{{([^}}]*)\}} {struct};", header).group(1).split(";"):
        if function := re.search(r"\(\*(\w+)\)", part):
            yield function.group(1), "pointer"
        elif part.strip():
            c_type, names = re.fullmatch(r"\s*(.*?[\s*])((?:\*?\w+(?:,\s*)?)+)\s*", part, re.DOTALL).groups()
            for name in re.split(r",\s*", names):
                yield name.lstrip("*"), kind(c_type + ("*" if name.startswith("*") else ""))


def word(julia_type):
    return "pointer" if re.match(r"Ptr|Ref|Cstring", julia_type) else julia_type


def fail(message):
    sys.exit(f"SoftMMA.jl: {message}")


if f"zeros(UInt8, 4 + {size_of_text})" not in julia:
    fail(f"the text of smma_error has {size_of_text} bytes")


def checked_fields(julia_struct, struct):
    """Returns the fields of a struct of the file, after comparing them with the header's."""
    body = re.search(rf"mutable struct {julia_struct}\n(.*?)    {julia_struct}\(\)", julia, re.DOTALL).group(1)
    fields = [(name, word(julia_type)) for name, julia_type in re.findall(r"(\w+)::(\S+)", body)]
    if fields != list(fields_of_header(struct)):
        fail(f"{julia_struct} differs from {struct}: {set(fields) ^ set(fields_of_header(struct)) or 'order'}")
    return fields


fields = checked_fields("GemmArguments", "smma_gemm_arguments")
fields_of_info = checked_fields("InstructionInfo", "smma_instruction_info")

calls = re.findall(r"ccall\(\(:(\w+), library\), (\S+), \(([^()]*)\)", julia)
if len(calls) != julia.count("ccall("):
    fail("a call is not understood")
for name, result, arguments in calls:
    found = re.search(rf"SMMA_API ([\w ]+?[ *]+){name}\(([^;]*)\);", header)
    if not found:
        fail(f"{name} is not in the header")
    wanted = [kind(re.sub(r"\w+$", "", a.strip())) for a in found.group(2).split(",") if a.strip() != "void"]
    given = [word(a.strip()) for a in arguments.split(",") if a.strip()]
    returns = "Cvoid" if found.group(1).strip() == "void" else kind(found.group(1))
    if (given, word(result)) != (wanted, returns):
        fail(f"{name}: {given} -> {result}, but the header has {wanted} -> {returns}")


class Arguments(ctypes.Structure):
    _fields_ = [(name, KINDS.get(julia_type, ctypes.c_void_p)) for name, julia_type in fields]


class Info(ctypes.Structure):
    _fields_ = [(name, KINDS.get(julia_type, ctypes.c_void_p)) for name, julia_type in fields_of_info]


order, ok = (int(re.search(rf"const {name} = Cint\((\d)\)", julia).group(1)) for name in ("COLUMN_MAJOR", "OK"))
a = ctypes.create_string_buffer(struct.pack("<8e", -8192, 2, 1, 2, 1, 2, 1, 2))  # two rows, stored column by column
b = ctypes.create_string_buffer(struct.pack("<4e", 1024, -0.5, -0.25, -0.125))
c, d = ctypes.create_string_buffer(struct.pack("<2f", 2**23, 1)), ctypes.create_string_buffer(8)
g = Arguments()
library.smma_gemm_defaults(ctypes.byref(g), ctypes.c_size_t(ctypes.sizeof(g)))
if g.size != ctypes.sizeof(g) or (g.alpha, g.beta, g.scale_d) != (1, 1, 1):
    fail("GemmArguments has not the struct's size")
g.m, g.n, g.k = 2, 1, 4
g.order_a = g.order_b = g.order_c = g.order_d = order
g.a, g.b, g.c, g.d = (ctypes.addressof(x) for x in (a, b, c, d))
library.smma_find.restype = ctypes.c_void_p
found = library.smma_find(b"H100", b"wgmma.m64n8k16.f32.f16.f16", None)
if library.smma_gemm(ctypes.c_void_p(found), ctypes.byref(g)) != ok or struct.unpack("<2f", d.raw) != (-0.75, 2047.25):
    fail(f"D is {struct.unpack('<2f', d.raw)}, not (-0.75, 2047.25)")

info = Info()  # of an instruction whose D has larger elements than its C
found = library.smma_find(b"V100", b"mma.m8n8k4.f32.f16.f16.f16", None)
library.smma_describe(ctypes.c_void_p(found), ctypes.byref(info), ctypes.c_size_t(ctypes.sizeof(info)))
library.smma_format_bytes.restype = ctypes.c_size_t
sizes = [library.smma_format_bytes(format) for format in (info.a, info.b, info.c, info.d)]
if sizes != [2, 2, 2, 4] or info.d != library.smma_format_find(b"f32") or info.instruction != found:
    fail(f"the elements of A, B, C and D have {sizes} bytes, not 2, 2, 2 and 4")
print(f"{len(fields) + len(fields_of_info)} fields, {len(calls)} calls")
