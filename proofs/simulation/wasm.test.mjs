/** The simulation's seeds on the built Worker: it calls and answers as the native service does. */
import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import { tools } from "../../tests/e2e/script.mjs";
import { loadWorker } from "./host.mjs";
import { record } from "./record.mjs";
import { replay } from "./replay.mjs";

const SEEDS = 20;
const KINDS = [
  ...["answer", ...[200, 400, 401, 404, 422, 500, 503].map((status) => `answer ${status}`)],
  ...["body ended", "body error", "cut"],
  ...["get", "put", "read"].flatMap((operation) =>
    ["ended", "error", "hung"].map((end) => `${operation} ${end}`),
  ),
];

const startIsolate = await loadWorker(join(tools.root, "build"));
const recordings = [];
const isAnswered =
  (status, header = "content-type") =>
  (details) =>
    details.status === status && details.headers.some(([name]) => name === header);
const isFound =
  (text) =>
  ({ outcome }) =>
    outcome?.ok?.includes?.(text);
const isWritten = ({ outcome }, event) => event === "end" && outcome.ok === null;
const isLast = (_, event, next) =>
  event === "end" && next.event === "answer" && next.details.status === 200;
const isHung = ({ outcome }) => outcome === "hung";
const isCall =
  (operation, text = "") =>
  ({ input }) =>
    input?.[0] === operation && input[2].includes(text);
const isDrawn = ({ bytes }) => bytes?.length === 32;

test(`the Worker does with ${SEEDS} seeds what the native service does`, async (t) => {
  const total = {};
  for await (const recording of record(tools, { SEEDS: `${SEEDS}` })) {
    recordings.push(recording);
    const counts = await replay(recording, startIsolate);
    for (const [kind, count] of Object.entries(counts)) total[kind] = (total[kind] ?? 0) + count;
  }
  assert.deepEqual(Object.keys(total).sort(), KINDS, "a kind that does not happen proves nothing");
  t.diagnostic(`${total.answer} requests compared: ${JSON.stringify(total)}`);
});

const WHATEVER = "(answer|call|randomness)";
/** A change, in which events, how it is made, and of what the report is. */
const CHANGES = [
  [
    "the text of an answer",
    isAnswered(200),
    (answer) => (answer.body = answer.body.replace("2026", "2027")),
    "answer",
  ],
  [
    "a header of an answer",
    isAnswered(200, "idempotent-replayed"),
    (answer) => answer.headers.pop(),
    "answer",
  ],
  ["the log of an answer", isAnswered(503), (answer) => (answer.log += "."), "answer"],
  ["a record that is not found", isFound("editKey"), (end) => (end.outcome.ok = null), WHATEVER],
  [
    "metadata of another unit",
    isFound("editKey"),
    (end) => (end.outcome.ok = end.outcome.ok.replace("unit_", "other_")),
    WHATEVER,
  ],
  ["a read that fails", isFound("unitPrices"), (end) => (end.outcome = "error"), WHATEVER],
  ["a value that is damaged", isFound("unitPrices"), (end) => (end.outcome.ok = "{"), WHATEVER],
  ["a write that fails", isWritten, (end) => (end.outcome = "error"), WHATEVER],
  [
    "an answer that waits longer",
    isLast,
    (_, event, events) => events.splice(events.indexOf(event), 0, event),
    "time of the answer",
  ],
  [
    "how long KV may cache",
    isCall("get", "cacheTtl"),
    ({ input }) => (input[2] = `"stream"`),
    "call",
  ],
  ["the name of a record", isCall("get"), ({ input }) => (input[1] += "0"), "call"],
  [
    "metadata that is written",
    isCall("put", "editKey"),
    ({ input }) => (input[2] = input[2].replace("unit_", "other_")),
    "call",
  ],
  [
    "a value that is written",
    isCall("put", "createdAt"),
    ({ input }) => (input[2] = input[2].replace("2026", "2027")),
    "call",
  ],
  ["random bytes", isDrawn, (random) => (random.bytes = "\0".repeat(32)), WHATEVER],
  ["how many random bytes", isDrawn, (random) => (random.bytes += "\0"), "randomness"],
  ["a deadline that is shorter", isHung, (_, event) => (event.at -= 1), "deadline"],
  ["a deadline that is longer", isHung, (_, event) => (event.at += 1), "deadline"],
];

for (const [name, isIt, change, what] of CHANGES) {
  test(`a difference is reported with its seed and its request: ${name}`, async () => {
    const those = ({ events }) =>
      events.filter(({ event, details }, index) => isIt(details ?? {}, event, events[index + 1]));
    const recording = structuredClone(recordings.find((one) => those(one).length > 0));
    for (const event of those(recording)) change(event.details, event, recording.events);
    const { seed } = recording;
    const message = new RegExp(
      `^seed ${seed}, request #\\d+ at \\d+ ms, \\w+: the Worker's ${what} is another\n.*\n.*\nSEED=${seed} npm run simulate `,
    );
    await assert.rejects(replay(recording, startIsolate), { message });
  });
}
