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

# The chapters. Pages in no chapter come last, so that no page is left out.
CHAPTERS = (
    (
        "SoftMMA",
        "README.md docs/tutorial-ml.md docs/tutorial-numerics.md docs/tutorial-hardware.md docs/tour.md docs/glossary.md "
        "docs/units.md docs/explain.md docs/trace.md docs/devices.md docs/cluster.md docs/vector-files.md "
        "docs/packages.md docs/c.md docs/single-header.md docs/softmma.1",
    ),
    (
        "Matrix units",
        "docs/architectures.md docs/evidence.md docs/probes.md docs/trees.md docs/equal.md docs/infer.md "
        "docs/coverage.md docs/peers.md",
    ),
    ("Your own unit", "docs/custom-units.md docs/hardware-design.md docs/rtl.md docs/cost.md"),
    ("Products", "docs/plans.md docs/libraries.md docs/match.md docs/sparse.md docs/recipes.md docs/checkpoints.md"),
    ("Numerics", "docs/rules.md docs/numerics.md docs/tolerance.md docs/experiments.md docs/claims.md"),
    (
        "Python",
        "docs/python.md docs/python-tour.md docs/networks.md docs/python-sentences.md docs/python-train_lm.md "
        "docs/jax.md",
    ),
    ("Speed", "docs/performance.md docs/performance-devices.md"),
    ("Algorithms", "docs/algorithms/README.md"),
    ("Development", "docs/architecture.md docs/howto-add.md docs/site.md docs/figures.md CONTRIBUTING.md CHANGELOG.md"),
)
MADE = re.compile(r"build|__pycache__$|\.|.*\.so$")  # generated files in a folder
COPIED = {".svg", ".png", ".jpg", ".csv", ".ipynb"}
CODE_OR_LINK = re.compile(r"^ *(`{3,}).*?^ *\1|`[^`]*`|(?<=\]\()(?P<link>[^)\s]+)", re.MULTILINE | re.DOTALL)
DOCS = "docs/index.html"
MDBOOK = str(TOP / "build-site/bin/mdbook")  # scripts/setup --site installs it
REST = "<!-- rest -->"  # stands for HTML that mdBook shall not index
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
        self.pages = {"search.html": (DOCS, ())}  # of each page: its place in the navigation, HTML for each REST
        self.wanted = []  # files that pages link to
        self.made = set()
        for chapter, paths in self.chapters():
            self.part(chapter)
            for path in paths:
                self.document(path)

    @staticmethod
    def chapters():
        """Returns [(chapter, [path])] with every page of docs/ except templates and docs/units (own pages)."""
        chapters = [(name, paths.split()) for name, paths in CHAPTERS]
        chapters = [(name, [path for path in paths if (TOP / path).exists()]) for name, paths in chapters]
        algorithms = next(paths for name, paths in chapters if name == "Algorithms")
        algorithms += sorted(
            str(p.relative_to(TOP)) for p in (TOP / "docs/algorithms").glob("*.md") if p.stem != "README"
        )
        listed = {path for _, paths in chapters for path in paths}
        rest = [str(p.relative_to(TOP)) for p in sorted((TOP / "docs").glob("*.md")) if not p.name.endswith(".in.md")]
        rest = [path for path in rest if path not in listed]
        return chapters + ([("More", rest)] if rest else [])

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
        return CODE_OR_LINK.sub(lambda found: self.link(found["link"], source, page) if found["link"] else found[0], text)

    def part(self, title):
        self.summary.append(f"# {title}")

    def add(self, page, text, level=0, current=DOCS, rest=()):
        """Adds a page: Markdown, its level in the table of contents, and HTML for each REST."""
        heading = re.search("^# (.*)", text, re.MULTILINE)
        source = page.removesuffix(".html") + ".md"
        self.summary.append(f"{'  ' * level}- [{heading[1] if heading else page}]({source})")
        path = self.folder / "src" / source
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        self.pages[page] = (current, rest)

    def document(self, path):
        text = manual() if path.endswith(".1") else (TOP / path).read_text()
        self.add(place_of(path), self.linked(text, path, place_of(path)))
        self.made.add(path)

    # ---- Pages ----

    def files(self):
        """Writes the linked files that have no page yet; these may link to further files."""
        self.part("Other files")
        while self.wanted:
            path = self.wanted.pop()
            if path in self.made:
                continue
            self.made.add(path)
            source, place = TOP / path, place_of(path)
            if source.is_dir():
                inside = sorted(f"{path}/{child.name}" for child in source.iterdir() if not MADE.match(child.name))
                self.wanted += inside
                links = (f'<li><a href="{relative(place_of(file), place)}">{file}</a></li>\n' for file in inside)
                self.site.article(place, path, f"<ul>\n{''.join(links)}</ul>", DOCS)
            elif place in self.pages:
                continue
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
        for name in (*SCRIPTS, INDEX):
            text = (self.folder / "book" / name).read_text()
            self.site.write(name, re.sub(r'(:"|» )([^"»]+) » \2"', r'\1\2"', text) if name == INDEX else text)
        for page, (current, rest) in self.pages.items():
            title, body = (self.folder / "book" / page).read_text().split("\n", 1)
            for part in rest:
                body = body.replace(REST, part, 1)
            body = body.replace("<pre>", '<pre tabindex="0">')
            self.site.page(page, html.unescape(title) or "Search", body, SCRIPTS, current, SEARCH)


def manual():
    """Returns the manual as Markdown: its headings, and between them its text as man prints it."""
    environment = os.environ | {"MANWIDTH": "100", "LC_ALL": "C.UTF-8", "GROFF_NO_SGR": "1"}
    text = re.sub(".\b", "", run("man", "-l", TOP / "docs/softmma.1", env=environment))
    text = "\n".join(text.strip().split("\n")[1:-1])  # without the lines at the top and the bottom of a printed page
    heading = r"\n+( {3})?(\S[^\n]*)(?=\n)"
    text = re.sub(heading, lambda found: f"\n````\n\n##{'#' if found[1] else ''} {found[2]}\n\n````", text)
    return f"# softmma(1)\n\n````{text}\n````\n".replace("````\n````\n", "")
