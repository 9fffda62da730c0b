"""Writes the gallery: the command's pictures from tests/pictures/pictures.txt, each with its command and a link to the
explorer."""

import html
import re
import shlex
import shutil

from shell import TOP, softmma

PAGE = "gallery.html"


def entries():
    for line in (TOP / "tests" / "pictures" / "pictures.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            path, _, arguments = line.partition(" ")
            yield path, arguments


def address(arguments):
    """Returns the explorer's state for an explained row, with its elements as values; None for other commands."""
    words = shlex.split(arguments)
    if not words[0].startswith("--on"):
        return None
    given = dict(zip(words[::2], words[1::2], strict=True))
    lists = {
        key: given[f"--{key.replace('_', '-')}"]
        for key in ("a", "b", "c", "scale_a", "scale_b")
        if f"--{key.replace('_', '-')}" in given
    }
    values = [f"{key}=v:{re.sub(' +', ',', text)}" for key, text in lists.items()]
    return "&".join([f"on={given['--on']}", f"instr={given['--instr']}", *values])


def write_gallery(site):
    figures = []
    for path, arguments in entries():
        target = f"files/{path}"
        (site.folder / target).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(TOP / path, site.folder / target)
        command = f"softmma {arguments if not arguments.startswith('-') else 'explain ' + arguments}"
        state = address(arguments)
        link = f' <a href="index.html#{html.escape(state)}">In the explorer</a>' if state else ""
        size = re.search(r'width="(\d+)" height="(\d+)"', (TOP / path).read_text())
        figures.append(
            f'<figure><a href="{target}"><img src="{target}" alt="The picture that this command draws" loading="lazy" '
            f'width="{size[1]}" height="{size[2]}"></a>\n'
            f"<figcaption><code>{html.escape(command)}</code>{link}</figcaption></figure>"
        )
    for picture in sorted((TOP / "docs/pictures/experiments").glob("*.svg")):
        target = f"files/{picture.relative_to(TOP)}"
        (site.folder / target).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(picture, site.folder / target)
        figures.append(
            f'<figure><a href="{target}"><img src="{target}" alt="The experiment {picture.stem}" loading="lazy"></a>\n'
            f"<figcaption><code>softmma experiment {picture.stem}</code> "
            '<a href="docs/experiments.html">About it</a></figcaption></figure>'
        )
    lead = (
        "<p>Pictures that <code>softmma explain</code>, <code>trace</code> and <code>experiment</code> draw, with "
        "their commands.</p>\n"
    )
    site.page(
        PAGE,
        "Gallery",
        f'<main id="main" class="wide">\n<h1>Gallery</h1>\n{lead}<div class="gallery">\n'
        + "\n".join(figures)
        + "\n</div>\n</main>",
    )
