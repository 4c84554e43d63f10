/**
 * An operator's day: each command works on what those before it have left, in local KV and in deployed environments.
 * `TRANSCRIPT=FILE` writes what was typed, asked and printed.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { promisify } from "node:util";
import { openKv } from "../../scripts/lib/kv.mjs";
import { cloudflare } from "./cloudflare.mjs";
import { contents, localKv } from "./places.mjs";
import { scratch, script, tools } from "./script.mjs";
import { create, get, startWorker } from "./worker.mjs";

const execute = promisify(execFile);
const ENVIRONMENTS = ["staging", "production"];
const order = (reference, offeringId = "tree") => ({
  reference,
  recipient: { email: "ada@example.org", firstName: "Ada" },
  pledges: [{ impact: { offeringId, amount: 3 } }],
  trigger: { phrase: "Order placed" },
});

/**
 * @returns for each environment: the arguments that lead a command to it, and its records; how
 *   production gets a release, and loses it.
 */
const PLACES = {
  "local KV": async (t) => {
    const [staging, production] = [await localKv(t), await localKv(t)];
    return {
      env: {},
      environments: { staging, production },
      release: () => {},
      rollBack: () => {},
    };
  },
  "deployed environments": async (t) => {
    const { env, account } = await cloudflare(t, { deployed: false });
    const run = { ...tools, env: { ...tools.env, ...env } };
    const early = await script("keys", ["list", "--remote", "--env", "staging"], { env });
    assert.deepEqual([early.code, early.out], [1, ""]);
    assert.match(early.problem, /impact-pledge-staging.*deploy/);
    const environments = {};
    for (const name of ENVIRONMENTS) {
      const { code, problem } = await script("deploy", ["--env", name], { env });
      assert.equal(code, 0, problem);
      environments[name] = {
        args: ["--remote", "--env", name],
        kv: await openKv(run, { remote: true, environment: name }),
      };
    }
    assert.deepEqual(
      account.namespaces.map(({ title }) => title),
      ["impact-pledge-staging-pledges", "impact-pledge-production-pledges"],
    );
    const release = () => script("deploy", ["--env", "production"], { env });
    const rollBack = async () => {
      const { stdout } = await execute(
        process.execPath,
        [tools.wrangler, "rollback", "--env", "production", "--message", "it is slow"],
        { cwd: tools.root, env: run.env },
      );
      note(`$ npx wrangler rollback --env production --message "it is slow"\n${stdout}`);
      const [now, later, first] = account.deployments
        .filter(({ worker }) => worker === "impact-pledge-production")
        .map(({ versions: [{ version_id }] }) => version_id);
      assert.deepEqual([now === first, now === later], [true, false]);
    };
    return { env, environments, release, rollBack };
  },
};

const note = (text) =>
  process.env.TRANSCRIPT && appendFileSync(process.env.TRANSCRIPT, `${text}\n`);

/** Requests to the service over these records, which get what it writes. */
async function serve({ kv }, work) {
  const records = await contents(kv);
  const worker = await startWorker({ records });
  try {
    await work({
      create: async (...request) =>
        noted("POST /v2/pledge-transaction", await create(worker.origin, ...request)),
      get: async (...request) =>
        noted(`GET /v2/pledge-transaction/${request[1]}`, await get(worker.origin, ...request)),
    });
    for (const { name } of (await worker.kv.list()).keys) {
      const { value, metadata } = await worker.kv.getWithMetadata(name);
      if (value !== records[name]?.value)
        await kv.write([{ key: name, value, ...(metadata === null ? {} : { metadata }) }]);
    }
  } finally {
    await worker.close();
  }
}

/** Sets all times of the records back by an hour. */
async function letAnHourPass({ kv }) {
  const earlier = (value) =>
    JSON.parse(
      JSON.stringify(value).replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, (time) =>
        new Date(Date.parse(time) - 3_600_000).toISOString(),
      ),
    );
  await kv.write(
    Object.entries(await contents(kv)).map(([key, { value, metadata }]) => ({
      key,
      value: earlier(value),
      ...(metadata ? { metadata: earlier(metadata) } : {}),
    })),
  );
  note("(an hour later)\n");
}

function noted(request, { status, text }) {
  note(`> ${request}\n${status} ${text}\n`);
  return { status, text, json: JSON.parse(text) };
}

const secret = (text) => text.match(/service_sk_\w+/)[0];

