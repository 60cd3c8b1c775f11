// What runs on the store, asked for every other second while the page is seen. All text is set as text.
'use strict';
(() => {
  const place = document.getElementById('runs'), news = document.getElementById('news');
  if (!place) return;
  const study = place.dataset.study;  // undefined: all
  const element = (tag, properties = {}, ...children) => {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  };
  const bar = (fraction, label) => element('progress', {max: 1, value: Math.min(1, Math.max(0, fraction)), ariaLabel: label});

  const show = (live) => {
    const runs = live.runs.filter((run) => study === undefined || run.id === study);
    place.replaceChildren(...runs.map((run) => {
      const name = study === undefined ? element('a', {href: `/study/${run.id}`}, run.study) : element('strong', {}, run.study);
      const silent = run.silent === null ? '' : `; no sign of life for ${Math.round(run.silent)} s`;
      return element('div', {className: 'run'}, element('div', {}, name, ` by ${run.by}: ${run.line}${silent}`), bar(run.fraction, run.line),
          element('ul', {}, ...run.actions.map((action) => element('li', {}, bar(action.fraction, action.line), action.line))));
    }));
    if (runs.length === 0) place.append(element('p', {className: 'state'}, study === undefined ? 'Nothing runs on the store.' : 'The study does not run now.'));
  };

  const first = openset.data.live.records;
  const tell = (records) => {
    news.replaceChildren();
    if (records === first) return;
    const again = element('a', {href: location.pathname}, 'show them');
    const more = records - first;
    news.append(more > 0 ? `${more} new ${more === 1 ? 'record' : 'records'} in the store: ` : 'The store has changed: ', again);
  };

  const ask = async () => {
    let wait = 2000;
    try {
      if (!document.hidden) {
        const answer = await fetch('/live.json');
        if (!answer.ok) throw new Error(await answer.text());
        const live = await answer.json();
        show(live);
        tell(live.records);
      }
    } catch (error) {
      news.textContent = `No answer from openset serve (${error.message.trim()}); this page may be out of date.`;
      wait = 10000;
    }
    setTimeout(ask, wait);
  };
  show(openset.data.live);
  setTimeout(ask, 2000);
})();
