/** Tests the e-mails and messages that `impact-pledge/testing` records. */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import test from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { fixturesIn } from "../support/fixtures.mjs";
import { onLoopback } from "../support/loopback.mjs";
import { REQUEST } from "./mock-server.mjs";
import { packed } from "./packed.mjs";

const project = await packed();
const { createTestService } = await project.load("impact-pledge/testing");
const { PledgeClient } = await project.load();

const KEY = "service_sk_test_dev_unit",
  LIVE = "service_sk_live_dev_unit",
  NOON = "2026-01-31T12:00:00.000Z",
  TEST_TO = "tests@pledge.test";
const [A, B, C] = ["A", "B", "C"].map((letter) => `MessagingService${letter}`);
const asking = (...notifications) => ({ ...REQUEST, notifications });

/** Returns a service, and a function that creates a transaction with it. */
function start(options, clientOptions) {
  const service = createTestService({ now: NOON, seed: 1, ...options });
  const { baseUrl, fetch } = service;
  const client = new PledgeClient({ apiKey: KEY, baseUrl, fetch, maxRetries: 0, ...clientOptions });
  const create = (request, more) => client.createPledgeTransaction(request, more);
  return { service, client, create };
}

const countsOf = ({ emails, messages }) => [emails().length, messages().length];

test("an e-mail is there as soon as the create is answered, with the members of a mail service's call", async () => {
  const { service, create } = start();
  const { id, timelineUrl } = await create(asking("Email"));
  const [{ html, text, ...others }, ...more] = service.emails();
  assert.deepEqual(more, []);
  assert.deepEqual(others, {
    transactionId: id,
    sentAt: NOON,
    language: "en",
    from: { name: "Small Hours Coffee", email: "pledges@pledge.test" },
    to: TEST_TO,
    replyTo: "hello@small-hours.example",
    subject: "Small Hours Coffee has pledged 1 × tree for you",
    headers: {
      "Auto-Submitted": "auto-generated",
      "List-Unsubscribe": `<mailto:hello@small-hours.example?subject=Unsubscribe%20${id}>`,
    },
  });
  assert.ok(text.includes(`\n${timelineUrl}\n`), text);
  assert.match(text, /^Test mode\.\n\nHello Ada,\n/);
  assert.ok(html.includes(`href="${timelineUrl}"`) && html.startsWith("<!DOCTYPE html>"));
  assert.deepEqual(service.messages(), []);
});

test("a message has what an adapter receives", async () => {
  const { service, create } = start();
  const { id, timelineUrl } = await create(asking(A, B, "Email"));
  const [first, second] = service.messages();
  const { text, ...others } = first;
  assert.deepEqual(others, {
    sentAt: NOON,
    service: A,
    transactionId: id,
    isLive: false,
    recipient: { email: REQUEST.recipient.email, firstName: "Ada", name: null },
    unit: { id: "unit_dev", name: "Small Hours Coffee" },
    language: "en",
    title: service.emails()[0].subject,
    timelineUrl,
  });
  assert.ok(text.includes(timelineUrl));
  assert.deepEqual(second, { ...first, service: B });
});

test("they are copies, and the same in each run", async () => {
  const run = async () => {
    const { service, create } = start();
    await create(asking("Email", A));
    return service;
  };
  const [one, two] = [await run(), await run()];
  assert.deepEqual(one.emails(), two.emails());
  assert.deepEqual(one.messages(), two.messages());
  one.emails()[0].from.name = one.messages()[0].recipient.email = "changed";
  assert.deepEqual([one.emails(), one.messages()], [two.emails(), two.messages()]);
  one.reset();
  assert.deepEqual(countsOf(one), [0, 0]);
});

