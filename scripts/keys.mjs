/** `npm run keys -- create|list|revoke`: the API keys of the local or the deployed service. */
import { randomBytes } from "node:crypto";
import { text } from "node:stream/consumers";
import { Option, command, onRecords } from "./lib/command.mjs";
import { operator } from "./lib/operator.mjs";
import { table } from "./lib/report.mjs";

const KEY_BYTES = 25; // of randomness: 200 bits

const keys = command("npm run keys --", "API keys of the service.");
const make = keys.command("create").description("make a key: it is shown once, and only its hash is kept");
make
  .addOption(new Option("--mode <mode>", "what the key makes: test records, or live ones").choices(["test", "live"]).makeOptionMandatory())
  .requiredOption("--unit <unit>", "ID of the unit that the key acts as; with --team, of each unit of the team", (unit, units = []) => [...units, unit])
  .option("--team <team>", "ID of the team: its key names one of the team's units in every request")
  .addOption(new Option("--level <level>", "follows from --team, and may be left out").choices(["unit", "team"]))
  .option("--label <text>", "a note for the list", "")
  .hook("preAction", () => void recordOf(make.opts())); // before the tools are looked for
onRecords(make, async ({ tools, kv, print }) => {
  const { key, row, entry } = await operator(tools, "new-key", { random: randomBytes(KEY_BYTES).toString("hex"), record: recordOf(make.opts()) });
  await kv.write([entry]);
  print({ ...row, key }, () => `${key}\n\nThis is the only time that it is shown. In the list it is ${row.id}.`);
});

/** @returns {object} the record to be; its IDs and label are checked by the service's own code */
function recordOf({ mode, level, unit: units, team, label }) {
  if (level === "team" && team === undefined) make.error("`--team` is missing: the ID of the team");
  if (level === "unit" && team !== undefined) make.error("a unit-level key has no `--team`");
  if (team !== undefined) return { mode, level: "team", teamId: team, unitIds: units, label };
  if (units.length > 1) make.error("several units need `--team`: a unit-level key acts as one unit");
  return { mode, level: "unit", unitId: units[0], label };
}

onRecords(keys.command("list").description("show what each key may do, and its ID"), async ({ tools, kv, print }) => {
  const rows = await operator(tools, "list-keys", await kv.read(await kv.names("key:")));
  print(rows, () => (rows.length === 0 ? "no keys" : table(["ID", "MODE", "LEVEL", "UNIT OR TEAM", "UNITS", "LABEL"], rows.map(cells))));
});

function cells({ id, mode, level, unitId, teamId, unitIds = [], label, problem }) {
  return problem ? [id, "?", "?", "", "", `unreadable record: ${problem}`] : [id, mode, level, unitId ?? teamId, unitIds.join(" "), label];
}

const end = keys.command("revoke").description("end a key").argument("[id]", "as the list shows it; without it, the key itself is read from standard input");
onRecords(end, async ({ tools, kv, print }, given) => {
  const key = (given ?? (await text(process.stdin))).trim();
  if (!key) end.error("name the key: its ID behind `revoke`, or the key itself on standard input");
  const { id, name } = await operator(tools, "find-key", { key, names: await kv.names("key:") });
  await kv.remove(name);
  print({ id, revoked: true }, () => `${id} is revoked. Within about a minute the service refuses it everywhere.`);
});

await keys.parseAsync();
