/**
 * Sends create requests and erasures while the service and the dashboard are killed again and again, and then
 * checks the ledger. Records a history of what happened.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openKv } from "../../../scripts/lib/kv.mjs";
import { operator, portOf } from "../../../scripts/lib/operator.mjs";
import { run } from "../../e2e/script.mjs";
import { Client } from "../faults/client.mjs";
import { Random } from "../faults/mix.mjs";
import { Erasures } from "./erasures.mjs";
import { order, request } from "./orders.mjs";
import { runCron, workers } from "./workers.mjs";

const CONNECTIONS = 16;
const MOST_ATTEMPTS = 20; // of a create with an idempotency key
const AGAIN_MS = 100;
const [HOUR_MS, SHOWN_AFTER_MS] = [3_600_000, 120_000]; // between passes; until KV must show a record
const MOST_DELAY_MS = 800; // from the cron, or a create, to the kill
const PRICES = { currencyCode: "EUR", unitPrices: { tree: "0.55", "plastic-kg": "1.005" } };

/**
 * @typedef {object} Plan
 * @property {number} creates number of create requests
 * @property {number} kills number of times that Workers are killed
 * @property {number} seed determines the create requests, and which Worker is killed when
 * @property {number} old number of create requests before the load. The creation times of their transactions
 *   are set back by an hour. Most of these transactions are erased during the load
 * @property {boolean} isTimely whether the check waits until the ledger can be complete up to the last create
 * @property {(done: number) => void} [progress]
 *
 * @typedef {import("../../../scripts/lib/kv.mjs").Kv & {ledger: import("../../../scripts/lib/ledger.mjs").Ledger}} LedgerKv
 *
 * @typedef {object} Answer the answer to a create request
 * @property {import("./orders.mjs").Order} order
 * @property {import("../faults/client.mjs").Outcome[]} outcomes one for each attempt
 *
 * @typedef {object} History
 * @property {Answer[]} answers
 * @property {string[]} erased IDs of the transactions whose erasure was confirmed
 * @property {string[]} notErased problems of the erasures that were not confirmed
 * @property {{service: number, dashboard: number}} kills
 * @property {number} lastCreated time of the last create request, in milliseconds since 1970
 * @property {{damaged: string, gone: string}} planted the name of a damaged record that was written, and the
 *   ID of a transaction whose record was removed
 * @property {string[]} crons answers of the dashboard's cron during the load
 * @property {number} begun number of rows before the load
 * @property {number} mended number of rows that reconciliation wrote during the load
 * @property {any[]} checks what `npm run ledger -- check` printed, in two runs
 * @property {any} status
 * @property {LedgerKv} kv
 */

