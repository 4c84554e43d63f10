/** `npm run keys -- create|list|revoke`: the API keys of the local or the deployed service. */
import { randomBytes } from "node:crypto";
import { text } from "node:stream/consumers";
import { operator } from "./lib/operator.mjs";
import { table } from "./lib/table.mjs";
import { BadUsage, PLACE_HELP, PLACE_OPTIONS, at, readArguments, runScript } from "./lib/usage.mjs";

const HELP = `API keys of the service.

  npm run keys -- create --mode test|live --unit UNIT [--label TEXT]
  npm run keys -- create --mode test|live --team TEAM --unit UNIT [--unit UNIT]… [--label TEXT]
  npm run keys -- list
  npm run keys -- revoke ID      the ID as the list shows it
  npm run keys -- revoke         the key itself, on standard input

  --mode MODE        what the key makes: test records, or live ones
  --level LEVEL      unit or team; may be left out
  --unit UNIT        ID of the unit that the key acts as; with --team, of each unit of the team
  --team TEAM        ID of the team: its key names one of the team's units in every request
  --label TEXT       a note for the list
  --remote           the deployed service; without it, the one of \`npm start\`
  --persist-to DIR   folder of the local state
  --json             output for programs

A new key is shown once; only its hash is kept.`;

const OPTIONS = {
  mode: { type: "string" },
  level: { type: "string" },
  unit: { type: "string", multiple: true },
  team: { type: "string" },
  label: { type: "string" },
  ...PLACE_OPTIONS,
};
const KEY_BYTES = 25; // of randomness: 200 bits
const OF_CREATE = ["mode", "level", "unit", "team", "label"];

/** What each command takes, and what it does. */
const COMMANDS = {
  create: { read: readCreate, run: create },
  list: { read: readList, run: list },
  revoke: { read: readRevoke, run: revoke },
};

/** @returns {object} the record to be; its IDs and label are checked by the service's own code */
function readCreate({ mode, level, unit: units = [], team, label = "" }, more) {
  refuse(more);
  if (mode === undefined) throw new BadUsage("`--mode` is missing: `test` or `live`");
  if (!["test", "live"].includes(mode)) throw new BadUsage(`\`${mode}\` is not a mode: \`test\` or \`live\``);
  if (units.length === 0) throw new BadUsage("`--unit` is missing: the ID of the unit");
  checkLevel(level, team);
  if (team !== undefined) return { mode, level: "team", teamId: team, unitIds: units, label };
  if (units.length > 1) throw new BadUsage("several units need `--team`: a unit-level key acts as one unit");
  return { mode, level: "unit", unitId: units[0], label };
}

/** The level follows from `--team`; who names it must mean the same. */
function checkLevel(level, team) {
  const actual = team === undefined ? "unit" : "team";
  if (level === undefined || level === actual) return;
  if (level === "team") throw new BadUsage("`--team` is missing: the ID of the team");
  throw new BadUsage(level === "unit" ? "a unit-level key has no `--team`" : `\`${level}\` is not a level: \`unit\` or \`team\``);
}

function readList(values, more) {
  refuse(more);
  refuseOptions(values);
}

/** @returns {string | undefined} */
function readRevoke(values, [key, ...more]) {
  refuse(more);
  refuseOptions(values);
  return key;
}

function refuse([surplus]) {
  if (surplus !== undefined) throw new BadUsage(`\`${surplus}\` is one word too many`);
}

function refuseOptions(values) {
  const name = OF_CREATE.find((name) => values[name] !== undefined);
  if (name) throw new BadUsage(`\`--${name}\` belongs to \`create\``);
}

async function create({ tools, kv, print }, record) {
  const { key, row, entry } = await operator(tools, "new-key", { random: randomBytes(KEY_BYTES).toString("hex"), record });
  await kv.write([entry]);
  print({ ...row, key }, () => `${key}\n\nThis is the only time that it is shown. In the list it is ${row.id}.`);
}

async function list({ tools, kv, print }) {
  const rows = await operator(tools, "list-keys", await kv.read(await kv.names("key:")));
  print(rows, () => (rows.length === 0 ? "no keys" : table(["ID", "MODE", "LEVEL", "UNIT OR TEAM", "UNITS", "LABEL"], rows.map(cells))));
}

function cells({ id, mode, level, unitId, teamId, unitIds = [], label, problem }) {
  if (problem) return [id, "?", "?", "", "", `unreadable record: ${problem}`];
  return [id, mode, level, unitId ?? teamId, unitIds.join(" "), label];
}

async function revoke({ tools, kv, print }, given) {
  const key = (given ?? (await text(process.stdin))).trim();
  if (!key) throw new BadUsage("name the key: its ID behind `revoke`, or the key itself on standard input");
  const { id, name } = await operator(tools, "find-key", { key, names: await kv.names("key:") });
  await kv.remove(name);
  print({ id, revoked: true }, () => `${id} is revoked. Within about a minute the service refuses it everywhere.`);
}

await runScript(HELP, async (showHelp) => {
  const { values, positionals } = readArguments(OPTIONS);
  if (values.help) return showHelp();
  const [name, ...more] = positionals;
  if (name === undefined) throw new BadUsage("name a command: create, list or revoke");
  if (!Object.hasOwn(COMMANDS, name)) throw new BadUsage(`there is no command \`${name}\``);
  const input = COMMANDS[name].read(values, more);
  await COMMANDS[name].run(await at(values), input);
});
