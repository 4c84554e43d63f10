/**
 * Tests the requests that `PledgeClient` of the packed package sends, and how it checks a request before it is
 * sent.
 */
import assert from "node:assert/strict";
import test from "node:test";
import { strays } from "../proofs/matrix/shared/contexts.mjs";
import {
  ID,
  KEY,
  PATH,
  answer,
  assertError,
  clientOf,
  clientOn,
  create,
  failed,
  get,
  pkg,
  project,
  sealed,
} from "./client.mjs";
import * as server from "./mock-server.mjs";
import { REQUEST, created, retrieved } from "./mock-server.mjs";

const { PledgeClient, ValidationError } = pkg;
const { version } = project.require("impact-pledge/package.json");

// ---- Requests --------------------------------------------------------------------------------------

/**
 * Test cases by name. Each has the client's options, a call, and the path, headers and body of the request
 * that the client must send. A header with the value `undefined` must be absent.
 */
const REQUESTS = {
  "a create": [
    {},
    (client) => create(client),
    PATH,
    {
      authorization: `Bearer ${KEY}`,
      "content-type": "application/json",
      "user-agent": `impact-pledge/${version}`,
      "x-service-unit-id": undefined,
      "idempotency-key": undefined,
    },
    REQUEST,
  ],
  "a get": [
    {},
    (client) => get(client),
    `${PATH}/${ID}`,
    { authorization: `Bearer ${KEY}`, "content-type": undefined, "x-service-unit-id": undefined },
  ],
  "a unit of the call, which goes first": [
    { unitId: "unit_a" },
    (client) => get(client, { unitId: "unit_b" }),
    `${PATH}/${ID}`,
    { "x-service-unit-id": "unit_b" },
  ],
  "an idempotency key": [
    {},
    (client) => create(client, { idempotencyKey: 'my "key"' }),
    PATH,
    { "idempotency-key": '"my \\"key\\""' },
  ],
  "an ID is one segment": [
    {},
    (client) => client.getPledgeTransaction("ptran_é/../x?y#z"),
    `${PATH}/ptran_%C3%A9%2F..%2Fx%3Fy%23z`,
  ],
  "an address with a path and slashes at its end": [
    { suffix: "/api//" },
    (client) => get(client),
    `/api${PATH}/${ID}`,
  ],
  "members that are undefined are absent": [
    {},
    (client) => client.createPledgeTransaction({ ...REQUEST, trigger: undefined }),
    PATH,
    {},
    REQUEST,
  ],
  "headers of the client and of the call": [
    { headers: { "X-Shop": "one", "x-both": "client" } },
    (client) => get(client, { headers: new Headers({ traceparent: "00-1", "X-Both": "call" }) }),
    `${PATH}/${ID}`,
    { "x-shop": "one", "x-both": "call", traceparent: "00-1", authorization: `Bearer ${KEY}` },
  ],
  "the application": [
    { appInfo: { name: "shop", version: "1.2.3", url: "https://coffee.example" } },
    (client) => get(client.with({ maxRetries: 0 })),
    `${PATH}/${ID}`,
    { "user-agent": `impact-pledge/${version} shop/1.2.3 (https://coffee.example)` },
  ],
  "a client with some other options": [
    { unitId: "unit_a", headers: { "x-shop": "one" } },
    (client) => get(client.with({ unitId: "unit_b" })),
    `${PATH}/${ID}`,
    { "x-service-unit-id": "unit_b", "x-shop": "one" },
  ],
};

for (const [name, [options, call, path, headers = {}, body]] of Object.entries(REQUESTS)) {
  test(`one request, by the platform's fetch and by the caller's: ${name}`, async (t) => {
    const wanted = ({ method }) => (method === "POST" ? created() : retrieved());
    const doors = [
      clientOf((_url, init) => answer(wanted(init))(), options),
      await clientOn(t, (response, seen) => server.json(wanted(seen))(response), options),
    ];
    for (const { client, seen } of doors) {
      await call(client);
      const [request] = seen;
      assert.equal(seen.length, 1);
      assert.deepEqual([request.path, request.method === "POST"], [path, !path.includes("ptran")]);
      for (const [header, value] of Object.entries(headers))
        assert.equal(request.headers[header], value, header);
      if (body) assert.deepEqual(JSON.parse(request.body), body);
      else if (request.method === "GET") assert.equal(request.body, "");
    }
  });
}

test("`instanceof` holds for the errors of another copy of the package, and for no other value", () => {
  const other = project.require("impact-pledge");
  const classes = Object.entries(pkg).filter(([, value]) => value.prototype instanceof Error);
  assert.equal(classes.length, 11);
  for (const [name, Class] of classes) {
    const foreign = Object.create(other[name].prototype);
    assert.notEqual(other[name], Class);
    for (const [otherName, Other] of classes) {
      const isBelow = Class === Other || Class.prototype instanceof Other;
      assert.equal(foreign instanceof Other, isBelow, `${name} instanceof ${otherName}`);
    }
    class Own extends Class {}
    assert.ok(Object.create(Own.prototype) instanceof Own, name);
    assert.ok(!(foreign instanceof Own), `${name} is no instance of a class of the shop's own`);
  }
  for (const value of [null, undefined, 1, "x", {}, new Error("x"), () => {}, Object.create(null)])
    assert.ok(!(value instanceof pkg.PledgeError));
});

