/** Tests the command of the packed package, in a folder without other files. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import test, { after } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { npmScript } from "../../scripts/lib/bootstrap.mjs";
import { find } from "../../scripts/lib/run.mjs";
import { fixturesIn } from "../support/fixtures.mjs";
import { errorAddress } from "../../www/site/origin.js";
import { refusesOtherHosts } from "../support/loopback.mjs";
import { until } from "../support/until.mjs";
import { REQUEST } from "./mock-server.mjs";
import { nodes } from "./nodes.mjs";
import { packed } from "./packed.mjs";

const project = await packed();
const BIN = join(project.folder, "node_modules", "impact-pledge", "bin", "impact-pledge.js");
const folder = mkdtempSync(join(tmpdir(), "impact-pledge-bin-"));
process.chdir(folder);
after(() => rmSync(folder, { recursive: true, force: true }));
const [KEY, OTHER_UNIT] = ["service_sk_test_dev_unit", "service_sk_test_dev_unit_two"];
const GOOD = JSON.stringify(REQUEST);

/**
 * Returns environment variables for the command. Leaves out variables of the developer's own environment that
 * would change the command's behaviour.
 */
const environment = (node, env) => ({
  ...Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(PLEDGE_|FORCE_COLOR|NODE_TEST|PORT$)/.test(name),
    ),
  ),
  PATH: [dirname(node), process.env.PATH].join(delimiter),
  ...env,
});

/** Starts the command in its own process group, so that Ctrl-C reaches all processes that npx starts. */
function start(args, { node = process.execPath, bin = [BIN], env = {}, cwd = folder } = {}) {
  const child = spawn(node, [...bin, ...args], {
    cwd,
    env: environment(node, env),
    stdio: "pipe",
    detached: true,
  });
  const run = { child, out: "", err: "" };
  child.stdout.setEncoding("utf8").on("data", (text) => (run.out += text));
  child.stderr.setEncoding("utf8").on("data", (text) => (run.err += text));
  child.stdin.on("error", () => {}); // the command may exit before it has read everything
  run.ended = once(child, "close").then(([code, signal]) => ({
    status: code ?? signal,
    out: run.out,
    err: run.err,
  }));
  return run;
}

/**
 * Runs the command, by default in a thread, which starts faster than a process.
 * @returns {Promise<{status: number, out: string, err: string}>}
 */
async function command(args, { input, ...options } = {}) {
  if (options.node !== undefined) {
    const { child, ended } = start(args, options);
    child.stdin.end(input ?? "");
    return ended;
  }
  const env = environment(process.execPath, options.env);
  const streams = { stdin: input !== undefined, stdout: true, stderr: true };
  const thread = new Worker(pathToFileURL(BIN), { argv: args, env, ...streams });
  thread.stdin?.end(input); // an unread stream would keep the thread running
  const [out, err, [status]] = await Promise.all([
    text(thread.stdout),
    text(thread.stderr),
    once(thread, "exit"),
  ]);
  return { status, out, err };
}

function write(name, content) {
  writeFileSync(join(folder, name), content);
  return name;
}

const RECIPIENT = '"recipient": {"email": "ada@example.org"}',
  PLEDGES = '"pledges": [{"impact": {"amount": 1, "offeringId": "tree"}}]';
const REST = `${RECIPIENT}, ${PLEDGES}`;

/** Shortens a line of the command's output to the form that the fixtures use. */
const shortened = (line) =>
  line.replace(/^order\.json:(\d+:\d+) (the request|\S+) .* \((\w+)\)$/, "$1 $2 $3");

const bytesOf = ({ text, hex, repeat }) =>
  hex === undefined
    ? (text ?? repeat.before + repeat.text.repeat(repeat.times))
    : Buffer.from(hex, "hex");

/**
 * Returns the last line about a file, and then the lines of its problems. If there are any, a line at the end has the
 * address of what their codes mean.
 */
function partsOf(out) {
  const lines = out.trimEnd().split("\n");
  if (lines.length > 1) {
    const codes = new Set(lines.flatMap((line) => line.match(/ \((\w+)\)$/)?.[1] ?? []));
    assert.equal(lines.pop(), `see ${errorAddress(codes.size === 1 ? [...codes][0] : "")}`);
  }
  return [lines.pop(), ...lines];
}

