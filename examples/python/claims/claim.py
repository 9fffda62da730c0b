"""Common code of the programs in this folder: the command line, tables, JSON."""

import argparse
import json
import sys


def text(value):
    return f"{value:.3g}" if isinstance(value, float) else "-" if value is None else str(value)


def table(rows):
    """Returns rows, mappings with the same keys, as a text table: words to the left, numbers to the right."""
    lines = [list(rows[0]), *([text(value) for value in row.values()] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines)]
    words = [isinstance(value, str) for value in rows[0].values()]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if word else cell.rjust(width) for cell, width, word in zip(line, widths, words)
        ).rstrip()
        for line in lines
    )


def main(measure, conclude):
    """Runs a program: `measure(small, seed)` returns tables by title, `conclude(tables)` lines."""
    parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__.partition("\n\n")[0])
    parser.add_argument("--small", action="store_true", help="the sizes that the tests take")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", metavar="FILE", help="write tables and conclusions there")
    options = parser.parse_args()
    tables = measure(options.small, options.seed)
    conclusions = conclude(tables)
    for title, rows in tables.items():
        print(f"{title}\n\n{table(rows)}\n")
    print("\n".join(f"- {line}" for line in conclusions))
    if options.json:
        found = {"small": options.small, "seed": options.seed, "tables": tables, "conclusions": conclusions}
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(found, file, indent=1)
