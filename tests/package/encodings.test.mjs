/** Tests that `validateBytes` names the encoding of a body that is not JSON in UTF-8 in the words of the service. */
import assert from "node:assert/strict";
import test from "node:test";
import { mulberry32 } from "../../pkg-templates/testing/random.ts";
import { fixturesIn } from "../support/fixtures.mjs";
import { packed } from "./packed.mjs";

const project = await packed();
const { createTestService } = await project.load("impact-pledge/testing");
const { validateBytes } = await project.load("impact-pledge/validate");

/** The bytes with which encodings begin, and some with which JSON may begin. */
const BYTES = Buffer.from(
  "00000000010b0c1f8b785e9cda28b52ffdefbbbffffec27f80c1f4f57b7b5b2222202020617830",
  "hex",
);
const headers = {
  authorization: "Bearer service_sk_test_dev_unit",
  "content-type": "application/json",
};

test("bytes that no JSON begins with: the package says what the service says", async () => {
  const { fetch, baseUrl } = createTestService();
  const random = mulberry32(1);
  const start = () => Array.from({ length: 4 }, () => BYTES[(random() >>> 0) % BYTES.length] ?? 0);
  const rows = fixturesIn("http")
    .flatMap(({ rows = [] }) => rows)
    .flatMap(({ request }) =>
      request?.hex && !request.headers?.["content-encoding"] ? [request.hex] : [],
    )
    .map((hex) => Buffer.from(hex, "hex"));
  const bodies = [...rows, ...Array.from({ length: 2_000 }, () => Buffer.from([...start(), 0x7d]))];
  const seen = new Map();
  for (const body of bodies) {
    const [issue] = validateBytes(body);
    if (issue?.code !== "malformed_json") continue;
    const answer = await fetch(`${baseUrl}/v2/pledge-transaction`, {
      method: "POST",
      headers,
      body,
    });
    const { message } = await answer.json();
    assert.equal(`the body ${issue.message}`, message, body.subarray(0, 8).toString("hex"));
    const kind = message.replace(/: .*/, "");
    seen.set(kind, (seen.get(kind) ?? 0) + 1);
  }
  assert.equal(seen.size, 8, `encodings, and other mistakes: ${[...seen.keys()].join("; ")}`);
});
