/** The mix against two throw-away Workers of a real account, in two regions over one KV namespace, which are deleted again. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openKv } from "../../scripts/lib/kv.mjs";
import { operator, portOf } from "../../scripts/lib/operator.mjs";
import { UserError, log } from "../../scripts/lib/output.mjs";
import { run } from "../../scripts/lib/run.mjs";
import { Client } from "./client.mjs";
import { Mix } from "./mix.mjs";
import { parsed } from "./oracle.mjs";
import { Random } from "./random.mjs";
import { atATime } from "./run.mjs";

export const NAMESPACE = "impact-pledge-prove";
export const WORKERS = ["impact-pledge-prove-a", "impact-pledge-prove-b"];
/** Of KV, on the average of the mix. */
export const WRITES_PER_REQUEST = 0.65;
const PRICES = { currencyCode: "USD", unitPrices: { tree: "0.50", "plastic-kg": "1.25" } };
const EVERYWHERE_MS = 120_000; // twice KV's usual bound
const ONLINE_MS = 120_000; // until a new Worker answers
const WATCHED = 40;
const REPEATS = 100;

/** Whom throw-away keys act as. */
const KEYS = [
  { mode: "test", level: "unit", unitId: "unit_a" },
  { mode: "live", level: "unit", unitId: "unit_a" },
  { mode: "test", level: "team", teamId: "team_a", unitIds: ["unit_a", "unit_b"] },
];

/** What was made in the account, and how it goes away again. */
class Place {
  #undo = [];
  origins = [];

  constructor(tools) {
    this.tools = tools;
    this.folder = mkdtempSync(join(tmpdir(), "impact-pledge-prove-"));
  }

  #wrangler = (...args) =>
    run(process.execPath, [this.tools.wrangler, ...args], {
      cwd: this.folder,
      env: this.tools.env,
    });

