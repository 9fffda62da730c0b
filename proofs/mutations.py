#!/usr/bin/env python3
"""The changes of mutations.txt, which make a lemma false. As a program it checks that each of them can be applied, and
that the C sources of the proofs agree with the types of the code that they are about."""

import re
import subprocess
import sys
from pathlib import Path

here = Path(__file__).resolve().parent
source = here.parent / "src"


def mutations():
    """Returns the mutations: lemma, file, original, replacement."""
    text = (here / "mutations.txt").read_text()
    return re.findall(r"^lemma: (\w+)\nfile: (\S+)\noriginal: (.+)\nreplacement: (.+)$", text, re.M)


def mutated(file, original, replacement):
    """Returns the changed text of a file of src. Ends the program if the original does not stand there once."""
    code = (source / file).read_text()
    if code.count(original) != 1:
        sys.exit(f"proofs/mutations.txt: '{original}' stands {code.count(original)} times in {file}, not once")
    return code.replace(original, replacement)


if __name__ == "__main__":
    for _, *change in mutations():
        mutated(*change)
    print(f"{len(mutations())} changes can be applied")
    folders = [f"-I{folder}" for folder in (source, here.parent / "include", here)]
    for file in sorted(here.glob("*.c")):
        subprocess.run(["cc", "-fsyntax-only", "-w", "-Werror=int-conversion", *folders, file], check=True)
