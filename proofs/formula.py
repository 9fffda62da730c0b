"""Converts C functions to formulas: reads the LLVM code that clang generates, and builds bit vectors with z3.

A function must have no loops after clang's optimisation (clang unrolls those with constant bounds), and may call only
the intrinsics below. Sanitizer traps, unreachable code and conversions out of range count as violations, so a proof
also shows that the function's C code has no undefined behaviour for the arguments that its assumptions admit.
"""

import re
from dataclasses import dataclass, field

import z3

SORTS = {"float": z3.Float32(), "double": z3.Float64(), "half": z3.Float16()}
BITS = {"float": 32, "double": 64, "half": 16}
COMPARISONS = {
    "eq": lambda x, y: x == y,
    "ne": lambda x, y: x != y,
    "slt": lambda x, y: x < y,
    "sle": lambda x, y: x <= y,
    "sgt": lambda x, y: x > y,
    "sge": lambda x, y: x >= y,
    "ult": z3.ULT,
    "ule": z3.ULE,
    "ugt": z3.UGT,
    "uge": z3.UGE,
}
OPERATIONS = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "and": lambda x, y: x & y,
    "or": lambda x, y: x | y,
    "xor": lambda x, y: x ^ y,
    "shl": lambda x, y: x << y,
    "lshr": z3.LShR,
    "ashr": lambda x, y: x >> y,
    "udiv": z3.UDiv,
    "urem": z3.URem,
    "sdiv": lambda x, y: x / y,
    "srem": z3.SRem,
}
MODES = {"nearest": z3.RNE, "zero": z3.RTZ, "down": z3.RTN, "up": z3.RTP}


def every(*conditions):
    return z3.And(*conditions) if len(conditions) > 1 else conditions[0]


def some(*conditions):
    return z3.Or(*conditions) if len(conditions) > 1 else conditions[0]


class Type:
    """A type of LLVM: an integer, a floating-point number, a vector, or a structure of these."""

    def __init__(self, text):
        self.text = text
        self.elements = None
        vector = re.fullmatch(r"<(\d+) x (.+)>", text)
        if vector:
            self.elements = [Type(vector[2])] * int(vector[1])
        elif text.startswith("{") or text.startswith("%struct"):
            self.elements = [Type(x) for x in split(text.strip("{} "))]
        elif text in BITS:
            self.bits = BITS[text]
        elif re.fullmatch(r"i\d+", text):
            self.bits = int(text[1:])
        else:
            raise NotImplementedError(f"type {text}")

    @property
    def is_float(self):
        return self.text in BITS

    @property
    def size(self):
        return sum(e.size for e in self.elements) if self.elements else self.bits


class Number:
    """A floating-point value, as bits and as a number; each is derived from the other when it is needed."""

    def __init__(self, machine, name, bits=None, value=None):
        self.machine, self.name, self._bits, self._value = machine, name, bits, value

    @property
    def bits(self):
        if self._bits is None:
            self._bits = self.machine.fresh(BITS[self.name])
            # Any NaN may result: machines differ in its payload and sign.
            self.machine.facts.append(z3.fpBVToFP(self._bits, SORTS[self.name]) == self._value)
        return self._bits

    @property
    def value(self):
        if self._value is None:
            self._value = z3.fpBVToFP(self._bits, SORTS[self.name])
        return self._value


