#!/usr/bin/env python3
"""The experiment *cost*: the error of accumulators against their area (docs/cost.md).

Usage: experiment.py measure   adds the units that cost.csv does not have yet; Yosys takes five CPU minutes for all
       experiment.py write     writes docs/cost.md from cost.csv and docs/cost.in.md, and docs/cost.svg
       experiment.py check     status 2 if docs/cost.md is not what cost.csv and cost.in.md say

cost.csv has a line for each unit: its rule, its size by Yosys (the first line names the version), and the errors that
`softmma tolerance` measures and proves for K = 4096, as multiples of the median magnitude of the exact results.
"""

import csv
import json
import re
import sys
import tempfile
from pathlib import Path

import cost

ROOT = cost.HERE.parents[2]
TABLE = cost.HERE / "cost.csv"
SHAPE = "64x64x4096"
DATA = ("normal", "uniform")
RULE = ["algorithm", "format", "F", "L", "output", "rounding", "sticky_bit", "products"]
FIELDS = ["group", "unit", *RULE, "nand2", "depth"] + [f"{data}_{kind}" for data in DATA for kind in ("error", "bound")]
FP8_F = {4: (7, 10, 13, 16, 19, 25), 16: (7, 13, 19, 25)}
FP4_F = (7, 19, 35)
GPUS = {
    "V100": "V100:f16",
    "A100": "A100:f16",
    "H100": "H100:f16",
    "L40S, FP8": "L40S:e4m3",
    "H100, FP8": "H100:e4m3",
    "B200": "B200:e4m3",
}
# Changes of fp16.json, the unit with which the site's page of custom units begins.
FP16_CHOICES = (
    {"alignment_bits": 13},
    {"alignment_bits": 19},
    {"alignment_bits": 25},
    {"block": 8},
    {"block": 4},
    {"rounding": "nearest-even"},
    {"sticky_bit": True},
)
CHOICES = (
    {"rounding": "nearest-even"},
    {"F": 13, "output": "e8m13"},
    {"a": "e2m1", "b": "e2m1"},
    {"a": "e5m2", "b": "e5m2"},
    {"a": "bf16", "b": "bf16"},
    {"a": "f16", "b": "f16"},
)


def units():
    """Yields (group, name, rule) of every unit of the experiment."""
    fp8, fp4, fp16 = (cost.rule_of(target) for target in ("B200:e4m3", "B200:nvfp4", str(cost.HERE / "fp16.json")))
    for name, target in GPUS.items():
        gpu = cost.rule_of(target)
        changes = {"F": gpu["alignment_bits"], "L": gpu["block"], "output": gpu["output"]}
        yield "fp8-gpu", name, cost.change(fp8, changes)
    for length, widths in FP8_F.items():
        for bits in widths:
            yield "fp8", "", cost.change(fp8, {"F": bits, "L": length})
    for bits in FP4_F:
        yield "fp4", "B200" if bits == fp4["alignment_bits"] else "", cost.change(fp4, {"F": bits})
    for changes in CHOICES:
        yield "choice", "", cost.change(fp8, {"L": 4} | changes)
    yield "fp16", "", fp16
    for changes in FP16_CHOICES:
        yield "fp16", "", cost.change(fp16, changes)
    yield "fp16", "H100", cost.rule_of("H100:f16")


def errors(rule):
    """Returns the relative errors of products with K = 4096, and their bounds."""
    found = {}
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "rule.json"
        file.write_text(json.dumps(rule))
        for data in DATA:
            text = cost.run(
                cost.SOFTMMA, "tolerance", file, "--sweep", "k=4096", "--shape", SHAPE, "--data", data, "--json"
            )
            row = json.loads(text)["rows"][0]
            median = row["exact"]["50"]
            found[f"{data}_error"] = f"{row['error']['99'] / median:.3g}"
            found[f"{data}_bound"] = f"{row['bound'] / median:.3g}"
    return found


def describe(group, name, rule):
    length = rule["block"] if "group" not in rule else rule["k"] // rule["group"]
    return {
        "group": group,
        "unit": name,
        "algorithm": rule["algorithm"],
        "format": rule["a"],
        "F": str(rule["alignment_bits"]),
        "L": str(length),
        "output": rule.get("output", rule["d"]),
        "rounding": rule["rounding"],
        "sticky_bit": "yes" if rule.get("sticky_bit") else "no",
        "products": str(rule["k"]),
    }


def rule_key(row):
    return tuple(row[key] for key in RULE)


def read_table():
    """Returns Yosys' version and the lines of cost.csv."""
    if not TABLE.exists():
        return None, []
    first, *lines = TABLE.read_text().splitlines()
    return first.removeprefix("# "), list(csv.DictReader(lines))


