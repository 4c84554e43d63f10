/*
 * What HTML's date and datetime-local controls submit, such as `2026-01-31` and `2026-01-31T12:00`, as an RFC 3339
 * date-time: that local time, or the midnight at which the day begins, with its offset from UTC in a time zone.
 */

const LOCAL = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d)(?:(:\d\d)(\.\d{1,3})?)?)?$/;
const DAY_MS = 86_400_000;

/** The formatter of the time zone that was asked for last: to make one takes as long as to write a hundred dates. */
let kept: Zone | undefined;

interface Zone {
  readonly timeZone: string | undefined;
  readonly format: Intl.DateTimeFormat;
}

/** @param timeZone an IANA name; the zone of the browser or of the server's process, if none */
export function zoneOf(timeZone: string | undefined): Zone {
  if (kept && kept.timeZone === timeZone) return kept;
  try {
    const format = new Intl.DateTimeFormat("en-US", {
      timeZone: timeZone as string,
      timeZoneName: "longOffset",
    });
    kept = { timeZone, format };
    return kept;
  } catch (cause) {
    throw new TypeError("`timeZone` must be a time zone such as `Europe/Berlin`", { cause });
  }
}

/**
 * Text as it is, unless it is a date or a local time that exists in the calendar. Of a time that comes twice, as summer
 * time ends, it is the earlier; a time that is skipped is as much later as is skipped: as JavaScript's `Date` has it. No
 * zone changes twice within two days.
 */
export function dateTimeOf(text: string, timeZone: string | undefined): string {
  const [, date, time = "00:00", seconds = ":00", fraction = ""] = text.match(LOCAL) ?? [];
  const local = `${date}T${time}${seconds}`,
    asUtc = Date.parse(`${local}Z`);
  if (Number.isNaN(asUtc) || isoOf(asUtc) !== local) return text; // some engines read February 30 as March 2
  if (timeZone === "UTC") return `${local}${fraction}Z`;
  const zone = zoneOf(timeZone),
    at = (offset: string) => Date.parse(local + offset);
  const offsets = [asUtc - DAY_MS, asUtc + DAY_MS].map((instant) => offsetAt(instant, zone));
  const [before, after] = offsets as [string, string];
  const offset = offsets.find((offset) => offsetAt(at(offset), zone) === offset);
  if (offset) return local + fraction + offset;
  return isoOf(at(before) + asUtc - at(after)) + fraction + after;
}

const isoOf = (ms: number) => new Date(ms).toISOString().slice(0, -5);

/** Such as `+01:00`, or `Z`; without the seconds of the times before time zones, which RFC 3339 has not. */
const offsetAt = (instant: number, { format }: Zone) =>
  format
    .format(instant)
    .split("GMT")[1]!
    .slice(0, 6)
    .replace(/^(.00:00)?$/, "Z");
