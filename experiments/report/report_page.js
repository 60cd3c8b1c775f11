// The tables of a report, from its JSON: sorted by a click on a column's head, filtered by method.
'use strict';
(() => {
  const report = openset.data.report;
  const tables = document.getElementById('tables');

  const element = (tag, properties = {}, ...children) => {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  };

  // As in the tables of the terminal: scaled and rounded by the metric's display rule.
  const shown = (value, cell) => (value * cell.display.factor).toFixed(cell.display.digits);
  const rowName = (cell) => [cell.method, ...Object.entries(cell.axis).map(([name, value]) => `${name} ${value}`)].join(', ');
  const headOf = (cell) => {
    const arrow = cell.higher_is_better === null ? '' : cell.higher_is_better ? ' ↑' : ' ↓';
    return cell.label + (cell.display.unit ? `, ${cell.display.unit}` : '') + arrow;
  };

  // One table a task, level of openness, and whether its rows are sets of unknown samples.
  const grouped = () => {
    const levels = new Map();
    for (const cell of report.cells) {
      if (!levels.has(cell.task)) levels.set(cell.task, new Set());
      levels.get(cell.task).add(cell.unknown_classes);
    }
    const groups = new Map();
    for (const cell of report.cells) {
      const ofSet = cell.group !== 'pool';
      let title = cell.task;
      if (levels.get(cell.task).size > 1) title += `, ${cell.unknown_classes} unknown classes, openness ${cell.openness.toFixed(3)}`;
      if (ofSet) title += ': each set of unknown samples against all known ones';
      if (!groups.has(title)) groups.set(title, {title, ofSet, columns: [], rows: new Map()});
      const group = groups.get(title);
      if (!group.columns.some((column) => column.metric === cell.metric)) {
        group.columns.push({metric: cell.metric, head: headOf(cell), higher: cell.higher_is_better});
      }
      const key = JSON.stringify([rowName(cell), ofSet ? cell.group : '']);
      if (!group.rows.has(key)) group.rows.set(key, {name: rowName(cell), set: cell.group, cells: new Map()});
      group.rows.get(key).cells.set(cell.metric, cell);
    }
    return [...groups.values()];
  };

  // The best and the second best mean of a column, where two or more differ.
  const ranks = (rows, column) => {
    if (column.higher === null) return [];
    const means = [...new Set(rows.map((row) => row.cells.get(column.metric)?.mean ?? null).filter((mean) => mean !== null))];
    means.sort((a, b) => column.higher ? b - a : a - b);
    return means.length < 2 ? [] : means;
  };

  const cellOf = (cell, best) => {
    if (!cell || cell.n === 0) return element('td', {title: (cell?.absent ?? []).join('; ')}, cell?.missing ? '–' : cell ? 'undefined' : '');
    const mean = element(cell.mean === best[0] ? 'strong' : 'span', {}, shown(cell.mean, cell));
    if (cell.mean === best[1]) mean.className = 'second';
    const td = element('td', {title: `n = ${cell.n}; ${cell.values.map((v, i) => `split ${cell.splits[i]}, seed ${cell.seeds[i]}: ${shown(v, cell)}`).join('; ')}`}, mean);
    td.dataset.mean = cell.mean;
    if (cell.n > 1) td.append(element('span', {className: 'spread'}, ` ± ${shown(cell.std, cell)}`));
    if (cell.published) {
      const difference = cell.mean - cell.published.value;
      td.append(element('span', {className: 'published', title: cell.published.note ?? ''},
          `published ${shown(cell.published.value, cell)} (${difference >= 0 ? '+' : ''}${shown(difference, cell)})`));
    }
    return td;
  };

  const render = (group) => {
    const body = element('tbody');
    const rows = [...group.rows.values()];
    const best = new Map(group.columns.map((column) => [column.metric, ranks(rows, column)]));
    const fill = (ordered) => {
      body.replaceChildren(...ordered.map((row) => {
        const tr = element('tr', {}, element('td', {}, row.name));
        if (group.ofSet) tr.append(element('td', {className: 'set'}, row.set));
        for (const column of group.columns) tr.append(cellOf(row.cells.get(column.metric), best.get(column.metric)));
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
      const value = (row) => column === null ? row.name : row.cells.get(column.metric)?.mean ?? null;
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
    if (group.ofSet) heads.append(element('th', {scope: 'col', className: 'set'}, 'unknown'));
    for (const column of group.columns) heads.append(head(column.head, column));
    const table = element('table', {}, element('caption', {}, group.title), element('thead', {}, heads), body);
    tables.append(element('div', {className: 'scroll'}, table));
    fill(rows);
  };

  const words = element('input', {type: 'search', placeholder: 'filter methods', ariaLabel: 'filter methods', id: 'filter'});
  const filter = () => {
    const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of tables.querySelectorAll('tbody tr')) {
      row.hidden = !wanted.every((word) => row.dataset.name.toLowerCase().includes(word));
    }
  };
  words.addEventListener('input', filter);
  document.getElementById('controls').append(words,
      element('span', {className: 'state'}, 'mean ± population standard deviation over splits and seeds; best bold, second best underlined'));
  for (const group of grouped()) render(group);
})();
