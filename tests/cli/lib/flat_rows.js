// Groups the flat rows of recordings by function, with DuckDB, as a user would, and compares the counts
// with those of the tracer `count`, the durations with those of `time`, and all times with those of the JSON lines.
//
//     node flat_rows.js FOLDER
//
// FOLDER has, for each recording NAME, NAME.rows.csv, NAME.rows.jsonl, NAME.count.json, NAME.time.json,
// NAME.lines.jsonl.
// Prints a line for each recording.
//
//     node flat_rows.js --sql STATEMENT
//
// Prints the rows of the statement, with | between columns.
'use strict';
const fs = require('fs');
const path = require('path');
const assert = require('assert');
const { DuckDBInstance } = require('@duckdb/node-api');

// The name of an atom that is written as Erlang text.
function atomOf(text) {
    if (!text.startsWith("'"))
        return text;
    return text.slice(1, -1).replace(/\\(x\{([0-9A-F]+)\}|.)/gi, (all, one, code) =>
        code ? String.fromCodePoint(parseInt(code, 16)) : { n: '\n', t: '\t', r: '\r' }[one] || one);
}

// The function "m:f/1" of a tracer as a key.
function keyOf(name) {
    const [, module, func, arity] = /^('(?:[^'\\]|\\.)*'|[^':]*):('(?:[^'\\]|\\.)*'|[^']*)\/(\d+)$/.exec(name);
    return JSON.stringify([atomOf(module), atomOf(func), Number(arity)]);
}

function countedOf(file) {
    const counted = JSON.parse(fs.readFileSync(file, 'utf8'));
    const functions = {}, tags = {};
    for (const { calls, function: name } of counted.functions)
        functions[keyOf(name)] = calls;
    for (const { events, tag } of counted.tags)
        tags[tag] = events;
    return { functions, tags };
}

// Durations by function. Where as many calls of a function have one as `time` has measured, they are the same calls:
// the longest is that of `time`; the sum is its total, or more, as the total counts recursive calls once.
async function compareDurations(query, source, file, name) {
    const measured = {};
    let compared = 0, all = 0;
    for (const row of JSON.parse(fs.readFileSync(file, 'utf8')).functions)
        measured[keyOf(row.function)] = row;
    const [[known]] = await query(`SELECT count(duration_ns) FROM ${source}`);
    if (known === 0n)
        return 0;
    assert.deepStrictEqual(await query(`SELECT DISTINCT typeof(duration_ns) FROM ${source}`), [['BIGINT']], name);
    for (const [module, func, arity, count, sum, longest] of await query(`SELECT module, "function", arity,
            count(duration_ns), sum(duration_ns), max(duration_ns) FROM ${source} WHERE tag = 'call' GROUP BY ALL`)) {
        const row = measured[JSON.stringify([module, func, Number(arity)])];
        all += count > 0n;
        if (count === 0n || Number(count) !== row.calls - row.open - row.untold)
            continue;
        compared++;
        assert.strictEqual(Number(longest), row.max_ns, `${name}: longest of ${row.function}`);
        assert(Number(sum) >= row.total_ns, `${name}: sum of ${row.function}`);
    }
    assert(2 * compared > all, `${name}: durations of ${compared} of ${all} functions`);
    return compared;
}

async function compare(connection, folder, name) {
    const of = (kind) => path.join(folder, `${name}.${kind}`).replace(/'/g, "''");
    const counted = countedOf(of('count.json'));
    const times = [...fs.readFileSync(of('lines.jsonl'), 'utf8').matchAll(/^\{"ts":(-?\d+),/gm)].map((m) => BigInt(m[1]));
    const query = async (sql) => (await connection.runAndReadAll(sql)).getRows();
    let rows = 0, durations = 0;
    for (const source of [`read_json('${of('rows.jsonl')}')`, `read_csv('${of('rows.csv')}')`]) {
        if (fs.statSync(of('rows.jsonl')).size === 0)
            continue;
        const calls = await query(`SELECT module, "function", arity, count(*) FROM ${source}
            WHERE tag = 'call' GROUP BY ALL`);
        const functions = {}, tags = {};
        for (const [module, func, arity, n] of calls)
            functions[JSON.stringify([module, func, Number(arity)])] = Number(n);
        assert.deepStrictEqual(functions, counted.functions, `${name}: calls by ${source}`);
        for (const [tag, n] of await query(`SELECT tag, count(*) FROM ${source}
                WHERE tag NOT IN ('drop', 'other') GROUP BY ALL`))
            tags[tag] = Number(n);
        assert.deepStrictEqual(tags, counted.tags, `${name}: tags by ${source}`);
        const found = await query(`SELECT ts_ns::BIGINT FROM ${source} WHERE ts_ns IS NOT NULL`);
        assert.deepStrictEqual(found.map(([ts]) => ts), times, `${name}: times by ${source}`);
        rows += found.length;
        durations = await compareDurations(query, source, of('time.json'), name);
    }
    console.log(`${name}: ${Object.keys(counted.functions).length} functions, ${durations} with durations, ${rows} times`);
}

(async () => {
    const connection = await (await DuckDBInstance.create(':memory:', { threads: '1' })).connect();
    const folder = process.argv[2];
    if (folder === '--sql') {
        const result = await connection.runAndReadAll(process.argv[3]);
        for (const row of [result.columnNames(), ...result.getRows()])
            console.log(row.map(String).join('|'));
        return;
    }
    const names = fs.readdirSync(folder).filter((file) => file.endsWith('.count.json'));
    for (const name of names)
        await compare(connection, folder, name.slice(0, -'.count.json'.length));
    assert(names.length > 0, 'no recording');
})().catch((error) => { console.error(error.message); process.exit(1); });
