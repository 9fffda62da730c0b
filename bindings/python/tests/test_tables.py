"""The tables of documentation that are written by hand agree with the catalogue, in both directions."""

import itertools
import re

import pytest

import softmma
from conftest import REPOSITORY

TIER = "check"
FUSED = {"T-FDPA", "ST-FDPA", "GST-FDPA", "FP8-by-FP16"}
BASES = ["recorded", "emulated", "reported", "assumed"]
TITLES = {  # the catalogue's titles of architectures that a table of docs/ gives another name
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
    formats = {f["name"] for f in softmma.facts()["formats"]}
    stated = set()
    for architectures, inputs, model, length, f, *outputs in table("algorithms/README.md", header):
        names = re.sub(r"`[a-z0-9]*`|\(K = \d+\)|, K = 64", "", architectures).split(",")
        titles = [title for name in names for title in TITLES.get(name.strip(), [name.strip()])]
        words = re.findall(r"[a-z0-9-]+", inputs.replace("e3m4", "e3m4-nan").partition(" with ")[0])
        lengths = re.findall(r"\d+(?! groups)", length.replace("m8n8k4", ""))
        for d, rho, e_zero in (("f32", *outputs[:2]), ("f16", *outputs[2:])):
            for title, factor, size in itertools.product(titles, formats.intersection(words), lengths):
                if rho != "-" and (factor, d) != ("bf16", "f16"):  # the page says that bf16 has no FP16 output
                    scaled = "scale factor" in inputs
                    stated.add((title, model, factor, scaled, d, int(f), rho, int(e_zero), int(size)))
    k_of = {}
    for i in instructions:
        if i["model"] in FUSED:
            p = i["parameters"]
            for factor in (i["a"], i["b"]):
                rule = i["title"], i["model"], factor, bool(i["scale"]), i["d"], p["F"], p["rho"], p["e_zero"]
                k_of[(*rule, p.get("L", p.get("G")))] = i["k"]
    assert stated <= k_of.keys()
    for row in k_of.keys() - stated:  # as the page says, an instruction with K < L is a single block of K products
        assert row[-1] == k_of[row] and any(row[:-1] == s[:-1] and row[-1] < s[-1] for s in stated), row


def test_architectures(instructions):
    """docs/architectures.md has each architecture's models with their fraction bits and strongest basis.

    Rows whose model is a link are not compared: the catalogue calls these models compositions.
    """
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
