/** `npm run keys -- create|list|rotate|revoke`: the API keys of the local or the deployed service. */
import { text } from "node:stream/consumers";
import { Option, YES, command, confirm, onRecords, readDuration } from "./lib/command.mjs";
import { REFUSED_SECONDS } from "./lib/delays.mjs";
import { operator } from "./lib/operator.mjs";
import { UserError, placeInWords, table } from "./lib/output.mjs";
import { confirmNew } from "./lib/register.mjs";

const [LEAST_KEEP, MOST_KEEP] = [60, 365 * 86_400]; // seconds; KV's least expiry, and a year
const MODES = ["test", "live"];

const keys = command("npm run keys --", "API keys of the service.");

// ---- Create --------------------------------------------------------------------------------------

const make = keys
  .command("create")
  .description("make a key: it is shown once, and only its hash is kept");
make
  .addOption(
    new Option("--mode <mode>", "what the key makes: test records, or live ones")
      .choices(MODES)
      .makeOptionMandatory(),
  )
  .option("--unit <unit>", "ID of the unit that the key acts as")
  .addOption(
    new Option(
      "--team <team>",
      "ID of the team whose units the key may act as; each request names one of them",
    ).conflicts("unit"),
  )
  .option("--label <text>", "a note for the list", "")
  .option("--yes", YES)
  .hook("preAction", () => {
    const { unit, team } = make.opts(); // before the tools are looked for
    if ((unit ?? team) === undefined) make.error("say whom the key acts for: `--unit` or `--team`");
  });
onRecords(
  make,
  async ({ tools, port, print, terminal, by }) => {
    const { mode, unit, team, label, yes } = make.opts();
    const { createKey } = await operator(tools);
    const ids = { units: unit === undefined ? [] : [unit], team };
    await confirmNew({ tools, port, terminal }, ids, { yes, otherwise: "no key was made" });
    const made = await createKey(port, await by(), { mode, unit, team, label });
    print(made, () => shownOnce(made));
  },
  { changes: true },
);

const shownOnce = ({ key, id, mode }) =>
  `${key}\n\nThis is the only time that this ${mode} key is shown. In the list it is ${id}.`;

// ---- List ----------------------------------------------------------------------------------------

/** What keys are sorted by; those of one unit or team by their age. */
const ORDERS = {
  id: ({ id }) => id,
  unit: ({ unit, team = "" }) => unit ?? team,
  label: ({ label = "" }) => label,
  created: ({ created = "" }) => created,
  ends: ({ ends = "9" }) => ends,
};

const show = keys.command("list").description("show what each key may do, and its ID");
show
  .addOption(new Option("--mode <mode>", "only test keys, or live ones").choices(MODES))
  .option("--unit <unit>", "only those of this unit")
  .option("--team <team>", "only those of this team")
  .addOption(
    new Option("--sort <column>", "`unit`: by unit or team")
      .choices(Object.keys(ORDERS))
      .default("unit"),
  );
onRecords(show, async ({ tools, port, print }) => {
  const { checkLevels, listKeys } = await operator(tools);
  const { sort, ...wanted } = show.opts();
  const levels = ["unit", "team"].filter((name) => wanted[name] !== undefined);
  await checkLevels(levels.map((name) => ({ [name]: wanted[name] })));
  const isWanted = (row) =>
    ["mode", "unit", "team"].every((name) => [undefined, row[name]].includes(wanted[name]));
  const rows = (await listKeys(port)).filter(isWanted).sort(inOrder(ORDERS[sort], ORDERS.created));
  const heads = ["ID", "MODE", "LEVEL", "UNIT OR TEAM", "LABEL", "CREATED", "BY", "ENDS", "NOTE"];
  const words = () => (rows.length === 0 ? "no keys" : table(heads, rows.map(cells)));
  print({ keys: rows }, words);
});

/** @param {((row: any) => string)[]} orders the first one decides, then the next */
const inOrder =
  (...orders) =>
  (a, b) =>
    orders.map((of) => (of(a) < of(b) ? -1 : Number(of(a) > of(b)))).find(Boolean) ?? 0;

function cells({ id, mode, unit, team, label, created, by, ends, successor, problem }) {
  if (!mode) return [id, "?", "?", "", "", "", "", "", problem];
  const note = [successor && `replaced by ${successor}`, problem].filter(Boolean).join("; ");
  const level = unit === undefined ? "team" : "unit";
  return [id, mode, level, unit ?? team, label, created.slice(0, 10), by, ends, note];
}

// ---- Rotate and revoke ---------------------------------------------------------------------------

const ID =
  "as the list shows it, or the whole hash, which needs no list; without it, the key itself is read from standard input";

const turn = keys
  .command("rotate")
  .description("make a key that may do what another may, and end that one after a time")
  .argument("[id]", ID)
  .option("--yes", YES);
turn.addOption(
  new Option(
    "--keep <time>",
    "how long the old key goes on, such as 90s, 30m, 24h or 7d; 0 ends it at once; an earlier end stays",
  )
    .argParser(readDuration(LEAST_KEEP, MOST_KEEP))
    .makeOptionMandatory(),
);
onRecords(
  turn,
  async ({ tools, port, print, terminal, by }, given) => {
    const { keep, json, yes } = turn.opts();
    const { getKey, rotateKey } = await operator(tools);
    const key = await meant(turn, given, terminal);
    const { id, successor } = (await getKey(port, key)) ?? {};
    const question = `The key ${id} is replaced by ${successor} already. Make another?`;
    if (successor) await confirm({ question, yes, otherwise: "nothing was done" }, terminal);
    const { made, replaces, end, failure } = await rotateKey(port, await by(), key, keep);
    if (failure !== undefined) {
      if (!json) print({}, () => shownOnce(made));
      const reason = failure.message ?? failure;
      const problem = `${replaces.id} goes on as before, and the new key ${made.id} works: revoke one of them (${reason})`;
      throw Object.assign(new UserError(problem), { data: made });
    }
    const answer = { ...made, replaces: { ...replaces, ...end } };
    print(answer, () => `${shownOnce(made)}\n${ended(answer.replaces, keep)}`);
  },
  { changes: true },
);

function ended({ id, ends, revoked: isRevoked }, keep) {
  if (isRevoked) return `${id} was revoked at the same time, and stays so.`;
  return keep === 0 ? revoked({ id }) : `${id} goes on until ${ends}.`;
}

const end = keys
  .command("revoke")
  .description("end a key")
  .argument("[id]", ID)
  .option("--yes", YES);
onRecords(
  end,
  async ({ tools, kv, port, print, terminal, by }, given) => {
    const { getKey, revokeKey } = await operator(tools);
    const key = await meant(end, given, terminal);
    const row = await getKey(port, key);
    const question = `Revoke ${row && described(row)}, ${placeInWords(kv.place)}?`;
    const about = { question, yes: end.opts().yes, otherwise: "nothing was revoked" };
    if (row) await confirm(about, terminal);
    const { id, name } = await revokeKey(port, await by(), row?.name ?? key); // it says where there is none
    print({ id, name, revoked: true }, () => revoked({ id }));
  },
  { changes: true },
);

function described({ id, mode, unit, team, label, problem }) {
  if (!mode) return `the key ${id} (${problem})`;
  const whose = unit === undefined ? `the team \`${team}\`` : `the unit \`${unit}\``;
  return `the ${mode} key ${id} of ${whose}${label ? `, “${label}”` : ""}`;
}

const revoked = ({ id }) =>
  `${id} is revoked. After about ${REFUSED_SECONDS} s the service refuses it everywhere.`;

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
