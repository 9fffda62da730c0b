"""Numbers are read and written with a decimal point, whatever locale the program has set."""

import os
import shutil
import subprocess
import sys

import pytest

TIER = "check"

PROGRAM = """
import locale, sys
if len(sys.argv) > 1:
    locale.setlocale(locale.LC_ALL, "de_DE.UTF-8")
    assert locale.localeconv()["decimal_point"] == ",", locale.localeconv()
import numpy as np, softmma
e = softmma.explain([0.3, 0.7], [1.1, -2.5], 0.125, on=("A100", "H100"), in_dtype="f16")
print(e.text, e.difference, e._repr_svg_(), repr(e))
a, b = np.arange(64).reshape(8, 8) * 0.3, np.arange(64).reshape(8, 8) * 0.7 - 1.1
print(softmma.compare(a, b, ["V100", "H100"]), softmma.trace(a, b, at=(1, 2), on="H100", in_dtype="f16"))
t = softmma.tolerance(on="H100", in_dtype="f16", shape=(8, 8, 32), data="zeros=0.25", margin=1.5)
print(t, t.value)
try:
    softmma.tolerance(a, b, on="H100", margin=0.25)
except ValueError as error:
    print(error)
print(softmma.matmul(a, b, on="H100", in_dtype="f16", alpha=0.5))
print(softmma.round(0.3, "e4m3"), softmma.find("H100", "wgmma.m64n8k16.f32.f16.f16"))
assert len(sys.argv) == 1 or locale.format_string("%.1f", 0.5) == "0,5"
"""


def test_decimal_comma(tmp_path):
    if not shutil.which("localedef"):
        pytest.skip("localedef is not there: numbers were NOT printed in a locale with a decimal comma")
    make = ["localedef", "-i", "de_DE", "-f", "UTF-8", tmp_path / "de_DE.UTF-8"]
    made = subprocess.run(make, capture_output=True, check=False)
    if made.returncode:
        pytest.skip("localedef has no de_DE: numbers were NOT printed in a locale with a decimal comma")
    environment = dict(os.environ, LOCPATH=str(tmp_path))
    environment.pop("LC_ALL", None)
    point, comma = (
        subprocess.run(
            [sys.executable, "-c", PROGRAM, *more], env=environment, capture_output=True, text=True, check=False
        )
        for more in ([], ["comma"])
    )
    assert point.returncode == 0 == comma.returncode, point.stderr + comma.stderr
    assert point.stdout == comma.stdout
