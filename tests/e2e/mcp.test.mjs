/** Tests the MCP server `mcp` with the client of the official SDK, over standard input and output. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { Ajv } from "ajv";
import { operations } from "../../scripts/lib/operations.mjs";
import { MOST_DATA, MOST_TEXT, shortened } from "../../scripts/lib/mcp-answer.mjs";
import { assistant } from "./assistant.mjs";
import { cloudflare } from "./cloudflare.mjs";
import { ENTRIES, ID, LIVE_ID, RECORDS, REGISTERED, operator } from "./operator.mjs";
import { contents, start, tools } from "./script.mjs";

const LEDGER =
  "SELECT json_quote(count(*)) FROM operations UNION ALL SELECT json_quote(count(*)) FROM audit";
const CONNECTION = "con_missing";

/** What a read prints that an assistant does not get: files, corrections, and personal data unmasked. */
const NOT_OFFERED = ["emails preview", "ledger check", "transactions export", "updates check"];

/** Arguments for the tools that need some, or that are more interesting with some. */
const GIVEN = {
  connections_preview: {
    system: "woocommerce",
    settings: JSON.stringify({
      rules: [{ offeringId: "tree", basis: { order: { amount: "1" } } }],
    }),
    order: JSON.stringify({
      id: 1053,
      number: "1053",
      status: "processing",
      currency: "EUR",
      total: "39.90",
      date_paid_gmt: "2026-11-28T07:00:00",
      billing: { email: "grace@example.org" },
      line_items: [],
    }),
  },
  credits_list: { id: ID },
  emails_show: { id: ID },
  fulfilments_shops: { month: "2026-01", offering: "tree" },
  payments_list: { unit: "unit_dev" },
  payments_statement: { unit: "unit_dev", month: "2026-01", mode: "test" },
  people_list: { unit: "unit_dev" },
  teams_show: { team: "team_dev" },
  transactions_find: { mode: "test", reference: "ORDER-1001" },
  transactions_list: { limit: 5 },
  transactions_quantities: { month: "2026-01", mode: "both" },
  transactions_show: { id: ID },
  units_show: { unit: "unit_dev" },
};

/** Tools that cannot answer for the records of this test. */
const REFUSED = {
  connections_deliveries: { connection: CONNECTION },
  payments_show: { unit: "unit_dev", month: "2026-01", mode: "test" },
  updates_preview: { update: "u" },
};

/** Starts the server on the records that the tests share. */
async function shop(t, ...args) {
  const shop = await operator(t);
  await shop.kv.write([...ENTRIES, ...REGISTERED]);
  await shop.reconcile();
  return { ...shop, ...(await assistant(t, ["--persist-to", shop.kv.place.folder, ...args])) };
}

/** Returns a call as a command line: `{name: "x", all: true}` is `--name x --all`. */
function commandLine(name, given) {
  const [group, operation] = name.split("_");
  const spec = operations.find((one) => one.group === group && one.name === operation);
  const words = spec?.arguments.flatMap(({ name: argument, isOption, kind }) => {
    const value = given[argument];
    if (value === undefined) return [];
    if (!isOption) return [String(value)];
    return kind === "flag" ? [`--${argument}`] : [`--${argument}`, String(value)];
  });
  return [group, operation, ...(words ?? [])];
}

test("each read is a tool that says it only reads, and no change, correction, file or unmasked data is one", async (t) => {
  const { client } = await shop(t);
  const { tools: offered } = await client.listTools();
  const reads = operations.filter(({ changes }) => !changes);
  const names = reads.map(({ group, name }) => `${group} ${name}`);
  assert.deepEqual(
    offered.map(({ title }) => title),
    names.filter((name) => !NOT_OFFERED.includes(name)),
  );
  const ajv = new Ajv({ strict: true });
  for (const { name, annotations, inputSchema, description = "" } of offered) {
    assert.equal(annotations?.readOnlyHint, true, name);
    assert.equal(annotations?.destructiveHint, false, name);
    assert.match(name, /^[a-z]+_[a-z_]+$/);
    assert.ok(description.includes("\n\nStructured content: "), name);
    assert.doesNotMatch(description, /\]\(/, name);
    ajv.compile(inputSchema);
    assert.doesNotMatch(JSON.stringify(inputSchema), /"(reveal|timeline|csv|html)":/, name);
  }
  const list = offered.find(({ name }) => name === "transactions_list");
  assert.deepEqual(list?.inputSchema.properties?.limit, {
    type: "integer",
    minimum: 1,
    maximum: 1000,
    default: 50,
    description: "the largest number of rows to print, up to 1000",
  });
  const show = offered.find(({ name }) => name === "payments_show");
  assert.deepEqual(show?.inputSchema.required, ["unit", "month"]);
  assert.deepEqual(show?.inputSchema.properties?.mode?.enum, ["test", "live"]);
});