def measured_units():
    """Returns Yosys' version, and (line, rule) of each measured unit. A unit that has two lines is listed once, with a
    GPU's name if one of the lines has a name."""
    version, rows = read_table()
    found = {}
    for group, name, rule in units():
        line = describe(group, name, rule)
        for row in rows:
            if all(row[key] == line[key] for key in line) and (name or rule_key(row) not in found):
                found[rule_key(row)] = row, rule
    return version, list(found.values())


def measure():
    version = cost.run("yosys", "-V").split(" (")[0]
    old_version, rows = read_table()
    if old_version not in (None, version):
        raise cost.CostError(f"cost.csv is from {old_version}, this is {version}: delete cost.csv to measure it again")
    sizes = {}
    for row in rows:
        sizes[rule_key(row)] = row
    for group, name, rule in units():
        line = describe(group, name, rule)
        if any(all(row[key] == line[key] for key in line) for row in rows):
            continue
        same = sizes.get(rule_key(line))
        if same:
            line = same | line
        else:
            size = cost.measure(rule)
            line |= {"nand2": f"{size.nand2:g}", "depth": str(size.depth)} | errors(rule)
            sizes[rule_key(line)] = line
        rows.append(line)
        with TABLE.open("w", newline="") as file:
            file.write(f"# {version}\n")
            table = csv.DictWriter(file, FIELDS, lineterminator="\n")
            table.writeheader()
            table.writerows(rows)
        print(*line.values(), flush=True)


def on_front(rows, quantity):
    """Returns the rows that no other row beats in both area and this error."""
    point = {id(row): (float(row["nand2"]) / int(row["products"]), float(row[quantity])) for row in rows}
    return [
        row
        for row in rows
        if not any(
            x <= point[id(row)][0] and y <= point[id(row)][1] and (x, y) != point[id(row)] for x, y in point.values()
        )
    ]


def number(text):
    return "0" if float(text) == 0 else f"{float(text):.1e}"


def area(row):
    return f"{float(row['nand2']) / int(row['products']):.0f}"


def error_table(rows):
    """Returns the rows, smallest area first, with their errors: those on the front in bold."""
    kinds = [f"{data}_{kind}" for data in DATA for kind in ("error", "bound")]
    fronts = {kind: [id(row) for row in on_front(rows, kind)] for kind in kinds}
    lines = [
        "| F | L | GPU | NAND2 a product | longest path | normal: 99 % | normal: bound | uniform: 99 % | uniform: bound |",
        "|--:|--:|---|--:|--:|--:|--:|--:|--:|",
    ]
    for row in sorted(rows, key=lambda row: float(row["nand2"]) / int(row["products"])):
        cells = [row["F"], row["L"], row["unit"], area(row), row["depth"]]
        cells += [f"**{number(row[kind])}**" if id(row) in fronts[kind] else number(row[kind]) for kind in kinds]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def distinct(rows):
    """Returns the rows without those that a GPU's row repeats."""
    named = {rule_key(row) for row in rows if row["unit"]}
    return [row for row in rows if row["unit"] or rule_key(row) not in named]


def needs_table(rows):
    """Makes the table of areas for the F that E4M3 needs, according to docs/claims.md. Each F is listed with the
    measured unit of L = 16 that has the least F at or above it."""
    claims = (ROOT / "docs/claims.md").read_text()
    table = re.search(r"\| E4M3, L = 16, K = (.*?)\n\n", claims, re.S)
    lengths, _, *lines = ([x.strip() for x in line.strip("|").split("|")] for line in table[0].strip().splitlines())
    sized = {int(row["F"]): row for row in rows if row["L"] == "16" and row["output"] == "f32"}
    out = [f"| NAND2 a product for K = | {' | '.join(lengths[1:])} |", "|---|" + "--:|" * len(lengths[1:])]
    for label, *widths in lines:
        fits = [min((bits for bits in sized if bits >= int(width)), default=None) for width in widths]
        cells = ["-" if bits is None else f"{area(sized[bits])} (F = {bits})" for bits in fits]
        out.append(f"| {label} | {' | '.join(cells)} |")
    return out


def name_of(row):
    """Returns a unit's parameters as words."""
    sticky = ", sticky bit" if row["sticky_bit"] == "yes" else ""
    return f"{row['format']}, F = {row['F']}, L = {row['L']}, {row['rounding']} to {row['output']}{sticky}"