for (const row of fixturesIn("places").flatMap(({ rows }) => rows)) {
  test(`validate: ${row.name}`, async () => {
    write("order.json", bytesOf(row));
    const { status, out, err } = await command(["validate", "order.json"]);
    const { problems, ends = "" } = row;
    const [last, ...rest] = partsOf(out);
    const lines = rest.map(shortened);
    const expected = { status: problems.length > 0 ? 1 : 0, lines: problems, err: "" };
    assert.deepEqual({ status, lines, err }, expected);
    const counted = problems.length === 1 ? "1 problem" : `${problems.length} problems`;
    assert.equal(last.split(";")[0], problems.length === 0 ? "order.json is valid" : counted);
    assert.ok(last.endsWith(ends), last);
  });
}

test("validate: problems beyond the limit are counted", async () => {
  write("order.json", `{"reference": "a", ${RECIPIENT}, "pledges": [${"1,".repeat(400_000)}1]}`);
  const { status, out } = await command(["validate", "order.json"]);
  const lines = out.trimEnd().split("\n");
  assert.deepEqual(
    [status, lines.length, lines.at(-2)],
    [1, 1002, "400001 problems, of which these are the first 1000"],
  );
});

test("validate: a repeated name", async () => {
  write("order.json", `{${'"reference":"",'.repeat(65_000)}${REST}}`);
  const { status, out } = await command(["validate", "order.json"]);
  assert.deepEqual(
    [status, shortened(out.split("\n")[999])],
    [1, "1:15002 reference duplicate_member"],
  );
});

test("validate --json: the issues of the package, with their lines and columns", async () => {
  const text = '{"reference": "a",\n"recipient": {"email": "ada@"}}';
  const { validateBytes } = await project.load("impact-pledge/validate");
  const positions = [
    { line: 2, column: 24 },
    { line: 1, column: 1 },
  ];
  const { status, out, err } = await command(["validate", "--json", write("order.json", text)]);
  assert.deepEqual(
    { status, issues: JSON.parse(out), err },
    {
      status: 1,
      issues: validateBytes(Buffer.from(text)).map((issue, index) => ({
        ...issue,
        ...positions[index],
      })),
      err: "",
    },
  );
  assert.deepEqual(await command(["validate", "--json"], { input: GOOD }), {
    status: 0,
    out: "[]\n",
    err: "",
  });
});

for (const args of [["validate"], ["validate", "-"]]) {
  test(`${args.join(" ")}: standard input`, async () => {
    assert.deepEqual(await command(args, { input: GOOD }), {
      status: 0,
      out: "standard input is valid\n",
      err: "",
    });
    const { status, out } = await command(args, { input: "{}" });
    assert.deepEqual(
      [status, out.split("\n").length, out.startsWith("standard input:1:1 reference ")],
      [1, 6, true],
    );
  });
}

write("large.json", `{"x": "${"x".repeat(30_000_000)}"}`);
write("good.json", GOOD);