for (const [name, open] of Object.entries(PLACES)) {
  test(`an operator's day on ${name}`, async (t) => {
    note(`\n==== ${name} ====\n`);
    const { env, environments, release, rollBack } = await open(t);
    const command =
      (environment) =>
      async (script_, ...args) => {
        const { code, out, problem } = await script(
          script_,
          [...args, ...environments[environment].args],
          { env },
        );
        note(
          `$ npm run ${[script_, "--", ...args, ...environments[environment].args].join(" ")}\n${out}${problem}${code ? `[exit ${code}]\n` : ""}`,
        );
        return { code, out, problem };
      };
    const succeeds =
      (environment) =>
      async (...args) => {
        const { code, out, problem } = await command(environment)(...args);
        assert.equal(code, 0, problem);
        return out;
      };
    const [onStaging, run, fails] = [
      succeeds("staging"),
      succeeds("production"),
      command("production"),
    ];
    const { staging, production } = environments;
    const prices = join(scratch(t), "prices.json");
    writeFileSync(prices, '{ "currencyCode": "EUR", "unitPrices": { "tree": "0.50" } }');

    // Each environment has keys and prices of its own.
    const tried = secret(
      await onStaging(
        "keys",
        "create",
        "--mode",
        "test",
        "--unit",
        "web",
        "--label",
        "staging shop",
      ),
    );
    await onStaging("catalogue", "set", prices, "--mode", "both");
    await serve(staging, async (service) => {
      const { status, json } = await service.create(tried, order("order-1"));
      assert.deepEqual([status, json.charge.amount, json.isLive], [200, "1.50", false]);
    });
    await serve(production, async (service) =>
      assert.equal((await service.create(tried, order("order-1"))).status, 401),
    );

    // A team with two units, and an offering that somebody misspelt.
    const made = await run(
      "keys",
      "create",
      "--mode",
      "live",
      "--team",
      "shop",
      "--unit",
      "web",
      "--unit",
      "pos",
      "--label",
      "both tills",
    );
    const key = secret(made),
      [, keyId] = made.match(/In the list it is (\w+)/);
    await run("catalogue", "set", prices, "--mode", "live");
    const unit = (id) => ({ "x-service-unit-id": id }),
      once = { ...unit("web"), "idempotency-key": "order-2001" };
    let first;
    await serve(production, async (service) => {
      assert.equal((await service.create(key, order("order-2000"))).status, 401); // it names no unit
      first = (await service.create(key, order("order-2001"), once)).json;
      assert.deepEqual([first.charge.amount, first.isLive], ["1.50", true]);
      const { status, json } = await service.create(key, order("order-2002", "tre"), unit("pos"));
      assert.deepEqual([status, json.charge.amount], [200, "0.00"]);
    });
    const usage = await fails("transactions", "usage", "--unpriced");
    assert.equal(usage.code, 1, usage.problem);
    const [, misspelt] = usage.out.match(/^(ptran_\w+) .* live +0\.00 EUR +1$/m);
    assert.match(await run("transactions", "show", misspelt), /^tre +3/m);

    // Somebody calls: their pledge is found, shown, erased, and stays erased.
    const find = ["transactions", "find", "--unit", "web", "--reference", "order-2001"];
    assert.ok((await run(...find)).includes(first.id));
    assert.match(await run("transactions", "show", first.id), /^Recipient +a…@e…, A…$/m);
    const erase = ["transactions", "erase", first.id, "--yes"];
    assert.match((await fails(...erase)).problem, /created less than 5 minutes ago/);
    await letAnHourPass(production);
    await run(...erase);
    await serve(production, async (service) => {
      const repeat = await service.create(key, order("order-2001"), once);
      assert.equal(repeat.status, 200);
      assert.deepEqual([repeat.json.id, repeat.json.charge.amount], [first.id, "1.50"]);
      const got = await service.get(key, first.id, unit("web"));
      assert.ok(!/ada@|Ada|order-2001/.test(got.text), got.text);
    });
    assert.match(
      await run("transactions", "find", "--unit", "web", "--email", "ada@example.org"),
      /no such transaction/,
    );

    // A new key, with a day for the tills to take it.
    const rotated = secret(await run("keys", "rotate", keyId, "--keep", "24h"));
    await serve(production, async (service) => {
      for (const each of [key, rotated])
        assert.equal((await service.create(each, order("order-2003"), unit("pos"))).status, 200);
    });
    const ends = (await Array.fromAsync(production.kv.list("key:")))
      .map(({ expiration }) => expiration)
      .filter(Boolean);
    assert.deepEqual(
      ends.map((seconds) => Math.round((seconds - Date.now() / 1000) / 3_600)),
      [24],
    );
    await run("keys", "list");

    // Everything is lost, and restored.
    const file = join(scratch(t), "pledges.jsonl"),
      before = await contents(production.kv);
    await run("transactions", "backup", file);
    await production.kv.remove(Object.keys(before));
    note("(all records are deleted)\n");
    await serve(production, async (service) =>
      assert.equal((await service.get(rotated, first.id)).status, 401),
    );
    await run("transactions", "restore", file);
    assert.deepEqual(await contents(production.kv), before);

    // Records of a later release stay readable when it is rolled back.
    const later = Object.entries(before).map(([key, { value, metadata }]) => {
      const record = JSON.parse(value),
        grown = {
          ...record,
          ...(record.version ? { version: 2 } : {}),
          campaign: { of: ["a later release"] },
        };
      return {
        key,
        value: JSON.stringify(grown),
        ...(metadata ? { metadata: { ...metadata, version: 2, campaign: null } } : {}),
      };
    });
    await release();
    await production.kv.write(later);
    note(
      "(a later release has written all records once more, with members that this one does not know)\n",
    );
    await rollBack();
    await serve(production, async (service) => {
      assert.equal((await service.get(rotated, first.id, unit("web"))).status, 200);
      const repeat = await service.create(rotated, order("order-2004"), {
        ...unit("web"),
        "idempotency-key": "order-2004",
      });
      assert.deepEqual([repeat.status, repeat.json.charge.amount], [200, "1.50"]);
    });
    assert.match(
      await run("transactions", "find", "--unit", "web", "--reference", "order-2004"),
      /1\.50 EUR/,
    );
  });
}
