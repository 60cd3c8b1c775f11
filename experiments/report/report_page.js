// The tables of a report, from its JSON: sorted by a click on a column's head, filtered by method.
'use strict';
(() => {
  const report = openset.data.report;
  for (const cell of report.cells) Object.assign(cell, report.rows[cell.row], report.metrics[cell.metric]);
  const tables = document.getElementById('tables');

  const element = (tag, properties = {}, ...children) => {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  };

  // As in the tables of the terminal: scaled and rounded by the metric's display rule. C++ rounds a number that lies
  // exactly between two to the even one, toFixed() away from 0. A double has at most 60 digits after these that count.
  const rounded = (number, digits) => {
    const text = number.toFixed(digits);
    const behind = number.toFixed(Math.min(100, digits + 60)).split('.')[1]?.slice(digits) ?? '';
    if (!/^50*$/.test(behind) || Number(text.at(-1)) % 2 === 0) return text;
    const even = (number - Math.sign(number) * 0.5 * 10 ** -digits).toFixed(digits);
    return Number(even.at(-1)) % 2 === 0 ? even : text;
  };
  const shown = (value, cell) => rounded(value * cell.display.factor, cell.display.digits);
  const rowName = (cell) => [cell.method, ...Object.entries(cell.axis).map(([name, value]) => `${name} ${value}`)].join(', ');
  const headOf = (cell) => {
    const arrow = cell.higher_is_better === null ? '' : cell.higher_is_better ? ' ↑' : ' ↓';
    return cell.column + (cell.display.unit ? `, ${cell.display.unit}` : '') + arrow;
  };

  // A name whose parts ("openauc", "lambda 0.1") have lines of their own on a phone; long parts break after "+" and "_".
  const breakable = (name) => name.split(/(?<=, )/).map((part) => element('span', {className: 'part'},
      ...part.split(/(?<=[+_])/).flatMap((piece) => [piece, element('wbr')]).slice(0, -1)));

  // One table a task and level of openness, whose columns are metrics; and one for each metric whose columns are sets of
  // unknown samples.
  const grouped = () => {
    const levels = new Map(), known = new Map();
    for (const cell of report.cells) {
      if (!levels.has(cell.task)) levels.set(cell.task, new Set()), known.set(cell.task, new Set());
      levels.get(cell.task).add(`${cell.known_classes} ${cell.unknown_classes}`);
      known.get(cell.task).add(cell.known_classes);
    }
    const groups = new Map();
    for (const cell of report.cells) {
      if (cell.mean_of_one) continue;  // a copy of the set's row
      const ofSet = cell.group !== 'pool';
      let title = cell.task;
      if (levels.get(cell.task).size > 1) {
        const ofKnown = known.get(cell.task).size > 1 ? `${cell.known_classes} known and ` : '';
        title += `, ${ofKnown}${cell.unknown_classes} unknown classes, openness ${cell.openness.toFixed(3)}`;
      }
      if (ofSet) title += `: ${headOf(cell)}, each set of unknown samples against all known ones`;
      if (!groups.has(title)) groups.set(title, {title, task: cell.task, columns: [], rows: new Map()});
      const group = groups.get(title), column = ofSet ? cell.group : cell.metric;
      if (!group.columns.some((other) => other.key === column)) {
        group.columns.push({key: column, metric: cell.metric, head: ofSet ? cell.group : headOf(cell), higher: cell.higher_is_better});
      }
      const key = rowName(cell);
      if (!group.rows.has(key)) group.rows.set(key, {name: key, cells: new Map()});
      group.rows.get(key).cells.set(column, cell);
    }
    return [...groups.values()];
  };

  const incomplete = (cell) => cell.missing > 0 || (cell.absent ?? []).length > 0;

  const cellOf = (cell) => {
    if (!cell || cell.n === 0) return element('td', {title: (cell?.absent ?? []).join('; ')}, cell?.missing ? '–' : cell ? 'undefined' : '');
    const mean = element(cell.mark === 'best' ? 'strong' : 'span', {}, shown(cell.mean, cell));
    if (cell.mark === 'second') mean.className = 'second';
    const notTested = cell.not_tested ? `not tested against ${report.baseline}: ${cell.not_tested}; ` : '';
    const td = element('td', {title: `n = ${cell.n}; ${notTested}${(cell.values ?? []).map((v, i) => `split ${cell.splits[i]}, seed ${cell.seeds[i]}: ${shown(v, cell)}`).join('; ')}`}, mean);
    td.dataset.mean = cell.mean;
    if (cell.n > 1) td.append(element('span', {className: 'spread'}, ` ± ${shown(cell.std, cell)}`));
    if (cell.n === 1 && typeof cell.low?.[0] === 'number') {
      td.append(element('span', {className: 'spread'}, ` [${shown(cell.low[0], cell)}, ${shown(cell.high[0], cell)}]`));
    }
    if (cell.among_best) td.append(element('sup', {className: 'star', title: 'the best, or not told apart from it: see the notes'}, '†'));
    if (cell.detectable) td.append(element('sup', {className: 'star', title: `differs from ${report.baseline}: p = ${cell.p_value.toPrecision(2)}`}, '*'));
    if (incomplete(cell)) td.append(element('span', {className: 'spread'}, ` (n=${cell.n})`));
    for (const published of cell.published ? [cell.published, ...(cell.also_published ?? [])] : []) {
      const difference = cell.mean - published.value;
      td.append(element('span', {className: 'published', title: [published.source, published.place,
        ...(published.reasons ?? []), ...(published.doubts ?? [])].filter(Boolean).join('; ')},
      `published ${shown(published.value, cell)} (${difference >= 0 ? '+' : ''}${shown(difference, cell)})`));
    }
    return td;
  };

  const render = (group) => {
    const body = element('tbody');
    const rows = [...group.rows.values()];
    const fill = (ordered) => {
      body.replaceChildren(...ordered.map((row) => {
        const tr = element('tr', {}, element('td', {}, ...breakable(row.name)));
        for (const column of group.columns) tr.append(cellOf(row.cells.get(column.key)));
        tr.dataset.name = row.name;
        return tr;
      }));
      filter();
    };
    let by = null, ascending = true;
    const sort = (column, th) => () => {
      const firstWay = column === null || column.higher === false;
      ascending = by === column ? !ascending : firstWay;
      by = column;
      const value = (row) => column === null ? row.name : row.cells.get(column.key)?.mean ?? null;
      const ordered = [...rows].sort((a, b) => {
        const [x, y] = [value(a), value(b)];
        if (x === null || y === null) return (x === null) - (y === null);
        return (x < y ? -1 : x > y ? 1 : 0) * (ascending ? 1 : -1);
      });
      for (const other of th.parentElement.children) other.removeAttribute('aria-sort');
      th.setAttribute('aria-sort', ascending ? 'ascending' : 'descending');
      fill(ordered);
    };
    const head = (text, column) => {
      const th = element('th', {scope: 'col'});
      const button = element('button', {type: 'button'}, text);
      button.addEventListener('click', sort(column, th));
      th.append(button);
      return th;
    };
    const heads = element('tr', {}, head('method', null));
    for (const column of group.columns) heads.append(head(column.head, column));
    const table = element('table', {}, element('caption', {}, group.title), element('thead', {}, heads), body);
    const scroll = element('div', {className: 'scroll', tabIndex: 0, role: 'region', ariaLabel: group.title}, table);
    scroll.dataset.task = group.task;
    tables.append(scroll);
    fill(rows);
    const first = group.columns.findIndex((column) => column.metric === report.sort_by);
    if (first >= 0) heads.children[first + 1].firstChild.click();
  };

  const words = element('input', {type: 'search', placeholder: 'filter methods', ariaLabel: 'filter methods', id: 'filter'});
  const tasks = [...new Set(report.cells.map((cell) => cell.task))];
  const task = element('select', {id: 'task', ariaLabel: 'task'}, element('option', {value: ''}, 'all tasks'),
      ...tasks.map((name) => element('option', {value: name}, name)));
  const filter = () => {
    const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of tables.querySelectorAll('tbody tr')) {
      row.hidden = !wanted.every((word) => row.dataset.name.toLowerCase().includes(word));
    }
    for (const table of tables.children) table.hidden = task.value !== '' && table.dataset.task !== task.value;
  };
  task.addEventListener('change', filter);
  words.addEventListener('input', filter);
  document.getElementById('controls').append(words, ...(tasks.length > 1 ? [task] : []),
      element('span', {className: 'state'}, 'mean ± population standard deviation over splits and seeds; best of those with all runs bold, second best underlined, by the mean alone'));
  for (const group of grouped()) render(group);
})();

