"""Makes docs/ and other Markdown files a book: mdBook converts them to HTML and makes the index for its search. The pages
have the site's frame, and pages for the files that they link to.
"""

import html
import os
import re
import shutil
import sys
from pathlib import Path

from shell import SITE, TOP, relative, run

# The chapters: files of docs/. Its other pages come last, with the pages that are only linked.
CHAPTERS = {
    "SoftMMA": "../README.md tutorial-ml.md tutorial-numerics.md tutorial-hardware.md tour.md glossary.md units.md explain.md "
    "trace.md devices.md cluster.md vector-files.md packages.md c.md single-header.md softmma.1",
    "Matrix units": "architectures.md evidence.md facts.md probes.md trees.md equal.md infer.md coverage.md peers.md",
    "Your own unit": "custom-units.md hardware-design.md rtl.md cost.md",
    "Products": "plans.md libraries.md match.md sparse.md recipes.md checkpoints.md",
    "Numerics": "rules.md numerics.md tolerance.md experiments.md claims.md",
    "Python": "python.md python-tour.md networks.md python-sentences.md python-train_lm.md jax.md",
    "Speed": "performance.md performance-devices.md performance-gpu.md",
    "Algorithms": "algorithms/README.md algorithms/*.md",
    "Development": "architecture.md howto-add.md proofs.md site.md ../CONTRIBUTING.md ../CHANGELOG.md",
}
MADE = re.compile(r"build|__pycache__$|\.|.*\.so$")  # generated files in a folder
COPIED = {".svg", ".png", ".jpg", ".csv", ".ipynb"}
# Code in backquotes, the files of an example of howto-add.md, which begin with ">>>", or a link.
CODE_OR_LINK = re.compile(
    r"^ *(`{3,}).*?^ *\1|`[^`]*`|^    >>> .*?(?=^\S|\Z)|(?<=\]\()(?P<link>[^)\s]+)", re.MULTILINE | re.DOTALL
)
DOCS = "docs/index.html"
MDBOOK = str(TOP / "build-site/bin/mdbook")  # scripts/setup --site installs it
PYTHON = str(TOP / "build-site/bin/python")  # has rjsmin and rcssmin
REPEATED = re.compile(r'(:"|» )([^"»]+) » \2"')  # a page's title and its equal heading, in the title of a result
INDEX = "searchindex.js"
SCRIPTS = ("toc.js", "elasticlunr.min.js", "mark.min.js", "searcher.js")
SEARCH = (
    '<button type="button" id="mdbook-search-toggle" aria-expanded="false" aria-controls="mdbook-searchbar">'
    "Search</button>"
)


def place_of(path):
    """Returns the path on the site of a file of the repository."""
    path = Path(path)
    if path == Path("README.md"):
        return "docs/index.html"
    if (TOP / path).is_dir():
        return f"source/{path}/index.html"
    if path.parts[:2] == ("docs", "units"):
        return f"units/{path.stem}.html"
    if path.suffix == ".md":
        inside = path.relative_to("docs") if path.parts[0] == "docs" else path
        return f"docs/{inside.with_suffix('.html')}"
    if path.suffix in COPIED:
        return f"files/{path}"
    if path.suffix == ".1":
        return f"docs/{path.name}.html"
    return f"source/{path}.html"


