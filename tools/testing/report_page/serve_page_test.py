"""`openset serve` in headless Chromium while a study runs: serve_page_test.py OPENSET [SCREENSHOTS_FOLDER].

The list of studies and the study's page must show the run's progress, then its tables, plots and mistakes, at 1280 and
390 pixels, light and dark, without console messages. If names in the store are scripts, none may run. Without a
Chromium, it prints "skipped" and passes.
"""
import os
import re
import subprocess
import sys
import tempfile
import time

import browser

STUDY = """
name: "study" task: "near_far" method: ["mcp", "max_logit"] split: 0 seed: [0, 1, 2, 3]
override {
  model { osrci_cnn {} head { linear { bias: true } } }
  input { size: 28 channels: 1 mean: 0.286 std: 0.353 }
  training { epochs: 6 batch_size: 50 optimizer { learning_rate: 0.02 } schedule { constant {} } }
}
train_limit_per_class: 500 test_limit_per_class: 50
metric { accuracy {} } metric { auroc {} }
"""
TASK = """
name: "near_far" data_set: "fashion_mnist"
unknown { group: "near" data_set: "fashion_mnist" distance: NEAR class_id: [3, 4] }
unknown { group: "noise" data_set: "uniform_noise" distance: FAR draw_samples: 50 }
split { known: [0, 1, 2, 5] }
"""
SCRIPT = "<img src=x onerror=hacked=1><script>hacked=1</script>"


def check(condition, what):
    if not condition:
        sys.exit(f"FAILED: {what}")


def wait_for(page, condition, what):
    for _ in range(600):
        if page.run(condition):
            return
        time.sleep(0.1)
    sys.exit(f"FAILED: waited a minute for {what}")


def serve(program, page, folder):
    server = subprocess.Popen([program, "serve", "--port=0", "--library=."], cwd=folder, stdout=subprocess.PIPE, text=True)
    # The address may have a token, which the browser keeps from the first page on.
    address, url = re.match(r"((http://[^/]+/)\S*)", server.stdout.readline()).groups()
    page.open(address, 1280)
    return server, url


def look(page, url, screenshots, name):
    """Nothing may be wider than the screen, at both widths and in both colour schemes."""
    for width, dark in ((1280, False), (390, False), (1280, True), (390, True)):
        page.open(url, width, dark=dark)
        page.run("new Promise((then) => setTimeout(then, 700))")
        wide = page.run("document.documentElement.scrollWidth")
        check(wide <= width, f"{name} is {wide} px wide on a screen of {width}")
        if screenshots:
            page.screenshot(os.path.join(screenshots, f"serve_{name}_{width}{'_dark' if dark else ''}.png"))


def watch_a_run(program, page, folder, screenshots):
    with open(os.path.join(folder, "study.textproto"), "w") as file:
        file.write(STUDY)
    os.makedirs(os.path.join(folder, "tasks"))
    with open(os.path.join(folder, "tasks/near_far.textproto"), "w") as file:
        file.write(TASK)
    os.makedirs(os.path.join(folder, "openset-store"))
    with open(os.path.join(folder, "openset-store/version"), "w") as file:
        file.write("openset store 3\n")
    server, url = serve(program, page, folder)
    try:
        page.open(url, 1280)
        check("Nothing runs on the store." in page.run("document.body.textContent"), "nothing runs at first")
        run = subprocess.Popen([program, "run", "study.textproto", "--jobs=1"], cwd=folder, stdout=subprocess.DEVNULL)
        wait_for(page, "document.querySelectorAll('.run progress').length >= 2", "the run and what it does")
        look(page, url, screenshots, "overview_running")
        page.open(url, 1280)
        wait_for(page, "document.querySelectorAll('.run a').length === 1", "a link to the study")
        study = page.run("document.querySelector('.run a').href")
        page.open(study, 1280)
        check("study" == page.run("document.querySelector('h1').textContent"), "the study's page")
        wait_for(page, "document.querySelector('#news').textContent.includes('new record')", "news of records")
        check(run.wait() == 0, "the run ended well")
        wait_for(page, "document.body.textContent.includes('does not run now')", "the end of the run")
        page.open(study, 1280)
        check(page.run("document.querySelectorAll('#tables td[data-mean]').length") > 0, "tables")
        wait_for(page, "(() => { const all = [...document.querySelectorAll('figure[data-chart]')]; const next = "
                       "all.find((f) => !f.querySelector('svg')); next?.scrollIntoView(); return !next; })()", "plots")
        check(page.run("[...document.querySelectorAll('#examples .tile')].filter((t) => "
                       "t.style.backgroundImage.startsWith('url(\"data:image/png')).length") > 0, "images of mistakes")
        look(page, study, screenshots, "study")
        look(page, url, screenshots, "overview")
        page.open(study + "/records", 1280)
        check(page.run("document.querySelectorAll('tbody tr').length") == 8, "eight records")
        record = page.run("document.querySelector('tbody a').href")
        look(page, study + "/records", screenshots, "records")
        look(page, record, screenshots, "record")
        check(page.run("document.querySelectorAll('#examples .tile').length") > 0, "the mistakes of a record")
        check(page.problems == [], f"the console says: {page.problems}")
        # What a page of another origin, here about:blank, can read.
        page.call("Page.navigate", url="about:blank")
        check(page.run(f"fetch('{url}live.json').then((a) => a.text(), () => 'refused')") == "refused", "another origin")
    finally:
        server.terminate()
        check(server.wait() == 0, "the server ends well")


def names_that_are_scripts(program, page, folder):
    """An axis of a study may be called anything, and its name is in rows, plots and lists."""
    name = os.path.join(folder, "hostile.textproto")
    with open(name, "w") as file:
        file.write(STUDY.replace("epochs: 6", "epochs: 1").replace("seed: [0, 1, 2, 3]", "seed: 0")
                   .replace('name: "study"', 'name: "hostile"')
                   + f'axis {{ name: "{SCRIPT}" path: "training.epochs" value: ["1", "2"] }}\nquestion: "{SCRIPT}"\n')
    subprocess.run([program, "run", name], cwd=folder, stdout=subprocess.DEVNULL, check=True)
    server, url = serve(program, page, folder)
    try:
        page.open(url, 1280)
        study = page.run("[...document.querySelectorAll('td a')].find((a) => a.textContent === 'hostile').href")
        for at in (url, study, study + "/records", url + "failures"):
            page.open(at, 1280)
            page.run("new Promise((then) => setTimeout(then, 500))")
            check(page.run("typeof hacked") == "undefined", f"a script ran at {at}")
            check(page.run("document.querySelectorAll('img').length") == 0, f"an image of a name at {at}")
        page.open(study + "/records", 1280)
        check(SCRIPT in page.run("document.body.textContent"), "the name is shown as text")
        check(page.problems == [], f"the console says: {page.problems}")
    finally:
        server.terminate()
        server.wait()


def main(program, screenshots=None):
    chromium = browser.find()
    if chromium is None:
        print("skipped: this machine has no Chromium (apt-get install chromium, or name one in CHROMIUM)")
        return
    program = os.path.abspath(program)
    page = browser.Browser(chromium)
    try:
        with tempfile.TemporaryDirectory() as folder:
            watch_a_run(program, page, folder, screenshots)
            page.problems.clear()
            names_that_are_scripts(program, page, folder)
    finally:
        page.close()
    print("the pages work")


main(*sys.argv[1:])
