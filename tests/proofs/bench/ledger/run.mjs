/**
 * `node scripts/run.mjs ../tests/proofs/bench/ledger/run [-- --orders 10000000]`: measures how long the operators'
 * queries of the ledger take, in SQLite and on local D1. Also measures how much space an order takes, and how
 * many rows the database reads and writes for each write of the ledger.
 *
 * The benchmark takes about five minutes for a million orders. 10 million orders take 3 GB of memory and 17 GB
 * of disk.
 */
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { command, whole } from "../../../../scripts/lib/command.mjs";
import { log, table } from "../../../../scripts/lib/output.mjs";
import { run } from "../../../../scripts/lib/run.mjs";
import { prepareTools } from "../../../../scripts/setup/tools.mjs";
import { figure, spread } from "../numbers.mjs";
import { LocalD1 } from "./d1.mjs";
import { measureDay } from "./day.mjs";
import { measurePages } from "./pages.mjs";

const MOST = 100_000_000;
const CHANGED = 35_000; // orders of a day

const program = command(
  "node scripts/run.mjs ../tests/proofs/bench/ledger/run",
  "How long what operators ask of the ledger takes.",
)
  .option("--orders <n>", "in the database", whole(1_000, MOST), 1_000_000)
  .option("--shops <n>", "of which a few have most orders", whole(1, 1_000_000), 200)
  .option("--rounds <n>", "of each question, of which the tables show medians", whole(1, 100), 7)
  .option("--folder <path>", "where the database is made", tmpdir())
  .option("--no-d1", "by SQLite alone")
  .option("--only-pages", "measure only the dashboard's pages, on local D1", false);

program.action(async ({ orders, shops, rounds, folder, d1, onlyPages }) => {
  const tools = await prepareTools();
  const { root, native } = tools;
  const size = [String(orders), String(shops)];
  /** Runs the Rust part of this benchmark, and returns the lines that it prints. */
  const bench = async (...args) => {
    const cargo = ["bench", "--quiet", "--bench", "ledger", "--", ...args];
    const output = await run(native.cargo, cargo, { cwd: root, env: native.env });
    const lines = output.split("\n").filter((line) => line.startsWith("{"));
    return lines.map((line) => JSON.parse(line));
  };
  const scratch = mkdtempSync(join(folder, "impact-pledge-ledger-"));
  try {
    const file = join(scratch, "ledger.sqlite");
    log(`making ${figure(orders)} orders of ${figure(shops)} shops`);
    const [{ sizes }] = await bench("fill", file, ...size);
    const pages = async () => {
      const measured = await measurePages(tools, join(scratch, "pages"), { file, shops, rounds });
      console.log(`\n${pagesInWords(measured)}`);
    };
    if (onlyPages) return await pages();
    log("asking SQLite");
    const lines = await bench("ask", file, ...size, String(rounds));
    const questions = lines.filter(({ name }) => name);
    console.log(`${sizesInWords(sizes, orders)}\n`);
    const onD1 = d1 ? await askD1(join(scratch, "state"), { file, lines, rounds }) : null;
    console.log(timesInWords(questions, onD1));
    if (onD1) console.log(`\n${writesInWords(onD1.writes)}`);
    if (d1) await pages();
    console.log(`\n${dayInWords(await measureDay(tools, file, { orders, changed: CHANGED }))}`);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
});

/** Runs all queries and writes of the benchmark's Rust part on local D1, with a copy of the Rust part's database. */
async function askD1(folder, { file, lines, rounds }) {
  log("asking local D1");
  await LocalD1.make(folder, (database) => copyFileSync(file, database));
  const questions = new Map();
  for (const { name, statements } of lines.filter(({ name }) => name)) {
    const database = await LocalD1.open(folder); // with an empty cache
    const cold = await database.time(statements);
    const warm = [];
    for (let round = 0; round < rounds; round += 1) warm.push(await database.time(statements));
    questions.set(name, { cold, warm });
    await database.close();
  }
  const database = await LocalD1.open(folder);
  const writes = [];
  for (const { write, statements } of lines.filter(({ write }) => write)) {
    const milliseconds = await database.time(statements);
    writes.push({ write, milliseconds, ...database.meta });
  }
  await database.close();
  return { questions, writes };
}

function sizesInWords(sizes, orders) {
  const rows = sizes
    .filter(({ bytes }) => bytes * 20 > orders)
    .map(({ name, bytes }) => [name, figure(bytes / orders)]);
  const all = sizes.reduce((total, { bytes }) => total + bytes, 0) / orders;
  return table(["TABLE OR INDEX", "BYTES AN ORDER"], [...rows, ["all", figure(all)]]);
}

function timesInWords(questions, onD1) {
  const rows = questions.map(({ name, rows, cold, warm }) => {
    const there = onD1?.questions.get(name);
    const more = there ? [figure(there.cold), spread(there.warm)] : [];
    return [name, String(rows), spread(cold), spread(warm), ...more];
  });
  const heads = ["MILLISECONDS", "ROWS", "SQLITE, COLD", "SQLITE"];
  return table([...heads, ...(onD1 ? ["D1, COLD", "D1"] : [])], rows);
}

function writesInWords(writes) {
  const rows = writes.map(({ write, milliseconds, written, read }) =>
    [write, written, read, figure(milliseconds)].map(String),
  );
  return table(["WRITE ON D1", "ROWS WRITTEN", "ROWS READ", "MILLISECONDS"], rows);
}

function pagesInWords(pages) {
  const rows = pages.map(({ name, first, later, bytes }) =>
    [name, figure(first), spread(later), figure(bytes / 1_000)].map(String),
  );
  return table(["PAGE OF THE DASHBOARD, MILLISECONDS", "FIRST", "LATER", "KB"], rows);
}

function dayInWords({ count, bytes, seconds, ledger, lists, reads, calls, minutes }) {
  const rows = [
    ["records", figure(count)],
    ["megabytes", figure(bytes / 1_000_000)],
    ["seconds, without waiting for calls", figure(seconds)],
    ["calls: ledger, lists, reads of 100", `${ledger}, ${lists}, ${reads}`],
    ["minutes by the API's 1,200 calls in 5 minutes", `${calls} calls: ${figure(minutes)}`],
  ];
  return table([`AN INCREMENT OF ${figure(CHANGED)} ORDERS`, ""], rows);
}

await program.parseAsync();
