#!/usr/bin/env python3
"""Checks that every link, picture and script of the site's pages exists, with the anchor that it names, and that no
page loads anything from another site.

Usage: site_links.py SITE
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

site = Path(sys.argv[1]).resolve()
LOADED = {("img", "src"), ("script", "src"), ("link", "href"), ("source", "src"), ("iframe", "src")}
EXPLORERS = ("index.html", "unit.html", "matrices.html")  # the text after "#" is their state, not an anchor


class Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.places, self.links = set(), []

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == "id" or (tag == "a" and name == "name"):
                self.places.add(value)
            if value is not None and name in ("href", "src"):
                self.links.append((tag, name, value))


pages = {}
for path in site.rglob("*.html"):
    pages[path] = Page()
    pages[path].feed(path.read_text())
failures, links = [], 0
for path, page in pages.items():
    for tag, name, link in page.links:
        parts = urlsplit(link)
        links += 1
        if parts.scheme or parts.netloc:
            if (tag, name) in LOADED and parts.scheme != "data":
                failures.append(f"{path.relative_to(site)} loads {link}")
            continue
        target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
        if target.is_dir() or not target.exists():
            failures.append(f"{path.relative_to(site)}: {link} is not there")
        elif parts.fragment and target.name not in EXPLORERS and target in pages:
            if unquote(parts.fragment) not in pages[target].places:
                failures.append(f"{path.relative_to(site)}: {link} has no such place")
for failure in failures[:30]:
    print("FAILED ", failure)
print(f"{len(pages)} pages, {links} links, {len(failures)} failures")
sys.exit(not pages or bool(failures))
