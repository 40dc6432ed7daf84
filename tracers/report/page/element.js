/* Elements of the page. Texts of a recording become text nodes and attributes, never markup. */

/* Makes an element: el('td', {class: 'number', onclick: f}, 'text', child). Attributes that are null
   or false are left out; attributes whose names begin with "on" are listeners. */
function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== false) element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

/* Returns TEXT as parts that a line can break between: after each colon, slash and comma, and each dot of a name, but
 * not before an arity. */
function breakable(text) {
  return text.split(/(?<=[:/,]|\w\.(?=\D))(?!\d+$)/).flatMap((part, i) => i ? [el('wbr'), part] : [part]);
}

function byId(id) {
  return document.getElementById(id);
}

/* Has a screen reader speak TEXT. */
function tell(text) {
  byId('told').textContent = text;
}

/* Leaves one of ITEMS in the order of the Tab key: the item that had the focus last. */
function makeCurrent(items, item) {
  for (const other of items) if (other.tabIndex === 0) other.tabIndex = -1;
  if (item) item.tabIndex = 0;
}

/* Returns the index to which KEY moves from AT, in a line of COUNT items; null for other keys. */
function stepped(key, at, count) {
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + 10, PageUp: at - 10, Home: 0, End: count - 1 }[key];
  return to === undefined ? null : Math.min(Math.max(to, 0), count - 1);
}

/* Makes a <label> with a <select>; OPTIONS are pairs [value, text]. */
function choice(text, options, changed) {
  const select = el('select', { onchange: () => changed(select.value) },
    ...options.map(([value, title]) => el('option', { value }, title)));
  return el('label', { class: 'choice' }, text + ' ', select);
}

/* --- the tip: lines about the element that is under the pointer or has the focus --- */

function showTip(lines, x, y) {
  const tip = byId('tip');
  tip.replaceChildren(...lines.map((line, i) => el('div', { class: i ? null : 'head' }, line)));
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const room = document.documentElement.clientWidth;
  tip.style.left = Math.max(4, Math.min(x + 12, room - box.width - 8)) + 'px';
  tip.style.top = (y + 18 + box.height > window.innerHeight ? Math.max(4, y - box.height - 10) : y + 18) + 'px';
}

function showTipAt(lines, element) {
  const box = element.getBoundingClientRect();
  showTip(lines, Math.max(box.left, 0), box.bottom - 14);
}

function hideTip() {
  byId('tip').hidden = true;
}
