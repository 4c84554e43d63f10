/**
 * Runs requests against the built Worker with every kind of injected fault, and reports the result as text.
 */
import { UserError, duration, log, table } from "../../../scripts/lib/output.mjs";
import { parsed, violations } from "./oracle.mjs";
import { play } from "./run.mjs";

const SHOWN_EVERY = 5_000;
const MOST_SHOWN = 10;

/** @type {import("./run.mjs").Plan} */
const LONG = {
  requests: 100_000,
  connections: 64,
  seed: 0,
  share: 0.01,
  hangMs: 20_000, // longer than the service waits
  kills: 10,
  traps: 5,
  crowds: 5,
  repeats: 5_000,
};

/**
 * Runs the requests, and checks all rules.
 * @param {import("../../../scripts/setup/tools.mjs").Tools} tools with a Worker that is built
 * @param {Partial<import("./run.mjs").Plan>} [wish] changes to the default plan: a long run with a new seed
 * @returns {Promise<string>} a summary; throws if a rule was broken
 */
export async function faults(tools, wish = {}) {
  const started = Date.now();
  const plan = { ...LONG, seed: Date.now(), ...wish };
  const progress = (done) => {
    if (done % SHOWN_EVERY === 0)
      log(`faults: ${done} of ${plan.requests} requests after ${duration(Date.now() - started)}`);
  };
  const history = await play(tools, { progress, ...plan });
  const found = violations(history);
  const text = summary(history, plan);
  if (found.length === 0) return text;
  const shown = found
    .slice(0, MOST_SHOWN)
    .map(({ rule, number, problem }) => `${rule}: request ${number}: ${problem}`);
  throw new UserError(
    `${text}\n\n${found.length} violations:\n${shown.join("\n")}\n\`npm run faults -- --seed ${plan.seed}\` asks the same again`,
  );
}

const count = (number) => number.toLocaleString("en-US");
const mb = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;

/** Counts the items of each kind. @param {Iterable<string | number>} items */
const tally = (items) =>
  [...Map.groupBy(items, String)]
    .sort()
    .map(([name, { length }]) => `${name} ${count(length)}`)
    .join(", ");

/** @param {import("./run.mjs").History} history */
function summary({ exchanges, kills, faults, memory: { idle, peak } }, { seed }) {
  const injected = [...faults.values()].flat();
  const acknowledged = exchanges.filter(
    ({ ask, outcome }) => ask.payload && outcome.status === 200,
  );
  const ids = new Set(acknowledged.map(({ outcome }) => parsed(outcome.text)?.id));
  const kinds = tally(exchanges.map(({ ask }) => (ask.isFinal ? "in the end" : ask.kind)));
  const answers = exchanges.map(({ outcome }) => outcome.status ?? outcome.error ?? "");
  return table(
    ["requests", `${count(exchanges.length)}, seed ${seed}: ${kinds}`],
    [
      ["faults of KV", `${count(injected.length)}: ${tally(injected)}`],
      ["kills", String(kills.length)],
      ["answers", tally(answers)],
      ["acknowledged", `${count(acknowledged.length)} creates, ${count(ids.size)} transactions`],
      [
        "peak memory",
        `${mb(peak.wasm)} of WebAssembly (${mb(idle.wasm)} idle), ${mb(peak.heap)} of JavaScript`,
      ],
    ],
  );
}
