/** Erases old transactions during the load, alternately by command and on the dashboard. */
import { setTimeout as sleep } from "node:timers/promises";
import { run } from "../../e2e/script.mjs";

const [MOST_ATTEMPTS, AGAIN_MS] = [10, 1_000];

export class Erasures {
  /** The IDs whose erasure was confirmed. @type {string[]} */
  erased = [];
  /** The erasures that were not confirmed. Each has the transaction's ID and the problem. @type {string[]} */
  failed = [];
  /** The last erasure. Erasures run one after the other. @type {Promise<unknown>} */
  #last = Promise.resolve();
  #ids;
  #count = 0;

  /** @param {import("../../../scripts/lib/kv.mjs").Kv} kv @param {{origin: () => Promise<string>}} dashboard @param {string[]} ids */
  constructor(kv, dashboard, ids) {
    this.kv = kv;
    this.dashboard = dashboard;
    this.#ids = ids.values();
  }

  /** Erases the next transaction, if there is one. */
  next() {
    const { value: id } = this.#ids.next();
    if (id === undefined) return;
    this.#count += 1;
    const erase = this.#count % 2 === 0 ? this.#byCommand : this.#byDashboard;
    this.#last = this.#last.then(() => this.#untilDone(erase, id));
  }

  ended = () => this.#last;

  /**
   * Repeats an erasure until it succeeds. An attempt may fail because the dashboard was killed, or because
   * local KV refuses writes while other processes write.
   */
  async #untilDone(erase, id) {
    let problem;
    for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt += 1) {
      problem = await erase(id).catch(({ message }) => message);
      if (problem === null) return this.erased.push(id);
      await sleep(AGAIN_MS);
    }
    return this.failed.push(`${id}: ${problem}`);
  }

  /**
   * Erases a transaction with the command.
   * @returns {Promise<string | null>} the problem; null if the transaction was erased
   */
  #byCommand = async (id) => {
    const { code, problem } = await run("transactions", ["erase", id, "--yes"], { kv: this.kv });
    return code === 0 ? null : problem;
  };

  #byDashboard = async (id) => {
    const origin = await this.dashboard.origin();
    const { status } = await fetch(`${origin}/transactions/${id}/erase`, {
      method: "POST",
      headers: { origin },
      body: new URLSearchParams({ id }),
    });
    return status === 200 ? null : `status ${status}`;
  };
}
