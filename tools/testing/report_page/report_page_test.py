"""Opens a report's page in headless Chromium: report_page_test.py PAGE REPORT_JSON [SCREENSHOTS_FOLDER].

It must load without console messages, draw every plot, and show the records' numbers. Sorting, filtering and the
legends must work, the contents must lead to each section, and nothing may be wider than a phone: neither the page nor a
plot's words; the methods' column stays while a table scrolls; printed on A4, all columns are there. Without a Chromium, it prints "skipped" and passes.
"""
import json
import os
import sys

import browser

DRAW_ALL = """(async () => {
  const figures = [...document.querySelectorAll('figure[data-chart]')];
  for (let tries = 0; tries < 300 && figures.some((figure) => !figure.querySelector('svg')); ++tries) {
    figures.find((figure) => !figure.querySelector('svg')).scrollIntoView();
    await new Promise((then) => setTimeout(then, 50));
  }
  window.scrollTo(0, 0);
  return figures.filter((figure) => !figure.querySelector('svg')).map((figure) => figure.dataset.chart);
})()"""


def check(condition, what):
    if not condition:
        sys.exit(f"FAILED: {what}")


def check_numbers(page, report):
    """The means in the tables, in full precision and as displayed, must be those of the JSON."""
    shown = page.run("[...document.querySelectorAll('#tables td[data-mean]')].map("
                     "(td) => [Number(td.dataset.mean), td.querySelector('strong, span').textContent])")
    want = sorted((cell["mean"], f'{cell["mean"] * cell["display"]["factor"]:.{cell["display"]["digits"]}f}')
                  for cell in report["cells"] if cell["n"] > 0)
    check(len(shown) == len(want), f"{len(want)} cells in the report, {len(shown)} in the page")
    for (mean, text), (want_mean, want_text) in zip(sorted(map(tuple, shown)), want):
        check(mean == want_mean, f"{want_mean} is {mean} in the page")
        # The rounding of a tie may differ.
        check(abs(float(text) - float(want_text)) <= 1.01 * 10 ** -len(want_text.partition(".")[2]),
              f"{want_text} is shown as {text}")


def check_stars(page, report):
    """There must be as many stars as in the text tables, with their explanation."""
    stars = page.run("[...document.querySelectorAll('#tables sup.star')].map((sup) => sup.title)")
    want = sum(1 for cell in report["cells"] if cell.get("detectable"))
    check(want > 0 and len(stars) == want, f"{want} differences are detectable, {len(stars)} stars")
    check(all(title.startswith(f"differs from {report['baseline']}: p = ") for title in stars), f"stars say {stars[:3]}")
    check("* differs from" in page.run("document.body.textContent"), "what a star means")


def check_sorting(page):
    column = "[...document.querySelectorAll('#tables tbody')][0].querySelectorAll('tr')"
    means = f"[...{column}].map((tr) => Number(tr.children[2].dataset.mean))"
    button = "document.querySelectorAll('#tables thead')[0].querySelectorAll('button')[2]"
    page.click(button)
    first = page.run(means)
    check(first == sorted(first, reverse=True) and len(set(first)) > 1, f"AUROC sorted best first: {first}")
    page.click(button)
    check(page.run(means) == sorted(first), "AUROC sorted the other way")
    check(page.run(f"{button}.parentElement.getAttribute('aria-sort')") == "ascending", "aria-sort")