def fp16_table(rows):
    kinds = [f"{data}_{kind}" for data in DATA for kind in ("error", "bound")]
    lines = [
        "| unit | NAND2 a product | longest path | normal: 99 % | normal: bound | uniform: 99 % | uniform: bound |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    for row in rows:
        name = f"{row['unit']}: {name_of(row)}" if row["unit"] else name_of(row)
        lines.append(f"| {name} | {area(row)} | {row['depth']} | {' | '.join(number(row[kind]) for kind in kinds)} |")
    return lines


def choice_table(rows):
    lines = ["| a, b | F | result between blocks | rounding | NAND2 | longest path |", "|---|--:|---|---|--:|--:|"]
    for row in rows:
        cells = (row["format"], row["F"], row["output"], row["rounding"], f"{float(row['nand2']):.0f}", row["depth"])
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def draw(rows, file):
    """Draws the errors over the area, by gnuplot."""
    of = {group: [row for row in rows if row["group"] == group] for group in ("fp8", "fp8-gpu", "fp4")}
    script = [
        "set terminal svg size 900,470 enhanced dynamic font 'sans-serif,13' background '#ffffff'",
        f"set output '{file}'",
        "set border 3 linecolor '#404040'; set tics nomirror out; set logscale y; set format y '10^{%L}'",
        "set grid linetype 1 linewidth 0.5 linecolor '#e0e0e0' dashtype solid",
        "set xlabel 'NAND2 equivalents a product'; set key outside top center horizontal maxcols 4 samplen 2 width -1",
    ]
    colours = {"4": "#0072B2", "16": "#D55E00"}

    def block(name, points):
        script.extend([f"${name} << END", *(" ".join(point) for point in points), "END"])

    def points(chosen, kind):
        return [(area(row), row[kind], f'"{row["unit"]}"') for row in chosen if float(row[kind]) > 0]

    for length in colours:
        chosen = [row for row in of["fp8"] if row["L"] == length]
        for kind in ("error", "bound"):
            block(f"{kind}{length}", points(chosen, f"normal_{kind}"))
    fp8 = of["fp8"] + of["fp8-gpu"]
    block("front", sorted(points(on_front(fp8, "normal_error"), "normal_error"), key=lambda point: float(point[0])))
    block("gpus", points(of["fp8-gpu"], "normal_error"))
    script.append("set multiplot layout 1,2\nset title 'E4M3'\nset ylabel 'error / median of exact results'")
    script.append(
        "plot $front using 1:2 with steps linewidth 6 linecolor '#d0d0d0' title 'front', "
        + ", ".join(
            f"$error{length} using 1:2 with linespoints linecolor '{colour}' pointtype 7 pointsize 0.6 title 'L = {length}', "
            f"$bound{length} using 1:2 with lines linecolor '{colour}' dashtype 3 notitle"
            for length, colour in colours.items()
        )
        + ", $gpus using 1:2 with points linecolor '#000000' pointtype 4 title 'GPUs', "
        "$gpus using 1:2:3 with labels rotate by 40 offset 0.3,0.8 left font ',11' notitle"
    )
    for data in DATA:
        for kind in ("error", "bound"):
            block(f"fp4{data}{kind}", points(of["fp4"], f"{data}_{kind}"))
    script.append("set title 'NVFP4'; unset ylabel")
    script.append(
        "plot "
        + ", ".join(
            f"$fp4{data}{kind} using 1:2 with linespoints linecolor '{colour}' pointtype 7 pointsize 0.6 "
            f"dashtype {1 if kind == 'error' else 3} title '{data}: {'99 %' if kind == 'error' else 'bound'}'"
            for data, colour in zip(DATA, ("#0072B2", "#D55E00"))
            for kind in ("error", "bound")
            if points(of["fp4"], f"{data}_{kind}")
        )
    )
    with tempfile.NamedTemporaryFile("w", suffix=".gp") as commands:
        commands.write("\n".join(script) + "\n")
        commands.flush()
        cost.run("gnuplot", commands.name)


def page(rows, version):
    """Returns the text of docs/cost.md."""
    of = {
        group: [row for row in rows if row["group"] == group] for group in ("fp8", "fp8-gpu", "fp4", "choice", "fp16")
    }
    base = [row for row in of["fp8"] if (row["F"], row["L"]) == ("25", "4")]
    tables = {
        "fp8": error_table(distinct(of["fp8"] + of["fp8-gpu"])),
        "fp4": error_table(of["fp4"]),
        "needs": needs_table(of["fp8"]),
        "choices": choice_table(base + of["choice"]),
        "fp16": fp16_table(of["fp16"]),
        "yosys": [version],
    }
    text = (ROOT / "docs/cost.in.md").read_text()
    return re.sub(r"@(\w+)@", lambda name: "\n".join(tables[name[1]]), text)


def main():
    command, docs = sys.argv[1:], ROOT / "docs"
    try:
        if command == ["measure"]:
            measure()
        elif command == ["write"]:
            version, rows = read_table()
            (docs / "cost.md").write_text(page(rows, version))
            draw(rows, docs / "cost.svg")
        elif command == ["check"]:
            version, rows = read_table()
            if (docs / "cost.md").read_text() != page(rows, version):
                raise cost.CostError(
                    "docs/cost.md is not what cost.csv and cost.in.md say; run scripts/regenerate cost"
                )
        else:
            raise cost.CostError("write measure, write or check; the head of the file explains them")
    except cost.CostError as error:
        print(f"experiment.py: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
