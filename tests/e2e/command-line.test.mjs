/**
 * Tests the commands' arguments. An invalid command line does nothing and prints what is wrong. A valid one
 * prints its result and exits with a status for the shell.
 */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readdirSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { PassThrough } from "node:stream";
import test from "node:test";
import { confirm } from "../../scripts/lib/command.mjs";
import { commandsFor } from "../../scripts/lib/commands.mjs";
import { groups } from "../../scripts/lib/operations.mjs";
import { npm } from "../../scripts/lib/run.mjs";
import { errorAddress } from "../../www/site/origin.js";
import { localKv, run, scratch, script, start, tools } from "./script.mjs";

// ---- In this process -----------------------------------------------------------------------------

const OFF_DEPLOYED = "`--env` is for a deployed service: add `--remote`";
const KEEP = "0, or a time from 60s to 365d, such as 90s, 30m, 24h or 7d";

const RESEND = "give either the ID of a transaction, or `--failed-on`, or `--unit` and `--cause`";
const NEITHER = "say what the key acts for: give either `--unit` or `--team`";
const FIND = "give either `--reference` or `--email`";
const ERASE = "give either the ID of a transaction, or `--email`";

/** Invalid command lines, and the error message for each. */
const WRONG = {
  "keys make": "unknown command 'make'",
  "keys toString": "unknown command 'toString'",
  "keys revok": "unknown command 'revok'\n(Did you mean revoke?)",
  "keys create": "required option '--mode <mode>' not specified",
  "keys create --mode prod":
    "option '--mode <mode>' argument 'prod' is invalid. Allowed choices are test, live.",
  "keys create --mode test": NEITHER,
  "keys create --mode test --unit a --team t": NEITHER,
  "keys create --mode test --unit a b":
    "too many arguments for 'create'. Expected 0 arguments but got 1: b.",
  "keys list --sort age":
    "option '--sort <sort>' argument 'age' is invalid. Allowed choices are id, unit, label, created, expires.",
  "keys list --remote --persist-to x":
    "option '--persist-to <dir>' cannot be used with option '--remote'",
  "keys list --env production": OFF_DEPLOYED,
  "keys revoke": "`<id>` is missing: give the ID of the key, or the key itself on standard input",
  "keys rotate a": "required option '--keep <time>' not specified",
  ...Object.fromEntries(
    ["59s", "5", "-1h", "1.5h", "366d", "1w"].map((keep) => [
      `keys rotate a --keep=${keep}`,
      `\`--keep\` can't be \`${keep}\`: give ${KEEP}`,
    ]),
  ),
  "prices check": "unknown command 'check'",
  "prices set --mode live": "nothing was changed: no price is different",
  "prices change tree": "missing required argument 'price'",
  "teams add t": "missing required argument 'unit'",
  "teams remove": "missing required argument 'team'",
  "people add a@b.example --role viewer": "give either `--unit` or `--team`",
  "people list --unit a --team b": "give either `--unit` or `--team`",
  "units set unit_1":
    "give at least one field to set: `--name`, `--logo`, `--link`, `--accent`, `--time-zone`, `--language`, `--mail`, `--messaging-services`, `--reply-to`, `--mail-text`, `--public-total`, `--billing-name`, `--billing-address`, `--tax-text`",
  "units unset unit_1 name":
    "command-argument value 'name' is invalid for argument 'fields'. Allowed choices are logo, accent, language, link, reply-to, mail-text, time-zone, billing-name, billing-address, tax-text.",
  "units set --name n": "missing required argument 'unit'",
  "units set u --name n --acent #fff": "unknown option '--acent'\n(Did you mean --accent?)",
  "transactions find --unit u": FIND,
  "transactions list --limit 0": "`--limit` can't be `0`: give a whole number from 1 to 1000",
  "transactions quantities": "required option '--month <month>' not specified",
  "transactions find --unit u --reference r --email e": FIND,
  "transactions export --month 2026-13":
    "`--month` can't be `2026-13`: give a year and a month, such as 2026-11",
  "transactions erase": ERASE,
  "transactions erase x --email e": ERASE,
  "transactions erase x --unit u": "`--unit` and `--mode` need `--email`",
  "transactions restore x --only keys":
    "option '--only <kind>' argument 'keys' is invalid. Allowed choices are transactions, ledger.",
  "transactions restore x --only transactions --with-keys":
    "`--with-keys` cannot be used with `--only transactions`",
  "transactions erase x --env production": OFF_DEPLOYED,
  "transactions usage --mode prod":
    "option '--mode <mode>' argument 'prod' is invalid. Allowed choices are test, live.",
  "emails failed --day 2026-13-01": "`--day` can't be `2026-13-01`: give a day, such as 2026-11-21",
  "emails failed --limit 0": "`--limit` can't be `0`: give a whole number from 1 to 1000",
  "emails resend": RESEND,
  "emails resend x --failed-on 2026-11-21": RESEND,
  "emails resend --failed-on 2026-11-21 --again": "`--again` is for the ID of one transaction",
  "emails resend x --remote --origin y":
    "option '--origin <url>' argument 'y' is invalid. Give an address such as http://127.0.0.1:8787.",
  "emails resend x --remote --origin http://127.0.0.1:8787":
    "option '--origin <url>' cannot be used with option '--remote'",
  "payments mark": "required option '--unit <id>' not specified",
  ...Object.fromEntries(
    Object.entries({
      "": "required option '--amount <amount>' not specified",
      "--amount usd=1": "write the amount as 1234.50 or USD=1234.50: the currency cannot be `usd`",
      "--amount 1 --accept-unpriced x":
        "`--accept-unpriced` can't be `x`: give a whole number from 0 to 1000000000",
      ...Object.fromEntries(
        ["1969-12-31", "2026-02-30", "2026-11-05T10:00", "2026-02-30T10:00Z", "5.11.2026"].map(
          (day) => [
            `--amount 1 --paid-at ${day}`,
            `\`--paid-at\` can't be \`${day}\`: give a day or a date-time, such as 2026-11-05 or 2026-11-05T14:30:00+01:00`,
          ],
        ),
      ),
    }).map(([more, problem]) => [
      `payments mark --unit u --month 2026-10 --invoice 1 ${more.includes("--paid-at") ? more : `--paid-at 2026-11-05 ${more}`}`.trim(),
      problem,
    ]),
  ),
  "payments undo --unit u --month 2026-1":
    "`--month` can't be `2026-1`: give a year and a month, such as 2026-11",
  "start x": "too many arguments. Expected 0 arguments but got 1: x.",
};