test("each tool answers with the text and the JSON of its command, masked, and changes nothing", async (t) => {
  const { client, kv, command, words, answer, refusal, jsonOf } = await shop(t);
  const before = await allOf(kv);
  const { tools: offered } = await client.listTools();
  for (const { name } of offered) {
    const given = GIVEN[name] ?? {};
    if (REFUSED[name]) {
      const { code, message } = await refusal(name, REFUSED[name]);
      assert.ok(code && message, name);
      continue;
    }
    const { text, data } = await answer(name, given);
    assert.doesNotMatch(text + JSON.stringify(data), /ada@|edit_key=/i, name);
    assert.deepEqual(data.place, kv.place);
    if (name === "connections_preview") {
      assert.deepEqual(data.pledge.pledges[0].impact, { amount: 1, offeringId: "tree" });
      continue; // its command reads files
    }
    const { place: _, ...members } = data;
    const line = [...commandLine(name, given), "--json"];
    assert.deepEqual(members, jsonOf(await command(0, line)), name);
  }
  const { text } = await answer("keys_list");
  const [, , ...list] = text.split("\n");
  assert.equal(list.join("\n"), (await words("keys", "list")).trimEnd());
  const { data } = await answer("transactions_show", { id: ID });
  assert.equal(data.transaction.pledges[0].recipient.email, "a…@e…");
  assert.deepEqual(await allOf(kv), before);
});

test("a refusal names the argument and what to do, and the server goes on", async (t) => {
  const { client, call, answer, refusal, problem } = await shop(t);
  for (const [name, given, field, code, message] of [
    ["payments_show", { unit: "unit_dev" }, "month", "required", /^`--month` is missing: /],
    ["payments_show", { unit: "unit_dev", month: "May" }, "month", "invalid", /such as 2026-11$/],
    ["keys_list", { mode: "both" }, "mode", "invalid", /give one of test, live$/],
    ["transactions_list", { limit: 1001 }, "limit", "invalid", /from 1 to 1000$/],
    ["transactions_list", { limit: 2.5 }, "limit", "invalid", /whole number/],
    ["fulfilments_balance", { open: "yes" }, "open", "invalid", /no value|wrong type/],
    [
      "transactions_show",
      { id: ID, reveal: true },
      "reveal",
      "not_allowed",
      /arguments are: `id`$/,
    ],
    ["transactions_show", { id: LIVE_ID.replace("j", "k") }, "id", "not_found", /./],
    [
      "connections_preview",
      { system: "stripe", settings: "{", order: "{}" },
      "settings",
      "invalid",
      /./,
    ],
    ["units_show", { unit: ["unit_dev"] }, "unit", "invalid", /wrong type/],
  ]) {
    const refused = await refusal(name, given);
    assert.deepEqual([refused.field, refused.code], [field, code], refused.message);
    assert.match(refused.message, message);
    assert.ok(refused.text.endsWith(`Argument: \`${field}\`.`), refused.text);
  }
  for (const name of ["keys_create", "ledger_check", "nothing", "__proto__"])
    await assert.rejects(call(name, {}), {
      code: -32602,
      message: new RegExp(`there is no tool \`${name}\`\\. Tools only read: .+keys_list, `),
    });
  await assert.rejects(client.request({ method: "resources/list" }, /** @type {any} */ ({})), {
    code: -32601,
  });
  assert.equal((await answer("keys_list")).data.keys.length, 3);
  assert.equal(problem(), "");
});

test("a ledger that is missing, a service that does not answer, and a wrong environment are tool errors", async (t) => {
  const { env, account } = await cloudflare(t, { page: 100 });
  const { answer, refusal } = await assistant(t, ["--remote"], env);
  assert.equal((await answer("prices_show")).data.place.kind, "cloudflare");
  const { message } = await refusal("payments_due");
  assert.match(message, /ledger/);
  assert.match(
    message,
    /no database is bound as `LEDGER_DB`\. Deploy the dashboard with its database/,
  );
  /** @type {any} */ (account).fault = () => ({ delay: 60_000 });
  const hasty = await assistant(t, ["--remote", "--timeout", "2"], env);
  const late = await hasty.refusal("prices_show");
  assert.match(late.message, /^`prices show` took more than 2 s and was stopped: ask for less/);
  const wrong = await assistant(t, ["--remote", "--env", "moon"], env);
  assert.match((await wrong.refusal("prices_show")).message, /moon/);
});

