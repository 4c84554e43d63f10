/**
 * One run of `bench:waits`: what a shop waits for if Workers KV and the queue are slow. Each sample is a unit with
 * an API key of its own. Its first request of a kind finds nothing about the unit in the caches of the isolate; its
 * second request follows at once.
 */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { UserError, log } from "../../../../scripts/lib/output.mjs";
import { seedData } from "../../../../scripts/lib/seed.mjs";
import { Server, bundle } from "../service/workerd.mjs";

const PATH = "/v2/pledge-transaction";
const LIVE = "service_sk_live_dev_unit";
/** The number of samples that are measured at the same time, and of those that only warm up the process. */
const AT_ONCE = 4;
const WARM_UP = 8;
const PROFILE = { name: "Small Hours Coffee", mail: true };

/**
 * A sample: its unit, and the sender of its requests.
 * @typedef {{unit: string, send: (path: string, ask?: {headers?: object, body?: object}) => Promise<Answer>}} Sample
 * @typedef {{milliseconds: number, waits: number, json: any, message: any}} Answer
 * @typedef {{samples: number, takes: number[]}} Plan `takes`: how long a call of KV or the queue takes, in milliseconds
 * @typedef {{cold: Answer[], warm: Answer[]}} Measured
 * @typedef {Record<string, Record<number, Measured>>} Result by kind of request, then by the duration of a call
 */

const order = ({ unit }, number, more = {}) => ({
  reference: `order-${number}`,
  recipient: { email: `${unit}-${number}@shop.example` }, // an address gets five e-mails a day
  pledges: [{ impact: { amount: 3, offeringId: "tree" } }],
  ...more,
});
const EMAIL = { notifications: ["Email"] };

/** @param {Sample} sample */
const create = ({ send }, body, headers = {}) => send(PATH, { headers, body });
const keyed = (sample, body) => create(sample, body, { "idempotency-key": body.reference });

/**
 * The kinds of requests. `prepare` makes what a request is about, in another isolate; its value is passed to `send`.
 * @type {Record<string, {prepare?: (sample: Sample) => Promise<any>, isOfTeam?: boolean, send: (sample: Sample, number: number, made: any) => Promise<Answer>}>}
 */
export const KINDS = {
  create: { send: (sample, number) => create(sample, order(sample, number)) },
  "create, e-mail": { send: (sample, number) => create(sample, order(sample, number, EMAIL)) },
  "create, idempotency key": { send: (sample, number) => keyed(sample, order(sample, number)) },
  "create, both": { send: (sample, number) => keyed(sample, order(sample, number, EMAIL)) },
  "repeat of that": {
    prepare: (sample) =>
      Promise.all([0, 1].map((number) => keyed(sample, order(sample, number, EMAIL)))),
    send: (sample, number) => keyed(sample, order(sample, number, EMAIL)),
  },
  "create, team's key": {
    isOfTeam: true,
    send: (sample, number) => create(sample, order(sample, number)),
  },
  get: {
    prepare: (sample) => create(sample, order(sample, 0)),
    send: ({ send }, _number, { json }) => send(`${PATH}/${json.id}`),
  },
  timeline: {
    prepare: (sample) => create(sample, order(sample, 0)),
    send: ({ send }, _number, { json }) => send(json.timelineUrl.replace(/^https?:\/\/[^/]*/, "")),
  },
  "delivery of an e-mail": {
    prepare: (sample) =>
      Promise.all([0, 1].map((number) => create(sample, order(sample, number, EMAIL)))),
    send: ({ send }, number, made) => send("/delivery", { body: made[number].message }),
  },
};

/**
 * Runs the benchmark once.
 * @param {import("../../../../scripts/setup/tools.mjs").Tools} tools @param {Plan} plan @param {string} folder
 * @returns {Promise<Result>}
 */
export async function run(tools, { samples, takes }, folder) {
  const main = join(import.meta.dirname, "worker.mjs");
  const built = await bundle(tools, { main, folder });
  const { entries } = await seedData(tools);
  const [server, elsewhere] = [await Server.start(tools, built), await Server.start(tools, built)];
  try {
    for (const each of [server, elsewhere]) await each.seed(entries);
    const setting = { server, elsewhere, entries };
    await measureAll(setting, WARM_UP, [0]); // V8 compiles what the requests need
    return await measureAll(setting, samples, takes);
  } finally {
    await server.end();
    await elsewhere.end();
  }
}