def check_filters(page, report):
    visible = "[...document.querySelectorAll('#tables tbody tr')].filter((tr) => tr.offsetParent !== null)"
    write = "(() => { const e = document.getElementById('%s'); e.value = '%s'; e.dispatchEvent(new Event('%s')); })()"
    every = page.run(f"{visible}.length")
    page.run(write % ("filter", "openauc 0.2", "input"))
    names = page.run(f"{visible}.map((tr) => tr.dataset.name)")
    check(names and len(names) < every and all("openauc" in n and "0.2" in n for n in names), f"filtered: {names}")
    page.run(write % ("filter", "", "input"))
    tasks = sorted({cell["task"] for cell in report["cells"]})
    page.run(write % ("task", tasks[0], "change"))
    check(page.run(f"{visible}.length") == every // len(tasks), "one task's rows")
    page.run(write % ("task", "", "change"))
    check(page.run(f"{visible}.length") == every, "all rows again")


def check_legend(page):
    """A click on a legend's entry must hide only that line."""
    figure = "document.querySelector('figure[data-chart^=\"roc\"]')"
    lines = f"[...{figure}.querySelectorAll('.mark-line path')].map((path) => Number(getComputedStyle(path).opacity))"
    before = page.run(lines)
    check(len(before) > 2 and all(x > 0.5 for x in before), f"lines are seen: {before}")
    page.click(f"{figure}.querySelectorAll('.role-legend-label text')[0]")
    page.run("new Promise((then) => setTimeout(then, 200))")
    after = page.run(lines)
    changed = [i for i, (a, b) in enumerate(zip(before, after)) if a != b]
    check(changed, f"a click on the legend changes nothing: {before} {after}")
    page.click(f"{figure}.querySelectorAll('.role-legend-label text')[0]")


def check_contents(page):
    links = page.run("[...document.querySelectorAll('#contents a')].map((a) => [a.textContent, "
                     "document.querySelector(a.getAttribute('href'))?.textContent ?? null])")
    heads = page.run("[...document.querySelectorAll('h2')].map((head) => head.textContent)")
    check([text for text, _ in links] == ["Results", *heads], f"contents: {links}, sections: {heads}")
    check(all(text == target for text, target in links[1:]), f"contents lead elsewhere: {links}")


def check_words(page, width):
    """Every word of a plot is whole, and inside of what is seen of the plot."""
    cut = page.run("""[...document.querySelectorAll('figure svg text')].filter((text) => {
      const box = text.getBoundingClientRect(), seen = text.closest('figure').getBoundingClientRect();
      return text.textContent.endsWith('…') || (box.width > 0 && (box.left < seen.left - 1 || box.right > seen.right + 1));
    }).map((text) => `${text.closest('figure').dataset.chart}: ${text.textContent}`)""")
    check(cut == [], f"at {width} px these words are cut: {cut}")


def check_sticky(page):
    moved = page.run("""(() => {
      const scroll = [...document.querySelectorAll('#tables .scroll')].find((one) => one.scrollWidth > one.clientWidth);
      if (!scroll) return null;
      scroll.scrollLeft = 1000;
      const [name, number] = [...scroll.querySelector('tbody tr').children].map((td) => td.getBoundingClientRect().left);
      const left = scroll.getBoundingClientRect().left;
      scroll.scrollLeft = 0;
      return [Math.abs(name - left) < 1, number < left];
    })()""")
    check(moved is not None, "no table is wider than a phone")
    check(moved[0], "the methods' column scrolls away")


def check_print(page, width=718):
    """On A4 with margins of 10 mm, tables and plots are whole: nothing scrolls on paper."""
    page.call("Emulation.setDeviceMetricsOverride", width=width, height=1000, deviceScaleFactor=1, mobile=False)
    page.call("Emulation.setEmulatedMedia", media="print")
    wide = page.run("[...document.querySelectorAll('table, figure svg')].map((one) => one.getBoundingClientRect().right)")
    check(wide and max(wide) <= width, f"printed on {width} px, something ends at {max(wide, default=None)}")
    page.call("Emulation.setEmulatedMedia", media="")


def main(page_file, report_file, screenshots=None):
    program = browser.find()
    if program is None:
        print("skipped: this machine has no Chromium (apt-get install chromium, or name one in CHROMIUM)")
        return
    with open(report_file, encoding="utf-8") as file:
        report = json.load(file)
    # The page leaves out the mean over a single set, which repeats the set's numbers.
    report["cells"] = [cell for cell in report["cells"] if not cell.get("mean_of_one")]
    check(os.path.getsize(page_file) < 5_000_000, "the page is smaller than 5 MB")
    page = browser.Browser(program)
    try:
        for width, dark in ((1280, False), (390, False), (1280, True), (390, True)):
            page.open(page_file, width, dark=dark)
            missing = page.run(DRAW_ALL)
            check(missing == [], f"at {width} px these plots are not drawn: {missing}")
            wide = page.run("document.documentElement.scrollWidth")
            check(wide <= width, f"the page is {wide} px wide on a screen of {width}")
            check_words(page, width)
            if width == 390:
                check_sticky(page)
            if screenshots:
                page.screenshot(os.path.join(screenshots, f"page_{width}{'_dark' if dark else ''}.png"))
            if (width, dark) == (1280, False):
                check_contents(page)
                check_numbers(page, report)
                check_stars(page, report)
                check_sorting(page)
                check_filters(page, report)
                check_legend(page)
                check_print(page)
        check(page.problems == [], f"the console says: {page.problems}")
    finally:
        page.close()
    print("the page works")


main(*sys.argv[1:])
