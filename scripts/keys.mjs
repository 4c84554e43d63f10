/** `npm run keys -- create|list|rotate|revoke`: the API keys of the local or the deployed service. */
import { text } from "node:stream/consumers";
import { Option, command, onRecords, readDuration } from "./lib/command.mjs";
import { operator } from "./lib/operator.mjs";
import { UserError, table } from "./lib/output.mjs";

const [LEAST_KEEP, MOST_KEEP] = [60, 365 * 86_400]; // seconds; KV's least expiry, and a year

const keys = command("npm run keys --", "API keys of the service.");

// ---- Create --------------------------------------------------------------------------------------

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
  .hook("preAction", checkLevel); // before the tools are looked for
onRecords(
  make,
  async ({ tools, port, print, by }) => {
    const { mode, unit: units, team, label } = make.opts();
    const { createKey } = await operator(tools);
    const made = await createKey(port, await by(), { mode, units, team, label });
    print(made, () => shownOnce(made));
  },
  { changes: true },
);

function checkLevel() {
  const { level, unit: units, team } = make.opts();
  if (level === "team" && team === undefined) make.error("`--team` is missing: the ID of the team");
  if (level === "unit" && team !== undefined) make.error("a unit-level key has no `--team`");
  if (team === undefined && units.length > 1)
    make.error("several units need `--team`: a unit-level key acts as one unit");
}

const shownOnce = ({ key, id, mode }) =>
  `${key}\n\nThis is the only time that this ${mode} key is shown. In the list it is ${id}.`;

// ---- List ----------------------------------------------------------------------------------------

onRecords(
  keys.command("list").description("show what each key may do, and its ID"),
  async ({ tools, port, print }) => {
    const { listKeys } = await operator(tools);
    const rows = await listKeys(port);
    const heads = ["ID", "MODE", "LEVEL", "UNIT OR TEAM", "UNITS", "ENDS", "LABEL"];
    const words = () => (rows.length === 0 ? "no keys" : table(heads, rows.map(cells)));
    print({ keys: rows }, words);
  },
);

function cells({ id, mode, level, unitId, teamId, unitIds = [], ends, label = "", problem }) {
  if (!mode) return [id, "?", "?", "", "", ends, `unreadable record: ${problem}`];
  const note = [label, problem].filter(Boolean).join("; ");
  return [id, mode, level, unitId ?? teamId, unitIds.join(" "), ends, note];
}

// ---- Rotate and revoke ---------------------------------------------------------------------------

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
onRecords(
  turn,
  async ({ tools, port, print, terminal, by }, given) => {
    const { keep, json } = turn.opts();
    const { rotateKey } = await operator(tools);
    const key = await meant(turn, given, terminal);
    const { made, replaces, failure } = await rotateKey(port, await by(), key, keep);
    if (failure !== undefined) {
      if (!json) print({}, () => shownOnce(made));
      const reason = failure.message ?? failure;
      const problem = `${replaces.id} goes on without an end, and the new key ${made.id} works: revoke one of them (${reason})`;
      throw Object.assign(new UserError(problem), { data: made });
    }
    const end = keep === 0 ? revoked(replaces) : `${replaces.id} goes on until ${replaces.ends}.`;
    print({ ...made, replaces }, () => `${shownOnce(made)}\n${end}`);
  },
  { changes: true },
);

const end = keys.command("revoke").description("end a key").argument("[id]", ID);
onRecords(
  end,
  async ({ tools, port, print, terminal, by }, given) => {
    const { revokeKey } = await operator(tools);
    const { id, name, found } = await revokeKey(
      port,
      await by(),
      await meant(end, given, terminal),
    );
    const unknown = `${id} is revoked, but no record of it was found: was it a key of this place?`;
    print({ id, name, revoked: true, found }, () => (found ? revoked({ id }) : unknown));
  },
  { changes: true },
);

const revoked = ({ id }) =>
  `${id} is revoked. Within about a minute the service refuses it everywhere.`;

/**
 * The argument, else what comes on standard input, so that a key stays out of the shell's history.
 */
async function meant(command, given, { input }) {
  const key = (given ?? (await text(input))).trim();
  if (key) return key;
  return command.error(
    `name the key: its ID behind \`${command.name()}\`, or the key itself on standard input`,
  );
}

export default keys;
