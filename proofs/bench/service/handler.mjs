/**
 * The Worker's own share of a request: the compiled service in this Node, with a request, a response and a KV that
 * cost next to nothing. For a look inside: `node --cpu-prof proofs/bench/service/handler.mjs`, after `npm run build worker`.
 * Arguments: the folder of the build (build), how many milliseconds to measure each kind (500), one kind alone (all).
 */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { performance } from "node:perf_hooks";
import { pathToFileURL } from "node:url";
import { fullRequest, generator, requestWithProblems } from "../data.mjs";
import { figure, median } from "../numbers.mjs";

const ORIGIN = "http://127.0.0.1:8787";
const ROUNDS = 9;
const [folder = join(import.meta.dirname, "..", "..", "..", "build"), milliseconds = "500", only] =
  process.argv.slice(2);

/** The parts of a body that the service reads. */
class Stored {
  locked = false;
  constructor(bytes) {
    this.bytes = bytes;
  }

  getReader() {
    const { bytes } = this;
    let done = false;
    const read = async () => {
      if (done) return { done, value: undefined };
      done = true;
      return { done: false, value: bytes };
    };
    return { read, releaseLock() {}, cancel() {} };
  }
}

class FakeResponse {
  constructor(body, init) {
    this.body = body;
    this.status = init?.status ?? 200;
    this.headers = new Map(init?.headers);
  }

  async arrayBuffer() {
    return this.body.bytes.buffer;
  }
}

class FakeRequest {
  constructor(method, path, headers, bytes) {
    this.method = method;
    this.url = ORIGIN + path;
    this.headers = new Map(Object.entries(headers));
    this.body = bytes ? new Stored(bytes) : null;
  }

  async arrayBuffer() {
    return this.body?.bytes.buffer;
  }
}

class FakeKv {
  records = new Map();
  /** Whether it forgets what is written from now on. */
  full = false;

  async getWithMetadata(name) {
    const found = this.records.get(name);
    return found
      ? { value: new Stored(found.value), metadata: found.metadata }
      : { value: null, metadata: null };
  }

  async put(name, value, { metadata = null } = {}) {
    if (!this.full) this.records.set(name, { value, metadata });
  }
}

async function load() {
  const [service, { recovering }] = await Promise.all(
    ["impact_pledge.js", "recover.js"].map(
      (name) => import(pathToFileURL(resolve(folder, name)).href),
    ),
  );
  service.initSync({
    module: new WebAssembly.Module(readFileSync(resolve(folder, "impact_pledge_bg.wasm"))),
  });
  globalThis.addEventListener ??= () => {}; // Node has none
  return recovering(service.fetch, () => service.__worker_init_state().instanceId);
}

const bytes = (value) => new TextEncoder().encode(JSON.stringify(value));
const headersOf = (key, body) => ({
  authorization: `Bearer ${key}`,
  ...(body && { "content-type": "application/json", "content-length": String(body.length) }),
});

/** @returns {Promise<Record<string, {status: number, make: (() => FakeRequest)[]}>>} */
async function kinds(serve, env) {
  const random = generator(7);
  const posts = (count, make, key = KEY) =>
    Array.from({ length: count }, make)
      .map(bytes)
      .map(
        (body) => () =>
          new FakeRequest("POST", "/v2/pledge-transaction", headersOf(key, body), body),
      );
  const gets = async (makes) => {
    const answers = await Promise.all(makes.map((make) => serve(make(), env)));
    const ids = answers.map(({ body }) => JSON.parse(new TextDecoder().decode(body)).id);
    return ids.map(
      (id) => () => new FakeRequest("GET", `/v2/pledge-transaction/${id}`, headersOf(KEY)),
    );
  };
  const small = posts(64, () => fullRequest(random, 1));
  const large = posts(16, () => fullRequest(random, 100));
  return {
    "POST small": { status: 200, make: small },
    "POST of 100 pledges": { status: 200, make: large },
    "GET small": { status: 200, make: await gets(small) },
    "GET of 100 pledges": { status: 200, make: await gets(large) },
    "unknown key (401)": {
      status: 401,
      make: posts(64, () => fullRequest(random, 1), "service_sk_test_unknown"),
    },
    "invalid (400)": { status: 400, make: posts(64, () => requestWithProblems(random)) },
  };
}

const KEY = "service_sk_test_dev_unit";

async function seed(kv) {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(KEY));
  await kv.put(
    `key:${Buffer.from(digest).toString("hex")}`,
    bytes({ mode: "test", level: "unit", unitId: "unit_dev", secret: "07".repeat(32) }),
  );
  await kv.put(
    "catalogue:test",
    bytes({ currencyCode: "USD", unitPrices: { tree: "0.50", "plastic-kg": "1.25" } }),
  );
}

async function time(serve, env, { status, make }) {
  const started = performance.now();
  let count = 0;
  while (performance.now() - started < Number(milliseconds) / ROUNDS) {
    const response = await serve(make[count % make.length](), env);
    if (response.status !== status) throw new Error(`answered ${response.status}, not ${status}`);
    count += 1;
  }
  return ((performance.now() - started) * 1_000) / count;
}

Object.assign(globalThis, { Response: FakeResponse });
const print = console.log;
console.log = () => {}; // the service's lines of what it refuses
const handler = await load();
const serve = (request, env) => handler(request, env, { waitUntil() {} });
const env = { PLEDGES: new FakeKv(), ALLOWED_ORIGINS: "" };
await seed(env.PLEDGES);
const all = await kinds(serve, env);
env.PLEDGES.full = true;
for (const [name, kind] of Object.entries(all).filter(([name]) => !only || name === only)) {
  await time(serve, env, kind);
  const times = [];
  for (let round = 0; round < ROUNDS; round += 1) times.push(await time(serve, env, kind));
  print(`${name.padEnd(22)} ${figure(median(times))} µs`);
}
