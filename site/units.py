"""Writes pages of GPUs, architectures and instructions, of differences between rules, and of recordings. The text for
architectures is docs/units, written by scripts/unit-pages."""

import html
import json
import re
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor

from shell import SITE, TOP, relative, run, softmma, table, unit_pages
from table import Table

NAME = r"`([^`]+)` of ([\w-]+)"
GPUS, AGREEMENT = "gpus.html", "agreement.html"
RECORDED = "tests/vectors/recorded"
SEARCHED = ("formats", "other names")  # the facts of an instruction that the search finds
DRAWN = re.compile("^```\n(.*?)^```\n", re.MULTILINE | re.DOTALL)  # trees and explanations in docs/units


def file_name(name):
    return re.sub(r"[^\w.-]+", "-", name)


def short(name):
    """Returns a name without N for wgmma and tcgen05, which exist for every N."""
    return re.sub("n[0-9]+k", "nNk", name) if re.match("wgmma|tcgen05", name) else name


def code(text):
    return f"<code>{html.escape(text)}</code>"


def findings(text):
    """Converts the findings of probes, paragraphs and a table in docs/units, to HTML."""
    parts = []
    for part in html.escape(text).split("\n\n"):
        rows = [line.strip("| ").split(" | ") for line in part.splitlines() if line.startswith("| ")]
        parts.append(table(rows[0], rows[1:]) if rows else f"<p>{part}</p>")
    return "\n".join(parts)


def heat(head, lines, caption=""):
    caption = f"<caption>{caption}</caption>\n" if caption else ""
    body = "\n".join(lines)
    return f'<div class="scroll"><table class="agreement">{caption}<tr><td></td>{head}</tr>\n{body}\n</table></div>'


# ---- Rows that distinguish rules ----