async function measureAll(setting, samples, takes) {
  /** @type {Result} */
  const results = {};
  for (const [index, [kind, how]] of Object.entries(KINDS).entries()) {
    log(`waits: ${kind}`);
    results[kind] = {};
    for (const each of takes) {
      const names = Array.from({ length: samples }, (_, number) => `${index}_${each}_${number}`);
      results[kind][each] = await measured(setting, how, names, each);
    }
  }
  return results;
}

/** @returns {Promise<Measured>} */
async function measured({ server, elsewhere, entries }, kind, names, takes) {
  const { prepare, isOfTeam, send } = kind;
  const keys = names.flatMap((name) => recordsOf(entries, name, isOfTeam));
  for (const each of [server, elsewhere]) await each.seed(keys);
  const made = await inParts(names, (name) => prepare?.(sampleOf(elsewhere, name, 0)));
  await server.seed(await writtenBy(elsewhere, made.flat().filter(Boolean)));
  const pairs = await inParts(names, async (name, index) => {
    const sample = sampleOf(server, name, takes);
    const cold = await send(sample, 0, made[index]);
    return { cold, warm: await send(sample, 1, made[index]) };
  });
  return { cold: pairs.map(({ cold }) => cold), warm: pairs.map(({ warm }) => warm) };
}

/** Does the work for each item, for a few items at a time. */
async function inParts(items, work) {
  const done = [];
  for (let start = 0; start < items.length; start += AT_ONCE)
    done.push(
      ...(await Promise.all(
        items.slice(start, start + AT_ONCE).map((item, index) => work(item, start + index)),
      )),
    );
  return done;
}

/** Returns the records that creates have written, by their answers. */
function writtenBy(server, answers) {
  const records = answers.map(async ({ json: { id } }) => {
    const name = `transaction:${id}`;
    const transaction = { key: name, ...(await server.record(name)) };
    const { replay } = transaction.metadata.summary;
    const key = `idempotency:${replay}`;
    return replay ? [transaction, { key, ...(await server.record(key)) }] : [transaction];
  });
  return Promise.all(records).then((all) => all.flat());
}

/** Returns the records of a sample's key, unit and team: copies of the development data. */
function recordsOf(entries, sample, isOfTeam) {
  const name = (key) => `key:${createHash("sha256").update(key).digest("hex")}`;
  const own = entries.find(({ key }) => key === name(LIVE));
  if (!own) throw new UserError(`the development data lack the key \`${LIVE}\``);
  const { unit: _unit, ...record } = JSON.parse(own.value);
  const [unit, team] = [`unit_${sample}`, `team_${sample}`];
  const level = isOfTeam ? { team } : { unit };
  const records = [
    { key: name(keyOf(sample)), value: JSON.stringify({ ...record, ...level }) },
    { key: `profile:${unit}`, value: JSON.stringify(PROFILE) },
  ];
  return isOfTeam ? [...records, { key: `member:${team}:${unit}`, value: "{}" }] : records;
}

const keyOf = (sample) => `service_sk_live_waits_${sample}`;

/** @returns {Sample} */
function sampleOf(server, name, takes) {
  const unit = `unit_${name}`;
  const own = {
    authorization: `Bearer ${keyOf(name)}`,
    "x-service-unit-id": unit,
    "x-takes": `${takes}`,
  };
  return {
    unit,
    send: async (path, { headers = {}, body } = {}) => {
      const began = performance.now();
      const response = await fetch(server.origin + path, {
        method: body ? "POST" : "GET",
        headers: { ...own, ...(body && { "content-type": "application/json" }), ...headers },
        body: body && JSON.stringify(body),
      });
      const text = await response.text();
      const milliseconds = performance.now() - began;
      if (!response.ok) throw new UserError(`${path}: ${response.status} ${text.slice(0, 300)}`);
      const message = JSON.parse(response.headers.get("x-message") ?? "null");
      const json = text.startsWith("{") ? JSON.parse(text) : null;
      return { milliseconds, waits: Number(response.headers.get("x-waits")), json, message };
    },
  };
}