  async makeNamespace() {
    const [, id] =
      (await this.#wrangler("kv", "namespace", "create", NAMESPACE)).match(
        /\bid"?\s*[:=]\s*"([^"]+)"/,
      ) ?? [];
    if (!id)
      throw new UserError(
        `wrangler does not log the id of the namespace \`${NAMESPACE}\`: delete it in Cloudflare's dashboard`,
      );
    this.namespace = id;
    this.#undo.push(["kv", "namespace", "delete", "--namespace-id", id, "--skip-confirmation"]);
  }

  /** The build that a deploy ships. */
  async deploy(name, region) {
    const { root } = this.tools;
    const settings = readFileSync(join(root, "wrangler.toml"), "utf8");
    const date = settings.match(/^compatibility_date = "(.*)"$/m)?.[1];
    const config = {
      name,
      main: join(root, "build", "worker.js"),
      compatibility_date: date,
      keep_names: false,
      workers_dev: true,
      placement: { region },
      kv_namespaces: [{ binding: "PLEDGES", id: this.namespace }],
    };
    mkdirSync(join(this.folder, name));
    writeFileSync(join(this.folder, name, "wrangler.json"), JSON.stringify(config));
    this.#undo.unshift(["delete", name, "--force"]);
    const output = await this.#wrangler("deploy", "--config", join(name, "wrangler.json"));
    const [origin] = output.match(/https:\/\/[\w.-]+/) ?? [];
    if (!origin) throw new UserError(`wrangler does not log the address of \`${name}\``);
    this.origins.push(origin);
  }

  /** Its records, by the configuration of a Worker, which has the namespace's id. */
  get kv() {
    return openKv(this.tools, {
      remote: true,
      config: join(this.folder, WORKERS[0], "wrangler.json"),
    });
  }

  /** Makes the keys and prices. @returns {Promise<typeof import("./mix.mjs").CALLERS>} */
  async seed() {
    const { createKey, setPrices } = await operator(this.tools);
    const port = portOf(await this.kv);
    const made = [];
    for (const { mode, teamId: team, unitId, unitIds: units = [unitId] } of KEYS)
      made.push(await createKey(port, { mode, team, units, label: "prove" }));
    for (const mode of ["test", "live"])
      await setPrices(port, mode, Buffer.from(JSON.stringify(PRICES)));
    return made.flatMap(({ key }, index) => {
      const { mode, unitId, unitIds } = KEYS[index];
      return unitIds
        ? unitIds.map((unit) => ({ key, unit, scope: `${mode} ${unit}` }))
        : [{ key, scope: `${mode} ${unitId}` }];
    });
  }

  /** Deletes all of it; what fails is named, so that nothing stays unseen. */
  async remove() {
    const left = [];
    for (const command of this.#undo) {
      await this.#wrangler(...command).catch(
        ({ output, message }) =>
          isNone(command, output) ||
          left.push(`npx wrangler ${command.join(" ")}   # ${message.split("\n").at(-1)}`),
      );
    }
    rmSync(this.folder, { recursive: true, force: true });
    if (left.length > 0)
      throw new UserError(`not all could be deleted; by hand:\n${left.join("\n")}`);
  }
}

/** Whether a Worker need not be deleted, because its deploy failed before it was there. */
const isNone = ([command], output) => command === "delete" && /does not exist/.test(output);

/**
 * @param {import("../../scripts/lib/tools.mjs").Tools} tools
 * @param {{requests: number, connections: number, seed: number, regions: string[], signal: AbortSignal, everywhereMs?: number, originOf?: (origin: string) => string}} plan `signal` ends it early; `originOf`: where a Worker's address leads
 * @returns {Promise<import("./run.mjs").History & {seenMs: number[]}>}
 */
export async function playRemote(tools, { regions, ...plan }) {
  const place = new Place(tools);
  let failure;
  try {
    await place.makeNamespace();
    for (const [index, region] of regions.entries()) {
      plan.signal.throwIfAborted();
      log(`deploying ${WORKERS[index]} in ${region}`);
      await place.deploy(WORKERS[index], region);
    }
    return await mixed(place, await place.seed(), plan);
  } catch (error) {
    failure = error;
    throw error;
  } finally {
    log("deleting what was made");
    await place.remove().catch((error) => {
      throw failure ? new UserError(`${failure.message}\n${error.message}`) : error;
    });
  }
}

async function mixed(
  place,
  callers,
  {
    requests,
    connections,
    seed,
    signal,
    everywhereMs = EVERYWHERE_MS,
    originOf = (origin) => origin,
  },
) {
  const origins = place.origins.map(originOf);
  const mix = new Mix({ seed, callers });
  const client = new Client(connections);
  /** @type {import("./run.mjs").Exchange[]} */
  const exchanges = [];
  /** @type {Promise<number>[]} */
  const watches = [];

  /** @param {any} sent as {@link Mix.next} makes it */
  async function exchange({ expect, ...ask }) {
    const index = new Random(seed, ask.number, "region").below(origins.length);
    const begun = Date.now();
    const outcome = await client.send(origins[index], ask);
    const { headers, body, ...kept } = ask;
    const isEarly = !ask.calm && ask.target !== undefined && expect.includes(200);
    exchanges.push({
      ask: { ...kept, expect: isEarly ? [...expect, 404] : expect },
      begun,
      ended: Date.now(),
      outcome,
    });
    if (outcome.status !== 200 || !ask.payload) return;
    const json = parsed(outcome.text);
    if (!json?.timelineUrl) return;
    mix.acknowledge(ask, json);
    if (ask.kind === "create" && watches.length < WATCHED)
      watches.push(seenAfter(client, origins.at(index - 1), ask, json.id, everywhereMs, signal));
  }

  const during = function* (asks) {
    for (const ask of asks) {
      signal.throwIfAborted();
      yield ask;
    }
  };
  const numbers = function* () {
    for (let number = 1; number <= requests; number += 1) yield mix.next(number);
  };
  try {
    for (const origin of origins) await online(client, origin, signal);
    await atATime(connections, during(numbers()), exchange);
    log(`waiting ${everywhereMs / 1000} s, until KV shows every write everywhere`);
    const [seenMs] = await Promise.all([
      Promise.all(watches),
      sleep(everywhereMs, undefined, { signal }),
    ]);
    await atATime(connections, during(mix.repeats(requests + 1, REPEATS)), exchange);
    await atATime(connections, during(mix.reads(2 * requests)), exchange);
    return {
      exchanges,
      kills: [],
      faults: new Map(),
      writes: await recordsOf(await place.kv, exchanges),
      isRemote: true,
      everywhereMs,
      seenMs,
    };
  } finally {
    client.close();
  }
}

async function online(client, origin, signal) {
  for (
    const end = Date.now() + ONLINE_MS;
    Date.now() < end;
    await sleep(1_000, undefined, { signal })
  ) {
    const { status, type } = await client.send(origin, { method: "GET", path: "/", headers: {} });
    if (status === 404 && type === "application/json") return; // the service's own; it asks KV for nothing
  }
  throw new UserError(`${origin} does not answer`);
}

/** Milliseconds until a region shows what another one acknowledged, asked each second; infinite, if it never does. */
async function seenAfter(client, origin, { headers }, id, mostMs, signal) {
  const begun = Date.now();
  for (; Date.now() < begun + mostMs; await sleep(1_000, undefined, { signal })) {
    const { status } = await client.send(origin, {
      method: "GET",
      path: `/v2/pledge-transaction/${id}`,
      headers: { ...headers, "content-type": "" },
    });
    if (status === 200) return Date.now() - begun;
  }
  return Infinity;
}

/** The records in the namespace as writes, each of a create that may have made it. */
async function recordsOf(kv, exchanges) {
  const creates = exchanges.filter(({ ask }) => ask.payload);
  const byId = new Map(
    creates
      .filter(({ outcome }) => outcome.status === 200)
      .toSorted((a, b) => b.outcome.replayed - a.outcome.replayed)
      .map(({ ask, outcome }) => [parsed(outcome.text)?.id, ask]),
  ); // an own answer comes before a replay, which may be another key's
  const byReference = Map.groupBy(creates, ({ ask }) => ask.payload.reference);
  const taken = new Set(byId.values());
  const names = async function* () {
    for await (const { name } of kv.list("transaction:")) yield name;
  };
  const found = (await Array.fromAsync(kv.read(names()))).filter(({ value }) => value !== null);
  return found.map(({ name, value }) => {
    const asks = byReference.get(parsed(value)?.reference)?.map(({ ask }) => ask) ?? [];
    const ask =
      byId.get(name.slice("transaction:".length)) ??
      asks.find(
        (ask) =>
          ![...taken].some((other) => other.caller === ask.caller && other.payload === ask.payload),
      ) ??
      asks[0];
    if (ask) taken.add(ask);
    return { name, number: ask?.number ?? null, at: 0, value };
  });
}
