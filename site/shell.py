"""Writes the site's folder, and the frame around each page."""

import html
import importlib.machinery
import importlib.util
import os
import string
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
SITE = TOP / "site"
loader = importlib.machinery.SourceFileLoader("unit_pages", str(TOP / "scripts" / "unit-pages"))
unit_pages = importlib.util.module_from_spec(importlib.util.spec_from_loader("unit_pages", loader))
loader.exec_module(unit_pages)

NAVIGATION = (
    ("index.html", "Explorer"),
    ("table.html", "Table"),
    ("gpus.html", "GPUs"),
    ("agreement.html", "Agreement"),
    ("unit.html", "Custom unit"),
    ("matrices.html", "Matrices"),
    ("gallery.html", "Gallery"),
    ("docs/index.html", "Docs"),
)
SEARCH = (
    '<form role="search" action="{root}search.html">'
    '<input type="search" name="search" aria-label="Search" placeholder="Search"></form>'
)


def run(*command, statuses=(0,), **options):
    """Returns a program's output. Exits for a status not in `statuses`, after showing the program's messages."""
    ran = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    if ran.returncode not in statuses:
        sys.exit(f"site: {' '.join(map(str, command))}:\n{ran.stdout}{ran.stderr}")
    return ran.stdout


def softmma(*arguments, statuses=(0, 1)):
    return run(os.environ["SOFTMMA"], *arguments, statuses=statuses)


def root_of(path):
    """Returns the relative path from a page to the site's folder."""
    return "../" * str(path).count("/")


def relative(target, page):
    """Returns the link from a page to another path of the site."""
    return os.path.relpath(target, os.path.dirname(page) or ".")


def fill(name, **words):
    return string.Template((SITE / name).read_text()).substitute(words)


def table(head, rows, kind=""):
    """Returns a table as HTML; its cells are HTML, too."""
    lines = ["".join(f"<th scope=col>{cell}</th>" for cell in head)]
    lines += ["".join(f"<td>{cell}</td>" for cell in row) for row in rows]
    body = "\n".join(f"<tr>{line}</tr>" for line in lines)
    return f'<div class="scroll"><table class="lines {kind}">\n{body}\n</table></div>'


class Site:
    def __init__(self, folder):
        self.folder = folder
        self.shell = string.Template((SITE / "page.html").read_text())
        self.version = softmma("version").split()[1]

    def write(self, path, content):
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            target.write_bytes(content)
        else:
            target.write_text(content)

    def page(self, path, title, body, scripts=(), current=None, search=None):
        """Writes a page. `current` is its place in the navigation (default: its own path); `scripts` run on loading;
        `search` replaces the field that leads to the page of the search."""
        root = root_of(path)
        entries = "".join(
            f'<li><a href="{root}{href}"{" aria-current=page" if href == (current or path) else ""}>{name}</a></li>\n'
            for href, name in NAVIGATION
        )
        head = "".join(f'<script defer src="{root}{script}"></script>\n' for script in scripts)
        words = {"title": html.escape(title if title == "SoftMMA" else f"{title} - SoftMMA"), "root": root}
        words["search"] = search or SEARCH.format(root=root)
        words |= {"head": head, "nav": f"<ul>{entries}</ul>\n", "body": body, "version": self.version}
        self.write(path, self.shell.substitute(words))

    def article(self, path, title, body, current=None, scripts=(), wide=False):
        """Writes a page of text, with its heading."""
        kind = ' class="wide"' if wide else ""
        main = f'<main id="main"{kind}>\n<h1>{html.escape(title)}</h1>\n{body}\n</main>'
        self.page(path, title, main, scripts, current)
