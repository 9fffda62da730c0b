"""Whatever arguments a callable gets, it returns a result or raises a documented exception; the interpreter never
crashes."""

import subprocess
import sys
from pathlib import Path

import pytest

TIER = "check"
CHILD = Path(__file__).parent / "wrong_arguments.py"
GROUPS = ("softmma", "softmma.recipes", "extension")
MOST_BAD = 60
EVERY = 7  # the tier "check" runs one case of this number


def run(group, every=1):
    """Returns (number of cases called, list of failures). After a case that ended a child process, a new one continues
    with the next case."""
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
