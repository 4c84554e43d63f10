/**
 * A stand-in for Slack, and the checks of `examples/alert-adapter`. Both the adapter's quick test and `npm
 * run matrix` use them.
 */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { Webhook } from "standardwebhooks";
import { onLoopback } from "./loopback.mjs";

export const SECRET = "whsec_YWxlcnQtYWRhcHRlci1hbGVydC1hZGFwdGVyISEhISE=";
export const TOKEN = "xoxb-stand-in";
const OTHER_SECRET = "whsec_YW5vdGhlci1zZWNyZXQtYW5vdGhlci1zZWNyZXQhISE=";
/** How long the service waits for an adapter's answer, in milliseconds. */
const PATIENCE_MS = 15_000;
const LINK = "https://pledges.example.org/timeline/ptran_1?edit_key=secret";

/** @typedef {(response: import("node:http").ServerResponse) => void} Fault */

const json = (body) => (response) =>
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
const status =
  (code, headers = {}) =>
  (response) =>
    response.writeHead(code, headers).end();
const never = () => {};
const half = (response) => response.writeHead(200).write("{");

/** Ways in which Slack fails, and the status that the adapter must answer. @type {Record<string, {fault: Fault, expected: number}>} */
const FAULTS = {
  "rate limit": { fault: status(429, { "retry-after": "7" }), expected: 429 },
  "rate limit as error": { fault: json({ ok: false, error: "ratelimited" }), expected: 429 },
  down: { fault: status(502), expected: 503 },
  "internal error": { fault: json({ ok: false, error: "internal_error" }), expected: 503 },
  "revoked token": { fault: json({ ok: false, error: "token_revoked" }), expected: 500 },
  "unknown user": { fault: json({ ok: false, error: "users_not_found" }), expected: 422 },
  "long message": { fault: json({ ok: false, error: "msg_too_long" }), expected: 422 },
  "text as error": { fault: json({ ok: false, error: "ada@example.org\nFORGED" }), expected: 503 },
  redirect: { fault: status(307, { location: "/api/elsewhere" }), expected: 503 },
  "no JSON": { fault: (response) => response.writeHead(200).end("<html>"), expected: 503 },
  null: { fault: json(null), expected: 503 },
  "broken connection": { fault: (response) => response.destroy(), expected: 503 },
  "no answer": { fault: never, expected: 503 },
  "half an answer": { fault: half, expected: 503 },
  "endless answer": { fault: endless, expected: 503 },
};

const faultOf = (method, user) => {
  const [first, ...rest] = user.split(" ");
  return first === method ? FAULTS[rest.join(" ")]?.fault : undefined;
};

/** @type {Fault} */
function endless(response) {
  response.writeHead(200);
  const more = () => {
    while (!response.destroyed && response.write("x".repeat(65_536)));
  };
  response.on("drain", more);
  more();
}

/**
 * Starts a stand-in for Slack. The text before the `@` of a user's address says which Slack method fails for
 * this user, and how. For example, the method `lookup` is down for `lookup down@…`. Messages to `slow@…` take
 * a second.
 * @returns {Promise<{origin: string, posts: Record<string, string>[], calls: string[], close: () => Promise<void>}>}
 */
export async function slackStandIn() {
  /** @type {Record<string, string>[]} */
  const posts = [];
  /** @type {string[]} */
  const calls = [];
  const server = createServer(async (request, response) => {
    const parameters = Object.fromEntries(new URLSearchParams(await text(request)));
    const { authorization } = request.headers;
    const method = `${request.method} ${request.url}`;
    calls.push(method);
    if (authorization !== `Bearer ${TOKEN}`)
      return json({ ok: false, error: "invalid_auth" })(response);
    if (method === "POST /api/users.lookupByEmail") {
      const [id] = parameters.email.split("@");
      const fault = faultOf("lookup", id);
      return fault
        ? fault(response)
        : json({ ok: true, user: { id, deleted: id === "left" } })(response);
    }
    const fault = faultOf("post", parameters.channel);
    if (fault) return fault(response);
    if (parameters.channel === "slow") await sleep(1_000);
    posts.push(parameters);
    json({ ok: true })(response);
  });
  return { ...(await onLoopback(server)), posts, calls };
}

let count = 0;

/** Returns a message as the service sends it. `to` is the recipient's name before the `@`. */
function messageTo(to, changes = {}) {
  const body = {
    service: "MessagingServiceA",
    transactionId: "ptran_1",
    isLive: true,
    recipient: { email: `${to}@example.org`, firstName: "Ada", name: null },
    unit: { id: "unit_dev", name: "Small Hours Coffee" },
    language: "en",
    title: "Small Hours Coffee has pledged 3 trees for you",
    text: `Hello Ada <!channel>,\n\nSee your page:\n${LINK}\n\nKeep it.\n`,
    timelineUrl: LINK,
    ...changes,
  };
  return { id: `ptran_1_MessagingServiceA_${++count}`, body: JSON.stringify(body) };
}

function signed({ id, body }, { secret = SECRET, ageSeconds = 0 } = {}) {
  const time = Math.floor(Date.now() / 1_000) - ageSeconds;
  return {
    "content-type": "application/json",
    "webhook-id": id,
    "webhook-timestamp": String(time),
    "webhook-signature": new Webhook(secret).sign(id, new Date(time * 1_000), body),
  };
}

/**
 * Checks an adapter that runs at this address, with {@link SECRET} and {@link TOKEN}.
 * @param {string} url
 * @param {Awaited<ReturnType<typeof slackStandIn>>} slack
 */
