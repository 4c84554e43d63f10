/** `npm run teams -- add|remove|show|list`: the units that a team's keys may act as, of the local or the deployed service. */
import { YES, command, onRecords } from "./lib/command.mjs";
import { REFUSED_SECONDS, SHOWN_SECONDS } from "./lib/delays.mjs";
import { operator } from "./lib/operator.mjs";
import { UserError, table, visible } from "./lib/output.mjs";
import { confirmNew } from "./lib/register.mjs";

const teams = command(
  "npm run teams --",
  "Teams of the service: a team's key may act as each of its units.",
);
const counted = (units) => (units.length === 1 ? units[0] : `${units.length} units`);

const alreadyInWords = ({ unit, created, by }) =>
  `\n${unit} was in the team before${by ? `: ${visible(by)} added it at ${created}` : ""}.`;

const add = teams
  .command("add")
  .description("add units to a team; keys stay as they are")
  .argument("<team>", "ID of the team")
  .argument("<units...>", "IDs of the units")
  .option("--yes", YES);
onRecords(
  add,
  async ({ tools, port, print, terminal, by }, team, units) => {
    const { addToTeam } = await operator(tools);
    const about = { yes: add.opts().yes, otherwise: "nothing was added" };
    await confirmNew({ tools, port, terminal }, { units, team }, about);
    const added = await addToTeam(port, await by(), team, units);
    const after = `It may take ${SHOWN_SECONDS} s where the team's key has tried that unit before.`;
    const before = added.already.map(alreadyInWords).join("");
    print(added, () => `The team's keys may act as ${counted(units)}. ${after}${before}`);
  },
  { changes: true },
);

onRecords(
  teams
    .command("remove")
    .description("remove units from a team; their own keys and transactions stay")
    .argument("<team>", "ID of the team")
    .argument("<units...>", "IDs of the units"),
  async ({ tools, port, print, by }, team, units) => {
    const { removeFromTeam } = await operator(tools);
    const removed = await removeFromTeam(port, await by(), team, units);
    const after = `After about ${REFUSED_SECONDS} s the service refuses them everywhere.`;
    print(removed, () => `The team's keys no longer act as ${counted(units)}. ${after}`);
  },
  { changes: true },
);

onRecords(
  teams
    .command("show")
    .description("print the units of a team")
    .argument("<team>", "ID of the team"),
  async ({ tools, port, print }, team) => {
    const { getTeam } = await operator(tools);
    const row = await getTeam(port, team);
    if (row.units.length === 0) throw new UserError(`the team \`${team}\` has no units here`);
    print(row, () =>
      table(
        ["UNIT"],
        row.units.map((unit) => [unit]),
      ),
    );
  },
);

const COLUMNS = ["TEAM", "UNITS", "CREATED", "BY"];
onRecords(teams.command("list").description("print all teams"), async ({ tools, port, print }) => {
  const { listTeams } = await operator(tools);
  const rows = await listTeams(port);
  const cells = ({ team, units, created, by }) => [team, String(units), created, by];
  print({ teams: rows }, () => (rows.length === 0 ? "no teams" : table(COLUMNS, rows.map(cells))));
});

export default teams;