def split(text):
    """Splits at commas outside brackets."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        if c in "([{<":
            depth += 1
        elif c in ")]}>":
            depth -= 1
        elif c == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    return parts + ([text[start:].strip()] if text[start:].strip() else [])


def typed(text):
    """Splits `TYPE ATTRIBUTE... VALUE` into type and value."""
    text = text.strip()
    if text[0] in "<{":
        depth = 0
        for i, c in enumerate(text):
            depth += (c in "<{[") - (c in ">}]")
            if depth == 0:
                break
        kind, rest = text[: i + 1], text[i + 1 :].strip()
    else:
        kind, rest = text.split(None, 1)
    while re.match(r"(noundef|zeroext|signext|nonnull|immarg|align \d+|dereferenceable\(\d+\)) ", rest):
        rest = rest.split(None, 2 if rest.startswith("align") else 1)[-1]
    return kind, rest


@dataclass
class Block:
    name: str
    lines: list = field(default_factory=list)


def functions_of(code):
    """Returns the functions of LLVM code: name -> (parameters, blocks)."""
    functions, lines = {}, iter(code.splitlines())
    for line in lines:
        head = re.match(r"define .*?@([\w.]+)\((.*)\)[^()]*(#\d+ )?.*\{$", line)
        if not head:
            continue
        parameters = [typed(p) for p in split(head[2])]
        blocks = [Block(str(len(parameters)))]  # LLVM numbers the first block after the parameters
        for line in lines:
            if line == "}":
                break
            label = re.match(r"([\w.$-]+):", line)
            if label:
                blocks.append(Block(label[1]))
            elif line.strip() and not line.strip().startswith(";"):
                text = line.strip()
                if text.startswith("switch"):
                    while not text.endswith("]"):
                        text += " " + next(lines).strip()
                blocks[-1].lines.append(re.sub(r", !\w.*$", "", text))
        functions[head[1]] = (parameters, blocks)
    return functions


class Machine:
    """Executes a function on bit vectors: every block under the condition that it is reached."""

    def __init__(self, parameters, blocks, mode="nearest"):
        self.mode = MODES[mode]()
        self.blocks = {b.name: b for b in blocks}
        self.values, self.facts, self.traps, self.returns = {}, [], [], []
        self.edges = {}  # (from, to) -> condition
        self.memory = {}  # pointer -> (memory, offset)
        self.arguments = []
        self.count = 0
        for kind, name in parameters:
            t = Type(kind)
            bits = z3.BitVec("argument_" + name.strip("%"), t.size)
            self.arguments.append((name, bits))
            self.values[name] = self.from_bits(t, bits)
        for name in self.order(blocks):
            self.run(name)

    def fresh(self, bits):
        self.count += 1
        return z3.BitVec(f"fresh_{self.count}", bits)

    # ---- Values ----

    def from_bits(self, t, bits):
        if t.elements:
            parts, at = [], 0
            for e in t.elements:
                parts.append(self.from_bits(e, z3.simplify(z3.Extract(at + e.size - 1, at, bits))))
                at += e.size
            return parts
        return Number(self, t.text, bits=bits) if t.is_float else bits

    def to_bits(self, t, value):
        if t.elements:
            parts = [self.to_bits(e, v) for e, v in zip(t.elements, value)]
            return z3.simplify(z3.Concat(*reversed(parts))) if len(parts) > 1 else parts[0]
        return value.bits if t.is_float else value

    def constant(self, t, text):
        if t.elements:
            if text in ("zeroinitializer", "undef", "poison"):
                return [self.constant(e, text) for e in t.elements]
            inner = text[1:-1].strip() if text[0] in "<{" else text
            return [self.constant(Type(k), v) for k, v in map(typed, split(inner))]
        if text in ("undef", "poison"):
            bits = self.fresh(t.bits)
        elif t.is_float and text != "zeroinitializer":
            bits = z3.BitVecVal(float_bits(t.text, text), t.bits)
        else:
            words = {"true": 1, "false": 0, "zeroinitializer": 0}
            bits = z3.BitVecVal(words.get(text, 0) if text in words else int(text), t.bits)
        return Number(self, t.text, bits=bits) if t.is_float else bits

    def operand(self, t, text):
        if isinstance(t, str):
            t = Type(t)
        if text.startswith("%"):
            return self.values[text]
        if re.match(r"(bitcast|shufflevector|insertelement) \(", text):
            raise NotImplementedError(text)
        return self.constant(t, text)

    def map(self, t, function, *operands):
        """Applies a function to each element of vectors, or to scalars."""
        if t.elements:
            return [function(e, *x) for e, *x in zip(t.elements, *operands)]
        return function(t, *operands)

    def choose(self, t, condition, x, y):
        if t.elements:
            return [self.choose(e, condition, a, b) for e, a, b in zip(t.elements, x, y)]
        if t.is_float:
            return Number(self, t.text, bits=z3.If(condition, x.bits, y.bits))
        return z3.If(condition, x, y)

    # ---- Control ----

    def successors(self, block):
        last = block.lines[-1]
        return re.findall(r"label %([\w.$-]+)", last) if last.startswith(("br", "switch")) else []

    def order(self, blocks):
        """Returns the reachable blocks so that each follows all blocks that lead to it; fails for a loop."""
        order, state = [], {}

        def visit(name):
            stack = [(name, iter(self.successors(self.blocks[name])))]
            state[name] = 1
            while stack:
                at, rest = stack[-1]
                for after in rest:
                    if state.get(after) == 1:
                        raise NotImplementedError(f"a loop through block {after}")
                    if after not in state:
                        state[after] = 1
                        stack.append((after, iter(self.successors(self.blocks[after]))))
                        break
                else:
                    state[at] = 2
                    order.append(at)
                    stack.pop()

        visit(blocks[0].name)
        self.first = blocks[0].name
        return order[::-1]

    def run(self, name):
        into = {edge[0]: c for edge, c in self.edges.items() if edge[1] == name}
        reached = z3.BoolVal(True) if name == self.first else z3.simplify(some(*into.values()))
        self.reached = reached
        for line in self.blocks[name].lines:
            self.line(name, line, reached, into)

    def leave(self, name, to, condition):
        before = self.edges.get((name, to))
        condition = z3.simplify(condition)
        self.edges[name, to] = condition if before is None else z3.Or(before, condition)

    def line(self, name, line, reached, into):
        target, _, text = line.partition(" = ") if re.match(r"%[\w.$-]+ = ", line) else ("", "", line)
        word = text.split()[0]
        if word in ("tail", "musttail", "notail"):
            text, word = text.split(None, 1)[1], "call"
        if word == "br":
            labels = self.successors(self.blocks[name])
            if len(labels) == 1:
                return self.leave(name, labels[0], reached)
            taken = self.operand("i1", re.match(r"br i1 ([^,]+),", text)[1]) == 1
            self.leave(name, labels[0], z3.And(reached, taken))
            return self.leave(name, labels[1], z3.And(reached, z3.Not(taken)))
        if word == "switch":
            return self.switch(name, text, reached)
        if word == "ret":
            kind, value = typed(text[4:])
            return self.returns.append((reached, self.operand(kind, value)))
        if word == "unreachable":
            return self.traps.append(reached)
        if word == "call":
            return self.call(target, text, reached)
        if word == "store" and text.startswith("store volatile"):
            return None  # of a result that does not matter
        if word == "phi":
            return self.phi(target, text, into)
        self.values[target] = self.compute(word, text[len(word) :].strip())

    def switch(self, name, text, reached):
        head = re.match(r"switch (i\d+) ([^,]+), label %([\w.$-]+) \[(.*)\]", text)
        x, others = self.operand(head[1], head[2]), reached
        for value, label in re.findall(r"i\d+ (-?\d+), label %([\w.$-]+)", head[4]):
            taken = x == z3.BitVecVal(int(value), x.size())
            self.leave(name, label, z3.And(reached, taken))
            others = z3.And(others, z3.Not(taken))
        self.leave(name, head[3], others)

    def phi(self, target, text, into):
        kind, rest = typed(text[4:])
        t, value = Type(kind), None
        for x, block in re.findall(r"\[ (.+?), %([\w.$-]+) \]", rest):
            if block not in into:
                continue
            x = self.operand(t, x)
            value = x if value is None else self.choose(t, into[block], x, value)
        self.values[target] = value

    # ---- Instructions ----

    def violates(self, condition):
        self.traps.append(z3.And(self.reached, condition))

    def compute(self, word, text):
        text = re.sub(r"^((nsw|nuw|exact|nnan|ninf|nsz|arcp|contract|afn|reassoc|fast) )+", "", text)
        if word in OPERATIONS:
            kind, rest = typed(text)
            x, y = (self.operand(kind, v) for v in split(rest))
            return self.map(Type(kind), lambda t, a, b: z3.simplify(OPERATIONS[word](a, b)), x, y)
        if word in ("icmp", "fcmp"):
            how, rest = text.split(None, 1)
            kind, rest = typed(rest)
            x, y = (self.operand(kind, v) for v in split(rest))
            return self.map(Type(kind), lambda t, a, b: self.compare(word, how, a, b), x, y)
        if word in ("zext", "sext", "trunc", "bitcast", "fptosi", "fptoui", "sitofp", "uitofp", "fpext", "fptrunc"):
            before, to = text.rsplit(" to ", 1)
            kind, x = typed(before)
            return self.convert(word, Type(kind), Type(to), self.operand(kind, x))
        if word in ("fadd", "fsub", "fmul", "fdiv"):
            kind, rest = typed(text)
            x, y = (self.operand(kind, v) for v in split(rest))
            return self.map(Type(kind), lambda t, a, b: self.arithmetic(word, t, a, b), x, y)
        if word == "fneg":
            kind, x = typed(text)
            return self.map(Type(kind), self.negated, self.operand(kind, x))
        if word == "freeze":
            return self.operand(*typed(text))
        if word == "select":
            return self.select(text)
        return self.vectors(word, text)

    def negated(self, t, x):
        return Number(self, t.text, bits=x.bits ^ z3.BitVecVal(1 << (t.bits - 1), t.bits))

    def compare(self, word, how, x, y):
        if word == "icmp":
            result = COMPARISONS[how](x, y)
        else:
            unordered = z3.Or(z3.fpIsNaN(x.value), z3.fpIsNaN(y.value))
            plain = {
                "eq": z3.fpEQ,
                "gt": z3.fpGT,
                "ge": z3.fpGEQ,
                "lt": z3.fpLT,
                "le": z3.fpLEQ,
                "ne": lambda a, b: z3.And(z3.Not(unordered), z3.Not(z3.fpEQ(a, b))),
            }
            if how in ("ord", "uno"):
                result = unordered if how == "uno" else z3.Not(unordered)
            else:
                result = plain[how[1:]](x.value, y.value)
                result = z3.Or(unordered, result) if how[0] == "u" else result
        return z3.simplify(z3.If(result, z3.BitVecVal(1, 1), z3.BitVecVal(0, 1)))

    def arithmetic(self, word, t, x, y):
        function = {"fadd": z3.fpAdd, "fsub": z3.fpSub, "fmul": z3.fpMul, "fdiv": z3.fpDiv}[word]
        return Number(self, t.text, value=function(self.mode, x.value, y.value))

    def convert(self, word, before, to, x):
        if word == "bitcast":
            return self.from_bits(to, self.to_bits(before, x))
        if before.elements:
            return [self.convert(word, b, t, v) for b, t, v in zip(before.elements, to.elements, x)]
        if word == "zext":
            return z3.ZeroExt(to.bits - before.bits, x)
        if word == "sext":
            return z3.SignExt(to.bits - before.bits, x)
        if word == "trunc":
            return z3.simplify(z3.Extract(to.bits - 1, 0, x))
        if word in ("sitofp", "uitofp"):
            function = z3.fpSignedToFP if word == "sitofp" else z3.fpUnsignedToFP
            return Number(self, to.text, value=function(self.mode, x, SORTS[to.text]))
        if word in ("fpext", "fptrunc"):
            return Number(self, to.text, value=z3.fpFPToFP(self.mode, x.value, SORTS[to.text]))
        return self.truncated(word == "fptosi", to, x)

    def truncated(self, signed, to, x):
        least, greatest = (-(1 << to.bits - 1), 1 << to.bits - 1) if signed else (0, 1 << to.bits)
        sort, whole = SORTS[x.name], z3.fpRoundToIntegral(z3.RTZ(), x.value)
        within = z3.And(z3.fpGEQ(whole, z3.FPVal(float(least), sort)), z3.fpLT(whole, z3.FPVal(float(greatest), sort)))
        self.violates(z3.Not(within))
        to_integer = z3.fpToSBV if signed else z3.fpToUBV
        return to_integer(z3.RTZ(), x.value, z3.BitVecSort(to.bits))

    def select(self, text):
        (ckind, c), (kind, x), (_, y) = map(typed, split(text))
        t, c = Type(kind), self.operand(ckind, c)
        x, y = self.operand(kind, x), self.operand(kind, y)
        if isinstance(c, list):
            return [self.choose(e, k == 1, a, b) for e, k, a, b in zip(t.elements, c, x, y)]
        return self.choose(t, c == 1, x, y)

    def vectors(self, word, text):
        parts = split(text)
        if word == "extractelement":
            return self.operand(*typed(parts[0]))[int(typed(parts[1])[1])]
        if word == "insertelement":
            x = list(self.operand(*typed(parts[0])))
            x[int(typed(parts[2])[1])] = self.operand(*typed(parts[1]))
            return x
        if word == "extractvalue":
            return self.operand(*typed(parts[0]))[int(parts[1])]
        if word == "insertvalue":
            x = list(self.operand(*typed(parts[0])))
            x[int(parts[2])] = self.operand(*typed(parts[1]))
            return x
        if word == "shufflevector":
            (kind, x), (_, y), (mkind, mask) = map(typed, parts)
            t = Type(kind)
            both = list(self.operand(kind, x)) + list(self.operand(kind, y))
            where = self.constant(Type(mkind), mask)
            undefined = self.constant(t.elements[0], "undef")
            return [both[w.as_long()] if z3.is_bv_value(w) else undefined for w in where]
        raise NotImplementedError(f"{word} {text}")

    def call(self, target, text, reached):
        head = re.match(r"call (?:fast |nnan |ninf |nsz )*(.+?) @([\w.]+)\((.*)\)", text)
        if not head:
            raise NotImplementedError(text)
        result, name, arguments = head[1].split("(")[0].strip(), head[2], [typed(a) for a in split(head[3])]
        if name.startswith(("llvm.ubsantrap", "llvm.trap")):
            return self.traps.append(reached)
        if name.startswith(("llvm.lifetime", "llvm.assume", "llvm.prefetch", "llvm.experimental.noalias")):
            return None
        kinds = [k for k, _ in arguments]
        x = [self.operand(k, v) for k, v in arguments if k != "metadata"]
        base = re.sub(r"(\.(v\d+)?[if]\d+)+$", "", name)
        self.values[target] = self.intrinsic(
            base, Type(re.sub(r"^(noundef |zeroext |signext )+", "", result)), kinds, x
        )
        return None

    def intrinsic(self, base, t, kinds, x):
        choices = {
            "llvm.smax": lambda e, a, b: z3.If(a > b, a, b),
            "llvm.smin": lambda e, a, b: z3.If(a < b, a, b),
            "llvm.umax": lambda e, a, b: z3.If(z3.UGT(a, b), a, b),
            "llvm.umin": lambda e, a, b: z3.If(z3.ULT(a, b), a, b),
            "llvm.usub.sat": lambda e, a, b: z3.If(z3.UGT(a, b), a - b, z3.BitVecVal(0, e.bits)),
            "llvm.uadd.sat": lambda e, a, b: z3.If(z3.ULT(a + b, a), z3.BitVecVal(-1, e.bits), a + b),
        }
        if base in choices:
            return self.map(t, choices[base], x[0], x[1])
        if base == "llvm.ctlz":
            return self.map(t, lambda e, a: leading_zeros(a), x[0])
        if base == "llvm.cttz":
            return self.map(t, lambda e, a: trailing_zeros(a), x[0])
        if base == "llvm.abs":
            return self.map(t, lambda e, a: z3.If(a < 0, -a, a), x[0])
        if base in ("llvm.fshl", "llvm.fshr"):
            return self.map(t, lambda e, a, b, n: funnel(base, e.bits, a, b, n), *x)
        if base.endswith(".with.overflow"):
            return overflowing(base, x[0], x[1])
        if base == "llvm.fabs":
            return self.map(t, lambda e, a: Number(self, e.text, bits=a.bits & ((1 << e.bits - 1) - 1)), x[0])
        if base == "llvm.fma" or base in ("fma", "fmaf"):
            fused = lambda e, a, b, c: Number(self, e.text, value=z3.fpFMA(self.mode, a.value, b.value, c.value))  # noqa: E731
            return self.map(t, fused, *x)
        if base == "llvm.fmuladd":
            raise NotImplementedError("compile with -ffp-contract=off")
        if base.startswith("llvm.vector.reduce."):
            how = base.rsplit(".", 1)[1]
            value = x[0][0]
            for y in x[0][1:]:
                value = choices["llvm." + how](t, value, y) if "llvm." + how in choices else OPERATIONS[how](value, y)
            return value
        raise NotImplementedError(f"call of {base}")

    # ---- The claim ----

    def violations(self):
        """Returns the condition under which the function traps or returns false."""
        wrong = [z3.And(reached, value == 0) for reached, value in self.returns]
        return every(*self.facts, some(*self.traps, *wrong))


def float_bits(kind, text):
    import struct

    if text.startswith("0xH"):
        return int(text[3:], 16)
    value = struct.unpack(">d", int(text, 16).to_bytes(8, "big"))[0] if text.startswith("0x") else float(text)
    codes = {"half": ">e", "float": ">f", "double": ">d"}
    if value != value:
        return {"half": 0x7E00, "float": 0x7FC00000, "double": 0x7FF8 << 48}[kind]
    return int.from_bytes(struct.pack(codes[kind], value), "big")


def leading_zeros(x):
    bits = x.size()
    result = z3.BitVecVal(bits, bits)
    for i in range(bits):
        result = z3.If(z3.Extract(i, i, x) == 1, z3.BitVecVal(bits - 1 - i, bits), result)
    return result


def trailing_zeros(x):
    bits = x.size()
    result = z3.BitVecVal(bits, bits)
    for i in reversed(range(bits)):
        result = z3.If(z3.Extract(i, i, x) == 1, z3.BitVecVal(i, bits), result)
    return result


def funnel(base, bits, high, low, n):
    n = z3.ZeroExt(bits, z3.URem(n, z3.BitVecVal(bits, bits)))
    both = z3.Concat(high, low)
    if base == "llvm.fshl":
        return z3.Extract(2 * bits - 1, bits, both << n)
    return z3.Extract(bits - 1, 0, z3.LShR(both, n))


def overflowing(base, x, y):
    bits, signed = x.size(), ".s" in base
    extend = z3.SignExt if signed else z3.ZeroExt
    word = base.split(".")[1][1:]
    more = bits if word == "mul" else 1
    wide = OPERATIONS[word](extend(more, x), extend(more, y))
    kept = z3.Extract(bits - 1, 0, wide)
    overflow = z3.If(extend(more, kept) == wide, z3.BitVecVal(0, 1), z3.BitVecVal(1, 1))
    return [kept, overflow]