/**
 * Runs a plan, and passes its history to `work`. The history's `kv` is closed when `work` ends.
 * @template T
 * @param {import("../../../scripts/setup/tools.mjs").Tools} tools
 * @param {Plan} plan
 * @param {(history: History) => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function play(tools, plan, work) {
  const folder = mkdtempSync(join(tmpdir(), "impact-pledge-ledger-"));
  const kv = /** @type {LedgerKv} */ (await openKv(tools, { persistTo: folder }));
  const pair = await workers(tools, folder);
  try {
    return await work(await new Play(tools, plan, { kv, ...pair }).history());
  } finally {
    await Promise.all([pair.service.end(), pair.dashboard.end()]);
    await kv.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

class Play {
  #client = new Client(CONNECTIONS);
  /** @type {Answer[]} */
  #answers = [];
  /** The answers of the dashboard's cron. @type {string[]} */
  #crons = [];
  #begun = 0;
  #done = 0;
  #mended = 0;
  #lastCreated = 0;

  constructor(tools, plan, { kv, service, dashboard }) {
    this.tools = tools;
    this.plan = plan;
    this.kv = kv;
    this.service = service;
    this.dashboard = dashboard;
    this.random = new Random(plan.seed, "kills");
  }

  async history() {
    const { creates, old } = this.plan;
    const [gone, ...erasable] = await this.#begin();
    const erasures = new Erasures(this.kv, this.dashboard, erasable);
    await this.#create(old + 1, creates, { kills: this.#killsAt(), erasures });
    await erasures.ended();
    this.#client.close();
    await this.#kill("both"); // messages that are still in the queue are lost
    const planted = await this.#plant(gone);
    const checks = [await this.#check(), await this.#ledger("check")];
    return {
      answers: this.#answers,
      erased: erasures.erased,
      notErased: erasures.failed,
      kills: { service: this.service.kills, dashboard: this.dashboard.kills },
      lastCreated: this.#lastCreated,
      planted,
      begun: this.#begun,
      crons: this.#crons,
      mended: this.#mended,
      checks,
      status: await this.#ledger("status"),
      kv: this.kv,
    };
  }

  // ---- Before the load ---------------------------------------------------------------------------

  /**
   * Creates transactions that are old enough to be erased, and adds them to the ledger. Returns the IDs of
   * the transactions that have no idempotency key.
   */
  async #begin() {
    const { seed, seedDemo } = await operator(this.tools);
    await seed(portOf(this.kv));
    const input = JSON.stringify(PRICES);
    await this.#command("prices", ["set", "-", "--mode", "live", "--yes"], { input });
    await this.kv.ledger.ready();
    await seedDemo(portOf(this.kv), await this.service.origin());
    await this.#create(1, this.plan.old);
    await this.service.end(); // after it has sent its messages
    const old = await this.#age();
    this.#begun = (await this.#ledger("check")).missing;
    await Promise.all([this.service.start(), this.dashboard.start()]);
    return old;
  }

  /**
   * Sets the creation times of all transactions back by an hour, because only a transaction that is some
   * minutes old can be erased.
   */
  async #age() {
    const orders = new Map();
    for (const { id, ...order } of acknowledgedOf(this.#answers)) orders.set(id, order);
    for (const id of orders.keys()) await this.#setBack(`transaction:${id}`);
    const isAlone = ([, order]) => !order.idempotencyKey; // the replay records of the others contain their time
    return [...orders].filter(isAlone).map(([id]) => id);
  }

  async #setBack(key) {
    const [{ value, metadata }] = /** @type {any[]} */ (await Array.fromAsync(this.kv.read([key])));
    const record = JSON.parse(value);
    const createdAt = new Date(Date.parse(record.createdAt) - HOUR_MS).toISOString();
    const summary = { ...metadata.summary, createdAt };
    const json = JSON.stringify({ ...record, createdAt });
    await this.kv.write([{ key, value: json, metadata: { ...metadata, summary } }]);
  }

  // ---- The load ----------------------------------------------------------------------------------

  /** @param {number} first @param {number} last @param {{kills?: Set<number>, erasures?: Erasures}} [meanwhile] */
  async #create(first, last, { kills = new Set(), erasures } = {}) {
    const { seed, progress = () => {} } = this.plan;
    const numbers = range(first, last);
    const one = async () => {
      for (const number of numbers) {
        if (kills.has(number)) this.#killSoon();
        if (number % this.#every === 0) erasures?.next();
        await this.#send(order(seed, number));
        this.#done += 1;
        progress(this.#done);
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, one));
    await this.#killed;
  }

  get #every() {
    return Math.max(1, Math.floor(this.plan.creates / (2 * this.plan.old)));
  }

  /**
   * Sends a create request, and repeats it until the answer is 200, at most MOST_ATTEMPTS times. A request
   * without an idempotency key is not repeated, because a retry would not be safe.
   * @param {import("./orders.mjs").Order} order
   */
  async #send(order) {
    const outcomes = [];
    this.#answers.push({ order, outcomes });
    for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt += 1) {
      const outcome = await this.#client.send(await this.service.origin(), request(order));
      outcomes.push(outcome);
      this.#lastCreated = Date.now();
      if (outcome.status === 200 || !order.idempotencyKey) return;
      await sleep(AGAIN_MS * attempt);
    }
  }

  // ---- Kills -------------------------------------------------------------------------------------

  #killsAt() {
    const { creates, kills, old } = this.plan;
    const share = (creates - old) / kills;
    const at = (index) => old + 1 + Math.floor((index + this.random.next()) * share);
    return new Set(Array.from({ length: kills - 1 }, (_, index) => at(index)));
  }

  /** The most recent kill of a Worker. The next kill waits for it. @type {Promise<unknown>} */
  #killed = Promise.resolve();

  #killSoon() {
    const what = this.random.pick(["service", "dashboard", "dashboard", "both"]);
    const [isCron, delay] = [this.random.chance(0.5), this.random.below(MOST_DELAY_MS)];
    this.#killed = this.#killed.then(async () => {
      if (isCron) this.#cron(); // it dies
      await sleep(delay);
      await this.#kill(what);
    });
    this.#killed.catch(() => {}); // it is awaited at the end
  }

  /** @param {"service" | "dashboard" | "both"} what */
  async #kill(what) {
    const killed = [];
    if (what !== "dashboard") killed.push(this.service.kill());
    if (what !== "service") killed.push(this.dashboard.kill());
    await Promise.all(killed);
    if (what !== "service") await this.#pass();
  }

  /**
   * Starts the cron as if an hour had passed, so that a reconciliation pass is due and no earlier lease blocks
   * it. If an earlier pass was killed, the cron continues that pass.
   */
  async #pass() {
    const completed = Date.now() - HOUR_MS - 1_000;
    const [[mended]] = await this.kv.ledger.run([
      { sql: "SELECT json_quote(last_mended) FROM reconciliation", parameter: "" },
      {
        sql: `UPDATE reconciliation SET lease = 0, completed = ${completed}, last_mended = 0`,
        parameter: "",
      },
    ]);
    this.#mended += Number(mended);
    this.#cron();
  }

  /** Starts the dashboard's cron. The next kill may interrupt it. */
  #cron() {
    runCron(this.dashboard).then(
      async (answer) => this.#crons.push(`${answer.status} ${await answer.text()}`),
      () => this.#crons.push("none"),
    );
  }

  // ---- After the load ----------------------------------------------------------------------------

  /**
   * Writes a damaged record. Also removes the record of the transaction `gone`, but leaves the transaction's
   * row. The ledger's check must report both.
   */
  async #plant(gone) {
    const damaged = `transaction:${gone.slice(0, -20)}${"a".repeat(20)}`;
    await this.kv.write([{ key: damaged, value: "{}", metadata: { mode: "live" } }]);
    await this.kv.remove([`transaction:${gone}`]);
    return { damaged, gone };
  }

  async #check() {
    const wait = this.#lastCreated + SHOWN_AFTER_MS + 1_000 - Date.now();
    if (this.plan.isTimely) await sleep(Math.max(0, wait));
    else await this.#later();
    return this.#ledger("check");
  }

  /**
   * Makes all rows in the ledger two minutes older. The check then trusts the record in KV more than the row.
   */
  #later = () =>
    this.kv.ledger.run([
      { sql: `UPDATE transactions SET changed = changed - ${SHOWN_AFTER_MS}`, parameter: "" },
    ]);

  #ledger = async (what) => JSON.parse(await this.#command("ledger", [what, "--json"]));

  async #command(name, args, options = {}) {
    const { code, out, problem } = await run(name, args, { kv: this.kv, ...options });
    if (code !== 0) throw new Error(`${name} ${args.join(" ")}: ${problem}${out}`);
    return out;
  }
}

/** Yields the create requests that were answered with an ID, including repeats. @param {Answer[]} answers */
export function* acknowledgedOf(answers) {
  for (const { order, outcomes } of answers) {
    const { status, text = "" } = outcomes.at(-1) ?? {};
    /** @type {string} */
    const id = status === 200 ? JSON.parse(text).id : "";
    if (id) yield { id, ...order };
  }
}

function* range(first, last) {
  for (let number = first; number <= last; number += 1) yield number;
}