test("the caller's `fetch` gets a URL and plain objects, and may be a service binding", async () => {
  const binding = {
    async fetch(url, init) {
      assert.equal(this, binding);
      assert.equal(url, `https://pledges.example.org${PATH}`);
      assert.deepEqual([init.redirect, typeof init.body], ["manual", "string"]);
      assert.equal(Object.getPrototypeOf(init.headers), Object.prototype);
      assert.ok(init.signal instanceof AbortSignal);
      return Response.json(created());
    },
  };
  const { client } = clientOf([], { fetch: binding });
  assert.deepEqual(await create(client), created());
});

test("a client configured by environment variables", async (t) => {
  const { seen, baseUrl } = await clientOn(t, server.json(retrieved()));
  const env = { PLEDGE_API_KEY: KEY, PLEDGE_BASE_URL: baseUrl, PLEDGE_UNIT_ID: "unit_1" };
  await get(PledgeClient.fromEnv({ unitId: "unit_2" }, env));
  Object.assign(process.env, env);
  t.after(() => {
    for (const name of Object.keys(env)) delete process.env[name];
  });
  await get(PledgeClient.fromEnv());
  assert.deepEqual(
    seen.map(({ headers }) => headers["x-service-unit-id"]),
    ["unit_2", "unit_1"],
  );
  const { PLEDGE_API_KEY, ...keyless } = env;
  assert.throws(
    () => PledgeClient.fromEnv({}, keyless),
    /^PledgeError: set the environment variable `PLEDGE_API_KEY`/,
  );
  assert.throws(
    () => PledgeClient.fromEnv({ apiKey: KEY }, {}),
    /^PledgeError: set the environment variable `PLEDGE_BASE_URL`/,
  );
  PledgeClient.fromEnv({ apiKey: KEY, baseUrl }, {});
});

test("a hundred calls at once each get their own answer", async (t) => {
  const { client } = await clientOn(t, (response, { path }) =>
    server.json(retrieved({ reference: path.split("/").at(-1) }))(response),
  );
  const ids = Array.from({ length: 100 }, (_, index) => `ptran_${index}`);
  const all = await Promise.all(ids.map((id) => client.getPledgeTransaction(id)));
  assert.deepEqual(
    all.map(({ reference }) => reference),
    ids,
  );
});

test("calls at once run each in its caller's own async context", async () => {
  assert.deepEqual(await strays(PledgeClient), []);
});

// ---- The request is checked ------------------------------------------------------------------------

test("a request that breaks rules is not sent, and all of its problems are listed", async () => {
  const { client, seen } = clientOf(answer(created()));
  const invalid = {
    recipient: { email: "ada@" },
    pledges: [{ impact: { amount: 0, offeringId: 5 } }],
    extra: 1,
  };
  const error = await failed(client.createPledgeTransaction(invalid));
  const message = /`\/reference` is required; .*; and 2 more$/;
  assertError(error, ValidationError, "invalid_request", message);
  assert.deepEqual(
    error.issues.map(({ pointer, code }) => `${pointer} ${code}`),
    [
      "/reference required",
      "/recipient/email invalid_email",
      "/pledges/0/impact/amount not_positive",
      "/pledges/0/impact/offeringId invalid_type",
      "/extra unknown_member",
    ],
  );
  assert.equal(seen.length, 0);
});

test("what is checked is what is sent", async () => {
  const { client, seen } = clientOf(answer(created()));
  const cyclic = { ...REQUEST };
  cyclic.recipient = cyclic;
  const revoked = Proxy.revocable({ ...REQUEST }, {});
  revoked.revoke();
  class Order {
    constructor() {
      Object.assign(this, REQUEST);
    }
    toJSON() {
      return { ...REQUEST, reference: 5 };
    }
  }
  const hostile = [undefined, null, 5, [], () => {}, Symbol("x"), 10n, cyclic, revoked.proxy];
  hostile.push({ ...REQUEST, reference: 10n }, { ...REQUEST, toJSON: () => 5 }, new Order());
  hostile.push(Object.defineProperty({ ...REQUEST }, "reference", { get: sealed }));
  for (const value of hostile) {
    const error = await failed(client.createPledgeTransaction(value));
    assertError(error, ValidationError, "invalid_request");
    assert.ok(error.issues.length > 0);
  }
  assert.equal(seen.length, 0);
  for (const wrongFrom of [1, 2, 3, 4]) {
    let reads = 0;
    const flipping = {
      ...REQUEST,
      get reference() {
        reads += 1;
        return reads >= wrongFrom ? 5 : "order-1";
      },
    };
    const error = await client.createPledgeTransaction(flipping).then(
      () => undefined,
      (refusal) => refusal,
    );
    if (error) assertError(error, ValidationError, "invalid_request");
    for (const { body } of seen) assert.equal(JSON.parse(body).reference, "order-1");
  }
});
