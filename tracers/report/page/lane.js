/* The content of a row of the timeline, and the scale above the rows. */

const HIGHEST = 63;

/* Decodes levels, a character for each bin from FIRST on: the level above '0'; a tilde stands for a
   backslash. */
function readLevels(first, text) {
  const levels = Uint8Array.from(text, (letter) => (letter === '~' ? 92 : letter.charCodeAt(0)) - 48);
  return { first, levels };
}

/* Returns the level of the bin that contains the time AT. */
function levelAt(timeline, index, at) {
  const row = timeline.levels.get(index), bin = Math.floor(at / timeline.report.timeline.width);
  return (row && row.levels[bin - row.first]) || 0;
}

/* Describes LEVEL in words. */
function levelText(timeline, level) {
  const { unit, most, width } = timeline.report.timeline;
  if (unit === 'events')
    return 'about ' + formatCounted(Math.ceil(level * most / HIGHEST), 'event') + ' in ' + formatTime(width);
  return (100 * level / HIGHEST).toFixed(0) + ' % ' + (unit === 'running' ? 'running' : 'in traced calls');
}

/* Returns round times since the recording's first record, as many as fit. */
function ticks(from, to, width) {
  const rough = (to - from) / Math.max(width / 110, 1), power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((times) => times * power).find((candidate) => candidate >= rough);
  const found = [];
  const last = firstAt + to;
  const [unit, by] = last < MICRO ? ['ns', 1] : last < MILLI ? ['µs', MICRO] : last < SECOND ? ['ms', MILLI] : ['s', SECOND];
  const places = Math.min(Math.max(0, -Math.floor(Math.log10(step / by) + 1e-9)), 9);
  for (let at = Math.ceil((firstAt + from) / step) * step; at <= last; at += step)
    found.push({ at: at - firstAt, text: (at / by).toFixed(places) + ' ' + unit });
  return found;
}

function drawLane(timeline, lane, colours) {
  const canvas = lane.querySelector('canvas'), index = lane.process, process = timeline.report.processes[index];
  const ratio = window.devicePixelRatio || 1, height = 20, bottom = height - 4;
  canvas.width = Math.round(timeline.width * ratio);
  canvas.height = height * ratio;
  const context = canvas.getContext('2d');
  context.scale(ratio, ratio);
  const scale = timeline.width / (timeline.to - timeline.from), x = (at) => (at - timeline.from) * scale;
  const fill = (colour, from, to, y, high) => {
    const left = Math.max(from, 0), right = Math.min(to, timeline.width);
    context.fillStyle = colours[colour];
    if (right > left) context.fillRect(left, y, right - left, high);
  };

  for (const { at } of timeline.ticks) fill('grid', x(at), x(at) + 1, 0, height);
  drawLife(process, timeline.whole, x, fill, bottom);
  drawLevels(timeline, index, x, fill, context, bottom);
  for (const call of timeline.slow.get(index) || [])
    fill('slow', x(call.at), Math.max(x(call.at + call.took), x(call.at) + 3), 0, 3);
  if (timeline.call && timeline.call.process === index) drawCall(timeline.call, context, x, colours, height);
}

/* Draws a line from the birth of a process to its death; an upright stroke shows a recorded birth or death. */
function drawLife(process, whole, x, fill, bottom) {
  const born = process.born === null ? 0 : process.born, died = process.died === null ? whole : process.died;
  fill('life', x(born), Math.max(x(died), x(born) + 1), bottom + 1, 3);
  if (process.born !== null) fill('edge', x(born), x(born) + 2, 2, bottom + 2);
  if (process.died !== null) fill('edge', x(died) - 2, x(died), 2, bottom + 2);
}

/* Height and colour show levels. If a pixel has several bins, the highest is shown. */
function drawLevels(timeline, index, x, fill, context, bottom) {
  const row = timeline.levels.get(index), { width } = timeline.report.timeline;
  if (!row) return;
  for (let i = 0; i < row.levels.length;) {
    const left = x((row.first + i) * width);
    let level = 0, next = i;
    do level = Math.max(level, row.levels[next++]);
    while (next < row.levels.length && x((row.first + next) * width) < left + 1);
    if (level > 0) {
      const high = Math.max(2, (bottom - 3) * level / HIGHEST);
      context.globalAlpha = 0.35 + 0.65 * level / HIGHEST;
      fill('busy', left, Math.max(x((row.first + next) * width), left + 1), bottom - high, high);
    }
    i = next;
  }
  context.globalAlpha = 1;
}

function drawCall(call, context, x, colours, height) {
  const left = x(call.at), width = Math.max(x(call.at + call.took) - left, 3);
  context.fillStyle = context.strokeStyle = colours.chosen;
  context.globalAlpha = 0.3;
  context.fillRect(left, 0, width, height);
  context.globalAlpha = 1;
  context.lineWidth = 2;
  context.strokeRect(left, 1, width, height - 2);
}
