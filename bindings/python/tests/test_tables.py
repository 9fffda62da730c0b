"""The tables of documentation that are written by hand agree with the catalogue, in both directions."""

import re

import pytest

import softmma
from conftest import REPOSITORY

TIER = "check"
FUSED = {"T-FDPA", "ST-FDPA", "GST-FDPA", "FP8-by-FP16"}
BASES = ["recorded", "emulated", "reported", "assumed"]
TITLES = {  # architectures that a table of docs/ calls otherwise than the catalogue does, or names in one row
    "Ada": ["Ada Lovelace"],
    "Apple": ["AMX of M1", "AMX of M2 to M4"],
    "Arm": ["AArch64"],
    "Power": ["Power10"],
    "RDNA 3, 3.5": ["RDNA 3"],
    "RISC-V": ["Zvbdota"],
    "Wormhole, Blackhole": ["Wormhole", "Blackhole"],
    "x86": ["AVX and AMX"],
    "x86, ACE": ["ACE"],
}


@pytest.fixture(scope="module")
def instructions():
    titles = {a["id"]: a["title"] for a in softmma.facts()["architectures"]}
    return [i.value | {"title": titles[i.value["arch"]]} for i in softmma.instructions()]


def table(page, header):
    """Returns the cells of each row of the table with this header."""
    lines = (REPOSITORY / "docs" / page).read_text().partition(f"\n{header}\n")[2].splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[1 : lines.index("")]]
    assert rows, header
    return rows


def test_fused_rules_of_nvidia(instructions):
    """docs/algorithms/README.md has the parameters of each fused rule of NVIDIA."""
    header = "| architecture | inputs | algorithm | L | F | ρ, FP32 | e_zero, FP32 | ρ, FP16 | e_zero, FP16 |"
    stated, formats = set(), {f["name"] for f in softmma.facts()["formats"]}
    for architectures, inputs, model, length, f, *outputs in table("algorithms/README.md", header):
        scaled = "scale factor" in inputs
        inputs = inputs.replace("e3m4", "e3m4-nan").partition(" with ")[0]
        for name in re.sub(r"`[a-z0-9]*`|\(K = \d+\)|, K = 64", "", architectures).split(","):
            for title in TITLES.get(name.strip(), [name.strip()]):
                for d, (rho, e_zero) in {"f32": outputs[:2], "f16": outputs[2:]}.items():
                    for a in set(re.findall(r"[a-z0-9-]+", inputs)) & formats if rho != "-" else ():
                        if (a, d) == ("bf16", "f16"):  # which the page says no unit has
                            continue
                        stated |= {
                            (title, model, a, scaled, int(size), int(f), rho, int(e_zero), d)
                            for size in re.findall(r"\d+(?! groups)", length.replace("m8n8k4", ""))
                        }
    known = set()
    for i in instructions:
        if i["model"] in FUSED:
            p = i["parameters"]
            size = p.get("L", p.get("G"))
            for a in (i["a"], i["b"]):
                known.add((i["title"], i["model"], a, bool(i["scale"]), size, p["F"], p["rho"], p["e_zero"], i["d"]))
    # An instruction whose K is below L is one block of K products.
    short = {row for row in known if row[0] == "RTX Blackwell" and row[4] == 16 and re.match("e[45]m", row[2])}
    assert {(*row[:4], 32, *row[5:]) for row in short} <= stated
    assert known - short == stated


def test_architectures(instructions):
    """docs/architectures.md has each architecture's models with their fraction bits and strongest basis. Rows that
    link to an algorithm that is a composition of steps are not compared."""
    stated, title = {}, None
    for architecture, _, _, model, basis in table(
        "architectures.md", "| architecture | GPUs | A and B | model | basis |"
    ):
        title = architecture or title
        name, _, bits = model.partition(", ")
        for each in TITLES.get(title, [title]) if not model.startswith("[") else ():
            key = each, name.removesuffix(" (exact)"), int(bits.split()[0]) if bits else None
            stated[key] = min(stated.get(key, 9), BASES.index(basis.partition(",")[0]))
    known = {}
    for i in instructions:
        key = i["title"], i["model"], i["parameters"].get("F")
        key = key if key in stated else (*key[:2], None)  # not every row says how many bits
        known[key] = min(known.get(key, 9), BASES.index(i["basis"]))
    models = {model for _, model, _ in stated}
    assert {key: basis for key, basis in known.items() if key[1] in models} == stated