// Decisions by class and the largest mistakes of one trial, chosen from a list.
(() => {
  const examples = openset.data.examples;
  const place = document.getElementById('examples');
  if (!examples?.length) return;
  const element = (tag, properties = {}, ...children) => {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  };
  const percent = (part, all) => all ? (100 * part / all).toFixed(1) : '–';
  const several = new Set(examples.map((example) => example.task)).size > 1;
  const nameOf = (example) => `${example.line}${several ? `, ${example.task}` : ''}: split ${example.split}, seed ${example.seed}`;
  const table = (title, heads, rows) => element('div', {className: 'scroll', tabIndex: 0, role: 'region', ariaLabel: title},
      element('table', {}, element('caption', {}, title),
          element('thead', {}, element('tr', {}, ...heads.map((head) => element('th', {scope: 'col'}, head)))),
          element('tbody', {}, ...rows.map((row) => element('tr', {}, ...row.map((cell) => cell instanceof Node ? cell : element('td', {}, `${cell}`)))))));

  // Rows: classes, with the unknown ones below; columns: accepted as each known class, and rejected. Shares of a row.
  const matrix = (example) => {
    const known = example.known.map((row) => ({name: row[0], samples: row[1], rejected: row[3]}));
    const unknown = example.unknown.map((row) => ({name: row[1] ? `${row[0]} (${row[1]})` : row[0], samples: row[2], rejected: row[3], unknown: true}));
    const rows = [...known, ...unknown];
    const count = new Map(example.confusion.map(([actual, predicted, samples]) => [`${actual} ${predicted}`, samples]));
    const cell = (samples, row, good) => {
      const share = row.samples ? samples / row.samples : 0;
      const td = element('td', {className: good ? 'good' : 'bad', title: `${samples} of ${row.samples}`}, samples ? percent(samples, row.samples) : '·');
      td.style.setProperty('--share', share.toFixed(3));
      return td;
    };
    const body = rows.map((row, at) => {
      const actual = row.unknown ? -1 - (at - known.length) : at;
      const th = element('th', {scope: 'row', className: row.unknown ? 'unknown' : ''}, row.name);
      return [th, element('td', {}, `${row.samples}`), ...known.map((_, predicted) => cell(count.get(`${actual} ${predicted}`) ?? 0, row, actual === predicted)), cell(row.rejected, row, Boolean(row.unknown))];
    });
    const made = table('Confusion matrix: % of the samples of a class that are accepted as each known class, or rejected',
        ['class', 'samples', ...known.map((row) => row.name), 'rejected'], body);
    made.classList.add('matrix');
    return made;
  };

  // Where there are too many classes for a matrix.
  const commonest = (example) => {
    const name = (place) => place >= 0 ? example.known[place][0] : example.unknown[-1 - place][0];
    const wrong = example.confusion.filter(([actual, predicted]) => actual !== predicted).slice(0, 25);
    return table('Most frequent confusions among accepted samples', ['class', 'accepted as', 'samples'],
        wrong.map(([actual, predicted, samples]) => [name(actual) + (actual < 0 ? ' (unknown)' : ''), name(predicted), samples]));
  };

  const classes = (example) => table('Each known class', ['class', 'samples', 'accuracy, closed set, %', 'right and accepted, %', 'rejected, %'],
      example.known.map(([name, samples, right, rejected, rightRejected]) =>
        [name, samples, percent(right, samples), percent(right - rightRejected, samples), percent(rejected, samples)]));

  const kinds = {1: 'Known, taken for unknown', 2: 'Unknown, taken for known', 3: 'Known, taken for another class'};
  const columns = 12, tile = 56, gap = 2, mark = 6;  // of the sheet (experiments/report/examples.h)
  const mistakes = (example) => {
    const made = element('div');
    let row = 0;
    for (const kind of [1, 2, 3]) {
      const some = example.mistakes.filter((mistake) => mistake[0] === kind).slice(0, columns);
      if (some.length === 0) continue;
      const list = element('ol', {className: 'mistakes'});
      some.forEach(([, name, set, predicted, score, sample], column) => {
        const says = `${name}${set ? ` (${set})` : ''}`;
        const item = element('li', {title: sample ?? ''});
        if (example.sheet) {
          const picture = element('span', {className: 'tile', role: 'img', ariaLabel: says});
          picture.style.backgroundImage = `url(${example.sheet})`;
          picture.style.backgroundPosition = `-${mark + gap + column * (tile + gap)}px -${gap + row * (tile + gap)}px`;
          item.append(picture);
        }
        item.append(element('span', {className: 'says'}, says));
        if (kind !== 1) item.append(element('span', {className: 'state'}, `as ${predicted}`));
        item.append(element('span', {className: 'state'}, score === null ? 'infinite' : score.toPrecision(3)));
        list.append(item);
      });
      made.append(element('h3', {}, `${kinds[kind]} (${some.length} of ${example.num_mistakes[kind - 1]})`), list);
      ++row;
    }
    return made;
  };

  const shown = element('div');
  const choice = element('select', {id: 'example', ariaLabel: 'trial'}, ...examples.map((example, at) => element('option', {value: at}, nameOf(example))));
  const show = () => {
    const example = examples[choice.value];
    const parts = [];
    if (example.known.length > 0) {
      parts.push(element('p', {className: 'state'}, `Rejected: unknown score above ${example.threshold === null ? 'infinity' : example.threshold.toPrecision(4)} (${example.rule}).`));
      parts.push(example.known.length <= 30 && !example.cut ? matrix(example) : commonest(example), classes(example));
    }
    parts.push(mistakes(example));
    shown.replaceChildren(...parts);
  };
  choice.addEventListener('change', show);
  place.append(element('h2', {}, 'Decisions and mistakes'),
      element('p', {className: 'state'}, 'One trial of each method; the unknown score is below each mistake, the worst first.'), choice, shown);
  show();
})();

// The contents: a link to each section. Made last, when every section is there.
(() => {
  const sections = [...document.querySelectorAll('h2')];
  const links = [['tables', 'Results'], ...sections.map((head, at) => {
    head.id = head.id || `section-${at + 1}`;
    return [head.id, head.textContent];
  })].map(([id, text]) => {
    const link = document.createElement('a');
    link.href = `#${id}`;
    link.textContent = text;
    return link;
  });
  document.getElementById('contents').append(...links);
})();
