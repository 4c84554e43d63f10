/** `npm run units -- set|show|list|remove`: what a unit shows of itself on its timelines. */
import { command, onRecords } from "./lib/command.mjs";
import { operator } from "./lib/operator.mjs";
import { UserError, table } from "./lib/output.mjs";

const MEMBERS = ["name", "logo", "accent", "language", "link"];
const units = command(
  "npm run units --",
  "Profiles of units: what a shop shows of itself on its timelines.",
);

const set = units
  .command("set")
  .description("replace a unit's profile as a whole")
  .argument("<unit>", "ID of the unit")
  .requiredOption("--name <name>", "what the shop is called: one line, at most 80 characters")
  .option("--logo <url>", "address of an image, by https")
  .option(
    "--accent <colour>",
    "such as `#8a4b2a`; made darker or lighter where it would be hard to read",
  )
  .option("--language <code>", "language of its pages; without it, the reader's own")
  .option("--link <url>", "where name and logo lead to, by https");
onRecords(
  set,
  async ({ tools, port, print, by }, unit) => {
    const given = set.opts();
    const { setUnit } = await operator(tools);
    const profile = Object.fromEntries(MEMBERS.map((member) => [member, given[member]]));
    const row = await setUnit(port, await by(), unit, profile);
    print(row, () => `${shown([row])}\n\nWithin about a minute its timelines show it everywhere.`);
  },
  { changes: true },
);

onRecords(
  units.command("show").description("print a unit's profile").argument("<unit>", "ID of the unit"),
  async ({ tools, port, print }, unit) => {
    const { getUnit } = await operator(tools);
    const row = await getUnit(port, unit);
    if (!row)
      throw new UserError(
        `the unit \`${unit}\` has no profile: its timelines show the name Impact Pledge`,
      );
    print(row, () => shown([row]));
  },
);

onRecords(
  units.command("list").description("print all profiles"),
  async ({ tools, port, print }) => {
    const { listUnits } = await operator(tools);
    const rows = await listUnits(port);
    print({ units: rows }, () => (rows.length === 0 ? "no profiles" : shown(rows)));
  },
);

onRecords(
  units
    .command("remove")
    .description("remove a unit's profile")
    .argument("<unit>", "ID of the unit"),
  async ({ tools, port, print, by }, unit) => {
    const { removeUnit } = await operator(tools);
    if (!(await removeUnit(port, await by(), unit)))
      throw new UserError(`the unit \`${unit}\` has no profile`);
    const after = "Within about a minute its timelines are without it everywhere.";
    print({ unit, removed: true }, () => `The profile of ${unit} is removed. ${after}`);
  },
  { changes: true },
);

const shown = (rows) =>
  table(["UNIT", ...MEMBERS.map((member) => member.toUpperCase())], rows.map(cells));

function cells({ unit, profile, problem }) {
  return problem
    ? [unit, `unreadable record: ${problem}`]
    : [unit, ...MEMBERS.map((member) => profile[member] ?? "")];
}

export default units;
