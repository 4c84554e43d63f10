/** `npm run catalogue -- set FILE [--mode test|live]` and `show`: the prices of the local or the deployed service. */
import { readFileSync } from "node:fs";
import { Option, command, onRecords } from "./lib/command.mjs";
import { operator } from "./lib/operator.mjs";
import { Stop, table } from "./lib/report.mjs";

const FORM = `
A catalogue, with prices as plain decimals in quotes (currencies: USD, GBP, EUR):

  { "currencyCode": "USD", "unitPrices": { "tree": "0.50", "plastic-kg": "1.25" } }

An offering that is not listed costs nothing.`;
const MODES = ["test", "live"];
const prices = command("npm run catalogue --", "Prices of the service: one catalogue for test keys, one for live keys.").addHelpText("after", FORM);
const mode = (description) => new Option("--mode <mode>", description).choices([...MODES, "both"]);
const modesOf = (mode) => (mode === "both" ? MODES : [mode]);

const change = prices.command("set").description("replace the prices of a mode").argument("<file>", "JSON; `-` is standard input");
change.addOption(mode("whose prices: those of test keys, of live keys, or of both").default("both"));
onRecords(change, async ({ tools, kv, print }, file) => {
  const { catalogue, entries } = await ask(tools, "catalogue", () => readFileSync(file === "-" ? 0 : file), file === "-" ? "the catalogue" : file);
  const modes = modesOf(change.opts().mode);
  await kv.write(modes.map((mode) => entries[mode]));
  const after = "Within about a minute the service charges by it everywhere.";
  print(allOf(modes, () => catalogue), () => `prices of ${modes.join(" and ")} keys\n${shown(catalogue)}\n\n${after}`);
});

const look = prices.command("show").description("print the prices");
look.addOption(mode("whose prices").default("both"));
onRecords(look, async ({ tools, kv, print }) => {
  const modes = modesOf(look.opts().mode);
  const found = {};
  for (const mode of modes) found[mode] = await stored(tools, kv, mode);
  const words = ({ catalogue, name }, mode) => `prices of ${mode} keys${name === "catalogue" ? ", from the record that both modes once shared" : ""}\n${catalogue ? shown(catalogue) : "no catalogue is set: every charge is 0.00 USD"}`;
  print(allOf(modes, (mode) => found[mode].catalogue), () => modes.map((mode) => words(found[mode], mode)).join("\n\n"));
});

const allOf = (modes, catalogueOf) => ({ catalogues: Object.fromEntries(modes.map((mode) => [mode, catalogueOf(mode)])) });

/** The catalogue that the service charges by, or null, and the name of its record. */
async function stored(tools, kv, mode) {
  const names = (await operator(tools, "catalogue-names"))[mode];
  for await (const { name, value } of kv.read(names)) {
    if (value !== null) return { name, catalogue: await ask(tools, "stored-catalogue", () => value, `the stored record \`${name}\``) };
  }
  return { name: names[0], catalogue: null };
}

/** @param {string} what the input is, for messages */
async function ask(tools, command, read, what) {
  try {
    return await operator(tools, command, read());
  } catch (error) {
    throw new Stop(`${what}: ${error.message}`);
  }
}

function shown({ currencyCode, unitPrices }) {
  const rows = Object.entries(unitPrices);
  return rows.length === 0 ? `no offering has a price: every charge is 0.00 ${currencyCode}` : table(["OFFERING", currencyCode], rows);
}

await prices.parseAsync();