def row_of(text, block):
    """Reads a row in the form that unit-pages writes, and returns {"a": {k: hex}, ...}. `block` elements share a scale
    factor."""
    row = {"a": {}, "b": {}, "c": {}, "scale_a": {}, "scale_b": {}}
    for term in text.split("; "):
        if term.startswith("c = "):
            row["c"][0] = term.removeprefix("c = ")
            continue
        k, a, b, scale_a, scale_b = re.fullmatch(r"(\d+): (\w+) x (\w+)(?: \(x (\w+) x (\w+)\))?", term).groups()
        row["a"][int(k)], row["b"][int(k)] = a, b
        if scale_a:
            row["scale_a"][int(k) // block], row["scale_b"][int(k) // block] = scale_a, scale_b
    return row


def list_of(elements, otherwise):
    words = [elements.get(n, otherwise) for n in range(max(elements, default=-1) + 1)]
    runs = []
    for word in words:
        word = word if word == "-" else f"{int(word, 16):x}"
        if runs and runs[-1][0] == word:
            runs[-1][1] += 1
        else:
            runs.append([word, 1])
    return ",".join(word if times == 1 else f"{word}*{times}" for word, times in runs)


def address(units, row):
    """Returns the part of the explorer's address that selects two instructions and the operands of a test vector."""
    words = [f"on={units[0][0]},{units[1][0]}", f"instr={units[0][1]},{units[1][1]}"]
    words += [
        f"{name}={list_of(elements, '-' if 'scale' in name else '0')}" for name, elements in row.items() if elements
    ]
    return "&".join(words)


class Units:
    def __init__(self, site, book, explorer):
        self.site, self.book = site, book
        self.catalogue = unit_pages.asked("list")
        self.gpus = unit_pages.asked("list", "--gpus")
        self.names_of = {}  # names of an architecture's instructions
        for i in self.catalogue:
            self.names_of.setdefault(i["arch"], set()).add(i["name"])
        self.names = {gpu["name"]: {i["name"] for i in unit_pages.asked("list", gpu["name"])} for gpu in self.gpus}
        self.arches = list(dict.fromkeys(i["arch"] for i in self.catalogue))
        self.found = {arch: unit_pages.rules([i for i in self.catalogue if i["arch"] == arch]) for arch in self.arches}
        self.instruction = {(i["arch"], i["name"]): i for i in self.catalogue}
        self.rule = {
            (i["arch"], i["name"]): (arch, n)
            for arch in self.arches
            for n, rule in enumerate(self.found[arch], 1)
            for i in rule
        }
        formats = {f["name"]: f for f in unit_pages.asked("list", "--formats")}
        self.fraction = {name: f["fraction_bits"] for name, f in formats.items()}
        self.least = {name: 1 - f["bias"] - f["fraction_bits"] for name, f in formats.items() if f["bias"] is not None}
        self.title = {}
        self.one, self.probes, self.equal, self.unknown, self.apart = {}, {}, {}, {}, {}
        for arch in self.arches:
            self.read(arch)
        self.ask(explorer)

    # ---- The content of docs/units ----

    def read(self, arch):
        rule, text = None, (TOP / "docs" / "units" / f"{arch}.md").read_text()
        for part in text.split("\n## Rule ")[1:]:
            number, found = part.split("\n", 1)[0], re.search(r"\n```\n\n(.*?)\n\n### Compared with", part, re.S)
            if found:
                self.probes[arch, int(number)] = found[1]
        proved = False
        for line in text.splitlines():
            if proved and (found := re.fullmatch(r"- ([\w-]+): (.*)", line)):
                self.equal[rule] += [(found[1], name) for name in re.findall(r"`([^`]+)`", found[2])]
                continue
            proved = proved and not line
            if line.startswith("# "):
                self.title[arch] = line[2:]
            elif found := re.fullmatch(r"## Rule (\d+)", line):
                rule = (arch, int(found[1]))
            elif found := re.fullmatch(r"### Behaviour of `(.*)`", line):
                self.one[rule] = found[1]
            elif unit_pages.PROVED_EQUAL in line:
                self.equal.setdefault(rule, [])
                proved = True
            elif line.startswith(unit_pages.UNDECIDED):
                self.unknown[rule] = [(where, name) for name, where in re.findall(NAME, line)]
            elif rule and (found := re.fullmatch(rf"\| {NAME} \| (.*) \| (.*c = \w+) \| (\w+) \| (\w+) \|", line)):
                name, where, why, row, here, there = found.groups()
                self.apart.setdefault(rule, []).append(
                    {"other": (where, name), "why": why, "text": row, "d": (here, there), "address": None}
                )

    def ask(self, explorer):
        """Lets the explorer compute the vectors on which two rules differ. Its results must be those in docs/units."""
        asked = []
        for (arch, _), differing in ((rule, found) for rule, found in self.apart.items()):
            for found in differing:
                one = (arch, self.one[self.rule_of_differing(arch, found)])
                block = max(self.block(one), self.block(found["other"]))
                found["units"] = [one, found["other"]]
                found["row"] = row_of(found["text"], block)
                asked.append(found)
        questions = json.dumps([{"units": found["units"], "row": found["row"]} for found in asked])
        answers = json.loads(run("node", SITE / "ask.js", SITE / "softmma.js", explorer, input=questions))
        for found, answer in zip(asked, answers, strict=True):
            if "error" in answer:
                continue
            if [int(d, 16) for d in answer["results"]] != [int(d, 16) for d in found["d"]]:
                sys.exit(
                    f"site: docs/units says {found['d']} of {found['text']} on {found['units']}: {answer['results']}"
                )
            found["address"] = address(found["units"], found["row"])

    def rule_of_differing(self, arch, found):
        return next(
            rule for rule, differing in self.apart.items() if rule[0] == arch and any(x is found for x in differing)
        )

    def block(self, unit):
        """Returns the number of elements that share a scale factor."""
        name = self.instruction[unit]["name"]
        found = re.search(r"block(\d+)", name)
        return int(found[1]) if found else 1

    # ---- Architectures ----

    def text(self, arch, page):
        """Returns the page's Markdown, with links from rows to the explorer."""
        rule, lines, source = None, [], f"docs/units/{arch}.md"
        for line in self.book.linked((TOP / source).read_text(), source, page).splitlines():
            if found := re.fullmatch(r"## Rule (\d+)", line):
                rule, left = (arch, int(found[1])), list(self.apart.get((arch, int(found[1])), []))
            elif rule and left and line.startswith("| `") and left[0]["text"] in line:
                differing = left.pop(0)
                if differing["address"]:
                    line = line.replace(
                        differing["text"], f"[{differing['text']}](../index.html#{differing['address']})", 1
                    )
            lines.append(line)
        return "\n".join(lines) + "\n"

    def architectures(self):
        self.book.chapter("GPUs and other machines")
        for arch in self.arches:
            page = f"units/{arch}.html"
            text = re.sub(  # folds the tree, the probes and the comparisons of each rule
                r"^(### .*?\n)(.*?)(?=^##|\Z)",
                r"<details>\n<summary>\n\n\1\n</summary>\n\2\n</details>\n\n",
                self.text(arch, page),
                flags=re.MULTILINE | re.DOTALL,
            )
            text = DRAWN.sub(lambda found: self.book.unindexed(f"<pre>{html.escape(found[1])}</pre>") + "\n", text)
            first, compared, last = (
                self.book.unindexed(part(arch)) for part in (self.own_lines, self.compared, self.instruction_lists)
            )
            first = f"## How it adds\n\n{first}\n\n## Compared with other GPUs\n\n{compared}\n\n## Rules\n\n|"
            text = text.replace("\n|", f"\n{first}", 1) + f"## Instructions\n\n{last}\n"
            self.book.add(page, text, current=GPUS)
            for name, i, n in self.listed(arch):
                self.instruction_page(arch, name, i, n)

    # Each of these functions limits itself to the instructions of the GPU `gpu`, if it is given: an extension of a CPU
    # has only some of its architecture.

    def own_lines(self, arch, gpu=None):
        """Returns the architecture's lines of the table of all GPUs."""
        lines = [line for line in self.table.lines if line["architecture"] == arch]
        if gpu and not self.has_all(gpu, arch):
            lines = [own for own in (self.line_of(gpu, line) for line in lines) if own]
        return self.table.html(lines, "../", skip="gpus")

    def line_of(self, gpu, line):
        """Returns a line of the table with the GPU's instructions alone, or None if the GPU has none of the line's."""
        own = {}
        for i in self.catalogue:
            pair = i["a"] if i["a"] == i["b"] else f"{i['a']},{i['b']}"
            same = all(i[key] == line[key] for key in ("model", "parameters", "d")) and pair in line["inputs"]
            if i["arch"] == line["architecture"] and same and self.has(gpu, i["name"]):
                own.setdefault(pair, i)
        if not own:
            return None
        first = next(iter(own.values()))
        changed = {"instruction": first["name"], "basis": first["basis"], "evidence": first["evidence"]}
        return line | changed | {"gpus": [gpu], "inputs": list(own)}

    def instruction_lists(self, arch, gpu=None):
        """Returns links to all instructions, folded by formats."""
        groups = {}
        for name, first, n in self.listed(arch):
            if not self.has(gpu, first["name"]):
                continue
            groups.setdefault(unit_pages.formats(first), []).append((name, n))
        return "".join(
            f"<details><summary>{html.escape(formats)}: {len(found)}</summary>\n"
            + "".join(f'<a class="item" href="{self.place((arch, name))}">{code(name)}</a>\n' for name, _ in found)
            + "</details>\n"
            for formats, found in groups.items()
        )

    def has(self, gpu, instruction):
        return gpu is None or instruction in self.names[gpu]

    def has_all(self, gpu, arch):
        """Reports whether a GPU has all instructions of its architecture. An extension of a CPU does not."""
        return self.names_of[arch] <= self.names[gpu]

    def listed(self, arch):
        """Returns (short name, an instruction, number of its rule), in the catalogue's order."""
        names = {}
        for i in self.catalogue:
            if i["arch"] == arch:
                names.setdefault(short(i["name"]), i)
        return [(name, i, self.rule[arch, i["name"]][1]) for name, i in names.items()]

    @staticmethod
    def place(unit, start="../"):
        return f"{start}instructions/{unit[0]}/{file_name(short(unit[1]))}.html"

    # ---- GPUs ----

    def gpu_pages(self):
        rows = []
        for arch in self.arches:
            names = [gpu["name"] for gpu in self.gpus if gpu["arch"] == arch]
            links = ", ".join(f'<a href="gpus/{file_name(name)}.html">{html.escape(name)}</a>' for name in names)
            rows.append((f'<a href="units/{arch}.html">{html.escape(self.title[arch])}</a>', links or code(arch)))
            for name in names:
                self.gpu_page(name, arch, names)
        body = "<p class=lead>How each GPU adds, the evidence, what probes find, the smallest vectors on which it differs from "
        body += 'others, and <a href="recordings.html">the results recorded on hardware</a>.</p>\n'
        cards = "".join(f'<article class="card"><h2>{title}</h2><p>{names}</p></article>\n' for title, names in rows)
        self.site.article(GPUS, "GPUs and other machines", f'{body}<div class="cards">\n{cards}</div>', GPUS, wide=True)

    def gpu_page(self, name, arch, names):
        page = f"gpus/{file_name(name)}.html"
        own = [r for r in self.recordings if self.recorded_on(r, name, arch)]
        body = f'<p><a href="../units/{arch}.html">{html.escape(self.title[arch])}</a>; '
        body += f'<code>--on "{html.escape(name)}"</code>. '
        body += f'<a href="../index.html#on={name.replace(" ", "+")}">Try it in the explorer</a>.</p>\n'
        body += (
            f"<h2>How it adds</h2>\n{self.own_lines(arch, name)}\n"
            f"<h2>Compared with other GPUs</h2>\n{self.compared(arch, name)}"
        )
        if own:
            body += f"<h2>Recorded on it</h2>\n{self.recording_table(own, page)}\n"
        else:
            body += "<h2>Recorded on it</h2>\n<p>This repository has no vectors that were recorded on it.</p>\n"
        body += f"<h2>Instructions</h2>\n{self.instruction_lists(arch, name)}"
        others = ", ".join(
            f'<a href="{file_name(other)}.html">{html.escape(other)}</a>' for other in names if other != name
        )
        if others:
            body += f"<h2>Of the same architecture</h2>\n<p>{others}</p>\n"
        self.site.article(page, name, body, GPUS, wide=True)

    def recorded_on(self, recording, name, arch):
        """Reports whether vectors were recorded on the GPU or, for an extension of a CPU, are of its instructions."""
        on = recording["on"].lower()
        if not self.has_all(name, arch):
            return any(unit[0] == arch and self.has(name, unit[1]) for unit in recording["units"])
        return on.startswith(name.lower()) or f"({name.lower()}" in on

    # ---- Instructions ----

    @staticmethod
    def key(i):
        """Returns the properties of an instruction that determine its tree."""
        return json.dumps([i["model"], i["parameters"], i["k"], *(i[part] for part in unit_pages.FORMATS)])

    def ask_models(self):
        """Computes the tree of every distinct function of the instructions."""
        firsts = {}
        for i in self.catalogue:
            if not unit_pages.is_sparse(i):
                firsts.setdefault(self.key(i), i)

        def answer(i):
            tree = softmma("tree", "--on", i["arch"], "--instr", i["name"], statuses=(0, 2))
            return "\n".join(tree.splitlines()[1:-1]) or tree  # a single line gives the reason why there is no tree

        with ThreadPoolExecutor() as pool:
            self.trees = dict(zip(firsts, pool.map(answer, firsts.values()), strict=True))

    def instruction_page(self, arch, name, i, n):
        page = self.place((arch, name), "")
        root = "../../"
        parameters = html.escape(unit_pages.parameters(i))
        sized = "" if name == i["name"] else " for every N"
        facts = [
            ("architecture", f'<a href="{root}units/{arch}.html">{html.escape(self.title[arch])}</a>'),
            ("formats", html.escape(unit_pages.formats(i))),
            ("shape", f"{i['m']} x {'N' if sized else i['n']} x {i['k']} (M x N x K){sized}"),
            (
                "model",
                f'<a href="{root}docs/algorithms/{unit_pages.page_of_model(i)}.html">{i["model"]}</a> {parameters}',
            ),
            (
                "rule",
                f'<a href="{root}units/{arch}.html#rule-{n}">{n} of {arch}</a>, with vectors on which it differs from others',
            ),
        ]
        facts += [("basis", i["basis"])]
        for what, texts in (("evidence", i["evidence"]), ("open questions", i["questions"])):
            if texts:
                facts.append((what, "<ul>" + "".join(f"<li>{html.escape(text)}</li>" for text in texts) + "</ul>"))
        if i["aliases"]:
            facts.append(("other names", ", ".join(map(code, i["aliases"]))))
        rows = ""
        for what, said in facts:
            row = f"<tr><th scope=row>{what}</th><td>{said}</td></tr>\n"
            rows += row if what in SEARCHED else self.book.unindexed(row)
        state = f"on={arch}&amp;instr={html.escape(i['name'])}"
        body = f'<p><a href="{root}index.html#{state}">Try it in the explorer</a></p>\n'
        own = [
            r
            for r in self.recordings
            if r["units"] and any(unit[0] == arch and short(unit[1]) == name for unit in r["units"])
        ]
        body += "<h2>Recordings</h2>\n"
        body += (
            self.recording_table(own, page) if own else "<p>This repository has no vectors of this instruction.</p>\n"
        )
        if unit_pages.is_sparse(i):
            body += "<p>The dense rule on the products that the metadata selects "
            body += f'(<a href="{root}docs/sparse.html">sparse</a>).</p>\n'
        else:
            tree = html.escape(self.trees[self.key(i)].strip())
            body += f"<h2>Reduction order</h2>\n<pre>{tree}</pre>\n"
            if (arch, n) in self.probes:
                asked = f"<p>Measured on {code(self.one[arch, n])}, which has the same rule{self.other_k(i, arch, n)}.</p>\n"
                body += f"<h2>What probes find</h2>\n{asked}{findings(self.probes[arch, n])}\n"
        text = f'# {name}\n\n<div class="scroll"><table class="lines">\n{rows}</table></div>\n\n{self.book.unindexed(body)}\n'
        self.book.add(page, text, 1, GPUS)

    def other_k(self, i, arch, n):
        k = self.instruction[arch, self.one[arch, n]]["k"]
        return "" if k == i["k"] else f", with K = {k} where this one has {i['k']}"

    # ---- Agreement ----

    def name(self, arch):
        """Returns the first GPU that has all instructions of the architecture, otherwise the architecture."""
        gpus = (gpu["name"] for gpu in self.gpus if gpu["arch"] == arch)
        return next((gpu for gpu in gpus if self.has_all(gpu, arch)), arch)

    def name_of_rule(self, rule):
        """Returns the first GPU that has the rule's instruction, otherwise the architecture."""
        gpus = (gpu["name"] for gpu in self.gpus if gpu["arch"] == rule[0])
        return next((gpu for gpu in gpus if self.has(gpu, self.one[rule])), rule[0])

    def groups(self):
        """Returns the dense rules by the formats that they take."""
        found = {}
        for rule, name in self.one.items():
            found.setdefault(unit_pages.formats(self.instruction[rule[0], name]), []).append(rule)
        return found

    def same_rule(self, unit, other):
        """Reports whether an instruction belongs to the other rule, or computes the same function as the instruction
        that represents it."""
        one, two = self.instruction[unit], self.instruction[other[0], self.one[other]]
        return all(one[key] == two[key] for key in ("arch", "model", "parameters", *unit_pages.FORMATS))

    def same_function(self, rule, other):
        one, two = (self.instruction[r[0], self.one[r]] for r in (rule, other))
        return one["model"] == two["model"] and one["parameters"] == two["parameters"]

    def relation(self, rule, other):
        """Returns "=" if the rules are known to compute the same function, "?" if that is not known, or the smallest
        vector on which they differ. Returns "" if they were not compared."""
        if rule == other or any(self.same_rule(unit, other) for unit in self.equal.get(rule, [])):
            return "="
        for found in self.apart.get(rule, []):
            if self.same_rule(found["other"], other):
                return found
        if any(self.same_rule(unit, other) for unit in self.unknown.get(rule, [])):
            return "?"
        return "=" if self.same_function(rule, other) else ""

    def vector(self, rule, found, root=""):
        """Returns the address of the smallest vector on which two rules differ."""
        place = f"index.html#{found['address']}" if found["address"] else f"units/{rule[0]}.html#rule-{rule[1]}"
        return html.escape(root + place)

    def label(self, rule, rules):
        """Returns a rule's GPU, with the instruction's kind if the GPU has several rules for the formats."""
        several = sum(other[0] == rule[0] for other in rules) > 1
        return self.name_of_rule(rule) + (f" {short(self.one[rule])}" if several else "")

    def labels(self, some, rules):
        """Returns the names of some of the rules for the same formats, each with an example instruction. If all rules
        of a GPU are among them, only the GPU is named."""
        found = {}
        for rule in some:
            own = [other for other in rules if other[0] == rule[0]]
            whole = len(own) > 1 and all(other in some for other in own)
            found.setdefault(self.name(rule[0]) if whole else self.label(rule, rules), rule)
        return found

    def compared(self, arch, gpu=None):
        """Returns sentences that compare the architecture's rules with those of other GPUs."""
        lines, integers = [], []
        for formats, rules in self.groups().items():
            for rule in (r for r in rules if r[0] == arch and self.has(gpu, self.one[r])):
                others = {other: self.relation(rule, other) for other in rules if other[0] != arch}
                same, unknown = (
                    ", ".join(
                        map(html.escape, self.labels([other for other in others if others[other] in kinds], rules))
                    )
                    for kinds in (("=",), ("?", ""))
                )
                apart = self.labels([other for other in others if isinstance(others[other], dict)], rules)
                apart = [
                    f'<a href="{self.vector(rule, others[other], "../")}">{html.escape(name)}</a>'
                    for name, other in apart.items()
                ]
                words = [f"identical to {same}"] * bool(same) + [f"differs from {', '.join(apart)}"] * bool(apart)
                words += [f"not known for {unknown}"] * bool(unknown)
                if words:
                    text = f"<b>{html.escape(formats)}</b> (<code>{html.escape(short(self.one[rule]))}</code>): "
                    kind = integers if formats.endswith("-> s32") else lines
                    kind.append(f"<li>{text}{'; '.join(words)}.</li>\n")
        if not lines + integers:
            return "<p>No other GPU has these formats.</p>"
        folded = (
            f"<details><summary>Integers</summary>\n<ul>\n{''.join(integers)}</ul>\n</details>\n" if integers else ""
        )
        lead = (
            "<p>Identical: proved for every input. Differs: the link opens the smallest input with other results.</p>\n"
        )
        return f"{lead}<ul>\n{''.join(lines)}</ul>\n{folded}"

    def clusters(self, rules):
        """Returns a sentence that names the groups of rules which compute the same function, and the rules that differ
        from all other rules."""
        left, same = list(rules), []
        while left:
            cluster = [rule for rule in left if self.relation(left[0], rule) == "="]
            left = [rule for rule in left if rule not in cluster]
            settled = all(isinstance(self.relation(cluster[0], rule), dict) for rule in rules if rule not in cluster)
            same.append((list(self.labels(cluster, rules)), settled))
        parts = [" = ".join(map(html.escape, names)) for names, _ in same if len(names) > 1]
        for settled, words in (
            (True, ("differs from all others", "differ from all others")),
            (False, ("not known",) * 2),
        ):
            alone = [html.escape(names[0]) for names, known in same if len(names) == 1 and known == settled]
            parts += [f"{', '.join(alone)} {words[len(alone) > 1]}"] * bool(alone)
        return "; ".join(parts)

    def agreement(self):
        groups = {formats: rules for formats, rules in self.groups().items() if len(rules) > 1}
        parts = [
            f"<details><summary><b>{html.escape(formats)}</b>: {self.clusters(rules)}</summary>\n{self.matrix(rules)}</details>"
            for formats, rules in groups.items()
        ]
        lead = (
            '<p class="lead">Do two GPUs return identical results? The map counts the pairs of input and output formats '
            "that both have and for which the first instruction of each computes the same function: 3/4 stands for three of "
            "four. A cell opens the smallest vector on which the two differ.</p>\n"
        )
        second = (
            "<h2>By formats</h2>\n<p><b>=</b>: identical for every input (proved). <b>&ne;</b>: different; the link opens "
            "the smallest example. <b>?</b>: not known. A rule for several formats is listed under the first of them "
            "alone.</p>\n"
        )
        body = lead + self.overview(groups) + second + "\n".join(parts)
        self.site.article(AGREEMENT, "Agreement", body, AGREEMENT, wide=True)

    def overview(self, groups):
        """Returns the map of all GPUs: for how many formats two GPUs agree."""
        head = "".join(f'<th scope="col"><span>{html.escape(self.name(arch))}</span></th>' for arch in self.arches)
        lines = []
        for arch in self.arches:
            cells = "".join(self.shared(groups, arch, other) for other in self.arches)
            link = f'<a href="units/{arch}.html">{html.escape(self.name(arch))}</a>'
            lines.append(f'<tr><th scope="row">{link}</th>{cells}</tr>')
        return heat(head, lines, "Formats on which two GPUs agree")

    def shared(self, groups, arch, other):
        """Returns the table cell for two GPUs. For each pair of formats, it compares the first rule of each GPU."""
        same = of = unknown = 0
        vector = None
        for rules in groups.values():
            mine, theirs = (next((rule for rule in rules if rule[0] == one), None) for one in (arch, other))
            if arch == other or not (mine and theirs):
                continue
            found = self.relation(mine, theirs)
            of += 1
            same += found == "="
            unknown += found in ("?", "")
            if isinstance(found, dict) and not vector:
                vector = self.vector(mine, found)
        if not of:
            return "<td></td>"
        text = f"{same}/{of}"
        label = f"{self.name(arch)} and {self.name(other)} agree for {same} of {of} pairs of formats"
        label += f"; not known for {unknown}" * bool(unknown)
        if vector:
            text = f'<a href="{vector}" aria-label="{html.escape(label)}">{text}</a>'
        return f'<td style="--level: {round(100 * same / of)}%" title="{html.escape(label)}">{text}</td>'

    def matrix(self, rules):
        head = "".join(f'<th scope="col"><span>{html.escape(self.label(rule, rules))}</span></th>' for rule in rules)
        lines = []
        for rule in rules:
            cells = "".join(self.cell(rule, other) for other in rules)
            link = f'<a href="units/{rule[0]}.html#rule-{rule[1]}">{html.escape(self.label(rule, rules))}</a>'
            lines.append(f'<tr><th scope="row">{link}</th>{cells}</tr>')
        return heat(head, lines)

    def cell(self, rule, other):
        if rule == other:
            return "<td></td>"
        found = self.relation(rule, other)
        if isinstance(found, dict):
            label = html.escape(f"{self.name_of_rule(rule)} and {self.name_of_rule(other)} differ in {found['why']}")
            link = f'<a href="{self.vector(rule, found)}" aria-label="{label}">&ne;</a>'
            return f'<td style="--level: 0%" title="{label}">{link}</td>'
        meaning = {"=": "identical, proved", "?": "neither proved equal nor found different", "": ""}[found]
        level = ' style="--level: 100%"' if found == "=" else ""
        return f'<td{level} title="{meaning}">{found}</td>'

    # ---- Recordings ----

    def read_recordings(self):
        self.recordings = []
        for path in sorted((TOP / RECORDED).rglob("*.txt")):
            lines = path.read_text().splitlines()
            header = dict(
                re.findall(r"^# ([\w ]+): (.*)$", "\n".join(line for line in lines if line.startswith("#")), re.M)
            )
            shown = softmma("show", "--on", header["arch"], header["instruction"], "--json", statuses=(0, 1, 2))
            unit = (header["arch"], json.loads(shown)["name"]) if shown.startswith("{") else None
            rows = sum(1 for line in lines if line.strip() and not line.startswith("#"))
            self.recordings.append(
                {
                    "path": path.relative_to(TOP),
                    "on": header.get("recorded on", ""),
                    "instruction": header["instruction"],
                    "arch": header["arch"],
                    "units": [unit] if unit else [],
                    "rows": rows,
                }
            )

    def recording_table(self, recordings, page):
        rows = []
        for r in recordings:
            target = relative(f"recordings/{r['path'].relative_to(RECORDED)}", page)
            unit = r["units"][0] if r["units"] else None
            name = code(r["instruction"])
            if unit:
                name = f'<a href="{relative(self.place(unit, ""), page)}">{name}</a>'
            rows.append(
                (f'<a href="{target}" download>{r["path"].name}</a>', html.escape(r["on"]), name, str(r["rows"]))
            )
        return table(("file", "recorded on", "instruction", "rows"), rows)

    def recording_pages(self):
        page = "recordings.html"
        for source in (TOP / RECORDED).rglob("*"):
            if source.is_file():
                target = self.site.folder / "recordings" / source.relative_to(TOP / RECORDED)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, target)
        body = (
            '<p>Rows that hardware has computed, as <a href="docs/vector-files.html">vector files</a>: drop one onto '
            'the <a href="index.html">explorer</a>, or check it with <code>softmma verify FILE</code>. The models give '
            "every result of these. Rows of NVIDIA's GPUs are by F. A. Khattak and M. Mikaitis: their "
            '<a href="recordings/gpu/README.md">origin</a> and <a href="recordings/gpu/LICENSE">licence</a>; '
            '<a href="recordings/b200/README.md">those of tcgen05</a> by the San Francisco Tensor Company '
            '(<a href="recordings/b200/LICENSE">licence</a>); <a href="recordings/h100/README.md">those of all of an '
            'H100</a> by this project; <a href="recordings/rdna/README.md">those of RDNA</a> by AMD and B. Jacob '
            '(<a href="recordings/rdna/LICENSE">licence</a>).</p>\n'
        )
        self.site.article(page, "Recorded on hardware", body + self.recording_table(self.recordings, page), GPUS)

    def write(self):
        self.table = Table(self)
        self.table.write(self.site)
        self.read_recordings()
        self.ask_models()
        self.architectures()
        self.gpu_pages()
        self.agreement()
        self.recording_pages()
