/** `npm run keys` and `npm run catalogue`, on local KV and on a deployed namespace. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { placeInWords } from "../../scripts/lib/output.mjs";
import { npm } from "../../scripts/lib/run.mjs";
import { ACCOUNT, cloudflare } from "./cloudflare.mjs";
import { PLACES } from "./places.mjs";
import { scratch, script, tools } from "./script.mjs";

/** A key's record, without the namespace's secret. */
function recordOf(text) {
  const { secret, version, ...record } = JSON.parse(text);
  assert.match(secret, /^[0-9a-f]{64}$/);
  assert.equal(version, 1);
  return record;
}
const nameOf = (key) => `key:${createHash("sha256").update(key).digest("hex")}`;

const endOf = async (kv, name) => (await Array.fromAsync(kv.list(name)))[0].expiration;

for (const [name, open] of Object.entries(PLACES)) {
  test(`on ${name}, a key is made, listed and revoked, and each output names the place`, async (t) => {
    const { place, ...at } = await open(t);
    const keys = (...args) => script("keys", [...args, ...at.args], at);

    const unit = await keys(
      "create",
      "--mode",
      "live",
      "--unit",
      "unit_1",
      "--label",
      "Grüße",
      "--json",
    );
    assert.equal(unit.code, 0, unit.problem);
    const { key, ...row } = JSON.parse(unit.out);
    assert.match(key, /^service_sk_live_[a-z2-7]{40}$/);
    assert.deepEqual(row, {
      place,
      id: nameOf(key).slice(4, 16),
      name: nameOf(key),
      mode: "live",
      level: "unit",
      unitId: "unit_1",
      label: "Grüße",
    });
    assert.deepEqual(recordOf(await at.kv.get(nameOf(key))), {
      mode: "live",
      level: "unit",
      unitId: "unit_1",
      label: "Grüße",
    });

    const team = await keys(
      "create",
      "--mode",
      "test",
      "--level",
      "team",
      "--team",
      "t",
      "--unit",
      "a",
      "--unit",
      "b",
    );
    assert.equal(team.code, 0, team.problem);
    const [where, , teamKey] = team.out.split("\n");
    assert.equal(where, placeInWords(place));
    assert.match(teamKey, /^service_sk_test_[a-z2-7]{40}$/);
    assert.deepEqual(recordOf(await at.kv.get(nameOf(teamKey))), {
      mode: "test",
      level: "team",
      teamId: "t",
      unitIds: ["a", "b"],
    });

    await at.kv.write([`key:${"0".repeat(64)}`, "catalogue"].map((key) => ({ key, value: "{}" })));
    const list = await keys("list");
    assert.equal(list.code, 0, list.problem);
    assert.equal(list.out.split("\n")[0], placeInWords(place));
    assert.match(list.out, new RegExp(`^${row.id}  live  unit   unit_1 +Grüße$`, "m"));
    assert.match(list.out, /^[0-9a-f]{12} {2}test {2}team {3}t +a b$/m);
    assert.match(list.out, /^0{12} {2}\? .*unreadable record: missing field `mode`$/m);
    assert.ok(![key, teamKey].some((secret) => list.out.includes(secret)));
    const listed = JSON.parse((await keys("list", "--json")).out);
    assert.deepEqual([listed.place, listed.keys.length], [place, 3]);

    const byId = await keys("revoke", row.id, "--json");
    assert.deepEqual(JSON.parse(byId.out), {
      place,
      id: row.id,
      name: row.name,
      revoked: true,
      found: true,
    });
    const byKey = await script("keys", ["revoke", ...at.args], { ...at, input: `${teamKey}\n` });
    assert.equal(byKey.code, 0, byKey.problem);
    assert.deepEqual(await Array.fromAsync(at.kv.names()), [
      "catalogue",
      `key:${"0".repeat(64)}`,
      "secret",
    ]);
  });

  test(`on ${name}, a key is replaced, and the old one ends after a time or at once`, async (t) => {
    const { place, ...at } = await open(t);
    const keys = (...args) => script("keys", [...args, ...at.args, "--json"], at);
    const made = JSON.parse(
      (await keys("create", "--mode", "live", "--unit", "u", "--label", "shop")).out,
    );
    const before = Math.floor(Date.now() / 1000);
    const rotated = await keys("rotate", made.id, "--keep", "24h");
    assert.equal(rotated.code, 0, rotated.problem);
    const { replaces, ...second } = JSON.parse(rotated.out);
    assert.deepEqual(
      { ...second, key: "", id: "", name: "" },
      { ...made, key: "", id: "", name: "" },
    );
    assert.notEqual(second.key, made.key);
    assert.equal(await at.kv.get(second.name), await at.kv.get(made.name));
    const [ends, promised] = [await endOf(at.kv, made.name), Date.parse(replaces.ends) / 1000];
    assert.ok(
      before + 86_400 <= promised &&
        promised <= ends &&
        ends <= Math.ceil(Date.now() / 1000) + 86_400,
    );
    assert.deepEqual(replaces, { id: made.id, name: made.name, ends: replaces.ends });
    assert.equal(await endOf(at.kv, second.name), undefined);
    const { keys: rows } = JSON.parse((await keys("list")).out);
    assert.deepEqual(Object.fromEntries(rows.map(({ id, ends }) => [id, ends])), {
      [made.id]: new Date(ends * 1000).toISOString().replace(".000", ""),
      [second.id]: undefined,
    });

    const third = JSON.parse((await keys("rotate", second.id, "--keep", "0")).out);
    assert.deepEqual(await Array.fromAsync(at.kv.names()), [
      ...[made.name, third.name].sort(),
      "secret",
    ]);
    const none = await keys("rotate", "f".repeat(64), "--keep", "0");
    assert.deepEqual(
      [none.code, JSON.parse(none.out)],
      [
        1,
        {
          place,
          error: { code: "failed", message: "there is no key ffffffffffff: nothing was done" },
        },
      ],
    );
    assert.deepEqual(await Array.fromAsync(at.kv.names()), [
      ...[made.name, third.name].sort(),
      "secret",
    ]);
  });

  test(`on ${name}, an ID that is unknown or not one key's deletes nothing`, async (t) => {
    const { place, ...at } = await open(t);
    const twins = ["1", "2"].map((last) => `key:${"a".repeat(63)}${last}`);
    await at.kv.write(twins.map((key) => ({ key, value: "{}" })));
    for (const [input, problem] of [
      ["a".repeat(12), /^stopped: 2 keys have IDs that begin with `aaaaaaaaaaaa`/],
      ["b".repeat(12), /^stopped: no key has the ID `bbbbbbbbbbbb`/],
    ]) {
      const revoked = await script("keys", ["revoke", ...at.args], { ...at, input });
      assert.equal(revoked.code, 1);
      assert.match(revoked.problem, problem);
      assert.ok(revoked.problem.includes(`(${placeInWords(place)})`));
      assert.equal(revoked.out, "");
    }
    assert.deepEqual(await Array.fromAsync(at.kv.names()), twins);
  });

  test(`on ${name}, each mode has prices of its own`, async (t) => {
    const { place, ...at } = await open(t);
    const catalogue = (args, input) => script("catalogue", [...args, ...at.args], { ...at, input });
    const [EUR, GBP] = [
      { currencyCode: "EUR", unitPrices: { tree: "0.50" } },
      { currencyCode: "GBP", unitPrices: {} },
    ];
    const shown = async (...args) => JSON.parse((await catalogue(["show", ...args, "--json"])).out);
    assert.deepEqual(await shown(), { place, catalogues: { test: null, live: null } });
    assert.match((await catalogue(["show"])).out, /^prices of live keys\nno catalogue is set/m);
    await at.kv.write([{ key: "catalogue:test", value: JSON.stringify(GBP) }]);
    assert.deepEqual((await shown()).catalogues, { test: GBP, live: null });
    assert.match((await catalogue(["show", "--mode", "test"])).out, /^prices of test keys$/m);

    const file = join(scratch(t), "prices.json");
    writeFileSync(file, '{ "unitPrices": { "tree": "0.50" }, "currencyCode": "EUR" }\n');
    const set = await catalogue(["set", file, "--mode", "live"]);
    assert.equal(set.code, 0, set.problem);
    assert.equal(set.out.split("\n")[0], placeInWords(place));
    assert.match(set.out, /^prices of live keys\nOFFERING {2}EUR\ntree {6}0\.50$/m);
    assert.deepEqual(JSON.parse(await at.kv.get("catalogue:live")), { ...EUR, version: 1 });
    assert.deepEqual((await shown()).catalogues, { test: GBP, live: EUR });
    assert.deepEqual(JSON.parse((await catalogue(["set", file, "--mode", "both", "--json"])).out), {
      place,
      catalogues: { test: EUR, live: EUR },
    });
    assert.deepEqual((await shown("--mode", "test")).catalogues, { test: EUR });

    const wrong = await catalogue(
      ["set", "-", "--mode", "test"],
      '{"currencyCode":"EUR","unitPrices":{"tree":0.5}}',
    );
    assert.equal(wrong.code, 1);
    assert.match(
      wrong.problem,
      /^stopped: the catalogue: .*write a plain decimal in quotes.* at line 1 column 46 \(/m,
    );
    const nowhere = await catalogue(["set", join(scratch(t), "none.json"), "--mode", "test"]);
    assert.match(nowhere.problem, /^stopped: .*none\.json: ENOENT: .* \(/);
    await at.kv.write([
      { key: "catalogue:test", value: JSON.stringify({ ...EUR, ofLaterReleases: 1 }) },
    ]);
    assert.deepEqual((await shown()).catalogues, { test: EUR, live: EUR });
    const csv = join(scratch(t), "prices.csv");
    writeFileSync(csv, "tree,0.50\n");
    const noJson = await catalogue(["set", csv, "--mode", "live", "--json"]);
    assert.equal(noJson.code, 1);
    assert.equal(
      noJson.problem,
      `stopped: ${csv}: is not JSON: expected ident at line 1 column 3 (${placeInWords(place)})\n`,
    );
    assert.deepEqual(JSON.parse(noJson.out), {
      place,
      error: { code: "failed", message: `${csv}: is not JSON: expected ident at line 1 column 3` },
    });
    assert.deepEqual((await shown()).catalogues, { test: EUR, live: EUR });
  });
}

test("more keys than one page or one call are all listed", async (t) => {
  const {
    env,
    account: { records },
  } = await cloudflare(t);
  for (let unit = 0; unit < 230; unit += 1)
    records.set(
      nameOf(String(unit)),
      JSON.stringify({ mode: "test", level: "unit", unitId: `unit_${unit}` }),
    );
  const list = await script("keys", ["list", "--remote", "--json"], { env });
  assert.equal(list.code, 0, list.problem);
  assert.equal(new Set(JSON.parse(list.out).keys.map(({ unitId }) => unitId)).size, 230);
});

test("a key that the list lacks is revoked by itself, by its whole hash and by its record's name", async (t) => {
  const { env, account } = await cloudflare(t, {
    fault: (asked) => (/\/keys$/.test(asked) ? { status: 403 } : undefined),
  });
  const key = "service_sk_live_of_this_minute";
  for (const [args, input] of [
    [[], key],
    [[nameOf(key).slice(4)], ""],
    [[nameOf(key)], ""],
  ]) {
    account.records.set(nameOf(key), "{}");
    const { code, out, problem } = await script("keys", ["revoke", ...args, "--remote"], {
      env,
      input,
    });
    assert.equal(code, 0, problem);
    assert.match(out, /is revoked\. Within about a minute/);
    assert.equal(account.records.size, 0);
  }
  const { out } = await script("keys", ["revoke", nameOf(key), "--remote"], { env });
  assert.match(out, /is revoked, but no record of it was found: was it a key of this place\?/);
});

test("where the old key's end can't be written, the new key is shown all the same", async (t) => {
  let writes = 0;
  const { env, account } = await cloudflare(t, {
    fault: (asked) => {
      if (!/^PUT .*bulk$/.test(asked)) return undefined;
      writes += 1;
      return writes % 2 === 0 ? { status: 403 } : undefined;
    },
  });
  const secret = "07".repeat(32);
  const record = JSON.stringify({ mode: "live", level: "unit", unitId: "u", secret });
  account.records.set(nameOf("old"), record);
  const id = nameOf("old").slice(4, 16);
  const forPrograms = await script("keys", ["rotate", id, "--keep", "1h", "--remote", "--json"], {
    env,
  });
  assert.equal(forPrograms.code, 1);
  const { key, error } = JSON.parse(forPrograms.out);
  assert.equal(account.records.get(nameOf(key)), record);
  assert.match(
    error.message,
    new RegExp(`^${id} goes on without an end, and the new key ${nameOf(key).slice(4, 16)} works`),
  );
  const words = await script("keys", ["rotate", id, "--keep", "1h", "--remote"], { env });
  assert.equal(words.code, 1);
  assert.ok(account.records.has(nameOf(words.out.split("\n")[2])));
});

test("why an account can't be reached is said in one line, and never with the token", async (t) => {
  const { env } = await cloudflare(t, { deployed: false });
  const nowhere = {
    HOME: scratch(t),
    XDG_CONFIG_HOME: scratch(t),
    CLOUDFLARE_API_TOKEN: "",
    CLOUDFLARE_ACCOUNT_ID: "",
  };
  for (const [more, message] of [
    [
      {},
      /^the account account-1 has no Worker `impact-pledge`: deploy it first \(Cloudflare's API can't show the Worker .*: status 404; This does not exist on your account\. \[10007\]\)$/,
    ],
    [
      { CLOUDFLARE_API_TOKEN: "token-of-another" },
      /status 403; Authentication error \[10000\]; the token needs the permissions `Workers KV Storage: Edit` and `Workers Scripts: Read`$/,
    ],
    [{ CLOUDFLARE_API_BASE_URL: "http://127.0.0.1:1" }, /no connection \(.+\)$/],
    [
      nowhere,
      /^not logged in to Cloudflare: run `npx wrangler login`, or set CLOUDFLARE_API_TOKEN and CLOUDFLARE_ACCOUNT_ID$/,
    ],
  ]) {
    const { code, out, problem } = await script("keys", ["list", "--remote", "--json"], {
      env: { ...env, ...more },
    });
    assert.equal(code, 1);
    assert.match(JSON.parse(out).error.message, message);
    assert.equal(problem, `stopped: ${JSON.parse(out).error.message}\n`);
    assert.ok(!problem.includes("token-"));
  }
});

test("the only account of a login needs no name, and `wrangler login` needs no token", async (t) => {
  const { env } = await cloudflare(t);
  const { CLOUDFLARE_API_TOKEN: token } = env;
  const home = scratch(t);
  mkdirSync(join(home, ".wrangler", "config"), { recursive: true });
  writeFileSync(
    join(home, ".wrangler", "config", "default.toml"),
    `oauth_token = "${token}"\nexpiration_time = "${new Date(Date.now() + 3_600_000).toISOString()}"\nrefresh_token = "r"\nscopes = ["account:read"]\n`,
  );
  const { code, out, problem } = await script("keys", ["list", "--remote", "--json"], {
    env: {
      ...env,
      HOME: home,
      XDG_CONFIG_HOME: join(home, "none"),
      CLOUDFLARE_API_TOKEN: "",
      CLOUDFLARE_ACCOUNT_ID: "",
    },
  });
  assert.equal(code, 0, problem);
  assert.equal(JSON.parse(out).place.account, ACCOUNT);
});

test("an option that npm took for itself is refused, and nothing is changed", async (t) => {
  const persistTo = scratch(t);
  const file = join(persistTo, "prices.json");
  writeFileSync(file, '{ "currencyCode": "EUR", "unitPrices": {} }');
  const byNpm = (name, args, config) =>
    script(name, args, { env: { npm_lifecycle_event: name, ...config } });
  for (const [name, args, config, option] of [
    [
      "catalogue",
      ["set", file, "--mode", "live", "--persist-to", persistTo],
      { npm_config_remote: "true" },
      "--remote",
    ],
    ["catalogue", ["set", file], { npm_config_mode: "live" }, "--mode"],
    ["catalogue", ["set", file, "live"], { npm_config_mode: "true" }, "--mode"],
    ["keys", ["list"], { npm_config_json: "true" }, "--json"],
    ["keys", ["list"], { npm_config_remot: "true" }, "--remot"],
    ["keys", ["list"], { npm_config_env: "production" }, "--env"],
    ["keys", ["list", persistTo], { npm_config_persist_to: "true" }, "--persist-to"],
    ["keys", ["create", "u"], { npm_config_unit: "true" }, "--unit"],
    ["keys", ["rotate", "0"], { npm_config_keep: "0" }, "--keep"],
    ["deploy", [], { npm_config_dry_run: "true" }, "--dry-run"],
    ["deploy", ["production"], { npm_config_env: "true" }, "--env"],
    ["deploy", ["--env", "staging"], { npm_config_keep_vars: "true" }, "--keep-vars"],
    ["start", [], { npm_config_persist_to: "true" }, "--persist-to"],
  ]) {
    const { code, out, problem } = await byNpm(name, args, config);
    assert.equal(code, 2, `${name} ${args.join(" ")}: ${problem}`);
    assert.ok(
      problem.startsWith(`npm took \`${option}\` for itself, and nothing was done: write \`npm `),
      problem,
    );
    assert.equal(out, "");
  }
  assert.deepEqual(readdirSync(persistTo), ["prices.json"]);
  for (const config of [
    { npm_config_yes: "", npm_config_json: "false" },
    { npm_config_cache: "/x", npm_config_prefix: "/x", npm_config_loglevel: "warn" },
  ]) {
    assert.equal((await byNpm("keys", ["list", "--persist-to", persistTo], config)).code, 0);
  }
  const both = await byNpm("keys", ["list", "--json", "--persist-to", persistTo], {
    npm_config_json: "true",
  });
  assert.deepEqual(JSON.parse(both.out).keys, []);
});

test("npm itself, without `--`, changes nothing", async (t) => {
  const file = join(scratch(t), "prices.json");
  writeFileSync(file, '{ "currencyCode": "EUR", "unitPrices": {} }');
  const { output } = await npm(["run", "catalogue", "set", file, "--remote", "--mode", "live"], {
    cwd: tools.root,
    env: tools.env,
  }).catch((error) => error);
  assert.match(output, /^npm took `--(remote|mode)` for itself, and nothing was done/m);
});

test("bad usage says what is wrong in a line or two, and ends with 2", async () => {
  for (const [name, args, problem] of [
    ["keys", ["make"], "unknown command 'make'"],
    ["keys", ["toString"], "unknown command 'toString'"],
    ["keys", ["revok"], "unknown command 'revok'\n(Did you mean revoke?)"],
    ["keys", ["create"], "required option '--mode <mode>' not specified"],
    [
      "keys",
      ["create", "--mode", "prod"],
      "option '--mode <mode>' argument 'prod' is invalid. Allowed choices are test, live.",
    ],
    ["keys", ["create", "--mode", "test"], "required option '--unit <unit>' not specified"],
    [
      "keys",
      ["create", "--mode", "test", "--unit", "a", "--unit", "b"],
      "several units need `--team`: a unit-level key acts as one unit",
    ],
    [
      "keys",
      ["create", "--mode", "test", "--unit", "a", "--level", "team"],
      "`--team` is missing: the ID of the team",
    ],
    [
      "keys",
      ["create", "--mode", "test", "--unit", "a", "--team", "t", "--level", "unit"],
      "a unit-level key has no `--team`",
    ],
    [
      "keys",
      ["create", "--mode", "test", "--unit", "a", "--level", "org"],
      "option '--level <level>' argument 'org' is invalid. Allowed choices are unit, team.",
    ],
    [
      "keys",
      ["create", "--mode", "test", "--unit", "a", "b"],
      "too many arguments for 'create'. Expected 0 arguments but got 1: b.",
    ],
    ["keys", ["list", "--mode", "test"], "unknown option '--mode'\n(Did you mean --remote?)"],
    ["keys", ["list", "--remot"], "unknown option '--remot'\n(Did you mean --remote?)"],
    [
      "keys",
      ["list", "--remote", "--persist-to", "x"],
      "option '--persist-to <dir>' cannot be used with option '--remote'",
    ],
    ["keys", ["list", "--env", "production"], "`--env` is of a deployed service: add `--remote`"],
    [
      "keys",
      ["revoke"],
      "name the key: its ID behind `revoke`, or the key itself on standard input",
    ],
    ["keys", ["rotate", "a"], "required option '--keep <time>' not specified"],
    ...["59s", "5", "-1h", "1.5h", "366d", "1w", "1h 30m"].map((keep) => [
      "keys",
      ["rotate", "a", `--keep=${keep}`],
      `option '--keep <time>' argument '${keep}' is invalid. It must be 0, or from 60s to 365d, such as 90s, 30m, 24h or 7d.`,
    ]),
    ["catalogue", ["set", "--mode", "live"], "missing required argument 'file'"],
    [
      "catalogue",
      ["show", "x"],
      "too many arguments for 'show'. Expected 0 arguments but got 1: x.",
    ],
    ["start", ["x"], "too many arguments. Expected 0 arguments but got 1: x."],
  ]) {
    const { code, out, problem: printed } = await script(name, args);
    assert.equal(code, 2, `${name} ${args.join(" ")}`);
    assert.equal(
      printed,
      `${problem}\nSee \`npm ${name === "start" ? name : `run ${name}`} -- --help\`.\n`,
    );
    assert.equal(out, "");
  }
});

test("bad usage is JSON for programs, too", async () => {
  for (const [args, message] of [
    [["list", "--remot", "--json"], "unknown option '--remot' (Did you mean --remote?)"],
    [["rotate", "a", "--json"], "required option '--keep <time>' not specified"],
  ]) {
    const { code, out } = await script("keys", args);
    assert.equal(code, 2);
    assert.deepEqual(JSON.parse(out), { error: { code: "usage", message } });
  }
});

test("a command without its subcommand shows the help", async () => {
  for (const name of ["keys", "catalogue"]) {
    const { code, problem } = await script(name, []);
    assert.equal(code, 2);
    assert.match(problem, new RegExp(`^Usage: npm run ${name} -- \\[options\\] \\[command\\]`));
  }
});

test("help is no failure", async () => {
  for (const name of ["keys", "catalogue", "start"]) {
    const { code, out, problem } = await script(name, ["--help"]);
    assert.equal(code, 0);
    assert.match(out, new RegExp(`npm (run )?${name}`));
    assert.equal(problem, "");
  }
});