test("a long answer is cut, says so, and says how to see the rest", async (t) => {
  const { kv, answer } = await shop(t);
  const { value, metadata } = RECORDS[`transaction:${ID}`];
  const record = JSON.parse(value);
  const pledges = Array.from({ length: 1_500 }, () => record.pledges[0]);
  const long = JSON.stringify({ ...record, pledges });
  await kv.write([{ key: `transaction:${ID}`, value: long, metadata }]);
  const { text, data } = await answer("transactions_show", { id: ID });
  assert.ok(text.length < MOST_TEXT + 1_000 && JSON.stringify(data).length < MOST_DATA + 1_000);
  const [{ member, shown, of }] = data.cut.lists;
  assert.deepEqual([member, of], ["transaction.pledges", 1_500]);
  assert.equal(data.transaction.pledges.length, shown);
  assert.ok(shown > 50);
  assert.match(data.cut.how, /`transactions show` prints all of it/);
  assert.match(text, /\[This text was cut after 20000 characters\. /);
  assert.match(text, /\[`transaction\.pledges` has \d+ of 1500 items here\.\]/);
});

test("only the lists of a long answer are shortened, the longest first", () => {
  const items = (count, size) => Array.from({ length: count }, () => "x".repeat(size));
  const { value, cuts } = shortened({ a: items(900, 96), b: items(5, 96), c: "d" }, 20_000);
  assert.deepEqual(cuts, [{ member: "a", shown: value.a.length, of: 900 }]);
  assert.ok(value.a.length > 150 && JSON.stringify(value).length <= 20_000);
  assert.deepEqual([value.b.length, value.c], [5, "d"]);
  const nested = shortened({ list: [{ inner: items(900, 96) }] }, 20_000);
  assert.equal(nested.cuts[0]?.of, 900);
  assert.deepEqual(shortened({ a: [1], b: "y" }, 20_000), { value: { a: [1], b: "y" }, cuts: [] });
  assert.deepEqual(shortened({ text: "x".repeat(30_000) }, 20_000).value, {});
});

test("`--groups` offers some tools only", async (t) => {
  const { client, problem } = await shop(t, "--groups", "keys,audit");
  const { tools: offered } = await client.listTools();
  assert.deepEqual(
    offered.map(({ name }) => name),
    ["keys_list", "audit_list"],
  );
  assert.equal(problem(), "");
  const { code, problem: said } = await start("mcp", ["--groups", "key"]).done;
  assert.equal(code, 2);
  assert.match(said, /There is no group `key`\. The groups are: keys, prices/);
});

test("the output is nothing but the protocol, and the end of the input ends the process", async (t) => {
  const { kv } = await operator(t);
  const server = start("mcp", ["--persist-to", kv.place.folder]);
  const send = (message) =>
    server.stdin.write(
      `${typeof message === "string" ? message : JSON.stringify({ jsonrpc: "2.0", ...message })}\n`,
    );
  const params = {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "test", version: "0" },
  };
  send({ id: 1, method: "initialize", params });
  send({ method: "notifications/initialized" });
  send("this is no JSON");
  send({ id: 2, method: "tools/call", params: { name: "audit_list" } });
  server.stdin.end();
  const { code, out, problem } = await server.done;
  assert.equal(code, 0, problem);
  const answers = out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  const [{ result: started }, { result: listed }] = answers;
  assert.deepEqual(
    answers.map(({ id }) => id),
    [1, 2],
  );
  const cargo = readFileSync(join(tools.root, "Cargo.toml"), "utf8");
  assert.equal(started.serverInfo.version, cargo.match(/^version = "(.+)"/m)?.[1]);
  assert.match(started.instructions, /local development data.*\n/);
  assert.match(started.instructions, /`npm run keys -- list`/);
  assert.deepEqual(listed.structuredContent.changes, []);
  assert.match(problem, /^mcp: Unexpected token/);
});

/** Returns all records, and the numbers of the ledger's operations and audit entries. */
async function allOf(kv) {
  const ledger = await kv.ledger.run([{ sql: LEDGER, parameter: "" }]);
  return { records: await contents(kv), ledger };
}
