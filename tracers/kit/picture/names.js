/* Names of functions in pictures and pages. */

'use strict'; /* for all files of a picture or page: this file is the first */

/* The module of "m:f/1" or "'odd:m':f/1", of "M.P.f/1" or ":\"odd.m\".f/1" in Elixir, quotes and all. */
function moduleOf(name) {
  const elixir = /^(:"(?:\\.|[^"\\])*"|:[^."]+|[A-Z]\w*(?:\.[A-Z]\w*)*)\./.exec(name);
  const erlang = /^('(?:\\.|[^'\\])*'|[^':]+):/.exec(name);
  return elixir ? elixir[1] : erlang ? erlang[1] : name;
}

/* Cuts TEXT to ROOM columns of a font of equal widths; letters of East Asia take two. */
function cutText(text, room) {
  let used = 0, fits = 0;
  for (const letter of text) {
    used += letter.codePointAt(0) >= 0x1100 ? 2 : 1;
    if (used > room) return room < 3 ? '' : text.slice(0, fits) + '…';
    if (used < room) fits += letter.length;
  }
  return text;
}

/* Cuts NAME to ROOM columns: first its module, then the function's name. */
function cutName(name, room) {
  if (cutText(name, room) === name) return name;
  const module = moduleOf(name), called = name.slice(module.length);
  if (called === '') return cutText(name, room);
  if (called.length + 3 <= room) return cutText(module, room - called.length) + called;
  return cutText(called.slice(1), room);
}

/* Returns [hue, saturation, lightness] of a warm colour: a hue for each module, a lightness for each function. */
function functionColour(name) {
  let sum = 2166136261, hue = 0;
  const module = moduleOf(name);
  for (const part of [module, name.slice(module.length)]) {
    for (const byte of new TextEncoder().encode(part)) sum = Math.imul(sum ^ byte, 16777619) >>> 0;
    hue = hue || sum;
  }
  return [(hue >>> 8) % 60, 70 + hue % 25, 54 + (sum >>> 16) % 20];
}
