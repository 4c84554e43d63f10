/** A run in plain lines. */
import { table } from "../../scripts/lib/output.mjs";
import { parsed } from "./oracle.mjs";

const LOSSES = /acknowledged was kept|can be read/;
const DOUBLES = /one create has one record|not written once more/;
const MOST_SHOWN = 10;

const count = (number) => number.toLocaleString("en-US");
const mb = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;

/** How many of each. @param {Iterable<string | number>} items */
export function tally(items) {
  const counts = [...Map.groupBy(items, String)].map(([name, { length }]) => [name, length]);
  return counts
    .sort()
    .map(([name, times]) => `${name} ${count(times)}`)
    .join(", ");
}

/**
 * @param {import("./run.mjs").History} history
 * @param {import("./oracle.mjs").Violation[]} found
 * @param {{seed: number, connections: number}} plan
 */
export function summary({ exchanges, kills, faults, memory }, found, { seed, connections }) {
  const injected = [...faults.values()].flat();
  const acknowledged = exchanges.filter(
    ({ ask, outcome }) => ask.payload && outcome.status === 200,
  );
  const broken = exchanges.filter(
    ({ ask, outcome }) => ask.kind !== "trap" && outcome.status === 500 && !faults.has(ask.number),
  );
  const readBack = exchanges.filter(
    ({ ask, outcome }) => ask.isFinal && ask.kind === "get" && outcome.status === 200,
  );
  const repeats = acknowledged.filter(({ ask }) => ask.kind === "repeat");
  const of = (rules) => found.filter(({ rule }) => rules.test(rule)).length;
  const rows = [
    [
      "requests",
      `${count(exchanges.length)}, ${connections} at a time, seed ${seed}: ${tally(exchanges.map(({ ask }) => (ask.isFinal ? "read or repeated in the end" : ask.kind)))}`,
    ],
    ["faults of KV injected", `${count(injected.length)}: ${tally(injected)}`],
    ...(kills.length > 0
      ? [["kills survived", `${kills.length}, the last one before all is read back`]]
      : []),
    [
      "traps survived",
      `${exchanges.filter(({ ask }) => ask.kind === "trap").length}, which ended ${broken.length} other requests with our 500`,
    ],
    [
      "answers",
      tally(exchanges.map(({ outcome }) => outcome.status ?? outcome.error ?? "no answer")),
    ],
    [
      "acknowledged",
      `${count(acknowledged.length)} creates, ${count(new Set(acknowledged.map(({ outcome }) => parsed(outcome.text)?.id)).size)} transactions`,
    ],
    ["read back", count(readBack.length)],
    [
      "repeats",
      `${count(repeats.filter(({ outcome }) => outcome.replayed).length)} of ${count(repeats.length)} that were acknowledged got the first answer`,
    ],
    ["losses", String(of(LOSSES))],
    ["doubles", String(of(DOUBLES))],
    ["violations in all", String(found.length)],
    ...(memory
      ? [
          [
            "peak memory",
            `${mb(memory.peak.wasm)} of WebAssembly (${mb(memory.idle.wasm)} idle), ${mb(memory.peak.heap)} of JavaScript, ${mb(memory.peak.resident)} of the process`,
          ],
        ]
      : []),
    ...found
      .slice(0, MOST_SHOWN)
      .map(({ rule, number, problem }) => ["violated", `${rule}: request ${number}: ${problem}`]),
  ];
  return table(...[rows[0], rows.slice(1)]);
}
