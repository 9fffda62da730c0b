"""sbom.py VERSION TIME FOLDER: writes FOLDER/softmma-VERSION.spdx.json, a bill of materials (SPDX 2.3) of the released
files in FOLDER: what each is, its digest, what was put into it that is not ours, and what it needs. TIME, in seconds, is
the release's. The document is validated before it is written."""

import hashlib
import sys
import zipfile
from datetime import datetime, timezone
from pathlib import Path

import tomllib
from spdx_tools.common.spdx_licensing import spdx_licensing
from spdx_tools.spdx.model import (
    Actor,
    ActorType,
    Checksum,
    ChecksumAlgorithm,
    CreationInfo,
    Document,
    Package,
    Relationship,
    RelationshipType,
    SpdxNoAssertion,
)
from spdx_tools.spdx.validation.document_validator import validate_full_spdx_document
from spdx_tools.spdx.writer.write_anything import write_file

ROOT = Path(__file__).parent.parent
OURS = "Apache-2.0"
# What is not ours, its licence; which released files have it inside, or need it. What Python needs pyproject.toml says.
LICENCES = {
    "libgomp": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "libwinpthread": "MIT",
    "ml_dtypes": "Apache-2.0",
    "numpy": "BSD-3-Clause",
    "popt": "MIT",
}
INSIDE = {".whl": ["libgomp", "popt"]}
LINKED = {"popt"}  # no file of its own
NEEDS = {
    "softmma_": ["popt", "libgomp"],
    "libsoftmma1": ["libgomp"],
    "windows": ["libgomp", "libwinpthread"],
}


def python_needs() -> list[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return [requirement.split(">")[0] for requirement in project["dependencies"]]


def package(name: str, licence: str, **more) -> Package:
    spdx_id = "SPDXRef-" + "".join(c if c.isalnum() else "-" for c in name)
    parsed = spdx_licensing.parse(licence)
    return Package(
        spdx_id,
        name,
        SpdxNoAssertion(),
        files_analyzed=False,
        license_declared=parsed,
        license_concluded=parsed,
        copyright_text=SpdxNoAssertion(),
        **more,
    )


def inside(path: Path) -> list[str]:
    """What is not ours in a released file, of which its own list of files must say the same."""
    names = INSIDE.get(path.suffix, [])
    if path.suffix == ".whl":
        listed = zipfile.ZipFile(path).namelist()
        found = [name.split("/")[1].split("-")[0] for name in listed if name.startswith("softmma.libs/lib")]
        if sorted(found) != sorted(set(names) - LINKED):
            sys.exit(f"sbom: {path.name} has {found} inside, packaging/sbom.py says {names}")
    return names


def needs(path: Path) -> list[str]:
    if path.suffix == ".whl":
        return python_needs()
    return [need for part, list_of in NEEDS.items() if part in path.name for need in list_of]


def main(version: str, time: str, folder: Path) -> None:
    files = sorted(path for path in folder.iterdir() if path.suffix in (".whl", ".gz", ".deb"))
    parts = {name: package(name, LICENCES[name]) for path in files for name in inside(path) + needs(path)}
    document, packages, relationships = "SPDXRef-DOCUMENT", list(parts.values()), []
    for path in files:
        digest = Checksum(ChecksumAlgorithm.SHA256, hashlib.sha256(path.read_bytes()).hexdigest())
        ours = package(path.name, OURS, version=version, file_name=path.name, checksums=[digest])
        packages.append(ours)
        relationships.append(Relationship(document, RelationshipType.DESCRIBES, ours.spdx_id))
        for kind, names in ((RelationshipType.CONTAINS, inside(path)), (RelationshipType.DEPENDS_ON, needs(path))):
            relationships += [Relationship(ours.spdx_id, kind, parts[name].spdx_id) for name in names]
    everything = hashlib.sha256("".join(p.checksums[0].value for p in packages if p.checksums).encode()).hexdigest()
    info = CreationInfo(
        "SPDX-2.3",
        document,
        f"softmma-{version}",
        f"urn:softmma:{version}:{everything[:32]}",
        [Actor(ActorType.ORGANIZATION, "The SoftMMA authors")],
        datetime.fromtimestamp(int(time), timezone.utc).replace(tzinfo=None),
    )
    bill = Document(info, packages=packages, relationships=relationships)
    for message in validate_full_spdx_document(bill):
        sys.exit(f"sbom: {message.validation_message}")
    out = folder / f"softmma-{version}.spdx.json"
    write_file(bill, str(out), validate=False)
    print(f"{out.name}: {len(files)} files, {len(parts)} parts that are not ours")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
