"""Look at every page of the built site in headless Chromium, as readers do.

    python .ci/look.py docs/_build/html [PAGE ...] [--shots FOLDER]

At three widths: what is wider than the window, or out of its box. In the dark theme: pictures with
a light ground. And links within the site that lead nowhere. It needs ``pip install playwright`` and
a Chromium of the system.
"""

import argparse
import io
import shutil
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

from PIL import Image
from playwright.sync_api import sync_playwright

WIDTHS = (1440, 800, 390)
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
WRITTEN_FOR_120 = ("CONTRIBUTING", "ARCHITECTURE", "CHANGELOG")  # columns: code scrolls there
LIGHT = 160  # of 255: a corner as bright as this is a slab on a dark page
# What is wider than the window, and what leaves the box that it stands in, unless that scrolls.
OUTSIDE = """() => {
  const found = [], wide = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > wide)
    found.push(`the page is ${document.documentElement.scrollWidth} pixels wide`);
  const reported = new Set();
  for (const e of document.querySelectorAll("article *")) {
    const box = e.getBoundingClientRect();
    if (!box.width || e.matches(".headerlink, button") || e.closest("pre, button, svg")) continue;
    let around = e.parentElement;
    const ends = ["auto", "scroll", "hidden"];
    while (around && !ends.includes(getComputedStyle(around).overflowX) &&
           !around.matches(".card, td, th, .admonition, .content")) around = around.parentElement;
    if (!around || ends.includes(getComputedStyle(around).overflowX)) continue;
    const by = Math.round(box.right - around.getBoundingClientRect().right);
    if (by < 2 || reported.has(e.parentElement)) { if (by >= 2) reported.add(e); continue; }
    reported.add(e);
    const words = e.textContent.trim().replace(/\\s+/g, " ").slice(0, 40);
    found.push(`${e.tagName.toLowerCase()} "${words}" leaves its box by ${by} pixels`);
  }
  for (const e of document.querySelectorAll("article pre"))
    if (wide > 1000 && e.scrollWidth > e.clientWidth + 1)
      found.push(`a line of code is ${e.scrollWidth - e.clientWidth} pixels too long: ` +
                 `"${e.textContent.trim().replace(/\\s+/g, " ").slice(0, 40)}"`);
  return [...new Set(found)];
}"""
PICTURES = """() => [...document.querySelectorAll("article img")]
  .filter(e => e.getBoundingClientRect().width > 20)
  .map(e => { const b = e.getBoundingClientRect();
              return [e.currentSrc || e.src, b.x + scrollX, b.y + scrollY, b.width, b.height]; })"""
LINKS = "() => [...document.querySelectorAll('a[href]')].map(e => e.href)"
NAMES = "() => [...document.querySelectorAll('[id]')].map(e => e.id)"


def slabs(page):
    """The pictures of a page of the dark theme whose corners are light."""
    if not (boxes := page.evaluate(PICTURES)):
        return
    shot = Image.open(io.BytesIO(page.screenshot(full_page=True))).convert("L")
    for source, x, y, width, height in boxes:
        for right, bottom in ((x + 3, y + 3), (x + width - 4, y + height - 4)):
            at = int(right), int(bottom)
            if 0 <= at[0] < shot.width and 0 <= at[1] < shot.height and shot.getpixel(at) > LIGHT:
                yield f"{source.rpartition('/')[2]} is a light slab"
                break


def looked_at(page, file, shots, name):
    """Yield what is wrong on a page."""
    page.emulate_media(color_scheme="light")
    page.goto(file.as_uri())
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        found = page.evaluate(OUTSIDE)
        if name in WRITTEN_FOR_120:
            found = [text for text in found if not text.startswith("a line of code")]
        yield from (f"{width}: {text}" for text in found)
        if shots:
            page.screenshot(path=shots / f"{name}-{width}-light.png", full_page=True)
    page.emulate_media(color_scheme="dark")
    for width in reversed(WIDTHS) if shots else WIDTHS[:1]:
        page.set_viewport_size({"width": width, "height": 900})
        yield from (f"{width}, dark: {text}" for text in slabs(page))
        if shots:
            page.screenshot(path=shots / f"{name}-{width}-dark.png", full_page=True)


def dead(links, names):
    """Yield the links of a page to files or headings of the site that are not there."""
    for link in dict.fromkeys(links):
        parts = urlsplit(link)
        if parts.scheme != "file":
            continue
        target, heading = Path(unquote(parts.path)), unquote(parts.fragment)
        if not target.exists() or (heading and target in names and heading not in names[target]):
            yield f"leads nowhere: {link.rpartition('/')[2]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("site", type=Path)
    parser.add_argument("pages", nargs="*", help="by default all")
    parser.add_argument("--shots", type=Path, help="keep a picture of each")
    given = parser.parse_args()
    site = given.site.resolve()
    files = [site / f"{page}.html" for page in given.pages] or sorted(site.rglob("*.html"))
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if not browser:
        sys.exit(f"no browser: one of {', '.join(BROWSERS)} must be installed")
    if given.shots:
        given.shots.mkdir(parents=True, exist_ok=True)
    faults, names, links = {}, {}, {}
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        page = opened.new_page()
        page.set_default_timeout(180_000)  # milliseconds: machines may be busy
        for file in files:
            name = file.relative_to(site).with_suffix("").as_posix()
            faults[file] = 0
            for fault in looked_at(page, file, given.shots, name.replace("/", "-")):
                print(f"{name}: {fault}", flush=True)
                faults[file] += 1
            names[file], links[file] = {*page.evaluate(NAMES)}, page.evaluate(LINKS)
    for file in files:
        for fault in dead(links[file], names):
            print(f"{file.relative_to(site)}: {fault}")
            faults[file] += 1
    total = sum(faults.values())
    print(f"{len(files)} pages at {', '.join(map(str, WIDTHS))} pixels: {total} faults")
    sys.exit(total > 0)


if __name__ == "__main__":
    main()