class Book:
    def __init__(self, site):
        self.site = site
        self.folder = site.folder.with_name(f"{site.folder.name}-book")  # what mdBook reads and writes
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(SITE / "book", self.folder)
        self.summary = ["# Summary"]  # mdBook's table of contents
        self.pages = {"search.html": DOCS}  # the place of each page in the navigation
        self.aside = []  # HTML that the search does not index
        # Files that need a page: those of docs/ except templates, and all that pages link to.
        self.wanted = [f"docs/{path.name}" for path in (TOP / "docs").glob("*.md") if not path.name.endswith(".in.md")]
        for title, names in CHAPTERS.items():
            self.chapter(title)
            for path in (path for name in names.split() for path in sorted((TOP / "docs").glob(name))):
                self.document(os.path.relpath(path, TOP))

    def chapter(self, title):
        self.summary.append(f"# {title}")

    # ---- Text ----

    def link(self, link, source, page):
        """Converts a link in a source file to a link on its page."""
        if re.match(r"[a-z]+:", link) or link.startswith("#"):
            return link
        path, _, place = link.partition("#")
        target = os.path.normpath(Path(source).parent / path)
        if not (TOP / target).exists():
            sys.exit(f"site: {source}: {link} is not there")
        self.wanted.append(target)
        return relative(place_of(target), page) + (f"#{place}" if place else "")

    def linked(self, text, source, page):
        """Converts the links of a Markdown text."""
        return CODE_OR_LINK.sub(
            lambda found: self.link(found["link"], source, page) if found["link"] else found[0], text
        )

    def unindexed(self, text):
        """Returns the comment that stands for a part of a page in HTML that the search shall not index."""
        self.aside.append(text)
        return f"<!-- {len(self.aside) - 1} -->"

    def add(self, page, text, level=0, current=DOCS):
        """Adds a page: Markdown, its level in the table of contents, and its place in the navigation."""
        heading = re.search("^# (.*)", text, re.MULTILINE)
        source = page.removesuffix(".html") + ".md"
        self.summary.append(f"{'  ' * level}- [{heading[1] if heading else Path(page).stem}]({source})")
        path = self.folder / "src" / source
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        self.pages[page] = current

    def document(self, path):
        if place_of(path) in self.pages:
            return
        text = manual() if path.endswith(".1") else (TOP / path).read_text()
        self.add(place_of(path), self.linked(text, path, place_of(path)))

    # ---- Pages ----

    def files(self):
        """Writes the linked files that have no page yet; these may link to further files."""
        self.chapter("Other files")
        files = set()
        while self.wanted:
            path = self.wanted.pop()
            source, place = TOP / path, place_of(path)
            if place in self.pages or place in files:
                continue
            files.add(place)
            if source.is_dir():
                inside = sorted(f"{path}/{child.name}" for child in source.iterdir() if not MADE.match(child.name))
                self.wanted += inside
                links = (f'<li><a href="{relative(place_of(file), place)}">{file}</a></li>\n' for file in inside)
                self.site.article(place, path, f"<ul>\n{''.join(links)}</ul>", DOCS)
            elif source.suffix == ".md":
                self.document(path)
            elif source.suffix in COPIED:
                (self.site.folder / place).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, self.site.folder / place)
            else:
                text = html.escape(source.read_text(errors="replace"))
                self.site.article(place, path, f'<pre tabindex="0"><code>{text}</code></pre>', DOCS)

    def write(self):
        """Writes all pages and the search."""
        self.files()
        (self.folder / "src/SUMMARY.md").write_text("\n".join(self.summary) + "\n")
        run(MDBOOK, "build", self.folder)
        for name in SCRIPTS:
            shutil.copyfile(self.folder / "book" / name, self.site.folder / name)
        self.site.write(INDEX, REPEATED.sub(r'\1\2"', (self.folder / "book" / INDEX).read_text()))
        for page, current in self.pages.items():
            title, body = (self.folder / "book" / page).read_text().split("\n", 1)
            body = re.sub(r"<!-- (\d+) -->", lambda found: self.aside[int(found[1])], body)
            body = body.replace("<pre>", '<pre tabindex="0">')
            self.site.page(page, html.unescape(title) or "Search", body, SCRIPTS, current, SEARCH)


def manual():
    """Returns the manual as Markdown: its headings, and between them its text as man prints it."""
    environment = os.environ | {"MANWIDTH": "100", "LC_ALL": "C.UTF-8", "GROFF_NO_SGR": "1"}
    text = re.sub(".\b", "", run("man", "-l", TOP / "docs/softmma.1", env=environment))
    text = "\n".join(text.strip().split("\n")[1:-1])  # without the lines at the top and the bottom of a printed page
    heading = r"\n+( {3})?(\S[^\n]*)(?=\n)"
    text = re.sub(heading, lambda found: f"\n````\n\n##{'#' if found[1] else ''} {found[2]}\n\n````", text)
    text = re.sub("^ {5}", "", text, flags=re.MULTILINE)
    return f"# softmma(1)\n\n````{text}\n````\n".replace("````\n````\n", "")
