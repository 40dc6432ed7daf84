/*
 * A table. Its headings sort the rows, the search filters them; a screenful is shown until the user
 * clicks the button for more. A column is {title, help, text: row => string, value: row => sort key,
 * cell: row => Node, number: bool, down: bool, grow: bool}; `cell` replaces `text` if text is not
 * enough, `down` puts the greatest first. Unknown values are null, and come last.
 */

const FIRST_ROWS = 30, MORE_ROWS = 300;

class Table {
  constructor({ label, columns, rows, found, sorted = 0, descending = false }) {
    Object.assign(this, { columns, all: rows, found, sorted, descending });
    this.words = '';
    this.most = FIRST_ROWS;
    this.body = el('tbody', { onkeydown: (event) => this.key(event), onfocusin: (event) => this.enter(event) });
    this.headings = columns.map((column, i) => this.heading(column, i));
    this.more = el('button', { type: 'button', onclick: () => this.show(MORE_ROWS) });
    this.rest = el('button', { type: 'button', onclick: () => this.show(Infinity) }, 'Show all');
    this.foot = el('p', { class: 'more' }, this.more, ' ', this.rest);
    this.none = el('p', { class: 'why', hidden: true }, 'No row matches the search.');
    this.element = el('div', { class: 'tabled' },
      el('div', { class: 'scroll' },
        el('table', { 'aria-label': label }, el('thead', {}, el('tr', {}, ...this.headings)), this.body)),
      this.none, this.foot);
    this.sort();
  }

  heading(column, i) {
    return el('th', { scope: 'col', class: column.number ? 'number' : null },
      column.value ? el('button', { type: 'button', title: column.help || null, onclick: () => this.sortBy(i) },
        column.title) : el('span', { title: column.help || null }, column.title));
  }

  sortBy(i) {
    this.descending = this.sorted === i ? !this.descending : Boolean(this.columns[i].down);
    this.sorted = i;
    this.sort();
    tell('sorted by ' + this.columns[i].title + (this.descending ? ', greatest first' : ', least first'));
  }

  sort() {
    const { value } = this.columns[this.sorted];
    const sign = this.descending ? -1 : 1;
    const keyed = this.all.map((row) => [value(row), row]);
    keyed.sort(([a], [b]) => a === b ? 0 : a === null ? 1 : b === null ? -1 : a < b ? -sign : sign);
    this.all = keyed.map(([, row]) => row);
    this.headings.forEach((th, i) => {
      if (i === this.sorted) th.setAttribute('aria-sort', this.descending ? 'descending' : 'ascending');
      else th.removeAttribute('aria-sort');
    });
    this.filter(this.words);
  }

  /* Shows only the rows that contain WORDS. Returns their number. */
  filter(words, only = this.only) {
    this.words = words;
    this.only = only;
    this.rows = this.all.filter((row) => this.found(row, words) && (!only || only(row)));
    this.most = FIRST_ROWS;
    this.body.replaceChildren();
    this.show(0);
    return this.rows.length;
  }

  /* Adds the next rows, at most MORE. */
  show(more) {
    const from = this.body.rows.length;
    this.most = Math.min(this.most + more, this.rows.length);
    this.body.append(...this.rows.slice(from, Math.min(this.most, this.rows.length)).map((row) => this.row(row)));
    const left = this.rows.length - this.body.rows.length;
    this.foot.hidden = left === 0;
    this.more.textContent = moreText(left, MORE_ROWS);
    this.rest.hidden = left <= MORE_ROWS;
    this.none.hidden = this.rows.length > 0;
    if (from === 0) makeCurrent(this.body.querySelectorAll('button'), this.body.querySelector('button'));
    else if (more && this.body.rows[from]) this.focus(from, 0);
  }

  row(row) {
    return el('tr', {}, ...this.columns.map((column) => {
      const cell = column.cell ? column.cell(row) : column.text(row);
      return el('td', {
        class: (column.number ? 'number' : '') + (column.grow ? ' grow' : ''),
        title: column.exactly ? column.exactly(row) : null,
      }, cell);
    }));
  }

  focus(index, item) {
    const items = this.body.rows[index].querySelectorAll('button');
    if (items.length) items[Math.min(item, items.length - 1)].focus();
  }

  enter(event) {
    makeCurrent(this.body.querySelectorAll('button[tabindex="0"]'), null);
    event.target.tabIndex = 0;
  }

  key(event) {
    const row = event.target.closest('tr');
    const items = Array.from(row.querySelectorAll('button'));
    const at = row.sectionRowIndex, item = items.indexOf(event.target);
    const to = stepped(event.key, at, this.body.rows.length);
    if (event.key === 'ArrowRight' || event.key === 'ArrowLeft') {
      const beside = items[item + (event.key === 'ArrowRight' ? 1 : -1)];
      if (beside) beside.focus();
    } else if (to !== null) this.focus(to, item);
    else return;
    event.preventDefault();
  }
}

/* Returns the text of a button that shows MOST of LEFT rows. */
function moreText(left, most) {
  return left <= most ? 'Show the other ' + formatCount(left) :
    'Show ' + formatCount(most) + ' more of ' + formatCount(left);
}

/* Makes a button in a row. The Tab key moves to one of all buttons of the table. */
function link(text, clicked, attributes = {}) {
  return el('button', { type: 'button', class: 'link', tabindex: -1, onclick: clicked, ...attributes }, ...breakable(text));
}

function countColumn(title, of, help) {
  return { title, help, number: true, down: true, value: of, text: (row) => formatCount(of(row)) };
}

function timeColumn(title, of, help) {
  return { title, help, number: true, down: true, value: of, text: (row) => formatTime(of(row)),
    exactly: (row) => formatExactly(of(row)) };
}

/* Makes a cell with a time, and behind the time a bar as wide as its share of WHOLE. */
function barCell(text, share) {
  const bar = el('span', { class: 'share' });
  bar.style.width = (100 * Math.min(share, 1)).toFixed(2) + '%';
  return el('span', { class: 'barred' }, bar, el('span', {}, text));
}
