"""Makes the table of all GPUs and formats: what `softmma show` and `softmma probe` say of each kind of sum, as a page and
as files for other programs."""

import csv
import html
import io
import json
import re
from concurrent.futures import ThreadPoolExecutor

from shell import softmma, unit_pages

PAGE = "table.html"
# The columns of the table. Each has the key of its values in a line, its heading, and its meaning.
COLUMNS = (
    ("gpus", "GPU", "the names of the GPUs and other machines"),
    ("inputs", "A and B", "formats of A and B"),
    ("d", "D", "format of the result"),
    ("products", "Products at once", "products that one sum adds before it is rounded"),
    ("bits", "Bits retained", "fraction bits that alignment retains below the greatest exponent"),
    ("alignment", "Alignment", "how alignment rounds the bits below"),
    ("rounding", "Result", "how the sum is rounded to the result"),
    ("subnormals", "Subnormals", "what becomes of subnormal elements of A and B"),
    ("c_joins", "C joins", "where the accumulator joins the sum"),
    ("order", "Order matters", "whether the order of the products within one sum can change the result"),
    (
        "basis",
        "Basis",
        "the best evidence for the model: recorded results, an emulator, agreement that others report, or an assumption",
    ),
)
FEATURES = {
    "products": "first_sum",
    "bits": "alignment_bits",
    "alignment": "alignment_rounding",
    "rounding": "output_rounding",
    "subnormals": "subnormal_a",
    "c_joins": "c_joins",
    "order": "order_control",
}


def finding(features, name):
    value = features.get(name, {}).get("value") or ""  # None: the probe cannot tell
    return re.sub(r" in stages.*|, added exactly.*|^(yes|no):.*", r"\1", value)


