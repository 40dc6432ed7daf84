/* The recording: the JSON of the page, and the names of its functions and processes. */

const REST = -1; /* in place of an index: all other functions or processes together */

function readReport() {
  const report = JSON.parse(byId('data').textContent);
  if (report.version !== 1) throw new Error('version ' + report.version + ' of the data is not supported by this page');
  report.duration = report.time.kind === 'none' ? null : report.time.last - report.time.first;
  firstAt = report.time.first;
  report.processNames = report.processes.map((process) => {
    const label = labelOf(process);
    return label === null ? process.id : label + ' ' + process.id;
  });
  report.slowOf = new Map();
  for (const call of report.slowest)
    report.slowOf.set(call.name, (report.slowOf.get(call.name) || 0) + 1);
  return report;
}

/* Returns the registered name; the first function of a process without a name, unless it is one that only starts
 * others; else null. */
function labelOf(process) {
  const starts = /^:?(proc_lib[:.]init_p\/[35]|erlang[:.]apply\/[23])$/;
  return process.name !== null || process.kind !== 'process' || starts.test(process.entry) ? process.name : process.entry;
}

function functionName(report, index) {
  return index === REST ? 'all other functions' : report.names[index];
}

function processName(report, index, others = 'others') {
  return index === REST ? others : report.processNames[index];
}

/* True if one of the texts contains the search words, which are in lower case. */
function has(words, ...texts) {
  return words === '' || texts.some((text) => text !== null && text.toLowerCase().includes(words));
}

/* Returns lines with all facts about a process. */
function processLines(report, index) {
  const process = report.processes[index];
  const lines = [(process.kind === 'port' ? 'port ' : '') + processName(report, index)];
  const add = (text, value) => { if (value !== null) lines.push(text + ' ' + value); };
  add('runs', process.entry);
  add('parent', process.parent === null ? null : processName(report, process.parent));
  if (process.born !== null || process.died !== null)
    lines.push((process.born === null ? 'birth not recorded' : 'born ' + formatAt(process.born)) +
      (process.died === null ? '' : ', died ' + formatAt(process.died)));
  add('ended', process.reason);
  lines.push(formatCounted(process.events, 'event') + ', ' + formatCounted(process.calls, 'call'));
  add('in traced functions', process.own && formatTime(process.own));
  add('running', process.running && formatTime(process.running));
  if (process.sent || process.received)
    lines.push(formatCount(process.sent) + ' sent, ' + formatCount(process.received) + ' received');
  if (process.collections)
    lines.push(formatCounted(process.collections, 'collection') +
      (process.collecting === null ? '' : ' of ' + formatTime(process.collecting)));
  return lines;
}
