#!/usr/bin/env python3
"""What folders include is what docs/architecture.md says, and headers do not include each other in a circle.

Usage: layers.py [SOURCE]
"""

import re
import sys
from pathlib import Path

root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()
KINDS = {".c", ".h", ".def", ".inc", ".cu", ".hip"}
failures = []


def table():
    """Folder -> those it may use, out of the table of layers; a folder may only name those above it."""
    allowed = {}
    section = (root / "docs/architecture.md").read_text().split("\n## Layers\n")[1].split("\n## ")[0]
    for path, uses in re.findall(r"^\| `([\w/]+)/` \| .* \| ?(.*?) ?\|$", section, re.M):
        name = path.split("/")[-1]
        if not (root / path).is_dir():
            failures.append(f"docs/architecture.md has {path}/, which is not there")
        named = list(allowed) if uses.startswith("all") else uses.split(", ") if uses else []
        for other in named:
            if other not in allowed:
                failures.append(f"docs/architecture.md: {name} may use {other}, which does not stand above it")
        allowed[name] = {name, *named}
    return allowed


def included(file):
    """The files of the repository that a file includes."""
    for name in re.findall(r'^\s*#\s*include\s+"([^"]+)"', file.read_text(), re.M):
        for folder in (file.parent, root / "src", root / "include"):
            if (folder / name).is_file():
                yield (folder / name).resolve()


def folder_of(file):
    return file.relative_to(root).parts[1]


def circle(graph):
    """Files that include each other, or None."""
    done = set()

    def walk(file, path):
        if file in path:
            return path[path.index(file) :] + [file]
        if file in done:
            return None
        for other in graph.get(file, []):
            if found := walk(other, path + [file]):
                return found
        done.add(file)
        return None

    return next((found for file in graph if (found := walk(file, []))), None)


allowed = table()
files = [f for part in ("include", "src") for f in sorted((root / part).rglob("*")) if f.suffix in KINDS]
graph = {file: list(included(file)) for file in files}

for folder in sorted({folder_of(file) for file in files} - set(allowed)):
    failures.append(f"docs/architecture.md has no row for {folder}/")
for file, others in graph.items():
    for other in others:
        if folder_of(other) not in allowed.get(folder_of(file), set()):
            failures.append(f"{file.relative_to(root)} includes {other.relative_to(root)}: "
                            f"docs/architecture.md does not let {folder_of(file)} use {folder_of(other)}")
for file in (f for f in files if folder_of(f) == "core"):
    for name in re.findall(r'#\s*include\s+(<.*>|"softmma/.*")', file.read_text()):
        if name not in ("<stdint.h>", "<stdbool.h>", '"softmma/number.h"'):
            failures.append(f"{file.relative_to(root)} includes {name}: the core needs no library")
if found := circle(graph):
    failures.append("a circle: " + " -> ".join(str(f.relative_to(root)) for f in found))

for failure in failures:
    print("FAILED ", failure)
print(f"{len(files)} files, {sum(map(len, graph.values()))} includes, {len(failures)} failures")
sys.exit(len(files) < 200 or bool(failures))