test("an invalid command line prints what is wrong in a line or two, and exits with 2", async (t) => {
  const kv = await localKv(t);
  for (const [line, problem] of Object.entries(WRONG)) {
    const [name, ...args] = line.split(" ");
    const called = `npm ${name === "start" ? name : `run ${name}`} --`;
    const of = commandsOfGroup(name).includes(args[0]) ? `${called} ${args[0]}` : called;
    const help = `See \`${of} --help\`.`;
    assert.deepEqual(
      await run(name, args, { kv }),
      {
        code: 2,
        out: line.includes("--json") ? jsonOf(problem) : "",
        problem: `${problem}\n${help}\n`,
      },
      line,
    );
  }
  assert.deepEqual(await Array.fromAsync(kv.names()), []);
});

/** Returns the names of the commands of a group. */
const commandsOfGroup = (name) =>
  groups.includes(name) ? commandsFor(name).commands.map((line) => line.name()) : [];

const jsonOf = (problem) =>
  `${JSON.stringify({ error: { code: "usage", message: problem.replaceAll("\n", " "), see: errorAddress("usage") } })}\n`;

/**
 * Command lines in which npm took an option for one of its own. Each row has the words that are left of the
 * command line, the option's name in npm's spelling, and the option in this project's spelling.
 */
const BY_NPM = [
  ["prices set x --mode live --persist-to y", "remote", "--remote"],
  ["prices set x live", "mode", "--mode"],
  ["keys list", "json", "--json"],
  ["keys list", "remot", "--remot"],
  ["keys list x", "persist_to", "--persist-to"],
  ["keys rotate 0", "keep", "--keep"],
  ["units set u Nord", "accent", "--accent"],
  ["transactions erase x", "yes", "--yes"],
  ["transactions restore x", "overwrite", "--overwrite"],
  ["deploy", "dry_run", "--dry-run"],
  ["deploy --env staging", "keep_vars", "--keep-vars"],
  ["start", "persist_to", "--persist-to"],
];

test("an option that npm took is reported, and nothing is changed", async (t) => {
  const kv = await localKv(t);
  const byNpm = (line, config) => {
    const [name, ...args] = line.split(" ");
    return run(name, args, { kv, env: { npm_lifecycle_event: name, ...config } });
  };
  for (const [line, option, shown] of BY_NPM) {
    const { code, out, problem } = await byNpm(line, { [`npm_config_${option}`]: "true" });
    assert.deepEqual([code, out], [2, ""], line);
    const refused = `npm took \`${shown}\` for itself, so nothing was done. Write \`npm `;
    assert.ok(problem.startsWith(refused), problem);
  }
  for (const [line, config] of [
    ["keys list", { npm_config_yes: "", npm_config_json: "false" }],
    ["keys list", { npm_config_cache: "/x", npm_config_loglevel: "warn" }],
    ["keys list --json", { npm_config_json: "true" }], // passed on, too
  ])
    assert.equal((await byNpm(line, config)).code, 0, line);
});