/** Commands that fail: arguments, environment variables, and the text on standard error. */
const WRONG = [
  [["validate", "none.json"], /^none\.json can't be read: there is no such file$/],
  [["validate", "."], /^\. can't be read: it is a folder$/],
  [["validate", "large.json"], /^large\.json has more than 1048576 bytes/],
  [["validate", "good.json", "more.json"], /`more\.json` is one too many/],
  [["validate", "--jsn"], /did you mean `--json`\?/],
  [["validate", "--json=1"], /'--json' does not take an argument/],
  [["vaildate"], /no command `vaildate`; did you mean `validate`\?/],
  [["nonsense"], /the commands are `validate`, `create`, `get`, `serve`/],
  [["toString"], /no command `toString`/],
  [["\x1b[31m"], /no command `\\u001b\[31m`/],
  [["--verison"], /did you mean `--version`\?/],
  [[], /^impact-pledge COMMAND \[OPTIONS\]/],
  [["get"], /pass the ID of a transaction/],
  [
    ["get", "ptran_1"],
    /set PLEDGE_API_KEY and PLEDGE_BASE_URL[\s\S]*impact-pledge serve[\s\S]*service_sk_test_dev_unit/,
  ],
  [["create", "good.json"], /set PLEDGE_BASE_URL /, { PLEDGE_API_KEY: "a" }],
  [
    ["create", "good.json"],
    /`baseUrl` must be[\s\S]*PLEDGE_BASE_URL/,
    { PLEDGE_API_KEY: "a", PLEDGE_BASE_URL: "example.org" },
  ],
  [["get", "service_sk_test_secret"], /can show it$/],
  [["create", "good.json", "--idempotency-key=service_sk_live_secret"], /can show it$/],
  [["get", "ptran_1", "--api-key", "own-secret"], /can show it$/, { PLEDGE_API_KEY: "own-secret" }],
  [["get", "ptran_1", "--api-key=secret"], /can't be given by `--api-key`/],
  [["serve", "--port", "70000"], /`--port` must be a number from 0 to 65535/],
  [["serve"], /`PORT=http` must be a number from 0 to 65535/, { PORT: "http" }],
  [["serve", "--port"], /'--port <value>' argument missing/],
];

for (const [args, text, env] of WRONG) {
  test(`${JSON.stringify(args)} is refused`, async () => {
    const { status, out, err } = await command(args, { env });
    assert.deepEqual([status, out], [2, ""], err);
    assert.match(err.trimEnd(), text);
    assert.doesNotMatch(err, /secret| {4}at /);
  });
}

test("--help, of each command and of all, and --version", async () => {
  for (const args of [[], ["validate"], ["create"], ["get"], ["serve"]]) {
    const { status, out, err } = await command([...args, "--help"]);
    assert.deepEqual(
      [status, err, out.startsWith(`impact-pledge ${args[0] ?? "COMMAND"} `)],
      [0, "", true],
    );
  }
  const { version } = project.require("impact-pledge/package.json");
  assert.deepEqual(await command(["--version"]), { status: 0, out: `${version}\n`, err: "" });
});

test("the reader of the output closes it early", async () => {
  write("order.json", `{"pledges": [${"1,".repeat(2_000)}1]}`);
  const { child, ended } = start(["validate", "order.json"]);
  child.stdout.destroy();
  assert.deepEqual((await ended).err, "");
});

/** Ends the processes of a group. npx may have ended before the processes that it started. */
function killGroup(pid) {
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    assert.equal(error.code, "ESRCH");
  }
}

/**
 * Starts the service with the package's command.
 * @returns {Promise<{env: object, interrupt: () => Promise<{status: number, out: string, err: string}>}>} `env`: the
 *   environment for commands that call this service; `interrupt`: sends Ctrl-C, and resolves when the service ended
 */
async function serving(t, options) {
  const run = start(["serve", "--port", "0"], options);
  const interrupt = () => {
    process.kill(-run.child.pid, "SIGINT");
    return run.ended;
  };
  t.after(() => killGroup(run.child.pid));
  while (!run.out.includes("Ctrl-C ends it.")) {
    assert.equal(run.child.exitCode, null, run.err);
    await sleep(20);
  }
  return {
    env: { PLEDGE_API_KEY: KEY, PLEDGE_BASE_URL: run.out.match(/http:\/\/127\.0\.0\.1:\d+/)[0] },
    interrupt,
    run,
  };
}

function shown({ status, out, err }) {
  assert.deepEqual([status, err], [0, ""]);
  return JSON.parse(out);
}

async function mustCreateAndGet(options) {
  const created = shown(await command(["create", "good.json"], options));
  assert.match(created.id, /^ptran_/);
  const { reference, charge, pledges } = shown(await command(["get", created.id], options));
  assert.deepEqual([reference, charge.amount, pledges.length], [REQUEST.reference, "0.50", 1]);
  return created;
}

for (const { name, node } of nodes()) {
  test(`${name}: serve, create and get`, async (t) => {
    const { env, interrupt } = await serving(t, { node });
    const created = await mustCreateAndGet({ node, env });
    assert.ok(
      created.timelineUrl.startsWith(`${env.PLEDGE_BASE_URL}/timeline/`),
      created.timelineUrl,
    );
    assert.match(await (await fetch(created.timelineUrl)).text(), /<html/);
    const [first, second] = [
      await command(["create", "-", "--idempotency-key", "a"], { node, env, input: GOOD }),
      await command(["create", "--idempotency-key=a"], { node, env, input: GOOD }),
    ];
    assert.deepEqual(second, first);
    const { status, out, err } = await interrupt();
    const [create, ...others] = out.split("Ctrl-C ends it.\n")[1].trimEnd().split("\n");
    assert.deepEqual(
      [status, err, create, others.length],
      [0, "", "POST /v2/pledge-transaction 200", 4],
    );
    assert.ok(others[1].startsWith("GET /timeline/ptran_") && !out.includes("edit_key"), out);
  });
}

test("npx from the tarball, in an empty folder", async (t) => {
  const cwd = mkdtempSync(join(folder, "empty-"));
  const npm = npmScript() ?? realpathSync(find("npm"));
  const exec = ["exec", "--yes", "--offline", "--loglevel=error", `--package=${project.tarball}`];
  const npx = { node: process.execPath, cwd, bin: [npm, ...exec, "--", "impact-pledge"] };
  const cache = { npm_config_cache: join(folder, "cache"), npm_config_update_notifier: "false" };
  const { env, interrupt } = await serving(t, { ...npx, env: cache });
  const calls = { ...npx, env: { ...cache, ...env } };
  assert.match(shown(await command(["create"], { ...calls, input: GOOD })).id, /^ptran_/);
  await interrupt();
  await assert.rejects(fetch(env.PLEDGE_BASE_URL));
  const slow = join(cwd, "bin");
  mkdirSync(slow);
  writeFileSync(join(slow, "ps"), `#!/bin/sh\nsleep 1\nexec ${find("ps")} "$@"\n`, { mode: 0o755 });
  const PATH = [slow, process.env.PATH].join(delimiter); // npx ends before the command has asked who started it
  for (const [signal, changes] of [
    ["SIGTERM", {}],
    ["SIGKILL", {}],
    ["SIGKILL", { PATH }],
  ]) {
    const { env, run } = await serving(t, { ...npx, env: { ...cache, ...changes } });
    run.child.kill(signal); // npx alone
    const isGone = () =>
      fetch(env.PLEDGE_BASE_URL).then(
        () => false,
        () => true,
      );
    await until(isGone);
  }
});

test("create and get print what the service refuses", async (t) => {
  const [{ env }, ended] = [await serving(t), await serving(t)];
  await ended.interrupt();
  const { id } = await mustCreateAndGet({ env });
  write("wrong.json", `{"reference": "order-1", "recipient": {"email": "ada@"},\n${PLEDGES}}`);
  const rows = [
    [["get", "ptran_unknown"], /no pledge transaction with this ID\n[\s\S]*own unit/],
    [["get", id], /no pledge transaction with this ID/, { PLEDGE_API_KEY: OTHER_UNIT }],
    [
      ["get", id],
      /Authentication failed[\s\S]*PLEDGE_API_KEY must be/,
      { PLEDGE_API_KEY: "own-secret" },
    ],
    [
      ["get", id],
      /Authentication failed[\s\S]*PLEDGE_UNIT_ID/,
      { PLEDGE_API_KEY: "service_sk_test_dev_team" },
    ],
    [
      ["create", "wrong.json"],
      /^wrong\.json:1:49 recipient\.email .*\n1 problem\nsee https:\S+\/invalid_email\nnothing was sent$/,
    ],
    [
      ["get", id],
      /was not sent\ncheck that PLEDGE_BASE_URL is.*npx impact-pledge serve/,
      { PLEDGE_BASE_URL: ended.env.PLEDGE_BASE_URL },
    ],
    [
      ["get", id],
      /live key over http/,
      { PLEDGE_BASE_URL: "http://pledges.invalid", PLEDGE_API_KEY: "service_sk_live_dev_unit" },
    ],
  ];
  for (const [args, text, changes] of rows) {
    const { status, out, err } = await command(args, { env: { ...env, ...changes } });
    assert.deepEqual([status, out], [1, ""], err);
    assert.match(err.trimEnd(), text);
    assert.doesNotMatch(err, /secret|service_sk| {4}at /);
  }
  const ofTeam = {
    env: { ...env, PLEDGE_API_KEY: "service_sk_test_dev_team", PLEDGE_UNIT_ID: "unit_dev" },
  };
  assert.equal(shown(await command(["get", id], ofTeam)).reference, REQUEST.reference);
});

test("serve: only by a name of this machine", async (t) => {
  const { env } = await serving(t);
  await refusesOtherHosts(env.PLEDGE_BASE_URL, { path: "/healthz" });
});

test("serve: a port that is in use, and the keys that it prints", async (t) => {
  const { env, run } = await serving(t);
  const { port } = new URL(env.PLEDGE_BASE_URL);
  const ways = [
    [["--port", port], {}],
    [["--port", port], { PORT: "x" }],
    [[], { PORT: port }],
  ];
  for (const [args, env] of ways) {
    const { status, err } = await command(["serve", ...args], { env });
    assert.equal(status, 2);
    assert.match(
      err.trimEnd(),
      /^port \d+ can't be used: another program uses it\. Choose another port, for example with `impact-pledge serve --port \d+`$/,
    );
    assert.ok(err.startsWith(`port ${port} `), err);
  }
  const seed = JSON.parse(
    readFileSync(new URL("../../src/office/demo/development.json", import.meta.url), "utf8"),
  );
  for (const [key] of seed.keys) {
    assert.ok(run.out.includes(key));
    const options = { env: { ...env, PLEDGE_API_KEY: key, PLEDGE_UNIT_ID: "unit_dev" } };
    assert.equal(
      shown(await command(["create", "good.json"], options)).isLive,
      key.includes("_live_"),
    );
  }
});
