// Groups the flat rows of recordings by function, with DuckDB, as a user would, and compares the counts
// with those of the tracer `count`, and all times with those of the JSON lines.
//
//     node flat_rows.js FOLDER
//
// FOLDER has, for each recording NAME, NAME.rows.csv, NAME.rows.jsonl, NAME.count.json, NAME.lines.jsonl.
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

function countedOf(file) {
    const counted = JSON.parse(fs.readFileSync(file, 'utf8'));
    const functions = {}, tags = {};
    for (const { calls, function: name } of counted.functions) {
        const [, module, func, arity] = /^('(?:[^'\\]|\\.)*'|[^':]*):('(?:[^'\\]|\\.)*'|[^']*)\/(\d+)$/.exec(name);
        functions[JSON.stringify([atomOf(module), atomOf(func), Number(arity)])] = calls;
    }
    for (const { events, tag } of counted.tags)
        tags[tag] = events;
    return { functions, tags };
}

async function compare(connection, folder, name) {
    const of = (kind) => path.join(folder, `${name}.${kind}`).replace(/'/g, "''");
    const counted = countedOf(of('count.json'));
    const times = [...fs.readFileSync(of('lines.jsonl'), 'utf8').matchAll(/^\{"ts":(-?\d+),/gm)].map((m) => BigInt(m[1]));
    const query = async (sql) => (await connection.runAndReadAll(sql)).getRows();
    let rows = 0;
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
    }
    console.log(`${name}: ${Object.keys(counted.functions).length} functions, ${rows} times`);
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
