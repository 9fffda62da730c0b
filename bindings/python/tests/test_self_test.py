"""softmma.self_test returns the results of the command that the package contains."""

import json
import subprocess
import sys

import softmma_command

import softmma

TIER = "check"


def test_self_test(command):
    done = softmma.self_test()
    assert done and not done.differences and str(done) == done.text
    report = json.loads(command("self-test", "--json"))
    assert list(done.kernels) == report["kernels"] and done.kernels[-1] == "core"
    for name in ("operations", "outputs", "recordings", "rows"):
        assert getattr(done, name) == report[name] > 50
    assert not done._replace(differences=("one",)) and str(done._replace(differences=("one",))).startswith("one\n")


def started(*arguments, prelude="pass"):
    """Runs the package's command in a process of its own."""
    program = f"import softmma_command, sys; {prelude}; softmma_command.main()"
    return subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False)


def test_the_package_brings_the_command(command):
    both = [json.loads(text) for text in (started("version", "--json").stdout, command("version", "--json"))]
    for about in both:
        for name in "mpi", "devices":  # the modules of devices need not be installed next to both
            about.pop(name)
    assert both[0] == both[1]
    assert started("list", "X").returncode == 2  # the program's own status
    missing = started("version", prelude="softmma_command.PROGRAM = softmma_command.PROGRAM / 'missing'")
    assert missing.returncode == 2 and missing.stderr.startswith(
        "softmma: this installation has the Python package only"
    )
    assert (
        "numpy"
        not in subprocess.run(
            [sys.executable, "-c", "import softmma_command, sys; print(*sys.modules)"], capture_output=True, text=True, check=False
        ).stdout.split()
    )
    assert softmma_command.PROGRAM.parent.name == "softmma"