test("help is not a failure, and is printed if the command is missing", async () => {
  for (const name of [
    "keys",
    "prices",
    "units",
    "teams",
    "people",
    "transactions",
    "emails",
    "audit",
    "start",
    "deploy",
  ]) {
    const { code, out, problem } = await run(name, ["--help"]);
    assert.deepEqual([code, problem], [0, ""]);
    assert.match(out, new RegExp(`^Usage: npm (run )?${name} -- \\[options\\]`));
    for (const [line, next] of out.matchAll(/^\S.*(?=\n(\S+))/gm)) // each line is as full as possible
      assert.ok(line.length + 1 + next.length > 80 || line.endsWith(":"), line);
  }
  const { code, problem } = await run("keys", []);
  assert.equal(code, 2);
  assert.match(problem, /^Usage: npm run keys -- \[options\] \[command\]/);
});

/**
 * Files that cannot be read or written. Each row has the command line that names the file, and what the command
 * says.
 */
const NO_FILES = [
  ["prices set prices.json", "there is no file prices.json"],
  ["prices set .", ". is a folder"],
  ["transactions restore lost.jsonl", "there is no file lost.jsonl"],
  ["transactions restore .", ". is a folder"],
  [
    "transactions backup no/such/folder.jsonl",
    "no/such/folder.jsonl can't be written: there is no folder no/such",
  ],
  [
    "transactions export --month 2026-01 --csv no/such.csv",
    "no/such.csv can't be written: there is no folder no",
  ],
];

test("a file that cannot be used is named as it was given", async (t) => {
  const kv = await localKv(t);
  for (const [line, problem] of NO_FILES) {
    const [name, ...args] = line.split(" ");
    const ended = await run(name, args, { kv });
    assert.equal(ended.code, 1, line);
    assert.ok(ended.problem.startsWith(`stopped: ${problem} (`), ended.problem);
  }
});

test("a prompt does not keep the process running", async () => {
  const input = Object.assign(new PassThrough(), { isTTY: true }); // stays open, like a terminal
  input.write("yes\n");
  await confirm({ question: "Go?", otherwise: "-" }, { input, out() {}, err() {}, env: {} });
  assert.ok(input.isPaused());
});

// ---- In processes of their own -------------------------------------------------------------------

test("a shell gets the answer, the exit code, and errors on standard error, and no other tool is needed", async (t) => {
  const persistTo = scratch(t);
  const at = ["--json", "--persist-to", persistTo];
  const env = { PATH: dirname(process.execPath), CARGO_HOME: persistTo }; // the command must not look for Rust
  const create = ["create", "--mode", "live", "--unit", "u", "--yes", ...at];
  const made = await script("keys", create, { env });
  assert.deepEqual([made.code, made.problem], [0, ""]);
  const { key, name, place } = JSON.parse(made.out);
  assert.deepEqual(place, { kind: "local", folder: persistTo });
  assert.equal(name, `key:${createHash("sha256").update(key).digest("hex")}`);

  const revoked = await script("keys", ["revoke", "--yes", ...at], { env, input: `${key}\n` });
  assert.deepEqual([revoked.code, JSON.parse(revoked.out).name], [0, name]);

  const failed = await script("keys", ["rotate", "f".repeat(64), "--keep", "0", ...at], { env });
  const message = "there is no key ffffffffffff: nothing was done";
  const see = errorAddress("not_found");
  assert.deepEqual(
    [failed.code, JSON.parse(failed.out)],
    [1, { place, error: { field: "id", code: "not_found", message, see } }],
  );
  assert.equal(failed.problem, `stopped: ${message} (local: ${persistTo})\n`);

  const unread = start("keys", ["list", ...at], { env });
  unread.stdout.destroy(); // as `head` does once it has enough
  assert.deepEqual(await unread.done, { code: 0, out: "", problem: "" });

  const wrong = await script("keys", ["list", "--remot", "--json"], { env });
  const problem = "unknown option '--remot'\n(Did you mean --remote?)";
  assert.deepEqual(wrong, {
    code: 2,
    out: jsonOf(problem),
    problem: `${problem}\nSee \`npm run keys -- list --help\`.\n`,
  });
});

test("a process exits once its command has ended and all output is written, whatever still runs in it", async (t) => {
  const file = join(scratch(t), "hangs.mjs");
  const text = "all of it";
  const run = `(_, to) => { setInterval(() => {}, 1_000); to.out("${text}".repeat(100_000)); return 1; }`;
  writeFileSync(file, `export default { run: ${run} };\n`);
  const name = relative(join(tools.root, "scripts"), file).replace(/\.mjs$/, "");
  assert.deepEqual(await script(name, []), { code: 1, out: text.repeat(100_000), problem: "" });
});

test("a command line without `--` for npm changes nothing", async (t) => {
  const folder = scratch(t);
  const file = join(folder, "prices.json");
  writeFileSync(file, '{ "currencyCode": "EUR", "unitPrices": {} }');
  const { output } = await npm(
    ["run", "prices", "set", file, "--persist-to", folder, "--mode", "live"],
    { cwd: tools.root, env: tools.env },
  ).catch((error) => error);
  assert.match(output, /^npm took `--(persist-to|mode)` for itself, so nothing was done/m);
  assert.deepEqual(readdirSync(folder), ["prices.json"]);
});
