"""Converts docs/ to a book: every Markdown page as HTML, the files it links to, and a search index."""

import html
import json
import os
import re
import shutil
import sys
from pathlib import Path

from markdown_it import MarkdownIt
from shell import TOP, relative, run

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
MARKDOWN = MarkdownIt("commonmark").enable("table")


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


def anchor_of(text, taken):
    """Returns a heading's anchor as GitHub makes it, for links in the text."""
    name = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
    number = taken.get(name)
    taken[name] = (number or 0) + 1
    return name if number is None else f"{name}-{number}"


def plain(inline):
    kinds = {
        "text": lambda child: child.content,
        "code_inline": lambda child: child.content,
        "softbreak": lambda _: " ",
    }
    return "".join(kinds[child.type](child) for child in inline.children if child.type in kinds)


class Book:
    def __init__(self, site):
        self.site = site
        self.sections = []  # of all pages: (address, title, words)
        self.wanted = []  # files that pages link to
        self.made = set()
        self.places = {}  # of each page: the anchors and titles of its sections
        self.pages = self.contents()

    @staticmethod
    def contents():
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

    def linked(self, link, source, page):
        """Converts a link in a source file to a link on its page; None if the file does not exist."""
        if re.match(r"[a-z]+:", link) or link.startswith("#"):
            return link
        path, _, place = link.partition("#")
        target = os.path.normpath(Path(source).parent / path)
        if not (TOP / target).exists():
            sys.exit(f"site: {source}: {link} is not there")
        self.wanted.append(target)
        return relative(place_of(target), page) + (f"#{place}" if place else "")

    def html(self, text, source, page):
        """Converts Markdown to (HTML, title), and adds its sections to the index."""
        tokens, taken, title, words = MARKDOWN.parse(text), {}, None, []
        address, heading = page, ""
        for n, token in enumerate(tokens):
            if token.type == "heading_open":
                self.sections.append((address, heading, " ".join(words)))
                name = anchor_of(plain(tokens[n + 1]), taken)
                token.attrSet("id", name)
                heading, words = plain(tokens[n + 1]), []
                title = title or heading
                if token.tag == "h2":
                    self.places.setdefault(page, []).append((name, heading))
                address = page if token.tag == "h1" else f"{page}#{name}"
            elif token.type == "inline":
                if tokens[n - 1].type != "heading_open":
                    words.append(plain(token))
                self.link(token.children, source, page)
            elif token.type in ("fence", "code_block"):
                words.append(token.content)
        self.sections.append((address, heading, " ".join(words)))
        body = MARKDOWN.renderer.render(tokens, MARKDOWN.options, {})
        body = body.replace("<table>", '<div class="scroll"><table class="lines">').replace(
            "</table>", "</table></div>"
        )
        return body.replace("<pre>", '<pre tabindex="0">'), title or source

    @staticmethod
    def plain_html(text):
        """Converts Markdown to HTML without links."""
        body = MARKDOWN.render(text)
        return body.replace("<table>", '<div class="scroll"><table class="lines">').replace(
            "</table>", "</table></div>"
        )

    def link(self, children, source, page):
        for child in children:
            for name in ("href", "src"):
                if child.attrGet(name):
                    child.attrSet(name, self.linked(child.attrGet(name), source, page))

    # ---- Pages ----

    def here(self, page):
        """Returns links to the page's sections, for wide screens."""
        links = "".join(f'<li><a href="#{place}">{html.escape(title)}</a></li>\n' for place, title in self.places[page])
        return (
            f'<nav class="contents here" aria-label="On this page">\n<h2>On this page</h2>\n<ul>\n{links}</ul>\n</nav>'
        )

    def sidebar(self, page):
        parts = []
        for chapter, paths in self.pages:
            entries = "".join(
                f'<li><a href="{relative(place_of(path), page)}"'
                f"{' aria-current=page' if place_of(path) == page else ''}>"
                f"{html.escape(self.titles[path])}</a></li>\n"
                for path in paths
            )
            parts.append(f"<h2>{chapter}</h2>\n<ul>\n{entries}</ul>\n")
        return f'<nav class="contents" aria-label="Contents">\n{"".join(parts)}</nav>'

    def write(self):
        order = [path for _, paths in self.pages for path in paths]
        texts = {}
        self.titles = {}
        for path in order:
            text = manual() if path.endswith(".1") else (TOP / path).read_text()
            texts[path], self.titles[path] = self.html(text, path, place_of(path))
        for n, path in enumerate(order):
            page = place_of(path)
            turns = [("prev", "Before", order[n - 1])] if n else []
            turns += [("next", "Next", order[n + 1])] if n + 1 < len(order) else []
            links = " ".join(
                f'<a rel="{kind}" href="{relative(place_of(to), page)}">{word}: {html.escape(self.titles[to])}</a>'
                for kind, word, to in turns
            )
            here = self.here(page) if len(self.places.get(page, ())) > 1 else ""
            kind = "book with-here" if here else "book"
            body = f'<div class="{kind}">\n{self.sidebar(page)}\n<main id="main">\n{texts[path]}\n'
            body += f'<p class="turn">{links}</p>\n</main>\n{here}</div>'
            self.site.page(page, self.titles[path], body, current="docs/index.html")
            self.made.add(path)

    def extra(self, path):
        """Writes a Markdown page outside the book, such as a folder's README."""
        text, title = self.html((TOP / path).read_text(), path, place_of(path))
        self.site.page(place_of(path), title, f'<main id="main">\n{text}\n</main>', current="docs/index.html")

    def files(self):
        """Writes the linked files that have no page yet; these may link to further files."""
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
                self.site.article(place, path, f"<ul>\n{''.join(links)}</ul>", "docs/index.html")
            elif source.suffix == ".md" and not place.startswith("units/"):
                self.extra(path)
            elif source.suffix in COPIED:
                (self.site.folder / place).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, self.site.folder / place)
            elif not place.startswith("units/"):
                text = html.escape(source.read_text(errors="replace"))
                self.site.article(place, path, f'<pre tabindex="0"><code>{text}</code></pre>', "docs/index.html")

    # ---- Searching ----

    def index(self):
        """Returns a script with the text of all sections: [address, title, title of the page, text]. It is a script,
        because pages opened as files can read only scripts."""
        sections, titles = [], {}
        for address, title, text in self.sections:
            if title:
                page = titles.setdefault(address.partition("#")[0], title)  # a page's first section has its title
                sections.append([address, title, page, re.sub(r"\s+", " ", text)])
        return f"var softmmaSections = {json.dumps(sections, separators=(',', ':'), ensure_ascii=False)};\n"


def manual():
    """Returns the manual as Markdown, with its text as man prints it."""
    if not shutil.which("man"):
        sys.exit("site: man is missing; scripts/setup --site installs it")
    environment = os.environ | {"MANWIDTH": "100", "LC_ALL": "C.UTF-8", "GROFF_NO_SGR": "1"}
    text = re.sub(".\b", "", run("man", "-l", TOP / "docs/softmma.1", env=environment))
    return f"# softmma(1)\n\n````\n{text.strip()}\n````\n"
