/*
 * Converts the values of HTML's date and datetime-local controls, such as `2026-01-31` and `2026-01-31T12:00`, to RFC 3339
 * date-times: the local time, or midnight of the date, with the UTC offset of a time zone. The default is UTC, in the page as on
 * the server, because posted data does not contain the browser's zone.
 */

const LOCAL = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d)(?:(:\d\d)(\.\d{1,3})?)?)?$/;
const DAY_MS = 86_400_000;

/** The formatter that was used last. It is kept, because creating a formatter takes as long as formatting a hundred dates. */
let kept: Zone | undefined;

interface Zone {
  readonly timeZone: string;
  readonly format: Intl.DateTimeFormat;
}

/** Returns the formatter of a time zone. @param timeZone an IANA name */
export function zoneOf(timeZone: string): Zone {
  if (kept && kept.timeZone === timeZone) return kept;
  try {
    const format = new Intl.DateTimeFormat("en-US", {
      timeZone,
      timeZoneName: "longOffset",
    });
    kept = { timeZone, format };
    return kept;
  } catch (cause) {
    throw new TypeError("`timeZone` must be a time zone such as `Europe/Berlin`", { cause });
  }
}

/**
 * Converts a date or a local time to an RFC 3339 date-time. Returns other text, and dates that do not exist,
 * unchanged.
 *
 * At the end of summer time, some local times occur twice: the earlier instant is used. At the start, some
 * local times are skipped: they are moved forward by the length of the gap. JavaScript's `Date` does the
 * same. This function assumes that no zone changes its offset twice within two days.
 */
export function dateTimeOf(text: string, timeZone = "UTC"): string {
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

/** Returns an offset such as `+01:00`, or `Z`. Drops the seconds of historical offsets, which RFC 3339 does not allow. */
const offsetAt = (instant: number, { format }: Zone) =>
  format
    .format(instant)
    .split("GMT")[1]!
    .slice(0, 6)
    .replace(/^(.00:00)?$/, "Z");