test("the texts are those of the rows of tests/fixtures/mail", async () => {
  const rows = fixturesIn("mail").flatMap(({ rows }) => rows);
  const shown = rows.filter(({ name }) =>
    ["everything", "one of an offering without words"].includes(name),
  );
  assert.equal(shown.length, 2);
  const base = {
    reference: "order-10442",
    recipient: { email: "mara@buyer.example", firstName: "Mara", name: "Mara Lind" },
    trigger: { date: "2026-11-20T18:22:00+01:00", phrase: "placed an order" },
    notifications: ["Email"],
  };
  const detail = { name: "Mangroves", nounSingular: "tree", nounPlural: "trees" };
  const pledges = [
    { impact: { amount: 12, offeringId: "tree-offering" }, detail },
    { impact: { amount: 1, offeringId: "sku-0193" } },
  ];
  for (const [index, row] of shown.entries()) {
    const { service, create } = start({ now: "2026-11-21T09:00:00Z" }, { apiKey: LIVE });
    const { timelineUrl } = await create({ ...base, pledges: [pledges[index]] });
    const [{ subject, text }] = service.emails();
    assert.equal(subject, row.subject);
    const expected = row.text.map((part) => part.replace(/https:\S+/, timelineUrl)).join("\n\n");
    assert.equal(text.trimEnd(), expected, row.name);
  }
});

/** What is sent for a request, by what the request and its unit ask for: the numbers of e-mails and messages. */
const ASKED = [
  ["nothing is asked for", {}, REQUEST, [0, 0]],
  ["an empty list", {}, asking(), [0, 0]],
  ["only messages", {}, asking(B), [0, 1]],
  ["all that the unit has switched on", {}, asking("Email", A, B), [1, 2]],
  ["a service that the unit has not switched on", {}, asking(C), [0, 0]],
  [
    "a unit without a profile",
    { apiKey: "service_sk_test_dev_unit_two" },
    asking("Email", A),
    [0, 0],
  ],
  [
    "a team's key",
    { apiKey: "service_sk_test_dev_team", unitId: "unit_dev" },
    asking("Email"),
    [1, 0],
  ],
];

for (const [name, clientOptions, request, expected] of ASKED)
  test(`consent and switches: ${name}`, async () => {
    const { service, create } = start({}, clientOptions);
    await create(request);
    assert.deepEqual(countsOf(service), expected);
  });

test("each language has a unit, and the same request has a text of its own", async () => {
  const languages = [
    "da",
    "de",
    "en",
    "es",
    "fr",
    "it",
    "ja",
    "nl",
    "pl",
    "pt",
    "pt-BR",
    "sv",
    "zh",
  ];
  const keys = languages.map((tag) => ({
    key: `k_${tag}`,
    mode: "test",
    unitId: `unit_dev_${tag}`,
  }));
  const { service, client } = start({ keys });
  for (const { key } of keys)
    await client.with({ apiKey: key }).createPledgeTransaction(asking("Email"));
  const emails = service.emails();
  assert.deepEqual(
    emails.map(({ language }) => language),
    languages,
  );
  for (const { html, language } of emails) assert.ok(html.includes(`lang="${language}"`), language);
  assert.equal(new Set(emails.map(({ text }) => text)).size, languages.length);
});

// ---- Recipients and limits -------------------------------------------------------------------------

test("a live key's e-mails go to the recipient, at most five a day", async () => {
  const { service, create } = start({}, { apiKey: LIVE });
  for (let i = 0; i < 7; i += 1) await create({ ...asking("Email"), reference: `order-${i}` });
  assert.deepEqual(
    service.emails().map(({ to }) => to),
    Array(5).fill(REQUEST.recipient.email),
  );
  await create({ ...asking("Email"), recipient: { email: "grace@example.org" } });
  assert.equal(service.emails().at(-1).to, "grace@example.org");
  service.advance(86_400_000);
  await create(asking("Email"));
  assert.equal(service.emails().length, 7);
});

test("test keys send at most 100 e-mails a day", async () => {
  const { service, create } = start();
  for (let i = 0; i < 102; i += 1) await create(asking("Email"));
  assert.equal(service.emails().length, 100);
});

test("repeated creates and a retry of the same request send one e-mail, also at the same time", async () => {
  const { service, create } = start();
  const keyed = () => create(asking("Email", A), { idempotencyKey: "order-1" });
  await Promise.all([keyed(), keyed(), keyed()]);
  await keyed();
  assert.equal(service.transactions().length, 1);
  assert.deepEqual(countsOf(service), [1, 1]);
});

// ---- Faults ----------------------------------------------------------------------------------------

