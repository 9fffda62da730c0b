#!/usr/bin/env python3
"""Checks seven properties of the source. Folders include and call only what docs/architecture.md allows. Neither headers
nor Python modules form a cycle. Files do not call each other in a circle, apart from those listed here. No one-line
helper is defined in three files. No two files define one function. Only a command's own file ends the program. Binary
files are only vectors, matrices and weights.

Usage: layers.py [SOURCE [BUILD]]; without BUILD, links are not checked. A public function may be called from any
folder below the folder that defines it.
"""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()
build = Path(sys.argv[2]).resolve() if len(sys.argv) > 2 else None
KINDS = {".c", ".h", ".def", ".inc", ".cu", ".hip"}
failures = []


def table():
    """Returns folder -> the folders that it may use, from the table of layers. A folder may name only those above it.
    """
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
    """Returns the files of the repository that a file includes."""
    for name in re.findall(r'^\s*#\s*include\s+"([^"]+)"', file.read_text(), re.M):
        for folder in (file.parent, root / "src", root / "include"):
            if (folder / name).is_file():
                yield (folder / name).resolve()


def folder_of(file):
    return file.relative_to(root).parts[1]


def circle(graph):
    """Returns files that include each other, or None."""
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


def symbols(objects):
    """Returns, for each folder, the set of symbols that its objects define and the set that they need."""
    found = {}
    text = subprocess.run(["nm", "--print-file-name", *objects], capture_output=True, text=True, check=True).stdout
    for path, kind, name in re.findall(r"^(.*):[ \da-f]* (\w) (\S+)$", text, re.M):
        defined, needed = found.setdefault(path.split("/src/")[-1].split("/")[0], (set(), set()))
        if kind == "U":
            needed.add(name)
        elif kind.isupper():
            defined.add(name)
    return found


def check_twice(objects):
    """Notes functions that two files define. If these are in two archives, the linker silently uses the first one."""
    of_program = [o for o in objects if re.search(r"softmma_(objects|study|cli)\.dir", str(o))]
    text = subprocess.run(["nm", "--print-file-name", *of_program], capture_output=True, text=True, check=True).stdout
    files_of = {}
    for path, name in re.findall(r"^(.*):[ \da-f]* T (\S+)$", text, re.M):
        files_of.setdefault(name, []).append(path.split(".dir/")[-1].removesuffix(".o"))
    for name, where in files_of.items():
        if len(where) > 1:
            failures.append(f"{name} is defined in {', '.join(where)}")


# Files that call each other, each named by one of them: registries and what they list, and three pieces of work.
CALLING_EACH_OTHER = {
    "src/cli/cmd_version.c": "a command reads its options with the help of the list of commands",
    "src/probe/probe.c": "the list of probes",
    "src/experiment/experiment.c": "the list of experiments",
    "src/gemm/run.c": "a product on a device first checks the device with a product on the CPU",
    "src/matrix/tensor.c": "a tensor owns its stored form, which is made of tensors",
    "src/numerics/operand.c": "elements and factors of one operand",
}


def check_circles_of_calls(objects):
    """Notes files of the program that call each other and are not in CALLING_EACH_OTHER."""
    home, calls = {}, {}
    text = subprocess.run(["nm", "--print-file-name", *objects], capture_output=True, text=True, check=True).stdout
    found = re.findall(r"^(.*):[ \da-f]* (\w) (\S+)$", text, re.M)
    file_of = {path: path.split(".dir/")[-1].removesuffix(".o") for path, _, _ in found}
    home = {name: file_of[path] for path, kind, name in found if kind.isupper() and kind != "U"}
    for path, kind, name in found:
        if kind == "U" and home.get(name, file_of[path]) != file_of[path]:
            calls.setdefault(file_of[path], set()).add(home[name])
    known = set()
    for file in CALLING_EACH_OTHER:
        together = {other for other in reached(file, calls) if file in reached(other, calls)}
        if not together:
            failures.append(f"tests/layers.py: {file} is in no circle of calls any more; remove it")
        known |= {file, *together}
    rest = {file: [other for other in others if other not in known] for file, others in calls.items()
            if file not in known}
    if found := circle(rest):
        failures.append("a circle of calls: " + " -> ".join(found))


def reached(file, calls):
    """Returns the files that a file calls, directly or through others."""
    seen, open_files = set(), [file]
    while open_files:
        for other in calls.get(open_files.pop(), ()):
            if other not in seen:
                seen.add(other)
                open_files.append(other)
    return seen


