"""softmma.facts() conforms to its schema, and keeps the names that earlier versions had."""

import json
import re

import pytest

import softmma
from conftest import REPOSITORY

TIER = "check"
SCHEMA = json.loads((REPOSITORY / "docs/facts.schema.json").read_text())
RECORDED = REPOSITORY / "tests/vectors/recorded"
TYPES = {"object": dict, "array": list, "string": str, "integer": int, "number": float, "null": type(None)}
KEYWORDS = {"type", "required", "properties", "additionalProperties", "items", "const", "pattern"}
KEYWORDS |= {"minimum", "minItems", "minLength", "description", "title", "$schema", "$defs"}


def conforms(x, schema, where="facts"):
    """Checks the keywords of JSON Schema that docs/facts.schema.json uses; jsonschema is not everywhere."""
    if "$ref" in schema:
        return conforms(x, SCHEMA["$defs"][schema["$ref"].removeprefix("#/$defs/")], where)
    assert schema.keys() <= KEYWORDS, where
    kinds = [schema["type"]] if isinstance(schema.get("type"), str) else schema.get("type")
    assert kinds is None or (type(x) in [TYPES[kind] for kind in kinds]), where
    assert "const" not in schema or x == schema["const"], where
    if isinstance(x, dict):
        assert set(schema.get("required", ())) <= x.keys(), where
        known = schema.get("properties", {})
        for key, value in x.items():
            conforms(value, known.get(key, schema.get("additionalProperties", {})), f"{where}.{key}")
    if isinstance(x, list):
        assert len(x) >= schema.get("minItems", 0), where
        for n, value in enumerate(x):
            conforms(value, schema.get("items", {}), f"{where}[{n}]")
    if isinstance(x, str):
        assert len(x) >= schema.get("minLength", 0) and re.search(schema.get("pattern", ""), x), where
    if isinstance(x, int):
        assert x >= schema.get("minimum", x), where


@pytest.fixture(scope="module")
def facts():
    return softmma.facts()


def test_schema(facts):
    conforms(facts, SCHEMA)
    with pytest.raises(AssertionError, match=r"facts\.rules\[0\]"):
        conforms({**facts, "rules": [{"id": "volta_f32"}]}, SCHEMA)


def test_schema_by_jsonschema(facts):
    pytest.importorskip("jsonschema").validate(facts, SCHEMA)


def test_names_are_unique_and_found(facts):
    names = {kind: [x["id"] for x in facts[kind]] for kind in ("architectures", "rules", "instructions", "recordings")}
    for kind, ids in names.items():
        assert len(set(ids)) == len(ids), kind
    assert {i["arch"] for i in facts["instructions"]} == set(names["architectures"])
    assert {i["rule"] for i in facts["instructions"]} == set(names["rules"])
    assert {r["instruction"] for r in facts["recordings"]} <= set(names["instructions"])
    formats = {f["name"] for f in facts["formats"]}
    assert all({i["a"], i["b"], i["c"], i["d"]} <= formats for i in facts["instructions"])
    for i in facts["instructions"][::50]:
        found = softmma.instruction(i["id"]).value
        assert found["id"] == i["id"] and found["rule"] == i["rule"]


def test_rules_keep_their_names(facts):
    """Publications cite rules by name. So every rule in tests/rule_ids.txt (the list of version 1.0.0) still exists;
    new rules may be added."""
    kept = (REPOSITORY / "tests/rule_ids.txt").read_text().split()
    assert set(kept) <= {rule["id"] for rule in facts["rules"]}


def test_recordings_are_the_files(facts):
    files = {path.relative_to(RECORDED).with_suffix("").as_posix(): path for path in RECORDED.rglob("*.txt")}
    assert {r["id"] for r in facts["recordings"]} == set(files)
    for r in facts["recordings"]:
        text = files[r["id"]].read_text()
        assert r["vectors"] == len(re.findall("^[0-9a-f]", text, re.M)), r["id"]
        assert f"recorded on: {r['recorded_on']}" in text or r["recorded_on"].endswith("..."), r["id"]
