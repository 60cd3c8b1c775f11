// Draws the plots of a page when they come into view. `openset.data` is what the page's own script reads.
'use strict';
const openset = (() => {
  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const charts = read('openset-charts');
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const drawn = new Map();  // figure -> Vega view
  const phone = 640;

  const config = () => {
    const style = getComputedStyle(document.documentElement);
    const ink = style.getPropertyValue('--ink').trim(), faint = style.getPropertyValue('--faint').trim();
    const line = style.getPropertyValue('--line').trim();
    return {
      background: null, font: 'system-ui, sans-serif',
      view: {stroke: line},
      title: {color: ink, subtitleColor: faint, anchor: 'start', fontSize: 14},
      axis: {labelColor: faint, titleColor: ink, titleFontWeight: 'normal', gridColor: line, domainColor: faint, tickColor: faint},
      legend: {labelColor: ink, titleColor: ink, symbolOpacity: 1},
      text: {color: ink}, rule: {color: ink}, tick: {color: ink},
    };
  };

  // The table of a plot as objects: Vega's own reader of CSV needs eval, which the page's policy forbids.
  const rowsOf = (csv, numbers) => {
    const lines = csv.trimEnd().split('\n');
    const names = lines.shift().split(',');
    return lines.map((line) => {
      const fields = [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^",]*))/g)];
      return Object.fromEntries(names.map((name, i) => {
        const text = fields[i][1] === undefined ? fields[i][2] : fields[i][1].replaceAll('""', '"');
        return [name, !(name in numbers) ? text : text === '' ? null : Number(text)];
      }));
    });
  };
  const expanded = (spec) => {
    if (typeof spec.data?.values === 'string') spec.data = {values: rowsOf(spec.data.values, spec.data.format.parse)};
    for (const part of [...(spec.vconcat ?? []), ...(spec.hconcat ?? []), ...(spec.layer ?? [])]) expanded(part);
    return spec;
  };

  // Lines of at most so many letters, as Vega takes them.
  const wrapped = (text, letters) => {
    const lines = [];
    for (const part of [text].flat()) {
      for (const word of part.split(' ')) {
        const last = lines.at(-1);
        if (lines.length > 0 && last !== null && last.length + 1 + word.length <= letters) lines[lines.length - 1] += ` ${word}`;
        else lines.push(word);
      }
      lines.push(null);  // what follows begins a line
    }
    const kept = lines.filter((line) => line !== null);
    return kept.length === 1 ? kept[0] : kept;
  };

  // A plot that is wider than a phone gets its width, and its words several lines.
  const fitted = (spec) => {
    const copy = expanded(structuredClone(spec));
    const room = document.body.clientWidth - 140;
    if (document.body.clientWidth > phone) return copy;
    const letters = Math.floor((document.body.clientWidth - 80) / 6.5);
    const shorten = (of, name, most = letters) => {
      if (of && (typeof of[name] === 'string' || Array.isArray(of[name]))) of[name] = wrapped(of[name], most);
    };
    if (typeof copy.title === 'string') shorten(copy, 'title');
    for (const name of ['text', 'subtitle']) shorten(copy.title, name);
    for (const part of [copy, ...(copy.layer ?? [])]) {
      shorten(part.encoding?.x, 'title', Math.floor((room - 60) / 5.5));
      for (const of of ['color', 'strokeDash']) {  // which share a legend
        if (part.encoding?.[of]?.legend) part.encoding[of].legend.columns = 1;
      }
    }
    if (copy.width > room) copy.width = Math.max(160, room);
    return copy;
  };

  const options = (id) => ({
    mode: 'vega-lite', ast: true, expr: vega.expressionInterpreter, renderer: 'svg', config: config(),
    downloadFileName: id, actions: {export: {svg: true, png: true}, source: false, compiled: false, editor: false},
  });

  const draw = async (figure) => {
    const id = figure.dataset.chart;
    drawn.get(figure)?.finalize();
    const spec = fitted(charts[id]);
    let result = await vegaEmbed(figure, structuredClone(spec), options(id));
    // Long names next to the plot make it narrower.
    const excess = figure.querySelector('svg').getBoundingClientRect().width - figure.clientWidth;
    if (document.body.clientWidth <= phone && excess > 0 && spec.width > 120) {
      result.finalize();
      spec.width = Math.max(120, Math.floor(spec.width - excess));
      result = await vegaEmbed(figure, structuredClone(spec), options(id));
    }
    drawn.set(figure, result);
  };

  const complain = (figure) => (error) => {
    figure.textContent = `This plot can't be drawn: ${error.message}`;
    console.error(error);
  };
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      seen.unobserve(entry.target);
      draw(entry.target).catch(complain(entry.target));
    }
  }, {rootMargin: '300px'});
  const watch = (figure) => seen.observe(figure);
  for (const figure of document.querySelectorAll('figure[data-chart]')) watch(figure);
  dark.addEventListener('change', () => {
    for (const figure of drawn.keys()) draw(figure).catch(complain(figure));
  });
  return {data: read('openset-data'), charts, draw: watch, views: drawn};
})();
