/**
 * Runs the operator's commands in this process. Each test has its own records in local KV. This file also
 * contains the records that the tests share.
 */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { operate } from "../../scripts/lib/operations.mjs";
import { portOf } from "../../scripts/lib/operator.mjs";
import { placeInWords } from "../../scripts/lib/output.mjs";
import { fixturesIn } from "../support/fixtures.mjs";
import { localKv, run, tools } from "./script.mjs";

/** Returns a time without its fraction of a second, as commands print it. */
export const seconds = (time) => time.replace(/\.\d+Z$/, "Z");
export const nameOf = (key) => `key:${createHash("sha256").update(key).digest("hex")}`;

/**
 * Returns functions that run commands on a new set of records. `json` and `words` return a command's output
 * after its first line, which names the account or folder. `fails` asserts that a command fails with a given
 * error. `printed` collects all output.
 */
export async function operator(t) {
  const kv = await localKv(t);
  const where = placeInWords(kv.place);
  const printed = [];
  const command = async (code, args, input, { isTTY = false } = {}) => {
    const ended = await run(args[0], args.slice(1), { kv, input, isTTY });
    printed.push(ended.out, ended.problem);
    assert.equal(ended.code, code, ended.problem);
    return ended;
  };
  const jsonOf = ({ out }) => {
    const { place, ...answer } = JSON.parse(out);
    assert.deepEqual(place, kv.place);
    return answer;
  };
  const wordsOf = ({ out }) => {
    const [first, empty, ...rest] = out.split("\n");
    assert.deepEqual([first, empty], [where, ""]);
    return rest.join("\n");
  };
  return {
    kv,
    printed,
    command,
    json: async (...args) => jsonOf(await command(0, [...args, "--json"])),
    words: async (...args) => wordsOf(await command(0, args)),
    wordsOf,
    jsonOf,
    fails: async (args, message, input) => {
      const { out, problem } = await command(1, args, input);
      assert.equal(out, "");
      const [, said] = problem.match(/(?:^|\n)stopped: (.*) \((.*)\)\n$/) ?? [];
      assert.ok(problem.endsWith(` (${where})\n`), problem);
      assert[message instanceof RegExp ? "match" : "equal"](said, message);
    },
    /** Returns a stored record without its member `change`, which names an entry of the audit log. */
    changed: async (name) => {
      const { change, ...record } = JSON.parse((await kv.get(name)) ?? "");
      const sql = "SELECT content FROM audit WHERE name = ?1 ->> '$'";
      assert.ok(kv.ledger);
      const [rows] = await kv.ledger.run([{ sql, parameter: JSON.stringify(change) }]);
      assert.match(rows[0] ?? "", /"command":/);
      return record;
    },
    /** Returns the names of all records except the audit log and tombstones. */
    names: async () => {
      const names = (await Array.fromAsync(kv.names())).filter((it) => !it.startsWith("audit:"));
      const values = await Promise.all(names.map((name) => kv.get(name)));
      return names.filter((_, index) => !values[index]?.startsWith('{"removed":true,'));
    },
    /** Reconciles the ledger with the records. */
    reconcile: () => operate(tools, portOf(kv), "ledger", "check"),
  };
}

export const ID = "ptran_f74hxzdgxljvqeegtsq7kummqadht4ietopodwyawa"; // of unit_dev, in test mode
export const LIVE_ID = "ptran_jsbk2rxqdo5lmnfxgaytemzugu3doobzmfrggzdfmy"; // of unit_dev_two, in live mode
export const { records: RECORDS } = fixturesIn("records").find(
  ({ file }) => file === "format-1.json",
);
export const ENTRIES = [
  ...Object.entries(RECORDS).map(([key, { value, metadata }]) => ({
    key,
    value,
    ...(metadata && { metadata }),
  })),
  { key: "secret", value: JSON.stringify({ secret: "0f".repeat(32), version: 1 }) },
];
/** The entries of the register for the units of {@link ENTRIES}. */
export const REGISTERED = ["unit_dev", "unit_dev_two"].map((unit) => {
  const registered = { created: "2025-10-01T00:00:00Z", by: "Ada" };
  return { key: `unit:${unit}`, value: JSON.stringify(registered), metadata: registered };
});
