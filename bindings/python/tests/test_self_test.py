"""softmma.self_test returns the results of the command."""

import json

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