export async function checkAdapter(url, slack) {
  const post = (body, headers) =>
    fetch(url, {
      method: "POST",
      headers,
      body,
      signal: AbortSignal.timeout(PATIENCE_MS),
      .../** @type {object} */ ({ duplex: "half" }),
    });
  const send = (message, given) => post(message.body, signed(message, given));
  await refuses({ url, post, send });
  assert.equal(slack.calls.length, 0, "Slack is not called for what is refused");
  await posts({ send, post }, slack);
  await postsOnce(send, slack);
  const before = slack.posts.length;
  const fails = (method) => Object.keys(FAULTS).map((name) => passesOn(send, method, name));
  await Promise.all(["lookup", "post"].flatMap(fails));
  assert.equal((await send(messageTo("left"))).status, 422, "the user has left");
  assert.equal(slack.posts.length, before, "a message that failed is not posted");
  assert.ok(!slack.calls.includes("POST /api/elsewhere"), "a redirect is not followed");
}

async function refuses({ url, post, send }) {
  const message = messageTo("ada");
  const headers = signed(message);
  const statusOf = async (answer) => (await answer).status;
  const { "webhook-id": _, ...nameless } = headers;
  const rows = [
    ["a forged signature", send(message, { secret: OTHER_SECRET }), 401],
    ["another body", post(messageTo("eve").body, headers), 401],
    ["another ID", post(message.body, { ...headers, "webhook-id": "other" }), 401],
    ["no ID", post(message.body, nameless), 401],
    ["no headers", post(message.body, {}), 401],
    [
      "a signature without a comma",
      post(message.body, { ...headers, "webhook-signature": "v1" }),
      401,
    ],
    ["an old message", send(message, { ageSeconds: 310 }), 401],
    ["a message of the future", send(message, { ageSeconds: -310 }), 401],
    ["an empty body", send({ id: "x", body: "" }), 400],
    ["no JSON", send({ id: "x", body: "{" }), 400],
    ["null", send({ id: "x", body: "null" }), 400],
    ["no address", send(messageTo("ada", { recipient: {} })), 400],
    ["no link", send(messageTo("ada", { timelineUrl: "" })), 400],
    ["64 KiB and more", send(messageTo("ada", { text: "x".repeat(65_536) })), 413],
    ["a body that never ends", post(stalled(), { ...headers, "content-type": "text/plain" }), 408],
    ["GET", fetch(url, { headers }), 405],
    ["PUT", fetch(url, { method: "PUT", headers, body: message.body }), 405],
  ];
  for (const [what, answer, expected] of rows) assert.equal(await statusOf(answer), expected, what);
}

/** Returns a body that sends its first part and then never ends. */
const stalled = () => new ReadableStream({ start: (control) => control.enqueue(Buffer.from("{")) });

async function posts({ send, post }, slack) {
  const message = messageTo("ada");
  const headers = signed(message);
  const other = signed(message, { secret: OTHER_SECRET })["webhook-signature"];
  headers["webhook-signature"] = `${other} ${headers["webhook-signature"]}`;
  assert.equal((await post(message.body, headers)).status, 200, "while a secret is rotated");
  const [{ channel, text, blocks, ...others }, ...more] = slack.posts;
  assert.deepEqual([channel, more], ["ada", []]);
  assert.equal(text, "Small Hours Coffee has pledged 3 trees for you");
  assert.deepEqual(others, { unfurl_links: "false", unfurl_media: "false" });
  const [{ type, elements }] = JSON.parse(blocks);
  assert.equal(type, "rich_text");
  assert.deepEqual(elements[0].elements, [
    { type: "text", text, style: { bold: true } },
    { type: "text", text: "\n\nHello Ada <!channel>,\n\nSee your page:\n" },
    { type: "link", url: LINK },
    { type: "text", text: "\n\nKeep it.\n" },
  ]);
  const hostile = messageTo("ada", { title: "<!channel> & <https://evil.example|you>", text: "" });
  assert.equal((await send(hostile)).status, 200);
  const last = slack.posts.at(-1);
  assert.equal(last.text, "&lt;!channel&gt; &amp; &lt;https://evil.example|you&gt;");
  assert.equal(JSON.parse(last.blocks)[0].elements[0].elements.at(-1).url, LINK);
}

async function postsOnce(send, slack) {
  const count = () => slack.posts.filter(({ channel }) => channel === "slow").length;
  const message = messageTo("slow");
  const race = await Promise.all([1, 2, 3].map(() => send(message)));
  assert.deepEqual(
    race.map(({ status }) => status),
    [200, 200, 200],
  );
  assert.equal((await send(message)).status, 200);
  assert.equal(count(), 1, "attempts of one message, at the same time and later");
  assert.equal((await send(messageTo("slow"))).status, 200);
  assert.equal(count(), 2, "another message");
}

/**
 * Sends a message for which a Slack method fails, and checks the adapter's status. Sends the message a second
 * time, as a retry. If the fault lasts until the deadline, the message is sent only once, to save time.
 */
async function passesOn(send, method, name) {
  const { expected, fault } = FAULTS[name];
  const message = messageTo(`${method} ${name}`);
  for (const attempt of [never, half].includes(fault) ? [1] : [1, 2]) {
    const { status, headers } = await send(message);
    assert.equal(status, expected, `${method} ${name}, attempt ${attempt}`);
    if (status === 429)
      assert.equal(headers.get("retry-after"), name === "rate limit" ? "7" : "60");
  }
}