/** Faults of a create request, with the numbers of recorded transactions and sent e-mails. */
const FAULTS = [
  [{ fault: "lost answer" }, [1, 1]],
  [{ fault: "lost write" }, [0, 0]],
  [{ status: 503 }, [0, 0]],
  [{ status: 401 }, [0, 0]],
  [{ status: 404 }, [0, 0]],
  [{ status: 500 }, [0, 0]],
];

for (const [fault, expected] of FAULTS)
  test(`a fault: ${JSON.stringify(fault)}`, async () => {
    const { service, create } = start();
    service.fail(fault);
    await assert.rejects(create(asking("Email")));
    assert.deepEqual([service.transactions().length, service.emails().length], expected);
    await create(asking("Email"));
    assert.equal(service.emails().length, expected[1] + 1);
  });

test("no answer, and a slow one: the e-mail is sent once the request is recorded", async () => {
  const { service, create } = start({}, { timeoutMs: 50 });
  service.fail({ fault: "timeout" });
  await assert.rejects(create(asking("Email")));
  assert.deepEqual(service.emails(), []);
  service.fail({ fault: "slow", delayMs: 5_000 });
  await assert.rejects(create(asking("Email")));
  assert.equal(service.emails().length, 1);
});

test("a refused request sends nothing", async () => {
  const { service } = start();
  const send = (body, key = KEY) =>
    service.fetch("/v2/pledge-transaction", {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  assert.equal((await send({ ...asking("Email"), recipient: { email: "ada@" } })).status, 400);
  assert.equal(
    (await send({ ...REQUEST, notifications: ["Email", "Email", "Email", "Email"] })).status,
    400,
  );
  assert.equal((await send(asking("Email"), "unknown")).status, 401);
  assert.deepEqual(countsOf(service), [0, 0]);
});

test("after a lost write, the queue looks for the record again, and gives up", async () => {
  const { service, create } = start();
  service.fail({ fault: "lost write" });
  await assert.rejects(create(asking("Email"), { idempotencyKey: "order-1" }));
  const settled = async (seconds) => {
    service.advance(seconds * 1_000);
    for (let i = 0; i < 20; i += 1) await turn();
    return service.emails().length;
  };
  assert.equal(await settled(120), 0, "there is still no record");
  await create(asking("Email"), { idempotencyKey: "order-1" });
  assert.equal(service.emails().length, 1);
  assert.equal(await settled(600), 1, "the first message finds that the e-mail was sent");
  assert.equal(await settled(86_400), 1);
});

test("a waiting retry does not keep the process alive", async () => {
  const { service, create } = start({ now: undefined });
  service.fail({ fault: "lost write" });
  await assert.rejects(create(asking("Email")));
  const timers = process.getActiveResourcesInfo().filter((kind) => kind === "Timeout");
  assert.deepEqual(timers, [], "only timers that keep it alive are listed");
});

// ---- Links -----------------------------------------------------------------------------------------

test("the links have the origin of the request, or the option's", async (t) => {
  const { service } = start();
  const { origin, close } = await onLoopback(createServer(service.handler));
  t.after(close);
  const client = new PledgeClient({ apiKey: KEY, baseUrl: origin });
  const { timelineUrl } = await client.createPledgeTransaction(asking("Email", A));
  assert.ok(timelineUrl.startsWith(origin));
  assert.ok(service.emails()[0].text.includes(timelineUrl));
  assert.equal(service.messages()[0].timelineUrl, timelineUrl);
  const other = start({ publicOrigin: "https://pledges.example" });
  const answer = await other.create(asking("Email"));
  assert.ok(answer.timelineUrl.startsWith("https://pledges.example/timeline/"));
  assert.ok(other.service.emails()[0].text.includes(answer.timelineUrl));
});

test("what a request contains cannot add markup or lines", async () => {
  const { service, create } = start();
  const name = '"><script>alert(1)</script>\r\nBcc: x@y.example';
  await create({ ...asking("Email", A), recipient: { email: "ada@example.org", firstName: name } });
  const [{ html, subject, text }] = service.emails();
  assert.doesNotMatch(html, /<script/);
  assert.doesNotMatch(text, /^Bcc:/m);
  assert.doesNotMatch(subject + service.messages()[0].title, /[\r\n]/);
});