def check_links():
    """Notes symbols that a folder uses from a folder that it may not use; returns the number of objects and of symbols.
    """
    objects = [o for o in sorted(build.glob("CMakeFiles/*.dir/src/**/*.o"))
               if (root / str(o).split(".dir/")[-1].removesuffix(".o")).is_file()]  # its source still exists
    check_twice(objects)
    check_circles_of_calls([o for o in objects if re.search(r"softmma_(objects|study|cli)\.dir", str(o))])
    public = set((root / "tests/abi.txt").read_text().split())
    order, found = list(allowed), symbols(objects)
    home = {name: folder for folder, (defined, _) in found.items() for name in defined}
    for folder, (defined, needed) in found.items():
        for name in sorted(needed - defined):
            other = home.get(name, folder)
            may = order.index(other) < order.index(folder) if name in public else other in allowed[folder]
            if not may:
                failures.append(f"{folder} calls {name} of {other}: docs/architecture.md does not let it")
    return len(objects), sum(len(needed) for _, needed in found.values())


def imported(file, names):
    """Yields the modules of the package that a module imports, at its top or within functions."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in names)
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield full if full in names or alias.name == "_core" else node.module


def check_modules():
    package = root / "bindings/python"
    names = {}
    for file in sorted((package / "softmma").rglob("*.py")):
        names[".".join(file.relative_to(package).with_suffix("").parts).removesuffix(".__init__")] = file
    of_modules = {name: [x for x in imported(file, names) if x in names] for name, file in names.items()}
    if found := circle(of_modules):
        failures.append("a circle: " + " -> ".join(found))
    return len(names)


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
def check_helpers():
    """Notes one-line functions that three files define. Files of gemm/simd are not checked, because each instruction
    set has its own functions there.
    """
    files_of = {}
    for file in (f for f in files if f.parent.name != "simd"):
        for helper in re.findall(r"^static [^=;\n]*\) \{ return .*\}$", file.read_text(), re.M):
            files_of.setdefault(helper, []).append(str(file.relative_to(root)))
    for helper, where in files_of.items():
        if len(where) > 2:
            failures.append(f"{helper} stands in {', '.join(where)}: src/host may have it once")


def check_ends():
    """Notes functions that end the program and are called outside cmd_*.c; cli.c and cli.h define them. Child processes
    of src/unit end with _exit. The programs of bench end as they like, but not by the command's functions.
    """
    checked = 0
    for file in (f for part in ("src", "bench") for f in sorted((root / part).rglob("*.[ch]"))):
        if file.name.startswith("cmd_") or file.relative_to(root).as_posix() in ("src/cli/cli.c", "src/cli/cli.h"):
            continue
        checked += 1
        ends = r"smma_die\w*|smma_require"
        if (root / "src") in file.parents:
            ends += "|exit|abort" if folder_of(file) == "unit" else "|_?exit|abort"
        code = re.sub(r'/\*.*?\*/|"(?:[^"\\\n]|\\.)*"', "", file.read_text(), flags=re.S)
        for name in sorted(set(re.findall(rf"(?<![\w>.])({ends})\s*\(", code))):
            failures.append(f"{file.relative_to(root)} calls {name}, which ends the program: only src/cli/cmd_*.c may; "
                            "return whether it succeeded, and fill an smma_error")
    return checked


def check_binary_files():
    """Notes binary files that a commit must not have, such as data of a profiler. Builds are not searched."""
    searched = 0
    for folder, folders, names in os.walk(root):
        folders[:] = [f for f in folders if not f.startswith(("build", ".", "__pycache__"))]
        for file in (Path(folder, name) for name in names):
            if file.suffix in {".bin", ".npy", ".safetensors", ".so"} or not file.is_file():
                continue
            searched += 1
            if b"\0" in file.read_bytes():
                failures.append(f"{file.relative_to(root)} is a binary file: it does not belong to the source")
    return searched


modules = check_modules()
check_helpers()
if check_binary_files() < 1000:
    failures.append("fewer than 1,000 files were searched for binary data")
objects, links = check_links() if build else (0, 0)
if check_ends() < 300:
    failures.append("fewer than 300 files of src and bench were searched for ends of the program")

for failure in failures:
    print("FAILED ", failure)
print(f"{len(files)} files, {sum(map(len, graph.values()))} includes, {objects} objects, {links} links, "
      f"{modules} modules of Python, {len(failures)} failures")
sys.exit(len(files) < 200 or modules < 30 or (build is not None and objects < 200) or bool(failures))
