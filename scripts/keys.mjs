/** `npm run keys -- create|list|rotate|revoke`: the API keys of the local or the deployed service. */
import { randomBytes } from "node:crypto";
import { text } from "node:stream/consumers";
import { Option, command, onRecords, readDuration } from "./lib/command.mjs";
import { namespaceSecret } from "./lib/lookup.mjs";
import { operator } from "./lib/operator.mjs";
import { UserError, table } from "./lib/output.mjs";

const KEY_BYTES = 25; // of randomness: 200 bits
const [LEAST_KEEP, MOST_KEEP] = [60, 365 * 86_400]; // seconds; KV's least expiry, and a year

const keys = command("npm run keys --", "API keys of the service.");
const make = keys
  .command("create")
  .description("make a key: it is shown once, and only its hash is kept");
make
  .addOption(
    new Option("--mode <mode>", "what the key makes: test records, or live ones")
      .choices(["test", "live"])
      .makeOptionMandatory(),
  )
  .requiredOption(
    "--unit <unit>",
    "ID of the unit that the key acts as; with --team, of each unit of the team",
    (unit, units = []) => [...units, unit],
  )
  .option("--team <team>", "ID of the team: its key names one of the team's units in every request")
  .addOption(
    new Option("--level <level>", "follows from --team, and may be left out").choices([
      "unit",
      "team",
    ]),
  )
  .option("--label <text>", "a note for the list", "")
  .hook("preAction", () => void recordOf(make.opts())); // before the tools are looked for
onRecords(make, async ({ tools, kv, print }) => {
  const secret = await namespaceSecret(tools, kv);
  const { key, row, entry } = await operator(tools, "new-key", {
    random: random(),
    record: recordOf(make.opts()),
    secret: secret.stored,
  });
  await kv.write(secret.entry ? [secret.entry, entry] : [entry]);
  print({ ...row, key }, () => shownOnce(key, row));
});

const random = () => randomBytes(KEY_BYTES).toString("hex");
const shownOnce = (key, { id, mode }) =>
  `${key}\n\nThis is the only time that this ${mode} key is shown. In the list it is ${id}.`;

/** @returns {object} the record to be; its IDs and label are checked by the service's own code */
function recordOf({ mode, level, unit: units, team, label }) {
  if (level === "team" && team === undefined) make.error("`--team` is missing: the ID of the team");
  if (level === "unit" && team !== undefined) make.error("a unit-level key has no `--team`");
  if (team !== undefined) return { mode, level: "team", teamId: team, unitIds: units, label };
  if (units.length > 1)
    make.error("several units need `--team`: a unit-level key acts as one unit");
  return { mode, level: "unit", unitId: units[0], label };
}

onRecords(
  keys.command("list").description("show what each key may do, and its ID"),
  async ({ tools, kv, print }) => {
    const ends = new Map();
    for await (const { name, expiration } of kv.list("key:"))
      ends.set(name, expiration ? instant(expiration) : undefined);
    const rows = (await operator(tools, "list-keys", await kv.values(ends.keys()))).map((row) => ({
      ...row,
      ends: ends.get(row.name),
    }));
    print({ keys: rows }, () =>
      rows.length === 0
        ? "no keys"
        : table(["ID", "MODE", "LEVEL", "UNIT OR TEAM", "UNITS", "ENDS", "LABEL"], rows.map(cells)),
    );
  },
);

const instant = (seconds) => new Date(seconds * 1000).toISOString().replace(".000", "");

function cells({ id, mode, level, unitId, teamId, unitIds = [], ends, label, problem }) {
  return problem
    ? [id, "?", "?", "", "", ends, `unreadable record: ${problem}`]
    : [id, mode, level, unitId ?? teamId, unitIds.join(" "), ends, label];
}

const ID =
  "as the list shows it, or the whole hash, which needs no list; without it, the key itself is read from standard input";

const turn = keys
  .command("rotate")
  .description("make a key that may do what another may, and end that one after a time")
  .argument("[id]", ID);
turn.addOption(
  new Option(
    "--keep <time>",
    "how long the old key goes on, such as 90s, 30m, 24h or 7d; 0 ends it at once",
  )
    .argParser(readDuration(LEAST_KEEP, MOST_KEEP))
    .makeOptionMandatory(),
);
onRecords(turn, async ({ tools, kv, print }, given) => {
  const { keep } = turn.opts();
  const old = await meant(turn, { tools, kv }, given);
  const stored = await kv.get(old.name);
  if (stored === null) throw new UserError(`there is no key ${old.id}: nothing was done`);
  const { key, row, entry } = await operator(tools, "replace-key", { random: random(), stored });
  await kv.write([entry]);
  const replaces = {
    id: old.id,
    name: old.name,
    ends: instant(Math.floor(Date.now() / 1000) + keep),
  };
  const words = () =>
    `${shownOnce(key, row)}\n${old.id} ${keep === 0 ? "is revoked. Within about a minute the service refuses it everywhere." : `goes on until ${replaces.ends}.`}`;
  try {
    await (keep === 0
      ? kv.remove([old.name])
      : kv.write([{ key: old.name, value: stored, expirationTtl: keep }]));
  } catch ({ message }) {
    const problem = `${old.id} goes on without an end, and the new key ${row.id} works: revoke one of them (${message})`;
    if (!turn.opts().json) print({}, () => shownOnce(key, row));
    throw Object.assign(new UserError(problem), { data: { ...row, key } });
  }
  print({ ...row, key, replaces }, words);
});

const end = keys.command("revoke").description("end a key").argument("[id]", ID);
onRecords(end, async ({ tools, kv, print }, given) => {
  const { id, name } = await meant(end, { tools, kv }, given);
  const found = (await kv.get(name)) !== null;
  await kv.remove([name]);
  const ended = `${id} is revoked. Within about a minute the service refuses it everywhere.`;
  print({ id, name, revoked: true, found }, () =>
    found ? ended : `${id} is revoked, but no record of it was found: was it a key of this place?`,
  );
});

/** The key that an ID, a whole hash or the key itself names. The list is asked for IDs alone: it may lack keys of the last minute. @returns {Promise<{id: string, name: string}>} */
async function meant(command, { tools, kv }, given) {
  const key = (given ?? (await text(process.stdin))).trim();
  if (!key)
    command.error(
      `name the key: its ID behind \`${command.name()}\`, or the key itself on standard input`,
    );
  const { prefix, ...only } = await operator(tools, "find-key", { key });
  if (prefix === undefined) return only;
  const names = [];
  for await (const name of kv.names(prefix)) names.push(name);
  return operator(tools, "find-key", { key, names });
}

await keys.parseAsync();
