/** `npm run units -- add|set|unset|show|list|remove`: the units of the service, and what each shows of itself on its timelines. */
import { Argument, Option, YES, command, onRecords } from "./lib/command.mjs";
import { APPLIED_SECONDS } from "./lib/delays.mjs";
import { operator } from "./lib/operator.mjs";
import { UserError, table } from "./lib/output.mjs";
import { confirmNew } from "./lib/register.mjs";

const MEMBERS = ["name", "logo", "accent", "language", "link", "mail", "reply-to", "time-zone"];
/** Members that a profile has always. */
const LASTING = ["name", "mail"];
const units = command(
  "npm run units --",
  "Units of the service: their register, and their profiles: what a shop shows of itself on its timelines, and its e-mails.",
);

onRecords(
  units
    .command("add")
    .description("add units to the register, by which misspelt IDs are found")
    .argument("<units...>", "IDs of the units"),
  async ({ tools, port, print, by }, ids) => {
    const { addUnits } = await operator(tools);
    await addUnits(port, await by(), ids);
    print({ units: ids }, () => `In the register: ${ids.join(", ")}.`);
  },
  { changes: true },
);

const set = units
  .command("set")
  .description("set members of a unit's profile; the others stay as they are")
  .argument("<unit>", "ID of the unit")
  .option("--name <name>", "what the shop is called: one line, at most 80 characters")
  .option("--logo <url>", "address of an image, by https")
  .option(
    "--accent <colour>",
    "such as `#8a4b2a`; made darker or lighter where it would be hard to read",
  )
  .option("--language <code>", "language of its pages; without it, the reader's own")
  .option("--link <url>", "where name and logo lead to, by https")
  .addOption(
    new Option(
      "--mail <on|off>",
      "whether recipients get the e-mail that a create asks for; off by itself",
    ).choices(["on", "off"]),
  )
  .option("--reply-to <address>", "the e-mail address that recipients answer to")
  .option(
    "--time-zone <name>",
    "time zone of the dates on its pages and in its e-mails, such as `Europe/Berlin`; without it, UTC",
  )
  .option("--yes", YES)
  .hook("preAction", () => {
    const given = set.opts();
    if (MEMBERS.every((member) => given[recorded(member)] === undefined))
      set.error(`say what to set: ${MEMBERS.map((member) => `\`--${member}\``).join(", ")}`);
  });
onRecords(
  set,
  async ({ tools, port, print, terminal, by }, unit) => {
    const { yes, mail, ...given } = set.opts();
    const { setUnit } = await operator(tools);
    const about = { yes, otherwise: "no profile was changed" };
    await confirmNew({ tools, port, terminal }, { units: [unit] }, about);
    const texts = MEMBERS.map(recorded).map((member) => [member, given[member]]);
    const members = { ...Object.fromEntries(texts), mail: mail && mail === "on" };
    const row = await setUnit(port, await by(), unit, members);
    print(row, () => `${shown([row])}\n\n${AFTER}${members.mail ? `\n${ALSO}` : ""}`);
  },
  { changes: true },
);
const AFTER = `After about ${APPLIED_SECONDS} s its timelines and e-mails have it everywhere.`;
const ALSO =
  "E-mails are sent where the service has a queue, a sender and a mail service: docs/notifications.md says how.";
const without = (unit) => new UserError(`the unit \`${unit}\` has no profile`);

onRecords(
  units
    .command("unset")
    .description("take members from a unit's profile")
    .argument("<unit>", "ID of the unit")
    .addArgument(
      new Argument("<members...>", "what it shows no longer").choices(
        MEMBERS.filter((member) => !LASTING.includes(member)),
      ),
    ),
  async ({ tools, port, print, by }, unit, members) => {
    const { unsetUnit } = await operator(tools);
    const row = await unsetUnit(port, await by(), unit, members.map(recorded));
    if (!row) throw without(unit);
    print(row, () => `${shown([row])}\n\n${AFTER}`);
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
  units.command("list").description("print the register, and all profiles"),
  async ({ tools, port, print }) => {
    const { listUnits } = await operator(tools);
    const rows = await listUnits(port);
    print({ units: rows }, () => (rows.length === 0 ? "no units" : shown(rows, "CREATED", "BY")));
  },
);

onRecords(
  units
    .command("remove")
    .description(
      "remove a unit's profile, and the unit from the register; its keys, teams and transactions stay",
    )
    .argument("<unit>", "ID of the unit"),
  async ({ tools, port, print, by }, unit) => {
    const { removeUnit } = await operator(tools);
    if (!(await removeUnit(port, await by(), unit)))
      throw new UserError(`the register has no unit \`${unit}\`, and it has no profile`);
    const after = `After about ${APPLIED_SECONDS} s its timelines are without it everywhere.`;
    print({ unit, removed: true }, () => `The profile of ${unit} is removed. ${after}`);
  },
  { changes: true },
);

const HEADS = ["UNIT", ...MEMBERS.map((member) => member.toUpperCase())];
const shown = (rows, ...more) => table([...HEADS, ...more], rows.map(cells));

function cells({ unit, profile, problem, created = "", by }) {
  if (problem) return [unit, `unreadable record: ${problem}`];
  const shown = profile && { ...profile, mail: profile.mail ? "on" : "off" };
  return [unit, ...MEMBERS.map((member) => shown?.[recorded(member)]), created.slice(0, 10), by];
}

/** The name of a member in the record. */
function recorded(member) {
  return member.replaceAll(/-(.)/g, (_, letter) => letter.toUpperCase());
}

export default units;
