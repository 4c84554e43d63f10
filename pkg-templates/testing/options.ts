/* Reads and checks the options of a test service. */
import development from "../../src/office/demo/development.json";
import {
  type Reader,
  invalid,
  list,
  headersBut,
  oneOf,
  optional,
  read,
  whole,
} from "../options.ts";
import type { KeyRecord } from "./store.ts";
import type { TestFault, TestServiceOptions } from "./types.ts";

const LAST_MS = 253_402_300_799_999; // the end of the year 9999
const MOST_KEYS = 10_000,
  MOST_PRICES = 100_000;
const ID = matching(
  /^[\x21\x23-\x2b\x2d-\x5b\x5d-\x7e]{1,128}$/,
  "1 to 128 ASCII characters without blanks, commas, double quotes and backslashes",
);
const TEAM_ID = matching(
  /^[\x21\x23-\x2b\x2d-\x39\x3b-\x5b\x5d-\x7e]{1,128}$/,
  "1 to 128 ASCII characters without blanks, commas, colons, double quotes and backslashes",
);
const PRICE = matching(/^(?=.{1,40}$)\d+(\.\d+)?$/, 'a plain decimal in quotes, such as `"0.50"`');
const ORIGIN = matching(
  /^https?:\/\/[\w.:[\]-]{1,250}\/?$/i,
  "an origin such as `https://shop.example`",
);

const SERVICE = {
  keys: optional(items(MOST_KEYS, keyOf)),
  catalogue: optional(priceListOf),
  now: optional(timeOf),
  seed: optional(seedOf),
  allowedOrigins: optional(items(1_000, ORIGIN)),
  publicOrigin: optional(ORIGIN),
};
const KEY = {
  key: matching(/^[\x21-\x7e]{1,1000}$/, "1 to 1,000 ASCII characters without blanks"),
  mode: oneOf(["test", "live"]),
  unitId: optional(ID),
  teamId: optional(TEAM_ID),
  unitIds: optional(items(1_000, ID)),
  label: optional(matching(/^[^\p{Cc}]{0,100}$/u, "one line of at most 100 characters")),
};
const PRICE_LIST = { currencyCode: oneOf(["USD", "GBP", "EUR"]), unitPrices: pricesOf };

/** Response headers that a server sets itself. */
const OF_CONNECTIONS = /^(connection|keep-alive|trailer|transfer-encoding|upgrade)$/;

export const FAULTS = ["timeout", "lost answer", "lost write", "slow"] as const;
const FAULT = {
  operation: optional(oneOf(["create", "get", "timeline"])),
  times: optional(
    (name, value) => (value === Infinity ? value : whole(1, 1_000_000)(name, value)) as number,
  ),
  status: optional(whole(400, 599)),
  headers: optional(headersBut(OF_CONNECTIONS)),
  fault: optional(oneOf(FAULTS)),
  delayMs: optional(whole(1, 2 ** 31 - 1)),
};

export function serviceOptions(options: TestServiceOptions = {}) {
  const {
    keys = (development.keys as [string, KeyRecord["record"]][]).map(([key, record]) => ({
      key,
      record,
      units: record.team === undefined ? [] : development.teams[record.team as "team_dev"],
    })),
    catalogue = development.catalogue,
    ...others
  } = read(SERVICE, options);
  return { keys, catalogue, ...others };
}

export function faultOptions(options: TestFault) {
  const { times = 1, ...fault } = read(FAULT, options);
  if ((fault.status === undefined) === (fault.fault === undefined))
    throw invalid(
      `pass either a \`status\` or a \`fault\`. Possible values of \`fault\`: ${list(FAULTS)}`,
    );
  if ((fault.delayMs === undefined) === (fault.fault === "slow"))
    throw invalid('`delayMs` says how many milliseconds the fault "slow" takes');
  if (fault.headers && !fault.status)
    throw invalid("`headers` can be set only together with a `status`");
  return { times, ...fault };
}

const RECEIVED = { deadlineMs: optional(whole(1, 2 ** 31 - 1)) };

export const countOf = (count: unknown) => whole(1, 1_000_000)("count", count);
export const receivedOptions = (options: { readonly deadlineMs?: number | undefined } = {}) => ({
  deadlineMs: 3_000, // less than the time limit of a test, which is 5 seconds in Jest and Vitest
  ...read(RECEIVED, options),
});

export const advanceOf = (ms: unknown, now: number) => whole(0, LAST_MS - now)("ms", ms);

/**
 * Reads an API key from an option. Returns the key and its record. The record has the form that `src/pledges/auth.rs`
 * reads.
 */
function keyOf(name: string, value: unknown): KeyRecord {
  const { key, mode, unitId, teamId, unitIds, label = "" } = read(KEY, value);
  if (unitId !== undefined && !teamId && !unitIds)
    return { key, record: { mode, unit: unitId, label } as KeyRecord["record"], units: [] };
  if (teamId !== undefined && unitIds?.length && !unitId)
    return {
      key,
      record: { mode, team: teamId, label } as KeyRecord["record"],
      units: unitIds,
    };
  throw invalid(
    `each item of \`${name}\` must have either a \`unitId\`, or a \`teamId\` with \`unitIds\``,
  );
}

function priceListOf(_name: string, value: unknown) {
  return read(PRICE_LIST, value);
}

function pricesOf(name: string, value: unknown): Record<string, string> {
  if (value === null || typeof value !== "object" || Array.isArray(value))
    throw invalid(`\`${name}\` must be an object of prices by offering`);
  const entries = Object.entries(value);
  if (entries.length > MOST_PRICES)
    throw invalid(`\`${name}\` has more than ${MOST_PRICES} prices`);
  return Object.fromEntries(entries.map(([offering, price]) => [offering, PRICE(name, price)]));
}

function timeOf(name: string, value: unknown): number {
  const isTime =
    /^\d{4}-\d\d-\d\d/.test(value as string) ||
    typeof value === "number" ||
    Object.prototype.toString.call(value) === "[object Date]";
  const ms = isTime
    ? Math.trunc(typeof value === "string" ? Date.parse(value) : (value as number))
    : NaN;
  if (ms >= 0 && ms <= LAST_MS) return ms;
  throw invalid(
    `\`${name}\` must be a time from 1970 to 9999: a Date, milliseconds, or ISO text such as \`2026-01-31T12:00:00Z\``,
  );
}

function seedOf(name: string, value: unknown): string {
  if (Number.isFinite(value) || (typeof value === "string" && value.length <= 1_000))
    return `${value}`;
  throw invalid(`\`${name}\` must be a number, or text of at most 1,000 characters`);
}

function matching(pattern: RegExp, what: string): Reader<string> {
  return (name, value) => {
    if (typeof value === "string" && pattern.test(value)) return value;
    throw invalid(`\`${name}\` must be ${what}`);
  };
}

function items<T>(most: number, reader: Reader<T>): Reader<T[]> {
  return (name, value) => {
    if (!Array.isArray(value) || value.length > most)
      throw invalid(`\`${name}\` must be an array of at most ${most}`);
    return value.map((item) => reader(name, item));
  };
}
