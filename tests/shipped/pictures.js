/* Functions that look at a picture or page in a browser; pictures.sh adds them to each. */

/* Waits until what depends on the size of the window is drawn. */
window.settled = async () => {
  for (let i = 0; i < 3; i++) await new Promise(requestAnimationFrame);
};

/* Describes ELEMENT. */
window.described = (element) => `${element.tagName}.${element.getAttribute('class') || element.id}: ${element.textContent.replace(/\s+/g, ' ').slice(0, 40)}`;

/* Returns what goes beyond its box: the document, HTML that is neither meant to scroll nor to be cut, and of an SVG all
 * that is beyond the window, and names beyond their boxes. */
window.overflows = () => {
  const root = document.documentElement, found = [];
  if (root.scrollWidth > root.clientWidth) found.push(`document: ${root.scrollWidth} > ${root.clientWidth}`);
  for (const element of document.querySelectorAll('body *, foreignObject *')) {
    const style = getComputedStyle(element);
    if (style.overflowX === 'visible' && style.display !== 'inline' && element.clientWidth > 0 &&
        element.scrollWidth > element.clientWidth + 1) found.push(described(element));
  }
  for (const element of document.querySelectorAll('svg > g *, svg > g g *')) {
    if (!['rect', 'text', 'path'].includes(element.tagName) || element.closest('.away')) continue;
    const box = element.getBoundingClientRect();
    if (box.width && (box.left < -1 || box.right > root.clientWidth + 1)) found.push(described(element));
    const rect = element.tagName === 'text' && element.parentElement.querySelector('rect');
    if (rect && element.textContent) {
      const around = rect.getBoundingClientRect();
      if (box.left < around.left - 1 || box.right > around.right + 1 || box.bottom > around.bottom + 2) found.push(described(element));
    }
  }
  return found;
};

/* Returns the lightness of a colour like "rgb(1, 2, 3)", from 0 to 1. */
window.lightness = (colour) => {
  const [r, g, b] = colour.match(/[\d.]+/g).map(Number);
  return (0.299 * r + 0.587 * g + 0.114 * b) / 255;
};

/* Returns what is wrong with the picture in the present window, in COLOURS: light or dark. */
window.faults = async (colours) => {
  await settled();
  const found = overflows(), ground = lightness(getComputedStyle(document.body || document.documentElement).backgroundColor);
  if ((colours === 'dark') !== ground < 0.3) found.push('the background is not ' + colours);
  for (const text of document.querySelectorAll('#told, h2, .w, .f text, .p text'))
    if (Math.abs(textLightness(text) - groundOf(text, ground)) < 0.3) found.push('too little contrast: ' + described(text));
  return found.slice(0, 5);
};

window.textLightness = (text) => lightness(getComputedStyle(text)[text.tagName === 'text' ? 'fill' : 'color']);

/* Returns the lightness of what is behind TEXT: its rectangle, over the background. */
window.groundOf = (text, ground) => {
  const rect = text.tagName === 'text' && text.parentElement.querySelector('rect');
  if (!rect) return ground;
  const style = getComputedStyle(rect), part = Number(style.fillOpacity);
  return part * lightness(style.fill) + (1 - part) * ground;
};

/* Returns whether the present hit of a search is in view, below all that covers it. */
window.hitIsSeen = () => {
  const hit = document.querySelector('.hit.current');
  if (!hit) return false;
  const box = hit.getBoundingClientRect(), bar = document.querySelector('.bar').getBoundingClientRect();
  return box.top >= bar.bottom - 1 && box.bottom <= innerHeight && box.width > 0;
};
