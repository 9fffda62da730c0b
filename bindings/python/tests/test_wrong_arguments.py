"""Whatever a callable is given, the outcome is a result or an exception that is documented: the interpreter goes on."""

import subprocess
import sys
from pathlib import Path

import pytest

TIER = "check"
CHILD = Path(__file__).parent / "wrong_arguments.py"
GROUPS = ("softmma", "softmma.recipes", "extension")
MOST_BAD = 60
EVERY = 7  # of so many cases one is of the tier "check"


def run(group, every=1):
    """(cases that were called, what is wrong with them); a child goes on behind the case that ended the one before."""
    wrong, count = [], 0
    while len(wrong) < MOST_BAD:
        done = subprocess.run(
            [sys.executable, CHILD, group, str(count), str(every)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            check=False,
        )
        *_, last = pieces = done.stdout.decode(errors="replace").split("\x1e")
        for piece in pieces[1:]:
            number, _, rest = piece.partition("\x1f")
            name, ended, said = rest.partition("\x1d")
            count, said = int(number) + 1, said.partition("\n")[0]
            if ended and said:
                wrong.append(f"{name.strip()}: {said}")
        if "\x1c" in last:
            return count, wrong
        if "\x1e" not in done.stdout.decode(errors="replace"):
            return count, [*wrong, done.stderr.decode(errors="replace")]
        wrong.append(f"{name.strip()}: the interpreter ended with {done.returncode}")
    return count, wrong


@pytest.mark.parametrize(
    ("group", "every"),
    [(group, EVERY) for group in GROUPS] + [pytest.param(group, 1, marks=pytest.mark.all) for group in GROUPS],
)
def test_wrong_arguments(group, every):
    count, wrong = run(group, every)
    assert not wrong, f"{len(wrong)} of {count}:\n" + "\n".join(wrong)
    assert count > 50
