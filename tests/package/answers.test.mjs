/**
 * Tests which transaction or error the package's client returns for each answer in tests/fixtures/answers.
 */
import assert from "node:assert/strict";
import test from "node:test";
import { fixturesIn } from "../support/fixtures.mjs";
import { ID, answer, assertError, clientOf, create, failed, get, pkg } from "./client.mjs";

const CALLS = { create, get };
const CODES = {
  ApiError: "api_error",
  AuthenticationError: "authentication_failed",
  ConflictError: "conflict",
  IdempotencyKeyReusedError: "idempotency_key_reused",
  NotFoundError: "not_found",
  RateLimitError: "rate_limited",
  UnprocessableEntityError: "unprocessable",
};

/**
 * Returns a value as JSON. `at` maps JSON pointers to JSON texts, which replace the values at these pointers. A
 * null in `at` removes the member.
 */
function written(value, at, pointer = "") {
  if (Object.hasOwn(at, pointer)) return at[pointer];
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value))
    return `[${value.map((item, index) => written(item, at, `${pointer}/${index}`))}]`;
  const added = Object.keys(at)
    .filter((place) => place.slice(0, place.lastIndexOf("/")) === pointer)
    .map((place) => place.slice(pointer.length + 1));
  const members = [...new Set([...Object.keys(value), ...added])]
    .map((name) => [name, written(value[name], at, `${pointer}/${name}`)])
    .filter(([, text]) => text !== null);
  return `{${members.map(([name, text]) => `${JSON.stringify(name)}:${text}`)}}`;
}

function bodyOf({ json, text, hex, at = {} }, whole) {
  if (hex !== undefined) return Buffer.from(hex, "hex");
  return Buffer.from(text ?? (json ? JSON.stringify(json) : written(whole, at)));
}

/**
 * Returns the error that a row expects. A row with `mismatch` has a successful answer, but the transaction in
 * the answer breaks the contract.
 */
const expectedError = ({ status = 200, mismatch, error }) =>
  mismatch === undefined
    ? error
    : {
        class: "ApiError",
        says: [`the service answered ${status} with a body that is not the contract's: `, mismatch],
        foreign: true,
      };

function assertRefused(error, row, body) {
  const { class: name, message, says = [], lacks, foreign, ...members } = expectedError(row);
  assertError(error, pkg[name], CODES[name]);
  assert.ok(error instanceof pkg.ApiError);
  assert.equal(
    error instanceof pkg.UnprocessableEntityError,
    row.status === 422 && name !== "NotFoundError",
  );
  const [said, address] = error.message
    .replace(/; the transaction may have been recorded$/, "") // tests/package/client-answers.test.mjs
    .split("; the address was ");
  assert.equal(said, message ?? said);
  for (const part of says) assert.ok(said.includes(part), said);
  assert.ok(lacks === undefined || !said.includes(lacks), said);
  const url = "https://pledges.example.org/v2/pledge-transaction";
  assert.ok(foreign ? [url, `${url}/${ID}`].includes(address) : address === undefined, address);
  const { status = 200 } = row;
  const whole = { status, error: undefined, body: new TextDecoder().decode(body), ...members };
  for (const [member, value] of Object.entries(whole)) {
    assert.equal(error[member], value ?? undefined, member);
  }
}

let count = 0;
for (const { about, answers = {}, rows } of fixturesIn("answers")) {
  test(about, async (t) => {
    for (const row of rows) {
      const { name, operation, status, headers, amount, mismatch, error } = row;
      for (const each of operation ? [operation] : ["create", "get"]) {
        count += 1;
        await t.test(`${name}: ${each}`, async () => {
          const body = bodyOf(row, answers[each]);
          const { client, seen } = clientOf(answer(body, { status, headers }), { maxRetries: 0 });
          if (error ?? mismatch !== undefined)
            assertRefused(await failed(CALLS[each](client)), row, body);
          else {
            const expected = JSON.parse(body);
            expected.charge.amount = amount ?? expected.charge.amount;
            assert.deepEqual(await CALLS[each](client), expected);
          }
          assert.equal(seen.length, 1);
        });
      }
    }
  });
}

test("all rows were run", () => assert.ok(count > 280, `${count}`));
