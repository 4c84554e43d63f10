/**
 * `node proofs/kills/command.mjs [RECORDS] [KILLS]`: simulated records, backed up and restored by processes that are killed on the
 * way. The namespaces are computed, not held, so that a million records are no more than a few megabytes here.
 */
import { createHash } from "node:crypto";
import { createReadStream, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { ACCOUNT } from "../../tests/e2e/cloudflare.mjs";
import { onLoopback } from "../../tests/support/loopback.mjs";
import { start } from "../../tests/e2e/script.mjs";

const PAGE = 1_000;
const MEGABYTES = 256; // of JavaScript's memory that a process may have
const inADay = Math.round(Date.now() / 1000) + 86_400;
const hex = (text) => createHash("sha256").update(text).digest("hex");

/**
 * @typedef {{name: string, value?: string, base64?: string, metadata?: object, expiration?: number}} Record
 *   one of `value` and `base64`
 */

/**
 * The record at this place in the order of names: half are replay records, some hold bytes that are
 * no text.
 * @returns {Record}
 */
function simulated(index, count) {
  const hash = hex(String(index));
  const digits = String(index).padStart(24, "0");
  if (index === Math.ceil(count / 2))
    return { name: "secret", value: JSON.stringify({ secret: hash, version: 1 }) };
  const base64 =
    index % 1_000 === 1 ? Buffer.from(hash.repeat(4), "hex").toString("base64") : undefined;
  if (index < count / 2) {
    const value = JSON.stringify({
      id: `ptran_${digits}`,
      fingerprint: hash,
      terms: {
        createdAt: "2026-11-22T12:00:00.000Z",
        amount: `${index}.50`,
        currencyCode: "EUR",
        origin: "https://pledges.example",
      },
      version: 1,
    });
    return { name: `idempotency:${digits}`, ...(base64 ? { base64 } : { value }) };
  }
  const detail = {
    name: "Bäume",
    description: `Zeile 1\r\nZeile 2\u2028${index % 1_000 === 0 ? "\ufffd" : ""}🌳`,
    nounSingular: null,
    nounPlural: null,
    image: null,
    externalId: digits,
    externalUrl: null,
  };
  const value = JSON.stringify({
    createdAt: "2026-11-22T12:00:00.000Z",
    reference: `order-${index}`,
    isLive: true,
    charge: { amount: `${index}.50`, currencyCode: "EUR", paidAt: null },
    trigger: { date: null, phrase: "placed an order", externalUrl: null },
    pledges: [
      {
        id: `p_${digits}`,
        impact: { amount: index + 1, offeringId: "tree" },
        details: [detail],
        recipient: { email: `${hash.slice(0, 12)}@example.org`, firstName: "Ada", name: null },
      },
    ],
    notifications: [],
    timelineUrl: `https://pledges.example/timeline/ptran_${digits}?edit_key=${hash.slice(0, 40)}`,
  });
  const metadata = {
    version: 1,
    mode: "live",
    unit: "unit_1",
    editKey: hash,
    summary: {
      createdAt: "2026-11-22T12:00:00.000Z",
      amount: `${index}.50`,
      currencyCode: "EUR",
      lookup: { reference: hash.slice(0, 32), email: hash.slice(32) },
    },
  };
  return {
    name: `transaction:ptran_${digits}`,
    ...(base64 ? { base64 } : { value }),
    metadata,
    ...(index % 7 === 0 ? { expiration: inADay } : {}),
  };
}

/**
 * A namespace that has these records, or gets them. What is written otherwise than simulated is a
 * problem.
 */
class Namespace {
  /** @type {string[]} */
  problems = [];

  constructor(count, isFull) {
    this.count = count;
    this.has = new Uint8Array(count).fill(Number(isFull));
  }

  #index = (name) =>
    name === "secret" ? Math.ceil(this.count / 2) : Number(name.replace(/^\D+/, ""));
  #present = (name) =>
    this.has[this.#index(name)] === 1 && simulated(this.#index(name), this.count).name === name
      ? simulated(this.#index(name), this.count)
      : null;
  #problem = (text) => this.problems.length < 10 && this.problems.push(text);

  list(cursor) {
    /** @type {Omit<Record, "value" | "base64">[]} */
    const names = [];
    let index = Number(cursor || 0);
    for (; index < this.count && names.length < PAGE; index += 1) {
      if (this.has[index] === 0) continue;
      const { name, metadata, expiration } = simulated(index, this.count);
      names.push({ name, metadata, expiration });
    }
    return {
      result: names,
      result_info: { count: names.length, cursor: index < this.count ? String(index) : "" },
    };
  }

  read({ keys }) {
    const shown = (record) => ({
      value: this.bytes(record.name).toString(),
      metadata: record.metadata ?? null,
    });
    const values = keys.map((name) => [name, this.#present(name)]);
    return {
      result: {
        values: Object.fromEntries(values.map(([name, record]) => [name, record && shown(record)])),
      },
    };
  }

  bytes(name) {
    const { value = "", base64 } = this.#present(name) ?? {};
    return base64 === undefined ? Buffer.from(value) : Buffer.from(base64, "base64");
  }

  write(entries) {
    for (const { key: name, value, base64, ...rest } of entries) {
      const index = this.#index(name);
      const record = { name, ...(base64 ? { base64: value } : { value }), ...rest };
      if (isDeepStrictEqual(record, simulated(index, this.count))) this.has[index] = 1;
      else this.#problem(`${name} was written as ${JSON.stringify(record).slice(0, 300)}`);
    }
    return { result: { successful_key_count: entries.length, unsuccessful_keys: [] } };
  }
}

/** The API over such namespaces: `impact-pledge` has the first, `impact-pledge-staging` the second. `onCall` hears of each call. */
async function serve(namespaces, onCall) {
  const workers = ["impact-pledge", "impact-pledge-staging"];
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://localhost");
    const [, number, path] = pathname.match(/namespaces\/(\d)\/(.+)$/) ?? [];
    onCall(request.method, path);
    const namespace = namespaces[number];
    const body = Buffer.concat(await Array.fromAsync(request)).toString();
    const answer = () => {
      if (path === "keys") return namespace.list(searchParams.get("cursor"));
      if (path === "bulk/get") return namespace.read(JSON.parse(body));
      if (path === "bulk") return namespace.write(JSON.parse(body));
      return {
        result: {
          bindings: [
            {
              type: "kv_namespace",
              name: "PLEDGES",
              namespace_id: String(workers.indexOf(pathname.split("/").at(-2) ?? "")),
            },
          ],
        },
      };
    };
    if (path?.startsWith("values/"))
      return response.end(namespace.bytes(decodeURIComponent(path.slice(7))));
    response
      .writeHead(200, { "content-type": "application/json" })
      .end(JSON.stringify({ success: true, ...answer() }));
  });
  const { origin, close } = await onLoopback(server);
  const env = {
    CLOUDFLARE_API_BASE_URL: `${origin}/client/v4`,
    CLOUDFLARE_API_TOKEN: "t",
    CLOUDFLARE_ACCOUNT_ID: ACCOUNT,
  };
  return { env, close };
}

/**
 * What was found, and for each process its milliseconds, kilobytes at most and how it ended.
 * @param {{records: number, kills: number, folder: string}} plan
 */
async function play({ records, kills, folder }) {
  const namespaces = [new Namespace(records, true), new Namespace(records, false)];
  /** @type {(method: string, path: string) => void} */
  let hear = () => {};
  const server = await serve(namespaces, (method, path) => hear(method, path));
  const env = { ...server.env, NODE_OPTIONS: `--max-old-space-size=${MEGABYTES}` };
  const file = join(folder, "killed.jsonl");
  const runs = [];
  const repeat = async (args, half, counts, calls) => {
    for (let kill = 0; kill <= half; kill += 1) {
      const after =
        kill < half
          ? Math.max(1, Math.floor(((0.3 + 0.9 * Math.random()) * calls) / (half + 1)))
          : Number.POSITIVE_INFINITY;
      runs.push(
        await run(
          [...args, "--remote", "--json"],
          env,
          after,
          (onCall) => (hear = (method, path) => counts(method, path) && onCall()),
        ),
      );
      if (runs.at(-1).code === 0) return;
    }
  };
  const pages = Math.ceil(records / PAGE);
  try {
    await repeat(["backup", file], Math.floor(kills / 2), () => true, pages * 11);
    await repeat(
      ["restore", file, "--env", "staging"],
      Math.ceil(kills / 2),
      (method) => method === "PUT",
      pages,
    );
  } finally {
    server.close();
  }
  const problems = [
    ...namespaces[1].problems,
    ...runs
      .filter(({ code }) => code !== 0 && code !== "SIGKILL")
      .map(({ code, problem }) => `${code}: ${problem}`),
  ];
  const missing = namespaces[1].has.indexOf(0);
  if (missing !== -1) problems.push(`record ${missing} was not restored`);
  if ((await recordsOf(file)) !== expected(records))
    problems.push("the backup's records are not those of the namespace");
  const killed = runs.filter(({ code }) => code === "SIGKILL").length;
  if (killed < kills) problems.push(`${killed} processes were killed, ${kills} were meant to be`);
  return { problems, kills: killed, runs, bytes: statSync(file).size };
}

/** SHA-256 of a backup's lines without the first and the last. */
async function recordsOf(file) {
  const hash = createHash("sha256");
  let [header, tail] = [true, Buffer.alloc(0)];
  for await (const chunk of createReadStream(file)) {
    let bytes = Buffer.concat([tail, chunk]);
    if (header) [header, bytes] = [false, bytes.subarray(bytes.indexOf(10) + 1)];
    const last = bytes.lastIndexOf(10, bytes.length - 2) + 1; // what follows may be the last line
    hash.update(bytes.subarray(0, last));
    tail = bytes.subarray(last);
  }
  return hash.digest("hex");
}

function expected(count) {
  const hash = createHash("sha256");
  for (let index = 0; index < count; index += 1) {
    const { name, value, base64, metadata, expiration } = simulated(index, count);
    hash.update(`${JSON.stringify({ name, value, base64, metadata, expiration })}\n`);
  }
  return hash.digest("hex");
}

/** Runs a command until the server has heard so many of its calls. */
async function run(args, env, after, listen) {
  const started = Date.now();
  const child = start("transactions", args, { env });
  child.stdin.end();
  let [calls, kilobytes] = [0, 0];
  listen(async () => {
    calls += 1;
    if (calls !== after) return;
    await sleep(Math.random() * 20);
    child.kill("SIGKILL");
  });
  const watch = setInterval(() => {
    kilobytes = Math.max(kilobytes, peak(child.pid));
  }, 200);
  const { code, out, problem } = await child.done;
  clearInterval(watch);
  return {
    command: args[0],
    code,
    milliseconds: Date.now() - started,
    kilobytes,
    out,
    problem: problem.slice(-500),
  };
}

/** The peak memory of the process, where Linux shows it. */
function peak(pid) {
  try {
    return Number(
      readFileSync(`/proc/${pid}/status`, "utf8").match(/^VmHWM:\s*(\d+) kB$/m)?.[1] ?? 0,
    );
  } catch {
    return 0;
  }
}

const [records = 1_000_000, kills = 20] = process.argv.slice(2).map(Number);
const folder = mkdtempSync(join(tmpdir(), "impact-pledge-killed-"));
const started = Date.now();
try {
  const { runs, problems, ...found } = await play({ records, kills, folder });
  console.table(
    runs.map(({ command, code, milliseconds, kilobytes }) => ({
      command,
      ended: code,
      seconds: Math.round(milliseconds / 1000),
      megabytes: Math.round(kilobytes / 1024),
    })),
  );
  console.log({ ...found, seconds: Math.round((Date.now() - started) / 1000), problems });
  process.exitCode = problems.length > 0 ? 1 : 0;
} finally {
  rmSync(folder, { recursive: true });
}