class Table:
    def __init__(self, units):
        """`units` has the catalogue's instructions, the names of GPUs, and titles of architectures."""
        self.units = units
        sums = [(arch, one) for arch in units.arches for one in json.loads(softmma("show", arch, "--json"))["sums"]]
        with ThreadPoolExecutor() as pool:
            self.lines = list(pool.map(lambda found: self.line(*found), sums))

    def line(self, arch, one):
        instruction = self.units.instruction[arch, one["instruction"]]
        probed = json.loads(
            softmma("probe", "--on", arch, "--instr", one["instruction"], "--json", statuses=(0, 1, 2)) or "[]"
        )
        features = probed[0]["features"] if probed else {}
        found = {key: finding(features, name) for key, name in FEATURES.items()}
        rule, names = instruction["parameters"], self.units.names
        of_arch = [gpu["name"] for gpu in self.units.gpus if gpu["arch"] == arch]
        gpus = [gpu for gpu in of_arch if instruction["name"] in names[gpu]]
        if instruction["model"] == "INTEGER":
            found |= {"products": "all", "bits": "all", "rounding": f"{rule['overflow']}s"}
        if not found["products"] and "L" in rule:  # the probe cannot tell
            found["products"] = str(min(rule["L"], instruction["k"]))
        found["bits"] = found["bits"] or str(rule.get("F", ""))
        in_words = re.search(r"rounded ([a-z ]+) to \w+$", one["sum"])
        found["rounding"] = found["rounding"] or (in_words[1] if in_words else "")
        return {
            "architecture": arch,
            "gpus": gpus,
            "inputs": one["inputs"],
            "d": one["d"],
            **found,
            "sum": one["sum"],
            "model": instruction["model"],
            "parameters": instruction["parameters"],
            "basis": instruction["basis"],
            "evidence": instruction["evidence"],
            "instruction": one["instruction"],
            "instructions": one["instructions"],
        }

    # ---- Drawings that show a cell ----

    def address(self, line, values, root):
        """Returns a link to the explorer with values of a, b and c."""
        state = "&".join(f"{key}=v:{value}" for key, value in values.items())
        return html.escape(
            f"{root}index.html#on={line['gpus'][0].replace(' ', '+')}&instr={line['instruction']}&{state}"
        )

    def shown(self, line):
        """Returns values of a, b and c whose drawing shows the table's columns: all products of a call, the last
        retained bit and the first bit that is not retained, and three quarters of the result's last bit."""
        instruction = self.units.instruction[line["architecture"], line["instruction"]]
        k, fraction = instruction["k"], self.units.fraction[line["d"]]
        if fraction is None or ".sp." in line["instruction"]:
            return {}
        values = {"products": {"a": f"1*{k}", "b": f"1*{k}"}}
        if line["bits"].isdigit() and k > 1:
            fraction = min(fraction, int(line["bits"]))
            top = min(int(line["bits"]), 14 if instruction["c"] == "f16" else 99)
            places = int(line["bits"]) - top  # of the last bit that is kept, below 1
            if places < -self.units.least[instruction["a"]]:
                values["bits"] = {"a": f"{2.0**-places!r}*2", "b": "1,0.5", "c": repr(2.0**top)}
        values["rounding"] = {"a": "1.5", "b": "1", "c": repr(2.0 ** (fraction + 1))}
        return values

    # ---- The page ----

    def cells(self, line, root):
        links = self.shown(line)
        for key, _, _ in COLUMNS:
            value = line[key]
            text = html.escape(str(value))
            if key == "gpus":
                place = f"{root}units/{line['architecture']}.html"
                names = [name for name in value if not re.match("sm_|gfx", name)] or value
                more = f" +{len(names) - 2}" if len(names) > 2 else ""
                text = f'<a href="{place}">{html.escape(", ".join(names[:2]))}</a>{more}'
                yield key, text, " ".join([line["architecture"], *value])
            elif key == "inputs":
                alone = [pair for pair in value if "," not in pair]
                mixed = [pair.replace(",", " x ") for pair in value if "," in pair]
                words = [*alone, "and mixed"] if alone and mixed else alone + mixed
                yield key, html.escape(", ".join(words)), line["sum"]
            elif key == "basis":
                place = self.units.place((line["architecture"], line["instruction"]), root)
                yield key, f'<a href="{place}" class="{text}">{text}</a>', "\n".join(line["evidence"])
            elif key in links:
                yield (
                    key,
                    f'<a href="{self.address(line, links[key], root)}">{text or "drawing"}</a>',
                    "Show it in a drawing",
                )
            else:
                yield key, text, ""

    def html(self, lines, root, skip=None):
        head = "".join(
            f'<th scope="col" title="{html.escape(meaning)}">{html.escape(title)}</th>'
            for key, title, meaning in COLUMNS
            if key != skip
        )
        rows = []
        for line in lines:
            cells = "".join(
                f'<td title="{html.escape(title)}">{text}</td>' if title else f"<td>{text}</td>"
                for key, text, title in self.cells(line, root)
                if key != skip
            )
            rows.append(f"<tr>{cells}</tr>")
        body = "\n".join(rows)
        return (
            f'<div class="scroll"><table class="lines facts-table"><thead><tr>{head}</tr></thead>\n'
            f"<tbody>\n{body}\n</tbody></table></div>"
        )

    def write(self, site):
        site.write("table.json", json.dumps({"softmma": site.version, "lines": self.lines}, indent=1) + "\n")
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        keys = list(self.lines[0])
        writer.writerow(keys)
        for line in self.lines:
            flat = {"parameters": unit_pages.parameters(line)}
            flat |= {key: "; ".join(value) for key, value in line.items() if isinstance(value, list)}
            writer.writerow(flat.get(key, line[key]) for key in keys)
        site.write("table.csv", out.getvalue())
        body = (
            '<p class="lead">How the matrix units of all modelled GPUs and CPUs add: a line for each kind of sum. The '
            "properties are found by probes, which ask the models as they would ask hardware, or are taken from the rule if "
            "probes cannot tell. Press a heading to sort, and a cell to see its property drawn.</p>\n"
            '<div class="tools"><input type="search" id="filter" placeholder="Filter: H100, e4m3, toward zero ..." '
            'aria-label="Filter the lines"> <output id="count" aria-live="polite"></output> '
            '<a class="button" href="table.csv" download>CSV</a> <a class="button" href="table.json" download>JSON</a>'
            "</div>\n"
        )
        site.article(PAGE, "All GPUs and formats", body + self.html(self.lines, ""), scripts=("table.js",), wide=True)
