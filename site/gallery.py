"""Writes the gallery: the command's pictures from tests/pictures/pictures.txt, each with a sentence, its command and a
link to the explorer."""

import html
import re
import shlex
import shutil
import sys

from shell import TOP, softmma

PAGE = "gallery.html"
# What each picture shows, by the name of its file.
SENTENCES = {
    "h100-a100": "The H100 keeps one bit more than the A100, so that 0.25 survives beside 2^23 on one of them.",
    "mi300x": "CDNA 3 adds eight products first, and then the accumulator, each time with its own truncation.",
    "mi210": "CDNA 2 rounds every product and every sum of two, and replaces subnormal numbers by zero.",
    "trace": "One element of a matrix product on four GPUs: the step after which their sums differ.",
    "t-fdpa": "Hopper adds 16 products and the accumulator at once: bits to the right of the dashed line are lost.",
    "t-fdpa-e8m13": "FP8 on Ada keeps 13 fraction bits of each term.",
    "t-fdpa-wide": "Exponents that are far apart: all small terms vanish beside the largest, and the axis has gaps.",
    "st-fdpa": "MXFP8: scale factors move the products, and alignment follows.",
    "gst-fdpa": "NVFP4: exact sums of 16 products each, scaled, and then truncated together.",
    "tr-fdpa": "CDNA 3: a tiny negative accumulator lowers an exact sum, because it is rounded down.",
    "gtr-fdpa": "FP8 on CDNA 3: even and odd products are added separately, each sum with its own truncation.",
    "e-fdpa": "CDNA 1 adds four products exactly and rounds once.",
    "integer": "An integer sum that exceeds its range is clamped.",
    "fp8-by-fp16": "FP8 through mma.sync on Hopper: two FP16 sums from zero, added to the accumulator at the end.",
    "fma": "FP64: a chain of fused multiply-adds, each rounded to nearest.",
    "ftz-fma": "BF16 on x86: fused multiply-adds that replace subnormal numbers by zero.",
    "special": "An infinity times zero is a NaN before anything is added.",
    "e-fdpa-ftz-addmul": "The MI100 and the MI210 on the same operands: exact sums, and rounded pairs.",
}


def entries():
    for line in (TOP / "tests" / "pictures" / "pictures.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            path, _, arguments = line.partition(" ")
            yield path, arguments


def address(arguments):
    """Returns the explorer's state for a command that explains operands which are written as values. Returns None for
    other commands."""
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


def figure(site, path, sentence, command, link):
    """Returns a card with a picture, which it copies."""
    target = f"files/{path}"
    (site.folder / target).parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(TOP / path, site.folder / target)
    size = re.search(r'<svg[^>]* width="(\d+)"[^>]* height="(\d+)"', (TOP / path).read_text())
    extent = f' width="{size[1]}" height="{size[2]}"' if size else ""
    sentence = html.escape(sentence)
    return (
        f'<figure class="card"><a href="{target}"><img src="{target}" alt="{sentence}" loading="lazy"{extent}></a>\n'
        f"<figcaption>{sentence} {link}<code>{html.escape(command)}</code></figcaption></figure>"
    )


def write_gallery(site):
    figures = []
    for path, arguments in entries():
        name = re.sub(r".*/|\.svg", "", path)
        if name not in SENTENCES:
            sys.exit(f"site: {path} has no sentence in site/gallery.py")
        state = address(arguments)
        link = f'<a href="index.html#{html.escape(state)}">Open in the explorer</a>' if state else ""
        command = f"softmma {arguments if not arguments.startswith('-') else 'explain ' + arguments}"
        figures.append(figure(site, path, SENTENCES[name], command, link))
    listed = dict(line.split(None, 1) for line in softmma("experiment").splitlines() if line.strip())
    for picture in sorted((TOP / "docs/pictures/experiments").glob("*.svg")):
        sentence = f"{listed[picture.stem][0].upper()}{listed[picture.stem][1:]}."
        link = '<a href="docs/experiments.html">About it</a>'
        path = picture.relative_to(TOP)
        figures.append(figure(site, path, sentence, f"softmma experiment {picture.stem}", link))
    body = (
        '<p class="lead">What <code>softmma explain</code>, <code>trace</code> and <code>experiment</code> draw, with the '
        'commands.</p>\n<div class="gallery">\n' + "\n".join(figures) + "\n</div>"
    )
    site.article(PAGE, "Gallery", body, wide=True)
